//! Strategies for all roles of a large game.

use super::views::{ViewGraph, arrival, seen};
use super::{LargeGame, Silence};
use game::{MoveId, PerceptId, Round};
use std::fmt;

/// A strategy for every player, as realization plans.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// For each player, the own probability of every slot.
    pub(super) plans: [Vec<f64>; 2],
}

impl Profile {
    /// All moves of every information set equally often.
    pub fn uniform(game: &LargeGame) -> Profile {
        let plan = |views: &ViewGraph| {
            let mut plan = vec![0.0; views.root().slots as usize];
            views.plan(&mut plan, &mut |_, policy| {
                let n = policy.len() as f64;
                policy.fill(1.0 / n);
            });
            plan
        };
        Profile {
            plans: [plan(&game.views[0]), plan(&game.views[1])],
        }
    }

    /// The strategies of this profile, but those of one player from another.
    #[must_use]
    pub fn with(&self, player: usize, other: &Profile) -> Profile {
        let mut mixed = self.clone();
        mixed.plans[player].clone_from(&other.plans[player]);
        mixed
    }

    /// A probability for each sequence of a player: information sets in the order of the layout, and in each of them
    /// the legal moves in their order. Uniform where the player never gets.
    pub fn policy(&self, game: &LargeGame, player: usize) -> Vec<f32> {
        policy_of_plan(&game.views[player], &self.plans[player])
    }
}

/// Probabilities by sequence.
pub(super) fn policy_of_plan(views: &ViewGraph, plan: &[f64]) -> Vec<f32> {
    let mut policy = vec![0.0; views.root().sequences as usize];
    let mut slots = Vec::new();
    let mut stack = vec![(views.root, 0_usize, 0_usize)];
    while let Some((class, slot, sequence)) = stack.pop() {
        let here = &views.classes[class as usize];
        if here.list.is_some() {
            views.action_slots(class, &mut slots);
            let reach: f64 = slots.iter().map(|&s| plan[slot + s as usize]).sum();
            for (number, &at) in slots.iter().enumerate() {
                policy[sequence + number] = match reach > 0.0 {
                    true => (plan[slot + at as usize] / reach) as f32,
                    false => 1.0 / here.n_moves as f32,
                };
            }
        }
        for child in &here.children {
            stack.push((
                child.class,
                slot + child.slot as usize,
                sequence + child.sequence as usize,
            ));
        }
    }
    policy
}

/// Why a view or a policy does not belong to a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceError {
    /// The player never makes these moves and perceives this, from this round on (counted from 1).
    Impossible {
        /// The round.
        round: usize,
    },
    /// The view leaves no choice.
    NoChoice,
    /// The move is not legal after the view.
    NotLegal(MoveId),
    /// The probabilities are negative, not finite, or do not sum to 1.
    NotADistribution,
    /// The view was given before.
    Twice,
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlaceError::Impossible { round } => write!(f, "the view is impossible from round {round} on"),
            PlaceError::NoChoice => f.write_str("the view leaves the role no choice"),
            PlaceError::NotLegal(_) => f.write_str("a move is not legal after the view"),
            PlaceError::NotADistribution => f.write_str("the probabilities are not probabilities that sum to 1"),
            PlaceError::Twice => f.write_str("the view was given before"),
        }
    }
}

impl std::error::Error for PlaceError {}

/// Makes a profile from policies that are given one view after the other.
pub struct ProfileBuilder<'g> {
    game: &'g LargeGame,
    /// Probabilities by sequence; negative where nothing was given.
    policies: [Vec<f32>; 2],
}

/// How far a sum of probabilities may be from 1.
const TOLERANCE: f64 = 1e-4;

impl<'g> ProfileBuilder<'g> {
    /// Nothing given yet.
    pub fn new(game: &'g LargeGame) -> ProfileBuilder<'g> {
        let nothing = |player: usize| vec![-1.0; game.views[player].root().sequences as usize];
        ProfileBuilder {
            game,
            policies: [nothing(0), nothing(1)],
        }
    }

    /// The policy after a view: moves with probabilities. Legal moves that are not named have probability 0.
    ///
    /// # Errors
    /// If the view or a move does not exist, or the numbers are no probabilities.
    pub fn insert(&mut self, player: usize, view: &[Round], policy: &[(MoveId, f64)]) -> Result<(), PlaceError> {
        let (sequence, list) = self.game.find(player, view)?;
        let legal = &self.game.graph.lists[player][list as usize];
        let mut numbers = vec![0.0; legal.len()];
        for &(mv, p) in policy {
            let at = legal.iter().position(|&m| m == mv).ok_or(PlaceError::NotLegal(mv))?;
            numbers[at] = p;
        }
        let sum: f64 = numbers.iter().sum();
        if numbers.iter().any(|p| !p.is_finite() || *p < 0.0) || (sum - 1.0).abs() > TOLERANCE {
            return Err(PlaceError::NotADistribution);
        }
        let places = &mut self.policies[player][sequence..sequence + legal.len()];
        if places[0] >= 0.0 {
            return Err(PlaceError::Twice);
        }
        for (place, p) in places.iter_mut().zip(&numbers) {
            *place = (p / sum) as f32;
        }
        Ok(())
    }

    /// The number of a player's information sets for which nothing was given.
    pub fn unknown(&self, player: usize) -> u64 {
        let views = &self.game.views[player];
        let mut unknown = 0;
        let mut plan = vec![0.0; views.root().slots as usize];
        views.plan(&mut plan, &mut |sequence, policy| {
            unknown += u64::from(self.policies[player][sequence] < 0.0);
            policy.fill(0.0);
        });
        unknown
    }

    /// The sequences of the information set of a view.
    ///
    /// # Errors
    /// If there is no such view, or it leaves no choice.
    pub fn place(&self, player: usize, view: &[Round]) -> Result<std::ops::Range<usize>, PlaceError> {
        let (sequence, list) = self.game.find(player, view)?;
        Ok(sequence..sequence + self.game.graph.lists[player][list as usize].len())
    }

    /// Probabilities by sequence of a player, as [`Profile::policy`] gives them.
    ///
    /// Returns false if their number is not that of the game.
    pub fn set_all(&mut self, player: usize, policy: Vec<f32>) -> bool {
        let fits = policy.len() == self.policies[player].len();
        if fits {
            self.policies[player] = policy;
        }
        fits
    }

    /// Probabilities in proportion to numbers by sequence that are not negative; nothing is given where all are 0.
    ///
    /// Returns false if their number is not that of the game.
    pub fn set_proportional(&mut self, player: usize, weights: &[f64]) -> bool {
        let policies = &mut self.policies[player];
        let fits = weights.len() == policies.len();
        if fits {
            let views = &self.game.views[player];
            let mut plan = vec![0.0; views.root().slots as usize];
            views.plan(&mut plan, &mut |sequence, policy| {
                let range = sequence..sequence + policy.len();
                let sum: f64 = weights[range.clone()].iter().sum();
                if sum > 0.0 {
                    let scaled = weights[range.clone()].iter().map(|w| (w / sum) as f32);
                    policies[range].iter_mut().zip(scaled).for_each(|(p, s)| *p = s);
                }
                policy.fill(0.0);
            });
        }
        fits
    }

    /// Asks for the policy of every information set of a player, by a key that is made along the view: `after` gives
    /// the key after another round with an own move and percepts, `policy` the probabilities of so many moves. Where
    /// there are none, nothing is given.
    ///
    /// Returns false if views leave out rounds: there are no keys for such views.
    pub fn fill<K: Copy>(
        &mut self,
        player: usize,
        start: K,
        after: &dyn Fn(K, MoveId, &[PerceptId]) -> K,
        policy: &mut dyn FnMut(K, usize) -> Option<Vec<f32>>,
    ) -> bool {
        if self.game.silence == Silence::Dropped {
            return false;
        }
        let views = &self.game.views[player];
        let graph = &self.game.graph;
        let mut stack = vec![(views.root, 0_usize, start)];
        while let Some((class, sequence, key)) = stack.pop() {
            let here = &views.classes[class as usize];
            // Nobody is asked after the last choice.
            let Some(list) = here.moves.filter(|_| here.infosets > 0) else {
                continue;
            };
            let moves = &graph.lists[player][list as usize];
            if here.list.is_some()
                && let Some(given) = policy(key, moves.len()).filter(|given| given.len() == moves.len())
            {
                self.policies[player][sequence..sequence + given.len()].copy_from_slice(&given);
            }
            for child in &here.children {
                let own = moves[usize::from(child.action)];
                let sees = &graph.percepts[player][(child.event / 2) as usize];
                let key = after(key, own, sees);
                stack.push((child.class, sequence + child.sequence as usize, key));
            }
        }
        true
    }

    /// The profile, and the number of information sets for which nothing was given. There all moves are equally
    /// likely.
    pub fn finish(self) -> (Profile, u64) {
        let mut missing = 0;
        let mut plan = |player: usize| {
            let views = &self.game.views[player];
            let mut plan = vec![0.0; views.root().slots as usize];
            views.plan(&mut plan, &mut |sequence, policy| {
                let given = &self.policies[player][sequence..sequence + policy.len()];
                let sum: f64 = given.iter().map(|&p| f64::from(p)).sum();
                if given[0] < 0.0 || sum <= 0.0 {
                    missing += u64::from(given[0] < 0.0);
                    let n = policy.len() as f64;
                    policy.fill(1.0 / n);
                    return;
                }
                for (p, &given) in policy.iter_mut().zip(given) {
                    *p = f64::from(given) / sum;
                }
            });
            plan
        };
        let plans = [plan(0), plan(1)];
        (Profile { plans }, missing)
    }
}

impl LargeGame {
    /// The first sequence of the information set of a view, and the list of its moves.
    pub(super) fn find(&self, player: usize, view: &[Round]) -> Result<(usize, u32), PlaceError> {
        let views = self.dated.as_ref().map_or(&self.views[player], |dated| &dated[player]);
        let mut at = Finder {
            game: self,
            views,
            class: views.root,
            sequence: 0,
        };
        for (number, round) in view.iter().enumerate() {
            at.settle(number as u32);
            if !at.follow(round) {
                return Err(PlaceError::Impossible { round: number + 1 });
            }
        }
        at.settle(view.len() as u32);
        let class = &views.classes[at.class as usize];
        match class.list {
            Some(list) => Ok((at.sequence, list)),
            None => Err(PlaceError::NoChoice),
        }
    }
}

/// Follows a view.
struct Finder<'g> {
    game: &'g LargeGame,
    views: &'g ViewGraph,
    class: u32,
    sequence: usize,
}

impl Finder<'_> {
    /// Moves on to a choice that the role gets in this round.
    fn settle(&mut self, round: u32) {
        loop {
            let here = &self.views.classes[self.class as usize];
            if here.list.is_some() {
                return;
            }
            let dated = self.game.dated.is_some();
            let arrives = here.children.iter().find(|child| {
                let there = &self.views.classes[child.class as usize];
                let due = match dated {
                    true => there.round == round,
                    // Without rounds a choice is due when nothing else can happen.
                    false => here.children.len() == 1,
                };
                there.list.is_some_and(|list| child.event == arrival(list)) && due
            });
            let Some(child) = arrives else { return };
            self.class = child.class;
            self.sequence += child.sequence as usize;
        }
    }

    /// One round; false if it cannot be.
    fn follow(&mut self, round: &Round) -> bool {
        let here = &self.views.classes[self.class as usize];
        let Some(sees) = self.percepts(&round.sees) else {
            return false;
        };
        let action = match here.list {
            Some(list) => {
                let legal = &self.game.graph.lists[self.views.player][list as usize];
                match legal.iter().position(|&m| m == round.own) {
                    Some(action) => action as u16,
                    None => return false,
                }
            }
            None if self.views.silence == Silence::Dropped && sees == 0 => return true,
            None => 0,
        };
        match here.child(action, seen(sees)) {
            Some(child) => {
                self.class = child.class;
                self.sequence += child.sequence as usize;
                true
            }
            None => false,
        }
    }

    fn percepts(&self, sees: &[PerceptId]) -> Option<u32> {
        let all = &self.game.graph.percepts[self.views.player];
        all.iter().position(|set| set == sees).map(|at| at as u32)
    }
}

/// A class of views as [`LargeGame::outline`] shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineClass {
    /// The list of legal moves, if there is a choice.
    pub list: Option<u32>,
    /// Rounds before the choice, where silent rounds are left out.
    pub round: u32,
    /// Own move, event, class and first sequence of what can follow. An event is twice the number of a set of
    /// percepts, or twice the number of a list of moves plus one if the role gets to choose after silent rounds.
    pub children: Vec<(u16, u32, u32, u32)>,
}

/// The graph of a player's views.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewOutline {
    /// Lists of legal moves.
    pub lists: Vec<Vec<MoveId>>,
    /// Sets of percepts; the first is empty.
    pub percepts: Vec<Vec<PerceptId>>,
    /// Classes; children have smaller numbers than their parents.
    pub classes: Vec<OutlineClass>,
    /// The class at the start.
    pub root: u32,
}

impl LargeGame {
    /// The graph of a player's views, by which [`Profile::policy`] is laid out.
    pub fn outline(&self, player: usize) -> ViewOutline {
        let views = self.dated.as_ref().map_or(&self.views[player], |dated| &dated[player]);
        let class = |class: &super::views::ViewClass| OutlineClass {
            list: class.list,
            round: class.round,
            children: class
                .children
                .iter()
                .map(|c| (c.action, c.event, c.class, c.sequence))
                .collect(),
        };
        ViewOutline {
            lists: self.graph.lists[player].clone(),
            percepts: self.graph.percepts[player].clone(),
            classes: views.classes.iter().map(class).collect(),
            root: views.root,
        }
    }

    /// Number of a player's views after which its legal moves are as asked, forced moves included. Only for games
    /// whose views count rounds.
    pub fn count_views(&self, player: usize, is_counted: &dyn Fn(&[MoveId]) -> bool) -> f64 {
        let views = &self.views[player];
        let mut counts: Vec<f64> = Vec::with_capacity(views.classes.len());
        for class in &views.classes {
            let here = class
                .moves
                .is_some_and(|list| is_counted(&self.graph.lists[player][list as usize]));
            let below: f64 = class.children.iter().map(|c| counts[c.class as usize]).sum();
            counts.push(f64::from(u8::from(here)) + below);
        }
        counts[views.root as usize]
    }

    /// Number of histories after which the legal moves of some player are as asked, and number of those that are over.
    pub fn count_histories(&self, is_counted: &dyn Fn(usize, &[MoveId]) -> bool) -> (f64, f64) {
        let graph = &self.graph;
        let counted = |state: u32| {
            let legal = graph.states[state as usize].legal;
            (0..graph.players.len()).any(|p| is_counted(p, &graph.lists[p][legal[p] as usize]))
        };
        let mut order: Vec<u32> = (0..graph.states.len() as u32).collect();
        order.sort_by_key(|&s| graph.rank[s as usize]);
        let mut paths = vec![0.0; order.len()];
        paths[graph.initial as usize] = 1.0;
        let (mut deciding, mut over) = (0.0, 0.0);
        for state in order {
            let here: f64 = paths[state as usize];
            match graph.is_over(state) {
                true => over += here,
                false if counted(state) => deciding += here,
                false => {}
            }
            graph.edges_of(state).iter().for_each(|e| paths[e.to as usize] += here);
        }
        (deciding, over)
    }
}
