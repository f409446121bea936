//! Every simulator against the naive evaluator of ground programs, over whole games of random programs.

use crate::build::build;
use crate::lanes::Lanes;
use crate::network::Choice;
use crate::passes::chains::merge_chains;
use crate::passes::dead::remove_dead;
use crate::passes::pairs::{PairBudget, extract_common};
use crate::passes::testing::assert_same;
use crate::passes::{count_ops, rebuild};
use crate::random_program::random_program;
use crate::tuning::Bounds;
use crate::{
    CompileError, CompileOptions, GoalTiming, LaneOptions, Mask, PlayoutOptions, Scalar, ScalarMode, Tuning, compile,
    compile_until, playouts,
};
use game::{MoveId, PerceptId, RoleId, Seed, Simulator, State, StopFlag};
use ground::{AtomId, Direct, Output, Program};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The roles of a simulator.
fn roles(sim: &dyn Simulator) -> impl Iterator<Item = RoleId> + use<> {
    (0..sim.roles().len() as u16).map(RoleId)
}

fn legal(sim: &mut dyn Simulator, state: &State, role: RoleId) -> Vec<MoveId> {
    let mut moves = Vec::new();
    sim.legal(state, role, &mut moves).expect("legal moves");
    moves
}

fn percepts(sim: &mut dyn Simulator, state: &State, joint: &[MoveId], role: RoleId) -> Vec<PerceptId> {
    let mut seen = Vec::new();
    sim.percepts(state, joint, role, &mut seen).expect("percepts");
    seen
}

fn options(native: bool) -> CompileOptions {
    CompileOptions {
        lanes: LaneOptions {
            native,
            ..LaneOptions::default()
        },
        tuning: Tuning::small(),
        ..CompileOptions::default()
    }
}

/// As [`options`], with the thresholds that ship in every other case.
fn options_of(case: u64, native: bool) -> CompileOptions {
    CompileOptions {
        tuning: if case.is_multiple_of(2) {
            Tuning::small()
        } else {
            Tuning::default()
        },
        ..options(native)
    }
}

#[test]
fn lanes_agree_with_direct_evaluation() {
    let mut rng = Seed(11).rng();
    for case in 0..150 {
        let mut direct = Direct::new(random_program(&mut rng));
        for native in [false, true] {
            let game = compile(direct.program(), &options(native));
            let mut lanes = Lanes::new(&game, Seed(case));
            follow_lanes(&mut direct, &mut lanes, case);
        }
    }
}

/// Plays all lanes at random for some steps and checks a few of them at every step.
fn follow_lanes(direct: &mut Direct, lanes: &mut Lanes, case: u64) {
    let initial = direct.initial().expect("an initial state");
    // A lane is watched until its game is over: its state means nothing after that.
    let mut watched = [0_usize, 7, 64, 255].map(|lane| (lane, initial.clone())).to_vec();
    for step in 0..16 {
        let terminal = lanes.eval();
        lanes.eval_goals();
        for (lane, state) in &watched {
            let lane = *lane;
            let at = format!("case {case} step {step} lane {lane}");
            assert_eq!(lanes.store(lane), *state, "{at}");
            assert_eq!(Ok(terminal.get(lane)), direct.terminal(state), "terminal, {at}");
            for role in roles(direct) {
                let n_moves = direct.program().moves[role.0 as usize].len() as u32;
                let is_legal = |&mv: &MoveId| lanes.legal(role, mv).get(lane);
                let found: Vec<MoveId> = (0..n_moves).map(MoveId).filter(is_legal).collect();
                assert_eq!(found, legal(direct, state, role), "legal, {at}");
                assert_eq!(Ok(lanes.goal(role, lane)), direct.goal(state, role), "goal, {at}");
            }
        }
        watched.retain(|(lane, _)| !terminal.get(*lane));
        for role in roles(direct) {
            lanes.sample(role, Mask::ONE);
        }
        lanes.next(Mask::ONE);
        for (lane, state) in &mut watched {
            let lane = *lane;
            let made = |role| lanes.made(role, lane).expect("a move is made");
            let joint: Vec<MoveId> = roles(direct).map(made).collect();
            for role in roles(direct) {
                let seen = percepts(direct, state, &joint, role);
                assert_eq!(lanes.percepts(role, lane), seen, "sees, case {case} step {step}");
                assert!(lanes.agree(role, &seen).get(lane));
            }
            *state = direct.next(state, &joint).expect("a next state");
        }
        lanes.commit(Mask::ONE);
    }
}

#[test]
fn scalar_agrees_with_direct_evaluation() {
    let mut rng = Seed(12).rng();
    for case in 0..300 {
        let mut direct = Direct::new(random_program(&mut rng));
        for scalar in [ScalarMode::Incremental, ScalarMode::Cones, ScalarMode::Compiled] {
            let options = CompileOptions {
                scalar,
                ..options_of(case, false)
            };
            let mut scalar = Scalar::new(&compile(direct.program(), &options));
            follow_scalar(&mut direct, &mut scalar, &mut rng, case);
        }
    }
}

fn follow_scalar(direct: &mut Direct, scalar: &mut Scalar, rng: &mut game::Rng, case: u64) {
    let initial = direct.initial().expect("an initial state");
    let mut state = initial.clone();
    for step in 0..24 {
        let at = format!("case {case} step {step}");
        assert_eq!(scalar.terminal(&state), direct.terminal(&state), "terminal, {at}");
        let mut joint = Vec::new();
        for role in roles(direct) {
            let moves = legal(scalar, &state, role);
            assert_eq!(moves, legal(direct, &state, role), "legal, {at}");
            assert_eq!(scalar.goal(&state, role), direct.goal(&state, role), "goal, {at}");
            joint.push(*rng.pick(&moves));
        }
        for role in roles(direct) {
            let seen = percepts(scalar, &state, &joint, role);
            assert_eq!(seen, percepts(direct, &state, &joint, role), "sees, {at}");
        }
        let next = direct.next(&state, &joint);
        assert_eq!(scalar.next(&state, &joint), next, "next, {at}");
        let next = next.expect("a next state");
        // Now and then back to the start, which tests jumps; and never past the end of a game.
        let over = direct.terminal(&next) == Ok(true);
        state = if step % 5 == 4 || over { initial.clone() } else { next };
    }
}

/// The states of a few games, in no order that a game would give.
fn scattered_states(direct: &mut Direct, rng: &mut game::Rng) -> Vec<State> {
    let mut states = Vec::new();
    for _ in 0..4 {
        let mut state = direct.initial().expect("an initial state");
        for _ in 0..6 {
            states.push(state.clone());
            if direct.terminal(&state) == Ok(true) {
                break;
            }
            state = random_step(direct, &state, rng);
        }
    }
    (0..states.len() * 2).map(|_| rng.pick(&states).clone()).collect()
}

#[test]
fn scalar_may_be_asked_anything_anywhere() {
    let mut rng = Seed(17).rng();
    for case in 0..150 {
        let mut direct = Direct::new(random_program(&mut rng));
        let mut scalar = Scalar::new(&compile(direct.program(), &options_of(case, false)));
        for state in scattered_states(&mut direct, &mut rng) {
            let role = RoleId(rng.below(direct.roles().len()) as u16);
            let moves = direct.program().moves.iter();
            let joint: Vec<MoveId> = moves.map(|row| MoveId(rng.below(row.len()) as u32)).collect();
            // One question each, so that whatever the others would have brought up to date is not.
            match rng.below(6) {
                0 => assert_eq!(scalar.terminal(&state), direct.terminal(&state), "case {case}"),
                1 => {
                    let moves = legal(&mut scalar, &state, role);
                    assert_eq!(moves, legal(&mut direct, &state, role), "case {case}");
                }
                2 => assert_eq!(scalar.goal(&state, role), direct.goal(&state, role), "case {case}"),
                3 => {
                    let seen = percepts(&mut scalar, &state, &joint, role);
                    assert_eq!(seen, percepts(&mut direct, &state, &joint, role), "case {case}");
                }
                4 => {
                    // A playout in between must leave nothing behind.
                    scalar.playout(&state, &mut rng);
                }
                _ => assert_eq!(scalar.next(&state, &joint), direct.next(&state, &joint), "case {case}"),
            }
        }
    }
}

#[test]
fn scalar_playouts_do_not_depend_on_the_mode() {
    let mut rng = Seed(18).rng();
    for case in 0..100 {
        let mut direct = Direct::new(random_program(&mut rng));
        let mut simulators = [ScalarMode::Incremental, ScalarMode::Cones, ScalarMode::Compiled].map(|scalar| {
            let options = CompileOptions {
                scalar,
                ..options_of(case / 2, false)
            };
            Scalar::new(&compile(direct.program(), &options))
        });
        let roots: Vec<State> = some_states(&mut direct, &mut rng);
        for seed in 0..12 {
            let root = &roots[seed as usize % roots.len()];
            let played = simulators.each_mut().map(|sim| {
                let mut rng = Seed(seed).rng();
                let played = if case % 2 == 0 {
                    sim.playout(root, &mut rng)
                } else {
                    sim.playout_seeing(root, &mut rng)
                };
                let points: Vec<u8> = roles(sim).map(|role| sim.points(role)).collect();
                (played, points, sim.meter().states)
            });
            assert_eq!(played[0], played[1], "case {case} seed {seed}");
            assert_eq!(played[0], played[2], "case {case} seed {seed}");
        }
    }
}

#[test]
fn playouts_do_not_depend_on_threads_pieces_or_machine_code() {
    let mut rng = Seed(13).rng();
    let whole = options(true);
    let in_pieces = CompileOptions {
        lanes: LaneOptions {
            most_whole: 0,
            piece: 40,
            most_groups: 3,
            ..whole.lanes
        },
        ..whole
    };
    for case in 0..60 {
        let mut direct = Direct::new(random_program(&mut rng));
        let native = compile(direct.program(), &options(true));
        let pieces = compile(direct.program(), &in_pieces);
        let portable = compile(direct.program(), &options(false));
        let mut roots = vec![native.initial_state()];
        if case % 2 == 1 {
            roots.extend(some_states(&mut direct, &mut rng));
        }
        for goals in [GoalTiming::EveryStep, GoalTiming::WhenWorthIt] {
            let mut results = Vec::new();
            let ways = [
                (&native, 1),
                (&native, 2),
                (&native, 3),
                (&portable, 2),
                (&pieces, 1),
                (&pieces, 2),
            ];
            for (game, threads) in ways {
                let options = PlayoutOptions {
                    threads,
                    goals,
                    percepts: case % 3 == 0,
                };
                let stop = StopFlag::default();
                results.push(playouts(game, &roots, 700, Seed(case), &options, &stop));
            }
            assert!(results.windows(2).all(|w| w[0] == w[1]), "case {case} {goals:?}");
            assert!(results[0].roots.iter().all(|r| r.playouts == 700), "case {case}");
        }
    }
}

fn some_states(direct: &mut Direct, rng: &mut game::Rng) -> Vec<State> {
    let mut state = direct.initial().expect("an initial state");
    let mut states = Vec::new();
    for _ in 0..3 {
        if direct.terminal(&state) == Ok(false) {
            state = random_step(direct, &state, rng);
        }
        states.push(state.clone());
    }
    states
}

fn random_step(direct: &mut Direct, state: &State, rng: &mut game::Rng) -> State {
    let joint: Vec<MoveId> = roles(direct)
        .map(|role| *rng.pick(&legal(direct, state, role)))
        .collect();
    direct.next(state, &joint).expect("a next state")
}

#[test]
fn passes_keep_functions() {
    let mut rng = Seed(14).rng();
    for _ in 0..150 {
        let program = random_program(&mut rng);
        let net = Bounds::shipped(|bounds| build(&program, bounds)).expect("nobody stops it");
        let dead = Bounds::shipped(|bounds| remove_dead(&net, bounds)).expect("nobody stops it");
        assert_same(&net, &dead, &mut rng);
        let chains = Bounds::shipped(|bounds| merge_chains(&dead, bounds)).expect("nobody stops it");
        assert_same(&dead, &chains, &mut rng);
        let common =
            Bounds::shipped(|bounds| extract_common(&chains, PairBudget::default(), bounds)).expect("nobody stops it");
        assert_same(&chains, &common, &mut rng);
        assert!(count_ops(&common) <= count_ops(&chains));
        // Any two fluents may be declared exclusive, as long as the leaves then are.
        let mut fresh = net.same_leaves();
        let values = vec![net.fluent(0).node(), net.fluent(1).node()];
        fresh.add_choice(Choice { values, total: false });
        let exclusive = Bounds::shipped(|bounds| rebuild(&net, fresh, bounds, |_, _| None)).expect("nobody stops it");
        assert_same(&net, &exclusive, &mut rng);
    }
}

/// One role, two moves, of which the second keeps the game alive; without it the next state is stuck.
fn dead_end() -> Program {
    let [alive, stay, go] = [0, 1, 2].map(AtomId);
    Program {
        roles: vec!["r".into()],
        fluents: vec!["alive".into()],
        moves: vec![vec!["go".into(), "stay".into()]],
        percepts: vec![vec![]],
        initial: vec![0],
        n_atoms: 3,
        true_atoms: vec![alive],
        does_atoms: vec![vec![go, stay]],
        next: vec![Output::Atom(stay)],
        legal: vec![vec![Output::Atom(alive), Output::Atom(alive)]],
        sees: vec![vec![]],
        goals: vec![vec![(100, Output::Always)]],
        terminal: Output::Never,
        rules: vec![],
        names: vec!["(true alive)".into(), "(does r stay)".into(), "(does r go)".into()],
        otherwise: None,
    }
}

#[test]
fn a_state_without_legal_moves_is_reported() {
    for native in [false, true] {
        let game = compile(&dead_end(), &options(native));
        for goals in [GoalTiming::EveryStep, GoalTiming::WhenWorthIt] {
            let options = PlayoutOptions {
                goals,
                ..PlayoutOptions::default()
            };
            let roots = [game.initial_state()];
            let totals = playouts(&game, &roots, 1_000, Seed(1), &options, &StopFlag::default());
            let root = &totals.roots[0];
            assert_eq!(
                (root.playouts, root.stuck, root.points[0]),
                (1_000, 1_000, 0),
                "{goals:?}"
            );
            // One move on average two times: states counted are moves made, not lanes.
            assert!((1_800..2_200).contains(&totals.meter.states), "{}", totals.meter.states);
        }
        for scalar in [ScalarMode::Incremental, ScalarMode::Cones, ScalarMode::Compiled] {
            let game = compile(
                &dead_end(),
                &CompileOptions {
                    scalar,
                    ..options(native)
                },
            );
            let mut scalar = Scalar::new(&game);
            let root = scalar.initial().expect("initial");
            assert!(scalar.playout(&root, &mut Seed(2).rng()).stuck);
            let stuck = scalar.next(&root, &[MoveId(0)]).expect("next");
            let mut legal = vec![MoveId(7)];
            scalar.legal(&stuck, RoleId(0), &mut legal).expect("legal");
            assert_eq!(legal, []);
            let played = scalar.playout(&stuck, &mut Seed(2).rng());
            assert_eq!((played.moves, played.stuck), (0, true));
        }
        let mut lanes = Lanes::new(&game, Seed(1));
        lanes.eval();
        assert!(lanes.stuck().is_empty());
        let stay = Mask::first(100);
        lanes.force(RoleId(0), MoveId(1), stay);
        lanes.force(RoleId(0), MoveId(0), !stay);
        lanes.next(Mask::ONE);
        lanes.commit(Mask::ONE);
        lanes.eval();
        assert_eq!(lanes.stuck(), !stay);
        let from = lanes.compact(stay);
        assert!(from.iter().all(|&lane| lane < 100));
        lanes.eval();
        assert!(lanes.stuck().is_empty());
    }
}

#[test]
fn lanes_and_scalar_playouts_have_the_same_means() {
    let mut rng = Seed(15).rng();
    for case in 0..25 {
        let game = compile(&random_program(&mut rng), &options_of(case / 2, case % 2 == 0));
        let roots = [game.initial_state()];
        let n = 2_048;
        let lanes = playouts(
            &game,
            &roots,
            n,
            Seed(case),
            &PlayoutOptions::default(),
            &StopFlag::default(),
        );
        let mut scalar = Scalar::new(&game);
        let (mut points, mut moves) = (0_u64, 0_u64);
        for _ in 0..n {
            moves += u64::from(scalar.playout(&roots[0], &mut rng).moves);
            points += u64::from(scalar.points(RoleId(0)));
        }
        let mean = |sum: u64| sum as f64 / n as f64;
        // Five standard errors of a difference, whatever the game: points are within 0..=100, lengths within 15.
        let off = (mean(points) - mean(lanes.roots[0].points[0])).abs();
        assert!(
            off < 5.0 * 50.0 * (2.0 / n as f64).sqrt(),
            "case {case}: points off by {off}"
        );
        let off = (mean(moves) - mean(lanes.meter.states)).abs();
        assert!(
            off < 5.0 * 7.5 * (2.0 / n as f64).sqrt(),
            "case {case}: length off by {off}"
        );
    }
}

#[test]
fn a_raised_flag_ends_playouts_before_they_begin() {
    let mut rng = Seed(16).rng();
    let game = compile(&random_program(&mut rng), &options(true));
    let stop = StopFlag::default();
    stop.raise();
    let roots = [game.initial_state()];
    let totals = playouts(&game, &roots, u64::MAX / 2, Seed(1), &PlayoutOptions::default(), &stop);
    assert_eq!(totals.roots[0].playouts, 0);
}

/// A flag that is raised at its n-th check, counted from 0.
fn raised_at_check(n: usize) -> StopFlag {
    let checks = AtomicUsize::new(0);
    StopFlag::by(move || f64::from(u8::from(checks.fetch_add(1, Ordering::Relaxed) >= n)))
}

/// Repeats some work with flags that are raised ever later, until the work is not stopped; returns the number of times
/// that it was stopped.
fn stopped_until_done(mut f: impl FnMut(&StopFlag) -> Result<(), CompileError>) -> usize {
    (0..)
        .find(|&n| f(&raised_at_check(n)) != Err(CompileError::Stopped))
        .expect("some number of checks is enough")
}

#[test]
fn compiling_can_be_stopped_at_any_check() {
    let mut rng = Seed(19).rng();
    let mut stopped = [0; 3];
    for case in 0..24 {
        let program = random_program(&mut rng);
        let mut options = options_of(case, true);
        options.scalar = [ScalarMode::Auto, ScalarMode::Incremental, ScalarMode::Cones][case as usize % 3];
        stopped[0] += stopped_until_done(|stop| compile_until(&program, &options, stop).map(drop));
        let game = compile(&program, &options);
        stopped[1] += stopped_until_done(|stop| game.prepare_scalar(stop));
        stopped[2] += stopped_until_done(|stop| game.prepare_lanes(&PlayoutOptions::default(), stop));
        // What was stopped has left nothing wrong behind.
        let (mut direct, mut scalar) = (Direct::new(program), Scalar::new(&game));
        follow_scalar(&mut direct, &mut scalar, &mut rng, case);
        follow_lanes(&mut direct, &mut Lanes::new(&game, Seed(case)), case);
    }
    assert!(stopped[0] > 24 * 50, "{stopped:?}");
    assert!(stopped[1] > 24 * 3 && stopped[2] > 24 * 3, "{stopped:?}");
}
