//! The scalar simulator: one state at a time, a few words each, for trees, referees and solvers.
//!
//! Values are kept for one state and updated by difference, so walking along a game costs as much as changes on
//! the board, not as much as there are gates. Jumping to an unrelated state is correct too, and costs the difference.

mod cases;
mod cofactor;
mod cones;
mod events;
mod fetch;
mod goals;
mod guards;
mod heads;
mod numbering;
mod plain;
mod prefixes;
mod split;
mod step;
mod trial;
mod words;

use crate::lanes::bit;
use crate::lanes::playouts::MAX_ROUNDS;
use crate::network::{Network, Signal};
use crate::passes::count_ops_for;
use crate::{Compiled, cpu};
use cases::lonely_relations;
use cones::{ConeNet, Cones};
use events::{EventNet, Events, Stage};
use game::{Fault, Goal, Meter, MoveId, PerceptId, Rng, RoleId, Simulator, State};
use goals::ByteGoals;
use guards::Guards;
use plain::{Plain, PlainEngine, PlainNet};
use std::sync::{Arc, OnceLock};
use step::{ByteStep, StepFrame, nth_set, random_rank};
use words::Words;

/// What scalar simulators of one game share.
#[derive(Debug)]
pub(crate) struct Shared {
    net: Prepared,
    goals: Plain,
    byte_goals: Option<ByteGoals>,
    /// Whether random games are played by whole steps.
    steps_fit: bool,
    /// Whole steps as machine code, without and with percepts.
    steps: [OnceLock<Option<ByteStep>>; 2],
}

/// The network, as one of the engines wants it.
#[derive(Debug)]
enum Prepared {
    Cones(Box<ConeNet>),
    Events(Box<EventNet>),
    Plain(PlainNet),
}

/// The values that belong to the present state.
enum Engine {
    Cones(Cones),
    Events(Events),
    Plain(PlainEngine),
}

/// Operations of a step by cones, beyond which changes are rather walked through gate by gate. Measured: amazons (3,700) is a
/// little slower by cones, skirmish (4,100) twice as fast.
const MOST_CONE_OPS: f32 = 5_000.0;

/// What a step by cones costs beside its operations, in operations of a whole step, and what its operations cost. Measured:
/// breakthrough on 6×6 (1,040 as a whole, 98 by cones) is a little faster by cones, pentago (826, 217) is as fast either way.
const CONE_STEP: f32 = 600.0;
const CONE_OP: f32 = 1.6;

/// Without cones, random games of nets with no more operations than this are played by whole steps.
const LARGEST_STEP: f32 = 9_000.0;

impl Shared {
    /// Prepares a game, in the way that should be fastest if the mode leaves it open.
    pub(crate) fn new(game: &Compiled) -> Shared {
        let (net, mode) = (game.network(), game.scalar_mode());
        let wants_cones = matches!(mode, ScalarMode::Auto | ScalarMode::Cones);
        let cones = wants_cones
            .then(|| ConeNet::new(net, game.passes(), game.habits()))
            .flatten()
            .map(|cones| (cones.cost(game.habits()), cones))
            .filter(|&(cost, _)| mode == ScalarMode::Cones || cost <= MOST_CONE_OPS);
        let whole = step_ops(net) as f32;
        let steps_fit = match (mode, &cones) {
            (ScalarMode::Compiled, _) => true,
            (ScalarMode::Auto, Some((cost, _))) => whole < CONE_STEP + CONE_OP * cost,
            (ScalarMode::Auto, None) => whole <= LARGEST_STEP,
            _ => false,
        };
        let prepared = match cones {
            Some((_, cones)) => Prepared::Cones(Box::new(cones)),
            None => EventNet::new(game.flat_network(), game.likelihoods(), &game.initial_state().0).map_or_else(
                || Prepared::Plain(PlainNet::new(net)),
                |net| Prepared::Events(Box::new(net)),
            ),
        };
        let mut families = game.exclusive_fluents().to_vec();
        families.extend(lonely_relations(&game.names().fluents, game.likelihoods()));
        let goals: Vec<Signal> = net.outputs.goals.iter().flatten().map(|&(_, s)| s).collect();
        Shared {
            net: prepared,
            goals: Plain::new(net, &goals),
            byte_goals: ByteGoals::new(net, &families),
            steps_fit,
            steps: Default::default(),
        }
    }

    fn words(&self) -> &Words {
        match &self.net {
            Prepared::Cones(net) => &net.words,
            Prepared::Events(net) => &net.words,
            Prepared::Plain(net) => &net.words,
        }
    }

    fn guards(&self) -> Option<&Guards> {
        match &self.net {
            Prepared::Cones(net) => Some(&net.guards),
            Prepared::Events(net) => Some(&net.guards),
            Prepared::Plain(_) => None,
        }
    }
}

/// Operations of a whole step: what it shares is counted once.
fn step_ops(net: &Network) -> usize {
    let out = &net.outputs;
    let mut roots: Vec<Signal> = out.legal.iter().chain(&out.sees).flatten().copied().collect();
    roots.extend(&out.next);
    roots.push(out.terminal);
    count_ops_for(net, &roots)
}

/// How the scalar simulator keeps values up to date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScalarMode {
    /// Whichever should be faster.
    #[default]
    Auto,
    /// Gates count their false operands, and changes walk through the network.
    Incremental,
    /// Machine code per fluent recomputes what depends on it, and per move what it decides, where that is possible.
    Cones,
    /// Random games are played by machine code that evaluates all gates, where that is possible.
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

/// A simulator of one game for one thread.
pub struct Scalar {
    game: Compiled,
    shared: Arc<Shared>,
    engine: Engine,
    /// The values of the state that playouts last began with.
    root: Option<Engine>,
    joint: Vec<u32>,
    /// Where whole steps are made, without and with percepts.
    step_frames: [StepFrame; 2],
    /// The frame in which the last playout ended, if it was played by whole steps.
    last: Option<usize>,
    /// Where goals are evaluated by machine code.
    goal_frame: Vec<u8>,
    /// Where goals are evaluated plainly.
    goal_values: Vec<u8>,
    /// Whether the goals are those of the present state, or of the state in which the last playout ended.
    goals_known: bool,
    meter: Meter,
}

impl Scalar {
    /// A simulator in the initial state.
    pub fn new(game: &Compiled) -> Scalar {
        let shared = game.scalar_shared();
        let engine = match &shared.net {
            Prepared::Cones(net) => Engine::Cones(Cones::new(net)),
            Prepared::Events(net) => Engine::Events(net.start()),
            Prepared::Plain(net) => Engine::Plain(PlainEngine::new(game.network(), net)),
        };
        let mut scalar = Scalar {
            engine,
            root: None,
            shared,
            joint: vec![0; game.roles().len()],
            step_frames: Default::default(),
            last: None,
            goal_frame: Vec::new(),
            goal_values: Vec::new(),
            goals_known: false,
            meter: Meter::default(),
            game: game.clone(),
        };
        let initial = game.initial_state();
        scalar.go_to(&initial);
        scalar
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
        self.goals_known = false;
        let at = usize::from(seeing);
        cpu::wide(
            #[inline(always)]
            || {
                if !self.step_frames[at].is_root(&from.0) {
                    self.go_to_root(from);
                    if self.terminal_here() {
                        return Played { moves: 0, stuck: false };
                    }
                    if !self.set_step_root(seeing) {
                        return self.play_on(rng, seeing);
                    }
                }
                self.play_steps(rng, at)
            },
        )
    }

    /// Prepares to play by whole steps from the present state, if that is how this game is played.
    fn set_step_root(&mut self, seeing: bool) -> bool {
        let at = usize::from(seeing);
        let make = || {
            self.shared
                .steps_fit
                .then(|| ByteStep::new(self.game.network(), seeing, self.game.passes()))
                .flatten()
        };
        let Some(step) = self.shared.steps[at].get_or_init(make) else {
            return false;
        };
        let legal: Vec<Vec<u64>> = (0..self.joint.len())
            .map(|role| self.legal_words(role).collect())
            .collect();
        let frame = &mut self.step_frames[at];
        step.set_root(frame, self.engine.state(), self.game.n_fluents(), &legal);
        true
    }

    /// Plays by whole steps from the root that was set; the present state stays.
    #[inline(always)]
    fn play_steps(&mut self, rng: &mut Rng, at: usize) -> Played {
        let (mut moves, mut stuck) = (0, true);
        if let Some(Some(step)) = self.shared.steps[at].get() {
            (moves, stuck) = step.play(&mut self.step_frames[at], rng);
        }
        self.meter.states += u64::from(moves);
        self.last = Some(at);
        Played { moves, stuck }
    }

    /// Points of a role where the last playout ended.
    pub fn points(&mut self, role: RoleId) -> u8 {
        self.eval_goals();
        self.goal_here(role).points()
    }

    #[inline(always)]
    fn play_on(&mut self, rng: &mut Rng, seeing: bool) -> Played {
        let stage = if seeing { Stage::Sees } else { Stage::Next };
        let mut moves = 0;
        while !self.terminal_here() {
            for role in 0..self.joint.len() {
                let Some(mv) = self.pick(role, rng) else {
                    return Played { moves, stuck: true };
                };
                self.joint[role] = mv;
            }
            self.make(stage);
            self.advance();
            moves += 1;
            if moves >= MAX_ROUNDS {
                return Played { moves, stuck: true };
            }
        }
        Played { moves, stuck: false }
    }

    /// Makes a state the present one from which more than one playout may begin: then its values are at hand.
    #[inline(always)]
    fn go_to_root(&mut self, state: &State) {
        let is_known = self.root.as_ref().is_some_and(|root| root.state() == &state.0[..]);
        match (&mut self.engine, &self.root) {
            (Engine::Cones(engine), Some(Engine::Cones(root))) if is_known => engine.copy_from(root),
            (Engine::Events(engine), Some(Engine::Events(root))) if is_known => engine.copy_from(root),
            _ => {
                self.go_to(state);
                match (&mut self.root, &self.engine) {
                    (Some(Engine::Cones(root)), Engine::Cones(engine)) => root.copy_from(engine),
                    (Some(Engine::Events(root)), Engine::Events(engine)) => root.copy_from(engine),
                    (root, engine) => *root = engine.kept(),
                }
                return;
            }
        }
        self.goals_known = false;
        self.last = None;
    }

    /// Makes a state the present one.
    #[inline(always)]
    fn go_to(&mut self, state: &State) {
        if self.engine.state() != &state.0[..] || self.last.is_some() {
            self.goals_known = false;
        }
        self.last = None;
        match (&mut self.engine, &self.shared.net) {
            (Engine::Cones(engine), Prepared::Cones(net)) => engine.move_to(net, &state.0),
            (Engine::Events(engine), Prepared::Events(net)) => engine.move_to(net, &state.0),
            (Engine::Plain(engine), Prepared::Plain(net)) => engine.move_to(self.game.network(), net, &state.0),
            _ => unreachable!("the engine belongs to the network"),
        }
    }

    /// Evaluates what `joint` leads to in the present state.
    #[inline(always)]
    fn make(&mut self, stage: Stage) {
        match (&mut self.engine, &self.shared.net) {
            (Engine::Cones(engine), Prepared::Cones(net)) => engine.make(net, &self.joint),
            (Engine::Events(engine), Prepared::Events(net)) => engine.make(net, &self.joint, stage),
            (Engine::Plain(engine), Prepared::Plain(net)) => engine.make(self.game.network(), net, &self.joint),
            _ => unreachable!("the engine belongs to the network"),
        }
    }

    /// Goes where `joint` leads.
    #[inline(always)]
    fn advance(&mut self) {
        self.meter.states += 1;
        match (&mut self.engine, &self.shared.net) {
            (Engine::Cones(engine), Prepared::Cones(net)) => engine.advance(net),
            (Engine::Events(engine), Prepared::Events(net)) => engine.advance(net),
            (Engine::Plain(engine), Prepared::Plain(net)) => {
                let first = net.words.next;
                let next = engine.outputs[first..first + engine.state.len()].to_vec();
                engine.move_to(self.game.network(), net, &next);
            }
            _ => unreachable!("the engine belongs to the network"),
        }
    }

    #[inline(always)]
    fn terminal_here(&self) -> bool {
        let (words, outputs) = (self.shared.words(), self.engine.outputs());
        match self.shared.guards() {
            Some(guards) => {
                let (row, _) = words.legal[self.joint.len()];
                outputs[row] >> guards.case(self.engine.state()) & 1 == 1
            }
            None => outputs[words.terminal] & 1 == 1,
        }
    }

    /// The legal moves of a role, packed.
    #[inline(always)]
    fn legal_words(&self, role: usize) -> impl Iterator<Item = u64> + '_ {
        let (first, n) = self.shared.words().legal[role];
        let words = &self.engine.outputs()[first..first + n];
        let visible = self
            .shared
            .guards()
            .map(|guards| guards.roles[role].visible(self.engine.state()));
        words
            .iter()
            .enumerate()
            .map(move |(at, &word)| word & visible.map_or(u64::MAX, |visible| visible[at]))
    }

    /// A random legal move.
    #[inline(always)]
    fn pick(&self, role: usize, rng: &mut Rng) -> Option<u32> {
        let count = self.legal_words(role).map(u64::count_ones).sum();
        let mut rank = random_rank(count, rng)?;
        for (at, word) in self.legal_words(role).enumerate() {
            let here = word.count_ones();
            if rank < here {
                return Some(at as u32 * 64 + nth_set(word, rank));
            }
            rank -= here;
        }
        None
    }

    fn eval_goals(&mut self) {
        if std::mem::replace(&mut self.goals_known, true) {
            return;
        }
        let n = self.game.n_fluents();
        match (&self.shared.byte_goals, self.last) {
            (Some(code), Some(frame)) => {
                code.run_bytes(&mut self.goal_frame, self.step_frames[frame].fluents(n));
            }
            (Some(code), None) => match &self.engine {
                Engine::Cones(engine) => code.run_bytes(&mut self.goal_frame, engine.fluents(n)),
                engine => code.run(&mut self.goal_frame, engine.state(), n),
            },
            (None, _) => {
                let net = self.game.network();
                self.goal_values.resize(net.len(), 0);
                plain::set_leaves(net, &mut self.goal_values, self.engine.state(), None);
                self.shared.goals.run(net, &mut self.goal_values);
            }
        }
    }

    fn goal_here(&self, role: RoleId) -> Goal {
        let role = role.0 as usize;
        let mut goal = Goal::None;
        for (at, &(value, signal)) in self.game.network().outputs.goals[role].iter().enumerate() {
            let holds = match &self.shared.byte_goals {
                Some(code) => self.goal_frame[code.cells[role][at]] & 1 == 1,
                None => plain::read(&self.goal_values, signal),
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
        if state.0.len() == self.engine.state().len() {
            return Ok(());
        }
        Err(Fault::Foreign("a state"))
    }

    fn set_joint(&mut self, joint: &[MoveId]) -> Result<(), Fault> {
        let fits = joint.len() == self.joint.len()
            && joint
                .iter()
                .enumerate()
                .all(|(r, m)| (m.0 as usize) < self.game.n_moves(RoleId(r as u16)));
        if !fits {
            return Err(Fault::Foreign("a joint move"));
        }
        self.joint.iter_mut().zip(joint).for_each(|(to, from)| *to = from.0);
        Ok(())
    }
}

impl Engine {
    /// A copy to come back to, if that is quicker than evaluating the state again.
    fn kept(&self) -> Option<Engine> {
        match self {
            Engine::Cones(engine) => Some(Engine::Cones(engine.clone())),
            Engine::Events(engine) => Some(Engine::Events(engine.clone())),
            Engine::Plain(_) => None,
        }
    }

    #[inline(always)]
    fn state(&self) -> &[u64] {
        match self {
            Engine::Cones(engine) => &engine.state,
            Engine::Events(engine) => &engine.state,
            Engine::Plain(engine) => &engine.state,
        }
    }

    #[inline(always)]
    fn outputs(&self) -> &[u64] {
        match self {
            Engine::Cones(engine) => &engine.outputs,
            Engine::Events(engine) => &engine.outputs,
            Engine::Plain(engine) => &engine.outputs,
        }
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
            return Err(Fault::Foreign("a role"));
        }
        self.go_to(state);
        for (at, word) in self.legal_words(role.0 as usize).enumerate() {
            out.extend(set_bits(word).map(|bit| MoveId(at as u32 * 64 + bit)));
        }
        Ok(())
    }

    fn next(&mut self, state: &State, joint: &[MoveId]) -> Result<State, Fault> {
        self.check_state(state)?;
        self.set_joint(joint)?;
        self.go_to(state);
        self.make(Stage::Next);
        self.meter.states += 1;
        let first = self.shared.words().next;
        Ok(State(self.engine.outputs()[first..first + state.0.len()].into()))
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
            return Err(Fault::Foreign("a role"));
        }
        self.go_to(state);
        self.make(Stage::Sees);
        let (first, n) = self.shared.words().sees[role.0 as usize];
        for (at, &word) in self.engine.outputs()[first..first + n].iter().enumerate() {
            out.extend(set_bits(word).map(|bit| PerceptId(at as u32 * 64 + bit)));
        }
        Ok(())
    }

    fn goal(&mut self, state: &State, role: RoleId) -> Result<Goal, Fault> {
        self.check_state(state)?;
        if role.0 as usize >= self.joint.len() {
            return Err(Fault::Foreign("a role"));
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
        let mut state = State(smallvec::smallvec![0; self.engine.state().len()]);
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

/// The positions of the set bits, ascending.
#[inline(always)]
fn set_bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros();
            word &= word - 1;
            bit
        })
    })
}
