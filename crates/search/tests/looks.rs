//! Players look at the stop flag often: the work between two looks is counted, not timed.
//!
//! The clock of these tests is the work itself. A simulator counts what it is asked, and the time is up after a number
//! of questions. A player that looks too rarely is caught on any machine, however fast and however busy.

mod common;

use common::TestGame;
use game::{Budget, Fault, Goal, Meter, MoveId, PerceptId, Player, RoleId, Seed, Simulator, State, StopFlag, Told};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use surmise_search::{
    By, Cfr, CfrOptions, Either, Flat, Hp2Options, HyperPlay, HyperPlayII, InsightHorizon, IsMcts, IsMctsOptions,
    Kluss, KlussOptions, Minimax, MinimaxOptions, Nested, NestedOptions, Perfect, PlayoutHorizon, Random, Spread,
    Tools, Uct, UctOptions,
};

/// Questions to a simulator and its forks, and the most of them between two looks at the flag.
#[derive(Default)]
struct Work {
    done: AtomicU64,
    looked: AtomicU64,
    longest: AtomicU64,
}

impl Work {
    fn look(&self) -> u64 {
        let done = self.done.load(Ordering::Relaxed);
        let before = self.looked.swap(done, Ordering::Relaxed);
        self.longest.fetch_max(done - before, Ordering::Relaxed);
        done
    }
}

/// A simulator that counts the questions that cost something.
struct Counted(Box<dyn Simulator>, Arc<Work>);

impl Counted {
    fn ask(&mut self) -> &mut dyn Simulator {
        self.1.done.fetch_add(1, Ordering::Relaxed);
        self.0.as_mut()
    }
}

impl Simulator for Counted {
    fn roles(&self) -> &[String] {
        self.0.roles()
    }
    fn initial(&mut self) -> Result<State, Fault> {
        self.ask().initial()
    }
    fn terminal(&mut self, state: &State) -> Result<bool, Fault> {
        self.0.terminal(state)
    }
    fn legal(&mut self, state: &State, role: RoleId, out: &mut Vec<MoveId>) -> Result<(), Fault> {
        self.0.legal(state, role, out)
    }
    fn next(&mut self, state: &State, joint: &[MoveId]) -> Result<State, Fault> {
        self.ask().next(state, joint)
    }
    fn percepts(
        &mut self,
        state: &State,
        joint: &[MoveId],
        role: RoleId,
        out: &mut Vec<PerceptId>,
    ) -> Result<(), Fault> {
        self.0.percepts(state, joint, role, out)
    }
    fn goal(&mut self, state: &State, role: RoleId) -> Result<Goal, Fault> {
        self.0.goal(state, role)
    }
    fn fluents(&self, state: &State) -> Vec<String> {
        self.0.fluents(state)
    }
    fn state_of(&mut self, fluents: &[String]) -> Option<State> {
        self.0.state_of(fluents)
    }
    fn move_text(&self, role: RoleId, mv: MoveId) -> &str {
        self.0.move_text(role, mv)
    }
    fn find_move(&mut self, role: RoleId, text: &str) -> Option<MoveId> {
        self.0.find_move(role, text)
    }
    fn percept_text(&self, role: RoleId, percept: PerceptId) -> &str {
        self.0.percept_text(role, percept)
    }
    fn find_percept(&mut self, role: RoleId, text: &str) -> Option<PerceptId> {
        self.0.find_percept(role, text)
    }
    fn meter(&self) -> &Meter {
        self.0.meter()
    }
    fn fork(&self) -> Box<dyn Simulator> {
        Box::new(Counted(self.0.fork(), self.1.clone()))
    }
}

/// Successors that a move may take.
const TIME: u64 = 6_000;
/// Most successors between two looks, and after the end of the time: a few milliseconds even in a game like chess.
const BETWEEN_LOOKS: u64 = 300;

type Make = fn(Tools) -> Box<dyn Player>;

fn belief() -> belief::Options {
    belief::Options {
        models: 64,
        ..belief::Options::default()
    }
}

fn hp2() -> Hp2Options {
    Hp2Options {
        playouts: 4,
        inner: IsMctsOptions::default().inner,
        spread: Spread::Even,
        cache: true,
    }
}

const SAMPLER: belief::SamplerKind = belief::SamplerKind::Trellis;

const HIDDEN: &[(&str, Make)] = &[
    ("hp", |tools| {
        Box::new(HyperPlay::new(tools, SAMPLER, &belief(), By::Playouts(None)).unwrap())
    }),
    ("hp2", |tools| {
        Box::new(HyperPlayII::new(tools, SAMPLER, &belief(), hp2()).unwrap())
    }),
    ("either", |tools| {
        Box::new(Either::new(
            HyperPlayII::new(tools, SAMPLER, &belief(), hp2()).unwrap(),
            16,
        ))
    }),
    ("ismcts", |tools| {
        Box::new(IsMcts::new(tools, SAMPLER, &belief(), IsMctsOptions::default()).unwrap())
    }),
    ("cfr", |tools| {
        let horizon = Box::new(PlayoutHorizon { playouts: 4 });
        Box::new(Cfr::new(tools, SAMPLER, &belief(), CfrOptions::default(), horizon).unwrap())
    }),
    ("epimc", |tools| {
        let insight = Box::new(Flat { playouts: Some(2) });
        let options = CfrOptions {
            common: 0,
            depth: Some(2),
            ..CfrOptions::default()
        };
        let horizon = Box::new(InsightHorizon { insight });
        Box::new(Cfr::new(tools, SAMPLER, &belief(), options, horizon).unwrap())
    }),
];

/// Players that do not search keep a model too.
const PLAIN: &[(&str, Make)] = &[("random", |tools| Box::new(Random::new(tools).unwrap()))];

/// Players of two opponents.
const TWO: &[(&str, Make)] = &[("kluss", |tools| {
    let horizon = Box::new(PlayoutHorizon { playouts: 4 });
    Box::new(Kluss::new(tools, SAMPLER, &belief(), KlussOptions::default(), horizon).unwrap())
})];

const OPEN: &[(&str, Make)] = &[
    ("mc", |tools| {
        Box::new(Perfect::new(tools, Box::new(Flat { playouts: None })))
    }),
    ("uct", |tools| {
        Box::new(Perfect::new(tools, Box::new(Uct::new(UctOptions::default()))))
    }),
    ("minimax", |tools| {
        Box::new(Perfect::new(tools, Box::new(Minimax::new(MinimaxOptions::default()))))
    }),
    ("nested", |tools| {
        Box::new(Perfect::new(tools, Box::new(Nested::new(NestedOptions::default()))))
    }),
];

/// What a role was told in the first rounds of a random match.
fn told(game: &TestGame, role: u16, rounds: usize, seed: u64) -> Vec<Told> {
    let mut sim = game.tools(role, seed).sim;
    let (mut rng, mut told) = (Seed(seed).rng(), Vec::new());
    let mut state = sim.initial().unwrap();
    for _ in 0..rounds {
        if sim.terminal(&state).unwrap() {
            break;
        }
        let mut joint = Vec::new();
        for r in 0..sim.roles().len() as u16 {
            let mut legal = Vec::new();
            sim.legal(&state, RoleId(r), &mut legal).unwrap();
            joint.push(*rng.pick(&legal));
        }
        let mut sees = Vec::new();
        sim.percepts(&state, &joint, RoleId(role), &mut sees).unwrap();
        let sees: Vec<&str> = sees.iter().map(|&p| sim.percept_text(RoleId(role), p)).collect();
        told.push(Told::new(sim.move_text(RoleId(role), joint[usize::from(role)]), sees));
        state = sim.next(&state, &joint).unwrap();
    }
    match sim.terminal(&state).unwrap() {
        true => told[..told.len() - 1].to_vec(),
        false => told,
    }
}

/// Lets a player choose by a clock that counts work; the longest work between looks, and the work after the end.
fn measure(game: &TestGame, make: Make, told: &[Told]) -> (u64, u64) {
    let work = Arc::new(Work::default());
    let mut tools = game.tools(0, 1);
    tools.sim = Box::new(Counted(tools.sim, work.clone()));
    (tools.batch, tools.playouts) = (None, None);
    let mut player = make(tools);
    // Moves of the rounds before are known to be quick; the clock begins now.
    let begin = work.look();
    work.longest.store(0, Ordering::Relaxed);
    let (clock, looks) = (work.clone(), AtomicU64::new(0));
    // Looks take time too: players that find everything in their caches ask the simulator nothing.
    let stop = StopFlag::by(move || {
        let looks = looks.fetch_add(1, Ordering::Relaxed);
        (clock.look() - begin + looks) as f64 / TIME as f64
    });
    player.choose(told, &Budget::timed(stop)).unwrap();
    let after = work.done.load(Ordering::Relaxed) - begin;
    work.look();
    (work.longest.load(Ordering::Relaxed), after.saturating_sub(TIME))
}

fn check(players: &[(&str, Make)], games: &[&str]) {
    let mut failed = Vec::new();
    for name in games {
        let game = TestGame::of(name);
        for rounds in [0, 3, 7, 30] {
            let told = told(&game, 0, rounds, 5);
            for (player, make) in players {
                let (between, after) = measure(&game, *make, &told);
                if between.max(after) > BETWEEN_LOOKS {
                    failed.push(format!(
                        "{player} in {name}, round {}: {between} between looks, {after} late",
                        told.len()
                    ));
                }
            }
        }
    }
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

#[test]
fn players_of_hidden_games_look_at_the_flag() {
    let games = [
        "krieg-tictactoe",
        "phantom-tictactoe",
        "blind-breakthrough",
        "guess-who",
        "leduc-poker",
        "transit",
        "kriegspiel-minichess",
    ];
    check(HIDDEN, &games);
    check(PLAIN, &games);
    check(TWO, &games[..3]);
    check(TWO, &["leduc-poker", "battleships-in-fog", "kriegspiel-minichess"]);
}

#[test]
fn players_of_open_games_look_at_the_flag() {
    check(OPEN, &["tictactoe", "connect-four", "breakthrough"]);
}

/// A game of many rounds in which the other role chooses a hidden digit and could end the game any time.
fn long_game(rounds: usize) -> TestGame {
    let successors: String = (0..rounds).map(|n| format!("(succ {n} {})\n", n + 1)).collect();
    TestGame::from_text(&format!(
        "(role a) (role b) (init (round 0)) (init (digit 0)) (digits 0) (digits 1) (digits 2)
        (<= (legal a (pick ?x)) (digits ?x))
        (<= (legal b (pick ?x)) (digits ?x))
        (legal b stop)
        (<= (next (digit ?x)) (does b (pick ?x)))
        (<= (next stopped) (does b stop))
        (<= (next (round ?m)) (true (round ?n)) (succ ?n ?m))
        (<= (sees a same) (does a (pick ?x)) (does b (pick ?x)))
        (<= (sees b (saw ?x)) (does a (pick ?x)))
        (<= terminal (true stopped))
        (<= terminal (true (round {rounds})))
        (<= (goal a 100) (true (digit 0)))
        (<= (goal a 0) (not (true (digit 0))))
        (<= (goal b 0) (true (digit 0)))
        (<= (goal b 100) (not (true (digit 0))))
        {successors}"
    ))
}

/// What role `a` is told if both pick their digits in turn, at different paces.
fn told_in_turn(rounds: usize) -> Vec<Told> {
    let round = |n: usize| {
        let (a, b) = (n % 3, n / 2 % 3);
        let sees = if a == b { vec!["same"] } else { Vec::new() };
        Told::new(format!("(pick {a})"), sees)
    };
    (0..rounds).map(round).collect()
}

/// Histories have more rounds than there may be work between two looks. The belief has to catch up on all rounds, which
/// takes longer than there is time; following its histories must not add to that.
#[test]
fn players_look_at_the_flag_in_long_matches() {
    let rounds = BETWEEN_LOOKS as usize + 100;
    let (game, told) = (long_game(rounds + 1), told_in_turn(rounds));
    let longest = |make: Make| measure(&game, make, &told).0;
    let players = HIDDEN.iter().map(|(player, make)| (*player, longest(*make)));
    let failed: Vec<(&str, u64)> = players.filter(|(_, longest)| *longest > BETWEEN_LOOKS).collect();
    assert!(failed.is_empty(), "successors between looks: {failed:?}");
}
