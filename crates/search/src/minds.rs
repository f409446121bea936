//! Inner players: what each role would do if it were a HyperPlay player that knows only its own view.
//!
//! HyperPlay-II (Schofield and Thielscher 2015, 2016) plays its simulations with such players in every seat but nature's. A
//! choice of theirs depends on the view alone, so it is made once for each view and remembered (decision 15).
//!
//! Where we differ from the papers: an inner bag is not sampled by backtracking. It is the parent's bag moved on by one round,
//! exactly while it fits and resampled without bias where it does not; so a simulation carries its bags along and never
//! starts again from the first round.

use crate::Tools;
use crate::atlas::{Atlas, NodeId, Places};
use crate::flat::{Guess, Plan, weigh};
use crate::pruning::{Pruning, prune_and_weigh};
use crate::views::{Last, ViewId, Views};
use game::{Budget, Fault, MoveId, Rng, RoleId, Seed, StopFlag};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// How inner players think.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InnerOptions {
    /// States each of them holds possible when it weighs its moves.
    pub models: usize,
    /// Playouts for each move in each of these.
    pub playouts: u64,
    /// What is cut short; also their playouts then.
    pub pruning: Pruning,
}

/// A role's mind at one view: what it holds possible and what it does.
#[derive(Default)]
pub(crate) struct Mind {
    bag: Option<Bag>,
    choice: Option<MoveId>,
}

/// States held possible with their probabilities, in the order of their numbers; empty if nothing was left.
pub(crate) type Bag = Arc<[(NodeId, f64)]>;

/// The minds of all roles at all views met so far.
pub(crate) struct Minds {
    pub views: Views<Mind>,
    options: InnerOptions,
    seed: Seed,
}

/// States a bag may hold, unless more models are asked for.
const BAG: usize = 256;
/// Joint moves tried for one round of one bag; where there are more, so many are drawn.
const TRIES: usize = 8_192;

impl Minds {
    pub(crate) fn new(n_roles: usize, options: InnerOptions, seed: Seed) -> Minds {
        Minds {
            views: Views::new(n_roles),
            options,
            seed,
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        let n_roles = self.views.start().len();
        self.views = Views::new(n_roles);
    }

    /// What a role does at a view, given where the game really is: the move is legal there. A choice that is not legal there,
    /// and the choice of a role that has lost track of the game, is replaced by a random one, as a referee would.
    pub(crate) fn decide(
        &mut self,
        tools: &mut Tools,
        atlas: &mut Atlas,
        role: usize,
        view: ViewId,
        at: NodeId,
        rng: &mut Rng,
    ) -> Result<usize, Fault> {
        let n_moves = atlas.node(at).legal[role].len();
        if n_moves == 1 {
            return Ok(0);
        }
        if self.views.get(view).choice.is_none() {
            let choice = self.choose(tools, atlas, role, view)?;
            self.views.get_mut(view).choice = choice;
        }
        let choice = self.views.get(view).choice;
        let place = choice.and_then(|mv| atlas.node(at).place(role, mv));
        Ok(place.unwrap_or_else(|| rng.below(n_moves)))
    }

    fn choose(
        &mut self,
        tools: &mut Tools,
        atlas: &mut Atlas,
        role: usize,
        view: ViewId,
    ) -> Result<Option<MoveId>, Fault> {
        let bag = self.bag(tools, atlas, role, view)?;
        let seed = self.seed.child("choose").nth(u64::from(view.0));
        let bag = at_most(&bag, self.options.models, &mut seed.child("models").rng());
        if bag.is_empty() {
            return Ok(None);
        }
        let guess = |&(node, weight): &(NodeId, f64)| Guess {
            state: atlas.node(node).state.clone(),
            weight,
        };
        let guesses: Vec<Guess> = bag.iter().map(guess).collect();
        let plan = Plan {
            playouts: self.options.playouts,
            seed,
        };
        let me = std::mem::replace(&mut tools.role, RoleId(role as u16));
        let chosen = if self.options.pruning == Pruning::default() {
            let unlimited = Budget::until(StopFlag::default());
            weigh(tools, &guesses, plan, &unlimited)
        } else {
            prune_and_weigh(tools, &guesses, plan, self.options.pruning)
        };
        let role = std::mem::replace(&mut tools.role, me);
        Ok(tools.sim.find_move(role, &chosen?.mv))
    }

    /// What a role holds possible at a view: the bag of the round before, moved on.
    pub(crate) fn bag(
        &mut self,
        tools: &mut Tools,
        atlas: &mut Atlas,
        role: usize,
        view: ViewId,
    ) -> Result<Bag, Fault> {
        let mut chain: SmallVec<[(ViewId, Last); 16]> = SmallVec::new();
        let mut at = view;
        let mut bag = loop {
            if let Some(bag) = &self.views.get(at).bag {
                break bag.clone();
            }
            match self.views.last(at) {
                Some(last) => {
                    chain.push((at, last));
                    at = last.before;
                }
                None => {
                    let start: Bag = Arc::new([(atlas.start(tools.sim.as_mut())?, 1.0)]);
                    self.views.get_mut(at).bag = Some(start.clone());
                    break start;
                }
            }
        };
        for (view, last) in chain.into_iter().rev() {
            bag = self.move_on(tools, atlas, role, &bag, view, last)?;
            self.views.get_mut(view).bag = Some(bag.clone());
        }
        Ok(bag)
    }

    fn move_on(
        &self,
        tools: &mut Tools,
        atlas: &mut Atlas,
        role: usize,
        bag: &Bag,
        view: ViewId,
        last: Last,
    ) -> Result<Bag, Fault> {
        let mut rng = self.seed.child("bag").nth(u64::from(view.0)).rng();
        let fans: Vec<Option<Fan>> = bag.iter().map(|(n, _)| Fan::new(atlas, *n, role, last.own)).collect();
        let total: f64 = fans.iter().flatten().map(Fan::len).sum();
        let mut mass: FxHashMap<NodeId, f64> = FxHashMap::default();
        let mut try_one = |node: NodeId, places: &Places, brings: f64| -> Result<(), Fault> {
            let edge = atlas.step(tools.sim.as_mut(), node, places)?;
            if edge.sees[role] == last.sees && !atlas.node(edge.to).over {
                *mass.entry(edge.to).or_default() += brings;
            }
            Ok(())
        };
        if total <= TRIES as f64 {
            for (&(node, weight), fan) in bag.iter().zip(&fans) {
                let Some(fan) = fan else { continue };
                let brings = weight / fan.len();
                fan.each(|places| try_one(node, places, brings))?;
            }
        } else {
            let weights: Vec<f64> = bag.iter().map(|(_, w)| *w).collect();
            for n in systematic(&weights, TRIES, &mut rng) {
                if let Some(fan) = &fans[n] {
                    try_one(bag[n].0, &fan.draw(&mut rng), 1.0)?;
                }
            }
        }
        let mut next: Vec<(NodeId, f64)> = mass.into_iter().collect();
        next.sort_unstable_by_key(|(node, _)| *node);
        let sum: f64 = next.iter().map(|(_, m)| m).sum();
        next.iter_mut().for_each(|(_, m)| *m /= sum);
        Ok(at_most(&next, BAG.max(self.options.models), &mut rng))
    }
}

/// The joint moves of a state with one role's move given.
struct Fan {
    role: usize,
    own: u32,
    sizes: SmallVec<[u32; 4]>,
}

impl Fan {
    /// None if the move is not legal.
    fn new(atlas: &Atlas, at: NodeId, role: usize, own: MoveId) -> Option<Fan> {
        let node = atlas.node(at);
        Some(Fan {
            role,
            own: node.place(role, own)? as u32,
            sizes: node.legal.iter().map(|moves| moves.len() as u32).collect(),
        })
    }

    fn others(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.sizes.len()).filter(|&role| role != self.role)
    }

    /// How many there are: the others' legal moves, multiplied.
    fn len(&self) -> f64 {
        self.others().map(|role| f64::from(self.sizes[role])).product()
    }

    fn each(&self, mut visit: impl FnMut(&Places) -> Result<(), Fault>) -> Result<(), Fault> {
        let mut places: Places = SmallVec::from_elem(0, self.sizes.len());
        places[self.role] = self.own;
        loop {
            visit(&places)?;
            let Some(role) = self.others().find(|&role| places[role] + 1 < self.sizes[role]) else {
                return Ok(());
            };
            self.others().take_while(|&r| r < role).for_each(|r| places[r] = 0);
            places[role] += 1;
        }
    }

    fn draw(&self, rng: &mut Rng) -> Places {
        let place = |role: usize| match role == self.role {
            true => self.own,
            false => rng.below(self.sizes[role] as usize) as u32,
        };
        (0..self.sizes.len()).map(place).collect()
    }
}

/// A bag with at most so many states: itself, or an even resampling of it.
fn at_most(bag: &[(NodeId, f64)], most: usize, rng: &mut Rng) -> Bag {
    if bag.len() <= most {
        return bag.into();
    }
    let weights: Vec<f64> = bag.iter().map(|(_, w)| *w).collect();
    let mut kept: Vec<(NodeId, f64)> = Vec::with_capacity(most);
    for n in systematic(&weights, most, rng) {
        match kept.last_mut() {
            Some((node, weight)) if *node == bag[n].0 => *weight += 1.0 / most as f64,
            _ => kept.push((bag[n].0, 1.0 / most as f64)),
        }
    }
    kept.into()
}

/// Systematic resampling: `n` picks at even distances along the weights, ascending.
pub(crate) fn systematic(weights: &[f64], n: usize, rng: &mut Rng) -> Vec<usize> {
    let total: f64 = weights.iter().sum();
    let distance = total / n as f64;
    let mut point = rng.unit() * distance;
    let (mut at, mut upto) = (0, weights.first().copied().unwrap_or(0.0));
    let mut picks = Vec::with_capacity(n);
    for _ in 0..n {
        while upto <= point && at + 1 < weights.len() {
            at += 1;
            upto += weights[at];
        }
        picks.push(at);
        point += distance;
    }
    picks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_are_in_proportion() {
        let mut counts = [0_u32; 3];
        for seed in 0..100 {
            for pick in systematic(&[0.5, 0.3, 0.2], 10, &mut Seed(seed).rng()) {
                counts[pick] += 1;
            }
        }
        assert_eq!(counts, [500, 300, 200]);
    }
}
