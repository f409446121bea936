//! Fixes: changes of the text that a program can apply.

use crate::source::Span;

/// One replacement in the text that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Piece of the text that is replaced; empty to insert.
    pub span: Span,
    /// Text in its place; empty to delete.
    pub replacement: String,
}

/// A way to mend a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What the fix does, in a few words: ``replace by `legal` ``.
    pub title: String,
    /// Edits, which do not overlap.
    pub edits: Vec<Edit>,
    /// Whether the fix changes what the rules mean: a guess at what was meant. A fix without this flag only writes down
    /// what the text is read as already, so it can be applied without looking.
    pub changes_meaning: bool,
}

/// Applies edits to the text. An edit that overlaps one before it, or that does not lie on characters of the text, is
/// left out; the number of edits that were applied comes with the text.
pub fn apply<'a>(text: &str, edits: impl IntoIterator<Item = &'a Edit>) -> (String, usize) {
    let mut edits: Vec<&Edit> = edits.into_iter().collect();
    edits.sort_by_key(|e| e.span);
    let mut out = String::with_capacity(text.len());
    let (mut at, mut applied) = (0, 0);
    for edit in edits {
        let range = edit.span.range();
        let fits = text.is_char_boundary(range.start) && text.is_char_boundary(range.end) && range.start <= range.end;
        if range.start < at || !fits {
            continue;
        }
        out.push_str(&text[at..range.start]);
        out.push_str(&edit.replacement);
        at = range.end;
        applied += 1;
    }
    out.push_str(&text[at..]);
    (out, applied)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(start: usize, end: usize, replacement: &str) -> Edit {
        Edit {
            span: Span::new(start, end),
            replacement: replacement.to_owned(),
        }
    }

    #[test]
    fn edits_are_applied_from_left_to_right() {
        let edits = [edit(4, 5, "x"), edit(0, 1, "yy"), edit(2, 2, "!")];
        assert_eq!(apply("a b c", &edits), ("yy !b x".to_owned(), 3));
    }

    #[test]
    fn overlapping_and_wrong_edits_are_left_out() {
        let edits = [edit(0, 3, "1"), edit(2, 4, "2"), edit(9, 12, "3"), edit(5, 6, "4")];
        assert_eq!(apply("abcdé", &edits), ("1dé".to_owned(), 1));
    }
}
