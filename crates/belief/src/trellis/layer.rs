//! The states of one round, and the steps into them.

use crate::work::{Clue, PORTION, Work};
use crate::{FirstTries, Joint};
use game::{Fault, State};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// A step into a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerStep {
    /// The state of the layer before.
    pub parent: u32,
    /// The joint move, as an index into [`StateLayer::joints`].
    pub joint: u32,
    /// Mass of the parent times probability of the move, in any scale.
    pub mass: f64,
}

/// The distinct states that a round may have led to.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateLayer {
    pub states: Vec<State>,
    /// Posterior mass of each state; sums to 1 when the layer is made.
    pub mass: Vec<f64>,
    /// Number of histories that lead to each state. Meaningless once layers are resampled.
    pub count: Vec<f64>,
    /// Log of the number of moves of the other roles; empty until the layer is expanded.
    pub log_choice: Vec<f64>,
    /// States of which resampling dropped a successor: without successors they are not known to be dead.
    pub open: Vec<bool>,
    pub joints: Vec<Joint>,
    /// Whether masses are exact.
    pub exact: bool,
    steps: Vec<LayerStep>,
    /// Where the steps into each state begin, and where the last ones end.
    first: Vec<u32>,
}

impl StateLayer {
    /// The layer of the initial state.
    pub(crate) fn start(state: &State) -> StateLayer {
        StateLayer {
            states: vec![state.clone()],
            mass: vec![1.0],
            count: vec![1.0],
            open: vec![false],
            exact: true,
            first: vec![0, 0],
            ..StateLayer::default()
        }
    }

    /// The steps into a state.
    pub(crate) fn steps_into(&self, at: usize) -> &[LayerStep] {
        &self.steps[self.first[at] as usize..self.first[at + 1] as usize]
    }

    /// Keeps some states; gives the new number of each.
    fn retain(&mut self, keep: &[bool]) -> Vec<u32> {
        let mut renumbered = vec![u32::MAX; keep.len()];
        let (mut steps, mut first, mut n) = (Vec::new(), vec![0], 0);
        for at in (0..keep.len()).filter(|&at| keep[at]) {
            renumbered[at] = n;
            n += 1;
            steps.extend_from_slice(self.steps_into(at));
            first.push(steps.len() as u32);
        }
        (self.steps, self.first) = (steps, first);
        retain(&mut self.states, keep);
        retain(&mut self.mass, keep);
        retain(&mut self.count, keep);
        retain(&mut self.open, keep);
        if !self.log_choice.is_empty() {
            retain(&mut self.log_choice, keep);
        }
        renumbered
    }
}

fn retain<T>(items: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    items.retain(|_| keep.next().copied().unwrap_or(false));
}

/// Removes states from which no step leads to the last layer, from the last layer but one backwards. Layers before
/// `settled` are visited only while the layer after them has lost states.
pub(crate) fn prune(layers: &mut [StateLayer], settled: usize) {
    for at in (1..layers.len()).rev() {
        if !prune_before(layers, at) && at <= settled {
            return;
        }
    }
}

/// Removes states of the layer before this one from which no step leads on; whether there were any.
fn prune_before(layers: &mut [StateLayer], at: usize) -> bool {
    let (before, after) = layers.split_at_mut(at);
    let (layer, next) = (&mut before[at - 1], &mut after[0]);
    let mut keep = layer.open.clone();
    next.steps.iter().for_each(|step| keep[step.parent as usize] = true);
    if keep.iter().all(|&k| k) {
        return false;
    }
    let renumbered = layer.retain(&keep);
    next.steps
        .iter_mut()
        .for_each(|step| step.parent = renumbered[step.parent as usize]);
    true
}

/// Layers that one call thins out: all of them at once take long in a long match.
const THINNED: usize = 16;

/// Bounds the memory of a long match: if the layers have more than `most` states together, old layers keep only the
/// states that lead to the last layer, so that about half as many are left. Going back to such a layer finds less. A
/// call does a part of it: `upto` is what the call before returned, the layer up to which there is something to do.
pub(crate) fn thin_out(layers: &mut [StateLayer], most: usize, mut upto: usize) -> usize {
    upto = upto.min(layers.len() - 1);
    let total: usize = layers.iter().map(|layer| layer.states.len()).sum();
    if upto == 0 && total > most {
        let mut newer = 0;
        for (at, layer) in layers.iter_mut().enumerate().rev() {
            newer += layer.states.len();
            if newer > most / 2 {
                layer.open.fill(false);
                upto = upto.max(at + 1);
            }
        }
        upto = upto.min(layers.len() - 1);
    }
    let end = upto.saturating_sub(THINNED);
    (end + 1..=upto).rev().for_each(|at| {
        prune_before(layers, at);
    });
    end
}

/// No state.
const NOWHERE: u32 = u32::MAX;

/// A layer while its states are being found.
pub(crate) struct GrowingLayer {
    pub states: Vec<State>,
    pub mass: Vec<f64>,
    pub tries: FirstTries,
    count: Vec<f64>,
    /// By hash of a state: the last state found with that hash. (States are not copied into the map, to keep it small.)
    heads: FxHashMap<u64, u32>,
    /// For each state, the state of the same hash found before it.
    earlier: Vec<u32>,
    joints: Vec<Joint>,
    joint_places: FxHashMap<Joint, u32>,
    /// Child and step, in the order they were found.
    steps: Vec<(u32, LayerStep)>,
    resampled: bool,
    /// For the first states, whether they agree with what is known about the state now.
    fits: Vec<bool>,
}

impl GrowingLayer {
    pub(crate) fn new() -> GrowingLayer {
        GrowingLayer {
            states: Vec::new(),
            mass: Vec::new(),
            tries: FirstTries::default(),
            count: Vec::new(),
            heads: FxHashMap::default(),
            earlier: Vec::new(),
            joints: Vec::new(),
            joint_places: FxHashMap::default(),
            steps: Vec::new(),
            resampled: false,
            fits: Vec::new(),
        }
    }

    /// Tries candidates and adds those that agree with the clue.
    #[expect(
        clippy::too_many_arguments,
        reason = "columns of one table, kept apart for the borrow checker"
    )]
    pub(crate) fn add(
        &mut self,
        work: &mut Work,
        parents: &[&State],
        mass: &[f64],
        count: &[f64],
        candidates: &[(u32, Joint)],
        probabilities: &[f64],
        clue: &Clue,
    ) -> Result<(), Fault> {
        self.tries.tried += candidates.len() as u64;
        work.touches += candidates.len() as u64;
        work.try_all(parents, candidates, clue, &mut |n, state| {
            self.tries.fit += 1;
            let (parent, joint) = &candidates[n];
            let brought = mass[*parent as usize] * probabilities[n];
            let child = self.place_of(state);
            self.mass[child as usize] += brought;
            self.count[child as usize] += count[*parent as usize];
            let step = LayerStep {
                parent: *parent,
                joint: self.place_of_joint(joint),
                mass: brought,
            };
            self.steps.push((child, step));
        })?;
        // New states are checked as they come, in full lanes, so that little is left to do when the time is up.
        while self.states.len() - self.fits.len() >= PORTION {
            self.check(work, self.fits.len() + PORTION)?;
        }
        Ok(())
    }

    /// Checks the states up to this one against what is known about the state now.
    fn check(&mut self, work: &mut Work, upto: usize) -> Result<(), Fault> {
        let states: Vec<&State> = self.states[self.fits.len()..upto].iter().collect();
        self.fits.extend(work.fits_now(&states)?);
        Ok(())
    }

    /// Checks the states that are left.
    pub(crate) fn check_all(&mut self, work: &mut Work) -> Result<(), Fault> {
        self.check(work, self.states.len())
    }

    /// Keeps only the states that agree with what is known about the state now.
    pub(crate) fn retain_fitting(&mut self) {
        let fits = std::mem::take(&mut self.fits);
        self.retain(&fits);
    }

    /// Records that the states of the layer before were expanded only up to this one.
    pub(crate) fn cut_short(&mut self, parent: usize, from: &mut StateLayer) {
        self.resampled = true;
        from.open[parent..].fill(true);
        from.log_choice.resize(from.open.len(), 0.0);
    }

    /// Records that only a share of each parent's joint moves was tried: the steps stand for the others too.
    pub(crate) fn tried_shares(&mut self, shares: &[f64], from: &mut StateLayer) {
        for (parent, _) in shares.iter().enumerate().filter(|(_, share)| **share < 1.0) {
            self.resampled = true;
            from.open[parent] = true;
        }
        self.mass.fill(0.0);
        for (child, step) in &mut self.steps {
            step.mass /= shares[step.parent as usize];
            self.mass[*child as usize] += step.mass;
        }
    }

    /// Records that only a sample of a parent's joint moves was tried.
    pub(crate) fn sampled(&mut self, parent: usize, from: &mut StateLayer) {
        self.resampled = true;
        from.open[parent] = true;
    }

    fn place_of(&mut self, state: State) -> u32 {
        let place = self.states.len() as u32;
        let head = self.heads.entry(FxBuildHasher.hash_one(&state)).or_insert(NOWHERE);
        let mut at = *head;
        while at != NOWHERE {
            if self.states[at as usize] == state {
                return at;
            }
            at = self.earlier[at as usize];
        }
        self.earlier.push(std::mem::replace(head, place));
        self.states.push(state);
        self.mass.push(0.0);
        self.count.push(0.0);
        place
    }

    fn place_of_joint(&mut self, joint: &Joint) -> u32 {
        if let Some(&place) = self.joint_places.get(joint) {
            return place;
        }
        let place = self.joints.len() as u32;
        self.joint_places.insert(joint.clone(), place);
        self.joints.push(joint.clone());
        place
    }

    /// Keeps only these states.
    pub(crate) fn retain(&mut self, keep: &[bool]) {
        if keep.iter().all(|&k| k) {
            return;
        }
        let mut n = 0;
        let renumbered: Vec<u32> = keep
            .iter()
            .map(|&k| {
                n += u32::from(k);
                n.wrapping_sub(1)
            })
            .collect();
        self.steps.retain(|(child, _)| keep[*child as usize]);
        self.steps
            .iter_mut()
            .for_each(|(child, _)| *child = renumbered[*child as usize]);
        retain(&mut self.states, keep);
        retain(&mut self.mass, keep);
        retain(&mut self.count, keep);
    }

    /// Drops the states that resampling did not keep, and marks their parents as open.
    pub(crate) fn drop_unless_kept(&mut self, keep: &[bool], from: &mut StateLayer) {
        self.resampled = true;
        for (_, step) in self.steps.iter().filter(|(child, _)| !keep[*child as usize]) {
            from.open[step.parent as usize] = true;
        }
        self.retain(keep);
    }

    /// The layer, its masses scaled to sum to 1.
    pub(crate) fn finish(mut self, from: &StateLayer) -> StateLayer {
        let total: f64 = self.mass.iter().sum();
        self.mass.iter_mut().for_each(|m| *m /= total);
        let (steps, first) = by_child(&self.steps, self.states.len());
        StateLayer {
            open: vec![false; self.states.len()],
            log_choice: Vec::new(),
            exact: from.exact && !self.resampled,
            states: self.states,
            mass: self.mass,
            count: self.count,
            joints: self.joints,
            steps,
            first,
        }
    }
}

/// Steps sorted by child, in the order in which they were found, with the first step of each child.
fn by_child(found: &[(u32, LayerStep)], n_children: usize) -> (Vec<LayerStep>, Vec<u32>) {
    let mut first = vec![0_u32; n_children + 1];
    found.iter().for_each(|(child, _)| first[*child as usize + 1] += 1);
    for at in 1..first.len() {
        first[at] += first[at - 1];
    }
    let mut free = first.clone();
    let nothing = LayerStep {
        parent: 0,
        joint: 0,
        mass: 0.0,
    };
    let mut steps = vec![nothing; found.len()];
    for (child, step) in found {
        let place = &mut free[*child as usize];
        steps[*place as usize] = *step;
        *place += 1;
    }
    (steps, first)
}

#[cfg(test)]
mod tests {
    use super::super::Trellis;
    use super::*;
    use crate::Options;
    use game::{MoveId, Seed};

    /// A layer of so many states; the steps into them come from these states of the layer before.
    fn layer(n: usize, parents: &[u32]) -> StateLayer {
        let step = |&parent: &u32| LayerStep {
            parent,
            joint: 0,
            mass: 1.0,
        };
        let found: Vec<(u32, LayerStep)> = (0..).zip(parents.iter().map(step)).collect();
        let (steps, first) = by_child(&found, n);
        StateLayer {
            states: vec![State::default(); n],
            mass: vec![1.0; n],
            count: vec![1.0; n],
            open: vec![true; n],
            steps,
            first,
            ..StateLayer::default()
        }
    }

    #[test]
    fn old_layers_are_thinned_out() {
        let sizes = |layers: &[StateLayer]| -> Vec<usize> { layers.iter().map(|layer| layer.states.len()).collect() };
        let layers = [
            layer(4, &[]),
            layer(4, &[0, 1, 2, 3]),
            layer(4, &[1, 1, 2, 2]),
            layer(2, &[0, 3]),
        ];
        let mut same = layers.to_vec();
        assert_eq!(thin_out(&mut same, 14, 0), 0);
        assert_eq!(sizes(&same), [4, 4, 4, 2]);
        let mut fewer = layers.to_vec();
        assert_eq!(thin_out(&mut fewer, 13, 0), 0);
        // The last two layers have six states. In the layer before, states 1 and 2 lead on, and so in the first.
        assert_eq!(sizes(&fewer), [2, 2, 4, 2]);
        assert_eq!(fewer[1].steps_into(0)[0].parent, 0);
        assert_eq!(fewer[2].steps_into(3)[0].parent, 1);
    }

    /// Forty layers of four states whose histories all pass through one state of layer 27.
    #[test]
    fn many_layers_are_thinned_out_by_parts() {
        let mut layers = vec![layer(4, &[])];
        layers.extend((1..40).map(|at| layer(4, if at == 28 { &[2; 4] } else { &[0, 1, 2, 3] })));
        let total = |layers: &[StateLayer]| -> usize { layers.iter().map(|layer| layer.states.len()).sum() };
        let (mut left, mut sizes) = (0, Vec::new());
        for _ in 0..3 {
            left = thin_out(&mut layers, 100, left);
            sizes.push((left, total(&layers)));
        }
        // Layers from 28 on have 48 states and are left alone. Sixteen older layers are thinned out first.
        assert_eq!(sizes, [(12, 48 + 16 + 4 * 12), (0, 48 + 28), (0, 48 + 28)]);
    }

    /// One state that two states lead to, with masses 1 and 3: a past is drawn by its mass, and models of one line of
    /// descent have the same one.
    #[test]
    fn models_of_one_line_share_a_past_that_is_drawn_by_its_mass() {
        let named = |n, parents: &[u32]| {
            let mut made = layer(n, parents);
            made.joints = vec![Joint::from_iter([MoveId(n as u32)])];
            made.log_choice = vec![0.0; n];
            made
        };
        let mut last = named(1, &[]);
        let step = |parent, joint, mass| (0, LayerStep { parent, joint, mass });
        (last.steps, last.first) = by_child(&[step(0, 0, 1.0), step(1, 1, 3.0)], 1);
        last.joints = vec![Joint::from_iter([MoveId(7)]), Joint::from_iter([MoveId(8)])];
        let mut trellis = Trellis::new(&Options::default(), Seed(1));
        trellis.layers = vec![named(1, &[]), named(2, &[0, 0]), last];
        let past = |line: u64, n: u64| {
            let model = trellis.draw(&[1.0], &mut Seed(n).rng(), Some(Seed(9).nth(line)));
            model.expect("a model").history[1][0]
        };
        assert!((0..50).all(|line| (0..5).all(|n| past(line, n) == past(line, 0))));
        let heavy = (0..4_000).filter(|&line| past(line, line) == MoveId(8)).count();
        assert!((2_900..3_100).contains(&heavy), "{heavy}");
    }
}
