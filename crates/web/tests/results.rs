//! Training runs and experiments that are under way, as the pages see them.

mod common;

use common::{TestServer, options, text};
use serde_json::{Value, json};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use surmise::game::StopFlag;
use surmise::lab::Size;
use surmise::{ExperimentOptions, LabGames, run_experiment};
use surmise_web::ServeOptions;

/// Starts a run and returns its name.
fn start(server: &TestServer, request: &Value) -> String {
    let started = server.post("/api/jobs", request);
    assert_eq!(started.status, 200, "{started:?}");
    text(&started.json()["id"])
}

fn job(server: &TestServer, id: &str) -> Value {
    server.get(&format!("/api/jobs/{id}")).json()
}

fn ended(server: &TestServer, id: &str) -> Value {
    let begun = Instant::now();
    loop {
        let job = job(server, id);
        if job["state"] != json!("running") {
            return job;
        }
        assert!(begun.elapsed() < Duration::from_secs(90), "{job}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_training_run_is_followed_and_played_against() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::with_data(folder.path());
    let id = start(
        &server,
        &json!({"kind": "train", "game": "kuhn-poker", "minutes": 0.03}),
    );
    // Events tell of the run until it ends: the curves only grow longer.
    let mut events = server.job_events(&id);
    let (mut last, mut seen) = (0.0, 0);
    let done = loop {
        let now = events.view();
        let points = now["curves"]["loss of values"].as_array();
        let games = points.and_then(|points| points.last()?["x"].as_f64()).unwrap_or(0.0);
        assert!(games >= last, "{games} games after {last}");
        (last, seen) = (games, seen + 1);
        if now["state"] != json!("running") {
            break now;
        }
    };
    assert!(seen >= 2 && last > 0.0, "{seen} events, {last} games");
    assert_eq!(done["state"], json!("done"), "{}", done["note"]);
    for curve in ["loss of values", "loss of policies", "score against random"] {
        let points = done["curves"][curve].as_array().unwrap();
        let games: Vec<f64> = points.iter().map(|point| point["x"].as_f64().unwrap()).collect();
        assert!(
            !games.is_empty() && games.is_sorted() && games[0] > 0.0,
            "{curve}: {games:?}"
        );
    }
    assert_eq!(done["player"], json!(format!("cfr:net={id}")));
    assert_eq!(job(&server, &id)["curves"], done["curves"]);
    assert!(
        server.get("/api/jobs").json()[0]["curves"].is_null(),
        "the list has no curves"
    );
    let shown = done.to_string();
    assert!(
        !shown.contains(folder.path().to_str().unwrap()),
        "no path of this machine is shown"
    );
    // What was learned sits down at a table.
    let seats = json!({"player1": "human", "player2": done["player"]});
    let made = server.table(&json!({"game": "kuhn-poker", "seats": seats}));
    let (table, token) = (text(&made["id"]), text(&made["seats"]["player1"]["token"]));
    let view = server.wait_for(&table, &token, |view| view["to_move"] == json!(true));
    assert_eq!(
        server.play(&table, &token, view["legal"][0].as_str().unwrap()).status,
        200
    );
    server.wait_for(&table, &token, |now| now["round"] != view["round"]);
}

#[test]
fn training_runs_are_stopped_bounded_and_need_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::with_data(folder.path());
    let long = json!({"kind": "train", "game": "kuhn-poker", "minutes": 10});
    let ids = [start(&server, &long), start(&server, &long)];
    let third = server.post("/api/jobs", &long);
    assert_eq!((third.status, third.code().as_str()), (503, "busy"), "{third:?}");
    for id in &ids {
        let stopped = server.raw(&format!("DELETE /api/jobs/{id}"), "", b"");
        assert_eq!(stopped.status, 200);
    }
    let begun = Instant::now();
    for id in &ids {
        assert_eq!(ended(&server, id)["state"], json!("stopped"));
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    for minutes in [0.0, -1.0, 11.0, 1e300] {
        let wrong = json!({"kind": "train", "game": "kuhn-poker", "minutes": minutes});
        assert_eq!(server.post("/api/jobs", &wrong).code(), "request", "{minutes}");
    }
    let nowhere = TestServer::start(options());
    assert_eq!(nowhere.post("/api/jobs", &long).code(), "no-data");
}

const SPEC: &str = r#"
name = "live"
title = "An experiment that goes on"
[[sweep]]
game = "tictactoe"
players = ["random", "random"]
games = 40
"#;

#[test]
fn the_progress_of_an_experiment_is_live() {
    let folder = tempfile::tempdir().unwrap();
    let lab = folder.path().join("lab");
    let server = TestServer::start(ServeOptions {
        lab: Some(lab.clone()),
        ..options()
    });
    assert_eq!(server.get("/api/lab").json(), json!([]));
    // The run waits after its first, fifth and last match until it has been looked at.
    let (reached, at) = channel();
    let (go_on, waiting) = channel::<()>();
    let waiting = std::sync::Mutex::new(waiting);
    let experiment = std::thread::spawn(move || {
        let progress = |done: u64, _: u64| {
            if [1, 5, 40].contains(&done) {
                reached.send(done).unwrap();
                waiting.lock().unwrap().recv().unwrap();
            }
        };
        let options = ExperimentOptions {
            origin: "live.toml".to_owned(),
            text: SPEC.to_owned(),
            size: Size::Plain,
            set: Vec::new(),
            out: Some(lab.join("live")),
            command: "a test".to_owned(),
            threads: 1,
            stop: StopFlag::default(),
            progress: &progress,
        };
        let report = run_experiment(&LabGames, &options).unwrap();
        assert!(report.run.complete && report.run.played == 40);
    });
    for expected in [1, 5, 40] {
        assert_eq!(at.recv_timeout(Duration::from_secs(60)).unwrap(), expected);
        let listed = server.get("/api/lab").json();
        let now = &listed[0];
        assert_eq!(
            (&now["done"], &now["units"]),
            (&json!(expected), &json!(40)),
            "{listed}"
        );
        assert_eq!(
            (&now["running"], &now["report"]),
            (&json!(true), &Value::Null),
            "{listed}"
        );
        go_on.send(()).unwrap();
    }
    experiment.join().unwrap();
    let now = server.get("/api/lab/live").json();
    assert_eq!((&now["done"], &now["running"]), (&json!(40), &json!(false)), "{now}");
    assert_eq!(now["results"]["cells"][0]["games"], json!(40));
    let report = server.get(&text(&now["report"]));
    assert!(report.status == 200 && report.body.contains("An experiment that goes on"));
    assert!(report.header("content-security-policy").unwrap().contains("sandbox"));
    for wrong in [
        "/api/lab/..",
        "/api/lab/none",
        "/lab/live/spec.toml",
        "/lab/live/..%2f..%2fx.html",
    ] {
        assert_eq!(server.get(wrong).status, 404, "{wrong}");
    }
}
