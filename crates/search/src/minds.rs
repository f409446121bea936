//! Inner players: the moves of each role if it were a HyperPlay player that knows only its own view.
//!
//! HyperPlay-II (Schofield and Thielscher 2015, 2016) plays its simulations with such players for every role but
//! nature. Their choice depends on the view alone, so it is computed once for each view and cached.
//!
//! Where we differ from the papers: an inner bag is not sampled by backtracking. It is the bag of the round before,
//! advanced by one round: exactly while it fits its limit, and by unbiased resampling where it does not. So a
//! simulation carries its bags along and never starts again from the first round.

use crate::Tools;
use crate::atlas::{Atlas, Edge, NodeId, Places};
use crate::flat::{Guess, PlayoutPlan, repeats, worths};
use crate::perfect::Worth;
use crate::pieces::drop_aside;
use crate::pruning::{Pruning, prune_and_weigh};
use crate::value_table::{Sample, ValueTable};
use crate::views::{Everyone, Last, ViewId, Views};
use game::limits::THINKING_ROUNDS;
use game::{Budget, Fault, MoveId, Rng, RoleId, Seed, Simulator, StopFlag};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// How inner players think.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InnerOptions {
    /// States in the bag of an inner player when it values its moves.
    pub models: usize,
    /// Playouts for each move in each of these states.
    pub playouts: u64,
    /// Level of nesting; 1 for HyperPlay players. A player of level n values its moves by simulations with players of
    /// level n - 1. Only in games with one role besides nature; in others the level is 1.
    pub levels: u32,
    /// Pruning of simulations and of inner playouts.
    pub pruning: Pruning,
}

/// An inner player at one view: the states it holds possible and the moves it chooses.
#[derive(Default)]
pub(crate) struct Mind {
    bag: Option<Bag>,
    /// The moves it chooses among, by level, the lowest first.
    choices: SmallVec<[Option<PreferredMoves>; 1]>,
}

/// Moves whose values an inner player cannot tell apart; one of them is drawn.
type PreferredMoves = SmallVec<[MoveId; 1]>;

/// States held possible with their probabilities, in the order of their numbers; empty if no state explains the view.
pub(crate) type Bag = Arc<[(NodeId, f64)]>;

/// The inner players of all roles at all views visited so far.
pub(crate) struct Minds {
    pub views: Views<Mind>,
    options: InnerOptions,
    seed: Seed,
    /// Once it is raised, inner players move at random and simulations end at once; these are not counted.
    pub stop: StopFlag,
}

/// States a bag may hold, unless more models are asked for.
const BAG: usize = 256;
/// Joint moves tried for one round of one bag; if there are more, this many are drawn.
const TRIES: usize = 4_096;

impl Minds {
    pub(crate) fn new(sim: &dyn Simulator, options: InnerOptions, seed: Seed) -> Minds {
        let n_roles = sim.roles().len();
        let alone = n_roles - usize::from(sim.nature().is_some()) == 1;
        let levels = if alone { options.levels.max(1) } else { 1 };
        Minds {
            views: Views::new(n_roles),
            options: InnerOptions { levels, ..options },
            seed,
            stop: StopFlag::default(),
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        let n_roles = self.views.start().len();
        let size = self.views.len();
        drop_aside(std::mem::replace(&mut self.views, Views::new(n_roles)), size);
    }

    /// Views of roles that know the state and nothing of the past.
    pub(crate) fn without_past(&mut self, node: NodeId) -> Everyone {
        let n_roles = self.views.start().len();
        let everyone: Everyone = (0..n_roles).map(|_| self.views.fresh()).collect();
        for &view in &everyone {
            self.views.get_mut(view).bag = Some(Arc::new([(node, 1.0)]));
        }
        everyone
    }

    /// The move of a role at a view, in the state of the simulation. The move is legal there: a choice that is illegal
    /// in this state, or the choice of a role whose bag is empty, is replaced by a random move, as a referee would do.
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
        if self.stop.is_raised() {
            return Ok(rng.below(n_moves));
        }
        let choice = self.choice(tools, atlas, role, view, self.options.levels)?;
        if choice.is_empty() {
            return Ok(rng.below(n_moves));
        }
        let mv = if choice.len() == 1 {
            choice[0]
        } else {
            *rng.pick(&choice)
        };
        let place = atlas.node(at).place(role, mv);
        Ok(place.unwrap_or_else(|| rng.below(n_moves)))
    }

    /// One round in which every role but nature moves as an inner player; a move of `tools.role` may be forced. Returns
    /// the next state.
    pub(crate) fn play_round(
        &mut self,
        tools: &mut Tools,
        atlas: &mut Atlas,
        at: NodeId,
        everyone: &mut Everyone,
        forced: Option<MoveId>,
        rng: &mut Rng,
    ) -> Result<NodeId, Fault> {
        let (me, nature) = (tools.role, tools.sim.nature());
        let mut places = Places::new();
        for (role, &view) in everyone.iter().enumerate() {
            let id = RoleId(role as u16);
            let forced = forced.filter(|_| id == me);
            let place = match forced.and_then(|mv| atlas.node(at).place(role, mv)) {
                Some(place) => place,
                None if Some(id) == nature => rng.below(atlas.node(at).legal[role].len()),
                None => self.decide(tools, atlas, role, view, at, rng)?,
            };
            places.push(place as u32);
        }
        let edge = atlas.step(tools.sim.as_mut(), at, &places)?;
        self.advance(atlas, at, &places, &edge, everyone);
        Ok(edge.to)
    }

    /// Updates the views of all roles after a joint move.
    pub(crate) fn advance(&mut self, atlas: &Atlas, at: NodeId, places: &Places, edge: &Edge, everyone: &mut Everyone) {
        let legal = &atlas.node(at).legal;
        for (role, view) in everyone.iter_mut().enumerate() {
            *view = self
                .views
                .after(*view, legal[role][places[role] as usize], edge.sees[role]);
        }
    }

    /// The choice of a player of some level at a view; empty if its bag is empty.
    fn choice(
        &mut self,
        tools: &mut Tools,
        atlas: &mut Atlas,
        role: usize,
        view: ViewId,
        level: u32,
    ) -> Result<PreferredMoves, Fault> {
        let at = level as usize - 1;
        if let Some(Some(choice)) = self.views.get(view).choices.get(at) {
            return Ok(choice.clone());
        }
        let worths = match level {
            1 => self.choose(tools, atlas, role, view)?,
            _ => self.choose_by_nesting(tools, atlas, role, view, level)?,
        };
        let choice = best_of(&worths, role != usize::from(tools.role.0));
        if self.stop.is_raised() {
            return Ok(choice);
        }
        let choices = &mut self.views.get_mut(view).choices;
        choices.resize(choices.len().max(at + 1), None);
        choices[at] = Some(choice.clone());
        Ok(choice)
    }

    /// Values the moves at a view by simulations with players of the level below.
    fn choose_by_nesting(
        &mut self,
        tools: &mut Tools,
        atlas: &mut Atlas,
        role: usize,
        view: ViewId,
        level: u32,
    ) -> Result<Vec<Worth>, Fault> {
        let bag = self.bag(tools, atlas, role, view)?;
        let seed = self.seed.child("nest").nth(u64::from(level)).nth(u64::from(view.0));
        let mut rng = seed.rng();
        let bag = at_most(&bag, self.options.models, &mut rng);
        let legal: Vec<&[MoveId]> = bag.iter().map(|(node, _)| &*atlas.node(*node).legal[role]).collect();
        if bag.is_empty() {
            return Ok(Vec::new());
        }
        let mut table =
            ValueTable::new(bag.iter().map(|(_, w)| *w).collect(), &legal).ok_or_else(|| Fault::no_move(None))?;
        let moves = table.moves().to_vec();
        let was = std::mem::replace(&mut self.options.levels, level - 1);
        for _ in 0..self.options.playouts * repeats(self.options.models, bag.len()) {
            for (model, &(node, _)) in bag.iter().enumerate() {
                for (mv, &first) in moves.iter().enumerate().filter(|_| moves.len() > 1) {
                    if table.is_legal(mv, model) && !self.stop.is_raised() {
                        let sample = self.simulate(tools, atlas, role, view, node, first, &mut rng)?;
                        table.add(mv, model, sample, 1.0);
                    }
                }
            }
        }
        self.options.levels = was;
        Ok(table.worths(&table.ranking(seed)))
    }

    /// Plays a game from a state on, beginning with a move, in which the only role besides nature plays at the present
    /// level.
    #[expect(clippy::too_many_arguments, reason = "where, who, what and by which dice")]
    fn simulate(
        &mut self,
        tools: &mut Tools,
        atlas: &mut Atlas,
        role: usize,
        view: ViewId,
        from: NodeId,
        first: MoveId,
        rng: &mut Rng,
    ) -> Result<Sample, Fault> {
        let mut everyone = self.views.start();
        everyone[role] = view;
        let (mut at, mut rounds) = (from, 0);
        while !atlas.node(at).over && rounds < THINKING_ROUNDS as u64 && !self.stop.is_raised() {
            let forced = (rounds == 0).then_some(first);
            at = self.play_round(tools, atlas, at, &mut everyone, forced, rng)?;
            rounds += 1;
        }
        let points = atlas.node(at).points.get(role).copied().unwrap_or(0);
        Ok(Sample { points, rounds })
    }

    fn choose(&mut self, tools: &mut Tools, atlas: &mut Atlas, role: usize, view: ViewId) -> Result<Vec<Worth>, Fault> {
        let bag = self.bag(tools, atlas, role, view)?;
        let seed = self.seed.child("choose").nth(u64::from(view.0));
        let bag = at_most(&bag, self.options.models, &mut seed.child("models").rng());
        if bag.is_empty() {
            return Ok(Vec::new());
        }
        let guess = |&(node, weight): &(NodeId, f64)| Guess {
            state: atlas.node(node).state.clone(),
            weight,
        };
        let guesses: Vec<Guess> = bag.iter().map(guess).collect();
        let plan = PlayoutPlan {
            playouts: self.options.playouts * repeats(self.options.models, guesses.len()),
            seed,
        };
        let me = std::mem::replace(&mut tools.role, RoleId(role as u16));
        let chosen = if self.options.pruning == Pruning::default() {
            worths(tools, &guesses, plan, &Budget::until(self.stop.clone()))
        } else {
            prune_and_weigh(tools, &guesses, plan, self.options.pruning, &self.stop)
        };
        tools.role = me;
        chosen
    }

    /// The states that a role holds possible at a view: the bag of the round before, advanced by one round.
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
            // An incomplete bag is not cached.
            if !self.stop.is_raised() {
                self.views.get_mut(view).bag = Some(bag.clone());
            }
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
        let fans: Vec<Option<JointChoices>> = bag
            .iter()
            .map(|(n, _)| JointChoices::new(atlas, *n, role, last.own))
            .collect();
        let total: f64 = fans.iter().flatten().map(JointChoices::len).sum();
        let mut mass: FxHashMap<NodeId, f64> = FxHashMap::default();
        let mut try_one = |node: NodeId, places: &Places, brings: f64| -> Result<(), Fault> {
            if self.stop.is_raised() {
                return Ok(());
            }
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

/// The best moves. For our own role it is one move, since we can keep to it. For another role it is every move whose
/// value differs from the best by no more than the error: its preference is unknown, and a fixed choice would be taken
/// for knowledge.
fn best_of(worths: &[Worth], of_another: bool) -> PreferredMoves {
    let Some(best) = worths.first() else {
        return PreferredMoves::new();
    };
    let tied = worths.iter().take_while(|w| best.mean - w.mean <= best.stderr + 1e-9);
    let n = if of_another { worths.len() } else { 1 };
    tied.take(n).map(|w| w.mv).collect()
}

/// The joint moves of a state with one role's move given.
struct JointChoices {
    role: usize,
    own: u32,
    sizes: SmallVec<[u32; 4]>,
}

impl JointChoices {
    /// None if the move is not legal.
    fn new(atlas: &Atlas, at: NodeId, role: usize, own: MoveId) -> Option<JointChoices> {
        let node = atlas.node(at);
        Some(JointChoices {
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

/// A bag with at most so many states: itself, or a systematic resample with equal weights.
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
