//! Interned names.
//!
//! GDL folds case (language reference, section 2), so a [`Symbol`] stands for the folded text. What a peer on
//! the wire wrote is kept beside it: moves must be sent back in the spelling in which they were received.

use std::collections::HashMap;
use std::sync::Arc;

/// A name of the rules: constant, functor or relation. Two names are equal exactly if their symbols are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

macro_rules! keywords {
    ($($konst:ident = $text:literal),* $(,)?) => {
        /// The keywords of the language, interned first in every [`Symbols`], so that they are constants.
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
    /// Names that the language itself gives a meaning to as relations.
    pub fn is_keyword_relation(self) -> bool {
        self.0 <= kw::SEES.0 || matches!(self, kw::BASE | kw::INPUT)
    }

    /// `not`, `or`, `and`, `distinct` and the arrow.
    pub fn is_connective(self) -> bool {
        matches!(self, kw::NOT | kw::OR | kw::AND | kw::DISTINCT | kw::ARROW)
    }
}

/// All names of one description.
#[derive(Clone, Debug)]
pub struct Symbols {
    texts: Vec<Arc<str>>,
    /// Only of names whose spelling on the wire is not the canonical one.
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
    /// The symbol for this (already folded) text, made if it is new.
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

    /// The symbol for this text if the description uses it.
    pub fn get(&self, text: &str) -> Option<Symbol> {
        self.index.get(text).copied()
    }

    /// The canonical (folded) text.
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol.0 as usize]
    }

    /// The spelling to use on the wire: as first written in a `legal` head, else as first written.
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

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Never true: the keywords are always there.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}
