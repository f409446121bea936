//! Positions of the protocol and byte offsets of the text.
//!
//! The protocol counts lines from 0 and columns in UTF-16 code units, unless the client offers bytes.

use gdl::Span;
use gdl::source::LineIndex;
use lsp_types::{Position, PositionEncodingKind, Range};

/// What a column counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-16 code units, which every client can do.
    #[default]
    Utf16,
    /// Bytes of UTF-8.
    Utf8,
}

impl Encoding {
    /// The encoding to use with a client that offers these.
    pub fn choose(offered: Option<&[PositionEncodingKind]>) -> Encoding {
        match offered.unwrap_or_default().contains(&PositionEncodingKind::UTF8) {
            true => Encoding::Utf8,
            false => Encoding::Utf16,
        }
    }

    /// The name in the protocol.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf8 => PositionEncodingKind::UTF8,
        }
    }

    fn units(self, text: &str) -> u32 {
        match self {
            Encoding::Utf8 => text.len() as u32,
            Encoding::Utf16 => text.chars().map(|c| c.len_utf16() as u32).sum(),
        }
    }
}

/// The byte offset of a position. Positions past the end of a line or of the text mean the end, as the protocol says;
/// a position inside a character means its beginning.
pub fn offset(text: &str, lines: &LineIndex, position: Position, encoding: Encoding) -> usize {
    let line = position.line as usize;
    if line >= lines.n_lines() {
        return text.len();
    }
    let range = lines.line_range(line, text);
    let mut units = 0;
    for (at, c) in text[range.clone()].char_indices() {
        let width = match encoding {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
        };
        if units + width > position.character as usize {
            return range.start + at;
        }
        units += width;
    }
    range.end
}

/// Turns offsets into positions. Offsets in ascending order cost one pass over the text, however long its lines are.
pub struct Locator<'a> {
    text: &'a str,
    lines: &'a LineIndex,
    encoding: Encoding,
    /// The last offset asked for, its line and its column.
    at: usize,
    line: usize,
    column: u32,
}

impl<'a> Locator<'a> {
    /// A locator for a text and its lines.
    pub fn new(text: &'a str, lines: &'a LineIndex, encoding: Encoding) -> Locator<'a> {
        Locator {
            text,
            lines,
            encoding,
            at: 0,
            line: 0,
            column: 0,
        }
    }

    /// The position of a byte offset.
    pub fn position(&mut self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.lines.line_of(offset as u32);
        if line != self.line || offset < self.at {
            self.line = line;
            self.at = self.lines.line_range(line, self.text).start;
            self.column = 0;
        }
        self.column += self.encoding.units(&self.text[self.at..offset]);
        self.at = offset;
        Position {
            line: line as u32,
            character: self.column,
        }
    }

    /// The range of a span.
    pub fn range(&mut self, span: Span) -> Range {
        Range {
            start: self.position(span.start as usize),
            end: self.position(span.end as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slow twin: counts from the beginning of the text.
    fn slow(text: &str, offset: usize, encoding: Encoding) -> Position {
        let (mut line, mut character) = (0, 0);
        let mut chars = text[..offset].chars().peekable();
        while let Some(c) = chars.next() {
            let next = chars.peek().copied().or_else(|| text[offset..].chars().next());
            if c == '\n' || (c == '\r' && next != Some('\n')) {
                (line, character) = (line + 1, 0);
            } else {
                character += match encoding {
                    Encoding::Utf8 => c.len_utf8() as u32,
                    Encoding::Utf16 => c.len_utf16() as u32,
                };
            }
        }
        Position { line, character }
    }

    const TEXT: &str = "a𝄞é\r\n;ü\rb\n\n(𝄞𝄞 x)";

    #[test]
    fn positions_are_those_of_counting() {
        let lines = LineIndex::new(TEXT);
        for encoding in [Encoding::Utf16, Encoding::Utf8] {
            let mut locator = Locator::new(TEXT, &lines, encoding);
            let boundaries: Vec<usize> = (0..=TEXT.len()).filter(|&i| TEXT.is_char_boundary(i)).collect();
            // Upwards, and back again.
            for &at in boundaries.iter().chain(boundaries.iter().rev()) {
                assert_eq!(locator.position(at), slow(TEXT, at, encoding), "{at} {encoding:?}");
            }
        }
    }

    #[test]
    fn offsets_come_back() {
        let lines = LineIndex::new(TEXT);
        for encoding in [Encoding::Utf16, Encoding::Utf8] {
            for at in (0..=TEXT.len()).filter(|&i| TEXT.is_char_boundary(i)) {
                // A position between CR and LF is the end of the line.
                let expected = if TEXT[..at].ends_with('\r') && TEXT[at..].starts_with('\n') {
                    at - 1
                } else {
                    at
                };
                assert_eq!(offset(TEXT, &lines, slow(TEXT, at, encoding), encoding), expected);
            }
        }
    }

    #[test]
    fn positions_outside_are_clamped() {
        let lines = LineIndex::new(TEXT);
        let at = |line, character| offset(TEXT, &lines, Position { line, character }, Encoding::Utf16);
        assert_eq!(at(0, 2), 1, "inside the surrogate pair");
        assert_eq!(at(0, 999), TEXT.find('\r').unwrap());
        assert_eq!(at(99, 0), TEXT.len());
        assert_eq!(at(u32::MAX, u32::MAX), TEXT.len());
    }
}
