//! Checks that know what can hold: dead names, dead rules, unread fluents, lost facts, typing errors.
//!
//! These findings are about rules that the language allows but that cannot be meant: a condition that never holds, a
//! fluent that nothing asks for. Most of them are proofs on [`crate::reach`]; `lost` and `names` are suspicions, which
//! are reported only where the rules of published games give no false alarm.

mod lost;
mod names;
mod never;
mod unread;

use crate::ast::{Ast, Node};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Mode, Sink};
use crate::reach::Reach;
use crate::reach::sets::Set;
use crate::rules::Term;
use crate::source::{Span, short};
use crate::symbol::{Symbol, Symbols, kw};
use crate::{Reading, forms::Form};

/// Findings about what the rules can do, ordered by position; none if the rules have errors.
///
/// ```
/// use surmise_gdl::{Code, Options, lint, read};
///
/// let text = "(role me) (init (lamp off)) (<= (legal me press) (true (lamp off)))
///     (<= (next (lamp on)) (does me press)) (<= terminal (true (lamp onn))) (goal me 100)";
/// let reading = read(text, &Options::default());
/// assert_eq!(reading.diagnostics, []);
/// let findings = lint(&reading);
/// let dead = findings.iter().find(|finding| finding.code == Code::NoValue).unwrap();
/// assert_eq!(dead.fixes[0].edits[0].replacement, "on");
/// ```
pub fn lint(reading: &Reading) -> Vec<Diagnostic> {
    if !reading.is_playable() {
        return Vec::new();
    }
    let mut sink = Sink::new(Mode::Lenient);
    let mut context = Context {
        reading,
        symbols: &reading.rules.symbols,
        sink: &mut sink,
    };
    names::check(&mut context);
    if let Some(mut reach) = Reach::of(&reading.forms) {
        never::check(&mut reach, &mut context);
        unread::check(&mut reach, &mut context);
        lost::check(&mut reach, &mut context);
    }
    let mut found = sink.finish();
    let known: Vec<(Code, Span)> = found
        .iter()
        .chain(&reading.diagnostics)
        .map(|d| (d.code, d.span))
        .collect();
    // A misspelled name that breaks something is reported there.
    let is_known = |span: Span| {
        let holds =
            |(code, other): &(Code, Span)| *code != Code::Typo && other.start <= span.start && other.end >= span.end;
        known.iter().any(holds)
    };
    found.retain(|d| d.code != Code::Typo || !is_known(d.span));
    found
}

struct Context<'a> {
    reading: &'a Reading,
    symbols: &'a Symbols,
    sink: &'a mut Sink,
}

impl Context<'_> {
    /// The text of a place, in one line.
    fn text(&self, span: Span) -> String {
        let words: Vec<&str> = self.reading.text[span.range()].split_whitespace().take(40).collect();
        let line = words.join(" ");
        match line.chars().count() {
            0..=60 => line,
            _ => format!("{}…", line.chars().take(59).collect::<String>()),
        }
    }

    fn name(&self, symbol: Symbol) -> String {
        short(self.symbols.wire_text(symbol))
    }

    /// The place of a part of a term: `path` has the number of the argument at each level.
    fn part(&self, span: Span, path: &[usize]) -> Span {
        let Some(mut node) = node_at(&self.reading.ast, span) else {
            return span;
        };
        for &i in path {
            match node.items().get(i + 1) {
                Some(inner) => node = inner,
                None => break,
            }
        }
        node.span
    }

    /// The place of the name of a term or atom.
    fn name_place(&self, span: Span) -> Span {
        let node = node_at(&self.reading.ast, span);
        node.and_then(|n| n.items().first()).map_or(span, |first| first.span)
    }

    /// The name in `candidates` that is one typing error away from this one.
    fn close(&self, name: Symbol, candidates: impl IntoIterator<Item = Symbol>) -> Option<Symbol> {
        let text = self.symbols.text(name);
        let close = candidates.into_iter().take(2_000).filter(|&c| c != name);
        close
            .filter(|&c| crate::similar::within_one_edit(text, self.symbols.text(c)))
            .min_by_key(|&c| self.symbols.text(c))
    }

    /// As [`Context::close`], or one with a longer ending: `watches` for `watch`. For advice only.
    fn suggest(&self, name: Symbol, candidates: impl IntoIterator<Item = Symbol>) -> Option<Symbol> {
        let candidates: Vec<Symbol> = candidates.into_iter().take(2_000).collect();
        let text = self.symbols.text(name);
        let extends =
            |long: &str, short: &str| short.len() >= 3 && long.len() <= short.len() + 2 && long.starts_with(short);
        let is_related = |other: &str| other != text && (extends(other, text) || extends(text, other));
        let related = || {
            let related = candidates.iter().copied().filter(|&c| is_related(self.symbols.text(c)));
            related.min_by_key(|&c| self.symbols.text(c))
        };
        self.close(name, candidates.iter().copied()).or_else(related)
    }

    /// Some members of a set, for a message.
    fn members(&self, set: &Set) -> String {
        let Set::These(members) = set else {
            return "anything".to_owned();
        };
        let constants = members.constants.iter().map(|&c| self.name(c));
        let functions = members.functions.iter().map(|(f, _)| format!("({} …)", self.name(*f)));
        let n = members.constants.len() + members.functions.len();
        let mut shown: Vec<String> = constants.chain(functions).take(2_000).collect();
        shown.sort_by(|a, b| natural(a).cmp(&natural(b)));
        shown.truncate(6);
        match n {
            0 => "nothing".to_owned(),
            1..=6 => shown.join(", "),
            _ => format!("{}, … ({n} in all)", shown.join(", ")),
        }
    }
}

/// Numbers in order of size before other names in order of text.
fn natural(text: &str) -> (bool, usize, &str) {
    let is_number = text.bytes().all(|b| b.is_ascii_digit());
    (!is_number, if is_number { text.len() } else { 0 }, text)
}

/// The node with exactly this place.
fn node_at(ast: &Ast, span: Span) -> Option<&Node> {
    let at = ast.forms.partition_point(|f| f.span.start <= span.start);
    let mut node = ast.forms.get(at.checked_sub(1)?)?;
    loop {
        if node.span == span {
            return Some(node);
        }
        let holds = |n: &&Node| n.span.start <= span.start && n.span.end >= span.end;
        node = node.items().iter().find(holds)?;
    }
}

/// Whether two terms may be instances of each other: variables stand for anything.
fn may_unify(a: &Term, b: &Term) -> bool {
    match (a, b) {
        (Term::Fun(f, x), Term::Fun(g, y)) => {
            f == g && x.len() == y.len() && x.iter().zip(y).all(|(x, y)| may_unify(x, y))
        }
        _ => true,
    }
}

/// Whether the head is a hint about the domain, which is no part of the game.
fn is_hint(form: &Form) -> bool {
    matches!(form.head.atom.relation, kw::BASE | kw::INPUT)
}

/// The name and number of arguments of a fluent or move.
fn shape(term: &Term) -> Option<(Symbol, usize)> {
    match term {
        Term::Fun(name, args) => Some((*name, args.len())),
        Term::Var(_) => None,
    }
}
