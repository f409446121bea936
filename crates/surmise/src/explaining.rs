//! Why a player makes a move: what it weighs, what it believes, and how it expects the game to go on.

use crate::players::PlayerSpec;
use crate::reasons::{self, Possible, Question, Reasons};
use crate::strategy::Strategy;
use crate::{Error, Game, Unsuitable};
use belief::SamplerKind;
use game::{Budget, Decision, RoleId, Seed, State, StopFlag, Told};
use referee::{Record, Seat};
use search::{Believer, Line, expected_line};
use std::collections::BTreeMap;

/// Which decision to explain.
#[derive(Clone, Debug)]
pub struct ExplainOptions {
    /// The round, counted from 1; the last without it.
    pub round: Option<usize>,
    /// The role; the first that is not nature without it.
    pub role: Option<String>,
    /// The player; the one of the record without it.
    pub player: Option<String>,
    /// A strategy of all roles, as `strategy:FILE`, that the past and the future of the others follow. Without it that
    /// of the player, if the player follows a strategy.
    pub others: Option<String>,
    /// Likely states to look at.
    pub top: usize,
    /// Rounds to look ahead in each of them.
    pub ahead: usize,
    /// Ends the work.
    pub stop: StopFlag,
}

impl Default for ExplainOptions {
    fn default() -> Self {
        ExplainOptions {
            round: None,
            role: None,
            player: None,
            others: None,
            top: 3,
            ahead: 6,
            stop: StopFlag::default(),
        }
    }
}

/// A decision and its reasons.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Names of the roles.
    pub roles: Vec<String>,
    /// The role that decides, as a place in the joint move.
    pub role: usize,
    /// The round, counted from 1.
    pub round: usize,
    /// The player.
    pub player: String,
    /// The move, and what the player weighed.
    pub decision: Decision,
    /// The likeliest states.
    pub likely: Vec<LikelyState>,
    /// Fluents that hold in some of the possible states and not in others, with their probabilities.
    pub uncertain: BTreeMap<String, f64>,
    /// What the strategies of all roles say, if they are known. Then belief and expected moves follow them too.
    pub reasons: Option<Reasons>,
}

/// A possible state, and how the game is expected to go on if it is the true one: by the strategies of the roles where
/// they are known ([`Explanation::reasons`]), else as if every role knew the state.
#[derive(Clone, Debug)]
pub struct LikelyState {
    /// Its probability.
    pub p: f64,
    /// Its fluents.
    pub fluents: Vec<String>,
    /// The expected moves.
    pub line: Line,
}

/// Playouts by which every role chooses its move in an expected line.
const LINE_PLAYOUTS: u64 = 50;

impl Game {
    /// Asks a player to decide in a round of a recorded match, knowing only what its role was told, and explains the
    /// decision.
    ///
    /// # Errors
    /// If the record has no such round or role, or the player cannot be asked.
    pub fn explain(&self, record: &Record, options: &ExplainOptions) -> Result<Explanation, Error> {
        self.check_record(record)?;
        let sight = record.sight.map(|role| RoleId(role as u16));
        let role = match (&options.role, self.seating().played().first()) {
            (Some(name), _) => self.role(name)?,
            (None, Some(_)) if sight.is_some() => sight.unwrap_or(RoleId(0)),
            (None, Some(&first)) => RoleId(first as u16),
            (None, None) => return Err(Error::OtherMatch("the game has no role besides nature".to_owned())),
        };
        let at = usize::from(role.0);
        check_sight(record, at)?;
        let last = record.rounds.len();
        let round = options.round.unwrap_or(last);
        if !(1..=last).contains(&round) {
            return Err(Error::OtherMatch(format!(
                "the record has rounds 1 to {last}, not {round}"
            )));
        }
        let spec = PlayerSpec::parse(options.player.as_deref().unwrap_or(&record.players[at]))?;
        let told = record.told(at, round - 1);
        let seed = Seed(record.seed).child("player").nth(u64::from(role.0));
        let budget = Budget::until(options.stop.clone());
        let decision = match self.seat(&spec, role, seed)? {
            Seat::Player(mut player) => player.choose(&told, &budget)?,
            Seat::Cheat(_) if sight.is_some() => return Err(spec.unsuitable(Unsuitable::NeedsState)),
            Seat::Cheat(mut cheat) => cheat.choose_knowing(&record.states[round - 1], &budget)?,
            Seat::Guest(_) | Seat::Nature => return Err(spec.unsuitable(Unsuitable::Elsewhere)),
        };
        let mut explanation = Explanation {
            roles: record.roles.clone(),
            role: at,
            round,
            player: spec.text().to_owned(),
            decision,
            likely: Vec::new(),
            uncertain: BTreeMap::new(),
            reasons: None,
        };
        let others = options.others.as_deref().map(PlayerSpec::parse).transpose()?;
        let strategy = match &others {
            Some(others) => Some(others.strategy().ok_or_else(|| no_strategy(others.text()))?),
            None => spec.strategy(),
        };
        if let Some(strategy) = strategy {
            explanation.look_ahead_by(self, strategy, role, seed, &told, options)?;
            return Ok(explanation);
        }
        explanation.look_ahead(self, role, seed, &told, options, &budget)?;
        Ok(explanation)
    }
}

/// Whether a record tells what this role was told: a player's record has only its own role.
///
/// # Errors
/// If it does not.
pub fn check_sight(record: &Record, role: usize) -> Result<(), Error> {
    match record.sight {
        Some(sight) if sight != role => Err(Error::OtherMatch(format!(
            "the record is a player's and knows only what {} was told",
            record.roles[sight]
        ))),
        _ => Ok(()),
    }
}

fn no_strategy(player: &str) -> Error {
    Error::Option {
        option: "--others",
        must: format!("must be strategy:FILE, not `{player}`: only a saved strategy tells what every role would do"),
    }
}

impl Explanation {
    /// Belief, values and expected moves by the strategies of all roles.
    fn look_ahead_by(
        &mut self,
        game: &Game,
        strategy: &Strategy,
        role: RoleId,
        seed: Seed,
        told: &[Told],
        options: &ExplainOptions,
    ) -> Result<(), Error> {
        let question = Question {
            role,
            told,
            chosen: &self.decision.mv,
            top: options.top,
            ahead: options.ahead,
            seed,
            stop: options.stop.clone(),
        };
        let found = reasons::explain(game, strategy, &question)?;
        let likely = |possible: Possible| LikelyState {
            p: possible.p,
            fluents: possible.fluents,
            line: possible.line,
        };
        self.likely = found.possible.into_iter().map(likely).collect();
        self.uncertain = found.uncertain;
        self.reasons = Some(found.reasons);
        Ok(())
    }

    fn look_ahead(
        &mut self,
        game: &Game,
        role: RoleId,
        seed: Seed,
        told: &[Told],
        options: &ExplainOptions,
        budget: &Budget,
    ) -> Result<(), Error> {
        let tools = game.engine().tools(role, seed);
        let mut believer = Believer::new(tools, SamplerKind::Trellis, &belief::Options::default())?;
        believer.update(told, budget)?;
        let mut states: Vec<(State, f64)> = believer.posterior();
        states.sort_by(|(a, p), (b, q)| q.total_cmp(p).then_with(|| a.cmp(b)));
        for (state, p) in &states {
            for fluent in believer.tools.sim.fluents(state) {
                *self.uncertain.entry(fluent).or_insert(0.0) += p;
            }
        }
        self.uncertain.retain(|_, p| *p < 1.0 - 1e-9);
        let Some(first) = believer.tools.sim.find_move(role, &self.decision.mv) else {
            return Ok(());
        };
        for (state, p) in states.iter().take(options.top) {
            let fluents = believer.tools.sim.fluents(state);
            let line = expected_line(&mut believer.tools, state, first, options.ahead, LINE_PLAYOUTS, budget)?;
            self.likely.push(LikelyState { p: *p, fluents, line });
        }
        Ok(())
    }
}
