//! How a belief holds through a match whose true state is known here and not to the belief.
//!
//! `cargo run --release -p surmise --example match_beliefs -- GAME [SECONDS] [OWN MOVES] [SEED]`
//!
//! Two random players play. The belief is that of the first role, updated with a third of SECONDS for each of its
//! moves, as players do; the time is processor time of this thread, so that other programs do not count. Prints for
//! every tenth own move: states held possible, whether all of them are (exact), whether the true state is among them,
//! the probability that a move that is legal in a state drawn from the belief is illegal in the true one, and rounds
//! that are partly ignored so far. The last line sums up.

use std::time::Instant;
use surmise::Game;
use surmise::belief::{Now, Options, SamplerKind, World, make};
use surmise::game::{Budget, Fault, MoveId, RoleId, Round, Seed, Simulator, State, StopFlag, View};

const ME: RoleId = RoleId(0);

/// Share of a move's time that players spend on sampling.
const SAMPLING: f64 = 0.33;

/// Seconds that this thread has run, or seconds passed where that is not known.
fn seconds(begin: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let run = stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok());
    run.map_or_else(|| begin.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}

fn legal(sim: &mut dyn Simulator, state: &State, role: usize) -> Result<Vec<MoveId>, Fault> {
    let mut moves = Vec::new();
    sim.legal(state, RoleId(role as u16), &mut moves)?;
    Ok(moves)
}

/// The share of moves by the belief that are illegal in the true state.
fn illegal(sim: &mut dyn Simulator, states: &[(State, f64)], truth: &State) -> Result<f64, Fault> {
    let right = legal(sim, truth, 0)?;
    let mut wrong = 0.0;
    for (state, weight) in states {
        let moves = legal(sim, state, 0)?;
        let bad = moves.iter().filter(|mv| !right.contains(mv)).count();
        wrong += weight * bad as f64 / moves.len().max(1) as f64;
    }
    Ok(wrong)
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual: f64| args.get(at).and_then(|s| s.parse().ok()).unwrap_or(usual);
    let name = args.first().map_or("kriegspiel-minichess", String::as_str);
    follow(name, number(1, 1.0), number(2, 40.0) as usize, number(3, 1.0) as u64)
}

/// Plays a match and prints what became of the belief.
pub(crate) fn follow(name: &str, time: f64, moves: usize, seed: u64) -> Result<(), Box<dyn std::error::Error>> {
    let game = Game::open(name)?;
    let mut tools = game.engine().tools(ME, Seed(seed));
    let mut sampler = make(SamplerKind::Trellis, &Options::default(), ME, Seed(seed))?;
    let (mut rng, mut truth, mut view) = (Seed(seed).child("play").rng(), tools.sim.initial()?, View::default());
    let (mut own, mut held, mut share, mut exact_until, mut ever_lost) = (0, 0, 0.0, 0, false);
    let mut relaxed = Vec::new();
    println!("{name}, {time} s a move, seed {seed}");
    println!("own move  round   states  exact  true state  illegal %  ignored rounds");
    while own < moves && !tools.sim.terminal(&truth)? {
        let choices: Vec<Vec<MoveId>> = (0..tools.sim.roles().len())
            .map(|role| legal(tools.sim.as_mut(), &truth, role))
            .collect::<Result<_, _>>()?;
        let begin = (Instant::now(), seconds(Instant::now()));
        let clock = move || (seconds(begin.0) - begin.1) / (time * SAMPLING);
        let mut world = match &mut tools.batch {
            Some(batch) => World::with_batch(tools.sim.as_mut(), batch.as_mut()),
            None => World::new(tools.sim.as_mut()),
        };
        sampler.update(&mut world, &view, Now::Playing, &Budget::timed(StopFlag::by(clock)))?;
        let report = &sampler.belief().report;
        relaxed.clone_from(&report.relaxed);
        exact_until = if report.exact && !ever_lost {
            view.rounds.len()
        } else {
            exact_until
        };
        ever_lost |= !report.exact;
        if choices[0].len() > 1 {
            let states = sampler.posterior();
            let there = states.iter().any(|(state, _)| *state == truth);
            let wrong = illegal(tools.sim.as_mut(), &states, &truth)?;
            (own, held, share) = (own + 1, held + usize::from(there), share + wrong);
            if own % 10 == 0 || own == 1 {
                println!(
                    "{own:8} {:6} {:8} {:>6} {:>11} {:10.1} {:15}",
                    view.rounds.len(),
                    states.len(),
                    if report.exact { "yes" } else { "no" },
                    if there { "held" } else { "lost" },
                    100.0 * wrong,
                    relaxed.len()
                );
            }
        }
        let joint: Vec<MoveId> = choices.iter().map(|moves| *rng.pick(moves)).collect();
        let mut sees = Vec::new();
        tools.sim.percepts(&truth, &joint, ME, &mut sees)?;
        sees.sort();
        view.rounds.push(Round { own: joint[0], sees });
        truth = tools.sim.next(&truth, &joint)?;
    }
    println!(
        "{own} own moves in {} rounds: exact up to round {exact_until}; true state held at {held}; {:.1} % illegal; {} \
         rounds partly ignored",
        view.rounds.len(),
        100.0 * share / own.max(1) as f64,
        relaxed.len()
    );
    Ok(())
}
