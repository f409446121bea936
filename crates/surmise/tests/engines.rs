//! Every engine gives the same answers: the whole catalogue, random games, and rules that nobody here wrote.

#[path = "../../ground/tests/support/mod.rs"]
mod support;

use game::{MoveId, Rng, RoleId, Seed, Simulator, State, StopFlag};
use ground::Reference;
use ground::testing::random_game;
use support::conformance::{SKIPS, entries, follow};
use support::{Face, face, joint, percept_texts};
use surmise::engine::{Engine, EngineKind, EngineOptions, Pending, Rewriting};
use surmise_testing::conformance as folder;

fn engine(rules: &gdl::Rules, kind: EngineKind, native: bool) -> Engine {
    Engine::new(rules, &options(kind, native)).unwrap()
}

/// The largest games are for the full run: compiling them three ways takes longer than all the others.
fn options(kind: EngineKind, native: bool) -> EngineOptions {
    let mut options = EngineOptions {
        kind,
        native,
        ..EngineOptions::default()
    };
    if std::env::var_os("SURMISE_FULL").is_none() {
        options.limits.instances = 200_000;
    }
    options
}

/// The reference first, then every way to run the compiled game.
fn all_simulators(rules: &gdl::Rules) -> Vec<Box<dyn Simulator>> {
    vec![
        Box::new(Reference::new(rules).unwrap()),
        engine(rules, EngineKind::Scalar, true).simulator(),
        engine(rules, EngineKind::Lanes, true).simulator(),
        engine(rules, EngineKind::Lanes, false).simulator(),
    ]
}

/// Plays one random game on all simulators at once and compares everything that can be seen.
fn play_together(name: &str, sims: &mut [Box<dyn Simulator>], rng: &mut Rng, max_rounds: usize) {
    let mut states: Vec<State> = sims.iter_mut().map(|s| s.initial().unwrap()).collect();
    for round in 0..max_rounds {
        let faces: Vec<Face> = sims
            .iter_mut()
            .zip(&states)
            .map(|(sim, s)| face(sim.as_mut(), s).unwrap())
            .collect();
        for (number, other) in faces.iter().enumerate().skip(1) {
            assert_eq!(&faces[0], other, "engine {number} differs in round {round} of {name}");
        }
        if faces[0].terminal || faces[0].legal.iter().any(Vec::is_empty) {
            return;
        }
        let moves: Vec<&str> = faces[0].legal.iter().map(|moves| rng.pick(moves).as_str()).collect();
        let mut seen: Option<Vec<Vec<String>>> = None;
        for (number, (sim, state)) in sims.iter_mut().zip(&mut states).enumerate() {
            let made: Vec<MoveId> = joint(sim.as_mut(), &moves);
            let sees = (0..moves.len())
                .map(|role| percept_texts(sim.as_mut(), state, &made, role).unwrap())
                .collect();
            let first = seen.get_or_insert_with(|| Clone::clone(&sees));
            assert_eq!(
                *first, sees,
                "percepts of engine {number} differ in round {round} of {name}"
            );
            *state = sim.next(state, &made).unwrap();
        }
    }
}

/// Games whose set-up takes seconds on every engine; outside the full run they are played once, in a test of their own.
const LARGE: [&str; 3] = ["chess", "fog-of-war-chess", "kriegspiel"];

#[test]
fn the_whole_catalogue_agrees() {
    let full = std::env::var_os("SURMISE_FULL").is_some();
    for game in catalogue::games().iter().filter(|g| full || !LARGE.contains(&g.name)) {
        let rules = support::rules(&catalogue::rules(game.name).unwrap());
        let mut sims = all_simulators(&rules);
        for n in 0..200 {
            // One lane of 256 is read here, which is slow: the lanes take part in every tenth game.
            let taking_part = if n % 10 == 0 { 4 } else { 2 };
            let mut rng = Seed(n).child(game.name).rng();
            play_together(game.name, &mut sims[..taking_part], &mut rng, usize::MAX);
        }
    }
}

#[test]
fn large_games_agree() {
    for name in LARGE {
        let rules = support::rules(&catalogue::rules(name).unwrap());
        let made = Engine::new(&rules, &EngineOptions::default()).unwrap();
        let game = made.compiled().expect("the game grounds");
        let mut sims: Vec<Box<dyn Simulator>> = vec![
            Box::new(Reference::new(&rules).unwrap()),
            Box::new(propnet::Scalar::new(game)),
            made.simulator(),
        ];
        play_together(name, &mut sims, &mut Seed(5).child(name).rng(), 60);
    }
}

#[test]
fn rewritten_rules_agree_with_the_reference() {
    let full = std::env::var_os("SURMISE_FULL").is_some();
    for game in catalogue::games().iter().filter(|g| full || !LARGE.contains(&g.name)) {
        let rules = support::rules(&catalogue::rules(game.name).unwrap());
        let options = EngineOptions {
            rewriting: Rewriting::Always,
            ..EngineOptions::default()
        };
        let made = Engine::new(&rules, &options).unwrap();
        let compiled = made.compiled().expect("the game grounds");
        let mut sims: Vec<Box<dyn Simulator>> = vec![
            Box::new(Reference::new(&rules).unwrap()),
            Box::new(propnet::Scalar::new(compiled)),
        ];
        for n in 0..10 {
            play_together(game.name, &mut sims, &mut Seed(n).child("rewritten").rng(), 200);
        }
    }
}

/// A relation with six arguments that do not matter: a million instances as written.
#[test]
fn rules_that_are_too_large_are_rewritten() {
    let mut text = "(role r) (init (at 0)) (<= (legal r go) (ok 0 0 0 0 0 0 0)) (<= (legal r stay) (true (at ?n)))
        (<= (next (at ?m)) (does r go) (true (at ?n)) (succ ?n ?m)) (<= (next (at ?n)) (does r stay) (true (at ?n)))
        (<= terminal (true (at 9))) (<= (goal r 100) (true (at 9))) (<= (goal r 0) (not (true (at 9))))
        (<= (ok ?a ?b ?c ?d ?e ?f ?g) (all ?a ?b ?c ?d ?e ?f ?g))
        (<= (all ?a ?b ?c ?d ?e ?f ?g) (d ?a) (d ?b) (d ?c) (d ?d) (d ?e) (d ?f) (d ?g) (true (at ?n)) (other ?g))
        (<= (other ?g) (d ?g) (all ?h ?i ?j ?k ?l ?m ?g)) (<= (other ?g) (d ?g) (true (at ?n)))"
        .to_owned();
    (0..10).for_each(|n| text.push_str(&format!("(d {n}) (succ {n} {})", n + 1)));
    let rules = support::rules(&text);
    let with = |rewriting| {
        let mut options = EngineOptions {
            rewriting,
            ..EngineOptions::default()
        };
        options.limits.instances = 300_000;
        Engine::new(&rules, &options).unwrap()
    };
    let written = with(Rewriting::Never);
    assert!(written.compiled().is_none(), "a million instances");
    assert!(written.why.contains("rule instances"), "{}", written.why);
    let made = with(Rewriting::Auto);
    assert!(made.why.contains("rewritten (wildcards"), "{}", made.why);
    assert!(made.setup.tried.iter().any(|t| t.chosen) && made.setup.tried.len() > 1);
    let mut sims: Vec<Box<dyn Simulator>> = vec![
        Box::new(propnet::Scalar::new(made.compiled().unwrap())),
        made.simulator(),
    ];
    play_together("wild", &mut sims, &mut Seed(1).rng(), 40);
}

#[test]
fn random_games_agree() {
    let games = if std::env::var_os("SURMISE_FULL").is_some() {
        5_000
    } else {
        150
    };
    for n in 0..games {
        let mut rng = Seed(n).child("random games").rng();
        let genes: Vec<u8> = (0..250 + rng.below(600)).map(|_| rng.bits() as u8).collect();
        let text = random_game(&genes);
        let mut sims = all_simulators(&support::rules(&text));
        for _ in 0..2 {
            play_together(&text, &mut sims, &mut rng, 12);
        }
    }
}

#[test]
fn recorded_plays_are_reproduced() {
    let Some(folder) = folder("recorded_plays_are_reproduced") else {
        return;
    };
    // Reading one lane of 256 is slow, and long plays repeat themselves.
    let full = std::env::var_os("SURMISE_FULL").is_some();
    let (scalar_lines, lane_lines) = if full { (usize::MAX, usize::MAX) } else { (100, 12) };
    let (mut compiled, mut wrong) = (0, Vec::new());
    for entry in entries(&folder) {
        let made = engine(&entry.read().rules, EngineKind::Auto, true);
        let Some(game) = made.compiled() else {
            continue;
        };
        compiled += 1;
        let lines = entry.lines();
        let mut check = |sim: &mut dyn Simulator, max_lines| {
            if let Err(difference) = follow(sim, &lines, max_lines, SKIPS, &entry.name) {
                wrong.push(format!("{}: {}", entry.name, gdl::source::short(&difference)));
            }
        };
        check(&mut propnet::Scalar::new(game), scalar_lines);
        check(made.simulator().as_mut(), lane_lines);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compiled > 95, "only {compiled} games were compiled");
}

/// A counter of seven digits that can be changed one by one: few moves, ten million states.
const HUGE: &str = "
(role a) (init (at 0 0 0 0 0 0 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8) (succ 8 9)
(digit 1) (digit 2) (digit 3) (digit 4) (digit 5) (digit 6) (digit 7)
(<= (legal a (raise ?d)) (digit ?d))
(<= (next (at ?x ?b ?c ?d ?e ?f ?g)) (does a (raise 1)) (true (at ?a ?b ?c ?d ?e ?f ?g)) (succ ?a ?x))
(<= (next (at ?a ?x ?c ?d ?e ?f ?g)) (does a (raise 2)) (true (at ?a ?b ?c ?d ?e ?f ?g)) (succ ?b ?x))
(<= (next (at ?a ?b ?x ?d ?e ?f ?g)) (does a (raise 3)) (true (at ?a ?b ?c ?d ?e ?f ?g)) (succ ?c ?x))
(<= (next (at ?a ?b ?c ?x ?e ?f ?g)) (does a (raise 4)) (true (at ?a ?b ?c ?d ?e ?f ?g)) (succ ?d ?x))
(<= (next (at ?a ?b ?c ?d ?x ?f ?g)) (does a (raise 5)) (true (at ?a ?b ?c ?d ?e ?f ?g)) (succ ?e ?x))
(<= (next (at ?a ?b ?c ?d ?e ?x ?g)) (does a (raise 6)) (true (at ?a ?b ?c ?d ?e ?f ?g)) (succ ?f ?x))
(<= (next (at ?a ?b ?c ?d ?e ?f ?x)) (does a (raise 7)) (true (at ?a ?b ?c ?d ?e ?f ?g)) (succ ?g ?x))
(<= over (true (at ?a ?b ?c ?d ?e ?f 9)))
(<= terminal over)
(<= (goal a 100) over)
";

#[test]
fn a_game_too_large_to_ground_still_plays() {
    let rules = support::rules(HUGE);
    let made = engine(&rules, EngineKind::Auto, true);
    assert_eq!(made.kind, EngineKind::Reference, "{}", made.why);
    let why = format!(
        "{} rule instances; the largest relation is next/1",
        options(EngineKind::Auto, true).limits.instances
    );
    assert!(made.why.contains(&why), "{}", made.why);
    let mut sim = made.simulator();
    let mut state = sim.initial().unwrap();
    let raise = sim.find_move(RoleId(0), "(raise 7)").unwrap();
    for _ in 0..9 {
        assert!(!sim.terminal(&state).unwrap());
        state = sim.next(&state, &[raise]).unwrap();
    }
    assert!(sim.terminal(&state).unwrap());
    let error = Engine::new(&rules, &options(EngineKind::Lanes, true))
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("--engine reference"), "{error}");
}

#[test]
fn a_game_can_be_played_while_it_is_compiled() {
    let rules = support::rules(&catalogue::rules("breakthrough").unwrap());
    let mut pending = Pending::start(&rules, &EngineOptions::default()).unwrap();
    let mut now = pending.reference();
    let state = now.initial().unwrap();
    let before = face(now.as_mut(), &state).unwrap();
    let ready = loop {
        if let Some(engine) = pending.poll() {
            break engine.unwrap();
        }
        std::thread::yield_now();
    };
    assert_eq!(ready.kind, EngineKind::Lanes);
    let mut later = ready.simulator();
    let state = later.initial().unwrap();
    assert_eq!(face(later.as_mut(), &state).unwrap(), before);
}

/// A game whose network takes seconds to compile: dropping it, or raising its flag, ends the work soon.
#[test]
fn compiling_ends_when_it_is_stopped() {
    let rules = support::rules(&catalogue::rules("blind-breakthrough:width=8,height=8").unwrap());
    let stop = StopFlag::default();
    let mut options = EngineOptions::default();
    options.limits.stop = stop.clone();
    let pending = Pending::start(&rules, &options).unwrap();
    drop(pending);
    assert!(
        stop.is_raised(),
        "dropping a game that is being compiled raises its flag"
    );
    let begun = std::time::Instant::now();
    let engine = Engine::new(&rules, &options).unwrap();
    assert_eq!(engine.kind, EngineKind::Reference, "{}", engine.why);
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
}

/// Time that is up ends grounding, and does not raise the flag that the caller gave: that is the caller's own.
#[test]
fn a_time_limit_leaves_the_callers_flag_alone() {
    let rules = support::rules(&catalogue::rules("connect-four").unwrap());
    let stop = StopFlag::default();
    let mut options = EngineOptions {
        time: std::time::Duration::ZERO,
        compile_time: std::time::Duration::ZERO,
        ..EngineOptions::default()
    };
    options.limits.stop = stop.clone();
    let engine = Engine::new(&rules, &options).unwrap();
    assert_eq!(engine.kind, EngineKind::Reference, "{}", engine.why);
    assert!(!stop.is_raised());
}
