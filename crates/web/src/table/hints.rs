//! Hints and explanations for a seat, from what its role was told and nothing else.

use super::{SeatedPlayer, Table};
use crate::ApiError;
use crate::games::TableGame;
use crate::picture_json::{PictureJson, rounded};
use crate::table::seats::budget;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use surmise::ExplainOptions;
use surmise::draw::Known;
use surmise::game::{Decision, RoleId, Seed, StopFlag, Told};
use surmise::referee::{Record, Round, Seat};

/// A move that a player recommends, and its reasons.
#[derive(Clone, Debug, Serialize)]
pub struct HintJson {
    /// The move.
    #[serde(rename = "move")]
    pub mv: String,
    /// Moves that were weighed, best first.
    pub candidates: Vec<CandidateJson>,
    /// Probabilities with which the player would draw its move.
    pub policy: Vec<PolicyJson>,
    /// The belief behind the choice, in words.
    pub belief: String,
}

/// A move that was weighed.
#[derive(Clone, Debug, Serialize)]
pub struct CandidateJson {
    /// The move.
    #[serde(rename = "move")]
    pub mv: String,
    /// Estimated payoff.
    pub mean: f64,
    /// Standard error of the estimate.
    pub stderr: f64,
    /// Playouts behind the estimate.
    pub visits: u64,
}

/// The probability of a move.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyJson {
    /// The move.
    #[serde(rename = "move")]
    pub mv: String,
    /// Probability.
    pub p: f64,
}

/// The explanation of a decision.
#[derive(Clone, Debug, Serialize)]
pub struct WhyJson {
    /// The round of the decision, counted from 1.
    pub round: usize,
    /// The player that was asked.
    pub player: String,
    /// The move that the seat made, if it has made one.
    pub made: Option<String>,
    /// What the player would do.
    #[serde(flatten)]
    pub hint: HintJson,
    /// Likely states, and how the game is expected to go on in each.
    pub likely: Vec<WhyLikelyJson>,
}

/// A likely state, and the expected moves.
#[derive(Clone, Debug, Serialize)]
pub struct WhyLikelyJson {
    /// Probability.
    pub p: f64,
    /// Picture of the state.
    pub picture: PictureJson,
    /// Expected moves, round by round, by role.
    pub line: Vec<BTreeMap<String, String>>,
}

/// A question about a seat: everything that is needed to answer it, and nothing that the seat does not know.
pub struct Question {
    game: Arc<TableGame>,
    role: usize,
    told: Vec<Told>,
    to_move: bool,
    cap: Duration,
}

/// The player of hints: it suits any game.
pub const ADVISER: &str = "hp:64,16";

/// Seed of hints: they must not depend on the table's seed.
const SEED: u64 = 1;

impl Table {
    /// A question about a person's seat.
    ///
    /// # Errors
    /// If the seat is not a person's.
    pub fn question(&self, role: usize) -> Result<Question, ApiError> {
        Ok(Question {
            game: self.game().clone(),
            role,
            told: self.told(role),
            to_move: !self.is_over(),
            cap: self.setup().think_time,
        })
    }
}

impl Question {
    /// The move that a player recommends now.
    ///
    /// # Errors
    /// If there is no decision to make, or the player cannot be asked.
    pub fn hint(&self, player: &SeatedPlayer, stop: &StopFlag) -> Result<HintJson, ApiError> {
        if !self.to_move {
            return Err(ApiError::conflict(
                "finished",
                "the game is over",
                "ask `why` about a round",
            ));
        }
        let role = RoleId(self.role as u16);
        let seed = Seed(SEED).child("player").nth(u64::from(role.0));
        let decision = match self.game.game.seat(&player.spec, role, seed)? {
            Seat::Player(mut player) => player.choose(&self.told, &budget(None, self.cap, stop)),
            _ => return Err(no_adviser()),
        };
        Ok(hint_json(&decision.map_err(surmise::Error::Fault)?))
    }

    /// Explains a decision of the seat: the one to be made, or that of an earlier round (from 1).
    ///
    /// # Errors
    /// If there is no such round, or the player cannot be asked.
    pub fn why(&self, round: Option<usize>, player: &SeatedPlayer, stop: &StopFlag) -> Result<WhyJson, ApiError> {
        if player.spec.is_cheat() || player.spec.is_guest() {
            return Err(no_adviser());
        }
        let now = self.told.len() + usize::from(self.to_move);
        let round = round.unwrap_or(now);
        if !(1..=now).contains(&round) {
            return Err(ApiError::bad(
                "no-round",
                format!("there are rounds 1 to {now}"),
                "choose one of them",
            ));
        }
        let options = ExplainOptions {
            round: Some(round),
            role: Some(self.game.game.roles()[self.role].clone()),
            player: Some(player.spec.text().to_owned()),
            stop: budget(None, self.cap, stop).stop,
            ..ExplainOptions::default()
        };
        let explained = self.game.game.explain(&self.own_record(), &options)?;
        let known = |fluents: &[String]| {
            let certain = fluents.iter().map(|fluent| (fluent.clone(), 1.0)).collect();
            let known = Known::certain(&explained.roles[self.role], &certain);
            PictureJson::from(self.game.layout.seat_picture(&known, &[]))
        };
        let joint = |moves: &Vec<String>| explained.roles.iter().cloned().zip(moves.iter().cloned()).collect();
        let likely = explained.likely.iter().map(|likely| WhyLikelyJson {
            p: rounded(likely.p),
            picture: known(&likely.fluents),
            line: likely.line.rounds.iter().map(joint).collect(),
        });
        Ok(WhyJson {
            round,
            player: player.name.clone(),
            made: self.told.get(round - 1).map(|told| told.own.clone()),
            hint: hint_json(&explained.decision),
            likely: likely.collect(),
        })
    }

    /// A record that holds what the seat was told and nothing else: the other roles' moves and percepts are empty.
    fn own_record(&self) -> Record {
        let roles = self.game.game.roles().to_vec();
        let blank = || vec![String::new(); roles.len()];
        let round = |told: Option<&Told>| {
            let mut round = Round {
                moves: blank(),
                percepts: vec![Vec::new(); roles.len()],
                submitted: blank(),
                substitutions: vec![None; roles.len()],
            };
            if let Some(told) = told {
                round.moves[self.role] = told.own.clone();
                round.percepts[self.role] = told.sees.clone();
            }
            round
        };
        let mut rounds: Vec<Round> = self.told.iter().map(|told| round(Some(told))).collect();
        // The decision that is to be made.
        rounds.push(round(None));
        Record {
            rules: self.game.game.title().rules,
            players: blank(),
            cheats: vec![false; roles.len()],
            seed: SEED,
            rounds,
            roles,
            ..Record::default()
        }
    }
}

fn no_adviser() -> ApiError {
    ApiError::bad(
        "player",
        "this player cannot advise a seat",
        "choose another player, such as hp:64,16",
    )
}

fn hint_json(decision: &Decision) -> HintJson {
    let candidate = |c: &surmise::game::Candidate| CandidateJson {
        mv: c.mv.clone(),
        mean: rounded(c.mean),
        stderr: rounded(c.stderr),
        visits: c.visits,
    };
    let policy = |(mv, p): &(String, f64)| PolicyJson {
        mv: mv.clone(),
        p: rounded(*p),
    };
    HintJson {
        mv: decision.mv.clone(),
        candidates: decision.candidates.iter().map(candidate).collect(),
        policy: decision.policy.iter().map(policy).collect(),
        belief: decision.belief.clone(),
    }
}
