//! Regrets become a realization plan.
//!
//! Regrets are kept for the views that are walked. A view that another one stands for has the strategy of the other,
//! with its moves renamed.

use super::super::pass::Place;
use super::super::symmetry::{Group, Quotient, ViewAction};
use super::super::views::ViewGraph;
use super::{Bias, Piece, Rule, lock};
use smallvec::SmallVec;
use std::sync::Mutex;

/// A place in the tree, and the place that stands for it.
#[derive(Clone, Copy)]
pub(super) struct Twin {
    pub class: u32,
    pub slot: usize,
    /// The place that stands for it.
    stands: Place,
    /// A symmetry that carries the place into the one that stands for it.
    by: usize,
}

impl Twin {
    pub fn root(views: &ViewGraph, quotient: &Quotient) -> Twin {
        Twin {
            class: views.root,
            slot: 0,
            stands: Place::root(views, quotient),
            by: 0,
        }
    }
}

/// Makes a plan of regrets.
pub(super) struct Spread<'a> {
    pub views: &'a ViewGraph,
    pub quotient: &'a Quotient,
    pub symmetries: Option<(&'a Group, &'a ViewAction)>,
    pub size: u64,
    pub pieces: &'a [Mutex<Piece>],
    pub starts: &'a [usize],
    pub rule: Rule,
    pub bias: Option<&'a Bias>,
}

impl Spread<'_> {
    /// The piece of a sequence.
    fn piece(&self, sequence: usize) -> &Mutex<Piece> {
        &self.pieces[self.starts.partition_point(|&s| s <= sequence).saturating_sub(1)]
    }

    /// Each child, and the number of the move by which it is reached where the other place is.
    fn children(&self, at: Twin) -> impl Iterator<Item = (Twin, usize)> {
        let class = &self.views.classes[at.class as usize];
        let node = &self.quotient.nodes[at.stands.node as usize];
        let others = &self.views.classes[at.stands.class as usize].children;
        let moved = self.symmetries.filter(|_| at.by != 0);
        class.children.iter().enumerate().map(move |(number, child)| {
            let there = moved.map_or(number, |(_, action)| action.child(at.by, at.class, number));
            let kid = &node.kids[there];
            let by = match self.symmetries {
                Some((group, _)) if kid.by != 0 => group.product(usize::from(kid.by), at.by),
                _ => at.by,
            };
            let twin = Twin {
                class: child.class,
                slot: at.slot + child.slot as usize,
                stands: at.stands.child(&others[kid.stands as usize], kid),
                by,
            };
            (twin, usize::from(others[there].action))
        })
    }

    /// Collects subtrees whose regrets are in one piece, with their reach, and slots above them with their reach.
    pub fn visit(&self, at: Twin, reach: f64, jobs: &mut Vec<(Twin, f64)>, top: &mut Vec<(usize, f64)>) {
        let class = &self.views.classes[at.class as usize];
        if self.quotient.nodes[at.stands.node as usize].infosets <= self.size {
            jobs.push((at, reach));
            return;
        }
        if class.list.is_some() || class.children.len() != 1 {
            top.push((at.slot, reach));
        }
        let mut policy = vec![0.0; class.n_moves as usize];
        if class.list.is_some() {
            let piece = lock(self.piece(at.stands.sequence));
            self.policy(&piece, at.stands.sequence, &mut policy);
        }
        for (child, action) in self.children(at) {
            let reach = reach * policy.get(action).unwrap_or(&1.0);
            self.visit(child, reach, jobs, top);
        }
    }

    /// The strategy of an information set.
    fn policy(&self, piece: &Piece, sequence: usize, policy: &mut [f64]) {
        let range = sequence - piece.start..sequence - piece.start + policy.len();
        let last = piece.last.get(range.clone()).unwrap_or_default();
        self.rule.next_policy(&piece.regret[range], last, policy);
        if let Some(bias) = self.bias {
            bias.mix(sequence, policy);
        }
    }

    /// The plan of a subtree.
    pub fn fill(&self, at: Twin, reach: f64, plan: &mut [f64]) {
        let class = &self.views.classes[at.class as usize];
        let at = Twin { slot: 0, ..at };
        if reach == 0.0 || class.sequences == 0 {
            plan.fill(reach);
            return;
        }
        let piece = lock(self.piece(at.stands.sequence));
        self.below(&piece, at, reach, plan);
    }

    fn below(&self, piece: &Piece, at: Twin, reach: f64, plan: &mut [f64]) {
        let class = &self.views.classes[at.class as usize];
        if reach == 0.0 || class.sequences == 0 {
            plan[at.slot..at.slot + class.slots as usize].fill(reach);
            return;
        }
        plan[at.slot] = reach;
        let mut policy: SmallVec<[f64; 16]> = SmallVec::new();
        policy.resize(class.n_moves as usize, 0.0);
        if class.list.is_some() {
            self.policy(piece, at.stands.sequence, &mut policy);
        }
        for (child, action) in self.children(at) {
            let reach = match class.list {
                Some(_) => reach * policy[action],
                None => reach,
            };
            self.below(piece, child, reach, plan);
        }
    }
}
