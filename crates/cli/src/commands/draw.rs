//! `surmise draw`: a picture of a position, from the rules alone.

use crate::{complete, interrupt, open, output};
use anyhow::{Context, Result, bail};
use clap_complete::ArgValueCompleter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use surmise::draw::{SvgOptions, svg};
use surmise::game::Told;
use surmise::referee::Record;
use surmise::{BeliefOptions, Game, Showing, files};

/// Draw a position as SVG, as a referee or one role sees it
///
/// Boards, hands and counters are found in the rules. Without --record and --moves the initial position is drawn.
/// Without --role the whole state is drawn; with --role only what the role can know, given what it was told: what is
/// certain, or with --belief every fluent that may hold, with its probability. All other roles are then assumed to
/// choose uniformly.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
    #[arg(add = ArgValueCompleter::new(complete::games))]
    game: String,
    /// A record of a match, as `surmise match --record` writes it
    #[arg(long, value_name = "FILE", conflicts_with = "moves")]
    record: Option<PathBuf>,
    /// With --record: the position after this many rounds (all, if not given)
    #[arg(long, value_name = "K", requires = "record")]
    round: Option<usize>,
    /// The rounds so far, one argument each: the moves of all roles in order, as in "(mark 1 1) | noop"
    #[arg(long, value_name = "ROUND", num_args = 1..)]
    moves: Vec<String>,
    /// Draw what this role can know
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// With --role: draw everything the role holds possible, with probabilities
    #[arg(long, requires = "role")]
    belief: bool,
    /// Seed of the belief
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// The file to write (standard output, if not given)
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite a file of --out that holds something else
    #[arg(long)]
    force: bool,
}

/// A position: the whole state, and what each role was told.
struct Position {
    fluents: Vec<String>,
    told: Vec<Vec<Told>>,
    rounds: usize,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let game = open::game(&args.game)?;
    let position = position(args, &game)?;
    let layout = game.layout(&interrupt::flag())?;
    let after = match position.rounds {
        0 => "at the start".to_owned(),
        1 => "after round 1".to_owned(),
        many => format!("after {many} rounds"),
    };
    let (picture, title) = match &args.role {
        None => (
            game.full_picture(&layout, &position.fluents),
            format!("{} {after}", game.name()),
        ),
        Some(name) => {
            let role = usize::from(game.role(name)?.0);
            let showing = if args.belief { Showing::Belief } else { Showing::Certain };
            let options = BeliefOptions {
                seed: args.seed,
                stop: interrupt::flag(),
                ..BeliefOptions::default()
            };
            let picture = game.seat_picture(&layout, name, &position.told[role], showing, &options)?;
            let what = if args.belief { "believes" } else { "knows" };
            (picture, format!("{} {after}, what {name} {what}", game.name()))
        }
    };
    let options = SvgOptions {
        title,
        roles: game.roles().to_vec(),
        ..SvgOptions::default()
    };
    let image = svg(&picture, &options);
    match &args.out {
        None => output::print(&image),
        Some(path) => save(path, image.as_bytes(), args.force)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn position(args: &Args, game: &Game) -> Result<Position> {
    let Some(file) = &args.record else {
        let split = |round: &String| round.split('|').map(|mv| mv.trim().to_owned()).collect();
        let rounds: Vec<Vec<String>> = args.moves.iter().map(split).collect();
        let line = game.play_line(&rounds)?;
        return Ok(Position {
            fluents: line.fluents,
            told: line.told,
            rounds: rounds.len(),
        });
    };
    let shown = file.display();
    let record = Record::from_json(&files::read_json(file)?);
    let record = record.with_context(|| format!("`{shown}` is not a record of a match"))?;
    game.check_record(&record).with_context(|| format!("`{shown}`"))?;
    let last = record.rounds.len();
    let round = args.round.unwrap_or(last);
    let Some(fluents) = record.states.get(round).filter(|_| round <= last) else {
        bail!("`{shown}` has only {last} rounds");
    };
    Ok(Position {
        fluents: fluents.clone(),
        told: (0..record.roles.len()).map(|role| record.told(role, round)).collect(),
        rounds: round,
    })
}

/// Writes a file. One that exists with other contents is overwritten only by force.
fn save(path: &Path, bytes: &[u8], force: bool) -> Result<()> {
    if !force && files::differs(path, bytes) {
        bail!(
            "`{}` exists and holds something else; --force overwrites it",
            path.display()
        );
    }
    files::write(path, bytes)?;
    output::note(&format!("wrote `{}`", path.display()));
    Ok(())
}
