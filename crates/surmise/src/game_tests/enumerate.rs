//! Counting by enumeration: plays, lengths and information sets, each within counted work.
//!
//! Plain breadth-first search over states, layer by layer, on one simulator at a time. Layers are ordered maps, so that
//! sums are the same on every run.

use game::{Fault, MoveId, PerceptId, RoleId, Simulator, State, StopFlag};
use std::collections::{BTreeMap, BTreeSet};

/// Why a question was not answered.
#[derive(Clone, Debug)]
pub(super) enum Unanswered {
    /// The work allowed did not suffice.
    Work,
    /// The work was stopped.
    Stopped,
    /// There is no answer of this kind; the text says why.
    None(String),
    /// The rules cannot be run.
    Fault(Fault),
}

impl From<Fault> for Unanswered {
    fn from(fault: Fault) -> Unanswered {
        match fault {
            Fault::Stopped => Unanswered::Stopped,
            fault => Unanswered::Fault(fault),
        }
    }
}

/// Joint moves that may still be tried.
pub(super) struct Allowance<'a> {
    left: u64,
    stop: &'a StopFlag,
}

impl Allowance<'_> {
    pub fn new(work: u64, stop: &StopFlag) -> Allowance<'_> {
        Allowance { left: work, stop }
    }

    /// Counts a joint move.
    pub fn spend(&mut self) -> Result<(), Unanswered> {
        self.left = self.left.checked_sub(1).ok_or(Unanswered::Work)?;
        match self.left.is_multiple_of(64) && self.stop.is_raised() {
            true => Err(Unanswered::Stopped),
            false => Ok(()),
        }
    }
}

/// A round of a play in words: the joint move, and what each role perceived.
#[derive(Clone, Debug, Default)]
pub(super) struct PlayedRound {
    pub moves: Vec<String>,
    pub percepts: Vec<Vec<String>>,
}

/// The legal moves of every role.
pub(super) fn options(sim: &mut dyn Simulator, state: &State) -> Result<Vec<Vec<MoveId>>, Fault> {
    let mut options = Vec::with_capacity(sim.roles().len());
    for role in 0..sim.roles().len() {
        let mut legal = Vec::new();
        sim.legal(state, RoleId(role as u16), &mut legal)?;
        options.push(legal);
    }
    Ok(options)
}

/// Visits every joint move of these options, the last role's move changing fastest. None if a role has no move.
pub(super) fn each_joint(
    options: &[Vec<MoveId>],
    mut visit: impl FnMut(&[MoveId]) -> Result<(), Unanswered>,
) -> Result<(), Unanswered> {
    if options.iter().any(Vec::is_empty) {
        return Ok(());
    }
    let mut places = vec![0; options.len()];
    let mut joint: Vec<MoveId> = options.iter().map(|moves| moves[0]).collect();
    loop {
        visit(&joint)?;
        let Some(role) = (0..places.len()).rfind(|&role| places[role] + 1 < options[role].len()) else {
            return Ok(());
        };
        places[role] += 1;
        places[role + 1..].fill(0);
        for at in role..places.len() {
            joint[at] = options[at][places[at]];
        }
    }
}

/// Sequences of joint moves by the state they lead to.
type Layer = BTreeMap<State, u64>;

/// Adds to a count, which may have too many digits.
fn add(layer: &mut Layer, state: State, count: u64) -> Result<(), Unanswered> {
    let sum = layer.entry(state).or_insert(0);
    *sum = sum.checked_add(count).ok_or_else(too_many)?;
    Ok(())
}

fn too_many() -> Unanswered {
    Unanswered::None("the number has more than 64 bits".to_owned())
}

/// The layer after this one, and how many of its sequences were complete.
fn next_layer(sim: &mut dyn Simulator, layer: &Layer, work: &mut Allowance<'_>) -> Result<(Layer, u64), Unanswered> {
    let (mut next, mut ended) = (Layer::new(), 0_u64);
    for (state, &count) in layer {
        if sim.terminal(state)? {
            ended = ended.checked_add(count).ok_or_else(too_many)?;
            continue;
        }
        each_joint(&options(sim, state)?, |joint| {
            work.spend()?;
            add(&mut next, sim.next(state, joint)?, count)
        })?;
    }
    Ok((next, ended))
}

/// Sequences of `depth` joint moves, those that end earlier left out; without a depth, all complete plays.
pub(super) fn count_plays(
    sim: &mut dyn Simulator,
    depth: Option<u64>,
    work: &mut Allowance<'_>,
) -> Result<u64, Unanswered> {
    let mut layer = Layer::from([(sim.initial()?, 1)]);
    let (mut plays, mut at) = (0_u64, 0);
    while !layer.is_empty() && depth.is_none_or(|depth| at < depth) {
        let (next, ended) = next_layer(sim, &layer, work)?;
        plays = plays.checked_add(ended).ok_or_else(too_many)?;
        (layer, at) = (next, at + 1);
    }
    match depth {
        None => Ok(plays),
        Some(_) => {
            let mut sum = 0_u64;
            for count in layer.values() {
                sum = sum.checked_add(*count).ok_or_else(too_many)?;
            }
            Ok(sum)
        }
    }
}

/// Rounds of the shortest and of the longest play.
pub(super) fn length(sim: &mut dyn Simulator, work: &mut Allowance<'_>) -> Result<(u64, u64), Unanswered> {
    let mut layer = BTreeSet::from([sim.initial()?]);
    let (mut shortest, mut longest, mut depth) = (None, 0, 0);
    while !layer.is_empty() {
        let mut next = BTreeSet::new();
        for state in &layer {
            if sim.terminal(state)? {
                shortest.get_or_insert(depth);
                longest = depth;
                continue;
            }
            each_joint(&options(sim, state)?, |joint| {
                work.spend()?;
                next.insert(sim.next(state, joint)?);
                Ok(())
            })?;
        }
        (layer, depth) = (next, depth + 1);
    }
    match shortest {
        Some(shortest) => Ok((shortest, longest)),
        None => Err(Unanswered::None("no play ends".to_owned())),
    }
}

/// A state of an information set: the histories that lead there, and their probability if the others choose uniformly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Reached {
    pub histories: u64,
    pub probability: f64,
}

/// The states that a role holds possible after a play. None of the earlier states is terminal, and the last is terminal
/// only if the true one is. Probabilities sum to 1.
pub(super) fn information_set(
    sim: &mut dyn Simulator,
    rounds: &[PlayedRound],
    role: RoleId,
    is_over: bool,
    work: &mut Allowance<'_>,
) -> Result<BTreeMap<State, Reached>, Unanswered> {
    let first = Reached {
        histories: 1,
        probability: 1.0,
    };
    let mut layer = BTreeMap::from([(sim.initial()?, first)]);
    let at = usize::from(role.0);
    let mut sees: Vec<PerceptId> = Vec::new();
    for round in rounds {
        let Some(own) = sim.find_move(role, &round.moves[at]) else {
            return Ok(BTreeMap::new());
        };
        let mut next: BTreeMap<State, Reached> = BTreeMap::new();
        for (state, reached) in &layer {
            if sim.terminal(state)? {
                continue;
            }
            let mut options = options(sim, state)?;
            let others: f64 = (0..options.len())
                .filter(|&other| other != at)
                .map(|other| options[other].len() as f64)
                .product();
            options[at].retain(|&mv| mv == own);
            each_joint(&options, |joint| {
                work.spend()?;
                sim.percepts(state, joint, role, &mut sees)?;
                let wanted = &round.percepts[at];
                let agrees = sees.len() == wanted.len()
                    && sees
                        .iter()
                        .zip(wanted)
                        .all(|(&p, text)| sim.percept_text(role, p) == text);
                if agrees {
                    let entry = next.entry(sim.next(state, joint)?).or_default();
                    entry.histories = entry.histories.checked_add(reached.histories).ok_or_else(too_many)?;
                    entry.probability += reached.probability / others;
                }
                Ok(())
            })?;
        }
        layer = next;
    }
    let mut kept = BTreeMap::new();
    for (state, reached) in layer {
        if sim.terminal(&state)? == is_over {
            kept.insert(state, reached);
        }
    }
    let mass: f64 = kept.values().map(|r| r.probability).sum();
    kept.values_mut().for_each(|r| r.probability /= mass);
    Ok(kept)
}
