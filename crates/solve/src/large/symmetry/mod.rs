//! Symmetries of a game, found from its state graph.
//!
//! A symmetry renames the moves and the sets of percepts of each role such that the graph of states goes over into
//! itself: the initial state stays, and so do roles, goals, and the probabilities of nature. In phantom tic-tac-toe
//! these are the eight rotations and reflections of the board. Nothing is known of boards here: [`search`] tries
//! renamings that keep what can be counted, and accepts one only when every state and joint move has been checked.
//!
//! The symmetries form a group. It acts on the graph of views of each role (`action`), and the tree of views needs to
//! be walked only up to symmetry (`quotient`) if the strategies have the symmetry, too.

mod action;
mod quotient;
mod search;

pub(super) use action::ViewAction;
pub(super) use quotient::{Kid, Quotient, WalkNode};

use super::graph::StateGraph;
use super::views::ViewGraph;
use game::StopFlag;
use rustc_hash::FxHashMap;
use search::renamings;

/// Symmetries at most: sets of them are bits of a word.
pub(super) const MOST: usize = 64;

/// A set of symmetries, by number; the identity is number 0.
pub(super) type Subgroup = u64;

/// The identity alone.
pub(super) const TRIVIAL: Subgroup = 1;

/// A renaming of the moves of both players and of their sets of percepts, one after the other.
pub(super) type Renaming = Vec<u32>;

/// Where moves and percepts have their places in a renaming.
#[derive(Clone, Debug)]
pub(super) struct Alphabet {
    /// For each player and list of moves: the places of the moves.
    pub moves: [Vec<Vec<u32>>; 2],
    /// For each player: the place of its set of percepts number 0.
    pub percepts: [u32; 2],
    /// Number of places.
    pub len: usize,
}

impl Alphabet {
    pub fn new(graph: &StateGraph) -> Alphabet {
        let mut len = 0;
        let mut moves = [Vec::new(), Vec::new()];
        for (player, lists) in moves.iter_mut().enumerate() {
            let mut places = FxHashMap::default();
            for list in &graph.lists[player] {
                let place = |mv| {
                    *places.entry(mv).or_insert_with(|| {
                        len += 1;
                        len - 1
                    })
                };
                lists.push(list.iter().map(place).collect());
            }
        }
        let percepts = [len, len + graph.percepts[0].len() as u32];
        Alphabet {
            moves,
            percepts,
            len: percepts[1] as usize + graph.percepts[1].len(),
        }
    }
}

/// The group of symmetries that was found.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub elements: Vec<Renaming>,
    /// Number of the product: first the second factor, then the first.
    products: Vec<u8>,
}

impl Group {
    /// The group that some renamings generate. A renaming that would make it larger than [`MOST`] is left out.
    pub fn generated(len: usize, generators: &[Renaming]) -> Group {
        let identity: Renaming = (0..len as u32).collect();
        let mut elements = vec![identity];
        let mut chosen: Vec<&Renaming> = Vec::new();
        for generator in generators {
            if elements.contains(generator) {
                continue;
            }
            chosen.push(generator);
            match closure(&elements[0], &chosen) {
                Some(larger) => elements = larger,
                None => drop(chosen.pop()),
            }
        }
        let numbers: FxHashMap<&Renaming, u8> = elements.iter().zip(0..).collect();
        let mut products = Vec::with_capacity(elements.len() * elements.len());
        for first in &elements {
            products.extend(elements.iter().map(|second| numbers[&product(first, second)]));
        }
        Group { elements, products }
    }

    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// All symmetries.
    pub fn all(&self) -> Subgroup {
        u64::MAX >> (MOST - self.len())
    }

    /// First `second`, then `first`.
    pub fn product(&self, first: usize, second: usize) -> usize {
        usize::from(self.products[first * self.len() + second])
    }

    /// The symmetries that a test accepts, which have to be a group. Products of accepted ones are not tested.
    pub fn filter(&self, accepts: &mut dyn FnMut(usize) -> bool) -> Subgroup {
        let mut kept = TRIVIAL;
        let mut refused: Subgroup = 0;
        for element in 1..self.len() {
            if (kept | refused) >> element & 1 == 1 {
                continue;
            }
            if !accepts(element) {
                // What is accepted times what is refused is refused.
                for a in members(kept) {
                    refused |= 1 << self.product(a, element) | 1 << self.product(element, a);
                }
                continue;
            }
            kept |= 1 << element;
            loop {
                let mut larger = kept;
                for a in members(kept) {
                    for b in members(kept) {
                        larger |= 1 << self.product(a, b);
                    }
                }
                if larger == kept {
                    break;
                }
                kept = larger;
            }
        }
        kept
    }
}

/// The symmetries of a game, and how they act on the views of both players.
#[derive(Clone, Debug)]
pub(super) struct Symmetries {
    pub group: Group,
    pub actions: [ViewAction; 2],
}

impl Symmetries {
    /// Finds the symmetries of a game; none if there is only the identity, or the work was stopped.
    pub fn find(graph: &StateGraph, views: &[ViewGraph], stop: &StopFlag) -> Option<Symmetries> {
        let alphabet = Alphabet::new(graph);
        let generators = renamings(graph, &alphabet, stop);
        let group = Group::generated(alphabet.len, &generators);
        if group.len() == 1 {
            return None;
        }
        let [first, second] = views else { return None };
        let action = |views| ViewAction::new(graph, views, &alphabet, &group);
        let actions = [action(first)?, action(second)?];
        Some(Symmetries { group, actions })
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        self.actions.iter().map(ViewAction::bytes).sum()
    }

    /// The symmetries under which realization plans of both players stay the same.
    pub fn of_plans(&self, views: &[ViewGraph], plans: [&[f64]; 2]) -> Subgroup {
        self.group.filter(&mut |element| {
            (0..2).all(|player| self.actions[player].keeps(element, &views[player], plans[player]))
        })
    }
}

/// The numbers of a set of symmetries.
pub(super) fn members(subgroup: Subgroup) -> impl Iterator<Item = usize> {
    (0..MOST).filter(move |&n| subgroup >> n & 1 == 1)
}

/// First `second`, then `first`.
fn product(first: &Renaming, second: &Renaming) -> Renaming {
    second.iter().map(|&at| first[at as usize]).collect()
}

/// All products, the identity first; none if there are more than [`MOST`].
fn closure(identity: &Renaming, generators: &[&Renaming]) -> Option<Vec<Renaming>> {
    let mut elements = vec![identity.clone()];
    let mut at = 0;
    while at < elements.len() {
        for generator in generators {
            let next = product(generator, &elements[at]);
            if !elements.contains(&next) {
                if elements.len() == MOST {
                    return None;
                }
                elements.push(next);
            }
        }
        at += 1;
    }
    Some(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_of_a_square_are_four_and_with_a_reflection_eight() {
        let (turn, flip) = (vec![1, 2, 3, 0], vec![1, 0, 3, 2]);
        assert_eq!(Group::generated(4, std::slice::from_ref(&turn)).len(), 4);
        let group = Group::generated(4, &[turn.clone(), flip]);
        assert_eq!(group.len(), 8);
        let turns = group.filter(&mut |n| {
            group.elements[n]
                .iter()
                .zip(1..)
                .all(|(&a, b)| (a + 5 - b) % 4 == (group.elements[n][0] + 4) % 4)
        });
        assert_eq!(turns.count_ones(), 4);
        for a in 0..8 {
            for b in 0..8 {
                let both = product(&group.elements[a], &group.elements[b]);
                assert_eq!(group.elements[group.product(a, b)], both);
            }
        }
    }

    #[test]
    fn a_group_that_is_too_large_is_cut_to_a_smaller_one() {
        let swap = |a: u32| -> Renaming {
            (0..9)
                .map(|n| {
                    if n == a {
                        a + 1
                    } else if n == a + 1 {
                        a
                    } else {
                        n
                    }
                })
                .collect()
        };
        let swaps: Vec<_> = (0..8).map(swap).collect();
        // Five things that change places are 120 ways; four are 24, and two others among the rest twice as many.
        assert_eq!(Group::generated(9, &swaps).len(), 48);
    }
}
