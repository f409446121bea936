//! `surmise replay`: whether a record is what the rules say.

use crate::engine::{Engine, EngineOptions};
use crate::output;
use anyhow::{Context, Result, anyhow};
use referee::Record;
use std::process::ExitCode;

/// Check a record of a match against its rules
///
/// Plays the moves of each record again and holds every state, every percept and the goals against it; then prints the record
/// anew and compares it byte for byte.
#[derive(clap::Args)]
pub struct Args {
    /// Records, as `surmise match --record` writes them
    #[arg(required = true, value_name = "RECORD")]
    records: Vec<String>,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let mut failed = false;
    for path in &args.records {
        match check(path) {
            Ok(record) => {
                let goals: Vec<String> = record
                    .roles
                    .iter()
                    .zip(&record.goals)
                    .map(|(r, g)| format!("{r} {g}"))
                    .collect();
                output::print(&format!(
                    "{path}: {} rounds, {}\n",
                    record.rounds.len(),
                    goals.join(", ")
                ));
            }
            Err(error) => {
                failed = true;
                eprintln!("surmise: {path}: {error:#}");
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn check(path: &str) -> Result<Record> {
    let text = std::fs::read_to_string(path).context("cannot be read")?;
    let value = serde_json::from_str(&text).context("is not JSON")?;
    let record = Record::from_json(&value)?;
    let reading = gdl::read(&record.rules, &gdl::Options::default());
    if !reading.is_playable() {
        return Err(anyhow!("its rules cannot be played:\n{}", reading.render("gameText")));
    }
    let mut rules = reading.rules;
    rules.announce_moves();
    let engine = Engine::new(&rules, &EngineOptions::default())?;
    referee::replay(&record, engine.state_simulator().as_mut())?;
    let again = format!("{}\n", record.to_json());
    if again != text {
        return Err(anyhow!(
            "the record says the same, but in other bytes than Surmise writes"
        ));
    }
    Ok(record)
}
