//! What the guide says is true.

use gdl::{Mode, Options};
use ground::{AuditOptions, audit};

#[test]
fn the_game_of_the_guide_is_clean() {
    let page = include_str!("../../../docs/write-a-game.md");
    let blocks = page.split("```lisp").skip(1).filter_map(|b| b.split_once("```"));
    let text: String = blocks.map(|(block, _)| block).collect();
    let strict = Options {
        mode: Mode::Strict,
        ..Options::default()
    };
    let reading = gdl::read(&text, &strict);
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
