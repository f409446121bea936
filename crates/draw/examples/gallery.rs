//! A page with a picture of every game: positions in the middle of a random game, drawn from the rules alone.
//!
//! `cargo run --release -p surmise-draw --example gallery -- OUT.html [--scramble] [RULES…]`; without rules, the
//! catalogue. `--scramble` replaces all names of the rules by nonsense first.

use draw::{FullState, Layout, LayoutOptions, Part, SvgOptions, svg};
use game::{RoleId, Seed, Simulator};
use surmise_draw as draw;

#[path = "../tests/support/mod.rs"]
mod support;

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let scramble = args
        .iter()
        .position(|a| a == "--scramble")
        .map(|at| args.remove(at))
        .is_some();
    if args.is_empty() {
        eprintln!("usage: gallery OUT.html [--scramble] [RULES…]");
        std::process::exit(2);
    }
    let out = args.remove(0);
    let games: Vec<(String, String)> = match args.is_empty() {
        true => catalogue::games()
            .iter()
            .map(|g| (g.name.to_owned(), catalogue::open(g.name).expect("a game").1))
            .collect(),
        false => args
            .iter()
            .map(|f| {
                (
                    f.clone(),
                    String::from_utf8_lossy(&std::fs::read(f).expect("a file")).into_owned(),
                )
            })
            .collect(),
    };
    let mut page = "<!doctype html><meta charset=utf-8><style>body{font:14px sans-serif;display:flex;flex-wrap:wrap;\
                    gap:12px;align-items:flex-start}figure{margin:0;border:1px solid #ccc;padding:6px}\
                    img{max-width:430px;height:auto;max-height:520px}</style>\n"
        .to_owned();
    for (name, text) in &games {
        let (figure, line) = one(name, text, scramble);
        println!("{line}");
        page.push_str(&figure);
    }
    std::fs::write(out, page).expect("the page is written");
}

/// Games that are larger run on the reference simulator, which gives the same pictures.
fn limits() -> ground::Limits {
    ground::Limits {
        instances: 150_000,
        ..ground::Limits::default()
    }
}

fn one(name: &str, text: &str, scramble: bool) -> (String, String) {
    let started = std::time::Instant::now();
    let mut rules = gdl::read(text, &gdl::Options::default()).rules;
    if scramble {
        rules = gdl::read(&support::scramble(&rules), &gdl::Options::default()).rules;
    }
    rules.announce_moves();
    let sim = ground::ground(&rules, &limits(), &mut |_| ());
    let compiled = sim
        .ok()
        .map(|p| propnet::compile(&p, &propnet::CompileOptions::default()));
    let mut sim: Box<dyn Simulator> = match &compiled {
        Some(compiled) => Box::new(propnet::Scalar::new(compiled)),
        None => Box::new(ground::Reference::new(&rules).expect("rules that can be run")),
    };
    let prepared = started.elapsed().as_millis();
    let started = std::time::Instant::now();
    let layout = Layout::new(&rules, sim.as_mut(), &LayoutOptions::default()).expect("nobody stops it");
    let took = started.elapsed().as_millis();
    let (fluents, moves, mover) = middle(sim.as_mut());
    let state = FullState::of_referee(fluents).with_mover(mover.clone());
    let picture = layout.full_picture(&state, &moves);
    let boards: Vec<String> = picture
        .parts
        .iter()
        .filter_map(|p| match p {
            Part::Board(b) => Some(format!(
                "{} {}x{}{}",
                b.name,
                b.rows.len(),
                b.columns.len(),
                if b.shape == draw::Shape::Hex { " hex" } else { "" }
            )),
            _ => None,
        })
        .collect();
    let lists: usize = picture
        .parts
        .iter()
        .map(|p| match p {
            Part::List(l) => l.facts.len(),
            _ => 0,
        })
        .sum();
    let placed = picture.moves.iter().filter(|m| m.part.is_some()).count();
    let short = name.rsplit('/').next().unwrap_or(name);
    let line = format!(
        "{short}: boards [{}] listed {lists} moves {placed}/{} as {mover} ({prepared} ms, {took} ms)",
        boards.join(", "),
        picture.moves.len()
    );
    let options = SvgOptions {
        title: short.to_owned(),
        roles: layout.roles().to_vec(),
        ..SvgOptions::default()
    };
    let image = svg(&picture, &options)
        .replace('%', "%25")
        .replace('#', "%23")
        .replace('"', "%22");
    let image = image.replace('<', "%3C").replace('>', "%3E").replace('\n', "");
    let figure = format!("<figure><figcaption>{short}</figcaption><img src=\"data:image/svg+xml,{image}\"></figure>\n");
    (figure, line)
}

/// A position in the middle of a random game, and the moves of a role that has most of them.
fn middle(sim: &mut dyn Simulator) -> (Vec<String>, Vec<String>, String) {
    let mut rng = Seed(7).rng();
    let roles = sim.roles().len();
    let mut line = vec![sim.initial().expect("a state")];
    for _ in 0..60 {
        let state = line.last().expect("a state").clone();
        if sim.terminal(&state).unwrap_or(true) {
            break;
        }
        let mut joint = Vec::new();
        for role in 0..roles {
            let mut legal = Vec::new();
            if sim.legal(&state, RoleId(role as u16), &mut legal).is_err() || legal.is_empty() {
                break;
            }
            joint.push(legal[rng.below(legal.len())]);
        }
        if joint.len() < roles {
            break;
        }
        let Ok(next) = sim.next(&state, &joint) else { break };
        line.push(next);
    }
    let state = line[(line.len() - 1) * 6 / 10].clone();
    let mut best: (Vec<String>, String) = (Vec::new(), String::new());
    for role in 0..roles {
        let id = RoleId(role as u16);
        let mut legal = Vec::new();
        if sim.legal(&state, id, &mut legal).is_ok()
            && (legal.len() > best.0.len() || best.1.is_empty())
            && sim.nature() != Some(id)
        {
            best = (
                legal.iter().map(|&m| sim.move_text(id, m).to_owned()).collect(),
                sim.roles()[role].clone(),
            );
        }
    }
    (sim.fluents(&state), best.0, best.1)
}
