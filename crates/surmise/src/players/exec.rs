//! `exec:PROGRAM ARGS`: a program of anybody's on its standard input and output, one JSON object a line.
//!
//! docs/players.md describes the messages. A program is started when its match begins, is told the rules, its role, the
//! clocks and a seed, and then only what its role was told. Where a program crashes, is silent or answers nonsense, the
//! referee moves for it and the record says why, as on the wire. After its deadline it is killed, and misses the rest
//! of the match.

use super::PlayerSpecError;
use super::options::Options;
use crate::engine::Engine;
use crate::{Error, Unsuitable};
use belief::SamplerKind;
use game::{Budget, RoleId, Seed, StopFlag, Told};
use gdl::Information;
use ggp::kif;
use ggp::spelling::{ANNOUNCEMENT, prefix_text};
use referee::program::{NoLine, Program};
use referee::{Excuse, Guest, Reply, Substitution};
use search::Believer;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Version of the messages.
const VERSION: u32 = 1;

/// Time in which a program may end by itself after its last message.
const FAREWELL: Duration = Duration::from_secs(1);

/// Seconds for a move, unless the match or the player's options say otherwise.
const USUAL_PLAY: f64 = 10.0;

/// A program and its clocks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExecSpec {
    /// The program and its arguments.
    words: Vec<String>,
    /// Seconds before the first move, and for each move, if the player's options say so.
    start: Option<f64>,
    play: Option<f64>,
    /// Seconds of the match's own clocks.
    of_match: Option<(f64, f64)>,
    /// Whether the program is sent the moves that may be legal.
    legal: bool,
}

impl ExecSpec {
    pub fn new(options: &Options) -> Result<ExecSpec, PlayerSpecError> {
        let command = options.text("command").unwrap_or_default();
        let words = words(command).filter(|words| !words.is_empty());
        Ok(ExecSpec {
            words: words.ok_or_else(|| options.wrong("command", "must be PROGRAM ARGS with quotes in pairs"))?,
            start: options.maybe("start"),
            play: options.maybe("play"),
            of_match: None,
            legal: options.is_on("legal"),
        })
    }

    /// Takes the clocks of a match, where the player's options say nothing.
    pub fn set_clocks(&mut self, start: Duration, play: Duration) {
        self.of_match = Some((start.as_secs_f64(), play.as_secs_f64()));
    }

    /// The files that the command names: what they hold decides what the program does.
    pub fn files(&self) -> Vec<PathBuf> {
        self.words
            .iter()
            .map(PathBuf::from)
            .filter(|path| path.is_file())
            .collect()
    }

    /// Why the program cannot be started, as far as this can be seen without starting it.
    pub fn objection(&self) -> Option<Unsuitable> {
        let program = Path::new(&self.words[0]);
        let there = match program.components().count() > 1 {
            true => program.is_file(),
            false => in_path(program),
        };
        (!there).then(|| Unsuitable::NoProgram(self.words[0].clone()))
    }

    pub fn guest(&self, engine: &Engine, role: RoleId, seed: Seed) -> Result<Exec, Error> {
        let (start, play) = self.of_match.unwrap_or((USUAL_PLAY, USUAL_PLAY));
        let (start, play) = (self.start.unwrap_or(start), self.play.unwrap_or(play));
        let roles = engine.state_simulator().roles().to_vec();
        let believer = match self.legal {
            true => {
                let tools = engine.tools(role, seed.child("legal"));
                Some(Believer::new(
                    tools,
                    SamplerKind::default(),
                    &belief::Options::default(),
                )?)
            }
            false => None,
        };
        let begin = json!({
            "type": "start",
            "version": VERSION,
            "role": roles[usize::from(role.0)],
            "roles": roles,
            "start_clock": start,
            "play_clock": play,
            // Below 2^53, so that every language reads it exactly.
            "seed": seed.0 >> 11,
            "rules": rules_text(engine),
        });
        Ok(Exec {
            words: self.words.clone(),
            begin,
            start: Duration::from_secs_f64(start),
            play: Duration::from_secs_f64(play),
            seed,
            believer,
            program: None,
            gone: "the program was not started".to_owned(),
            remarks: String::new(),
        })
    }
}

/// The rules with all names in lower case, as moves and percepts are written.
fn rules_text(engine: &Engine) -> String {
    let mut text = prefix_text(&engine.rules);
    if engine.rules.information() == Information::Open && !engine.rules.gdl2 {
        text.push(' ');
        text.push_str(ANNOUNCEMENT);
    }
    kif::map_names(&text, str::to_ascii_lowercase)
}

/// Whether a program is in a folder of PATH.
fn in_path(program: &Path) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| {
        let file = folder.join(program);
        file.is_file() || (cfg!(windows) && file.with_extension("exe").is_file())
    })
}

/// The words of a command: separated by blanks, with quotes around blanks and `\` before a character. Nothing else is
/// special: no shell reads the command. None if a quote is left open.
fn words(command: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut quote): (Option<String>, Option<char>) = (None, None);
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('\\', Some('"') | None) => word.get_or_insert_default().push(letters.next()?),
            (c @ ('"' | '\''), None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// A program that plays a role in one match.
pub(super) struct Exec {
    words: Vec<String>,
    begin: Value,
    start: Duration,
    play: Duration,
    seed: Seed,
    /// Finds the moves that may be legal.
    believer: Option<Believer>,
    /// The program, while it runs.
    program: Option<Program>,
    /// Why it does not run.
    gone: String,
    remarks: String,
}

impl Exec {
    fn launch(&self) -> std::io::Result<Program> {
        let mut command = Command::new(&self.words[0]);
        command
            .args(&self.words[1..])
            // Sets of texts have the same order in each match of a seed, and lines arrive at once.
            .env("PYTHONHASHSEED", (self.seed.0 >> 33).to_string())
            .env("PYTHONUNBUFFERED", "1");
        Program::start(&mut command)
    }

    /// Asks for a line. A program that is late, has ended or writes without end is over.
    fn ask(&mut self, message: &Value, patience: Duration, stop: &StopFlag) -> Result<String, Excuse> {
        let Some(program) = &mut self.program else {
            return Err(excuse("", Substitution::Missing(self.gone.clone())));
        };
        program.say(message.to_string());
        let (raw, why, gone) = match program.hear(patience, stop) {
            Ok(line) => return Ok(line),
            Err(NoLine::Late) => {
                let seconds = patience.as_secs_f64();
                let gone = format!("the program was killed: it had not answered after {seconds} s");
                (String::new(), Substitution::Late, gone)
            }
            Err(NoLine::TooLong(begin)) => {
                let gone = "the program was killed: it wrote a line that was too long".to_owned();
                (begin, Substitution::Unreadable, gone)
            }
            Err(NoLine::Ended(how)) => (String::new(), Substitution::Missing(how.clone()), how),
            Err(NoLine::Stopped) => {
                let stopped = "the match was given up".to_owned();
                (String::new(), Substitution::Missing(stopped.clone()), stopped)
            }
        };
        tracing::warn!(program = self.words[0], "{gone}");
        self.gone = gone;
        self.dismiss(Duration::ZERO);
        Err(excuse(&raw, why))
    }

    /// Lets the program end, and keeps what it wrote to standard error.
    fn dismiss(&mut self, patience: Duration) {
        if let Some(mut program) = self.program.take() {
            match patience.is_zero() {
                true => program.kill(),
                false => program.end(patience),
            }
            self.remarks = program.errors();
        }
    }

    /// The moves that may be legal as far as the role knows. None if that cannot be said.
    fn legal(&mut self, told: &[Told], stop: &StopFlag) -> Option<Vec<String>> {
        let believer = self.believer.as_mut()?;
        believer.update(told, &Budget::until(stop.clone())).ok()?;
        believer.possible_moves().ok().filter(|moves| !moves.is_empty())
    }
}

fn excuse(raw: &str, why: Substitution) -> Excuse {
    Excuse {
        raw: raw.to_owned(),
        why,
    }
}

/// A message about the last round, or the beginning.
fn news(kind: &str, told: &[Told]) -> Value {
    let last = told.last();
    json!({
        "type": kind,
        "turn": told.len(),
        "move": last.map(|round| &round.own),
        "sees": last.map_or(&[][..], |round| &round.sees),
    })
}

/// Reads `{"move": "…"}`.
fn read(line: &str) -> Result<Reply, Excuse> {
    let raw: String = line.chars().take(2_000).collect();
    let value: Option<Value> = serde_json::from_str(line).ok();
    let why = match value.as_ref().and_then(|answer| answer.get("move")) {
        None => Substitution::Unreadable,
        Some(Value::Null) => Substitution::Nil,
        Some(Value::String(text)) if text.trim().is_empty() => Substitution::Empty,
        Some(Value::String(text)) if kif::is_nil(text.trim()) => Substitution::Nil,
        Some(Value::String(text)) => match kif::canonical(text) {
            Some(mv) => return Ok(Reply { mv, raw }),
            None => Substitution::Unreadable,
        },
        Some(_) => Substitution::Unreadable,
    };
    Err(excuse(&raw, why))
}

impl Guest for Exec {
    fn begin(&mut self, stop: &StopFlag) -> Result<(), Excuse> {
        match self.launch() {
            Ok(program) => self.program = Some(program),
            Err(error) => {
                self.gone = format!("cannot start `{}`: {error}", self.words[0]);
                return Err(excuse("", Substitution::Missing(self.gone.clone())));
            }
        }
        let begin = self.begin.take();
        // Whatever the program says to this, it is there.
        self.ask(&begin, self.start, stop).map(drop)
    }

    fn choose(&mut self, told: &[Told], stop: &StopFlag) -> Result<Reply, Excuse> {
        let mut message = news("play", told);
        if self.program.is_some()
            && let Some(legal) = self.legal(told, stop)
        {
            message["legal"] = json!(legal);
        }
        let line = self.ask(&message, self.play, stop)?;
        read(&line)
    }

    fn end(&mut self, told: &[Told], over: bool) {
        if let Some(program) = &mut self.program {
            let mut message = news("end", told);
            message["over"] = over.into();
            program.say(message.to_string());
        }
        self.dismiss(FAREWELL);
    }

    fn remarks(&self) -> String {
        self.remarks.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_at_blanks_outside_of_quotes() {
        let split = |text: &str| words(text).unwrap();
        assert_eq!(
            split("python3 bot.py  --depth 3"),
            ["python3", "bot.py", "--depth", "3"]
        );
        assert_eq!(
            split(r#"a "b c" 'd "e"' f\ g "\"" """#),
            ["a", "b c", "d \"e\"", "f g", "\"", ""]
        );
        assert!(split("  ").is_empty());
        assert!(words("a \"b").is_none() && words("a \\").is_none());
    }

    #[test]
    fn answers_are_objects_with_a_move() {
        assert_eq!(read("{\"move\": \"( Mark 1  2 )\"}").unwrap().mv, "(mark 1 2)");
        for (line, why) in [
            ("(mark 1 2)", Substitution::Unreadable),
            ("{\"move\": 3}", Substitution::Unreadable),
            ("{\"move\": \"(mark\"}", Substitution::Unreadable),
            ("{\"mvoe\": \"noop\"}", Substitution::Unreadable),
            ("[\"noop\"]", Substitution::Unreadable),
            ("{\"move\": null}", Substitution::Nil),
            ("{\"move\": \"NIL\"}", Substitution::Nil),
            ("{\"move\": \" \"}", Substitution::Empty),
            ("", Substitution::Unreadable),
        ] {
            assert_eq!(read(line).unwrap_err().why, why, "{line}");
        }
    }
}
