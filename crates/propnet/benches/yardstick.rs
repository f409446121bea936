//! Hand-written bitboard simulators as a yardstick: random playouts of connect four 8×6 and breakthrough 8×8.
//!
//! `cargo bench -p surmise-propnet --bench yardstick -- --seconds S` prints one JSON object per line. The numbers show
//! the speed of code that a programmer wrote for one game, one playout at a time. The lanes simulator is compared with
//! these numbers; it starts from the rules text alone.

#![allow(
    unsafe_code,
    reason = "calls functions compiled for BMI2 after asking the processor; selecting the n-th bit is most of the work"
)]

use std::time::{Duration, Instant};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let seconds = args
        .iter()
        .skip_while(|a| *a != "--seconds")
        .nth(1)
        .and_then(|s| s.parse().ok())
        .unwrap_or(1.0);
    let time = Duration::from_secs_f64(seconds);
    report("connect-four", time, connect_four::plain);
    report("breakthrough", time, breakthrough::plain);
    report("connect-four, BMI2", time, connect_four::tuned);
    report("breakthrough, BMI2", time, breakthrough::tuned);
}

/// Counts of a batch of playouts.
#[derive(Clone, Copy, Default)]
struct Batch {
    playouts: u64,
    moves: u64,
    points: u64,
}

fn report(game: &str, time: Duration, batch: fn(&mut Rng, u64) -> Batch) {
    let mut rng = Rng(0x9e37_79b9_7f4a_7c15);
    batch(&mut rng, 1_000);
    let (mut total, started) = (Batch::default(), Instant::now());
    while started.elapsed() < time {
        let more = batch(&mut rng, 4_000);
        total.playouts += more.playouts;
        total.moves += more.moves;
        total.points += more.points;
    }
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{{\"game\":\"{game}\",\"playouts_per_s\":{:.0},\"moves_per_s\":{:.0},\
         \"mean_length\":{:.2},\"mean_goal\":{:.2}}}",
        total.playouts as f64 / seconds,
        total.moves as f64 / seconds,
        total.moves as f64 / total.playouts as f64,
        total.points as f64 / total.playouts as f64,
    );
}

/// The generator wyrand: one multiplication per number.
struct Rng(u64);

impl Rng {
    #[inline(always)]
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.0) * u128::from(self.0 ^ 0xe703_7ed1_a0b4_28db);
        let bits = (product >> 64) as u64 ^ product as u64;
        (((bits & 0xffff_ffff) * u64::from(n)) >> 32) as u32
    }
}

/// The n-th set bit of a word, in plain Rust.
#[inline(always)]
fn nth_plain(word: u64, at: u32) -> u64 {
    let mut rest = word;
    (0..at).for_each(|_| rest &= rest - 1);
    rest & rest.wrapping_neg()
}

/// A playout function in plain Rust, and the same compiled for BMI2, where one instruction finds the n-th bit.
macro_rules! variants {
    ($play:ident) => {
        pub fn plain(rng: &mut super::Rng, n: u64) -> super::Batch {
            $play(rng, n, super::nth_plain)
        }

        pub fn tuned(rng: &mut super::Rng, n: u64) -> super::Batch {
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("popcnt") {
                // SAFETY: the line above has checked that the processor has the instructions.
                return unsafe { with_bmi2(rng, n) };
            }
            plain(rng, n)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt")]
        fn with_bmi2(rng: &mut super::Rng, n: u64) -> super::Batch {
            $play(rng, n, |word, at| std::arch::x86_64::_pdep_u64(1 << at, word))
        }
    };
}

/// Eight columns of seven bits, the seventh always empty.
mod connect_four {
    variants!(play);

    const COLUMNS: u64 = 8;
    const BOTTOM: u64 = {
        let (mut mask, mut column) = (0, 0);
        while column < COLUMNS {
            mask |= 1 << (7 * column);
            column += 1;
        }
        mask
    };
    const BOARD: u64 = BOTTOM * 0b11_1111;

    #[inline(always)]
    fn play(rng: &mut super::Rng, n: u64, nth: impl Fn(u64, u32) -> u64) -> super::Batch {
        let mut batch = super::Batch {
            playouts: n,
            ..Default::default()
        };
        for _ in 0..n {
            let (mut mine, mut theirs, mut moves) = (0_u64, 0_u64, 0_u64);
            batch.points += loop {
                let free = ((mine | theirs) + BOTTOM) & BOARD;
                if free == 0 {
                    break 50;
                }
                mine |= nth(free, rng.below(free.count_ones()));
                moves += 1;
                if wins(mine) {
                    break if moves % 2 == 1 { 100 } else { 0 };
                }
                std::mem::swap(&mut mine, &mut theirs);
            };
            batch.moves += moves;
        }
        batch
    }

    #[inline(always)]
    fn wins(pieces: u64) -> bool {
        let line = |shift: u32| {
            let pairs = pieces & pieces >> shift;
            pairs & pairs >> (2 * shift) != 0
        };
        line(1) | line(7) | line(6) | line(8)
    }
}

/// White moves up from rows 1 and 2, black down from rows 7 and 8; bit 8·row + column.
mod breakthrough {
    variants!(play);

    const LEFT: u64 = 0x0101_0101_0101_0101;
    const RIGHT: u64 = LEFT << 7;

    #[inline(always)]
    fn play(rng: &mut super::Rng, n: u64, nth: impl Fn(u64, u32) -> u64) -> super::Batch {
        let mut batch = super::Batch {
            playouts: n,
            ..Default::default()
        };
        for _ in 0..n {
            let (mut white, mut black, mut moves) = (0xffff_u64, 0xffff_u64 << 48, 0_u64);
            batch.points += loop {
                let straight = white << 8 & !(white | black);
                let left = (white & !LEFT) << 7 & !white;
                let right = (white & !RIGHT) << 9 & !white;
                let to = pick(rng, &nth, straight, left, right);
                (white, black) = (white & !to.0 | to.1, black & !to.1);
                moves += 1;
                if white >> 56 != 0 || black == 0 {
                    break 100;
                }
                let straight = black >> 8 & !(white | black);
                let left = (black & !LEFT) >> 9 & !black;
                let right = (black & !RIGHT) >> 7 & !black;
                let to = pick_down(rng, &nth, straight, left, right);
                (black, white) = (black & !to.0 | to.1, white & !to.1);
                moves += 1;
                if black & 0xff != 0 || white == 0 {
                    break 0;
                }
            };
            batch.moves += moves;
        }
        batch
    }

    /// From and to of a random move among the targets in three directions.
    #[inline(always)]
    fn pick(rng: &mut super::Rng, nth: &impl Fn(u64, u32) -> u64, straight: u64, left: u64, right: u64) -> (u64, u64) {
        let (a, b) = (straight.count_ones(), left.count_ones());
        let at = rng.below(a + b + right.count_ones());
        if at < a {
            let to = nth(straight, at);
            return (to >> 8, to);
        }
        if at < a + b {
            let to = nth(left, at - a);
            return (to >> 7, to);
        }
        let to = nth(right, at - a - b);
        (to >> 9, to)
    }

    #[inline(always)]
    fn pick_down(
        rng: &mut super::Rng,
        nth: &impl Fn(u64, u32) -> u64,
        straight: u64,
        left: u64,
        right: u64,
    ) -> (u64, u64) {
        let (a, b) = (straight.count_ones(), left.count_ones());
        let at = rng.below(a + b + right.count_ones());
        if at < a {
            let to = nth(straight, at);
            return (to << 8, to);
        }
        if at < a + b {
            let to = nth(left, at - a);
            return (to << 9, to);
        }
        let to = nth(right, at - a - b);
        (to << 7, to)
    }
}
