//! Every simulator against the naive twin, over whole games of random programs.

use crate::build::build;
use crate::lanes::Lanes;
use crate::network::Choice;
use crate::passes::chains::merge_chains;
use crate::passes::dead::remove_dead;
use crate::passes::pairs::{PairBudget, extract_common};
use crate::passes::testing::assert_same;
use crate::passes::{count_ops, rebuild};
use crate::twin::Twin;
use crate::{
    CompileOptions, GoalTiming, LaneOptions, Mask, PlayoutOptions, Scalar, ScalarMode, Tuning, compile, playouts,
};
use game::{Goal, MoveId, PerceptId, RoleId, Seed, Simulator, State, StopFlag};
use ground::{AtomId, Output, Program};

fn pack(state: &[bool]) -> State {
    let mut packed = State(smallvec::smallvec![0; state.len().div_ceil(64)]);
    state
        .iter()
        .enumerate()
        .filter(|(_, b)| **b)
        .for_each(|(f, _)| packed.0[f / 64] |= 1 << (f % 64));
    packed
}

fn expected_goal(twin: &Twin, model: &crate::twin::Model, role: usize) -> Goal {
    let held: Vec<i32> = twin.program.goals[role]
        .iter()
        .filter(|(_, o)| model.holds(*o))
        .map(|&(v, _)| v)
        .collect();
    match held[..] {
        [] => Goal::None,
        [v] => Goal::Value(v),
        [.., v] => Goal::Many(v),
    }
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
fn lanes_agree_with_the_twin() {
    let mut rng = Seed(11).rng();
    for case in 0..150 {
        let twin = Twin::random(&mut rng);
        for native in [false, true] {
            let game = compile(&twin.program, &options(native));
            let mut lanes = Lanes::new(&game, Seed(case));
            follow_lanes(&twin, &mut lanes, case);
        }
    }
}

/// Plays all lanes at random for some steps and checks a few of them against the twin at every step.
fn follow_lanes(twin: &Twin, lanes: &mut Lanes, case: u64) {
    let n_roles = twin.program.roles.len();
    let watched = [0_usize, 7, 64, 255];
    // A lane is watched until its game is over: what follows then is nobody's business.
    let mut watched: Vec<(usize, Vec<bool>)> = watched.iter().map(|&lane| (lane, twin.initial())).collect();
    for step in 0..16 {
        let terminal = lanes.eval();
        lanes.eval_goals();
        for (lane, state) in &watched {
            let lane = *lane;
            let model = twin.model(state, &[]);
            let at = format!("case {case} step {step} lane {lane}");
            assert_eq!(lanes.store(lane), pack(state), "{at}");
            assert_eq!(terminal.get(lane), model.holds(twin.program.terminal), "terminal, {at}");
            for role in 0..n_roles {
                let id = RoleId(role as u16);
                let legal: Vec<usize> = (0..twin.program.moves[role].len())
                    .filter(|&m| lanes.legal(id, MoveId(m as u32)).get(lane))
                    .collect();
                assert_eq!(legal, twin.legal(&model, role), "legal, {at}");
                assert_eq!(lanes.goal(id, lane), expected_goal(twin, &model, role), "goal, {at}");
            }
        }
        watched.retain(|(lane, _)| !terminal.get(*lane));
        for role in 0..n_roles {
            lanes.sample(RoleId(role as u16), Mask::ONE);
        }
        lanes.next(Mask::ONE);
        for (lane, state) in &mut watched {
            let lane = *lane;
            let joint: Vec<usize> = (0..n_roles)
                .map(|r| lanes.made(RoleId(r as u16), lane).expect("a move is made").0 as usize)
                .collect();
            let model = twin.model(state, &joint);
            for role in 0..n_roles {
                let row = &twin.program.sees[role];
                let seen: Vec<PerceptId> = (0..row.len())
                    .filter(|&p| model.holds(row[p]))
                    .map(|p| PerceptId(p as u32))
                    .collect();
                let id = RoleId(role as u16);
                assert_eq!(lanes.percepts(id, lane), seen, "sees, case {case} step {step}");
                assert!(lanes.agree(id, &seen).get(lane));
            }
            *state = twin.next(&model);
        }
        lanes.commit(Mask::ONE);
    }
}

#[test]
fn scalar_agrees_with_the_twin() {
    let mut rng = Seed(12).rng();
    for case in 0..300 {
        let twin = Twin::random(&mut rng);
        for scalar in [ScalarMode::Incremental, ScalarMode::Cones, ScalarMode::Compiled] {
            let game = compile(
                &twin.program,
                &CompileOptions {
                    scalar,
                    ..options_of(case, false)
                },
            );
            let mut scalar = Scalar::new(&game);
            follow_scalar(&twin, &mut scalar, &mut rng, case);
        }
    }
}

fn follow_scalar(twin: &Twin, scalar: &mut Scalar, rng: &mut game::Rng, case: u64) {
    let n_roles = twin.program.roles.len();
    let mut state = twin.initial();
    let mut legal = Vec::new();
    let mut seen = Vec::new();
    for step in 0..24 {
        let packed = pack(&state);
        let at = format!("case {case} step {step}");
        let model = twin.model(&state, &[]);
        assert_eq!(
            scalar.terminal(&packed),
            Ok(model.holds(twin.program.terminal)),
            "terminal, {at}"
        );
        let mut joint = Vec::new();
        for role in 0..n_roles {
            let id = RoleId(role as u16);
            scalar.legal(&packed, id, &mut legal).expect("legal");
            let got: Vec<usize> = legal.iter().map(|m| m.0 as usize).collect();
            assert_eq!(got, twin.legal(&model, role), "legal, {at}");
            assert_eq!(
                scalar.goal(&packed, id),
                Ok(expected_goal(twin, &model, role)),
                "goal, {at}"
            );
            joint.push(*rng.pick(&legal));
        }
        let plain: Vec<usize> = joint.iter().map(|m| m.0 as usize).collect();
        let model = twin.model(&state, &plain);
        for role in 0..n_roles {
            let row = &twin.program.sees[role];
            let expected: Vec<PerceptId> = (0..row.len())
                .filter(|&p| model.holds(row[p]))
                .map(|p| PerceptId(p as u32))
                .collect();
            scalar
                .percepts(&packed, &joint, RoleId(role as u16), &mut seen)
                .expect("percepts");
            assert_eq!(seen, expected, "sees, {at}");
        }
        let next = twin.next(&model);
        assert_eq!(scalar.next(&packed, &joint), Ok(pack(&next)), "next, {at}");
        // Now and then back to the start, which tests jumps; and never past the end of a game.
        let over = twin.model(&next, &[]).holds(twin.program.terminal);
        state = if step % 5 == 4 || over { twin.initial() } else { next };
    }
}

/// The states of a few games, in no order that a game would give.
fn scattered_states(twin: &Twin, rng: &mut game::Rng) -> Vec<Vec<bool>> {
    let mut states = Vec::new();
    for _ in 0..4 {
        let mut state = twin.initial();
        for _ in 0..6 {
            states.push(state.clone());
            if twin.model(&state, &[]).holds(twin.program.terminal) {
                break;
            }
            state = random_step(twin, &state, rng);
        }
    }
    (0..states.len() * 2).map(|_| rng.pick(&states).clone()).collect()
}

#[test]
fn scalar_may_be_asked_anything_anywhere() {
    let mut rng = Seed(17).rng();
    let (mut legal, mut seen) = (Vec::new(), Vec::new());
    for case in 0..150 {
        let twin = Twin::random(&mut rng);
        let mut scalar = Scalar::new(&compile(&twin.program, &options_of(case, false)));
        for state in scattered_states(&twin, &mut rng) {
            let (packed, model) = (pack(&state), twin.model(&state, &[]));
            let role = rng.below(twin.program.roles.len());
            let id = RoleId(role as u16);
            let joint: Vec<usize> = twin.program.moves.iter().map(|row| rng.below(row.len())).collect();
            let moves: Vec<MoveId> = joint.iter().map(|&m| MoveId(m as u32)).collect();
            // One question each, so that whatever the others would have brought up to date is not.
            match rng.below(6) {
                0 => assert_eq!(
                    scalar.terminal(&packed),
                    Ok(model.holds(twin.program.terminal)),
                    "case {case}"
                ),
                1 => {
                    scalar.legal(&packed, id, &mut legal).expect("legal");
                    let got: Vec<usize> = legal.iter().map(|m| m.0 as usize).collect();
                    assert_eq!(got, twin.legal(&model, role), "case {case}");
                }
                2 => assert_eq!(
                    scalar.goal(&packed, id),
                    Ok(expected_goal(&twin, &model, role)),
                    "case {case}"
                ),
                3 => {
                    scalar.percepts(&packed, &moves, id, &mut seen).expect("percepts");
                    let model = twin.model(&state, &joint);
                    let row = &twin.program.sees[role];
                    let expected: Vec<u32> = (0..row.len() as u32)
                        .filter(|&p| model.holds(row[p as usize]))
                        .collect();
                    assert_eq!(seen.iter().map(|p| p.0).collect::<Vec<_>>(), expected, "case {case}");
                }
                4 => {
                    // A playout in between must leave nothing behind.
                    scalar.playout(&packed, &mut rng);
                }
                _ => {
                    let next = twin.next(&twin.model(&state, &joint));
                    assert_eq!(scalar.next(&packed, &moves), Ok(pack(&next)), "case {case}");
                }
            }
        }
    }
}

#[test]
fn scalar_playouts_do_not_depend_on_the_engine() {
    let mut rng = Seed(18).rng();
    for case in 0..100 {
        let twin = Twin::random(&mut rng);
        let mut engines = [ScalarMode::Incremental, ScalarMode::Cones, ScalarMode::Compiled].map(|scalar| {
            let options = CompileOptions {
                scalar,
                ..options_of(case / 2, false)
            };
            Scalar::new(&compile(&twin.program, &options))
        });
        let roots: Vec<State> = some_states(&twin, &mut rng);
        for seed in 0..12 {
            let root = &roots[seed as usize % roots.len()];
            let played = engines.each_mut().map(|engine| {
                let mut rng = Seed(seed).rng();
                let played = if case % 2 == 0 {
                    engine.playout(root, &mut rng)
                } else {
                    engine.playout_seeing(root, &mut rng)
                };
                let points: Vec<u8> = (0..twin.program.roles.len())
                    .map(|r| engine.points(RoleId(r as u16)))
                    .collect();
                (played, points, engine.meter().states)
            });
            assert_eq!(played[0], played[1], "case {case} seed {seed}");
            assert_eq!(played[0], played[2], "case {case} seed {seed}");
        }
    }
}

#[test]
fn playouts_do_not_depend_on_threads_or_engine() {
    let mut rng = Seed(13).rng();
    for case in 0..60 {
        let twin = Twin::random(&mut rng);
        let native = compile(&twin.program, &options(true));
        let portable = compile(&twin.program, &options(false));
        let mut roots = vec![native.initial_state()];
        if case % 2 == 1 {
            roots.extend(some_states(&twin, &mut rng));
        }
        for goals in [GoalTiming::EveryStep, GoalTiming::WhenWorthIt] {
            let mut results = Vec::new();
            for (game, threads) in [(&native, 1), (&native, 2), (&native, 3), (&portable, 2)] {
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

fn some_states(twin: &Twin, rng: &mut game::Rng) -> Vec<State> {
    let mut state = twin.initial();
    let mut states = Vec::new();
    for _ in 0..3 {
        if !twin.model(&state, &[]).holds(twin.program.terminal) {
            state = random_step(twin, &state, rng);
        }
        states.push(pack(&state));
    }
    states
}

fn random_step(twin: &Twin, state: &[bool], rng: &mut game::Rng) -> Vec<bool> {
    let model = twin.model(state, &[]);
    let joint: Vec<usize> = (0..twin.program.roles.len())
        .map(|r| *rng.pick(&twin.legal(&model, r)))
        .collect();
    twin.next(&twin.model(state, &joint))
}

#[test]
fn passes_keep_functions() {
    let mut rng = Seed(14).rng();
    for _ in 0..150 {
        let twin = Twin::random(&mut rng);
        let net = build(&twin.program);
        let dead = remove_dead(&net);
        assert_same(&net, &dead, &mut rng);
        let chains = merge_chains(&dead);
        assert_same(&dead, &chains, &mut rng);
        let common = extract_common(&chains, PairBudget::default());
        assert_same(&chains, &common, &mut rng);
        assert!(count_ops(&common) <= count_ops(&chains));
        // Any two fluents may be declared exclusive, as long as the leaves then are.
        let mut fresh = net.same_leaves();
        let values = vec![net.fluent(0).node(), net.fluent(1).node()];
        fresh.add_choice(Choice { values, total: false });
        let exclusive = rebuild(&net, fresh, |_, _| None);
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
        let twin = Twin::random(&mut rng);
        let game = compile(&twin.program, &options(case % 2 == 0));
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
    let twin = Twin::random(&mut rng);
    let game = compile(&twin.program, &options(true));
    let stop = StopFlag::default();
    stop.raise();
    let roots = [game.initial_state()];
    let totals = playouts(&game, &roots, u64::MAX / 2, Seed(1), &PlayoutOptions::default(), &stop);
    assert_eq!(totals.roots[0].playouts, 0);
}
