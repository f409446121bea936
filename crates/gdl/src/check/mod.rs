//! The static restrictions of the language (docs/gdl2.md, from Safety to Further restrictions), one file each.

mod definitions;
mod free_facts;
mod graph;
mod keywords;
mod recursion;
mod safety;
mod stratification;

use crate::diagnostic::Sink;
use crate::forms::{Dialect, Form};
use crate::symbol::Symbols;
pub(crate) use definitions::keyword_shape;
use graph::Graph;
pub(crate) use graph::components;

/// Checks the forms and returns those that take part in the game. Unbound role variables are bound where lenient mode
/// allows it; `sees_xml`, hints that cannot be used and unsafe rules are left out.
pub(crate) fn check(forms: Vec<Form>, dialect: Dialect, source: &str, symbols: &Symbols, sink: &mut Sink) -> Vec<Form> {
    let forms = definitions::strip_views(forms, sink);
    let forms = free_facts::inline(forms, sink);
    let graph = Graph::new(&forms);
    definitions::check(&forms, dialect, source, symbols, sink);
    keywords::check(&forms, &graph, dialect, symbols, sink);
    stratification::check(&forms, &graph, symbols, sink);
    recursion::check(&forms, &graph, symbols, sink);
    let forms = keywords::drop_dependent_hints(forms, &graph, dialect, symbols);
    safety::check(forms, &graph, dialect, source, symbols, sink)
}
