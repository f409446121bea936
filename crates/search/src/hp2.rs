//! HyperPlay-II: moves are valued by simulations in which every role knows only its own view.
//!
//! Schofield and Thielscher, *Lifting Model Sampling for General Game Playing to Incomplete-Information Models* (AAAI
//! 2015) and *The Scalability of the HyperPlay Technique for Imperfect-Information Games* (2016). HyperPlay treats each
//! model as a fact, so it assigns no value to information. HyperPlay-II values a move by imperfect-information
//! simulations: the history of a model is replayed from the first round, so that every role has the view it would have;
//! then comes our move; then every role but nature plays to the end as an inner HyperPlay player that knows only its
//! own view. The value of information appears as better moves of our own inner player.
//!
//! Where we differ:
//! - inner decisions and bags are cached by view for the whole match, and steps of the game are computed once (`cache`
//!   off gives the papers' cost);
//! - where the information set has no more histories than there would be models, all of them are used with their exact
//!   probabilities;
//! - ties go to the fastest win;
//! - moves whose values differ by less than their error are ordered by the expected entropy of our belief after them.
//!   The inner player never asks twice, so it values all questions that leave one candidate alike; this order makes the
//!   second half of a binary search correct.

use crate::Tools;
use crate::atlas::{Atlas, FOLLOWING, KEPT, NodeId, Places, memory};
use crate::believer::Believer;
use crate::flat::{Guess, repeats};
use crate::minds::{InnerOptions, Minds};
use crate::perfect::decision;
use crate::pruning::sample_with_pruning;
use crate::trails::{Followed, forget_others};
use crate::value_table::{Sample, ValueTable, to_a_millionth};
use crate::view_opponents::ViewOpponents;
use crate::views::{Everyone, ViewId, Views};
use belief::{BeliefError, Model, Options, SamplerKind};
use game::limits::THINKING_ROUNDS;
use game::{Budget, Decision, Fault, Meter, MoveId, Player, Rng, Told, UnknownWord, by_word};
use rustc_hash::FxHashMap;
use std::str::FromStr;

/// How HyperPlay-II plays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hp2Options {
    /// Simulations for each legal move in each model.
    pub playouts: u64,
    /// The inner players.
    pub inner: InnerOptions,
    /// How simulations are distributed over moves.
    pub spread: Spread,
    /// Whether decisions of inner players are cached.
    pub cache: bool,
}

/// How simulations are spread over moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// The same number for each, as in the papers.
    #[default]
    Even,
    /// In stages; after each stage the worse half of the moves is dropped (sequential halving: Karnin, Koren and Somekh
    /// 2013).
    Halving,
}

impl FromStr for Spread {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Spread, UnknownWord> {
        by_word("spread", name, &[("even", Spread::Even), ("halving", Spread::Halving)])
    }
}

/// Plays by imperfect-information simulations.
pub struct HyperPlayII {
    pub(crate) believer: Believer,
    pub(crate) models: usize,
    options: Hp2Options,
    atlas: Atlas,
    minds: Minds,
}

/// A history that explains what we were told, with the views of all roles after it.
pub(crate) struct HistoryRoot {
    node: NodeId,
    everyone: Everyone,
    history: Vec<belief::Joint>,
    weight: f64,
}

impl HistoryRoot {
    fn new(model: &Model, node: NodeId, everyone: Everyone) -> HistoryRoot {
        HistoryRoot {
            node,
            everyone,
            history: model.history.clone(),
            weight: model.weight,
        }
    }
}

impl HyperPlayII {
    /// Sets strategies of the other roles, by which histories are weighed.
    pub fn set_views(&mut self, views: ViewOpponents) {
        self.believer.set_views(views);
    }

    /// A player with so many models of what it was told.
    ///
    /// # Errors
    /// If the options make no sense, such as no models at all.
    pub fn new(
        tools: Tools,
        kind: SamplerKind,
        belief: &Options,
        options: Hp2Options,
    ) -> Result<HyperPlayII, BeliefError> {
        let minds = Minds::new(tools.sim.as_ref(), options.inner, tools.seed.child("minds"));
        Ok(HyperPlayII {
            believer: Believer::new(tools, kind, belief)?,
            models: belief.models,
            options,
            atlas: Atlas::default(),
            minds,
        })
    }

    fn roots(&mut self, budget: &Budget) -> Result<Vec<HistoryRoot>, Fault> {
        let mut models = merged(self.believer.histories(self.models));
        self.forget_if_large(&models, budget);
        if budget.timed {
            self.minds.views.trails.best_known_first(&mut models);
        }
        let mut roots = Vec::with_capacity(models.len());
        let enough = budget.stop.part(FOLLOWING);
        for model in &models {
            if !roots.is_empty() && enough.is_raised() {
                break;
            }
            let (sim, views) = (self.believer.tools.sim.as_mut(), &mut self.minds.views);
            match views.follow_until(&mut self.atlas, sim, &model.history, &enough)? {
                Followed::To(node, everyone) => roots.push(HistoryRoot::new(model, node, everyone)),
                Followed::Nowhere | Followed::Late => {}
            }
        }
        if roots.is_empty() && enough.is_raised() {
            // For want of time to follow any history, everyone knows the state.
            for model in &models {
                if !roots.is_empty() && enough.is_raised() {
                    break;
                }
                let node = self
                    .atlas
                    .enter(self.believer.tools.sim.as_mut(), model.state.clone())?;
                roots.push(HistoryRoot::new(model, node, self.minds.without_past(node)));
            }
        }
        Ok(roots)
    }

    fn forget_if_large(&mut self, models: &[Model], budget: &Budget) {
        let most = memory(budget);
        if self.atlas.len() + self.minds.views.len() > most {
            let nothing: Option<&mut Views<()>> = None;
            forget_others(&mut self.atlas, &mut self.minds.views, nothing, models, most / KEPT);
        }
    }

    /// Updates the belief; returns the histories that explain what was told.
    pub(crate) fn prepare(&mut self, told: &[Told], budget: &Budget) -> Result<Vec<HistoryRoot>, Fault> {
        self.believer.update(told, budget)?;
        self.roots(budget)
    }

    /// The state of a history, as a guess for HyperPlay.
    pub(crate) fn guess(&self, root: &HistoryRoot) -> Guess {
        Guess {
            state: self.atlas.node(root.node).state.clone(),
            weight: root.weight,
        }
    }

    /// Whether some of our moves would leave less uncertainty than others. False if there is no time to find out.
    pub(crate) fn is_information_at_stake(&mut self, roots: &[HistoryRoot], budget: &Budget) -> Result<bool, Fault> {
        self.minds.stop = budget.stop.clone();
        let me = self.believer.tools.role.0 as usize;
        let Some(first) = roots.first() else { return Ok(false) };
        let legal = self.atlas.node(first.node).legal.get(me).cloned().unwrap_or_default();
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for &mv in legal.iter() {
            let doubt = self.doubt_after(mv, roots)?;
            if budget.stop.is_raised() {
                return Ok(false);
            }
            (least, most) = (least.min(doubt), most.max(doubt));
        }
        Ok(most - least > 1e-6)
    }

    pub(crate) fn weigh(&mut self, roots: &[HistoryRoot], round: usize, budget: &Budget) -> Result<Decision, Fault> {
        let me = self.believer.tools.role.0 as usize;
        let seed = self.believer.tools.seed.child("hp2").nth(round as u64);
        let legal: Vec<&[MoveId]> = roots
            .iter()
            .map(|r| self.atlas.node(r.node).legal.get(me).map_or(&[][..], |l| l))
            .collect();
        let mut table =
            ValueTable::new(roots.iter().map(|r| r.weight).collect(), &legal).ok_or_else(|| Fault::no_move(None))?;
        let mut rng = seed.child("simulations").rng();
        self.minds.stop = budget.stop.clone();
        if table.n_moves() > 1 {
            self.sample(&mut table, roots, &mut rng, seed, budget)?;
        }
        let mut ranking = table.ranking(seed);
        if !budget.stop.is_raised() {
            self.order_by_knowledge(&table, roots, &mut ranking)?;
        }
        Ok(decision(&self.believer.tools, table.worths(&ranking)))
    }

    fn sample(
        &mut self,
        table: &mut ValueTable,
        roots: &[HistoryRoot],
        rng: &mut Rng,
        seed: game::Seed,
        budget: &Budget,
    ) -> Result<(), Fault> {
        let moves = table.moves().to_vec();
        let playouts = self.options.playouts.saturating_mul(repeats(self.models, roots.len()));
        let pruning = self.options.inner.pruning;
        if pruning.cut_on_win || pruning.on_depth {
            let mut order = seed.child("order").rng();
            return sample_with_pruning(table, playouts, pruning, &mut order, &budget.stop, |mv, model, left| {
                self.simulate(&roots[model], moves[mv], left, rng)
            });
        }
        let mut left: Vec<usize> = (0..moves.len()).collect();
        let stages = match self.options.spread {
            Spread::Even => 1,
            Spread::Halving => moves.len().next_power_of_two().trailing_zeros().max(1) as u64,
        };
        for _ in 0..stages {
            // All stages together make as many simulations as an even distribution.
            let n = (playouts * moves.len() as u64).div_ceil(stages * left.len() as u64);
            for _ in 0..n {
                for (model, root) in roots.iter().enumerate() {
                    for &mv in &left {
                        if budget.stop.is_raised() {
                            table.keep_complete();
                            return Ok(());
                        }
                        if table.is_legal(mv, model) {
                            let sample = self.simulate(root, moves[mv], u64::MAX, rng)?;
                            if !budget.stop.is_raised() {
                                table.add(mv, model, sample, pruning.discount);
                            }
                        }
                    }
                }
            }
            let ranking = table.ranking(seed);
            left = ranking.into_iter().filter(|mv| left.contains(mv)).collect();
            left.truncate(left.len().div_ceil(2));
        }
        Ok(())
    }

    /// One imperfect-information simulation: our move, then inner players to the end, or until time is up.
    fn simulate(&mut self, root: &HistoryRoot, first: MoveId, most: u64, rng: &mut Rng) -> Result<Sample, Fault> {
        let me = self.believer.tools.role.0 as usize;
        let mut everyone = root.everyone.clone();
        if !self.options.cache {
            self.minds.clear();
            let sim = self.believer.tools.sim.as_mut();
            let views = &mut self.minds.views;
            everyone = match views.follow_until(&mut self.atlas, sim, &root.history, &self.minds.stop)? {
                Followed::To(_, again) => again,
                Followed::Nowhere | Followed::Late => self.minds.without_past(root.node),
            };
        }
        let mut at = root.node;
        let mut rounds = 0;
        while !self.atlas.node(at).over {
            if rounds >= most.min(THINKING_ROUNDS as u64) || self.minds.stop.is_raised() {
                return Ok(Sample { points: 0, rounds });
            }
            let forced = (rounds == 0).then_some(first);
            let tools = &mut self.believer.tools;
            at = self
                .minds
                .play_round(tools, &mut self.atlas, at, &mut everyone, forced, rng)?;
            rounds += 1;
        }
        let points = self.atlas.node(at).points[me];
        Ok(Sample { points, rounds })
    }

    /// Orders the best moves by the expected entropy of our belief after them, where simulations cannot tell them
    /// apart.
    fn order_by_knowledge(
        &mut self,
        table: &ValueTable,
        roots: &[HistoryRoot],
        ranking: &mut [usize],
    ) -> Result<(), Fault> {
        let best = table.value(ranking[0]);
        let error = table.stderr(ranking[0]);
        let is_tied = |mv: usize| best - table.value(mv) <= 1e-6 + error.max(table.stderr(mv));
        let tied = ranking.iter().take_while(|&&mv| is_tied(mv)).count();
        if tied < 2 || self.options.inner.pruning.cut_on_win || !self.options.cache {
            return Ok(());
        }
        let mut doubts: Vec<(f64, usize)> = Vec::with_capacity(tied);
        for &mv in &ranking[..tied] {
            doubts.push((self.doubt_after(table.moves()[mv], roots)?, mv));
            if self.minds.stop.is_raised() {
                return Ok(());
            }
        }
        // The sort is stable: moves with equal entropy keep their order.
        doubts.sort_by(|a, b| to_a_millionth(a.0).total_cmp(&to_a_millionth(b.0)));
        doubts
            .iter()
            .zip(ranking.iter_mut())
            .for_each(|((_, mv), place)| *place = *mv);
        Ok(())
    }

    /// Expected entropy of what we hold possible after a move, with the others' moves drawn at random.
    pub(crate) fn doubt_after(&mut self, mv: MoveId, roots: &[HistoryRoot]) -> Result<f64, Fault> {
        let tools = &self.believer.tools;
        let (me, mut rng) = (tools.role.0 as usize, tools.seed.child("doubt").rng());
        let mut views: FxHashMap<ViewId, f64> = FxHashMap::default();
        let mut over = 0.0;
        for root in roots {
            let node = self.atlas.node(root.node);
            let Some(own) = node.place(me, mv) else { continue };
            let sizes = node.legal.iter().map(|moves| moves.len()).enumerate();
            let pick = |(role, n)| if role == me { own } else { rng.below(n) } as u32;
            let places: Places = sizes.map(pick).collect();
            let mut everyone = root.everyone.clone();
            let edge = self.atlas.step(self.believer.tools.sim.as_mut(), root.node, &places)?;
            self.minds
                .advance(&self.atlas, root.node, &places, &edge, &mut everyone);
            match self.atlas.node(edge.to).over {
                true => over += root.weight,
                false => *views.entry(everyone[me]).or_default() += root.weight,
            }
        }
        let mut views: Vec<(ViewId, f64)> = views.into_iter().collect();
        views.sort_unstable_by_key(|(view, _)| *view);
        let total: f64 = over + views.iter().map(|(_, w)| w).sum::<f64>();
        let mut doubt = 0.0;
        for (view, weight) in views {
            let bag = self.minds.bag(&mut self.believer.tools, &mut self.atlas, me, view)?;
            let entropy: f64 = bag.iter().filter(|(_, p)| *p > 0.0).map(|(_, p)| -p * p.ln()).sum();
            doubt += weight / total * entropy;
        }
        Ok(doubt)
    }
}

/// Models with the same history become one.
fn merged(models: Vec<Model>) -> Vec<Model> {
    let mut places: FxHashMap<Vec<belief::Joint>, usize> = FxHashMap::default();
    let mut distinct: Vec<Model> = Vec::new();
    for model in models.into_iter().filter(|m| m.weight > 0.0) {
        match places.get(&model.history) {
            Some(&at) => distinct[at].weight += model.weight,
            None => {
                places.insert(model.history.clone(), distinct.len());
                distinct.push(model);
            }
        }
    }
    distinct
}

impl Player for HyperPlayII {
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        let roots = self.prepare(told, budget)?;
        let mut decision = self.weigh(&roots, told.len(), budget)?;
        decision.belief = self.believer.belief().report.to_string();
        Ok(decision)
    }

    fn meter(&self) -> Meter {
        let mut meter = self.believer.meter();
        meter.touches += self.atlas.touches - self.atlas.computed;
        meter
    }
}
