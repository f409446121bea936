//! Mutation testing: how many slips in the rules do the checks and the tests notice?
//!
//! Mutants are made by `gdl::mutate` (DeMillo, Lipton and Sayward, "Hints on test data selection", 1978). A mutant is
//! noticed by the checks if it gives an error or warning that the original does not give, statically or in random
//! games, and by the tests if a line fails that held before. For a mutant that nothing noticed, random games of both
//! are compared move by move (`lockstep`); the first difference is a test that would notice it. Without a difference
//! the mutant may be the same game, which no test can notice.
//!
//! Work is bounded by counts, and mutants are independent of each other: the result depends neither on the clock nor on
//! the number of threads.

use super::lockstep::{self, Comparison};
use super::run::{Part, run_lines};
use super::{GameTests, Statement, TestGames, TestOptions, Verdict};
use crate::engine::{EngineKind, EngineOptions};
use crate::matches::run_numbered;
use crate::{Error, Game, GameText};
use game::{Fault, Seed, StopFlag};
use gdl::mutate::{Class, Mutant, mutants};
use gdl::source::LineIndex;
use gdl::{Options, Severity};
use ground::{AuditOptions, EvaluationLimits, audit};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How mutants are made and tried.
#[derive(Clone, Debug)]
pub struct MutateOptions {
    /// Mutants of each class for each game, at most.
    pub per_class: usize,
    /// Seed of the choice of mutants and of random games.
    pub seed: u64,
    /// Random games of the checks, and of the search for differences.
    pub games: u32,
    /// Rounds after which a random game is given up.
    pub max_rounds: u32,
    /// Joint moves that a line of the tests may try.
    pub work: u64,
    /// Steps of evaluation that the random games of one mutant may take, in units of 4,096.
    pub steps: u64,
    /// Mutants tried at a time. The result does not depend on it.
    pub threads: usize,
    /// Ends the work; mutants that were tried count.
    pub stop: StopFlag,
}

impl Default for MutateOptions {
    fn default() -> Self {
        MutateOptions {
            per_class: 20,
            seed: 1,
            games: 100,
            max_rounds: 200,
            work: 20_000,
            steps: 2_000,
            threads: 1,
            stop: StopFlag::default(),
        }
    }
}

/// What became of the mutants of one game.
#[derive(Clone, Debug)]
pub struct MutationReport {
    /// The game, as the tests name it.
    pub game: String,
    /// The file of the rules, for places.
    pub file: String,
    /// Mutants that were tried, by place.
    pub mutants: Vec<MutantResult>,
    /// Mutants that were chosen.
    pub chosen: usize,
    /// Mutants that could have been chosen.
    pub all: usize,
    /// Random games in which mutants that nothing noticed were compared with the original.
    pub games: u32,
}

/// What became of a mutant.
#[derive(Clone, Debug)]
pub struct MutantResult {
    /// Kind of slip.
    pub class: Class,
    /// The slip in a few words.
    pub description: String,
    /// Line of the slip, counted from 1.
    pub line: u32,
    /// Column of the slip, counted from 1.
    pub column: u32,
    /// The line of the rules.
    pub text: String,
    /// Codes of the findings that the checks have for the mutant and not for the original.
    pub codes: Vec<&'static str>,
    /// The first line of the tests that fails, with its number.
    pub test: Option<(usize, String)>,
    /// For a mutant that nothing noticed: lines of a test that would, or none if no difference was seen.
    pub suggestion: Option<Vec<String>>,
}

impl MutantResult {
    /// Whether the checks noticed it.
    pub fn by_check(&self) -> bool {
        !self.codes.is_empty()
    }

    /// Whether the tests noticed it.
    pub fn by_test(&self) -> bool {
        self.test.is_some()
    }

    /// Whether neither did.
    pub fn unnoticed(&self) -> bool {
        !self.by_check() && !self.by_test()
    }
}

/// Mutants of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCounts {
    /// Mutants tried.
    pub mutants: usize,
    /// Noticed by the checks.
    pub check: usize,
    /// Noticed by the tests.
    pub test: usize,
    /// Noticed by neither, though some play differs.
    pub neither: usize,
    /// Noticed by neither, and no play differed: perhaps the same game.
    pub same: usize,
}

impl MutationReport {
    /// Counts by class, in the order of classes; classes without mutants are left out.
    pub fn classes(&self) -> Vec<(Class, ClassCounts)> {
        let mut counts: BTreeMap<Class, ClassCounts> = BTreeMap::new();
        for mutant in &self.mutants {
            let class = counts.entry(mutant.class).or_default();
            class.mutants += 1;
            class.check += usize::from(mutant.by_check());
            class.test += usize::from(mutant.by_test());
            class.neither += usize::from(mutant.unnoticed() && mutant.suggestion.is_some());
            class.same += usize::from(mutant.unnoticed() && mutant.suggestion.is_none());
        }
        counts.into_iter().collect()
    }

    /// Mutants that nothing noticed, those with a difference first.
    pub fn unnoticed(&self) -> Vec<&MutantResult> {
        let mut list: Vec<&MutantResult> = self.mutants.iter().filter(|mutant| mutant.unnoticed()).collect();
        list.sort_by_key(|mutant| mutant.suggestion.is_none());
        list
    }
}

/// The games that tests are about, in order.
pub fn tested_games(tests: &GameTests, games: &TestGames) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !name.is_empty() && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    let mut current = games.own().unwrap_or_default().to_owned();
    for line in &tests.lines {
        match &line.statement {
            Statement::Game(name) => name.clone_into(&mut current),
            Statement::Case(_) => {}
            _ => add(&current),
        }
    }
    names
}

/// Makes mutants of the rules of one game and tries them; `progress` gets how many are done, of how many.
///
/// # Errors
/// If the rules cannot be read or run, or the tests do not hold for them.
pub fn mutate(
    tests: &GameTests,
    games: &TestGames,
    game: &str,
    options: &MutateOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<MutationReport, Error> {
    let text = games.text(game)?;
    let reading = text.playable()?;
    let all = mutants(&reading.text, &Options::default());
    let chosen: Vec<&Mutant> = all.sample(options.per_class, options.seed);
    let mut trial = Trial {
        tests,
        games,
        game,
        options,
        original: GameText::new(text.name.clone(), all.source.clone()),
        known: Findings::new(),
        held: BTreeSet::new(),
    };
    trial.known = trial.findings(&trial.original);
    trial.held = trial.lines_that_hold()?;
    let lines = LineIndex::new(&all.source);
    let offsets: Vec<u32> = chosen.iter().map(|mutant| mutant.span.start).collect();
    let places = lines.positions(&all.source, &offsets);
    let done: Mutex<Vec<(usize, MutantResult)>> = Mutex::new(Vec::new());
    let lock = || done.lock().unwrap_or_else(PoisonError::into_inner);
    run_numbered(chosen.len() as u64, options.threads, &options.stop, |number| {
        let at = number as usize;
        let (mutant, place) = (chosen[at], places[at]);
        let mutated = GameText::new(text.name.clone(), all.text(mutant));
        let (codes, test, suggestion) = trial.notice(&mutated, Seed(options.seed).child("mutants").nth(number));
        if options.stop.is_raised() {
            return Ok(());
        }
        let range = lines.line_range(place.line as usize - 1, &all.source);
        let result = MutantResult {
            class: mutant.class,
            description: mutant.description.clone(),
            line: place.line,
            column: place.column,
            text: all.source[range].to_owned(),
            codes,
            test,
            suggestion,
        };
        let mut done = lock();
        done.push((at, result));
        progress(done.len(), chosen.len());
        Ok(())
    })?;
    let mut results = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(at, result)| (result.line, result.column, *at));
    Ok(MutationReport {
        game: game.to_owned(),
        file: text.name,
        chosen: chosen.len(),
        all: all.list.len(),
        mutants: results.into_iter().map(|(_, result)| result).collect(),
        games: options.games,
    })
}

/// What is the same for all mutants of a game.
struct Trial<'a> {
    tests: &'a GameTests,
    games: &'a TestGames,
    game: &'a str,
    options: &'a MutateOptions,
    original: GameText,
    /// Findings of the original.
    known: Findings,
    /// Lines that hold for the original.
    held: BTreeSet<usize>,
}

/// Errors and warnings: code, message and text at the place.
type Findings = BTreeSet<(&'static str, String, String)>;

/// Codes of new findings, the first line that fails, and a test that would notice the mutant.
type Noticed = (Vec<&'static str>, Option<(usize, String)>, Option<Vec<String>>);

impl Trial<'_> {
    /// A flag that is raised after a number of looks, or when the work is stopped.
    fn counted_stop(&self) -> StopFlag {
        let (looks, most) = (Arc::new(AtomicU64::new(0)), self.options.steps as f64);
        StopFlag::by(move || looks.fetch_add(1, Ordering::Relaxed) as f64 / most).under(&self.options.stop)
    }

    /// Errors and warnings of `check --simulate`.
    fn findings(&self, text: &GameText) -> Findings {
        let reading = gdl::read_bytes(&text.bytes, &Options::default());
        let mut found = reading.diagnostics.clone();
        found.extend(gdl::lint(&reading));
        if reading.is_playable() {
            let options = AuditOptions {
                seed: Seed(self.options.seed),
                games: self.options.games,
                max_rounds: self.options.max_rounds,
                stop: self.counted_stop(),
                ..AuditOptions::default()
            };
            found.extend(audit(&reading.rules, &options).diagnostics);
        }
        let loud = found.into_iter().filter(|d| d.severity != Severity::Note);
        loud.map(|d| {
            let place = reading.text.get(d.span.range()).unwrap_or_default().to_owned();
            (d.code.text(), d.message, place)
        })
        .collect()
    }

    fn test_options(&self) -> TestOptions {
        let evaluation = EvaluationLimits {
            steps: 4_096 * self.options.steps,
            ..EvaluationLimits::default()
        };
        TestOptions {
            work: self.options.work,
            compile: false,
            engine: EngineOptions {
                evaluation,
                ..EngineOptions::default()
            },
            stop: self.options.stop.clone(),
        }
    }

    fn lines_that_hold(&self) -> Result<BTreeSet<usize>, Error> {
        let mut held = BTreeSet::new();
        for part in [Part::Quick, Part::Slow] {
            let games = self.games.with(self.game, self.original.clone());
            let wanted = |game: &str| game == self.game;
            let report = run_lines(
                self.tests,
                &games,
                &self.test_options(),
                wanted,
                part,
                false,
                &mut |_| {},
            );
            if let Some(failed) = report.lines.iter().find(|l| matches!(l.verdict, Verdict::Fails(_))) {
                return Err(Error::OtherMatch(format!(
                    "the tests do not hold for the rules as they are; mend line {} first: {}",
                    failed.line, failed.text
                )));
            }
            let holding = report.lines.iter().filter(|line| line.verdict == Verdict::Holds);
            held.extend(holding.map(|line| line.line));
        }
        Ok(held)
    }

    fn notice(&self, mutant: &GameText, seed: Seed) -> Noticed {
        let findings = self.findings(mutant);
        let mut codes: Vec<&'static str> = findings.difference(&self.known).map(|(code, ..)| *code).collect();
        codes.dedup();
        if mutant.playable().is_err() {
            return (codes, self.failure(mutant), None);
        }
        let test = self.failure(mutant);
        if !codes.is_empty() || test.is_some() {
            return (codes, test, None);
        }
        (codes, None, self.difference(mutant, seed))
    }

    /// The first line that fails for a mutant and holds for the original.
    fn failure(&self, mutant: &GameText) -> Option<(usize, String)> {
        let games = self.games.with(self.game, mutant.clone());
        for part in [Part::Quick, Part::Slow] {
            let wanted = |game: &str| game == self.game;
            let report = run_lines(
                self.tests,
                &games,
                &self.test_options(),
                wanted,
                part,
                true,
                &mut |_| {},
            );
            let failed = report.lines.iter().find(|line| {
                let begins = line.text.starts_with("game") || line.text.starts_with("case");
                matches!(line.verdict, Verdict::Fails(_)) && (begins || self.held.contains(&line.line))
            });
            if let Some(line) = failed {
                return Some((line.line, line.text.clone()));
            }
        }
        None
    }

    /// A test that would notice the mutant.
    fn difference(&self, mutant: &GameText, seed: Seed) -> Option<Vec<String>> {
        let stop = self.counted_stop();
        let open = |text: &GameText| {
            let engine = EngineOptions {
                kind: EngineKind::Reference,
                evaluation_stop: stop.clone(),
                ..EngineOptions::default()
            };
            Game::new(text, &engine).map(|game| game.simulator())
        };
        let (mut first, mut second) = (open(&self.original).ok()?, open(mutant).ok()?);
        let rounds = self.options.max_rounds as usize;
        let go_on = || !stop.is_raised();
        match lockstep::compare(
            first.as_mut(),
            second.as_mut(),
            self.options.games,
            rounds,
            seed,
            &go_on,
        ) {
            Ok(Comparison::Differ(lines)) => Some(lines),
            Ok(Comparison::Same(_)) | Err(Fault::Stopped) => None,
            // The mutant cannot even be run where the original can: any test of that play fails.
            Err(fault) => Some(vec![format!("; {fault}")]),
        }
    }
}
