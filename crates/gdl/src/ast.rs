//! The syntax tree, with spans and comments.
//!
//! Both notations give the same tree of names, variables and lists. The tree has no meaning yet, so that the formatter
//! can print descriptions that have mistakes; [`crate::forms`] gives it a meaning.

use crate::source::Span;
use crate::symbol::Symbol;

/// A notation of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `(<= (next ?f) (true ?f))`, the notation of files and of the wire.
    Prefix,
    /// `next(?f) <= true(?f).`, the notation of the papers.
    Infix,
}

/// A whole description.
#[derive(Clone, Debug)]
pub struct Ast {
    /// Notation it was written in.
    pub notation: Notation,
    /// Facts and rules.
    pub forms: Vec<Node>,
    /// Forms that are not finished, as far as they go, in order. They have no meaning; editors find names in them.
    pub unfinished: Vec<Node>,
    /// Spans of the comments, in order, with the comment character and without the line end.
    pub comments: Vec<Span>,
}

/// A node of the tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// Kind, with contents.
    pub kind: NodeKind,
    /// Place in the text.
    pub span: Span,
}

/// Kind of a node, with its contents.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// Variable; the text of the symbol begins with `?`.
    Var(Symbol),
    /// Name: constant, function, relation, connective or `<=`.
    Name(Symbol),
    /// List, as in prefix notation: `head(a, b)` is the list `head a b`.
    List(Vec<Node>),
}

impl Node {
    /// Makes a name.
    pub fn name(symbol: Symbol, span: Span) -> Node {
        Node {
            kind: NodeKind::Name(symbol),
            span,
        }
    }

    /// Makes a list.
    pub fn list(items: Vec<Node>, span: Span) -> Node {
        Node {
            kind: NodeKind::List(items),
            span,
        }
    }

    /// The elements of a list; none for other nodes.
    pub fn items(&self) -> &[Node] {
        match &self.kind {
            NodeKind::List(items) => items,
            _ => &[],
        }
    }

    /// The first element of a list if it is a name, or the name itself.
    pub fn head_name(&self) -> Option<Symbol> {
        match &self.kind {
            NodeKind::Name(symbol) => Some(*symbol),
            NodeKind::Var(_) => None,
            NodeKind::List(items) => match items.first().map(|n| &n.kind) {
                Some(NodeKind::Name(symbol)) => Some(*symbol),
                _ => None,
            },
        }
    }

    /// Whether two trees are equal up to places. A list of one name equals the name.
    pub fn same(&self, other: &Node) -> bool {
        match (&self.kind, &other.kind) {
            (NodeKind::Var(a), NodeKind::Var(b)) | (NodeKind::Name(a), NodeKind::Name(b)) => a == b,
            (NodeKind::List(a), NodeKind::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b)),
            (NodeKind::List(list), NodeKind::Name(_)) => list.len() == 1 && list[0].same(other),
            (NodeKind::Name(_), NodeKind::List(list)) => list.len() == 1 && list[0].same(self),
            _ => false,
        }
    }
}
