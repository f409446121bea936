//! The iteration of [`sweep`](crate::sweep) on several threads, the same to the bit for any number of them.
//!
//! The information sets of a player form a forest: each hangs on the sequence that leads to it. It is cut into *parts*, some
//! subtrees each, and a *top* that they hang on, which is small. Where the cuts are depends on the game alone. An update
//! of a player is then three steps, one after the other:
//!
//! 1. The parts, each on some thread: what its sequences gain, and up through its information sets as on one thread.
//! 2. The top, on one thread: up through its information sets, with what the parts below are worth; and down again with reach.
//! 3. The parts: down with reach.
//!
//! On a busy machine a helper that is kept from running costs more than it gives: then the leader goes on alone for a while.
//!
//! Every number is made from the same numbers in the same order as on one thread. Whoever takes a part has it to itself;
//! reach is what everybody reads, and is kept in atomics, which cost nothing to read.

use crate::form::{Form, Policy};
use crate::solver::Solver;
use crate::sweep::{Rule, update_set};
use crate::threads::Crew;
use crate::tree::Infoset;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Parts to cut the information sets of a player into, about, if there is enough to do in each.
const PARTS: usize = 64;

/// A solver by its rule.
pub(crate) struct SharedSweep<'a, R> {
    form: &'a Form<'a>,
    rule: R,
    threads: usize,
    iterations: u64,
    shares: Vec<Share>,
    tops: Vec<Top>,
    /// The reach of each sequence, as bits.
    reach: Vec<AtomicU64>,
    /// Calls of `iterate` for which nobody is asked to help.
    alone: u32,
    /// The same for the next time that helpers do not help.
    penalty: u32,
}

/// The most calls of `iterate` for which nobody is asked to help.
const MAX_PENALTY: u32 = 32;

/// A long wait costs about as much as helpers save in so many jobs.
const JOBS_PER_WAIT: u64 = 32;

/// What is shared out of a player.
struct Share {
    /// Subtrees first, then the gains of the top.
    parts: Vec<Mutex<Part>>,
    n_subtrees: usize,
    /// What the sets of parts are worth that hang on the top, as bits.
    worth: Vec<AtomicU64>,
    /// What each sequence of the top gains by itself, as bits.
    gains: Vec<AtomicU64>,
}

/// Some subtrees of a player's information sets.
#[derive(Default)]
struct Part {
    /// Each after those that lead to it.
    sets: Vec<Set>,
    /// Their sequences, those that are neighbours together.
    runs: Vec<Range<usize>>,
    numbers: Numbers,
    /// Instead: information sets of the top, of which only the gains are found here, and the place of the first sequence there.
    of_top: Option<usize>,
}

/// What is kept by sequence.
#[derive(Default)]
struct Numbers {
    gain: Vec<f64>,
    regret: Vec<f64>,
    policy: Vec<f64>,
    total: Vec<f64>,
}

/// An information set with its place in a part.
#[derive(Clone, Copy)]
struct Set {
    /// In the tree.
    of: Infoset,
    /// The place of its first sequence.
    first: usize,
    parent: Parent,
}

#[derive(Clone, Copy, PartialEq)]
enum Parent {
    /// The place of a sequence in the same part.
    Here(usize),
    /// A sequence of the top: this is the so-manieth of the sets that hang there.
    Above(usize),
    /// The empty sequence, of which nobody asks what it is worth.
    Nothing,
}

/// What the parts of a player hang on.
#[derive(Default)]
struct Top {
    sets: Vec<Set>,
    numbers: Numbers,
    /// Where values come from, in the order in which they are added up.
    climb: Vec<Climb>,
}

#[derive(Clone, Copy)]
enum Climb {
    /// One of its own sets.
    Set(usize),
    /// A set of a part, and the place of the sequence that it hangs on.
    Part { nth: usize, onto: usize },
}

impl Set {
    fn places(&self) -> Range<usize> {
        self.first..self.first + self.of.n as usize
    }
}

impl Numbers {
    /// Room for the sequences of another set, with a uniform strategy. Returns the place of the first.
    fn add(&mut self, n: usize) -> usize {
        let first = self.gain.len();
        self.policy.resize(first + n, 1.0 / n as f64);
        for kept in [&mut self.gain, &mut self.regret, &mut self.total] {
            kept.resize(first + n, 0.0);
        }
        first
    }

    fn update<R: Rule>(&mut self, set: &Set, rule: &R, reach: &[AtomicU64]) -> f64 {
        let places = set.places();
        update_set(
            rule,
            &self.gain[places.clone()],
            reach[set.of.sequences()].iter().map(read),
            &mut self.total[places.clone()],
            &mut self.regret[places.clone()],
            &mut self.policy[places],
        )
    }

    fn spread(&self, set: &Set, reach: &[AtomicU64]) {
        let here = read(&reach[set.of.parent as usize]);
        for (reach, p) in reach[set.of.sequences()].iter().zip(&self.policy[set.places()]) {
            write(reach, here * p);
        }
    }
}

#[inline]
fn read(cell: &AtomicU64) -> f64 {
    f64::from_bits(cell.load(Ordering::Relaxed))
}

#[inline]
fn write(cell: &AtomicU64, number: f64) {
    cell.store(number.to_bits(), Ordering::Relaxed);
}

impl Part {
    fn add(&mut self, set: Set) {
        let sequences = set.of.sequences();
        match self.runs.last_mut() {
            Some(run) if run.end == sequences.start => run.end = sequences.end,
            _ => self.runs.push(sequences),
        }
        self.sets.push(set);
    }

    fn up<R: Rule>(&mut self, form: &Form<'_>, player: usize, rule: &R, share: &Share, reach: &[AtomicU64]) {
        let mut rest = self.numbers.gain.as_mut_slice();
        for run in &self.runs {
            let (gain, later) = rest.split_at_mut(run.len());
            form.gain_of(player, run.clone(), |s| read(&reach[s as usize]), gain);
            rest = later;
        }
        if let Some(first) = self.of_top {
            let cells = share.gains[first..].iter();
            return cells
                .zip(&self.numbers.gain)
                .for_each(|(cell, gain)| write(cell, *gain));
        }
        for set in self.sets.iter().rev() {
            let value = self.numbers.update(set, rule, reach);
            match set.parent {
                Parent::Here(place) => self.numbers.gain[place] += value,
                Parent::Above(nth) => write(&share.worth[nth], value),
                Parent::Nothing => {}
            }
        }
    }

    fn down(&self, reach: &[AtomicU64]) {
        self.sets.iter().for_each(|set| self.numbers.spread(set, reach));
    }
}

impl Top {
    fn up<R: Rule>(&mut self, rule: &R, share: &Share, reach: &[AtomicU64]) {
        let gains = self.numbers.gain.iter_mut().zip(&share.gains);
        gains.for_each(|(gain, cell)| *gain = read(cell));
        for &climb in &self.climb {
            match climb {
                Climb::Part { nth, onto } => self.numbers.gain[onto] += read(&share.worth[nth]),
                Climb::Set(set) => {
                    let value = self.numbers.update(&self.sets[set], rule, reach);
                    if let Parent::Here(place) = self.sets[set].parent {
                        self.numbers.gain[place] += value;
                    }
                }
            }
        }
    }

    fn down(&self, reach: &[AtomicU64]) {
        self.sets.iter().for_each(|set| self.numbers.spread(set, reach));
    }
}

fn lock(part: &Mutex<Part>) -> MutexGuard<'_, Part> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the information sets of a player are cut.
struct Cut {
    /// For each of its information sets: in the top, or in which part.
    places: Vec<Place>,
    n_parts: usize,
    /// Work that makes a part.
    enough: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Top,
    Part(usize),
}

impl Cut {
    /// By the work that hangs on each information set: the top has more than a part should have.
    fn new(form: &Form<'_>, player: usize) -> Cut {
        let sets = form.infosets_of(player);
        let above = parents(form, player);
        let mut subtrees: Vec<usize> = sets.iter().map(|set| work_at(form, player, set)).collect();
        let total: usize = subtrees.iter().sum();
        for number in (0..sets.len()).rev() {
            if let Some(above) = above[number] {
                subtrees[above] += subtrees[number];
            }
        }
        let enough = (total / PARTS).max(form.threads().share);
        let (mut n_parts, mut filled) = (0, usize::MAX);
        let mut places: Vec<Place> = Vec::with_capacity(sets.len());
        for number in 0..sets.len() {
            let place = match above[number].map(|above| places[above]) {
                Some(part @ Place::Part(_)) => part,
                _ if subtrees[number] > enough => Place::Top,
                _ => {
                    if filled >= enough {
                        (n_parts, filled) = (n_parts + 1, 0);
                    }
                    filled += subtrees[number];
                    Place::Part(n_parts - 1)
                }
            };
            places.push(place);
        }
        Cut {
            places,
            n_parts,
            enough,
        }
    }
}

/// How much there is to do at an information set, in rows.
fn work_at(form: &Form<'_>, player: usize, set: &Infoset) -> usize {
    form.n_rows(player, set.sequences()) + 4 * set.n as usize
}

/// For each information set of a player, the one that the sequence before belongs to.
fn parents(form: &Form<'_>, player: usize) -> Vec<Option<usize>> {
    let empty = form.tree().empty_sequence(player);
    let sets = form.infosets_of(player);
    let mut owner: Vec<Option<usize>> = vec![None];
    for (number, set) in sets.iter().enumerate() {
        owner.resize(owner.len() + set.n as usize, Some(number));
    }
    sets.iter().map(|set| owner[set.parent as usize - empty]).collect()
}

/// Lays out what belongs to a player as it was cut.
fn lay_out(form: &Form<'_>, player: usize) -> (Share, Top) {
    let cut = Cut::new(form, player);
    let above = parents(form, player);
    let sets = form.infosets_of(player);
    let mut parts: Vec<Part> = (0..cut.n_parts).map(|_| Part::default()).collect();
    let mut top = Top::default();
    let mut n_hanging = 0;
    // The place of the first sequence of each set, in its part or in the top.
    let mut firsts: Vec<usize> = Vec::with_capacity(sets.len());
    for (number, of) in sets.iter().enumerate() {
        let onto = |above: usize| firsts[above] + (of.parent - sets[above].first) as usize;
        let mut set = Set {
            of: *of,
            first: 0,
            parent: Parent::Nothing,
        };
        match cut.places[number] {
            Place::Top => {
                set.first = top.numbers.add(of.n as usize);
                if let Some(above) = above[number] {
                    set.parent = Parent::Here(onto(above));
                }
                top.climb.push(Climb::Set(top.sets.len()));
                top.sets.push(set);
            }
            Place::Part(at) => {
                let part = &mut parts[at];
                set.first = part.numbers.add(of.n as usize);
                set.parent = match above[number] {
                    Some(above) if cut.places[above] == Place::Top => {
                        let (nth, onto) = (n_hanging, onto(above));
                        top.climb.push(Climb::Part { nth, onto });
                        n_hanging += 1;
                        Parent::Above(nth)
                    }
                    Some(above) => Parent::Here(onto(above)),
                    None => Parent::Nothing,
                };
                part.add(set);
            }
        }
        firsts.push(set.first);
    }
    // As on one thread: from the last set to the first.
    top.climb.reverse();
    parts.extend(gains_of_top(form, player, &top, cut.enough));
    let cells = |n: usize| (0..n).map(|_| AtomicU64::new(0)).collect();
    let share = Share {
        n_subtrees: cut.n_parts,
        parts: parts.into_iter().map(Mutex::new).collect(),
        worth: cells(n_hanging),
        gains: cells(top.numbers.gain.len()),
    };
    (share, top)
}

/// Parts in which the gains of the top are found.
fn gains_of_top(form: &Form<'_>, player: usize, top: &Top, enough: usize) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut filled = usize::MAX;
    for set in &top.sets {
        if filled >= enough {
            filled = 0;
            parts.push(Part {
                of_top: Some(set.first),
                ..Part::default()
            });
        }
        filled += work_at(form, player, &set.of);
        if let Some(part) = parts.last_mut() {
            let first = part.numbers.add(set.of.n as usize);
            part.add(Set { first, ..*set });
        }
    }
    parts
}

impl<'a, R: Rule> SharedSweep<'a, R> {
    pub fn new(form: &'a Form<'a>, rule: R, threads: usize) -> SharedSweep<'a, R> {
        let players = 0..form.tree().players.len();
        let (shares, tops) = players.map(|player| lay_out(form, player)).unzip();
        let reach = form.reach_all(&Policy::uniform(form.tree()));
        SharedSweep {
            form,
            rule,
            threads,
            iterations: 0,
            shares,
            tops,
            reach: reach.into_iter().map(|p| AtomicU64::new(p.to_bits())).collect(),
            alone: 0,
            penalty: 1,
        }
    }
}

/// What all threads see.
#[derive(Clone, Copy)]
struct Shared<'a> {
    form: &'a Form<'a>,
    shares: &'a [Share],
    reach: &'a [AtomicU64],
    /// Iterations before.
    before: u64,
}

/// What a job is about: jobs are numbered from 1 through all iterations.
struct Job {
    iteration: u64,
    player: usize,
    up: bool,
}

impl Shared<'_> {
    fn job(&self, number: u64) -> Job {
        let (number, n_players) = (number - 1, self.shares.len() as u64);
        Job {
            iteration: self.before + number / 2 / n_players + 1,
            player: (number / 2 % n_players) as usize,
            up: number % 2 == 0,
        }
    }

    fn n_parts(&self, player: usize, up: bool) -> usize {
        match up {
            true => self.shares[player].parts.len(),
            false => self.shares[player].n_subtrees,
        }
    }

    fn up<R: Rule>(&self, player: usize, part: usize, rule: &R) {
        let share = &self.shares[player];
        lock(&share.parts[part]).up(self.form, player, rule, share, self.reach);
    }

    fn down(&self, player: usize, part: usize) {
        lock(&self.shares[player].parts[part]).down(self.reach);
    }

    /// Returns whether helpers were worth it until the end.
    fn lead<R: Rule>(&self, crew: &Crew, n: u64, mut rule: R, tops: &mut [Top]) -> bool {
        let (mut number, mut waits) = (0, 0);
        let mut worth_it = true;
        for iteration in self.before + 1..=self.before + n {
            rule.begin(iteration);
            for (player, top) in tops.iter_mut().enumerate() {
                let n_parts = |up| self.n_parts(player, up);
                let long = crew.lead(number + 1, n_parts(true), |part| self.up(player, part, &rule));
                waits += u64::from(long);
                top.up(&rule, &self.shares[player], self.reach);
                top.down(self.reach);
                let long = crew.lead(number + 2, n_parts(false), |part| self.down(player, part));
                waits += u64::from(long);
                number += 2;
            }
            if worth_it && waits > 1 && waits * JOBS_PER_WAIT > number {
                worth_it = false;
                crew.dismiss();
            }
        }
        worth_it
    }

    fn help<R: Rule>(&self, crew: &Crew, mut rule: R) {
        let mut begun = 0;
        let n_parts = |number| match number {
            0 => 0,
            number => {
                let Job { player, up, .. } = self.job(number);
                self.n_parts(player, up)
            }
        };
        crew.help(n_parts, |number, part| {
            let Job { iteration, player, up } = self.job(number);
            if begun != iteration {
                rule.begin(iteration);
                begun = iteration;
            }
            match up {
                true => self.up(player, part, &rule),
                false => self.down(player, part),
            }
        });
    }
}

impl<R: Rule> Solver for SharedSweep<'_, R> {
    fn iterate(&mut self, n: u64) {
        let crew = Crew::new();
        let (rule, tops) = (self.rule, &mut self.tops);
        let shared = Shared {
            form: self.form,
            shares: &self.shares,
            reach: &self.reach,
            before: self.iterations,
        };
        let helpers = if self.alone > 0 { 0 } else { self.threads - 1 };
        self.alone = self.alone.saturating_sub(1);
        let worth_it = std::thread::scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|| shared.help(&crew, rule));
            }
            let _home = crew.dismissal();
            shared.lead(&crew, n, rule, tops)
        });
        if !worth_it {
            (self.alone, self.penalty) = (self.penalty, (self.penalty * 2).min(MAX_PENALTY));
        } else if helpers > 0 {
            self.penalty = (self.penalty / 2).max(1);
        }
        self.iterations += n;
    }

    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn average(&self) -> Policy {
        let mut totals = vec![0.0; self.form.tree().n_sequences()];
        let mut copy = |sets: &[Set], numbers: &Numbers| {
            for set in sets {
                totals[set.of.sequences()].copy_from_slice(&numbers.total[set.places()]);
            }
        };
        for share in &self.shares {
            let parts = share.parts[..share.n_subtrees].iter().map(lock);
            parts.for_each(|part| copy(&part.sets, &part.numbers));
        }
        self.tops.iter().for_each(|top| copy(&top.sets, &top.numbers));
        Policy::proportional(self.form.tree(), &totals)
    }
}
