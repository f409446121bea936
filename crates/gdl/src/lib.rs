//! GDL-II: text to checked rules and diagnostics.

pub mod rules;
pub mod symbol;

pub use rules::{Atom, Clause, Literal, Rules, Term};
pub use symbol::{Symbol, Symbols, kw};
