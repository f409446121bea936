//! Traces in the XML of Dresden's GameController: the state, the legal moves and the joint move of every step, and the
//! goals at the end.
//!
//! [`write`] makes a trace of a random game. [`check`] follows a trace and compares every step with a simulator, which
//! tests a simulator thoroughly.

use crate::kif;
use game::{Fault, Rng, RoleId, Simulator, State};
use referee::escape;
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::{self, Write as _};

/// Why a trace cannot be written, read or confirmed.
#[derive(Debug)]
pub enum TraceError {
    /// The text is not XML.
    Xml(roxmltree::Error),
    /// The XML has no `<gametrace>` with steps.
    NotATrace,
    /// The simulator failed.
    Fault(Fault),
    /// A role has no legal move.
    NoMove {
        /// The role.
        role: String,
        /// Number of the step, from 1.
        step: u64,
    },
    /// Something is wrong in a step of the trace.
    Step {
        /// Number of the step, as the trace has it.
        step: String,
        /// What is wrong.
        problem: StepProblem,
    },
}

/// What is wrong in a step of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepProblem {
    /// An element has no role.
    NoRole,
    /// A text is not a ground term.
    NotATerm(String),
    /// A text is not a payoff.
    NotAPayoff(String),
    /// A role has no move in the joint move.
    NoMoveOf(String),
    /// The simulator does not know a move.
    UnknownMove {
        /// The role.
        role: String,
        /// The move.
        mv: String,
    },
    /// There is no joint move, and another step follows.
    NobodyMoves,
    /// The game is over on one side only.
    Terminal {
        /// Whether the game is over in the simulator.
        here: bool,
    },
    /// The simulator derives other facts.
    Differ {
        /// Kind of the facts.
        what: &'static str,
        /// Facts of the simulator that the trace does not have.
        only_here: String,
        /// Facts of the trace that the simulator does not have.
        only_in_trace: String,
    },
    /// The simulator failed.
    Fault(Fault),
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Xml(_) => f.write_str("not XML"),
            TraceError::NotATrace => f.write_str("not a trace: it has no <gametrace> with steps"),
            TraceError::Fault(fault) => fault.fmt(f),
            TraceError::NoMove { role, step } => write!(
                f,
                "E-NO-MOVE: {role} has no legal move in step {step}; `surmise check --simulate` tells more"
            ),
            TraceError::Step { step, problem } => write!(f, "step {step}: {problem}"),
        }
    }
}

impl Error for TraceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            TraceError::Xml(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for StepProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepProblem::NoRole => f.write_str("an element without a role"),
            StepProblem::NotATerm(text) => write!(f, "`{text}` is no term"),
            StepProblem::NotAPayoff(text) => write!(f, "`{text}` is no payoff"),
            StepProblem::NoMoveOf(role) => write!(f, "no move for {role}"),
            StepProblem::UnknownMove { role, mv } => write!(f, "`{mv}` is never a move of {role}"),
            StepProblem::NobodyMoves => f.write_str("nobody moves, and yet the game goes on"),
            StepProblem::Terminal { here } => {
                let end = |terminal| if terminal { "over" } else { "not over" };
                write!(f, "the game is {} here, and {} in the trace", end(*here), end(!here))
            }
            StepProblem::Differ {
                what,
                only_here,
                only_in_trace,
            } => write!(
                f,
                "{what} differ: only here [{only_here}], only in the trace [{only_in_trace}]"
            ),
            StepProblem::Fault(fault) => fault.fmt(f),
        }
    }
}

impl Error for StepProblem {}

impl From<Fault> for TraceError {
    fn from(fault: Fault) -> TraceError {
        TraceError::Fault(fault)
    }
}

impl From<Fault> for StepProblem {
    fn from(fault: Fault) -> StepProblem {
        StepProblem::Fault(fault)
    }
}

/// What holds in a state.
#[derive(Debug, Default, PartialEq, Eq)]
struct Facts {
    fluents: BTreeSet<String>,
    /// Roles and moves; none at the end.
    legal: BTreeSet<(String, String)>,
    terminal: bool,
    /// Roles and payoffs; only at the end.
    goals: BTreeSet<(String, i32)>,
}

impl Facts {
    fn of(sim: &mut dyn Simulator, state: &State) -> Result<Facts, Fault> {
        let terminal = sim.terminal(state)?;
        let mut facts = Facts {
            fluents: sim.fluents(state).into_iter().collect(),
            terminal,
            ..Facts::default()
        };
        let mut moves = Vec::new();
        for (number, name) in sim.roles().to_vec().into_iter().enumerate() {
            let role = RoleId(number as u16);
            if terminal {
                if let Some(points) = sim.goal(state, role)?.exact() {
                    facts.goals.insert((name, points));
                }
                continue;
            }
            sim.legal(state, role, &mut moves)?;
            let texts = moves.iter().map(|&m| (name.clone(), sim.move_text(role, m).to_owned()));
            facts.legal.extend(texts);
        }
        Ok(facts)
    }
}

/// A random game of at most so many steps, as a trace.
///
/// # Errors
/// If the simulator fails, or a role has no legal move.
pub fn write(sim: &mut dyn Simulator, game: &str, rng: &mut Rng, steps: u64) -> Result<String, TraceError> {
    let mut out = format!("<gametrace><game>{}</game><steps>\n", escape(game));
    let mut state = sim.initial()?;
    for step in 1.. {
        let facts = Facts::of(sim, &state)?;
        let _ = write!(out, "<step nb=\"{step}\"><state>");
        for fluent in &facts.fluents {
            let _ = write!(out, "<fluent>{}</fluent>", escape(fluent));
        }
        out += "</state>";
        if facts.terminal {
            out += "<terminal/><goal_values>";
            for (role, points) in &facts.goals {
                let _ = write!(out, "<goal_value role=\"{}\">{points}</goal_value>", escape(role));
            }
            out += "</goal_values></step>\n";
            break;
        }
        let mut chosen = Vec::new();
        for (number, role) in sim.roles().iter().enumerate() {
            let own: Vec<&String> = facts.legal.iter().filter(|(r, _)| r == role).map(|(_, m)| m).collect();
            if own.is_empty() {
                return Err(TraceError::NoMove {
                    role: role.clone(),
                    step,
                });
            }
            chosen.push((number, role.clone(), (*rng.pick(&own)).clone()));
        }
        out += &moves("legal_moves", facts.legal.iter().map(|(r, m)| (r.as_str(), m.as_str())));
        let sorted: BTreeSet<(&str, &str)> = chosen.iter().map(|(_, r, m)| (r.as_str(), m.as_str())).collect();
        out += &moves("moves", sorted.into_iter());
        out += "</step>\n";
        if step >= steps {
            break;
        }
        let joint: Option<Vec<_>> = chosen
            .iter()
            .map(|(n, _, m)| sim.find_move(RoleId(*n as u16), m))
            .collect();
        let joint = joint.ok_or(Fault::Foreign("a legal move"))?;
        state = sim.next(&state, &joint)?;
    }
    Ok(out + "</steps></gametrace>\n")
}

fn moves<'a>(element: &str, moves: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = format!("<{element}>");
    for (role, mv) in moves {
        let _ = write!(out, "<move role=\"{}\">{}</move>", escape(role), escape(mv));
    }
    out + &format!("</{element}>")
}

/// Follows a trace and holds every state, every legal move, the end and the goals against it; how many steps there
/// were.
///
/// # Errors
/// If it is no trace, or at the first step at which this engine derives something else: what.
pub fn check(sim: &mut dyn Simulator, text: &str) -> Result<usize, TraceError> {
    let document = roxmltree::Document::parse(text).map_err(TraceError::Xml)?;
    let steps: Vec<_> = document.descendants().filter(|n| n.has_tag_name("step")).collect();
    if document.root_element().tag_name().name() != "gametrace" || steps.is_empty() {
        return Err(TraceError::NotATrace);
    }
    let mut state = sim.initial()?;
    for (number, step) in steps.iter().enumerate() {
        let wrong = |problem| TraceError::Step {
            step: step.attribute("nb").unwrap_or("without a number").to_owned(),
            problem,
        };
        let is_last = number + 1 == steps.len();
        match follow(sim, &state, *step, is_last).map_err(wrong)? {
            Some(next) => state = next,
            None => break,
        }
    }
    Ok(steps.len())
}

/// Compares a step with a state and makes its joint move; none if the trace ends here.
fn follow(
    sim: &mut dyn Simulator,
    state: &State,
    step: roxmltree::Node<'_, '_>,
    is_last: bool,
) -> Result<Option<State>, StepProblem> {
    let theirs = read_facts(step)?;
    compare(&Facts::of(sim, state)?, &theirs)?;
    let chosen = read_moves(step, "moves")?;
    match (chosen.is_empty(), is_last) {
        (true, true) => Ok(None),
        (true, false) => Err(StepProblem::NobodyMoves),
        (false, _) => advance(sim, state, &chosen).map(Some),
    }
}

fn advance(sim: &mut dyn Simulator, state: &State, chosen: &BTreeSet<(String, String)>) -> Result<State, StepProblem> {
    let mut joint = Vec::new();
    for (number, role) in sim.roles().to_vec().into_iter().enumerate() {
        let own = chosen.iter().find(|(r, _)| *r == role);
        let (_, text) = own.ok_or_else(|| StepProblem::NoMoveOf(role.clone()))?;
        let found = sim.find_move(RoleId(number as u16), text);
        joint.push(found.ok_or_else(|| StepProblem::UnknownMove { role, mv: text.clone() })?);
    }
    Ok(sim.next(state, &joint)?)
}

fn read_facts(step: roxmltree::Node<'_, '_>) -> Result<Facts, StepProblem> {
    let mut facts = Facts {
        legal: read_moves(step, "legal_moves")?,
        terminal: step.descendants().any(|n| n.has_tag_name("terminal")),
        ..Facts::default()
    };
    for fluent in step.descendants().filter(|n| n.has_tag_name("fluent")) {
        facts.fluents.insert(canonical(fluent)?);
    }
    for goal in step.descendants().filter(|n| n.has_tag_name("goal_value")) {
        let points = goal.text().unwrap_or_default().trim();
        let points = points.parse().map_err(|_| StepProblem::NotAPayoff(points.to_owned()))?;
        facts.goals.insert((role(goal)?, points));
    }
    Ok(facts)
}

fn read_moves(step: roxmltree::Node<'_, '_>, element: &str) -> Result<BTreeSet<(String, String)>, StepProblem> {
    let lists = step.children().filter(|n| n.has_tag_name(element));
    let all = lists.flat_map(|list| list.children().filter(|n| n.has_tag_name("move")));
    all.map(|mv| Ok((role(mv)?, canonical(mv)?))).collect()
}

fn role(node: roxmltree::Node<'_, '_>) -> Result<String, StepProblem> {
    let role = node.attribute("role").ok_or(StepProblem::NoRole)?;
    Ok(role.to_ascii_lowercase())
}

fn canonical(node: roxmltree::Node<'_, '_>) -> Result<String, StepProblem> {
    let text = node.text().unwrap_or_default();
    kif::canonical(text).ok_or_else(|| StepProblem::NotATerm(text.to_owned()))
}

fn compare(ours: &Facts, theirs: &Facts) -> Result<(), StepProblem> {
    differ("fluents", &ours.fluents, &theirs.fluents)?;
    if ours.terminal != theirs.terminal {
        return Err(StepProblem::Terminal { here: ours.terminal });
    }
    differ("legal moves", &ours.legal, &theirs.legal)?;
    differ("goals", &ours.goals, &theirs.goals)
}

fn differ<T: Ord + fmt::Debug>(
    what: &'static str,
    ours: &BTreeSet<T>,
    theirs: &BTreeSet<T>,
) -> Result<(), StepProblem> {
    let only =
        |a: &BTreeSet<T>, b: &BTreeSet<T>| a.difference(b).map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", ");
    match (only(ours, theirs), only(theirs, ours)) {
        (a, b) if a.is_empty() && b.is_empty() => Ok(()),
        (only_here, only_in_trace) => Err(StepProblem::Differ {
            what,
            only_here,
            only_in_trace,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::Seed;

    fn simulator(game: &str) -> ground::Reference {
        let rules = catalogue::rules(game).expect("in the catalogue");
        ground::Reference::new(&gdl::read(&rules, &gdl::Options::default()).rules).expect("playable")
    }

    #[test]
    fn our_own_traces_are_confirmed() {
        for game in ["monty-hall", "krieg-tictactoe", "kuhn-poker"] {
            let mut sim = simulator(game);
            let trace = write(&mut sim, game, &mut Seed(3).rng(), 1_000).expect("a trace");
            assert!(check(&mut sim, &trace).expect("confirmed") > 2, "{game}");
        }
    }

    #[test]
    fn what_differs_is_told_with_its_step() {
        let mut sim = simulator("monty-hall");
        let trace = write(&mut sim, "monty-hall", &mut Seed(3).rng(), 1_000).expect("a trace");
        let mut told = |from: &str, to: &str| {
            let text = trace.replacen(from, to, 1);
            assert_ne!(text, trace, "{from}");
            check(&mut sim, &text).expect_err("refused").to_string()
        };
        assert!(told("<fluent>", "<fluent>(elephant pink)</fluent><fluent>").starts_with("step 1: fluents differ: "));
        assert!(told("role=\"random\"", "").starts_with("step 1: an element without a role"));
        assert!(told("<terminal/>", "").contains("the game is over here, and not over in the trace"));
        assert_eq!(told("<gametrace>", "<gametrace"), "not XML");
        assert!(told("gametrace>", "trace>").starts_with("not"));
    }
}
