//! Strategies as files: what `surmise solve --save` writes and the player `strategy:FILE` reads.

use anyhow::{Context, Result, anyhow, bail};
use game::{RoleId, Round, Simulator, Told};
use search::StrategyTable;
use serde_json::{Value, json};
use solve::{Infoset, Policy, Tree};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A strategy for every role of a game, as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Strategy {
    file: String,
    game: String,
    roles: Vec<String>,
    tables: BTreeMap<String, Arc<StrategyTable>>,
}

impl Strategy {
    /// Reads a file.
    pub fn read(file: &str) -> Result<Strategy> {
        if file.is_empty() {
            bail!("`strategy:` needs a file that `surmise solve --save` wrote");
        }
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read the strategy `{file}`"))?;
        let value: Value = serde_json::from_str(&text).with_context(|| format!("`{file}` is not JSON"))?;
        Strategy::from_json(file, &value)
            .ok_or_else(|| anyhow!("`{file}` is not a strategy as `surmise solve --save` writes it"))
    }

    fn from_json(file: &str, value: &Value) -> Option<Strategy> {
        let mut tables: BTreeMap<String, StrategyTable> = BTreeMap::new();
        for entry in value["strategy"].as_array()? {
            let rounds = entry["view"].as_array()?;
            let view: Option<Vec<Told>> = rounds.iter().map(told).collect();
            let policy = entry["policy"].as_object()?.iter();
            let policy: Option<Vec<(String, f64)>> = policy.map(|(mv, p)| Some((mv.clone(), p.as_f64()?))).collect();
            let table = tables.entry(entry["role"].as_str()?.to_owned()).or_default();
            table.insert(&view?, policy?);
        }
        Some(Strategy {
            file: file.to_owned(),
            game: value["game"].as_str()?.to_owned(),
            roles: texts(&value["roles"])?,
            tables: tables.into_iter().map(|(role, t)| (role, Arc::new(t))).collect(),
        })
    }

    /// The part of a role in a game with these roles. A role that never has a choice has an empty one.
    pub fn table(&self, roles: &[String], role: RoleId) -> Result<Arc<StrategyTable>> {
        if self.roles != roles {
            bail!(
                "the strategy in `{}` is for {} with the roles {}, not for a game with the roles {}",
                self.file,
                self.game,
                self.roles.join(", "),
                roles.join(", ")
            );
        }
        let table = self.tables.get(&roles[role.0 as usize]);
        Ok(table.cloned().unwrap_or_default())
    }

    /// The strategy as probabilities on the tree of a game, and in how many information sets it says nothing, where every move is
    /// equally likely, as the player `strategy:FILE` moves there.
    pub fn policy(&self, tree: &Tree, sim: &mut dyn Simulator) -> Result<(Policy, usize)> {
        let mut weights = vec![0.0; tree.n_sequences()];
        let mut silent = 0;
        for (player, &role) in tree.players.iter().enumerate() {
            let table = self.table(sim.roles(), role)?;
            table.check(sim, role).with_context(|| self.context())?;
            for set in &tree.infosets()[tree.infosets_of(player)] {
                let view: Vec<Told> = tree.view(set).iter().map(|round| tell(sim, role, round)).collect();
                let policy = table.policy(&view);
                silent += usize::from(policy.is_none());
                for (mv, p) in policy.unwrap_or_default() {
                    let Some(sequence) = set.sequences().find(|&s| sim.move_text(role, tree.move_of(s)) == mv) else {
                        let name = &sim.roles()[role.0 as usize];
                        let at = tree.view_text(set, sim);
                        bail!("{}: `{mv}` is not legal for {name} {at}", self.context());
                    };
                    weights[sequence] = *p;
                }
            }
        }
        Ok((Policy::proportional(tree, &weights), silent))
    }

    /// What to say when the rules do not know what the strategy speaks of.
    pub fn context(&self) -> String {
        format!("the strategy in `{}`, for {}", self.file, self.game)
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    let list = value.as_array()?.iter();
    list.map(|text| text.as_str().map(str::to_owned)).collect()
}

fn told(round: &Value) -> Option<Told> {
    Some(Told {
        own: round["move"].as_str()?.to_owned(),
        sees: texts(&round["sees"])?,
    })
}

fn tell(sim: &dyn Simulator, role: RoleId, round: &Round) -> Told {
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
