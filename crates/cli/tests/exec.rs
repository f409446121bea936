//! Programs as players (`exec:`), people at the terminal (`human`) and players elsewhere in the lab (`remote:`).

#![cfg(unix)]

use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_surmise");

fn surmise(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.current_dir(folder).args(args).stdin(Stdio::null());
    command.output().expect("the program runs")
}

#[track_caller]
fn succeed(folder: &Path, args: &[&str]) -> String {
    let output = surmise(folder, args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Whether there is Python; a test without it is counted as skipped.
fn has_python(test: &str) -> bool {
    let found = Command::new("python3").arg("--version").output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        surmise_testing::skip(test, "python3");
    }
    found
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a file");
}

/// A program in Python that answers by the lines of `body`, in which `m` is the message and `say` prints an answer.
fn bot(folder: &Path, name: &str, body: &str) -> String {
    let lines: Vec<String> = body.lines().map(|line| format!("    {line}")).collect();
    let head = "import json, os, sys, time\ndef say(x):\n    print(x, flush=True)\n";
    let text = format!(
        "{head}for line in sys.stdin:\n    m = json.loads(line)\n{}\n",
        lines.join("\n")
    );
    write(folder, name, &text);
    format!("python3 {name}")
}

const READY: &str = "if m['type'] == 'start':\n    say('{}')\n    continue\n";

fn play(folder: &Path, player: &str, more: &[&str]) -> Value {
    let mut args = vec!["match", "krieg-tictactoe:size=3,line=3", player, "random", "--json"];
    args.extend(more);
    succeed(folder, &args).parse().expect("JSON")
}

#[test]
fn the_starter_plays_and_can_be_repeated() {
    if !has_python("the_starter_plays_and_can_be_repeated") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let said = succeed(folder.path(), &["new", "player", "mine"]);
    assert!(said.contains("exec:python3 mine.py"), "{said}");
    let lines = std::fs::read_to_string(folder.path().join("mine.py")).unwrap();
    assert!(lines.lines().count() <= 42, "it is short");
    let player = "exec:python3 mine.py";
    let once = play(
        folder.path(),
        player,
        &["--games", "12", "--threads", "2", "--record", "records"],
    );
    let again = play(folder.path(), player, &["--games", "12", "--record", "records"]);
    assert_eq!(
        once, again,
        "the same seed gives the same bytes, on any number of threads"
    );
    let row = &once["players"][0];
    assert_eq!(
        (row["player"].as_str(), row["illegal"].as_u64()),
        (Some(player), Some(0))
    );
    assert!(row["moves"].as_u64().unwrap() > 12);
    // Its standard error is kept beside the record.
    let said = std::fs::read_to_string(folder.path().join("records/match-000000.xplayer.stderr.txt")).unwrap();
    assert_eq!(said, "I play xplayer\n");
}

#[test]
fn whatever_programs_do_the_match_goes_on() {
    if !has_python("whatever_programs_do_the_match_goes_on") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cases = [
        // A crash in the third turn: its last line of standard error is in the record.
        (
            "crash",
            format!("{READY}if m['turn'] == 2:\n    undefined_name\nsay(json.dumps({{'move': m['legal'][0]}}))"),
            "CE",
        ),
        // Killed before the first move, so that it is missing from then on.
        ("silent", "time.sleep(1000)".to_owned(), "CE the program was killed"),
        (
            "late",
            format!("{READY}time.sleep(1000 * m['turn'])\nsay(json.dumps({{'move': m['legal'][0]}}))"),
            "TO",
        ),
        ("garbage", format!("{READY}say('(mark 1 1)')"), "PARSE"),
        ("long", format!("{READY}say('x' * 100000)"), "PARSE"),
        ("flood", format!("{READY}while True:\n    print('x')"), "PARSE"),
        (
            "illegal",
            format!("{READY}say(json.dumps({{'move': '(mark 9 9)'}}))"),
            "IL",
        ),
        ("nothing", format!("{READY}say(json.dumps({{'move': None}}))"), "NIL"),
        ("gone", "sys.exit(0)".to_owned(), "CE"),
        ("shell", format!("{READY}os.system('sleep 1000')"), "TO"),
    ];
    for (name, body, code) in cases {
        let command = bot(folder, &format!("{name}.py"), &body);
        let started = Instant::now();
        let player = format!("exec:play=0.5,start=3,{command}");
        let games = play(folder, &player, &["--games", "1", "--record", name]);
        assert!(games["players"][0]["illegal"].as_u64().unwrap() > 0, "{name}: {games}");
        assert!(started.elapsed() < Duration::from_secs(30), "{name}");
        let record = std::fs::read_to_string(folder.join(name).join("match-000000.json")).unwrap();
        let errors = record
            .split_once("\"errors\"")
            .map_or("", |(_, rest)| rest)
            .split_once(']')
            .map_or("", |x| x.0);
        assert!(
            record.contains(&format!("\"{code}")),
            "{name}: {code} in {errors} {record}"
        );
        if name == "crash" {
            assert!(record.contains("undefined_name"), "{record}");
            let kept = std::fs::read_to_string(folder.join("crash/match-000000.xplayer.stderr.txt")).unwrap();
            assert!(kept.contains("Traceback") && kept.contains("NameError"), "{kept}");
        }
    }
    let output = surmise(folder, &["match", "monty-hall", "exec:./nobody", "--games", "1"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && said.contains("there is no file `./nobody`"),
        "{said}"
    );
}

/// Two matches in which a role was told the same sends its program the same bytes, but for the seed.
#[test]
fn a_program_is_sent_nothing_but_its_own() {
    if !has_python("a_program_is_sent_nothing_but_its_own") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let command = bot(
        folder,
        "log.py",
        "m.pop('seed', 0)\nprint(json.dumps(m), file=sys.stderr)\nif m['type'] != 'end':\n    say(json.dumps({'move': \
         m['legal'][0]} if 'legal' in m else {}))",
    );
    let player = format!("exec:{command}");
    succeed(
        folder,
        &["match", "monty-hall", &player, "--games", "24", "--record", "r"],
    );
    let mut sent: std::collections::BTreeMap<String, Vec<String>> = Default::default();
    for number in 0..24 {
        let record = std::fs::read_to_string(folder.join(format!("r/match-{number:06}.json"))).unwrap();
        let record: Value = record.parse().unwrap();
        let roles = record["roles"]
            .as_array()
            .or(record["gameRoleNames"].as_array())
            .expect("roles");
        let role = roles
            .iter()
            .position(|role| role == "candidate")
            .expect("the candidate");
        let texts = std::fs::read_to_string(folder.join(format!("r/match-{number:06}.candidate.stderr.txt"))).unwrap();
        let last: Value = texts.lines().last().unwrap().parse().unwrap();
        assert_eq!(last["type"], "end");
        // The end shows the car.
        let told: String = texts.lines().take(texts.lines().count() - 1).collect();
        let moves: String = record["moves"]
            .as_array()
            .unwrap()
            .iter()
            .map(|round| round[1 - role].to_string())
            .collect();
        sent.entry(told).or_default().push(moves);
    }
    // Nature's moves differ where the candidate's messages do not: the car is in no message before the end.
    let hidden = sent.values().filter(|same| same.iter().any(|moves| *moves != same[0]));
    assert!(hidden.count() > 0, "{sent:?}");
    // A program that is told the same as in two matches with other cars: what is left is the same, message by message.
    assert_eq!(sent.len(), 2, "one for each door that may be left closed: {sent:?}");
}

#[test]
fn a_stop_ends_the_program_too() {
    if !has_python("a_stop_ends_the_program_too") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let command = bot(
        folder.path(),
        "sleepy.py",
        "open('started', 'w').write(str(os.getpid()))\ntime.sleep(1000)",
    );
    let player = format!("exec:start=1000,{command}");
    let mut child = Command::new(PROGRAM)
        .current_dir(folder.path())
        .args(["match", "monty-hall", &player])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let pid = loop {
        let pid = std::fs::read_to_string(folder.path().join("started")).unwrap_or_default();
        if !pid.is_empty() {
            break pid;
        }
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    };
    let stopped = Instant::now();
    Command::new("sh")
        .args(["-c", &format!("kill -INT {}", child.id())])
        .status()
        .unwrap();
    let status = child.wait().unwrap();
    assert!(
        stopped.elapsed() < Duration::from_secs(3) && status.code() == Some(130),
        "{status}"
    );
    let alive = Command::new("sh")
        .args(["-c", &format!("kill -0 {pid} 2>/dev/null")])
        .status()
        .unwrap();
    assert!(!alive.success(), "the program was killed");
}

/// Ends with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const ELSEWHERE: &str = r#"
name = "elsewhere"
title = "A player elsewhere"
[[sweep]]
game = "krieg-tictactoe:size=3,line=3"
players = ["{player}", "random"]
games = 4
over = { player = ["random", "remote:127.0.0.1:PORT,start=5,play=5"] }
"#;

#[test]
fn players_elsewhere_play_in_the_lab_and_the_report_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "spec.toml", &ELSEWHERE.replace("PORT", "1"));
    let refused = surmise(folder, &["lab", "run", "spec.toml"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("does not answer"), "{said}");
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
        .to_string();
    let player = Command::new(PROGRAM)
        .args(["player", "--port", &port, "--with", "random", "--log", "off"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _player = Ended(player);
    let begun = Instant::now();
    while std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    }
    write(folder, "spec.toml", &ELSEWHERE.replace("PORT", &port));
    succeed(folder, &["lab", "run", "spec.toml", "--threads", "2"]);
    let lab = folder.join("lab-results/elsewhere");
    let json: Value = std::fs::read_to_string(lab.join("report.json"))
        .unwrap()
        .parse()
        .unwrap();
    let cells = json["cells"].as_array().unwrap();
    assert_eq!(
        (&cells[0]["repeatable"], &cells[1]["repeatable"]),
        (&Value::Bool(true), &Value::Bool(false))
    );
    assert_eq!(
        cells[1]["replaced"], 0,
        "one match at a time is played elsewhere: {json}"
    );
    let page = std::fs::read_to_string(lab.join("report.html")).unwrap();
    assert!(page.contains("cannot be repeated"), "the page says so");
}

fn human(input: &str, args: &[&str]) -> (Output, String) {
    let mut child = Command::new(PROGRAM)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, said)
}

#[test]
fn people_play_with_numbers_and_moves() {
    let args = ["match", "monty-hall", "human:belief=on"];
    let (output, said) = human("nonsense\n9\n?\nchoose 1\nswitch\n", &args);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("`nonsense` is no move here: type a number from 1 to 3"),
        "{said}"
    );
    assert!(said.contains("you played (choose 1), and saw nothing"), "{said}");
    assert!(said.contains("66.7 %  (car"), "what can be believed: {said}");
    assert!(
        said.contains("The match is over") && said.contains("monty-hall: 1 matches"),
        "{said}"
    );
    // The end of the input gives the match up.
    let (output, said) = human("1\n", &args);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("The match is given up"), "{said}");
    // Where nobody can sit, nobody is seated.
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "spec.toml",
        "name = \"x\"\ntitle = \"x\"\n[[sweep]]\ngame = \"monty-hall\"\nplayers = [\"human\"]\ngames = 1\n",
    );
    let refused = surmise(folder.path(), &["lab", "run", "spec.toml"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("needs somebody at the terminal"), "{said}");
}
