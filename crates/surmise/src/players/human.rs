//! `human`: a person at the terminal.
//!
//! The person is shown what the role was told, on request what it can believe, and the moves that may be legal, and
//! answers with a number or a move. This crate prints nothing: the program hands in a [`Console`] by [`set_console`],
//! and without one nobody can be seated.

use crate::engine::Engine;
use crate::{Error, Unsuitable};
use belief::SamplerKind;
use game::{Budget, Fault, RoleId, Seed, StopFlag, Told};
use ggp::kif;
use referee::{Excuse, Guest, Reply, Substitution};
use search::Believer;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Where a person reads and writes.
pub trait Console: Send + Sync {
    /// Shows text.
    fn show(&self, text: &str);

    /// The next line. None at the end of the input, or if the flag is raised while nobody answers.
    fn line(&self, stop: &StopFlag) -> Option<String>;
}

static CONSOLE: OnceLock<Arc<dyn Console>> = OnceLock::new();

/// One person is asked at a time.
static TALKING: Mutex<()> = Mutex::new(());

/// Lets people play in this process. Only the first call counts.
pub fn set_console(console: Arc<dyn Console>) {
    let _ = CONSOLE.set(console);
}

/// The console, or why nobody can play.
pub(super) fn console() -> Result<Arc<dyn Console>, Unsuitable> {
    CONSOLE.get().cloned().ok_or(Unsuitable::NoTerminal)
}

/// Most moves that are listed unasked, and most facts of a belief that are shown.
const LISTED: usize = 40;
const BELIEVED: usize = 12;

/// A person that plays a role in one match.
pub(super) struct Human {
    console: Arc<dyn Console>,
    role: String,
    believer: Believer,
    /// Whether beliefs are shown.
    belief: bool,
}

impl Human {
    pub fn new(
        engine: &Engine,
        role: RoleId,
        seed: Seed,
        belief: bool,
        console: Arc<dyn Console>,
    ) -> Result<Human, Error> {
        let tools = engine.tools(role, seed);
        let name = tools.sim.roles()[usize::from(role.0)].clone();
        Ok(Human {
            console,
            role: name,
            believer: Believer::new(tools, SamplerKind::default(), &belief::Options::default())?,
            belief,
        })
    }

    /// What the role was told of the last round.
    fn last_round(told: &[Told]) -> String {
        let Some(last) = told.last() else {
            return String::new();
        };
        let sees = match last.sees.is_empty() {
            true => "nothing".to_owned(),
            false => last.sees.join(" "),
        };
        format!("  you played {}, and saw {sees}\n", last.own)
    }

    /// What is not certain, most likely first.
    fn believed(&self) -> String {
        let mut fluents: BTreeMap<String, f64> = BTreeMap::new();
        let posterior = self.believer.posterior();
        for (state, p) in &posterior {
            for fluent in self.believer.tools.sim.fluents(state) {
                *fluents.entry(fluent).or_default() += p;
            }
        }
        let mut open: Vec<(String, f64)> = fluents.into_iter().filter(|(_, p)| *p < 0.9995).collect();
        open.sort_by(|(a, p), (b, q)| q.total_cmp(p).then_with(|| a.cmp(b)));
        let mut out = format!("  {} states are possible", posterior.len());
        for (fluent, p) in open.iter().take(BELIEVED) {
            let _ = write!(out, "\n  {:5.1} %  {fluent}", 100.0 * p);
        }
        if open.len() > BELIEVED {
            let _ = write!(out, "\n  … and {} more", open.len() - BELIEVED);
        }
        out + "\n"
    }

    fn moves(legal: &[String], most: usize) -> String {
        let mut out = String::new();
        for (at, mv) in legal.iter().take(most).enumerate() {
            let _ = writeln!(out, "  {:3}  {mv}", at + 1);
        }
        if legal.len() > most {
            let _ = writeln!(out, "  … and {} more: ? lists all", legal.len() - most);
        }
        out
    }

    fn legal(&mut self, told: &[Told], stop: &StopFlag) -> Result<Vec<String>, Fault> {
        self.believer.update(told, &Budget::until(stop.clone()))?;
        self.believer.possible_moves()
    }

    /// Asks until there is a move.
    fn ask(&self, legal: &[String], stop: &StopFlag) -> Option<String> {
        loop {
            self.console.show(&format!("{}> ", self.role));
            let line = self.console.line(stop)?;
            let line = line.trim();
            match line {
                "" => {}
                "?" => self.console.show(&Human::moves(legal, usize::MAX)),
                "belief" => self.console.show(&self.believed()),
                "quit" => return None,
                _ => match pick(line, legal) {
                    Some(mv) => return Some(mv),
                    None => {
                        let range = format!("a number from 1 to {} or a move", legal.len());
                        let wrong = format!("`{line}` is no move here: type {range}; ? lists them, quit ends\n");
                        self.console.show(&wrong);
                    }
                },
            }
        }
    }
}

/// The move that a line means: its number, or its text, for which parentheses around the whole may be left out.
fn pick(line: &str, legal: &[String]) -> Option<String> {
    // A move may be called like a number: the text goes first.
    let named = |text: &str| kif::canonical(text).filter(|mv| legal.contains(mv));
    let number = || legal.get(line.parse::<usize>().ok()?.checked_sub(1)?).cloned();
    named(line).or_else(|| named(&format!("({line})"))).or_else(number)
}

fn missing(why: &str) -> Excuse {
    Excuse {
        raw: String::new(),
        why: Substitution::Missing(why.to_owned()),
    }
}

impl Guest for Human {
    fn begin(&mut self, _: &StopFlag) -> Result<(), Excuse> {
        let _alone = TALKING.lock().unwrap_or_else(PoisonError::into_inner);
        let role = &self.role;
        let commands = "? lists all moves, belief says what can be known, quit gives up";
        self.console.show(&format!(
            "You play {role}. Answer with a number or a move; {commands}.\n"
        ));
        Ok(())
    }

    fn choose(&mut self, told: &[Told], stop: &StopFlag) -> Result<Reply, Excuse> {
        let legal = self.legal(told, stop).map_err(|fault| missing(&fault.to_string()))?;
        let _alone = TALKING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = format!("\nround {}, {}\n{}", told.len() + 1, self.role, Human::last_round(told));
        if self.belief {
            text += &self.believed();
        }
        if let [only] = &legal[..] {
            self.console.show(&format!("{text}  the only move is {only}\n"));
            return Ok(Reply {
                mv: only.clone(),
                raw: only.clone(),
            });
        }
        self.console.show(&(text + &Human::moves(&legal, LISTED)));
        match self.ask(&legal, stop) {
            Some(mv) => Ok(Reply { raw: mv.clone(), mv }),
            None => {
                if !stop.is_raised() {
                    self.console.show("\nThe match is given up.\n");
                    stop.raise();
                }
                Err(missing("the person gave up"))
            }
        }
    }

    fn end(&mut self, told: &[Told], over: bool) {
        if over {
            let _alone = TALKING.lock().unwrap_or_else(PoisonError::into_inner);
            let last = Human::last_round(told);
            self.console
                .show(&format!("\nThe match is over, {}.\n{last}", self.role));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_picked_by_number_or_text() {
        let legal = ["(mark 1 1)", "(mark 1 2)", "1", "noop"].map(str::to_owned);
        let pick = |line: &str| pick(line, &legal);
        assert_eq!(pick("2").as_deref(), Some("(mark 1 2)"));
        assert_eq!(pick("1").as_deref(), Some("1"), "the text goes first");
        assert_eq!(pick("( MARK 1 1)").as_deref(), Some("(mark 1 1)"));
        assert_eq!(pick("mark 1 1").as_deref(), Some("(mark 1 1)"));
        assert_eq!(pick("noop").as_deref(), Some("noop"));
        assert!(pick("0").is_none() && pick("5").is_none() && pick("(mark 3 3)").is_none() && pick("((").is_none());
    }
}
