//! The yardstick: hand-written scalar bitboard simulators of two games, and the lanes on the same games from their
//! rules. `yardstick CONNECT_FOUR_FILE BREAKTHROUGH_FILE [SECONDS]`; without files only the hand-written ones run.
//!
//! Honest opponents: bitboards in registers, no allocation, no tables to fill, random moves by multiply-shift from one
//! fast generator. Connect four is 8 wide and 6 high; breakthrough is 8 by 8.

#![allow(unsafe_code)]

use game::{Seed, StopFlag};
use propnet::{CompileOptions, PlayoutOptions, compile, playouts};

fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// wyrand: one multiplication per number.
struct Fast(u64);

impl Fast {
    #[inline(always)]
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.0) * u128::from(self.0 ^ 0xe703_7ed1_a0b4_28db);
        (product >> 64) as u64 ^ product as u64
    }

    #[inline(always)]
    fn below(&mut self, n: u32) -> u32 {
        ((self.bits() >> 32) * u64::from(n) >> 32) as u32
    }
}

/// The position of the set bit of this rank.
#[target_feature(enable = "popcnt,bmi1,bmi2")]
#[inline]
fn nth_set(word: u64, rank: u32) -> u32 {
    std::arch::x86_64::_pdep_u64(1 << rank, word).trailing_zeros()
}

mod connect_four {
    use super::Fast;

    /// Columns of seven bits, the seventh always empty, eight columns.
    const TOPS: u64 = 0x0081_0204_0810_2040 >> 1;
    const BOTTOMS: u64 = 0x0002_0408_1020_4081;

    #[inline(always)]
    fn has_line(b: u64) -> bool {
        let line = |shift: u32| {
            let pairs = b & (b >> shift);
            pairs & (pairs >> (2 * shift))
        };
        line(1) | line(7) | line(6) | line(8) != 0
    }

    /// Plays `n` games: moves made and the first player's points in all.
    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    pub fn many(n: u32, rng: &mut Fast) -> (u64, u64) {
        (0..n).map(|_| playout(rng)).fold((0, 0), |a, b| (a.0 + u64::from(b.0), a.1 + u64::from(b.1)))
    }

    /// Moves made and the first player's points.
    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    #[inline]
    fn playout(rng: &mut Fast) -> (u32, u32) {
        let (mut mine, mut all) = (0_u64, 0_u64);
        let mut moves = 0;
        loop {
            // Columns that are not full, as their top bits.
            let open = TOPS & !all;
            if open == 0 {
                return (moves, 50);
            }
            let n = open.count_ones();
            let column = if n == 8 {
                rng.below(8)
            } else {
                super::nth_set(open, rng.below(n)) / 7
            };
            let place = (all + (BOTTOMS & 0x7f_u64 << (7 * column))) & (0x3f_u64 << (7 * column)) & !all;
            all |= place;
            moves += 1;
            let placed = all ^ mine;
            if has_line(placed) {
                return (moves, if moves % 2 == 1 { 100 } else { 0 });
            }
            // The other player moves next: its stones are those that are not of the one who just moved.
            mine = placed;
        }
    }
}

mod breakthrough {
    use super::Fast;

    const FILE_A: u64 = 0x0101_0101_0101_0101;
    const FILE_H: u64 = 0x8080_8080_8080_8080;

    /// Plays `n` games: moves made and the first player's points in all.
    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    pub fn many(n: u32, rng: &mut Fast) -> (u64, u64) {
        (0..n).map(|_| playout(rng)).fold((0, 0), |a, b| (a.0 + u64::from(b.0), a.1 + u64::from(b.1)))
    }

    /// Moves made and the first player's points. The board is turned after every move, so that both play upwards.
    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    #[inline]
    fn playout(rng: &mut Fast) -> (u32, u32) {
        let (mut mine, mut theirs) = (0xffff_u64, 0xffff_u64 << 48);
        let mut moves = 0_u32;
        loop {
            let ahead = (mine << 8) & !(mine | theirs);
            let left = (mine & !FILE_A) << 7 & !mine;
            let right = (mine & !FILE_H) << 9 & !mine;
            let (a, l, r) = (ahead.count_ones(), left.count_ones(), right.count_ones());
            if a + l + r == 0 {
                return (moves, if moves % 2 == 0 { 0 } else { 100 });
            }
            // Without branches: which of the three is a coin that no predictor can call.
            let rank = rng.below(a + l + r);
            let (beyond_a, beyond_l) = (u32::from(rank >= a), u32::from(rank >= a + l));
            let which = (beyond_a + beyond_l) as usize;
            let targets = [ahead, left, right][which];
            let back = [8, 7, 9][which];
            let rank = rank - [0, a, a + l][which];
            let to = 1_u64 << super::nth_set(targets, rank);
            mine = mine & !(to >> back) | to;
            theirs &= !to;
            moves += 1;
            if to >> 56 != 0 || theirs == 0 {
                return (moves, if moves % 2 == 1 { 100 } else { 0 });
            }
            (mine, theirs) = (theirs.swap_bytes(), mine.swap_bytes());
        }
    }
}

fn by_hand(name: &str, seconds: f64, many: impl Fn(u32, &mut Fast) -> (u64, u64)) -> f64 {
    let mut rng = Fast(1);
    let mut best = (0.0, 0.0, 0.0, 0.0);
    for _ in 0..5 {
        let start = cpu_seconds();
        let (mut n, mut moves, mut points) = (0_u64, 0_u64, 0_u64);
        while cpu_seconds() - start < seconds / 5.0 {
            let (m, p) = many(20_000, &mut rng);
            n += 20_000;
            moves += m;
            points += p;
        }
        let cpu = cpu_seconds() - start;
        let rate = n as f64 / cpu;
        if rate > best.0 {
            best = (rate, moves as f64 / cpu, moves as f64 / n as f64, points as f64 / n as f64);
        }
    }
    println!(
        "{name:14} by hand {:>12.0} playouts/s {:>13.0} moves/s  length {:.2} mean {:.2}",
        best.0, best.1, best.2, best.3
    );
    best.1
}

fn by_lanes(name: &str, file: &str, seconds: f64, hand: f64) {
    let text = std::fs::read_to_string(file).expect("a rules file");
    let reading = gdl::read(&text, &gdl::Options::default());
    let program = ground::ground(&reading.rules, &ground::Limits::default(), &mut |_| {}).expect("a ground program");
    let game = compile(&program, &CompileOptions::default());
    let roots = [game.initial_state()];
    let mut best = (0.0, 0.0);
    for window in 0..5 {
        let stop = StopFlag::default();
        let flag = stop.clone();
        let watch = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_secs_f64(seconds / 5.0));
            flag.raise();
        });
        let start = cpu_seconds();
        let t = playouts(&game, &roots, u64::MAX / 2, Seed(window), &PlayoutOptions::default(), &stop);
        let cpu = cpu_seconds() - start;
        let _ = watch.join();
        let rate = t.roots[0].playouts as f64 / cpu;
        if rate > best.0 {
            best = (rate, t.meter.states as f64 / cpu);
        }
    }
    println!(
        "{name:14} lanes   {:>12.0} playouts/s {:>13.0} moves/s  {:.1} times by hand",
        best.0, best.1, best.1 / hand
    );
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seconds = args.get(2).and_then(|s| s.parse().ok()).unwrap_or(2.0);
    let bmi2 = std::arch::is_x86_feature_detected!("bmi2") && std::arch::is_x86_feature_detected!("popcnt");
    assert!(bmi2, "the hand-written simulators need BMI2 and POPCNT");
    // SAFETY: the features have just been found.
    let four = by_hand("connect four", seconds, |n, rng| unsafe { connect_four::many(n, rng) });
    if let Some(file) = args.first() {
        by_lanes("connect four", file, seconds, four);
    }
    // SAFETY: as above.
    let through = by_hand("breakthrough", seconds, |n, rng| unsafe { breakthrough::many(n, rng) });
    if let Some(file) = args.get(1) {
        by_lanes("breakthrough", file, seconds, through);
    }
}
