//! The growing game tree: histories as nodes, information sets with the numbers of a regret minimiser.
//!
//! Nodes are histories of the serialised game: the roles with a choice decide one after the other, nature last, and a
//! role decides by its view at the start of the round (as in `solve::Tree`). The children of a node are adjacent.
//! Values are our expected points less the opponent's, in -1..1.

use crate::views::ViewId;
use game::MoveId;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// We, as an index of a player.
pub(crate) const ME: usize = 0;
/// The opponent, as an index of a player.
pub(crate) const OPPONENT: usize = 1;

/// What happens at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Not expanded: the value is an estimate.
    Leaf,
    /// The game is over: the value is exact.
    Over,
    /// A player decides, in this information set.
    Choice(u32),
    /// Nature moves uniformly, or nobody has a choice and there is one child.
    Chance,
}

/// A history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub kind: Kind,
    /// The first child; the others follow.
    pub first: u32,
    pub n: u32,
    /// Our value, of leaves and of ends.
    pub value: f32,
    /// The views of both players at the start of the round.
    pub views: [ViewId; 2],
    /// Rounds played before.
    pub round: u32,
    /// Whether no iteration has visited the node since its expansion.
    pub fresh: bool,
    /// Whether our information set at the root above is not the real one.
    pub aside: bool,
}

impl Node {
    /// A node that is not expanded.
    pub(crate) fn leaf(views: [ViewId; 2], round: u32, value: f32) -> Node {
        Node {
            kind: Kind::Leaf,
            first: 0,
            n: 0,
            value,
            views,
            round,
            fresh: false,
            aside: false,
        }
    }

    pub(crate) fn children(&self) -> Range<u32> {
        self.first..self.first + self.n
    }
}

/// A move in an information set. Values are the deciding player's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Action {
    pub mv: MoveId,
    /// Accumulated regret, never negative.
    pub regret: f64,
    /// Probability in the current strategy.
    pub policy: f64,
    /// Counterfactual value in the iteration that is under way.
    pub gain: f64,
    /// Expected value given the information set, as of the last iteration that reached it.
    pub worth: f64,
    /// Sum of strategies, weighted: the average strategy.
    pub total: f64,
    /// Sum of values over the visits of the expander.
    pub sum: f64,
    /// Sum of squared values over the visits of the expander.
    pub squares: f64,
    /// How often the expander chose the move.
    pub tries: u32,
}

/// The nodes that a player cannot tell apart and decides in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Infoset {
    pub player: usize,
    pub first: u32,
    pub n: u32,
    pub view: ViewId,
    /// Visits of the expander.
    pub visits: u32,
    /// Probability that the others and nature lead here, in the iteration that is under way.
    pub reach: f64,
    /// The player's own probability to come here, in the iteration that is under way.
    pub own: f64,
    /// Whether the iteration that is under way was here.
    pub visited: bool,
    /// Whether the strategy is left as it is.
    pub frozen: bool,
}

impl Infoset {
    pub(crate) fn actions(&self) -> Range<usize> {
        self.first as usize..(self.first + self.n) as usize
    }
}

/// Nodes and information sets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub nodes: Vec<Node>,
    pub infosets: Vec<Infoset>,
    pub actions: Vec<Action>,
    by_view: FxHashMap<ViewId, u32>,
    /// Views whose legal moves depend on hidden information, which correct rules do not allow.
    odd: FxHashMap<(ViewId, Vec<MoveId>), u32>,
    /// Leaves among the nodes.
    pub leaves: usize,
}

impl Tree {
    /// Adds a node without a parent.
    pub(crate) fn add_root(&mut self, node: Node) -> u32 {
        self.leaves += usize::from(node.kind == Kind::Leaf);
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// The information set of a view.
    pub(crate) fn infoset_of(&self, view: ViewId) -> Option<u32> {
        self.by_view.get(&view).copied()
    }

    /// Gives a leaf its children, which are in the order of the moves.
    pub(crate) fn expand(&mut self, leaf: u32, kind: Kind, children: impl IntoIterator<Item = Node>) {
        let first = self.nodes.len() as u32;
        let aside = self.nodes[leaf as usize].aside;
        let children = children.into_iter().map(|child| Node { aside, ..child });
        self.nodes.extend(children);
        let added = &self.nodes[first as usize..];
        self.leaves += added.iter().filter(|c| c.kind == Kind::Leaf).count();
        self.leaves -= 1;
        let n = added.len() as u32;
        let node = &mut self.nodes[leaf as usize];
        (node.kind, node.first, node.n, node.fresh) = (kind, first, n, true);
    }

    /// The information set of a view with these moves. A new one plays the move of this place.
    pub(crate) fn decide(&mut self, player: usize, view: ViewId, moves: &[MoveId], best: usize, frozen: bool) -> u32 {
        let next = self.infosets.len() as u32;
        let known = *self.by_view.entry(view).or_insert(next);
        if let Some(set) = self.infosets.get(known as usize) {
            let same = self.actions[set.actions()]
                .iter()
                .map(|a| a.mv)
                .eq(moves.iter().copied());
            if same {
                return known;
            }
            let odd = *self.odd.entry((view, moves.to_vec())).or_insert(next);
            if odd != next {
                return odd;
            }
        }
        let first = self.actions.len() as u32;
        self.actions.extend(moves.iter().enumerate().map(|(at, &mv)| Action {
            mv,
            regret: 0.0,
            policy: if at == best { 1.0 } else { 0.0 },
            gain: 0.0,
            worth: 0.0,
            total: 0.0,
            sum: 0.0,
            squares: 0.0,
            tries: 0,
        }));
        self.infosets.push(Infoset {
            player,
            first,
            n: moves.len() as u32,
            view,
            visits: 0,
            reach: 0.0,
            own: 0.0,
            visited: false,
            frozen,
        });
        next
    }

    /// Makes the average strategies the current ones, where there are any.
    pub(crate) fn play_averages(&mut self) {
        for set in &self.infosets {
            let actions = &mut self.actions[set.actions()];
            let total: f64 = actions.iter().map(|a| a.total).sum();
            if total > 0.0 {
                actions.iter_mut().for_each(|a| a.policy = a.total / total);
            }
        }
    }

    /// Begins the averages anew.
    pub(crate) fn forget_averages(&mut self) {
        self.actions.iter_mut().for_each(|a| a.total = 0.0);
    }

    /// Our expected value from a node on, if both play their current strategies.
    pub(crate) fn value(&self, node: u32) -> f64 {
        let here = &self.nodes[node as usize];
        match here.kind {
            Kind::Leaf | Kind::Over => f64::from(here.value),
            Kind::Chance => here.children().map(|c| self.value(c)).sum::<f64>() / f64::from(here.n),
            Kind::Choice(set) => {
                let actions = &self.actions[self.infosets[set as usize].actions()];
                let played = here.children().zip(actions).filter(|(_, a)| a.policy > 0.0);
                played.map(|(child, a)| a.policy * self.value(child)).sum()
            }
        }
    }

    /// How likely play from a node on ends in a leaf, whose value is an estimate, if both play their strategies.
    pub(crate) fn doubt(&self, node: u32) -> f64 {
        let here = &self.nodes[node as usize];
        match here.kind {
            Kind::Leaf => 1.0,
            Kind::Over => 0.0,
            Kind::Chance => here.children().map(|c| self.doubt(c)).sum::<f64>() / f64::from(here.n),
            Kind::Choice(set) => {
                let actions = &self.actions[self.infosets[set as usize].actions()];
                let played = here.children().zip(actions).filter(|(_, a)| a.policy > 0.0);
                played.map(|(child, a)| a.policy * self.doubt(child)).sum()
            }
        }
    }

    /// Rounds below the first round in which nodes are.
    pub(crate) fn depth(&self) -> u32 {
        let rounds = self.nodes.iter().map(|n| n.round);
        let first = rounds.clone().min().unwrap_or(0);
        rounds.max().unwrap_or(0) - first
    }

    /// The subtrees of some nodes as a new tree, the nodes first and in their order, and the old number of every node.
    /// Regrets, strategies and statistics are kept.
    pub(crate) fn subtrees(&self, roots: &[u32]) -> (Tree, Vec<u32>) {
        let mut small = Tree::default();
        let mut origin: Vec<u32> = roots.to_vec();
        let mut sets: FxHashMap<u32, u32> = FxHashMap::default();
        small.nodes.extend(roots.iter().map(|&r| self.nodes[r as usize]));
        let mut at = 0;
        while at < origin.len() {
            let old = self.nodes[origin[at] as usize];
            let first = origin.len() as u32;
            for child in old.children() {
                origin.push(child);
                small.nodes.push(self.nodes[child as usize]);
            }
            if old.n > 0 {
                small.nodes[at].first = first;
            }
            match old.kind {
                Kind::Leaf => small.leaves += 1,
                Kind::Choice(set) => {
                    let new = *sets.entry(set).or_insert_with(|| small.adopt(self, set));
                    small.nodes[at].kind = Kind::Choice(new);
                }
                _ => {}
            }
            at += 1;
        }
        (small, origin)
    }

    /// Takes an information set over from another tree.
    fn adopt(&mut self, from: &Tree, set: u32) -> u32 {
        let old = from.infosets[set as usize];
        let next = self.infosets.len() as u32;
        let first = self.actions.len() as u32;
        self.actions.extend_from_slice(&from.actions[old.actions()]);
        self.infosets.push(Infoset {
            first,
            frozen: false,
            ..old
        });
        if from.by_view.get(&old.view) == Some(&set) {
            self.by_view.insert(old.view, next);
        } else {
            let moves = self.actions[first as usize..].iter().map(|a| a.mv).collect();
            self.odd.insert((old.view, moves), next);
        }
        next
    }

    /// Renames all views.
    pub(crate) fn rename_views(&mut self, mut name: impl FnMut(ViewId) -> ViewId) {
        for node in &mut self.nodes {
            node.views = node.views.map(&mut name);
        }
        for set in &mut self.infosets {
            set.view = name(set.view);
        }
        let by_view = std::mem::take(&mut self.by_view);
        self.by_view = by_view.into_iter().map(|(v, set)| (name(v), set)).collect();
        let odd = std::mem::take(&mut self.odd);
        self.odd = odd
            .into_iter()
            .map(|((v, moves), set)| ((name(v), moves), set))
            .collect();
    }
}

#[cfg(test)]
pub(crate) mod by_hand {
    //! Trees that tests write down.

    use super::*;

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
        let (kind, below) = match sketch {
            Sketch::End(_) | Sketch::Leaf(_) => return,
            Sketch::Chance(below) => (Kind::Chance, below),
            Sketch::Choice(player, view, below) => {
                let moves: Vec<MoveId> = (0..below.len() as u32).map(MoveId).collect();
                let set = tree.decide(*player, ViewId(*view), &moves, 0, false);
                (Kind::Choice(set), below)
            }
        };
        let children: Vec<Node> = below.iter().map(node).collect();
        tree.expand(at, kind, children);
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
}

#[cfg(test)]
mod tests {
    use super::by_hand::{Sketch::*, play, root};
    use super::*;

    /// Nature tosses a coin; on heads we choose between 1 and -1, on tails the opponent does, and we cannot tell our
    /// two nodes behind his second move apart.
    fn tossed() -> (Tree, u32) {
        let mut tree = Tree::default();
        let ours = || Choice(ME, 1, vec![End(1.0), End(-1.0)]);
        let sketch = Chance(vec![ours(), Choice(OPPONENT, 2, vec![End(0.5), ours()])]);
        let at = root(&mut tree, &sketch);
        (tree, at)
    }

    #[test]
    fn values_of_a_tree_by_hand() {
        let (mut tree, at) = tossed();
        // Everybody plays the first move: (1 + 0.5) / 2.
        assert_eq!(tree.value(at), 0.75);
        play(&mut tree, 1, &[0.75, 0.25]);
        play(&mut tree, 2, &[0.5, 0.5]);
        // Our choice is worth 0.5, the opponent's (0.5 + 0.5) / 2.
        assert_eq!(tree.value(at), 0.5);
        assert_eq!(tree.infosets.len(), 2);
        assert_eq!((tree.nodes.len(), tree.leaves), (1 + 2 + 2 + 2 + 2, 0));
        assert_eq!(tree.doubt(at), 0.0);
        // Our first move on heads ends in a leaf: we are there half the time, and play it in three quarters of that.
        let heads = tree.nodes[at as usize].first;
        let won = tree.nodes[heads as usize].first;
        tree.nodes[won as usize].kind = Kind::Leaf;
        assert_eq!(tree.doubt(at), 0.375);
    }

    #[test]
    fn subtrees_keep_strategies_and_drop_the_rest() {
        let (mut tree, at) = tossed();
        play(&mut tree, 1, &[0.25, 0.75]);
        let tails = tree.nodes[at as usize].first + 1;
        let (small, origin) = tree.subtrees(&[tails]);
        assert_eq!(origin[0], tails);
        assert_eq!(small.nodes.len(), 5);
        play(&mut tree, 2, &[0.0, 1.0]);
        // The first move is still played in the copy.
        assert_eq!(small.value(0), 0.5);
        assert_eq!(tree.value(tails), -0.5);
        let set = small.infoset_of(ViewId(1)).unwrap();
        assert_eq!(small.actions[small.infosets[set as usize].actions()][1].policy, 0.75);
    }

    #[test]
    fn a_view_with_other_moves_is_another_information_set() {
        let mut tree = Tree::default();
        let moves = [MoveId(4), MoveId(5)];
        let a = tree.decide(ME, ViewId(1), &moves, 1, false);
        assert_eq!(tree.decide(ME, ViewId(1), &moves, 0, false), a);
        let b = tree.decide(ME, ViewId(1), &moves[..1], 0, false);
        assert_ne!(a, b);
        assert_eq!(tree.decide(ME, ViewId(1), &moves[..1], 0, false), b);
        // A new information set plays the move that was said to be the best.
        assert_eq!(tree.actions[1].policy, 1.0);
    }
}
