//! Knowledge-limited unfrozen subgame solving with one-sided GT-CFR: search that needs no common knowledge.
//!
//! Zhang and Sandholm, *General search techniques without common knowledge for imperfect-information games, and
//! application to superhuman Fog of War chess* (2025): the program Obscuro. At each move the game tree of the move
//! before is cut down to what we, and the opponent as far as we know, may still hold possible ([`carry`],
//! [`knowledge`]); new histories from the belief are added; gadgets at the root keep what was reached before
//! ([`gadgets`]); then PCFR+ ([`solver`]) and the expansion of leaves ([`expander`], [`grow`]) take turns ([`search`]),
//! and the last strategy is purified ([`purify`]).
//!
//! For two roles with opposed interests, with or without nature. Values are differences of points: where the points of
//! the two do not always have the same sum, the player maximises its lead.
//!
//! Where we differ, besides what the files say:
//! - alternate values are raised (`slack`) by how likely play ends in leaves, because the values of leaves are noisy.
//!   Measured: liar's dice with one die of three sides, 300 nodes, has a NashConv of 0.0 points with a slack of 0 and
//!   of 22 with 100, because all values are exact; in phantom tic-tac-toe, 2,000 nodes, 60 games against `hp:64,16`,
//!   the means are 50.8 with 0 and 65.8 with 100;
//! - the average strategy is played and carried over (`iterate`), not the last one;
//! - in the prior of Resolve our own histories count by nature and the opponent's strategy alone (see [`carry`]);
//! - a model of the opponent, where one is given, decides nine tenths of the prior, and alternate values are raised so
//!   that the prior counts; how the opponent goes on is still computed, not taken from the model;
//! - values of leaves come from random games, a search with perfect information, or a network;
//! - a tree that has become the whole game, from its start, is kept whole: there is nothing to guard, and the average
//!   strategy is played, which converges to an equilibrium;
//! - the search goes on in rounds in which we have no choice, with a quarter of the budget, because the tree has to be
//!   there when we have one.

mod blueprint;
mod carry;
mod expander;
mod gadgets;
mod grow;
mod knowledge;
mod purify;
mod search;
mod solver;
mod tree;

use crate::Tools;
use crate::atlas::FOLLOWING;
use crate::believer::Believer;
use crate::cfr::Horizon;
use crate::view_opponents::ViewOpponents;
use crate::views::ViewId;
use belief::{BeliefError, Options, SamplerKind};
use carry::{CarryRules, next_subgame};
use gadgets::Gadgets;
use game::{Budget, Candidate, Decision, Fault, Meter, MoveId, Player, Seed, StopFlag, Told, UnknownWord, by_word};
use grow::{FollowedHistory, Grower, Place, Seats};
use purify::{Purification, purify};
use search::{SearchReport, search};
use std::fmt;
use std::str::FromStr;
use tree::{Kind, ME, Node, Tree};

/// The distribution of the opponent's information sets in the Resolve gadget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prior {
    /// Half by how the opponent played in the search before, half even.
    #[default]
    Blueprint,
    /// Even.
    Uniform,
}

impl FromStr for Prior {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Prior, UnknownWord> {
        let known = [("blueprint", Prior::Blueprint), ("uniform", Prior::Uniform)];
        by_word("prior", name, &known)
    }
}

/// Who explores when a leaf is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expansion {
    /// One player, by turns; the other plays its strategy.
    #[default]
    OneSided,
    /// Both players.
    TwoSided,
}

impl FromStr for Expansion {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Expansion, UnknownWord> {
        let known = [("one-sided", Expansion::OneSided), ("two-sided", Expansion::TwoSided)];
        by_word("expand", name, &known)
    }
}

/// Which strategy of the iterations is played and carried over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Iterate {
    /// The average over the iterations, later ones counting more.
    #[default]
    Average,
    /// The last one, as in the paper.
    Last,
}

impl FromStr for Iterate {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Iterate, UnknownWord> {
        by_word(
            "iterate",
            name,
            &[("average", Iterate::Average), ("last", Iterate::Last)],
        )
    }
}

/// Settings of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KlussOptions {
    /// New nodes of the tree per decision; if not given, 20,000, or as many as there is time for.
    pub nodes: Option<u64>,
    /// Histories of our own information set in which the search begins, at most.
    pub roots: usize,
    /// Order of knowledge beyond which nodes are dropped; if not given, as large as the roots allow, and at least 2.
    pub order: Option<u32>,
    /// Moves of nature in one state that are all searched; of more, a sample of this size.
    pub chance: usize,
    /// Exploration constant of the expansion.
    pub c: f64,
    /// Who explores.
    pub expansion: Expansion,
    /// Prior of the Resolve gadget.
    pub prior: Prior,
    /// Points that are added to the alternate values; 0 in the paper. If not given, up to 100, by how likely play ends
    /// in leaves: their values are noisy, and without any slack the few information sets whose margins suffer most from
    /// noise decide. With 100 the opponent enters all of them, and the prior decides.
    pub slack: Option<f64>,
    /// Whether our strategies outside of our own information set stay as they were (1-KLSS).
    pub frozen: bool,
    /// Which strategy of the iterations counts.
    pub iterate: Iterate,
    /// Whether the strategy is purified.
    pub purify: bool,
    /// Moves that a purified strategy may mix.
    pub support: usize,
}

impl Default for KlussOptions {
    fn default() -> Self {
        KlussOptions {
            nodes: None,
            roots: 256,
            order: None,
            chance: 64,
            c: 1.0,
            expansion: Expansion::default(),
            prior: Prior::default(),
            slack: None,
            frozen: false,
            iterate: Iterate::default(),
            purify: true,
            support: 3,
        }
    }
}

/// New nodes per decision if no number and no time is given.
const USUAL_NODES: u64 = 20_000;
/// Part of the budget for rounds in which we have no choice, as a divisor.
const FORCED: u64 = 4;
/// States, steps and views beyond four times the nodes of the tree after which the unused ones are forgotten.
const UNUSED: usize = 50_000;

/// Why this player cannot play a game.
#[derive(Clone, Debug)]
pub enum KlussError {
    /// The game has not exactly two roles besides nature.
    Roles(usize),
    /// The belief cannot be made.
    Belief(BeliefError),
}

impl fmt::Display for KlussError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KlussError::Roles(1) => {
                f.write_str("kluss needs an opponent, and this game has one role besides nature; use `hp2` or `ismcts`")
            }
            KlussError::Roles(n) => write!(
                f,
                "kluss plays games of two roles against each other, and this game has {n}; use `ismcts` or `cfr`"
            ),
            KlussError::Belief(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for KlussError {}

impl From<BeliefError> for KlussError {
    fn from(error: BeliefError) -> KlussError {
        KlussError::Belief(error)
    }
}

/// A root of a subgame.
#[derive(Clone, Copy, Debug)]
struct Root {
    node: u32,
    /// Nature's probability.
    nature: f64,
    /// Our own probability, up to a factor that all roots share.
    own: f64,
    /// Whether the root is in our information set.
    mine: bool,
    /// Its probability by a model of the opponent, if there is one.
    likely: Option<f64>,
}

/// A tree with its roots and gadgets.
struct Subgame {
    tree: Tree,
    /// Where the nodes are in the game.
    places: Vec<Place>,
    roots: Vec<Root>,
    gadgets: Gadgets,
    round: u32,
    /// Our view.
    mine: ViewId,
    /// Our own probability of our information set, on the scale of the roots.
    own: f64,
    /// Order of knowledge of the roots.
    order: u32,
    /// Nodes that were carried over.
    carried: usize,
    /// Iterations in the average strategy.
    averaged: u32,
}

impl Subgame {
    /// Whether the tree is the whole game, from its start to all its ends.
    fn is_whole(&self, grower: &Grower) -> bool {
        self.gadgets.is_plain() && self.tree.leaves == 0 && !grower.sampled
    }

    /// A node in which we have this view and the game goes on.
    fn a_node_of(&self, mine: ViewId) -> Option<usize> {
        let fits = |node: &Node| node.views[ME] == mine && node.kind != Kind::Over;
        self.tree.nodes.iter().position(fits)
    }
}

/// KLUSS with one-sided GT-CFR.
pub struct Kluss {
    believer: Believer,
    options: KlussOptions,
    grower: Grower,
    subgame: Option<Subgame>,
    /// Whether a model of the opponent weighs positions.
    modelled: bool,
}

/// Our strategy now, and how it came about.
struct Outcome {
    moves: Vec<MoveId>,
    /// Computed probabilities, purified probabilities, values in -1..1.
    policy: Vec<f64>,
    played: Vec<f64>,
    worth: Vec<f64>,
}

impl Kluss {
    /// A player that searches from what it was told.
    ///
    /// # Errors
    /// If the game has not two roles besides nature, or if the options make no sense.
    pub fn new(
        tools: Tools,
        kind: SamplerKind,
        belief: &Options,
        options: KlussOptions,
        horizon: Box<dyn Horizon>,
    ) -> Result<Kluss, KlussError> {
        let nature = usize::from(tools.sim.nature().is_some());
        let roles = tools.sim.roles().len() - nature;
        let seats = Seats::of(&tools).ok_or(KlussError::Roles(roles))?;
        let grower = Grower::new(&tools, seats, horizon, options.chance);
        Ok(Kluss {
            believer: Believer::new(tools, kind, belief)?,
            options,
            grower,
            subgame: None,
            modelled: false,
        })
    }

    /// Sets a model of the opponent: positions are entered as likely as the model says.
    pub fn set_views(&mut self, views: ViewOpponents) {
        self.believer.set_views(views);
        self.modelled = true;
    }

    fn rules(&self) -> CarryRules {
        CarryRules {
            roots: self.options.roots,
            order: self.options.order,
            prior: self.options.prior,
            slack: self.options.slack.map(|points| points / 50.0),
            frozen: self.options.frozen,
            averages: self.options.iterate == Iterate::Average,
        }
    }

    /// Our view, by what we were told.
    fn my_view(&mut self) -> ViewId {
        let role = self.believer.tools.role.0;
        let mut view = self.grower.views.start()[usize::from(role)];
        for round in &self.believer.view().rounds {
            let sees = self.grower.atlas.intern(role, &round.sees);
            view = self.grower.views.after(view, round.own, sees);
        }
        view
    }

    /// Histories that explain what we were told, each once.
    fn histories(&mut self, mine: ViewId, stop: &StopFlag) -> Result<Vec<FollowedHistory>, Fault> {
        let enough = stop.part(FOLLOWING);
        let exact = self.believer.belief().report.exact;
        let mut found: Vec<FollowedHistory> = Vec::new();
        let mut known = rustc_hash::FxHashMap::default();
        for model in self.believer.histories(self.options.roots) {
            if !found.is_empty() && enough.is_raised() {
                break;
            }
            // The first history is followed in any case: without any there is nothing to search.
            let late = (!found.is_empty()).then_some(&enough);
            let followed = self.grower.follow(&mut self.believer.tools, &model.history, late)?;
            let Some(mut history) = followed else {
                continue;
            };
            // All of them explain our view, even if a percept had to be ignored.
            history.views[ME] = mine;
            history.likely = self.modelled.then_some(model.weight);
            let next = found.len();
            let place = *known.entry((history.at, history.views)).or_insert(next);
            match found.get_mut(place) {
                None => found.push(history),
                // Nature's moves that neither player can ever notice: both histories count.
                Some(twin) => {
                    twin.nature += if exact { history.nature } else { 0.0 };
                    twin.likely = twin.likely.zip(history.likely).map(|(a, b)| a + b);
                }
            }
        }
        // A sample of a large set is in no particular order; a whole set fits. A model says which matter most.
        found.sort_by(|a, b| b.likely.unwrap_or(0.0).total_cmp(&a.likely.unwrap_or(0.0)));
        found.truncate(self.options.roots);
        Ok(found)
    }

    /// The subgame of this round.
    fn prepare(&mut self, told: &[Told], seed: Seed, budget: &Budget) -> Result<Subgame, Fault> {
        let round = told.len() as u32;
        let mut mine = self.my_view();
        let rules = self.rules();
        let old = self
            .subgame
            .take()
            .filter(|old| old.round == round || old.round + 1 == round);
        let old = match old {
            Some(mut old) if old.round == round || self.still_whole(&old, mine) => {
                (old.round, old.mine) = (round, mine);
                return Ok(old);
            }
            old => old,
        };
        self.believer.update(told, budget)?;
        let histories = self.histories(mine, &budget.stop)?;
        let made = self.believer.view().rounds.last().map(|round| round.own);
        let (grower, tools) = (&mut self.grower, &mut self.believer.tools);
        let mut subgame = match old {
            Some(old) => next_subgame(old, grower, tools, mine, made, histories, &rules, seed, &budget.stop)?,
            None => Subgame::of_histories(&histories, round, mine, &rules, grower, tools, seed, &budget.stop)?,
        };
        let used = 4 * subgame.tree.nodes.len() + UNUSED;
        if grower.atlas.len() + grower.views.len() > used {
            grower.forget(&mut subgame.tree, &mut subgame.places, &mut mine);
            subgame.mine = mine;
        }
        Ok(subgame)
    }

    /// Whether a tree is the whole game and knows our view.
    fn still_whole(&self, old: &Subgame, mine: ViewId) -> bool {
        !self.modelled && old.is_whole(&self.grower) && old.a_node_of(mine).is_some()
    }

    /// Our legal moves now.
    fn legal(&mut self, subgame: &Subgame) -> Result<Vec<MoveId>, Fault> {
        if let Some(set) = subgame.tree.infoset_of(subgame.mine) {
            let set = &subgame.tree.infosets[set as usize];
            return Ok(subgame.tree.actions[set.actions()].iter().map(|a| a.mv).collect());
        }
        let me = usize::from(self.believer.tools.role.0);
        if let Some(node) = subgame.a_node_of(subgame.mine) {
            let at = subgame.places[node].at;
            return Ok(self.grower.atlas.node(at).legal[me].to_vec());
        }
        self.believer.legal()
    }

    /// Our strategy at the end of a search; none if our information set was not reached.
    fn outcome(&self, subgame: &Subgame, report: &SearchReport) -> Option<Outcome> {
        let set = subgame.tree.infoset_of(subgame.mine)?;
        let actions = &subgame.tree.actions[subgame.tree.infosets[set as usize].actions()];
        let mut policy: Vec<f64> = actions.iter().map(|a| a.policy).collect();
        let total: f64 = actions.iter().map(|a| a.total).sum();
        let whole = subgame.is_whole(&self.grower);
        if (whole || self.options.iterate == Iterate::Average) && total > 0.0 {
            policy = actions.iter().map(|a| a.total / total).collect();
        }
        let how = Purification {
            support: self.options.support,
            mixing: subgame.gadgets.is_safe(),
        };
        let mut stable = report.stable.clone();
        stable.resize(actions.len(), false);
        let played = match self.options.purify && !whole {
            true => purify(&policy, &stable, how),
            false => policy.clone(),
        };
        Some(Outcome {
            moves: actions.iter().map(|a| a.mv).collect(),
            policy,
            played,
            worth: actions.iter().map(|a| a.worth).collect(),
        })
    }

    fn decide(&self, outcome: &Outcome, belief: String, visits: u64, seed: Seed) -> Decision {
        let text = |at: usize| self.believer.tools.text(outcome.moves[at]).to_owned();
        let mut left = seed.child("draw").rng().unit() * outcome.played.iter().sum::<f64>();
        let mut places: Vec<usize> = (0..outcome.moves.len()).collect();
        let by_share = |&a: &usize, &b: &usize| {
            let share = |at: usize| (outcome.played[at], outcome.policy[at]);
            let ((x, p), (y, q)) = (share(a), share(b));
            y.total_cmp(&x).then(q.total_cmp(&p)).then(a.cmp(&b))
        };
        places.sort_by(by_share);
        let drawn = places.iter().position(|&at| {
            left -= outcome.played[at];
            left < 0.0
        });
        let shares = places.iter().map(|&at| (text(at), outcome.played[at])).collect();
        let chosen = places.remove(drawn.unwrap_or(0));
        places.insert(0, chosen);
        let candidate = |&at: &usize| Candidate {
            mv: text(at),
            mean: 50.0 + 50.0 * outcome.worth[at],
            stderr: 0.0,
            visits,
        };
        Decision {
            mv: text(chosen),
            candidates: places.iter().map(candidate).collect(),
            belief,
            policy: shares,
        }
    }

    /// What the search did, for people.
    fn describe(&self, subgame: &Subgame, report: &SearchReport) -> String {
        let tree = &subgame.tree;
        let size = format!(
            "{} new nodes and {} carried over, {} information sets, {} rounds deep, {} iterations",
            report.new_nodes,
            subgame.carried,
            tree.infosets.len(),
            tree.depth(),
            report.iterations
        );
        if subgame.is_whole(&self.grower) {
            return format!("the whole game is solved: {size}");
        }
        let mine = subgame.roots.iter().filter(|r| r.mine).count();
        let belief = &self.believer.belief().report;
        let exact = if belief.exact { "exact" } else { "approximate" };
        let of = belief.histories.map_or(String::new(), |n| format!(" of {n:.0}"));
        let from = format!(
            "{mine} positions{of} ({exact} belief) and {} of the opponent's knowledge (order {})",
            subgame.roots.len() - mine,
            subgame.order
        );
        if subgame.gadgets.is_plain() {
            return format!("{from}; {size}; no gadget");
        }
        let gadget = match subgame.gadgets.is_safe() {
            true => "Maxmargin".to_owned(),
            false => format!("Resolve (entered with {:.2})", subgame.gadgets.most_entered),
        };
        let (least, mean) = subgame.gadgets.margins();
        format!(
            "{from}; {size}; {gadget} over {} information sets, margins from {:.1} with mean {:.1}",
            subgame.gadgets.entries.len(),
            50.0 * least,
            50.0 * mean
        )
    }
}

impl Player for Kluss {
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        self.believer.note(told)?;
        let seed = self.believer.tools.seed.child("kluss").nth(told.len() as u64);
        let mut subgame = self.prepare(told, seed, budget)?;
        if subgame.roots.is_empty() {
            let legal = self.believer.legal()?;
            return Ok(Decision::plain(self.believer.tools.text(legal[0])));
        }
        let legal = self.legal(&subgame)?;
        let forced = legal.len() < 2 && subgame.round > 0;
        let mut nodes = budget.count(self.options.nodes, USUAL_NODES);
        let mut time = budget.clone();
        if forced {
            nodes = if nodes == u64::MAX { nodes } else { nodes / FORCED };
            time = budget.part(1.0 / FORCED as f64);
        }
        let report = search(
            &mut subgame,
            &mut self.grower,
            &mut self.believer.tools,
            &self.options,
            nodes,
            seed,
            &time,
        )?;
        let decision = match self.outcome(&subgame, &report) {
            Some(outcome) if legal.len() > 1 => {
                let belief = self.describe(&subgame, &report);
                self.decide(&outcome, belief, report.iterations, seed)
            }
            _ => {
                let mv = *seed.child("draw").rng().pick(&legal);
                Decision {
                    belief: self.describe(&subgame, &report),
                    ..Decision::plain(self.believer.tools.text(mv))
                }
            }
        };
        self.subgame = Some(subgame);
        Ok(decision)
    }

    fn meter(&self) -> Meter {
        let mut meter = self.believer.meter();
        meter.touches += self.grower.atlas.touches - self.grower.atlas.computed;
        meter
    }
}
