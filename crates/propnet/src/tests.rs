//! Every simulator against the naive twin, over whole games of random programs.

use crate::lanes::Lanes;
use crate::twin::Twin;
use crate::{CompileOptions, GoalTiming, LaneOptions, Mask, PlayoutOptions, Scalar, ScalarMode, compile, playouts};
use game::{Goal, MoveId, PerceptId, RoleId, Seed, Simulator, State, StopFlag};

fn pack(state: &[bool]) -> State {
    let mut packed = State(smallvec::smallvec![0; state.len().div_ceil(64)]);
    state.iter().enumerate().filter(|(_, b)| **b).for_each(|(f, _)| packed.0[f / 64] |= 1 << (f % 64));
    packed
}

fn expected_goal(twin: &Twin, model: &crate::twin::Model, role: usize) -> Goal {
    let held: Vec<i32> =
        twin.program.goals[role].iter().filter(|(_, o)| model.holds(*o)).map(|&(v, _)| v).collect();
    match held[..] {
        [] => Goal::None,
        [v] => Goal::Value(v),
        [.., v] => Goal::Many(v),
    }
}

fn options(native: bool) -> CompileOptions {
    CompileOptions { lanes: LaneOptions { native, ..LaneOptions::default() }, ..CompileOptions::default() }
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
                let seen: Vec<PerceptId> =
                    (0..row.len()).filter(|&p| model.holds(row[p])).map(|p| PerceptId(p as u32)).collect();
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
        for scalar in [ScalarMode::Incremental, ScalarMode::Compiled] {
            let game = compile(&twin.program, &CompileOptions { scalar, ..options(false) });
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
        assert_eq!(scalar.terminal(&packed), Ok(model.holds(twin.program.terminal)), "terminal, {at}");
        let mut joint = Vec::new();
        for role in 0..n_roles {
            let id = RoleId(role as u16);
            scalar.legal(&packed, id, &mut legal).expect("legal");
            let got: Vec<usize> = legal.iter().map(|m| m.0 as usize).collect();
            assert_eq!(got, twin.legal(&model, role), "legal, {at}");
            assert_eq!(scalar.goal(&packed, id), Ok(expected_goal(twin, &model, role)), "goal, {at}");
            joint.push(*rng.pick(&legal));
        }
        let plain: Vec<usize> = joint.iter().map(|m| m.0 as usize).collect();
        let model = twin.model(&state, &plain);
        for role in 0..n_roles {
            let row = &twin.program.sees[role];
            let expected: Vec<PerceptId> =
                (0..row.len()).filter(|&p| model.holds(row[p])).map(|p| PerceptId(p as u32)).collect();
            scalar.percepts(&packed, &joint, RoleId(role as u16), &mut seen).expect("percepts");
            assert_eq!(seen, expected, "sees, {at}");
        }
        let next = twin.next(&model);
        assert_eq!(scalar.next(&packed, &joint), Ok(pack(&next)), "next, {at}");
        // Now and then back to the start, which tests jumps; and never past the end of a game.
        let over = twin.model(&next, &[]).holds(twin.program.terminal);
        state = if step % 5 == 4 || over { twin.initial() } else { next };
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
                let options = PlayoutOptions { threads, goals, percepts: case % 3 == 0 };
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
    let joint: Vec<usize> =
        (0..twin.program.roles.len()).map(|r| *rng.pick(&twin.legal(&model, r))).collect();
    twin.next(&twin.model(state, &joint))
}
