//! Temporary laboratory: values_lab GAME GAMES MS SPEC_A SPEC_B
use game::{Budget, MoveId, RoleId, Seed, StopFlag};
use propnet::{CompileOptions, Compiled, Lanes, Rollouts, Scalar, compile};
use std::error::Error;
use surmise_search::{Insight, Leaves, Tools, Uct, UctOptions};

fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn tools(compiled: &Compiled, role: u16, seed: u64) -> Tools {
    Tools {
        sim: Box::new(Scalar::new(compiled)),
        batch: Some(Box::new(Lanes::new(compiled, Seed(1)))),
        playouts: Some(Box::new(Rollouts::new(compiled, 1)) as _),
        others: None,
        role: RoleId(role),
        seed: Seed(seed),
    }
}

fn spec(text: &str) -> UctOptions {
    let mut options = UctOptions::default();
    for part in text.split(',') {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        match key {
            "learned" => options.leaves = Leaves::Learned,
            "c" => options.c = value.parse().unwrap(),
            "mix" => options.mix = value.parse().unwrap(),
            "imm" => options.imm = value.parse().unwrap(),
            "playouts" => options.playouts = Some(value.parse().unwrap()),
            _ => {}
        }
    }
    options
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (game, n, ms) = (&args[0], args[1].parse::<u64>()?, args[2].parse::<f64>()?);
    let specs = [spec(&args[3]), spec(&args[4])];
    let seed: u64 = std::env::var("SEED").map_or(1, |s| s.parse().unwrap());
    let text = match std::fs::read_to_string(game) {
        Ok(text) => text,
        Err(_) => catalogue::rules(game)?,
    };
    let rules = gdl::read(&text, &gdl::Options::default()).rules;
    let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {})?;
    let compiled = compile(&program, &CompileOptions::default());
    let mut sides = [Uct::new(specs[0]), Uct::new(specs[1])];
    for (at, side) in sides.iter_mut().enumerate() {
        let start = cpu();
        let mut tools = tools(&compiled, 0, seed);
        side.prepare(&mut tools, &StopFlag::default())?;
        if specs[at].leaves == Leaves::Learned {
            println!("{game}: learned in {:.2} s, {} states", cpu() - start, tools.meter().states);
        }
    }
    let mut sim = Scalar::new(&compiled);
    use game::Simulator;
    let n_roles = sim.roles().len();
    let mut total = [0.0, 0.0];
    let mut squares = 0.0;
    let mut plies = 0;
    let mut sims = [0u64; 2];
    for number in 0..n {
        let mut state = sim.initial()?;
        sides.iter_mut().for_each(Uct::forget);
        let mut rng = Seed(number + 1000 * seed).child("open").rng();
        let mut moves: Vec<String> = Vec::new();
        let mut round = 0;
        while !sim.terminal(&state)? {
            let mut joint: Vec<MoveId> = Vec::new();
            let mut said = String::new();
            for role in 0..n_roles {
                let mut legal = Vec::new();
                sim.legal(&state, RoleId(role as u16), &mut legal)?;
                let mut mv = *rng.pick(&legal);
                let nature = sim.nature() == Some(RoleId(role as u16));
                if legal.len() > 1 && !nature && round >= 2 {
                    let side = (role + number as usize) % 2;
                    let mut tools = tools(&compiled, role as u16, number);
                    let start = cpu();
                    let budget = Budget::timed(StopFlag::by(move || (cpu() - start) * 1000.0 / ms));
                    let worths = sides[side].value(&mut tools, &state, Seed(number).nth(round), &budget)?;
                    mv = worths[0].mv;
                    sims[side] += worths.iter().map(|w| w.visits).sum::<u64>();
                    if std::env::var_os("SHOW").is_some() {
                        said = format!(" [{:.0} n {}]", worths[0].mean, worths[0].visits);
                    }
                }
                if legal.len() > 1 {
                    moves.push(format!("{}{said}", sim.move_text(RoleId(role as u16), mv)));
                }
                joint.push(mv);
            }
            state = sim.next(&state, &joint)?;
            round += 1;
        }
        plies += round;
        let mut points = [0.0, 0.0];
        for role in 0..n_roles.min(2) {
            points[(role + number as usize) % 2] = f64::from(sim.goal(&state, RoleId(role as u16))?.points());
        }
        total[0] += points[0];
        total[1] += points[1];
        squares += points[0] * points[0];
        if std::env::var_os("SHOW").is_some() {
            println!("{points:?} {}", moves.join(" "));
        }
    }
    let mean = total[0] / n as f64;
    let sd = (squares / n as f64 - mean * mean).max(0.0).sqrt() / (n as f64).sqrt();
    println!(
        "{game} {} vs {}: {mean:.1} +- {:.1} (other {:.1}), {n} games, {:.0} plies, visits/move {} {}",
        args[3], args[4], 1.96 * sd, total[1] / n as f64, plies as f64 / n as f64,
        2 * sims[0] / plies.max(1), 2 * sims[1] / plies.max(1)
    );
    Ok(())
}
