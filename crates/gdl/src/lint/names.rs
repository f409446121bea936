//! Names that occur once and differ by one letter from another: probably typing errors.

use super::Context;
use crate::ast::{Node, NodeKind};
use crate::codes::Code;
use crate::similar::is_misspelling;
use crate::source::Span;
use crate::symbol::{Symbol, kw};
use std::collections::{BTreeMap, HashMap};

/// Names that are compared at most, against hostile input.
const MAX_NAMES: usize = 2_000;
/// Letters of a name that can be told from another by one of them on purpose.
const SHORT: usize = 4;

pub(super) fn check(context: &mut Context) {
    let mut uses: HashMap<Symbol, (usize, Span)> = HashMap::new();
    for form in &context.reading.ast.forms {
        count(form, &mut uses);
    }
    let mut names: BTreeMap<Span, Symbol> = BTreeMap::new();
    let mut common: Vec<Symbol> = Vec::new();
    for (&symbol, &(n, span)) in &uses {
        match n {
            1 => drop(names.insert(span, symbol)),
            _ => common.push(symbol),
        }
    }
    common.sort_unstable();
    common.truncate(MAX_NAMES);
    for (span, symbol) in names.into_iter().take(MAX_NAMES) {
        let text = context.symbols.text(symbol);
        if text.chars().count() < SHORT {
            continue;
        }
        let close = common.iter().copied().find(|&c| {
            let other = context.symbols.text(c);
            is_misspelling(text, other) && !is_plural(text, other)
        });
        if let Some(close) = close {
            report(span, symbol, close, context);
        }
    }
}

fn count(form: &Node, uses: &mut HashMap<Symbol, (usize, Span)>) {
    let mut todo = vec![form];
    while let Some(node) = todo.pop() {
        if let NodeKind::Name(symbol) = node.kind
            && symbol != kw::ARROW
        {
            uses.entry(symbol).or_insert((0, node.span)).0 += 1;
        }
        todo.extend(node.items());
    }
}

fn is_plural(a: &str, b: &str) -> bool {
    a.strip_suffix('s') == Some(b) || b.strip_suffix('s') == Some(a)
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
