//! Completion: what may stand here.

use super::context::{Context, Expected, context};
use crate::document::View;
use crate::index::{Part, Target};
use crate::keywords::{KEYWORDS, apply, call_snippet, escape};
use gdl::{Notation, Symbol};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, InsertTextFormat, MarkupContent, MarkupKind,
    Position, TextEdit,
};
use std::collections::BTreeSet;

/// Items that are sent.
const MAX_ITEMS: usize = 500;

/// What may stand at a position; whether there is more than is sent.
pub fn completion(view: View, position: Position, snippets: bool) -> (Vec<CompletionItem>, bool) {
    let offset = view.offset(position);
    let context = context(view, offset);
    let mut list = List {
        view,
        context,
        offset,
        snippets,
        items: Vec::new(),
        seen: BTreeSet::new(),
    };
    match context.expected {
        Expected::Form => {
            list.keywords(|k| k.in_heads);
            list.relations();
        }
        Expected::Head => {
            list.keywords(|k| k.in_heads && k.name != "<=");
            list.relations();
        }
        Expected::Condition => {
            list.keywords(|k| k.in_bodies);
            list.relations();
        }
        Expected::Argument(part, place) => {
            list.variables();
            if part != Part::Inner {
                list.terms(part);
            }
            if let Some(place) = place {
                for symbol in view.analysis.index.values(place) {
                    list.name(symbol, 0, "value of this argument", CompletionItemKind::ENUM_MEMBER, 1);
                }
            }
            if part == Part::Inner {
                list.constants();
            }
        }
        Expected::Term => {
            list.variables();
            list.constants();
        }
    }
    let typed = view.text()[context.word_start..offset].to_ascii_lowercase();
    let mut items = list.items;
    // Clients match loosely; for a long list the beginning of the word decides what is sent.
    let incomplete = items.len() > MAX_ITEMS;
    if incomplete {
        items.retain(|item| {
            item.label
                .trim_start_matches('(')
                .to_ascii_lowercase()
                .starts_with(&typed)
        });
        items.truncate(MAX_ITEMS);
    }
    (items, incomplete)
}

struct List<'a> {
    view: View<'a>,
    context: Context,
    offset: usize,
    snippets: bool,
    items: Vec<CompletionItem>,
    seen: BTreeSet<String>,
}

impl List<'_> {
    fn keywords(&mut self, wanted: impl Fn(&crate::keywords::Keyword) -> bool) {
        let notation = self.view.notation();
        for keyword in KEYWORDS.iter().filter(|k| wanted(k)) {
            let snippet = keyword.snippet(notation);
            self.add(
                keyword.name,
                &snippet,
                &keyword.shape(notation),
                CompletionItemKind::KEYWORD,
                2,
                Some(keyword.meaning),
            );
        }
    }

    fn relations(&mut self) {
        for target in self.view.analysis.index.targets() {
            if let Target::Relation(name, arity) = target
                && !self.is_only_here(target)
            {
                self.name(name, arity, "relation", CompletionItemKind::FUNCTION, 1);
            }
        }
    }

    fn terms(&mut self, part: Part) {
        let (what, kind) = match part {
            Part::Fluent => ("fluent", CompletionItemKind::FIELD),
            Part::Move => ("move", CompletionItemKind::METHOD),
            Part::Percept => ("percept", CompletionItemKind::EVENT),
            Part::Role => ("role", CompletionItemKind::CLASS),
            _ => ("payoff", CompletionItemKind::VALUE),
        };
        for (name, arity) in self.view.analysis.index.terms_used_as(part) {
            if !self.is_only_here(Target::Term(name, arity)) {
                self.name(name, arity, what, kind, 0);
            }
        }
    }

    fn constants(&mut self) {
        for target in self.view.analysis.index.targets() {
            if let Target::Term(name, arity) = target
                && !self.is_only_here(target)
            {
                let what = if arity == 0 { "constant" } else { "function" };
                self.name(name, arity, what, CompletionItemKind::CONSTANT, 3);
            }
        }
    }

    fn variables(&mut self) {
        let index = &self.view.analysis.index;
        let Some((form, _)) = index.form_at(self.context.word_start) else {
            return;
        };
        for target in index.targets() {
            if let Target::Variable(_, its_form) = target
                && its_form == form
                && !self.is_only_here(target)
                && let Some(first) = index.all(target).next()
            {
                let text = self.view.text()[first.span.range()].to_owned();
                self.add(
                    &text,
                    &escape(&text),
                    "variable of this rule",
                    CompletionItemKind::VARIABLE,
                    0,
                    None,
                );
            }
        }
    }

    /// Whether a name is nothing but the word that is being written.
    fn is_only_here(&self, target: Target) -> bool {
        let mut all = self.view.analysis.index.all(target);
        let first = all.next().map(|o| o.span);
        all.next().is_none() && first.is_some_and(|s| s.start as usize <= self.offset && self.offset <= s.end as usize)
    }

    fn name(&mut self, symbol: Symbol, arity: usize, what: &str, kind: CompletionItemKind, rank: u8) {
        let view = self.view;
        let spelled = view.analysis.reading.rules.symbols.wire_text(symbol).to_owned();
        let arguments: Vec<String> = (1..=arity).map(|n| format!("?{n}")).collect();
        let shape = apply(view.notation(), &spelled, &arguments);
        let snippet = call_snippet(view.notation(), &spelled, &arguments);
        let detail = if arity == 0 {
            what.to_owned()
        } else {
            format!("{what} {shape}")
        };
        self.add(&spelled, &snippet, &detail, kind, rank, None);
    }

    fn add(
        &mut self,
        name: &str,
        snippet: &str,
        detail: &str,
        kind: CompletionItemKind,
        rank: u8,
        meaning: Option<&str>,
    ) {
        if !self.seen.insert(format!("{name} {}", snippet.len())) {
            return;
        }
        // Behind a parenthesis that is there already, only its inside is inserted. The closing one is there too in
        // most editors.
        let opened = self.context.opened && self.view.notation() == Notation::Prefix;
        let (text, format) = match (opened, self.snippets) {
            (true, _) | (false, false) => (name.to_owned(), InsertTextFormat::PLAIN_TEXT),
            (false, true) => (snippet.to_owned(), InsertTextFormat::SNIPPET),
        };
        let span = gdl::Span::new(self.context.word_start, self.offset);
        self.items.push(CompletionItem {
            label: name.to_owned(),
            kind: Some(kind),
            detail: Some(detail.to_owned()),
            documentation: meaning.map(|meaning| {
                Documentation::MarkupContent(MarkupContent {
                    kind: MarkupKind::Markdown,
                    value: meaning.to_owned(),
                })
            }),
            sort_text: Some(format!("{rank}{name}")),
            filter_text: Some(name.to_owned()),
            insert_text_format: Some(format),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit {
                range: self.view.range(span),
                new_text: text,
            })),
            ..CompletionItem::default()
        });
    }
}
