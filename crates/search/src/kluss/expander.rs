//! One-sided GT-CFR: which leaf to expand next.
//!
//! Zhang and Sandholm 2025, section B.3.3: one player explores and the other plays its current strategy; they take
//! turns. The explorer plays, by halves, a move that has a positive probability, or the move with the largest upper
//! bound: its value plus the variance of that value over the visits so far times sqrt(visits) / (1 + tries). Nodes that
//! no iteration has visited are not expanded further.

use super::gadgets::Gadgets;
use super::tree::{Kind, Node, OPPONENT, Tree};
use game::Rng;

/// How leaves are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpansionRules {
    /// Weight of the exploration term.
    pub c: f64,
    /// Whether both players explore.
    pub two_sided: bool,
    /// Rounds beyond which no leaf is expanded.
    pub last_round: u32,
}

/// Plays from the root to a leaf; none if the path ends where nothing can be expanded.
pub(crate) fn choose_leaf(
    tree: &mut Tree,
    gadgets: &mut Gadgets,
    explorer: usize,
    rules: ExpansionRules,
    rng: &mut Rng,
) -> Option<u32> {
    let mut at = choose_root(gadgets, explorer, rules, rng)?;
    loop {
        let node = tree.nodes[at as usize];
        match node.kind {
            Kind::Leaf => return (node.round < rules.last_round).then_some(at),
            Kind::Over => return None,
            _ if node.fresh => return None,
            Kind::Chance => at = node.first + rng.below(node.n as usize) as u32,
            Kind::Choice(set) => {
                let explores = rules.two_sided || tree.infosets[set as usize].player == explorer;
                let place = match explores {
                    true => explore(tree, set, rules.c, rng),
                    false => {
                        let actions = &tree.actions[tree.infosets[set as usize].actions()];
                        draw(actions.iter().map(|a| a.policy), rng)?
                    }
                };
                at = node.first + child_of(tree, &node, set, place, rng);
            }
        }
    }
}

/// The child to which an action leads; where it is illegal, any.
fn child_of(tree: &Tree, node: &Node, set: u32, place: usize, rng: &mut Rng) -> u32 {
    if tree.has_all(node, set) {
        return place as u32;
    }
    let legal = (0..node.n).find(|&child| tree.action_of(node, child) == place);
    legal.unwrap_or_else(|| rng.below(node.n as usize) as u32)
}

/// The root to begin with: the opponent chooses its information set, nature the root in it.
fn choose_root(gadgets: &mut Gadgets, explorer: usize, rules: ExpansionRules, rng: &mut Rng) -> Option<u32> {
    let entry = match explorer == OPPONENT || rules.two_sided {
        true => explore_entries(gadgets, rules.c, rng)?,
        false => draw(gadgets.entries.iter().map(|e| e.chance), rng)?,
    };
    let members = &gadgets.entries[entry].members;
    let place = draw(members.iter().map(|(_, share)| *share), rng)?;
    Some(members[place].0)
}

/// What an explorer knows about a move: its probability, value, tries, and the sums over visits.
#[derive(Clone, Copy, Debug)]
struct Known {
    policy: f64,
    worth: f64,
    tries: u32,
    sum: f64,
    squares: f64,
}

/// The move of an explorer, given the visits so far, this one included.
fn pick(known: &[Known], visits: u32, c: f64, rng: &mut Rng) -> Option<usize> {
    if rng.unit() < 0.5 {
        return draw(known.iter().map(|k| if k.policy > 0.0 { 1.0 } else { 0.0 }), rng);
    }
    let root = f64::from(visits).sqrt();
    let bound = |k: &Known| k.worth + c * variance(k, visits) * root / (1.0 + f64::from(k.tries));
    let mut best = None;
    for (place, k) in known.iter().enumerate() {
        let bound = bound(k);
        if best.is_none_or(|(_, most)| bound > most) {
            best = Some((place, bound));
        }
    }
    best.map(|(place, _)| place)
}

/// The variance of a move's value over the visits, with two more samples of -1 and 1.
fn variance(known: &Known, visits: u32) -> f64 {
    let n = f64::from(visits) + 2.0;
    let mean = known.sum / n;
    ((known.squares + 2.0) / n - mean * mean).max(0.0)
}

fn explore(tree: &mut Tree, set: u32, c: f64, rng: &mut Rng) -> usize {
    let infoset = &mut tree.infosets[set as usize];
    infoset.visits += 1;
    let visits = infoset.visits;
    let actions = &mut tree.actions[infoset.actions()];
    let known: Vec<Known> = actions
        .iter_mut()
        .map(|a| {
            a.sum += a.worth;
            a.squares += a.worth * a.worth;
            Known {
                policy: a.policy,
                worth: a.worth,
                tries: a.tries,
                sum: a.sum,
                squares: a.squares,
            }
        })
        .collect();
    let place = pick(&known, visits, c, rng).unwrap_or(0);
    actions[place].tries += 1;
    place
}

fn explore_entries(gadgets: &mut Gadgets, c: f64, rng: &mut Rng) -> Option<usize> {
    if gadgets.entries.len() == 1 {
        return Some(0);
    }
    gadgets.visits += 1;
    let visits = gadgets.visits;
    let known: Vec<Known> = gadgets
        .entries
        .iter_mut()
        .map(|e| {
            let worth = -e.margin();
            e.sum += worth;
            e.squares += worth * worth;
            Known {
                policy: e.chance,
                worth,
                tries: e.tries,
                sum: e.sum,
                squares: e.squares,
            }
        })
        .collect();
    let place = pick(&known, visits, c, rng)?;
    gadgets.entries[place].tries += 1;
    Some(place)
}

/// A place drawn by weights; none if all are zero.
fn draw(weights: impl Iterator<Item = f64> + Clone, rng: &mut Rng) -> Option<usize> {
    let mut left = rng.unit() * weights.clone().sum::<f64>();
    let mut last = None;
    for (place, weight) in weights.enumerate().filter(|(_, w)| *w > 0.0) {
        last = Some(place);
        left -= weight;
        if left < 0.0 {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::super::solver::{IterationRules, iterate};
    use super::super::tree::ME;
    use super::super::tree::by_hand::{Sketch::*, root};
    use super::*;
    use game::{Seed, StopFlag};

    const RULES: ExpansionRules = ExpansionRules {
        c: 1.0,
        two_sided: false,
        last_round: 100,
    };

    #[test]
    fn bounds_by_hand() {
        let known = |worth: f64, tries, sum, squares| Known {
            policy: 0.0,
            worth,
            tries,
            sum,
            squares,
        };
        // Two visits with values 0.5 and 0.5: four samples -1, 1, 0.5, 0.5 have mean 0.25 and variance 0.5625.
        assert_eq!(variance(&known(0.5, 1, 1.0, 0.5), 2), 0.5625);
        // Nothing is known yet: the variance of -1 and 1.
        assert_eq!(variance(&known(0.0, 0, 0.0, 0.0), 0), 1.0);
        // With four visits: 0.2 + 2 var / 4 against 0 + 2 var / 1, both with variance 1/3 or so: the untried one wins.
        let both = [known(0.2, 3, 0.8, 0.16), known(0.0, 0, 0.0, 0.0)];
        let chosen: Vec<Option<usize>> = (0..50).map(|s| pick(&both, 4, 1.0, &mut Seed(s).rng())).collect();
        // No move has a positive probability, so the other half of the draws finds nothing.
        assert!(chosen.iter().all(|c| matches!(c, None | Some(1))), "{chosen:?}");
        assert!(chosen.contains(&None) && chosen.contains(&Some(1)));
    }

    /// The paper's figure 3: both players have two moves, and both play left. The leaf behind two rights is reached by
    /// neither, so it is never chosen by one-sided expansion.
    fn left_left() -> (Tree, Gadgets) {
        let mut tree = Tree::default();
        let theirs = |left, right| Choice(OPPONENT, 2, vec![Leaf(left), Leaf(right)]);
        // For both left is better whatever the other does.
        let at = root(&mut tree, &Choice(ME, 1, vec![theirs(0.0, 0.5), theirs(-0.5, 0.0)]));
        (tree, Gadgets::plain(at))
    }

    fn chosen(two_sided: bool) -> Vec<u32> {
        let (mut tree, mut gadgets) = left_left();
        let stop = StopFlag::default();
        let mut rng = Seed(1).rng();
        let mut found = Vec::new();
        // Much exploration, so that two explorers meet.
        let rules = ExpansionRules {
            two_sided,
            c: 100.0,
            ..RULES
        };
        for step in 0..400 {
            iterate(&mut tree, &mut gadgets, IterationRules::default(), &stop).unwrap();
            found.extend(choose_leaf(&mut tree, &mut gadgets, step % 2, rules, &mut rng));
        }
        found.sort_unstable();
        found.dedup();
        // In the order of the sketch: the root, our two moves, then their moves after the first and the second.
        found
    }

    #[test]
    fn leaves_that_neither_player_reaches_are_not_expanded() {
        assert_eq!(chosen(false), [3, 4, 5], "left-left, left-right and right-left");
        assert_eq!(chosen(true), [3, 4, 5, 6]);
    }

    #[test]
    fn fresh_nodes_and_late_rounds_are_left_alone() {
        let (mut tree, mut gadgets) = left_left();
        let mut rng = Seed(1).rng();
        assert_eq!(
            choose_leaf(&mut tree, &mut gadgets, ME, RULES, &mut rng),
            None,
            "no iteration yet"
        );
        iterate(&mut tree, &mut gadgets, IterationRules::default(), &StopFlag::default()).unwrap();
        let now = ExpansionRules { last_round: 0, ..RULES };
        assert_eq!(choose_leaf(&mut tree, &mut gadgets, ME, now, &mut rng), None);
        assert!(choose_leaf(&mut tree, &mut gadgets, ME, RULES, &mut rng).is_some());
    }
}
