//! Every history of an information set, for small games.
//!
//! Plain depth-first search on the simulator. It shares no code with the samplers, so that tests can compare them with
//! it.

use crate::{BeliefError, Joint, Now, OpponentModel};
use game::{Budget, Fault, MoveId, PerceptId, RoleId, Simulator, State, View};
use rustc_hash::FxHashMap;
use std::fmt;

/// An element of an information set: a history, not a state.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The joint moves.
    pub joints: Vec<Joint>,
    /// Where they lead.
    pub state: State,
    /// Its posterior probability, given how the others play.
    pub probability: f64,
}

/// All histories that explain a view.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InformationSet {
    /// The histories, in the canonical order of their moves; probabilities sum to 1.
    pub histories: Vec<History>,
}

impl InformationSet {
    /// The distinct states, each with the number of histories that lead there and their probability.
    pub fn states(&self) -> FxHashMap<State, (usize, f64)> {
        let mut states = FxHashMap::default();
        for history in &self.histories {
            let entry: &mut (usize, f64) = states.entry(history.state.clone()).or_default();
            entry.0 += 1;
            entry.1 += history.probability;
        }
        states
    }

    /// The place of every history, by its moves.
    pub fn places(&self) -> FxHashMap<&[Joint], usize> {
        let histories = self.histories.iter().enumerate();
        histories.map(|(at, h)| (&h.joints[..], at)).collect()
    }
}

/// Why an information set was not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnumerateError {
    /// It takes more nodes than the budget allows.
    TooLarge,
    /// Something else.
    Belief(BeliefError),
}

impl fmt::Display for EnumerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EnumerateError::TooLarge => f.write_str("the information set is too large to list within this budget"),
            EnumerateError::Belief(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EnumerateError {}

impl From<Fault> for EnumerateError {
    fn from(fault: Fault) -> Self {
        EnumerateError::Belief(fault.into())
    }
}

/// Lists every history that explains a role's view; the others play uniformly, or as a model of them says. The budget
/// counts joint moves tried. A view that nothing explains has an empty set.
///
/// What was not told is no constraint: [`PerceptId::UNKNOWN`] as the only percept of a round allows any percepts,
/// [`MoveId::UNKNOWN`] as the own move allows any move and any percepts.
///
/// # Errors
/// If the budget does not suffice, the role does not exist, or the simulator fails.
pub fn enumerate(
    sim: &mut dyn Simulator,
    role: RoleId,
    view: &View,
    now: Now,
    opponents: Option<&dyn OpponentModel>,
    budget: &Budget,
) -> Result<InformationSet, EnumerateError> {
    if usize::from(role.0) >= sim.roles().len() {
        return Err(EnumerateError::Belief(BeliefError::UnknownRole(role)));
    }
    let start = sim.initial()?;
    let mut search = Enumeration {
        sim,
        role,
        view,
        now,
        opponents,
        budget,
        tried: 0,
        path: Vec::new(),
        found: Vec::new(),
    };
    search.descend(&start, 1.0)?;
    let mut histories = search.found;
    let total: f64 = histories.iter().map(|h| h.probability).sum();
    histories.iter_mut().for_each(|h| h.probability /= total);
    Ok(InformationSet { histories })
}

struct Enumeration<'a> {
    sim: &'a mut dyn Simulator,
    role: RoleId,
    view: &'a View,
    now: Now,
    opponents: Option<&'a dyn OpponentModel>,
    budget: &'a Budget,
    tried: u64,
    path: Vec<Joint>,
    found: Vec<History>,
}

impl Enumeration<'_> {
    fn descend(&mut self, state: &State, probability: f64) -> Result<(), EnumerateError> {
        let terminal = self.sim.terminal(state)?;
        let Some(round) = self.view.rounds.get(self.path.len()) else {
            let fits = match self.now {
                Now::Playing => !terminal,
                Now::Over => terminal,
                Now::Unknown => true,
            };
            if fits {
                self.found.push(History {
                    joints: self.path.clone(),
                    state: state.clone(),
                    probability,
                });
            }
            return Ok(());
        };
        if terminal {
            return Ok(());
        }
        let own = (round.own != MoveId::UNKNOWN).then_some(round.own);
        // As in the samplers: without the own move, percepts of the round are no constraint either.
        let percepts_are_known = own.is_some() && round.sees != [PerceptId::UNKNOWN];
        let mut sees = Vec::new();
        for (joint, p) in self.joints(state, own)? {
            self.tried += 1;
            if !self.budget.allows(self.tried) {
                return Err(EnumerateError::TooLarge);
            }
            if percepts_are_known {
                self.sim.percepts(state, &joint, self.role, &mut sees)?;
            }
            let agrees = sees.len() == round.sees.len() && sees.iter().all(|p| round.sees.contains(p));
            if agrees || !percepts_are_known {
                let next = self.sim.next(state, &joint)?;
                self.path.push(joint);
                self.descend(&next, probability * p)?;
                self.path.pop();
            }
        }
        Ok(())
    }

    /// The joint moves, and how likely the others are to make theirs. Our own move is the executed one if it is known;
    /// else every legal one counts alike.
    fn joints(&mut self, state: &State, own: Option<MoveId>) -> Result<Vec<(Joint, f64)>, Fault> {
        let mut joints: Vec<(Joint, f64)> = vec![(Joint::new(), 1.0)];
        let mut legal = Vec::new();
        for role in (0..self.sim.roles().len()).map(|r| RoleId(r as u16)) {
            self.sim.legal(state, role, &mut legal)?;
            let mut row: Vec<f64> = vec![1.0 / legal.len() as f64; legal.len()];
            if role == self.role {
                legal.retain(|&mv| own.is_none_or(|own| mv == own));
                row = vec![1.0; legal.len()];
            } else if let Some(opponents) = self.opponents.filter(|_| self.sim.nature() != Some(role)) {
                opponents.probabilities(state, role, &legal, &mut row);
            }
            let extend = |(joint, p): &(Joint, f64)| {
                let (joint, p) = (joint.clone(), *p);
                let moves = legal.iter().zip(&row).map(move |(&mv, q)| {
                    let mut longer = joint.clone();
                    longer.push(mv);
                    (longer, p * q)
                });
                moves.collect::<Vec<_>>()
            };
            joints = joints.iter().flat_map(extend).collect();
        }
        joints.retain(|(_, p)| *p > 0.0);
        Ok(joints)
    }
}
