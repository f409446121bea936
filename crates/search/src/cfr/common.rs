//! The common-knowledge closure of my information set: all histories that are connected with mine by the information
//! sets of any role.
//!
//! A search from my information set alone reveals my hidden information to the others: all its histories agree about
//! what I know, so the others could rely on it, and no bluff would work. So the search begins in the whole closure,
//! while it is small enough. The closure is computed by extending the one of the round before: histories that cannot be
//! told apart now could not be told apart then.

use super::regrets::normalise;
use super::subgame::{STEPS_A_LOOK, Start, joint_moves};
use super::{Horizon, Question};
use crate::Tools;
use crate::atlas::{Atlas, NodeId, Places};
use crate::views::{Everyone, ViewId, Views};
use game::{Fault, MoveId, PacedStop, RoleId, Round, State, StopFlag};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::Arc;

/// The assumed policy of a role after a view.
#[derive(Clone, Debug)]
pub(crate) struct AssumedPolicy {
    pub moves: Arc<[MoveId]>,
    pub p: Vec<f64>,
    /// Values of the moves in 0..1, if a search computed them.
    pub worth: Vec<f64>,
}

/// Assumed policies by view. A view without an entry leaves no choice.
pub(crate) type AssumedPolicies = FxHashMap<ViewId, AssumedPolicy>;

/// The histories of a common-knowledge closure.
#[derive(Clone, Debug)]
pub(crate) struct CommonKnowledge {
    /// Weights contain nature's probability only.
    entries: Vec<Start>,
    /// My own view.
    pub mine: ViewId,
    pub rounds: usize,
}

/// Limits on the size of a closure.
pub(crate) struct ClosureLimits {
    pub histories: usize,
    pub steps: usize,
}

/// Share of uniform play in every assumed policy, so that every history has a positive probability.
const TREMBLE: f64 = 0.05;
/// States of a view for which the horizon is queried.
const ASKED: usize = 16;

impl CommonKnowledge {
    /// Before the first round.
    pub(crate) fn start<T: Default>(
        tools: &mut Tools,
        atlas: &mut Atlas,
        views: &Views<T>,
    ) -> Result<CommonKnowledge, Fault> {
        let everyone = views.start();
        Ok(CommonKnowledge {
            mine: everyone[usize::from(tools.role.0)],
            entries: vec![Start {
                node: atlas.start(tools.sim.as_mut())?,
                everyone,
                weight: 1.0,
            }],
            rounds: 0,
        })
    }

    /// Extends the closure by a round. Returns false if it becomes too large, or if no history explains the round.
    pub(crate) fn advance<T: Default>(
        &mut self,
        round: &Round,
        tools: &mut Tools,
        atlas: &mut Atlas,
        views: &mut Views<T>,
        size: &ClosureLimits,
        stop: &StopFlag,
    ) -> Result<bool, Fault> {
        let nature = tools.sim.nature().map(|r| usize::from(r.0));
        let steps = self
            .entries
            .iter()
            .map(|e| joint_moves(atlas, e.node, nature, usize::MAX));
        if steps.fold(0, usize::saturating_add) > size.steps {
            return Ok(false);
        }
        let me = usize::from(tools.role.0);
        let sees = atlas.intern(me as u16, &round.sees);
        let mut found: Vec<Start> = Vec::new();
        let mut places: FxHashMap<(NodeId, Everyone), u32> = FxHashMap::default();
        let mut stop = PacedStop::new(stop, STEPS_A_LOOK);
        for entry in &self.entries {
            if !follow(entry, tools, atlas, views, &mut found, &mut places, &mut stop)? {
                return Ok(false);
            }
        }
        self.mine = views.after(self.mine, round.own, sees);
        self.entries = connected(found, self.mine, me, nature);
        self.rounds += 1;
        Ok(!self.entries.is_empty() && self.entries.len() <= size.histories)
    }

    /// Follows my own view for another round, without the closure: for games that are solved.
    pub(crate) fn follow_mine<T: Default>(
        &mut self,
        round: &Round,
        tools: &Tools,
        atlas: &mut Atlas,
        views: &mut Views<T>,
    ) {
        let sees = atlas.intern(tools.role.0, &round.sees);
        self.mine = views.after(self.mine, round.own, sees);
        self.rounds += 1;
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// All histories, weighted by their probabilities under the assumed policies.
    pub(crate) fn starts<T: Default>(&self, views: &Views<T>, assumed: &AssumedPolicies) -> Vec<Start> {
        let mut known: FxHashMap<ViewId, f64> = FxHashMap::default();
        let mut starts = self.entries.clone();
        for start in &mut starts {
            let reach: f64 = start
                .everyone
                .iter()
                .map(|&v| reach(v, views, assumed, &mut known))
                .product();
            start.weight *= reach;
        }
        let total: f64 = starts.iter().map(|s| s.weight).sum();
        starts.iter_mut().for_each(|s| s.weight /= total);
        starts
    }

    /// Sets an assumed policy for every view with a choice: that of the horizon, else uniform. Known ones stay, unless
    /// `anew`.
    pub(crate) fn assume_policies(
        &self,
        nature: Option<usize>,
        atlas: &Atlas,
        horizon: &mut dyn Horizon,
        assumed: &mut AssumedPolicies,
        anew: impl Fn(usize) -> bool,
    ) {
        let mut asked: FxHashMap<ViewId, SmallVec<[u32; 4]>> = FxHashMap::default();
        let mut questions: Vec<(ViewId, usize, NodeId)> = Vec::new();
        for entry in &self.entries {
            let node = atlas.node(entry.node);
            let roles = (0..node.legal.len()).filter(|&r| Some(r) != nature && node.legal[r].len() > 1);
            for role in roles {
                let view = entry.everyone[role];
                if assumed.contains_key(&view) && !anew(role) {
                    continue;
                }
                let list = asked.entry(view).or_default();
                if list.len() < ASKED {
                    list.push(questions.len() as u32);
                    questions.push((view, role, entry.node));
                }
            }
        }
        let states: Vec<State> = questions.iter().map(|(_, _, n)| atlas.node(*n).state.clone()).collect();
        let asks: Vec<Question<'_>> = questions
            .iter()
            .zip(&states)
            .map(|((_, role, node), state)| Question {
                state,
                role: RoleId(*role as u16),
                legal: &atlas.node(*node).legal[*role],
            })
            .collect();
        let answers = if asks.is_empty() { None } else { horizon.policies(&asks) };
        for (view, list) in asked {
            let legal = |number: u32| {
                let (_, role, node) = questions[number as usize];
                &atlas.node(node).legal[role]
            };
            let mut moves = legal(list[0]).clone();
            for &number in &list[1..] {
                if *legal(number) != moves {
                    moves = super::union(&moves, legal(number));
                }
            }
            let mut p = vec![0.0; moves.len()];
            if let Some(answers) = &answers {
                for &number in &list {
                    for (mv, a) in legal(number).iter().zip(&answers[number as usize]) {
                        let place = moves.iter().position(|m| m == mv);
                        place.into_iter().for_each(|place| p[place] += f64::from(*a));
                    }
                }
            }
            normalise(&mut p);
            let worth = Vec::new();
            assumed.insert(view, AssumedPolicy { moves, p, worth });
        }
    }
}

/// The reach probability of a view: the role's own part.
fn reach<T: Default>(
    view: ViewId,
    views: &Views<T>,
    assumed: &AssumedPolicies,
    known: &mut FxHashMap<ViewId, f64>,
) -> f64 {
    if let Some(&reach) = known.get(&view) {
        return reach;
    }
    let Some(last) = views.last(view) else { return 1.0 };
    let before = reach(last.before, views, assumed, known);
    let chance = assumed.get(&last.before).map_or(1.0, |assumed_policy| {
        let at = assumed_policy.moves.iter().position(|&m| m == last.own);
        let p = at.map_or(0.0, |at| assumed_policy.p[at]);
        (1.0 - TREMBLE) * p + TREMBLE / assumed_policy.moves.len() as f64
    });
    known.insert(view, before * chance);
    before * chance
}

/// All continuations of a history by one round that do not end the game.
fn follow<T: Default>(
    entry: &Start,
    tools: &mut Tools,
    atlas: &mut Atlas,
    views: &mut Views<T>,
    found: &mut Vec<Start>,
    places: &mut FxHashMap<(NodeId, Everyone), u32>,
    stop: &mut PacedStop<'_>,
) -> Result<bool, Fault> {
    let nature = tools.sim.nature().map(|r| usize::from(r.0));
    let legal = atlas.node(entry.node).legal.clone();
    let chance = nature.map_or(1.0, |n| 1.0 / legal[n].len() as f64);
    let mut counters: Places = SmallVec::from_elem(0, legal.len());
    loop {
        if stop.is_raised() {
            return Ok(false);
        }
        let edge = atlas.step(tools.sim.as_mut(), entry.node, &counters)?;
        if !atlas.node(edge.to).over {
            let mut everyone = entry.everyone.clone();
            for (role, view) in everyone.iter_mut().enumerate() {
                if Some(role) != nature {
                    *view = views.after(*view, legal[role][counters[role] as usize], edge.sees[role]);
                }
            }
            let next = found.len() as u32;
            let place = *places.entry((edge.to, everyone.clone())).or_insert(next);
            match found.get_mut(place as usize) {
                Some(known) => known.weight += entry.weight * chance,
                None => found.push(Start {
                    node: edge.to,
                    everyone,
                    weight: entry.weight * chance,
                }),
            }
        }
        let Some(role) = (0..legal.len())
            .rev()
            .find(|&r| counters[r] as usize + 1 < legal[r].len())
        else {
            return Ok(true);
        };
        counters[role] += 1;
        counters[role + 1..].fill(0);
    }
}

/// The histories that are connected with my view through views of any role.
fn connected(all: Vec<Start>, mine: ViewId, me: usize, nature: Option<usize>) -> Vec<Start> {
    let mut of_view: FxHashMap<ViewId, Vec<u32>> = FxHashMap::default();
    for (number, start) in all.iter().enumerate() {
        for (role, &view) in start.everyone.iter().enumerate() {
            if Some(role) != nature {
                of_view.entry(view).or_default().push(number as u32);
            }
        }
    }
    debug_assert!(nature != Some(me));
    let mut reached: FxHashSet<u32> = FxHashSet::default();
    let mut stack = vec![mine];
    while let Some(view) = stack.pop() {
        for number in of_view.remove(&view).unwrap_or_default() {
            if reached.insert(number) {
                let everyone = all[number as usize].everyone.iter().enumerate();
                stack.extend(everyone.filter(|(role, _)| Some(*role) != nature).map(|(_, &v)| v));
            }
        }
    }
    let numbered = all.into_iter().enumerate();
    numbered
        .filter(|(number, _)| reached.contains(&(*number as u32)))
        .map(|(_, start)| start)
        .collect()
}
