//! The two questions of every sampler: which joint moves are possible in a state, and which of them give the percepts
//! that were seen?
//!
//! Both are asked for many states at a time, and answered in lanes where the engine has lanes. Answers and their order
//! are the same without lanes.

use crate::{Joint, Now, World};
use game::{Batch, Budget, Fault, LaneSet, MoveId, PerceptId, RoleId, Round, Seed, Simulator, State, StopFlag};
use smallvec::SmallVec;

/// How much of a round constrains histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Own move and percepts.
    Full,
    /// The own move, and percepts of which at most so many differ: seen and not explained, or explained and not seen.
    Near(usize),
    /// Only the own move.
    OwnMove,
    /// Nothing: any joint move is allowed.
    Nothing,
}

/// A round of the view as a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clue {
    pub own: MoveId,
    pub sees: Vec<PerceptId>,
    pub level: Level,
}

impl Clue {
    pub(crate) fn new(round: &Round) -> Clue {
        // What was not told is no constraint.
        let level = match (round.own, &round.sees[..]) {
            (MoveId::UNKNOWN, _) => Level::Nothing,
            (_, [PerceptId::UNKNOWN]) => Level::OwnMove,
            _ => Level::Full,
        };
        Clue {
            own: round.own,
            sees: round.sees.clone(),
            level,
        }
    }

    pub(crate) fn is_of(&self, round: &Round) -> bool {
        self.own == round.own && self.sees == round.sees
    }
}

/// The joint moves that a clue leaves open in a state, as a product of lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OpenMoves {
    moves: SmallVec<[SmallVec<[MoveId; 8]>; 3]>,
    /// Log of the number of legal moves of all other roles together.
    pub log_choice: f64,
}

impl OpenMoves {
    /// Number of joint moves; 0 if the game is over or the own move is not legal; `usize::MAX` if there are more.
    pub(crate) fn len(&self) -> usize {
        if self.moves.is_empty() {
            return 0;
        }
        self.moves.iter().map(|row| row.len()).fold(1, usize::saturating_mul)
    }

    /// The moves of a role.
    pub(crate) fn of(&self, role: RoleId) -> &[MoveId] {
        &self.moves[role.0 as usize]
    }

    /// A joint move by its number; the last role's move changes fastest. Where the joint moves are too many to be
    /// numbered, a number is the seed by which each role's move is drawn, so that every joint move can come up.
    pub(crate) fn joint(&self, number: usize) -> Joint {
        let places = self.places(number);
        let moves = self.moves.iter().zip(places);
        moves.map(|(row, at)| row[at as usize]).collect()
    }

    /// The places of a joint move's moves among those of each role, by its number.
    pub(crate) fn places(&self, mut number: usize) -> SmallVec<[u32; 4]> {
        if self.len() == usize::MAX {
            let mut rng = Seed(number as u64).rng();
            return self.moves.iter().map(|row| rng.below(row.len()) as u32).collect();
        }
        let mut places: SmallVec<[u32; 4]> = SmallVec::from_elem(0, self.moves.len());
        for (at, row) in places.iter_mut().zip(&self.moves).rev() {
            *at = (number % row.len()) as u32;
            number /= row.len();
        }
        places
    }

    fn close(&mut self, role: RoleId, clue: &Clue) {
        let own = role.0 as usize;
        let others = self.moves.iter().enumerate().filter(|(r, _)| *r != own);
        self.log_choice = others.map(|(_, row)| (row.len() as f64).ln()).sum();
        if clue.level != Level::Nothing {
            let legal = self.moves[own].contains(&clue.own);
            self.moves[own].clear();
            if legal {
                self.moves[own].push(clue.own);
            }
        }
        if self.len() == 0 {
            *self = OpenMoves::default();
        }
    }
}

/// Candidates tested between two looks at the stop flag on lanes: as many as the widest lanes hold.
pub(crate) const PORTION: usize = 256;

/// Candidates between two looks at the stop flag where they are tested one by one.
const SCALAR_PORTION: usize = 16;

/// Portions that may be tried after all of the time is up while nothing has been found.
const GRACE: u32 = 4;

/// Candidates in a search for percepts that nearly agree.
const NEAR_TRIES: usize = 4_096;

/// One update in progress: the rules, the role, the work done and the budget.
pub(crate) struct Work<'a, 'w> {
    pub role: RoleId,
    pub now: Now,
    pub touches: u64,
    pub budget: Budget,
    /// Whether constraints are being relaxed: the budget is then unlimited, and the first answer after the end of the
    /// time is taken.
    pub relaxing: bool,
    /// The flag of the budget that was given.
    time: StopFlag,
    /// Portions that are left after the end of the time.
    grace: u32,
    /// Portions that are left in any case.
    portions: u32,
    world: &'a mut World<'w>,
}

impl<'a, 'w> Work<'a, 'w> {
    pub(crate) fn new(world: &'a mut World<'w>, role: RoleId, now: Now, budget: &Budget) -> Self {
        Work {
            role,
            now,
            touches: 0,
            budget: budget.clone(),
            relaxing: false,
            time: budget.stop.clone(),
            grace: GRACE,
            portions: u32::MAX,
            world,
        }
    }

    pub(crate) fn sim(&mut self) -> &mut dyn Simulator {
        self.world.sim
    }

    pub(crate) fn on_lanes(&self) -> bool {
        self.world.batch.is_some()
    }

    /// Candidates to test between two looks at the stop flag.
    pub(crate) fn portion(&self) -> usize {
        if self.on_lanes() { PORTION } else { SCALAR_PORTION }
    }

    /// Whether the budget is used up.
    pub(crate) fn is_out(&self) -> bool {
        !self.budget.allows(self.touches)
    }

    /// Whether time has run out, so that the first answer is taken.
    pub(crate) fn is_late(&self) -> bool {
        self.time.is_raised()
    }

    /// Whether the search for an answer has to end now: at the first answer once time has run out, and without one a
    /// bounded number of portions after the latest time. Asked once a portion.
    pub(crate) fn must_end(&mut self, found: bool) -> bool {
        if self.portions == 0 {
            return true;
        }
        if self.portions != u32::MAX {
            self.portions -= 1;
        }
        if !self.is_late() || !(found || self.relaxing || self.budget.latest.is_raised()) {
            return false;
        }
        let end = found || self.grace == 0;
        self.grace = self.grace.saturating_sub(1);
        end
    }

    /// Lets a search with relaxed constraints try some portions, even if it begins after the time was up.
    pub(crate) fn renew_grace(&mut self, level: Level) {
        self.grace = GRACE;
        self.portions = match level {
            Level::Near(_) => (NEAR_TRIES / self.portion()) as u32,
            _ => u32::MAX,
        };
    }

    /// Successor states computed by the engines so far.
    pub(crate) fn successors(&self) -> u64 {
        let batch = self.world.batch.as_ref().map_or(0, |b| b.meter().states);
        self.world.sim.meter().states + batch
    }

    /// The joint moves that a clue leaves open, for each state.
    pub(crate) fn fans(&mut self, states: &[&State], clue: &Clue) -> Result<Vec<OpenMoves>, Fault> {
        let n_roles = self.world.sim.roles().len();
        let mut fans = Vec::with_capacity(states.len());
        match &mut self.world.batch {
            Some(batch) => {
                for group in states.chunks(batch.width()) {
                    batch_fans(&mut **batch, group, n_roles, &mut fans)?;
                }
            }
            None => {
                for state in states {
                    fans.push(scalar_fan(self.world.sim, state, n_roles)?);
                }
            }
        }
        let open = fans.iter_mut().filter(|fan| !fan.moves.is_empty());
        open.for_each(|fan| fan.close(self.role, clue));
        Ok(fans)
    }

    /// Tries joint moves. `each` gets the number and successor of every candidate that agrees with the clue. A
    /// candidate is the number of its parent and a joint move. The caller counts the nodes touched.
    pub(crate) fn try_all(
        &mut self,
        parents: &[&State],
        candidates: &[(u32, Joint)],
        clue: &Clue,
        each: &mut dyn FnMut(usize, State),
    ) -> Result<(), Fault> {
        match &mut self.world.batch {
            Some(batch) => {
                let mut done = 0;
                for group in candidates.chunks(batch.width()) {
                    batch_try(&mut **batch, self.role, parents, group, clue, &mut |n, state| {
                        each(done + n, state)
                    })?;
                    done += group.len();
                }
            }
            None => {
                for (number, (parent, joint)) in candidates.iter().enumerate() {
                    let parent = parents[*parent as usize];
                    if let Some(state) = scalar_try(self.world.sim, self.role, parent, joint, clue)? {
                        each(number, state);
                    }
                }
            }
        }
        Ok(())
    }

    /// For each state, whether it agrees with [`Now`].
    pub(crate) fn fits_now(&mut self, states: &[&State]) -> Result<Vec<bool>, Fault> {
        if self.now == Now::Unknown {
            return Ok(vec![true; states.len()]);
        }
        let over = self.now == Now::Over;
        let mut fits = Vec::with_capacity(states.len());
        match &mut self.world.batch {
            Some(batch) => {
                for group in states.chunks(batch.width()) {
                    batch.load(group)?;
                    let terminal = batch.eval()?;
                    fits.extend((0..group.len()).map(|lane| terminal.get(lane) == over));
                }
            }
            None => {
                for state in states {
                    fits.push(self.world.sim.terminal(state)? == over);
                }
            }
        }
        Ok(fits)
    }
}

fn batch_fans(batch: &mut dyn Batch, states: &[&State], n_roles: usize, out: &mut Vec<OpenMoves>) -> Result<(), Fault> {
    batch.load(states)?;
    let terminal = batch.eval()?;
    let first = out.len();
    for lane in 0..states.len() {
        let mut fan = OpenMoves::default();
        if !terminal.get(lane) {
            fan.moves.resize(n_roles, SmallVec::new());
        }
        out.push(fan);
    }
    let fans = &mut out[first..];
    let here = LaneSet::first(states.len());
    for role in 0..n_roles {
        batch.legal(RoleId(role as u16), &mut |mv, lanes| {
            for lane in lanes.and(here).lanes() {
                if let Some(row) = fans[lane].moves.get_mut(role) {
                    row.push(mv);
                }
            }
        })?;
    }
    Ok(())
}

fn scalar_fan(sim: &mut dyn Simulator, state: &State, n_roles: usize) -> Result<OpenMoves, Fault> {
    let mut fan = OpenMoves::default();
    if sim.terminal(state)? {
        return Ok(fan);
    }
    let mut legal = Vec::new();
    for role in 0..n_roles {
        sim.legal(state, RoleId(role as u16), &mut legal)?;
        fan.moves.push(SmallVec::from_slice(&legal));
    }
    Ok(fan)
}

fn batch_try(
    batch: &mut dyn Batch,
    role: RoleId,
    parents: &[&State],
    candidates: &[(u32, Joint)],
    clue: &Clue,
    each: &mut dyn FnMut(usize, State),
) -> Result<(), Fault> {
    let states: SmallVec<[&State; 256]> = candidates.iter().map(|(p, _)| parents[*p as usize]).collect();
    batch.load(&states)?;
    let mut moves: SmallVec<[MoveId; 256]> = SmallVec::new();
    for other in 0..candidates[0].1.len() {
        moves.clear();
        moves.extend(candidates.iter().map(|(_, joint)| joint[other]));
        batch.force(RoleId(other as u16), &moves)?;
    }
    let mut agree = LaneSet::first(candidates.len());
    match clue.level {
        Level::Full => agree = batch.agree(role, &clue.sees, agree)?,
        Level::Near(most) => agree = batch_near(batch, role, &clue.sees, most, candidates.len())?,
        Level::OwnMove | Level::Nothing => {}
    }
    let mut successors = Vec::new();
    batch.successors(agree, &mut successors)?;
    agree
        .lanes()
        .zip(successors)
        .for_each(|(lane, state)| each(lane, state));
    Ok(())
}

/// The lanes in which at most so many percepts differ from those that were seen.
fn batch_near(
    batch: &mut dyn Batch,
    role: RoleId,
    sees: &[PerceptId],
    most: usize,
    n: usize,
) -> Result<LaneSet, Fault> {
    let here = LaneSet::first(n);
    let mut differ = vec![sees.len(); n];
    batch.percepts(role, &mut |percept, lanes| {
        let seen = sees.contains(&percept);
        for lane in lanes.and(here).lanes() {
            if seen {
                differ[lane] -= 1;
            } else {
                differ[lane] += 1;
            }
        }
    })?;
    let mut near = LaneSet::default();
    (0..n)
        .filter(|&lane| differ[lane] <= most)
        .for_each(|lane| near.insert(lane));
    Ok(near)
}

fn scalar_try(
    sim: &mut dyn Simulator,
    role: RoleId,
    parent: &State,
    joint: &Joint,
    clue: &Clue,
) -> Result<Option<State>, Fault> {
    let most = match clue.level {
        Level::Full => Some(0),
        Level::Near(most) => Some(most),
        Level::OwnMove | Level::Nothing => None,
    };
    if let Some(most) = most {
        let mut seen = Vec::new();
        sim.percepts(parent, joint, role, &mut seen)?;
        let both = seen.iter().filter(|p| clue.sees.contains(p)).count();
        if seen.len() + clue.sees.len() - 2 * both > most {
            return Ok(None);
        }
    }
    sim.next(parent, joint).map(Some)
}
