//! Regret minimisation over all information sets of a large game, in passes.
//!
//! Predictive CFR+ (Farina, Kroer and Sandholm, *Faster Game Solving via Predictive Blackwell Approachability*, 2021):
//! regret matching+ to the accumulated regrets plus the regrets of the last iteration, which predict those of the next;
//! the roles are updated in turn, and iteration t has weight t² in the average. Discounted CFR (Brown and Sandholm
//! 2019) is there for comparison. Differences from the papers:
//!
//! - Regrets below [`NOISE`] of the payoffs that can still be reached count as 0. Without this floor rounding becomes
//!   strategy where moves tie.
//! - Histories that the other role never plays are skipped. That is exact: they add nothing to any regret.
//!
//! Averages are kept as realization plans, so that rating the average needs no conversion.

use super::pass::{Choice, Pass, Place, Worth, task_size};
use super::profile::Profile;
use super::views::{ViewClass, ViewGraph};
use super::{LargeGame, LargeRating};
use game::StopFlag;
use std::fmt;
use std::io::{self, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Share of the payoffs below which a regret is rounding.
const NOISE: f64 = 1e-11;

/// Which algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LargeAlgorithm {
    /// Predictive CFR+.
    #[default]
    Predictive,
    /// Discounted CFR with exponents 1.5, 0 and 2.
    Discounted,
}

impl LargeAlgorithm {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            LargeAlgorithm::Predictive => "pcfr+",
            LargeAlgorithm::Discounted => "discounted",
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
    restriction: Option<Restriction>,
    bias: Option<Bias>,
    /// Entries visited so far.
    pub entries: u64,
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

/// Why a checkpoint cannot be used.
#[derive(Debug)]
pub enum RestoreError {
    /// It could not be read.
    Io(io::Error),
    /// It is of another game, algorithm or version, or something else.
    Foreign(&'static str),
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestoreError::Io(error) => write!(f, "{error}"),
            RestoreError::Foreign(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for RestoreError {}

impl From<io::Error> for RestoreError {
    fn from(error: io::Error) -> Self {
        RestoreError::Io(error)
    }
}

/// First bytes of a checkpoint.
const MAGIC: &[u8; 8] = b"SURMLRG1";

impl<'g> LargeSolver<'g> {
    /// At the uniform strategies. Results are the same for any number of threads.
    pub fn new(game: &'g LargeGame, algorithm: LargeAlgorithm, threads: usize) -> LargeSolver<'g> {
        let Profile { plans } = Profile::uniform(game);
        let mut pieces = [Vec::new(), Vec::new()];
        for (player, pieces) in pieces.iter_mut().enumerate() {
            let views = &game.views[player];
            cut(views, root(views), task_size(views), algorithm, pieces);
        }
        let starts = |pieces: &[Mutex<Piece>]| pieces.iter().map(|p| lock(p).start).collect();
        LargeSolver {
            starts: [starts(&pieces[0]), starts(&pieces[1])],
            averages: [vec![0.0; plans[0].len()], vec![0.0; plans[1].len()]],
            plans,
            pieces,
            game,
            algorithm,
            threads: threads.max(1),
            iterations: 0,
            restriction: None,
            bias: None,
            entries: 0,
        }
    }

    /// From now on a player follows a model with a probability of `weight`, and is free otherwise. The strategy of the
    /// other player approaches its restricted Nash response (Johanson, Zinkevich and Bowling, *Computing Robust
    /// Counter-Strategies*, 2007): for weight 0 an equilibrium strategy, for weight 1 the best response to the model,
    /// between them the best trade of gain against the model for loss in the worst case.
    pub fn restrict(&mut self, player: usize, model: &Profile, weight: f64) {
        self.restriction = Some(Restriction {
            player,
            model: model.plans[player].clone(),
            weight: weight.clamp(0.0, 1.0),
        });
    }

    /// From now on a player follows a model in each information set with a probability of its own, and is free
    /// otherwise: the data-biased response of the other player (Johanson and Bowling, *Data Biased Robust Counter
    /// Strategies*, 2009). `trusted` has a number for each sequence, as [`Profile::policy`] is laid out: the probability
    /// of the move by the model, times the trust in the model. Returns false if their number is not that of the game.
    pub fn bias(&mut self, player: usize, trusted: Vec<f32>) -> bool {
        let fits = trusted.len() as u64 == self.game.views[player].root().sequences;
        if fits {
            self.bias = Some(Bias { player, trusted });
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
        let iteration = self.iterations + 1;
        let n = self.game.graph.players.len();
        for player in 0..n {
            let (half_range, _) = self.game.half_and_middle(player);
            let rule = Rule::new(self.algorithm, iteration, NOISE * half_range);
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
                pairs: &self.game.pairs[1 - player],
                plan: if mixed.is_empty() { free } else { &mixed },
                half_range,
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
        let spread = Spread {
            views,
            size: task_size(views),
            pieces: &self.pieces[player],
            starts: &self.starts[player],
            rule,
            bias: self.bias.as_ref().filter(|bias| bias.player == player),
        };
        spread.visit(root(views), 1.0, &mut jobs, &mut top);
        let (plan, average) = (&mut self.plans[player], &mut self.averages[player]);
        for (slot, reach) in top {
            plan[slot] = reach;
            average[slot] += rule.weight * reach;
        }
        let mut rest: (&mut [f64], &mut [f64]) = (plan, average);
        let mut at = 0;
        let mut parts = Vec::with_capacity(jobs.len());
        for (place, reach) in jobs {
            let n = views.classes[place.class as usize].slots as usize;
            let (_, plan) = rest.0.split_at_mut(place.slot - at);
            let (_, average) = rest.1.split_at_mut(place.slot - at);
            let (plan, later_plan) = plan.split_at_mut(n);
            let (average, later_average) = average.split_at_mut(n);
            rest = (later_plan, later_average);
            at = place.slot + n;
            parts.push((place, reach, plan, average));
        }
        let parts = Mutex::new(parts);
        let work = || {
            while let Some((place, reach, plan, average)) = parts.lock().unwrap_or_else(PoisonError::into_inner).pop() {
                spread.fill(place, reach, plan);
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
        let plans = match self.iterations {
            0 => &self.plans,
            _ => &self.averages,
        };
        self.game
            .rate_plans([&plans[0], &plans[1]], self.threads, stop, progress)
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

    /// Writes everything that is needed to go on later.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(MAGIC)?;
        out.write_all(&self.game.fingerprint().to_le_bytes())?;
        out.write_all(&[self.algorithm as u8])?;
        out.write_all(&self.iterations.to_le_bytes())?;
        out.write_all(&self.entries.to_le_bytes())?;
        for player in 0..2 {
            for piece in &self.pieces[player] {
                let piece = lock(piece);
                write_numbers(out, &piece.regret)?;
                write_numbers(out, &piece.last)?;
            }
            write_numbers(out, &self.averages[player])?;
        }
        Ok(())
    }

    /// Goes on where a solver of the same game and algorithm was saved.
    ///
    /// # Errors
    /// If it cannot be read, or belongs to something else. The solver is then as new.
    pub fn restore(&mut self, from: &mut dyn Read) -> Result<(), RestoreError> {
        let restored = self.try_restore(from);
        if restored.is_err() {
            *self = LargeSolver::new(self.game, self.algorithm, self.threads);
        }
        restored
    }

    fn try_restore(&mut self, from: &mut dyn Read) -> Result<(), RestoreError> {
        let mut magic = [0; 8];
        from.read_exact(&mut magic)?;
        if magic != *MAGIC {
            return Err(RestoreError::Foreign("it is no checkpoint of a large game"));
        }
        if read_number(from)? != self.game.fingerprint() {
            return Err(RestoreError::Foreign("it is a checkpoint of another game"));
        }
        let mut algorithm = [0];
        from.read_exact(&mut algorithm)?;
        if algorithm[0] != self.algorithm as u8 {
            return Err(RestoreError::Foreign("it is a checkpoint of another algorithm"));
        }
        self.iterations = read_number(from)?;
        self.entries = read_number(from)?;
        for player in 0..2 {
            for piece in &self.pieces[player] {
                let mut piece = lock(piece);
                read_numbers(from, &mut piece.regret)?;
                read_numbers(from, &mut piece.last)?;
            }
            read_numbers(from, &mut self.averages[player])?;
        }
        for player in 0..2 {
            let rule = Rule {
                weight: 0.0,
                ..Rule::new(self.algorithm, self.iterations, 0.0)
            };
            self.follow(player, rule);
        }
        let mut more = [0];
        match from.read(&mut more)? {
            0 => Ok(()),
            _ => Err(RestoreError::Foreign("it is longer than a checkpoint of this game")),
        }
    }
}

fn write_numbers(out: &mut dyn Write, numbers: &[f64]) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(8 * 4096);
    for part in numbers.chunks(4096) {
        buffer.clear();
        part.iter().for_each(|x| buffer.extend_from_slice(&x.to_le_bytes()));
        out.write_all(&buffer)?;
    }
    Ok(())
}

fn read_number(from: &mut dyn Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn read_numbers(from: &mut dyn Read, numbers: &mut [f64]) -> Result<(), RestoreError> {
    let mut buffer = vec![0; 8 * 4096];
    for part in numbers.chunks_mut(4096) {
        let bytes = &mut buffer[..8 * part.len()];
        from.read_exact(bytes)?;
        for (number, bytes) in part.iter_mut().zip(bytes.chunks_exact(8)) {
            let mut eight = [0; 8];
            eight.copy_from_slice(bytes);
            *number = f64::from_le_bytes(eight);
            if !number.is_finite() {
                return Err(RestoreError::Foreign("it holds numbers that are not finite"));
            }
        }
    }
    Ok(())
}

fn lock(piece: &Mutex<Piece>) -> MutexGuard<'_, Piece> {
    piece.lock().unwrap_or_else(PoisonError::into_inner)
}

fn root(views: &ViewGraph) -> Place {
    Place {
        class: views.root,
        slot: 0,
        sequence: 0,
    }
}

/// Cuts the sequences of a tree into pieces: one for each task of a pass, and one for each information set above them.
fn cut(views: &ViewGraph, at: Place, size: u64, algorithm: LargeAlgorithm, pieces: &mut Vec<Mutex<Piece>>) {
    let class = &views.classes[at.class as usize];
    let piece = |n: usize| {
        Mutex::new(Piece {
            start: at.sequence,
            regret: vec![0.0; n],
            last: match algorithm {
                LargeAlgorithm::Predictive => vec![0.0; n],
                LargeAlgorithm::Discounted => Vec::new(),
            },
        })
    };
    if class.infosets <= size {
        if class.sequences > 0 {
            pieces.push(piece(class.sequences as usize));
        }
        return;
    }
    if class.list.is_some() {
        pieces.push(piece(class.n_moves as usize));
    }
    for child in &class.children {
        cut(views, at.child(child), size, algorithm, pieces);
    }
}

/// The update of an information set in one iteration.
#[derive(Clone, Copy)]
struct Rule {
    algorithm: LargeAlgorithm,
    /// Weight of the iteration in the average.
    weight: f64,
    /// Regrets below this share of the mass are rounding.
    noise: f64,
    positive: f64,
    negative: f64,
}

impl Rule {
    fn new(algorithm: LargeAlgorithm, iteration: u64, noise: f64) -> Rule {
        let before = iteration.saturating_sub(1) as f64;
        let power = before.powf(1.5);
        Rule {
            algorithm,
            weight: (iteration as f64).powi(2),
            noise,
            positive: power / (power + 1.0),
            negative: 0.5,
        }
    }

    /// The strategy of the next iteration.
    fn policy(&self, regret: &[f64], last: &[f64], policy: &mut [f64]) {
        match self.algorithm {
            LargeAlgorithm::Predictive => {
                let sums = regret.iter().zip(last).map(|(r, l)| (r + l).max(0.0));
                policy.iter_mut().zip(sums).for_each(|(p, sum)| *p = sum);
            }
            LargeAlgorithm::Discounted => {
                policy.iter_mut().zip(regret).for_each(|(p, r)| *p = r.max(0.0));
            }
        }
        game::regret::normalise(policy);
    }
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
        let mut policy: smallvec::SmallVec<[f64; 16]> = smallvec::smallvec![0.0; moves.len()];
        let last = last.get_mut(range).unwrap_or_default();
        self.rule.policy(regret, last, &mut policy);
        let value: f64 = policy.iter().zip(moves).map(|(p, m)| p * m.value).sum();
        let floor = self.rule.noise * mass;
        for (number, worth) in moves.iter().enumerate() {
            let mut gain = worth.value - value;
            if gain.abs() < floor {
                gain = 0.0;
            }
            let before = regret[number];
            match self.rule.algorithm {
                LargeAlgorithm::Predictive => {
                    regret[number] = (before + gain).max(0.0);
                    last[number] = gain;
                }
                LargeAlgorithm::Discounted => {
                    let discount = if before > 0.0 {
                        self.rule.positive
                    } else {
                        self.rule.negative
                    };
                    regret[number] = before * discount + gain;
                }
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
        match self.rule.algorithm {
            LargeAlgorithm::Predictive => last[range].fill(0.0),
            LargeAlgorithm::Discounted => {
                for regret in &mut regret[range] {
                    *regret *= if *regret > 0.0 {
                        self.rule.positive
                    } else {
                        self.rule.negative
                    };
                }
            }
        }
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

/// Makes a plan of regrets.
struct Spread<'a> {
    views: &'a ViewGraph,
    size: u64,
    pieces: &'a [Mutex<Piece>],
    starts: &'a [usize],
    rule: Rule,
    bias: Option<&'a Bias>,
}

impl Spread<'_> {
    /// The strategy of an information set.
    fn policy(&self, sequence: usize, policy: &mut [f64]) {
        let at = self.starts.partition_point(|&s| s <= sequence).saturating_sub(1);
        let piece = lock(&self.pieces[at]);
        let range = sequence - piece.start..sequence - piece.start + policy.len();
        let last = piece.last.get(range.clone()).unwrap_or_default();
        self.rule.policy(&piece.regret[range], last, policy);
        if let Some(bias) = self.bias {
            bias.mix(sequence, policy);
        }
    }

    /// Collects subtrees of at most `size` information sets with their reach, and slots above them with their reach.
    fn visit(&self, at: Place, reach: f64, jobs: &mut Vec<(Place, f64)>, top: &mut Vec<(usize, f64)>) {
        let class = &self.views.classes[at.class as usize];
        if class.infosets <= self.size {
            jobs.push((at, reach));
            return;
        }
        if class.list.is_some() || class.children.len() != 1 {
            top.push((at.slot, reach));
        }
        let mut policy = vec![0.0; class.n_moves as usize];
        if class.list.is_some() {
            self.policy(at.sequence, &mut policy);
        }
        for child in &class.children {
            let reach = reach * policy.get(usize::from(child.action)).unwrap_or(&1.0);
            self.visit(at.child(child), reach, jobs, top);
        }
    }

    /// The plan of a subtree.
    fn fill(&self, at: Place, reach: f64, plan: &mut [f64]) {
        let class = &self.views.classes[at.class as usize];
        if class.sequences == 0 {
            return self.views.plan_below(at.class, 0, 0, reach, plan, &mut |_, _| {});
        }
        let number = self.starts.partition_point(|&s| s <= at.sequence).saturating_sub(1);
        let piece = lock(&self.pieces[number]);
        let before = at.sequence - piece.start;
        self.views
            .plan_below(at.class, 0, 0, reach, plan, &mut |sequence, policy| {
                let range = before + sequence..before + sequence + policy.len();
                let last = piece.last.get(range.clone()).unwrap_or_default();
                self.rule.policy(&piece.regret[range], last, policy);
                if let Some(bias) = self.bias {
                    bias.mix(at.sequence + sequence, policy);
                }
            });
    }
}
