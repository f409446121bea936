//! Families of fluents of which at most one holds in any reachable state: the contents of a cell, whose turn it is.
//!
//! Candidates are fluents whose names differ in one argument only. Random games refute many of them. The others are
//! proven by induction: at most one fluent holds initially, and no two fluents of a family can follow together from an
//! unfinished state in which all families are exclusive.

use super::needed;
use super::prove::Prover;
use crate::guard::reads_by_legal;
use crate::lanes::cell::LANES;
use crate::lanes::plan::moves_in_turn;
use crate::network::{Choice, Network, Node, NodeId, Signal};
use crate::tuning::Bounds;
use game::canonical::parts;
use rustc_hash::FxHashMap;

/// Families (as fluents) that are proven to be exclusive. `sampled` holds random reachable states.
pub(crate) fn exclusive_families(
    net: &Network,
    names: &[String],
    initial: &[bool],
    sampled: &Samples,
    bounds: &Bounds,
) -> Vec<Vec<u32>> {
    let mut candidates = candidates(names);
    candidates
        .retain(|family| family.iter().filter(|&&f| initial[f as usize]).count() < 2 && sampled.exclusive(family));
    // Every fluent belongs to one family only; the largest family comes first.
    candidates.sort_by_key(|family| (std::cmp::Reverse(family.len()), family[0]));
    let mut taken = vec![false; names.len()];
    let phases: Vec<Vec<u32>> = phases(net, initial, sampled, bounds)
        .into_iter()
        .find_map(|family| prove(net, vec![family], bounds).pop())
        .into_iter()
        .collect();
    phases.iter().flatten().for_each(|&f| taken[f as usize] = true);
    let mut families: Vec<Vec<u32>> = Vec::new();
    for family in candidates {
        let left: Vec<u32> = family.into_iter().filter(|&f| !taken[f as usize]).collect();
        if left.len() > 1 {
            left.iter().for_each(|&f| taken[f as usize] = true);
            families.push(left);
        }
    }
    families.sort_by_key(|family| (family.len(), family[0]));
    let mut proven = prove_beside(net, families, &phases, bounds);
    proven.splice(0..0, phases);
    proven
}

/// Families that say whose turn it is: exclusive fluents that legal moves read most. Their names may differ, so the
/// search has several starting points. The families that cover most moves come first.
fn phases(net: &Network, initial: &[bool], sampled: &Samples, bounds: &Bounds) -> Vec<Vec<u32>> {
    const MOST_READ: usize = 64;
    const STARTS: usize = 16;
    let reads = reads_by_legal(net);
    let count = |f: &u32| reads[net.fluent(*f as usize).node().0 as usize];
    // A fluent that never held in the samples gives no evidence.
    let held = |f: &u32| sampled.words[*f as usize].iter().any(|&w| w != 0);
    let mut fluents: Vec<u32> = (0..net.n_fluents() as u32)
        .filter(|f| count(f) > 0 && held(f))
        .collect();
    fluents.sort_by_key(|f| (std::cmp::Reverse(count(f)), *f));
    fluents.truncate(MOST_READ);
    let mut families: Vec<(usize, Vec<u32>)> = Vec::new();
    for &start in fluents.iter().take(STARTS).take_while(|_| !bounds.is_stopped()) {
        let family = grow(start, &fluents, initial, sampled);
        if family.len() > 1 && families.iter().all(|(_, known)| *known != family) {
            let choice = as_choices(net, std::slice::from_ref(&family)).remove(0);
            families.push((moves_in_turn(net, &choice, bounds), family));
        }
    }
    families.retain(|(moves, _)| *moves > 0);
    families.sort_by_key(|(moves, family)| (std::cmp::Reverse(*moves), family.len()));
    families.into_iter().take(4).map(|(_, family)| family).collect()
}

/// The first fluent and all others that exclude it and each other in the samples, in order.
fn grow(start: u32, fluents: &[u32], initial: &[bool], sampled: &Samples) -> Vec<u32> {
    const LARGEST: usize = 32;
    let mut family = vec![start];
    let mut seen = sampled.words[start as usize].clone();
    let mut initially = initial[start as usize];
    for &f in fluents.iter().filter(|&&f| f != start) {
        let words = &sampled.words[f as usize];
        let clash = seen.iter().zip(words).any(|(a, b)| a & b != 0) || (initially && initial[f as usize]);
        if !clash && family.len() < LARGEST {
            seen.iter_mut().zip(words).for_each(|(a, b)| *a |= b);
            initially |= initial[f as usize];
            family.push(f);
        }
    }
    family.sort_unstable();
    family
}

/// Words of samples that are evaluated together: a step of the random games.
const WORDS: usize = LANES / 64;

/// All bits where a signal is a complement.
fn flip(signal: Signal) -> u64 {
    if signal.is_complement() { !0 } else { 0 }
}

/// Random reachable states, bit-sliced: per fluent, the samples in which it holds.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Per fluent.
    pub words: Vec<Vec<u64>>,
}

impl Samples {
    /// Part of the samples in which each fluent holds.
    pub fn frequencies(&self) -> Vec<f32> {
        let often = |words: &Vec<u64>| {
            let held: u32 = words.iter().map(|w| w.count_ones()).sum();
            held as f32 / (words.len() * 64).max(1) as f32
        };
        self.words.iter().map(often).collect()
    }

    /// Part of the steps in which each fluent changes, starts of new games included.
    pub fn changes(&self) -> Vec<f32> {
        let often = |words: &Vec<u64>| {
            let pairs = words.iter().zip(words.iter().skip(WORDS));
            let changed: u32 = pairs.map(|(before, after)| (before ^ after).count_ones()).sum();
            changed as f32 / (words.len().saturating_sub(WORDS) * 64).max(1) as f32
        };
        self.words.iter().map(often).collect()
    }

    /// The move that each role most often has as its only one, if it ever has only one; `None` if the work was stopped.
    /// Looks at one in `every` steps.
    pub(crate) fn noop_moves(&self, net: &Network, every: usize, bounds: &Bounds) -> Option<Vec<Option<u32>>> {
        let n = self.words.first().map_or(0, Vec::len);
        let rows = &net.outputs.legal;
        let roots: Vec<Signal> = rows.iter().flatten().copied().collect();
        let cone = needed(net, &roots);
        let cone: Vec<NodeId> = (1..net.len())
            .filter(|&at| cone[at])
            .map(|at| NodeId(at as u32))
            .collect();
        let mut values = vec![[0_u64; WORDS]; net.len()];
        let mut only = rows.iter().map(|row| vec![0_u32; row.len()]).collect::<Vec<_>>();
        for first in (0..n).step_by(WORDS * every) {
            bounds.go_on()?;
            self.evaluate(net, &cone, first, &mut values);
            for (row, only) in rows.iter().zip(&mut only) {
                for at in (0..WORDS).take(n - first) {
                    let legal = |&s: &Signal| values[s.node().0 as usize][at] ^ flip(s);
                    let (mut any, mut many) = (0, 0);
                    for word in row.iter().map(legal) {
                        many |= any & word;
                        any |= word;
                    }
                    if any & !many == 0 {
                        continue;
                    }
                    let counts = only.iter_mut().zip(row.iter().map(legal));
                    counts.for_each(|(n, word)| *n += (word & !many).count_ones());
                }
            }
        }
        let best = |row: &Vec<u32>| (0..row.len()).max_by_key(|&m| (row[m], std::cmp::Reverse(m)));
        let moves = only
            .iter()
            .map(|row| best(row).filter(|&m| row[m] > 0).map(|m| m as u32));
        Some(moves.collect())
    }

    /// The values of these nodes in a few words of samples.
    fn evaluate(&self, net: &Network, cone: &[NodeId], first: usize, values: &mut [[u64; WORDS]]) {
        for &id in cone {
            let mut value = [0; WORDS];
            match net.node(id) {
                Node::Fluent(f) => {
                    let words = &self.words[f as usize][first..];
                    value.iter_mut().zip(words).for_each(|(to, &word)| *to = word);
                }
                Node::And => {
                    value = [!0; WORDS];
                    for &s in net.operands(id) {
                        let (operand, flip) = (values[s.node().0 as usize], flip(s));
                        value.iter_mut().zip(operand).for_each(|(to, word)| *to &= word ^ flip);
                    }
                }
                _ => {}
            }
            values[id.0 as usize] = value;
        }
    }

    fn exclusive(&self, family: &[u32]) -> bool {
        let n = self.words.first().map_or(0, Vec::len);
        let mut seen = vec![0; n];
        for &f in family {
            for (seen, word) in seen.iter_mut().zip(&self.words[f as usize]) {
                if *seen & word != 0 {
                    return false;
                }
                *seen |= word;
            }
        }
        true
    }
}

/// Fluents whose names differ in one argument only.
fn candidates(names: &[String]) -> Vec<Vec<u32>> {
    let mut groups: FxHashMap<String, Vec<u32>> = FxHashMap::default();
    for (f, name) in names.iter().enumerate() {
        let parts = parts(name);
        for hole in 1..parts.len() {
            let key: Vec<&str> = parts
                .iter()
                .enumerate()
                .map(|(at, p)| if at == hole { "_" } else { *p })
                .collect();
            groups.entry(key.join(" ")).or_default().push(f as u32);
        }
    }
    let mut families: Vec<(String, Vec<u32>)> = groups.into_iter().filter(|(_, g)| g.len() > 1).collect();
    families.sort_unstable();
    families.into_iter().map(|(_, family)| family).collect()
}

fn prove(net: &Network, families: Vec<Vec<u32>>, bounds: &Bounds) -> Vec<Vec<u32>> {
    prove_beside(net, families, &[], bounds)
}

/// The families that are preserved, given some that are proven already.
fn prove_beside(net: &Network, families: Vec<Vec<u32>>, known: &[Vec<u32>], bounds: &Bounds) -> Vec<Vec<u32>> {
    let nodes: Vec<Vec<NodeId>> = families
        .iter()
        .chain(known)
        .map(|family| family.iter().map(|&f| net.fluent(f as usize).node()).collect())
        .collect();
    let mut prover = Prover::new(net, nodes, *bounds);
    (families.len()..families.len() + known.len()).for_each(|at| prover.assume_family(at, true));
    let mut proven = vec![false; families.len()];
    // First one by one, given the families proven so far. Families that need each other remain.
    for at in 0..families.len() {
        prover.assume_family(at, true);
        proven[at] = preserved(&mut prover, net, &families[at]);
        prover.assume_family(at, proven[at]);
    }
    let mut open: Vec<usize> = (0..families.len()).filter(|&at| !proven[at]).collect();
    open.iter().for_each(|&at| prover.assume_family(at, true));
    // Then together: families that fail are removed until all that remain imply each other.
    loop {
        let failed: Vec<usize> = open
            .iter()
            .copied()
            .filter(|&at| !preserved(&mut prover, net, &families[at]))
            .collect();
        if failed.is_empty() {
            break;
        }
        failed.iter().for_each(|&at| prover.assume_family(at, false));
        open.retain(|at| !failed.contains(at));
    }
    open.into_iter().for_each(|at| proven[at] = true);
    families
        .into_iter()
        .zip(proven)
        .filter(|(_, proven)| *proven)
        .map(|(family, _)| family)
        .collect()
}

/// Whether no two fluents of a family can follow together.
fn preserved(prover: &mut Prover, net: &Network, family: &[u32]) -> bool {
    let next: Vec<Signal> = family.iter().map(|&f| net.outputs.next[f as usize]).collect();
    (0..next.len()).all(|a| (0..a).all(|b| prover.may_go_on() && prover.exclude(&[next[a], next[b]])))
}

/// Proofs that literals exclude each other in every reachable, unfinished state, given proven families.
pub(crate) struct Facts<'n> {
    prover: Prover<'n>,
}

impl<'n> Facts<'n> {
    /// With the families that the network knows as choices.
    pub fn new(net: &'n Network, bounds: Bounds<'n>) -> Facts<'n> {
        let roles = net.n_moves().len();
        let families: Vec<Vec<NodeId>> = net.choices()[roles..].iter().map(|c| c.values.clone()).collect();
        let n = families.len();
        let mut prover = Prover::new(net, families, bounds);
        (0..n).for_each(|at| prover.assume_family(at, true));
        Facts { prover }
    }

    /// Whether these signals never hold together.
    pub fn exclude(&mut self, together: &[Signal]) -> bool {
        self.prover.exclude(together)
    }
}

/// The families as choices of a network.
pub fn as_choices(net: &Network, families: &[Vec<u32>]) -> Vec<Choice> {
    let nodes = |family: &Vec<u32>| family.iter().map(|&f| net.fluent(f as usize).node()).collect();
    families
        .iter()
        .map(|family| Choice {
            values: nodes(family),
            total: false,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::pairs::{PairBudget, extract_common};
    use crate::passes::testing::simulate;
    use game::Seed;

    #[test]
    fn families_differ_in_one_argument() {
        let names = ["(control o)", "(control x)", "(step 1)"].map(String::from);
        assert_eq!(candidates(&names), [vec![0, 1]]);
    }

    /// Without tricks: each sample by itself.
    fn noop_moves_one_by_one(net: &Network, every: usize, samples: &Samples) -> Vec<Option<u32>> {
        let does: Vec<Vec<u64>> = net.n_moves().iter().map(|&n| vec![0; n]).collect();
        let mut only: Vec<Vec<u32>> = does.iter().map(|row| vec![0; row.len()]).collect();
        for at in (0..samples.words[0].len()).filter(|at| (at / WORDS).is_multiple_of(every)) {
            let state: Vec<u64> = samples.words.iter().map(|words| words[at]).collect();
            let values = simulate(net, &state, &does);
            let mut legal = values[net.n_fluents()..].iter();
            for only in &mut only {
                let row: Vec<u64> = legal.by_ref().take(only.len()).copied().collect();
                for lane in 0..64 {
                    let held: Vec<usize> = (0..row.len()).filter(|&m| row[m] >> lane & 1 == 1).collect();
                    if let [mv] = held[..] {
                        only[mv] += 1;
                    }
                }
            }
        }
        let most = |row: &Vec<u32>| {
            let first = (0..row.len()).rev().max_by_key(|&m| row[m]);
            first.filter(|&m| row[m] > 0).map(|m| m as u32)
        };
        only.iter().map(most).collect()
    }

    #[test]
    fn noop_moves_are_those_of_single_samples() {
        let mut n_found = 0;
        for case in 0..100 {
            let mut rng = Seed(4).nth(case).rng();
            let mut net = Network::new(6, &[3, 2]);
            net.keep_shape();
            let mut signals: Vec<Signal> = (0..6).map(|f| net.fluent(f)).collect();
            for _ in 0..20 {
                let operands: Vec<Signal> = (0..2 + rng.below(3))
                    .map(|_| {
                        let s = signals[rng.below(signals.len())];
                        if rng.below(2) == 0 { s } else { !s }
                    })
                    .collect();
                signals.push(net.and(operands));
            }
            let mut row = |n: usize| (0..n).map(|_| signals[rng.below(signals.len())]).collect::<Vec<_>>();
            net.outputs.legal = vec![row(3), row(2)];
            net.outputs.next = vec![Signal::FALSE; 6];
            let n_words = 1 + rng.below(10);
            let words = (0..6).map(|_| (0..n_words).map(|_| rng.bits()).collect());
            let samples = Samples { words: words.collect() };
            let every = 1 + rng.below(2);
            let expected = noop_moves_one_by_one(&net, every, &samples);
            let common = Bounds::shipped(|bounds| extract_common(&net, PairBudget::default(), bounds));
            for net in [&net, &common.expect("not stopped")] {
                let found = Bounds::shipped(|bounds| samples.noop_moves(net, every, bounds));
                assert_eq!(found.as_ref(), Some(&expected));
            }
            n_found += expected.iter().flatten().count();
        }
        assert!(n_found > 100, "{n_found}");
    }

    #[test]
    fn a_turn_that_passes_is_exclusive() {
        let mut net = Network::new(3, &[2]);
        net.outputs.legal = vec![vec![Signal::TRUE; 2]];
        let initial = [true, false, false];
        // a' = b, b' = a; the third follows from a whenever move 0 is made.
        let third = [net.fluent(0), net.does(0, 0)];
        net.outputs.next = vec![net.fluent(1), net.fluent(0), net.and(third)];
        let names = ["(turn a)", "(turn b)", "(turn c)"].map(String::from);
        let sampled = Samples {
            words: vec![vec![1], vec![2], vec![0]],
        };
        let found = Bounds::shipped(|bounds| exclusive_families(&net, &names, &initial, &sampled, bounds));
        // b and the third follow together, so the family of three fails as a whole.
        assert!(found.is_empty());
        net.outputs.next[2] = Signal::FALSE;
        let found = Bounds::shipped(|bounds| exclusive_families(&net, &names, &initial, &sampled, bounds));
        assert_eq!(found, [vec![0, 1, 2]]);
    }
}
