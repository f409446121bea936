//! Games that are played before they are compiled.

use game::{Budget, Seed, StopFlag, Told};
use referee::{Clock, Seat};
use std::time::Duration;
use surmise::engine::{EngineKind, EngineOptions};
use surmise::{Entrant, Game, GameText, MatchOptions, PlayerSpec};

fn starting(wait: Duration) -> Game {
    let text = GameText::find("breakthrough").unwrap();
    Game::starting(&text, &EngineOptions::default(), wait).unwrap()
}

#[test]
fn players_change_to_the_compiled_engine_when_it_is_ready() {
    let game = starting(Duration::ZERO);
    assert!(game.is_starting());
    assert_eq!(game.engine().kind, EngineKind::Reference);
    let white = game.role("white").unwrap();
    let spec = PlayerSpec::parse("uct:50").unwrap();
    let Seat::Player(mut player) = game.seat(&spec, white, Seed(1)).unwrap() else {
        panic!("uct is a player")
    };
    let first = player.choose(&[], &Budget::iterations(50)).unwrap();
    let states = player.meter().states;
    while game.is_starting() {
        std::thread::yield_now();
    }
    assert_eq!(game.engine().kind, EngineKind::Lanes);
    let mut sim = game.simulator();
    let state = sim.initial().unwrap();
    let mine = sim.find_move(white, &first.mv).unwrap();
    let mut others = Vec::new();
    sim.legal(&state, game.role("black").unwrap(), &mut others).unwrap();
    let joint = [mine, others[0]];
    let mut sees = Vec::new();
    sim.percepts(&state, &joint, white, &mut sees).unwrap();
    let told = Told {
        own: first.mv,
        sees: sees.iter().map(|&p| sim.percept_text(white, p).to_owned()).collect(),
    };
    let second = player.choose(&[told], &Budget::iterations(50)).unwrap();
    assert!(sim.find_move(white, &second.mv).is_some());
    assert!(player.meter().states > states, "work on both engines is counted");
}

#[test]
fn matches_with_a_clock_can_begin_at_once() {
    let game = starting(Duration::ZERO);
    let spec = PlayerSpec::parse("uct").unwrap();
    let options = MatchOptions {
        games: 2,
        clock: Clock::PerMove {
            time: Duration::from_millis(20),
            grace: Duration::from_secs(10),
        },
        ..MatchOptions::default()
    };
    let results = game.play(&[&spec as &dyn Entrant], &options).unwrap();
    assert_eq!(results.len(), 2);
    let illegal: u64 = results
        .iter()
        .flat_map(|r| &r.outcome.seats)
        .map(|seat| seat.illegal)
        .sum();
    assert_eq!(illegal, 0);
}

#[test]
fn a_game_that_is_ready_in_time_starts_on_its_engine() {
    let game = starting(Duration::from_secs(600));
    assert!(!game.is_starting());
    assert_eq!(game.engine().kind, EngineKind::Lanes);
}

#[test]
fn a_game_that_is_dropped_leaves_the_callers_flag_alone() {
    let mut options = EngineOptions::default();
    options.limits.stop = StopFlag::default();
    drop(Game::starting(&GameText::find("breakthrough").unwrap(), &options, Duration::ZERO).unwrap());
    assert!(!options.limits.stop.is_raised());
}
