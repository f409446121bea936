//! Uniform choice of a legal move in every lane at once, as a circuit.
//!
//! The legal columns are counted by a tree of bit-sliced adders. A random rank `r = floor(F * count / 2^k)` is made
//! from k random vectors by shift-and-add. The tree is descended to the r-th legal column. A lane enters only one node
//! per level, so the count of that node is gathered by AND-OR and one subtraction per level serves all nodes. The
//! lowest levels are shared too: the columns of the entered block are gathered into one block, and one small tree
//! chooses among them.
//!
//! Bias: the probability of a rank is off by less than 2^-16 (2^-14 for up to sixteen columns). Wherever fewer than 65
//! moves are legal that is less than a thousandth of the probability.

use crate::circuit::{Circuit, Wire};

/// A bit-sliced number: its bits, least first, and the largest value it can have.
#[derive(Clone, Debug)]
struct Number {
    bits: Vec<Wire>,
    max: usize,
}

/// The result of a choice.
pub struct Chosen {
    /// Per column: the lanes that chose it.
    pub picks: Vec<Wire>,
    /// Lanes with at least one legal column.
    pub any: Wire,
}

/// Number of random vectors that a choice among so many columns uses.
pub fn random_bits(n_columns: usize) -> usize {
    match n_columns {
        0 | 1 => 0,
        2 => 1,
        3..=16 => 14,
        _ => 16,
    }
}

/// Picks one of the columns that are set, uniformly, in every lane.
pub fn choose(circuit: &mut Circuit, columns: &[Wire], random: &[Wire]) -> Chosen {
    match columns {
        [] => Chosen {
            picks: Vec::new(),
            any: circuit.zero(),
        },
        &[only] => Chosen {
            picks: vec![only],
            any: only,
        },
        &[a, b] => {
            // Of two columns, the random bit decides only where both are set.
            let second = circuit.and_not(a, b);
            let both = circuit.and(a, b);
            let swap = circuit.and(both, random[0]);
            let first = circuit.and_not(swap, a);
            let picks = vec![first, circuit.or(second, swap)];
            Chosen {
                picks,
                any: circuit.or(a, b),
            }
        }
        _ => {
            let random = &random[..random_bits(columns.len())];
            choose_many(circuit, columns, random, best_block(columns.len()))
        }
    }
}

/// Operations that a choice among `n` columns takes.
pub fn choice_cost(n: usize) -> usize {
    cost_with_block(n, best_block(n))
}

fn best_block(n: usize) -> usize {
    const SIZES: [usize; 12] = [1, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 28];
    // Beyond this number the best size changes little, and trial circuits would take long.
    let sample = n.min(600);
    let sizes = SIZES.into_iter().filter(|&g| g == 1 || g * 2 <= sample);
    sizes.min_by_key(|&g| cost_with_block(sample, g)).unwrap_or(1)
}

fn cost_with_block(n: usize, block: usize) -> usize {
    let mut circuit = Circuit::new();
    let columns: Vec<Wire> = (0..n as u32).map(|at| circuit.load(at)).collect();
    let random: Vec<Wire> = (0..16).map(|at| circuit.load(n as u32 + at)).collect();
    let chosen = choose_many(&mut circuit, &columns, &random, block);
    chosen
        .picks
        .into_iter()
        .enumerate()
        .for_each(|(at, w)| circuit.store(at as u32, w));
    circuit.cost()
}

fn choose_many(circuit: &mut Circuit, columns: &[Wire], random: &[Wire], block: usize) -> Chosen {
    let blocks: Vec<&[Wire]> = even_blocks(columns, block);
    let counts: Vec<Number> = blocks.iter().map(|b| population(circuit, b)).collect();
    let tree = Tree::new(circuit, counts);
    let rank = random_rank(circuit, tree.total(), random);
    let any = tree.total().bits.clone().into_iter().reduce(|a, b| circuit.or(a, b));
    let any = any.unwrap_or_else(|| circuit.zero());
    let (entered, rank) = tree.descend(circuit, rank, any);
    if block == 1 {
        return Chosen { picks: entered, any };
    }
    // The columns of the entered block, gathered.
    let width = blocks.iter().map(|b| b.len()).max().unwrap_or(0);
    let mut gathered = Vec::with_capacity(width);
    for at in 0..width {
        let parts: Vec<(Wire, Wire)> = entered
            .iter()
            .zip(&blocks)
            .filter_map(|(&e, b)| b.get(at).map(|&c| (e, c)))
            .collect();
        gathered.push(gather(circuit, &parts));
    }
    let counts = gathered.iter().map(|&w| Number { bits: vec![w], max: 1 }).collect();
    let small = Tree::new(circuit, counts);
    let one = circuit.one();
    let (picked, _) = small.descend(circuit, rank, one);
    let picked: Vec<Wire> = picked
        .into_iter()
        .zip(gathered)
        .map(|(p, g)| circuit.and(p, g))
        .collect();
    let mut picks = Vec::with_capacity(columns.len());
    for (&entered, block) in entered.iter().zip(&blocks) {
        for &pick in picked.iter().take(block.len()) {
            picks.push(circuit.and(entered, pick));
        }
    }
    Chosen { picks, any }
}

/// Blocks of nearly equal size, none larger than `block`.
fn even_blocks(columns: &[Wire], block: usize) -> Vec<&[Wire]> {
    let n_blocks = columns.len().div_ceil(block);
    let (size, larger) = (columns.len() / n_blocks, columns.len() % n_blocks);
    let mut rest = columns;
    (0..n_blocks)
        .map(|at| {
            let (head, tail) = rest.split_at(size + usize::from(at < larger));
            rest = tail;
            head
        })
        .collect()
}

fn gather(circuit: &mut Circuit, parts: &[(Wire, Wire)]) -> Wire {
    let mut sum = circuit.zero();
    for &(mask, value) in parts {
        let part = circuit.and(mask, value);
        sum = circuit.or(sum, part);
    }
    sum
}

/// Counts in a binary tree: level 0 is the leaves, the last level the total.
struct Tree {
    levels: Vec<Vec<Number>>,
}

impl Tree {
    fn new(circuit: &mut Circuit, leaves: Vec<Number>) -> Tree {
        let mut levels = vec![leaves];
        while let Some(level) = levels.last()
            && level.len() > 1
        {
            let next = level
                .chunks(2)
                .map(|pair| match pair {
                    [a, b] => add(circuit, a, b),
                    rest => rest[0].clone(),
                })
                .collect();
            levels.push(next);
        }
        Tree { levels }
    }

    fn total(&self) -> &Number {
        &self.levels[self.levels.len() - 1][0]
    }

    /// Which leaf holds the element of this rank, per leaf, and the rank within that leaf.
    fn descend(&self, circuit: &mut Circuit, rank: Number, lanes: Wire) -> (Vec<Wire>, Number) {
        let mut entered = vec![lanes];
        let mut rank = rank;
        for level in self.levels.iter().rev().skip(1) {
            let lefts: Vec<(Wire, &Number)> = entered
                .iter()
                .enumerate()
                .filter(|(at, _)| at * 2 + 1 < level.len())
                .map(|(at, &e)| (e, &level[at * 2]))
                .collect();
            let left = gather_numbers(circuit, &lefts, entered.len() == 1);
            let (below_left, reduced) = compare_and_reduce(circuit, &rank, &left);
            let mut below = Vec::with_capacity(level.len());
            for (at, &e) in entered.iter().enumerate() {
                if at * 2 + 1 < level.len() {
                    below.push(circuit.and(below_left, e));
                    below.push(circuit.and_not(below_left, e));
                } else {
                    // An only child: the gathered left count is 0 in its lanes, so the rank stays.
                    below.push(e);
                }
            }
            entered = below;
            rank = reduced;
            let most = level.iter().map(|n| n.max).max().unwrap_or(1);
            rank = truncate(rank, most.saturating_sub(1));
        }
        (entered, rank)
    }
}

fn gather_numbers(circuit: &mut Circuit, parts: &[(Wire, &Number)], alone: bool) -> Number {
    if let (&[(_, number)], true) = (parts, alone) {
        return number.clone();
    }
    let width = parts.iter().map(|(_, n)| n.bits.len()).max().unwrap_or(0);
    let bits = (0..width)
        .map(|bit| {
            let column: Vec<(Wire, Wire)> = parts
                .iter()
                .filter_map(|(mask, n)| n.bits.get(bit).map(|&b| (*mask, b)))
                .collect();
            gather(circuit, &column)
        })
        .collect();
    Number {
        bits,
        max: parts.iter().map(|(_, n)| n.max).max().unwrap_or(0),
    }
}

/// Whether `a < b`, and `a` where it is so, `a - b` elsewhere.
fn compare_and_reduce(circuit: &mut Circuit, a: &Number, b: &Number) -> (Wire, Number) {
    let mut borrow = circuit.zero();
    let mut differs = Vec::with_capacity(a.bits.len());
    let zero = circuit.zero();
    for at in 0..a.bits.len().max(b.bits.len()) {
        let x = a.bits.get(at).copied().unwrap_or(zero);
        let y = b.bits.get(at).copied().unwrap_or(zero);
        let t = circuit.xor(y, borrow);
        differs.push(t);
        // Borrow = majority(!x, y, borrow) = t ? !x : y.
        let yes = circuit.and_not(x, t);
        let no = circuit.and_not(t, y);
        borrow = circuit.or(yes, no);
    }
    let bits = a
        .bits
        .iter()
        .zip(&differs)
        .map(|(&x, &t)| {
            let flip = circuit.and_not(borrow, t);
            circuit.xor(x, flip)
        })
        .collect();
    (borrow, Number { bits, max: a.max })
}

/// `floor(F * count / 2^k)`, the k bits of F being the random vectors.
fn random_rank(circuit: &mut Circuit, count: &Number, random: &[Wire]) -> Number {
    let mut rank = Number {
        bits: Vec::new(),
        max: 0,
    };
    for &bit in random {
        let bits = count.bits.iter().map(|&c| circuit.and(bit, c)).collect();
        let sum = add(circuit, &rank, &Number { bits, max: count.max });
        // Always below the count, so that the sum stays below twice the count.
        rank = Number {
            bits: sum.bits.into_iter().skip(1).collect(),
            max: count.max - 1,
        };
    }
    rank
}

fn truncate(number: Number, max: usize) -> Number {
    let bits = number.bits.into_iter().take(width(max)).collect();
    Number { bits, max }
}

fn width(max: usize) -> usize {
    (usize::BITS - max.leading_zeros()) as usize
}

fn add(circuit: &mut Circuit, a: &Number, b: &Number) -> Number {
    let max = a.max + b.max;
    let mut bits = Vec::with_capacity(width(max));
    let mut carry = circuit.zero();
    let zero = carry;
    for at in 0..width(max) {
        let x = a.bits.get(at).copied().unwrap_or(zero);
        let y = b.bits.get(at).copied().unwrap_or(zero);
        let (sum, out) = full_add(circuit, x, y, carry);
        bits.push(sum);
        carry = out;
    }
    Number { bits, max }
}

fn full_add(circuit: &mut Circuit, a: Wire, b: Wire, c: Wire) -> (Wire, Wire) {
    let half = circuit.xor(a, b);
    let sum = circuit.xor(half, c);
    let both = circuit.and(a, b);
    let through = circuit.and(half, c);
    (sum, circuit.or(both, through))
}

/// How many of the columns are set: carry-save adders, three bits of one weight at a time.
fn population(circuit: &mut Circuit, columns: &[Wire]) -> Number {
    let mut weights: Vec<Vec<Wire>> = vec![columns.to_vec()];
    let mut bits = Vec::new();
    let zero = circuit.zero();
    let mut at = 0;
    while at < weights.len() {
        let mut carries = Vec::new();
        while weights[at].len() > 1 {
            // Oldest first keeps the adders shallow.
            let take = weights[at].len().min(3);
            let three: Vec<Wire> = weights[at].drain(..take).collect();
            let c = three.get(2).copied().unwrap_or(zero);
            let (sum, carry) = full_add(circuit, three[0], three[1], c);
            weights[at].push(sum);
            carries.push(carry);
        }
        bits.push(weights[at][0]);
        at += 1;
        if at < width(columns.len()) {
            weights.push(carries);
        }
    }
    Number {
        bits,
        max: columns.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::cell::Mask;
    use crate::lanes::interp::Interpreted;
    use crate::lanes::rng::LaneRng;
    use game::Seed;

    const FIRST: u32 = 2;

    /// Frequency of each column in many draws when these columns are set.
    fn picks(n: usize, set: &[usize], draws: usize, seed: u64) -> Vec<u64> {
        let mut circuit = Circuit::new();
        let random_at = FIRST + n as u32;
        let picks_at = random_at + 16;
        let columns: Vec<Wire> = (0..n as u32).map(|at| circuit.load(FIRST + at)).collect();
        let random: Vec<Wire> = (0..16).map(|at| circuit.load(random_at + at)).collect();
        let chosen = choose(&mut circuit, &columns, &random);
        chosen
            .picks
            .iter()
            .enumerate()
            .for_each(|(at, &w)| circuit.store(picks_at + at as u32, w));
        circuit.store(picks_at + n as u32, chosen.any);
        let stop = game::StopFlag::default();
        let code = Interpreted::new(&circuit, picks_at + n as u32 + 1, &stop).expect("nobody stops it");
        let mut frame = vec![Mask::ZERO; code.n_cells as usize];
        frame[1] = Mask::ONE;
        set.iter().for_each(|&at| frame[FIRST as usize + at] = Mask::ONE);
        let mut rng = LaneRng::new(Seed(seed));
        let mut counts = vec![0; n];
        for _ in 0..draws {
            rng.fill(&mut frame[random_at as usize..picks_at as usize]);
            code.run(&mut frame);
            let mut once = Mask::ZERO;
            for (at, count) in counts.iter_mut().enumerate() {
                let pick = frame[picks_at as usize + at];
                assert!((once & pick).is_empty(), "two picks in one lane");
                once |= pick;
                *count += u64::from(pick.count());
            }
            assert_eq!(once, if set.is_empty() { Mask::ZERO } else { Mask::ONE });
            assert_eq!(frame[picks_at as usize + n], once);
        }
        counts
    }

    #[test]
    fn choice_is_uniform_by_chi_square() {
        let every = |n: usize, step: usize| (0..n).step_by(step).collect::<Vec<usize>>();
        let cases = [
            (2, every(2, 1)),
            (3, every(3, 1)),
            (8, every(8, 1)),
            (9, vec![0, 2, 3, 8]),
            (16, every(16, 1)),
            (17, every(17, 3)),
            (65, every(65, 2)),
            (155, every(155, 5)),
            (155, every(155, 1)),
            (640, every(640, 90)),
        ];
        for (case, (n, set)) in cases.into_iter().enumerate() {
            let draws = 1_500;
            let counts = picks(n, &set, draws, case as u64);
            assert!(
                (0..n).all(|at| set.contains(&at) || counts[at] == 0),
                "an illegal column was picked"
            );
            let expected = draws as f64 * 256.0 / set.len() as f64;
            let chi: f64 = set
                .iter()
                .map(|&at| (counts[at] as f64 - expected).powi(2) / expected)
                .sum();
            let df = set.len() as f64 - 1.0;
            assert!(
                chi < df + 4.0 * (2.0 * df).sqrt() + 4.0,
                "{n} columns, {} set: {chi} at {df}",
                set.len()
            );
        }
    }

    #[test]
    fn nothing_to_choose_from() {
        for n in [1, 2, 5, 40] {
            assert_eq!(picks(n, &[], 3, 0), vec![0; n]);
            assert_eq!(picks(n, &[n - 1], 3, 0)[n - 1], 3 * 256);
        }
    }
}
