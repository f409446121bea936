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
//! - simulations are made in groups, which are a sixteenth of those made before. A descent counts as a visit at once
//!   and as a loss until its value is known, so that the descents of a group spread. Sixteen of them go down side by
//!   side, so that their waits for memory overlap. Descents that come to an unknown situation wait for each other; what
//!   follows is computed for all of them at once, in lanes, and so are playouts. A group of one is the plain algorithm;
//! - lanes that a small group leaves idle play further games from its leaves. A leaf then has the mean of its games,
//!   and still counts as one simulation;
//! - the other roles may play by something else than the tree: at random, or as HyperPlay players.

mod arms;
mod descents;
mod situations;
#[cfg(test)]
mod twin;

use crate::Tools;
use crate::atlas::{Atlas, FOLLOWING, KEPT, NodeId, memory};
use crate::believer::Believer;
use crate::minds::{InnerOptions, Minds, systematic};
use crate::pruning::{Pruning, shuffle};
use crate::trails::{Followed, forget_others};
use crate::uct::SquareRoots;
use crate::view_opponents::ViewOpponents;
use crate::views::{Everyone, Views};
use arms::ArmTable;
use belief::{BeliefError, Model, Options, SamplerKind};
use descents::Descents;
use game::{Budget, Candidate, Decision, Fault, Meter, Player, Rng, RoleId, Seed, StopFlag, Told};
use game::{UnknownWord, by_word};
use situations::Situations;
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
    /// Simulations made together; 0 chooses by the number of simulations made before.
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
    situations: Situations,
    descents: Descents,
    nature: Option<usize>,
    square_roots: &'static SquareRoots,
    played: u64,
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
        let nature = tools.sim.nature().map(|role| usize::from(role.0));
        let wanted = options.opponents == Opponents::HyperPlay || options.rollout == Rollout::HyperPlay;
        let minds = wanted.then(|| Minds::new(tools.sim.as_ref(), options.inner, tools.seed.child("minds")));
        Ok(IsMcts {
            believer: Believer::new(tools, kind, belief)?,
            models: belief.models,
            options,
            atlas: Atlas::default(),
            views: Views::new(n_roles),
            minds,
            situations: Situations::new(n_roles),
            descents: Descents::default(),
            nature,
            square_roots: SquareRoots::shared(),
            played: 0,
        })
    }

    /// Random games played so far.
    pub fn playouts_made(&self) -> u64 {
        self.played
    }

    fn me(&self) -> usize {
        usize::from(self.believer.tools.role.0)
    }

    fn forget_if_large(&mut self, models: &[Model], budget: &Budget) {
        let minds = self.minds.as_ref().map_or(0, |minds| minds.views.len());
        let most = memory(budget);
        if self.atlas.len() + self.views.len() + minds > most {
            let minds = self.minds.as_mut().map(|minds| &mut minds.views);
            forget_others(&mut self.atlas, &mut self.views, minds, models, most / KEPT);
        }
    }

    /// Histories to start from, with their weights.
    fn roots(&mut self, budget: &Budget) -> Result<(Vec<SimulationRoot>, Vec<f64>), Fault> {
        let mut models = self.believer.histories(self.models);
        self.forget_if_large(&models, budget);
        if budget.timed {
            self.views.trails.best_known_first(&mut models);
        }
        let (mut roots, mut weights) = (Vec::new(), Vec::new());
        let enough = budget.stop.part(FOLLOWING);
        for model in models.iter().filter(|model| model.weight > 0.0) {
            if !roots.is_empty() && enough.is_raised() {
                break;
            }
            let Some(root) = self.root(model, &enough)? else {
                continue;
            };
            if !self.atlas.node(root.node).over {
                weights.push(model.weight);
                roots.push(root);
            }
        }
        match roots.is_empty() && enough.is_raised() {
            true => self.roots_without_past(&models, &enough),
            false => Ok((roots, weights)),
        }
    }

    /// The end of a history and the views of all roles; none if it cannot be played, or not in time.
    fn root(&mut self, model: &Model, enough: &StopFlag) -> Result<Option<SimulationRoot>, Fault> {
        let one_view = self.one_view();
        let sim = self.believer.tools.sim.as_mut();
        let (atlas, history) = (&mut self.atlas, &model.history);
        let followed = self
            .views
            .follow_as(atlas, sim, history, |role| one_view.unwrap_or(role), enough)?;
        let Followed::To(node, everyone) = followed else {
            return Ok(None);
        };
        let minds = match &mut self.minds {
            Some(minds) => match minds.views.follow_until(atlas, sim, history, enough)? {
                Followed::To(_, minds) => minds,
                Followed::Nowhere | Followed::Late => return Ok(None),
            },
            None => Everyone::new(),
        };
        Ok(Some(SimulationRoot { node, everyone, minds }))
    }

    /// Roots for want of time to follow any history: the others know the state.
    fn roots_without_past(
        &mut self,
        models: &[Model],
        enough: &StopFlag,
    ) -> Result<(Vec<SimulationRoot>, Vec<f64>), Fault> {
        let (me, one_view) = (self.me(), self.one_view());
        let n_roles = self.views.start().len();
        let (mut roots, mut weights) = (Vec::new(), Vec::new());
        let mine = self.views.fresh();
        for model in models.iter().filter(|model| model.weight > 0.0) {
            if !roots.is_empty() && enough.is_raised() {
                break;
            }
            let sim = self.believer.tools.sim.as_mut();
            let node = self.atlas.enter(sim, model.state.clone())?;
            if self.atlas.node(node).over {
                continue;
            }
            let view = |role: usize| match one_view.is_some() || role == me {
                true => mine,
                false => self.views.fresh(),
            };
            let everyone = (0..n_roles).map(view).collect();
            let minds = self.minds.as_mut().map(|minds| minds.without_past(node));
            weights.push(model.weight);
            roots.push(SimulationRoot {
                node,
                everyone,
                minds: minds.unwrap_or_default(),
            });
        }
        Ok((roots, weights))
    }

    /// The role whose view all statistics belong to, with a single observer.
    fn one_view(&self) -> Option<usize> {
        (self.options.observers == Observers::Single).then(|| self.me())
    }

    fn decide(&mut self, roots: &[SimulationRoot], seed: Seed) -> Decision {
        let me = self.me();
        let root = &roots[0];
        let legal = self.atlas.node(root.node).legal[me].clone();
        let table = self.views.get_mut(root.everyone[me]);
        let sim = self.believer.tools.sim.as_ref();
        let text = |mv| sim.move_text(RoleId(me as u16), mv).to_owned();
        let mut arms = table.ranked();
        if arms.is_empty() {
            return Decision::plain(text(legal[0]));
        }
        if table.mixed {
            let drawn = draw(arms.iter().map(|(_, wanted)| *wanted), &mut seed.child("mixed").rng());
            let chosen = arms.remove(drawn);
            arms.insert(0, chosen);
        }
        let candidates: Vec<Candidate> = arms.iter().map(|(arm, _)| arm.candidate(text(arm.mv))).collect();
        Decision {
            mv: candidates[0].mv.clone(),
            candidates,
            ..Decision::default()
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
