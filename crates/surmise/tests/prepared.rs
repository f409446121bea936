//! Code is made before it is needed, and making it can be stopped: a move with a deadline makes none.

use surmise::engine::{Engine, EngineOptions};
use surmise::game::{Batch, Budget, LaneSet, Playouts, RoleId, Seed, StopFlag};
use surmise::players::PlayerSpec;
use surmise::propnet::{Compiled, Lanes, PlayoutOptions, Rollouts, Scalar, playouts};
use surmise::referee::Seat;
use surmise::{Game, GameText};

fn game(name: &str) -> Compiled {
    let text = GameText::find(name).expect("a game of the catalogue");
    let rules = text.playable().expect("is valid").rules;
    let engine = Engine::new(&rules, &EngineOptions::default()).expect("can be run");
    engine.compiled().expect("is compiled").clone()
}

#[test]
fn playouts_that_are_stopped_at_once_make_no_code() {
    let game = game("breakthrough");
    let stop = StopFlag::default();
    stop.raise();
    let root = game.initial_state();
    let totals = playouts(&game, &[root], 1_000, Seed(1), &PlayoutOptions::default(), &stop);
    assert_eq!((totals.roots[0].playouts, game.code_stats().as_str()), (0, ""));
}

/// Everything that players ask of lanes finds its code ready.
#[test]
fn what_is_prepared_for_players_is_what_they_use() {
    for name in ["breakthrough", "krieg-tictactoe", "connect-four"] {
        let game = game(name);
        game.prepare_players(&StopFlag::default()).expect("nobody stops it");
        let prepared = game.code_stats();
        let root = game.initial_state();
        let mut rollouts = Rollouts::new(&game, 1);
        let totals = rollouts.playouts(std::slice::from_ref(&root), 300, Seed(2), &StopFlag::default());
        assert_eq!(totals.expect("plays")[0].playouts, 300);
        rollouts
            .playouts(&[root.clone(), root.clone()], 20, Seed(2), &StopFlag::default())
            .expect("plays");
        let mut lanes: Box<dyn Batch> = Box::new(Lanes::new(&game, Seed(3)));
        lanes.load(&[&root]).expect("fits");
        lanes.eval().expect("evaluates");
        for role in 0..game.roles().len() as u16 {
            let mut first = None;
            lanes
                .legal(RoleId(role), &mut |mv, set| {
                    if set.0[0] & 1 == 1 {
                        first.get_or_insert(mv);
                    }
                })
                .expect("is legal");
            lanes
                .force(RoleId(role), &[first.expect("a legal move")])
                .expect("a move");
            let only = LaneSet([1, 0, 0, 0]);
            lanes.agree(RoleId(role), &[], only).expect("compares");
        }
        lanes.commit(LaneSet([1, 0, 0, 0])).expect("moves on");
        Scalar::new(&game);
        assert_eq!(game.code_stats(), prepared, "{name}");
    }
}

/// The first move of a player finds everything ready that it needs of a game that was opened.
#[test]
fn first_moves_make_no_code() {
    let open = ["mc", "uct", "hp:8,2", "ismcts:50"];
    let hidden = ["hp:8,2", "hp2:8,2", "ismcts:50"];
    for (name, players) in [("breakthrough", &open[..]), ("krieg-tictactoe", &hidden[..])] {
        let game = Game::open(name).expect("opens");
        let compiled = game.engine().compiled().expect("is compiled");
        let prepared = compiled.code_stats();
        for player in players {
            let spec = PlayerSpec::parse(player).expect("a player");
            let Seat::Player(mut player) = game.seat(&spec, RoleId(0), Seed(1)).expect("plays") else {
                continue;
            };
            player.choose(&[], &Budget::iterations(20)).expect("moves");
            assert_eq!(compiled.code_stats(), prepared, "{} in {name}", spec);
        }
    }
}
