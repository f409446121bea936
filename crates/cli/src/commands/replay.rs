//! `surmise replay`: whether a record is what the rules say.

use crate::commands::JSON_VERSION;
use crate::{interrupt, open, output};
use anyhow::{Context, Result, anyhow};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use surmise::engine::{Engine, EngineKind};
use surmise::foreign::{self, RecordFormat};
use surmise::game::{RoleId, Simulator};
use surmise::ggp::kif;
use surmise::ggp::spelling::Spelling;
use surmise::referee::{Record, Round};
use surmise::{BeliefOptions, Game, files, gdl, ground, referee};

/// Check a record of a match against its rules
///
/// Plays the moves of each record again and compares every state, every percept and the goals; then writes the record
/// anew and compares it byte for byte. A record of `surmise player` has one role's sight, which has to be possible.
///
/// Records of other programs are recognised: the XML files of Dresden's GameController and the JSON of ggp-base. They
/// hold no rules, so --rules names them; everything that differs from the rules is printed.
#[derive(clap::Args)]
pub struct Args {
    /// Records, as `surmise match --record` and others write them
    #[arg(required = true, value_name = "RECORD")]
    records: Vec<String>,
    /// Also write XML for viewers into this folder: MATCH-ROLE/step_N.xml, with what each role may see
    ///
    /// What a role sees is what `sees_xml` says in the rules or in the view file; without such rules, in a game that
    /// hides something, its percepts.
    #[arg(long, value_name = "DIR")]
    views: Option<PathBuf>,
    /// Rules file or game of the catalogue, for records of other programs
    #[arg(long, value_name = "GAME")]
    rules: Option<String>,
    /// One JSON object a line for each record
    #[arg(long)]
    json: bool,
    /// Rules for `(sees_xml ROLE TERM)`, for --views
    #[arg(long, value_name = "FILE", requires = "views")]
    view: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let mut failed = false;
    let game = args.rules.as_deref().map(open::game).transpose()?;
    for path in &args.records {
        let checked = check(path, game.as_ref()).and_then(|record| write_views(args, &record).map(|()| record));
        match checked {
            Ok(record) if args.json => {
                let goals: serde_json::Map<_, _> = record
                    .roles
                    .iter()
                    .cloned()
                    .zip(record.goals.iter().map(|g| json!(g)))
                    .collect();
                output::json(&json!({
                    "version": JSON_VERSION, "record": path, "ok": true, "rounds": record.rounds.len(),
                    "complete": record.complete, "goals": goals,
                }));
            }
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
                if args.json {
                    let error = format!("{error:#}");
                    output::json(&json!({"version": JSON_VERSION, "record": path, "ok": false, "error": error}));
                } else {
                    output::error(&format!("{path}: {error:#}"));
                }
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn check(path: &str, game: Option<&Game>) -> Result<Record> {
    let text = read_record(Path::new(path))?;
    match RecordFormat::of(&text) {
        RecordFormat::Surmise => check_own(&text, game),
        format => check_foreign(&text, format, game),
    }
}

/// The text of a record. XML says its encoding, which may be Latin-1.
fn read_record(path: &Path) -> Result<String> {
    let xml = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("xml"));
    match files::read_text(path, files::LARGE_TEXT) {
        Err(_) if xml => {
            let bytes = std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
            anyhow::ensure!(bytes.len() as u64 <= files::SMALL_TEXT, "is too long");
            Ok(bytes.into_iter().map(char::from).collect())
        }
        read => Ok(read?),
    }
}

fn check_own(text: &str, game: Option<&Game>) -> Result<Record> {
    let value = serde_json::from_str(text).context("is not JSON")?;
    let record = Record::from_json(&value)?;
    if let Some(game) = game {
        game.check_record(&record)?;
    }
    let reading = gdl::read(&record.rules, &gdl::Options::default());
    if !reading.is_playable() {
        return Err(anyhow!("its rules cannot be played:\n{}", reading.render("gameText")));
    }
    match record.sight {
        Some(role) => check_sight(&record, role)?,
        None => {
            let mut rules = reading.rules;
            rules.announce_moves();
            let engine = Engine::new(&rules, &open::engine_options(EngineKind::Auto, true))?;
            referee::replay(&record, engine.state_simulator().as_mut())?;
        }
    }
    let again = format!("{}\n", record.to_json());
    if again != text {
        return Err(anyhow!(
            "the record says the same, but in other bytes than Surmise writes"
        ));
    }
    Ok(record)
}

/// A player's record: some history has to explain what the role was told.
fn check_sight(record: &Record, role: usize) -> Result<()> {
    let game = Game::from_rules("gameText", &record.rules)?;
    let told = record.told(role, record.rounds.len());
    let options = BeliefOptions {
        stop: interrupt::flag(),
        ..BeliefOptions::default()
    };
    let belief = game.belief(&record.roles[role], &told, &options)?;
    match belief.report.relaxed.first() {
        None => Ok(()),
        Some(round) => Err(anyhow!(
            "round {}: what {} was told is impossible by the rules",
            round + 1,
            record.roles[role]
        )),
    }
}

fn check_foreign(text: &str, format: RecordFormat, game: Option<&Game>) -> Result<Record> {
    let game = game.ok_or_else(|| anyhow!("is {format} and holds no rules; name them with --rules GAME"))?;
    let foreign = foreign::read(text, format)?;
    let differences = game.differences(&foreign)?;
    if !differences.is_empty() {
        return Err(anyhow!(
            "{format} differs from the rules:\n  {}",
            differences.join("\n  ")
        ));
    }
    let goal = |goals: &Vec<i64>| goals.iter().map(|&g| u8::try_from(g).unwrap_or(0)).collect();
    Ok(Record {
        roles: game.roles().to_vec(),
        rules: game.title().rules,
        complete: foreign.goals.is_some(),
        goals: foreign.goals.as_ref().map(goal).unwrap_or_default(),
        rounds: foreign
            .moves
            .into_iter()
            .map(|moves| Round {
                moves,
                ..Round::default()
            })
            .collect(),
        ..Record::default()
    })
}

fn write_views(args: &Args, record: &Record) -> Result<()> {
    let Some(folder) = &args.views else {
        return Ok(());
    };
    anyhow::ensure!(
        !record.states.is_empty(),
        "has no states to show, so there are no --views of it"
    );
    let more = match &args.view {
        None => String::new(),
        Some(file) => files::read_text(file, files::SMALL_TEXT)?,
    };
    let rules = gdl::read(&record.rules, &gdl::Options::default()).rules;
    let hidden = rules.information() == gdl::Information::Hidden;
    let spelling = Spelling::of(&rules);
    let spelled: Vec<String> = record.roles.iter().map(|role| spelling.send(role)).collect();
    let mut sight = Sight::new(&record.rules, &more)?;
    let files = referee::views(record, hidden, &spelled, |role, at| match &mut sight {
        Some(sight) => sight.shown(role, &record.states[at]),
        None => Ok(at
            .checked_sub(1)
            .map_or(Vec::new(), |t| record.rounds[t].percepts[role].clone())),
    })?;
    for (name, text) in files {
        let path = folder.join(name);
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        written.with_context(|| format!("cannot write `{}`", path.display()))?;
        let taken = files::differs(&path, text.as_bytes());
        anyhow::ensure!(
            !taken,
            "`{}` is there and holds something else; choose another folder",
            path.display()
        );
        files::write(&path, text.as_bytes())?;
    }
    Ok(())
}

/// The name that `sees_xml` goes by while it is evaluated.
const SIGHT: &str = "surmise_sight";

/// What roles are shown of a state, by the rules for `sees_xml`. They are asked for as legal moves, which are derived
/// from a state in the same way.
struct Sight {
    sim: Box<dyn Simulator>,
}

impl Sight {
    /// Nothing if there are no such rules.
    fn new(rules: &str, more: &str) -> Result<Option<Sight>> {
        // The reader leaves `sees_xml` out of a game, so it has another name here.
        let mut found = false;
        let rename = |name: &str| match name.eq_ignore_ascii_case("sees_xml") {
            true => {
                found = true;
                SIGHT.to_owned()
            }
            false => name.to_owned(),
        };
        let text = kif::map_names(&format!("{rules}\n{more}\n"), rename);
        if !found {
            return Ok(None);
        }
        let text = format!("{text}\n(<= (legal ?r ({SIGHT} ?t)) (role ?r) ({SIGHT} ?r ?t))\n");
        let reading = gdl::read(&text, &gdl::Options::default());
        if !reading.is_playable() {
            return Err(anyhow!(
                "the rules for `sees_xml` cannot be used:\n{}",
                reading.render("gameText and view")
            ));
        }
        let sim = Box::new(ground::Reference::new(&reading.rules)?);
        Ok(Some(Sight { sim }))
    }

    fn shown(&mut self, role: usize, state: &[String]) -> Result<Vec<String>> {
        let role = RoleId(role as u16);
        let state = self.sim.state_of(state);
        let state = state.ok_or_else(|| anyhow!("a state of the record cannot be shown"))?;
        let mut moves = Vec::new();
        self.sim.legal(&state, role, &mut moves)?;
        let texts = moves.iter().map(|&m| self.sim.move_text(role, m));
        let terms = texts.filter_map(|text| {
            text.strip_prefix('(')?
                .strip_prefix(SIGHT)?
                .strip_prefix(' ')?
                .strip_suffix(')')
        });
        Ok(terms.map(str::to_owned).collect())
    }
}
