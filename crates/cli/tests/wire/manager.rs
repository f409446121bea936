//! The manager's half of the checklist.

use crate::support::{Fake, helpless, manage, open, outcome, pause, player, player_with, polite, table};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use surmise::PlayerSpec;
use surmise::game::{Seed, StopFlag};
use surmise::ggp::{Clocks, Variant};
use surmise::hosting::Gate;
use surmise::referee::{Clock, Match, Outcome, Record, Seat, Substitution, Title};

#[test]
fn t20_gdl1_messages_to_the_letter() {
    let opened = crate::support::open(
        "(role a) (role random) (role b) (init (n 1)) (succ 1 2) (succ 2 3) (<= (legal ?r (Go ?x)) (role ?r) (true (n ?x))) \
         (<= (next (n ?y)) (true (n ?x)) (succ ?x ?y)) (<= terminal (true (n 3))) (goal a 100) (goal b 0) ; no goal for random\n",
    );
    let fakes = [helpless(), helpless()];
    let names: Vec<String> = fakes.iter().map(Fake::name).collect();
    let table = table(&opened, &[&names[0], &names[1]], Variant::Gdl1);
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
        let opened = crate::support::open(game);
        for variant in [Variant::Gdl2b, Variant::Gdl2a] {
            let fakes = [helpless(), helpless()];
            let names: Vec<String> = fakes.iter().map(Fake::name).collect();
            let table = table(&opened, &[&names[0], &names[1]], variant);
            let (id, outcome) = outcome(&table, 5);
            let record = &outcome.record;
            for (&role, fake) in opened.seating().played().iter().zip(&fakes) {
                let name = &opened.roles()[role];
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
    let peer = surmise::ggp::http::Peer::parse(&address.to_string()).unwrap();
    let reply = surmise::ggp::http::exchange(&peer, "(INFO)", Duration::from_secs(5), &StopFlag::default());
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
        (
            "with a status",
            saying(b"HTTP/1.1 500 Oh No\r\n\r\n(show tails)"),
            Some("CE"),
        ),
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
    let opened = crate::support::open("matching-pennies");
    std::thread::scope(|scope| {
        for (name, act, code) in cases {
            let opened = &opened;
            scope.spawn(move || {
                let fake = misbehaving(act);
                let mut table = table(opened, &[&fake.name(), "legal"], Variant::Gdl2b);
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
            let opened = &opened;
            scope.spawn(move || {
                let table = table(opened, &[&format!("remote:{peer}"), "legal"], Variant::Gdl2b);
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
    let opened = crate::support::open("tictactoe");
    let mut table = table(&opened, &[&fake.name(), "legal"], Variant::Gdl1);
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
    let opened = crate::support::open(game);
    let mut counts = std::collections::BTreeMap::<String, f64>::new();
    for seed in 0..30_000 {
        let mut sim = opened.simulator();
        let seats = |role: usize| match sim.nature().map(|r| r.0 as usize) == Some(role) {
            true => Seat::Nature,
            false => PlayerSpec::parse("legal")
                .unwrap()
                .seat(opened.engine(), surmise::game::RoleId(role as u16), Seed(1))
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
            title: Title::default(),
            pause: Duration::ZERO,
            wire: None,
            runtime: std::sync::Arc::new(surmise::referee::System),
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
    let sim = open("meier").simulator();
    let nature = sim.nature().unwrap().0 as usize;
    let rolls = nature_counts("meier", nature, 0, |_| true);
    assert!(rolls.iter().sum::<f64>() >= 10_000.0);
    assert!(rolls.len() > 2 && excess(&rolls) < 4.0, "{rolls:?}");
    let sim = open("monty-hall").simulator();
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
        let opened = crate::support::open(&(facts + COIN));
        let fakes = [
            Fake::answering(|m| polite(m, "wait")),
            Fake::answering(|m| polite(m, "wait")),
        ];
        let names: Vec<String> = fakes.iter().map(Fake::name).collect();
        let (id, outcome) = outcome(&table(&opened, &[&names[0], &names[1]], Variant::Gdl2b), 2);
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
    let one = open(
        "(role random) (role a) (init s) (<= (legal ?r only) (role ?r)) (<= (next over) (true s)) (<= terminal (true over)) (goal a 10)",
    );
    let fake = Fake::answering(|m| polite(m, "only"));
    let (_, outcome) = outcome(&table(&one, &[&fake.name()], Variant::Gdl2b), 2);
    assert_eq!(outcome.record.goals, [0, 10]);
}

#[test]
fn t25_games_that_end_oddly() {
    let heard = |rules: &str, rounds: usize| {
        let opened = crate::support::open(rules);
        let fake = Fake::answering(|m| polite(m, "go"));
        let mut table = table(&opened, &[&fake.name()], Variant::Gdl1);
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
        "(role a) (init (n 1)) (<= (legal a go) (true (n 1))) (<= (next (n 2)) (true (n 1))) (<= terminal (true (n 3))) (goal a 0)",
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
    let none = "(role a) (init on) (<= (legal a go) (true on)) (<= (next off) (true on)) (<= terminal (true off)) (<= (goal a 50) (true on))";
    assert_eq!(heard(none, 9).0.unwrap().outcome.record.goals, [0]);
}

#[test]
fn t26_open_games_in_every_dialect() {
    let opened = crate::support::open("tictactoe");
    let player = player("hp:4,2");
    let name = format!("remote:{}", player.peer());
    for variant in [Variant::Gdl1, Variant::Gdl2a, Variant::Gdl2b] {
        let fake = helpless();
        let (id, outcome) = outcome(&table(&opened, &[&name, &fake.name()], variant), 4);
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
    let hidden = open("kuhn-poker");
    let refused = table(&hidden, &["random", "random"], Variant::Gdl1).play(Seed(1));
    assert!(refused.is_err_and(|e| e.to_string().contains("gdl2b")));
}

#[test]
fn t27_scrambled_matches_are_played_as_any_other() {
    for (game, seats) in [("kuhn-poker", 2), ("tictactoe", 2), ("monty-hall", 1)] {
        let opened = crate::support::open(game);
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
        let mut table = table(&opened, &players, variant);
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
    let opened = crate::support::open("matching-pennies");
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
                let (gate, opened, fake) = (&gate, &opened, &fake);
                scope.spawn(move || {
                    let table = table(opened, &[&fake.name(), "legal"], Variant::Gdl2b);
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
    let opened = crate::support::open("tictactoe");
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
    let table = table(&opened, &[&names[0], &names[1]], Variant::Gdl1);
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

/// What is cut short, said twice or sent with an error is not a move.
#[test]
fn t22_pieces_of_answers_are_not_moves() {
    let rules = "(role a) (init (step 1)) (legal a 1) (legal a 12) (legal a noop) (<= (next (step 2)) (true (step 1))) \
        (<= (next got) (does a 12)) (<= terminal (true (step 2))) (goal a 50)";
    let game = open(rules);
    let cases: [(&str, &str, u64); 6] = [
        ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n1", "TO", 3_000),
        ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n1", "CE", 0),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n1", "CE", 0),
        ("HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nnoop noop", "PARSE", 0),
        ("HTTP/1.0 500 Oh\r\nContent-Length: 4\r\n\r\nnoop", "CE", 0),
        ("HTTP/1.0 404 No\r\n\r\n12", "CE", 0),
    ];
    for (bytes, code, hold) in cases {
        let fake = Fake::new(move |message, stream| {
            let reply = match message.starts_with("(PLAY") {
                true => bytes.to_owned(),
                false => "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nready".to_owned(),
            };
            let _ = stream.write_all(reply.as_bytes());
            if message.starts_with("(PLAY") {
                pause(hold);
            }
        });
        let name = fake.name();
        let mut table = table(&game, &[&name], Variant::Gdl1);
        table.clocks.play = 1;
        let (_, outcome) = outcome(&table, 1);
        let why = outcome.record.rounds[0].substitutions[0].as_ref();
        assert_eq!(why.map(|why| why.code()), Some(code), "{bytes:?}");
    }
}

/// Players that never take part, and names that a scrambled match must not tell.
#[test]
fn t27_scrambled_matches_do_not_tell_their_game_and_absent_players_are_reported() {
    let fake = Fake::answering(|message| polite(message, "busy"));
    let clocks = ["--start-clock", "1", "--play-clock", "1", "--log", "off"];
    let run = |players: &str| {
        let arguments = ["tictactoe", "--scramble", "--players", players];
        manage(&[&arguments[..], &clocks[..]].concat()).output().unwrap()
    };
    let output = run(&format!("{};random", fake.name()));
    assert!(!output.status.success(), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("took no part"),
        "{output:?}"
    );
    for message in fake.messages() {
        assert!(!message.to_ascii_lowercase().contains("tictactoe"), "{message}");
    }
    assert!(!run("127.0.0.1:1;random").status.success());
    assert!(run("random;random").status.success());
}
