//! The questions that a client asks, one file each. Each answer is a function of a document that was read.

pub mod actions;
pub mod completion;
pub mod context;
pub mod diagnostics;
pub mod folding;
pub mod formatting;
pub mod hover;
pub mod inlay;
pub mod navigation;
pub mod rename;
pub mod symbols;
pub mod tokens;
pub mod why;
