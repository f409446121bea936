//! Flat Monte Carlo over weighted states: the value of a move is the mean payoff of random games that begin with it.
//!
//! With one state this is the perfect-information player `mc`. With the models of a belief it is the move choice of
//! HyperPlay (Schofield, Cerexhe and Thielscher 2012): the expectation over models, where a move that is illegal in a
//! model counts zero.

use crate::Tools;
use crate::perfect::{Insight, Worth, decision, no_move};
use crate::value_table::ValueTable;
use game::{Budget, Decision, Fault, MoveId, Rng, RoleId, RootTotals, Seed, State};
use std::collections::BTreeMap;

/// A state that may be the true one, with its weight; weights need not sum to one.
#[derive(Clone, Debug)]
pub struct Guess {
    /// The state.
    pub state: State,
    /// Its weight.
    pub weight: f64,
}

/// Size and seed of a flat Monte Carlo search.
#[derive(Clone, Copy, Debug)]
pub struct PlayoutPlan {
    /// Random games for each move in each state.
    pub playouts: u64,
    /// Seed of the playouts and of tie-breaks.
    pub seed: Seed,
}

/// The factor by which the playouts of a state are multiplied when so many models lead to so few distinct states.
pub(crate) fn repeats(models: usize, distinct: usize) -> u64 {
    models.div_ceil(distinct.max(1)) as u64
}

/// Flat Monte Carlo in one state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flat {
    /// Playouts for each legal move; if not given, as many as there is time for.
    pub playouts: Option<u64>,
}

/// Playouts for each legal move if neither a number nor a time is given.
pub const USUAL_PLAYOUTS: u64 = 100;

impl Insight for Flat {
    fn value(&mut self, tools: &mut Tools, state: &State, seed: Seed, budget: &Budget) -> Result<Vec<Worth>, Fault> {
        let guess = Guess {
            state: state.clone(),
            weight: 1.0,
        };
        let plan = PlayoutPlan {
            playouts: budget.count(self.playouts, USUAL_PLAYOUTS),
            seed,
        };
        worths(tools, &[guess], plan, budget)
    }

    /// Where one role has a choice it makes the move with the highest mean, and the games after that move count for all
    /// roles; elsewhere nobody chooses, and random games from the state count.
    fn payoffs(&mut self, tools: &mut Tools, state: &State, seed: Seed, budget: &Budget) -> Result<Vec<f64>, Fault> {
        let playouts = budget.count(self.playouts, USUAL_PLAYOUTS);
        let (me, nature, n_roles) = (tools.role, tools.sim.nature(), tools.sim.roles().len());
        let mut choosing = Vec::new();
        for role in (0..n_roles).map(|r| RoleId(r as u16)).filter(|r| Some(*r) != nature) {
            let legal = tools.legal(state, role)?;
            if legal.len() > 1 {
                choosing.push((role, legal));
            }
        }
        let [(mover, legal)] = &choosing[..] else {
            let totals = tools.play_out(std::slice::from_ref(state), playouts, seed, &budget.stop)?;
            return Ok(means(&totals, n_roles));
        };
        let mut best: Option<Vec<f64>> = None;
        for (number, &mv) in (0..).zip(legal) {
            tools.role = *mover;
            let after = games_after(tools, state, mv, playouts, seed.nth(number), budget);
            tools.role = me;
            let after = means(&after?, n_roles);
            let of_mover = |payoffs: &[f64]| payoffs[usize::from(mover.0)];
            if best.as_ref().is_none_or(|best| of_mover(&after) > of_mover(best)) {
                best = Some(after);
            }
        }
        Ok(best.unwrap_or_else(|| vec![0.0; n_roles]))
    }

    fn name(&self) -> &'static str {
        "mc"
    }
}

/// Random games that are run together: enough to fill the lanes, few enough to stop in time.
const CHUNK: usize = 8_192;

/// Values every legal move over the guesses, best first. Ties are broken by the seed.
pub fn weigh(tools: &mut Tools, guesses: &[Guess], plan: PlayoutPlan, budget: &Budget) -> Result<Decision, Fault> {
    let worths = worths(tools, guesses, plan, budget)?;
    Ok(decision(tools, worths))
}

/// The same, with moves as numbers.
pub(crate) fn worths(
    tools: &mut Tools,
    guesses: &[Guess],
    plan: PlayoutPlan,
    budget: &Budget,
) -> Result<Vec<Worth>, Fault> {
    let mut playing = FlatSearch {
        table: table(tools, guesses, budget)?,
        guesses,
        budget,
    };
    if playing.table.n_moves() > 1 {
        playing.play(tools, plan)?;
    }
    Ok(playing.table.worths_by_mean(plan.seed))
}

/// A flat Monte Carlo search: random games for every cell of a value table.
struct FlatSearch<'a> {
    table: ValueTable,
    guesses: &'a [Guess],
    budget: &'a Budget,
}

/// A table for the guesses. Guesses that there is no time to look at are left out.
fn table(tools: &mut Tools, guesses: &[Guess], budget: &Budget) -> Result<ValueTable, Fault> {
    let mut legal = Vec::with_capacity(guesses.len());
    for (number, guess) in guesses.iter().enumerate() {
        if number > 0 && budget.stop.is_raised() {
            break;
        }
        legal.push(tools.legal(&guess.state, tools.role)?);
    }
    let weights = guesses[..legal.len()].iter().map(|guess| guess.weight).collect();
    ValueTable::new(weights, &legal).ok_or_else(|| no_move(tools))
}

impl FlatSearch<'_> {
    /// Plays in chunks, a few games of every cell at a time, so that an early end leaves all moves equally well known.
    fn play(&mut self, tools: &mut Tools, plan: PlayoutPlan) -> Result<(), Fault> {
        let share = (CHUNK / self.table.n_legal().max(1)).clamp(1, 64) as u64;
        let mut done = 0;
        let mut pass = 0;
        while done < plan.playouts && (pass == 0 || !self.budget.stop.is_raised()) {
            // Under a clock the first passes are short, so that every cell has some games before any cell has many.
            let share = match self.budget.timed {
                true => share.min(1 << pass.min(6)),
                false => share,
            };
            let now = share.min(plan.playouts - done);
            self.pass(tools, now, plan.seed.child("playouts").nth(pass))?;
            done += now;
            pass += 1;
        }
        if self.budget.stop.is_raised() {
            self.table.keep_complete();
        }
        Ok(())
    }

    /// `n` games for every cell.
    fn pass(&mut self, tools: &mut Tools, n: u64, seed: Seed) -> Result<(), Fault> {
        let stop = &self.budget.stop;
        let mut roots: Vec<State> = Vec::new();
        let mut owners: Vec<(usize, usize, u64)> = Vec::new();
        let mut rng = seed.child("others").rng();
        for (row, &mv) in self.table.moves().iter().enumerate() {
            for column in (0..self.table.n_models()).filter(|&column| self.table.is_legal(row, column)) {
                if stop.is_raised() {
                    break;
                }
                let states = successors(tools, &self.guesses[column].state, mv, n, &mut rng)?;
                let games = n / states.len() as u64;
                owners.extend(states.iter().map(|_| (row, column, games)));
                roots.extend(states);
            }
        }
        // Cells with one successor play all their games from it; the others have one root for each game.
        let sizes = if n == 1 { &[1][..] } else { &[n, 1] };
        for &games in sizes {
            let chosen: Vec<usize> = (0..roots.len()).filter(|&i| owners[i].2 == games).collect();
            let states: Vec<State> = chosen.iter().map(|&i| roots[i].clone()).collect();
            let totals = tools.play_out(&states, games, seed.nth(games), stop)?;
            for (&i, total) in chosen.iter().zip(&totals) {
                let (row, column, _) = owners[i];
                let points = total.points[tools.role.0 as usize];
                self.table.add_playouts(row, column, total.playouts, points);
            }
        }
        Ok(())
    }
}

/// Random games after a move, the others moving at random, a group at a time: what the groups came to.
fn games_after(
    tools: &mut Tools,
    state: &State,
    mv: MoveId,
    playouts: u64,
    seed: Seed,
    budget: &Budget,
) -> Result<Vec<RootTotals>, Fault> {
    const GROUP: u64 = 1 << 12;
    let mut sum: Option<RootTotals> = None;
    for first in (0..playouts).step_by(GROUP as usize) {
        let seed = seed.nth(first);
        let games = GROUP.min(playouts - first);
        // One game from each root: the others may have moved differently in each.
        let states = successors(tools, state, mv, games, &mut seed.child("others").rng())?;
        let per_root = games / states.len() as u64;
        for totals in tools.play_out(&states, per_root, seed, &budget.stop)? {
            match &mut sum {
                None => sum = Some(totals),
                Some(sum) => {
                    sum.playouts += totals.playouts;
                    sum.points
                        .iter_mut()
                        .zip(&totals.points)
                        .for_each(|(all, new)| *all += new);
                }
            }
        }
        if budget.stop.is_raised() {
            break;
        }
    }
    Ok(sum.into_iter().collect())
}

/// Mean payoffs of all roles.
fn means(totals: &[RootTotals], n_roles: usize) -> Vec<f64> {
    let games = totals.iter().map(|t| t.playouts).sum::<u64>().max(1) as f64;
    let mean = |role: usize| totals.iter().map(|t| t.points[role]).sum::<u64>() as f64 / games;
    (0..n_roles).map(mean).collect()
}

/// States after our move and random moves of the others: one for each of `n` games, or a single one if the others have
/// no choice.
fn successors(tools: &mut Tools, state: &State, mv: MoveId, n: u64, rng: &mut Rng) -> Result<Vec<State>, Fault> {
    let n_roles = tools.sim.roles().len();
    let mut options = Vec::with_capacity(n_roles);
    for role in (0..n_roles).map(|r| RoleId(r as u16)) {
        options.push(if role == tools.role {
            vec![mv]
        } else {
            tools.legal(state, role)?
        });
    }
    if options.iter().any(Vec::is_empty) {
        return Err(Fault::no_move(None));
    }
    let forced = options.iter().all(|o| o.len() == 1);
    let games = if forced { 1 } else { n };
    let mut known: BTreeMap<Vec<MoveId>, State> = BTreeMap::new();
    let mut states = Vec::with_capacity(games as usize);
    for _ in 0..games {
        let joint: Vec<MoveId> = options.iter().map(|o| *rng.pick(o)).collect();
        if let Some(next) = known.get(&joint) {
            states.push(next.clone());
            continue;
        }
        let next = tools.sim.next(state, &joint)?;
        known.insert(joint, next.clone());
        states.push(next);
    }
    Ok(states)
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::{Meter, Playouts, RootTotals, StopFlag};

    /// Playouts that are worth what a list says, root by root. The clock runs out where the list ends.
    struct Scripted {
        points: Vec<u64>,
        stop: StopFlag,
    }

    impl Playouts for Scripted {
        fn playouts(
            &mut self,
            roots: &[State],
            per_root: u64,
            _: Seed,
            _: &StopFlag,
        ) -> Result<Vec<RootTotals>, Fault> {
            self.stop.raise();
            let played = self.points.iter().map(|points| RootTotals {
                playouts: per_root,
                stuck: 0,
                points: vec![points * per_root],
            });
            let unplayed = RootTotals {
                points: vec![0],
                ..RootTotals::default()
            };
            Ok(played.chain(std::iter::repeat(unplayed)).take(roots.len()).collect())
        }

        fn meter(&self) -> Meter {
            Meter::default()
        }
    }

    /// One role with two moves; any move ends the game.
    const TWO_MOVES: &str = "
        (role r) (legal r left) (legal r right) (init start)
        (<= (next over) (does r ?m)) (<= terminal (true over)) (goal r 0)";

    fn weigh_until_the_clock_runs_out(weights: &[f64], points: Vec<u64>) -> Vec<(String, f64, u64)> {
        let rules = gdl::read(TWO_MOVES, &gdl::Options::default()).rules;
        let stop = StopFlag::default();
        let mut tools = Tools {
            sim: Box::new(ground::Reference::new(&rules).unwrap()),
            batch: None,
            playouts: Some(Box::new(Scripted {
                points,
                stop: stop.clone(),
            })),
            others: None,
            role: RoleId(0),
            seed: Seed(1),
        };
        let state = tools.sim.initial().unwrap();
        let guess = |&weight: &f64| Guess {
            state: state.clone(),
            weight,
        };
        let guesses: Vec<Guess> = weights.iter().map(guess).collect();
        let plan = PlayoutPlan {
            playouts: 100,
            seed: Seed(1),
        };
        let decision = weigh(&mut tools, &guesses, plan, &Budget::timed(stop)).unwrap();
        let candidates = decision.candidates.into_iter();
        candidates.map(|c| (c.mv, c.mean, c.visits)).collect()
    }

    /// Cells are played move by move, model by model.
    #[test]
    fn cells_that_were_not_reached_in_time_are_not_losses() {
        let found = weigh_until_the_clock_runs_out(&[0.5, 0.5], vec![40, 40, 60]);
        assert_eq!(found, [("right".to_owned(), 60.0, 1), ("left".to_owned(), 40.0, 2)]);
        // All cells were played: nothing is left out.
        let found = weigh_until_the_clock_runs_out(&[0.5, 0.5], vec![40, 40, 60, 0]);
        assert_eq!(found, [("left".to_owned(), 40.0, 2), ("right".to_owned(), 30.0, 2)]);
    }

    #[test]
    fn moves_that_were_not_reached_at_all_come_last() {
        let found = weigh_until_the_clock_runs_out(&[0.25, 0.75], vec![40]);
        assert_eq!(found, [("left".to_owned(), 40.0, 1), ("right".to_owned(), 0.0, 0)]);
    }
}
