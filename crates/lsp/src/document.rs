//! An open document: its text, and what is known about it.

use crate::analysis::Analysis;
use crate::position::{self, Encoding, Locator};
use gdl::source::{LineIndex, MAX_BYTES};
use gdl::{Notation, Span};
use lsp_types::{Position, Range, TextDocumentContentChangeEvent, Uri};

/// A document that the client has open.
pub struct Document {
    /// Its name.
    pub uri: Uri,
    /// The version that the client gave this text.
    pub version: i32,
    text: String,
    lines: LineIndex,
    /// Whether the text is too large; then nothing of it is kept.
    pub refused: bool,
    /// What was read, unless the text has changed since.
    analysis: Option<Analysis>,
    /// The notation of the last text without mistakes in its syntax.
    notation: Option<Notation>,
}

impl Document {
    /// A document as it was opened.
    pub fn new(uri: Uri, version: i32, text: String) -> Document {
        let mut document = Document {
            uri,
            version,
            text: String::new(),
            lines: LineIndex::new(""),
            refused: false,
            analysis: None,
            notation: None,
        };
        document.set(text);
        document
    }

    fn set(&mut self, text: String) {
        self.refused = text.len() > MAX_BYTES;
        self.text = if self.refused { String::new() } else { text };
        self.lines = LineIndex::new(&self.text);
        self.analysis = None;
    }

    /// The whole text, with a byte order mark if it has one.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Applies changes in their order; returns what was replaced.
    pub fn change(
        &mut self,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
    ) -> Vec<Replaced> {
        self.version = version;
        let mut replaced = Vec::with_capacity(changes.len());
        for change in changes {
            let before = self.text.len();
            match change.range {
                None => {
                    self.set(change.text);
                    replaced.push(Replaced {
                        start: 0,
                        end: before as u32,
                        len: self.text.len() as u32,
                    });
                }
                // What the text was is not known any more.
                Some(_) if self.refused => {}
                Some(range) => replaced.push(self.splice(range, &change.text, encoding)),
            }
        }
        replaced
    }

    fn splice(&mut self, range: Range, with: &str, encoding: Encoding) -> Replaced {
        let at = |position| position::offset(&self.text, &self.lines, position, encoding);
        let (start, end) = (at(range.start), at(range.end));
        let (start, end) = (start.min(end), start.max(end));
        if self.text.len() - (end - start) + with.len() > MAX_BYTES {
            let end = self.text.len() as u32;
            self.refuse();
            return Replaced { start: 0, end, len: 0 };
        }
        let mark = self.mark();
        self.text.replace_range(start..end, with);
        self.lines = LineIndex::new(&self.text);
        self.analysis = None;
        Replaced {
            start: start.saturating_sub(mark) as u32,
            end: end.saturating_sub(mark) as u32,
            len: with.len() as u32,
        }
    }

    /// Drops the text.
    pub fn refuse(&mut self) {
        self.set(String::new());
        self.refused = true;
    }

    /// What the text says; reads it if it has changed.
    pub fn view(&mut self, options: &gdl::Options, encoding: Encoding) -> View<'_> {
        if self.analysis.is_none() {
            let analysis = Analysis::new(self.rules_text(), options, self.notation);
            if analysis.is_well_formed() {
                self.notation = Some(analysis.reading.ast.notation);
            }
            self.analysis = Some(analysis);
        }
        View {
            document: self,
            analysis: self.analysis.as_ref().expect("made above"),
            encoding,
        }
    }

    /// Forgets what was read: the options have changed.
    pub fn forget(&mut self) {
        self.analysis = None;
        self.notation = None;
    }

    /// The text that spans refer to: without a byte order mark.
    fn rules_text(&self) -> &str {
        &self.text[self.mark()..]
    }

    /// Bytes of the byte order mark.
    fn mark(&self) -> usize {
        if self.text.starts_with('\u{feff}') { 3 } else { 0 }
    }
}

/// A piece of the text that was replaced by another of `len` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Replaced {
    start: u32,
    end: u32,
    len: u32,
}

impl Replaced {
    /// Where a span is after the replacement; nothing if it was touched.
    pub fn follow(&self, span: Span) -> Option<Span> {
        if span.end < self.start {
            return Some(span);
        }
        let moved = |at: u32| at - self.end + self.start + self.len;
        (span.start > self.end).then(|| Span {
            start: moved(span.start),
            end: moved(span.end),
        })
    }
}

/// A document that was read.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The document.
    pub document: &'a Document,
    /// What it says.
    pub analysis: &'a Analysis,
    encoding: Encoding,
}

impl<'a> View<'a> {
    /// The text that spans refer to.
    pub fn text(&self) -> &'a str {
        &self.analysis.reading.text
    }

    /// The text of a symbol, in lower case.
    pub fn name(&self, symbol: gdl::Symbol) -> &'a str {
        self.analysis.reading.rules.symbols.text(symbol)
    }

    /// The notation of the text.
    pub fn notation(&self) -> Notation {
        self.analysis.reading.ast.notation
    }

    /// For converting many spans, best in ascending order.
    pub fn places(&self) -> Places<'a> {
        Places {
            locator: Locator::new(&self.document.text, &self.document.lines, self.encoding),
            mark: self.document.mark() as u32,
        }
    }

    /// The range of one span.
    pub fn range(&self, span: Span) -> Range {
        self.places().range(span)
    }

    /// The offset of a position.
    pub fn offset(&self, position: Position) -> usize {
        let offset = position::offset(&self.document.text, &self.document.lines, position, self.encoding);
        offset.saturating_sub(self.document.mark()).min(self.text().len())
    }
}

/// Turns spans of the rules into ranges of the document.
pub struct Places<'a> {
    locator: Locator<'a>,
    mark: u32,
}

impl Places<'_> {
    /// The range of a span.
    pub fn range(&mut self, span: Span) -> Range {
        self.locator.range(Span {
            start: span.start + self.mark,
            end: span.end + self.mark,
        })
    }

    /// The position of an offset.
    pub fn position(&mut self, offset: u32) -> Position {
        self.locator.position((offset + self.mark) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document::new("file:///game.kif".parse().unwrap(), 1, text.to_owned())
    }

    fn change(from: (u32, u32), to: (u32, u32), text: &str) -> TextDocumentContentChangeEvent {
        TextDocumentContentChangeEvent {
            range: Some(Range {
                start: Position::new(from.0, from.1),
                end: Position::new(to.0, to.1),
            }),
            range_length: None,
            text: text.to_owned(),
        }
    }

    #[test]
    fn changes_apply_in_order() {
        let mut document = document("(role a)\n; 𝄞 note\n(role b)\n");
        let changes = vec![
            change((0, 6), (0, 7), "first"),
            change((1, 2), (1, 4), "x"),
            change((2, 0), (9, 0), ""),
        ];
        document.change(2, changes, Encoding::Utf16);
        assert_eq!(document.text(), "(role first)\n; x note\n");
        assert_eq!(document.version, 2);
        // The wrong way round, as some client may send it.
        document.change(3, vec![change((0, 5), (0, 0), "")], Encoding::Utf16);
        assert_eq!(document.text(), " first)\n; x note\n");
    }

    #[test]
    fn spans_follow_what_is_typed_before_them() {
        let mut document = document("(role a) (role b)");
        let replaced = document.change(2, vec![change((0, 6), (0, 7), "first")], Encoding::Utf16);
        let follow = |start, end| replaced[0].follow(Span::new(start, end));
        assert_eq!(follow(0, 5), Some(Span::new(0, 5)));
        assert_eq!(follow(0, 8), None);
        assert_eq!(follow(15, 16), Some(Span::new(19, 20)));
        assert_eq!(&document.text()[19..20], "b");
    }

    #[test]
    fn too_large_a_text_is_refused_until_it_is_whole_again() {
        let mut document = document("x");
        document.change(2, vec![change((0, 0), (0, 0), &"y".repeat(MAX_BYTES))], Encoding::Utf16);
        assert!(document.refused && document.text().is_empty());
        document.change(3, vec![change((0, 0), (0, 1), "")], Encoding::Utf16);
        assert!(document.refused);
        let whole = TextDocumentContentChangeEvent {
            range: None,
            range_length: None,
            text: "(role a)".to_owned(),
        };
        document.change(4, vec![whole], Encoding::Utf16);
        assert!(!document.refused);
        assert_eq!(document.text(), "(role a)");
    }

    #[test]
    fn a_byte_order_mark_moves_columns_of_the_first_line_only() {
        let mut document = document("\u{feff}(role)\n(role)");
        let view = document.view(&gdl::Options::default(), Encoding::Utf16);
        let starts: Vec<Position> = view
            .analysis
            .reading
            .ast
            .forms
            .iter()
            .map(|f| view.range(f.span).start)
            .collect();
        assert_eq!(starts, [Position::new(0, 1), Position::new(1, 0)]);
        assert_eq!(view.offset(Position::new(0, 1)), 0);
        assert_eq!(view.offset(Position::new(0, 0)), 0);
    }
}
