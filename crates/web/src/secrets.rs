//! What a seat is sent depends on what its role was told and on nothing else: two plays with different true histories
//! and the same view of a seat give that seat the same bytes: bodies, headers and events. Leaks that are built in on
//! purpose are found by the same comparison.

#[path = "../tests/common/mod.rs"]
mod common;

use crate::leaks::{self, Leak};
use common::{Answer, TestServer, options, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use surmise::game::{RoleId, Seed, Simulator, State, Told};
use surmise::{BeliefOptions, Game};

/// A whole play: the joint moves, round by round.
type History = Vec<Vec<String>>;

/// Rounds of a play that are compared: as many as can be had. Nature has to play along, and the longer a play, the
/// fewer seeds let it.
const ROUNDS: [usize; 3] = [12, 7, 4];

/// Seeds that are tried to let nature make the moves of a history.
const SEEDS: u64 = 400_000;

/// Two plays that a role cannot tell apart, with the seeds under which nature plays along.
type Pair = [(u64, History); 2];

/// One test for both, because leaks are switched on for the whole process.
#[test]
fn traffic_is_a_function_of_the_view_and_leaks_are_found() {
    let server = TestServer::start(options());
    let (mut compared, mut longest) = (BTreeSet::new(), 0);
    // The set-up of these takes longer than that of all other games together.
    let large = ["chess", "fog-of-war-chess", "kriegspiel"];
    for entry in surmise::catalogue::games().iter().filter(|e| !large.contains(&e.name)) {
        let game = Game::open(entry.name).unwrap();
        for &role in game.seating().played() {
            let Some(pair) = ROUNDS.iter().find_map(|&rounds| find_pair(&game, role, rounds)) else {
                continue;
            };
            assert_ne!(pair[0].1, pair[1].1);
            if let Some(difference) = difference(&server, &game, role, &pair) {
                panic!("{}, {}: {difference}", entry.name, game.roles()[role]);
            }
            longest = longest.max(pair[0].1.len());
            compared.insert(entry.name);
        }
    }
    assert!(
        compared.len() >= 18,
        "plays that cannot be told apart were found in {compared:?} only"
    );
    assert!(longest >= 8, "the longest play has {longest} rounds");
    for leak in leaks::ALL {
        assert!(is_found(&server, leak), "the leak {leak:?} was not found");
    }
}

/// Whether a leak makes a difference in one of some games.
fn is_found(server: &TestServer, leak: Leak) -> bool {
    let games = ["krieg-tictactoe:size=3,line=3", "phantom-tictactoe", "kuhn-poker"];
    games.iter().any(|name| {
        let game = Game::open(name).unwrap();
        game.seating().played().iter().any(|&role| {
            let Some(pair) = find_pair(&game, role, 4) else {
                return false;
            };
            leaks::switch(Some(leak));
            let found = difference(server, &game, role, &pair);
            leaks::switch(None);
            found.is_some()
        })
    })
}

/// The first message that differs between two plays that a role cannot tell apart.
fn difference(server: &TestServer, game: &Game, role: usize, pair: &Pair) -> Option<String> {
    let [a, b] = pair
        .clone()
        .map(|(seed, history)| traffic(server, game, role, seed, &history));
    let differs = a.iter().zip(&b).position(|(a, b)| a != b);
    match differs {
        Some(at) => Some(format!("message {at}\n{}\n{}", a[at], b[at])),
        None => (a.len() != b.len()).then(|| format!("{} and {} messages", a.len(), b.len())),
    }
}

/// Plays random games until the role has an alternative explanation of what it was told.
fn find_pair(game: &Game, role: usize, rounds: usize) -> Option<Pair> {
    for attempt in 0..6 {
        let (seed, history, told) = random_play(game, attempt, rounds);
        if history.is_empty() {
            continue;
        }
        let belief = game
            .belief(&game.roles()[role], &told[role], &BeliefOptions::default())
            .ok()?;
        for (other, _) in belief.histories.iter().filter(|(other, _)| *other != history).take(20) {
            if let Some(other_seed) = seed_for(game, other) {
                return Some([(seed, history.clone()), (other_seed, other.clone())]);
            }
        }
    }
    None
}

/// A random play of a few rounds: the seed, the joint moves, and what every role was told. It does not end.
fn random_play(game: &Game, attempt: u64, rounds: usize) -> (u64, History, Vec<Vec<Told>>) {
    let mut sim = game.simulator();
    let mut state = sim.initial().unwrap();
    let seed = 1000 + attempt;
    let mut rng = Seed(seed).child("test").rng();
    let (mut history, n_roles) = (Vec::new(), game.roles().len());
    let mut told = vec![Vec::new(); n_roles];
    let mut states = Vec::new();
    for round in 0..rounds {
        let mut joint = Vec::new();
        for role in 0..n_roles {
            let mut legal = Vec::new();
            sim.legal(&state, RoleId(role as u16), &mut legal).unwrap();
            let nature = Some(RoleId(role as u16)) == sim.nature();
            joint.push(match nature {
                true => legal[drawn(seed, round, n_roles, role, legal.len())],
                false => *rng.pick(&legal),
            });
        }
        let next = sim.next(&state, &joint).unwrap();
        if sim.terminal(&next).unwrap() {
            break;
        }
        for role in 0..n_roles {
            let id = RoleId(role as u16);
            let mut percepts = Vec::new();
            sim.percepts(&state, &joint, id, &mut percepts).unwrap();
            let sees: Vec<String> = percepts.iter().map(|&p| sim.percept_text(id, p).to_owned()).collect();
            told[role].push(Told::new(sim.move_text(id, joint[role]), sees));
        }
        let texts = joint
            .iter()
            .enumerate()
            .map(|(role, &mv)| sim.move_text(RoleId(role as u16), mv).to_owned());
        history.push(texts.collect());
        state = next;
        states.push(state.clone());
    }
    // The play stops where somebody has a choice: a table would go on by itself elsewhere.
    while !history.is_empty() && !somebody_chooses(sim.as_mut(), &states[history.len() - 1], game) {
        history.pop();
    }
    told.iter_mut().for_each(|told| told.truncate(history.len()));
    (seed, history, told)
}

fn somebody_chooses(sim: &mut dyn Simulator, state: &State, game: &Game) -> bool {
    let mut legal = Vec::new();
    game.seating().played().iter().any(|&role| {
        sim.legal(state, RoleId(role as u16), &mut legal).unwrap();
        legal.len() > 1
    })
}

/// The move of nature that the referee draws.
fn drawn(seed: u64, round: usize, n_roles: usize, role: usize, moves: usize) -> usize {
    Seed(seed)
        .child("nature")
        .nth((round * n_roles + role) as u64)
        .rng()
        .below(moves)
}

/// A seed under which nature makes the moves of a history that does not end the game.
fn seed_for(game: &Game, history: &History) -> Option<u64> {
    let mut sim = game.simulator();
    let mut state = sim.initial().ok()?;
    let mut wanted = Vec::new();
    for joint in history {
        let mut ids = Vec::new();
        for (role, text) in joint.iter().enumerate() {
            let id = RoleId(role as u16);
            let mut legal = Vec::new();
            sim.legal(&state, id, &mut legal).ok()?;
            let at = legal.iter().position(|&mv| sim.move_text(id, mv) == text)?;
            ids.push(legal[at]);
            if Some(id) == sim.nature() {
                wanted.push((role, legal.len(), at));
            }
        }
        state = sim.next(&state, &ids).ok()?;
        if sim.terminal(&state).ok()? {
            return None;
        }
    }
    if !somebody_chooses(sim.as_mut(), &state, game) {
        return None;
    }
    let n_roles = game.roles().len();
    let fits = |seed: &u64| {
        let mut rounds = wanted.iter().enumerate();
        rounds.all(|(round, &(role, moves, at))| drawn(*seed, round, n_roles, role, moves) == at)
    };
    (0..SEEDS).find(fits)
}

/// Everything that a seat is sent in a play, in order, without names of tables and tokens.
fn traffic(server: &TestServer, game: &Game, role: usize, seed: u64, history: &History) -> Vec<String> {
    let seats: serde_json::Map<String, Value> = game
        .seating()
        .played()
        .iter()
        .map(|&role| (game.roles()[role].clone(), json!("human")))
        .collect();
    let made = server.table(&json!({"game": game.name(), "seats": seats, "seed": seed}));
    let id = text(&made["id"]);
    let token = |role: usize| text(&made["seats"][&game.roles()[role]]["token"]);
    let watch = text(&made["watch"]).rsplit_once("token=").unwrap().1.to_owned();
    let own = token(role);
    let mut seen = Vec::new();
    let mut events = server.events(&id, &own);
    seen.push(events.next());
    seen.push(without_date(&events.head));
    // Rounds in which nobody has a choice were played at once.
    let begun = data(&seen[0])["round"].as_u64().unwrap() as usize;
    let mut watched = server.events(&id, &watch);
    seen.push(watched.next());
    for (number, joint) in history.iter().enumerate().skip(begun) {
        seen.extend(play_round(server, game, &id, role, joint, number, &token));
        // The watcher's and the seat's streams tell of the round.
        loop {
            let event = events.next();
            let view = data(&event);
            seen.push(event);
            if view["round"] == json!(number + 1) {
                break;
            }
        }
        seen.push(watched.next());
        let belief = server.get(&format!("/api/tables/{id}/belief?token={own}&round={}", number + 1));
        seen.push(whole(&belief));
    }
    // A page that connects again is shown the current view.
    drop(events);
    seen.push(server.events(&id, &own).next());
    seen.push(server.events(&id, &watch).next());
    let ask = json!({"token": own, "player": "hp:4,2"});
    seen.push(whole(&server.post(&format!("/api/tables/{id}/hint"), &ask)));
    seen.push(whole(&server.post(&format!("/api/tables/{id}/why"), &ask)));
    seen.push(whole(&server.play(&id, &own, "(no such move)")));
    for wrong in ["replay", "record"] {
        seen.push(whole(&server.get(&format!("/api/tables/{id}/{wrong}?token={own}"))));
    }
    let other = game.seating().played().iter().find(|&&other| other != role);
    if let Some(&other) = other {
        let name = &game.roles()[other];
        let others = server.get(&format!("/api/tables/{id}/belief?token={own}&role={name}"));
        seen.push(whole(&others));
    }
    // Taking back, with the consent of the others where that is needed.
    let undo = |role: usize| server.post(&format!("/api/tables/{id}/undo"), &json!({"token": token(role)}));
    let asked = undo(role);
    seen.push(whole(&asked));
    if asked.status == 200 && asked.json()["undo"]["waiting"] == json!(true) {
        for &other in game.seating().played().iter().filter(|&&other| other != role) {
            assert_eq!(undo(other).status, 200);
        }
    }
    seen.push(whole(&server.get(&format!("/api/tables/{id}?token={own}"))));
    seen.push(whole(&server.get(&format!("/api/tables/{id}?token={watch}"))));
    let hide = |message: String| message.replace(&id, "ID").replace(&own, "OWN").replace(&watch, "WATCH");
    seen.into_iter().map(hide).collect()
}

/// An answer with its status line and headers.
fn whole(answer: &Answer) -> String {
    format!("{}\n\n{}", without_date(&answer.head), answer.body)
}

/// Headers without the date, which tells the time of day and nothing else.
fn without_date(head: &str) -> String {
    let lines = head
        .lines()
        .filter(|line| !line.to_ascii_lowercase().starts_with("date:"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The view of an event.
fn data(event: &str) -> Value {
    serde_json::from_str(event.split_once("data: ").unwrap().1).unwrap()
}

/// Lets every person move; returns what the seat itself is answered. It moves first in even rounds, last in odd ones.
fn play_round(
    server: &TestServer,
    game: &Game,
    id: &str,
    role: usize,
    joint: &[String],
    number: usize,
    token: &dyn Fn(usize) -> String,
) -> Vec<String> {
    let mut answers = Vec::new();
    let mut order: Vec<usize> = game
        .seating()
        .played()
        .iter()
        .copied()
        .filter(|&other| other != role)
        .collect();
    match number % 2 {
        0 => order.insert(0, role),
        _ => order.push(role),
    }
    for mover in order {
        // Everyone has to be in this round before the next one moves.
        let view = server.wait_for(id, &token(mover), |view| view["round"].as_u64() >= Some(number as u64));
        if view["to_move"] != json!(true) || view["round"] != json!(number) {
            continue;
        }
        let answer = server.play(id, &token(mover), &joint[mover]);
        assert_eq!(answer.status, 200, "{}: {answer:?}", game.name());
        if mover == role {
            answers.push(whole(&answer));
        }
    }
    answers
}
