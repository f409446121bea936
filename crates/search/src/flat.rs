//! Flat Monte Carlo over weighted states: the value of a move is the mean payoff of random games that begin with it.
//!
//! With one state this is the perfect-information player `mc`; with the models of a belief it is HyperPlay's move choice
//! (Schofield, Cerexhe and Thielscher 2012): expectation over models, a move that is illegal in a model counts zero there.

use crate::Tools;
use crate::perfect::{Insight, Worth, decision, widest};
use game::{Budget, Decision, Fault, MoveId, Rng, RoleId, RootTotals, Seed, State};
use std::collections::BTreeMap;

/// A state that may be the true one, and how likely that is; weights need not sum to one.
#[derive(Clone, Debug)]
pub struct Guess {
    /// The state.
    pub state: State,
    /// Its weight.
    pub weight: f64,
}

/// How much to play.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Random games for each move in each state.
    pub playouts: u64,
    /// Where randomness starts.
    pub seed: Seed,
}

/// How often a state counts, for its share of the playouts, where so many models come down to so few distinct ones.
pub(crate) fn repeats(models: usize, distinct: usize) -> u64 {
    models.div_ceil(distinct.max(1)) as u64
}

/// Flat Monte Carlo in one state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flat {
    /// Playouts for each legal move; if not given, as many as there is time for.
    pub playouts: Option<u64>,
}

/// Playouts for each legal move, where neither a number nor a time is given.
pub const USUAL_PLAYOUTS: u64 = 100;

impl Insight for Flat {
    fn value(&mut self, tools: &mut Tools, state: &State, seed: Seed, budget: &Budget) -> Result<Vec<Worth>, Fault> {
        let guess = Guess {
            state: state.clone(),
            weight: 1.0,
        };
        let plan = Plan {
            playouts: budget.count(self.playouts, USUAL_PLAYOUTS),
            seed,
        };
        worths(tools, &[guess], plan, budget)
    }

    fn name(&self) -> &'static str {
        "mc"
    }
}

/// Random games that are run at a time: enough to fill the lanes, few enough to stop in time.
const CHUNK: usize = 8_192;

/// Values every legal move over the guesses; the best comes first. Ties are broken by the seed.
pub fn weigh(tools: &mut Tools, guesses: &[Guess], plan: Plan, budget: &Budget) -> Result<Decision, Fault> {
    let worths = worths(tools, guesses, plan, budget)?;
    Ok(decision(tools, worths))
}

/// The same, with moves as numbers.
pub(crate) fn worths(tools: &mut Tools, guesses: &[Guess], plan: Plan, budget: &Budget) -> Result<Vec<Worth>, Fault> {
    let mut table = Table::new(tools, guesses, budget)?;
    if table.moves.is_empty() {
        return Err(crate::perfect::no_move(tools));
    }
    if table.moves.len() > 1 {
        table.play(tools, guesses, plan, budget)?;
    }
    Ok(table.worths(plan.seed))
}

/// Every move that is legal in some guess, with what its playouts came to in each.
struct Table {
    moves: Vec<(MoveId, Vec<Cell>)>,
    weights: Vec<f64>,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    legal: bool,
    playouts: u64,
    points: u64,
}

impl Table {
    /// Guesses that there is no time to look at are left out.
    fn new(tools: &mut Tools, guesses: &[Guess], budget: &Budget) -> Result<Table, Fault> {
        let mut moves: BTreeMap<MoveId, Vec<Cell>> = BTreeMap::new();
        let mut weights = Vec::with_capacity(guesses.len());
        for (number, guess) in guesses.iter().enumerate() {
            if number > 0 && budget.stop.is_raised() {
                break;
            }
            weights.push(guess.weight);
            for mv in tools.legal(&guess.state, tools.role)? {
                let row = moves.entry(mv).or_insert_with(|| vec![Cell::default(); guesses.len()]);
                row[number].legal = true;
            }
        }
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= total);
        Ok(Table {
            moves: moves.into_iter().collect(),
            weights,
        })
    }

    /// Plays in chunks, a few games of every cell at a time, so that an early end leaves all moves equally well known.
    fn play(&mut self, tools: &mut Tools, guesses: &[Guess], plan: Plan, budget: &Budget) -> Result<(), Fault> {
        let cells: usize = self
            .moves
            .iter()
            .map(|(_, row)| row.iter().filter(|c| c.legal).count())
            .sum();
        let share = (CHUNK / cells.max(1)).clamp(1, 64) as u64;
        let mut done = 0;
        let mut pass = 0;
        while done < plan.playouts && (pass == 0 || !budget.stop.is_raised()) {
            // Where there is little time, every cell should have something before any has much.
            let share = if budget.timed {
                share.min(1 << pass.min(6))
            } else {
                share
            };
            let now = share.min(plan.playouts - done);
            let seed = plan.seed.child("playouts").nth(pass);
            self.pass(tools, guesses, now, seed, budget)?;
            done += now;
            pass += 1;
        }
        Ok(())
    }

    /// `n` games for every cell.
    fn pass(&mut self, tools: &mut Tools, guesses: &[Guess], n: u64, seed: Seed, budget: &Budget) -> Result<(), Fault> {
        let mut roots: Vec<State> = Vec::new();
        let mut owners: Vec<(usize, usize, u64)> = Vec::new();
        let mut rng = seed.child("others").rng();
        for (row, (mv, cells)) in self.moves.iter().enumerate() {
            for (column, _) in cells.iter().enumerate().filter(|(_, c)| c.legal) {
                if budget.stop.is_raised() {
                    break;
                }
                let states = successors(tools, &guesses[column].state, *mv, n, &mut rng)?;
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
            let totals = tools.play_out(&states, games, seed.nth(games), &budget.stop)?;
            for (&i, total) in chosen.iter().zip(&totals) {
                let (row, column, _) = owners[i];
                self.moves[row].1[column].add(total, tools.role);
            }
        }
        Ok(())
    }

    fn worths(&self, seed: Seed) -> Vec<Worth> {
        let mut rng = seed.child("ties").rng();
        let mut drawn: Vec<(Worth, u64)> = self
            .moves
            .iter()
            .map(|(mv, row)| (self.worth(*mv, row), rng.bits()))
            .collect();
        drawn.sort_by(|(a, lot_a), (b, lot_b)| b.mean.total_cmp(&a.mean).then(lot_a.cmp(lot_b)));
        drawn.into_iter().map(|(worth, _)| worth).collect()
    }

    fn worth(&self, mv: MoveId, row: &[Cell]) -> Worth {
        let (mut mean, mut variance, mut visits) = (0.0, 0.0, 0);
        for (cell, weight) in row.iter().zip(&self.weights) {
            if cell.playouts == 0 {
                continue;
            }
            let n = cell.playouts as f64;
            let m = cell.points as f64 / n;
            mean += weight * m;
            variance += (weight * widest(m, n)).powi(2);
            visits += cell.playouts;
        }
        Worth {
            mv,
            mean,
            stderr: variance.sqrt(),
            visits,
        }
    }
}

impl Cell {
    fn add(&mut self, total: &RootTotals, role: RoleId) {
        self.playouts += total.playouts;
        self.points += total.points[role.0 as usize];
    }
}

/// States after our move with random moves of the others: one for each of `n` games, or a single one if the others have no
/// choice.
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
