//! Interning of names while a description is read: case folding, first spellings, wire spellings.

use crate::codes::Code;
use crate::diagnostic::Sink;
use crate::source::{Span, short};
use crate::symbol::{Symbol, Symbols};
use std::collections::HashSet;

/// The names read so far.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    source: &'a str,
    pub symbols: Symbols,
    case_sensitive: bool,
    /// Place of the first occurrence of each symbol.
    first: Vec<Option<Span>>,
    warned: HashSet<Symbol>,
    odd: HashSet<String>,
    folded: String,
}

impl<'a> Names<'a> {
    pub fn new(source: &'a str, case_sensitive: bool) -> Names<'a> {
        Names {
            source,
            symbols: Symbols::default(),
            case_sensitive,
            first: Vec::new(),
            warned: HashSet::new(),
            odd: HashSet::new(),
            folded: String::new(),
        }
    }

    /// The symbol of a name or variable as written. Keywords are case-insensitive; other names are unless the options
    /// say otherwise.
    pub fn intern(&mut self, text: &str, span: Span, sink: &mut Sink) -> Symbol {
        let mut folded = std::mem::take(&mut self.folded);
        folded.clear();
        folded.push_str(text);
        folded.make_ascii_lowercase();
        let symbol = self.intern_folded(text, &folded, span, sink);
        self.folded = folded;
        symbol
    }

    fn intern_folded(&mut self, text: &str, folded: &str, span: Span, sink: &mut Sink) -> Symbol {
        if let Some(symbol) = self.symbols.get(folded)
            && (symbol.is_keyword_relation() || symbol.is_connective())
        {
            return symbol;
        }
        if self.case_sensitive {
            return self.symbols.intern(text);
        }
        let symbol = self.symbols.intern(folded);
        // Variables are local to a rule; `forms` compares their spellings rule by rule.
        if text.starts_with('?') {
            return symbol;
        }
        self.first.resize(self.symbols.len(), None);
        match self.first[symbol.0 as usize] {
            Some(first) => self.compare_spelling(symbol, text, span, first, sink),
            None => {
                self.first[symbol.0 as usize] = Some(span);
                self.symbols.set_wire_text(symbol, text);
            }
        }
        symbol
    }

    fn compare_spelling(&mut self, symbol: Symbol, text: &str, span: Span, at: Span, sink: &mut Sink) {
        let first = &self.source[at.range()];
        if first != text && self.warned.insert(symbol) {
            sink.add(
                Code::Case,
                span,
                format!(
                    "`{}` is spelled `{}` elsewhere; both are read as the same name",
                    short(text),
                    short(first)
                ),
                "spell a name in one way; case does not tell names apart",
            )
            .see(at, "first spelled here")
            .fix(format!("write `{}`", short(first)), span, first);
        }
    }

    /// Whether this unusual text occurs for the first time.
    pub fn first_odd(&mut self, text: &str) -> bool {
        self.odd.insert(text.to_owned())
    }
}
