//! The tree of views up to symmetry.
//!
//! At a view that some symmetries leave as it is, continuations that these symmetries carry into each other are worth
//! the same. One of them, the first, *stands* for the others and is walked. A node of the walk is a class of views
//! together with the symmetries that leave the view as it is; with the identity alone all continuations are walked.

use super::super::views::ViewGraph;
use super::{Subgroup, TRIVIAL, ViewAction, members};
use rustc_hash::FxHashMap;

/// A continuation of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Kid {
    /// Number of the child that stands for this one; its own number if it stands for itself.
    pub stands: u32,
    /// A symmetry that carries this child into the one that stands for it.
    pub by: u8,
    /// The node of the child that stands for this one.
    pub node: u32,
}

/// A class of views with the symmetries of the view.
#[derive(Clone, Debug)]
pub(in super::super) struct WalkNode {
    /// Information sets of the subtree that are walked.
    pub infosets: u64,
    /// Whether every continuation stands for itself, here and below; the number of the node is that of its class.
    pub whole: bool,
    /// One for each child of the class.
    pub kids: Vec<Kid>,
    /// For each move the one that stands for it; empty if every one stands for itself.
    pub moves: Vec<u16>,
}

impl WalkNode {
    /// The move that stands for another one.
    #[inline]
    pub fn stands_for(&self, action: usize) -> Option<usize> {
        let stands = usize::from(*self.moves.get(action)?);
        (stands != action).then_some(stands)
    }
}

/// The graph of nodes.
#[derive(Clone, Debug)]
pub(in super::super) struct Quotient {
    /// Children have smaller numbers.
    pub nodes: Vec<WalkNode>,
    pub root: u32,
}

impl Quotient {
    pub fn root(&self) -> &WalkNode {
        &self.nodes[self.root as usize]
    }

    /// The whole tree.
    pub fn whole(views: &ViewGraph) -> Quotient {
        let nodes = views.classes.iter().map(|class| WalkNode {
            infosets: class.infosets,
            whole: true,
            kids: class
                .children
                .iter()
                .zip(0..)
                .map(|(child, stands)| Kid {
                    stands,
                    by: 0,
                    node: child.class,
                })
                .collect(),
            moves: Vec::new(),
        });
        Quotient {
            nodes: nodes.collect(),
            root: views.root,
        }
    }

    /// The tree up to the symmetries of a subgroup.
    pub fn new(views: &ViewGraph, action: &ViewAction, subgroup: Subgroup) -> Quotient {
        let mut quotient = Quotient::whole(views);
        if subgroup == TRIVIAL {
            return quotient;
        }
        let mut builder = Builder {
            views,
            action,
            numbers: FxHashMap::default(),
            quotient: &mut quotient,
        };
        let root = builder.node(views.root, subgroup);
        quotient.root = root;
        quotient
    }
}

struct Builder<'a> {
    views: &'a ViewGraph,
    action: &'a ViewAction,
    numbers: FxHashMap<(u32, Subgroup), u32>,
    quotient: &'a mut Quotient,
}

impl Builder<'_> {
    /// The number of a node. Depth is that of the tree of views, which is bounded.
    fn node(&mut self, class: u32, subgroup: Subgroup) -> u32 {
        if subgroup == TRIVIAL {
            return class;
        }
        if let Some(&number) = self.numbers.get(&(class, subgroup)) {
            return number;
        }
        let here = &self.views.classes[class as usize];
        let mut kids: Vec<Kid> = Vec::with_capacity(here.children.len());
        let mut moves: Vec<u16> = (0..here.n_moves as u16).collect();
        let mut infosets = u64::from(here.list.is_some());
        for (number, child) in here.children.iter().enumerate() {
            // The first child of the orbit, which comes earlier and stands for itself.
            let image = |g: usize| self.action.child(g, class, number);
            let (first, there) = members(subgroup).map(|g| (image(g), g)).min().unwrap_or((number, 0));
            if first < number {
                let node = kids[first].node;
                kids.push(Kid {
                    stands: first as u32,
                    by: there as u8,
                    node,
                });
                if here.list.is_some() {
                    moves[usize::from(child.action)] = here.children[first].action;
                }
                continue;
            }
            let keeping = members(subgroup)
                .filter(|&g| image(g) == number)
                .fold(0, |set, g| set | 1 << g);
            let node = self.node(child.class, keeping);
            infosets += self.quotient.nodes[node as usize].infosets;
            kids.push(Kid {
                stands: number as u32,
                by: 0,
                node,
            });
        }
        let number = self.quotient.nodes.len() as u32;
        self.quotient.nodes.push(WalkNode {
            infosets,
            whole: false,
            kids,
            moves,
        });
        self.numbers.insert((class, subgroup), number);
        number
    }
}
