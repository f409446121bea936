//! Interned names.
//!
//! Names are case-insensitive, so a [`Symbol`] stands for a name in lower case. The spelling for the wire is kept
//! beside it: moves are sent in the spelling in which the rules were received (docs/gdl2.md, Case, canonical text and
//! wire spelling).

use std::collections::HashMap;
use std::sync::Arc;

/// A name of a description: constant, function or relation. Two names are equal exactly if their symbols are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

macro_rules! keywords {
    ($($konst:ident = $text:literal),* $(,)?) => {
        /// Symbols of the keywords. They are the same in every [`Symbols`], because keywords are interned first.
        #[allow(missing_docs)]
        pub mod kw {
            use super::Symbol;
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            #[repr(u32)]
            enum Index { $($konst),* }
            $(pub const $konst: Symbol = Symbol(Index::$konst as u32);)*
            pub(super) const TEXTS: &[&str] = &[$($text),*];
        }
    };
}

keywords! {
    ROLE = "role", INIT = "init", TRUE = "true", LEGAL = "legal", DOES = "does", NEXT = "next",
    TERMINAL = "terminal", GOAL = "goal", SEES = "sees", RANDOM = "random", DISTINCT = "distinct",
    NOT = "not", OR = "or", AND = "and", ARROW = "<=", BASE = "base", INPUT = "input",
    SEES_XML = "sees_xml", KNOWS = "knows",
}

impl Symbol {
    /// Whether this is a keyword that names a relation.
    pub fn is_keyword_relation(self) -> bool {
        self.0 <= kw::SEES.0 || matches!(self, kw::BASE | kw::INPUT)
    }

    /// Whether this is `not`, `or`, `and`, `distinct` or `<=`.
    pub fn is_connective(self) -> bool {
        matches!(self, kw::NOT | kw::OR | kw::AND | kw::DISTINCT | kw::ARROW)
    }
}

/// The names of one description.
#[derive(Clone, Debug)]
pub struct Symbols {
    texts: Vec<Arc<str>>,
    /// Wire spellings that differ from the canonical text.
    wire: HashMap<Symbol, String>,
    index: HashMap<Arc<str>, Symbol>,
}

impl Default for Symbols {
    fn default() -> Self {
        let mut symbols = Symbols {
            texts: Vec::new(),
            wire: HashMap::new(),
            index: HashMap::new(),
        };
        for text in kw::TEXTS {
            symbols.intern(text);
        }
        symbols
    }
}

impl Symbols {
    /// The symbol of a text in lower case; made if it is new.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.index.get(text) {
            return symbol;
        }
        let symbol = Symbol(u32::try_from(self.texts.len()).expect("fewer than 2^32 names"));
        let text: Arc<str> = Arc::from(text);
        self.texts.push(Arc::clone(&text));
        self.index.insert(text, symbol);
        symbol
    }

    /// The symbol of this text, if the description has it.
    pub fn get(&self, text: &str) -> Option<Symbol> {
        self.index.get(text).copied()
    }

    /// The canonical text, in lower case.
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol.0 as usize]
    }

    /// The spelling for the wire: that of the first occurrence in the head of a `legal` rule, else of the first one.
    pub fn wire_text(&self, symbol: Symbol) -> &str {
        self.wire.get(&symbol).map_or_else(|| self.text(symbol), String::as_str)
    }

    pub(crate) fn set_wire_text(&mut self, symbol: Symbol, text: &str) {
        if self.text(symbol) == text {
            self.wire.remove(&symbol);
        } else {
            self.wire.insert(symbol, text.to_owned());
        }
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Always false, because of the keywords.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}
