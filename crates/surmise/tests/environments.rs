//! Environments against simulators: the same games, one state at a time.

use surmise::game::{MoveId, PerceptId, RoleId, Seed, Simulator, State};
use surmise::{EnvironmentOptions, Environments, Error, Game, Observation, Written};

/// The arrays of an environment, as bytes.
struct Arrays {
    masks: Vec<Vec<u8>>,
    told: Vec<Vec<u8>>,
    rewards: Vec<Vec<f32>>,
    decides: Vec<Vec<u8>>,
    terminated: Vec<u8>,
    truncated: Vec<u8>,
    states: Vec<u8>,
}

fn read(env: &Environments) -> Arrays {
    let n = env.len();
    let seats = 0..env.seats().len();
    let bytes = |rows: usize, write: &dyn Fn(&mut [u8])| {
        let mut out = vec![0; rows * n];
        write(&mut out);
        out
    };
    Arrays {
        masks: seats
            .clone()
            .map(|s| {
                bytes(env.actions().len(), &|out| {
                    env.write_mask(s, &mut Written::default(), out);
                })
            })
            .collect(),
        told: seats
            .clone()
            .map(|s| {
                bytes(env.actions().len() + env.percepts(s).len(), &|out| {
                    env.write_final_told(s, &mut Written::default(), out);
                })
            })
            .collect(),
        rewards: seats
            .clone()
            .map(|s| {
                let mut out = vec![7.0; n];
                env.write_rewards(s, &mut out);
                out
            })
            .collect(),
        decides: seats
            .clone()
            .map(|s| bytes(1, &|out| env.write_decides(s, out)))
            .collect(),
        terminated: bytes(1, &|out| env.write_terminated(out)),
        truncated: bytes(1, &|out| env.write_truncated(out)),
        states: bytes(env.n_fluents(), &|out| env.write_states(out)),
    }
}

fn column(bytes: &[u8], n: usize, game: usize) -> Vec<u32> {
    let rows = bytes.chunks(n).enumerate();
    rows.filter(|(_, row)| row[game] == 1)
        .map(|(at, _)| at as u32)
        .collect()
}

/// The state of a game as bits of its fluents.
fn bits(state: &State) -> Vec<u32> {
    let word = |(at, word): (usize, &u64)| {
        let word = *word;
        (0..64)
            .filter(move |bit| word >> bit & 1 == 1)
            .map(move |bit| at as u32 * 64 + bit)
    };
    state.0.iter().enumerate().flat_map(word).collect()
}

/// Steps an environment with random legal actions and follows every game with a simulator.
fn follow(name: &str, n: usize, steps: usize) -> u64 {
    let game = Game::open(name).unwrap();
    let options = EnvironmentOptions {
        games: n,
        seed: 5,
        max_rounds: 30,
        ..EnvironmentOptions::default()
    };
    let mut env = game.environments(&options).unwrap();
    let mut sim = game.simulator();
    let nature = sim.nature();
    let mut states = vec![sim.initial().unwrap(); n];
    let mut rounds = vec![0; n];
    let mut rng = Seed(9).rng();
    let mut now = read(&env);
    let mut over = 0;
    for _ in 0..steps {
        let mut actions = Vec::new();
        for mask in &now.masks {
            for game in 0..n {
                let legal = column(mask, n, game);
                let forced = legal.len() == 1 && rng.below(2) == 0;
                actions.push(if forced { -1 } else { *rng.pick(&legal) as i32 });
            }
        }
        env.step(&actions).unwrap();
        let next = read(&env);
        for game in 0..n {
            rounds[game] += 1;
            let joint = joint(sim.as_ref(), &env, &next, game, n, &states[game], nature);
            check_told(sim.as_mut(), &env, &next, game, n, &states[game], &joint);
            let after = sim.next(&states[game], &joint).unwrap();
            let ended = sim.terminal(&after).unwrap();
            assert_eq!(next.terminated[game], u8::from(ended), "{name}");
            for (seat, &role) in env.seats().iter().enumerate() {
                let points = if ended {
                    sim.goal(&after, role).unwrap().points()
                } else {
                    0
                };
                assert_eq!(next.rewards[seat][game], f32::from(points) / 100.0, "{name}");
            }
            let cut = !ended && rounds[game] == 30;
            assert_eq!(next.truncated[game], u8::from(cut), "{name}");
            over += u64::from(ended || cut);
            states[game] = match ended || cut {
                true => {
                    rounds[game] = 0;
                    sim.initial().unwrap()
                }
                false => after,
            };
            assert_eq!(column(&next.states, n, game), bits(&states[game]), "{name}");
            check_legal(sim.as_mut(), &env, &next, game, n, &states[game]);
        }
        now = next;
    }
    over
}

fn joint(
    sim: &dyn Simulator,
    env: &Environments,
    arrays: &Arrays,
    game: usize,
    n: usize,
    state: &State,
    nature: Option<RoleId>,
) -> Vec<MoveId> {
    let roles = (0..sim.roles().len()).map(|r| RoleId(r as u16));
    roles
        .map(|role| match env.seats().iter().position(|&seat| seat == role) {
            Some(seat) => {
                let own = env.actions().len() * n;
                let action = column(&arrays.told[seat][..own], n, game)[0] as usize;
                sim.fork().find_move(role, &env.actions()[action]).unwrap()
            }
            None => {
                assert_eq!(Some(role), nature);
                let drawn = env.nature_move(game).expect("nature moved");
                let mut legal = Vec::new();
                sim.fork().legal(state, role, &mut legal).unwrap();
                assert!(legal.contains(&drawn));
                drawn
            }
        })
        .collect()
}

fn check_told(
    sim: &mut dyn Simulator,
    env: &Environments,
    arrays: &Arrays,
    game: usize,
    n: usize,
    state: &State,
    joint: &[MoveId],
) {
    let mut percepts = Vec::new();
    for (seat, &role) in env.seats().iter().enumerate() {
        sim.percepts(state, joint, role, &mut percepts).unwrap();
        let own = env.actions().len() * n;
        let seen: Vec<PerceptId> = column(&arrays.told[seat][own..], n, game)
            .into_iter()
            .map(PerceptId)
            .collect();
        assert_eq!(seen, percepts);
    }
}

fn check_legal(sim: &mut dyn Simulator, env: &Environments, arrays: &Arrays, game: usize, n: usize, state: &State) {
    let mut legal = Vec::new();
    for (seat, &role) in env.seats().iter().enumerate() {
        sim.legal(state, role, &mut legal).unwrap();
        let masked = column(&arrays.masks[seat], n, game);
        let masked: Vec<&str> = masked.iter().map(|&at| env.actions()[at as usize].as_str()).collect();
        let texts: Vec<&str> = legal.iter().map(|&mv| sim.move_text(role, mv)).collect();
        assert_eq!(masked, texts);
        assert_eq!(arrays.decides[seat][game], u8::from(legal.len() > 1));
    }
}

#[test]
fn environments_agree_with_simulators() {
    for (name, n, steps) in [
        ("tictactoe", 300, 20),
        ("kuhn-poker", 257, 12),
        ("leduc-poker", 100, 20),
        ("monty-hall", 64, 9),
        ("krieg-tictactoe", 40, 30),
        ("blind-breakthrough", 20, 40),
        ("goofspiel", 33, 12),
    ] {
        let over = follow(name, n, steps);
        assert!(over > 0, "{name}: no game came to its end");
    }
}

#[test]
fn wrong_actions_change_nothing() {
    let game = Game::open("tictactoe").unwrap();
    let options = EnvironmentOptions {
        games: 300,
        ..EnvironmentOptions::default()
    };
    let mut env = game.environments(&options).unwrap();
    let mut actions = vec![0; 600];
    actions[300..].fill(-1);
    // The first player has nine moves, so the action -1 is wrong; the second has one.
    for (wrong, place) in [(-1, 299), (10, 256), (i32::MIN, 0), (i32::MAX, 3)] {
        let before = read(&env).masks;
        let mut bad = actions.clone();
        bad[place] = wrong;
        let error = env.step(&bad).unwrap_err();
        assert_eq!((error.game, error.seat, error.action), (place, 0, wrong));
        assert_eq!(read(&env).masks, before);
    }
    env.step(&actions).unwrap();
}

#[test]
fn the_same_seed_gives_the_same_games() {
    let game = Game::open("kuhn-poker").unwrap();
    let play = |seed: u64| {
        let options = EnvironmentOptions {
            games: 600,
            seed,
            ..EnvironmentOptions::default()
        };
        let mut env = game.environments(&options).unwrap();
        let mut seen = Vec::new();
        for _ in 0..8 {
            let arrays = read(&env);
            let first = |mask: &Vec<u8>| (0..600).map(|g| column(mask, 600, g)[0] as i32).collect::<Vec<_>>();
            env.step(&arrays.masks.iter().flat_map(first).collect::<Vec<_>>())
                .unwrap();
            seen.push(arrays.told);
        }
        seen
    };
    assert_eq!(play(1), play(1));
    assert_ne!(play(1), play(2));
}

#[test]
fn impossible_environments_are_refused() {
    let game = Game::open("tictactoe").unwrap();
    for games in [0, surmise::MOST_ENVIRONMENTS + 1] {
        let options = EnvironmentOptions {
            games,
            ..EnvironmentOptions::default()
        };
        assert!(matches!(game.environments(&options), Err(Error::Option { .. })));
    }
}

/// Arrays that are brought up to date step by step hold what fresh arrays hold, with views and without.
#[test]
fn updated_arrays_are_those_written_anew() {
    for (name, observation) in [
        ("tictactoe", Observation::Round),
        ("phantom-tictactoe", Observation::Round),
        ("blind-breakthrough", Observation::Round),
        ("leduc-poker", Observation::View(None)),
        ("phantom-tictactoe", Observation::View(Some(3))),
    ] {
        let game = Game::open(name).unwrap();
        let options = EnvironmentOptions {
            games: 300,
            observation,
            ..EnvironmentOptions::default()
        };
        let mut env = game.environments(&options).unwrap();
        let (n, seats) = (env.len(), env.seats().len());
        let mut kept: Vec<[(Written, Vec<u8>); 3]> = (0..seats)
            .map(|seat| {
                let rows = [
                    env.actions().len(),
                    env.observation_rows(seat),
                    env.observation_rows(seat),
                ];
                rows.map(|rows| (Written::default(), vec![7; rows * n]))
            })
            .collect();
        let mut actions = vec![0; n * seats];
        for step in 0..30 {
            for (seat, [mask, told, last]) in kept.iter_mut().enumerate() {
                let mut fresh = [mask.1.clone(), told.1.clone(), last.1.clone()];
                fresh.iter_mut().for_each(|out| out.fill(9));
                env.write_mask(seat, &mut Written::default(), &mut fresh[0]);
                env.write_told(seat, &mut Written::default(), &mut fresh[1]);
                env.write_final_told(seat, &mut Written::default(), &mut fresh[2]);
                env.write_mask(seat, &mut mask.0, &mut mask.1);
                env.write_told(seat, &mut told.0, &mut told.1);
                env.write_final_told(seat, &mut last.0, &mut last.1);
                assert!(
                    fresh[0] == mask.1 && fresh[1] == told.1 && fresh[2] == last.1,
                    "{name}, step {step}"
                );
            }
            if step == 20 {
                env.reset(3);
                continue;
            }
            env.sample_actions(&mut actions);
            env.step(&actions).unwrap();
        }
    }
}
