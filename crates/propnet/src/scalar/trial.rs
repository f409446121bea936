//! A few random games, to count how often the nodes of an [`EventNet`] change and hold.

use super::evaluator::{Stage, Values};
use super::events::{EventNet, Events};
use super::step::{nth_set, random_rank};
use crate::tuning::Bounds;
use game::{Rng, Seed};

/// Counts of the trial.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    /// Number of changes per node.
    pub changes: Vec<u32>,
    /// Number of times that each node held, out of `looks`.
    pub held: Vec<u32>,
    pub looks: u32,
    /// The values at the last count.
    last: Vec<u64>,
}

impl Trial {
    /// A trial with given counts.
    #[cfg(test)]
    pub fn counted(changes: Vec<u32>, held: Vec<u32>, looks: u32) -> Trial {
        Trial {
            changes,
            held,
            looks,
            last: Vec::new(),
        }
    }

    /// Plays random games from a state.
    pub fn run(net: &EventNet, initial: &[u64], bounds: &Bounds) -> Trial {
        let mut events = Events::start(net);
        let mut trial = Trial {
            changes: vec![0; events.known.len() * 64],
            held: vec![0; events.known.len() * 64],
            looks: 0,
            last: events.known.clone(),
        };
        let mut rng = Seed(0).child("trial").rng();
        let mut left = bounds.tuning.trial_steps;
        while left > 0 && !bounds.is_stopped() {
            events.move_to(net, initial);
            trial.last.copy_from_slice(&events.known);
            let played = trial.play(
                net,
                &mut events,
                left.min(bounds.tuning.longest_trial),
                &mut rng,
                bounds,
            );
            left = left.saturating_sub(played.max(1));
        }
        trial
    }

    /// Plays one game; returns the number of joint moves made.
    fn play(&mut self, net: &EventNet, events: &mut Events, most: usize, rng: &mut Rng, bounds: &Bounds) -> usize {
        for made in 0..most {
            if bounds.is_stopped() {
                return made;
            }
            let joint: Option<Vec<u32>> = (0..net.guards.roles.len())
                .map(|role| pick(net, events, role, rng))
                .collect();
            let Some(joint) = joint.filter(|_| !is_over(net, events)) else {
                return made;
            };
            events.make(net, &joint, Stage::Sees);
            self.look(&events.known);
            events.advance(net);
            self.look(&events.known);
        }
        most
    }

    fn look(&mut self, known: &[u64]) {
        self.looks += 1;
        for (word, (&now, last)) in known.iter().zip(&mut self.last).enumerate() {
            super::set_bits(now).for_each(|bit| self.held[word * 64 + bit as usize] += 1);
            super::set_bits(now ^ *last).for_each(|bit| self.changes[word * 64 + bit as usize] += 1);
            *last = now;
        }
    }
}

fn is_over(net: &EventNet, events: &Events) -> bool {
    events.outputs()[net.words.ends()] >> net.guards.case(events.state()) & 1 == 1
}

/// A random legal move.
fn pick(net: &EventNet, events: &Events, role: usize, rng: &mut Rng) -> Option<u32> {
    let (first, n) = net.words.legal[role];
    let visible = net.guards.roles[role].visible(events.state());
    let words = || (0..n).map(|at| events.outputs()[first + at] & visible[at]);
    let mut rank = random_rank(words().map(u64::count_ones).sum(), rng)?;
    for (at, word) in words().enumerate() {
        if rank < word.count_ones() {
            return Some(at as u32 * 64 + nth_set(word, rank));
        }
        rank -= word.count_ones();
    }
    None
}
