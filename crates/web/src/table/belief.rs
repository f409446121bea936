//! The belief view of a seat: probabilities, likely states, what a move would tell, how uncertainty changed.

use super::Table;
use super::mind::Mind;
use super::views::{Viewer, check_round, not_yet};
use crate::ApiError;
use crate::games::TableGame;
use crate::picture_json::{PictureJson, rounded};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use surmise::game::{Fault, MoveId, PerceptId, RoleId, State, Told};

/// What a role believes after some rounds.
#[derive(Clone, Debug, Serialize)]
pub struct BeliefJson {
    /// The role.
    pub role: String,
    /// Rounds that the belief has taken in.
    pub round: usize,
    /// Whether the probabilities are exact, for other roles that choose uniformly.
    pub exact: bool,
    /// States held possible.
    pub states: usize,
    /// Histories held possible.
    pub histories: f64,
    /// Histories that were sampled.
    pub models: usize,
    /// Picture with probabilities.
    pub board: PictureJson,
    /// Likeliest states.
    pub likely: Vec<LikelyJson>,
    /// What each move would tell.
    pub information: Vec<InformationJson>,
    /// Uncertainty after every round.
    pub entropy: Vec<EntropyJson>,
    /// The true state, when the game is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<PictureJson>,
}

/// A likely state.
#[derive(Clone, Debug, Serialize)]
pub struct LikelyJson {
    /// Probability.
    pub p: f64,
    /// Picture of the state.
    pub picture: PictureJson,
    /// Fluents that hold in this state and not in all states held possible.
    pub facts: Vec<String>,
}

/// Expected information of a move.
#[derive(Clone, Debug, Serialize)]
pub struct InformationJson {
    /// The move.
    #[serde(rename = "move")]
    pub mv: String,
    /// Entropy of what the role would perceive, in bits: the expected information about state and others' moves.
    pub bits: f64,
}

/// Uncertainty after a round.
#[derive(Clone, Debug, Serialize)]
pub struct EntropyJson {
    /// Rounds played.
    pub round: usize,
    /// Entropy of the state.
    pub bits: f64,
    /// States held possible.
    pub states: usize,
}

/// Likely states that are shown.
const LIKELY: usize = 12;

/// Joint moves that are looked at to compute expected information.
const MAX_JOINT_MOVES: usize = 50_000;

/// What a belief is computed from. Computing it takes a while, and the table goes on meanwhile.
pub struct BeliefQuestion {
    game: Arc<TableGame>,
    role: RoleId,
    told: Vec<Told>,
    over: bool,
    truth: Option<PictureJson>,
    #[cfg(test)]
    leaked: u64,
}

impl BeliefQuestion {
    /// The belief.
    ///
    /// # Errors
    /// If the belief could not be kept.
    pub fn answer(self) -> Result<BeliefJson, ApiError> {
        let mind = Mind::after(&self.game, self.role, &self.told, self.over)?;
        let mut belief = belief_json(mind)?;
        belief.truth = self.truth;
        #[cfg(test)]
        {
            belief.models += self.leaked as usize;
        }
        Ok(belief)
    }
}

impl Table {
    /// The belief of a role after some rounds. A person sees the own role's only; all roles' are shown to viewers to
    /// whom the table is open.
    ///
    /// # Errors
    /// If the viewer may not see it, or there is no such role or round.
    pub fn belief(&self, viewer: Viewer, round: Option<usize>, role: Option<&str>) -> Result<BeliefJson, ApiError> {
        self.belief_question(viewer, round, role)?.answer()
    }

    /// What the belief of a role is computed from, with the same rights.
    ///
    /// # Errors
    /// As [`Table::belief`].
    pub fn belief_question(
        &self,
        viewer: Viewer,
        round: Option<usize>,
        role: Option<&str>,
    ) -> Result<BeliefQuestion, ApiError> {
        let open = self.is_open_to(viewer);
        let role = match (viewer, role) {
            (Viewer::Seat(own), None) => own,
            (Viewer::Seat(own), Some(name)) if name == self.record().roles[own] => own,
            (_, _) if !open => return Err(not_yet()),
            (_, Some(name)) => self.played_role(name)?,
            (_, None) => self.game().game.seating().played()[0],
        };
        let rounds = self.record().rounds.len();
        let round = check_round(round.unwrap_or(rounds), rounds)?;
        Ok(BeliefQuestion {
            game: self.game().clone(),
            role: RoleId(role as u16),
            told: self.record().told(role, round),
            over: self.record().complete && round == rounds,
            truth: self.is_over().then(|| self.full_picture(round)),
            #[cfg(test)]
            leaked: crate::leaks::truth(crate::leaks::Leak::Belief, self),
        })
    }
}

fn belief_json(mut mind: Mind) -> Result<BeliefJson, ApiError> {
    let report = mind.report().clone();
    let probabilities = mind.probabilities();
    let likely = mind.states().iter().take(LIKELY).map(|(state, p)| LikelyJson {
        p: rounded(*p),
        picture: mind.state_picture(state).into(),
        facts: mind
            .fluents(state)
            .into_iter()
            .filter(|f| probabilities[f] < 1.0 - 1e-9)
            .collect(),
    });
    let likely = likely.collect();
    let entropy = mind.entropy().iter().enumerate().map(|(round, entropy)| EntropyJson {
        round,
        bits: rounded(entropy.bits),
        states: entropy.states,
    });
    let entropy = entropy.collect();
    Ok(BeliefJson {
        role: mind.role_name().to_owned(),
        round: mind.told().len(),
        exact: report.exact,
        states: mind.states().len(),
        histories: report.histories.unwrap_or(report.distinct_histories as f64),
        models: report.live,
        board: mind.believed_picture().into(),
        likely,
        information: information(&mut mind).map_err(surmise::Error::Fault)?,
        entropy,
        truth: None,
    })
}

/// What each move would tell: the entropy of the role's percepts, if the other roles choose uniformly.
fn information(mind: &mut Mind) -> Result<Vec<InformationJson>, Fault> {
    let moves = mind.legal().to_vec();
    let states = mind.states().to_vec();
    let mut told: Vec<BTreeMap<Vec<PerceptId>, f64>> = vec![BTreeMap::new(); moves.len()];
    let mut left = MAX_JOINT_MOVES;
    for (state, p) in &states {
        if !add_percepts(mind, state, *p, &moves, &mut told, &mut left)? {
            break;
        }
    }
    let bits = |told: &BTreeMap<Vec<PerceptId>, f64>| {
        let total: f64 = told.values().sum();
        let part = |p: &f64| -(p / total) * (p / total).log2();
        rounded(told.values().map(part).sum::<f64>().max(0.0))
    };
    Ok(moves
        .into_iter()
        .zip(&told)
        .map(|(mv, told)| InformationJson { mv, bits: bits(told) })
        .collect())
}

/// Adds what the role would perceive in one state; whether there was work left for it.
fn add_percepts(
    mind: &mut Mind,
    state: &State,
    p: f64,
    moves: &[String],
    told: &mut [BTreeMap<Vec<PerceptId>, f64>],
    left: &mut usize,
) -> Result<bool, Fault> {
    let me = mind.role();
    let sim = mind.simulator();
    if sim.terminal(state)? {
        return Ok(true);
    }
    let mut legal: Vec<Vec<MoveId>> = Vec::new();
    for role in 0..sim.roles().len() {
        let mut list = Vec::new();
        sim.legal(state, RoleId(role as u16), &mut list)?;
        if list.is_empty() {
            return Ok(true);
        }
        legal.push(list);
    }
    let joints = legal
        .iter()
        .try_fold(1_usize, |all, moves| all.checked_mul(moves.len()));
    match joints.and_then(|joints| left.checked_sub(joints)) {
        Some(rest) => *left = rest,
        None => return Ok(false),
    }
    let total = legal.iter().map(Vec::len).product::<usize>();
    let others = total / legal[usize::from(me.0)].len();
    let mut seen = Vec::new();
    let mut joint: Vec<MoveId> = legal.iter().map(|moves| moves[0]).collect();
    for number in 0..total {
        let mut rest = number;
        for (mv, moves) in joint.iter_mut().zip(&legal) {
            *mv = moves[rest % moves.len()];
            rest /= moves.len();
        }
        sim.percepts(state, &joint, me, &mut seen)?;
        let text = sim.move_text(me, joint[usize::from(me.0)]);
        if let Ok(at) = moves.binary_search_by(|mv| mv.as_str().cmp(text)) {
            *told[at].entry(seen.clone()).or_insert(0.0) += p / others as f64;
        }
    }
    Ok(true)
}
