//! Depth-limited counterfactual regret minimisation from a belief.
//!
//! Partridge and Thielscher, *Hidden Information General Game Playing with Deep Learning and Search* (2022): sample
//! states that explain what we were told, search some rounds ahead by regret minimisation of all roles, and play the
//! average policy. States at the horizon are valued by random games or by a network. Iterative deepening: the deepest
//! finished search decides.
//!
//! Where we differ (`roots=state` is the paper's method):
//! - regrets are shared by information set from the root on, not averaged over states afterwards: in the paper's system
//!   a contestant of Monty Hall switches with probability 2/3, here always;
//! - inside the search a role's information set is its whole view, so that information from before the root counts;
//! - while the common-knowledge closure of our information set is small ([`common`]), the search begins in all of its
//!   histories, weighted by assumed policies of the roles. Then the others do not know what only we know, and bluffing
//!   works;
//! - a search from the closure that reached every terminal state has solved the rest of the game. Its solution is
//!   stored and played to the end;
//! - CFR+ in place of CFR.

mod common;
mod horizon;
mod regrets;
mod state;
mod subgame;

pub use horizon::{Horizon, PlayoutHorizon, Question};
pub use state::{Outlook, StateSearch};

use crate::Tools;
use crate::atlas::{Atlas, KEPT, memory};
use crate::believer::Believer;
use crate::minds::systematic;
use crate::trails::{Followed, forget_others};
use crate::views::{Everyone, ViewId, Views};
use belief::{BeliefError, Model, Options, SamplerKind};
use common::{AssumedPolicies, AssumedPolicy, ClosureLimits, CommonKnowledge};
use game::{
    Budget, Candidate, Decision, Fault, Meter, MoveId, Player, Rng, Seed, StopFlag, Told, UnknownWord, by_word,
};
use regrets::{IterationPlan, Solution, normalise, solve};
use std::str::FromStr;
use std::sync::Arc;
use subgame::{Growth, GrowthLimits, Start, Subgame, SubgameInfoset, joint_moves};

/// The roots of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Roots {
    /// One information set: regrets are shared between its histories.
    #[default]
    View,
    /// Each sampled state by itself; the policies are averaged.
    State,
}

impl FromStr for Roots {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Roots, UnknownWord> {
        by_word("roots", name, &[("view", Roots::View), ("state", Roots::State)])
    }
}

/// Settings of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CfrOptions {
    /// Roots of the search.
    pub roots: Roots,
    /// Rounds to search at most; 0 plays the policy of the horizon, if it has policies, without a search.
    pub depth: Option<usize>,
    /// Iterations at each depth.
    pub iterations: u64,
    /// Steps that one depth may take; if not given, 20,000, or as many as there is time for.
    pub nodes: Option<usize>,
    /// Moves of nature in one state that are all searched; of more, a sample of this size.
    pub chance: usize,
    /// Largest common-knowledge closure, in histories, from which the search begins; 0 for never.
    pub common: usize,
}

impl Default for CfrOptions {
    fn default() -> Self {
        CfrOptions {
            roots: Roots::View,
            depth: None,
            iterations: 300,
            nodes: None,
            chance: 64,
            common: 1_000,
        }
    }
}

/// Steps of one depth if no number and no time is given.
const USUAL_NODES: usize = 20_000;
/// Steps that the first round may take: the joint moves of a single history have no bound.
const MOST_FIRST: usize = 2_000_000;
/// Steps of one depth under a clock.
const MOST_NODES: usize = 4_000_000;
/// Steps of a first, quick answer under a clock.
const QUICK: usize = 2_000;
/// Steps for extending the common-knowledge closure by a round.
const COMMON_STEPS: usize = 200_000;
/// By how much a sample of histories is larger than the one before, where values take long.
const GROWTH: usize = 4;
/// Share of the time for extending the closure, or for following sampled histories.
const FOLLOWING: f64 = 0.3;
/// Share of the time that is left for searching. Storing what was found takes the rest.
const SEARCHING: f64 = 0.9;

/// Counterfactual regret minimisation from a belief.
pub struct Cfr {
    believer: Believer,
    samples: usize,
    options: CfrOptions,
    horizon: Box<dyn Horizon>,
    atlas: Atlas,
    views: Views<()>,
    common: Option<CommonKnowledge>,
    /// Assumed policies by view: results of earlier searches, or policies of the horizon.
    assumed: AssumedPolicies,
    /// Whether the assumed policies solve the rest of the game.
    solved: bool,
}

/// Result of a search.
struct SearchResult {
    solution: Solution,
    /// Information sets and moves of this depth; deeper ones are not included.
    infosets: Vec<SubgameInfoset>,
    moves: Vec<MoveId>,
    depth: usize,
    whole: bool,
    kept: u64,
    /// Histories that it began in.
    histories: usize,
}

impl Cfr {
    /// A player that searches from so many models of what it was told.
    ///
    /// # Errors
    /// If the options make no sense, such as no models at all.
    pub fn new(
        mut tools: Tools,
        kind: SamplerKind,
        belief: &Options,
        options: CfrOptions,
        horizon: Box<dyn Horizon>,
    ) -> Result<Cfr, BeliefError> {
        let mut atlas = Atlas::default();
        let views = Views::new(tools.sim.roles().len());
        let wanted = options.roots == Roots::View && options.common > 0;
        let common = match wanted {
            true => Some(CommonKnowledge::start(&mut tools, &mut atlas, &views)?),
            false => None,
        };
        Ok(Cfr {
            believer: Believer::new(tools, kind, belief)?,
            samples: belief.models,
            options,
            horizon,
            atlas,
            views,
            common,
            assumed: AssumedPolicies::default(),
            solved: false,
        })
    }

    /// Sets a model of the other roles for the sampling of histories.
    pub fn set_opponents(&mut self, opponents: Box<dyn belief::OpponentModel>) -> Result<(), BeliefError> {
        self.believer.set_opponents(opponents)
    }

    fn me(&self) -> usize {
        usize::from(self.believer.tools.role.0)
    }

    fn nature(&self) -> Option<usize> {
        self.believer.tools.sim.nature().map(|r| usize::from(r.0))
    }

    fn forget_if_large(&mut self, budget: &Budget) {
        let most = memory(budget);
        if !self.solved && self.atlas.len() + self.views.len() > most {
            // The models of the move before: those of this move continue most of them.
            let models = self.believer.histories(self.samples);
            let nothing: Option<&mut Views<()>> = None;
            forget_others(&mut self.atlas, &mut self.views, nothing, &models, most / KEPT);
            self.assumed.clear();
            self.common = None;
        }
    }

    /// Extends the common-knowledge closure to the present round, while it is within its limits.
    fn follow_common(&mut self, budget: &Budget) -> Result<(), Fault> {
        let size = ClosureLimits {
            histories: self.options.common,
            steps: COMMON_STEPS,
        };
        let (me, nature) = (self.me(), self.nature());
        let stop = budget.stop.part(FOLLOWING);
        while let Some(common) = &mut self.common {
            if common.rounds == self.believer.view().rounds.len() && self.solved {
                break;
            }
            // My own assumed policy is the one that I played. For the others, the policy of a network is better than
            // that of a search of few rounds.
            let anew = self.horizon.knows_policies() && !self.solved;
            let horizon = self.horizon.as_mut();
            let anew = |role| anew && role != me;
            common.assume_policies(nature, &self.atlas, horizon, &mut self.assumed, anew);
            let Some(round) = self.believer.view().rounds.get(common.rounds).cloned() else {
                break;
            };
            let tools = &mut self.believer.tools;
            if self.solved {
                common.follow_mine(&round, tools, &mut self.atlas, &mut self.views);
                continue;
            }
            if !common.advance(&round, tools, &mut self.atlas, &mut self.views, &size, &stop)? {
                self.common = None;
            }
        }
        Ok(())
    }

    /// The histories in which the search begins.
    fn starts(&mut self, told: &[Told], budget: &Budget) -> Result<Vec<Start>, Fault> {
        if let Some(common) = &self.common {
            return Ok(common.starts(&self.views, &self.assumed));
        }
        self.believer.update(told, budget)?;
        let enough = budget.stop.part(FOLLOWING);
        let mut starts: Vec<Start> = Vec::new();
        let mut models = self.believer.histories(self.samples);
        if budget.timed {
            self.views.trails.best_known_first(&mut models);
        }
        for model in models.iter().filter(|model| model.weight > 0.0) {
            if !starts.is_empty() && enough.is_raised() {
                break;
            }
            let sim = self.believer.tools.sim.as_mut();
            let followed = self.views.follow_until(&mut self.atlas, sim, &model.history, &enough)?;
            let Followed::To(node, everyone) = followed else {
                continue;
            };
            if !self.atlas.node(node).over {
                starts.push(Start {
                    node,
                    everyone,
                    weight: model.weight,
                });
            }
        }
        if starts.is_empty() && enough.is_raised() {
            starts = self.starts_without_past(&models, &enough)?;
        }
        if self.options.roots == Roots::State {
            for start in &mut starts {
                start.everyone = start.everyone.iter().map(|_| self.views.fresh()).collect::<Everyone>();
            }
        }
        let total: f64 = starts.iter().map(|s| s.weight).sum();
        starts.iter_mut().for_each(|s| s.weight /= total);
        Ok(starts)
    }

    /// Starts for want of time to follow any history: the others know the state.
    fn starts_without_past(&mut self, models: &[Model], enough: &StopFlag) -> Result<Vec<Start>, Fault> {
        let (me, mine) = (self.me(), self.views.fresh());
        let mut starts: Vec<Start> = Vec::new();
        for model in models.iter().filter(|model| model.weight > 0.0) {
            if !starts.is_empty() && enough.is_raised() {
                break;
            }
            let sim = self.believer.tools.sim.as_mut();
            let node = self.atlas.enter(sim, model.state.clone())?;
            if self.atlas.node(node).over {
                continue;
            }
            let n_roles = self.atlas.node(node).legal.len();
            let view = |role| if role == me { mine } else { self.views.fresh() };
            starts.push(Start {
                node,
                everyone: (0..n_roles).map(view).collect(),
                weight: model.weight,
            });
        }
        Ok(starts)
    }

    /// Iterative deepening; none if not even one round could be searched.
    fn search(&mut self, starts: &[Start], seed: Seed, budget: &Budget) -> Result<Option<SearchResult>, Fault> {
        let most = match self.options.nodes {
            Some(nodes) => nodes,
            None if budget.timed => MOST_NODES,
            None => USUAL_NODES,
        };
        let stop = budget.stop.part(SEARCHING);
        if budget.timed && self.horizon.is_slow() {
            return self.search_growing(starts, seed, &stop);
        }
        let mut found = None;
        if budget.timed {
            let few = self.fewer(starts, QUICK, seed);
            found = self.deepen(&few, 1, usize::MAX, seed, &stop)?;
        }
        let some = self.fewer(starts, most, seed);
        let depth = self.options.depth.unwrap_or(usize::MAX).max(1);
        let further = self.deepen(&some, depth, most, seed, &stop)?;
        Ok(further.or(found))
    }

    /// The same where values at the horizon take long: samples of growing size, so that there is an answer at any time.
    /// A larger sample counts unless it was searched less deep.
    fn search_growing(&mut self, starts: &[Start], seed: Seed, stop: &StopFlag) -> Result<Option<SearchResult>, Fault> {
        let steps = self.options.nodes.unwrap_or(USUAL_NODES);
        let depth = self.options.depth.unwrap_or(usize::MAX).max(1);
        let enough = self.fewer(starts, steps, seed);
        let all: Vec<&Start> = enough.iter().collect();
        let mut found: Option<SearchResult> = None;
        let mut size = 1;
        loop {
            let some = match size < all.len() {
                true => resample(&all, size, &mut seed.child("growing").nth(size as u64).rng()),
                false => enough.clone(),
            };
            let Some(next) = self.deepen(&some, depth, steps, seed, stop)? else {
                break;
            };
            if found.as_ref().is_none_or(|known| next.depth >= known.depth) {
                found = Some(next);
            }
            if size >= all.len() || stop.is_raised() {
                break;
            }
            size *= GROWTH;
        }
        Ok(found)
    }

    fn deepen(
        &mut self,
        starts: &[Start],
        depth: usize,
        most: usize,
        seed: Seed,
        stop: &StopFlag,
    ) -> Result<Option<SearchResult>, Fault> {
        let tools = &mut self.believer.tools;
        let n_roles = tools.sim.roles().len();
        let mut subgame = Subgame::new(tools, starts);
        let mut found = None;
        while subgame.depth < depth && subgame.has_horizon() {
            let bounds = GrowthLimits {
                // The number of histories was limited for the first round. It is searched, unless the joint moves of a
                // single history are too many for any search.
                steps: if subgame.depth == 0 { MOST_FIRST } else { most },
                chance: self.options.chance,
                stop,
            };
            let seed = seed.nth(subgame.depth as u64);
            let grown = subgame.deepen(tools, &mut self.atlas, &mut self.views, &bounds, seed)?;
            if grown != Growth::Done {
                break;
            }
            let Some((states, of_open)) = subgame.horizon(&self.atlas, stop) else {
                break;
            };
            let values = match states.is_empty() {
                true => Vec::new(),
                false => self.horizon.values(tools, &states, seed.child("horizon"), stop)?,
            };
            if values.len() < states.len() * n_roles || !states.is_empty() && stop.is_raised() {
                break;
            }
            let Some(rows) = subgame.rows(&of_open, &values, n_roles, stop) else {
                break;
            };
            let kept = 1 + seed
                .child("assumed")
                .rng()
                .below(self.options.iterations.max(1) as usize) as u64;
            let plan = IterationPlan {
                iterations: self.options.iterations,
                keep: kept,
                prior: None,
                stop,
            };
            let Some(solution) = solve(&subgame, &rows, &plan) else {
                break;
            };
            found = Some(SearchResult {
                solution,
                infosets: subgame.infosets.clone(),
                moves: subgame.moves.clone(),
                depth: subgame.depth,
                whole: subgame.is_whole(),
                kept,
                histories: starts.len(),
            });
        }
        Ok(found)
    }

    /// A sample of histories such that one round from all of them takes no more than so many steps. Half of them are in
    /// my own information set, if there are others.
    fn fewer(&self, starts: &[Start], steps: usize, seed: Seed) -> Vec<Start> {
        let nature = self.nature();
        let cost = |s: &Start| joint_moves(&self.atlas, s.node, nature, self.options.chance);
        let all: usize = starts.iter().map(cost).fold(0, usize::saturating_add);
        if all <= steps {
            return starts.to_vec();
        }
        let n = (starts.len() as f64 * steps as f64 / all as f64) as usize;
        let mut rng = seed.child("fewer").rng();
        let mine = self.common.as_ref().map(|c| c.mine);
        let (own, other): (Vec<&Start>, Vec<&Start>) = starts
            .iter()
            .partition(|s| mine.is_none_or(|m| s.everyone[self.me()] == m));
        let half = if other.is_empty() { n } else { n / 2 };
        let mut few = resample(&own, half.max(1), &mut rng);
        if n > 1 {
            few.extend(resample(&other, n - half, &mut rng));
        }
        few
    }

    /// Stores the result of a search as assumed policies.
    fn remember(&mut self, found: &SearchResult) {
        if self.common.is_none() {
            return;
        }
        self.solved = found.whole;
        let me = self.me();
        for set in &found.infosets {
            let players = self.believer.tools.sim.roles().len();
            let mine = self.player_of(me, players) == Some(set.player as usize);
            let by = match mine || found.whole {
                true => &found.solution.average,
                false => &found.solution.assumed,
            };
            let assumed_policy = AssumedPolicy {
                moves: found.moves[set.sequences()].into(),
                p: by[set.sequences()].to_vec(),
                worth: found.solution.worth[set.sequences()].to_vec(),
            };
            self.assumed.insert(set.view, assumed_policy);
        }
    }

    /// The index of a role among the players, which are the roles other than nature.
    fn player_of(&self, role: usize, n_roles: usize) -> Option<usize> {
        let nature = self.nature();
        (0..n_roles).filter(|&r| Some(r) != nature).position(|r| r == role)
    }

    /// The decision: the average policy over my own views, with the values of the moves.
    fn policy(&self, starts: &[Start], found: &SearchResult) -> Vec<(MoveId, f64, f64)> {
        let me = self.me();
        let mut views: Vec<(ViewId, f64)> = Vec::new();
        for start in starts {
            let view = start.everyone[me];
            if self.common.as_ref().is_some_and(|c| c.mine != view) {
                continue;
            }
            match views.iter_mut().find(|(v, _)| *v == view) {
                Some((_, weight)) => *weight += start.weight,
                None => views.push((view, start.weight)),
            }
        }
        let mut policy: Vec<(MoveId, f64, f64)> = Vec::new();
        for set in &found.infosets {
            let Some((_, weight)) = views.iter().find(|(v, _)| *v == set.view) else {
                continue;
            };
            for sequence in set.sequences() {
                let (mv, p) = (found.moves[sequence], found.solution.average[sequence]);
                let worth = found.solution.worth[sequence];
                match policy.iter_mut().find(|(m, ..)| *m == mv) {
                    Some((_, share, value)) => {
                        *share += weight * p;
                        *value += weight * worth;
                    }
                    None => policy.push((mv, weight * p, weight * worth)),
                }
            }
        }
        let total: f64 = views.iter().map(|(_, w)| w).sum();
        policy
            .iter_mut()
            .for_each(|(_, p, v)| (*p, *v) = (*p / total, *v / total));
        policy
    }

    fn play(&self, mut policy: Vec<(MoveId, f64, f64)>, iterations: u64, belief: String, seed: Seed) -> Decision {
        policy.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut left = seed.child("draw").rng().unit() * policy.iter().map(|(_, p, _)| p).sum::<f64>();
        let drawn = policy.iter().position(|(_, p, _)| {
            left -= p;
            left < 0.0
        });
        let text = |mv: MoveId| self.believer.tools.text(mv).to_owned();
        let shares: Vec<(String, f64)> = policy.iter().map(|&(mv, p, _)| (text(mv), p)).collect();
        let chosen = policy.remove(drawn.unwrap_or(0));
        policy.insert(0, chosen);
        let candidate = |&(mv, _, worth): &(MoveId, f64, f64)| Candidate {
            mv: text(mv),
            mean: 100.0 * worth,
            stderr: 0.0,
            visits: iterations,
        };
        Decision {
            mv: text(chosen.0),
            candidates: policy.iter().map(candidate).collect(),
            belief,
            policy: shares,
        }
    }

    /// Our moves that are legal in some history of ours. Where each history is searched by itself, all are ours.
    fn possible_moves(&self, starts: &[Start], mine: ViewId) -> Arc<[MoveId]> {
        let me = self.me();
        let ours = |s: &&Start| self.options.roots == Roots::State || s.everyone[me] == mine;
        let mut legal = starts.iter().filter(ours).map(|s| &self.atlas.node(s.node).legal[me]);
        let first = legal.next().cloned().unwrap_or_default();
        legal.fold(first, |known, legal| match legal.iter().all(|mv| known.contains(mv)) {
            true => known,
            false => union(&known, legal),
        })
    }

    /// The policy without a search: the learned policy of the view, or, if the depth is 0, the policy of the horizon
    /// over the states held possible.
    fn advice(&mut self, starts: &[Start], legal: &[MoveId]) -> Option<(Vec<f64>, String)> {
        let me = self.me();
        let role = self.believer.tools.role;
        if let Some(p) = self.horizon.advise(role, self.believer.view(), legal) {
            let p = p.into_iter().map(f64::from).collect();
            return Some((p, "learned by heart".to_owned()));
        }
        if self.options.depth != Some(0) {
            return None;
        }
        let mine = self.common.as_ref().map(|c| c.mine);
        let own: Vec<&Start> = starts
            .iter()
            .filter(|s| mine.is_none_or(|m| s.everyone[me] == m))
            .collect();
        let question = |start: &&Start| {
            let node = self.atlas.node(start.node);
            Question {
                state: &node.state,
                role,
                legal: &node.legal[me],
            }
        };
        let questions: Vec<Question<'_>> = own.iter().map(question).collect();
        let answers = self.horizon.policies(&questions)?;
        let mut p = vec![0.0; legal.len()];
        for ((start, answer), question) in own.iter().zip(&answers).zip(&questions) {
            for (mv, a) in question.legal.iter().zip(answer) {
                let place = legal.iter().position(|m| m == mv);
                p[place?] += start.weight * f64::from(*a);
            }
        }
        normalise(&mut p);
        Some((
            p,
            format!("what was learned about {} histories, without a search", own.len()),
        ))
    }

    /// The policy of my present view, if the rest of the game is solved.
    fn solved_policy(&self) -> Option<Vec<(MoveId, f64, f64)>> {
        let mine = self.common.as_ref()?.mine;
        let assumed_policy = self
            .assumed
            .get(&mine)
            .filter(|h| self.solved && h.worth.len() == h.p.len())?;
        let moves = assumed_policy
            .moves
            .iter()
            .zip(&assumed_policy.p)
            .zip(&assumed_policy.worth);
        Some(moves.map(|((&mv, &p), &worth)| (mv, p, worth)).collect())
    }

    /// The decision of a role that has no choice.
    fn only_move(&mut self, told: &[Told], budget: &Budget) -> Result<Option<Decision>, Fault> {
        self.believer.update(told, budget)?;
        let legal = self.believer.legal()?;
        Ok((legal.len() == 1).then(|| Decision::plain(self.believer.tools.text(legal[0]))))
    }

    fn describe(&self, found: &SearchResult) -> String {
        let from = match &self.common {
            Some(common) => format!("{} histories that everybody holds possible", common.len()),
            None => format!("{} histories of {}", found.histories, self.believer.belief().report),
        };
        let to = match found.whole {
            true => "to the end of the game".to_owned(),
            false => format!("{} rounds ahead", found.depth),
        };
        let kept = found.kept;
        format!("from {from}, {to}; others as in iteration {kept}")
    }
}

/// Moves, and those of others that are not among them.
fn union(known: &[MoveId], others: &[MoveId]) -> Arc<[MoveId]> {
    let new = others.iter().filter(|mv| !known.contains(mv));
    known.iter().chain(new).copied().collect()
}

/// A sample of histories in proportion to their weights, each at most once, with the total weight of all.
fn resample(starts: &[&Start], n: usize, rng: &mut Rng) -> Vec<Start> {
    if starts.is_empty() || n == 0 {
        return Vec::new();
    }
    let weights: Vec<f64> = starts.iter().map(|s| s.weight).collect();
    let each = weights.iter().sum::<f64>() / n as f64;
    let mut few: Vec<Start> = Vec::new();
    let mut last = usize::MAX;
    for at in systematic(&weights, n, rng) {
        if at == last {
            let Some(start) = few.last_mut() else { continue };
            start.weight += each;
        } else {
            few.push(Start {
                weight: each,
                ..starts[at].clone()
            });
        }
        last = at;
    }
    few
}

impl Player for Cfr {
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        self.believer.note(told)?;
        self.forget_if_large(budget);
        self.follow_common(budget)?;
        let seed = self.believer.tools.seed.child("cfr").nth(told.len() as u64);
        if let Some(policy) = self.solved_policy() {
            return Ok(self.play(policy, 0, "the game was solved before".to_owned(), seed));
        }
        if self.solved {
            if let Some(only) = self.only_move(told, budget)? {
                return Ok(only);
            }
            // The view is not part of the solution: search again.
            (self.solved, self.common) = (false, None);
        }
        let starts = self.starts(told, budget)?;
        let me = self.me();
        let mine = self.common.as_ref().map(|c| c.mine);
        let Some(first) = starts.iter().find(|s| mine.is_none_or(|m| s.everyone[me] == m)) else {
            let legal = self.believer.legal()?;
            return Ok(Decision::plain(self.believer.tools.text(legal[0])));
        };
        let legal = self.possible_moves(&starts, first.everyone[me]);
        let alone = self.believer.tools.sim.roles().len() - usize::from(self.nature().is_some()) == 1;
        // A search in a round without a choice may still solve the game. In a later round it could not, because
        // policies before it would be assumed.
        if legal.len() == 1 && (self.common.is_none() || alone || self.horizon.knows_views()) {
            return Ok(Decision::plain(self.believer.tools.text(legal[0])));
        }
        if legal.len() > 1
            && let Some((advice, from)) = self.advice(&starts, &legal)
        {
            let mine = mine.unwrap_or(first.everyone[me]);
            let policy: Vec<(MoveId, f64, f64)> = legal.iter().zip(&advice).map(|(&mv, &p)| (mv, p, 0.0)).collect();
            let assumed_policy = AssumedPolicy {
                moves: legal,
                p: advice,
                worth: Vec::new(),
            };
            self.assumed.insert(mine, assumed_policy);
            return Ok(self.play(policy, 0, from, seed));
        }
        let Some(found) = self.search(&starts, seed, budget)? else {
            let pick = *seed.child("draw").rng().pick(&legal);
            return Ok(Decision::plain(self.believer.tools.text(pick)));
        };
        self.remember(&found);
        if legal.len() == 1 {
            return Ok(Decision::plain(self.believer.tools.text(legal[0])));
        }
        let mut policy = self.policy(&starts, &found);
        policy.retain(|(mv, ..)| legal.contains(mv));
        if policy.is_empty() {
            policy = legal.iter().map(|&mv| (mv, 1.0, 0.0)).collect();
        }
        let mut shares: Vec<f64> = policy.iter().map(|(_, p, _)| *p).collect();
        normalise(&mut shares);
        policy
            .iter_mut()
            .zip(&shares)
            .for_each(|((_, p, _), share)| *p = *share);
        let belief = self.describe(&found);
        Ok(self.play(policy, found.solution.iterations, belief, seed))
    }

    fn meter(&self) -> Meter {
        let mut meter = self.believer.meter();
        meter.touches += self.atlas.touches - self.atlas.computed;
        meter
    }
}
