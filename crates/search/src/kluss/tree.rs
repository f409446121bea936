//! The growing game tree: histories as nodes, information sets with the numbers of a regret minimiser.
//!
//! Nodes are histories of the serialised game: the roles with a choice decide one after the other, nature last, and a
//! role decides by its view at the start of the round (as in `solve::Tree`). The children of a node are adjacent.
//! Values are our expected points less the opponent's, in -1..1.
//!
//! A player need not know which of its moves are legal: in blind breakthrough a step may be blocked by a pawn that is
//! out of sight. An information set has all moves that are legal in some node of it. In a node where a move is illegal
//! it stands for a random legal one, as a referee plays it; the view then has the move that was made.

use crate::views::ViewId;
use game::MoveId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
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
    /// Where a player decides: which actions of the information set the children are, as a place in `Tree::maps`, or
    /// `IN_ORDER`.
    pub map: u32,
}

/// The children of a node are the first actions of its information set.
pub(crate) const IN_ORDER: u32 = u32::MAX;

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
            map: IN_ORDER,
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

impl Action {
    fn new(mv: MoveId) -> Action {
        Action {
            mv,
            regret: 0.0,
            policy: 0.0,
            gain: 0.0,
            worth: 0.0,
            total: 0.0,
            sum: 0.0,
            squares: 0.0,
            tries: 0,
        }
    }
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
    /// For nodes with a part of the moves of their information set, or another order: places among its actions.
    maps: Vec<u32>,
    /// Where these lists begin, by information set and moves.
    known_maps: FxHashMap<(u32, Vec<MoveId>), u32>,
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

    /// Gives a leaf its children, which are in the order of the moves. `map` is that of `decide`.
    pub(crate) fn expand(&mut self, leaf: u32, kind: Kind, map: u32, children: impl IntoIterator<Item = Node>) {
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
        node.map = map;
    }

    /// The information set of a view, in a node with these moves, and which of its actions they are. A new one plays
    /// the move of this place; a known one gets the moves that it has not.
    pub(crate) fn decide(
        &mut self,
        player: usize,
        view: ViewId,
        moves: &[MoveId],
        best: usize,
        frozen: bool,
    ) -> (u32, u32) {
        let next = self.infosets.len() as u32;
        let set = *self.by_view.entry(view).or_insert(next);
        if set != next {
            return (set, self.map(set, moves));
        }
        let first = self.actions.len() as u32;
        self.actions.extend(moves.iter().map(|&mv| Action::new(mv)));
        self.actions[first as usize + best].policy = 1.0;
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
        (next, IN_ORDER)
    }

    /// Which actions of an information set these moves are. Those that it has not are added.
    fn map(&mut self, set: u32, moves: &[MoveId]) -> u32 {
        let actions = &self.actions[self.infosets[set as usize].actions()];
        if actions.len() >= moves.len() && actions.iter().zip(moves).all(|(a, &mv)| a.mv == mv) {
            return IN_ORDER;
        }
        if let Some(&known) = self.known_maps.get(&(set, moves.to_vec())) {
            return known;
        }
        let places: Vec<u32> = moves.iter().map(|&mv| self.place(set, mv)).collect();
        self.add_map(set, moves.to_vec(), &places)
    }

    fn add_map(&mut self, set: u32, moves: Vec<MoveId>, places: &[u32]) -> u32 {
        let map = self.maps.len() as u32;
        self.maps.extend_from_slice(places);
        self.known_maps.insert((set, moves), map);
        map
    }

    /// The place of a move among the actions of an information set; a new move is added behind the others.
    fn place(&mut self, set: u32, mv: MoveId) -> u32 {
        let infoset = &mut self.infosets[set as usize];
        let actions = infoset.actions();
        if let Some(place) = self.actions[actions.clone()].iter().position(|a| a.mv == mv) {
            return place as u32;
        }
        if actions.end < self.actions.len() {
            infoset.first = self.actions.len() as u32;
            self.actions.extend_from_within(actions);
        }
        self.actions.push(Action::new(mv));
        infoset.n += 1;
        infoset.n - 1
    }

    /// The place among the actions of its information set of a node's child.
    pub(crate) fn action_of(&self, node: &Node, child: u32) -> usize {
        match node.map {
            IN_ORDER => child as usize,
            map => self.maps[(map + child) as usize] as usize,
        }
    }

    /// Whether every move of the information set is legal in a node of it, and in order.
    pub(crate) fn has_all(&self, node: &Node, set: u32) -> bool {
        node.map == IN_ORDER && node.n == self.infosets[set as usize].n
    }

    /// How likely a node's children are played, where the actions are as likely as `policy` says: illegal ones are
    /// replaced by random legal ones.
    pub(crate) fn shares(&self, node: &Node, policy: impl Fn(usize) -> f64) -> SmallVec<[f64; 16]> {
        let mut shares: SmallVec<[f64; 16]> = (0..node.n).map(|c| policy(self.action_of(node, c))).collect();
        if let Kind::Choice(set) = node.kind
            && !self.has_all(node, set)
        {
            let all: f64 = (0..self.infosets[set as usize].n as usize).map(policy).sum();
            let illegal = (all - shares.iter().sum::<f64>()).max(0.0) / f64::from(node.n);
            shares.iter_mut().for_each(|s| *s += illegal);
        }
        shares
    }

    /// How likely a node's children are, if its player plays the current strategy.
    pub(crate) fn played(&self, node: &Node, set: u32) -> SmallVec<[f64; 16]> {
        let first = self.infosets[set as usize].first as usize;
        self.shares(node, |place| self.actions[first + place].policy)
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
                let played = here.children().zip(self.played(here, set)).filter(|(_, p)| *p > 0.0);
                played.map(|(child, p)| p * self.value(child)).sum()
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
                let played = here.children().zip(self.played(here, set)).filter(|(_, p)| *p > 0.0);
                played.map(|(child, p)| p * self.doubt(child)).sum()
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
        let mut maps: FxHashMap<u32, u32> = FxHashMap::default();
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
                    if old.map != IN_ORDER {
                        let map = maps.entry(old.map).or_insert_with(|| small.adopt_map(self, &old, new));
                        small.nodes[at].map = *map;
                    }
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
        self.by_view.insert(old.view, next);
        next
    }

    /// Takes over which actions a node of another tree has; its information set has this number here.
    fn adopt_map(&mut self, from: &Tree, node: &Node, set: u32) -> u32 {
        let places = &from.maps[node.map as usize..(node.map + node.n) as usize];
        let first = self.infosets[set as usize].first;
        let moves = places.iter().map(|&at| self.actions[(first + at) as usize].mv);
        self.add_map(set, moves.collect(), places)
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
    fn an_information_set_has_all_moves_that_are_legal_somewhere() {
        let mut tree = Tree::default();
        let moves = [4, 5, 6].map(MoveId);
        let mut node = |moves: &[MoveId], best| {
            let at = tree.add_root(Node::leaf([ViewId(1), ViewId(2)], 0, 0.0));
            let (set, map) = tree.decide(ME, ViewId(1), moves, best, false);
            let leaf = Node::leaf([ViewId(u32::MAX); 2], 1, 0.0);
            tree.expand(at, Kind::Choice(set), map, vec![leaf; moves.len()]);
            tree.nodes[at as usize]
        };
        let (b, ab, c) = (
            node(&moves[1..2], 0),
            node(&moves[..2], 0),
            node(&[moves[2], moves[0]], 0),
        );
        assert_eq!((tree.infosets.len(), b.map, tree.has_all(&b, 0)), (1, IN_ORDER, false));
        // In the order in which they were met: 5, 4, 6. A new information set plays the move that was the best.
        let order: Vec<u32> = tree.actions[tree.infosets[0].actions()]
            .iter()
            .map(|a| a.mv.0)
            .collect();
        assert_eq!(order, [5, 4, 6]);
        assert_eq!([0, 1].map(|child| tree.action_of(&ab, child)), [1, 0]);
        play(&mut tree, 1, &[0.25, 0.25, 0.5]);
        // What is illegal is shared by what is legal.
        assert_eq!(tree.played(&b, 0).to_vec(), [1.0]);
        assert_eq!(tree.played(&ab, 0).to_vec(), [0.5, 0.5]);
        assert_eq!(tree.played(&c, 0).to_vec(), [0.625, 0.375]);
        let (small, _) = tree.subtrees(&[2]);
        let first = small.nodes[0];
        assert_eq!(small.played(&first, 0).to_vec(), [0.5, 0.5]);
    }
}
