//! Evaluation by cones: for every fluent, machine code that recomputes exactly what depends on it.
//!
//! Everything that depends on the state alone is kept up to date: legal moves, and changes that no move causes. When a
//! fluent changes, its *cone* runs, which is code without branches. The effect of a joint move is known at preparation
//! except for a few bits: most fluents keep their value, and most others get the same value in every state. Only the
//! rest is computed when the move is made.
//!
//! As with [`super::events`], the cost grows with the number of changes. A change costs its whole cone, but an
//! operation of a cone costs about one cycle, and an operation of the events about twelve.
//!
//! Where it is less work, legal moves are not kept up to date but computed from their [`super::heads`].

mod build;

use super::evaluator::{Stage, Values};
use super::guards::{Guard, Guards};
use super::heads::take_heads;
use super::numbering::Numbering;
use super::set_bits;
use super::step::{FIRST_FLUENT, pack};
use super::words::Words;
use crate::compiled::Habits;
use crate::jit::{BlockId, NativeBlocks};
use crate::lanes::layout::ONE;
use crate::network::Network;
use crate::tuning::{Bounds, Tuning};
use build::Builder;
use std::ops::Range;

/// A network as pieces of machine code, prepared once per game.
#[derive(Debug)]
pub(super) struct ConeNet {
    /// Places of the outputs.
    pub words: Words,
    /// Guards that are left out of legal moves and terminal.
    pub guards: Guards,
    code: NativeBlocks,
    /// Code of all cones together.
    whole: BlockId,
    fluents: Vec<Cone>,
    /// Legal moves that are not kept up to date.
    heads: Option<Heads>,
    /// Output words that a change of each fluent may change, as bits: per fluent as many words as [`Cones::stale`] has.
    touched: Vec<u64>,
    /// Bits of next state and percepts that depend on no move.
    by_itself: Vec<u64>,
    numbering: Numbering,
    /// Effect of each prepared joint move; the last one is for all other joint moves.
    effects: Vec<Effect>,
    /// Masks of all effects: see [`Effect::masks`].
    masks: Vec<Masks>,
    /// Computed bits of all effects: see [`Effect::computed`].
    computed: Vec<Computed>,
    /// The byte of each role's first move.
    does: Vec<usize>,
    /// The first byte of the outputs.
    outputs: usize,
    n_fluents: usize,
}

/// Code that a change of a fluent runs.
#[derive(Clone, Debug)]
struct Cone {
    code: Option<BlockId>,
    ops: u32,
}

/// Moves that are computed from their heads when a state is entered.
#[derive(Debug)]
struct Heads {
    groups: Vec<Group>,
    /// The first byte of the results.
    cells: usize,
    /// Per case of the end of the game: output words and bits, none of which may be set.
    none_of: Vec<Vec<(u32, u64)>>,
}

/// Heads of moves behind one guard, or behind none.
#[derive(Debug)]
struct Group {
    guard: Option<Guard>,
    /// Words of the state, and their bits that are heads.
    fluents: Vec<(u32, u64)>,
    /// Per fluent.
    blocks: Vec<Option<HeadBlock>>,
}

/// Code of the moves of a head.
#[derive(Clone, Debug)]
struct HeadBlock {
    code: BlockId,
    ops: u32,
    /// Output words.
    words: Vec<u32>,
}

/// The effect of a joint move. Other fluents keep their value, other percepts are not seen.
#[derive(Clone, Debug)]
struct Effect {
    masks: Range<u32>,
    code: Option<BlockId>,
    computed: Range<u32>,
    ops: u32,
}

/// Known bits of an output word.
#[derive(Clone, Copy, Debug)]
struct Masks {
    word: u32,
    keep: u64,
    set: u64,
}

/// An output bit, and the byte in which code computes it.
#[derive(Clone, Copy, Debug)]
struct Computed {
    bit: u32,
    cell: u32,
}

/// The values that belong to one state and joint move.
#[derive(Clone, Debug)]
pub(super) struct Cones {
    /// The state these values belong to.
    state: Vec<u64>,
    /// Output bits.
    outputs: Vec<u64>,
    /// Next state and percepts as far as they depend on no move.
    by_itself: Vec<u64>,
    next: Vec<u64>,
    /// Words before the next state, without the moves of heads.
    kept: Vec<u64>,
    /// Words that contain moves of heads, as bits.
    headed: Vec<u64>,
    frame: Vec<u8>,
    /// Output words to be packed again, as bits.
    stale: Vec<u64>,
    is_new: bool,
}

impl ConeNet {
    /// Prepares a network; `None` if it has cycles, is too large, the machine does not run such code, or the work was
    /// stopped. `noop_moves` are the moves that roles make out of turn. Cones of which a step costs more than `most`
    /// operations are not made.
    pub fn new(
        net: &Network,
        noop_moves: &[Option<u32>],
        habits: Habits,
        most: f32,
        bounds: &Bounds,
    ) -> Option<ConeNet> {
        if !net.cycles().is_empty() {
            return None;
        }
        let mut net = net.clone();
        net.keep_shape();
        let guards = Guards::split(&mut net, bounds);
        let numbering = Numbering::new(&net.n_moves(), noop_moves, bounds.tuning.cone_joint_moves);
        bounds.go_on()?;
        let mut rest = net.clone();
        let worth = bounds.tuning.worth_heads;
        let (plan, whole, kept) = std::thread::scope(|scope| {
            let plan = scope.spawn(|| take_heads(&mut rest, &guards, habits.likely, bounds));
            let whole = Builder::new(&net, None, *bounds);
            // Beyond these bounds the sums decide nothing any more.
            let kept = whole
                .as_ref()
                .map_or(0.0, |whole| whole.state_cost(habits, (most / worth).max(most)));
            let plan = plan.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Some((plan, whole?, kept))
        })?;
        bounds.go_on()?;
        let whole = (kept <= most).then_some(whole);
        if let Some(plan) = plan {
            let builder = Builder::new(&rest, Some(plan), *bounds)?;
            let state = builder.state_cost(habits, most);
            if state <= most && state + builder.head_cost(habits) < worth * kept {
                return builder.build(guards, numbering);
            }
        }
        whole?.build(guards, numbering)
    }

    /// Average number of operations per step.
    pub fn cost(&self, habits: Habits, tuning: &Tuning) -> f32 {
        let cones = self.fluents.iter().zip(habits.changes);
        let state: f32 = cones.map(|(cone, p)| cone.ops as f32 * p).sum();
        let made: usize = self.effects.iter().map(|effect| effect.ops as usize).sum();
        let groups = self.heads.iter().flat_map(|heads| &heads.groups);
        let heads = groups.map(|group| {
            let ops = group.blocks.iter().map(|block| block.as_ref().map(|block| block.ops));
            heads_cost(group.guard.as_ref(), ops, habits, tuning)
        });
        state + heads.sum::<f32>() + made as f32 / self.effects.len() as f32
    }
}

/// Average number of operations per step of heads behind a guard, given the operations of each fluent's code.
fn heads_cost(guard: Option<&Guard>, ops: impl Iterator<Item = Option<u32>>, habits: Habits, tuning: &Tuning) -> f32 {
    let open = guard.map_or(1.0, |guard| {
        let likely = habits.likely[guard.fluent as usize];
        if guard.value { likely } else { 1.0 - likely }
    });
    let heads = ops.zip(habits.likely);
    open * heads
        .map(|(ops, p)| ops.map_or(0.0, |ops| p * (ops as f32 + tuning.head_call)))
        .sum::<f32>()
}

/// Number of words with one bit per output word.
fn stale_words(words: &Words) -> usize {
    words.len.div_ceil(64)
}

impl Values for Cones {
    type Net = ConeNet;

    fn start(net: &ConeNet) -> Cones {
        let n_words = net.n_fluents.div_ceil(64);
        let mut frame = vec![0; net.code.frame_len];
        frame[ONE as usize] = 0xff;
        Cones {
            state: vec![0; n_words],
            outputs: vec![0; net.words.len],
            by_itself: vec![0; net.words.len - net.words.next],
            next: vec![0; n_words],
            kept: vec![0; net.words.next],
            headed: vec![0; stale_words(&net.words)],
            frame,
            stale: vec![0; stale_words(&net.words)],
            is_new: true,
        }
    }

    #[inline(always)]
    fn words(net: &ConeNet) -> &Words {
        &net.words
    }

    #[inline(always)]
    fn guards(net: &ConeNet) -> Option<&Guards> {
        Some(&net.guards)
    }

    #[inline(always)]
    fn state(&self) -> &[u64] {
        &self.state
    }

    #[inline(always)]
    fn outputs(&self) -> &[u64] {
        &self.outputs
    }

    #[inline(always)]
    fn fluent_bytes(&self, net: &ConeNet) -> Option<&[u8]> {
        Some(&self.frame[FIRST_FLUENT..FIRST_FLUENT + net.n_fluents])
    }

    #[inline(always)]
    fn move_to(&mut self, net: &ConeNet, state: &[u64]) {
        if std::mem::take(&mut self.is_new) {
            return self.fill(net, state);
        }
        let mut is_other = false;
        for (word, &new) in state.iter().enumerate() {
            let mut difference = self.state[word] ^ new;
            self.state[word] = new;
            is_other |= difference != 0;
            while difference != 0 {
                let at = difference.trailing_zeros() as usize;
                difference &= difference - 1;
                let f = word * 64 + at;
                self.frame[FIRST_FLUENT + f] = (new >> at & 1) as u8;
                let cone = &net.fluents[f];
                if let Some(code) = cone.code {
                    net.code.run(code, &mut self.frame);
                }
                let n = self.stale.len();
                let touched = &net.touched[f * n..(f + 1) * n];
                self.stale
                    .iter_mut()
                    .zip(touched)
                    .for_each(|(stale, touched)| *stale |= touched);
            }
        }
        if is_other {
            self.pack_stale(net);
            self.run_heads(net);
        }
    }

    #[inline(always)]
    fn make(&mut self, net: &ConeNet, joint: &[u32], _: Stage) {
        let number = net.numbering.number(joint);
        let effect = match number {
            Some(number) => &net.effects[number],
            None => {
                self.say(net, joint, 1);
                &net.effects[net.effects.len() - 1]
            }
        };
        let (next, sees) = self.outputs[net.words.next..].split_at_mut(self.state.len());
        let (next_by_itself, sees_by_itself) = self.by_itself.split_at(self.state.len());
        for (at, word) in next.iter_mut().enumerate() {
            *word = self.state[at] & !net.by_itself[at] | next_by_itself[at];
        }
        sees.copy_from_slice(sees_by_itself);
        for masks in &net.masks[effect.masks.start as usize..effect.masks.end as usize] {
            let word = &mut self.outputs[masks.word as usize];
            *word = *word & masks.keep | masks.set;
        }
        if let Some(code) = effect.code {
            net.code.run(code, &mut self.frame);
            for computed in &net.computed[effect.computed.start as usize..effect.computed.end as usize] {
                let value = u64::from(self.frame[computed.cell as usize] & 1);
                let (word, at) = (computed.bit as usize / 64, computed.bit % 64);
                self.outputs[word] = self.outputs[word] & !(1 << at) | value << at;
            }
        }
        if number.is_none() {
            self.say(net, joint, 0);
        }
    }

    #[inline(always)]
    fn advance(&mut self, net: &ConeNet) {
        let mut next = std::mem::take(&mut self.next);
        next.copy_from_slice(&self.outputs[net.words.next..net.words.next + self.state.len()]);
        self.move_to(net, &next);
        self.next = next;
    }

    #[inline(always)]
    fn copy_from(&mut self, other: &Cones) {
        self.state.copy_from_slice(&other.state);
        self.outputs.copy_from_slice(&other.outputs);
        self.by_itself.copy_from_slice(&other.by_itself);
        self.kept.copy_from_slice(&other.kept);
        self.headed.copy_from_slice(&other.headed);
        self.frame.copy_from_slice(&other.frame);
    }
}

impl Cones {
    /// Computes everything for a state.
    fn fill(&mut self, net: &ConeNet, state: &[u64]) {
        self.state.copy_from_slice(state);
        for f in 0..net.n_fluents {
            self.frame[FIRST_FLUENT + f] = (state[f / 64] >> (f % 64) & 1) as u8;
        }
        net.code.run(net.whole, &mut self.frame);
        (0..net.words.len).for_each(|word| self.stale[word / 64] |= 1 << (word % 64));
        self.pack_stale(net);
        self.run_heads(net);
    }

    /// Computes the moves of the heads that hold, and removes those of the last state.
    #[inline(always)]
    fn run_heads(&mut self, net: &ConeNet) {
        let Some(heads) = &net.heads else { return };
        for at in 0..self.headed.len() {
            for word in set_bits(std::mem::take(&mut self.headed[at])).map(|bit| at * 64 + bit as usize) {
                let first = heads.cells + word * 64;
                self.frame[first..first + 64].fill(0);
                self.outputs[word] = self.kept[word];
            }
        }
        for group in &heads.groups {
            if group.guard.as_ref().is_some_and(|guard| !guard.is_open(&self.state)) {
                continue;
            }
            for &(word, mask) in &group.fluents {
                for bit in set_bits(self.state[word as usize] & mask) {
                    if let Some(block) = &group.blocks[word as usize * 64 + bit as usize] {
                        net.code.run(block.code, &mut self.frame);
                        for &word in &block.words {
                            self.headed[word as usize / 64] |= 1 << (word % 64);
                        }
                    }
                }
            }
        }
        for at in 0..self.headed.len() {
            for word in set_bits(self.headed[at]).map(|bit| at * 64 + bit as usize) {
                let first = heads.cells + word * 64;
                self.outputs[word] = self.kept[word] | pack(&self.frame[first..first + 64]);
            }
        }
        let case = net.guards.case(&self.state);
        let row = net.words.ends();
        let outputs = &self.outputs;
        let is_any = heads.none_of[case]
            .iter()
            .any(|&(word, mask)| outputs[word as usize] & mask != 0);
        self.outputs[row] = self.kept[row] & !(u64::from(is_any) << case);
    }

    #[inline(always)]
    fn pack_stale(&mut self, net: &ConeNet) {
        for at in 0..self.stale.len() {
            let mut stale = std::mem::take(&mut self.stale[at]);
            while stale != 0 {
                let word = at * 64 + stale.trailing_zeros() as usize;
                stale &= stale - 1;
                let first = net.outputs + word * 64;
                let packed = pack(&self.frame[first..first + 64]);
                match word.checked_sub(net.words.next) {
                    None => {
                        self.kept[word] = packed;
                        self.outputs[word] = packed;
                    }
                    Some(at) => self.by_itself[at] = packed & net.by_itself[at],
                }
            }
        }
    }

    /// Writes or clears the moves of an unprepared joint move.
    #[cold]
    fn say(&mut self, net: &ConeNet, joint: &[u32], value: u8) {
        for (&first, &mv) in net.does.iter().zip(joint) {
            self.frame[first + mv as usize] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::events::{EventNet, Events};
    use super::*;
    use crate::random_program::random_program;
    use crate::{CompileOptions, compile};
    use game::{Rng, Seed, StopFlag};

    fn random_moves(net: &Network, rng: &mut Rng) -> Vec<u32> {
        net.n_moves().iter().map(|&n| rng.below(n) as u32).collect()
    }

    /// Legal moves, and whether the game is over, as they are read.
    fn visible(words: &Words, guards: &Guards, outputs: &[u64], state: &[u64]) -> (Vec<u64>, bool) {
        let legal = guards.roles.iter().zip(&words.legal).flat_map(|(role, &(first, n))| {
            let words = &outputs[first..first + n];
            words
                .iter()
                .zip(role.visible(state))
                .map(|(word, visible)| word & visible)
        });
        (legal.collect(), outputs[words.ends()] >> guards.case(state) & 1 == 1)
    }

    /// The outputs are those of the events, whatever is prepared.
    #[test]
    fn cones_agree_with_events() {
        let mut rng = Seed(31).rng();
        let (mut checked, mut with_heads) = ([0; 3], 0);
        for case in 0..900 {
            let game = compile(&random_program(&mut rng), &CompileOptions::default());
            let net = game.network();
            let noop_moves: Vec<Option<u32>> = random_moves(net, &mut rng)
                .into_iter()
                .map(|mv| (case % 3 != 2).then_some(mv))
                .collect();
            let small = Tuning::small();
            let tuning = Tuning {
                cone_joint_moves: if case % 3 == 0 { small.cone_joint_moves } else { 0 },
                worth_heads: if case % 4 == 0 { 0.0 } else { f32::INFINITY },
                ..if case % 5 == 4 { Tuning::default() } else { small }
            };
            let stop = StopFlag::default();
            let bounds = Bounds {
                tuning: &tuning,
                stop: &stop,
            };
            let Some(cones) = ConeNet::new(net, &noop_moves, game.habits(), f32::INFINITY, &bounds) else {
                continue;
            };
            with_heads += usize::from(cones.heads.is_some());
            let likely = vec![0.5; net.n_fluents()];
            let Some(events) = EventNet::new(net, &likely, &game.initial_state().0, &bounds) else {
                continue;
            };
            checked[case % 3] += 1;
            let (mut fast, mut slow) = (Cones::start(&cones), Events::start(&events));
            let mut state = game.initial_state().0.to_vec();
            for step in 0..30 {
                fast.move_to(&cones, &state);
                slow.move_to(&events, &state);
                assert_eq!(
                    visible(&cones.words, &cones.guards, &fast.outputs, &state),
                    visible(&events.words, &events.guards, slow.outputs(), &state),
                    "case {case} step {step}"
                );
                let joint = random_moves(net, &mut rng);
                fast.make(&cones, &joint, Stage::Sees);
                slow.make(&events, &joint, Stage::Sees);
                let next = cones.words.next;
                assert_eq!(
                    fast.outputs[next..],
                    slow.outputs()[next..],
                    "case {case} step {step} {joint:?}"
                );
                state = fast.outputs[next..next + state.len()].to_vec();
            }
        }
        assert!(
            !crate::jit::makes_machine_code() || checked.iter().all(|&n| n >= 8),
            "{checked:?}"
        );
        assert!(!crate::jit::makes_machine_code() || with_heads >= 8, "{with_heads}");
    }
}
