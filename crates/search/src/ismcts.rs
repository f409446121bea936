//! Information-set Monte Carlo tree search.
//!
//! Cowling, Powley and Whitehouse, *Information Set Monte Carlo Tree Search* (IEEE TCIAIG 2012). Every simulation
//! begins in a history that explains what we were told, drawn by its probability. It descends by statistics that are
//! kept for each *view* of a role: histories that a role cannot tell apart share their statistics, so information gets
//! its value from the moves that it makes possible. With multiple observers each role has a tree of its own views; with
//! a single observer all statistics belong to our view.
//!
//! Where we differ:
//! - roots come from a weighted belief over whole histories, so that the others' views are right from the first round
//!   on (determinisations drawn uniformly give a wrong answer in Monty Hall);
//! - rounds are joint moves: where several roles choose at once, each chooses by regret matching on its own payoffs
//!   (Hart and Mas-Colell 2000; Lanctot, Lisý and Winands 2013 for its use in trees) or by EXP3 (Auer et al. 2002),
//!   since UCB would settle on a pure move;
//! - leaves are valued in batches; a descent counts as a visit at once and as a loss until its value is known, so that
//!   the descents of a batch spread;
//! - the other roles may play by something else than the tree: at random, or as HyperPlay players.

use crate::Tools;
use crate::atlas::{Atlas, FOLLOWING, NodeId, Places, memory};
use crate::believer::Believer;
use crate::minds::{InnerOptions, Minds, systematic};
use crate::pruning::{Pruning, shuffle};
use crate::view_opponents::ViewOpponents;
use crate::views::{Everyone, ViewId, Views};
use belief::{BeliefError, Options, SamplerKind};
use game::limits::THINKING_ROUNDS;
use game::{
    Budget, Candidate, Decision, Fault, Meter, MoveId, Player, Rng, RoleId, Seed, State, Told, UnknownWord, by_word,
};
use smallvec::SmallVec;
use std::str::FromStr;

/// The roles whose views have statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Observers {
    /// Each role's own.
    #[default]
    Multiple,
    /// Our own view, for all roles.
    Single,
}

impl FromStr for Observers {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Observers, UnknownWord> {
        by_word(
            "observers",
            name,
            &[("multiple", Observers::Multiple), ("single", Observers::Single)],
        )
    }
}

/// How a role chooses a move in the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// UCB, and regret matching where several roles choose at once.
    #[default]
    Auto,
    /// Upper confidence bounds.
    Ucb,
    /// Regret matching.
    Rm,
    /// Exponential weights.
    Exp3,
}

impl FromStr for Selection {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Selection, UnknownWord> {
        by_word(
            "selection",
            name,
            &[
                ("auto", Selection::Auto),
                ("ucb", Selection::Ucb),
                ("rm", Selection::Rm),
                ("exp3", Selection::Exp3),
            ],
        )
    }
}

/// How the other roles play inside the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Opponents {
    /// By their own statistics.
    #[default]
    Tree,
    /// Uniformly.
    Random,
    /// As HyperPlay players that know their own view.
    HyperPlay,
}

impl FromStr for Opponents {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Opponents, UnknownWord> {
        by_word(
            "opponents",
            name,
            &[
                ("tree", Opponents::Tree),
                ("random", Opponents::Random),
                ("hp", Opponents::HyperPlay),
            ],
        )
    }
}

/// How play goes on below the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rollout {
    /// Uniformly random moves.
    #[default]
    Random,
    /// Every role as a HyperPlay player that knows its own view, as in HyperPlay-II. Expensive, but it uses information
    /// gained in the tree.
    HyperPlay,
}

impl FromStr for Rollout {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Rollout, UnknownWord> {
        by_word(
            "rollout",
            name,
            &[("random", Rollout::Random), ("hp", Rollout::HyperPlay)],
        )
    }
}

/// The value that a view backs up to the moves that lead to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backup {
    /// The mean of all simulations through it, as in UCT, exploration included.
    Mean,
    /// The value of its best move (Keller and Helmert 2013).
    #[default]
    Best,
}

impl FromStr for Backup {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Backup, UnknownWord> {
        by_word("backup", name, &[("mean", Backup::Mean), ("best", Backup::Best)])
    }
}

/// How the search works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IsMctsOptions {
    /// Simulations for a move; if not given, as many as there is time for, or else 10,000.
    pub simulations: Option<u64>,
    /// Whose views statistics are kept for.
    pub observers: Observers,
    /// How moves of the tree are chosen.
    pub selection: Selection,
    /// Weight of exploration in UCB, for payoffs in 0..1.
    pub exploration: f64,
    /// Leaves valued at a time; 0 chooses by the number of simulations.
    pub batch: usize,
    /// How the others play.
    pub opponents: Opponents,
    /// How play goes on below the tree.
    pub rollout: Rollout,
    /// How values are handed up.
    pub backup: Backup,
    /// The HyperPlay players of the two options before.
    pub inner: InnerOptions,
}

impl Default for IsMctsOptions {
    fn default() -> Self {
        IsMctsOptions {
            simulations: None,
            observers: Observers::default(),
            selection: Selection::default(),
            exploration: 1.4,
            batch: 0,
            opponents: Opponents::default(),
            rollout: Rollout::default(),
            backup: Backup::default(),
            inner: InnerOptions {
                models: 8,
                playouts: 16,
                levels: 1,
                pruning: Pruning::default(),
            },
        }
    }
}

/// A move at a view.
#[derive(Clone, Copy, Debug)]
struct Arm {
    mv: MoveId,
    visits: u32,
    /// Number of times it was available.
    available: u32,
    /// Payoffs in 0..1, summed.
    total: f64,
    /// Regret, or the log of the exponential weight.
    regret: f64,
    /// Sum of the probabilities that the strategy gave it.
    wanted: f64,
}

/// Statistics of a role's moves at a view.
#[derive(Default)]
pub(crate) struct ArmTable {
    arms: Vec<Arm>,
    /// Whether its last choice was mixed.
    mixed: bool,
    /// Value backed up from here: its share of the total of the arm that leads here.
    handed_up: f64,
    /// Simulations through here.
    through: u32,
}

/// A choice made on the way down.
struct Choice {
    role: u16,
    view: ViewId,
    at: NodeId,
    arm: u32,
    /// Its probability, if the choice was mixed.
    chance: Option<f64>,
}

type Path = SmallVec<[Choice; 16]>;

struct SimulationRoot {
    node: NodeId,
    everyone: Everyone,
    /// The views of the inner players, if there are any.
    minds: Everyone,
}

/// Information-set Monte Carlo tree search on a belief.
pub struct IsMcts {
    believer: Believer,
    models: usize,
    options: IsMctsOptions,
    atlas: Atlas,
    views: Views<ArmTable>,
    minds: Option<Minds>,
}

/// Simulations for a move if neither a number nor a time is given.
const USUAL_SIMULATIONS: u64 = 10_000;
/// Roots drawn at a time.
const DECK: usize = 64;
/// Share of uniform exploration where choices are mixed.
const EXPLORE: f64 = 0.1;

impl IsMcts {
    /// Sets strategies of the other roles, by which histories are weighed.
    pub fn set_views(&mut self, views: ViewOpponents) {
        self.believer.set_views(views);
    }

    /// A player that searches from so many models of what it was told.
    ///
    /// # Errors
    /// If the options make no sense, such as no models at all.
    pub fn new(
        tools: Tools,
        kind: SamplerKind,
        belief: &Options,
        options: IsMctsOptions,
    ) -> Result<IsMcts, BeliefError> {
        let n_roles = tools.sim.roles().len();
        let wanted = options.opponents == Opponents::HyperPlay || options.rollout == Rollout::HyperPlay;
        let minds = wanted.then(|| Minds::new(tools.sim.as_ref(), options.inner, tools.seed.child("minds")));
        Ok(IsMcts {
            believer: Believer::new(tools, kind, belief)?,
            models: belief.models,
            options,
            atlas: Atlas::default(),
            views: Views::new(n_roles),
            minds,
        })
    }

    fn me(&self) -> usize {
        usize::from(self.believer.tools.role.0)
    }

    fn forget_if_large(&mut self, budget: &Budget) {
        if self.atlas.len() + self.views.len() > memory(budget) {
            self.atlas.forget();
            self.views = Views::new(self.views.start().len());
            self.minds.iter_mut().for_each(Minds::clear);
        }
    }

    /// Histories to start from, with their weights.
    fn roots(&mut self, budget: &Budget) -> Result<(Vec<SimulationRoot>, Vec<f64>), Fault> {
        let (mut roots, mut weights) = (Vec::new(), Vec::new());
        let one_view = self.one_view();
        let enough = budget.stop.part(FOLLOWING);
        for model in self.believer.histories(self.models) {
            if !roots.is_empty() && enough.is_raised() {
                break;
            }
            let sim = self.believer.tools.sim.as_mut();
            let eyes = |role| one_view.unwrap_or(role);
            let followed = self.views.follow_as(&mut self.atlas, sim, &model.history, eyes)?;
            let Some((node, everyone)) = followed else { continue };
            let minds = match &mut self.minds {
                Some(minds) => minds.views.follow(&mut self.atlas, sim, &model.history)?,
                None => None,
            };
            if model.weight > 0.0 && !self.atlas.node(node).over {
                weights.push(model.weight);
                let minds = minds.map_or_else(Everyone::new, |(_, minds)| minds);
                roots.push(SimulationRoot { node, everyone, minds });
            }
        }
        Ok((roots, weights))
    }

    /// The role whose view all statistics belong to, with a single observer.
    fn one_view(&self) -> Option<usize> {
        (self.options.observers == Observers::Single).then(|| self.me())
    }

    fn search(&mut self, roots: &[SimulationRoot], weights: &[f64], seed: Seed, budget: &Budget) -> Result<(), Fault> {
        let mut rng = seed.child("descents").rng();
        let simulations = match self.options.simulations {
            Some(n) => n,
            None if budget.timed => u64::MAX,
            None => USUAL_SIMULATIONS,
        };
        let batch = match self.options.batch {
            0 => (simulations / 64).clamp(1, 256),
            n => n as u64,
        };
        if let Some(minds) = &mut self.minds {
            minds.stop = budget.stop.clone();
        }
        let mut done = 0;
        let mut deck: Vec<usize> = Vec::new();
        let mut pending: Vec<(Path, State)> = Vec::new();
        while done < simulations && (done == 0 || !budget.stop.is_raised()) {
            let now = batch.min(simulations - done);
            for _ in 0..now {
                if deck.is_empty() {
                    deck = deal(weights, &mut rng);
                }
                let root = &roots[deck.pop().unwrap_or(0)];
                let (path, leaf, minds) = self.descend(root, &mut rng)?;
                let leaf = match self.options.rollout {
                    Rollout::Random => leaf,
                    Rollout::HyperPlay => self.play_on(leaf, minds, &mut rng)?,
                };
                if self.minds.is_some() && budget.stop.is_raised() {
                    self.take_back(&path);
                    break;
                }
                let node = self.atlas.node(leaf);
                if node.over {
                    let points: SmallVec<[f64; 4]> = node.points.iter().map(|&p| f64::from(p) / 100.0).collect();
                    self.back_up(&path, &points);
                } else {
                    pending.push((path, node.state.clone()));
                }
            }
            self.value(&mut pending, seed.nth(done), budget)?;
            done += now;
        }
        Ok(())
    }

    /// Plays out the leaves and backs up their payoffs.
    fn value(&mut self, pending: &mut Vec<(Path, State)>, seed: Seed, budget: &Budget) -> Result<(), Fault> {
        let (paths, leaves): (Vec<Path>, Vec<State>) = pending.drain(..).unzip();
        let totals = self.believer.tools.play_out(&leaves, 1, seed, &budget.stop)?;
        for (path, total) in paths.iter().zip(&totals) {
            if total.playouts == 0 {
                self.take_back(path);
                continue;
            }
            let n = total.playouts as f64 * 100.0;
            let points: SmallVec<[f64; 4]> = total.points.iter().map(|&p| p as f64 / n).collect();
            self.back_up(path, &points);
        }
        Ok(())
    }

    /// Descends from a root to the first move that was never tried, or to the end.
    fn descend(&mut self, root: &SimulationRoot, rng: &mut Rng) -> Result<(Path, NodeId, Everyone), Fault> {
        let mut path = Path::new();
        let (mut at, mut everyone, mut minds) = (root.node, root.everyone.clone(), root.minds.clone());
        while !self.atlas.node(at).over {
            let (places, fresh) = self.joint(at, &everyone, &minds, &mut path, rng)?;
            let one_view = self.one_view();
            let edge = self.atlas.step(self.believer.tools.sim.as_mut(), at, &places)?;
            let legal = &self.atlas.node(at).legal;
            for (role, view) in everyone.iter_mut().enumerate() {
                let whose = one_view.unwrap_or(role);
                *view = self
                    .views
                    .after(*view, legal[whose][places[whose] as usize], edge.sees[whose]);
            }
            if let Some(inner) = &mut self.minds {
                inner.advance(&self.atlas, at, &places, &edge, &mut minds);
            }
            at = edge.to;
            if fresh {
                break;
            }
        }
        Ok((path, at, minds))
    }

    /// Plays from a leaf to the end, or to the limit of rounds, with the inner players of all roles.
    fn play_on(&mut self, leaf: NodeId, mut minds: Everyone, rng: &mut Rng) -> Result<NodeId, Fault> {
        let mut at = leaf;
        let Some(inner) = &mut self.minds else { return Ok(at) };
        for _ in 0..THINKING_ROUNDS {
            if self.atlas.node(at).over {
                break;
            }
            at = inner.play_round(&mut self.believer.tools, &mut self.atlas, at, &mut minds, None, rng)?;
        }
        Ok(at)
    }

    /// The moves of all roles here, and whether some role makes its move for the first time.
    fn joint(
        &mut self,
        at: NodeId,
        everyone: &Everyone,
        minds: &Everyone,
        path: &mut Path,
        rng: &mut Rng,
    ) -> Result<(Places, bool), Fault> {
        let tools = &mut self.believer.tools;
        let (me, nature) = (usize::from(tools.role.0), tools.sim.nature().map(|r| usize::from(r.0)));
        let node = self.atlas.node(at);
        let choosing = (0..node.legal.len()).filter(|&r| Some(r) != nature && node.legal[r].len() > 1);
        let mixed = match self.options.selection {
            Selection::Auto => choosing.count() > 1,
            Selection::Ucb => false,
            Selection::Rm | Selection::Exp3 => true,
        };
        let (mut places, mut fresh) = (Places::new(), false);
        for (role, &view) in everyone.iter().enumerate() {
            let n_moves = self.atlas.node(at).legal[role].len();
            let by_tree = role == me || self.options.opponents == Opponents::Tree;
            let place = if n_moves == 1 {
                0
            } else if Some(role) == nature || (role != me && self.options.opponents == Opponents::Random) {
                rng.below(n_moves)
            } else if let (false, Some(inner)) = (by_tree, &mut self.minds) {
                inner.decide(tools, &mut self.atlas, role, minds[role], at, rng)?
            } else {
                let legal = &self.atlas.node(at).legal[role];
                let table = self.views.get_mut(view);
                let (place, arm, chance) = table.select(legal, mixed, &self.options, rng);
                fresh |= table.arms[arm].visits == 0;
                table.arms[arm].visits += 1;
                path.push(Choice {
                    role: role as u16,
                    view,
                    at,
                    arm: arm as u32,
                    chance,
                });
                place
            };
            places.push(place as u32);
        }
        Ok((places, fresh))
    }

    fn back_up(&mut self, path: &Path, points: &[f64]) {
        // The value that each role's next choice backs up in place of the payoff.
        let mut gains: SmallVec<[f64; 4]> = SmallVec::from_slice(points);
        for choice in path.iter().rev() {
            let role = usize::from(choice.role);
            let legal = &self.atlas.node(choice.at).legal[role];
            let table = self.views.get_mut(choice.view);
            table.learn(choice, points[role], gains[role], legal, self.options.selection);
            if self.options.backup == Backup::Best && !table.mixed {
                gains[role] = table.hand_up();
            }
        }
    }

    /// Undoes the visits of a descent whose leaf was not valued.
    fn take_back(&mut self, path: &Path) {
        for choice in path {
            self.views.get_mut(choice.view).arms[choice.arm as usize].visits -= 1;
        }
    }

    fn decide(&mut self, roots: &[SimulationRoot], seed: Seed) -> Decision {
        let me = self.me();
        let root = &roots[0];
        let legal = self.atlas.node(root.node).legal[me].clone();
        let table = self.views.get_mut(root.everyone[me]);
        let sim = self.believer.tools.sim.as_ref();
        let text = |mv| sim.move_text(RoleId(me as u16), mv).to_owned();
        if table.arms.is_empty() {
            return Decision::plain(text(legal[0]));
        }
        let mut arms = table.arms.clone();
        arms.sort_by(|a, b| b.visits.cmp(&a.visits).then(b.mean().total_cmp(&a.mean())));
        if table.mixed {
            let drawn = draw(arms.iter().map(|a| a.wanted), &mut seed.child("mixed").rng());
            let chosen = arms.remove(drawn);
            arms.insert(0, chosen);
        }
        let candidates: Vec<Candidate> = arms.iter().map(|arm| arm.candidate(text(arm.mv))).collect();
        Decision {
            mv: candidates[0].mv.clone(),
            candidates,
            ..Decision::default()
        }
    }
}

impl ArmTable {
    /// Chooses among the legal moves: the place among them, the arm, and the chance it had if the choice was mixed.
    fn select(
        &mut self,
        legal: &[MoveId],
        mixed: bool,
        options: &IsMctsOptions,
        rng: &mut Rng,
    ) -> (usize, usize, Option<f64>) {
        let arms = self.arms_of(legal);
        self.mixed = mixed;
        if !mixed {
            let place = self.by_bounds(&arms, options.exploration, rng);
            return (place, arms[place], None);
        }
        let strategy = self.strategy(&arms, options.selection);
        for (&arm, p) in arms.iter().zip(&strategy) {
            self.arms[arm].wanted += p;
        }
        let even = EXPLORE / arms.len() as f64;
        let chances = strategy.iter().map(|p| p * (1.0 - EXPLORE) + even);
        let place = draw(chances.clone(), rng);
        (place, arms[place], chances.clone().nth(place))
    }

    /// The arms of these moves; makes those that are missing.
    fn arms_of(&mut self, legal: &[MoveId]) -> SmallVec<[usize; 32]> {
        if self.arms.is_empty() {
            self.arms.extend(legal.iter().map(|&mv| Arm::new(mv)));
        }
        if self.arms.len() == legal.len() && self.arms.iter().zip(legal).all(|(arm, mv)| arm.mv == *mv) {
            return (0..legal.len()).collect();
        }
        let place = |&mv: &MoveId| match self.arms.iter().position(|arm| arm.mv == mv) {
            Some(at) => at,
            None => {
                self.arms.push(Arm::new(mv));
                self.arms.len() - 1
            }
        };
        legal.iter().map(place).collect()
    }

    fn by_bounds(&mut self, arms: &[usize], exploration: f64, rng: &mut Rng) -> usize {
        let untried = arms.iter().filter(|&&arm| self.arms[arm].visits == 0).count();
        arms.iter().for_each(|&arm| self.arms[arm].available += 1);
        if untried > 0 {
            let pick = rng.below(untried);
            let mut places = (0..arms.len()).filter(|&place| self.arms[arms[place]].visits == 0);
            return places.nth(pick).unwrap_or(0);
        }
        let bound = |arm: &Arm| {
            let n = f64::from(arm.visits);
            arm.total / n + exploration * (f64::from(arm.available).ln() / n).sqrt()
        };
        let bounds = arms.iter().map(|&arm| bound(&self.arms[arm]));
        let best = bounds.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        best.map_or(0, |(place, _)| place)
    }

    fn strategy(&self, arms: &[usize], selection: Selection) -> SmallVec<[f64; 32]> {
        let weight = |arm: &Arm| arm.regret.max(0.0);
        let mut strategy: SmallVec<[f64; 32]> = match selection {
            Selection::Exp3 => {
                let rate = EXPLORE / arms.len() as f64;
                let most = arms.iter().map(|&a| self.arms[a].regret).fold(f64::MIN, f64::max);
                arms.iter()
                    .map(|&a| (rate * (self.arms[a].regret - most)).exp())
                    .collect()
            }
            _ => arms.iter().map(|&a| weight(&self.arms[a])).collect(),
        };
        let sum: f64 = strategy.iter().sum();
        let even = 1.0 / arms.len() as f64;
        strategy
            .iter_mut()
            .for_each(|p| *p = if sum > 0.0 { *p / sum } else { even });
        strategy
    }

    /// The change of the total of the arm that leads here after one more simulation, if the value of this view is that
    /// of its best move.
    fn hand_up(&mut self) -> f64 {
        self.through += 1;
        let most = self.arms.iter().map(|arm| arm.visits).max().unwrap_or(0);
        // The maximum over moves with few visits is biased upwards.
        let known = self.arms.iter().filter(|arm| 4 * arm.visits >= most.min(64));
        let best = known.map(Arm::mean).fold(0.0, f64::max);
        let worth = best * f64::from(self.through);
        let gain = worth - self.handed_up;
        self.handed_up = worth;
        gain
    }

    /// Updates the statistics of a choice: its payoff, and the change of value below it.
    fn learn(&mut self, choice: &Choice, payoff: f64, gain: f64, legal: &[MoveId], selection: Selection) {
        let chosen = choice.arm as usize;
        self.arms[chosen].total += gain;
        let Some(chance) = choice.chance else { return };
        self.arms[chosen].regret += payoff / chance;
        if selection != Selection::Exp3 {
            for arm in self.arms.iter_mut().filter(|arm| legal.contains(&arm.mv)) {
                arm.regret -= payoff;
            }
        }
    }
}

impl Arm {
    fn new(mv: MoveId) -> Arm {
        Arm {
            mv,
            visits: 0,
            available: 0,
            total: 0.0,
            regret: 0.0,
            wanted: 0.0,
        }
    }

    fn mean(&self) -> f64 {
        self.total / f64::from(self.visits.max(1))
    }

    fn candidate(&self, mv: String) -> Candidate {
        let mean = self.mean();
        Candidate {
            mv,
            mean: 100.0 * mean,
            // The largest standard error of a mean of payoffs in 0..1.
            stderr: 100.0 * (mean * (1.0 - mean) / f64::from(self.visits.max(1))).max(0.0).sqrt(),
            visits: u64::from(self.visits),
        }
    }
}

/// Roots in proportion to their weights, in random order: less variance than independent draws. With a fixed order, the
/// order and the choice of moves could be correlated.
fn deal(weights: &[f64], rng: &mut Rng) -> Vec<usize> {
    let mut deck = systematic(weights, DECK, rng);
    shuffle(&mut deck, rng);
    deck
}

/// A place drawn in proportion to the weights.
fn draw(weights: impl Iterator<Item = f64> + Clone, rng: &mut Rng) -> usize {
    let total: f64 = weights.clone().sum();
    let mut left = rng.unit() * total;
    let mut last = 0;
    for (at, weight) in weights.enumerate().filter(|(_, w)| *w > 0.0) {
        last = at;
        left -= weight;
        if left < 0.0 {
            break;
        }
    }
    last
}

impl Player for IsMcts {
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        self.believer.update(told, budget)?;
        self.forget_if_large(budget);
        let (roots, weights) = self.roots(budget)?;
        if roots.is_empty() {
            let legal = self.believer.legal()?;
            return Ok(Decision::plain(self.believer.tools.text(legal[0])));
        }
        let me = self.me();
        let seed = self.believer.tools.seed.child("ismcts").nth(told.len() as u64);
        if roots.iter().any(|root| self.atlas.node(root.node).legal[me].len() > 1) {
            self.search(&roots, &weights, seed, budget)?;
        }
        let mut decision = self.decide(&roots, seed);
        decision.belief = self.believer.belief().report.to_string();
        Ok(decision)
    }

    fn meter(&self) -> Meter {
        let mut meter = self.believer.meter();
        meter.touches += self.atlas.touches - self.atlas.computed;
        meter
    }
}
