//! Inlay hints: what play has shown, beside the rules.

use super::hover::{Known, count};
use crate::document::View;
use crate::index::Part;
use gdl::{Span, kw};
use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintTooltip, Position};

/// Hints in a span of the document.
pub fn hints(view: View, within: Span, known: Known) -> Vec<InlayHint> {
    let mut places = view.places();
    let mut hints = Vec::new();
    let mut add = |at: u32, label: String, tooltip: String| {
        if within.start <= at && at <= within.end {
            hints.push(hint(places.position(at), label, tooltip));
        }
    };
    summaries(view, known, &mut add);
    counts(known, &mut add);
    costs(view, known, &mut add);
    hints.sort_by_key(|h| (h.position.line, h.position.character));
    hints
}

fn hint(position: Position, label: String, tooltip: String) -> InlayHint {
    InlayHint {
        position,
        label: InlayHintLabel::String(label),
        kind: None::<InlayHintKind>,
        text_edits: None,
        tooltip: Some(InlayHintTooltip::String(tooltip)),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    }
}

/// After the first role: how many games were played, and how large the game is.
fn summaries(view: View, known: Known, add: &mut impl FnMut(u32, String, String)) {
    let forms = &view.analysis.index.forms;
    let is_role = |f: &&crate::index::FormSummary| f.name.is_some_and(|(_, name, _)| name == kw::ROLE);
    let Some(first) = forms.iter().find(is_role) else {
        return;
    };
    if let Some(played) = known.played
        && played.games > 0
    {
        let rounds = played.rounds as f64 / f64::from(played.games);
        add(
            first.span.end,
            format!(
                "{}, {rounds:.1} rounds each",
                count(played.games as usize, "random game")
            ),
            "Played by Surmise in the background; findings are among the diagnostics.".to_owned(),
        );
    }
    if let Some(extents) = known.extents
        && extents.failed.is_none()
    {
        let size = |part| {
            extents
                .terms
                .iter()
                .filter(|((p, _), _)| *p == part)
                .map(|(_, e)| e.size)
                .sum::<usize>()
        };
        add(
            first.span.end,
            format!(
                "{}, {}",
                count(size(Part::Fluent), "fluent"),
                count(size(Part::Move), "move")
            ),
            format!("{} after grounding", count(extents.rules, "rule")),
        );
    }
}

/// At each rule: in how many rounds it applied, branch by branch.
fn counts(known: Known, add: &mut impl FnMut(u32, String, String)) {
    let Some(played) = known.played else {
        return;
    };
    for rule in &played.rules {
        let applied: u64 = rule.rounds.iter().sum();
        let games = count(played.games as usize, "random game");
        let label = match (applied, &rule.rounds[..]) {
            (0, _) => format!("never applied in {games}"),
            (_, [_]) => format!("{applied}×"),
            (_, branches) => branches.iter().map(|n| format!("{n}×")).collect::<Vec<_>>().join(" | "),
        };
        let tooltip = format!("Rounds and ends of games in which this rule applied, in {games}.");
        add(rule.place.end, label, tooltip);
    }
}

/// Rules with a hint about their cost.
const COSTLY: usize = 5;

/// At the rules with most instances: their number, if they are a good part of all.
fn costs(view: View, known: Known, add: &mut impl FnMut(u32, String, String)) {
    let Some(extents) = known.extents.filter(|_| !known.stale) else {
        return;
    };
    let total: usize = extents.costs.values().sum();
    let mut costs: Vec<(usize, u32)> = extents.costs.iter().map(|(&at, &n)| (n, at)).collect();
    costs.sort_unstable_by(|a, b| b.cmp(a));
    for (instances, offset) in costs.into_iter().take(COSTLY) {
        let forms = &view.analysis.index.forms;
        if instances * 10 < total || instances < 100 {
            continue;
        }
        if let Ok(at) = forms.binary_search_by_key(&offset, |f| f.span.start) {
            add(
                forms[at].head.end,
                count(instances, "instance"),
                format!("This rule has {instances} of {total} instances that grounding finds."),
            );
        }
    }
}
