//! `surmise draw` as a person or a script meets it.

use std::process::{Command, Output};

fn surmise(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_surmise")).args(args).output().unwrap()
}

#[track_caller]
fn drawn(args: &[&str]) -> String {
    let output = surmise(args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{text}");
    text
}

#[track_caller]
fn refused(args: &[&str], why: &str) {
    let output = surmise(args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && text.contains(why) && !text.contains("panicked"),
        "{text}"
    );
}

const LINE: [&str; 3] = ["--moves", "(mark 1 1) | (mark 2 2)", "(mark 2 2) | (mark 3 3)"];

#[test]
fn the_whole_state_and_what_a_role_knows() {
    let game = ["draw", "krieg-tictactoe:size=3,line=3"];
    let start = drawn(&game);
    assert!(start.contains("at the start") && start.contains("role=\"img\""));
    let referee = drawn(&[&game[..], &LINE].concat());
    assert!(referee.contains("<title>2 2: oplayer"), "{referee}");
    let role = ["--role", "xplayer"];
    let knows = drawn(&[&game[..], &LINE, &role].concat());
    assert!(
        !knows.contains("<title>3 3: oplayer"),
        "xplayer was not told where oplayer is: {knows}"
    );
    assert!(knows.contains("<title>1 1: xplayer"), "{knows}");
    let believes = drawn(&[&game[..], &LINE, &role, &["--belief"]].concat());
    assert!(believes.contains(" %"), "{believes}");
    assert_eq!(believes, drawn(&[&game[..], &LINE, &role, &["--belief"]].concat()));
}

/// Two lines in which xplayer is told the same give it the same picture.
#[test]
fn a_picture_of_a_role_depends_on_nothing_but_its_view() {
    for belief in [&[][..], &["--belief"]] {
        let of =
            |line: [&str; 2]| drawn(&[&["draw", "krieg-tictactoe", "--role", "xplayer"][..], belief, &line].concat());
        let one = of(["--moves", "(mark 1 1) | (mark 2 2)"]);
        let two = of(["--moves", "(mark 1 1) | (mark 5 4)"]);
        assert_eq!(one, two);
    }
}

#[test]
fn records_files_and_mistakes() {
    let folder = std::env::temp_dir().join(format!("surmise-draw-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let records = folder.to_str().unwrap();
    let game = "krieg-tictactoe:size=3,line=3";
    let played = surmise(&[
        "match", game, "random", "random", "--games", "1", "--record", records, "--quiet",
    ]);
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    let record = std::fs::read_dir(&folder)
        .unwrap()
        .map(|f| f.unwrap().path())
        .next()
        .unwrap();
    let record = record.to_str().unwrap();
    let text = drawn(&[
        "draw", game, "--record", record, "--round", "1", "--role", "oplayer", "--belief",
    ]);
    assert!(text.contains("after round 1"), "{text}");
    refused(&["draw", game, "--record", record, "--round", "1000"], "only");
    refused(&["draw", "tiger", "--record", record], "other roles");
    refused(&["draw", game, "--role", "nobody"], "no role `nobody`");
    refused(&["draw", game, "--belief"], "--role");
    refused(&["draw", game, "--moves", "(mark 1 1)"], "round 1");
    refused(&["draw", game, "--moves", "(mark 9 9) | (mark 1 1)"], "no legal move");
    let image = folder.join("image.svg");
    let image = image.to_str().unwrap();
    for (extra, fine) in [
        (&[][..], true),
        (&["--role", "xplayer"], false),
        (&["--role", "xplayer", "--force"], true),
    ] {
        let output = surmise(&[&["draw", game, "--out", image][..], extra].concat());
        assert_eq!(
            output.status.success(),
            fine,
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
