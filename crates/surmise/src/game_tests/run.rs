//! Running tests: each line is asked of the rules, and the answer compared.

use super::play::{OpenedGame, Play};
use super::{GameTests, Statement, TestGames, TestLine};
use crate::engine::EngineOptions;
use game::StopFlag;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How tests are run.
#[derive(Clone, Debug)]
pub struct TestOptions {
    /// Joint moves that one line may try. What needs more is undecided.
    pub work: u64,
    /// Whether games are compiled where a line needs many states.
    pub compile: bool,
    /// Options of the engines; their stop flags are replaced by `stop`.
    pub engine: EngineOptions,
    /// Ends the run; lines that were not reached are undecided.
    pub stop: StopFlag,
}

impl Default for TestOptions {
    fn default() -> Self {
        TestOptions {
            work: 2_000_000,
            compile: true,
            engine: EngineOptions::default(),
            stop: StopFlag::default(),
        }
    }
}

/// What became of a file of tests.
#[derive(Clone, Debug, Default)]
pub struct TestReport {
    /// Every line that says something about a game, `game` and `case` lines not counted unless they failed.
    pub lines: Vec<LineResult>,
    /// Whether the run was stopped before its end.
    pub stopped: bool,
}

/// What became of a line.
#[derive(Clone, Debug)]
pub struct LineResult {
    /// Number of the line, counted from 1.
    pub line: usize,
    /// Column of what is wrong, counted from 1.
    pub column: usize,
    /// The line without its remark.
    pub text: String,
    /// The game under test.
    pub game: String,
    /// Title of the case.
    pub case: String,
    /// Joint moves played before, each as `role move, role move`.
    pub after: Vec<String>,
    /// Whether the line holds.
    pub verdict: Verdict,
}

/// Whether a line holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It does.
    Holds,
    /// It does not.
    Fails(Difference),
    /// The answer takes more work than allowed, or there is none; the text says why.
    Undecided(String),
    /// A line before it failed, so that the play did not get there.
    Unreached,
}

/// What a failing line expected, and what the rules say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// What was expected, if that is a number or a word.
    pub expected: String,
    /// What the rules say, if that is a number or a word.
    pub found: String,
    /// Terms that were expected and are not there.
    pub missing: Vec<String>,
    /// Terms that are there and were not expected.
    pub unexpected: Vec<String>,
    /// What else there is to say.
    pub note: String,
}

impl Difference {
    /// A failure that is told in a sentence.
    pub(super) fn note(note: impl Into<String>) -> Difference {
        Difference {
            note: note.into(),
            ..Difference::default()
        }
    }
}

impl TestReport {
    /// Lines with this kind of verdict.
    pub fn count(&self, kind: impl Fn(&Verdict) -> bool) -> usize {
        self.lines.iter().filter(|line| kind(&line.verdict)).count()
    }

    /// Lines that hold.
    pub fn holding(&self) -> usize {
        self.count(|verdict| *verdict == Verdict::Holds)
    }

    /// Lines that fail.
    pub fn failing(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Fails(_)))
    }

    /// Lines that were not decided.
    pub fn undecided(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Undecided(_)))
    }

    /// Lines that were not reached.
    pub fn unreached(&self) -> usize {
        self.count(|verdict| *verdict == Verdict::Unreached)
    }

    /// Whether no line failed.
    pub fn passed(&self) -> bool {
        self.failing() == 0
    }
}

/// Runs tests, and reports the number of lines done after each.
pub fn run(tests: &GameTests, games: &TestGames, options: &TestOptions, progress: &mut dyn FnMut(usize)) -> TestReport {
    run_lines(tests, games, options, |_| true, Part::All, false, progress)
}

/// Which lines of a file are run. Lines that begin a play or continue it always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All lines.
    All,
    /// Lines that are answered from the current state.
    Quick,
    /// Lines that need enumeration or a solver.
    Slow,
}

impl Part {
    fn has(self, statement: &Statement) -> bool {
        use Statement as S;
        let slow = matches!(
            statement,
            S::Infoset(..) | S::Possible(..) | S::Believes(..) | S::Length(..) | S::Plays(_) | S::Perft(..)
        ) || matches!(statement, S::Value(..) | S::Record(_));
        let moves = matches!(statement, S::Game(_) | S::Case(_) | S::Play(_));
        match self {
            Part::All => true,
            Part::Quick => moves || !slow,
            Part::Slow => moves || slow,
        }
    }
}

/// Runs the lines of one part about the games that `wanted` names; if asked, only until the first failure.
pub(super) fn run_lines(
    tests: &GameTests,
    games: &TestGames,
    options: &TestOptions,
    wanted: impl Fn(&str) -> bool,
    part: Part,
    until_failure: bool,
    progress: &mut dyn FnMut(usize),
) -> TestReport {
    let mut runner = Runner {
        games,
        options,
        opened: BTreeMap::new(),
        report: TestReport::default(),
        case: None,
        play: None,
    };
    let mut game = games.own().unwrap_or_default().to_owned();
    for (done, line) in tests.lines.iter().enumerate() {
        if let Statement::Game(name) = &line.statement {
            name.clone_into(&mut game);
        }
        if !wanted(&game) || !part.has(&line.statement) {
            continue;
        }
        if options.stop.is_raised() {
            runner.report.stopped = true;
            break;
        }
        runner.line(line, &game);
        progress(done + 1);
        if until_failure && !runner.report.passed() {
            break;
        }
    }
    runner.report
}

struct Runner<'a> {
    games: &'a TestGames,
    options: &'a TestOptions,
    opened: BTreeMap<String, Result<Rc<OpenedGame>, String>>,
    report: TestReport,
    /// Game and title of the case that was begun last.
    case: Option<(String, String)>,
    /// Its play, unless it could not be begun or continued.
    play: Option<Play>,
}

impl Runner<'_> {
    fn line(&mut self, line: &TestLine, game: &str) {
        let begins = match &line.statement {
            Statement::Game(_) => Some(""),
            Statement::Case(title) => Some(title.as_str()),
            _ => None,
        };
        if begins.is_some() || self.case.is_none() {
            self.begin(line, game, begins.unwrap_or_default());
        }
        if begins.is_some() {
            return;
        }
        let Some(play) = &mut self.play else {
            self.add(line, 1, Vec::new(), Verdict::Unreached);
            return;
        };
        let after = play.joint_texts();
        let (column, verdict) = play.check(&line.statement, self.games, self.options);
        if matches!((&verdict, &line.statement), (Verdict::Fails(_), Statement::Play(_))) {
            self.play = None;
        }
        self.add(line, column, after, verdict);
    }

    fn add(&mut self, line: &TestLine, column: usize, after: Vec<String>, verdict: Verdict) {
        let (game, case) = self.case.clone().unwrap_or_default();
        self.report.lines.push(LineResult {
            line: line.number,
            column,
            text: line.text.clone(),
            game,
            case,
            after,
            verdict,
        });
    }

    /// Begins a play. If the rules cannot be run, the line fails and those below it are not reached.
    fn begin(&mut self, line: &TestLine, game: &str, title: &str) {
        self.case = Some((game.to_owned(), title.to_owned()));
        let opened = match self.opened.get(game) {
            Some(opened) => opened.clone(),
            None => {
                let opened = OpenedGame::new(game, self.games, self.options).map(Rc::new);
                self.opened.insert(game.to_owned(), opened.clone());
                opened
            }
        };
        match opened.and_then(Play::begin) {
            Ok(play) => self.play = Some(play),
            Err(why) => {
                self.play = None;
                self.add(line, 1, Vec::new(), Verdict::Fails(Difference::note(why)));
            }
        }
    }
}
