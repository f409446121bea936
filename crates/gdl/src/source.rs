//! Source text: decoding, spans, lines and columns.

use std::ops::Range;

/// Bytes of a description that are read, against hostile input.
pub const MAX_BYTES: usize = 16 << 20;

/// A piece of the source: byte offsets into the decoded text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Makes a span from offsets, which are below twice [`MAX_BYTES`] (Latin-1 doubles in UTF-8).
    pub fn new(start: usize, end: usize) -> Span {
        Span {
            start: start as u32,
            end: end as u32,
        }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// As a range, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Decoded bytes.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// Text without byte order mark.
    pub text: String,
    /// Span of the first byte that is not UTF-8, if the bytes were read as Latin-1.
    pub not_utf8_at: Option<Span>,
    /// Whether text past [`MAX_BYTES`] was cut off.
    pub cut: bool,
}

/// Decodes bytes as UTF-8, or as Latin-1 if they are not UTF-8: old files have such bytes in comments.
pub fn decode(bytes: &[u8]) -> Decoded {
    let cut = bytes.len() > MAX_BYTES;
    let mut bytes = &bytes[..bytes.len().min(MAX_BYTES)];
    bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Decoded {
            text: text.to_owned(),
            not_utf8_at: None,
            cut,
        },
        // The cut may have split a character of valid UTF-8.
        Err(error) if cut && error.error_len().is_none() => Decoded {
            text: String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned(),
            not_utf8_at: None,
            cut,
        },
        Err(error) => {
            let latin_1 = |bytes: &[u8]| -> String { bytes.iter().map(|&b| char::from(b)).collect() };
            let (before, rest) = bytes.split_at(error.valid_up_to());
            let mut text = latin_1(before);
            let at = text.len();
            text.push_str(&latin_1(rest));
            Decoded {
                text,
                not_utf8_at: Some(Span::new(at, at + char::from(rest[0]).len_utf8())),
                cut,
            }
        }
    }
}

/// Line and column, both counted from 1. A column is one Unicode scalar; a TAB is one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// Index from offsets to positions. Lines end with LF, CRLF or lone CR.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Makes the index, in one pass.
    pub fn new(text: &str) -> LineIndex {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (i, &b) in bytes.iter().enumerate() {
            let ends_line = b == b'\n' || (b == b'\r' && bytes.get(i + 1) != Some(&b'\n'));
            if ends_line {
                starts.push(i as u32 + 1);
            }
        }
        LineIndex { starts }
    }

    /// Number of lines.
    pub fn n_lines(&self) -> usize {
        self.starts.len()
    }

    /// The line, from 0, that holds an offset.
    pub fn line_of(&self, offset: u32) -> usize {
        self.starts.partition_point(|&s| s <= offset) - 1
    }

    /// The bytes of a line, from 0, without its end.
    pub fn line_range(&self, line: usize, text: &str) -> Range<usize> {
        let start = self.starts[line] as usize;
        let end = self.starts.get(line + 1).map_or(text.len(), |&e| e as usize);
        let trimmed = text[start..end].trim_end_matches(['\n', '\r']);
        start..start + trimmed.len()
    }

    /// Positions of many offsets, in the order of `offsets`, in one pass: counting the columns of a line of 16 MiB for
    /// each diagnostic would take quadratic time.
    pub fn positions(&self, text: &str, offsets: &[u32]) -> Vec<Position> {
        let mut order: Vec<usize> = (0..offsets.len()).collect();
        order.sort_by_key(|&i| offsets[i]);
        let mut answers = vec![Position { line: 1, column: 1 }; offsets.len()];
        let (mut at, mut line, mut column) = (0_usize, 0_usize, 1_u32);
        for i in order {
            let offset = (offsets[i] as usize).min(text.len());
            let its_line = self.line_of(offset as u32);
            if its_line != line {
                (line, at, column) = (its_line, self.starts[its_line] as usize, 1);
            }
            column += text.as_bytes()[at..offset]
                .iter()
                .filter(|&&b| b & 0xc0 != 0x80)
                .count() as u32;
            at = offset;
            answers[i] = Position {
                line: line as u32 + 1,
                column,
            };
        }
        answers
    }
}

/// The first 40 characters of a text at most, for messages.
pub fn short(text: &str) -> String {
    if text.chars().nth(40).is_none() {
        return text.to_owned();
    }
    let head: String = text.chars().take(37).collect();
    format!("{head}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_lf_crlf_and_cr() {
        let text = "a\nb\r\nc\rd";
        let index = LineIndex::new(text);
        assert_eq!(index.n_lines(), 4);
        let lines: Vec<&str> = (0..4).map(|l| &text[index.line_range(l, text)]).collect();
        assert_eq!(lines, ["a", "b", "c", "d"]);
    }

    #[test]
    fn columns_count_scalars() {
        let text = "(é\tx)\n(y)";
        let index = LineIndex::new(text);
        let at = text.find('x').unwrap() as u32;
        let y = text.find('y').unwrap() as u32;
        let positions = index.positions(text, &[y, at]);
        assert_eq!(positions[0], Position { line: 2, column: 2 });
        assert_eq!(positions[1], Position { line: 1, column: 4 });
    }

    #[test]
    fn stray_bytes_are_latin_1() {
        let decoded = decode(b"; caf\xe9\n(role a)");
        assert_eq!(decoded.text, "; café\n(role a)");
        assert_eq!(decoded.not_utf8_at, Some(Span::new(5, 7)));
        assert_eq!(decode(b"\xef\xbb\xbf(role a)").text, "(role a)");
    }
}
