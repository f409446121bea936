//! The values that a variable of a rule can take: those that all its places as a whole argument have in common.

use crate::document::View;
use crate::facts::{Extents, Name};
use crate::index::{Occurrence, Part, part_of_argument};
use gdl::ast::{Ast, Node, NodeKind};
use gdl::{Symbol, kw};
use std::collections::BTreeSet;

/// The values of a variable, if something is known about one of its places in positive conditions.
pub fn values<'a>(view: View<'a>, variable: &Occurrence, extents: &'a Extents) -> Option<Vec<&'a str>> {
    let ast = &view.analysis.reading.ast;
    let summary = view.analysis.index.forms.get(variable.form.0 as usize)?;
    let form = forms(ast).find(|f| f.span == summary.span)?;
    let mut search = Search {
        view,
        extents,
        symbol: variable.target.symbol(),
        values: None,
    };
    for literal in form.items().iter().skip(2) {
        search.literal(literal);
    }
    search.values.map(|values| values.into_iter().collect())
}

fn forms(ast: &Ast) -> impl Iterator<Item = &Node> {
    ast.forms.iter().chain(&ast.unfinished)
}

struct Search<'a> {
    view: View<'a>,
    extents: &'a Extents,
    symbol: Symbol,
    values: Option<BTreeSet<&'a str>>,
}

impl<'a> Search<'a> {
    fn literal(&mut self, node: &Node) {
        let Some(name) = node.head_name() else {
            return;
        };
        let args = node.items().get(1..).unwrap_or_default();
        match name {
            kw::AND => args.iter().for_each(|arg| self.literal(arg)),
            // Neither binds a variable by itself.
            kw::NOT | kw::OR | kw::DISTINCT => {}
            _ if name.is_keyword_relation() => {
                for (at, arg) in args.iter().enumerate() {
                    let part = part_of_argument(name, at);
                    self.term(arg, part);
                }
            }
            _ => {
                let extents = self.extents;
                let name = (self.view.name(name).to_owned(), args.len());
                self.arguments(args, extents.relations.get(&name).map(|e| &e.arguments));
            }
        }
    }

    /// A fluent, move or percept.
    fn term(&mut self, node: &Node, part: Part) {
        let (NodeKind::List(items), Some(name)) = (&node.kind, node.head_name()) else {
            return;
        };
        let args = &items[1..];
        let key: (Part, Name) = (part, (self.view.name(name).to_owned(), args.len()));
        let extents = self.extents;
        self.arguments(args, extents.terms.get(&key).map(|e| &e.arguments));
    }

    fn arguments(&mut self, args: &[Node], known: Option<&'a Vec<BTreeSet<String>>>) {
        let Some(known) = known else {
            return;
        };
        for (arg, values) in args.iter().zip(known) {
            if matches!(arg.kind, NodeKind::Var(symbol) if symbol == self.symbol) {
                let values: BTreeSet<&str> = values.iter().map(String::as_str).collect();
                self.values = Some(match self.values.take() {
                    Some(before) => before.intersection(&values).copied().collect(),
                    None => values,
                });
            }
        }
    }
}
