//! The dependency graph of the relations.

use crate::forms::{Form, Pred};
use crate::source::Span;
use crate::symbol::{Symbol, kw};
use std::collections::HashMap;

/// The dependency graph, with a node for each relation and an edge for each occurrence in a body.
pub(super) struct Graph {
    pub preds: Vec<Pred>,
    index: HashMap<Pred, usize>,
    pub edges: Vec<Vec<Edge>>,
    /// Strongly connected component of each relation.
    pub component: Vec<usize>,
    cyclic: Vec<bool>,
}

#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub to: usize,
    pub negative: bool,
    /// Span of the literal.
    pub span: Span,
    /// Number of the form.
    pub form: usize,
}

impl Graph {
    pub fn new(forms: &[Form]) -> Graph {
        let mut graph = Graph {
            preds: Vec::new(),
            index: HashMap::new(),
            edges: Vec::new(),
            component: Vec::new(),
            cyclic: Vec::new(),
        };
        for (number, form) in forms.iter().enumerate() {
            let from = graph.node(form.head.pred());
            form.for_each_atom(&mut |atom, negative| {
                let to = graph.node(atom.pred());
                graph.edges[from].push(Edge {
                    to,
                    negative,
                    span: atom.span,
                    form: number,
                });
            });
        }
        graph.find_components();
        graph
    }

    fn node(&mut self, pred: Pred) -> usize {
        *self.index.entry(pred).or_insert_with(|| {
            self.preds.push(pred);
            self.edges.push(Vec::new());
            self.preds.len() - 1
        })
    }

    pub fn find(&self, pred: Pred) -> Option<usize> {
        self.index.get(&pred).copied()
    }

    /// The node of a keyword relation.
    pub fn keyword(&self, name: Symbol) -> Option<usize> {
        let arity = match name {
            kw::TERMINAL => 0,
            kw::ROLE | kw::INIT | kw::TRUE | kw::NEXT | kw::BASE => 1,
            _ => 2,
        };
        self.find((name, arity))
    }

    /// Whether two relations depend on each other.
    pub fn in_cycle(&self, a: usize, b: usize) -> bool {
        self.component[a] == self.component[b] && self.cyclic[self.component[a]]
    }

    /// Nodes that can be reached from these nodes, themselves included.
    pub fn reach(&self, roots: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut seen = vec![false; self.preds.len()];
        let mut todo: Vec<usize> = roots.into_iter().collect();
        while let Some(node) = todo.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                todo.extend(self.edges[node].iter().map(|e| e.to));
            }
        }
        seen
    }

    /// The edges of a shortest path from a node to the nearest wanted relation.
    pub fn path(&self, from: usize, wanted: impl Fn(Pred) -> bool) -> Option<Vec<Edge>> {
        let mut came: Vec<Option<(usize, Edge)>> = vec![None; self.preds.len()];
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for &edge in &self.edges[node] {
                if wanted(self.preds[edge.to]) {
                    return Some(trace(&came, from, node, edge));
                }
                if edge.to != from && came[edge.to].is_none() {
                    came[edge.to] = Some((node, edge));
                    queue.push_back(edge.to);
                }
            }
        }
        None
    }

    fn find_components(&mut self) {
        let targets: Vec<Vec<usize>> = self
            .edges
            .iter()
            .map(|list| list.iter().map(|e| e.to).collect())
            .collect();
        self.component = components(&targets);
        let mut sizes = vec![0_usize; self.preds.len()];
        for &c in &self.component {
            sizes[c] += 1;
        }
        self.cyclic = sizes.iter().map(|&n| n > 1).collect();
        for (node, list) in targets.iter().enumerate() {
            if list.contains(&node) {
                self.cyclic[self.component[node]] = true;
            }
        }
    }
}

/// Strongly connected components by Tarjan's algorithm, without recursion, since chains of rules can be long. Nodes of
/// one component have the same number.
pub(crate) fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    const NEW: usize = usize::MAX;
    let n = edges.len();
    let (mut order, mut low) = (vec![NEW; n], vec![0; n]);
    let mut component = vec![NEW; n];
    let (mut stack, mut calls) = (Vec::new(), Vec::new());
    let (mut clock, mut closed) = (0, 0);
    for root in 0..n {
        if order[root] == NEW {
            calls.push((root, 0));
        }
        while let Some((node, next)) = calls.last_mut() {
            let node = *node;
            if *next == 0 {
                (order[node], low[node]) = (clock, clock);
                clock += 1;
                stack.push(node);
            }
            if let Some(&to) = edges[node].get(*next) {
                *next += 1;
                if order[to] == NEW {
                    calls.push((to, 0));
                } else if component[to] == NEW {
                    low[node] = low[node].min(order[to]);
                }
                continue;
            }
            calls.pop();
            if let Some((parent, _)) = calls.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == order[node] {
                let start = stack.iter().rposition(|&m| m == node).expect("a root is on the stack");
                for member in stack.drain(start..) {
                    component[member] = closed;
                }
                closed += 1;
            }
        }
    }
    component
}

fn trace(came: &[Option<(usize, Edge)>], from: usize, node: usize, last: Edge) -> Vec<Edge> {
    let mut path = vec![last];
    let mut at = node;
    while at != from {
        let (previous, edge) = came[at].expect("every node on the way was reached from another");
        path.push(edge);
        at = previous;
    }
    path.reverse();
    path
}
