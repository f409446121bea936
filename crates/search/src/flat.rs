//! Flat Monte Carlo over weighted states: the value of a move is the mean payoff of random games that begin with it.
//!
//! With one state this is the perfect-information player `mc`; with the models of a belief it is HyperPlay's move choice
//! (Schofield, Cerexhe and Thielscher 2012): expectation over models, a move that is illegal in a model counts zero there.

use crate::Tools;
use game::{Budget, Candidate, Decision, Fault, MoveId, Rng, RoleId, RootTotals, Seed, State};
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

/// Random games that are run at a time: enough to fill the lanes, few enough to stop in time.
const CHUNK: usize = 8_192;

/// Values every legal move over the guesses; the best comes first. Ties are broken by the seed.
pub fn weigh(tools: &mut Tools, guesses: &[Guess], plan: Plan, budget: &Budget) -> Result<Decision, Fault> {
    let mut table = Table::new(tools, guesses)?;
    if table.moves.is_empty() {
        return Err(Fault::Unknown(
            "there is no legal move in any state held possible".to_owned(),
        ));
    }
    if table.moves.len() > 1 {
        table.play(tools, guesses, plan, budget)?;
    }
    Ok(table.decide(tools, plan.seed))
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
    fn new(tools: &mut Tools, guesses: &[Guess]) -> Result<Table, Fault> {
        let total: f64 = guesses.iter().map(|g| g.weight).sum();
        let mut moves: BTreeMap<MoveId, Vec<Cell>> = BTreeMap::new();
        for (number, guess) in guesses.iter().enumerate() {
            for mv in tools.legal(&guess.state, tools.role)? {
                let row = moves.entry(mv).or_insert_with(|| vec![Cell::default(); guesses.len()]);
                row[number].legal = true;
            }
        }
        Ok(Table {
            moves: moves.into_iter().collect(),
            weights: guesses.iter().map(|g| g.weight / total).collect(),
        })
    }

    /// Plays in chunks, a few games of every cell at a time, so that an early end leaves all moves equally well known.
    fn play(&mut self, tools: &mut Tools, guesses: &[Guess], plan: Plan, budget: &Budget) -> Result<(), Fault> {
        let cells: usize = self
            .moves
            .iter()
            .map(|(_, row)| row.iter().filter(|c| c.legal).count())
            .sum();
        let mut done = 0;
        let mut pass = 0;
        while done < plan.playouts && (pass == 0 || !budget.stop.is_raised()) {
            let share = (CHUNK / cells.max(1)).clamp(1, 64) as u64;
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
                let states = successors(tools, &guesses[column].state, *mv, n, &mut rng)?;
                let games = n / states.len() as u64;
                owners.extend(states.iter().map(|_| (row, column, games)));
                roots.extend(states);
            }
        }
        // Cells with one successor play all their games from it; the others have one root for each game.
        for games in [n, 1] {
            let chosen: Vec<usize> = (0..roots.len()).filter(|&i| owners[i].2 == games).collect();
            if games == 1 && n == 1 {
                break;
            }
            let states: Vec<State> = chosen.iter().map(|&i| roots[i].clone()).collect();
            let totals = tools.play_out(&states, games, seed.nth(games), &budget.stop)?;
            for (&i, total) in chosen.iter().zip(&totals) {
                let (row, column, _) = owners[i];
                self.moves[row].1[column].add(total, tools.role);
            }
        }
        Ok(())
    }

    fn decide(&self, tools: &Tools, seed: Seed) -> Decision {
        let mut rng = seed.child("ties").rng();
        let mut drawn: Vec<(Candidate, u64)> = self
            .moves
            .iter()
            .map(|(mv, row)| (self.candidate(tools, *mv, row), rng.bits()))
            .collect();
        drawn.sort_by(|(a, lot_a), (b, lot_b)| b.mean.total_cmp(&a.mean).then(lot_a.cmp(lot_b)));
        let candidates: Vec<Candidate> = drawn.into_iter().map(|(candidate, _)| candidate).collect();
        Decision {
            mv: candidates[0].mv.clone(),
            candidates,
            belief: String::new(),
        }
    }

    fn candidate(&self, tools: &Tools, mv: MoveId, row: &[Cell]) -> Candidate {
        let (mut mean, mut variance, mut visits) = (0.0, 0.0, 0);
        for (cell, weight) in row.iter().zip(&self.weights) {
            if cell.playouts == 0 {
                continue;
            }
            let n = cell.playouts as f64;
            let m = cell.points as f64 / n;
            mean += weight * m;
            // Payoffs lie in 0..=100: no distribution with this mean varies more.
            variance += weight * weight * m * (100.0 - m) / n;
            visits += cell.playouts;
        }
        Candidate {
            mv: tools.sim.move_text(tools.role, mv).to_owned(),
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
        return Err(Fault::Unknown("E-NO-MOVE: a role has no legal move".to_owned()));
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
