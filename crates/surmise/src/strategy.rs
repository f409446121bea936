//! Strategies as files: what `surmise solve --save` writes and the player `strategy:FILE` reads.

use anyhow::{Context, Result, anyhow, bail};
use game::{RoleId, Told};
use search::Table;
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
    tables: BTreeMap<String, Arc<Table>>,
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
        let mut tables: BTreeMap<String, Table> = BTreeMap::new();
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
    pub fn table(&self, roles: &[String], role: RoleId) -> Result<Arc<Table>> {
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

/// One entry of a strategy: what a role does in an information set.
pub fn entry(tree: &Tree, sim: &dyn game::Simulator, set: &Infoset, policy: &Policy) -> Value {
    let role = tree.players[set.player as usize];
    let round = |round: &game::Round| {
        let sees: Vec<&str> = round.sees.iter().map(|&p| sim.percept_text(role, p)).collect();
        json!({"move": sim.move_text(role, round.own), "sees": sees})
    };
    let view: Vec<Value> = tree.view(set).iter().map(round).collect();
    let action = |s: usize| (sim.move_text(role, tree.move_of(s)).to_owned(), json!(policy.0[s]));
    let policy: serde_json::Map<String, Value> = set.sequences().map(action).collect();
    json!({"role": sim.roles()[role.0 as usize], "view": view, "policy": policy})
}
