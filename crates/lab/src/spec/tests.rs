//! Reading, expanding and hashing of specs.

use super::*;
use crate::error::Result;

const GOOD: &str = r#"
name = "doors"
title = "Monty Hall"
level = 0.99

[[sweep]]
game = "monty-hall:doors={doors}"
players = ["hp:{r},{r}"]
games = 100
quick = { games = 10, over = { r = [1, 16] } }
[sweep.over]
doors = [3, 4]
r = [1, 4, 16]
"#;

fn read(text: &str, size: Size) -> Result<Spec> {
    Spec::read("doors.toml", text, size, &[])
}

#[test]
fn sweeps_expand_in_order() {
    let spec = read(GOOD, Size::Plain).unwrap();
    assert_eq!(spec.cells.len(), 6);
    assert_eq!(spec.cells[1].game, "monty-hall:doors=3");
    assert_eq!(spec.cells[1].players, ["hp:4,4"]);
    assert_eq!(spec.cells[1].games, 100);
    let quick = read(GOOD, Size::Quick).unwrap();
    assert_eq!(quick.cells.len(), 4);
    assert_eq!(quick.cells[1].games, 10);
    assert_eq!(quick.cells[1].key, spec.cells[2].key, "the size is not part of the key");
}

#[test]
fn a_change_leaves_other_cells_alone() {
    let keys = |text: &str| -> Vec<String> {
        read(text, Size::Plain)
            .unwrap()
            .cells
            .into_iter()
            .map(|c| c.key)
            .collect()
    };
    let before = keys(GOOD);
    let more = keys(&GOOD.replace("r = [1, 4, 16]", "r = [1, 5, 16]"));
    let same: Vec<bool> = before.iter().zip(&more).map(|(a, b)| a == b).collect();
    assert_eq!(same, [true, false, true, true, false, true]);
    assert_eq!(
        before,
        keys(
            &GOOD
                .replace("games = 100", "games = 500")
                .replace("Monty Hall", "Doors")
        )
    );
    assert_ne!(before[0], keys(&GOOD.replace("level", "seed = 2\nlevel"))[0]);
}

#[track_caller]
fn refused(from: &str, to: &str, line: usize, why: &str) {
    let text = GOOD.replace(from, to);
    assert_ne!(text, GOOD);
    let error = read(&text, Size::Quick).expect_err("refused").to_string();
    let place = format!("doors.toml:{line}: ");
    assert!(error.starts_with(&place), "{error}");
    assert!(error.contains(why), "{error}");
}

#[test]
fn mistakes_are_told_with_their_line() {
    refused("title =", "titel =", 3, "unknown field `titel`");
    refused("games = 10,", "games = 0,", 10, "0 games");
    refused("level = 0.99", "level = 99", 4, "between 0.5 and 1");
    refused("{doors}", "{door}", 7, "asks for `door`");
    refused("r = [1, 16]", "q = [1, 16]", 6, "not a variable");
    refused("doors = [3, 4]", "doors = 3", 6, "list of values");
    refused("\"doors\"", "\"a/b\"", 2, "folder");
    refused("games = 100", "swap = true\ngames = 100", 8, "seat");
    refused("[[sweep]]", "[[sweep]", 6, "");
    refused("games = 100", "focus = 2\ngames = 100", 9, "from 1 to 1");
}

#[test]
fn a_margin_is_positive_and_leaves_a_range() {
    let with = |claim: &str| {
        let text = format!("{GOOD}[[claim]]\nsays = \"x\"\n{claim}\n");
        read(&text, Size::Quick).map(|spec| spec.claims[0].margin)
    };
    assert_eq!(with("above = 0.0\nmargin = 5.0").unwrap(), Some(5.0));
    assert_eq!(with("above = 0.0\nbelow = 11.0\nmargin = 5.0").unwrap(), Some(5.0));
    for wrong in [
        "margin = 0.0",
        "margin = -1.0",
        "margin = nan",
        "margin = inf",
        "below = 10.0\nmargin = 5.0",
    ] {
        let error = with(&format!("above = 0.0\n{wrong}")).expect_err(wrong).to_string();
        assert!(error.starts_with("doors.toml:14: the margin"), "{error}");
    }
}

#[test]
fn the_spec_of_the_guide_is_one() {
    let page = include_str!("../../../../docs/lab.md");
    let block = page
        .split_once("```toml\n")
        .and_then(|(_, rest)| rest.split_once("```"))
        .expect("a block")
        .0;
    let spec = Spec::read("lab.md", block, Size::Quick, &[]).unwrap();
    assert_eq!((spec.cells.len(), spec.plots.len(), spec.claims.len()), (6, 1, 1));
}

#[test]
fn values_may_come_together() {
    let text = GOOD
        .replace("r = [1, 4, 16]", "r = [{ r = 1, name = \"one\" }, 2]")
        .replace(", over = { r = [1, 16] }", "");
    let spec = read(&text, Size::Quick).unwrap();
    assert_eq!(spec.cells[0].var("name"), Some("one"));
    assert_eq!(spec.cells[1].players, ["hp:2,2"]);
}

const PAIRS: &str = r#"
name = "ladder"
title = "Who is strongest"
[set]
own = ""
[ladder]
by = "seconds"
[[sweep]]
game = "matching-pennies"
players = ["{first}", "{second}"]
pairs = ["a", "b", "c", "{own}"]
seconds = "{seconds}"
swap = true
games = 2
quick = { pairs = ["a", "c"] }
[sweep.over]
seconds = [0.2, 1]
"#;

#[test]
fn every_two_players_meet() {
    let pairs = |text: &str, size, set: &[(String, String)]| -> Vec<(Option<f64>, String)> {
        let spec = Spec::read("ladder.toml", text, size, set).unwrap();
        let both = |cell: Cell| (cell.seconds, cell.players.join("-"));
        spec.cells.into_iter().map(both).collect()
    };
    let plain = pairs(PAIRS, Size::Plain, &[]);
    let names: Vec<&str> = plain.iter().map(|(_, p)| p.as_str()).collect();
    assert_eq!(names, ["a-b", "a-c", "b-c", "a-b", "a-c", "b-c"]);
    assert_eq!((plain[0].0, plain[3].0), (Some(0.2), Some(1.0)));
    let quick = pairs(PAIRS, Size::Quick, &[]);
    assert_eq!(quick.len(), 2);
    let own = [("own".to_owned(), "remote:here:1".to_owned())];
    assert_eq!(pairs(PAIRS, Size::Plain, &own).len(), 12);
}

#[test]
fn time_is_part_of_the_key_and_has_to_make_sense() {
    let key = |seconds: &str| {
        let text = GOOD.replace("games = 100\n", &format!("games = 100\n{seconds}\n"));
        read(&text, Size::Plain).map(|spec| spec.cells[0].key.clone())
    };
    assert_ne!(key("").unwrap(), key("seconds = 1").unwrap());
    assert_ne!(key("seconds = 0.5").unwrap(), key("seconds = 1").unwrap());
    for wrong in ["seconds = 0", "seconds = -1", "seconds = \"soon\"", "pairs = [\"a\"]"] {
        assert!(key(wrong).is_err(), "{wrong}");
    }
}
