//! Run a lab spec and read its results: `cargo run --release -p surmise --example run_lab`.

use surmise::LabGames;
use surmise::game::StopFlag;
use surmise::lab::{Folder, RunOptions, RunPlan, Size, Spec, report};

const SPEC: &str = r#"
name = "doors"
title = "Monty Hall, by models"

[[sweep]]
game = "monty-hall"
players = ["hp:{models},4"]
games = 40
[sweep.over]
models = [1, 16]
"#;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spec = Spec::read("doors.toml", SPEC, Size::Plain, &[])?;
    // Games are opened and players are seated before anything is played: mistakes are found now.
    let plan = RunPlan::new(&spec, &LabGames)?;

    let path = std::env::temp_dir().join(format!("surmise-doors-{}", std::process::id()));
    let folder = Folder::prepare(&path, &spec)?;
    let manifest = surmise::lab::folder::Manifest {
        name: spec.name.clone(),
        size: Size::Plain.name().to_owned(),
        roles: plan.roles(),
        ..Default::default()
    };
    folder.describe(&manifest, &spec)?;
    let options = RunOptions {
        threads: 1,
        shard: (0, 1),
        journal: "local".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        stop: StopFlag::default(),
        progress: &|_| {},
    };
    // A run that was killed goes on from its journal when it is run again.
    let summary = plan.run(&folder, &options)?;
    folder.finish(&spec)?;
    report::write(&folder)?;
    println!(
        "{} matches played; the report is {}",
        summary.played,
        folder.file("report.html").display()
    );
    std::fs::remove_dir_all(&path)?;
    Ok(())
}
