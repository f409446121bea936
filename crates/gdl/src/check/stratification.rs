//! Stratification: no relation may depend on its own negation (docs/gdl2.md, Stratification).
//!
//! The first test has a node for each relation. If it finds a negative cycle, the second test has a node for each
//! clause and an edge only where a condition can match a head. The second test accepts `(goal ?r 0)` by
//! `(not (goal ?r 100))`, as real games have it: there the rules are stratified if relations are split by their
//! constant arguments.

use super::graph::{Edge, Graph, components};
use crate::codes::Code;
use crate::diagnostic::Sink;
use crate::forms::{Form, PlacedAtom};
use crate::rules::Term;
use crate::source::short;
use crate::symbol::Symbols;
use std::collections::HashMap;

/// Matches that the second test tries before it gives up, against quadratic time on hostile input.
const MAX_MATCHES: usize = 4_000_000;

pub(super) fn check(forms: &[Form], graph: &Graph, symbols: &Symbols, sink: &mut Sink) {
    let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, form) in forms.iter().enumerate() {
        let node = graph.find(form.head.pred()).expect("every head is a node");
        members.entry(graph.component[node]).or_default().push(number);
    }
    let mut matches = 0;
    for (component, edge, from) in first_negative_edges(graph) {
        let local = clauses_are_stratified(forms, &members[&component], &mut matches);
        let code = if local { Code::LocalStrat } else { Code::NegCycle };
        let cycle = match sink.wants(code) {
            true => name_cycle(graph, from, edge, symbols),
            false => String::new(),
        };
        if local {
            sink.add(
                code,
                edge.span,
                format!("{cycle} depends on its own negation; only the constants in its arguments keep it meaningful"),
                "other systems may refuse it; use relations of different names",
            );
        } else {
            let slot = sink.add(
                code,
                edge.span,
                format!("{cycle} depends on its own negation, so it has no meaning"),
                "break the cycle: define one of these relations without the others",
            );
            slot.see(forms[edge.form].head.span, "while this is being defined");
        }
    }
}

/// For each cycle of relations with a negative edge: its component, one such edge and the node where the edge starts.
fn first_negative_edges(graph: &Graph) -> Vec<(usize, Edge, usize)> {
    let mut found: HashMap<usize, (Edge, usize)> = HashMap::new();
    for (from, edges) in graph.edges.iter().enumerate() {
        for &edge in edges {
            if edge.negative && graph.in_cycle(from, edge.to) {
                found.entry(graph.component[from]).or_insert((edge, from));
            }
        }
    }
    let mut found: Vec<_> = found.into_iter().map(|(c, (e, f))| (c, e, f)).collect();
    found.sort_by_key(|(_, edge, _)| edge.span);
    found
}

fn name_cycle(graph: &Graph, from: usize, edge: Edge, symbols: &Symbols) -> String {
    let name = |node: usize| short(symbols.text(graph.preds[node].0));
    if edge.to == from {
        return format!("`{}`", name(from));
    }
    let back = graph
        .path(edge.to, |pred| pred == graph.preds[from])
        .unwrap_or_default();
    let mut names = vec![name(from), name(edge.to)];
    names.extend(back.iter().map(|e| name(e.to)));
    if names.len() > 12 {
        names.truncate(11);
        names.push("…".to_owned());
    }
    format!("`{}`", names.join("` → `"))
}

/// Whether no cycle of clauses goes through a negation.
fn clauses_are_stratified(forms: &[Form], members: &[usize], matches: &mut usize) -> bool {
    let mut heads: HashMap<_, Vec<usize>> = HashMap::new();
    for (place, &form) in members.iter().enumerate() {
        heads.entry(forms[form].head.pred()).or_default().push(place);
    }
    let mut edges: Vec<Vec<usize>> = vec![Vec::new(); members.len()];
    let mut negative_edges = Vec::new();
    for (place, &form) in members.iter().enumerate() {
        forms[form].for_each_atom(&mut |atom, negative| {
            let candidates = heads.get(&atom.pred()).map_or(&[][..], Vec::as_slice);
            *matches += candidates.len();
            if *matches > MAX_MATCHES {
                return;
            }
            for &other in candidates {
                if may_match(atom, &forms[members[other]].head) {
                    edges[place].push(other);
                    if negative {
                        negative_edges.push((place, other));
                    }
                }
            }
        });
    }
    let component = components(&edges);
    *matches <= MAX_MATCHES && negative_edges.iter().all(|&(a, b)| component[a] != component[b])
}

/// Whether the two can be the same ground atom if variables stand for any term.
fn may_match(a: &PlacedAtom, b: &PlacedAtom) -> bool {
    a.atom.args.iter().zip(&b.atom.args).all(|(a, b)| terms_may_match(a, b))
}

fn terms_may_match(a: &Term, b: &Term) -> bool {
    match (a, b) {
        (Term::Fun(f, a), Term::Fun(g, b)) => {
            f == g && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| terms_may_match(a, b))
        }
        _ => true,
    }
}
