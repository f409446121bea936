//! Prints how many rules each relation of a ground program has: `dump FILE [off|components|full]`.

use std::collections::BTreeMap;
use surmise_ground::{Limits, Splitting};

fn main() {
    let file = std::env::args().nth(1).expect("a file of rules");
    let splitting = match std::env::args().nth(2).as_deref() {
        Some("off") => Splitting::Off,
        Some("components") => Splitting::Components,
        _ => Splitting::Full,
    };
    let bytes = std::fs::read(file).expect("readable");
    let rules = gdl::read_bytes(&bytes, &gdl::Options::default()).rules;
    let limits = Limits {
        splitting,
        ..Limits::default()
    };
    let program = surmise_ground::ground(&rules, &limits, &mut |_| ()).expect("grounds");
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for rule in &program.rules {
        let name = program.names[rule.head.0 as usize].trim_start_matches('(');
        let count = counts.entry(name.split(' ').next().unwrap_or_default()).or_default();
        count.0 += 1;
        count.1 += rule.body.len();
    }
    for (name, (rules, literals)) in counts {
        println!("{rules:8} rules {literals:8} literals  {name}");
    }
}
