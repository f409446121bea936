//! Discounting and pruning of simulations in HyperPlay-II.
//!
//! Schofield and Thielscher, *The Scalability of the HyperPlay Technique for Imperfect-Information Games* (2016), after
//! Cazenave, Saffidine, Schofield and Thielscher, *Discounting and Pruning for Nested Playouts in General Game Playing*
//! (AAAI 2016). The papers find that pruning hurts in most games with hidden information; it is implemented here to
//! reproduce that result. Where the papers leave open what is cut, the fields of [`Pruning`] say how we read them.

use crate::Tools;
use crate::flat::{Guess, PlayoutPlan};
use crate::perfect::Worth;
use crate::value_table::{Sample, ValueTable};
use game::{Fault, MoveId, Rng, RoleId, State, StopFlag};
use smallvec::SmallVec;

/// Discounting and pruning; none by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pruning {
    /// Discount factor per round, used when moves are compared; reported values stay undiscounted.
    pub discount: f64,
    /// Cut on win: no further move is examined once all playouts of a move, in all models, reached the maximum.
    pub cut_on_win: bool,
    /// Pruning on depth: a playout ends with payoff 0 once its move has taken more rounds than the fastest move that
    /// reached the maximum.
    pub on_depth: bool,
    /// The payoff that counts as reaching the maximum: 100, or what optimal play is known to get.
    pub maximum: u8,
}

impl Default for Pruning {
    fn default() -> Pruning {
        Pruning {
            discount: 1.0,
            cut_on_win: false,
            on_depth: false,
            maximum: 100,
        }
    }
}

/// The discount factor of the papers.
pub const DISCOUNT: f64 = 0.99;

/// Samples every move in every model, moves in random order, with pruning. `play` gets the number of the move, the
/// number of the model, and the number of rounds allowed; once the flag is raised its result is not counted.
pub(crate) fn sample_with_pruning(
    table: &mut ValueTable,
    playouts: u64,
    pruning: Pruning,
    rng: &mut Rng,
    stop: &StopFlag,
    mut play: impl FnMut(usize, usize, u64) -> Result<Sample, Fault>,
) -> Result<(), Fault> {
    let mut order: Vec<usize> = (0..table.n_moves()).collect();
    shuffle(&mut order, rng);
    let mut quickest = u64::MAX;
    for mv in order {
        let (mut rounds, mut all_won) = (0, true);
        for model in 0..table.n_models() {
            if !table.is_legal(mv, model) {
                all_won = false;
                continue;
            }
            for _ in 0..playouts {
                let left = if pruning.on_depth {
                    quickest.saturating_sub(rounds)
                } else {
                    u64::MAX
                };
                let sample = play(mv, model, left)?;
                if stop.is_raised() {
                    table.keep_complete();
                    return Ok(());
                }
                rounds += sample.rounds;
                all_won &= sample.points >= pruning.maximum;
                table.add(mv, model, sample, pruning.discount);
            }
        }
        if all_won {
            quickest = quickest.min(rounds);
            if pruning.cut_on_win {
                break;
            }
        }
    }
    Ok(())
}

/// Puts items in random order.
pub(crate) fn shuffle(items: &mut [usize], rng: &mut Rng) {
    for at in (1..items.len()).rev() {
        items.swap(at, rng.below(at + 1));
    }
}

/// Flat Monte Carlo with pruning, one game at a time: the counterpart of [`weigh`](crate::weigh) for inner players that
/// prune.
pub(crate) fn prune_and_weigh(
    tools: &mut Tools,
    guesses: &[Guess],
    plan: PlayoutPlan,
    pruning: Pruning,
    stop: &StopFlag,
) -> Result<Vec<Worth>, Fault> {
    let mut legal = Vec::with_capacity(guesses.len());
    for guess in guesses {
        legal.push(tools.legal(&guess.state, tools.role)?);
    }
    let weights = guesses.iter().map(|g| g.weight).collect();
    let mut table = ValueTable::new(weights, &legal).ok_or_else(|| Fault::no_move(None))?;
    if table.n_moves() > 1 {
        let mut rng = plan.seed.child("pruned").rng();
        let mut dice = plan.seed.child("playouts").rng();
        let moves = table.moves().to_vec();
        sample_with_pruning(&mut table, plan.playouts, pruning, &mut rng, stop, |mv, model, left| {
            random_game(tools, &guesses[model].state, moves[mv], left, &mut dice, stop)
        })?;
    }
    Ok(table.worths(&table.ranking(plan.seed)))
}

/// A random game that begins with a move of ours and may take so many rounds; it breaks off once the flag is raised.
fn random_game(
    tools: &mut Tools,
    from: &State,
    first: MoveId,
    most: u64,
    rng: &mut Rng,
    stop: &StopFlag,
) -> Result<Sample, Fault> {
    let n_roles = tools.sim.roles().len();
    let mut state = from.clone();
    let mut rounds = 0;
    while !tools.sim.terminal(&state)? {
        if rounds >= most || stop.is_raised() {
            return Ok(Sample { points: 0, rounds });
        }
        let mut joint: SmallVec<[MoveId; 4]> = SmallVec::new();
        for role in (0..n_roles).map(|r| RoleId(r as u16)) {
            if rounds == 0 && role == tools.role {
                joint.push(first);
                continue;
            }
            let legal = tools.legal(&state, role)?;
            if legal.is_empty() {
                return Ok(Sample { points: 0, rounds });
            }
            joint.push(*rng.pick(&legal));
        }
        state = tools.sim.next(&state, &joint)?;
        rounds += 1;
    }
    let points = tools.sim.goal(&state, tools.role)?.points();
    Ok(Sample { points, rounds })
}
