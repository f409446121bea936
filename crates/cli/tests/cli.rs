//! The program as a person or a script meets it.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn surmise(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_surmise")).args(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A file of this test's own.
fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("surmise-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

const GAME: &str = "
(role robot) (init (step 1)) (succ 1 2) (succ 2 3)
(<= (legal robot go) (true (step ?n)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= terminal (true (step 3)))
(<= (goal robot 100) (true (step ?n)))
";

#[track_caller]
fn check(args: &[&str], code: i32, expected: &[&str]) -> String {
    let output = surmise(args);
    let all = stdout(&output) + &stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{all}");
    for text in expected {
        assert!(all.contains(text), "no `{text}` in:\n{all}");
    }
    assert!(!all.contains("panicked"), "{all}");
    all
}

#[test]
fn greets_without_arguments() {
    check(
        &[],
        0,
        &[
            "surmise match",
            "surmise games",
            "surmise show monty-hall",
            "surmise check",
        ],
    );
}

#[test]
fn help_teaches() {
    check(
        &["--help"],
        0,
        &[
            "check",
            "fmt",
            "show",
            "games",
            "trace",
            "completions",
            "krieg-tictactoe:size=5,line=4",
        ],
    );
    check(
        &["check", "--help"],
        0,
        &["--strict", "--json", "--simulate", "--explain", "Exit status"],
    );
    check(&["fmt", "--help"], 0, &["--write", "--check", "--infix", "--prefix"]);
    check(&["nonsense"], 2, &["unrecognized subcommand"]);
    for command in [
        &["solve", "tiger"][..],
        &["match", "tiger"],
        &["bench", "tiger"],
        &["train", "tiger"],
        &["lab", "run"],
    ] {
        for wrong in ["0", "257", "all"] {
            check(&[command, &["--threads", wrong]].concat(), 2, &["from 1 to 256"]);
        }
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        check(&["completions", shell], 0, &["surmise"]);
    }
}

#[test]
fn check_has_its_exit_codes() {
    let clean = file("clean.kif", GAME);
    let warned = file("warned.kif", &format!("{GAME}(lonely 1)"));
    let wrong = file("wrong.kif", &format!("{GAME}(<= (legal robot ?x) (not (succ ?x 1)))"));
    let path = |p: &PathBuf| p.to_str().unwrap().to_owned();
    check(&["check", &path(&clean)], 0, &["nothing to complain about"]);
    check(&["check", &path(&warned)], 0, &["warning[W-UNUSED]", "1 warning"]);
    check(&["check", "--deny-warnings", &path(&warned)], 1, &["W-UNUSED"]);
    let text = check(
        &["check", &path(&wrong)],
        2,
        &[":7:27: error[E-UNSAFE]: variable ?x of this rule"],
    );
    assert!(text.contains("^^^^^^^^^^^\n"), "{text}");
    check(&["check", "/no/such/file.kif"], 3, &["cannot open `/no/such/file.kif`"]);
    check(&["check", &path(&clean), "/no/such/file.kif"], 3, &["cannot open"]);
    check(&["check", "/tmp"], 3, &["is a folder"]);
    for p in [clean, warned, wrong] {
        std::fs::remove_file(p).unwrap();
    }
}

#[test]
fn check_speaks_json() {
    let wrong = file("json.kif", &format!("{GAME}(<= (legal robot ?x) (not (succ ?x 1)))"));
    let text = check(&["check", "--json", wrong.to_str().unwrap()], 2, &[]);
    let line: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
    assert_eq!(line["code"], "E-UNSAFE");
    assert_eq!(line["severity"], "error");
    assert_eq!(line["file"], wrong.to_str().unwrap());
    assert_eq!((&line["line"], &line["column"]), (&7.into(), &27.into()));
    assert_eq!(line["end"]["column"], 38);
    assert!(line["message"].as_str().unwrap().contains("?x"));
    assert!(!line["help"].as_str().unwrap().is_empty());
    std::fs::remove_file(wrong).unwrap();
}

#[test]
fn check_fixes_files() {
    let text = GAME.replace("(<= terminal", "(<= (terminal)") + "(<= (legal robot rest) (true (stepp 2)))\n";
    let path = file("fix.kif", &text);
    let name = path.to_str().unwrap();
    let json = check(&["check", "--json", name], 0, &[]);
    let lines: Vec<serde_json::Value> = json.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let made = lines.iter().find(|l| l["code"] == "W-NOT-MADE").unwrap();
    let fix = &made["fixes"][0];
    assert_eq!(fix["changes_meaning"], true);
    assert_eq!(fix["edits"][0]["replacement"], "step");
    let bytes: Vec<usize> = fix["edits"][0]["bytes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_u64().unwrap() as usize)
        .collect();
    assert_eq!(&text[bytes[0]..bytes[1]], "stepp");
    assert_eq!(fix["edits"][0]["start"]["line"], 7);
    // Fixes that keep the meaning, and then guesses.
    check(&["check", "--fix", name], 0, &["1 change", "W-NOT-MADE"]);
    let fixed = std::fs::read_to_string(&path).unwrap();
    assert_eq!(fixed, text.replace("(terminal)", "terminal"));
    check(&["check", "--fix-guesses", name], 0, &["1 change"]);
    let fixed = std::fs::read_to_string(&path).unwrap();
    assert!(fixed.contains("(true (step 2))") && !fixed.contains("stepp"), "{fixed}");
    check(
        &["check", "--fix", "kuhn-poker"],
        3,
        &["not a file that could be rewritten"],
    );
    std::fs::remove_file(path).unwrap();
}

#[test]
fn check_counts_how_often_rules_apply() {
    let path = file(
        "counts.kif",
        &format!("{GAME}(<= (legal robot rest) (true (step 2)) (not (true (step 2))))\n"),
    );
    let name = path.to_str().unwrap();
    let expected = [
        "played 100 random games, 200 rounds; 4 of 5 rules applied",
        "N-NEVER-FIRED",
        "300        100  (legal robot go)",
    ];
    check(&["check", "--simulate", "--counts", name], 0, &expected);
    let json = check(&["check", "--simulate", "--counts", "--json", name], 0, &[]);
    let last: serde_json::Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!(last["simulation"]["games"], 100);
    assert_eq!(last["simulation"]["rules"][4]["rounds"][0], 0);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn codes_are_explained() {
    check(
        &["check", "--explain", "e-unsafe"],
        0,
        &["# E-UNSAFE", "## Example", "## Write instead"],
    );
    check(
        &["check", "--explain", "all"],
        0,
        &["E-UNSAFE", "W-CASE", "N-UNKNOWN-LEGAL"],
    );
    check(&["check", "--explain", "E-NONSENSE"], 1, &["--explain all"]);
}

#[test]
fn simulation_finds_what_only_play_shows() {
    let stuck = file(
        "stuck.kif",
        &GAME.replace(
            "(<= (legal robot go) (true (step ?n)))",
            "(<= (legal robot go) (true (step 1)))",
        ),
    );
    check(&["check", stuck.to_str().unwrap()], 0, &["nothing to complain about"]);
    check(
        &["check", "--simulate", stuck.to_str().unwrap()],
        2,
        &["E-NO-MOVE", "robot has no legal move in round 2"],
    );
    check(
        &["check", "--simulate", "--strict", "monty-hall"],
        0,
        &["played 100 random games, 300 rounds"],
    );
    std::fs::remove_file(stuck).unwrap();
}

#[test]
fn fmt_prints_judges_and_writes() {
    let ugly = file("ugly.kif", "(role a)(role b) ;c\n(<= (p ?x)(q ?x)\n  (r ?x))");
    let path = ugly.to_str().unwrap();
    let canonical = "(role a)\n(role b)  ;c\n(<= (p ?x)\n    (q ?x)\n    (r ?x))\n";
    assert_eq!(stdout(&surmise(&["fmt", path])), canonical);
    check(&["fmt", "--check", path], 1, &["is not formatted"]);
    check(&["fmt", "--write", path], 0, &[]);
    assert_eq!(std::fs::read_to_string(&ugly).unwrap(), canonical);
    check(&["fmt", "--check", path], 0, &[]);
    assert_eq!(
        stdout(&surmise(&["fmt", "--infix", path])),
        "role(a).\nrole(b).  %c\np(?x) <=\n    q(?x),\n    r(?x).\n"
    );
    std::fs::remove_file(&ugly).unwrap();
    let broken = file("broken.kif", "(role a");
    check(
        &["fmt", "--write", broken.to_str().unwrap()],
        2,
        &["is left alone", "E-PAREN"],
    );
    assert_eq!(std::fs::read_to_string(&broken).unwrap(), "(role a");
    std::fs::remove_file(&broken).unwrap();
    let odd = file("odd.kif", "(role a,b)");
    check(
        &["fmt", "--infix", odd.to_str().unwrap()],
        2,
        &[":1:7: the name `a,b` cannot be written in infix"],
    );
    std::fs::remove_file(&odd).unwrap();
}

#[test]
fn fmt_reads_standard_input() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_surmise"))
        .args(["fmt", "-", "--prefix"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"role(a). p(?x) <= q(?x) | ~ r(?x), s(?x).")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        stdout(&output),
        "(role a)\n(<= (p ?x)\n    (or (q ?x) (not (r ?x)))\n    (s ?x))\n"
    );
}

#[test]
fn show_says_what_a_game_is() {
    check(
        &["show", "monty-hall:doors=4"],
        0,
        &[
            "candidate, random (nature)",
            "GDL-II",
            "one of 4 doors",
            "Hidden",
            "Round 2",
            "sees (closed",
            "(door 4)",
        ],
    );
    check(&["show", "tictactoe"], 0, &["GDL-I"]);
    let rules = stdout(&surmise(&["show", "--rules", "kuhn-poker"]));
    let reading = surmise::gdl::read(&rules, &surmise::gdl::Options::default());
    assert!(reading.diagnostics.is_empty());
    check(&["show", "--rules", "--infix", "kuhn-poker"], 0, &["role(random)."]);
    check(&["show", "--json", "kuhn-poker"], 0, &["\"language\":\"GDL-II\""]);
    check(
        &["show", "monty-hall:doors=400"],
        1,
        &["`doors` must be a number in 3..50"],
    );
    check(&["show", "no-such-game"], 1, &["no game is called `no-such-game`"]);
}

#[test]
fn broken_rules_are_refused_with_their_diagnostics() {
    let wrong = file("refused.kif", &format!("{GAME}(<= (legal robot ?x) (not (succ ?x 1)))"));
    for command in ["show", "trace"] {
        check(
            &[command, wrong.to_str().unwrap()],
            1,
            &["cannot be played", "E-UNSAFE"],
        );
    }
    std::fs::remove_file(wrong).unwrap();
}

#[test]
fn games_lists_the_catalogue() {
    let all = check(&["games"], 0, &["monty-hall", "doors=3 (3..50)"]);
    assert!(surmise::catalogue::games().iter().all(|g| all.contains(g.name)));
    check(&["games", "poker"], 0, &["kuhn-poker", "leduc-poker"]);
    check(&["games", "--json", "kuhn"], 0, &["\"name\":\"kuhn-poker\""]);
    check(&["games", "zzz"], 1, &["no game matches"]);
}

#[test]
fn a_trace_can_be_followed() {
    let trace = stdout(&surmise(&["trace", "kuhn-poker", "--seed", "7", "--playouts", "3"]));
    assert_eq!(
        trace,
        stdout(&surmise(&["trace", "kuhn-poker", "--seed", "7", "--playouts", "3"]))
    );
    let path = file("trace.jsonl", &trace);
    assert_eq!(
        stdout(&surmise(&["trace", "kuhn-poker", "--follow", path.to_str().unwrap()])),
        trace
    );
    let other = file(
        "other.jsonl",
        &trace.replacen("\"random\":\"(deal ", "\"random\":\"(steal ", 1),
    );
    check(
        &["trace", "kuhn-poker", "--follow", other.to_str().unwrap()],
        1,
        &["jsonl:1", "is not legal for random"],
    );
    let garbage = file("garbage.jsonl", "hello\n");
    check(
        &["trace", "kuhn-poker", "--follow", garbage.to_str().unwrap()],
        1,
        &["not a line of a trace"],
    );
    for p in [path, other, garbage] {
        std::fs::remove_file(p).unwrap();
    }
}

#[test]
fn a_closed_pipe_is_no_accident() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_surmise"))
        .args(["trace", "blind-breakthrough", "--playouts", "50"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(stderr(&output), "");
}

#[test]
fn matches_are_played_recorded_and_replayed() {
    let folder = std::env::temp_dir().join(format!("surmise-{}-records", std::process::id()));
    let args = [
        "match",
        "krieg-tictactoe:size=3,line=3",
        "cheat:20",
        "random",
        "--games",
        "6",
        "--json",
        "--seed",
        "9",
    ];
    let one = check(&args, 0, &["\"stderr\""]);
    let two = check(
        &[&args[..], &["--threads", "3", "--record", folder.to_str().unwrap()]].concat(),
        0,
        &[],
    );
    assert_eq!(one, two, "the number of threads changed the result");
    let result: serde_json::Value = serde_json::from_str(&one).unwrap();
    assert_eq!(result["games"], 6);
    assert_eq!(result["players"][0]["player"], "cheat:20");
    assert!(result["players"][0]["mean"].as_f64() > result["players"][1]["mean"].as_f64());
    let record = folder.join("match-000003.json");
    check(&["replay", record.to_str().unwrap()], 0, &["rounds, xplayer"]);
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, text.replacen("(mark ", "(marc ", 1)).unwrap();
    check(&["replay", record.to_str().unwrap()], 1, &["match-000003.json"]);
    std::fs::write(&record, "{}").unwrap();
    check(&["replay", record.to_str().unwrap()], 1, &["has no list `moves`"]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn players_that_cannot_be_are_explained() {
    check(&["match", "kuhn-poker", "shark"], 1, &["there is no player `shark`"]);
    check(
        &["match", "kuhn-poker", "cheat:0"],
        1,
        &["playouts must be a whole number from 1 to"],
    );
    check(
        &["match", "kuhn-poker", "cheat:5,depth=3"],
        1,
        &["does not take `depth`"],
    );
    check(
        &["match", "kuhn-poker", "mc:5"],
        1,
        &["needs a game in which nothing is hidden"],
    );
    check(
        &["match", "kuhn-poker", "random", "random", "random"],
        1,
        &["needs 2 players (for player1, player2)"],
    );
    check(
        &["match", "kuhn-poker", "random", "--time-per-move", "0"],
        1,
        &["--time-per-move must be a positive"],
    );
}

#[test]
fn beliefs_are_told() {
    let view = file(
        "view.json",
        r#"[{"move": "(choose 1)", "sees": []}, {"move": "noop", "sees": ["(closed 3)"]}]"#,
    );
    let path = view.to_str().unwrap();
    check(
        &["belief", "monty-hall", "--role", "candidate", "--view", path],
        0,
        &["exact", "0.6667  (car 3)"],
    );
    for sampler in ["trellis", "hyperplay", "cached", "naive"] {
        let args = [
            "belief",
            "monty-hall",
            "--role",
            "candidate",
            "--view",
            path,
            "--sampler",
            sampler,
            "--json",
        ];
        let told: serde_json::Value = serde_json::from_str(&check(&args, 0, &[])).unwrap();
        let car = told["fluents"]["(car 3)"].as_f64().unwrap();
        assert!((0.5..0.85).contains(&car), "{sampler}: {car}");
        assert!(told["states_visited"].as_u64().unwrap() > 0);
    }
    check(
        &["belief", "monty-hall", "--role", "host"],
        1,
        &["its roles are candidate, random"],
    );
    check(
        &["belief", "monty-hall", "--role", "candidate", "--models", "0"],
        1,
        &["at least one model"],
    );
    check(
        &["belief", "monty-hall", "--role", "candidate", "--sampler", "crystal"],
        2,
        &["choose naive, hyperplay"],
    );
    let odd = file("odd-view.json", r#"[{"move": "(choose 9)", "sees": []}]"#);
    check(
        &[
            "belief",
            "monty-hall",
            "--role",
            "candidate",
            "--view",
            odd.to_str().unwrap(),
        ],
        1,
        &["is never a move"],
    );
    std::fs::write(&odd, r#"[{"move": "(choose 1)", "sees": ["thunder"]}]"#).unwrap();
    check(
        &[
            "belief",
            "monty-hall",
            "--role",
            "candidate",
            "--view",
            odd.to_str().unwrap(),
        ],
        1,
        &["never perceives"],
    );
    std::fs::write(&odd, r#"[{"move": "(choose 1)", "sees": ["(closed 2)"]}]"#).unwrap();
    check(
        &[
            "belief",
            "monty-hall",
            "--role",
            "candidate",
            "--view",
            odd.to_str().unwrap(),
        ],
        0,
        &["nothing explains"],
    );
    std::fs::write(&odd, "42").unwrap();
    check(
        &[
            "belief",
            "monty-hall",
            "--role",
            "candidate",
            "--view",
            odd.to_str().unwrap(),
        ],
        1,
        &["is not a view"],
    );
    for p in [view, odd] {
        std::fs::remove_file(p).unwrap();
    }
}

/// The folder of a match that was recorded.
fn recorded(name: &str, args: &[&str]) -> (PathBuf, String) {
    let folder = std::env::temp_dir().join(format!("surmise-{}-{name}", std::process::id()));
    let path = folder.to_str().unwrap();
    check(&[args, &["--games", "1", "--record", path]].concat(), 0, &["1 matches"]);
    let record = folder.join("match-000000.json").to_str().unwrap().to_owned();
    (folder, record)
}

#[test]
fn moves_are_explained() {
    let game = "krieg-tictactoe:size=3,line=3";
    let (folder, record) = recorded("explain", &["match", game, "hp:8,4", "random"]);
    let explain = |more: &[&str], code, expected: &[&str]| {
        check(
            &[&["explain", game, "--record", &record], more].concat(),
            code,
            expected,
        )
    };
    explain(
        &["--round", "2"],
        0,
        &[
            "round 2: xplayer, played by hp:8,4, chooses",
            "visits",
            "belief: trellis",
            "state 1 of",
        ],
    );
    for player in ["hp2:4,1,4,2", "ismcts:200", "auto", "cheat:10", "hp:8,with=uct:50"] {
        explain(&["--round", "1", "--player", player], 0, &["chooses (mark", player]);
    }
    let json = explain(&["--round", "1", "--player", "ismcts:200", "--json"], 0, &[]);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["round"], 1);
    assert_eq!(value["candidates"].as_array().unwrap().len(), 9);
    assert_eq!(value["move"], value["candidates"][0]["move"]);
    assert!(value["likely"][0]["line"][0]["oplayer"].is_string());
    explain(&["--round", "77"], 1, &["not 77"]);
    explain(&["--role", "nobody"], 1, &["no role `nobody`", "xplayer"]);
    explain(
        &["--player", "hp3"],
        1,
        &["there is no player `hp3`", "did you mean `hp`?"],
    );
    check(&["explain", "monty-hall", "--record", &record], 1, &["other roles"]);
    check(
        &["explain", game, "--record", "nowhere.json"],
        1,
        &["cannot read `nowhere.json`"],
    );
    // The same belief from the record as from its view.
    let belief = ["belief", game, "--role", "xplayer", "--match", &record, "--round", "2"];
    check(&belief, 0, &["exact"]);
    check(
        &["belief", game, "--role", "xplayer", "--match", &record, "--round", "99"],
        1,
        &["has only"],
    );
    check(
        &["match", game, "ismcts:100", "random", "--games", "1", "--explain"],
        0,
        &["move by move", "chooses (mark"],
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn games_that_never_end_are_given_up() {
    let endless = file(
        "endless.kif",
        "(role a) (init q) (<= (legal a x) (true q)) (<= (next q) (true q)) (<= terminal (true z)) (goal a 5)",
    );
    let path = endless.to_str().unwrap();
    check(
        &["match", path, "random", "--games", "2"],
        0,
        &["2 matches did not end within 2000 rounds"],
    );
    for engine in ["lanes", "scalar", "reference"] {
        check(
            &["bench", path, "--seconds", "0.1", "--engine", engine, "--json"],
            0,
            &["\"stuck\":"],
        );
    }
    check(&["check", "--simulate", path], 0, &["W-LONG"]);
    std::fs::remove_file(endless).unwrap();
}

#[test]
fn solves_and_plays_the_solution() {
    let saved = file("kuhn-strategy.json", "");
    let efg = file("kuhn.efg", "");
    let (saved, efg) = (saved.to_str().unwrap(), efg.to_str().unwrap());
    let shown = [
        "12 information sets",
        "player1: 48.611",
        "round 1: sees (card king); round 2: sees (did player1 bet)",
        "the most frequent first",
        "NashConv",
    ];
    check(&["solve", "kuhn-poker", "--save", saved, "--efg", efg], 0, &shown);
    assert!(
        std::fs::read_to_string(efg)
            .unwrap()
            .starts_with("EFG 2 R \"kuhn-poker\"")
    );
    let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(saved).unwrap()).unwrap();
    assert_eq!((&value["infosets"], &value["algorithm"]), (&12.into(), &"lp".into()));
    // In chips of 25 points: -1/18, and nobody can gain a millionth.
    let chips = (value["value"]["player1"].as_f64().unwrap() - 50.0) / 25.0;
    assert!((chips + 1.0 / 18.0).abs() < 1e-6, "{chips}");
    assert!(value["nash_conv"].as_f64().unwrap() / 25.0 < 1e-6);
    assert_eq!(value["strategy"].as_array().unwrap().len(), 12);
    assert_eq!(value["strategy"][0]["view"][0]["sees"][0], "(card jack)");
    let player = format!("strategy:{saved}");
    let played = check(
        &["match", "kuhn-poker", &player, "legal", "--games", "300", "--json"],
        0,
        &[],
    );
    let played: serde_json::Value = serde_json::from_str(&played).unwrap();
    // Nobody wins against it more than the game is worth, in the long run; and it never does what is not legal.
    assert!(played["players"][0]["mean"].as_f64().unwrap() > 44.0, "{played}");
    assert_eq!(played["players"][0]["illegal"], 0);
    check(&["match", "leduc-poker", &player, "--games", "1"], 1, &["another game"]);
    check(
        &["match", "monty-hall", &player, "--games", "1"],
        1,
        &["is for kuhn-poker"],
    );
    check(
        &["match", "kuhn-poker", &format!("strategy:{efg}"), "--games", "1"],
        1,
        &["not JSON"],
    );
}

#[test]
fn answers_have_formats() {
    let folder = std::env::temp_dir().join(format!("surmise-{}-answers", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for (format, expected) in [
        ("text", "inspector chooses in"),
        ("markdown", "| of games | situation |"),
        ("csv", "role,situation,arises,weight,told,move,frequency,points,less"),
        ("html", "<svg"),
        ("json", "\"arises\""),
    ] {
        check(&["solve", "inspection", "--format", format], 0, &[expected]);
    }
    for (name, expected) in [
        ("a.md", "## inspector"),
        ("a.csv", "role,situation"),
        ("a.html", "</html>"),
    ] {
        // Written twice: the same bytes, so that nothing has to be overwritten.
        for _ in 0..2 {
            check(
                &["solve", "inspection", "--out", &path(name)],
                0,
                &["inspector: 25.0000 points"],
            );
        }
        assert!(
            std::fs::read_to_string(path(name)).unwrap().contains(expected),
            "{name}"
        );
    }
    check(
        &["solve", "inspection", "--out", &path("a.doc")],
        1,
        &["does not end in .txt"],
    );
    check(
        &["solve", "inspection", "--format", "pdf"],
        2,
        &["must be text, markdown"],
    );
    check(&["solve", "kuhn-poker", "--out", &path("a.html")], 1, &["--force"]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_strategy_is_explained_by_itself() {
    let saved = file("explained.json", "");
    let path = saved.to_str().unwrap();
    check(&["solve", "kuhn-poker", "--save", path, "--force"], 0, &[]);
    let player = format!("strategy:{path}");
    let (folder, record) = recorded("explain-strategy", &["match", "kuhn-poker", &player, &player]);
    let explain = |more: &[&str], expected: &[&str]| {
        let args = [&["explain", "kuhn-poker", "--record", &record, "--round", "2"], more].concat();
        check(&args, 0, expected)
    };
    explain(
        &["--role", "player1"],
        &[
            "Past and future of all roles by",
            "2 histories",
            "frequency",
            "state 1 of those",
        ],
    );
    let json = explain(
        &["--role", "player1", "--player", "random", "--others", &player, "--json"],
        &[],
    );
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["reasons"]["moves"].as_array().unwrap().len(), 2, "{json}");
    assert_eq!(value["reasons"]["expected"], true);
    let args = [
        "explain",
        "kuhn-poker",
        "--record",
        &record,
        "--round",
        "2",
        "--others",
        "random",
    ];
    check(&args, 1, &["must be strategy:FILE"]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn rates_a_strategy() {
    let saved = file("kuhn-rated.json", "");
    let path = saved.to_str().unwrap();
    check(
        &[
            "solve",
            "kuhn-poker",
            "--algorithm",
            "cfr",
            "--iterations",
            "20",
            "--save",
            path,
        ],
        0,
        &["cfr: 20 iterations", "by best response"],
    );
    let mut value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&saved).unwrap()).unwrap();
    let rated = check(&["solve", "kuhn-poker", "--rate", path, "--json"], 0, &[]);
    let rated: serde_json::Value = serde_json::from_str(&rated).unwrap();
    let near = |a: &serde_json::Value, b: &serde_json::Value| {
        assert!((a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-9, "{a} {b}");
    };
    near(&value["nash_conv"], &rated["nash_conv"]);
    near(&value["value"]["player2"], &rated["value"]["player2"]);
    near(&value["best_response"]["player1"], &rated["best_response"]["player1"]);
    // Where a strategy is silent, its player moves at random: a file that says nothing is the uniform strategy, 25 *
    // 11/12.
    value["strategy"] = serde_json::json!([]);
    std::fs::write(&saved, value.to_string()).unwrap();
    let shown = ["random moves in 12 information sets", "NashConv 22.916667"];
    check(&["solve", "kuhn-poker", "--rate", path], 0, &shown);
    check(&["solve", "tiger", "--rate", path], 1, &["is for kuhn-poker"]);
    check(
        &["solve", "kuhn-poker", "--rate", "no-such-file"],
        1,
        &["not a file", "no player"],
    );
}

#[test]
fn threads_do_not_change_what_is_solved() {
    // Large enough for all of it to be shared out.
    for (game, algorithm, iterations) in [
        ("goofspiel:cards=5", "cfr+", "20"),
        ("goofspiel:cards=5", "external", "500"),
        ("liars-dice:sides=6", "discounted", "5"),
        ("leduc-poker", "lp", ""),
    ] {
        let solved = |threads: &str| {
            let mut args = vec!["solve", game, "--algorithm", algorithm, "--threads", threads, "--json"];
            if !iterations.is_empty() {
                args.extend(["--iterations", iterations]);
            }
            let mut value: serde_json::Value = serde_json::from_str(&check(&args, 0, &[])).unwrap();
            for time in ["seconds", "build_seconds"] {
                assert!(value.as_object_mut().unwrap().remove(time).is_some());
            }
            value.to_string()
        };
        let one = solved("1");
        assert_eq!(one, solved("2"), "{game} {algorithm}");
        assert_eq!(one, solved("3"), "{game} {algorithm}");
    }
    // What does not fit is refused with the same words.
    let refused = |threads| {
        let args = ["solve", "phantom-tictactoe", "--limit", "30000", "--threads", threads];
        check(&args, 1, &["30000 histories of up to", "--limit"])
    };
    assert_eq!(refused("1"), refused("2"));
}

/// Whoever shows what nobody else does wins.
const THREE: &str = "
(role ann) (role bob) (role cy) (init now) (side hand) (side fist)
(<= (legal ?r ?s) (role ?r) (side ?s))
(<= (next (showed ?r ?s)) (does ?r ?s))
(<= (sees ann done) (does ann hand))
(<= terminal (true (showed ann ?s)))
(<= (same ?r) (true (showed ?r ?s)) (true (showed ?q ?s)) (distinct ?r ?q))
(<= (goal ?r 100) (role ?r) (not (same ?r)))
(<= (goal ?r 0) (same ?r))
";

#[test]
fn solves_until_it_is_good_enough() {
    let out = check(
        &[
            "solve",
            "kuhn-poker",
            "--algorithm",
            "discounted",
            "--until",
            "0.01",
            "--json",
        ],
        0,
        &[],
    );
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(value["nash_conv"].as_f64().unwrap() <= 0.01, "{out}");
    let three = file("three.kif", THREE);
    let warned = ["more than two roles", "need not approach an equilibrium", "cy:"];
    check(&["solve", three.to_str().unwrap()], 0, &warned);
    let lp = ["two roles", "this game has 3", "cfr+"];
    check(&["solve", three.to_str().unwrap(), "--algorithm", "lp"], 1, &lp);
    let sum = ["goals sum to a constant", "cfr+"];
    check(&["solve", "banker-and-thief:deposits=3", "--algorithm", "lp"], 1, &sum);
    let timed = ["solve", "kuhn-poker", "--algorithm", "lp", "--seconds", "1"];
    check(&timed, 1, &["algorithms that iterate"]);
    check(
        &["solve", "kuhn-poker", "--iterations", "7"],
        0,
        &["cfr+: 7 iterations"],
    );
    check(&["solve", "tiger"], 0, &["exact optimum", "94.391"]);
    check(
        &["solve", "phantom-tictactoe", "--limit", "1000"],
        1,
        &["1000 histories", "--limit"],
    );
    check(
        &["solve", "kuhn-poker", "--algorithm", "magic"],
        2,
        &["cfr+", "outcome"],
    );
    check(&["solve", "kuhn-poker", "--until", "0"], 1, &["positive"]);
    check(&["solve", "kuhn-poker", "--seconds=-1"], 1, &["--seconds"]);
}
