//! Expanding a layer under a clock: all states get their first joint move before any gets its second.
//!
//! When time runs out in a layer of thousands of states with dozens of joint moves each, the successors of the first
//! few states would say little about the others. So joint moves are tried state by state in turns, each state's from
//! a random place on. A state of which a share of the joint moves was tried counts them by one over that share; since
//! the place is random, masses keep their expectation. The other roles move uniformly here.

use super::Trellis;
use super::layer::{GrowingLayer, StateLayer};
use crate::Joint;
use crate::work::{Clue, OpenMoves, Work};
use game::{Fault, State};

impl Trellis {
    /// The successors of a layer that agree with a clue, as far as there is time. All of them, if there is enough.
    pub(super) fn expand_evenly(
        &self,
        work: &mut Work,
        states: &[State],
        from: &mut StateLayer,
        clue: &Clue,
    ) -> Result<GrowingLayer, Fault> {
        let parents: Vec<&State> = states.iter().collect();
        let mut fans: Vec<OpenMoves> = Vec::with_capacity(parents.len());
        for group in parents.chunks(256) {
            if !fans.is_empty() && work.is_late() {
                break;
            }
            fans.extend(work.fans(group, clue)?);
        }
        if fans.iter().any(|fan| fan.len() > self.whole(parents.len())) {
            return self.expand_states(work, states, from, clue);
        }
        from.log_choice.extend(fans.iter().map(|fan| fan.log_choice));
        let mut growing = GrowingLayer::new();
        let mut turns = Turns::new(self, &fans);
        let portion = work.portion();
        let (mut tests, mut steps) = (Vec::with_capacity(portion), Vec::with_capacity(portion));
        let mut ended = false;
        while !ended {
            tests.clear();
            steps.clear();
            turns.take(&fans, portion, &mut tests, &mut steps);
            ended = tests.is_empty();
            growing.add(work, &parents, &from.mass, &from.count, &tests, &steps, clue)?;
            ended |= work.must_end(!growing.states.is_empty());
        }
        if fans.len() < parents.len() {
            growing.cut_short(fans.len(), from);
        }
        growing.tried_shares(&turns.shares(&fans), from);
        Ok(growing)
    }
}

/// Which joint move of which state comes next.
struct Turns {
    /// Where each state begins.
    first: Vec<usize>,
    turn: usize,
    /// The state that is next in this turn.
    next: usize,
}

impl Turns {
    fn new(trellis: &Trellis, fans: &[OpenMoves]) -> Turns {
        let (again, round) = (u64::from(trellis.again), trellis.layers.len() as u64);
        let mut rng = trellis.seed.child("turns").nth(again).nth(round).rng();
        let first = fans.iter().map(|fan| rng.below(fan.len().max(1))).collect();
        Turns {
            first,
            turn: 0,
            next: 0,
        }
    }

    /// The next joint moves with their probabilities; none if all were tried.
    fn take(&mut self, fans: &[OpenMoves], n: usize, tests: &mut Vec<(u32, Joint)>, steps: &mut Vec<f64>) {
        let turns = fans.iter().map(OpenMoves::len).max().unwrap_or(0);
        while tests.len() < n && self.turn < turns {
            let (at, fan) = (self.next, &fans[self.next]);
            if self.turn < fan.len() {
                let number = (self.first[at] + self.turn) % fan.len();
                tests.push((at as u32, fan.joint(number)));
                steps.push((-fan.log_choice).exp());
            }
            self.next += 1;
            if self.next == fans.len() {
                (self.next, self.turn) = (0, self.turn + 1);
            }
        }
    }

    /// The share of each state's joint moves that was tried.
    fn shares(&self, fans: &[OpenMoves]) -> Vec<f64> {
        let share = |(at, fan): (usize, &OpenMoves)| {
            let tried = self.turn + usize::from(at < self.next);
            match fan.len() {
                0 => 1.0,
                len => (tried.min(len) as f64 / len as f64).max(f64::MIN_POSITIVE),
            }
        };
        fans.iter().enumerate().map(share).collect()
    }
}
