//! Meier by hand: "will bluff in proportion to the value of its own roll and will call the opponent's bluff in
//! proportion to their claim" (Partridge and Thielscher, 2022, section 4.2).
//!
//! Our reading: values are ranked from 31, the lowest, to 21, the highest. The player claims its own roll if the roll
//! beats the last claim. Otherwise it bluffs: the rank of its claim among the allowed claims is proportional to the
//! rank of its roll among all rolls. It calls a claim with a probability that grows evenly with the rank of the claim,
//! from 1/21 for the lowest to 1 for Meier itself.
//!
//! Another reading, the [`bluffer`](Meier::bluffer), also bluffs where it could claim its own roll. The lower the roll,
//! the more often it bluffs, with every higher value equally likely. Against a random player the bluffer scores about
//! what the paper prints for its own opponent (65 as player 1, 79 as player 2). The first player scores far more, so
//! the paper probably used a bluffer.

use game::{Budget, Decision, Fault, Meter, Player, Seed, Told};

/// Values of rolls, from the lowest to the highest.
const VALUES: [&str; 21] = [
    "31", "32", "41", "42", "43", "51", "52", "53", "54", "61", "62", "63", "64", "65", "11", "22", "33", "44", "55",
    "66", "21",
];

/// A player of Meier.
pub struct Meier {
    seed: Seed,
    bluffer: bool,
}

impl Meier {
    /// A player with this seed, which claims its own roll wherever that is allowed.
    pub fn new(seed: Seed) -> Meier {
        Meier { seed, bluffer: false }
    }

    /// A player that also bluffs where it could claim its own roll.
    pub fn bluffer(seed: Seed) -> Meier {
        Meier { seed, bluffer: true }
    }

    fn claim(&self, roll: usize, before: Option<usize>, round: usize) -> usize {
        let mut rng = self.seed.child("claim").nth(round as u64).rng();
        let highest = VALUES.len() - 1;
        if self.bluffer && roll < highest && rng.below(highest) >= roll {
            let least = before.map_or(0, |b| b + 1).max(roll + 1).min(highest);
            return least + rng.below(highest + 1 - least);
        }
        claim(roll, before)
    }

    fn answer(&self, claim: usize, round: usize) -> &'static str {
        let mut rng = self.seed.child("answer").nth(round as u64).rng();
        if rng.below(VALUES.len()) <= claim {
            "call"
        } else {
            "believe"
        }
    }
}

impl Player for Meier {
    fn choose(&mut self, told: &[Told], _: &Budget) -> Result<Decision, Fault> {
        let Some(last) = told.last() else {
            return Ok(Decision::plain("noop"));
        };
        if let Some(roll) = last.sees.iter().find_map(|p| roll(p)) {
            let before = told.iter().rev().find_map(last_claim);
            return Ok(Decision::plain(format!(
                "(claim {})",
                VALUES[self.claim(roll, before, told.len())]
            )));
        }
        match last.sees.iter().find_map(|p| others_claim(p)) {
            Some(claim) => Ok(Decision::plain(self.answer(claim, told.len()))),
            None => Ok(Decision::plain("noop")),
        }
    }

    fn meter(&self) -> Meter {
        Meter::default()
    }
}

/// The claim for a roll after a claim. There is no claim after Meier, which is always called.
fn claim(roll: usize, before: Option<usize>) -> usize {
    let least = before.map_or(0, |b| b + 1).min(VALUES.len() - 1);
    if roll >= least {
        return roll;
    }
    let allowed = VALUES.len() - least;
    least + roll * allowed / VALUES.len()
}

fn rank(value: &str) -> Option<usize> {
    VALUES.iter().position(|&v| v == value)
}

/// The rank of `(dice A B)`, the higher die first.
fn roll(percept: &str) -> Option<usize> {
    let (a, b) = percept.strip_prefix("(dice ")?.strip_suffix(')')?.split_once(' ')?;
    rank(&format!("{}{}", a.max(b), a.min(b)))
}

/// The rank of `(did PLAYER (claim V))`.
fn others_claim(percept: &str) -> Option<usize> {
    rank(percept.split_once("(claim ")?.1.strip_suffix("))")?)
}

/// The rank of a claim made in this round by either side.
fn last_claim(told: &Told) -> Option<usize> {
    let own = told
        .own
        .strip_prefix("(claim ")
        .and_then(|c| rank(c.strip_suffix(')')?));
    own.or_else(|| told.sees.iter().find_map(|p| others_claim(p)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opponents::testing::{chosen, told};

    #[test]
    fn the_truth_is_told_when_it_can_be() {
        let mut player = Meier::new(Seed(1));
        assert_eq!(chosen(&mut player, &[]), "noop");
        assert_eq!(chosen(&mut player, &[told("noop", &["(dice 3 1)"])]), "(claim 31)");
        assert_eq!(chosen(&mut player, &[told("noop", &["(dice 4 6)"])]), "(claim 64)");
        assert_eq!(chosen(&mut player, &[told("noop", &["(dice 2 1)"])]), "(claim 21)");
        let second = [
            told("noop", &[]),
            told("noop", &["(did player1 (claim 65))"]),
            told("believe", &[]),
            told("noop", &["(dice 1 1)"]),
        ];
        assert_eq!(chosen(&mut player, &second), "(claim 11)");
    }

    #[test]
    fn bluffs_rise_with_the_roll() {
        let after_22 = |dice: &str| {
            let rounds = [
                told("noop", &["(did player1 (claim 22))"]),
                told("believe", &[]),
                told("noop", &[dice]),
            ];
            chosen(&mut Meier::new(Seed(1)), &rounds)
        };
        assert_eq!(after_22("(dice 3 1)"), "(claim 33)");
        assert_eq!(after_22("(dice 5 1)"), "(claim 44)");
        assert_eq!(after_22("(dice 1 1)"), "(claim 66)");
        assert_eq!(after_22("(dice 4 4)"), "(claim 44)");
    }

    #[test]
    fn the_bluffer_lies_more_with_a_poor_roll() {
        let lies = |dice: &str, truth: &str| {
            let rolled = [told("noop", &[dice])];
            let said: Vec<String> = (0..2_000)
                .map(|seed| chosen(&mut Meier::bluffer(Seed(seed)), &rolled))
                .collect();
            assert!(said.iter().all(|s| VALUES.iter().any(|v| *s == format!("(claim {v})"))));
            said.iter().filter(|s| *s != truth).count()
        };
        assert_eq!(lies("(dice 3 1)", "(claim 31)"), 2_000);
        assert!((900..1_100).contains(&lies("(dice 6 2)", "(claim 62)")));
        assert_eq!(lies("(dice 2 1)", "(claim 21)"), 0);
    }

    #[test]
    fn calls_rise_with_the_claim() {
        let calls = |claim: &str| {
            let heard = [
                told("noop", &[]),
                told("noop", &[&format!("(did player1 (claim {claim}))")]),
            ];
            let call = |seed| chosen(&mut Meier::new(Seed(seed)), &heard) == "call";
            (0..2_100).filter(|&seed| call(seed)).count()
        };
        assert!((60..140).contains(&calls("31")), "one in 21");
        assert!((1_000..1_200).contains(&calls("62")), "eleven in 21");
        assert_eq!(calls("21"), 2_100);
    }
}
