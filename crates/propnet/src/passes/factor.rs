//! Greedy algebraic factoring of a disjunction of conjunctions.
//!
//! The most frequent literal is factored out of the cubes that contain it, recursively (Brayton and McMullen's quick
//! factoring with single-literal divisors). `d1&x | d2&x | y&z` becomes `x&(d1|d2) | y&z`, in which the network
//! recognises `d1|d2` as one set of moves.

use crate::network::{Network, Signal};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The disjunction of the cubes' conjunctions, as a signal.
pub fn factor(net: &mut Network, mut cubes: Vec<Vec<Signal>>) -> Signal {
    for cube in &mut cubes {
        cube.sort_unstable();
        cube.dedup();
    }
    cubes.sort_unstable();
    cubes.dedup();
    drop_absorbed(&mut cubes);
    factor_sorted(net, cubes)
}

fn factor_sorted(net: &mut Network, cubes: Vec<Vec<Signal>>) -> Signal {
    match &cubes[..] {
        [] => return Signal::FALSE,
        [only] => return net.and(only.iter().copied()),
        _ if cubes.iter().any(Vec::is_empty) => return Signal::TRUE,
        _ => {}
    }
    let mut occurrences: FxHashMap<Signal, Vec<u32>> = FxHashMap::default();
    for (at, cube) in cubes.iter().enumerate() {
        for &literal in cube {
            occurrences.entry(literal).or_default().push(at as u32);
        }
    }
    let mut heap: BinaryHeap<(usize, Reverse<Signal>)> = occurrences
        .iter()
        .filter(|(_, cubes)| cubes.len() > 1)
        .map(|(&literal, cubes)| (cubes.len(), Reverse(literal)))
        .collect();
    let mut taken = vec![false; cubes.len()];
    let mut parts = Vec::new();
    while let Some((count, Reverse(literal))) = heap.pop() {
        let left: Vec<u32> = occurrences[&literal]
            .iter()
            .copied()
            .filter(|&at| !taken[at as usize])
            .collect();
        if left.len() < 2 {
            continue;
        }
        if left.len() < count {
            heap.push((left.len(), Reverse(literal)));
            occurrences.insert(literal, left);
            continue;
        }
        let mut quotient: Vec<Vec<Signal>> = Vec::with_capacity(left.len());
        for at in left {
            taken[at as usize] = true;
            quotient.push(cubes[at as usize].iter().copied().filter(|&l| l != literal).collect());
        }
        let inner = factor_sorted(net, quotient);
        let part = net.and([literal, inner]);
        parts.push(part);
    }
    for (cube, taken) in cubes.iter().zip(taken) {
        if !taken {
            let part = net.and(cube.iter().copied());
            parts.push(part);
        }
    }
    net.or(parts)
}

/// Removes cubes that another cube absorbs (`x | x&y = x`); only for lists short enough to compare all pairs.
fn drop_absorbed(cubes: &mut Vec<Vec<Signal>>) {
    const LONGEST: usize = 64;
    if cubes.len() > LONGEST || cubes.len() < 2 {
        return;
    }
    let within = |a: &[Signal], b: &[Signal]| a.len() < b.len() && a.iter().all(|l| b.binary_search(l).is_ok());
    let keep: Vec<bool> = cubes.iter().map(|b| !cubes.iter().any(|a| within(a, b))).collect();
    let mut keep = keep.into_iter();
    cubes.retain(|_| keep.next().unwrap_or(true));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_literal_is_taken_out_and_moves_become_a_set() {
        let mut net = Network::new(2, &[4]);
        let [x, y] = [net.fluent(0), net.fluent(1)];
        let cubes = vec![
            vec![net.does(0, 0), x],
            vec![net.does(0, 1), x],
            vec![net.does(0, 2), x],
            vec![y, x],
        ];
        let got = factor(&mut net, cubes);
        let other = !net.does(0, 3);
        let inner = net.or([other, y]);
        assert_eq!(got, net.and([x, inner]));
    }

    #[test]
    fn empty_and_always() {
        let mut net = Network::new(1, &[]);
        let x = net.fluent(0);
        assert_eq!(factor(&mut net, vec![]), Signal::FALSE);
        assert_eq!(factor(&mut net, vec![vec![x], vec![]]), Signal::TRUE);
        assert_eq!(factor(&mut net, vec![vec![x], vec![!x]]), Signal::TRUE);
    }
}
