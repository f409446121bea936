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

/// Turns offsets into positions. Offsets near each other are cheap, however long their line is: columns of a line are
/// remembered at marks.
pub struct Locator<'a> {
    text: &'a str,
    lines: &'a LineIndex,
    encoding: Encoding,
    /// The line that the marks belong to.
    line: usize,
    /// Offsets in the line, ascending, with their columns; the first is the beginning of the line.
    marks: Vec<(usize, u32)>,
}

/// Bytes between two marks.
const STRIDE: usize = 256;

impl<'a> Locator<'a> {
    /// A locator for a text and its lines.
    pub fn new(text: &'a str, lines: &'a LineIndex, encoding: Encoding) -> Locator<'a> {
        Locator {
            text,
            lines,
            encoding,
            line: 0,
            marks: vec![(0, 0)],
        }
    }

    /// The position of a byte offset.
    pub fn position(&mut self, offset: usize) -> Position {
        let offset = self.floor(offset);
        let line = self.lines.line_of(offset as u32);
        if line != self.line {
            self.line = line;
            self.marks.clear();
            self.marks.push((self.lines.line_range(line, self.text).start, 0));
        }
        let before = self.marks.partition_point(|&(at, _)| at <= offset);
        let (mut at, mut column) = self.marks[before - 1];
        // Only behind the last mark can the way be long.
        while offset - at > STRIDE {
            let next = self.floor(at + STRIDE);
            column += self.encoding.units(&self.text[at..next]);
            at = next;
            self.marks.push((at, column));
        }
        Position {
            line: line as u32,
            character: column + self.encoding.units(&self.text[at..offset]),
        }
    }

    /// The last boundary of characters that is not behind an offset.
    fn floor(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
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
    fn long_lines_are_counted_in_any_order() {
        let text = format!("x\n{}\ny", "(a é 𝄞) ".repeat(300));
        let lines = LineIndex::new(&text);
        let boundaries: Vec<usize> = (0..=text.len()).filter(|&i| text.is_char_boundary(i)).collect();
        let mut locator = Locator::new(&text, &lines, Encoding::Utf16);
        for step in [1, 7, 611, 1999] {
            for i in 0..200 {
                let at = boundaries[i * step % boundaries.len()];
                assert_eq!(locator.position(at), slow(&text, at, Encoding::Utf16), "{at}");
            }
        }
        assert!(locator.marks.len() <= text.len() / (STRIDE - 4) + 2);
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
