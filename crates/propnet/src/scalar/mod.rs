//! The scalar simulator: one state at a time, a few words each, for trees, referees and solvers.
//!
//! Values are kept for one state and updated by difference, so walking along a game costs as much as changes on
//! the board, not as much as there are gates. Jumping to an unrelated state is correct too, and costs the difference.

mod book;
mod compiled;
mod engine;
mod net;
mod patch;
mod plain;
mod step;

use crate::lanes::bit;
use crate::lanes::playouts::MAX_ROUNDS;
use crate::network::{Node, NodeId, Signal};
use crate::{Compiled, cpu};
use book::Book;
use compiled::ByteGoals;
use engine::Engine;
use game::{Fault, Goal, Meter, MoveId, PerceptId, Rng, RoleId, Simulator, State};
use net::ScalarNet;
use patch::Patch;
use plain::Plain;
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};
use step::{ByteStep, FIRST_FLUENT};

/// What scalar simulators of one game share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Absent if the network has cycles; then everything is evaluated plainly.
    net: Option<ScalarNet>,
    goals: Plain,
    byte_goals: Option<ByteGoals>,
    /// Whether random games are played by whole steps.
    steps_fit: bool,
    /// Whole steps as machine code, without and with percepts.
    steps: [OnceLock<Option<ByteStep>>; 2],
    /// Legal and terminal, for games with cycles.
    state: Plain,
    /// Next and sees, for games with cycles.
    moves: Plain,
}

/// Random games of nets with no more operations than this are played by whole steps.
const LARGEST_STEP: usize = 3_000;

impl Shared {
    /// Prepares a game, in the way that should be fastest if the mode leaves it open.
    pub(crate) fn new(game: &Compiled) -> Shared {
        let net = game.network();
        let stats = game.stats();
        let acyclic = net.cycles().is_empty();
        let fits = acyclic && net.n_moves().len() <= 8 && stats.legal_ops + stats.next_ops <= LARGEST_STEP;
        let mut shared = Shared::without_net(game);
        shared.net = match game.scalar_mode() {
            _ if !acyclic => None,
            ScalarMode::Incremental => Some(ScalarNet::incremental(game.flat_network(), true)),
            ScalarMode::Compiled => ScalarNet::compiled(net),
            ScalarMode::Auto if fits => ScalarNet::compiled(net),
            ScalarMode::Auto => Some(quickest(game)),
        };
        if acyclic && shared.net.is_none() {
            shared.net = Some(ScalarNet::incremental(game.flat_network(), true));
        }
        let compiled = shared.net.as_ref().is_some_and(|net| net.compiled.is_some());
        shared.steps_fit = compiled && fits;
        if game.scalar_mode() != ScalarMode::Incremental {
            shared.byte_goals = ByteGoals::new(net);
        }
        shared
    }

    fn without_net(game: &Compiled) -> Shared {
        let net = game.network();
        let out = &net.outputs;
        let goals: Vec<Signal> = out.goals.iter().flatten().map(|&(_, s)| s).collect();
        let mut state: Vec<Signal> = out.legal.iter().flatten().copied().collect();
        state.push(out.terminal);
        let mut moves = out.next.clone();
        moves.extend(out.sees.iter().flatten());
        Shared {
            net: None,
            steps_fit: false,
            steps: Default::default(),
            byte_goals: None,
            goals: Plain::new(net, &goals),
            state: Plain::new(net, &state),
            moves: Plain::new(net, &moves),
        }
    }
}

/// Tries the ways to keep values up to date on a few random games, and takes the one with least work.
fn quickest(game: &Compiled) -> ScalarNet {
    let mut best: Option<(u64, ScalarNet)> = None;
    let mut offer = |work: u64, net: ScalarNet| {
        if best.as_ref().is_none_or(|(least, _)| work < *least) {
            best = Some((work, net));
        }
    };
    if let Some(net) = ScalarNet::compiled(game.network()) {
        // Code that outgrows the first caches runs at half the speed.
        let ops = net.ops as u64;
        offer(if ops > 8_000 { ops * 11 / 10 } else { ops * 6 / 10 }, net);
    }
    for guarded in [true, false] {
        let mut shared = Shared::without_net(game);
        shared.net = Some(ScalarNet::incremental(game.flat_network(), guarded));
        let mut trial = Scalar::with(game, Arc::new(shared));
        let work = trial.work_per_move();
        if let Some(net) = Arc::into_inner(trial.shared).and_then(|shared| shared.net) {
            offer(work, net);
        }
    }
    match best {
        Some((_, net)) => net,
        None => ScalarNet::incremental(game.flat_network(), true),
    }
}

/// How the scalar simulator keeps values up to date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScalarMode {
    /// Whichever should be faster.
    #[default]
    Auto,
    /// Gates count their false operands, and changes walk through the network.
    Incremental,
    /// Machine code evaluates all gates; falls back to incremental where there is none.
    Compiled,
}

/// What a playout came to, apart from goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Played {
    /// Joint moves made.
    pub moves: u32,
    /// Whether it ended because some role had no legal move, or was given up because it did not end.
    pub stuck: bool,
}

/// Nodes of a network that counts as large.
const LARGE: usize = 20_000;

/// Times that a joint move is evaluated as a whole before it gets a patch.
const RARE: u8 = 4;

/// Joint moves that are counted at a time.
const MOST_COUNTED: usize = 1 << 18;

/// A simulator of one game for one thread.
pub struct Scalar {
    game: Compiled,
    shared: Arc<Shared>,
    engine: Engine,
    /// Transitions that have been made.
    patches: Book,
    /// How often joint moves without a patch were made.
    made: FxHashMap<Box<[u32]>, u8>,
    /// Percepts that have been looked at, per role.
    sees: Vec<Book>,
    next: Vec<u64>,
    joint: Vec<u32>,
    /// Where whole steps are made, without and with percepts.
    step_frames: [Vec<u8>; 2],
    /// The frame in which the last playout ended, if it was played by whole steps.
    last: Option<usize>,
    /// Where goals are evaluated by machine code.
    goal_frame: Vec<u8>,
    /// Values of the whole network, for goals and plain evaluation.
    values: Vec<u8>,
    meter: Meter,
}

impl Scalar {
    /// A simulator in the initial state.
    pub fn new(game: &Compiled) -> Scalar {
        Scalar::with(game, game.scalar_shared())
    }

    fn with(game: &Compiled, shared: Arc<Shared>) -> Scalar {
        let n_words = game.n_fluents().div_ceil(64);
        let n_moves = game.network().n_moves();
        let empty = ScalarNet {
            reader_starts: vec![0],
            ..ScalarNet::default()
        };
        let mut scalar = Scalar {
            engine: Engine::new(shared.net.as_ref().unwrap_or(&empty), n_words),
            shared,
            patches: Book::new(&n_moves),
            made: FxHashMap::default(),
            sees: n_moves.iter().map(|_| Book::new(&n_moves)).collect(),
            next: vec![0; n_words],
            joint: vec![0; game.roles().len()],
            step_frames: Default::default(),
            last: None,
            goal_frame: Vec::new(),
            values: vec![0; game.network().len()],
            meter: Meter::default(),
            game: game.clone(),
        };
        let initial = game.initial_state();
        scalar.go_to(&initial);
        scalar
    }

    /// Work per move over a few random games.
    fn work_per_move(&mut self) -> u64 {
        let mut rng = game::Seed(1).rng();
        let initial = self.game.initial_state();
        let (before, mut moves) = (self.engine.work, 0);
        for _ in 0..3 {
            self.go_to(&initial);
            for _ in 0..60 {
                let picked = (0..self.joint.len()).try_for_each(|role| {
                    self.joint[role] = self.pick(role, &mut rng)?;
                    Some(())
                });
                if self.terminal_here() || picked.is_none() {
                    break;
                }
                self.step();
                moves += 1;
            }
        }
        (self.engine.work - before) / moves.max(1)
    }

    /// Plays random legal moves from a state to the end; [`Scalar::points`] then tells what it was worth.
    pub fn playout(&mut self, from: &State, rng: &mut Rng) -> Played {
        self.playout_with(from, rng, false)
    }

    /// The same, computing every role's percepts on every step, as a player's simulation would.
    pub fn playout_seeing(&mut self, from: &State, rng: &mut Rng) -> Played {
        self.playout_with(from, rng, true)
    }

    fn playout_with(&mut self, from: &State, rng: &mut Rng, seeing: bool) -> Played {
        self.last = None;
        cpu::wide(
            #[inline(always)]
            || {
                self.go_to(from);
                if self.terminal_here() {
                    return Played { moves: 0, stuck: false };
                }
                if self.shared.steps_fit {
                    self.play_steps(rng, seeing)
                } else {
                    self.play_on(rng, seeing)
                }
            },
        )
    }

    /// Plays on from the present state by whole steps; the present state stays.
    #[inline(always)]
    fn play_steps(&mut self, rng: &mut Rng, seeing: bool) -> Played {
        let Scalar {
            shared,
            engine,
            step_frames,
            game,
            ..
        } = &mut *self;
        let step = shared.steps[usize::from(seeing)].get_or_init(|| ByteStep::new(game.network(), seeing));
        let (Some(step), Some(net)) = (step, &shared.net) else {
            return self.play_on(rng, seeing);
        };
        let frame = &mut step_frames[usize::from(seeing)];
        let mut legal: [&[u64]; 8] = [&[]; 8];
        for (row, &(first, n)) in legal.iter_mut().zip(&net.legal_words) {
            *row = &engine.outputs[first..first + n];
        }
        let n_roles = net.legal_words.len();
        let (moves, stuck) = step.play(frame, &engine.state, game.n_fluents(), &legal[..n_roles], rng);
        self.meter.states += u64::from(moves);
        self.last = Some(usize::from(seeing));
        Played { moves, stuck }
    }

    /// Points of a role where the last playout ended.
    pub fn points(&mut self, role: RoleId) -> u8 {
        match (self.last, &self.shared.byte_goals) {
            (Some(frame), Some(goals)) => {
                let n = self.game.n_fluents();
                let fluents = &self.step_frames[frame][FIRST_FLUENT..FIRST_FLUENT + n];
                goals.run_bytes(&mut self.goal_frame, fluents);
            }
            _ => self.eval_goals(),
        }
        self.goal_here(role).points()
    }

    #[inline(always)]
    fn play_on(&mut self, rng: &mut Rng, seeing: bool) -> Played {
        let mut moves = 0;
        loop {
            if self.terminal_here() {
                return Played { moves, stuck: false };
            }
            for role in 0..self.joint.len() {
                let Some(mv) = self.pick(role, rng) else {
                    return Played { moves, stuck: true };
                };
                self.joint[role] = mv;
            }
            if seeing {
                self.see_all();
            }
            self.step();
            moves += 1;
            if moves >= MAX_ROUNDS {
                return Played { moves, stuck: true };
            }
        }
    }

    fn terminal_here(&self) -> bool {
        match &self.shared.net {
            Some(net) => self.engine.outputs[net.terminal_word] & 1 == 1,
            None => plain::read(&self.values, self.game.network().outputs.terminal),
        }
    }

    /// A random legal move.
    #[inline(always)]
    fn pick(&self, role: usize, rng: &mut Rng) -> Option<u32> {
        let Some(net) = &self.shared.net else {
            return self.pick_plain(role, rng);
        };
        let (first, n) = net.legal_words[role];
        let words = &self.engine.outputs[first..first + n];
        let closed = self.closed(net, role);
        let open = |at: usize, word: u64| word & !closed.map_or(0, |moves| moves[at]);
        let count: u32 = words.iter().enumerate().map(|(at, &w)| open(at, w).count_ones()).sum();
        if count == 0 {
            return None;
        }
        let mut rank = if count == 1 {
            0
        } else {
            rng.below(count as usize) as u32
        };
        for (at, &word) in words.iter().enumerate() {
            let word = open(at, word);
            let here = word.count_ones();
            if rank < here {
                return Some(at as u32 * 64 + nth_set(word, rank));
            }
            rank -= here;
        }
        None
    }

    /// Moves of a role that its guard makes illegal now.
    #[inline(always)]
    fn closed<'n>(&self, net: &'n ScalarNet, role: usize) -> Option<&'n [u64]> {
        let guard = net.guards[role].as_ref()?;
        let holds = self.engine.state[guard.fluent as usize / 64] >> (guard.fluent % 64) & 1 == 1;
        (holds != guard.value).then_some(&guard.moves[..])
    }

    fn pick_plain(&self, role: usize, rng: &mut Rng) -> Option<u32> {
        let row = &self.game.network().outputs.legal[role];
        let legal: Vec<u32> = (0..row.len() as u32)
            .filter(|&m| plain::read(&self.values, row[m as usize]))
            .collect();
        (!legal.is_empty()).then(|| *rng.pick(&legal))
    }

    /// Makes the moves in `joint`.
    #[inline(always)]
    fn step(&mut self) {
        self.find_next();
        self.meter.states += 1;
        match &self.shared.net {
            Some(net) => self.engine.move_to(net, &self.next),
            None => {
                let next = std::mem::take(&mut self.next);
                self.go_to_plain(&next);
                self.next = next;
            }
        }
    }

    /// The successor of the present state under `joint`, into `next`.
    #[inline(always)]
    fn find_next(&mut self) {
        match &self.shared.net {
            None => return self.find_next_plain(),
            Some(net) if !net.does.is_empty() => return self.find_next_with_moves(),
            _ => {}
        }
        let number = match self.patches.find(&self.joint) {
            Some(number) => number,
            None if self.is_rare() => return self.find_next_plain(),
            None => self.make_patch(),
        };
        let Scalar {
            shared,
            engine,
            patches,
            next,
            ..
        } = self;
        let Some(net) = &shared.net else { return };
        let n = next.len();
        next.copy_from_slice(&engine.outputs[net.next_word..net.next_word + n]);
        let patch = patches.get(number);
        patch.run(&mut engine.values, net.n_nodes);
        patch.apply(&engine.values, &engine.state, next);
    }

    /// The moves are made, the next bits read, and the moves taken back.
    fn find_next_with_moves(&mut self) {
        let Scalar {
            shared,
            engine,
            next,
            joint,
            ..
        } = self;
        let Some(net) = &shared.net else { return };
        let nodes = joint.iter().zip(&net.does).map(|(&mv, row)| row[mv as usize]);
        nodes.clone().for_each(|node| engine.toggle_leaf(net, node));
        engine.settle(net);
        let n = next.len();
        next.copy_from_slice(&engine.outputs[net.next_word..net.next_word + n]);
        nodes.for_each(|node| engine.toggle_leaf(net, node));
        // What this undoes is settled together with the change of the state, or with the next question.
        engine.settle(net);
    }

    /// Whether this joint move has been made too seldom for a patch of its own: in a large network making one takes longer
    /// than evaluating everything a few times.
    #[cold]
    fn is_rare(&mut self) -> bool {
        if self.game.network().len() < LARGE {
            return false;
        }
        if self.made.len() > MOST_COUNTED {
            self.made.clear();
        }
        let times = self.made.entry(self.joint.clone().into()).or_insert(0);
        *times += 1;
        *times <= RARE
    }

    #[cold]
    fn make_patch(&mut self) -> u32 {
        let Some(net) = &self.shared.net else { return 0 };
        let mut affected: Vec<u32> = Vec::new();
        for (role, &mv) in self.joint.iter().enumerate() {
            affected.extend(&net.affected[role][mv as usize]);
        }
        affected.sort_unstable();
        affected.dedup();
        let game = self.patch_network();
        let wanted: Vec<(u32, Signal)> = affected
            .into_iter()
            .map(|f| (f, game.outputs.next[f as usize]))
            .collect();
        let patch = Patch::of_next(game, net, &self.joint, &wanted);
        self.patches.add(&self.joint, patch)
    }

    /// The network that the kept values are about.
    fn patch_network(&self) -> &crate::network::Network {
        if self.is_compiled() {
            self.game.network()
        } else {
            self.game.flat_network()
        }
    }

    fn is_compiled(&self) -> bool {
        self.shared.net.as_ref().is_some_and(|net| net.compiled.is_some())
    }

    /// What all roles perceive of `joint` in the present state, evaluated and left in `values`.
    fn see_all(&mut self) {
        for role in 0..self.joint.len() {
            self.see(role, |_, _| {});
        }
    }

    /// Calls `f` with every percept of a role under `joint` and whether it is seen.
    #[inline(always)]
    fn see(&mut self, role: usize, mut f: impl FnMut(u32, bool)) {
        if self.game.network().outputs.sees[role].is_empty() {
            return;
        }
        let game = self.game.clone();
        let row = &game.network().outputs.sees[role];
        if self.shared.net.is_none() {
            self.eval_moves_plain();
            row.iter()
                .enumerate()
                .for_each(|(at, &s)| f(at as u32, plain::read(&self.values, s)));
            return;
        }
        let patched = if self.is_compiled() {
            game.network()
        } else {
            game.flat_network()
        };
        let row = &patched.outputs.sees[role];
        let Scalar {
            shared,
            engine,
            sees,
            joint,
            ..
        } = self;
        let Some(net) = &shared.net else { return };
        let number = sees[role].find(joint).unwrap_or_else(|| {
            let wanted: Vec<(u32, Signal)> = row.iter().enumerate().map(|(at, &s)| (at as u32, s)).collect();
            let patch = Patch::new(patched, net, joint, &wanted);
            sees[role].add(joint, patch)
        });
        let patch = sees[role].get(number);
        patch.run(&mut engine.values, net.n_nodes);
        for m in &patch.masks {
            for bit in (0..64).filter(|bit| m.fixed >> bit & 1 == 1) {
                f(m.word * 64 + bit, m.set >> bit & 1 == 1);
            }
        }
        for &(at, reference) in &patch.signals {
            f(at, patch::read(&engine.values, reference));
        }
    }

    /// Makes a state the present one.
    fn go_to(&mut self, state: &State) {
        match &self.shared.net {
            Some(net) => self.engine.move_to(net, &state.0),
            None => self.go_to_plain(&state.0),
        }
    }

    fn go_to_plain(&mut self, state: &[u64]) {
        self.engine.state.copy_from_slice(state);
        self.set_leaves(None);
        self.shared.clone().state.run(self.game.network(), &mut self.values);
    }

    fn find_next_plain(&mut self) {
        self.eval_moves_plain();
        self.next.fill(0);
        for (f, &s) in self.game.network().outputs.next.iter().enumerate() {
            set_bit(&mut self.next, f as u32, plain::read(&self.values, s));
        }
    }

    fn eval_moves_plain(&mut self) {
        self.set_leaves(Some(()));
        self.shared.clone().moves.run(self.game.network(), &mut self.values);
    }

    /// Gives the leaves of the whole network their values: the present state, and perhaps `joint`.
    fn set_leaves(&mut self, moves: Option<()>) {
        let net = self.game.network();
        for at in 0..net.len() {
            match net.node(NodeId(at as u32)) {
                Node::Fluent(f) => {
                    let f = f as usize;
                    self.values[at] = (self.engine.state[f / 64] >> (f % 64) & 1) as u8;
                }
                Node::Does { role, mv } => {
                    self.values[at] = u8::from(moves.is_some() && self.joint[role as usize] == mv);
                }
                Node::And => break,
                _ => {}
            }
        }
    }

    fn eval_goals(&mut self) {
        match &self.shared.byte_goals {
            Some(code) => code.run(&mut self.goal_frame, &self.engine.state, self.game.n_fluents()),
            None => {
                self.set_leaves(None);
                self.shared.clone().goals.run(self.game.network(), &mut self.values);
            }
        }
    }

    fn goal_here(&self, role: RoleId) -> Goal {
        let role = role.0 as usize;
        let mut goal = Goal::None;
        for (at, &(value, signal)) in self.game.network().outputs.goals[role].iter().enumerate() {
            let holds = match &self.shared.byte_goals {
                Some(code) => self.goal_frame[code.cells[role][at]] & 1 == 1,
                None => plain::read(&self.values, signal),
            };
            if holds {
                goal = match goal {
                    Goal::None => Goal::Value(value),
                    _ => Goal::Many(value),
                };
            }
        }
        goal
    }

    fn check_state(&self, state: &State) -> Result<(), Fault> {
        if state.0.len() == self.next.len() {
            return Ok(());
        }
        Err(Fault::Unknown("a state of another game".into()))
    }

    fn set_joint(&mut self, joint: &[MoveId]) -> Result<(), Fault> {
        let fits = joint.len() == self.joint.len()
            && joint
                .iter()
                .enumerate()
                .all(|(r, m)| (m.0 as usize) < self.game.n_moves(RoleId(r as u16)));
        if !fits {
            return Err(Fault::Unknown("a joint move of another game".into()));
        }
        self.joint.iter_mut().zip(joint).for_each(|(to, from)| *to = from.0);
        Ok(())
    }
}

impl Simulator for Scalar {
    fn roles(&self) -> &[String] {
        self.game.roles()
    }

    fn initial(&mut self) -> Result<State, Fault> {
        Ok(self.game.initial_state())
    }

    fn terminal(&mut self, state: &State) -> Result<bool, Fault> {
        self.check_state(state)?;
        self.go_to(state);
        Ok(self.terminal_here())
    }

    fn legal(&mut self, state: &State, role: RoleId, out: &mut Vec<MoveId>) -> Result<(), Fault> {
        self.check_state(state)?;
        out.clear();
        if role.0 as usize >= self.joint.len() {
            return Err(Fault::Unknown("a role of another game".into()));
        }
        self.go_to(state);
        let Some(net) = &self.shared.net else {
            let row = self.game.network().outputs.legal[role.0 as usize].iter().enumerate();
            out.extend(
                row.filter(|(_, s)| plain::read(&self.values, **s))
                    .map(|(m, _)| MoveId(m as u32)),
            );
            return Ok(());
        };
        let (first, n) = net.legal_words[role.0 as usize];
        let closed = self.closed(net, role.0 as usize);
        for (at, &word) in self.engine.outputs[first..first + n].iter().enumerate() {
            let mut word = word & !closed.map_or(0, |moves| moves[at]);
            while word != 0 {
                out.push(MoveId(at as u32 * 64 + word.trailing_zeros()));
                word &= word - 1;
            }
        }
        Ok(())
    }

    fn next(&mut self, state: &State, joint: &[MoveId]) -> Result<State, Fault> {
        self.check_state(state)?;
        self.set_joint(joint)?;
        self.go_to(state);
        self.find_next();
        self.meter.states += 1;
        Ok(State(self.next.as_slice().into()))
    }

    fn percepts(
        &mut self,
        state: &State,
        joint: &[MoveId],
        role: RoleId,
        out: &mut Vec<PerceptId>,
    ) -> Result<(), Fault> {
        self.check_state(state)?;
        self.set_joint(joint)?;
        out.clear();
        if role.0 as usize >= self.joint.len() {
            return Err(Fault::Unknown("a role of another game".into()));
        }
        self.go_to(state);
        self.see(role.0 as usize, |at, seen| {
            if seen {
                out.push(PerceptId(at));
            }
        });
        out.sort_unstable();
        Ok(())
    }

    fn goal(&mut self, state: &State, role: RoleId) -> Result<Goal, Fault> {
        self.check_state(state)?;
        if role.0 as usize >= self.joint.len() {
            return Err(Fault::Unknown("a role of another game".into()));
        }
        self.go_to(state);
        self.eval_goals();
        Ok(self.goal_here(role))
    }

    fn fluents(&self, state: &State) -> Vec<String> {
        let names = &self.game.names().fluents;
        (0..names.len())
            .filter(|&f| bit(state, f))
            .map(|f| names[f].clone())
            .collect()
    }

    fn state_of(&mut self, fluents: &[String]) -> Option<State> {
        let mut state = State(smallvec::smallvec![0; self.next.len()]);
        for fluent in fluents {
            let f = self.game.names().fluents.binary_search(fluent).ok()?;
            state.0[f / 64] |= 1 << (f % 64);
        }
        self.game.can_represent(&state).then_some(state)
    }

    fn move_text(&self, role: RoleId, mv: MoveId) -> &str {
        &self.game.names().moves[role.0 as usize][mv.0 as usize]
    }

    fn find_move(&mut self, role: RoleId, text: &str) -> Option<MoveId> {
        let row = self.game.names().moves.get(role.0 as usize)?;
        row.binary_search_by(|m| m.as_str().cmp(text))
            .ok()
            .map(|m| MoveId(m as u32))
    }

    fn percept_text(&self, role: RoleId, percept: PerceptId) -> &str {
        &self.game.names().percepts[role.0 as usize][percept.0 as usize]
    }

    fn find_percept(&mut self, role: RoleId, text: &str) -> Option<PerceptId> {
        let row = self.game.names().percepts.get(role.0 as usize)?;
        row.binary_search_by(|p| p.as_str().cmp(text))
            .ok()
            .map(|p| PerceptId(p as u32))
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }

    fn fork(&self) -> Box<dyn Simulator> {
        Box::new(Scalar::new(&self.game))
    }
}

#[inline(always)]
fn set_bit(words: &mut [u64], f: u32, value: bool) {
    let (word, at) = (&mut words[f as usize / 64], f % 64);
    *word = *word & !(1 << at) | u64::from(value) << at;
}

/// The position of the set bit of this rank.
#[inline(always)]
fn nth_set(mut word: u64, rank: u32) -> u32 {
    for _ in 0..rank {
        word &= word - 1;
    }
    word.trailing_zeros()
}
