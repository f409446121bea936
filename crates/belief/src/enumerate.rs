//! Every history of an information set, for small games.
//!
//! Plain depth-first search on the simulator. It shares no code with the samplers, so that tests can compare them with
//! it.

use crate::{BeliefError, Joint, Now, OpponentModel};
use game::{Budget, Fault, MoveId, PerceptId, RoleId, Simulator, State, View};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
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

/// Moves of a role, and the probability of each.
type WeightedMoves = (Vec<MoveId>, Vec<f64>);

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
        let choices = self.choices(state, own)?;
        let mut places: SmallVec<[u32; 4]> = SmallVec::from_elem(0, choices.len());
        let mut is_open = choices.iter().all(|(moves, _)| !moves.is_empty());
        while is_open {
            let picked = choices.iter().zip(&places);
            let p = picked.clone().fold(1.0, |p, ((_, row), &at)| p * row[at as usize]);
            let joint: Joint = picked.map(|((moves, _), &at)| moves[at as usize]).collect();
            // The next joint move: the last role's move changes fastest.
            let later = (0..places.len()).rfind(|&role| places[role] as usize + 1 < choices[role].0.len());
            is_open = later.is_some();
            if let Some(role) = later {
                places[role] += 1;
                places[role + 1..].fill(0);
            }
            if p <= 0.0 {
                continue;
            }
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

    /// The moves of each role, and how likely they are. Our own move is the executed one if it is known; else every
    /// legal one counts alike.
    fn choices(&mut self, state: &State, own: Option<MoveId>) -> Result<Vec<WeightedMoves>, Fault> {
        let mut choices = Vec::new();
        for role in (0..self.sim.roles().len()).map(|r| RoleId(r as u16)) {
            let mut legal = Vec::new();
            self.sim.legal(state, role, &mut legal)?;
            let mut row: Vec<f64> = vec![1.0 / legal.len() as f64; legal.len()];
            if role == self.role {
                legal.retain(|&mv| own.is_none_or(|own| mv == own));
                row = vec![1.0; legal.len()];
            } else if let Some(opponents) = self.opponents.filter(|_| self.sim.nature() != Some(role)) {
                opponents.probabilities(state, role, &legal, &mut row);
            }
            // A model of the opponents may leave moves out at the end; they count as impossible.
            row.resize(legal.len(), 0.0);
            choices.push((legal, row));
        }
        Ok(choices)
    }
}
