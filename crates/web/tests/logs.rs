//! Nothing that is logged holds a token, even at the most talkative level.

mod common;

use common::{TestServer, options, text};
use serde_json::json;
use std::io::Write;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn tokens_are_not_logged() {
    let log = Log::default();
    let copy = log.clone();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing_subscriber::filter::LevelFilter::TRACE);
    subscriber.with_writer(move || copy.clone()).init();
    let server = TestServer::start(options());
    let made = server.table(&json!({"game": "krieg-tictactoe", "seats": {"xplayer": "human", "oplayer": "human"}}));
    let id = text(&made["id"]);
    let tokens = ["xplayer", "oplayer"].map(|role| text(&made["seats"][role]["token"]));
    let mut events = server.events(&id, &tokens[0]);
    events.next();
    for token in &tokens {
        server.play(&id, token, "(mark 1 1)");
        server.play(&id, token, "(mark 9 9)");
        server.get(&format!("/api/tables/{id}/belief?token={token}"));
        server.get(&format!("/api/tables/{id}?token={token}x"));
    }
    let said = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    assert!(
        said.contains("/api/tables/") && said.contains(&id),
        "requests are logged: {said}"
    );
    for token in &tokens {
        assert!(!said.contains(&token[..16]), "{said}");
    }
    // Neither are moves: the log of a server says nothing about a game that goes on.
    assert!(!said.contains("mark"), "{said}");
}
