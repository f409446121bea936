//! A player that follows a strategy computed beforehand, such as a solver's.

use crate::plain::Random;
use crate::tools::Tools;
use belief::BeliefError;
use game::{Budget, Decision, Fault, Meter, Player, RoleId, Seed, Simulator, Told};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A strategy of one role, computed beforehand.
pub trait ViewPolicy: Send + Sync {
    /// Moves after a view, with numbers in proportion to which they are played; none if the view is not known.
    fn policy(&self, view: &[Told]) -> Option<Vec<(String, f64)>>;

    /// The same where the legal moves are known as well.
    fn policy_among(&self, view: &[Told], legal: &[&str]) -> Option<Vec<(String, f64)>> {
        let _ = legal;
        self.policy(view)
    }

    /// Checks that all moves and percepts of the strategy exist in a game.
    ///
    /// # Errors
    /// If one does not.
    fn check(&self, sim: &mut dyn Simulator, role: RoleId) -> Result<(), Fault>;
}

/// The strategy of one role: for each view, moves and their probabilities, in canonical text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StrategyTable {
    policies: FxHashMap<String, Vec<(String, f64)>>,
    moves: BTreeSet<String>,
    percepts: BTreeSet<String>,
}

impl StrategyTable {
    /// Adds the policy of a view: moves with numbers in proportion to which they are played. Numbers that are not
    /// positive are ignored; a policy without positive numbers is not added.
    pub fn insert(&mut self, view: &[Told], policy: Vec<(String, f64)>) {
        let playable = |p: &f64| p.is_finite() && *p > 0.0;
        let policy: Vec<(String, f64)> = policy.into_iter().filter(|(_, p)| playable(p)).collect();
        if policy.is_empty() {
            return;
        }
        for round in view {
            self.moves.insert(round.own.clone());
            self.percepts.extend(round.sees.iter().cloned());
        }
        self.moves.extend(policy.iter().map(|(mv, _)| mv.clone()));
        self.policies.insert(key(view), policy);
    }

    /// The policy of a view: moves with numbers in proportion to which they are played.
    pub fn policy(&self, view: &[Told]) -> Option<&[(String, f64)]> {
        self.policies.get(&key(view)).map(Vec::as_slice)
    }

    /// Checks that all moves and percepts of the table exist in a game.
    pub fn check(&self, sim: &mut dyn Simulator, role: RoleId) -> Result<(), Fault> {
        let strange_move = self.moves.iter().find(|mv| sim.find_move(role, mv).is_none());
        let strange_percept = self.percepts.iter().find(|p| sim.find_percept(role, p).is_none());
        let name = &sim.roles()[role.0 as usize];
        let what = match (strange_move, strange_percept) {
            (Some(mv), _) => format!("`{mv}` is never a move of {name} here"),
            (_, Some(percept)) => format!("{name} never perceives `{percept}` here"),
            (None, None) => return Ok(()),
        };
        Err(Fault::OtherGame(what))
    }
}

impl ViewPolicy for StrategyTable {
    fn policy(&self, view: &[Told]) -> Option<Vec<(String, f64)>> {
        StrategyTable::policy(self, view).map(<[_]>::to_vec)
    }

    fn check(&self, sim: &mut dyn Simulator, role: RoleId) -> Result<(), Fault> {
        StrategyTable::check(self, sim, role)
    }
}

/// Draws a move.
fn draw(strategy: &dyn ViewPolicy, view: &[Told], seed: Seed) -> Option<Decision> {
    let policy = strategy.policy(view)?;
    let total: f64 = policy.iter().map(|(_, p)| p).sum();
    let mut left = seed.rng().unit() * total;
    let drawn = policy.iter().find(|(_, p)| {
        left -= p;
        left < 0.0
    });
    let (mv, _) = drawn.or(policy.last())?;
    Some(Decision {
        policy: policy.iter().map(|(mv, p)| (mv.clone(), p / total)).collect(),
        ..Decision::plain(mv)
    })
}

/// A view as one text. Canonical text has no line breaks or tabs. Percepts are sorted here, since callers need not sort
/// them.
fn key(view: &[Told]) -> String {
    let mut key = String::new();
    for round in view {
        key.push_str(&round.own);
        let mut sees: Vec<&str> = round.sees.iter().map(String::as_str).collect();
        sees.sort_unstable();
        for percept in sees {
            key.push('\t');
            key.push_str(percept);
        }
        key.push('\n');
    }
    key
}

/// Plays by a table; after a view that is not in it, a random legal move.
pub struct Tabular {
    table: Arc<dyn ViewPolicy>,
    seed: Seed,
    /// The player for views that are not in the table, such as those with a single legal move.
    otherwise: Random,
}

impl Tabular {
    /// A player with these tools.
    ///
    /// # Errors
    /// If the table names moves or percepts that the role does not have in this game.
    pub fn new(mut tools: Tools, table: Arc<dyn ViewPolicy>) -> Result<Tabular, BeliefError> {
        table.check(tools.sim.as_mut(), tools.role)?;
        Ok(Tabular {
            table,
            seed: tools.seed.child("strategy"),
            otherwise: Random::new(tools)?,
        })
    }
}

impl Player for Tabular {
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        match draw(self.table.as_ref(), told, self.seed.nth(told.len() as u64)) {
            Some(decision) => Ok(decision),
            None => self.otherwise.choose(told, budget),
        }
    }

    fn meter(&self) -> Meter {
        self.otherwise.meter()
    }
}
