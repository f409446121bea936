//! Simulations in groups: descents that wait for each other where lanes can answer for all of them at once.

use super::situations::{NONE, Seat, SituationId, Turn};
use super::{IsMcts, Opponents, Rollout, Selection, SimulationRoot, USUAL_SIMULATIONS, deal};
use crate::atlas::NodeId;
use crate::ismcts::Backup;
use crate::views::{Everyone, ViewId};
use crate::wide::{Outlooks, Steps};
use game::limits::THINKING_ROUNDS;
use game::{Budget, Fault, GameEnds, MoveId, PacedStop, Rng, Seed, State};
use smallvec::SmallVec;

/// Simulations made together, at most: as many as there are lanes.
const MOST_TOGETHER: u64 = 256;
/// Playouts of a leaf for which idle lanes are used, at most.
const MOST_PLAYOUTS: usize = 8;
/// Situations of a decision, from which on no others are kept.
const MOST_SITUATIONS: usize = 1 << 20;
/// Descents between two looks at the stop flag.
const LOOK_EVERY: u32 = 16;
/// Descents that go down side by side.
const INTERLEAVED: usize = 16;

/// Situations that the caches of a processor hold, with what belongs to them.
const IN_CACHE: usize = 1 << 12;

/// A choice made on the way down.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    at: SituationId,
    view: ViewId,
    arm: u32,
    role: u16,
    /// Its probability, if the choice was mixed.
    chance: Option<f64>,
}

/// A descent that came to an edge whose end is not known.
#[derive(Clone, Copy)]
struct Edge {
    descent: usize,
    from: SituationId,
    number: u64,
    /// Whether some role makes its move for the first time: the descent ends there.
    last: bool,
}

/// A descent that is to be played out.
struct Leaf {
    descent: usize,
    state: State,
}

/// The descents of a group, and room for questions about many states.
#[derive(Default)]
pub(super) struct Descents {
    /// The choices of each descent.
    paths: Vec<Vec<Choice>>,
    /// Descents on their way: each with where it is.
    under_way: Vec<(usize, SituationId)>,
    edges: Vec<Edge>,
    /// The moves of all roles, edge after edge.
    joints: Vec<MoveId>,
    leaves: Vec<Leaf>,
    steps: Steps,
    outlooks: Outlooks,
    ends: GameEnds,
    /// The payoffs that are backed up, in 0..1.
    payoffs: Vec<f64>,
    /// The value that each role's next choice backs up in place of the payoff.
    gains: Vec<f64>,
}

impl Descents {
    /// Sets what is backed up next, for so many roles.
    #[inline(always)]
    fn set_payoffs(&mut self, n_roles: usize, payoffs: impl Iterator<Item = f64>) {
        self.payoffs.resize(n_roles, 0.0);
        self.gains.resize(n_roles, 0.0);
        let places = self.payoffs.iter_mut().zip(&mut self.gains);
        places
            .zip(payoffs)
            .for_each(|((payoff, gain), p)| (*payoff, *gain) = (p, p));
    }
}

/// How a descent goes on after a look at the situations known.
enum Progress {
    /// It goes on to a situation.
    To(SituationId),
    /// It has come to an end of the game.
    End(NodeId),
    /// It ends here, and play goes on.
    Leaf(SituationId),
    /// It needs to know what follows a joint move.
    Edge { from: SituationId, number: u64, last: bool },
}

impl IsMcts {
    pub(super) fn search(
        &mut self,
        roots: &[SimulationRoot],
        weights: &[f64],
        seed: Seed,
        budget: &Budget,
    ) -> Result<(), Fault> {
        let mut rng = seed.child("descents").rng();
        let simulations = match self.options.simulations {
            Some(n) => n,
            None if budget.timed => u64::MAX,
            None => USUAL_SIMULATIONS,
        };
        if let Some(minds) = &mut self.minds {
            minds.stop = budget.stop.clone();
        }
        self.situations = super::Situations::new(self.views.start().len());
        // What a search that failed has left behind.
        self.descents.edges.clear();
        self.descents.leaves.clear();
        let starts: Vec<SituationId> = roots
            .iter()
            .map(|root| {
                let node = self.atlas.node(root.node);
                let here = (root.node, node.state.clone());
                self.situations.add(here, &node.legal, &root.everyone, &root.minds)
            })
            .collect();
        let mut deck: Vec<usize> = Vec::new();
        let mut done = 0;
        while done < simulations && (done == 0 || !budget.stop.is_raised()) {
            let now = self.together(done).min(simulations - done);
            self.descents.under_way.clear();
            for descent in 0..now as usize {
                if deck.is_empty() {
                    deck = deal(weights, &mut rng);
                }
                let root = deck.pop().unwrap_or(0);
                self.descents.under_way.push((descent, starts[root]));
                match self.descents.paths.get_mut(descent) {
                    Some(path) => path.clear(),
                    None => self.descents.paths.push(Vec::new()),
                }
            }
            self.send(&mut rng, budget)?;
            self.value(seed.nth(done), budget)?;
            done += now;
        }
        Ok(())
    }

    /// Simulations to be made together.
    fn together(&self, done: u64) -> u64 {
        let lanes = self.believer.tools.playouts.is_some();
        match self.options.batch {
            0 if lanes => (done / 16).clamp(1, MOST_TOGETHER),
            0 => 1,
            n => n as u64,
        }
    }

    /// Sends the descents under way to their ends and leaves.
    fn send(&mut self, rng: &mut Rng, budget: &Budget) -> Result<(), Fault> {
        let group = self.descents.under_way.len() > 1;
        let stop = budget.stop.clone();
        let mut stop = PacedStop::new(&stop, LOOK_EVERY);
        while !self.descents.under_way.is_empty() {
            let under_way = std::mem::take(&mut self.descents.under_way);
            // Inner players take long: between two of them there is a look at the flag.
            let width = if self.minds.is_some() { 1 } else { INTERLEAVED };
            for some in under_way.chunks(width) {
                let mut walking: SmallVec<[(usize, SituationId); INTERLEAVED]> = SmallVec::new();
                for &(descent, at) in some {
                    if (group && stop.is_raised()) || (self.minds.is_some() && budget.stop.is_raised()) {
                        self.take_back(descent);
                    } else {
                        walking.push((descent, at));
                    }
                }
                self.walk(&mut walking, rng, budget)?;
            }
            self.descents.under_way = under_way;
            self.descents.under_way.clear();
            if !self.descents.edges.is_empty() {
                self.discover(rng, budget)?;
            }
        }
        Ok(())
    }

    /// Follows some descents through known situations, a step of each at a time: while one waits for memory, the others
    /// go on.
    fn walk(&mut self, walking: &mut [(usize, SituationId)], rng: &mut Rng, budget: &Budget) -> Result<(), Fault> {
        let mut left = walking.len();
        while left > 0 {
            if left > 1 && self.situations.len() > IN_CACHE {
                self.fetch(&walking[..left]);
            }
            let mut kept = 0;
            for number in 0..left {
                let (descent, at) = walking[number];
                match self.step(descent, at, rng)? {
                    Progress::To(kid) => {
                        walking[kept] = (descent, kid);
                        kept += 1;
                    }
                    Progress::End(node) => self.end(descent, node),
                    Progress::Leaf(at) => self.leave(descent, at, rng, budget)?,
                    Progress::Edge { from, number, last } => self.descents.edges.push(Edge {
                        descent,
                        from,
                        number,
                        last,
                    }),
                }
            }
            left = kept;
        }
        Ok(())
    }

    /// Reads what the next step of these descents needs, so that it is in the cache.
    fn fetch(&self, walking: &[(usize, SituationId)]) {
        let mut views: SmallVec<[ViewId; INTERLEAVED]> = SmallVec::new();
        let mut read = 0;
        for &(_, at) in walking {
            views.push(self.situations.get(at).chooser.view);
        }
        for &(_, at) in walking {
            read ^= self.situations.any_kid(self.situations.get(at));
        }
        let visits = |view: ViewId| {
            let arms = &self.views.get(view).arms;
            let ends = arms.first().zip(arms.last());
            ends.map_or(0, |(first, last)| first.visits ^ last.visits)
        };
        let touched = views.iter().map(|&view| visits(view));
        std::hint::black_box(touched.fold(read, |read, touched| read ^ touched));
    }

    /// The next step of a descent.
    #[inline(always)]
    fn step(&mut self, descent: usize, at: SituationId, rng: &mut Rng) -> Result<Progress, Fault> {
        let here = self.situations.get(at);
        let (number, last) = match here.turn {
            Turn::Over => return Ok(Progress::End(here.node)),
            Turn::One(role) => {
                let mixed = matches!(self.options.selection, Selection::Rm | Selection::Exp3);
                let (place, first) = self.pick(descent, at, here.chooser, usize::from(role), mixed, rng)?;
                (place as u64, first)
            }
            Turn::Many => self.pick_jointly(descent, at, rng)?,
        };
        Ok(match self.situations.kid(at, number) {
            NONE => Progress::Edge { from: at, number, last },
            kid if last => {
                let there = self.situations.get(kid);
                match there.turn {
                    Turn::Over => Progress::End(there.node),
                    _ => Progress::Leaf(kid),
                }
            }
            kid => Progress::To(kid),
        })
    }

    /// The number of the joint move of all roles, and whether some role makes its move for the first time.
    fn pick_jointly(&mut self, descent: usize, at: SituationId, rng: &mut Rng) -> Result<(u64, bool), Fault> {
        let n_roles = self.believer.tools.sim.roles().len();
        let choosing =
            (0..n_roles).filter(|&role| Some(role) != self.nature && self.situations.seat(at, role).width > 1);
        let mixed = match self.options.selection {
            Selection::Auto => choosing.count() > 1,
            Selection::Ucb => false,
            Selection::Rm | Selection::Exp3 => true,
        };
        let mut places: SmallVec<[u32; 4]> = SmallVec::new();
        let mut last = false;
        for role in 0..n_roles {
            let seat = *self.situations.seat(at, role);
            let (place, first) = self.pick(descent, at, seat, role, mixed, rng)?;
            places.push(place as u32);
            last |= first;
        }
        Ok((self.situations.number(at, &places), last))
    }

    /// The place of a role's move among its legal ones, and whether it makes the move for the first time at its view.
    #[inline(always)]
    fn pick(
        &mut self,
        descent: usize,
        at: SituationId,
        seat: Seat,
        role: usize,
        mixed: bool,
        rng: &mut Rng,
    ) -> Result<(usize, bool), Fault> {
        let tools = &mut self.believer.tools;
        let mine = role == usize::from(tools.role.0);
        if seat.width == 1 {
            return Ok((0, false));
        }
        if self.nature == Some(role) || (!mine && self.options.opponents == Opponents::Random) {
            return Ok((rng.below(seat.width as usize), false));
        }
        if let (false, Opponents::HyperPlay, Some(inner)) = (mine, self.options.opponents, &mut self.minds) {
            let node = self.situations.get(at).node;
            let place = inner.decide(tools, &mut self.atlas, role, seat.mind, node, rng)?;
            return Ok((place, false));
        }
        let (view, arms) = match self.situations.known_arms(&seat) {
            Some(arms) => (seat.view, arms),
            None => self.situations.arms(&mut self.views, at, role),
        };
        let table = self.views.get_mut(view);
        let (place, arm, chance, first) = table.select(arms, mixed, &self.options, self.square_roots, rng);
        self.descents.paths[descent].push(Choice {
            at,
            view,
            arm: arm as u32,
            role: role as u16,
            chance,
        });
        Ok((place, first))
    }

    /// Finds out what follows the joint moves that descents wait for, all at once. Descents that made a move for the
    /// first time become leaves; the others go on.
    fn discover(&mut self, rng: &mut Rng, budget: &Budget) -> Result<(), Fault> {
        let mut edges = std::mem::take(&mut self.descents.edges);
        let mut steps = std::mem::take(&mut self.descents.steps);
        let mut outlooks = std::mem::take(&mut self.descents.outlooks);
        let found = self.look_ahead(&edges, &mut steps, &mut outlooks);
        for (number, edge) in edges.drain(..).enumerate().filter(|_| found.is_ok()) {
            let known = self.situations.kid(edge.from, edge.number);
            let over = outlooks.over[number] || outlooks.legal(number).iter().any(Vec::is_empty);
            let plain = self.options.rollout == Rollout::Random;
            if known == NONE && !over && plain && (edge.last || self.situations.len() >= MOST_SITUATIONS) {
                self.descents.leaves.push(Leaf {
                    descent: edge.descent,
                    state: std::mem::take(&mut steps.states[number]),
                });
                continue;
            }
            let kid = match known {
                NONE => self.settle(edge, &mut steps, number, &outlooks)?,
                known => known,
            };
            match (over, edge.last) {
                (true, _) => self.end(edge.descent, self.situations.get(kid).node),
                (false, true) => self.leave(edge.descent, kid, rng, budget)?,
                (false, false) => self.descents.under_way.push((edge.descent, kid)),
            }
        }
        (self.descents.edges, self.descents.steps, self.descents.outlooks) = (edges, steps, outlooks);
        found
    }

    /// The states behind edges, what is perceived on the way, and what can be done there.
    fn look_ahead(&mut self, edges: &[Edge], steps: &mut Steps, outlooks: &mut Outlooks) -> Result<(), Fault> {
        let mut from: Vec<&State> = Vec::with_capacity(edges.len());
        self.descents.joints.clear();
        for edge in edges {
            from.push(self.situations.state(edge.from));
            self.situations
                .joint_move(edge.from, edge.number, &mut self.descents.joints);
        }
        self.believer.tools.steps(&from, &self.descents.joints, steps)?;
        self.atlas.touches += edges.len() as u64;
        self.atlas.computed += edges.len() as u64;
        let states: Vec<&State> = steps.states.iter().collect();
        self.believer.tools.look(&states, true, outlooks)
    }

    /// The situation behind an edge.
    fn settle(
        &mut self,
        edge: Edge,
        steps: &mut Steps,
        number: usize,
        outlooks: &Outlooks,
    ) -> Result<SituationId, Fault> {
        let state = std::mem::take(&mut steps.states[number]);
        let (over, legal) = (outlooks.over[number], outlooks.legal(number));
        let sim = self.believer.tools.sim.as_mut();
        let kid = if over || legal.iter().any(Vec::is_empty) {
            let node = self.atlas.insert(sim, state, over, legal)?;
            self.situations.add_end(node)
        } else {
            let node = match self.minds {
                Some(_) => self.atlas.insert(sim, state.clone(), over, legal)?,
                None => NodeId::NONE,
            };
            let (everyone, minds) = self.views_after(edge, steps, number);
            self.situations.add((node, state), legal, &everyone, &minds)
        };
        self.situations.set_kid(edge.from, edge.number, kid);
        Ok(kid)
    }

    /// The views of all roles behind an edge, and those of the inner players.
    fn views_after(&mut self, edge: Edge, steps: &Steps, number: usize) -> (Everyone, Everyone) {
        let n_roles = self.believer.tools.sim.roles().len();
        let own = &self.descents.joints[number * n_roles..(number + 1) * n_roles];
        let (mut everyone, mut minds) = (Everyone::new(), Everyone::new());
        let one_view = self.one_view();
        for (role, &mv) in own.iter().enumerate() {
            let whose = one_view.unwrap_or(role);
            let sees = self.atlas.intern(whose as u16, steps.sees(number, whose));
            let seat = self.situations.seat(edge.from, role);
            everyone.push(self.views.after(seat.view, own[whose], sees));
            if let Some(inner) = &mut self.minds {
                let sees = self.atlas.intern(role as u16, steps.sees(number, role));
                minds.push(inner.views.after(seat.mind, mv, sees));
            }
        }
        (everyone, minds)
    }

    /// A descent ends in a situation in which play goes on.
    fn leave(&mut self, descent: usize, at: SituationId, rng: &mut Rng, budget: &Budget) -> Result<(), Fault> {
        if self.options.rollout == Rollout::Random {
            let state = self.situations.state(at).clone();
            self.descents.leaves.push(Leaf { descent, state });
            return Ok(());
        }
        let node = self.situations.get(at).node;
        let minds = self.situations.minds(at);
        let leaf = self.play_on(node, minds, rng)?;
        if budget.stop.is_raised() {
            self.take_back(descent);
        } else if self.atlas.node(leaf).over {
            self.end(descent, leaf);
        } else {
            let state = self.atlas.node(leaf).state.clone();
            self.descents.leaves.push(Leaf { descent, state });
        }
        Ok(())
    }

    /// Plays from a leaf to the end, or to the limit of rounds, with the inner players of all roles.
    fn play_on(&mut self, leaf: NodeId, mut minds: Everyone, rng: &mut Rng) -> Result<NodeId, Fault> {
        let mut at = leaf;
        let Some(inner) = &mut self.minds else { return Ok(at) };
        for _ in 0..THINKING_ROUNDS {
            if self.atlas.node(at).over {
                break;
            }
            at = inner.play_round(&mut self.believer.tools, &mut self.atlas, at, &mut minds, None, rng)?;
        }
        Ok(at)
    }

    /// Plays out the leaves and backs up their payoffs.
    fn value(&mut self, seed: Seed, budget: &Budget) -> Result<(), Fault> {
        let leaves = std::mem::take(&mut self.descents.leaves);
        if leaves.is_empty() {
            return Ok(());
        }
        let mut ends = std::mem::take(&mut self.descents.ends);
        let tools = &mut self.believer.tools;
        let n_roles = tools.sim.roles().len();
        let lanes = tools.playouts.is_some() && tools.others.is_none();
        let room = if lanes {
            MOST_TOGETHER as usize / leaves.len()
        } else {
            1
        };
        let each = room.clamp(1, MOST_PLAYOUTS);
        let roots: Vec<&State> = leaves
            .iter()
            .flat_map(|leaf| std::iter::repeat_n(&leaf.state, each))
            .collect();
        tools.one_each(&roots, seed, &budget.stop, &mut ends)?;
        for (number, leaf) in leaves.iter().enumerate() {
            let games = (number * each..(number + 1) * each).filter_map(|game| ends.of(game));
            let finished = games.clone().count();
            if finished == 0 {
                self.take_back(leaf.descent);
                continue;
            }
            self.played += finished as u64;
            let mut points: SmallVec<[f64; 4]> = SmallVec::from_elem(0.0, n_roles);
            for game in games {
                points.iter_mut().zip(game).for_each(|(sum, &p)| *sum += f64::from(p));
            }
            let scale = 0.01 / finished as f64;
            self.descents.set_payoffs(n_roles, points.iter().map(|sum| sum * scale));
            self.back_up(leaf.descent);
        }
        self.descents.ends = ends;
        self.descents.leaves = leaves;
        self.descents.leaves.clear();
        Ok(())
    }

    /// Backs up the payoffs of an end of the game.
    fn end(&mut self, descent: usize, node: NodeId) {
        let points = &self.atlas.node(node).points[..];
        let payoffs = points.iter().map(|&p| f64::from(p) * 0.01);
        self.descents.set_payoffs(points.len(), payoffs);
        self.back_up(descent);
    }

    /// Backs up the payoffs that were set.
    fn back_up(&mut self, descent: usize) {
        let Descents {
            paths, payoffs, gains, ..
        } = &mut self.descents;
        for choice in paths[descent].iter().rev() {
            let role = usize::from(choice.role);
            if let Some(chance) = choice.chance {
                let (view, arms) = self.situations.arms(&mut self.views, choice.at, role);
                let table = self.views.get_mut(view);
                table.regret(choice.arm as usize, arms, payoffs[role], chance, self.options.selection);
            }
            let table = self.views.get_mut(choice.view);
            table.learn(choice.arm as usize, gains[role]);
            if self.options.backup == Backup::Best && !table.mixed {
                gains[role] = table.hand_up();
            }
        }
    }

    /// Undoes the visits of a descent whose leaf was not valued.
    fn take_back(&mut self, descent: usize) {
        for choice in &self.descents.paths[descent] {
            self.views.get_mut(choice.view).take_back(choice.arm as usize);
        }
    }
}
