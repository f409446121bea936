//! A play of a game under test, and what is asked of it.

use super::enumerate::{self, Allowance, PlayedRound, Unanswered};
use super::value::{self, ValueBounds};
use super::{Difference, Statement, TestGames, TestOptions, Verdict, Word, Written};
use crate::engine::EngineKind;
use crate::foreign::{self, RecordFormat};
use crate::{Game, GameText};
use game::{Fault, Goal, MoveId, RoleId, Simulator, State};
use referee::{Record, RecordError};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Joint moves that the reference simulator tries before a game is compiled.
const BEFORE_COMPILING: u64 = 5_000;

/// A game that cannot be compiled is allowed this fraction of the joint moves.
const REFERENCE_SHARE: u64 = 20;

/// A game under test on the reference simulator, and compiled once that is needed.
pub(super) struct OpenedGame {
    game: Game,
    text: GameText,
    compiled: OnceCell<Option<Game>>,
}

impl OpenedGame {
    /// Opens rules by the name that tests give them.
    pub fn new(name: &str, games: &TestGames, options: &TestOptions) -> Result<OpenedGame, String> {
        if name.is_empty() {
            return Err(
                "no rules are named: write `game FILE` first, or name the test file after its rules".to_owned(),
            );
        }
        let mut engine = options.engine.clone();
        engine.kind = EngineKind::Reference;
        engine.evaluation_stop = options.stop.clone();
        let text = games.text(name).map_err(|error| error.to_string())?;
        let game = Game::new(&text, &engine).map_err(|error| error.to_string())?;
        Ok(OpenedGame {
            game,
            text,
            compiled: OnceCell::new(),
        })
    }

    fn compiled(&self, options: &TestOptions) -> Option<&Game> {
        let compile = || {
            let mut engine = options.engine.clone();
            engine.kind = EngineKind::Auto;
            engine.limits.stop = options.stop.clone();
            engine.evaluation_stop = options.stop.clone();
            let game = options.compile.then(|| Game::new(&self.text, &engine).ok())??;
            game.engine().compiled().is_some().then_some(game)
        };
        self.compiled.get_or_init(compile).as_ref()
    }
}

/// A play from the initial state.
pub(super) struct Play {
    opened: Rc<OpenedGame>,
    sim: Box<dyn Simulator>,
    state: State,
    rounds: Vec<PlayedRound>,
}

/// Why a line does not hold, or cannot be decided, and the column to blame.
enum Objection {
    Fails(usize, Box<Difference>),
    Unanswered(Unanswered),
}

impl From<Unanswered> for Objection {
    fn from(why: Unanswered) -> Objection {
        Objection::Unanswered(why)
    }
}

impl From<Fault> for Objection {
    fn from(fault: Fault) -> Objection {
        Objection::Unanswered(fault.into())
    }
}

type Checked = Result<(), Objection>;

fn fails(column: usize, note: impl Into<String>) -> Checked {
    Err(Objection::Fails(column, Box::new(Difference::note(note))))
}

/// Compares what was expected with what was found, as words.
fn same(column: usize, expected: impl ToString, found: impl ToString) -> Checked {
    let (expected, found) = (expected.to_string(), found.to_string());
    if expected == found {
        return Ok(());
    }
    let difference = Difference {
        expected,
        found,
        ..Difference::default()
    };
    Err(Objection::Fails(column, Box::new(difference)))
}

/// Compares sets of terms.
fn same_set(column: usize, expected: &[Word], found: &[String]) -> Checked {
    let expected: BTreeSet<&str> = expected.iter().map(|word| word.text.as_str()).collect();
    let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    let less = |a: &BTreeSet<&str>, b: &BTreeSet<&str>| a.difference(b).map(|t| (*t).to_owned()).collect();
    let difference = Difference {
        missing: less(&expected, &found),
        unexpected: less(&found, &expected),
        ..Difference::default()
    };
    match expected == found {
        true => Ok(()),
        false => Err(Objection::Fails(column, Box::new(difference))),
    }
}

/// Column of the first argument, for lines without a word to blame.
const FIRST: usize = 1;

impl Play {
    pub fn begin(opened: Rc<OpenedGame>) -> Result<Play, String> {
        let mut sim = opened.game.simulator();
        let state = sim.initial().map_err(|fault| fault.to_string())?;
        Ok(Play {
            opened,
            sim,
            state,
            rounds: Vec::new(),
        })
    }

    /// The joint moves so far, each as `role move, role move`.
    pub fn joint_texts(&self) -> Vec<String> {
        let one = |round: &PlayedRound| {
            let pairs = self.sim.roles().iter().zip(&round.moves);
            pairs
                .map(|(role, mv)| format!("{role} {mv}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        self.rounds.iter().map(one).collect()
    }

    /// Whether a line holds here, and the column to blame if not.
    pub fn check(&mut self, statement: &Statement, games: &TestGames, options: &TestOptions) -> (usize, Verdict) {
        match self.ask(statement, games, options) {
            Ok(()) => (1, Verdict::Holds),
            Err(Objection::Fails(column, difference)) => (column, Verdict::Fails(*difference)),
            Err(Objection::Unanswered(why)) => match why {
                Unanswered::Work => {
                    let why = format!("it takes more than {} joint moves (--work)", options.work);
                    (1, Verdict::Undecided(why))
                }
                Unanswered::Stopped => (1, Verdict::Undecided("stopped".to_owned())),
                Unanswered::None(why) => (1, Verdict::Undecided(why)),
                Unanswered::Fault(fault) => (1, Verdict::Fails(Difference::note(fault.to_string()))),
            },
        }
    }

    fn ask(&mut self, statement: &Statement, games: &TestGames, options: &TestOptions) -> Checked {
        match statement {
            Statement::Game(_) | Statement::Case(_) => Ok(()),
            Statement::Roles(roles) => {
                let expected: Vec<&str> = roles.iter().map(|role| role.text.as_str()).collect();
                same(roles[0].column, expected.join(" "), self.sim.roles().join(" "))
            }
            Statement::Legal(role, count) => {
                let found = self.legal_texts(role)?;
                same(role.column, count, found.len())
            }
            Statement::Moves(role, moves) => same_set(role.column, moves, &self.legal_texts(role)?),
            Statement::Can(role, moves) => self.can(role, moves),
            Statement::Cannot(role, moves) => self.cannot(role, moves),
            Statement::Play(joint) => self.play(joint),
            Statement::Sees(role, percepts) => {
                let at = usize::from(self.role(role)?.0);
                match self.rounds.last() {
                    None => fails(role.column, "no round was played yet"),
                    Some(round) => same_set(role.column, percepts, &round.percepts[at]),
                }
            }
            Statement::Holds(fluents) => {
                let found = self.sim.fluents(&self.state);
                let missing = fluents.iter().filter(|word| !found.contains(&word.text));
                self.all_there(missing.collect(), &found)
            }
            Statement::Absent(fluents) => {
                let found = self.sim.fluents(&self.state);
                none_there(fluents.iter().filter(|word| found.contains(&word.text)).collect())
            }
            Statement::State(fluents) => same_set(FIRST, fluents, &self.sim.fluents(&self.state)),
            Statement::Infoset(role, count) => {
                let found = self.information_set(role, options)?;
                let sum: u64 = found.iter().map(|(_, reached)| reached.histories).sum();
                same(role.column, count, sum)
            }
            Statement::Possible(role, count) => {
                let found = self.information_set(role, options)?;
                same(role.column, count, found.len())
            }
            Statement::Believes(role, fluent, p) => self.believes(role, fluent, *p, options),
            Statement::Open => match self.sim.terminal(&self.state)? {
                false => Ok(()),
                true => fails(FIRST, "the game is over"),
            },
            Statement::Terminal => match self.sim.terminal(&self.state)? {
                true => Ok(()),
                false => fails(FIRST, "the game is not over"),
            },
            Statement::Goal(role, points) => self.goal(role, *points),
            Statement::Length(low, high) => {
                let (shortest, longest) = self.on_engines(options, &mut |sim, work| enumerate::length(sim, work))?;
                same(FIRST, format!("{low}..{high}"), format!("{shortest}..{longest}"))
            }
            Statement::Plays(count) => {
                let found = self.on_engines(options, &mut |sim, work| enumerate::count_plays(sim, None, work))?;
                same(FIRST, count, found)
            }
            Statement::Perft(depth, count) => {
                let depth = Some(*depth);
                let found = self.on_engines(options, &mut |sim, work| enumerate::count_plays(sim, depth, work))?;
                same(FIRST, count, found)
            }
            Statement::Value(role, points) => self.value(role, *points, options),
            Statement::Record(file) => self.record(file, games),
        }
    }

    fn role(&self, name: &Word) -> Result<RoleId, Objection> {
        let roles = self.sim.roles();
        let at = roles.iter().position(|role| *role == name.text);
        at.map(|at| RoleId(at as u16)).ok_or_else(|| {
            let guess = game::closest(&name.text, roles.iter().map(String::as_str));
            let help = match guess {
                Some(role) => format!("did you mean `{role}`?"),
                None => format!("its roles are {}", roles.join(", ")),
            };
            let note = format!("the game has no role `{}`; {help}", name.text);
            Objection::Fails(name.column, Box::new(Difference::note(note)))
        })
    }

    fn legal(&mut self, role: RoleId) -> Result<Vec<MoveId>, Fault> {
        let mut legal = Vec::new();
        self.sim.legal(&self.state, role, &mut legal)?;
        Ok(legal)
    }

    fn legal_texts(&mut self, role: &Word) -> Result<Vec<String>, Objection> {
        let role = self.role(role)?;
        let legal = self.legal(role)?;
        Ok(legal
            .iter()
            .map(|&mv| self.sim.move_text(role, mv).to_owned())
            .collect())
    }

    fn can(&mut self, role: &Word, moves: &[Word]) -> Checked {
        let found = self.legal_texts(role)?;
        let missing = moves.iter().filter(|word| !found.contains(&word.text));
        self.all_there(missing.collect(), &found)
    }

    fn cannot(&mut self, role: &Word, moves: &[Word]) -> Checked {
        let found = self.legal_texts(role)?;
        none_there(moves.iter().filter(|word| found.contains(&word.text)).collect())
    }

    /// A failure if something is missing, with the closest term that is there.
    fn all_there(&self, missing: Vec<&Word>, found: &[String]) -> Checked {
        let Some(first) = missing.first() else {
            return Ok(());
        };
        let guess = game::closest(&first.text, found.iter().map(String::as_str));
        let difference = Difference {
            missing: missing.iter().map(|word| word.text.clone()).collect(),
            note: guess.map_or(String::new(), |there| format!("there is `{there}`")),
            ..Difference::default()
        };
        Err(Objection::Fails(first.column, Box::new(difference)))
    }

    fn play(&mut self, given: &[(Word, Word)]) -> Checked {
        for (role, _) in given {
            self.role(role)?;
        }
        if self.sim.terminal(&self.state)? {
            return fails(FIRST, "the game is over: no round can be played");
        }
        let mut joint = Vec::new();
        for number in 0..self.sim.roles().len() {
            let role = RoleId(number as u16);
            let name = self.sim.roles()[number].clone();
            let legal = self.legal(role)?;
            let word = given.iter().find(|(role, _)| role.text == name).map(|(_, mv)| mv);
            let chosen = match (word, &legal[..]) {
                (Some(word), _) => {
                    let found = legal.iter().find(|&&mv| self.sim.move_text(role, mv) == word.text);
                    match found {
                        Some(&mv) => mv,
                        None => return self.illegal(role, word, &legal),
                    }
                }
                (None, &[only]) => only,
                (None, []) => return fails(FIRST, format!("{name} has no legal move")),
                (None, _) => return fails(FIRST, format!("{name} has {} legal moves: name one", legal.len())),
            };
            joint.push(chosen);
        }
        let mut round = PlayedRound::default();
        for (number, &mv) in joint.iter().enumerate() {
            let role = RoleId(number as u16);
            let mut percepts = Vec::new();
            self.sim.percepts(&self.state, &joint, role, &mut percepts)?;
            let texts = percepts.iter().map(|&p| self.sim.percept_text(role, p).to_owned());
            round.percepts.push(texts.collect());
            round.moves.push(self.sim.move_text(role, mv).to_owned());
        }
        self.state = self.sim.next(&self.state, &joint)?;
        self.rounds.push(round);
        Ok(())
    }

    fn illegal(&self, role: RoleId, word: &Word, legal: &[MoveId]) -> Checked {
        let name = &self.sim.roles()[usize::from(role.0)];
        let texts: Vec<&str> = legal.iter().map(|&mv| self.sim.move_text(role, mv)).collect();
        let guess = game::closest(&word.text, texts.iter().copied());
        let shown: Vec<&str> = texts.iter().copied().take(8).collect();
        let help = match guess {
            Some(mv) => format!("did you mean `{mv}`?"),
            None if texts.is_empty() => "it has none".to_owned(),
            None if texts.len() > 8 => format!("legal are {} … ({} moves)", shown.join(" "), texts.len()),
            None => format!("legal are {}", shown.join(" ")),
        };
        fails(
            word.column,
            format!("`{}` is not a legal move of {name}; {help}", word.text),
        )
    }

    fn goal(&mut self, role: &Word, points: i32) -> Checked {
        let id = self.role(role)?;
        if !self.sim.terminal(&self.state)? {
            return fails(FIRST, "the game is not over, so nobody is paid yet");
        }
        match self.sim.goal(&self.state, id)? {
            Goal::Value(found) => same(role.column, points, found),
            Goal::None => same(role.column, points, "no goal"),
            Goal::Many(most) => same(role.column, points, format!("several goals, of which {most} counts")),
        }
    }

    /// Asks a question of the reference simulator, and of the compiled game if that takes long.
    fn on_engines<T>(
        &mut self,
        options: &TestOptions,
        ask: &mut dyn FnMut(&mut dyn Simulator, &mut Allowance<'_>) -> Result<T, Unanswered>,
    ) -> Result<T, Unanswered> {
        let first = BEFORE_COMPILING.min(options.work);
        match ask(self.sim.as_mut(), &mut Allowance::new(first, &options.stop)) {
            Err(Unanswered::Work) if first < options.work => {}
            answer => return answer,
        }
        match self.opened.compiled(options) {
            Some(game) => {
                let mut sim = game.simulator();
                ask(sim.as_mut(), &mut Allowance::new(options.work, &options.stop))
            }
            None => {
                let work = reference_work(options);
                ask(self.sim.as_mut(), &mut Allowance::new(work, &options.stop))
            }
        }
    }

    fn information_set(
        &mut self,
        role: &Word,
        options: &TestOptions,
    ) -> Result<Vec<(Vec<String>, enumerate::Reached)>, Objection> {
        let id = self.role(role)?;
        let (rounds, is_over) = (self.rounds.clone(), self.sim.terminal(&self.state)?);
        let states = self.on_engines(options, &mut |sim, work| {
            let found = enumerate::information_set(sim, &rounds, id, is_over, work)?;
            Ok(found
                .into_iter()
                .map(|(state, reached)| (sim.fluents(&state), reached))
                .collect())
        })?;
        Ok(states)
    }

    fn believes(&mut self, role: &Word, fluent: &Word, p: Written, options: &TestOptions) -> Checked {
        let states = self.information_set(role, options)?;
        let holds = states.iter().filter(|(fluents, _)| fluents.contains(&fluent.text));
        let found: f64 = holds.map(|(_, reached)| reached.probability).sum();
        match p.agrees(found) {
            true => Ok(()),
            false => same(fluent.column, number(p.value), number(found)),
        }
    }

    fn value(&mut self, role: &Word, points: Written, options: &TestOptions) -> Checked {
        let id = self.role(role)?;
        let bounds = self.value_bounds(id, options)?;
        let away = (points.value - points.tolerance > bounds.high) || (points.value + points.tolerance < bounds.low);
        if away {
            let found = match number(bounds.low) == number(bounds.high) {
                true => number(bounds.low),
                false => format!("{} to {}", number(bounds.low), number(bounds.high)),
            };
            return same(role.column, number(points.value), found);
        }
        match points.agrees(bounds.low) && points.agrees(bounds.high) {
            true => Ok(()),
            false => Err(Objection::Unanswered(Unanswered::None(format!(
                "the value was only found to be between {} and {}",
                number(bounds.low),
                number(bounds.high)
            )))),
        }
    }

    fn value_bounds(&mut self, role: RoleId, options: &TestOptions) -> Result<ValueBounds, Unanswered> {
        let first = BEFORE_COMPILING.min(options.work);
        match value::of_game(&self.opened.game, role, first, &options.stop) {
            Err(Unanswered::Work) if first < options.work => {}
            answer => return answer,
        }
        match self.opened.compiled(options) {
            Some(game) => value::of_game(game, role, options.work, &options.stop),
            None => value::of_game(&self.opened.game, role, reference_work(options), &options.stop),
        }
    }

    fn record(&mut self, file: &str, games: &TestGames) -> Checked {
        let text = match games.record(file) {
            Ok(text) => text,
            Err(error) => return fails(FIRST, error.to_string()),
        };
        let format = RecordFormat::of(&text);
        if format != RecordFormat::Surmise {
            let differences = foreign::read(&text, format).and_then(|m| self.opened.game.differences(&m));
            return match differences {
                Ok(differences) if differences.is_empty() => Ok(()),
                Ok(differences) => fails(FIRST, differences.join("; ")),
                Err(error) => fails(FIRST, error.to_string()),
            };
        }
        let value = serde_json::from_str(&text).map_err(|error| error.to_string());
        let record = value.and_then(|value| Record::from_json(&value).map_err(|error| error.to_string()));
        let record = match record {
            Ok(record) => record,
            Err(why) => return fails(FIRST, format!("`{file}` is not a record: {why}")),
        };
        match referee::replay(&record, self.sim.as_mut()) {
            Ok(()) => Ok(()),
            Err(RecordError::Differs { what, rules, record }) => {
                let difference = Difference {
                    expected: record,
                    found: rules,
                    note: what,
                    ..Difference::default()
                };
                Err(Objection::Fails(FIRST, Box::new(difference)))
            }
            Err(RecordError::Fault(fault)) => Err(fault.into()),
            Err(error) => fails(FIRST, error.to_string()),
        }
    }
}

fn none_there(there: Vec<&Word>) -> Checked {
    let Some(first) = there.first() else {
        return Ok(());
    };
    let difference = Difference {
        unexpected: there.iter().map(|word| word.text.clone()).collect(),
        ..Difference::default()
    };
    Err(Objection::Fails(first.column, Box::new(difference)))
}

/// Joint moves that the reference simulator may try. It is slow, but where it is asked for, it may do everything.
fn reference_work(options: &TestOptions) -> u64 {
    match options.compile {
        true => (options.work / REFERENCE_SHARE).max(BEFORE_COMPILING.min(options.work)),
        false => options.work,
    }
}

/// A number with at most four decimals.
fn number(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
