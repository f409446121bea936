//! What the guide says is true.

use surmise::gdl::{Mode, Options};
use surmise::ground::{AuditOptions, audit};

#[test]
fn the_game_of_the_guide_is_clean() {
    let page = include_str!("../../../docs/write-a-game.md");
    let blocks = page.split("```lisp").skip(1).filter_map(|b| b.split_once("```"));
    let text: String = blocks.map(|(block, _)| block).collect();
    let strict = Options {
        mode: Mode::Strict,
        ..Options::default()
    };
    let reading = surmise::gdl::read(&text, &strict);
    assert!(reading.diagnostics.is_empty(), "{}", reading.render("write-a-game.md"));
    let audit = audit(&reading.rules, &AuditOptions::default());
    assert!(audit.diagnostics.is_empty(), "{:?}", audit.diagnostics);
}

#[test]
fn every_page_that_the_readme_names_is_there() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let readme = std::fs::read_to_string(format!("{root}README.md")).unwrap();
    for link in readme.split("](").skip(1).filter_map(|l| l.split_once(')')) {
        assert!(
            std::path::Path::new(&format!("{root}{}", link.0)).exists(),
            "{}",
            link.0
        );
    }
}

/// The blocks of a page that begin like this.
fn blocks<'a>(page: &'a str, kind: &str) -> Vec<&'a str> {
    let begins = page.split(kind).skip(1);
    begins
        .filter_map(|b| b.split_once("```").map(|(block, _)| block))
        .collect()
}

#[test]
fn solving_prints_what_the_guide_shows() {
    let page = include_str!("../../../docs/solving.md");
    let folder = std::env::temp_dir().join(format!("surmise-docs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("inspection.kif"), blocks(page, "```lisp")[0]).unwrap();
    let sessions = blocks(page, "```text\n$ surmise ");
    assert_eq!(sessions.len(), 2);
    for session in sessions {
        let (command, shown) = session.split_once('\n').unwrap();
        let program = env!("CARGO_BIN_EXE_surmise");
        let ran = std::process::Command::new(program)
            .args(command.split_whitespace())
            .current_dir(&folder)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
        // Times differ, and so does what is left of rounding.
        for line in shown.lines().map(|l| l.split(" in 0.0").next().unwrap_or(l)) {
            let line = line.split(" (tree").next().unwrap_or(line);
            assert!(text.contains(line), "`{line}` is not in\n{text}");
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}
