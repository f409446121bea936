//! The lab as its users meet it: runs that are killed, resumed, divided and changed come to the same bytes, and bad
//! specs are refused before anything is played.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_surmise");

fn lab(args: &[&str]) -> Output {
    Command::new(PROGRAM)
        .arg("lab")
        .args(args)
        .output()
        .expect("the program runs")
}

#[track_caller]
fn succeed(args: &[&str]) -> String {
    let output = lab(args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn refuse(args: &[&str]) -> String {
    let output = lab(args);
    assert!(!output.status.success(), "{args:?} was not refused");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder that goes away by itself.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("surmise-lab-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        Place(path)
    }

    fn at(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn spec(&self, text: &str) -> String {
        let path = self.at("spec.toml");
        std::fs::write(&path, text).expect("a file");
        path
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn results(folder: &str) -> String {
    std::fs::read_to_string(Path::new(folder).join("results.jsonl")).expect("results")
}

fn journal_lines(folder: &str, name: &str) -> usize {
    let path = Path::new(folder).join("journal").join(name);
    std::fs::read(path).map_or(0, |bytes| bytes.iter().filter(|&&b| b == b'\n').count())
}

const DOORS: &str = r#"
name = "doors"
title = "Doors"
[[sweep]]
game = "monty-hall:doors={doors}"
players = ["{player}"]
games = 250
[sweep.over]
doors = [3, 4]
player = ["random", "hp:2,2"]
"#;

const MARKS: &str = r#"
name = "marks"
title = "Marks"
[[sweep]]
game = "krieg-tictactoe:size=3,line=3"
players = ["{player}", "random"]
swap = true
games = 500
over = { player = ["random", "hp:8,8"] }
"#;

/// A thousand units, killed at twenty random points: the same bytes as an undisturbed run.
#[test]
fn killed_runs_lose_and_repeat_nothing() {
    let place = Place::new("killed");
    let spec = place.spec(MARKS);
    let (whole, killed) = (place.at("whole"), place.at("killed"));
    succeed(&["run", &spec, "--out", &whole, "--threads", "2"]);
    assert_eq!(results(&whole).lines().count(), 1_000);
    let mut rng = surmise::game::Seed(std::process::id().into()).rng();
    let mut kills = 0;
    for _ in 0..20 {
        let mut child = Command::new(PROGRAM)
            .args(["lab", "run", &spec, "--out", &killed, "--threads", "2"])
            .stdout(Stdio::null())
            .spawn()
            .expect("the program runs");
        // Wait for some progress, then for a moment more, so that the blow falls anywhere: while opening, playing,
        // writing.
        let target = journal_lines(&killed, "local.jsonl") + rng.below(45);
        while journal_lines(&killed, "local.jsonl") < target && child.try_wait().expect("a child").is_none() {
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros(rng.below(4_000) as u64));
        kills += usize::from(child.try_wait().expect("a child").is_none());
        let _ = child.kill();
        let _ = child.wait();
    }
    assert!(kills >= 18, "only {kills} of 20 runs were still alive to be killed");
    succeed(&["run", &spec, "--out", &killed, "--threads", "1"]);
    assert_eq!(results(&killed), results(&whole));
    assert_eq!(journal_lines(&killed, "local.jsonl"), 1_000, "nothing was played twice");
    // Running once more plays nothing.
    let said = succeed(&["run", &spec, "--out", &killed]);
    assert!(said.contains("0 games played, 1000 there before"), "{said}");
    // Killed while it only writes: what is there stays whole.
    for _ in 0..8 {
        let mut child = Command::new(PROGRAM)
            .args(["lab", "run", &spec, "--out", &killed])
            .stdout(Stdio::null())
            .spawn()
            .expect("the program runs");
        std::thread::sleep(Duration::from_micros(rng.below(150_000) as u64));
        let _ = child.kill();
        let _ = child.wait();
        assert_eq!(results(&killed), results(&whole));
        succeed(&["report", &killed]);
    }
    // Seats are changed in this one, and the report says what each was worth.
    let page = std::fs::read_to_string(Path::new(&killed).join("report.html")).expect("a report");
    assert!(page.contains(">By seat</summary>") && page.contains("as xplayer") && page.contains("as oplayer"));
    let json = std::fs::read_to_string(Path::new(&killed).join("report.json")).expect("a report");
    let json: serde_json::Value = json.parse().expect("JSON");
    for cell in json["cells"].as_array().expect("cells") {
        let mean = |value: &serde_json::Value| value["mean"].as_f64().expect("a number");
        let seats: Vec<f64> = cell["seats"]
            .as_array()
            .expect("seats")
            .iter()
            .map(|s| mean(&s["score"]))
            .collect();
        assert_eq!(seats.len(), 2);
        assert!(
            (mean(&cell["values"]["score"]) - (seats[0] + seats[1]) / 2.0).abs() < 1e-9,
            "{cell}"
        );
    }
}

/// Tasks of an array, in any order and with one of them begun twice, come to the same bytes; the report is there.
#[test]
fn tasks_come_to_the_same_bytes() {
    let place = Place::new("tasks");
    let spec = place.spec(&DOORS.replace("games = 250", "games = 200\nuntil = 9.0"));
    let (whole, parts) = (place.at("whole"), place.at("parts"));
    succeed(&["run", &spec, "--out", &whole, "--threads", "2"]);
    let (lines, played) = (results(&whole).lines().count(), journal_lines(&whole, "local.jsonl"));
    assert!(
        lines < 800 && lines <= played,
        "cells stop when they are precise enough: {lines}"
    );
    // A folder as `submit` leaves it.
    std::fs::create_dir_all(Path::new(&parts).join("journal")).expect("a folder");
    for file in ["lab.json", "spec.toml"] {
        std::fs::copy(Path::new(&whole).join(file), Path::new(&parts).join(file)).expect("a copy");
    }
    let incomplete = refuse(&["collect", &parts]);
    assert!(incomplete.contains("games are missing"), "{incomplete}");
    for task in ["2", "0", "1", "0"] {
        succeed(&["work", &parts, "--task", task, "--of", "3"]);
    }
    succeed(&["collect", &parts]);
    assert_eq!(results(&parts), results(&whole));
    let page = std::fs::read_to_string(Path::new(&parts).join("report.html")).expect("a report");
    assert!(page.contains("<h1>Doors</h1>") && page.contains("hp:2,2") && !page.contains("http://localhost"));
    for file in ["cells.csv", "report.json", "times.jsonl"] {
        assert!(Path::new(&parts).join(file).is_file(), "{file}");
    }
}

#[test]
fn a_change_plays_only_what_changed() {
    let place = Place::new("change");
    let out = place.at("out");
    let small = DOORS.replace("games = 250", "games = 20");
    let spec = place.spec(&small);
    succeed(&["run", &spec, "--out", &out]);
    let spec = place.spec(&small.replace("doors = [3, 4]", "doors = [3, 5]"));
    let said = succeed(&["run", &spec, "--out", &out]);
    assert!(said.contains("40 games played, 40 there before"), "{said}");
    let spec = place.spec(&small.replace("games = 20", "games = 30"));
    let said = succeed(&["run", &spec, "--out", &out]);
    assert!(said.contains("40 games played, 80 there before"), "{said}");
    assert_eq!(results(&out).lines().count(), 120);
}

#[test]
fn bad_specs_are_refused_with_line_and_reason() {
    let place = Place::new("bad");
    let out = place.at("out");
    let small = DOORS.replace("games = 250", "games = 2");
    let check = |from: &str, to: &str, line: usize, why: &str| {
        let text = small.replace(from, to);
        assert_ne!(text, small);
        let spec = place.spec(&text);
        let said = refuse(&["run", &spec, "--out", &out]);
        assert!(
            said.contains(&format!("spec.toml:{line}: ")) && said.contains(why),
            "{said}"
        );
        assert!(
            !Path::new(&out).exists(),
            "nothing is made before everything is checked"
        );
    };
    check("monty-hall", "monty-hell", 5, "monty-hell");
    check("doors={doors}", "doors=2", 5, "doors");
    check("hp:2,2", "hp:2,x", 6, "playouts must be a whole number");
    check("\"hp:2,2\"", "\"hq:2,2\"", 6, "there is no player `hq`");
    check("\"{player}\"", "\"{player}\", \"random\"", 5, "needs 1 player ");
    check("games = 2", "gamez = 2", 7, "unknown field `gamez`");
    check("games = 2", "games = 99999999999", 7, "cannot be played");
    check("title", "\"", 3, "");
    check("games = 2", "games = 0", 7, "0 games");
    check("games = 2", "games = -1", 7, "");
    check(
        "title = \"Doors\"",
        "title = \"Doors\"\nwidth = 3",
        4,
        "unknown field `width`",
    );
    check("games = 2", "games = 2\nuntil = 0.0", 8, "positive");
    check("players = [\"{player}\"]", "players = []", 5, "no players");
    let more = |what: &str, line: usize, why: &str| {
        let last = "player = [\"random\", \"hp:2,2\"]\n";
        check(last, &format!("{last}{what}\n"), line, why);
    };
    more(
        "[[plot]]\ntitle = \"t\"\nx = \"door\"\nseries = \"s\"",
        11,
        "`door` is no variable of a sweep",
    );
    more(
        "[[plot]]\ntitle = \"t\"\nx = \"doors\"\ny = \"scores\"\nseries = \"s\"",
        11,
        "did you mean `score`?",
    );
    more(
        "[[plot]]\ntitle = \"t\"\nx = \"doors\"\nseries = \"{who}\"",
        11,
        "asks for `who`",
    );
    more(
        "[[claim]]\nsays = \"s\"\nof = { doors = 7 }\nabove = 0.0",
        11,
        "no cell has what `of` asks for (doors = 7)",
    );
    let lonely = "[[claim]]\nsays = \"s\"\nof = { doors = 3 }\nminus = { doors = 3 }\nabove = 0.0";
    more(lonely, 11, "a cell to compare with");
    more(
        "[[reference]]\nwhere = { windows = 3 }\nvalue = 1.0",
        11,
        "`windows` is no variable",
    );
    more(
        "[[claim]]\nsays = \"s\"\nmeasure = \"luck\"\nabove = 0.0",
        11,
        "nothing called `luck` is measured",
    );
    // Folders.
    let spec = place.spec(&small);
    let said = refuse(&["run", &spec, "--out", "/dev/null/there"]);
    assert!(said.contains("/dev/null/there"), "{said}");
    std::fs::write(place.at("file"), "x").expect("a file");
    assert!(refuse(&["run", &spec, "--out", &place.at("file")]).contains("is a file"));
    succeed(&["run", &spec, "--out", &out]);
    let other = place.spec(&small.replace("\"doors\"", "\"windows\""));
    let said = refuse(&["run", &other, "--out", &out]);
    assert!(
        said.contains("holds the results of `doors`, not of `windows`"),
        "{said}"
    );
    assert!(refuse(&["run", &other, "--out", &place.at("")]).contains("holds other files"));
    assert!(refuse(&["run", "no-such-preset"]).contains("lab list"));
    assert!(refuse(&["report", "/dev/null"]).contains("/dev/null"));
}

/// With several specs nothing is played before all of them have been looked at.
#[test]
fn a_bad_spec_stops_the_good_one_beside_it() {
    let place = Place::new("several");
    let (good, bad, out) = (place.at("good.toml"), place.at("bad.toml"), place.at("out"));
    let small = DOORS.replace("games = 250", "games = 2");
    std::fs::write(&good, &small).expect("a file");
    let broken = small.replace("\"doors\"", "\"windows\"").replace("hp:2,2", "hq:2,2");
    std::fs::write(&bad, broken).expect("a file");
    let said = refuse(&["run", &good, &bad, "--out", &out]);
    assert!(
        said.contains("bad.toml:6: ") && said.contains("there is no player `hq`"),
        "{said}"
    );
    assert!(!Path::new(&out).exists(), "nothing was made");
    std::fs::write(&bad, small.replace("\"doors\"", "\"windows\"")).expect("a file");
    succeed(&["run", &good, &bad, "--out", &out]);
    assert_eq!(results(&format!("{out}/windows")), results(&format!("{out}/doors")));
    assert!(Path::new(&out).join("index.html").is_file());
}

/// Rules of a game in which one of two moves is worth something.
fn pick(worth: u32) -> String {
    format!(
        "(role a) (init on) (<= (legal a left) (true on)) (<= (legal a right) (true on)) (<= (next left) (does a \
         left)) (<= (next off) (true on)) (<= terminal (true off)) (<= (goal a {worth}) (true left)) (<= (goal a 0) \
         (not (true left)))"
    )
}

/// Cells are known by what is in the files they use, not by the files' names.
#[test]
fn other_contents_of_a_file_are_another_cell() {
    let place = Place::new("contents");
    let (rules, out) = (place.at("pick.kif"), place.at("out"));
    let game = pick;
    let spec = place.spec(&format!(
        "name = \"pick\"\ntitle = \"Pick\"\n[[sweep]]\ngame = \"{rules}\"\nplayers = [\"random\"]\ngames = 20\n"
    ));
    std::fs::write(&rules, game(100)).expect("a file");
    assert!(succeed(&["run", &spec, "--out", &out]).contains("20 games played, 0 there before"));
    assert!(succeed(&["run", &spec, "--out", &out]).contains("0 games played, 20 there before"));
    let first = results(&out);
    std::fs::write(&rules, game(60)).expect("a file");
    assert!(succeed(&["run", &spec, "--out", &out]).contains("20 games played, 0 there before"));
    assert!(first.contains("[100]") && !results(&out).contains("[100]") && results(&out).contains("[60]"));
    // A task that was queued before does not mix the two.
    std::fs::write(&rules, game(70)).expect("a file");
    assert!(refuse(&["work", &out, "--task", "0", "--of", "1"]).contains("have changed"));
    // The old contents again: everything is there.
    std::fs::write(&rules, game(100)).expect("a file");
    assert!(succeed(&["run", &spec, "--out", &out]).contains("0 games played, 20 there before"));
    assert_eq!(results(&out), first);
    // A report needs none of the files.
    std::fs::remove_file(&rules).expect("a file");
    succeed(&["report", &out]);
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let place = Place::new("lock");
    let spec = place.spec(&DOORS.replace("games = 250", "games = 100000"));
    let out = place.at("out");
    let mut first = Command::new(PROGRAM)
        .args(["lab", "run", &spec, "--out", &out])
        .stdout(Stdio::null())
        .spawn()
        .expect("the program runs");
    while journal_lines(&out, "local.jsonl") == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let said = refuse(&["run", &spec, "--out", &out]);
    let _ = first.kill();
    let _ = first.wait();
    assert!(said.contains("another run is at work"), "{said}");
    assert!(succeed(&["status", &out]).contains("of 400000 games are done"));
    assert!(succeed(&["list"]).contains("2017-figure-3"));
    assert!(succeed(&["show", "2012-figure-5"]).contains("monty-hall"));
}

/// Words on the x axis are categories, and the report has everything that a paper needs.
#[test]
fn reports_are_fit_to_print() {
    let place = Place::new("print");
    let out = place.at("out");
    let more = "[[plot]]\ntitle = \"By player\"\nx = \"player\"\nseries = \"{doors} doors\"\n\
                [[reference]]\nwhere = { doors = 3, player = \"hp:2,2\" }\nvalue = 66.67\npm = 2.0\n\
                [[claim]]\nsays = \"hp is better\"\nof = { player = \"hp:2,2\" }\nminus = { player = \"random\" }\n\
                above = -50.0\n";
    let doors = DOORS.replace("games = 250", "games = 40");
    let spec = place.spec(&(doors.replace("title", "bibtex = \"@misc{it}\"\ntitle") + more));
    succeed(&["run", &spec, "--out", &out]);
    let file = |name: &str| std::fs::read_to_string(Path::new(&out).join(name)).unwrap_or_else(|_| panic!("{name}"));
    let page = file("report.html");
    for part in [
        "3 doors (paper)",
        "score (points, 0 to 100)",
        "class=\"sortable\"",
        ", paired)",
        "Claims, and what the numbers say",
        "models = 2; playouts = 2",
        "<dt>machine",
        "<dt>seed<dd>1",
        "on-narrow",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("cannot be repeated") && !page.contains("What the paper says"));
    let plot = file("plot-1.svg");
    assert!(plot.contains(">random</text>") && plot.contains("stroke-dasharray") && !plot.contains("var(--"));
    assert!(
        file("plot-1.csv").contains("3 doors (paper),\"hp:2,2\",66.67,64.67,68.67\n"),
        "{}",
        file("plot-1.csv")
    );
    assert!(file("cells.tex").contains("\\begin{tabular}") && file("players.tex").contains("\\texttt{hp:2,2}"));
    assert!(file("claims.csv").contains("paired") && file("configurations.csv").contains("monty-hall:doors=3"));
    let cite = file("cite.bib");
    assert!(
        cite.starts_with("@misc{it}") && cite.contains("@misc{surmise,"),
        "{cite}"
    );
    let json: serde_json::Value = file("report.json").parse().expect("JSON");
    assert!(
        json["made"]["finished"].as_u64().is_some_and(|t| t > 1_700_000_000),
        "{}",
        json["made"]
    );
}

/// The command of an unfinished report goes on where the run stopped, and small runs do not replace large ones.
#[test]
fn a_stopped_run_names_the_command_that_resumes_it() {
    let place = Place::new("resume");
    let spec = place.spec(&(DOORS.replace("games = 250", "games = 3000\nquick = { games = 20 }")));
    let out = place.at("an out");
    let mut run = Command::new(PROGRAM)
        .args(["lab", "run", &spec, "--out", &out, "--threads", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    while journal_lines(&out, "local.jsonl") < 20 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let stopped = Command::new("sh")
        .args(["-c", &format!("kill -INT {}", run.id())])
        .status();
    assert!(stopped.is_ok_and(|status| status.success()));
    assert_eq!(run.wait().expect("it ends").code(), Some(130));
    let done = results(&out).lines().count();
    assert!(done < 12_000, "it was stopped in time");
    let json = std::fs::read_to_string(Path::new(&out).join("report.json")).expect("a report");
    let json: serde_json::Value = json.parse().expect("JSON");
    let command = json["command"].as_str().expect("a command");
    assert!(
        command.contains(" --out '") && command.starts_with("surmise lab run "),
        "{command}"
    );
    let page = std::fs::read_to_string(Path::new(&out).join("report.html")).expect("a report");
    assert!(page.contains("This goes on where the run stopped"), "the page says so");
    let command = command.replacen("surmise", PROGRAM, 1);
    let said = Command::new("sh").args(["-c", &command]).output().expect("a shell");
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(
        said.contains(&format!("{} games played", 12_000 - done)) || said.contains("there before"),
        "{said}"
    );
    assert_eq!(results(&out).lines().count(), 12_000);
    let refused = refuse(&["run", &spec, "--quick", "--out", &out]);
    assert!(refused.contains("holds results at the size `plain`"), "{refused}");
    assert_eq!(results(&out).lines().count(), 12_000);
    // Without --out the smaller results get a place of their own.
    let at_home = |args: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command
            .current_dir(&place.0)
            .arg("lab")
            .args(args)
            .output()
            .expect("it runs")
    };
    let small = place.spec(&(DOORS.replace("games = 250", "games = 30\nquick = { games = 20 }")));
    assert!(at_home(&["run", &small]).status.success());
    let quick = at_home(&["run", &small, "--quick"]);
    let said = String::from_utf8_lossy(&quick.stdout).into_owned();
    assert!(said.contains("lab-results/doors-quick/report.html"), "{said}");
    assert_eq!(results(&place.at("lab-results/doors")).lines().count(), 120);
    assert_eq!(results(&place.at("lab-results/doors-quick")).lines().count(), 80);
}

/// Two folders: nothing differs from itself, and a better player differs with significance.
#[test]
fn results_are_compared_with_significance() {
    let place = Place::new("diff");
    let rules = place.at("pick.kif");
    let spec = place.spec(&format!(
        "name = \"pick\"\ntitle = \"Pick\"\n[[sweep]]\ngame = \"{rules}\"\nplayers = [\"{{player}}\"]\ngames = 100\n\
         over = {{ player = [\"random\", \"legal\"] }}\n"
    ));
    let (before, after) = (place.at("before"), place.at("after"));
    std::fs::write(&rules, pick(100)).expect("a file");
    succeed(&["run", &spec, "--out", &before]);
    std::fs::write(&rules, pick(60)).expect("a file");
    succeed(&["run", &spec, "--out", &after]);
    let same = succeed(&["diff", &before, &before]);
    assert!(same.contains("0 of 2 differences are significant"), "{same}");
    let json: serde_json::Value = succeed(&["diff", &before, &after, "--json"]).parse().expect("JSON");
    let random = &json["cells"][0];
    // Every win is worth 40 points less, in the same matches.
    assert_eq!(random["difference"]["method"], "paired", "{json}");
    assert_eq!(random["significant"], true, "{json}");
    assert!(random["difference"]["mean"].as_f64() < Some(-10.0), "{json}");
    // A constant difference has no spread to be tested by; it is shown all the same.
    assert_eq!(json["cells"][1]["difference"]["mean"].as_f64(), Some(-40.0), "{json}");
    assert!(refuse(&["diff", &before, &after, "--measure", "luck"]).contains("nothing called `luck`"));
    let list = succeed(&["list", "--json"]);
    assert!(list.lines().all(|line| line.contains("cpu_seconds")), "{list}");
}

/// A spec may start programs only if the command line says so.
#[test]
fn specs_start_no_programs_unasked() {
    let place = Place::new("exec");
    let out = place.at("out");
    let spec = place.spec(
        &DOORS
            .replace("games = 250", "games = 2")
            .replace("\"hp:2,2\"", "\"exec:touch started\""),
    );
    let said = refuse(&["run", &spec, "--out", &out]);
    assert!(said.contains("--allow-exec"), "{said}");
    assert!(!Path::new(&out).exists() && !Path::new("started").exists());
}
