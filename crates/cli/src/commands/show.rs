//! `surmise show`: what a game is.

use crate::commands::JSON_VERSION;
use crate::output::{self, wrap};
use crate::{complete, interrupt, open, progress, threads};
use anyhow::{Result, bail};
use clap_complete::ArgValueCompleter;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use surmise::engine::EngineKind;
use surmise::game::{MoveId, RoleId, Seed, Simulator, State};
use surmise::game_report::ReportOptions;
use surmise::gdl::{Information, Notation, Options, Reading, Rules, Symbol, kw};
use surmise::ground::Reference;
use surmise::{GameText, column_width, files, gdl};

/// Say what a game is: roles, sizes, who sees what, an example turn, the rules
///
/// Prints roles, sizes, keywords used, GDL-I or GDL-II, what is hidden from whom, an example turn with every role's
/// view, and the rules themselves.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
    #[arg(add = ArgValueCompleter::new(complete::games))]
    game: String,
    /// Print only the rules
    #[arg(long)]
    rules: bool,
    /// Print the rules in infix notation
    #[arg(long)]
    infix: bool,
    /// Seed of the example turn, or of the report
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// One JSON object instead of text
    #[arg(long, conflicts_with_all = ["rules", "infix"])]
    json: bool,
    /// Play the game and report on it: length, choice, balance, what is hidden, what moves tell, value, cost of rules
    #[arg(long, conflicts_with_all = ["rules", "infix"])]
    report: bool,
    #[command(flatten)]
    more: ReportArgs,
}

/// Options of the report.
#[derive(clap::Args)]
struct ReportArgs {
    /// With --report: also write the report as an HTML page
    #[arg(long, value_name = "FILE", requires = "report")]
    html: Option<PathBuf>,
    /// With --html: overwrite a file that exists
    #[arg(long, requires = "html")]
    force: bool,
    /// With --report: random games
    #[arg(long, default_value_t = 1_000, value_name = "N", requires = "report")]
    games: u32,
    /// With --report: matches of good play (0: none)
    #[arg(long, default_value_t = 40, value_name = "N", requires = "report")]
    matches: u64,
    /// With --report: the player of good play; by default hp:16,4, or uct:200 where nothing is hidden
    #[arg(long, value_name = "PLAYER", requires = "report", add = ArgValueCompleter::new(complete::players))]
    player: Option<String>,
    /// With --report: random games in which beliefs are followed (0: none)
    #[arg(long, default_value_t = 20, value_name = "N", requires = "report")]
    beliefs: u32,
    /// With --report: joint moves or histories that the search for the value may try
    #[arg(long, default_value_t = 200_000, value_name = "N", requires = "report")]
    histories: u64,
    /// With --report: matches at a time; the report does not depend on it
    #[arg(long, default_value_t = threads::all_cores(), value_parser = threads::parse, value_name = "N")]
    threads: usize,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let loaded = open::text(&args.game)?;
    if args.report {
        return report(args, &loaded);
    }
    if loaded.bytes.len() > gdl::source::MAX_BYTES {
        let most = gdl::source::MAX_BYTES >> 20;
        bail!(
            "`{}` is longer than {most} MiB, the most that rules may have",
            loaded.name
        );
    }
    if args.rules && !args.infix {
        output::print(&String::from_utf8_lossy(&loaded.bytes));
        return Ok(ExitCode::SUCCESS);
    }
    let reading = gdl::read_bytes(&loaded.bytes, &Options::default());
    if args.rules {
        output::print(&rules_text(&reading, Notation::Infix)?);
        return Ok(ExitCode::SUCCESS);
    }
    loaded.playable()?;
    let mut sim = Reference::new(&reading.rules)?;
    if args.json {
        let summary = Summary::of(&reading.rules, &sim);
        output::print(&format!("{}\n", summary.json(&loaded)));
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = heading(&loaded);
    out += &Summary::of(&reading.rules, &sim).text(&reading.rules);
    out += &hidden(&loaded, &reading.rules, &sim);
    out += &example(&mut sim, Seed(args.seed))?;
    out += "\nRules\n\n";
    match args.infix {
        true => out += &rules_text(&reading, Notation::Infix)?,
        false => out += &String::from_utf8_lossy(&loaded.bytes),
    }
    output::print(&out);
    Ok(ExitCode::SUCCESS)
}

fn report(args: &Args, loaded: &GameText) -> Result<ExitCode> {
    let more = &args.more;
    if let Some(file) = more.html.as_ref().filter(|file| file.is_dir()) {
        bail!("`{}` is a folder; name a file for the page", file.display());
    }
    if let Some(file) = more.html.as_ref().filter(|file| !more.force && file.exists()) {
        bail!("`{}` exists; --force overwrites it", file.display());
    }
    let game = open::with(loaded, &open::engine_options(EngineKind::Auto, true))?;
    let options = ReportOptions {
        seed: args.seed,
        games: more.games,
        matches: more.matches,
        player: more.player.clone(),
        beliefs: more.beliefs,
        histories: more.histories,
        threads: more.threads,
        stop: interrupt::flag(),
        ..ReportOptions::default()
    };
    let spinner = progress::spinner("report");
    let made = game.report(&options, &|part, done, all| {
        spinner.set_message(|| format!("{}: {done} of {all}", part.name()));
    });
    spinner.finish();
    let made = made?;
    if let Some(file) = &more.html {
        files::write(file, made.html().as_bytes())?;
        output::note(&format!("wrote {}", file.display()));
    }
    match args.json {
        true => {
            let mut json = json!({"version": JSON_VERSION});
            for (key, value) in made.json().as_object().into_iter().flatten() {
                json[key] = value.clone();
            }
            output::json(&json);
        }
        false => output::print(&made.text()),
    }
    Ok(interrupt::exit_code())
}

fn rules_text(reading: &Reading, notation: Notation) -> Result<String> {
    gdl::format::format(&reading.ast, &reading.text, &reading.rules.symbols, notation)
        .map_err(|e| anyhow::anyhow!("the name `{}` cannot be written in infix notation", e.name))
}

fn heading(loaded: &GameText) -> String {
    let mut out = String::new();
    match &loaded.entry {
        Some(game) => {
            let _ = writeln!(out, "{} ({})\n", game.title, loaded.name);
        }
        None => {
            let _ = writeln!(out, "{}\n", loaded.name);
        }
    }
    out
}

/// What can be counted in the rules.
struct Summary {
    roles: Vec<String>,
    gdl2: bool,
    information: Information,
    facts: usize,
    rules: usize,
    relations: usize,
    keywords: Vec<String>,
}

impl Summary {
    fn of(rules: &Rules, sim: &Reference) -> Summary {
        let heads: BTreeSet<(Symbol, usize)> = rules
            .clauses
            .iter()
            .map(|c| (c.head.relation, c.head.args.len()))
            .collect();
        let own = heads.iter().filter(|(name, _)| !name.is_keyword_relation());
        let facts = rules.clauses.iter().filter(|c| c.body.is_empty()).count();
        Summary {
            roles: sim.roles().to_vec(),
            gdl2: rules.gdl2,
            information: rules.information(),
            facts,
            rules: rules.clauses.len() - facts,
            relations: own.count(),
            keywords: keywords(rules),
        }
    }

    fn language(&self) -> &'static str {
        match (self.gdl2, self.information) {
            (false, _) => "GDL-I: complete information, no chance",
            (true, Information::Open) => "GDL-II: chance, and every move is announced",
            (true, Information::Hidden) => "GDL-II: hidden information",
        }
    }

    fn text(&self, rules: &Rules) -> String {
        let roles: Vec<String> = self
            .roles
            .iter()
            .map(|r| {
                if r == "random" {
                    "random (nature)".to_owned()
                } else {
                    r.clone()
                }
            })
            .collect();
        let mut out = String::new();
        let _ = writeln!(out, "Roles      {}", roles.join(", "));
        let _ = writeln!(out, "Language   {}", self.language());
        let _ = writeln!(
            out,
            "Size       {} facts, {} rules, {} relations of its own, {} names",
            self.facts,
            self.rules,
            self.relations,
            names(rules)
        );
        let _ = writeln!(out, "Keywords   {}", self.keywords.join(" "));
        out
    }

    fn json(&self, loaded: &GameText) -> serde_json::Value {
        json!({
            "version": JSON_VERSION,
            "game": loaded.name,
            "title": loaded.entry.as_ref().map(|g| g.title),
            "roles": self.roles,
            "information": match self.information {
                Information::Open => "open",
                Information::Hidden => "hidden",
            },
            "language": if self.gdl2 { "GDL-II" } else { "GDL-I" },
            "facts": self.facts,
            "rules": self.rules,
            "relations": self.relations,
            "keywords": self.keywords,
            "sees": loaded.entry.as_ref().map(|g| &g.sees),
            "hidden": loaded.entry.as_ref().map(|g| &g.hidden),
            "optimum": loaded.entry.as_ref().map(|g| &g.optimum),
        })
    }
}

fn names(rules: &Rules) -> usize {
    let all = (0..rules.symbols.len()).map(|i| Symbol(i as u32));
    all.filter(|&s| !s.is_keyword_relation() && !s.is_connective())
        .filter(|&s| !rules.symbols.text(s).starts_with('?'))
        .count()
}

fn keywords(rules: &Rules) -> Vec<String> {
    let mut used = BTreeSet::new();
    let mut has_distinct = false;
    let mut has_not = false;
    for clause in &rules.clauses {
        used.insert(clause.head.relation);
        for literal in &clause.body {
            match literal {
                gdl::Literal::Pos(atom) => {
                    used.insert(atom.relation);
                }
                gdl::Literal::Neg(atom) => {
                    used.insert(atom.relation);
                    has_not = true;
                }
                gdl::Literal::Distinct(..) => has_distinct = true,
            }
        }
    }
    let mut words: Vec<String> = used
        .into_iter()
        .filter(|s| s.is_keyword_relation())
        .map(|s| rules.symbols.text(s).to_owned())
        .collect();
    words.extend(has_not.then(|| "not".to_owned()));
    words.extend(has_distinct.then(|| "distinct".to_owned()));
    words
}

/// What is hidden from whom: in the author's words if the game is ours, else what the `sees` rules tell each role.
fn hidden(loaded: &GameText, rules: &Rules, sim: &Reference) -> String {
    let mut out = String::new();
    if let Some(game) = &loaded.entry {
        for paragraph in &game.about {
            let _ = write!(out, "\n{}", wrap(paragraph, 2));
        }
        for (title, text) in [
            ("Sees", &game.sees),
            ("Hidden", &game.hidden),
            ("Optimum", &game.optimum),
            ("Source", &game.source),
        ] {
            let _ = write!(out, "\n{title}\n{}", wrap(text, 2));
        }
        return out;
    }
    out += "\nWho sees what\n";
    if rules.information() == Information::Open {
        out += "  every role sees every move\n";
        return out;
    }
    let told = percept_patterns(rules);
    for role in sim.roles().iter().filter(|r| *r != "random") {
        let own = told.get(role.as_str()).into_iter().flatten();
        let all = told.get("").into_iter().flatten();
        let patterns: Vec<&str> = own.chain(all).map(String::as_str).collect();
        let text = match patterns.as_slice() {
            [] => "nothing: it only knows its own moves".to_owned(),
            patterns => format!(
                "may perceive {}; everything else that others do is hidden",
                patterns.join(", ")
            ),
        };
        out += &wrap(&format!("{role} {text}"), 2);
    }
    out
}

/// The percepts that the rules speak of, by role; under the empty name those of rules for several roles.
fn percept_patterns(rules: &Rules) -> BTreeMap<String, BTreeSet<String>> {
    let mut told: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for clause in rules.clauses.iter().filter(|c| c.head.relation == kw::SEES) {
        let role = match &clause.head.args[0] {
            gdl::Term::Var(_) => String::new(),
            role => role.canonical(&rules.symbols),
        };
        let mut pattern = clause.head.args[1].canonical(&rules.symbols);
        // Variables carry their names in the rules; numbers would mean nothing to a reader.
        for (number, name) in clause.variables.iter().enumerate().rev() {
            pattern = pattern.replace(&format!("?v{number}"), name);
        }
        told.entry(role).or_default().insert(pattern);
    }
    told
}

/// One random game up to the first turn in which something was perceived, as everybody saw it.
fn example(sim: &mut Reference, seed: Seed) -> Result<String> {
    let mut rng = seed.child("show").rng();
    let mut state = sim.initial()?;
    let mut out = String::new();
    let _ = writeln!(out, "\nAn example (a random game)");
    for round in 1..=3 {
        if sim.terminal(&state)? {
            break;
        }
        let mut joint: Vec<MoveId> = Vec::new();
        let mut legal = Vec::new();
        for number in 0..sim.roles().len() {
            sim.legal(&state, RoleId(number as u16), &mut legal)?;
            if legal.is_empty() {
                let _ = writeln!(
                    out,
                    "  {} has no legal move (see `surmise check --simulate`)",
                    sim.roles()[number]
                );
                return Ok(out);
            }
            joint.push(*rng.pick(&legal));
        }
        let _ = writeln!(out, "\n  Round {round}");
        write_round(&mut out, sim, &state, &joint)?;
        state = sim.next(&state, &joint)?;
    }
    if sim.terminal(&state)? {
        let mut goals = Vec::new();
        for number in 0..sim.roles().len() {
            let points = sim.goal(&state, RoleId(number as u16))?;
            if let Some(points) = points.exact() {
                goals.push(format!("{} {points}", sim.roles()[number]));
            }
        }
        let _ = writeln!(out, "\n  The game is over: {}", goals.join(", "));
    }
    Ok(out)
}

fn write_round(out: &mut String, sim: &mut Reference, state: &State, joint: &[MoveId]) -> Result<()> {
    let shown = |texts: Vec<String>, most: usize| {
        let more = texts.len().saturating_sub(most);
        let mut list: Vec<String> = texts.into_iter().take(most).collect();
        if more > 0 {
            list.push(format!("… ({more} more)"));
        }
        list.join(" ")
    };
    *out += "    state\n";
    *out += &wrap(&shown(sim.fluents(state), 40), 6);
    let width = column_width(sim.roles().iter().map(String::as_str));
    for number in 0..sim.roles().len() {
        let role = RoleId(number as u16);
        let name = sim.roles()[number].clone();
        let mut legal = Vec::new();
        let mut percepts = Vec::new();
        sim.legal(state, role, &mut legal)?;
        sim.percepts(state, joint, role, &mut percepts)?;
        let seen: Vec<String> = percepts.iter().map(|&p| sim.percept_text(role, p).to_owned()).collect();
        let sees = match (name.as_str(), seen.is_empty()) {
            ("random", _) => String::new(),
            (_, true) => ", sees nothing".to_owned(),
            (_, false) => format!(", sees {}", shown(seen, 12)),
        };
        let mv = sim.move_text(role, joint[number]);
        let _ = writeln!(out, "    {name:width$}  plays {mv} (of {}){sees}", legal.len());
    }
    Ok(())
}
