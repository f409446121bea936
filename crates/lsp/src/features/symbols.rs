//! The outline: one entry a form; neighbours with the same relation in their heads are grouped.

use crate::document::{Places, View};
use crate::index::FormSummary;
use gdl::source::short;
use gdl::{Span, Symbol, kw};
use lsp_types::{DocumentSymbol, SymbolKind};

/// Forms that make a group.
const GROUP: usize = 3;

/// The outline of a document.
pub fn symbols(view: View) -> Vec<DocumentSymbol> {
    let forms = &view.analysis.index.forms;
    let mut places = view.places();
    let mut outline = Vec::new();
    let mut at = 0;
    while at < forms.len() {
        let relation = |form: &FormSummary| form.name.map(|(_, name, arity)| (name, arity));
        let same = forms[at..]
            .iter()
            .take_while(|f| relation(f) == relation(&forms[at]))
            .count();
        let run = &forms[at..at + same];
        at += same;
        match relation(&run[0]) {
            Some((name, arity)) if same >= GROUP => outline.push(group(view, &mut places, run, name, arity)),
            _ => outline.extend(run.iter().map(|form| entry(view, &mut places, form))),
        }
    }
    outline
}

fn group(view: View, places: &mut Places, run: &[FormSummary], name: Symbol, arity: usize) -> DocumentSymbol {
    let span = run.iter().fold(run[0].span, |span, form| span.to(form.span));
    let rules = run.iter().filter(|f| f.is_rule).count();
    let detail = match (rules, run.len() - rules) {
        (0, facts) => format!("{facts} facts"),
        (rules, 0) => format!("{rules} rules"),
        (rules, facts) => format!("{rules} rules, {facts} facts"),
    };
    let title = match name.is_keyword_relation() {
        true => view.name(name).to_owned(),
        false => format!("{}/{arity}", short(view.name(name))),
    };
    let children = run.iter().map(|form| entry(view, places, form)).collect();
    symbol(
        places,
        title,
        detail,
        kind(name, true),
        span,
        run[0].head,
        Some(children),
    )
}

fn entry(view: View, places: &mut Places, form: &FormSummary) -> DocumentSymbol {
    let text = &view.text()[form.head.range()];
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = if line.is_empty() {
        "…".to_owned()
    } else {
        short(&line)
    };
    let detail = if form.is_rule { "rule" } else { "fact" };
    let kind = form
        .name
        .map_or(SymbolKind::NULL, |(_, name, _)| kind(name, form.is_rule));
    symbol(places, title, detail.to_owned(), kind, form.span, form.head, None)
}

fn kind(name: Symbol, is_rule: bool) -> SymbolKind {
    match name {
        kw::ROLE => SymbolKind::CLASS,
        kw::INIT | kw::NEXT | kw::BASE => SymbolKind::FIELD,
        kw::LEGAL | kw::INPUT => SymbolKind::METHOD,
        kw::SEES | kw::TERMINAL => SymbolKind::EVENT,
        kw::GOAL => SymbolKind::NUMBER,
        _ if is_rule => SymbolKind::FUNCTION,
        _ => SymbolKind::CONSTANT,
    }
}

fn symbol(
    places: &mut Places,
    name: String,
    detail: String,
    kind: SymbolKind,
    span: Span,
    selection: Span,
    children: Option<Vec<DocumentSymbol>>,
) -> DocumentSymbol {
    #[allow(deprecated)] // The field must be given a value.
    DocumentSymbol {
        name,
        detail: Some(detail),
        kind,
        tags: None,
        deprecated: None,
        range: places.range(span),
        selection_range: places.range(selection),
        children,
    }
}
