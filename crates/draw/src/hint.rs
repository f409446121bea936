//! Hints in the opening comment of a rules file, for games that are not drawn well without.
//!
//! A line `; Draw: board=cell columns=2 up left glyph.knight=N` says which relation is the board, which of its
//! arguments (counted from 1) is the column, whether the first row is at the bottom, whether the first column is at the
//! right, and short forms of pieces. Unknown words are ignored.

use crate::family::Observed;
use crate::orient::Orientation;
use crate::pieces::Pieces;
use std::collections::BTreeMap;

/// The hints of a rules text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Relation that is the board.
    pub board: Option<String>,
    /// Argument that is the column, counted from 1.
    columns: Option<usize>,
    up: bool,
    left: bool,
    glyphs: BTreeMap<String, String>,
}

impl Hints {
    /// Reads the comment lines before the first rule.
    pub fn of(source: &str) -> Hints {
        let mut hints = Hints::default();
        let opening = source
            .lines()
            .map(str::trim)
            .take_while(|line| line.is_empty() || line.starts_with(';'));
        for line in opening {
            let Some(words) = line.trim_start_matches(';').trim().strip_prefix("Draw:") else {
                continue;
            };
            words.split_whitespace().for_each(|word| hints.word(word));
        }
        hints
    }

    fn word(&mut self, word: &str) {
        match word.split_once('=') {
            Some(("board", name)) => self.board = Some(name.to_lowercase()),
            Some(("columns", number)) => self.columns = number.parse().ok(),
            Some((glyph, text)) => {
                if let Some(piece) = glyph.strip_prefix("glyph.") {
                    self.glyphs.insert(piece.to_lowercase(), text.chars().take(4).collect());
                }
            }
            None => {
                self.up |= word == "up";
                self.left |= word == "left";
            }
        }
    }

    /// The orientation of the boards of a family, if it was given.
    pub fn orientation(&self, family: &Observed) -> Option<Orientation> {
        let column = self.columns?.checked_sub(1)?;
        let named = self.board.as_deref() == Some(family.name());
        (named && column < 2).then_some(Orientation {
            column,
            up: self.up,
            left: self.left,
            piles: None,
        })
    }

    /// Puts given short forms in the place of those that were found.
    pub fn set_glyphs(&self, pieces: &mut Pieces) {
        for look in pieces.looks.values_mut() {
            if let Some(glyph) = self.glyphs.get(&look.text) {
                look.glyph.clone_from(glyph);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_read_from_the_opening_comment_only() {
        let hints = Hints::of(
            "; My game\n;\n; Draw: board=Square columns=2 up glyph.wizard=W maybe\n(role me)\n; Draw: board=no",
        );
        assert_eq!(hints.board.as_deref(), Some("square"));
        assert_eq!((hints.columns, hints.up, hints.left), (Some(2), true, false));
        assert_eq!(hints.glyphs["wizard"], "W");
        assert_eq!(Hints::of("(role me)"), Hints::default());
    }
}
