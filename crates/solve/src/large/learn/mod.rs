//! Regret minimisation over all information sets of a large game, in passes.
//!
//! Predictive CFR+ (Farina, Kroer and Sandholm, *Faster Game Solving via Predictive Blackwell Approachability*, 2021):
//! regret matching+ to the accumulated regrets plus the regrets of the last iteration, which predict those of the next;
//! the roles are updated in turn. Discounted CFR (Brown and Sandholm 2019), and predictive discounted CFR+ (Xu and
//! others, *Minimizing Weighted Counterfactual Regret with Optimistic Online Mirror Descent*, 2024), are there as well.
//! Differences from the papers:
//!
//! - Regrets below [`NOISE`] of the payoffs that can still be reached count as 0. Without this floor rounding becomes
//!   strategy where moves tie.
//! - Predictive CFR+ gives iteration t the weight t⁵ in the average, not t². An average with t² forgets the first
//!   iterations by T⁻³ only: in Goofspiel with four cards NashConv after 212 iterations was 1.5e-6 points for the last
//!   strategies and 9.6e-4 for such an average. *Tried*: half the weight for the prediction (as in asynchronous
//!   predictive CFR+, Meng and others 2025): two thirds of the NashConv in liar's dice with six sides and Leduc poker,
//!   but phantom tic-tac-toe stayed at 0.07 points from iteration 120 to 210, where the whole prediction fell to 0.02.
//! - The best strategies so far are kept (`best`): neither averages nor last strategies improve all the time.
//! - Histories that the other role never plays are skipped. That is exact: they add nothing to any regret.
//!
//! Averages are kept as realization plans, so that rating the average needs no conversion.

mod best;
mod restart;
mod rule;
mod saved;
mod spread;
#[cfg(test)]
mod twin;

pub use restart::is_rated;
pub use saved::RestoreError;

use super::pass::{Buffers, Choice, Pass, Place, Worth, task_size};
use super::profile::Profile;
use super::symmetry::{Quotient, Subgroup, TRIVIAL};
use super::views::{ViewClass, ViewGraph};
use super::{LargeGame, LargeRating};
use best::Best;
use game::StopFlag;
use restart::Epoch;
use rule::Rule;
use spread::{Spread, Twin};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Share of the payoffs below which a regret is rounding.
const NOISE: f64 = 1e-11;

/// Which algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LargeAlgorithm {
    /// Predictive CFR+.
    Predictive,
    /// Discounted CFR with exponents 1.5, 0 and 2.
    Discounted,
    /// Predictive discounted CFR+ with exponents 2.3 and 5.
    PredictiveDiscounted,
    /// Discounted CFR with exponents 1.5, 0 and 1 that begins anew at its average when that is twice as good.
    #[default]
    Restarting,
}

impl LargeAlgorithm {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            LargeAlgorithm::Predictive => "pcfr+",
            LargeAlgorithm::Discounted => "discounted",
            LargeAlgorithm::PredictiveDiscounted => "pdcfr+",
            LargeAlgorithm::Restarting => "restarting",
        }
    }

    /// All of them.
    pub const ALL: [LargeAlgorithm; 4] = [
        LargeAlgorithm::Predictive,
        LargeAlgorithm::Discounted,
        LargeAlgorithm::PredictiveDiscounted,
        LargeAlgorithm::Restarting,
    ];

    /// Whether the last regrets predict the next.
    fn predicts(self) -> bool {
        matches!(self, LargeAlgorithm::Predictive | LargeAlgorithm::PredictiveDiscounted)
    }

    /// Whether it begins anew at its average now and then.
    fn restarts(self) -> bool {
        self == LargeAlgorithm::Restarting
    }

    /// The exponent of the discount of earlier regrets.
    fn discount(self) -> f64 {
        match self {
            LargeAlgorithm::PredictiveDiscounted => 2.3,
            _ => 1.5,
        }
    }

    /// The exponent of an iteration's weight in the average.
    fn averaging(self) -> i32 {
        match self {
            LargeAlgorithm::Predictive | LargeAlgorithm::PredictiveDiscounted => 5,
            LargeAlgorithm::Discounted => 2,
            LargeAlgorithm::Restarting => 1,
        }
    }
}

/// Regrets of some adjacent sequences.
#[derive(Default)]
struct Piece {
    /// The first sequence.
    start: usize,
    regret: Vec<f64>,
    /// Regrets of the last iteration, for algorithms that predict.
    last: Vec<f64>,
}

/// Solves a large game.
pub struct LargeSolver<'g> {
    game: &'g LargeGame,
    algorithm: LargeAlgorithm,
    threads: usize,
    iterations: u64,
    plans: [Vec<f64>; 2],
    averages: [Vec<f64>; 2],
    /// Regrets by player. A piece belongs to one task of a pass, or to one information set above the tasks.
    pieces: [Vec<Mutex<Piece>>; 2],
    starts: [Vec<usize>; 2],
    /// The symmetries that the strategies keep, and the trees of views up to them.
    subgroup: Subgroup,
    quotients: [Quotient; 2],
    restriction: Option<Restriction>,
    bias: Option<Bias>,
    best: Option<Best>,
    /// Since when the average is summed up.
    epoch: Epoch,
    /// Iterations after which the average was rated last, and its NashConv.
    rated_average: Option<(u64, f64)>,
    /// Entries visited so far.
    pub entries: u64,
    /// Memory for passes.
    buffers: Buffers,
}

/// A player that follows a model with some probability.
struct Restriction {
    player: usize,
    model: Vec<f64>,
    weight: f64,
}

/// A player that follows a model in each information set with a probability of its own.
struct Bias {
    player: usize,
    /// For each sequence: the probability of its move by the model, times the trust in the model there.
    trusted: Vec<f32>,
}

impl Bias {
    /// Makes a free choice of the moves from a sequence on what is played: the model's part comes first.
    fn mix(&self, sequence: usize, policy: &mut [f64]) {
        let trusted = &self.trusted[sequence..sequence + policy.len()];
        let free = 1.0 - trusted.iter().map(|&p| f64::from(p)).sum::<f64>();
        for (p, &trusted) in policy.iter_mut().zip(trusted) {
            *p = f64::from(trusted) + free * *p;
        }
    }
}

impl<'g> LargeSolver<'g> {
    /// At the uniform strategies. Results are the same for any number of threads.
    pub fn new(game: &'g LargeGame, algorithm: LargeAlgorithm, threads: usize) -> LargeSolver<'g> {
        let Profile { plans } = Profile::uniform(game);
        let mut solver = LargeSolver {
            starts: [Vec::new(), Vec::new()],
            pieces: [Vec::new(), Vec::new()],
            averages: [vec![0.0; plans[0].len()], vec![0.0; plans[1].len()]],
            plans,
            subgroup: TRIVIAL,
            quotients: game.quotients(TRIVIAL),
            game,
            algorithm,
            threads: threads.max(1),
            iterations: 0,
            restriction: None,
            bias: None,
            best: None,
            epoch: Epoch::FIRST,
            rated_average: None,
            entries: 0,
            buffers: Buffers::default(),
        };
        solver.keep(game.symmetries.as_ref().map_or(TRIVIAL, |s| s.group.all()));
        solver
    }

    /// Starts with no regrets, and strategies that keep some symmetries.
    fn keep(&mut self, subgroup: Subgroup) {
        self.subgroup = subgroup;
        self.quotients = self.game.quotients(subgroup);
        for player in 0..2 {
            let (views, quotient) = (&self.game.views[player], &self.quotients[player]);
            let mut pieces = Vec::new();
            let root = Place::root(views, quotient);
            cut(views, quotient, root, task_size(quotient), &mut |start, n| {
                pieces.push(Mutex::new(Piece {
                    start,
                    regret: vec![0.0; n],
                    last: match self.algorithm.predicts() {
                        true => vec![0.0; n],
                        false => Vec::new(),
                    },
                }));
            });
            self.starts[player] = pieces.iter().map(|p| lock(p).start).collect();
            self.pieces[player] = pieces;
        }
    }

    /// From now on a player follows a model with a probability of `weight`, and is free otherwise. The strategy of the
    /// other player approaches its restricted Nash response (Johanson, Zinkevich and Bowling, *Computing Robust
    /// Counter-Strategies*, 2007): for weight 0 an equilibrium strategy, for weight 1 the best response to the model,
    /// between them the best trade of gain against the model for loss in the worst case. To be called before the first
    /// iteration: symmetries that the model does not have are given up, and regrets with them.
    pub fn restrict(&mut self, player: usize, model: &Profile, weight: f64) {
        self.restriction = Some(Restriction {
            player,
            model: model.plans[player].clone(),
            weight: weight.clamp(0.0, 1.0),
        });
        let mut plans = [self.plans[0].as_slice(), self.plans[1].as_slice()];
        plans[player] = &model.plans[player];
        let subgroup = self.subgroup & self.game.symmetries_of(plans);
        if subgroup != self.subgroup {
            self.keep(subgroup);
        }
    }

    /// From now on a player follows a model in each information set with a probability of its own, and is free
    /// otherwise: the data-biased response of the other player (Johanson and Bowling, *Data Biased Robust Counter
    /// Strategies*, 2009). `trusted` has a number for each sequence, as [`Profile::policy`] is laid out: the
    /// probability of the move by the model, times the trust in the model. To be called before the first iteration:
    /// symmetries are given up, and regrets with them. Returns false if the number of sequences is not the game's.
    pub fn bias(&mut self, player: usize, trusted: Vec<f32>) -> bool {
        let fits = trusted.len() as u64 == self.game.views[player].root().sequences;
        if fits {
            self.bias = Some(Bias { player, trusted });
            if self.subgroup != TRIVIAL {
                self.keep(TRIVIAL);
            }
        }
        fits
    }

    /// Iterations so far.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// The algorithm.
    pub fn algorithm(&self) -> LargeAlgorithm {
        self.algorithm
    }

    /// One more iteration: an update of each player in turn. Returns false if the flag was raised; then the averages
    /// are those of the last complete update.
    pub fn iterate(&mut self, stop: &StopFlag, progress: &mut dyn FnMut(f64)) -> bool {
        if !self.restart_if_due(stop) {
            return false;
        }
        let iteration = self.iterations + 1;
        let n = self.game.graph.players.len();
        for player in 0..n {
            let (half_range, _) = self.game.half_and_middle(player);
            let rule = Rule::new(self.algorithm, iteration, self.epoch.start, NOISE * half_range);
            let free = &self.plans[1 - player];
            let mixed: Vec<f64> = match &self.restriction {
                Some(r) if r.player != player => {
                    let both = r.model.iter().zip(free);
                    both.map(|(model, free)| r.weight * model + (1.0 - r.weight) * free)
                        .collect()
                }
                _ => Vec::new(),
            };
            let pass = Pass {
                views: &self.game.views[player],
                quotient: &self.quotients[player],
                pairs: &self.game.pairs[1 - player],
                plan: if mixed.is_empty() { free } else { &mixed },
                half_range,
                done: None,
                buffers: &self.buffers,
                threads: self.threads,
                stop,
            };
            let (pieces, starts) = (&self.pieces[player], &self.starts[player]);
            let bias = self.bias.as_ref().filter(|bias| bias.player == player);
            let chooser = move |sequence: usize| -> Box<dyn Choice + '_> {
                let at = starts.partition_point(|&s| s <= sequence);
                match at.checked_sub(1) {
                    Some(at) => Box::new(Learned {
                        piece: lock(&pieces[at]),
                        rule,
                        bias,
                    }),
                    None => Box::new(Idle),
                }
            };
            let result = pass.run(&chooser, &mut |share| progress((player as f64 + share) / n as f64));
            self.entries += result.entries;
            if !result.complete {
                return false;
            }
            self.follow(player, rule);
        }
        self.iterations = iteration;
        true
    }

    /// Makes the regrets of a player its plan, and adds the plan to the average.
    fn follow(&mut self, player: usize, rule: Rule) {
        let views = &self.game.views[player];
        let mut jobs = Vec::new();
        let mut top = Vec::new();
        let quotient = &self.quotients[player];
        let spread = Spread {
            views,
            quotient,
            symmetries: self.game.symmetries.as_ref().map(|s| (&s.group, &s.actions[player])),
            size: task_size(quotient),
            pieces: &self.pieces[player],
            starts: &self.starts[player],
            rule,
            bias: self.bias.as_ref().filter(|bias| bias.player == player),
        };
        spread.visit(Twin::root(views, quotient), 1.0, &mut jobs, &mut top);
        let (plan, average) = (&mut self.plans[player], &mut self.averages[player]);
        for (slot, reach) in top {
            plan[slot] = reach;
            average[slot] += rule.weight * reach;
        }
        let mut rest: (&mut [f64], &mut [f64]) = (plan, average);
        let mut at = 0;
        let mut parts = Vec::with_capacity(jobs.len());
        for (twin, reach) in jobs {
            let n = views.classes[twin.class as usize].slots as usize;
            let (_, plan) = rest.0.split_at_mut(twin.slot - at);
            let (_, average) = rest.1.split_at_mut(twin.slot - at);
            let (plan, later_plan) = plan.split_at_mut(n);
            let (average, later_average) = average.split_at_mut(n);
            rest = (later_plan, later_average);
            at = twin.slot + n;
            parts.push((twin, reach, plan, average));
        }
        let parts = Mutex::new(parts);
        let work = || {
            while let Some((twin, reach, plan, average)) = parts.lock().unwrap_or_else(PoisonError::into_inner).pop() {
                spread.fill(twin, reach, plan);
                if reach == 0.0 {
                    continue;
                }
                average
                    .iter_mut()
                    .zip(&*plan)
                    .for_each(|(sum, p)| *sum += rule.weight * p);
            }
        };
        std::thread::scope(|scope| {
            (1..self.threads).for_each(|_| drop(scope.spawn(work)));
            work();
        });
    }

    /// What the average strategies are worth.
    pub fn rate(&self, stop: &StopFlag, progress: &mut dyn FnMut(f64)) -> LargeRating {
        self.rate_both([self.average_plan(0), self.average_plan(1)], stop, progress)
    }

    /// What the strategies of the last iteration are worth. They need not approach an equilibrium, but may.
    pub fn rate_last(&self, stop: &StopFlag, progress: &mut dyn FnMut(f64)) -> LargeRating {
        self.rate_both([&self.plans[0], &self.plans[1]], stop, progress)
    }

    fn rate_both(&self, plans: [&[f64]; 2], stop: &StopFlag, progress: &mut dyn FnMut(f64)) -> LargeRating {
        self.game
            .rate_plans(plans, &self.quotients, None, self.threads, stop, progress)
    }

    /// The sum of a player's strategies. A role that there is not, in a game of one role, is never updated.
    fn average_plan(&self, player: usize) -> &[f64] {
        match self.averages[player][0] > 0.0 {
            true => &self.averages[player],
            false => &self.plans[player],
        }
    }

    /// The average strategies.
    pub fn average(&self) -> Profile {
        let scaled = |sum: &[f64], plan: &[f64]| match sum[0] > 0.0 {
            true => sum.iter().map(|p| p / sum[0]).collect(),
            false => plan.to_vec(),
        };
        Profile {
            plans: [
                scaled(&self.averages[0], &self.plans[0]),
                scaled(&self.averages[1], &self.plans[1]),
            ],
        }
    }
}

fn lock(piece: &Mutex<Piece>) -> MutexGuard<'_, Piece> {
    piece.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cuts the sequences of a tree into pieces: one for each task of a pass, and one for each information set above them.
/// `piece` gets the first sequence and the number of sequences of each.
fn cut(views: &ViewGraph, quotient: &Quotient, at: Place, size: u64, piece: &mut dyn FnMut(usize, usize)) {
    let class = &views.classes[at.class as usize];
    let node = &quotient.nodes[at.node as usize];
    if node.infosets <= size {
        if class.sequences > 0 {
            piece(at.sequence, class.sequences as usize);
        }
        return;
    }
    if class.list.is_some() {
        piece(at.sequence, class.n_moves as usize);
    }
    for (number, (child, kid)) in class.children.iter().zip(&node.kids).enumerate() {
        if kid.stands as usize == number {
            cut(views, quotient, at.child(child, kid), size, piece);
        }
    }
}

/// Sequences of a player whose regrets are kept.
pub(super) fn kept_sequences(views: &ViewGraph, quotient: &Quotient) -> u64 {
    let mut sum = 0;
    let root = Place::root(views, quotient);
    cut(views, quotient, root, task_size(quotient), &mut |_, n| sum += n as u64);
    sum
}

/// Regret matching.
struct Learned<'a> {
    piece: MutexGuard<'a, Piece>,
    rule: Rule,
    bias: Option<&'a Bias>,
}

impl Choice for Learned<'_> {
    fn decide(&mut self, _views: &ViewGraph, at: Place, mass: f64, moves: &[Worth]) -> Worth {
        let Piece { start, regret, last } = &mut *self.piece;
        let range = at.sequence - *start..at.sequence - *start + moves.len();
        let regret = &mut regret[range.clone()];
        let mut policy: smallvec::SmallVec<[f64; 16]> = smallvec::SmallVec::new();
        policy.resize(moves.len(), 0.0);
        let last = last.get_mut(range).unwrap_or_default();
        self.rule.policy(regret, last, &mut policy);
        let value: f64 = policy.iter().zip(moves).map(|(p, m)| p * m.value).sum();
        let floor = self.rule.noise * mass;
        for (number, worth) in moves.iter().enumerate() {
            let mut gain = worth.value - value;
            if gain.abs() < floor {
                gain = 0.0;
            }
            regret[number] = self.rule.add(regret[number], gain);
            if let Some(last) = last.get_mut(number) {
                *last = gain;
            }
        }
        let value = match self.bias {
            None => value,
            Some(bias) => {
                bias.mix(at.sequence, &mut policy);
                policy.iter().zip(moves).map(|(p, m)| p * m.value).sum()
            }
        };
        Worth {
            low: 0.0,
            high: 0.0,
            value,
        }
    }

    /// Regrets do not change, and nothing was gained or lost last.
    fn skip(&mut self, views: &ViewGraph, at: Place) {
        let ViewClass { sequences, .. } = views.classes[at.class as usize];
        if sequences == 0 {
            return;
        }
        let Piece { start, regret, last } = &mut *self.piece;
        let range = at.sequence - *start..at.sequence - *start + sequences as usize;
        if let Some(last) = last.get_mut(range.clone()) {
            last.fill(0.0);
        }
        self.rule.pass_by(&mut regret[range]);
    }
}

/// A player that never chooses.
struct Idle;

impl Choice for Idle {
    fn decide(&mut self, _views: &ViewGraph, _at: Place, _mass: f64, moves: &[Worth]) -> Worth {
        moves.first().copied().unwrap_or_default()
    }

    fn skip(&mut self, _views: &ViewGraph, _at: Place) {}
}
