//! Rules files of other projects: lenient mode accepts all of them, and formatting keeps their meaning.
//!
//! The files are in `../shared/conformance/rules`, beside the workspace, and not part of it. Without the folder the
//! tests are skipped, and say so; a folder with fewer files than expected is a failure.

use std::path::{Path, PathBuf};
use surmise_gdl::{Mode, Options};

/// Folders of rules files, and the number of files that each holds at least.
const FOLDERS: &[(&str, usize)] = &[("ggp-repository", 100), ("scully", 8)];

/// The rules files, or nothing if they are not on this machine.
fn rules_files(test: &str) -> Option<Vec<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/rules");
    if !root.exists() {
        surmise_testing::skip(test, "../shared/conformance/rules is not on this machine");
        return None;
    }
    let mut files = Vec::new();
    for (folder, at_least) in FOLDERS {
        let folder = root.join(folder);
        let found = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let before = files.len();
        files.extend(found.map(|f| f.unwrap().path()));
        let n = files.len() - before;
        assert!(
            n >= *at_least,
            "{} holds {n} files, expected {at_least}",
            folder.display()
        );
    }
    files.sort();
    Some(files)
}

#[test]
fn all_parse_and_are_accepted() {
    let Some(files) = rules_files("gdl conformance all_parse_and_are_accepted") else {
        return;
    };
    let mut refused = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let reading = surmise_gdl::read_bytes(&std::fs::read(&file).unwrap(), &Options::default());
        assert!(!reading.rules.clauses.is_empty(), "{name} has no rules");
        if !reading.is_playable() {
            refused.push(reading.render(&name));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn formatting_keeps_the_rules() {
    let Some(files) = rules_files("gdl conformance formatting_keeps_the_rules") else {
        return;
    };
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&file).unwrap();
        for mode in [Mode::Lenient, Mode::Strict] {
            let options = Options {
                mode,
                ..Options::default()
            };
            let before = surmise_gdl::read_bytes(&bytes, &options);
            let print = |r: &surmise_gdl::Reading, n| {
                surmise_gdl::format::format(&r.ast, &r.text, &r.rules.symbols, n).unwrap()
            };
            let prefix = print(&before, surmise_gdl::Notation::Prefix);
            let after = surmise_gdl::read(&prefix, &options);
            assert_eq!(
                prefix,
                print(&after, surmise_gdl::Notation::Prefix),
                "{name} is not stable"
            );
            let infix = print(&before, surmise_gdl::Notation::Infix);
            let infix_options = Options {
                notation: Some(surmise_gdl::Notation::Infix),
                ..options
            };
            let from_infix = surmise_gdl::read(&infix, &infix_options);
            assert_eq!(
                infix,
                print(&from_infix, surmise_gdl::Notation::Infix),
                "{name} is not stable in infix"
            );
            assert_same_rules(&before, &after, &name);
            assert_same_rules(&before, &from_infix, &name);
        }
    }
}

fn assert_same_rules(a: &surmise_gdl::Reading, b: &surmise_gdl::Reading, name: &str) {
    let clauses = |r: &surmise_gdl::Reading| -> Vec<String> {
        let show = |t: &surmise_gdl::Clause| {
            let body: Vec<String> = t
                .body
                .iter()
                .map(|l| match l {
                    surmise_gdl::Literal::Pos(a) => a.canonical(&r.rules.symbols),
                    surmise_gdl::Literal::Neg(a) => format!("not {}", a.canonical(&r.rules.symbols)),
                    surmise_gdl::Literal::Distinct(s, t) => {
                        format!("{} != {}", s.canonical(&r.rules.symbols), t.canonical(&r.rules.symbols))
                    }
                })
                .collect();
            format!("{} <= {}", t.head.canonical(&r.rules.symbols), body.join(" & "))
        };
        r.rules.clauses.iter().map(show).collect()
    };
    assert_eq!(clauses(a), clauses(b), "{name} changed its meaning");
}

/// Files with findings that were looked at one by one, and are true: fluents that nothing asks for, values that no fact
/// has, a rule for a piece that does not exist.
const TRUE_FINDINGS: &[&str] = &[
    "dotsAndBoxes.kif",
    "factoringImpossibleTurtleBrain.kif",
    "firefighter.kif",
    "qyshinsu.kif",
    "qyshinsu.v1.kif",
    "skirmishFinal1.kif",
    "wargame01.kif",
    "wargame01.v1.kif",
];

#[test]
fn published_games_give_no_false_alarm() {
    let Some(files) = rules_files("gdl conformance published_games_give_no_false_alarm") else {
        return;
    };
    let mut wrong = String::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let reading = surmise_gdl::read_bytes(&std::fs::read(&file).unwrap(), &Options::default());
        let found = surmise_gdl::lint(&reading);
        if !TRUE_FINDINGS.contains(&name.as_str()) {
            wrong += &surmise_gdl::render(&found, &name, &reading.text);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
