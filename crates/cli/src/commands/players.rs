//! `surmise players`: all players and their options.

use crate::commands::JSON_VERSION;
use crate::output;
use anyhow::Result;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;
use surmise::column_width;
use surmise::players::{OptionDef, PlayerDef, PlayerSpecError, Preset, registry};

/// List players, or the options of one
///
/// A player is named as `NAME:VALUE,KEY=VALUE`: some options need no name, in their order, and all can be given by
/// name.
#[derive(clap::Args)]
pub struct Args {
    /// The player whose options to list
    #[arg(value_name = "NAME", add = clap_complete::ArgValueCompleter::new(crate::complete::players))]
    name: Option<String>,
    /// One JSON object instead of text
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Tables in Markdown, as in docs/players.md
    #[arg(long)]
    markdown: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let chosen: Vec<&PlayerDef> = match &args.name {
        None => registry::players().iter().collect(),
        Some(name) => {
            let found = registry::find(name).ok_or_else(|| PlayerSpecError::UnknownPlayer {
                name: name.clone(),
                suggestion: surmise::game::closest(name, registry::names()),
            });
            vec![found?]
        }
    };
    if args.json {
        let players: Vec<Value> = chosen.iter().map(|p| player_json(p)).collect();
        output::json(&json!({"version": JSON_VERSION, "players": players}));
        return Ok(ExitCode::SUCCESS);
    }
    output::print(&match (args.markdown, &args.name) {
        (true, _) => markdown(&chosen),
        (false, None) => list(&chosen),
        (false, Some(_)) => chosen.iter().map(|p| details(p)).collect(),
    });
    Ok(ExitCode::SUCCESS)
}

fn player_json(player: &PlayerDef) -> Value {
    let option = |option: &OptionDef| {
        json!({
            "name": option.name,
            "values": option.kind.to_string(),
            "default": match option.default {
                Preset::Value(value) => json!(value),
                _ => Value::Null,
            },
            "required": matches!(option.default, Preset::Required),
            "without": option.default.to_string(),
            "help": option.help,
        })
    };
    json!({
        "name": player.name,
        "usage": player.usage(),
        "summary": player.summary,
        "when": player.when,
        "by_position": player.by_position,
        "options": player.options().map(option).collect::<Vec<_>>(),
    })
}

fn list(players: &[&PlayerDef]) -> String {
    let width = players.iter().map(|p| p.usage().len()).max().unwrap_or(0);
    let mut out = String::new();
    for player in players {
        let _ = writeln!(out, "{:width$}  {}", player.usage(), player.summary);
    }
    out + "\n`surmise players NAME` lists the options of one; `surmise match GAME PLAYER PLAYER` plays.\n"
}

fn details(player: &PlayerDef) -> String {
    let mut out = format!("{}\n\n", player.usage());
    out += &output::wrap(&format!("{}. Use it when {}.", capital(player.summary), player.when), 2);
    let names: Vec<&OptionDef> = player.options().collect();
    if names.is_empty() {
        return out + "\n  no options\n";
    }
    let width = column_width(names.iter().map(|o| o.name));
    out.push('\n');
    for option in names {
        let _ = writeln!(out, "  {:width$}  {}", option.name, option.help);
        let _ = writeln!(out, "  {:width$}  {}; default: {}", "", option.kind, option.default);
    }
    out
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The tables of docs/players.md.
fn markdown(players: &[&PlayerDef]) -> String {
    let mut out = String::from("| player | decides by | use it when |\n|---|---|---|\n");
    for player in players {
        let _ = writeln!(out, "| `{}` | {} | {} |", player.usage(), player.summary, player.when);
    }
    for player in players {
        if player.options().next().is_none() {
            continue;
        }
        let _ = writeln!(out, "\n### `{}`\n", player.usage());
        out += "| option | values | default | meaning |\n|---|---|---|---|\n";
        for option in player.options() {
            let _ = writeln!(
                out,
                "| `{}` | {} | {} | {} |",
                option.name, option.kind, option.default, option.help
            );
        }
    }
    out
}
