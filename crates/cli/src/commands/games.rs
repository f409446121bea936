//! `surmise games`: the catalogue.

use crate::commands::JSON_VERSION;
use crate::output;
use anyhow::Result;
use serde_json::json;
use std::process::ExitCode;
use surmise::catalogue;

/// List the catalogue of games
///
/// Lists the games that come with Surmise, with their parameters.
///
/// A game is called by its name and parameters: `surmise show krieg-tictactoe:size=4,line=4`.
#[derive(clap::Args)]
pub struct Args {
    /// Only games whose name, title or tags hold this word
    word: Option<String>,
    /// One JSON object a line for each game
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let word = args.word.as_deref().unwrap_or_default().to_lowercase();
    let matches = |g: &&catalogue::CatalogueEntry| {
        g.name.contains(&word) || g.title.to_lowercase().contains(&word) || g.tags.iter().any(|t| t.contains(&word))
    };
    let games: Vec<&catalogue::CatalogueEntry> = catalogue::games().iter().filter(matches).collect();
    if games.is_empty() {
        anyhow::bail!("no game matches `{word}`; `surmise games` lists them all");
    }
    for game in games {
        output::print(&if args.json { json_line(game) } else { line(game) });
    }
    Ok(ExitCode::SUCCESS)
}

fn line(game: &catalogue::CatalogueEntry) -> String {
    let parameters: Vec<String> = game
        .parameters
        .iter()
        .map(|p| format!("{}={} ({}..{})", p.name, p.default, p.min, p.max))
        .collect();
    format!(
        "{:<24}{}\n{:<24}{}\n",
        game.name,
        parameters.join(", "),
        "",
        game.tags.join(", ")
    )
}

fn json_line(game: &catalogue::CatalogueEntry) -> String {
    let parameters: Vec<_> = game
        .parameters
        .iter()
        .map(
            |p| json!({"name": p.name, "min": p.min, "max": p.max, "default": p.default, "description": p.description}),
        )
        .collect();
    let object = json!({
        "version": JSON_VERSION,
        "name": game.name,
        "title": game.title,
        "parameters": parameters,
        "tags": game.tags,
        "source": game.source,
        "sees": game.sees,
        "hidden": game.hidden,
        "optimum": game.optimum,
    });
    format!("{object}\n")
}
