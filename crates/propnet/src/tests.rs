//! Every simulator against the naive twin, over whole games of random programs.

use crate::lanes::Lanes;
use crate::twin::Twin;
use crate::{CompileOptions, LaneOptions, Mask, compile};
use game::{Goal, MoveId, PerceptId, RoleId, Seed, State};

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
    let mut states: Vec<Vec<bool>> = watched.iter().map(|_| twin.initial()).collect();
    for step in 0..10 {
        let terminal = lanes.eval();
        lanes.eval_goals();
        for (state, &lane) in states.iter().zip(&watched) {
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
        for role in 0..n_roles {
            lanes.sample(RoleId(role as u16), Mask::ONE);
        }
        lanes.next(Mask::ONE);
        for (state, &lane) in states.iter_mut().zip(&watched) {
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
