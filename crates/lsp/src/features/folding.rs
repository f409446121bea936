//! Folding: forms and comments of several lines.

use crate::document::View;
use lsp_types::{FoldingRange, FoldingRangeKind};

/// What can be folded.
pub fn folding(view: View) -> Vec<FoldingRange> {
    let mut places = view.places();
    let mut found = Vec::new();
    for form in &view.analysis.index.forms {
        let range = places.range(form.span);
        push(&mut found, range.start.line, range.end.line, None);
    }
    // Comments on lines of their own that follow each other.
    let mut run: Option<(u32, u32)> = None;
    for comment in &view.analysis.reading.ast.comments {
        let at = places.position(comment.start);
        let before = &view.text()[..comment.start as usize];
        let line_start = before.rfind(['\n', '\r']).map_or(0, |i| i + 1);
        if !before[line_start..].trim().is_empty() {
            continue;
        }
        run = match run {
            Some((start, end)) if at.line == end + 1 => Some((start, at.line)),
            Some((start, end)) => {
                push(&mut found, start, end, Some(FoldingRangeKind::Comment));
                Some((at.line, at.line))
            }
            None => Some((at.line, at.line)),
        };
    }
    if let Some((start, end)) = run {
        push(&mut found, start, end, Some(FoldingRangeKind::Comment));
    }
    found
}

fn push(found: &mut Vec<FoldingRange>, start: u32, end: u32, kind: Option<FoldingRangeKind>) {
    if end > start {
        found.push(FoldingRange {
            start_line: start,
            end_line: end,
            kind,
            ..FoldingRange::default()
        });
    }
}
