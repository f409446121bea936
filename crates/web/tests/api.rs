//! Every call over real sockets, and everything that is refused.

mod common;

use common::{TestServer, options, text};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::time::{Duration, Instant};
use surmise_web::{Limits, ServeOptions};

fn seat(made: &Value, role: &str) -> (String, String) {
    (text(&made["id"]), text(&made["seats"][role]["token"]))
}

fn watch_token(made: &Value) -> String {
    text(&made["watch"]).rsplit_once("token=").unwrap().1.to_owned()
}

#[test]
fn games_players_and_checks() {
    let server = TestServer::start(options());
    let games = server.get("/api/games").json();
    assert_eq!(games.as_array().unwrap().len(), surmise::catalogue::games().len());
    let krieg = games
        .as_array()
        .unwrap()
        .iter()
        .find(|game| game["name"] == "krieg-tictactoe")
        .unwrap();
    assert_eq!(krieg["roles"], json!(["xplayer", "oplayer"]));
    assert_eq!(krieg["hidden"], json!(true));
    assert!(!games.to_string().contains("{{"), "parameters are filled in");
    let small = server.get("/api/games/krieg-tictactoe:size=3,line=3").json();
    assert!(text(&small["rules"]).contains("(role xplayer)"));
    assert!(small["picture"]["parts"].is_array());
    assert_eq!(server.get("/api/games/no-such-game").status, 404);
    assert_eq!(server.get("/api/games/..%2F..%2Fetc%2Fpasswd").status, 404);
    let players = server.get("/api/players").json();
    let names: Vec<&str> = players
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"hp") && !names.contains(&"remote") && !names.contains(&"strategy"));
    assert!(!names.contains(&"exec") && !names.contains(&"human"));
    let checked = server.post(
        "/api/check",
        &json!({"rules": "(role me)\n(<= (legal me ?x) (not (succ ?x 1)))"}),
    );
    let checked = checked.json();
    assert_eq!(checked["playable"], json!(false));
    let finding = checked["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|f| f["code"] == "E-UNSAFE")
        .unwrap();
    assert_eq!(finding["line"], json!(2));
}

#[test]
fn a_person_plays_a_player_to_the_end() {
    let server = TestServer::start(options());
    let made = server.table(&json!({
        "game": "krieg-tictactoe:size=3,line=3", "seats": {"xplayer": "human", "oplayer": "hp:4,2"}, "seed": 5
    }));
    let (id, token) = seat(&made, "xplayer");
    assert!(made["seats"]["oplayer"].is_null(), "players have no tokens");
    let mut events = server.events(&id, &token);
    let first = events.view();
    assert_eq!(first["to_move"], json!(true));
    assert_eq!(server.play(&id, &token, "(mark 9 9)").code(), "illegal-move");
    for path in ["replay", "record"] {
        assert_eq!(
            server.get(&format!("/api/tables/{id}/{path}?token={token}")).status,
            403
        );
    }
    loop {
        let view = server.wait_for(&id, &token, |view| {
            view["to_move"] == json!(true) || view["finished"] == json!(true)
        });
        if view["finished"] == json!(true) {
            break;
        }
        let belief = server.get(&format!("/api/tables/{id}/belief?token={token}")).json();
        assert_eq!(belief["round"], view["round"]);
        assert!(belief["truth"].is_null(), "the truth is told at the end");
        assert_eq!(server.play(&id, &token, &text(&view["legal"][0])).status, 200);
    }
    let end = server.view(&id, &token);
    assert!(end["goals"]["xplayer"].is_u64());
    assert_eq!(server.play(&id, &token, "(mark 1 1)").code(), "finished");
    let rounds = end["round"].as_u64().unwrap();
    for role in ["referee", "xplayer", "oplayer"] {
        let replay = server.get(&format!(
            "/api/tables/{id}/replay?token={token}&round={rounds}&role={role}"
        ));
        assert_eq!(replay.json()["rounds"], json!(rounds), "{replay:?}");
    }
    assert_eq!(
        server
            .get(&format!("/api/tables/{id}/replay?token={token}&round=9999"))
            .code(),
        "no-round"
    );
    let other = server
        .get(&format!("/api/tables/{id}/belief?token={token}&role=oplayer&round=1"))
        .json();
    assert!(other["truth"].is_object());
    let record = server.get(&format!("/api/tables/{id}/record?token={token}"));
    assert_eq!(record.json()["isCompleted"], json!(true));
    // The record can be given back, and looked at.
    let uploaded = server.raw("POST /api/records", "", record.body.as_bytes());
    assert_eq!(uploaded.status, 200, "{uploaded:?}");
    let (new, watch) = (text(&uploaded.json()["id"]), watch_token(&uploaded.json()));
    assert_eq!(server.view(&new, &watch)["goals"], end["goals"]);
    let mut broken = record.json();
    broken["moves"][0][0] = json!("(mark 7 7)");
    assert_eq!(server.post("/api/records", &broken).code(), "record");
    assert_eq!(server.post("/api/records", &json!({"moves": 3})).code(), "record");
    // A rematch, with seats moved on.
    let again = server
        .post(&format!("/api/tables/{id}/rematch"), &json!({"token": token}))
        .json();
    assert!(again["seats"]["oplayer"]["token"].is_string() && again["seats"]["xplayer"].is_null());
    let twice = server
        .post(&format!("/api/tables/{id}/rematch"), &json!({"token": token}))
        .json();
    assert_eq!(again["id"], twice["id"]);
}

#[test]
fn hints_and_reasons_are_for_the_own_seat() {
    let server = TestServer::start(options());
    let made = server.table(&json!({"game": "monty-hall", "seats": {"candidate": "human"}}));
    let (id, token) = seat(&made, "candidate");
    let ask = |what: &str, body: Value| server.post(&format!("/api/tables/{id}/{what}"), &body);
    server.wait_for(&id, &token, |view| view["to_move"] == json!(true));
    let hint = ask("hint", json!({"token": token, "player": "hp:8,4"})).json();
    assert!(text(&hint["move"]).starts_with("(choose"));
    let why = ask("why", json!({"token": token})).json();
    assert!(why["likely"].is_array() && why["candidates"].is_array());
    assert_eq!(
        ask("hint", json!({"token": token, "player": "cheat:10"})).code(),
        "player"
    );
    assert_eq!(ask("hint", json!({"token": watch_token(&made)})).code(), "not-yours");
    assert_eq!(ask("why", json!({"token": token, "round": 99})).code(), "no-round");
}

#[test]
fn watchers_of_people_are_told_rounds_only_and_watchers_of_players_everything() {
    let server = TestServer::start(options());
    let made = server.table(&json!({"game": "krieg-tictactoe", "seats": {"xplayer": "human"}}));
    let (id, watch) = (text(&made["id"]), watch_token(&made));
    let view = server.view(&id, &watch);
    assert!(view["board"].is_null() && view["role"].is_null() && view["told"] == json!([]));
    for path in ["belief", "replay", "record"] {
        assert_eq!(
            server.get(&format!("/api/tables/{id}/{path}?token={watch}")).status,
            403,
            "{path}"
        );
    }
    let control = |id: &str, token: &str, what: Value| {
        let mut body = what;
        body["token"] = json!(token);
        server.post(&format!("/api/tables/{id}/control"), &body)
    };
    assert_eq!(control(&id, &watch, json!({"do": "stop"})).status, 403);

    let seats = json!({"xplayer": "random", "oplayer": "random"});
    let made = server.table(&json!({"game": "krieg-tictactoe", "seats": seats, "delay": 60_000}));
    let (id, watch) = (text(&made["id"]), watch_token(&made));
    assert_eq!(
        server.view(&id, &watch)["watching"],
        json!({"running": true, "delay": 60_000})
    );
    assert_eq!(
        control(&id, &watch, json!({"do": "stop"})).json()["watching"]["running"],
        json!(false)
    );
    assert_eq!(control(&id, &watch, json!({"do": "step"})).status, 200);
    let stepped = server.wait_for(&id, &watch, |view| view["round"] == json!(1));
    assert!(stepped["board"]["parts"].is_array());
    let belief = server.get(&format!("/api/tables/{id}/belief?token={watch}&role=oplayer&round=1"));
    assert_eq!(belief.status, 200);
    assert_eq!(control(&id, &watch, json!({"do": "delay", "delay": 0})).status, 200);
    assert_eq!(control(&id, &watch, json!({"do": "dance"})).code(), "request");
    control(&id, &watch, json!({"do": "go"}));
    server.wait_for(&id, &watch, |view| view["finished"] == json!(true));
}

#[test]
fn two_people_agree_to_take_back_and_play_again() {
    let server = TestServer::start(options());
    let made = server.table(&json!({
        "game": "scissors-paper-rock", "seats": {"player1": "human", "player2": "human"}
    }));
    let roles: Vec<String> = made["seats"].as_object().unwrap().keys().cloned().collect();
    let seats: Vec<(String, String)> = roles.iter().map(|role| seat(&made, role)).collect();
    let id = &seats[0].0;
    for (_, token) in &seats {
        let view = server.view(id, token);
        assert_eq!(server.play(id, token, &text(&view["legal"][0])).status, 200);
    }
    let end = server.wait_for(id, &seats[0].1, |view| view["finished"] == json!(true));
    assert!(end["rematch"].is_null());
    let again = server
        .post(&format!("/api/tables/{id}/rematch"), &json!({"token": seats[0].1}))
        .json();
    assert_eq!(
        again["seats"].as_object().unwrap().len(),
        1,
        "nobody is given the token of another person"
    );
    let link = text(&server.view(id, &seats[1].1)["rematch"]);
    assert!(link.contains(&text(&again["id"])));
    assert!(!again.to_string().contains(link.rsplit_once("token=").unwrap().1));
}

#[test]
fn tokens_hosts_and_origins_are_checked() {
    let server = TestServer::start(options());
    let made = server.table(&json!({"game": "krieg-tictactoe", "seats": {"xplayer": "human"}}));
    let (id, token) = seat(&made, "xplayer");
    for wrong in ["", "0", &token[1..], &format!("{token}0"), &"f".repeat(32)] {
        let refused = server.get(&format!("/api/tables/{id}?token={wrong}"));
        assert_eq!((refused.status, refused.code()), (404, "no-table".to_owned()));
        assert_eq!(
            server.get(&format!("/api/tables/{id}/events?token={wrong}")).status,
            404
        );
        assert_eq!(server.play(&id, wrong, "(mark 1 1)").status, 404);
    }
    assert_eq!(server.get(&format!("/api/tables/..%2F{id}?token={token}")).status, 404);
    let body = json!({"token": token, "move": "(mark 1 1)"}).to_string();
    let from = |headers: &str| server.raw(&format!("POST /api/tables/{id}/move"), headers, body.as_bytes());
    assert_eq!(from("Origin: http://evil.example\r\n").code(), "origin");
    assert_eq!(from("Origin: null\r\n").code(), "origin");
    assert_eq!(from("Sec-Fetch-Site: cross-site\r\n").code(), "origin");
    assert_eq!(server.view(&id, &token)["to_move"], json!(true), "nothing was done");
    assert_eq!(from(&format!("Origin: http://{}\r\n", server.address)).status, 200);
    let mut stream = server.connect();
    stream
        .write_all(b"GET /api/games HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 421"), "{answer}");
}

#[test]
fn answers_have_the_headers_that_protect_pages() {
    let server = TestServer::start(options());
    for path in ["/", "/api/games", "/no-such-page", "/api/no-such-call"] {
        let answer = server.get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'self'") && !policy.contains("unsafe"),
            "{path}: {policy}"
        );
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert!(answer.header("set-cookie").is_none());
    }
    assert_eq!(server.get("/api/games").header("cache-control"), Some("no-store"));
    assert_eq!(server.get("/").status, 200);
    for path in ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "/.git", "/..", "//etc/passwd"] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    assert_eq!(server.raw("DELETE /api/games", "", b"").status, 405);
}

#[test]
fn every_file_of_the_pages_is_embedded() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let embedded: Vec<&str> = surmise_web::assets::names().collect();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        assert!(embedded.contains(&name.as_str()), "{name}");
    }
    assert!(embedded.contains(&"index.html"));
}

#[test]
fn requests_that_make_no_sense_are_answered_with_errors() {
    let server = TestServer::start(options());
    let table = |body: Value| server.post("/api/tables", &body).code();
    assert_eq!(table(json!({})), "request");
    assert_eq!(
        table(json!({"game": "krieg-tictactoe", "rules": "(role me)"})),
        "request"
    );
    assert_eq!(table(json!({"game": "no-such-game"})), "no-game");
    assert_eq!(table(json!({"game": "/etc/passwd"})), "no-game");
    assert_eq!(
        table(json!({"game": "krieg-tictactoe", "seats": {"nobody": "human"}})),
        "no-role"
    );
    assert_eq!(
        table(json!({"game": "monty-hall", "seats": {"random": "human"}})),
        "no-role"
    );
    assert_eq!(table(json!({"rules": "(role me) (legal me"})), "rules");
    assert_eq!(table(json!({"game": "krieg-tictactoe", "clock": 0})), "request");
    assert_eq!(table(json!({"game": "krieg-tictactoe", "colour": "red"})), "request");
    for player in [
        "hp:99999999999,1",
        "no-such-player",
        "strategy:/etc/passwd",
        "strategy:../../etc/passwd",
        "cfr:net=/etc",
        "cfr:40, net = /etc",
        "cfr:40,net=../x",
        "remote:127.0.0.1:1",
        "exec:touch started",
        " exec:touch started",
        "exec:play=1,touch started",
        "uct",
        &"hp:16,".repeat(200),
    ] {
        assert_eq!(
            table(json!({"game": "krieg-tictactoe", "seats": {"xplayer": player}})),
            "player",
            "{player}"
        );
    }
    let cheat = json!({"game": "krieg-tictactoe", "seats": {"xplayer": "human", "oplayer": "cheat:4"}});
    assert_eq!(table(cheat), "player");
    assert_eq!(server.raw("POST /api/tables", "", b"\xff\xfe{").code(), "request");
}

#[test]
fn large_bodies_and_long_rules_are_refused() {
    let server = TestServer::start(options());
    let large = vec![b' '; 2 << 20];
    assert_eq!(server.raw("POST /api/tables", "", &large).status, 413);
    let long = json!({"rules": "; x\n".repeat(100_000)});
    assert_eq!(server.post("/api/tables", &long).code(), "rules-too-long");
    assert_eq!(server.post("/api/check", &long).code(), "rules-too-long");
}

#[test]
fn hostile_rules_end_in_time_and_others_go_on() {
    let limits = Limits {
        open_time: Duration::from_secs(3),
        ..options().limits
    };
    let server = TestServer::start(ServeOptions { limits, ..options() });
    // A game whose states count up to two to the power of forty, by a relation of ten billion instances.
    let facts: String = (0..100).map(|n| format!("(digit {n}) ")).collect();
    let hostile = format!(
        "(role me) {facts} (init (at 0)) (<= (wide ?a ?b ?c ?d ?e) (digit ?a) (digit ?b) (digit ?c) (digit ?d) (digit ?e))
         (<= (legal me (go ?a ?b ?c ?d ?e)) (wide ?a ?b ?c ?d ?e)) (<= (next (at ?a)) (does me (go ?a ?b ?c ?d ?e)))
         (<= terminal (true (at 99))) (<= (goal me 100) (true (at 99)))"
    );
    let started = Instant::now();
    let slow = std::thread::scope(|scope| {
        let slow = scope.spawn(|| server.post("/api/tables", &json!({"rules": hostile, "seats": {"me": "human"}})));
        std::thread::sleep(Duration::from_millis(200));
        let quick = Instant::now();
        server.table(&json!({"game": "matching-pennies"}));
        assert!(
            quick.elapsed() < Duration::from_secs(5),
            "others go on: {:?}",
            quick.elapsed()
        );
        slow.join().unwrap()
    });
    assert!(slow.status >= 400, "{slow:?}");
    assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
    assert!(!slow.json()["error"]["message"].as_str().unwrap().is_empty());
}

#[test]
fn idle_connections_are_bounded_and_the_rest_goes_on() {
    let limits = Limits {
        connections: 220,
        streams: 5,
        read_time: Duration::from_secs(1),
        ..options().limits
    };
    let server = TestServer::start(ServeOptions { limits, ..options() });
    let idle: Vec<_> = (0..200).map(|_| server.connect()).collect();
    let started = Instant::now();
    assert_eq!(server.get("/api/players").status, 200);
    assert!(started.elapsed() < Duration::from_secs(2));
    let made = server.table(&json!({"game": "krieg-tictactoe", "seats": {"xplayer": "human"}}));
    let (id, token) = seat(&made, "xplayer");
    let streams: Vec<_> = (0..5).map(|_| server.events(&id, &token)).collect();
    let refused = server.get(&format!("/api/tables/{id}/events?token={token}"));
    assert_eq!(refused.code(), "busy");
    // A connection that says nothing is closed.
    let mut silent = idle.into_iter().next().unwrap();
    let mut rest = Vec::new();
    silent.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    assert!(silent.read_to_end(&mut rest).is_ok());
    drop(streams);
}

#[test]
fn tables_are_limited_in_number() {
    let limits = Limits {
        tables: 3,
        ..options().limits
    };
    let server = TestServer::start(ServeOptions { limits, ..options() });
    let request = json!({"game": "krieg-tictactoe", "seats": {"xplayer": "human"}});
    for _ in 0..3 {
        server.table(&request);
    }
    assert_eq!(server.post("/api/tables", &request).code(), "busy");
}

#[test]
fn tables_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::with_data(folder.path());
    let made = server.table(&json!({
        "game": "krieg-tictactoe", "seats": {"xplayer": "human", "oplayer": "human"}, "clock": 600
    }));
    let ((id, x), (_, o)) = (seat(&made, "xplayer"), seat(&made, "oplayer"));
    server.play(&id, &x, "(mark 1 1)");
    server.play(&id, &o, "(mark 2 2)");
    server.play(&id, &x, "(mark 3 3)");
    let before = [server.view(&id, &x), server.view(&id, &o)];
    assert_eq!(before[0]["round"], json!(1));
    let took = server.end();
    assert!(took < Duration::from_secs(2), "{took:?}");
    let text = std::fs::read_to_string(folder.path().join("tables").join(format!("{id}.json"))).unwrap();
    assert!(
        !text.contains(&x) && !text.contains(&o),
        "tokens of seats are kept as hashes"
    );
    let server = TestServer::with_data(folder.path());
    assert_eq!([server.view(&id, &x), server.view(&id, &o)], before);
    assert_eq!(server.get(&format!("/api/tables/{id}?token={}", &x[2..])).status, 404);
    server.play(&id, &o, "(mark 3 2)");
    server.wait_for(&id, &x, |view| view["round"] == json!(2));
    // A damaged file takes nothing down.
    server.end();
    std::fs::write(folder.path().join("tables").join(format!("{id}.json")), "{").unwrap();
    let server = TestServer::with_data(folder.path());
    assert_eq!(server.get(&format!("/api/tables/{id}?token={x}")).status, 404);
}

#[test]
fn small_games_are_solved() {
    let server = TestServer::start(options());
    let started = server.post(
        "/api/jobs",
        &json!({"kind": "solve", "game": "kuhn-poker", "algorithm": "cfr+", "iterations": 300}),
    );
    let id = text(&started.json()["id"]);
    let begun = Instant::now();
    let job = loop {
        let job = server.get(&format!("/api/jobs/{id}")).json();
        if job["state"] != json!("running") {
            break job;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{job}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(job["state"], json!("done"), "{job}");
    assert!(job["result"]["nash_conv"].as_f64().unwrap() < 1.0);
    assert!(job["curve"].as_array().unwrap().len() > 5);
    let strategy = job["result"]["strategy"].as_array().unwrap();
    let reach: Vec<f64> = strategy.iter().map(|entry| entry["reach"].as_f64().unwrap()).collect();
    assert!(reach.is_sorted_by(|a, b| a >= b));
    let tree = job["result"]["tree"].as_array().unwrap();
    assert!(tree[0]["parent"].is_null() && tree.iter().skip(1).all(|node| node["parent"].is_u64()));
    assert_eq!(server.get("/api/jobs").json().as_array().unwrap().len(), 1);
    assert_eq!(server.post("/api/jobs", &json!({"kind": "dance"})).code(), "request");
    assert_eq!(server.get("/api/jobs/ff").code(), "no-job");
    // A long run can be stopped, and keeps what it found.
    let long = json!({"kind": "solve", "game": "leduc-poker", "algorithm": "cfr", "seconds": 500});
    let long = text(&server.post("/api/jobs", &long).json()["id"]);
    std::thread::sleep(Duration::from_millis(300));
    server.raw(&format!("DELETE /api/jobs/{long}"), "", b"");
    let begun = Instant::now();
    while server.get(&format!("/api/jobs/{long}")).json()["state"] == json!("running") {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(
        server.get(&format!("/api/jobs/{long}")).json()["state"],
        json!("stopped")
    );
}

#[test]
fn the_clock_of_a_person_runs_out() {
    let server = TestServer::start(options());
    let made = server.table(&json!({
        "game": "matching-pennies", "clock": 1, "seats": {"matcher": "random", "mismatcher": "human"}
    }));
    let role = made["seats"].as_object().unwrap().keys().next().unwrap().clone();
    let (id, token) = seat(&made, &role);
    server.wait_for(&id, &token, |view| view["finished"] == json!(true));
    let record = server.get(&format!("/api/tables/{id}/record?token={token}")).json();
    assert!(record["errors"].to_string().contains("TO"), "{record}");
}

#[test]
fn tables_that_nobody_looks_at_make_place_and_are_loaded_again() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        tables: 1,
        idle: Duration::from_millis(200),
        ..options().limits
    };
    let server = TestServer::start(ServeOptions {
        data: Some(folder.path().to_owned()),
        limits,
        ..options()
    });
    let request = json!({"game": "krieg-tictactoe", "seats": {"xplayer": "human", "oplayer": "human"}});
    let (id, token) = seat(&server.table(&request), "xplayer");
    server.play(&id, &token, "(mark 1 1)");
    let before = server.view(&id, &token);
    let begun = Instant::now();
    while server.post("/api/tables", &request).status != 200 {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "the first table does not leave"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    // The second table has to leave before the first one can come back.
    while server.get(&format!("/api/tables/{id}?token={token}")).status != 200 {
        assert!(
            begun.elapsed() < Duration::from_secs(40),
            "the first table does not come back"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(
        server.view(&id, &token),
        before,
        "the move that was made is still there"
    );
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let limits = Limits {
        read_time: Duration::from_secs(1),
        ..options().limits
    };
    let server = TestServer::start(ServeOptions { limits, ..options() });
    let mut stream = server.connect();
    let head = format!(
        "POST /api/check HTTP/1.1\r\nHost: {}\r\nContent-Length: 100\r\n\r\n{{",
        server.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let started = Instant::now();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_solved_game_can_be_played_against() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::with_data(folder.path());
    let started = server.post("/api/jobs", &json!({"kind": "solve", "game": "kuhn-poker"}));
    let id = text(&started.json()["id"]);
    let begun = Instant::now();
    let job = loop {
        let job = server.get(&format!("/api/jobs/{id}")).json();
        if job["state"] != json!("running") {
            break job;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{job}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let player = text(&job["player"]);
    let made = server.table(&json!({"game": "kuhn-poker", "seats": {"player1": "human", "player2": player}}));
    let (id, token) = seat(&made, "player1");
    let view = server.wait_for(&id, &token, |view| view["to_move"] == json!(true));
    assert_eq!(view["players"]["player2"], json!(player));
    assert!(
        !view.to_string().contains(folder.path().to_str().unwrap()),
        "no path of this machine is shown"
    );
    let saved = server.get("/api/players").json();
    let strategy = saved
        .as_array()
        .unwrap()
        .iter()
        .find(|p| p["name"] == "strategy")
        .unwrap();
    assert_eq!(strategy["saved"], json!([player]));
}
