//! What a role may not know reaches it in no byte.
//!
//! For every game of the catalogue and every role, pairs of different true histories are constructed that give the role
//! the same view: a random match is played, and a belief about the role's view finds another history. Both histories
//! are then played by the referee, and everything that reaches the role up to the last common round has to be the same:
//! what its player is told, what the player decides with the same seed, its belief, explanations of its decisions, and
//! the bytes that a guest in its seat receives.
//!
//! `cargo test -p surmise --test noninterference -- --nocapture` prints the number of pairs of each game.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use surmise::game::{Budget, Decision, Fault, Meter, Player, RoleId, Seed, StopFlag, Told};
use surmise::ggp::http::Peer;
use surmise::ggp::spelling::Spelling;
use surmise::ggp::{Clocks, Host, Variant};
use surmise::referee::{Match, Record, Seat};
use surmise::{BeliefOptions, ExplainOptions, Game, MatchOptions, PlayerSpec, belief, catalogue};

/// A belief that is quick in long games too.
fn quick_belief() -> BeliefOptions {
    BeliefOptions {
        options: belief::Options {
            models: 8,
            layer_limit: 64,
            ..belief::Options::default()
        },
        ..BeliefOptions::default()
    }
}

/// Joint moves, round by round, in role order.
type History = Vec<Vec<String>>;

/// Makes the moves of a history, then any.
struct Scripted {
    moves: Vec<String>,
}

impl Player for Scripted {
    fn choose(&mut self, told: &[Told], _: &Budget) -> Result<Decision, Fault> {
        Ok(Decision::plain(self.moves.get(told.len()).map_or("", String::as_str)))
    }
    fn meter(&self) -> Meter {
        Meter::default()
    }
}

/// Makes the moves of a history, and writes down what it is told and what a real player decides.
struct Witness {
    script: Scripted,
    player: Box<dyn Player>,
    log: Arc<Mutex<Vec<String>>>,
}

impl Player for Witness {
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        let decision = self.player.choose(told, budget)?;
        let mut log = self.log.lock().unwrap();
        log.push(format!("{told:?} {budget:?} {decision:?} {:?}", self.player.meter()));
        self.script.choose(told, budget)
    }
    fn meter(&self) -> Meter {
        Meter::default()
    }
}

fn moves_of(history: &History, role: usize) -> Scripted {
    Scripted {
        moves: history.iter().map(|joint| joint[role].clone()).collect(),
    }
}

/// Plays a history with this seat for a role; all other seats make the moves of the history.
fn play(game: &Game, history: &History, role: usize, seat: Seat) -> Record {
    let mut sim = game.simulator();
    let mut seats: Vec<Seat> = (0..game.roles().len())
        .map(|r| Seat::Player(Box::new(moves_of(history, r))))
        .collect();
    seats[role] = seat;
    let names = vec!["somebody".to_owned(); seats.len()];
    let mut one = Match::new(sim.as_mut(), seats, names, Seed(1));
    (one.title, one.max_rounds) = (game.title(), history.len());
    let record = one.play().unwrap().record;
    let made: History = record.rounds.iter().map(|round| round.moves.clone()).collect();
    assert_eq!(&made, history, "the referee played the history");
    record
}

/// What a player of the role is told and decides while a history is played.
fn witnessed(game: &Game, history: &History, role: usize, player: &PlayerSpec) -> (Vec<String>, Record) {
    let id = RoleId(role as u16);
    let Ok(Seat::Player(player)) = game.seat(player, id, Seed(7)) else {
        panic!("{player} cannot be seated")
    };
    let log = Arc::new(Mutex::new(Vec::new()));
    let witness = Witness {
        script: moves_of(history, role),
        player,
        log: log.clone(),
    };
    let record = play(game, history, role, Seat::Player(Box::new(witness)));
    let log = std::mem::take(&mut *log.lock().unwrap());
    (log, record)
}

/// The bytes that a guest in the seat of a role is sent while a history is played.
fn sent(game: &Game, history: &History, role: usize, variant: Variant, scramble: Option<Seed>) -> Vec<Vec<u8>> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, received) = mpsc::channel();
    let rules = &game.engine().rules;
    let host = Host::new("m.1", rules, game.roles(), variant, Clocks::default(), scramble).unwrap();
    // START, a PLAY for each round, and the end.
    let messages = history.len() + 2;
    let answers = moves_of(history, role);
    let spelling = match scramble {
        Some(seed) => Spelling::scrambled(rules, seed),
        None => Spelling::of(rules),
    };
    let guest = std::thread::spawn(move || {
        for number in 0..messages {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            let bytes = read_request(&mut stream);
            let answer = match number.checked_sub(1).and_then(|round| answers.moves.get(round)) {
                Some(mv) => spelling.send(mv),
                None => "ready".to_owned(),
            };
            let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{answer}", answer.len());
            let _ = stream.write_all(head.as_bytes());
            let _ = sender.send(bytes);
        }
    });
    // The port is part of every request, and each run has another.
    let without_port = |bytes: Vec<u8>| {
        String::from_utf8(bytes)
            .unwrap()
            .replace(&format!("127.0.0.1:{port}"), "HOST")
            .into_bytes()
    };
    let peer = Peer {
        host: "127.0.0.1".to_owned(),
        port,
    };
    play(game, history, role, Seat::Guest(Box::new(host.guest(peer, role))));
    guest.join().unwrap();
    let mut sent: Vec<Vec<u8>> = received.into_iter().map(without_port).collect();
    // The last message says whether the match is over, which the role may know.
    sent.pop();
    sent
}

/// A request whose body has the announced length.
fn read_request(stream: &mut impl Read) -> Vec<u8> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let n = stream.read(&mut chunk).unwrap();
        bytes.extend_from_slice(&chunk[..n]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            assert!(n > 0, "the request ended early");
            continue;
        };
        let fields = head.lines().filter_map(|line| line.split_once(": "));
        let length = fields
            .filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .map(|(_, length)| length)
            .next();
        if body.len() >= length.unwrap().parse().unwrap() {
            return bytes;
        }
    }
}

/// Another history that fits what the role was told, if a belief finds one.
fn other_history(game: &Game, role: &str, told: &[Told], history: &History) -> Option<History> {
    let belief = game.belief(role, told, &quick_belief()).ok()?;
    let mut found = belief.histories.into_iter().map(|(history, _)| history);
    found.find(|other| other != history)
}

/// Pairs of histories in which a role has been told the same, with the number of rounds.
fn pairs(game: &Game, role: usize, matches: u64, most: usize) -> Vec<(History, History)> {
    let random: PlayerSpec = "random".parse().unwrap();
    let options = MatchOptions {
        games: matches,
        max_rounds: 8,
        seed: 3,
        ..MatchOptions::default()
    };
    let mut pairs = Vec::new();
    for played in game.play(&[&random], &options).unwrap() {
        let record = played.outcome.record;
        let all: History = record.rounds.iter().map(|round| round.moves.clone()).collect();
        // The longest view for which there is another history.
        let found = (1..=all.len()).rev().find_map(|rounds| {
            let history = all[..rounds].to_vec();
            let told = record.told(role, rounds);
            let other = other_history(game, &game.roles()[role], &told, &history)?;
            Some((history, other))
        });
        pairs.extend(found);
        if pairs.len() == most {
            break;
        }
    }
    pairs
}

fn belief_text(game: &Game, role: &str, told: &[Told]) -> String {
    format!("{:?}", game.belief(role, told, &quick_belief()).unwrap())
}

fn explanation(game: &Game, role: &str, record: &Record) -> String {
    let options = ExplainOptions {
        role: Some(role.to_owned()),
        player: Some("hp:4,1,layer=64".to_owned()),
        stop: StopFlag::default(),
        ..ExplainOptions::default()
    };
    match game.explain(record, &options) {
        Ok(explanation) => format!("{explanation:?}"),
        Err(error) => error.to_string(),
    }
}

/// Compares everything that reaches a role in two histories.
fn compare(game: &Game, role: usize, a: &History, b: &History, player: &PlayerSpec) {
    let name = &game.roles()[role];
    let what = format!("{} {name}\n{a:?}\n{b:?}", game.name());
    let ((log_a, record_a), (log_b, record_b)) = (witnessed(game, a, role, player), witnessed(game, b, role, player));
    assert_ne!(record_a.rounds, record_b.rounds, "the histories are different");
    assert_eq!(log_a, log_b, "{what}");
    let (told_a, told_b) = (record_a.told(role, a.len()), record_b.told(role, b.len()));
    assert_eq!(told_a, told_b, "{what}");
    assert_eq!(
        belief_text(game, name, &told_a),
        belief_text(game, name, &told_b),
        "{what}"
    );
    assert_eq!(
        explanation(game, name, &record_a),
        explanation(game, name, &record_b),
        "{what}"
    );
}

fn compare_wire(game: &Game, role: usize, a: &History, b: &History) {
    for (variant, scramble) in [(Variant::Gdl2b, None), (Variant::Gdl2a, Some(Seed(5)))] {
        let (bytes_a, bytes_b) = (
            sent(game, a, role, variant, scramble),
            sent(game, b, role, variant, scramble),
        );
        assert_eq!(bytes_a.len(), a.len() + 1);
        assert!(
            bytes_a == bytes_b,
            "{} {} {variant}\n{a:?}\n{b:?}",
            game.name(),
            game.roles()[role]
        );
    }
}

/// Players that take turns over the pairs.
const PLAYERS: &[&str] = &[
    "hp:4,1,layer=64",
    "ismcts:8,layer=64",
    "cfr:4,iterations=4,nodes=100,layer=64",
];

/// The same for games of two roles besides nature.
const PLAYERS_OF_TWO: &[&str] = &[
    "kluss:200,roots=8,playouts=2,layer=64",
    "hp:4,1,layer=64",
    "ismcts:8,layer=64",
    "epimc:1,samples=4,iterations=4,with=mc:1,layer=64",
    "cfr:4,iterations=4,nodes=100,layer=64",
];

#[test]
fn nothing_hidden_reaches_a_role() {
    let read = |texts: &[&str]| -> Vec<PlayerSpec> { texts.iter().map(|text| text.parse().unwrap()).collect() };
    let (of_any, of_two) = (read(PLAYERS), read(PLAYERS_OF_TWO));
    let mut turn = 0;
    let mut without = Vec::new();
    // Playouts of these take a hundred times as long as those of all other games together.
    let long = ["chess", "fog-of-war-chess", "kriegspiel"];
    for entry in catalogue::games().iter().filter(|e| !long.contains(&e.name)) {
        let game = Game::open(entry.name).unwrap();
        let nature = game.roles().iter().position(|role| role == "random");
        let (mut compared, mut rounds, mut wired) = (0, 0, 0);
        for role in (0..game.roles().len()).filter(|&role| Some(role) != nature) {
            let two = game.roles().len() - usize::from(nature.is_some()) == 2;
            let players = if two { &of_two } else { &of_any };
            for (number, (a, b)) in pairs(&game, role, 8, 3).iter().enumerate() {
                compare(&game, role, a, b, &players[turn % players.len()]);
                turn += 1;
                compared += 1;
                rounds += a.len();
                if number == 0 {
                    compare_wire(&game, role, a, b);
                    wired += 1;
                }
            }
        }
        println!(
            "{}: {compared} pairs of {rounds} rounds together, {wired} over the wire",
            entry.name
        );
        if compared == 0 {
            without.push(entry.name);
        }
    }
    // In these every role is told every move.
    let open = [
        "breakthrough",
        "connect-four",
        "matching-pennies",
        "scissors-paper-rock",
        "tictactoe",
    ];
    assert_eq!(without, open);
}
