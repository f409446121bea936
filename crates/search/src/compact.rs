//! Strategies of large games: a graph of views and one probability for each information set and move.
//!
//! A table with a text for every view would be many times as large. Here a view is followed through the graph, and its
//! place in the unfolded tree is the number of its information set.

use crate::tabular::ViewPolicy;
use game::{Fault, RoleId, Simulator, Told};
use rustc_hash::FxHashMap;

/// What can follow a class of views.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompactChild {
    /// Number of the own move; 0 if there is no choice.
    pub action: u16,
    /// Twice the number of a set of percepts; or twice the number of a list of moves, plus one, if the role gets to
    /// choose from them after silent rounds.
    pub event: u32,
    /// The next class.
    pub class: u32,
    /// Sequences between the first one of the parent and the first one of this child.
    pub sequence: u32,
}

/// A class of views.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactClass {
    /// The list of legal moves, if there is a choice.
    pub list: Option<u32>,
    /// Rounds before the choice.
    pub round: u32,
    /// What can follow.
    pub children: Vec<CompactChild>,
}

/// The views of one role as a graph, with texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompactViews {
    /// Lists of legal moves.
    pub lists: Vec<Vec<String>>,
    /// Sets of percepts; the first is empty.
    pub percepts: Vec<Vec<String>>,
    /// Classes; children have smaller numbers than their parents.
    pub classes: Vec<CompactClass>,
    /// The class at the start.
    pub root: u32,
    /// Whether rounds without a choice and without a percept are left out.
    pub drops_silent_rounds: bool,
}

/// The strategy of one role.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactStrategy {
    views: CompactViews,
    percepts: FxHashMap<Vec<String>, u32>,
    /// Probabilities by sequence.
    policy: Vec<f32>,
}

impl CompactStrategy {
    /// A strategy; none if its parts contradict each other.
    pub fn new(views: CompactViews, policy: Vec<f32>) -> Option<CompactStrategy> {
        let mut sizes: Vec<u64> = Vec::with_capacity(views.classes.len());
        for class in &views.classes {
            let n_moves = match class.list {
                Some(list) => views.lists.get(list as usize)?.len(),
                None => 0,
            };
            let mut size = n_moves as u64;
            for child in &class.children {
                let is_list = child.event % 2 == 1;
                let known = if is_list {
                    views.lists.len()
                } else {
                    views.percepts.len()
                };
                if (child.event / 2) as usize >= known || usize::from(child.action) >= n_moves.max(1) {
                    return None;
                }
                if u64::from(child.sequence) != size {
                    return None;
                }
                size += sizes.get(child.class as usize)?;
                if size > policy.len() as u64 {
                    return None;
                }
            }
            sizes.push(size);
        }
        let fits = *sizes.get(views.root as usize)? == policy.len() as u64;
        let sound = policy.iter().all(|p| p.is_finite() && *p >= 0.0);
        let sorted = |set: &Vec<String>| {
            let mut set = set.clone();
            set.sort_unstable();
            set
        };
        let numbers = views.percepts.iter().enumerate();
        let percepts = numbers.map(|(number, set)| (sorted(set), number as u32)).collect();
        (fits && sound).then_some(CompactStrategy {
            percepts,
            views,
            policy,
        })
    }

    /// Whether the strategy is laid out by these views.
    pub fn is_for(&self, views: &CompactViews) -> bool {
        self.views == *views
    }

    /// Probabilities by sequence.
    pub fn probabilities(&self) -> &[f32] {
        &self.policy
    }

    /// The first sequence and the moves of the information set of a view; none if the view leaves no choice or is
    /// unknown.
    fn find(&self, view: &[Told]) -> Option<(usize, &[String])> {
        let (mut class, mut sequence) = (self.views.root, 0);
        for number in 0..=view.len() {
            (class, sequence) = self.settle(class, sequence, number as u32);
            let Some(round) = view.get(number) else { break };
            let here = &self.views.classes[class as usize];
            let mut sees = round.sees.clone();
            sees.sort_unstable();
            let sees = *self.percepts.get(&sees)?;
            let action = match here.list {
                Some(list) => {
                    let moves = &self.views.lists[list as usize];
                    moves.iter().position(|m| *m == round.own)? as u16
                }
                None if self.views.drops_silent_rounds && sees == 0 => continue,
                None => 0,
            };
            let mut children = here.children.iter();
            let child = children.find(|c| c.action == action && c.event == 2 * sees)?;
            (class, sequence) = (child.class, sequence + child.sequence as usize);
        }
        let list = self.views.classes[class as usize].list?;
        Some((sequence, &self.views.lists[list as usize]))
    }

    /// Moves on to a choice that is due after so many rounds.
    fn settle(&self, mut class: u32, mut sequence: usize, round: u32) -> (u32, usize) {
        loop {
            let here = &self.views.classes[class as usize];
            let due = |child: &&CompactChild| {
                let there = &self.views.classes[child.class as usize];
                child.event % 2 == 1 && there.list == Some(child.event / 2) && there.round == round
            };
            match here.children.iter().find(due) {
                Some(child) if here.list.is_none() => {
                    (class, sequence) = (child.class, sequence + child.sequence as usize);
                }
                _ => return (class, sequence),
            }
        }
    }
}

impl ViewPolicy for CompactStrategy {
    fn policy(&self, view: &[Told]) -> Option<Vec<(String, f64)>> {
        let (sequence, moves) = self.find(view)?;
        let numbers = self.policy.get(sequence..sequence + moves.len())?;
        let all = moves.iter().zip(numbers);
        let played = all.filter(|(_, p)| **p > 0.0);
        let policy: Vec<(String, f64)> = played.map(|(mv, p)| (mv.clone(), f64::from(*p))).collect();
        (!policy.is_empty()).then_some(policy)
    }

    fn check(&self, sim: &mut dyn Simulator, role: RoleId) -> Result<(), Fault> {
        let name = sim.roles()[role.0 as usize].clone();
        let moves = self.views.classes.iter().filter_map(|c| c.list);
        for list in moves {
            for mv in &self.views.lists[list as usize] {
                if sim.find_move(role, mv).is_none() {
                    return Err(Fault::OtherGame(format!("`{mv}` is never a move of {name} here")));
                }
            }
        }
        for percept in self.views.percepts.iter().flatten() {
            if sim.find_percept(role, percept).is_none() {
                return Err(Fault::OtherGame(format!("{name} never perceives `{percept}` here")));
            }
        }
        Ok(())
    }
}
