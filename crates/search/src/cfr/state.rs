//! Regret minimisation from one known state: the training data of Partridge and Thielscher (2022).

use super::regrets::{IterationPlan, solve};
use super::subgame::{Growth, GrowthLimits, Start, Subgame};
use super::{CfrOptions, Horizon, USUAL_NODES};
use crate::Tools;
use crate::atlas::Atlas;
use crate::views::{Everyone, Views};
use game::{Fault, MoveId, Seed, State, StopFlag};

/// Values and policies of all roles in a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outlook {
    /// Values in 0..1, in role order; 0 for nature.
    pub values: Vec<f64>,
    /// Moves and probabilities, in role order; empty where there is no choice.
    pub policies: Vec<Vec<(MoveId, f64)>>,
}

/// Searches from states of one game. Steps are cached between searches.
pub struct StateSearch {
    atlas: Atlas,
    options: CfrOptions,
}

impl StateSearch {
    /// Searches like this.
    pub fn new(options: CfrOptions) -> StateSearch {
        StateSearch {
            atlas: Atlas::default(),
            options,
        }
    }

    /// Searches as deep as the options allow; none if the game is over in this state.
    pub fn look(
        &mut self,
        tools: &mut Tools,
        horizon: &mut dyn Horizon,
        state: &State,
        seed: Seed,
    ) -> Result<Option<Outlook>, Fault> {
        let n_roles = tools.sim.roles().len();
        let mut views: Views<()> = Views::new(n_roles);
        let node = self.atlas.enter(tools.sim.as_mut(), state.clone())?;
        if self.atlas.node(node).over {
            return Ok(None);
        }
        let everyone: Everyone = views.start();
        let start = Start {
            node,
            everyone: everyone.clone(),
            weight: 1.0,
        };
        let mut subgame = Subgame::new(tools, &[start]);
        let stop = StopFlag::default();
        let most = self.options.nodes.unwrap_or(USUAL_NODES);
        let depth = self.options.depth.unwrap_or(usize::MAX).max(1);
        while subgame.depth < depth && subgame.has_horizon() {
            let bounds = GrowthLimits {
                steps: if subgame.depth == 0 { usize::MAX } else { most },
                chance: self.options.chance,
                stop: &stop,
            };
            if subgame.deepen(tools, &mut self.atlas, &mut views, &bounds, seed)? != Growth::Done {
                break;
            }
        }
        let Some((states, of_open)) = subgame.horizon(&self.atlas, &stop) else {
            return Ok(None);
        };
        let values = match states.is_empty() {
            true => Vec::new(),
            false => horizon.values(tools, &states, seed.child("horizon"), &stop)?,
        };
        let Some(rows) = subgame.rows(&of_open, &values, n_roles, &stop) else {
            return Ok(None);
        };
        let plan = IterationPlan {
            iterations: self.options.iterations,
            keep: self.options.iterations,
            prior: None,
            stop: &stop,
        };
        let Some(solution) = solve(&subgame, &rows, &plan) else {
            return Ok(None);
        };
        let mut outlook = Outlook {
            values: vec![0.0; n_roles],
            policies: vec![Vec::new(); n_roles],
        };
        for (player, &role) in subgame.players.iter().enumerate() {
            outlook.values[role] = solution.worth[player];
            let here = |set: &&super::SubgameInfoset| set.view == everyone[role];
            if let Some(set) = subgame.infosets.iter().find(here) {
                let moves = subgame.moves[set.sequences()].iter().copied();
                let p = solution.average[set.sequences()].iter().copied();
                outlook.policies[role] = moves.zip(p).collect();
            }
        }
        Ok(Some(outlook))
    }
}
