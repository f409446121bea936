//! Names that occur once and are similar to another, or do not fit into a sequence: probably typing errors.

use super::Context;
use crate::ast::{Node, NodeKind};
use crate::codes::Code;
use crate::similar::{is_longer_by_one, is_misspelling};
use crate::source::Span;
use crate::symbol::{Symbol, kw};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Names that are compared at most, against hostile input.
const MAX_NAMES: usize = 2_000;
/// Variables of a rule that are compared at most.
const MAX_VARIABLES: usize = 100;
/// Letters of the longer of two names that may differ by one letter on purpose.
const SHORT: usize = 3;

pub(super) fn check(context: &mut Context) {
    let mut uses: HashMap<Symbol, (usize, Span)> = HashMap::new();
    for form in &context.reading.ast.forms {
        count(form, &mut uses);
    }
    let percepts = percept_names(context);
    let mut names: BTreeMap<Span, Symbol> = BTreeMap::new();
    let mut common: Vec<Symbol> = Vec::new();
    for (&symbol, &(n, span)) in &uses {
        match n {
            _ if context.symbols.text(symbol).starts_with('?') => {}
            1 => drop(names.insert(span, symbol)),
            _ => common.push(symbol),
        }
    }
    common.sort_unstable();
    common.truncate(MAX_NAMES);
    for (span, symbol) in names.into_iter().take(MAX_NAMES) {
        let text = context.symbols.text(symbol);
        let close = common.iter().copied().find(|&c| {
            let other = context.symbols.text(c);
            let length = text.chars().count().max(other.chars().count());
            // Most percepts have one rule, and no rule asks for them: they are compared with each other only.
            let alike = !percepts.contains(&symbol) || percepts.contains(&c);
            alike && length > SHORT && is_misspelling(text, other) && !is_inflection(text, other)
        });
        if let Some(close) = close
            && !text.bytes().all(|b| b.is_ascii_digit())
        {
            report(span, symbol, close, context);
        }
    }
    numbers(&uses, context);
    for form in &context.reading.ast.forms {
        variables(form, &uses, context);
    }
}

fn count(form: &Node, uses: &mut HashMap<Symbol, (usize, Span)>) {
    let mut todo = vec![form];
    while let Some(node) = todo.pop() {
        if let NodeKind::Name(symbol) | NodeKind::Var(symbol) = node.kind
            && !symbol.is_keyword_relation()
            && !symbol.is_connective()
        {
            uses.entry(symbol).or_insert((0, node.span)).0 += 1;
        }
        todo.extend(node.items());
    }
}

/// Names of percepts.
fn percept_names(context: &Context) -> BTreeSet<Symbol> {
    let heads = context.reading.ast.forms.iter().map(|form| match form.items() {
        [arrow, head, ..] if matches!(arrow.kind, NodeKind::Name(kw::ARROW)) => head,
        _ => form,
    });
    let percept = |head: &Node| match head.items() {
        [sees, _, percept] if matches!(sees.kind, NodeKind::Name(kw::SEES)) => match percept.kind {
            NodeKind::Name(symbol) => Some(symbol),
            _ => percept.head_name(),
        },
        _ => None,
    };
    heads.filter_map(percept).collect()
}

/// Whether one name is the plural or the past tense of the other: `cells`, `moved`.
fn is_inflection(a: &str, b: &str) -> bool {
    let is = |a: &str, b: &str| a.strip_suffix('s') == Some(b) || (a.ends_with("ed") && a.strip_suffix('d') == Some(b));
    is(a, b) || is(b, a)
}

fn report(span: Span, name: Symbol, close: Symbol, context: &mut Context) {
    let (name, close_name) = (context.name(name), context.name(close));
    let close = context.symbols.wire_text(close);
    context
        .sink
        .add(
            Code::Typo,
            span,
            format!("`{name}` occurs only here, and `{close_name}` differs from it by one letter"),
            format!("did you mean `{close_name}`?"),
        )
        .guess(format!("replace by `{close}`"), span, close);
}

/// A number in a fact, with its place.
type Number = (u64, Span, Symbol);

/// Numbers of facts that stand alone, while all others at their place follow each other: `(succ 33 4)`.
fn numbers(uses: &HashMap<Symbol, (usize, Span)>, context: &mut Context) {
    let mut columns: BTreeMap<(Symbol, usize, usize), Vec<Number>> = BTreeMap::new();
    for form in &context.reading.ast.forms {
        if form.head_name() != Some(kw::ARROW) {
            collect_numbers(form, context, &mut columns);
        }
    }
    for column in columns.into_values().filter(|c| c.len() >= 4) {
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        column.iter().for_each(|(n, ..)| *counts.entry(*n).or_default() += 1);
        let alone: Vec<&Number> = column.iter().filter(|(_, _, s)| uses[s].0 == 1).collect();
        // More than one would be no slip.
        if let [(number, span, _)] = alone.as_slice()
            && let Some(meant) = misfit(*number, &counts)
        {
            report_number(*span, *number, meant, context);
        }
    }
}

fn collect_numbers(node: &Node, context: &Context, columns: &mut BTreeMap<(Symbol, usize, usize), Vec<Number>>) {
    let (Some(name), [_, args @ ..]) = (node.head_name(), node.items()) else {
        return;
    };
    for (i, arg) in args.iter().enumerate() {
        if let NodeKind::Name(symbol) = arg.kind
            && let Ok(number) = context.symbols.text(symbol).parse()
        {
            let column = columns.entry((name, args.len(), i)).or_default();
            column.push((number, arg.span, symbol));
        }
        collect_numbers(arg, context, columns);
    }
}

/// The number that was meant, if the others are a sequence of equal steps into which this one does not fit: the one
/// that is missing from the sequence, or one of the others.
fn misfit(number: u64, counts: &BTreeMap<u64, usize>) -> Option<u64> {
    let rest: Vec<u64> = counts.keys().copied().filter(|&n| n != number).collect();
    let steps: BTreeSet<u64> = rest.windows(2).map(|w| w[1] - w[0]).collect();
    let step = *steps.first()?;
    if rest.len() < 3 || steps.iter().any(|&s| s != step && s != 2 * step) {
        return None;
    }
    let gaps: Vec<u64> = rest
        .windows(2)
        .filter(|w| w[1] - w[0] != step)
        .map(|w| w[0] + step)
        .collect();
    let (first, last) = (rest[0], rest[rest.len() - 1]);
    let fits = gaps.contains(&number) || number + step == first || number == last + step;
    if fits || gaps.len() > 1 {
        return None;
    }
    let is_slip = |meant: u64| {
        let (number, meant) = (number.to_string(), meant.to_string());
        is_longer_by_one(&number, &meant) || is_longer_by_one(&meant, &number) || number.len() == meant.len()
    };
    let ends = [first.checked_sub(step), Some(last + step)].into_iter().flatten();
    let often = rest.iter().all(|n| counts[n] >= 2);
    let mut candidates = gaps
        .into_iter()
        .chain(ends)
        .chain(rest.iter().copied().filter(|_| often));
    candidates.find(|&meant| is_slip(meant))
}

fn report_number(span: Span, number: u64, meant: u64, context: &mut Context) {
    context
        .sink
        .add(
            Code::Typo,
            span,
            format!(
                "`{number}` occurs only here, and does not fit into the sequence of the other values at this place"
            ),
            format!("did you mean `{meant}`?"),
        )
        .guess(format!("replace by `{meant}`"), span, meant.to_string());
}

/// Variables that occur once in the description and are a misspelling of another of their rule.
fn variables(form: &Node, all: &HashMap<Symbol, (usize, Span)>, context: &mut Context) {
    let mut uses: BTreeMap<Symbol, (usize, Span)> = BTreeMap::new();
    let mut todo = vec![form];
    while let Some(node) = todo.pop() {
        if let NodeKind::Var(symbol) = node.kind {
            uses.entry(symbol).or_insert((0, node.span)).0 += 1;
        }
        todo.extend(node.items());
    }
    if uses.len() > MAX_VARIABLES {
        return;
    }
    for (&symbol, &(_, span)) in uses.iter().filter(|(symbol, _)| all[symbol].0 == 1) {
        let text = &context.symbols.text(symbol)[1..];
        let is_close = |other: &str| {
            let doubled = text.len() == 2 && other.len() == 1 && text.chars().all(|c| other.starts_with(c));
            doubled || (is_misspelling(text, other) && !is_inflection(text, other))
        };
        let close = uses
            .keys()
            .copied()
            .find(|&c| c != symbol && is_close(&context.symbols.text(c)[1..]));
        if let Some(close) = close {
            let (name, close) = (context.symbols.text(symbol), context.symbols.text(close));
            context
                .sink
                .add(
                    Code::Typo,
                    span,
                    format!("`{name}` occurs only here, and `{close}` of the same rule is similar"),
                    format!("did you mean `{close}`?"),
                )
                .guess(format!("replace by `{close}`"), span, close);
        }
    }
}
