//! The result of training, as used in play: with views and with states held possible, never with the true state.

use crate::archive::{Archive, ArchiveError, get_network, get_table, put_network, put_table};
use crate::codec::Codec;
use crate::network::{NeuralNetwork, softmax};
use crate::table::{RegretTable, ViewKey};
use crate::trainer::Trainer;
use belief::OpponentModel;
use game::{Fault, MoveId, RoleId, Seed, State, StopFlag, View};
use search::{Horizon, Question, Tools};
use serde_json::json;
use std::sync::Arc;

/// A network and a table for playing.
#[derive(Clone, Debug)]
pub struct Blueprint {
    codec: Codec,
    network: NeuralNetwork,
    table: RegretTable,
}

impl Blueprint {
    pub(crate) fn new(codec: Codec, network: NeuralNetwork, table: RegretTable) -> Blueprint {
        Blueprint { codec, network, table }
    }

    pub(crate) fn codec(&self) -> &Codec {
        &self.codec
    }

    /// The present result of a trainer.
    pub fn of(trainer: &Trainer) -> Blueprint {
        Blueprint {
            codec: trainer.codec.clone(),
            network: trainer.network.clone(),
            table: trainer.table.clone(),
        }
    }

    /// The network as an archive, with information about its training.
    pub fn network_archive(&self, training: serde_json::Value) -> Archive {
        let mut archive = Archive {
            about: json!({"what": "network", "training": training}),
            ..Archive::default()
        };
        put_network(&mut archive, &self.codec, &self.network);
        archive
    }

    /// The table as an archive.
    pub fn table_archive(&self) -> Archive {
        let mut archive = Archive {
            about: json!({"what": "table", "game": self.codec.fingerprint().to_string()}),
            ..Archive::default()
        };
        put_table(&mut archive, &self.table, false);
        archive
    }

    /// Combines a network and optionally a table for a game.
    ///
    /// # Errors
    /// If they are damaged or belong to another game.
    pub fn from_archives(network: &Archive, table: Option<&Archive>, game: &Codec) -> Result<Blueprint, ArchiveError> {
        let (codec, network) = get_network(network, game)?;
        let table = match table {
            None => RegretTable::default(),
            Some(archive) if archive.about["game"].as_str() != Some(&codec.fingerprint().to_string()) => {
                return Err(ArchiveError::OtherTable);
            }
            Some(archive) => get_table(archive, false)?,
        };
        Ok(Blueprint { codec, network, table })
    }

    /// Number of views in the table.
    pub fn known_views(&self) -> usize {
        self.table.len()
    }

    fn player(&self, role: RoleId) -> Option<usize> {
        self.codec.players.iter().position(|&r| r == usize::from(role.0))
    }
}

/// A blueprint as the horizon of a search.
#[derive(Clone, Debug)]
pub struct LearnedHorizon {
    blueprint: Arc<Blueprint>,
    /// Updates of a view from which on its policy is played from the table; never, if none.
    trusted: Option<u32>,
    /// Probability below which a move of the table is not played.
    least: f32,
}

/// States evaluated at a time: as many as fit a processor cache.
const BATCH: usize = 256;

impl LearnedHorizon {
    /// A horizon that plays from the table in views with at least so many updates.
    pub fn new(blueprint: Arc<Blueprint>, trusted: Option<u32>) -> LearnedHorizon {
        LearnedHorizon {
            blueprint,
            trusted,
            least: 0.0,
        }
    }

    /// Sets the probability below which a move of the table is not played. Such moves are mostly left over from early
    /// generations.
    #[must_use]
    pub fn purified(self, least: f32) -> LearnedHorizon {
        LearnedHorizon { least, ..self }
    }

    /// The table's policy of a view with so many moves, if the view has enough updates.
    pub fn learned(&self, key: ViewKey, n: usize) -> Option<Vec<f32>> {
        let table = &self.blueprint.table;
        if table.updates(key) < self.trusted? {
            return None;
        }
        let mut policy = table.average(key, n)?;
        let most = policy.iter().copied().fold(0.0, f32::max);
        policy
            .iter_mut()
            .filter(|p| **p < self.least.min(most))
            .for_each(|p| *p = 0.0);
        let total: f32 = policy.iter().sum();
        policy.iter_mut().for_each(|p| *p /= total);
        Some(policy)
    }
}

impl Horizon for LearnedHorizon {
    fn values(
        &mut self,
        _tools: &mut Tools,
        states: &[State],
        _seed: Seed,
        stop: &StopFlag,
    ) -> Result<Vec<f32>, Fault> {
        let codec = &self.blueprint.codec;
        let mut all = Vec::with_capacity(states.len() * codec.roles.len());
        for batch in states.chunks(BATCH) {
            if stop.is_raised() {
                break;
            }
            let values = self.blueprint.network.values(batch.iter().map(|s| s.0.as_slice()));
            for row in values.chunks_exact(codec.players.len()) {
                let start = all.len();
                all.resize(start + codec.roles.len(), 0.0);
                for (&role, value) in codec.players.iter().zip(row) {
                    all[start + role] = value.clamp(0.0, 1.0);
                }
            }
        }
        Ok(all)
    }

    fn knows_policies(&self) -> bool {
        true
    }

    fn knows_views(&self) -> bool {
        self.trusted.is_some() && !self.blueprint.table.is_empty()
    }

    fn policies(&mut self, questions: &[Question<'_>]) -> Option<Vec<Vec<f32>>> {
        let mut all = Vec::with_capacity(questions.len());
        for batch in questions.chunks(BATCH) {
            let answer = self
                .blueprint
                .network
                .answer(batch.iter().map(|q| q.state.0.as_slice()));
            for (row, question) in batch.iter().enumerate() {
                let player = self.blueprint.player(question.role)?;
                let n = self.blueprint.codec.moves[player].len();
                let legal: Vec<u32> = question.legal.iter().map(|m| m.0).collect();
                all.push(softmax(&answer.logits[player][row * n..][..n], &legal));
            }
        }
        Some(all)
    }

    fn advise(&mut self, role: RoleId, view: &View, legal: &[MoveId]) -> Option<Vec<f32>> {
        self.learned(ViewKey::of(usize::from(role.0), view), legal.len())
    }
}

/// Opponents that play the network's policy half of the time and uniformly otherwise: the sampler of Partridge and
/// Thielscher (2022).
#[derive(Clone, Debug)]
pub struct LearnedOpponents(pub Arc<Blueprint>);

impl OpponentModel for LearnedOpponents {
    fn probabilities(&self, state: &State, role: RoleId, legal: &[MoveId], out: &mut Vec<f64>) {
        out.clear();
        let even = 1.0 / legal.len() as f64;
        let Some(player) = self.0.player(role).filter(|_| legal.len() > 1) else {
            out.extend(std::iter::repeat_n(even, legal.len()));
            return;
        };
        let answer = self.0.network.answer(std::iter::once(state.0.as_slice()));
        let legal: Vec<u32> = legal.iter().map(|m| m.0).collect();
        let policy = softmax(&answer.logits[player], &legal);
        out.extend(policy.iter().map(|&p| (f64::from(p) + even) / 2.0));
    }
}
