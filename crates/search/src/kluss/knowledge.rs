//! The order of knowledge: how far the histories of a round are from our information set.
//!
//! Zhang and Sandholm 2025, section B.1: two histories are neighbours if some player cannot tell them apart. The
//! order-k knowledge set holds the histories at a distance of less than k from our information set: order 1 is the set
//! itself, order 2 adds what the opponent may hold possible. Views contain everything that a player was ever told, so
//! histories whose continuations can be confused are neighbours already now, and the views of one round suffice.
//!
//! Ours: without a fixed order, the order is the largest for which no more than a number of histories is kept, and at
//! least 2. Small games so keep their whole common-knowledge closure.

use crate::views::ViewId;
use rustc_hash::FxHashMap;

/// The distance of each history from our information set; none if they are not connected.
pub(crate) fn distances(histories: &[[ViewId; 2]], mine: ViewId) -> Vec<Option<u32>> {
    let mut with_view: FxHashMap<ViewId, Vec<u32>> = FxHashMap::default();
    for (number, views) in histories.iter().enumerate() {
        for &view in views {
            with_view.entry(view).or_default().push(number as u32);
        }
    }
    let mut distance = vec![None; histories.len()];
    let mut next = vec![mine];
    let mut steps = 0;
    while !next.is_empty() {
        let mut further = Vec::new();
        for view in next {
            for number in with_view.remove(&view).unwrap_or_default() {
                let place = &mut distance[number as usize];
                if place.is_none() {
                    *place = Some(steps);
                    further.extend(histories[number as usize]);
                }
            }
        }
        next = further;
        steps += 1;
    }
    distance
}

/// The order to search with: the one asked for, or the largest with no more than `most` histories, at least 2.
pub(crate) fn order(distances: &[Option<u32>], asked: Option<u32>, most: usize) -> u32 {
    if let Some(asked) = asked {
        return asked;
    }
    let furthest = distances.iter().flatten().max().map_or(0, |d| d + 1);
    let fits = |order: &u32| distances.iter().flatten().filter(|d| *d < order).count() <= most;
    (2..=furthest).rev().find(fits).unwrap_or(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn views(pairs: &[(u32, u32)]) -> Vec<[ViewId; 2]> {
        // The two players' views are never the same: theirs begin at 100.
        pairs.iter().map(|&(m, t)| [ViewId(m), ViewId(100 + t)]).collect()
    }

    /// The layer of the paper's figure 2: A is ours alone. The opponent cannot tell A from B, we cannot tell B from C,
    /// the opponent cannot tell C from D, and E is known to nobody else.
    ///
    /// ```text
    /// A -opponent- B -we- C -opponent- D     E
    /// ```
    const FIGURE: &[(u32, u32)] = &[(1, 1), (2, 1), (2, 2), (3, 2), (4, 3)];

    #[test]
    fn distances_of_the_figure() {
        let layer = views(FIGURE);
        assert_eq!(
            distances(&layer, ViewId(1)),
            [Some(0), Some(1), Some(2), Some(3), None],
            "A, B, C, D and the unconnected E"
        );
        // From B's side both B and C are ours.
        assert_eq!(distances(&layer, ViewId(2)), [Some(1), Some(0), Some(0), Some(1), None]);
        assert_eq!(distances(&layer, ViewId(9)), [None; 5]);
    }

    /// Kuhn poker after the deal, as (our card, their card); we hold the king. Two deals have our king (0), two more
    /// their card in common with these (1), and so on: queen-king and jack-king only share our card with those (2).
    #[test]
    fn distances_of_kuhn_poker() {
        let deals = [(3, 1), (3, 2), (2, 1), (1, 2), (2, 3), (1, 3)];
        let found: Vec<u32> = distances(&views(&deals), ViewId(3)).into_iter().flatten().collect();
        assert_eq!(found, [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn the_order_is_as_large_as_fits() {
        let far = distances(&views(FIGURE), ViewId(1));
        assert_eq!(
            order(&far, None, 1),
            2,
            "order 2 holds two histories, and is always kept"
        );
        assert_eq!(order(&far, None, 2), 2);
        assert_eq!(order(&far, None, 3), 3);
        assert_eq!(order(&far, None, 100), 4, "the whole closure: E is never kept");
        assert_eq!(order(&far, Some(1), 100), 1);
    }
}
