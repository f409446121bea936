//! Experiments with players of one's own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use surmise::game::{Budget, Decision, Fault, Meter, Player, StopFlag, Told};
use surmise::lab::Size;
use surmise::{ExperimentOptions, ExperimentReport, Game, LabPlayer, OwnLabGames, OwnPlayer, run_experiment};

/// Always shows the same side.
struct Always(&'static str);

impl Player for Always {
    fn choose(&mut self, _: &[Told], _: &Budget) -> Result<Decision, Fault> {
        Ok(Decision::plain(self.0.to_owned()))
    }

    fn meter(&self) -> Meter {
        Meter::default()
    }
}

fn always(side: &'static str, files: Vec<PathBuf>) -> LabPlayer {
    let make = move |_: &Game, _, _| Box::new(Always(side)) as Box<dyn Player>;
    LabPlayer {
        entrant: Arc::new(OwnPlayer::new(side, make)),
        files,
    }
}

const SPEC: &str = r#"
name = "pennies"
title = "Matching pennies"
[[sweep]]
game = "matching-pennies"
players = ["mine", "{other}"]
games = 10
over = { other = ["mine", "yours", "random"] }
"#;

fn run(source: &OwnLabGames, out: &Path) -> Result<ExperimentReport, surmise::lab::Error> {
    let options = ExperimentOptions {
        origin: "pennies.toml".to_owned(),
        text: SPEC.to_owned(),
        size: Size::Plain,
        set: Vec::new(),
        out: Some(out.to_owned()),
        command: "a test".to_owned(),
        threads: 2,
        stop: StopFlag::default(),
        progress: &|_, _| {},
    };
    run_experiment(source, &options)
}

#[test]
fn own_players_are_named_like_others_and_play_again_when_their_files_change() {
    let place = std::env::temp_dir().join(format!("surmise-experiments-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).unwrap();
    let (code, out) = (place.join("player.txt"), place.join("out"));
    std::fs::write(&code, "heads").unwrap();
    let mut source = OwnLabGames::default();
    source.add("mine", always("(show heads)", vec![code.clone()])).unwrap();
    assert!(run(&source, &out).is_err(), "nobody is called yours");
    source.add("yours", always("(show tails)", Vec::new())).unwrap();
    for taken in ["mine", "random", "hp:16,4"] {
        assert!(
            source.add(taken, always("(show tails)", Vec::new())).is_err(),
            "{taken}"
        );
    }
    assert_eq!(source.names().collect::<Vec<_>>(), ["mine", "yours"]);
    let report = run(&source, &out).unwrap();
    assert_eq!(
        (report.run.played, report.run.before, report.run.complete),
        (30, 0, true)
    );
    let text = std::fs::read_to_string(report.folder.file("report.json")).unwrap();
    let data: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mean = |cell: usize| data["cells"][cell]["values"]["score"]["mean"].as_f64().unwrap();
    assert_eq!((mean(0), mean(1)), (100.0, 0.0));
    assert!((0.0..=100.0).contains(&mean(2)));
    let again = run(&source, &out).unwrap();
    assert_eq!((again.run.played, again.run.before), (0, 30));
    std::fs::write(&code, "tails").unwrap();
    let changed = run(&source, &out).unwrap();
    assert_eq!((changed.run.played, changed.run.before), (30, 0));
    std::fs::remove_dir_all(place).unwrap();
}
