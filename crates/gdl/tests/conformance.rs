//! Rules files that nobody here wrote: all parse, and all are accepted unless the language reference says why not.

use std::path::{Path, PathBuf};
use surmise_gdl::{Code, Mode, Options, Severity};

/// Files that lenient reading refuses, with the code that the reference gives them.
const REFUSED: &[(&str, Code)] = &[];

fn rules_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/rules");
    let mut files = Vec::new();
    for folder in std::fs::read_dir(root).into_iter().flatten().flatten() {
        files.extend(std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().path()));
    }
    if files.is_empty() {
        eprintln!("skipped: ../shared/conformance is not here");
    }
    files.sort();
    files
}

#[test]
fn all_parse_and_are_accepted() {
    let mut wrong = Vec::new();
    for file in rules_files() {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let reading = surmise_gdl::read_bytes(&std::fs::read(&file).unwrap(), &Options::default());
        let errors: Vec<Code> = reading
            .diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .map(|d| d.code)
            .collect();
        let expected: Vec<Code> = REFUSED.iter().filter(|(n, _)| *n == name).map(|(_, c)| *c).collect();
        if errors != expected {
            wrong.push(reading.render(&name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn formatting_keeps_the_rules() {
    for file in rules_files() {
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
