//! The circuits of a game: what each computes, and the frame cells that it reads and writes.

use super::choice::choose;
use super::layout::{Layout, RANDOM_BITS};
use super::plan::ChoicePlan;
use crate::circuit::{Circuit, Wire};
use crate::lower::Lowering;
use crate::network::Network;

/// A circuit of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// State → legal moves, terminal, stuck.
    Eval,
    /// State → goals, as the rules give them.
    Goals,
    /// Legal moves, random vectors, mask → one move of this role in the lanes of the mask.
    Sample(u16),
    /// State, moves → successor state.
    Next,
    /// State, moves → percepts of this role.
    Sees(u16),
    /// A whole step of a playout in place: state, random vectors → state, ended, stuck.
    Step(StepKind),
    /// State, root, mask → the state, or the root in the lanes of the mask.
    Restart,
    /// State → goals that count (the largest that holds, and only those worth points).
    Points,
    /// A step of an environment: state, moves of the players, random vectors → percepts of the step, end and goals that
    /// count of its successor, and the state to go on from, which is the initial state where the game is over.
    Environment {
        /// The role whose move is drawn from the random vectors.
        nature: Option<u16>,
    },
}

/// Variants of a playout step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepKind {
    /// Treatment of lanes whose game is over or stuck.
    pub ended: Ended,
    /// Whether goals that count are computed too.
    pub points: bool,
    /// Whether every role's percepts are computed too.
    pub percepts: bool,
}

/// Treatment of a lane whose game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ended {
    /// The lane starts again from the initial state.
    ToInitial,
    /// The lane starts again from its root.
    ToRoot,
    /// The lane keeps its state.
    Frozen,
}

/// What all segments of a game share.
pub struct Source<'a> {
    /// The network.
    pub net: &'a Network,
    /// The layout of the frame.
    pub layout: &'a Layout,
    /// The initial state.
    pub initial: &'a [bool],
    /// How moves are chosen in a step.
    pub plan: &'a ChoicePlan,
}

impl Source<'_> {
    /// The circuit of a segment.
    pub fn circuit(&self, segment: Segment) -> Circuit {
        let mut circuit = Circuit::new();
        let mut lower = Lowering::new(self.net, &mut circuit, self.layout.cycles);
        for f in 0..self.net.n_fluents() {
            let wire = circuit.load(self.layout.state + f as u32);
            lower.set(self.net.fluent(f), wire);
        }
        match segment {
            Segment::Eval => self.eval(&mut circuit, &mut lower),
            Segment::Goals => self.goals(&mut circuit, &mut lower),
            Segment::Points => self.points(&mut circuit, &mut lower),
            Segment::Sample(role) => self.sample(&mut circuit, role as usize),
            Segment::Next => {
                self.load_moves(&mut circuit, &mut lower);
                lower.ensure(&mut circuit, &self.net.outputs.next);
                for (f, &next) in self.net.outputs.next.iter().enumerate() {
                    let wire = lower.plain(&mut circuit, next);
                    circuit.store(self.layout.next + f as u32, wire);
                }
            }
            Segment::Sees(role) => {
                self.load_moves(&mut circuit, &mut lower);
                self.sees(&mut circuit, &mut lower, role as usize);
            }
            Segment::Step(kind) if kind.ended == Ended::Frozen => {
                self.step_frozen(&mut circuit, &mut lower, kind);
            }
            Segment::Step(kind) => self.step_fused(&mut circuit, kind),
            Segment::Environment { nature } => self.environment(&mut circuit, &mut lower, nature),
            Segment::Restart => {
                let mask = circuit.load(self.layout.mask);
                for f in 0..self.net.n_fluents() as u32 {
                    let root = circuit.load(self.layout.root + f);
                    let state = circuit.load(self.layout.state + f);
                    let wire = circuit.select(mask, root, state);
                    circuit.store(self.layout.state + f, wire);
                }
            }
        }
        circuit
    }

    fn load_moves(&self, circuit: &mut Circuit, lower: &mut Lowering) {
        (0..self.net.n_moves().len()).for_each(|role| self.load_moves_of(role, circuit, lower));
    }

    fn load_moves_of(&self, role: usize, circuit: &mut Circuit, lower: &mut Lowering) {
        for mv in 0..self.net.n_moves()[role] {
            let wire = circuit.load(self.layout.does[role] + mv as u32);
            lower.set(self.net.does(role, mv), wire);
        }
    }

    fn eval(&self, circuit: &mut Circuit, lower: &mut Lowering) {
        let terminal = lower.plain(circuit, self.net.outputs.terminal);
        let mut stuck = circuit.zero();
        for (role, row) in self.net.outputs.legal.iter().enumerate() {
            lower.ensure(circuit, row);
            let mut any = circuit.zero();
            for (mv, &legal) in row.iter().enumerate() {
                let wire = lower.plain(circuit, legal);
                circuit.store(self.layout.legal[role] + mv as u32, wire);
                any = circuit.or(any, wire);
            }
            let none = circuit.not(any);
            stuck = circuit.or(stuck, none);
        }
        let stuck = circuit.and_not(terminal, stuck);
        circuit.store(self.layout.terminal, terminal);
        circuit.store(self.layout.stuck, stuck);
    }

    fn goals(&self, circuit: &mut Circuit, lower: &mut Lowering) {
        for (role, row) in self.net.outputs.goals.iter().enumerate() {
            for (at, &(_, signal)) in row.iter().enumerate() {
                let wire = lower.plain(circuit, signal);
                circuit.store(self.layout.goals[role] + at as u32, wire);
            }
        }
    }

    /// Goals as they count: values clamped, nothing for zero, the largest where there are several.
    fn points(&self, circuit: &mut Circuit, lower: &mut Lowering) {
        for (role, row) in self.net.outputs.goals.iter().enumerate() {
            let mut higher: Option<Wire> = None;
            for (at, &(value, signal)) in row.iter().enumerate().rev().filter(|(_, (v, _))| *v > 0) {
                let wire = lower.plain(circuit, signal);
                let counts = match higher {
                    Some(h) if !self.exclusive_goals(role) => circuit.and_not(h, wire),
                    _ => wire,
                };
                higher = Some(higher.map_or(wire, |h| circuit.or(h, wire)));
                debug_assert!(value > 0);
                circuit.store(self.layout.goals[role] + at as u32, counts);
            }
        }
    }

    /// Whether a role's positive goals are known to exclude each other.
    fn exclusive_goals(&self, role: usize) -> bool {
        self.net.outputs.goals[role].iter().filter(|(v, _)| *v > 0).count() < 2
    }

    fn sample(&self, circuit: &mut Circuit, role: usize) {
        let n = self.net.n_moves()[role] as u32;
        let columns: Vec<Wire> = (0..n).map(|m| circuit.load(self.layout.legal[role] + m)).collect();
        let random = self.random(circuit, role as u32 * RANDOM_BITS, RANDOM_BITS);
        let chosen = choose(circuit, &columns, &random);
        let mask = circuit.load(self.layout.mask);
        for (mv, pick) in chosen.picks.into_iter().enumerate() {
            let cell = self.layout.does[role] + mv as u32;
            let old = circuit.load(cell);
            let wire = circuit.select(mask, pick, old);
            circuit.store(cell, wire);
        }
    }

    fn random(&self, circuit: &mut Circuit, skip: u32, n: u32) -> Vec<Wire> {
        let start = self.layout.random + skip;
        (start..start + n).map(|cell| circuit.load(cell)).collect()
    }

    fn sees(&self, circuit: &mut Circuit, lower: &mut Lowering, role: usize) {
        let row = &self.net.outputs.sees[role];
        lower.ensure(circuit, row);
        for (at, &signal) in row.iter().enumerate() {
            let wire = lower.plain(circuit, signal);
            circuit.store(self.layout.sees[role] + at as u32, wire);
        }
    }

    /// A step that restarts finished lanes first and computes the end of games last.
    ///
    /// Lanes that ended in the last step start again here, at the cost of one operation per state bit, and play on at
    /// once. The end of the game and its goals are computed for the successor state.
    fn step_fused(&self, circuit: &mut Circuit, kind: StepKind) {
        let out = &self.net.outputs;
        let begin = circuit.load(self.layout.ended);
        let mut now = Lowering::new(self.net, circuit, self.layout.cycles);
        for f in 0..self.net.n_fluents() {
            let state = circuit.load(self.layout.state + f as u32);
            let wire = match (kind.ended, self.initial[f]) {
                (Ended::ToInitial, false) => circuit.and_not(begin, state),
                (Ended::ToInitial, true) => circuit.or(begin, state),
                _ => {
                    let root = circuit.load(self.layout.root + f as u32);
                    circuit.select(begin, root, state)
                }
            };
            now.set(self.net.fluent(f), wire);
        }
        let any = self.move_all(circuit, &mut now);
        now.ensure(circuit, &out.next);
        let mut after = Lowering::new(self.net, circuit, self.layout.cycles_after);
        for (f, &next) in out.next.iter().enumerate() {
            let wire = now.plain(circuit, next);
            circuit.store(self.layout.state + f as u32, wire);
            after.set(self.net.fluent(f), wire);
        }
        let terminal = after.plain(circuit, out.terminal);
        let stuck = circuit.not(any);
        let over = circuit.or(terminal, stuck);
        circuit.store(self.layout.ended, over);
        circuit.store(self.layout.stuck, stuck);
        if kind.points {
            self.points(circuit, &mut after);
        }
        if kind.percepts {
            (0..out.sees.len()).for_each(|role| self.sees(circuit, &mut now, role));
        }
    }

    /// A step that leaves finished lanes as they are, so that goals can be computed later.
    fn step_frozen(&self, circuit: &mut Circuit, lower: &mut Lowering, kind: StepKind) {
        let out = &self.net.outputs;
        let terminal = lower.plain(circuit, out.terminal);
        let any = self.move_all(circuit, lower);
        let goes_on = circuit.and_not(terminal, any);
        let ended = circuit.not(goes_on);
        let stuck = circuit.and_not(terminal, ended);
        circuit.store(self.layout.ended, ended);
        circuit.store(self.layout.stuck, stuck);
        lower.ensure(circuit, &out.next);
        for (f, &next) in out.next.iter().enumerate() {
            let cell = self.layout.state + f as u32;
            let old = circuit.load(cell);
            let (wire, inverted) = lower.signal(circuit, next);
            let new = if inverted {
                circuit.and_not(wire, goes_on)
            } else {
                circuit.and(wire, goes_on)
            };
            let kept = circuit.and(ended, old);
            let new = circuit.or(new, kept);
            circuit.store(cell, new);
        }
        if kind.percepts {
            (0..out.sees.len()).for_each(|role| self.sees(circuit, lower, role));
        }
    }

    fn environment(&self, circuit: &mut Circuit, now: &mut Lowering, nature: Option<u16>) {
        let out = &self.net.outputs;
        for role in 0..out.legal.len() {
            match nature {
                Some(nature) if usize::from(nature) == role => self.draw_move(role, circuit, now),
                _ => self.load_moves_of(role, circuit, now),
            }
        }
        now.ensure(circuit, &out.next);
        let mut after = Lowering::new(self.net, circuit, self.layout.cycles_after);
        let mut successor = Vec::with_capacity(out.next.len());
        for (f, &next) in out.next.iter().enumerate() {
            let wire = now.plain(circuit, next);
            after.set(self.net.fluent(f), wire);
            successor.push(wire);
        }
        let terminal = after.plain(circuit, out.terminal);
        circuit.store(self.layout.ended, terminal);
        self.points(circuit, &mut after);
        (0..out.sees.len()).for_each(|role| self.sees(circuit, now, role));
        for (f, wire) in successor.into_iter().enumerate() {
            let wire = match self.initial[f] {
                true => circuit.or(terminal, wire),
                false => circuit.and_not(terminal, wire),
            };
            circuit.store(self.layout.state + f as u32, wire);
        }
    }

    /// Draws a uniformly random legal move of a role in every lane.
    fn draw_move(&self, role: usize, circuit: &mut Circuit, lower: &mut Lowering) {
        let legal = &self.net.outputs.legal[role];
        lower.ensure(circuit, legal);
        let columns: Vec<Wire> = legal.iter().map(|&signal| lower.plain(circuit, signal)).collect();
        let random = self.random(circuit, role as u32 * RANDOM_BITS, RANDOM_BITS);
        for (mv, pick) in choose(circuit, &columns, &random).picks.into_iter().enumerate() {
            lower.set(self.net.does(role, mv), pick);
            circuit.store(self.layout.does[role] + mv as u32, pick);
        }
    }

    /// Chooses a move for every role; returns the lanes in which every role had a legal move.
    fn move_all(&self, circuit: &mut Circuit, lower: &mut Lowering) -> Wire {
        let mut all = circuit.one();
        let mut used = 0;
        for (group, bits) in self.plan.groups.iter().zip(self.plan.random_bits()) {
            let random = self.random(circuit, used, bits as u32);
            used += bits as u32;
            let made = group.choose(circuit, lower, self.net, &random);
            for (role, mv, wire) in made.moves {
                lower.set(self.net.does(role, mv), wire);
            }
            all = circuit.and(all, made.any);
        }
        all
    }
}
