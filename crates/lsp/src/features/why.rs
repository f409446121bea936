//! "Why is this legal?": explains an atom in a state that a sequence of moves leads to.

use crate::position::{Encoding, Locator};
use game::{MoveId, RoleId, Simulator, State, StopFlag};
use gdl::ast::{Node, NodeKind};
use gdl::source::LineIndex;
use gdl::{Options, Rules, Span, Symbols};
use ground::{Because, Derivation, EvaluationLimits, Reference, Why};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What is asked: an atom, or a role with a move, in a state.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The document with the rules.
    pub uri: String,
    /// The atom, in either notation: `(legal xplayer (mark 1 1))`.
    pub term: Option<String>,
    /// A role, for `(legal ROLE MOVE)`.
    pub role: Option<String>,
    /// A move, for `(legal ROLE MOVE)`.
    #[serde(rename = "move")]
    pub mv: Option<String>,
    /// The joint moves so far, in the order of the roles.
    pub moves: Option<Vec<Vec<String>>>,
    /// A record of a match, as `surmise match --record` writes it; its moves are replayed.
    pub record: Option<Value>,
    /// A file with such a record.
    pub record_path: Option<String>,
    /// The round, counted from 1, before whose moves the state is looked at. Without it: after all moves.
    pub round: Option<usize>,
}

/// Rounds that are replayed.
const MAX_ROUNDS: usize = 10_000;

/// Bytes of a record.
const MAX_RECORD: u64 = 64 << 20;

/// What the explanation needs of a document.
pub struct Source {
    /// The rules.
    pub rules: Rules,
    /// The whole text of the document.
    pub text: String,
    /// Bytes before the text that the rules were read from.
    pub mark: u32,
    /// What columns count.
    pub encoding: Encoding,
}

/// Answers a question.
///
/// # Errors
/// With a sentence that says what is wrong with the question, or why there is no answer.
pub fn answer(question: &Question, source: &Source, stop: &StopFlag) -> Result<Value, String> {
    let atom = atom(question)?;
    let moves = moves(question)?;
    let mut rules = source.rules.clone();
    rules.announce_moves();
    let limits = EvaluationLimits {
        atoms: 2_000_000,
        ..EvaluationLimits::default()
    };
    let mut sim = Reference::with(&rules, limits, stop.clone()).map_err(|fault| fault.to_string())?;
    let rounds = question.round.map_or(moves.len(), |round| round.max(1) - 1);
    if rounds > moves.len() {
        return Err(format!("there are moves of {} rounds only", moves.len()));
    }
    let (state, joint) = replay(&mut sim, &moves, rounds)?;
    let why = sim
        .why(&rules, &state, &joint, &atom)
        .map_err(|fault| fault.to_string())?;
    let why = why.ok_or_else(|| format!("`{atom}` has a name that the rules do not have"))?;
    let mut locate = Locate {
        lines: LineIndex::new(&source.text),
        source,
    };
    let mut text = String::new();
    write_why(&mut text, &why, 0, &mut locate);
    Ok(json!({
        "atom": why.atom,
        "holds": why.holds,
        "round": rounds + 1,
        "state": sim.fluents(&state),
        "text": text,
        "tree": tree(&why, &mut locate),
    }))
}

fn atom(question: &Question) -> Result<String, String> {
    match (&question.term, &question.role, &question.mv) {
        (Some(term), ..) => canonical(term),
        (None, Some(role), Some(mv)) => Ok(format!("(legal {} {})", canonical(role)?, canonical(mv)?)),
        _ => Err("ask about a `term`, or about a `role` and a `move`".to_owned()),
    }
}

/// Canonical text of a ground term or atom in either notation.
fn canonical(text: &str) -> Result<String, String> {
    let wrong = || format!("`{}` is not one ground term", gdl::source::short(text));
    let prefix = text.trim_start().starts_with('(') || !text.contains('(');
    let (notation, whole) = match prefix {
        true => (gdl::Notation::Prefix, text.to_owned()),
        false => (gdl::Notation::Infix, format!("{} .", text.trim().trim_end_matches('.'))),
    };
    let options = Options {
        notation: Some(notation),
        ..Options::default()
    };
    let reading = gdl::read(&whole, &options);
    match (&reading.ast.forms[..], reading.ast.unfinished.is_empty()) {
        ([form], true) => {
            let mut out = String::new();
            write_node(&mut out, form, &reading.rules.symbols).ok_or_else(wrong)?;
            Ok(out)
        }
        _ => Err(wrong()),
    }
}

fn write_node(out: &mut String, node: &Node, symbols: &Symbols) -> Option<()> {
    match &node.kind {
        NodeKind::Var(_) => None,
        NodeKind::Name(name) => {
            out.push_str(symbols.text(*name));
            Some(())
        }
        NodeKind::List(items) if items.is_empty() => None,
        NodeKind::List(items) if items.len() == 1 => write_node(out, &items[0], symbols),
        NodeKind::List(items) => {
            out.push('(');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(' ');
                }
                write_node(out, item, symbols)?;
            }
            out.push(')');
            Some(())
        }
    }
}

/// The joint moves of the question.
fn moves(question: &Question) -> Result<Vec<Vec<String>>, String> {
    if let Some(moves) = &question.moves {
        return Ok(moves.clone());
    }
    let from_file;
    let record = match (&question.record, &question.record_path) {
        (Some(record), _) => record,
        (None, Some(path)) => {
            from_file = read_record(path)?;
            &from_file
        }
        (None, None) => return Ok(Vec::new()),
    };
    let record = referee::Record::from_json(record).map_err(|error| error.to_string())?;
    Ok(record.rounds.into_iter().map(|round| round.moves).collect())
}

fn read_record(path: &str) -> Result<Value, String> {
    use std::io::Read as _;
    let wrong = |error: &dyn std::fmt::Display| format!("cannot read {path}: {error}");
    let file = std::fs::File::open(path).map_err(|e| wrong(&e))?;
    let mut bytes = Vec::new();
    file.take(MAX_RECORD + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| wrong(&e))?;
    if bytes.len() as u64 > MAX_RECORD {
        return Err(wrong(&"it is too large for a record"));
    }
    serde_json::from_slice(&bytes).map_err(|e| wrong(&e))
}

/// The state after so many rounds, and the joint move of the next one if there is one.
fn replay(sim: &mut Reference, moves: &[Vec<String>], rounds: usize) -> Result<(State, Vec<MoveId>), String> {
    if rounds > MAX_ROUNDS {
        return Err(format!("no more than {MAX_ROUNDS} rounds are replayed"));
    }
    let mut state = sim.initial().map_err(|fault| fault.to_string())?;
    for (number, texts) in moves[..rounds].iter().enumerate() {
        let joint = joint(sim, texts, number)?;
        for (role, &mv) in joint.iter().enumerate() {
            let mut legal = Vec::new();
            sim.legal(&state, RoleId(role as u16), &mut legal)
                .map_err(|fault| fault.to_string())?;
            if !legal.contains(&mv) {
                let name = &sim.roles()[role];
                return Err(format!(
                    "round {}: `{}` is not legal for {name}",
                    number + 1,
                    texts[role]
                ));
            }
        }
        state = sim.next(&state, &joint).map_err(|fault| fault.to_string())?;
    }
    let joint = match moves.get(rounds) {
        Some(texts) => joint(sim, texts, rounds)?,
        None => Vec::new(),
    };
    Ok((state, joint))
}

fn joint(sim: &mut Reference, texts: &[String], number: usize) -> Result<Vec<MoveId>, String> {
    let n_roles = sim.roles().len();
    if texts.len() != n_roles {
        return Err(format!(
            "round {}: {} moves for {n_roles} roles",
            number + 1,
            texts.len()
        ));
    }
    let mut joint = Vec::with_capacity(n_roles);
    for (role, text) in texts.iter().enumerate() {
        let mv = sim.find_move(RoleId(role as u16), &canonical(text)?);
        joint.push(mv.ok_or_else(|| format!("round {}: the rules have no move `{text}`", number + 1))?);
    }
    Ok(joint)
}

struct Locate<'a> {
    source: &'a Source,
    lines: LineIndex,
}

impl Locate<'_> {
    /// The range of the clause at an offset: its first character is enough.
    fn range(&mut self, offset: u32) -> lsp_types::Range {
        let start = offset + self.source.mark;
        let mut locator = Locator::new(&self.source.text, &self.lines, self.source.encoding);
        locator.range(Span { start, end: start + 1 })
    }

    /// The first line of the clause at an offset.
    fn excerpt(&self, offset: u32) -> String {
        let start = ((offset + self.source.mark) as usize).min(self.source.text.len());
        let line = self.source.text[start..].lines().next().unwrap_or_default();
        gdl::source::short(line.trim_end())
    }
}

fn write_why(out: &mut String, why: &Why, depth: usize, locate: &mut Locate) {
    let indent = "  ".repeat(depth);
    let verdict = if why.holds { "holds" } else { "does not hold" };
    let reason = match &why.because {
        Because::Fact(offset) => format!(": a fact (line {})", locate.range(*offset).start.line + 1),
        Because::Given if why.holds => String::new(),
        Because::Given => ": not in this state or round".to_owned(),
        Because::Rule(_) => String::new(),
        Because::Failed(attempts) if attempts.is_empty() => ": no fact or head of a rule fits".to_owned(),
        Because::Failed(_) => String::new(),
        Because::Cut => " (not explained further)".to_owned(),
    };
    let _ = writeln!(out, "{indent}{} {verdict}{reason}", why.atom);
    match &why.because {
        Because::Rule(derivation) => write_derivation(out, derivation, depth + 1, "by", locate),
        Because::Failed(attempts) => {
            for attempt in attempts {
                write_derivation(out, attempt, depth + 1, "fails:", locate);
            }
        }
        _ => {}
    }
}

fn write_derivation(out: &mut String, derivation: &Derivation, depth: usize, word: &str, locate: &mut Locate) {
    let indent = "  ".repeat(depth);
    let line = locate.range(derivation.offset).start.line + 1;
    let _ = write!(out, "{indent}{word} line {line}: {}", locate.excerpt(derivation.offset));
    let bindings: Vec<String> = derivation.bindings.iter().map(|(n, v)| format!("{n} = {v}")).collect();
    match bindings.is_empty() {
        true => out.push('\n'),
        false => {
            let _ = writeln!(out, "  [{}]", bindings.join(", "));
        }
    }
    for condition in &derivation.conditions {
        match &condition.why {
            Some(why) if !condition.text.starts_with("(not ") => write_why(out, why, depth + 1, locate),
            why => {
                let verdict = if condition.holds { "holds" } else { "does not hold" };
                let _ = writeln!(out, "{indent}  {} {verdict}", condition.text);
                if let Some(why) = why
                    && !condition.holds
                {
                    write_why(out, why, depth + 2, locate);
                }
            }
        }
    }
}

fn tree(why: &Why, locate: &mut Locate) -> Value {
    let mut node = json!({ "atom": why.atom, "holds": why.holds });
    match &why.because {
        Because::Fact(offset) => {
            node["because"] = json!("fact");
            node["range"] = json!(locate.range(*offset));
        }
        Because::Given => node["because"] = json!("given"),
        Because::Cut => node["because"] = json!("cut"),
        Because::Rule(derivation) => {
            node["because"] = json!("rule");
            node["rule"] = derivation_tree(derivation, locate);
        }
        Because::Failed(attempts) => {
            node["because"] = json!("failed");
            let attempts: Vec<Value> = attempts.iter().map(|a| derivation_tree(a, locate)).collect();
            node["attempts"] = json!(attempts);
        }
    }
    node
}

fn derivation_tree(derivation: &Derivation, locate: &mut Locate) -> Value {
    let bindings: serde_json::Map<String, Value> = derivation
        .bindings
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    let conditions: Vec<Value> = (derivation.conditions.iter())
        .map(|c| {
            let why = c.why.as_deref().map(|why| tree(why, locate));
            json!({ "text": c.text, "holds": c.holds, "why": why })
        })
        .collect();
    json!({ "range": locate.range(derivation.offset), "bindings": bindings, "conditions": conditions })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_of_both_notations_have_one_text() {
        for text in [
            "(legal X (mark 1 1))",
            "legal(x,mark(1,1))",
            " legal( x , mark(1, 1) ).",
            "(legal (x) (mark 1 1))",
        ] {
            assert_eq!(canonical(text).unwrap(), "(legal x (mark 1 1))", "{text}");
        }
        assert_eq!(canonical("noop").unwrap(), "noop");
        for text in ["", "(", "a b", "(legal ?x y)", "()", "a(b"] {
            assert!(canonical(text).is_err(), "{text}");
        }
    }
}
