//! Games, players and the check of rules.

use super::{json, read};
use crate::ApiError;
use crate::app::App;
use crate::games::{GameSource, TableGame, catalogue_text};
use crate::picture_json::PictureJson;
use crate::requests::CheckRequest;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::Serialize;
use std::sync::{Arc, OnceLock};
use surmise::catalogue::CatalogueEntry;
use surmise::gdl::{self, Information};
use surmise::players::{Preset, registry};

/// A game of the catalogue.
#[derive(Clone, Debug, Serialize)]
pub struct GameJson {
    name: String,
    title: String,
    about: String,
    tags: Vec<String>,
    hidden: bool,
    parameters: Vec<ParameterJson>,
    roles: Vec<String>,
}

/// A game with its rules and the picture of its initial state.
#[derive(Debug, Serialize)]
struct FullGameJson {
    #[serde(flatten)]
    game: GameJson,
    rules: String,
    sees: String,
    hidden_text: String,
    source: String,
    optimum: String,
    picture: PictureJson,
}

#[derive(Clone, Debug, Serialize)]
struct ParameterJson {
    name: &'static str,
    min: i64,
    max: i64,
    default: i64,
    about: &'static str,
}

#[derive(Debug, Serialize)]
struct PlayerJson {
    name: &'static str,
    summary: &'static str,
    #[serde(rename = "use")]
    when: &'static str,
    options: Vec<OptionJson>,
    example: String,
    open_only: bool,
    /// Strategies or networks that may be seated, as players.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    saved: Vec<String>,
}

#[derive(Debug, Serialize)]
struct OptionJson {
    name: &'static str,
    default: Option<&'static str>,
    values: String,
    about: &'static str,
}

#[derive(Debug, Serialize)]
struct CheckJson {
    findings: Vec<FindingJson>,
    playable: bool,
    roles: Vec<String>,
}

#[derive(Debug, Serialize)]
struct FindingJson {
    code: &'static str,
    severity: &'static str,
    message: String,
    help: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

/// `GET /api/games`.
pub async fn games(State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    static GAMES: OnceLock<Vec<GameJson>> = OnceLock::new();
    if GAMES.get().is_none() {
        // Reading all rules takes a moment, once.
        app.quick(|_| Ok(GAMES.get_or_init(all_games).len())).await?;
    }
    json(&GAMES.get())
}

fn all_games() -> Vec<GameJson> {
    let game = |entry: &CatalogueEntry| {
        let (text, _) = catalogue_text(entry.name).ok()?;
        let filled = text.entry.as_ref()?;
        let rules = gdl::read_bytes(&text.bytes, &gdl::Options::default()).rules;
        let roles = roles(&rules);
        Some(game_json(
            entry.name,
            filled,
            rules.information() == Information::Hidden,
            roles,
        ))
    };
    surmise::catalogue::games().iter().filter_map(game).collect()
}

fn game_json(name: &str, entry: &CatalogueEntry, hidden: bool, roles: Vec<String>) -> GameJson {
    let parameter = |p: &surmise::catalogue::Parameter| ParameterJson {
        name: p.name,
        min: p.min,
        max: p.max,
        default: p.default,
        about: p.description,
    };
    GameJson {
        name: name.to_owned(),
        title: entry.title.to_owned(),
        about: entry.about.join("\n\n"),
        tags: entry.tags.clone(),
        hidden,
        parameters: entry.parameters.iter().map(parameter).collect(),
        roles,
    }
}

/// `GET /api/games/NAME`.
pub async fn game(State(app): State<Arc<App>>, Path(name): Path<String>) -> Result<Response, ApiError> {
    let game = app.opening(move |app| {
        let (text, _) = catalogue_text(&name)?;
        let entry = text.entry.as_ref().ok_or_else(ApiError::internal)?;
        let open = app.tables.shelf.open(&GameSource::Catalogue(name.clone()))?;
        let hidden = open.game.information() == Information::Hidden;
        Ok(FullGameJson {
            game: game_json(&name, entry, hidden, open.played_roles()),
            rules: String::from_utf8_lossy(&text.bytes).into_owned(),
            sees: entry.sees.clone(),
            hidden_text: entry.hidden.clone(),
            source: entry.source.clone(),
            optimum: entry.optimum.clone(),
            picture: initial_picture(&open)?,
        })
    });
    json(&game.await?)
}

fn initial_picture(open: &TableGame) -> Result<PictureJson, ApiError> {
    let mut sim = open.game.simulator();
    let initial = sim.initial().map_err(surmise::Error::Fault)?;
    Ok(open.game.full_picture(&open.layout, &sim.fluents(&initial)).into())
}

/// `GET /api/players`.
pub async fn players(State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    let allowed = |name: &str| match name {
        "remote" => app.tables.options.allow_remote,
        "exec" => !app.tables.options.programs.is_empty(),
        "human" => false,
        "strategy" => !app.tables.options.strategies.is_empty(),
        _ => true,
    };
    let chosen = registry::players().iter().filter(|player| allowed(player.name));
    let mut players: Vec<PlayerJson> = chosen.map(player_json).collect();
    let (strategies, networks) = app.quick(|app| Ok(saved(&app.tables.options.strategies))).await?;
    for player in &mut players {
        match player.name {
            "strategy" => player.saved = strategies.clone(),
            "cfr" => player.saved = networks.clone(),
            _ => {}
        }
    }
    json(&players)
}

fn player_json(player: &'static registry::PlayerDef) -> PlayerJson {
    let option = |option: &'static surmise::players::OptionDef| OptionJson {
        name: option.name,
        default: match option.default {
            Preset::Value(value) => Some(value),
            _ => None,
        },
        values: option.kind.to_string(),
        about: option.help,
    };
    let example = example(player);
    PlayerJson {
        name: player.name,
        summary: player.summary,
        when: player.when,
        options: player.options().map(option).collect(),
        open_only: surmise::PlayerSpec::parse(&example).is_ok_and(|spec| spec.needs_open_game()),
        example,
        saved: Vec::new(),
    }
}

/// Saved strategies and networks that are listed.
const MOST_SAVED: usize = 200;

/// Strategies and networks in the allowed folders, as players.
fn saved(folders: &[std::path::PathBuf]) -> (Vec<String>, Vec<String>) {
    let (mut strategies, mut networks) = (Vec::new(), Vec::new());
    for folder in folders {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries.take(MOST_SAVED) {
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let path = entry.path();
            if path.is_dir() {
                networks.push(format!("cfr:net={name}"));
            } else if path.extension().is_some_and(|extension| extension == "json") {
                strategies.push(format!("strategy:{name}"));
            }
        }
    }
    strategies.sort();
    networks.sort();
    (strategies, networks)
}

/// The player with the default values of the options that need no name.
fn example(player: &'static registry::PlayerDef) -> String {
    let value = |name: &&str| match player.option(name).map(|option| option.default) {
        Some(Preset::Value(value)) => Some(value.to_owned()),
        _ => None,
    };
    let values: Vec<String> = player.by_position.iter().map_while(value).collect();
    match values.is_empty() {
        true => player.name.to_owned(),
        false => format!("{}:{}", player.name, values.join(",")),
    }
}

/// `POST /api/check`.
pub async fn check(State(app): State<Arc<App>>, body: Bytes) -> Result<Response, ApiError> {
    let request: CheckRequest = read(&body)?;
    let most = app.tables.options.limits.rules_bytes;
    if request.rules.len() > most {
        return Err(ApiError::new(
            413,
            "rules-too-long",
            format!("rules may have {most} bytes, these have {}", request.rules.len()),
            "use `surmise check FILE` for larger files",
        ));
    }
    json(&app.quick(move |_| Ok(check_rules(&request.rules))).await?)
}

fn check_rules(rules: &str) -> CheckJson {
    let reading = gdl::read_bytes(rules.as_bytes(), &gdl::Options::default());
    let index = gdl::source::LineIndex::new(&reading.text);
    let offsets = reading.diagnostics.iter().flat_map(|d| [d.span.start, d.span.end]);
    let positions = index.positions(&reading.text, &offsets.collect::<Vec<u32>>());
    let finding = |(d, at): (&gdl::Diagnostic, &[gdl::source::Position])| FindingJson {
        code: d.code.text(),
        severity: d.severity.word(),
        message: d.message.clone(),
        help: d.help.clone(),
        line: at[0].line,
        column: at[0].column,
        end_line: at[1].line,
        end_column: at[1].column,
    };
    CheckJson {
        findings: reading
            .diagnostics
            .iter()
            .zip(positions.chunks(2))
            .map(finding)
            .collect(),
        playable: reading.is_playable(),
        roles: roles(&reading.rules),
    }
}

/// The roles of rules that need not be playable, without nature.
fn roles(rules: &gdl::Rules) -> Vec<String> {
    let facts = rules
        .clauses
        .iter()
        .filter(|clause| clause.head.relation == gdl::kw::ROLE);
    let names = facts.filter_map(|clause| match &clause.head.args[..] {
        [gdl::Term::Fun(name, args)] if args.is_empty() => Some(rules.symbols.text(*name).to_owned()),
        _ => None,
    });
    names.filter(|name| name != "random").collect()
}
