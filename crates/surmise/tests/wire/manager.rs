//! The manager's half of the checklist.

use crate::support::{Fake, player, player_with, polite};
use game::{Seed, StopFlag};
use ggp::{Clocks, Variant};
use referee::{Clock, Match, Outcome, Record, Seat, Substitution, replay};
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use surmise::engine::{Engine, EngineOptions};
use surmise::players::PlayerSpec;
use surmise::table::{Gate, Table};

fn engine(game: &str) -> Engine {
    let text = catalogue::rules(game).unwrap_or_else(|_| game.to_owned());
    let mut rules = gdl::read(&text, &gdl::Options::default()).rules;
    rules.announce_moves();
    Engine::new(&rules, &EngineOptions::default()).unwrap()
}

fn table<'a>(engine: &'a Engine, players: &[&str], variant: Variant) -> Table<'a> {
    Table {
        game: "test".to_owned(),
        engine,
        players: players.iter().map(|p| PlayerSpec::parse(p).unwrap()).collect(),
        variant,
        clocks: Clocks {
            start: 3,
            play: 3,
            grace: Duration::from_secs(1),
        },
        scramble: false,
        record: None,
        max_rounds: 100,
        pause: Duration::ZERO,
        stop: StopFlag::default(),
    }
}

fn outcome(table: &Table<'_>, seed: u64) -> (String, Outcome) {
    let played = table.play(Seed(seed)).unwrap();
    replay(&played.outcome.record, table.engine.state_simulator().as_mut()).unwrap();
    (played.id, played.outcome)
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("surmise-wire-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// A peer that never finds a legal move, so that the referee moves for it.
fn helpless() -> Fake {
    Fake::answering(|message| polite(message, "(no such move)"))
}

#[test]
fn t20_gdl1_messages_to_the_letter() {
    let engine = engine(
        "(role a) (role random) (role b) (init (n 1)) (succ 1 2) (succ 2 3) (<= (legal ?r (Go ?x)) (role ?r) (true (n ?x))) \
         (<= (next (n ?y)) (true (n ?x)) (succ ?x ?y)) (<= terminal (true (n 3))) (goal a 100) (goal b 0) ; no goal for random\n",
    );
    let fakes = [helpless(), helpless()];
    let names: Vec<String> = fakes.iter().map(Fake::name).collect();
    let table = table(&engine, &[&names[0], &names[1]], Variant::Gdl1);
    let (id, outcome) = outcome(&table, 1);
    let rules = "(role a) (role random) (role b) (init (n 1)) (succ 1 2) (succ 2 3) (<= (legal ?r (Go ?x)) (role ?r) (true (n ?x))) \
         (<= (next (n ?y)) (true (n ?x)) (succ ?x ?y)) (<= terminal (true (n 3))) (goal a 100) (goal b 0)";
    for (fake, role) in fakes.iter().zip(["a", "b"]) {
        let expected = [
            format!("(START {id} {role} ({rules}) 3 3)"),
            format!("(PLAY {id} NIL)"),
            format!("(PLAY {id} ((Go 1) (Go 1) (Go 1)))"),
            format!("(STOP {id} ((Go 2) (Go 2) (Go 2)))"),
        ];
        assert_eq!(fake.messages(), expected);
    }
    assert_eq!(outcome.record.goals, [100, 0, 0]);
}

/// What a role must be sent in a game, from its record alone.
fn expected(record: &Record, role: usize, id: &str, variant: Variant) -> Vec<String> {
    let mut messages = Vec::new();
    for turn in 0..=record.rounds.len() {
        let word = if turn == record.rounds.len() { "STOP" } else { "PLAY" };
        let last = turn.checked_sub(1).map(|t| &record.rounds[t]);
        messages.push(match (variant, last) {
            (Variant::Gdl2b, None) => format!("({word} {id} 0 NIL NIL)"),
            (Variant::Gdl2b, Some(round)) => {
                format!(
                    "({word} {id} {turn} {} ({}))",
                    round.moves[role],
                    round.percepts[role].join(" ")
                )
            }
            (_, None) => format!("({word} {id} NIL)"),
            (_, Some(round)) => format!("({word} {id} ({}))", round.percepts[role].join(" ")),
        });
    }
    messages
}

/// Every byte that a role gets after START is its own move and its own percepts.
#[test]
fn t21_a_role_is_sent_nothing_but_its_own() {
    for game in [
        "kuhn-poker",
        "krieg-tictactoe",
        "blind-tictactoe",
        "meier",
        "scissors-paper-rock",
    ] {
        let engine = engine(game);
        for variant in [Variant::Gdl2b, Variant::Gdl2a] {
            let fakes = [helpless(), helpless()];
            let names: Vec<String> = fakes.iter().map(Fake::name).collect();
            let table = table(&engine, &[&names[0], &names[1]], variant);
            let (id, outcome) = outcome(&table, 5);
            let record = &outcome.record;
            for ((role, name), fake) in table.seats().into_iter().zip(&fakes) {
                let messages = fake.messages();
                assert!(
                    messages[0].starts_with(&format!("(START {id} {name} (")),
                    "{}",
                    messages[0]
                );
                assert_eq!(messages[1..], expected(record, role, &id, variant), "{game} {name}");
            }
            let sent = fakes[0].messages().concat();
            let hidden = record
                .rounds
                .iter()
                .flat_map(|r| &r.percepts[1])
                .filter(|p| p.contains("dealt"));
            for percept in hidden {
                let own = record.rounds.iter().any(|r| r.percepts[0].contains(percept));
                assert!(
                    own || !sent[sent.find("(PLAY").unwrap()..].contains(percept.as_str()),
                    "{percept}"
                );
            }
        }
    }
}

/// The whole request, head and all: nothing of the match travels outside the message.
#[test]
fn t21_requests_to_the_byte() {
    use std::io::Read;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = [0; 4096];
        let n = stream.read(&mut bytes).unwrap();
        stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nready").unwrap();
        String::from_utf8(bytes[..n].to_vec()).unwrap()
    });
    let peer = ggp::http::Peer::parse(&address.to_string()).unwrap();
    let reply = ggp::http::exchange(&peer, "(INFO)", Duration::from_secs(5), &StopFlag::default());
    assert_eq!(reply.unwrap(), "ready");
    let expected = format!(
        "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: {address}\r\nSender: GAMESERVER\r\nReceiver: 127.0.0.1\r\n\
         Content-Type: text/acl\r\nContent-Length: 6\r\n\r\n(INFO)"
    );
    assert_eq!(heard.join().unwrap(), expected);
}

type Act = Box<dyn Fn(&mut std::net::TcpStream) + Send + Sync>;

/// A peer that keeps the protocol but for PLAY.
fn misbehaving(act: Act) -> Fake {
    Fake::new(move |message, stream| match message.starts_with("(PLAY") {
        true => act(stream),
        false => {
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nready");
        }
    })
}

fn saying(bytes: &'static [u8]) -> Act {
    Box::new(move |stream| {
        let _ = stream.write_all(bytes);
    })
}

fn pause(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

#[test]
fn t22_whatever_peers_do_the_match_goes_on() {
    let late: Act = Box::new(|stream| {
        pause(1_700);
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n(show tails)");
    });
    let drip: Act = Box::new(|stream| {
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 12\r\n\r\n");
        for byte in b"(show tails)" {
            pause(300);
            let _ = stream.write_all(&[*byte]);
        }
    });
    let endless: Act = Box::new(|stream| {
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n(");
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    });
    let long_head: Act = Box::new(|stream| {
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nX: ");
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    });
    let open: Act = Box::new(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n(show tails)");
        pause(3_000);
    });
    let careless: Act = Box::new(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n(show tails)");
        pause(3_000);
    });
    let half_closed: Act = Box::new(|stream| {
        let _ = stream.shutdown(std::net::Shutdown::Write);
        pause(3_000);
    });
    let cases: Vec<(&str, Act, Option<&str>)> = vec![
        ("silent", Box::new(|_| pause(4_000)), Some("TO")),
        ("late", late, Some("TO")),
        ("drip-fed", drip, Some("TO")),
        ("hangs up", Box::new(|_| {}), Some("EMPTY|CE")),
        ("half-closed", half_closed, Some("EMPTY")),
        (
            "empty",
            saying(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
            Some("EMPTY"),
        ),
        ("blank", saying(b"HTTP/1.0 200 OK\r\n\r\n \r\n\t"), Some("EMPTY")),
        ("nil", saying(b"HTTP/1.0 200 OK\r\n\r\nNIL"), Some("NIL")),
        ("()", saying(b"HTTP/1.0 200 OK\r\n\r\n( )"), Some("NIL")),
        ("busy", saying(b"HTTP/1.0 200 OK\r\n\r\nBusy"), Some("BUSY")),
        ("variable", saying(b"HTTP/1.0 200 OK\r\n\r\n(show ?x)"), Some("PARSE")),
        (
            "unbalanced",
            saying(b"HTTP/1.0 200 OK\r\n\r\n(show tails"),
            Some("PARSE"),
        ),
        ("garbage", saying(b"\xff\xfe\x01)(\x00"), Some("PARSE|IL|CE|EMPTY")),
        ("illegal", saying(b"HTTP/1.0 200 OK\r\n\r\n(show edge)"), Some("IL")),
        ("what", saying(b"HTTP/1.0 200 OK\r\n\r\nwhat"), Some("IL")),
        ("huge", endless, Some("PARSE")),
        ("huge head", long_head, Some("PARSE")),
        ("legal", saying(b"HTTP/1.0 200 OK\r\n\r\n(show tails)"), None),
        (
            "upper case",
            saying(b"HTTP/1.0 200 OK\r\n\r\n ( SHOW\tTAILS )\r\n"),
            None,
        ),
        ("with a status", saying(b"HTTP/1.1 500 Oh No\r\n\r\n(show tails)"), None),
        (
            "with a taunt",
            saying(b"HTTP/1.0 200 OK\r\n\r\n(show tails) (taunt \"ha\")"),
            None,
        ),
        (
            "chunked",
            saying(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n(show tails)\r\n0\r\n\r\n"),
            None,
        ),
        ("no head", saying(b"(show tails)"), None),
        ("keeps the line open", open, None),
        ("counts wrongly", careless, None),
    ];
    let engine = engine("matching-pennies");
    std::thread::scope(|scope| {
        for (name, act, code) in cases {
            let engine = &engine;
            scope.spawn(move || {
                let fake = misbehaving(act);
                let mut table = table(engine, &[&fake.name(), "legal"], Variant::Gdl2b);
                table.clocks = Clocks {
                    start: 1,
                    play: 1,
                    grace: Duration::from_millis(300),
                };
                let began = Instant::now();
                let (_, outcome) = outcome(&table, 3);
                check_code(name, &outcome, code);
                assert!(
                    began.elapsed() < Duration::from_secs(6),
                    "{name}: {:?}",
                    began.elapsed()
                );
                if code.is_none() {
                    assert_eq!(outcome.record.rounds[0].moves[0], "(show tails)", "{name}");
                }
            });
        }
        for (name, peer) in [("refused", "127.0.0.1:1"), ("unknown", "no-such-host.invalid:9147")] {
            let engine = &engine;
            scope.spawn(move || {
                let table = table(engine, &[&format!("remote:{peer}"), "legal"], Variant::Gdl2b);
                check_code(name, &outcome(&table, 3).1, Some("CE"));
            });
        }
    });
}

#[track_caller]
fn check_code(name: &str, outcome: &Outcome, code: Option<&str>) {
    assert!(outcome.record.complete, "{name}");
    let found = outcome.record.rounds[0].substitutions[0]
        .as_ref()
        .map(Substitution::code);
    let allowed: Vec<Option<&str>> = match code {
        None => vec![None],
        Some(codes) => codes.split('|').map(Some).collect(),
    };
    assert!(
        allowed.contains(&found),
        "{name}: {found:?}, not {code:?}: {:?}",
        outcome.record.rounds[0]
    );
    let text = outcome.record.to_json();
    assert_eq!(Record::from_json(&text).unwrap(), outcome.record, "{name}");
}

/// Two late answers do not become the answers to later questions.
#[test]
fn t22_a_late_reply_is_not_used_later() {
    let count = AtomicUsize::new(0);
    let fake = Fake::new(move |message, stream| {
        let (turn, reply) = match message.starts_with("(PLAY") {
            true => (count.fetch_add(1, Ordering::SeqCst), "(mark 1 1)"),
            false => (99, "ready"),
        };
        if turn == 0 {
            pause(1_600);
        }
        let reply = if turn == 0 { "(mark 3 3)" } else { reply };
        let _ = stream.write_all(format!("HTTP/1.0 200 OK\r\n\r\n{reply}").as_bytes());
    });
    let engine = engine("tictactoe");
    let mut table = table(&engine, &[&fake.name(), "legal"], Variant::Gdl1);
    table.clocks = Clocks {
        start: 1,
        play: 1,
        grace: Duration::ZERO,
    };
    table.max_rounds = 3;
    let record = table.play(Seed(8)).unwrap().outcome.record;
    let codes: Vec<Option<&str>> = record
        .rounds
        .iter()
        .map(|r| r.substitutions[0].as_ref().map(Substitution::code))
        .collect();
    assert_eq!(codes[0], Some("TO"));
    assert!(record.aborted);
    assert!(
        record.rounds[1..].iter().all(|r| !r.submitted[0].contains("3 3")),
        "{record:?}"
    );
}

/// Pearson's statistic of counts that should be equal, in standard deviations above its mean.
fn excess(counts: &[f64]) -> f64 {
    let total: f64 = counts.iter().sum();
    let mean = total / counts.len() as f64;
    let chi2: f64 = counts.iter().map(|c| (c - mean).powi(2) / mean).sum();
    let freedom = (counts.len() - 1) as f64;
    (chi2 - freedom) / (2.0 * freedom).sqrt()
}

/// What nature does in one round of many matches, by move.
fn nature_counts(game: &str, role: usize, round: usize, only: impl Fn(&Record) -> bool) -> Vec<f64> {
    let engine = engine(game);
    let mut counts = std::collections::BTreeMap::<String, f64>::new();
    for seed in 0..30_000 {
        let mut sim = engine.state_simulator();
        let seats = |role: usize| match sim.nature().map(|r| r.0 as usize) == Some(role) {
            true => Seat::Nature,
            false => PlayerSpec::parse("legal")
                .unwrap()
                .seat(&engine, game::RoleId(role as u16), Seed(1))
                .unwrap(),
        };
        let seats: Vec<Seat> = (0..sim.roles().len()).map(seats).collect();
        let names = vec![String::new(); seats.len()];
        let table = Match {
            sim: sim.as_mut(),
            seats,
            names,
            seed: Seed(seed),
            clock: Clock::None,
            max_rounds: round + 1,
            stop: StopFlag::default(),
        };
        let record = table.play().unwrap().record;
        if only(&record) {
            *counts.entry(record.rounds[round].moves[role].clone()).or_default() += 1.0;
        }
        if counts.values().sum::<f64>() >= 10_000.0 {
            break;
        }
    }
    counts.into_values().collect()
}

#[test]
fn t23_nature_is_uniform() {
    let sim = engine("meier").state_simulator();
    let nature = sim.nature().unwrap().0 as usize;
    let rolls = nature_counts("meier", nature, 0, |_| true);
    assert!(rolls.iter().sum::<f64>() >= 10_000.0);
    assert!(rolls.len() > 2 && excess(&rolls) < 4.0, "{rolls:?}");
    let sim = engine("monty-hall").state_simulator();
    let nature = sim.nature().unwrap().0 as usize;
    let hosts = nature_counts("monty-hall", nature, 1, |r| r.states[1].contains(&"(car 1)".to_owned()));
    assert_eq!(hosts.len(), 2, "with the car behind the chosen door, two are free");
    assert!(
        hosts.iter().sum::<f64>() >= 9_000.0 && excess(&hosts) < 4.0,
        "{hosts:?}"
    );
}

const COIN: &str = "(init (step 1)) (<= (legal random (toss ?f)) (true (step 1)) (face ?f)) (<= (legal a wait) (true (step 1))) \
    (<= (legal b wait) (true (step 1))) (face heads) (face tails) (<= (next (step 2)) (true (step 1))) (<= (sees a ?f) (does random (toss ?f))) \
    (<= terminal (true (step 2))) (goal a 100) (goal b 0)";

#[test]
fn t24_nature_sits_anywhere_or_nowhere() {
    let roles = ["random a b", "a random b", "a b random"];
    for order in roles {
        let facts: String = order.split(' ').map(|r| format!("(role {r}) ")).collect();
        let engine = engine(&(facts + COIN));
        let fakes = [
            Fake::answering(|m| polite(m, "wait")),
            Fake::answering(|m| polite(m, "wait")),
        ];
        let names: Vec<String> = fakes.iter().map(Fake::name).collect();
        let (id, outcome) = outcome(&table(&engine, &[&names[0], &names[1]], Variant::Gdl2b), 2);
        let record = &outcome.record;
        assert!(record.rounds[0].substitutions.iter().all(Option::is_none), "{record:?}");
        let nature = order.split(' ').position(|r| r == "random").unwrap();
        let face = record.rounds[0].moves[nature]
            .trim_start_matches("(toss ")
            .trim_end_matches(')')
            .to_owned();
        assert_eq!(record.goals[nature], 0, "nature has no goal");
        assert_eq!(
            fakes[0].messages().last().unwrap(),
            &format!("(STOP {id} 1 wait ({face}))")
        );
        assert_eq!(fakes[1].messages().last().unwrap(), &format!("(STOP {id} 1 wait ())"));
    }
    let one = engine(
        "(role random) (role a) (init s) (<= (legal ?r only) (role ?r)) (<= (next over) (true s)) (<= terminal (true over)) (goal a 10)",
    );
    let fake = Fake::answering(|m| polite(m, "only"));
    let (_, outcome) = outcome(&table(&one, &[&fake.name()], Variant::Gdl2b), 2);
    assert_eq!(outcome.record.goals, [0, 10]);
}

#[test]
fn t25_games_that_end_oddly() {
    let heard = |rules: &str, rounds: usize| {
        let engine = engine(rules);
        let fake = Fake::answering(|m| polite(m, "go"));
        let mut table = table(&engine, &[&fake.name()], Variant::Gdl1);
        table.max_rounds = rounds;
        let played = table.play(Seed(1));
        let words = |m: String| m.split(' ').next().unwrap().trim_start_matches('(').to_owned();
        let words: Vec<String> = fake.messages().into_iter().map(words).collect();
        (played, words)
    };
    let (played, words) = heard(
        "(role a) (init over) (<= (legal a go) (true over)) (<= terminal (true over)) (goal a 5)",
        9,
    );
    assert_eq!(words, ["START", "STOP"]);
    assert_eq!(played.unwrap().outcome.record.goals, [5]);
    let (played, words) = heard(
        "(role a) (init (n 1)) (<= (legal a go) (true (n 1))) (<= (next (n 2)) (true (n 1))) (<= terminal (true (n 3)))",
        9,
    );
    assert_eq!(words, ["START", "PLAY", "ABORT"]);
    assert!(played.is_err_and(|e| e.to_string().contains("E-NO-MOVE")));
    let endless =
        "(role a) (init on) (<= (legal a go) (true on)) (<= (next on) (true on)) (<= terminal (true off)) (goal a 7)";
    let (played, words) = heard(endless, 3);
    assert_eq!(words, ["START", "PLAY", "PLAY", "PLAY", "ABORT"]);
    assert!(played.unwrap().outcome.record.aborted);
    let several = "(role a) (init on) (<= (legal a go) (true on)) (<= (next off) (true on)) (<= terminal (true off)) (goal a 20) (goal a 30)";
    assert_eq!(heard(several, 9).0.unwrap().outcome.record.goals, [30]);
    let none = "(role a) (init on) (<= (legal a go) (true on)) (<= (next off) (true on)) (<= terminal (true off))";
    assert_eq!(heard(none, 9).0.unwrap().outcome.record.goals, [0]);
}

#[test]
fn t26_open_games_in_every_dialect() {
    let engine = engine("tictactoe");
    let player = player("hp:4,2");
    let name = format!("remote:{}", player.peer());
    for variant in [Variant::Gdl1, Variant::Gdl2a, Variant::Gdl2b] {
        let fake = helpless();
        let (id, outcome) = outcome(&table(&engine, &[&name, &fake.name()], variant), 4);
        let substituted = |role: usize| {
            outcome
                .record
                .rounds
                .iter()
                .filter(|r| r.substitutions[role].is_some())
                .count()
        };
        assert_eq!(substituted(0), 0, "{variant}: {:?}", outcome.record.rounds);
        let messages = fake.messages();
        let announced = "(<= (sees ?p (did ?p2 ?m)) (role ?p) (does ?p2 ?m))";
        assert_eq!(messages[0].contains(announced), variant != Variant::Gdl1);
        if variant != Variant::Gdl1 {
            let record = &outcome.record;
            assert_eq!(messages[1..], expected(record, 1, &id, variant));
            assert!(record.rounds[0].percepts[1].iter().all(|p| p.starts_with("(did ")));
        }
    }
    let hidden = self::engine("kuhn-poker");
    let refused = table(&hidden, &["random", "random"], Variant::Gdl1).play(Seed(1));
    assert!(refused.is_err_and(|e| e.to_string().contains("gdl2b")));
}

#[test]
fn t27_scrambled_matches_are_played_as_any_other() {
    for (game, seats) in [("kuhn-poker", 2), ("tictactoe", 2), ("monty-hall", 1)] {
        let engine = engine(game);
        let player = player_with("hp:8,2", |options| options.max_matches = 2);
        let name = format!("remote:{}", player.peer());
        let fake = helpless();
        let mut players = vec![name.as_str()];
        let other = fake.name();
        players.extend((1..seats).map(|_| other.as_str()));
        let variant = if game == "tictactoe" {
            Variant::Gdl1
        } else {
            Variant::Gdl2b
        };
        let mut table = table(&engine, &players, variant);
        table.scramble = true;
        let (_, outcome) = outcome(&table, 6);
        let substituted = outcome
            .record
            .rounds
            .iter()
            .filter(|r| r.substitutions[0].is_some())
            .count();
        assert_eq!(substituted, 0, "{game}: {:?}", outcome.record.rounds);
        let sent = fake.messages().concat();
        for word in ["dealt", "mark", "xplayer", "oplayer", "player1", "jack", "candidate"] {
            assert!(!sent.contains(word), "{game}: {word}");
        }
    }
}

#[test]
fn t28_players_are_shared_by_capacity() {
    let engine = engine("matching-pennies");
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (at, peak) = (now.clone(), most.clone());
    let fake = Fake::answering(move |message| {
        if message.starts_with("(START") {
            peak.fetch_max(at.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        }
        if message.starts_with("(PLAY") {
            pause(20);
        }
        if message.starts_with("(STOP") {
            at.fetch_sub(1, Ordering::SeqCst);
        }
        polite(message, "(show heads)")
    });
    for capacity in [1, 2] {
        most.store(0, Ordering::SeqCst);
        let gate = Gate::new(capacity);
        std::thread::scope(|scope| {
            for seed in 0..6 {
                let (gate, engine, fake) = (&gate, &engine, &fake);
                scope.spawn(move || {
                    let table = table(engine, &[&fake.name(), "legal"], Variant::Gdl2b);
                    let _places = gate.enter(&table.players, &table.stop).unwrap();
                    outcome(&table, seed);
                });
            }
        });
        assert_eq!(most.load(Ordering::SeqCst), capacity);
    }
}

#[test]
fn t28_giving_up_tells_everybody_at_once() {
    let engine = engine("tictactoe");
    let thoughtful = || {
        Fake::answering(|message| {
            if message.starts_with("(PLAY") {
                pause(3_000);
            }
            polite(message, "noop")
        })
    };
    let fakes = [thoughtful(), thoughtful()];
    let names: Vec<String> = fakes.iter().map(Fake::name).collect();
    let table = table(&engine, &[&names[0], &names[1]], Variant::Gdl1);
    let stop = table.stop.clone();
    let raised = Arc::new(Mutex::new(Instant::now()));
    let noted = raised.clone();
    std::thread::spawn(move || {
        pause(400);
        *noted.lock().unwrap() = Instant::now();
        stop.raise();
    });
    let record = table.play(Seed(1)).unwrap().outcome.record;
    assert!(record.aborted && record.rounds.is_empty());
    for fake in &fakes {
        let heard = fake.heard.lock().unwrap();
        let (at, last) = heard.last().unwrap();
        assert!(last.starts_with("(ABORT "), "{last}");
        let delay = at.duration_since(*raised.lock().unwrap());
        assert!(delay < Duration::from_secs(1), "{delay:?}");
    }
}

fn manage(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_surmise"));
    command
        .arg("manage")
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
#[cfg(unix)]
fn t28_ctrl_c_aborts_and_keeps_the_record() {
    let fake = Fake::answering(|message| {
        if message.starts_with("(PLAY") {
            pause(2_000);
        }
        polite(message, "noop")
    });
    let folder = folder("ctrl-c");
    let mut child = manage(&[
        "tictactoe",
        "--players",
        &fake.name(),
        "--record",
        folder.to_str().unwrap(),
    ])
    .spawn()
    .unwrap();
    let begun = Instant::now();
    while !fake.messages().iter().any(|m| m.starts_with("(PLAY")) {
        assert!(begun.elapsed() < Duration::from_secs(20));
        pause(20);
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    assert!(!child.wait().unwrap().success());
    assert!(
        fake.messages().last().unwrap().starts_with("(ABORT "),
        "{:?}",
        fake.messages()
    );
    let (text, _) = only_record(&folder);
    assert!(text.contains("\"isAborted\":true"), "{text}");
}

fn only_record(folder: &std::path::Path) -> (String, PathBuf) {
    let files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    let records: Vec<&PathBuf> = files
        .iter()
        .filter(|f| f.extension().is_some_and(|e| e == "json"))
        .collect();
    assert_eq!(records.len(), 1, "{files:?}");
    (std::fs::read_to_string(records[0]).unwrap(), records[0].clone())
}

#[test]
#[cfg(unix)]
fn t29_a_killed_manager_leaves_a_record_that_replays() {
    let fake = Fake::answering(|message| {
        pause(30);
        polite(message, "(no such move)")
    });
    let folder = folder("killed");
    let name = fake.name();
    let mut child = manage(&[
        "blind-tictactoe",
        "--players",
        &name,
        "--record",
        folder.to_str().unwrap(),
    ])
    .spawn()
    .unwrap();
    let begun = Instant::now();
    while fake.messages().iter().filter(|m| m.starts_with("(PLAY")).count() < 7 {
        assert!(begun.elapsed() < Duration::from_secs(20));
        pause(5);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (text, path) = only_record(&folder);
    let record = Record::from_json(&text.parse().unwrap()).unwrap();
    assert!(
        !record.complete && !record.aborted && record.rounds.len() >= 2,
        "{text}"
    );
    let wire = record.wire.as_ref().unwrap();
    assert_eq!(
        (wire.state_times.len(), wire.times_ms.len()),
        (record.states.len(), record.rounds.len())
    );
    let replayed = Command::new(env!("CARGO_BIN_EXE_surmise"))
        .arg("replay")
        .arg(path)
        .output()
        .unwrap();
    assert!(replayed.status.success(), "{replayed:?}");
}

/// The manager dies in the middle of a match and is started again. The player still holds a match that nobody will ever end: it is busy for as long as
/// that might go on, and then makes room; the record of the first match is kept.
#[test]
#[cfg(unix)]
fn t28_a_killed_manager_is_started_again() {
    let player = player_with("random", |options| options.forget = Duration::from_millis(500));
    let silent = Fake::answering(|message| match message.starts_with("(PLAY") {
        true => None,
        false => polite(message, "noop"),
    });
    let folder = folder("restart");
    let players = format!("{};{}", player.peer(), silent.name());
    let record = folder.to_str().unwrap().to_owned();
    let clocks = ["--start-clock", "1", "--play-clock", "1", "--record", &record];
    let mut child = manage(&[&["tictactoe", "--players", &players], &clocks[..]].concat())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !silent.messages().iter().any(|m| m.starts_with("(PLAY")) {
        assert!(begun.elapsed() < Duration::from_secs(20));
        pause(20);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(player.handle.matches(), 1, "nobody told the player");
    let again = format!("{};random", player.peer());
    let run = || {
        let output = manage(&[&["tictactoe", "--json", "--players", &again], &clocks[..]].concat())
            .output()
            .unwrap();
        let said: serde_json::Value = String::from_utf8(output.stdout).unwrap().parse().unwrap();
        (output.status.success(), said["players"][0]["errors"].clone())
    };
    // At once: the new match is played to its end, by the referee's moves.
    let (played, errors) = run();
    assert!(played && errors["BUSY"].as_u64().is_some_and(|n| n >= 3), "{errors}");
    // Three play clocks and what it waits for besides: now there is room.
    pause(4_000);
    let (played, errors) = run();
    assert!(played && errors == serde_json::json!({}), "{errors}");
    let files = std::fs::read_dir(&folder).unwrap().flatten().map(|f| f.path());
    let records: Vec<PathBuf> = files.filter(|f| f.extension().is_some_and(|e| e == "json")).collect();
    assert!(records.len() >= 2, "{records:?}");
    let replayed = Command::new(env!("CARGO_BIN_EXE_surmise"))
        .arg("replay")
        .args(&records)
        .output()
        .unwrap();
    assert!(replayed.status.success(), "{replayed:?}");
}

/// What a viewer is given for one role holds nothing that the role may not see.
#[test]
fn t29_xml_views_hide_what_is_hidden() {
    let folder = folder("views");
    let record = folder.join("m.json");
    let surmise = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_surmise")).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
    };
    let (file, out) = (record.to_str().unwrap(), folder.join("xml"));
    surmise(&[
        "match",
        "kuhn-poker",
        "random",
        "random",
        "--games",
        "1",
        "--seed",
        "3",
        "--record",
        folder.to_str().unwrap(),
    ]);
    let (text, path) = only_record(&folder);
    std::fs::rename(path, &record).unwrap();
    let played = Record::from_json(&text.parse().unwrap()).unwrap();
    surmise(&["replay", file, "--views", out.to_str().unwrap()]);
    let read = |role: &str, name: &str| {
        let dirs = std::fs::read_dir(&out).unwrap().flatten().map(|d| d.path());
        let dir = dirs
            .into_iter()
            .find(|d| d.to_str().unwrap().ends_with(&format!("-{role}")))
            .unwrap();
        std::fs::read_to_string(dir.join(name)).unwrap()
    };
    let element = |fluent: &str| {
        let words: Vec<String> = fluent
            .to_uppercase()
            .split([' ', '(', ')'])
            .map(str::to_owned)
            .collect();
        words.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>()
    };
    let roles: Vec<&String> = played.roles.iter().collect();
    for (number, role) in roles.iter().enumerate() {
        for step in 0..played.states.len() {
            let text = read(role, &format!("step_{}.xml", step + 1));
            let facts = text[text.find("<state>").unwrap()..].matches("<fact>").count();
            let expected = match (role.as_str(), step) {
                ("random", _) => played.states[step].len(),
                (_, 0) => 0,
                _ => played.rounds[step - 1].percepts[number].len(),
            };
            assert_eq!(facts, expected, "{role}, step {step}: {text}");
            assert_eq!(text.contains("<move>"), role.as_str() == "random" && step > 0, "{text}");
        }
        let last = read(role, "finalstate.xml");
        assert!(
            last.contains(&format!("<sight-of>{}</sight-of>", role.to_uppercase())),
            "{last}"
        );
        assert!(last.contains(&format!("<reward>{}</reward>", played.goals[number])) && !last.contains("playclock"));
    }
    // With rules about what is to be seen: what they say, role by role.
    let fluent = played.states[1].iter().find(|f| f.starts_with('(')).unwrap();
    let (view, seer) = (
        folder.join("view.kif"),
        roles.iter().find(|r| r.as_str() != "random").unwrap(),
    );
    std::fs::write(
        &view,
        format!("(<= (sees_xml {seer} (shown {fluent})) (true {fluent}))"),
    )
    .unwrap();
    std::fs::remove_dir_all(&out).unwrap();
    surmise(&[
        "replay",
        file,
        "--views",
        out.to_str().unwrap(),
        "--view",
        view.to_str().unwrap(),
    ]);
    for role in roles.iter().filter(|r| r.as_str() != "random") {
        let text = read(role, "step_2.xml");
        assert_eq!(text.contains("<prop-f>SHOWN</prop-f><arg>"), role == seer, "{text}");
        assert!(
            role != seer || element(fluent).iter().all(|word| text.contains(word)),
            "{text}"
        );
        assert!(!read(role, "step_1.xml").contains("<fact>"), "it did not hold before");
    }
}

/// Lines about one role hold nothing of what another role was told.
#[test]
fn logs_keep_views_apart() {
    let folder = folder("logs");
    let fakes = [helpless(), helpless()];
    let players = format!("{};{}", fakes[0].name(), fakes[1].name());
    let args = [
        "kuhn-poker",
        "--players",
        &players,
        "--log",
        "json",
        "-v",
        "--record",
        folder.to_str().unwrap(),
    ];
    let output = manage(&args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let record = Record::from_json(&only_record(&folder).0.parse().unwrap()).unwrap();
    let seen = |role: usize| -> Vec<String> { record.rounds.iter().flat_map(|r| r.percepts[role].clone()).collect() };
    let mut lines = [0, 0];
    for line in output.stderr.lines() {
        let line: serde_json::Value = line.unwrap().parse().unwrap();
        let text = line.to_string();
        let about = record.roles.iter().position(|r| line["role"] == r.as_str());
        for other in [0, 1] {
            if about != Some(other) {
                let own = about.map(seen).unwrap_or_default();
                let leaked = seen(other)
                    .into_iter()
                    .find(|p| !own.contains(p) && text.contains(p.as_str()));
                assert_eq!(leaked, None, "{text}");
            }
        }
        if let Some(about) = about.filter(|&a| a < 2) {
            lines[about] += usize::from(text.contains("PLAY"));
        }
    }
    assert!(
        lines.iter().all(|&n| n >= 3),
        "what was said to each role is told: {lines:?}"
    );
}

/// Games that are over quickly; `benchmarks/wire.py corpus` plays every game of the catalogue, ten matches each.
const SMALL: &[&str] = &[
    "kuhn-poker",
    "monty-hall",
    "monty-hall:doors=4",
    "krieg-tictactoe",
    "blind-tictactoe",
    "meier",
    "leduc-poker",
    "number-guessing",
    "tiger",
    "mastermind",
    "matching-pennies",
    "scissors-paper-rock",
    "goofspiel",
    "liars-dice",
    "banker-and-thief",
    "border-protection",
    "guess-who",
    "phantom-tictactoe",
    "biased-blind-tictactoe",
    "transit",
];

#[test]
fn t32_our_player_at_our_table() {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(game) = SMALL.get(next.fetch_add(1, Ordering::SeqCst)) {
                    play_against_ourselves(game, 3);
                }
            });
        }
    });
}

/// Every seat is one of our players behind a socket; nobody makes a mistake, and the record replays.
fn play_against_ourselves(game: &str, matches: u64) {
    let engine = engine(game);
    let seats = table(&engine, &[], Variant::Gdl2b).seats();
    let players: Vec<_> = seats.iter().map(|_| player("hp:8,2")).collect();
    let names: Vec<String> = players.iter().map(|p| format!("remote:{}", p.peer())).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut table = table(&engine, &names, Variant::Gdl2b);
    (table.clocks.start, table.clocks.play) = (10, 10);
    for seed in 0..matches {
        let (_, outcome) = outcome(&table, seed);
        let bad: Vec<_> = outcome
            .record
            .rounds
            .iter()
            .flat_map(|r| r.substitutions.iter().flatten())
            .collect();
        assert!(bad.is_empty(), "{game}: {bad:?}");
        assert!(outcome.record.complete, "{game}");
        let wire = outcome.record.wire.as_ref().unwrap();
        assert!(
            wire.start_errors.iter().all(String::is_empty),
            "{game}: {:?}",
            wire.start_errors
        );
    }
}

#[test]
fn players_elsewhere_by_name_in_match() {
    let player = player("random");
    let name = format!("remote:{},play=5,start=5", player.peer());
    let output = Command::new(env!("CARGO_BIN_EXE_surmise"))
        .args(["match", "matching-pennies", &name, "random", "--games", "3", "--json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let value: serde_json::Value = String::from_utf8(output.stdout).unwrap().parse().unwrap();
    assert_eq!(
        (&value["games"], &value["players"][0]["illegal"]),
        (&3.into(), &0.into())
    );
    assert_eq!(player.handle.matches(), 0, "it was told that the matches were over");
}

#[test]
fn our_own_player_passes_the_compliance_report() {
    let player = player("random");
    let run = |peer: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_surmise"))
            .args(["compliance", peer])
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = run(&player.address.to_string());
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(" 0 failed, 0 left out"), "{text}");
    let (code, text) = run("127.0.0.1:1");
    assert_eq!(code, Some(1), "{text}");
    // Somebody who answers `ready` to everything does not pass.
    let fake = Fake::answering(|_| Some("ready".to_owned()));
    let (code, text) = run(&fake.peer.to_string());
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("FAILED") && text.contains("not a legal move"), "{text}");
}

/// A trace written by hand from the rules, as Dresden's GameController would write it.
const TRACE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<gametrace><game>buttons</game><steps>
 <step nb="1"><state><fluent>(step 1)</fluent></state>
  <legal_moves><move role="robot">press</move><move role="robot">(wait 1)</move></legal_moves><moves><move role="robot">press</move></moves></step>
 <step nb="2"><state><fluent>(step 2)</fluent><fluent>lit</fluent></state>
  <legal_moves><move role="robot">press</move><move role="robot">( wait 2 )</move></legal_moves><moves><move role="robot">(wait 2)</move></moves></step>
 <step nb="3"><state><fluent>lit</fluent><fluent>(step 3)</fluent></state><terminal/><goal_values><goal_value role="robot">100</goal_value></goal_values></step>
</steps></gametrace>"#;
const BUTTONS: &str = "(role robot) (init (step 1)) (succ 1 2) (succ 2 3) (<= (legal robot press) (true (step ?n))) \
    (<= (legal robot (wait ?n)) (true (step ?n))) (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m)) \
    (<= (next lit) (does robot press) (not (true lit))) (<= (next lit) (true lit) (not (does robot press))) \
    (<= terminal (true (step 3))) (<= (goal robot 100) (true lit)) (<= (goal robot 0) (not (true lit)))";

/// The traces that Dresden's programs come with are not ours to ship; the format is read, and every kind of difference is found.
#[test]
fn t33_traces_are_followed_and_differences_found() {
    let folder = folder("traces");
    let (game, file) = (folder.join("buttons.kif"), folder.join("trace.xml"));
    std::fs::write(&game, BUTTONS).unwrap();
    let check = |game: &str, trace: &str| {
        std::fs::write(&file, trace).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_surmise"))
            .args(["trace", game, "--check", file.to_str().unwrap()])
            .output()
            .unwrap();
        (
            output.status.success(),
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap(),
        )
    };
    let buttons = game.to_str().unwrap();
    let (good, said) = check(buttons, TRACE);
    assert!(good && said.contains("3 steps"), "{said}");
    for (from, to, why) in [
        (
            "<fluent>lit</fluent></state>\n",
            "</state>\n",
            "step 2: fluents differ: only here [\"lit\"]",
        ),
        ("( wait 2 )", "(wait 3)", "step 2: legal moves differ"),
        ("<terminal/>", "", "step 3: the game is over here"),
        (">100<", ">50<", "step 3: goals differ"),
        (
            "<move role=\"robot\">(wait 2)</move></moves>",
            "<move role=\"robot\">jump</move></moves>",
            "step 2: `jump` is never a move",
        ),
        ("<fluent>(step 1)</fluent>", "<fluent>(step 1</fluent>", "no term"),
        ("gametrace", "trace", "not a trace"),
        ("</steps>", "", "not XML"),
    ] {
        let changed = TRACE.replace(from, to);
        assert_ne!(changed, TRACE);
        let (good, said) = check(buttons, &changed);
        assert!(!good && said.contains(why), "{said}");
    }
    // What one engine writes, another follows.
    for game in ["kuhn-poker", "tictactoe", "monty-hall", "krieg-tictactoe"] {
        let run = |args: &[&str]| {
            let output = Command::new(env!("CARGO_BIN_EXE_surmise"))
                .arg("trace")
                .arg(game)
                .args(args)
                .output()
                .unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let written = run(&["--xml", "--seed", "5", "--engine", "reference"]);
        assert_eq!(written, run(&["--xml", "--seed", "5"]), "{game}");
        let (good, said) = check(game, &written);
        assert!(good, "{said}");
    }
}
