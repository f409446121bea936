//! PCFR+ on the tree: predictive regret matching plus, with alternating updates.
//!
//! Farina, Kroer and Sandholm, *Faster Game Solving via Predictive Blackwell Approachability* (2021), as Zhang and
//! Sandholm 2025 use it (figures 10 and 11): the accumulated regrets are floored at zero, and the next strategy
//! matches them after the last regrets were added once more, as a prediction. Nodes that the other player does not
//! play to are skipped (partial pruning). Values are returned up the recursion in place of the paper's list of visited
//! sequences; the sums are the same. Most nodes are leaves, so that leaves are read where their parent is visited.

use super::gadgets::Gadgets;
use super::tree::{IN_ORDER, Kind, ME, Node, OPPONENT, Tree};
use game::{PacedStop, StopFlag};

/// Nodes with children between two looks at the flag.
const NODES_A_LOOK: u32 = 512;

/// How iterations treat information sets that the opponent does not play to, and averages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct IterationRules {
    /// Weight with which the strategies are added to the averages.
    pub weight: f64,
    /// Visits every node, also those that the other player does not play to.
    pub everywhere: bool,
}

/// The next strategy's share of an action: its accumulated regret is updated, and the last regret predicts the next.
#[inline]
pub(crate) fn predictive(accumulated: &mut f64, instant: f64) -> f64 {
    *accumulated = (*accumulated + instant).max(0.0);
    (*accumulated + instant).max(0.0)
}

/// An iteration for both players and the gadgets. Returns the nodes visited; none if time was up, and then the
/// strategies of the players that were not finished are as before.
pub(crate) fn iterate(tree: &mut Tree, gadgets: &mut Gadgets, rules: IterationRules, stop: &StopFlag) -> Option<u64> {
    let ours = walk_all(tree, gadgets, ME, rules, stop)?;
    update(tree, &ours.visited, rules);
    let theirs = walk_all(tree, gadgets, OPPONENT, rules, stop)?;
    update(tree, &theirs.visited, rules);
    gadgets.update();
    Some(ours.walked + theirs.walked)
}

/// Computes the values of all actions under the current strategies, and changes no strategy.
pub(crate) fn evaluate(tree: &mut Tree, gadgets: &mut Gadgets, stop: &StopFlag) -> Option<()> {
    for player in [ME, OPPONENT] {
        let walk = walk_all(tree, gadgets, player, IterationRules::default(), stop)?;
        for &set in &walk.visited {
            settle(tree, set);
        }
    }
    Some(())
}

struct Walked {
    visited: Vec<u32>,
    walked: u64,
}

/// Visits the tree for one player; the gains of its actions, and for the opponent the values of the gadgets' entries,
/// are then up to date.
fn walk_all(
    tree: &mut Tree,
    gadgets: &mut Gadgets,
    player: usize,
    rules: IterationRules,
    stop: &StopFlag,
) -> Option<Walked> {
    let mut walk = Walk {
        tree,
        player,
        everywhere: rules.everywhere,
        visited: Vec::new(),
        walked: 0,
        stop: PacedStop::new(stop, NODES_A_LOOK),
        stopped: false,
    };
    for entry in &mut gadgets.entries {
        let entered = if player == ME { entry.chance } else { 1.0 };
        if entered <= 0.0 && !walk.everywhere {
            continue;
        }
        let mut value = 0.0;
        for &(node, share) in &entry.members {
            if share > 0.0 || walk.everywhere {
                value += walk.value(node, entered * share, 1.0);
            }
        }
        if player == OPPONENT {
            entry.value = -value;
        }
    }
    let (visited, walked, stopped) = (walk.visited, walk.walked, walk.stopped);
    if stopped {
        for &set in &visited {
            clear(tree, set);
        }
        return None;
    }
    Some(Walked { visited, walked })
}

struct Walk<'a> {
    tree: &'a mut Tree,
    player: usize,
    everywhere: bool,
    visited: Vec<u32>,
    walked: u64,
    stop: PacedStop<'a>,
    stopped: bool,
}

impl Walk<'_> {
    /// The player's value of a node, times the probability that the others and nature lead there.
    #[inline]
    fn value(&mut self, at: u32, reach: f64, own: f64) -> f64 {
        self.walked += 1;
        let node = &self.tree.nodes[at as usize];
        match node.kind {
            Kind::Leaf | Kind::Over => {
                let value = f64::from(node.value);
                reach * if self.player == ME { value } else { -value }
            }
            Kind::Chance | Kind::Choice(_) => self.walk(at, reach, own),
        }
    }

    /// The same for a node with children.
    fn walk(&mut self, at: u32, reach: f64, own: f64) -> f64 {
        if self.stopped || self.stop.is_raised() {
            self.stopped = true;
            return 0.0;
        }
        let node = &mut self.tree.nodes[at as usize];
        node.fresh = false;
        let (kind, children) = (node.kind, node.children());
        match kind {
            Kind::Choice(set) if node.n < self.tree.infosets[set as usize].n || node.map != IN_ORDER => {
                let node = *node;
                self.decide_partly(set, &node, reach, own)
            }
            Kind::Choice(set) => self.decide(set, children, reach, own),
            _ => {
                let p = 1.0 / f64::from(node.n);
                children.map(|child| self.value(child, reach * p, own)).sum()
            }
        }
    }

    /// Notes that an information set was reached. Returns its first action, and whether it is the player's.
    fn enter(&mut self, set: u32, reach: f64, own: f64) -> (usize, bool) {
        let infoset = &mut self.tree.infosets[set as usize];
        let mine = infoset.player == self.player;
        if mine {
            if !std::mem::replace(&mut infoset.visited, true) {
                self.visited.push(set);
            }
            // A player remembers its moves, so its own part is the same in all nodes of the set.
            infoset.own = own;
            infoset.reach += reach;
        }
        (infoset.first as usize, mine)
    }

    /// A decision where some moves of the information set are illegal: each is worth what a random legal one is.
    fn decide_partly(&mut self, set: u32, node: &Node, reach: f64, own: f64) -> f64 {
        let (first, mine) = self.enter(set, reach, own);
        let shares = self.tree.played(node, set);
        let (mut total, mut sum) = (0.0, 0.0);
        for (at, (child, p)) in node.children().zip(shares).enumerate() {
            if mine {
                let value = self.value(child, reach, own * p);
                let place = self.tree.action_of(node, at as u32);
                self.tree.actions[first + place].gain += value;
                total += p * value;
                sum += value;
            } else if p > 0.0 || self.everywhere {
                total += self.value(child, reach * p, own);
            }
        }
        if mine {
            let mean = sum / f64::from(node.n);
            let mut illegal = vec![true; self.tree.infosets[set as usize].n as usize];
            (0..node.n).for_each(|child| illegal[self.tree.action_of(node, child)] = false);
            for (action, _) in self.tree.actions[first..].iter_mut().zip(illegal).filter(|(_, i)| *i) {
                action.gain += mean;
            }
        }
        total
    }

    fn decide(&mut self, set: u32, children: std::ops::Range<u32>, reach: f64, own: f64) -> f64 {
        let (first, mine) = self.enter(set, reach, own);
        let mut total = 0.0;
        for (at, child) in children.enumerate() {
            let p = self.tree.actions[first + at].policy;
            if mine {
                let value = self.value(child, reach, own * p);
                self.tree.actions[first + at].gain += value;
                total += p * value;
            } else if p > 0.0 || self.everywhere {
                total += self.value(child, reach * p, own);
            }
        }
        total
    }
}

/// Regret matching at the information sets that were visited.
fn update(tree: &mut Tree, visited: &[u32], rules: IterationRules) {
    for &number in visited {
        let set = tree.infosets[number as usize];
        let actions = &mut tree.actions[set.actions()];
        let weight = rules.weight * set.own;
        if weight > 0.0 {
            actions.iter_mut().for_each(|a| a.total += weight * a.policy);
        }
        if set.reach > 0.0 && !set.frozen {
            let value: f64 = actions.iter().map(|a| a.policy * a.gain).sum();
            let mut total = 0.0;
            for action in actions.iter_mut() {
                action.policy = predictive(&mut action.regret, action.gain - value);
                total += action.policy;
                action.worth = action.gain / set.reach;
                action.gain = 0.0;
            }
            let even = 1.0 / actions.len() as f64;
            for action in actions.iter_mut() {
                action.policy = if total > 0.0 { action.policy / total } else { even };
            }
            let set = &mut tree.infosets[number as usize];
            (set.reach, set.own, set.visited) = (0.0, 0.0, false);
        } else {
            settle(tree, number);
        }
    }
}

/// Turns the gains of an information set into values, and clears them.
fn settle(tree: &mut Tree, number: u32) {
    let set = tree.infosets[number as usize];
    if set.reach > 0.0 {
        for action in &mut tree.actions[set.actions()] {
            action.worth = action.gain / set.reach;
        }
    }
    clear(tree, number);
}

fn clear(tree: &mut Tree, number: u32) {
    let set = &mut tree.infosets[number as usize];
    (set.reach, set.own, set.visited) = (0.0, 0.0, false);
    let actions = set.actions();
    tree.actions[actions].iter_mut().for_each(|a| a.gain = 0.0);
}

#[cfg(test)]
mod tests {
    use super::super::tree::by_hand::{Sketch::*, play, policy, root};
    use super::*;

    /// Scissors, paper, rock in which scissors count double, serialised: we choose, then the opponent, who does not
    /// know. The equilibrium is 0.2, 0.4, 0.4 for both, and its value 0.
    fn scissors() -> (Tree, Gadgets) {
        let payoff = [[0.0, 1.0, -1.0], [-1.0, 0.0, 0.5], [1.0, -0.5, 0.0]];
        let theirs = |row: [f32; 3]| Choice(OPPONENT, 2, row.map(End).into());
        let mut tree = Tree::default();
        let at = root(&mut tree, &Choice(ME, 1, payoff.map(theirs).into()));
        (tree, Gadgets::plain(at))
    }

    #[test]
    fn predictive_regrets_by_hand() {
        let mut accumulated = 1.0;
        // 1 + 2 = 3, and 2 is expected once more.
        assert_eq!(predictive(&mut accumulated, 2.0), 5.0);
        assert_eq!(accumulated, 3.0);
        // 3 - 2 = 1, less 2 is negative.
        assert_eq!(predictive(&mut accumulated, -2.0), 0.0);
        assert_eq!(accumulated, 1.0);
        predictive(&mut accumulated, -5.0);
        assert_eq!(accumulated, 0.0);
    }

    #[test]
    fn one_iteration_by_hand() {
        let (mut tree, mut gadgets) = scissors();
        let stop = StopFlag::default();
        let walked = iterate(&mut tree, &mut gadgets, IterationRules::default(), &stop).unwrap();
        // We began with scissors, and the opponent with scissors, which he answered by pruning all but one branch: he
        // sees 1 + 3 + 3 nodes, and after our update, which is rock, 1 + 1 + 3 nodes.
        assert_eq!(walked, 7 + 5);
        // Against scissors our moves are worth 0, -1, 1; regret matching plays rock alone.
        assert_eq!(policy(&tree, 1), [0.0, 0.0, 1.0]);
        // Against rock the opponent's moves are worth -1, 0.5, 0: paper has regret 1.5, rock 1, scissors was played.
        let theirs = policy(&tree, 2);
        assert_eq!(theirs[0], 0.0);
        assert!(
            (theirs[1] - 0.6).abs() < 1e-12 && (theirs[2] - 0.4).abs() < 1e-12,
            "{theirs:?}"
        );
    }

    #[test]
    fn the_last_iterate_and_the_average_find_the_equilibrium() {
        let (mut tree, mut gadgets) = scissors();
        let stop = StopFlag::default();
        for weight in 1..=2_000 {
            let rules = IterationRules {
                weight: f64::from(weight * weight),
                everywhere: true,
            };
            iterate(&mut tree, &mut gadgets, rules, &stop).unwrap();
        }
        let known = [0.2, 0.4, 0.4];
        for view in [1, 2] {
            let last = policy(&tree, view);
            let set = tree.infosets[tree.infoset_of(crate::views::ViewId(view)).unwrap() as usize];
            let totals: Vec<f64> = tree.actions[set.actions()].iter().map(|a| a.total).collect();
            let sum: f64 = totals.iter().sum();
            for ((last, total), known) in last.iter().zip(&totals).zip(known) {
                assert!((last - known).abs() < 0.01, "{last}");
                assert!((total / sum - known).abs() < 0.005, "{totals:?}");
            }
        }
        assert!(tree.value(0).abs() < 0.01);
    }

    #[test]
    fn values_are_given_the_information_set() {
        let (mut tree, mut gadgets) = scissors();
        play(&mut tree, 1, &[0.5, 0.5, 0.0]);
        play(&mut tree, 2, &[0.0, 0.0, 1.0]);
        evaluate(&mut tree, &mut gadgets, &StopFlag::default()).unwrap();
        let worth: Vec<f64> = tree.actions.iter().map(|a| a.worth).collect();
        // Ours against rock; the opponent's against scissors and paper by halves.
        assert_eq!(worth, [-1.0, 0.5, 0.0, 0.5, -0.5, 0.25]);
        assert!(tree.actions.iter().all(|a| a.gain == 0.0));
        assert_eq!(gadgets.entries[0].value, -0.25);
    }

    /// Nature tosses a coin that we do not see. On heads we have two moves, on tails only the first of them.
    #[test]
    fn an_illegal_move_is_worth_what_a_random_legal_one_is() {
        let mut tree = Tree::default();
        let heads = Choice(ME, 1, vec![End(0.0), End(1.0)]);
        let at = root(&mut tree, &Chance(vec![heads, Choice(ME, 1, vec![End(-0.5)])]));
        let mut gadgets = Gadgets::plain(at);
        play(&mut tree, 1, &[0.25, 0.75]);
        evaluate(&mut tree, &mut gadgets, &StopFlag::default()).unwrap();
        let worth: Vec<f64> = tree.actions.iter().map(|a| a.worth).collect();
        assert_eq!(worth, [-0.25, 0.25]);
        // 0.75 on heads, and -0.5 on tails whatever we try.
        assert_eq!(tree.value(at), 0.125);
        assert_eq!(gadgets.entries[0].value, 0.125);
    }

    #[test]
    fn a_stopped_iteration_changes_nothing() {
        let (mut tree, mut gadgets) = scissors();
        let stop = StopFlag::default();
        stop.raise();
        assert_eq!(iterate(&mut tree, &mut gadgets, IterationRules::default(), &stop), None);
        assert_eq!(policy(&tree, 1), [1.0, 0.0, 0.0]);
        assert!(tree.actions.iter().all(|a| a.gain == 0.0 && a.regret == 0.0));
        assert!(tree.infosets.iter().all(|s| s.reach == 0.0));
    }
}
