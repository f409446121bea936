//! From one round to the next: which nodes of the tree become roots, and what they bring along.
//!
//! Zhang and Sandholm 2025, figure 9 (`ConstructSubgame`). The roots are the nodes of the old tree that we cannot tell
//! from the truth, the histories that the belief adds, and the nodes that the order of knowledge allows. Where we
//! differ: the belief gives histories, so that an added root is in the opponent's true information set (the paper gives
//! the opponent perfect information there); and the roots of our own information set are at most a number, half of
//! them those that the old strategies reach most likely, half of them drawn.

use super::blueprint::{OldValue, likelihoods, old_values};
use super::gadgets::{Entry, Gadgets, modelled, priors};
use super::grow::{FollowedHistory, Grower, Place};
use super::knowledge::{distances, order};
use super::solver::evaluate;
use super::tree::{Kind, ME, Node, OPPONENT, Tree};
use super::{Prior, Root, Subgame};
use crate::Tools;
use crate::views::ViewId;
use game::{Fault, MoveId, Rng, Seed, StopFlag};
use rustc_hash::{FxHashMap, FxHashSet};

/// Our own moves count with at least this probability, so that what happened is never impossible.
const FLOOR: f64 = 1e-3;

/// Roots outside of our information set for each root in it, at most. They are in the tree already, and without them
/// the opponent would know our position.
const OTHERS: usize = 16;
/// Added to alternate values that rest on estimates alone: as much as values can differ.
const MOST_SLACK: f64 = 2.0;
/// Part of an information set of the opponent that is ours, at least, where it corrects a prior.
const LEAST_SHARE: f64 = 0.02;

/// A node of the next round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub node: u32,
    pub views: [ViewId; 2],
    /// Nature's probability.
    pub nature: f64,
    /// Our own probability.
    pub own: f64,
    /// The opponent's probability.
    pub theirs: f64,
}

/// All nodes at the start of the next round in which the game is not over.
pub(crate) fn candidates(tree: &Tree, roots: &[Root], gadgets: &Gadgets) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut entered: FxHashMap<u32, f64> = FxHashMap::default();
    for entry in &gadgets.entries {
        entered.extend(entry.members.iter().map(|&(node, _)| (node, entry.chance)));
    }
    for root in roots {
        let start = &tree.nodes[root.node as usize];
        let first = Candidate {
            node: root.node,
            views: start.views,
            nature: root.nature,
            own: root.own,
            theirs: entered.get(&root.node).copied().unwrap_or(0.0),
        };
        descend(tree, first, start.round, &mut found);
    }
    found
}

fn descend(tree: &Tree, at: Candidate, round: u32, found: &mut Vec<Candidate>) {
    let node = &tree.nodes[at.node as usize];
    if node.round > round {
        if node.kind != Kind::Over {
            found.push(Candidate {
                views: node.views,
                ..at
            });
        }
        return;
    }
    let (mine, shares) = match node.kind {
        Kind::Leaf | Kind::Over => return,
        Kind::Chance => (false, None),
        Kind::Choice(set) if tree.infosets[set as usize].player == ME => (true, Some(tree.played(node, set))),
        Kind::Choice(set) => {
            let likely = likelihoods(&tree.actions[tree.infosets[set as usize].actions()]);
            (false, Some(tree.shares(node, |place| likely[place])))
        }
    };
    for (place, child) in node.children().enumerate() {
        let mut next = Candidate { node: child, ..at };
        match &shares {
            None => next.nature /= f64::from(node.n),
            Some(shares) if mine => next.own *= shares[place].max(FLOOR),
            Some(shares) => next.theirs *= shares[place],
        }
        descend(tree, next, round, found);
    }
}

/// Settings of the construction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CarryRules {
    /// Roots in our own information set, at most.
    pub roots: usize,
    pub order: Option<u32>,
    pub prior: Prior,
    /// Added to all alternate values; if not given, by how uncertain they are.
    pub slack: Option<f64>,
    pub frozen: bool,
    /// Whether the average strategies of the search before count, not the last ones.
    pub averages: bool,
}

/// Which roots the next subgame has.
struct Selection {
    /// Candidates in our information set, then others.
    carried: Vec<usize>,
    /// How many of them are in our information set.
    mine: usize,
    /// Histories of the belief.
    added: Vec<FollowedHistory>,
    order: u32,
}

fn select(
    found: &[Candidate],
    added: Vec<FollowedHistory>,
    mine: ViewId,
    rules: &CarryRules,
    rng: &mut Rng,
) -> Selection {
    let ours: Vec<usize> = (0..found.len()).filter(|&at| found[at].views[ME] == mine).collect();
    let (mut carried, mut added) = fit(found, ours, added, rules.roots, rng);
    let mut layer: Vec<[ViewId; 2]> = found.iter().map(|c| c.views).collect();
    // Of our own information set only the chosen histories count: the others are not in the subgame.
    let chosen: FxHashSet<usize> = carried.iter().copied().collect();
    for (at, views) in layer.iter_mut().enumerate() {
        if views[ME] == mine && !chosen.contains(&at) {
            *views = [ViewId(u32::MAX); 2];
        }
    }
    layer.extend(added.iter().map(|h| h.views));
    let far = distances(&layer, mine);
    let order = order(&far, rules.order, 2 * rules.roots);
    let n_mine = carried.len();
    let mut others: Vec<usize> = (0..found.len())
        .filter(|&at| far[at].is_some_and(|d| d > 0 && d < order))
        .collect();
    // The nearest first, then those that we reach most likely.
    let reach = |at: usize| found[at].own * found[at].nature;
    others.sort_by(|&a, &b| far[a].cmp(&far[b]).then(reach(b).total_cmp(&reach(a))).then(a.cmp(&b)));
    others.truncate(OTHERS * rules.roots);
    carried.extend(others);
    added.truncate(rules.roots);
    Selection {
        carried,
        mine: n_mine,
        added,
        order,
    }
}

/// Chooses among the histories of our information set if there are too many.
fn fit(
    found: &[Candidate],
    mut ours: Vec<usize>,
    mut added: Vec<FollowedHistory>,
    most: usize,
    rng: &mut Rng,
) -> (Vec<usize>, Vec<FollowedHistory>) {
    if ours.len() + added.len() <= most {
        return (ours, added);
    }
    if ours.len() <= most {
        added.truncate(most - ours.len());
        return (ours, added);
    }
    let reach = |at: usize| found[at].theirs * found[at].nature;
    ours.sort_by(|&a, &b| reach(b).total_cmp(&reach(a)).then(a.cmp(&b)));
    let rest = ours.split_off(most.div_ceil(2));
    // Any of the others, in proportion to their numbers.
    let mut places: Vec<usize> = (0..rest.len() + added.len()).collect();
    let wanted = most - ours.len();
    for at in 0..wanted {
        let other = at + rng.below(places.len() - at);
        places.swap(at, other);
    }
    let (mut new, drawn) = (Vec::new(), &places[..wanted]);
    for &place in drawn {
        match rest.get(place) {
            Some(&at) => ours.push(at),
            None => new.push(added[place - rest.len()]),
        }
    }
    ours.sort_unstable();
    (ours, new)
}

/// The subgame of the next round. `mine` is our view now, `made` our last move, `histories` those of the belief.
#[allow(clippy::too_many_arguments)]
pub(crate) fn next_subgame(
    mut old: Subgame,
    grower: &mut Grower,
    tools: &mut Tools,
    mine: ViewId,
    made: Option<MoveId>,
    histories: Vec<FollowedHistory>,
    rules: &CarryRules,
    seed: Seed,
    stop: &StopFlag,
) -> Result<Subgame, Fault> {
    if rules.averages {
        old.tree.play_averages();
    }
    // Without time the values of the last iteration do.
    let _ = evaluate(&mut old.tree, &mut old.gadgets, stop);
    let found = candidates(&old.tree, &old.roots, &old.gadgets);
    let known: FxHashSet<(crate::atlas::NodeId, [ViewId; 2])> = found
        .iter()
        .map(|c| (old.places[c.node as usize].at, c.views))
        .collect();
    let likely: FxHashMap<(crate::atlas::NodeId, [ViewId; 2]), f64> = histories
        .iter()
        .filter_map(|h| Some(((h.at, h.views), h.likely?)))
        .collect();
    let added = histories.into_iter().filter(|h| !known.contains(&(h.at, h.views)));
    let mut rng = seed.child("roots").rng();
    let selection = select(&found, added.collect(), mine, rules, &mut rng);
    let before = old.tree.infoset_of(old.mine);
    let own = old.own * before.map_or(1.0, |set| played(&old.tree, set, made));
    let value = old.gadgets.expected();
    let alternates = old_values(&old, &found, grower);

    let numbers: Vec<u32> = selection.carried.iter().map(|&at| found[at].node).collect();
    let (tree, origin) = old.tree.subtrees(&numbers);
    let places = origin.iter().map(|&node| old.places[node as usize]).collect();
    let roots = selection.carried.iter().enumerate().map(|(at, &candidate)| Root {
        node: at as u32,
        nature: found[candidate].nature,
        own: found[candidate].own,
        mine: at < selection.mine,
        likely: likely
            .get(&(old.places[found[candidate].node as usize].at, found[candidate].views))
            .copied(),
    });
    let mut next = Subgame {
        tree,
        places,
        roots: roots.collect(),
        gadgets: Gadgets::plain(0),
        round: old.round + 1,
        mine,
        own,
        order: selection.order,
        carried: 0,
        averaged: 0,
    };
    next.tree.forget_averages();
    next.carried = next.tree.nodes.len();
    next.add_histories(&selection.added, grower, tools, seed, stop)?;
    next.set_aside(rules.frozen);
    next.rescale();
    next.gadgets = next.guard(value, &alternates, rules, grower);
    Ok(next)
}

/// Our probability of the move that we made.
fn played(tree: &Tree, set: u32, made: Option<MoveId>) -> f64 {
    let actions = &tree.actions[tree.infosets[set as usize].actions()];
    let found = actions.iter().find(|a| Some(a.mv) == made);
    found.map_or(FLOOR, |a| a.policy.max(FLOOR))
}

impl Subgame {
    /// A subgame of nothing but histories: at the start of a game, or if nothing is left of an earlier search.
    #[expect(clippy::too_many_arguments, reason = "what a search is made of, passed on")]
    pub(crate) fn of_histories(
        histories: &[FollowedHistory],
        round: u32,
        mine: ViewId,
        rules: &CarryRules,
        grower: &mut Grower,
        tools: &mut Tools,
        seed: Seed,
        stop: &StopFlag,
    ) -> Result<Subgame, Fault> {
        let mut subgame = Subgame {
            tree: Tree::default(),
            places: Vec::new(),
            roots: Vec::new(),
            gadgets: Gadgets::plain(0),
            round,
            mine,
            own: 1.0,
            order: 1,
            carried: 0,
            averaged: 0,
        };
        let few = &histories[..histories.len().min(rules.roots)];
        subgame.add_histories(few, grower, tools, seed, stop)?;
        if round > 0 && !subgame.roots.is_empty() {
            let values = subgame
                .roots
                .iter()
                .map(|r| f64::from(subgame.tree.nodes[r.node as usize].value));
            let mean = values.sum::<f64>() / subgame.roots.len() as f64;
            subgame.gadgets = subgame.guard(mean, &FxHashMap::default(), rules, grower);
        }
        Ok(subgame)
    }

    /// Adds histories of our own information set as roots. Without time they have no value yet.
    fn add_histories(
        &mut self,
        histories: &[FollowedHistory],
        grower: &mut Grower,
        tools: &mut Tools,
        seed: Seed,
        stop: &StopFlag,
    ) -> Result<(), Fault> {
        let states: Vec<crate::atlas::NodeId> = histories.iter().map(|h| h.at).collect();
        grower.value_states(tools, &states, seed.child("new roots"), stop)?;
        for history in histories {
            let node = self
                .tree
                .add_root(Node::leaf(history.views, self.round, grower.value(history.at)));
            self.places.push(Place::start(history.at));
            self.roots.push(Root {
                node,
                nature: history.nature,
                own: self.own,
                mine: true,
                likely: history.likely,
            });
        }
        Ok(())
    }

    /// Marks the nodes below roots outside of our information set, and freezes our strategies there if asked.
    fn set_aside(&mut self, frozen: bool) {
        let mut aside = vec![false; self.tree.nodes.len()];
        for root in &self.roots {
            aside[root.node as usize] = !root.mine;
        }
        for (at, node) in self.tree.nodes.clone().into_iter().enumerate() {
            for child in node.children() {
                aside[child as usize] = aside[at];
            }
            self.tree.nodes[at].aside = aside[at];
            if let Kind::Choice(set) = node.kind {
                let set = &mut self.tree.infosets[set as usize];
                set.frozen |= frozen && aside[at] && set.player == ME;
            }
        }
    }

    /// Scales our own probabilities: only their proportions count.
    fn rescale(&mut self) {
        let most = self.roots.iter().map(|r| r.own).fold(0.0, f64::max);
        if most > 0.0 {
            self.roots.iter_mut().for_each(|r| r.own /= most);
            self.own /= most;
        }
    }

    /// The gadgets of the roots: grouped by the opponent's view, with alternate values and priors. `value` is what the
    /// search before expected.
    fn guard(&self, value: f64, old: &FxHashMap<ViewId, OldValue>, rules: &CarryRules, grower: &Grower) -> Gadgets {
        let mut at: FxHashMap<ViewId, usize> = FxHashMap::default();
        let mut groups: Vec<(ViewId, Vec<&Root>)> = Vec::new();
        for root in &self.roots {
            let view = self.tree.nodes[root.node as usize].views[OPPONENT];
            let place = *at.entry(view).or_insert(groups.len());
            match groups.get_mut(place) {
                Some((_, members)) => members.push(root),
                None => groups.push((view, vec![root])),
            }
        }
        let nature = |members: &[&Root]| -> f64 {
            let mine = members.iter().filter(|r| r.mine).map(|r| r.nature);
            match members.iter().any(|r| r.mine) {
                true => mine.sum(),
                false => members.iter().map(|r| r.nature).sum::<f64>() / members.len() as f64,
            }
        };
        // A root is entered with the prior of its information set times its share there. Our own histories have to
        // count by nature and the opponent's strategy alone, so that their share is divided out.
        let share = |members: &[&Root]| -> f64 {
            let weight = |r: &&&Root| r.nature * r.own;
            let all: f64 = members.iter().map(|r| weight(&r)).sum();
            let mine: f64 = members.iter().filter(|r| r.mine).map(|r| weight(&r)).sum();
            if mine > 0.0 && all > 0.0 {
                (mine / all).max(LEAST_SHARE)
            } else {
                1.0
            }
        };
        let by_nature: Vec<f64> = groups
            .iter()
            .map(|(_, members)| nature(members) / share(members))
            .collect();
        let played: Vec<f64> = groups
            .iter()
            .map(|(v, _)| old.get(v).map_or(0.0, |o| o.played))
            .collect();
        let mut priors = priors(&by_nature, &played, rules.prior == Prior::Blueprint);
        let has_model = self.roots.iter().any(|r| r.likely.is_some());
        if has_model {
            let weight = |members: &[&Root]| members.iter().filter_map(|r| r.likely).sum::<f64>();
            let likely: Vec<f64> = groups.iter().map(|(_, m)| weight(m) / share(m)).collect();
            priors = modelled(&priors, &likely);
        }
        let entries = groups.into_iter().zip(priors).map(|((view, members), prior)| {
            let known = old.get(&view).map(|o| o.alternate);
            let mean = || {
                let values = members
                    .iter()
                    .map(|r| f64::from(grower.value(self.places[r.node as usize].at)));
                values.sum::<f64>() / members.len() as f64
            };
            let alternate = known.unwrap_or_else(|| mean().min(value));
            let weighted = members.iter().map(|r| (r.node, r.nature * r.own)).collect();
            // Roots that are leaves now were not part of the old value.
            let leaves = members
                .iter()
                .filter(|r| self.tree.nodes[r.node as usize].kind == Kind::Leaf);
            let new = leaves.count() as f64 / members.len() as f64;
            let doubt = match has_model {
                true => 1.0,
                false => old.get(&view).map_or(1.0, |o| o.doubt.max(new)),
            };
            Entry::new(weighted, alternate, prior).raise(rules.slack.unwrap_or(MOST_SLACK * doubt))
        });
        Gadgets::new(entries.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::by_hand::{Sketch::*, play, root};
    use super::*;

    /// A round of a game: nature tosses a coin that only we see, we move (views 1 and 2), and the opponent (view 3)
    /// moves without knowing.
    fn round() -> (Tree, Vec<Root>, Gadgets) {
        let mut tree = Tree::default();
        let theirs = || Choice(OPPONENT, 3, vec![Leaf(0.5), Leaf(-0.5)]);
        let ours = |view| Choice(ME, view, vec![theirs(), theirs()]);
        let at = root(&mut tree, &Chance(vec![ours(1), ours(2)]));
        play(&mut tree, 1, &[0.75, 0.25]);
        play(&mut tree, 2, &[1.0, 0.0]);
        play(&mut tree, 3, &[0.5, 0.5]);
        for (number, node) in tree.nodes.iter_mut().enumerate() {
            if node.kind == Kind::Leaf {
                node.round = 1;
                node.views = [ViewId(20 + number as u32), ViewId(30)];
            }
        }
        let roots = vec![Root {
            node: at,
            nature: 1.0,
            own: 1.0,
            mine: true,
            likely: None,
        }];
        (tree, roots, Gadgets::plain(at))
    }

    #[test]
    fn probabilities_of_candidates_by_hand() {
        let (tree, roots, gadgets) = round();
        let found = candidates(&tree, &roots, &gadgets);
        assert_eq!(found.len(), 8);
        let parts = |at: usize| (found[at].nature, found[at].own, found[at].theirs);
        // Heads, our first and second move, the opponent's first.
        assert_eq!(parts(0), (0.5, 0.75, 0.5));
        assert_eq!(parts(2), (0.5, 0.25, 0.5));
        // Tails, our second move, which we never make.
        assert_eq!(parts(6), (0.5, FLOOR, 0.5));
    }

    #[test]
    fn too_many_roots_are_chosen_half_by_reach() {
        let (tree, roots, gadgets) = round();
        let mut found = candidates(&tree, &roots, &gadgets);
        for (at, candidate) in found.iter_mut().enumerate() {
            candidate.theirs = if at == 5 { 1.0 } else { 0.1 };
        }
        let all: Vec<usize> = (0..8).collect();
        for seed in 0..20 {
            let (ours, added) = fit(&found, all.clone(), Vec::new(), 3, &mut Seed(seed).rng());
            assert_eq!((ours.len(), added.len()), (3, 0));
            // The likeliest, and the first of the equal ones.
            assert!(ours.contains(&5) && ours.contains(&0), "{ours:?}");
        }
        assert_eq!(fit(&found, all.clone(), Vec::new(), 8, &mut Seed(1).rng()).0, all);
    }
}
