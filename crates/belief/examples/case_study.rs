//! The 2017 paper's case study: a bag of 100 models through whole games of Blind Breakthrough on 8x8, and how fast.
//!
//! `cargo run --release -p surmise-belief --example case_study -- [GAME] [GAMES] [MODELS] [ROWS WITH THIS IN THEIR
//! NAME]`
//!
//! Random play on both sides; the belief is that of the second player, updated every round. The paper reports 71.9 % of
//! models active at round 16, 50.0 % at round 32, and 745 states visited per success.

use game::{Budget, RoleId, Round, Seed, Simulator, StopFlag, View};
use propnet::{Compiled, Lanes, Scalar};
use std::time::Instant;
use surmise_belief::{Joint, Now, Options, Remedy, SamplerKind, Weights, World, make};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let game = args.first().map_or("blind-breakthrough", |s| s);
    let number = |at: usize, default: u64| args.get(at).and_then(|s| s.parse().ok()).unwrap_or(default);
    let (n_games, models) = (number(1, 10), number(2, 100) as usize);
    let compiled = compile(game);
    let games: Vec<View> = (0..n_games).map(|n| play(&compiled, Seed(1).nth(n))).collect();
    let lengths: Vec<usize> = games.iter().map(|view| view.rounds.len()).collect();
    println!("{game}: {n_games} random games of {lengths:?} rounds, {models} models\n");
    println!(
        "sampler                      engine  live@16 live@32 live@48 live@last   ess@32 states@32   \
         touches/model-update  succ/model-update  updates/s  ms/round"
    );
    let options = Options {
        models,
        ..Options::default()
    };
    let faithful = Options {
        weights: Weights::ChoiceFactor,
        remedy: Remedy::None,
        resume: 0,
        ..options.clone()
    };
    let layers = |layer_limit| Options {
        layer_limit,
        ..options.clone()
    };
    for (name, kind, options) in [
        ("hyperplay, faithful", SamplerKind::Hyperplay, &faithful),
        (
            "hyperplay, back on line",
            SamplerKind::Hyperplay,
            &Options {
                resume: 1_000_000,
                ..faithful.clone()
            },
        ),
        (
            "hyperplay, dead shared",
            SamplerKind::Hyperplay,
            &Options {
                share_dead: true,
                ..faithful.clone()
            },
        ),
        (
            "hyperplay, proposal",
            SamplerKind::Hyperplay,
            &Options {
                resume: 0,
                ..options.clone()
            },
        ),
        ("trellis, 200 a layer", SamplerKind::Trellis, &layers(200)),
        ("trellis, 500 a layer", SamplerKind::Trellis, &layers(500)),
        ("trellis, 2000 a layer", SamplerKind::Trellis, &layers(2_000)),
        ("trellis, 20000 a layer", SamplerKind::Trellis, &layers(20_000)),
        ("trellis, 200000 a layer", SamplerKind::Trellis, &layers(200_000)),
    ] {
        if args.get(3).is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        for on_lanes in [true, false] {
            // One state at a time this row takes minutes and says nothing new.
            if !on_lanes && options.layer_limit > 20_000 {
                continue;
            }
            let figures = run(&compiled, &games, kind, options, on_lanes);
            println!("{}", figures.line(name, on_lanes, models));
        }
    }
}

fn compile(game: &str) -> Compiled {
    let text = catalogue::rules(game).expect("a game of the catalogue");
    let reading = gdl::read(&text, &gdl::Options::default());
    let program = ground::ground(&reading.rules, &ground::Limits::default(), &mut |_| {}).expect("it grounds");
    propnet::compile(&program, &propnet::CompileOptions::default())
}

const ME: RoleId = RoleId(1);

/// The second player's view of a random game.
fn play(compiled: &Compiled, seed: Seed) -> View {
    let mut sim = Scalar::new(compiled);
    let mut rng = seed.rng();
    let mut state = sim.initial().expect("a state");
    let mut view = View::default();
    let (mut legal, mut sees) = (Vec::new(), Vec::new());
    while !sim.terminal(&state).expect("an answer") {
        let mut joint = Joint::new();
        for role in 0..sim.roles().len() {
            sim.legal(&state, RoleId(role as u16), &mut legal).expect("an answer");
            joint.push(*rng.pick(&legal));
        }
        sim.percepts(&state, &joint, ME, &mut sees).expect("an answer");
        view.rounds.push(Round {
            own: joint[ME.0 as usize],
            sees: sees.clone(),
        });
        state = sim.next(&state, &joint).expect("a state");
    }
    view
}

#[derive(Default)]
struct Figures {
    /// Per round: games that lasted so long, live models in them, effective sizes, distinct states.
    rounds: Vec<(u64, u64, f64, u64)>,
    last: (u64, u64),
    touches: u64,
    successors: u64,
    updates: u64,
    n_rounds: u64,
    relaxed: usize,
    seconds: f64,
}

/// Games longer than this are cut: a bag that took so long says nothing new.
const SECONDS: f64 = 60.0;

fn run(compiled: &Compiled, games: &[View], kind: SamplerKind, options: &Options, on_lanes: bool) -> Figures {
    let mut figures = Figures::default();
    let budget = Budget::until(StopFlag::default());
    let (mut sim, mut lanes) = (Scalar::new(compiled), Lanes::new(compiled, Seed(0)));
    for (number, game) in games.iter().enumerate() {
        if figures.seconds > SECONDS {
            break;
        }
        let mut sampler = make(kind, options, ME, Seed(number as u64)).expect("a sampler");
        for round in 0..game.rounds.len() {
            let view = View {
                rounds: game.rounds[..round].to_vec(),
            };
            let mut world = match on_lanes {
                true => World::with_batch(&mut sim, &mut lanes),
                false => World::new(&mut sim),
            };
            let started = Instant::now();
            sampler
                .update(&mut world, &view, Now::Playing, &budget)
                .expect("a belief");
            figures.seconds += started.elapsed().as_secs_f64();
            figures.add(round, &sampler.belief().report);
            if round + 1 == game.rounds.len() {
                figures.last.0 += 1;
                figures.last.1 += sampler.belief().report.live as u64;
                figures.relaxed += sampler.belief().report.relaxed.len();
            }
        }
    }
    figures
}

impl Figures {
    fn add(&mut self, round: usize, report: &surmise_belief::BeliefReport) {
        if self.rounds.len() <= round {
            self.rounds.resize(round + 1, (0, 0, 0.0, 0));
        }
        let entry = &mut self.rounds[round];
        entry.0 += 1;
        entry.1 += report.live as u64;
        entry.2 += report.ess;
        entry.3 += report.distinct_states as u64;
        self.touches += report.update_touches;
        self.successors += report.update_successors;
        self.updates += report.live as u64;
        self.n_rounds += 1;
    }

    fn line(&self, name: &str, on_lanes: bool, models: usize) -> String {
        let share = |n: u64, live: u64| match n {
            0 => "      -".to_owned(),
            _ => format!("{:6.1}%", 100.0 * live as f64 / (n as f64 * models as f64)),
        };
        let at = |round: usize| self.rounds.get(round).copied().unwrap_or_default();
        let (n, _, ess, states) = at(32);
        let mut line = format!("{name:28} {:7}", if on_lanes { "lanes" } else { "scalar" });
        for round in [16, 32, 48] {
            line += &format!(" {}", share(at(round).0, at(round).1));
        }
        line += &format!("   {}", share(self.last.0, self.last.1));
        line += &format!(" {:8.1} {:9.0}", ess / n.max(1) as f64, states as f64 / n.max(1) as f64);
        line += &format!(" {:22.1}", self.touches as f64 / self.updates as f64);
        line += &format!(" {:18.1}", self.successors as f64 / self.updates as f64);
        line += &format!(" {:10.0}", self.updates as f64 / self.seconds);
        line += &format!(" {:9.2}", 1e3 * self.seconds / self.n_rounds as f64);
        if self.relaxed > 0 {
            line += &format!("  ({} rounds relaxed)", self.relaxed);
        }
        line
    }
}
