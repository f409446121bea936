//! Simulations of UCT per CPU second from the initial state, one thread.
//!
//! `cargo run --release -p surmise-search --example uct_speed -- [--seconds S] [--batch N] GAME…`, where a game is a
//! name of the catalogue or a file. Prints lines of JSON for each: decisions of so many simulations, each with an empty
//! tree, until the time is up.

use game::{Budget, RoleId, Seed};
use propnet::{CompileOptions, Lanes, Rollouts, Scalar, compile};
use std::error::Error;
use surmise_search::{Tools, Uct, UctOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut seconds = 2.0;
    let mut batch = None;
    let mut games = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--seconds" => seconds = args.next().ok_or("--seconds needs a number")?.parse()?,
            "--batch" => batch = Some(args.next().ok_or("--batch needs a number")?.parse()?),
            _ => games.push(arg),
        }
    }
    for game in games {
        for simulations in [100_000, 10_000, 1_000] {
            let rate = measure(&game, simulations, batch, seconds)?;
            println!("{{\"game\":\"{game}\",\"simulations\":{simulations},\"per_cpu_second\":{rate:.0}}}");
        }
    }
    Ok(())
}

fn measure(game: &str, simulations: u64, batch: Option<u64>, seconds: f64) -> Result<f64, Box<dyn Error>> {
    let text = match std::fs::read_to_string(game) {
        Ok(text) => text,
        Err(_) => catalogue::rules(game).map_err(|e| format!("{game}: {e}"))?,
    };
    let rules = gdl::read(&text, &gdl::Options::default()).rules;
    let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {})?;
    let compiled = compile(&program, &CompileOptions::default());
    let mut tools = Tools {
        sim: Box::new(Scalar::new(&compiled)),
        batch: Some(Box::new(Lanes::new(&compiled, Seed(1)))),
        playouts: Some(Box::new(Rollouts::new(&compiled, 1))),
        others: None,
        role: RoleId(0),
        seed: Seed(1),
    };
    let options = UctOptions {
        simulations: Some(simulations),
        batch,
        // Small games would be solved, and then there is nothing left to measure.
        solve: false,
        ..UctOptions::default()
    };
    let initial = tools.sim.initial()?;
    let mut done = 0;
    let started = cpu_seconds();
    while cpu_seconds() - started < seconds {
        let mut uct = Uct::new(options);
        done += uct.search(&mut tools, &initial, Seed(done), &Budget::iterations(u64::MAX))?;
    }
    Ok(done as f64 / (cpu_seconds() - started))
}

/// CPU time of this thread: the machine may be busy with other things.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds: f64 = text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0.0);
    nanoseconds * 1e-9
}
