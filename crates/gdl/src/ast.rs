//! The syntax tree: what was written, with places and comments, in either notation.
//!
//! Both notations give the same tree. It is as plain as a tree can be (names, variables, lists), so that the
//! formatter loses nothing and odd structure can still be shown; [`crate::forms`] gives it its meaning.

use crate::source::Span;
use crate::symbol::Symbol;

/// One of the two ways to write rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `(<= (next ?f) (true ?f))`, the one that is sent on the wire.
    Prefix,
    /// `next(?f) <= true(?f).`, the one of the papers.
    Infix,
}

/// A whole description.
#[derive(Clone, Debug)]
pub struct Ast {
    /// How it was written.
    pub notation: Notation,
    /// Facts and rules.
    pub forms: Vec<Node>,
    /// Comments, in order, with their comment character and without the end of the line.
    pub comments: Vec<Span>,
}

/// A node of the tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Where it stands.
    pub span: Span,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// A variable; the symbol's text begins with `?`.
    Var(Symbol),
    /// A name: constant, functor, relation, connective or the arrow.
    Name(Symbol),
    /// A list, as written in prefix notation: `head(a, b)` is the list `head a b`.
    List(Vec<Node>),
}

impl Node {
    /// A leaf with a name.
    pub fn name(symbol: Symbol, span: Span) -> Node {
        Node {
            kind: NodeKind::Name(symbol),
            span,
        }
    }

    /// A list.
    pub fn list(items: Vec<Node>, span: Span) -> Node {
        Node {
            kind: NodeKind::List(items),
            span,
        }
    }

    /// The elements if this is a list, else nothing.
    pub fn items(&self) -> &[Node] {
        match &self.kind {
            NodeKind::List(items) => items,
            _ => &[],
        }
    }

    /// The name at the head: of a list its first element if that is a name, of a name itself.
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

    /// Whether two trees say the same, wherever they stand. A list of one name equals the name.
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
