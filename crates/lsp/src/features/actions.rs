//! Code actions: the fixes of findings.

use super::diagnostics::{all, convert};
use crate::document::View;
use crate::facts::Played;
use gdl::{Diagnostic, Edit, Fix, Span};
use lsp_types::{CodeAction, CodeActionKind, CodeActionOrCommand, TextEdit, WorkspaceEdit};
use std::collections::HashMap;

/// The fix of every finding that has one safe fix.
pub const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.surmise");

/// What can be done about the findings in a span. `only` are the kinds that the client asks for.
pub fn actions(
    view: View,
    within: Span,
    lints: &[Diagnostic],
    played: Option<&Played>,
    only: Option<&[CodeActionKind]>,
) -> Vec<CodeActionOrCommand> {
    // A kind stands for itself and everything below it.
    let wanted = |kind: &CodeActionKind| {
        only.is_none_or(|only| {
            only.iter().any(|o| {
                let (kind, asked) = (kind.as_str(), o.as_str());
                asked.is_empty() || kind == asked || kind.strip_prefix(asked).is_some_and(|rest| rest.starts_with('.'))
            })
        })
    };
    let mut actions = Vec::new();
    let mut places = view.places();
    if wanted(&CodeActionKind::QUICKFIX) {
        for found in all(view, lints, played) {
            if found.span.start > within.end || found.span.end < within.start {
                continue;
            }
            for (number, fix) in found.fixes.iter().enumerate() {
                actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                    title: fix.title.clone(),
                    kind: Some(CodeActionKind::QUICKFIX),
                    diagnostics: Some(vec![convert(view, &mut places, found)]),
                    edit: Some(edit(view, &fix.edits)),
                    is_preferred: Some(number == 0 && !fix.changes_meaning),
                    ..CodeAction::default()
                }));
            }
        }
    }
    if wanted(&FIX_ALL) && only.is_some() {
        let safe = safe_edits(view);
        if !safe.is_empty() {
            actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: "Write down what is read already".to_owned(),
                kind: Some(FIX_ALL),
                edit: Some(edit(view, &safe)),
                ..CodeAction::default()
            }));
        }
    }
    actions
}

/// The edits of the fixes that change no meaning, without those that overlap.
fn safe_edits(view: View) -> Vec<Edit> {
    let is_safe = |fix: &&Fix| !fix.changes_meaning;
    let found = view.analysis.reading.diagnostics.iter();
    let mut kept: Vec<Edit> = Vec::new();
    for fix in found.filter_map(|d| d.fixes.iter().find(is_safe)) {
        let overlaps = |e: &Edit| {
            kept.iter()
                .any(|k| k.span.start < e.span.end && e.span.start < k.span.end || k.span == e.span)
        };
        if !fix.edits.iter().any(overlaps) {
            kept.extend(fix.edits.iter().cloned());
        }
    }
    kept.sort_by_key(|e| e.span);
    kept
}

fn edit(view: View, edits: &[Edit]) -> WorkspaceEdit {
    let mut places = view.places();
    let edits = edits.iter().map(|e| TextEdit {
        range: places.range(e.span),
        new_text: e.replacement.clone(),
    });
    // The key is what the protocol has; it is not changed while it is in the map.
    #[allow(clippy::mutable_key_type)]
    let changes = HashMap::from([(view.document.uri.clone(), edits.collect())]);
    WorkspaceEdit {
        changes: Some(changes),
        ..WorkspaceEdit::default()
    }
}
