//! The scalar simulator: one state at a time, a few words each, for trees, referees and solvers.
//!
//! Values are kept for one state and updated by difference. So a step of a game costs as much as the changes on the
//! board, not as much as all gates. A jump to an unrelated state is correct too and costs the difference.
//!
//! `evaluator.rs` has the ways of evaluating behind one interface: `cones/` (machine code per fluent), `events.rs`
//! (changes propagated from gate to gate) and `plain.rs` (all gates, for positive cycles). `step.rs` plays random games
//! of small networks by whole steps, and `goals.rs` evaluates goals.

mod cases;
mod cofactor;
mod cones;
mod evaluator;
mod events;
mod focus;
mod goals;
mod guards;
mod heads;
mod numbering;
mod order;
mod plain;
mod prefixes;
mod split;
mod step;
mod trial;
mod words;

use crate::lanes::bit;
use crate::network::{Network, Signal};
use crate::passes::count_ops_for;
use crate::tuning::Bounds;
use crate::{CompileError, Compiled, jit};
use cases::lonely_relations;
use cones::ConeNet;
pub use evaluator::ScalarPlayout;
use evaluator::{Evaluation, Evaluator, Stage};
use events::EventNet;
use game::{Fault, Goal, Meter, MoveId, PerceptId, Rng, RoleId, Simulator, State, StopFlag};
use goals::{Fluents, GoalEvaluator};
use plain::PlainNet;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use step::{ByteStep, StepRun};

/// The part that all scalar simulators of a game share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The evaluator that every simulator starts with: the prepared network, and values of no particular state.
    evaluator: Evaluator,
    goals: GoalEvaluator,
    /// Whether random games are played by whole steps.
    steps_fit: bool,
    /// Whole steps as machine code, without and with percepts.
    steps: [OnceLock<Option<Arc<ByteStep>>>; 2],
}

impl Shared {
    /// Prepares a game, in the fastest way if the mode leaves it open; `None` if the work was stopped.
    pub(crate) fn new(game: &Compiled, bounds: &Bounds) -> Option<Shared> {
        std::thread::scope(|scope| {
            let goals = scope.spawn(|| {
                let mut families = game.exclusive_fluents().to_vec();
                families.extend(lonely_relations(&game.names().fluents, game.likelihoods()));
                GoalEvaluator::new(game.network(), &families, bounds)
            });
            let evaluator = Shared::evaluator(game, bounds);
            let goals = goals.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let (evaluator, steps_fit) = evaluator?;
            Some(Shared {
                evaluator,
                goals,
                steps_fit,
                steps: Default::default(),
            })
        })
    }

    /// The evaluator, and whether random games are played by whole steps; `None` if the work was stopped.
    fn evaluator(game: &Compiled, bounds: &Bounds) -> Option<(Evaluator, bool)> {
        let (net, mode) = (game.network(), game.scalar_mode());
        let wants_cones = matches!(mode, ScalarMode::Auto | ScalarMode::Cones);
        let most = match mode {
            ScalarMode::Cones => f32::INFINITY,
            _ => bounds.tuning.most_cone_ops,
        };
        let cones = wants_cones
            .then(|| ConeNet::new(net, game.noop_moves(), game.habits(), most, bounds))
            .flatten()
            .map(|cones| (cones.cost(game.habits(), bounds.tuning), cones))
            .filter(|&(cost, _)| cost <= most);
        bounds.go_on()?;
        let whole = step_ops(net) as f32;
        let steps_fit = match (mode, &cones) {
            (ScalarMode::Compiled, _) => true,
            (ScalarMode::Auto, Some((cost, _))) => whole < bounds.tuning.cone_step + bounds.tuning.cone_op * cost,
            (ScalarMode::Auto, None) => whole <= bounds.tuning.largest_step,
            _ => false,
        };
        let evaluator = match cones {
            Some((_, cones)) => Evaluator::Cones(Evaluation::new(cones)),
            None => EventNet::new(game.flat_network(), game.likelihoods(), &game.initial_state().0, bounds)
                .map_or_else(
                    || Evaluator::Plain(Evaluation::new(PlainNet::new(net))),
                    |net| Evaluator::Events(Evaluation::new(net)),
                ),
        };
        bounds.go_on()?;
        Some((evaluator, steps_fit))
    }

    /// A whole step as machine code, if random games are played that way.
    fn step(&self, game: &Compiled, seeing: bool) -> Option<&Arc<ByteStep>> {
        let make = || self.make_step(game, seeing, &game.bounds(&StopFlag::default()));
        self.steps[usize::from(seeing)].get_or_init(make).as_ref()
    }

    fn make_step(&self, game: &Compiled, seeing: bool, bounds: &Bounds) -> Option<Arc<ByteStep>> {
        let step = self
            .steps_fit
            .then(|| ByteStep::new(game.network(), seeing, game.noop_moves(), bounds));
        step.flatten().map(Arc::new)
    }

    /// Makes a whole step if random games are played that way, unless the flag is raised.
    pub(crate) fn prepare_step(&self, game: &Compiled, seeing: bool, bounds: &Bounds) -> Result<(), CompileError> {
        let slot = &self.steps[usize::from(seeing)];
        if slot.get().is_none() {
            let step = self.make_step(game, seeing, bounds);
            if bounds.is_stopped() {
                return Err(CompileError::Stopped);
            }
            slot.get_or_init(|| step);
        }
        Ok(())
    }
}

/// Number of operations of a whole step; shared parts are counted once.
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
    /// The way with the lower estimated cost.
    #[default]
    Auto,
    /// Changes are propagated from gate to gate.
    Incremental,
    /// Machine code per fluent recomputes what depends on it, where possible.
    Cones,
    /// Random games are played by machine code that evaluates all gates, where possible.
    Compiled,
}

/// A simulator of one game for one thread.
pub struct Scalar {
    game: Compiled,
    shared: Arc<Shared>,
    evaluator: Evaluator,
    goals: GoalEvaluator,
    /// Random games by whole steps, without and with percepts, if the game is played that way.
    steps: [Option<StepRun>; 2],
    /// Which of `steps` the last playout ended in, if any.
    last: Option<usize>,
    /// Room for a joint move.
    joint: Vec<u32>,
    /// Whether the goals are those of the present state, or of the state in which the last playout ended.
    goals_known: bool,
    meter: Meter,
}

impl Scalar {
    /// A simulator in the initial state.
    pub fn new(game: &Compiled) -> Scalar {
        let shared = game.scalar_shared();
        let mut scalar = Scalar {
            evaluator: shared.evaluator.clone(),
            goals: shared.goals.clone(),
            shared,
            steps: [None, None],
            last: None,
            joint: vec![0; game.roles().len()],
            goals_known: false,
            meter: Meter::default(),
            game: game.clone(),
        };
        scalar.go_to(&game.initial_state());
        scalar
    }

    /// Plays random legal moves from a state to the end; [`Scalar::points`] then gives the payoffs.
    pub fn playout(&mut self, from: &State, rng: &mut Rng) -> ScalarPlayout {
        self.playout_with(from, rng, false)
    }

    /// As [`Scalar::playout`], with every role's percepts computed on every step, as in a player's simulation.
    pub fn playout_seeing(&mut self, from: &State, rng: &mut Rng) -> ScalarPlayout {
        self.playout_with(from, rng, true)
    }

    fn playout_with(&mut self, from: &State, rng: &mut Rng, seeing: bool) -> ScalarPlayout {
        self.goals_known = false;
        let at = usize::from(seeing);
        let playout = jit::wide(
            #[inline(always)]
            || {
                if !self.steps[at].as_ref().is_some_and(|run| run.is_root(&from.0)) {
                    self.last = None;
                    self.evaluator.move_to_root(&from.0);
                    if self.evaluator.is_terminal() {
                        return ScalarPlayout { moves: 0, stuck: false };
                    }
                    self.set_step_root(seeing);
                }
                match &mut self.steps[at] {
                    Some(run) => {
                        self.last = Some(at);
                        run.play(rng)
                    }
                    None => {
                        let stage = if seeing { Stage::Sees } else { Stage::Next };
                        self.evaluator.play(&mut self.joint, stage, rng)
                    }
                }
            },
        );
        self.meter.states += u64::from(playout.moves);
        playout
    }

    /// Makes the present state the root of games by whole steps, if this game is played that way.
    fn set_step_root(&mut self, seeing: bool) {
        let Some(step) = self.shared.step(&self.game, seeing) else {
            return;
        };
        let legal: Vec<Vec<u64>> = (0..self.joint.len())
            .map(|role| {
                let mut words = Vec::new();
                self.evaluator.each_legal_word(role, |word| words.push(word));
                words
            })
            .collect();
        let (state, n_fluents) = (self.evaluator.state(), self.game.n_fluents());
        match &mut self.steps[usize::from(seeing)] {
            Some(run) => run.set_root(state, n_fluents, &legal),
            run => *run = Some(StepRun::new(step.clone(), state, n_fluents, &legal)),
        }
    }

    /// Points of a role where the last playout ended.
    pub fn points(&mut self, role: RoleId) -> u8 {
        self.eval_goals();
        self.goals.goal(self.game.network(), role.0 as usize).points()
    }

    /// Makes a state the present one.
    #[inline(always)]
    fn go_to(&mut self, state: &State) {
        if self.evaluator.state() != &state.0[..] || self.last.is_some() {
            self.goals_known = false;
        }
        self.last = None;
        self.evaluator.move_to(&state.0);
    }

    fn eval_goals(&mut self) {
        if std::mem::replace(&mut self.goals_known, true) {
            return;
        }
        let last = self.last.and_then(|at| self.steps[at].as_ref());
        let bytes = match last {
            Some(run) => Some(run.fluents(self.game.n_fluents())),
            None => self.evaluator.fluent_bytes(),
        };
        let fluents = bytes.map_or_else(|| Fluents::Packed(self.evaluator.state()), Fluents::Bytes);
        self.goals.run(self.game.network(), fluents);
    }

    fn check_state(&self, state: &State) -> Result<(), Fault> {
        if state.0.len() == self.evaluator.state().len() {
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
        Ok(self.evaluator.is_terminal())
    }

    fn legal(&mut self, state: &State, role: RoleId, out: &mut Vec<MoveId>) -> Result<(), Fault> {
        self.check_state(state)?;
        out.clear();
        if role.0 as usize >= self.joint.len() {
            return Err(Fault::Foreign("a role"));
        }
        self.go_to(state);
        let mut first = 0;
        self.evaluator.each_legal_word(role.0 as usize, |word| {
            out.extend(set_bits(word).map(|bit| MoveId(first + bit)));
            first += 64;
        });
        Ok(())
    }

    fn next(&mut self, state: &State, joint: &[MoveId]) -> Result<State, Fault> {
        self.check_state(state)?;
        self.set_joint(joint)?;
        self.go_to(state);
        self.evaluator.make(&self.joint, Stage::Next);
        self.meter.states += 1;
        Ok(State(self.evaluator.next_state().into()))
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
        self.evaluator.make(&self.joint, Stage::Sees);
        for (at, &word) in self.evaluator.percept_words(role.0 as usize).iter().enumerate() {
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
        Ok(self.goals.goal(self.game.network(), role.0 as usize))
    }

    fn fluents(&self, state: &State) -> Vec<String> {
        let names = &self.game.names().fluents;
        (0..names.len())
            .filter(|&f| bit(state, f))
            .map(|f| names[f].clone())
            .collect()
    }

    fn fluent_names(&self) -> Option<&[String]> {
        Some(&self.game.names().fluents)
    }

    fn marginals(&self, states: &[(State, f64)]) -> BTreeMap<String, f64> {
        let names = &self.game.names().fluents;
        let mut weights: Vec<Option<f64>> = vec![None; names.len()];
        for (state, weight) in states {
            for (at, &word) in state.0.iter().enumerate() {
                for bit in set_bits(word) {
                    // Bits behind the last fluent are never set in states of this game.
                    if let Some(sum) = weights.get_mut(at * 64 + bit as usize) {
                        *sum = Some(sum.unwrap_or(0.0) + weight);
                    }
                }
            }
        }
        let held = names.iter().zip(weights);
        held.filter_map(|(name, sum)| Some((name.clone(), sum?))).collect()
    }

    fn state_of(&mut self, fluents: &[String]) -> Option<State> {
        let mut state = State(smallvec::smallvec![0; self.evaluator.state().len()]);
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
