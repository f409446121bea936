//! Trees that tests write down.

use super::tree::{IN_ORDER, Kind, Node, Tree};
use crate::views::ViewId;
use game::MoveId;

/// A tree to be written down.
pub(crate) enum Sketch {
    /// An end, or a leaf with its estimate.
    End(f32),
    Leaf(f32),
    /// A player decides by this view.
    Choice(usize, u32, Vec<Sketch>),
    Chance(Vec<Sketch>),
}

/// Adds a sketch as a root. Views are numbers that the sketch gives; a player that does not decide has view
/// `u32::MAX`. Strategies of new information sets are the first move.
pub(crate) fn root(tree: &mut Tree, sketch: &Sketch) -> u32 {
    let node = tree.add_root(node(sketch));
    fill(tree, node, sketch);
    node
}

fn node(sketch: &Sketch) -> Node {
    let mut views = [ViewId(u32::MAX); 2];
    let (mut kind, mut value) = (Kind::Leaf, 0.0);
    match sketch {
        Sketch::End(v) => (kind, value) = (Kind::Over, *v),
        Sketch::Leaf(v) => value = *v,
        Sketch::Choice(player, view, _) => views[*player] = ViewId(*view),
        Sketch::Chance(_) => {}
    }
    Node {
        kind,
        ..Node::leaf(views, 0, value)
    }
}

fn fill(tree: &mut Tree, at: u32, sketch: &Sketch) {
    let (kind, map, below) = match sketch {
        Sketch::End(_) | Sketch::Leaf(_) => return,
        Sketch::Chance(below) => (Kind::Chance, IN_ORDER, below),
        Sketch::Choice(player, view, below) => {
            let moves: Vec<MoveId> = (0..below.len() as u32).map(MoveId).collect();
            let (set, map) = tree.decide(*player, ViewId(*view), &moves, 0, false);
            (Kind::Choice(set), map, below)
        }
    };
    let children: Vec<Node> = below.iter().map(node).collect();
    tree.expand(at, kind, map, children);
    let first = tree.nodes[at as usize].first;
    for (child, sketch) in (first..).zip(below) {
        fill(tree, child, sketch);
    }
}

/// Sets the strategy of a view.
pub(crate) fn play(tree: &mut Tree, view: u32, policy: &[f64]) {
    let set = tree.infosets[tree.infoset_of(ViewId(view)).unwrap() as usize];
    for (action, p) in tree.actions[set.actions()].iter_mut().zip(policy) {
        action.policy = *p;
    }
}

/// The current strategy of a view.
pub(crate) fn policy(tree: &Tree, view: u32) -> Vec<f64> {
    let set = tree.infosets[tree.infoset_of(ViewId(view)).unwrap() as usize];
    tree.actions[set.actions()].iter().map(|a| a.policy).collect()
}
