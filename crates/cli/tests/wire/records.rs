//! What is written down: views, logs and traces.

use crate::support::{folder, helpless, manage, only_record};
use std::io::BufRead;
use std::process::Command;
use surmise::referee::Record;

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
    let sight = |role: &str| {
        if role == "random" {
            "RANDOM".to_owned()
        } else {
            role.to_owned()
        }
    };
    let read = |role: &str, name: &str| {
        let role = sight(role);
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
            last.contains(&format!("<sight-of>{}</sight-of>", sight(role))),
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

/// The traces that Dresden's programs come with are not ours to ship; the format is read, and every kind of difference
/// is found.
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
