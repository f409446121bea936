//! Conditions that seldom hold are moved into the disjunctions beside them.
//!
//! Factoring takes out what the rules of an atom have in common: `legal(m)` becomes `piece(m) & clear(m) & (a | b)`.
//! That is right for code that evaluates every gate. Where changes walk through the network (`events.rs`), `a` and `b`
//! change for every move of the game, also for those whose piece is elsewhere. Here the factor goes back into the
//! disjunction, `r & a | r & b` with `r = piece(m) & clear(m)`: a change of `a` ends at `r & a`, which tests `r` and
//! does nothing more.
//!
//! Each disjunction beside the rare condition gets it: `r & (a | b) & (c | d)` becomes
//! `(r & a | r & b) & (r & c | r & d)`, and nothing is multiplied out. A disjunction that several gates read is copied
//! for each of them, if they are few. What this saves depends on the game, so a trial compares both networks.

use super::prefixes::likelihoods;
use crate::network::{Network, Node, NodeId, Signal};
use crate::passes::{apply, needed};
use crate::tuning::{Bounds, Tuning};
use rustc_hash::FxHashMap;

/// The same functions with rare conditions inside disjunctions; `likely` is the frequency of each fluent. `None` if
/// there are none, or the work was stopped.
pub(super) fn focus_gates(net: &Network, likely: &[f32], bounds: &Bounds) -> Option<Network> {
    let cone = needed(net, &net.outputs.all());
    let mut focus = Focus::new(net, &cone, likely, bounds.tuning);
    for (at, &is_needed) in cone.iter().enumerate() {
        if bounds.is_stopped_at(at) {
            return None;
        }
        let id = NodeId(at as u32);
        focus.image[at] = match net.node(id) {
            Node::And if !is_needed => continue,
            Node::And => focus.gate(id),
            _ => Signal::new(focus.new.leaf_like(net, id), false),
        };
    }
    if focus.under.is_empty() {
        return None;
    }
    let image = focus.image;
    let mut new = focus.new;
    new.outputs = net.outputs.map(|s| apply(&image, s));
    Some(new)
}

struct Focus<'n> {
    net: &'n Network,
    tuning: &'n Tuning,
    /// Estimated frequency of each node.
    likely: Vec<f32>,
    /// Number of readers of each node.
    readers: Vec<u32>,
    new: Network,
    /// Each node in the new network, under no condition.
    image: Vec<Signal>,
    /// Signals under a condition.
    under: FxHashMap<(Signal, Signal), Signal>,
    /// Gates that may still be copied.
    left: usize,
}

impl<'n> Focus<'n> {
    fn new(net: &'n Network, cone: &[bool], likely: &[f32], tuning: &'n Tuning) -> Focus<'n> {
        let mut readers = vec![0; net.len()];
        net.outputs.all().iter().for_each(|s| readers[s.node().0 as usize] += 1);
        for at in (0..net.len()).filter(|&at| cone[at]) {
            let operands = net.operands(NodeId(at as u32)).iter();
            operands.for_each(|s| readers[s.node().0 as usize] += 1);
        }
        let mut new = net.same_leaves();
        new.keep_shape();
        Focus {
            net,
            tuning,
            likely: likelihoods(net, likely),
            readers,
            new,
            image: vec![Signal::FALSE; net.len()],
            under: FxHashMap::default(),
            left: (tuning.focus_growth * net.len() as f32) as usize,
        }
    }

    /// Whether a signal is a disjunction that so few gates read that each may have its own.
    fn is_open(&self, s: Signal) -> bool {
        let readers = self.readers[s.node().0 as usize] as usize;
        let operands = self.net.operands(s.node()).len();
        s.is_complement()
            && self.net.node(s.node()) == Node::And
            && readers <= self.tuning.most_focused
            && operands <= self.tuning.widest_focus
    }

    fn likelihood(&self, s: Signal) -> f32 {
        let p = self.likely[s.node().0 as usize];
        if s.is_complement() { 1.0 - p } else { p }
    }

    /// A gate under no condition: its rare operands are moved into its disjunctions.
    fn gate(&mut self, id: NodeId) -> Signal {
        let (open, closed): (Vec<Signal>, Vec<Signal>) = self.net.operands(id).iter().partition(|&&s| self.is_open(s));
        let rarity: f32 = closed.iter().map(|&s| self.likelihood(s)).product();
        if open.is_empty() || rarity > self.tuning.likeliest_focus || self.left == 0 {
            let operands: Vec<Signal> = self.net.operands(id).iter().map(|&s| apply(&self.image, s)).collect();
            return self.new.and(operands);
        }
        let closed: Vec<Signal> = closed.iter().map(|&s| apply(&self.image, s)).collect();
        let condition = self.new.and(closed);
        let parts: Vec<Signal> = open.iter().map(|&s| self.signal(s, condition, 0)).collect();
        self.new.and(parts)
    }

    /// The conjunction of a signal and a condition of the new network.
    fn signal(&mut self, s: Signal, condition: Signal, depth: usize) -> Signal {
        if let Some(&known) = self.under.get(&(s, condition)) {
            return known;
        }
        let is_gate = self.net.node(s.node()) == Node::And;
        let made = if depth == self.tuning.deepest_focus || self.left == 0 || !is_gate {
            let plain = apply(&self.image, s);
            self.new.and([condition, plain])
        } else if self.is_open(s) {
            let operands = self.net.operands(s.node());
            let parts: Vec<Signal> = operands
                .iter()
                .map(|&o| self.signal(!o, condition, depth + 1))
                .collect();
            self.new.or(parts)
        } else if !s.is_complement() {
            self.conjunction(s.node(), condition, depth)
        } else {
            let plain = apply(&self.image, s);
            self.new.and([condition, plain])
        };
        self.left = self.left.saturating_sub(1);
        self.under.insert((s, condition), made);
        made
    }

    fn conjunction(&mut self, gate: NodeId, condition: Signal, depth: usize) -> Signal {
        if self.readers[gate.0 as usize] as usize > self.tuning.most_focused {
            let plain = self.image[gate.0 as usize];
            return self.new.and([condition, plain]);
        }
        let (open, closed): (Vec<Signal>, Vec<Signal>) =
            self.net.operands(gate).iter().partition(|&&s| self.is_open(s));
        let mut operands: Vec<Signal> = closed.iter().map(|&s| apply(&self.image, s)).collect();
        if open.is_empty() {
            operands.push(condition);
        }
        for s in open {
            let part = self.signal(s, condition, depth + 1);
            operands.push(part);
        }
        self.new.and(operands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::assert_same;
    use game::{Rng, Seed, StopFlag};

    /// `x & y & !(!a & !b)` as a network with one legal move.
    fn factored() -> Network {
        let mut net = Network::new(4, &[1]);
        net.keep_shape();
        let [x, y, a, b] = [0, 1, 2, 3].map(|f| net.fluent(f));
        let either = net.or([a, b]);
        net.outputs.legal = vec![vec![net.and([x, y, either])]];
        net.outputs.next = vec![Signal::FALSE; 4];
        net
    }

    #[test]
    fn rare_conditions_go_into_the_disjunction() {
        Bounds::shipped(|bounds| {
            let net = factored();
            let new = focus_gates(&net, &[0.1, 0.5, 0.5, 0.5], bounds).expect("x is rare");
            let mut expected = new.same_leaves();
            expected.keep_shape();
            let [x, y, a, b] = [0, 1, 2, 3].map(|f| expected.fluent(f));
            let rare = expected.and([x, y]);
            let parts = [a, b].map(|s| expected.and([rare, s]));
            let want = expected.or(parts);
            let show = |net: &Network, s: Signal| format!("{:?}", net.operands(s.node()).len());
            let got = new.outputs.legal[0][0];
            assert!(got.is_complement() && show(&new, got) == show(&expected, want));
            // The only readers of `a` and `b` are gates of two operands, of which the other is the rare condition.
            for part in new.operands(got.node()) {
                let operands = new.operands(part.node());
                assert!(part.is_complement() && operands.len() == 2);
                let gate = operands
                    .iter()
                    .find(|s| new.node(s.node()) == Node::And)
                    .expect("the condition");
                assert_eq!(new.operands(gate.node()), [x, y]);
            }
            assert_same(&net, &new, &mut Seed(1).rng());
        });
    }

    #[test]
    fn likely_conditions_stay() {
        Bounds::shipped(|bounds| assert!(focus_gates(&factored(), &[0.9; 4], bounds).is_none()));
    }

    fn random_network(rng: &mut Rng) -> Network {
        let mut net = Network::new(8, &[3, 3]);
        net.keep_shape();
        let mut signals: Vec<Signal> = (0..8).map(|f| net.fluent(f)).collect();
        signals.extend((0..3).flat_map(|mv| [net.does(0, mv), net.does(1, mv)]));
        for _ in 0..60 {
            let operands: Vec<Signal> = (0..2 + rng.below(3))
                .map(|_| {
                    let s = signals[signals.len() - 1 - rng.below(signals.len().min(20))];
                    if rng.below(2) == 0 { s } else { !s }
                })
                .collect();
            signals.push(net.and(operands));
        }
        let ends: Vec<Signal> = signals[signals.len() - 8..].to_vec();
        net.outputs.next = ends.iter().map(|&s| !s).collect();
        net.outputs.terminal = ends[0];
        net
    }

    #[test]
    fn random_networks_keep_their_functions() {
        let tunings = [(4, 64, 12, 4.0), (1, 2, 1, 4.0), (100, 100, 3, 0.2)];
        let mut n_changed = 0;
        for case in 0..300 {
            let mut rng = Seed(5).nth(case).rng();
            let net = random_network(&mut rng);
            let (most_focused, widest_focus, deepest_focus, focus_growth) = tunings[case as usize % 3];
            let tuning = Tuning {
                most_focused,
                widest_focus,
                deepest_focus,
                focus_growth,
                likeliest_focus: 0.8,
                ..Tuning::default()
            };
            let stop = StopFlag::default();
            let bounds = Bounds {
                tuning: &tuning,
                stop: &stop,
            };
            if let Some(new) = focus_gates(&net, &[0.3; 8], &bounds) {
                n_changed += 1;
                assert_same(&net, &new, &mut rng);
            }
        }
        assert!(n_changed > 100, "{n_changed}");
    }
}
