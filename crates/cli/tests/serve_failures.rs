//! `surmise serve` on a disk that is full, and killed in the middle of games: tables go on as far as they were saved,
//! and no file is ever half written.
#![cfg(unix)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("serve-failures-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// A server that ends with the test.
struct Serving {
    child: Child,
    address: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Serving {
    /// Starts a server on a folder, after these commands of the shell.
    fn start(data: &Path, setup: &str) -> Serving {
        let mut child = Command::new("sh")
            .args(["-c", &format!("{setup}; exec \"$@\""), "sh"])
            .args([env!("CARGO_BIN_EXE_surmise"), "serve", "--port", "0", "--data"])
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        let address = address.unwrap_or_else(|| panic!("no address in {line:?}")).to_owned();
        Serving { child, address }
    }

    /// SIGKILL: the process ends where it stands.
    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn call(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    /// A table with a person and a player that does not think: its name and the person's token.
    fn table(&self) -> (String, String) {
        let request = json!({"game": "krieg-tictactoe", "seats": {"xplayer": "human", "oplayer": "random"}, "seed": 5});
        let (status, made) = self.call("POST", "/api/tables", &request.to_string());
        assert_eq!(status, 200, "{made}");
        let token = made["seats"]["xplayer"]["token"].as_str().unwrap();
        (made["id"].as_str().unwrap().to_owned(), token.to_owned())
    }

    fn view(&self, (id, token): &(String, String)) -> Value {
        let (status, view) = self.call("GET", &format!("/api/tables/{id}?token={token}"), "");
        assert_eq!(status, 200, "{view}");
        view
    }

    /// The view when the person has to move, or the game is over.
    fn turn(&self, table: &(String, String)) -> Value {
        let begun = Instant::now();
        loop {
            let view = self.view(table);
            if view["to_move"] == json!(true) || view["finished"] == json!(true) {
                return view;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{view}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Plays a move that is offered, here and there on the board; returns the rounds played before, or nothing if the
    /// game is over.
    fn play(&self, table: &(String, String)) -> Option<u64> {
        let view = self.turn(table);
        if view["finished"] == json!(true) {
            return None;
        }
        let legal = view["legal"].as_array().unwrap();
        let chosen = &legal[view["round"].as_u64().unwrap() as usize * 7 % legal.len()];
        let request = json!({"token": table.1, "move": chosen});
        let (status, answer) = self.call("POST", &format!("/api/tables/{}/move", table.0), &request.to_string());
        assert_eq!(status, 200, "{answer}");
        view["round"].as_u64()
    }
}

/// The file of a table, which is whole, and all files of the folder.
fn saved(data: &Path, id: &str) -> (Vec<u8>, Vec<String>) {
    let tables = data.join("tables");
    let bytes = std::fs::read(tables.join(format!("{id}.json"))).unwrap();
    let whole: Value = serde_json::from_slice(&bytes).expect("the file of a table is whole");
    assert_eq!(whole["id"], json!(id));
    let names = std::fs::read_dir(tables).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    (bytes, names.collect())
}

/// Bytes in the unit of `ulimit -f`: shells differ.
fn unit(folder: &Path) -> usize {
    let file = folder.join("unit");
    let script = format!(
        "trap '' XFSZ; ulimit -f 1; head -c 8192 /dev/zero > '{}' 2> /dev/null",
        file.display()
    );
    let _ = Command::new("sh").args(["-c", &script]).status();
    let bytes = std::fs::metadata(&file).unwrap().len() as usize;
    std::fs::remove_file(file).unwrap();
    bytes
}

#[test]
fn on_a_full_disk_games_go_on_and_files_stay_whole() {
    let folder = folder("full");
    let roomy = Serving::start(&folder.join("roomy"), "true");
    let table = roomy.table();
    roomy.turn(&table);
    std::thread::sleep(Duration::from_millis(300));
    let first = saved(&folder.join("roomy"), &table.0).0.len();
    drop(roomy);
    // Room for the file as it is at first, and for little more.
    let blocks = first / unit(&folder) + 1;
    let data = folder.join("full");
    let mut server = Serving::start(&data, &format!("trap '' XFSZ; ulimit -f {blocks}"));
    let table = server.table();
    let mut rounds = 0;
    while server.play(&table).is_some() {
        rounds += 1;
    }
    assert!(rounds >= 4, "{rounds} rounds");
    assert_eq!(server.view(&table)["finished"], json!(true));
    std::thread::sleep(Duration::from_millis(300));
    let (kept, names) = saved(&data, &table.0);
    assert_eq!(names, [format!("{}.json", table.0)], "no temporary file is left");
    let played = |bytes: &[u8]| {
        let whole: Value = serde_json::from_slice(bytes).unwrap();
        whole["record"]["moves"].as_array().unwrap().len()
    };
    server.kill();
    // The table goes on from what fitted, and is saved again when there is room.
    let server = Serving::start(&data, "true");
    let view = server.turn(&table);
    assert_eq!(
        view["finished"],
        json!(false),
        "the end did not fit: {} rounds",
        played(&kept)
    );
    assert!(played(&kept) < rounds && view["round"].as_u64().unwrap() as usize >= played(&kept));
    while server.play(&table).is_some() {}
    std::thread::sleep(Duration::from_millis(300));
    assert!(played(&saved(&data, &table.0).0) > played(&kept));
}

#[test]
fn killed_servers_lose_at_most_the_last_move() {
    let data = folder("killed");
    let mut server = Serving::start(&data, "true");
    let table = server.table();
    server.turn(&table);
    std::thread::sleep(Duration::from_millis(200));
    for pause in [0, 1, 3, 10, 40, 100] {
        let before = server.play(&table).expect("the game is not over yet");
        std::thread::sleep(Duration::from_millis(pause));
        server.kill();
        let (bytes, _) = saved(&data, &table.0);
        let whole: Value = serde_json::from_slice(&bytes).unwrap();
        let kept = whole["record"]["moves"].as_array().unwrap().len() as u64;
        assert!(
            kept + 1 >= before,
            "{kept} rounds were kept of {before} before the last move"
        );
        server = Serving::start(&data, "true");
        assert!(server.turn(&table)["round"].as_u64().unwrap() >= kept);
    }
    // The link still works, and the game comes to its end.
    while server.play(&table).is_some() {}
    assert_eq!(server.view(&table)["finished"], json!(true));
}
