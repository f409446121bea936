//! Ground terms, hash-consed: equal terms have equal numbers, so that matching compares numbers.

use gdl::{Symbol, Symbols};
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// A ground term of one [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TermId(pub u32);

impl TermId {
    /// A place without a term.
    pub const NONE: TermId = TermId(u32::MAX);
}

const FREE: u32 = u32::MAX;

/// All ground terms met so far. Terms are never removed.
#[derive(Clone)]
pub(crate) struct Terms {
    nodes: Vec<Node>,
    args: Vec<TermId>,
    /// Open addressing with linear probing: numbers of nodes, or [`FREE`]. Its length is a power of two.
    slots: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Node {
    symbol: Symbol,
    start: u32,
    arity: u32,
    depth: u32,
    /// Symbols, each counted as often as it is written; saturates.
    size: u32,
}

impl Terms {
    pub fn new() -> Terms {
        Terms {
            nodes: Vec::new(),
            args: Vec::new(),
            slots: vec![FREE; 1024],
        }
    }

    /// The term `symbol(args…)`.
    pub fn intern(&mut self, symbol: Symbol, args: &[TermId]) -> TermId {
        let mask = self.slots.len() - 1;
        let mut at = hash_of(symbol, args) as usize & mask;
        while self.slots[at] != FREE {
            let found = TermId(self.slots[at]);
            if self.symbol(found) == symbol && self.args(found) == args {
                return found;
            }
            at = (at + 1) & mask;
        }
        self.insert(at, symbol, args)
    }

    fn insert(&mut self, at: usize, symbol: Symbol, args: &[TermId]) -> TermId {
        let id = u32::try_from(self.nodes.len()).expect("fewer than 2^32 terms");
        let depth = args.iter().map(|&a| self.depth(a)).max().unwrap_or(0) + 1;
        let size = args.iter().map(|&a| self.size(a)).fold(1, u32::saturating_add);
        self.nodes.push(Node {
            symbol,
            start: self.args.len() as u32,
            arity: args.len() as u32,
            depth,
            size,
        });
        self.args.extend_from_slice(args);
        self.slots[at] = id;
        if self.nodes.len() * 2 > self.slots.len() {
            self.grow();
        }
        TermId(id)
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 4 - 1;
        let mut slots = vec![FREE; mask + 1];
        for id in 0..self.nodes.len() as u32 {
            let term = TermId(id);
            let mut at = hash_of(self.symbol(term), self.args(term)) as usize & mask;
            while slots[at] != FREE {
                at = (at + 1) & mask;
            }
            slots[at] = id;
        }
        self.slots = slots;
    }

    #[inline]
    pub fn symbol(&self, term: TermId) -> Symbol {
        self.nodes[term.0 as usize].symbol
    }

    #[inline]
    pub fn args(&self, term: TermId) -> &[TermId] {
        let node = &self.nodes[term.0 as usize];
        &self.args[node.start as usize..(node.start + node.arity) as usize]
    }

    /// Levels of nesting; 1 for a constant.
    pub fn depth(&self, term: TermId) -> u32 {
        self.nodes[term.0 as usize].depth
    }

    /// Symbols in the term's text; `u32::MAX` if there are more. Terms share their parts, texts do not: a small number
    /// of terms can have a text of any length.
    pub fn size(&self, term: TermId) -> u32 {
        self.nodes[term.0 as usize].size
    }

    /// Canonical text.
    pub fn text(&self, term: TermId, symbols: &Symbols) -> String {
        let mut out = String::new();
        self.write(term, symbols, &mut out);
        out
    }

    /// Appends canonical text.
    pub fn write(&self, term: TermId, symbols: &Symbols, out: &mut String) {
        let name = symbols.text(self.symbol(term));
        if self.args(term).is_empty() {
            out.push_str(name);
            return;
        }
        out.push('(');
        out.push_str(name);
        for &arg in self.args(term) {
            out.push(' ');
            self.write(arg, symbols, out);
        }
        out.push(')');
    }

    /// Reads canonical text; `None` if it is malformed or has a name that the rules lack.
    pub fn parse(&mut self, text: &str, symbols: &Symbols) -> Option<TermId> {
        let mut open: Vec<(Option<Symbol>, Vec<TermId>)> = vec![(None, Vec::new())];
        for token in Tokens(text) {
            match token {
                "(" => open.push((None, Vec::new())),
                ")" => {
                    let (name, args) = open.pop()?;
                    let term = self.intern(name?, &args);
                    open.last_mut()?.1.push(term);
                }
                name => {
                    let symbol = symbols.get(name)?;
                    let inside = open.len() > 1;
                    let (head, args) = open.last_mut()?;
                    if inside && head.is_none() && args.is_empty() {
                        *head = Some(symbol);
                    } else {
                        args.push(self.intern(symbol, &[]));
                    }
                }
            }
        }
        match (open.pop()?, open.is_empty()) {
            ((None, terms), true) if terms.len() == 1 => Some(terms[0]),
            _ => None,
        }
    }
}

fn hash_of(symbol: Symbol, args: &[TermId]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u32(symbol.0);
    for arg in args {
        hasher.write_u32(arg.0);
    }
    hasher.finish()
}

/// Parentheses and names.
struct Tokens<'t>(&'t str);

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = self.0.trim_start();
        let len = match rest.chars().next()? {
            '(' | ')' => 1,
            _ => rest
                .find(|c: char| c.is_whitespace() || c == '(' || c == ')')
                .unwrap_or(rest.len()),
        };
        let (token, rest) = rest.split_at(len);
        self.0 = rest;
        Some(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_terms_are_one_and_print_as_read() {
        let mut symbols = Symbols::default();
        for name in ["cell", "1", "b", "f"] {
            symbols.intern(name);
        }
        let mut terms = Terms::new();
        let cell = terms.parse("(cell 1 (f b))", &symbols).unwrap();
        assert_eq!(terms.parse(" ( cell 1 ( f b ) )", &symbols), Some(cell));
        assert_eq!(terms.text(cell, &symbols), "(cell 1 (f b))");
        assert_eq!(terms.depth(cell), 3);
        let b = terms.parse("b", &symbols);
        assert_eq!(terms.parse("(b)", &symbols), b);
    }

    #[test]
    fn malformed_text_is_no_term() {
        let symbols = Symbols::default();
        let mut terms = Terms::new();
        for text in ["", "(", ")", "role role", "(role", "role)", "()", "((role))", "unheard"] {
            assert_eq!(terms.parse(text, &symbols), None, "{text}");
        }
    }

    #[test]
    fn many_terms_keep_their_numbers() {
        let mut terms = Terms::new();
        let ids: Vec<TermId> = (0..5000).map(|n| terms.intern(Symbol(n), &[])).collect();
        for (n, &id) in ids.iter().enumerate() {
            assert_eq!(terms.intern(Symbol(n as u32), &[]), id);
        }
    }
}
