//! Strategies as files: what `surmise solve --save` writes and the player `strategy:FILE` reads.

use crate::large::compact;
use crate::{Error, files};
use belief::BeliefError;
use game::{Fault, RoleId, Round, Simulator, Told};
use search::{CompactStrategy, StrategyTable, ViewPolicy};
use serde_json::{Value, json};
use solve::{Infoset, Policy, Tree};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A strategy for every role of a game, read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Strategy {
    path: PathBuf,
    game: String,
    roles: Vec<String>,
    tables: Tables,
}

/// The strategies of the roles, by name.
#[derive(Clone, Debug, PartialEq)]
enum Tables {
    Text(BTreeMap<String, Arc<StrategyTable>>),
    Compact(BTreeMap<String, Arc<CompactStrategy>>),
}

impl Strategy {
    /// Reads a file.
    ///
    /// # Errors
    /// If the file cannot be read or holds no strategy.
    pub fn read(path: &Path) -> Result<Strategy, Error> {
        if compact::is_compact(path) {
            let saved = compact::read(path)?;
            return Ok(Strategy {
                path: path.to_owned(),
                game: saved.game,
                roles: saved.roles,
                tables: Tables::Compact(saved.strategies.into_iter().map(|(r, s)| (r, Arc::new(s))).collect()),
            });
        }
        Strategy::from_value(&path.to_string_lossy(), &files::read_json(path)?)
    }

    /// A strategy in the JSON form of its file, with a name for messages.
    ///
    /// # Errors
    /// If the value is no strategy.
    pub fn from_value(name: &str, value: &Value) -> Result<Strategy, Error> {
        let path = Path::new(name);
        let strategy = Strategy::from_json(path, value);
        strategy.ok_or_else(|| Error::format(path, "is not a strategy as `surmise solve --save` writes it"))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A strategy from the contents of its file; none if it is something else.
    pub fn from_json(path: &Path, value: &Value) -> Option<Strategy> {
        let mut tables: BTreeMap<String, StrategyTable> = BTreeMap::new();
        for entry in value["strategy"].as_array()? {
            let view = told_from_json(&entry["view"])?;
            let policy = entry["policy"].as_object()?.iter();
            let policy: Option<Vec<(String, f64)>> = policy.map(|(mv, p)| Some((mv.clone(), p.as_f64()?))).collect();
            let table = tables.entry(entry["role"].as_str()?.to_owned()).or_default();
            table.insert(&view, policy?);
        }
        Some(Strategy {
            path: path.to_owned(),
            game: value["game"].as_str()?.to_owned(),
            roles: texts(&value["roles"])?,
            tables: Tables::Text(tables.into_iter().map(|(role, t)| (role, Arc::new(t))).collect()),
        })
    }

    /// The part of a role in a game with these roles: empty for a role that never has a choice.
    ///
    /// # Errors
    /// If the strategy is for other roles.
    pub fn table(&self, roles: &[String], role: RoleId) -> Result<Arc<dyn ViewPolicy>, Error> {
        if self.roles != roles {
            return Err(self.other_game(format!(
                "its roles are {}, not {}",
                self.roles.join(", "),
                roles.join(", ")
            )));
        }
        let name = &roles[role.0 as usize];
        let compact = match &self.tables {
            Tables::Text(tables) => return Ok(tables.get(name).cloned().unwrap_or_default()),
            Tables::Compact(tables) => tables.get(name).cloned(),
        };
        Ok(match compact {
            Some(table) => table,
            None => Arc::new(StrategyTable::default()),
        })
    }

    /// The strategy as probabilities on the tree of a game, and the number of information sets that it does not know.
    /// There every move is equally likely, as the player `strategy:FILE` moves.
    ///
    /// # Errors
    /// If the strategy is of another game.
    pub fn policy(&self, tree: &Tree, sim: &mut dyn Simulator) -> Result<(Policy, usize), Error> {
        let mut weights = vec![0.0; tree.n_sequences()];
        let mut silent = 0;
        for (player, &role) in tree.players.iter().enumerate() {
            let table = self.table(sim.roles(), role)?;
            table.check(sim, role).map_err(|fault| self.does_not_fit(fault))?;
            for set in &tree.infosets()[tree.infosets_of(player)] {
                let view: Vec<Told> = tree.view(set).iter().map(|round| tell(sim, role, round)).collect();
                let policy = table.policy(&view);
                silent += usize::from(policy.is_none());
                if let Some(sum) = policy.as_ref().and_then(|policy| wrong_sum(policy)) {
                    let name = &sim.roles()[role.0 as usize];
                    let at = tree.view_text(set, sim);
                    return Err(Error::format(
                        &self.path,
                        format!("{name}, {at}: the probabilities must be at least 0 and sum to 1; they sum to {sum}"),
                    ));
                }
                for (mv, p) in policy.unwrap_or_default() {
                    let Some(sequence) = set.sequences().find(|&s| sim.move_text(role, tree.move_of(s)) == mv) else {
                        let name = &sim.roles()[role.0 as usize];
                        let at = tree.view_text(set, sim);
                        return Err(self.other_game(format!("`{mv}` is not legal for {name} {at}")));
                    };
                    weights[sequence] = p;
                }
            }
        }
        Ok((Policy::proportional(tree, &weights), silent))
    }

    /// The error that the rules do not know a move or percept of the strategy.
    pub(crate) fn does_not_fit(&self, error: impl Into<BeliefError>) -> Error {
        match error.into() {
            BeliefError::Fault(Fault::OtherGame(wrong)) => self.other_game(wrong),
            other => Error::Belief(other),
        }
    }

    fn other_game(&self, wrong: String) -> Error {
        Error::OtherGame {
            path: self.path.clone(),
            wrong: format!("the strategy is for {}, and {wrong}", self.game),
        }
    }
}

/// The sum of some numbers, if they are no probabilities that sum to 1.
fn wrong_sum<T>(policy: &[(T, f64)]) -> Option<f64> {
    let sum: f64 = policy.iter().map(|(_, p)| p).sum();
    let wrong = policy.iter().any(|(_, p)| !p.is_finite() || *p < 0.0) || (sum - 1.0).abs() > 1e-4;
    wrong.then_some(sum)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    let list = value.as_array()?.iter();
    list.map(|text| text.as_str().map(str::to_owned)).collect()
}

/// What a role was told, from JSON such as `[{"move": "noop", "sees": ["(card jack)"]}]`; none if it is something else.
pub fn told_from_json(value: &Value) -> Option<Vec<Told>> {
    let round = |round: &Value| {
        Some(Told {
            own: round["move"].as_str()?.to_owned(),
            sees: texts(&round["sees"])?,
        })
    };
    value.as_array()?.iter().map(round).collect()
}

pub(crate) fn tell(sim: &dyn Simulator, role: RoleId, round: &Round) -> Told {
    Told {
        own: sim.move_text(role, round.own).to_owned(),
        sees: round
            .sees
            .iter()
            .map(|&p| sim.percept_text(role, p).to_owned())
            .collect(),
    }
}

/// One entry of a strategy: what a role does in an information set.
pub fn entry(tree: &Tree, sim: &dyn Simulator, set: &Infoset, policy: &Policy) -> Value {
    let role = tree.players[set.player as usize];
    let round = |round: &Round| {
        let told = tell(sim, role, round);
        json!({"move": told.own, "sees": told.sees})
    };
    let view: Vec<Value> = tree.view(set).iter().map(round).collect();
    let action = |s: usize| (sim.move_text(role, tree.move_of(s)).to_owned(), json!(policy.0[s]));
    let policy: serde_json::Map<String, Value> = set.sequences().map(action).collect();
    json!({"role": sim.roles()[role.0 as usize], "view": view, "policy": policy})
}
