//! Rules: reading, formatting, and the engines against each other.

use crate::limits;
use std::sync::Arc;
use surmise::game::{Fault, MoveId, Rng, RoleId, Seed, Simulator, State};
use surmise::gdl::{self, Clause, Mode, Notation, Options, Reading, Rules};
use surmise::ground::{self, AuditOptions, Direct, Reference};
use surmise::propnet::{CompileOptions, OneLane, PlayoutOptions, Scalar, compile_until};

/// Reads a text in every mode. Formatting may not change the rules.
pub fn text(input: &[u8]) {
    for (mode, notation) in [
        (Mode::Lenient, None),
        (Mode::Strict, Some(Notation::Prefix)),
        (Mode::Lenient, Some(Notation::Infix)),
    ] {
        let options = Options {
            mode,
            notation,
            gdl3: mode == Mode::Strict,
            ..Options::default()
        };
        let reading = gdl::read_bytes(input, &options);
        assert!(reading.render("x").lines().count() >= reading.diagnostics.len());
        let is_syntax_error = |d: &gdl::Diagnostic| d.code.is_syntax() && d.code.text().starts_with('E');
        if !reading.diagnostics.iter().any(is_syntax_error) {
            formatting_keeps_the_rules(&reading, &options);
        }
    }
}

fn formatting_keeps_the_rules(reading: &Reading, options: &Options) {
    for notation in [Notation::Prefix, Notation::Infix] {
        let print = |r: &Reading| gdl::format::format(&r.ast, &r.text, &r.rules.symbols, notation);
        let Ok(once) = print(reading) else {
            continue;
        };
        let options = Options {
            notation: Some(notation),
            ..*options
        };
        let again = gdl::read(&once, &options);
        assert_eq!(print(&again).as_ref(), Ok(&once), "formatting is not stable");
        let sizes = |r: &Reading| [r.ast.forms.len(), r.ast.comments.len(), r.rules.clauses.len()];
        assert_eq!(
            sizes(reading),
            sizes(&again),
            "forms, comments or rules were lost:\n{once}"
        );
        for (a, b) in reading.rules.clauses.iter().zip(&again.rules.clauses) {
            let head = |c: &Clause, r: &Reading| c.head.canonical(&r.rules.symbols);
            assert_eq!(head(a, reading), head(b, &again), "formatting changed a rule:\n{once}");
            assert_eq!(a.body.len(), b.body.len(), "formatting changed a rule:\n{once}");
        }
    }
}

/// Rounds that a game is followed.
const ROUNDS: usize = 6;

/// Plays a random game on every engine. What two engines can answer, they answer alike.
pub fn engines(input: &[u8]) {
    let reading = gdl::read_bytes(input, &Options::default());
    if !reading.is_playable() {
        return;
    }
    let mut rules = reading.rules;
    rules.announce_moves();
    let Ok(mut reference) = Reference::with(&rules, limits::evaluation(), limits::looks(100_000)) else {
        return;
    };
    let mut others = compiled(&rules);
    let seed = Seed(
        input
            .iter()
            .fold(7, |h: u64, &b| h.wrapping_mul(31).wrapping_add(u64::from(b))),
    );
    let _ = follow(&mut reference, &mut others, &mut seed.rng());
    audit(&rules);
}

fn audit(rules: &Rules) {
    let options = AuditOptions {
        games: 1,
        max_rounds: 4,
        stop: limits::looks(2_000),
        ..AuditOptions::default()
    };
    ground::audit(rules, &options);
}

/// The compiled engines, if the rules ground within the limits.
fn compiled(rules: &Rules) -> Vec<(&'static str, Box<dyn Simulator>)> {
    let Ok(program) = ground::ground(rules, &limits::grounding(), &mut |_| {}) else {
        return Vec::new();
    };
    let program = Arc::new(program);
    let mut engines: Vec<(&str, Box<dyn Simulator>)> = vec![("direct", Box::new(Direct::new(program.clone())))];
    if let Ok(compiled) = compile_until(&program, &CompileOptions::default(), &limits::looks(100_000)) {
        if compiled.prepare_scalar(&limits::looks(100_000)).is_ok() {
            engines.push(("scalar", Box::new(Scalar::new(&compiled))));
        }
        if compiled
            .prepare_lanes(&PlayoutOptions::default(), &limits::looks(100_000))
            .is_ok()
        {
            engines.push(("lanes", Box::new(OneLane::new(&compiled))));
        }
    }
    engines
}

/// Everything that a simulator says of a state, as text.
#[derive(Debug, PartialEq)]
struct Answers {
    fluents: Vec<String>,
    terminal: bool,
    goals: Vec<u8>,
    legal: Vec<Vec<String>>,
}

fn answers(sim: &mut dyn Simulator, state: &State) -> Result<(Answers, Vec<Vec<MoveId>>), Fault> {
    let (mut goals, mut legal, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    let terminal = sim.terminal(state)?;
    for role in (0..sim.roles().len()).map(|r| RoleId(r as u16)) {
        goals.push(sim.goal(state, role)?.points());
        let mut moves = Vec::new();
        sim.legal(state, role, &mut moves)?;
        legal.push(moves.iter().map(|&m| sim.move_text(role, m).to_owned()).collect());
        ids.push(moves);
    }
    let fluents = sim.fluents(state);
    let answers = Answers {
        fluents,
        terminal,
        goals,
        legal,
    };
    Ok((answers, ids))
}

fn follow(
    reference: &mut dyn Simulator,
    others: &mut [(&'static str, Box<dyn Simulator>)],
    rng: &mut Rng,
) -> Result<(), Fault> {
    let mut state = reference.initial()?;
    let mut states = Vec::new();
    for (_, sim) in others.iter_mut() {
        states.push(sim.initial()?);
    }
    for round in 0..ROUNDS {
        let (expected, ids) = answers(reference, &state)?;
        let mut all_ids = Vec::new();
        for ((name, sim), state) in others.iter_mut().zip(&states) {
            let (found, ids) = answers(sim.as_mut(), state)?;
            assert_eq!(found, expected, "{name} differs from the reference in round {round}");
            all_ids.push(ids);
        }
        if expected.terminal || expected.legal.iter().any(Vec::is_empty) {
            return Ok(());
        }
        let chosen: Vec<usize> = expected.legal.iter().map(|moves| rng.below(moves.len())).collect();
        let pick = |ids: &[Vec<MoveId>]| ids.iter().zip(&chosen).map(|(m, &at)| m[at]).collect::<Vec<_>>();
        let joint = pick(&ids);
        let seen = percepts(reference, &state, &joint)?;
        state = reference.next(&state, &joint)?;
        for (((name, sim), state), ids) in others.iter_mut().zip(&mut states).zip(&all_ids) {
            let joint = pick(ids);
            let found = percepts(sim.as_mut(), state, &joint)?;
            assert_eq!(found, seen, "{name} perceives otherwise in round {round}");
            *state = sim.next(state, &joint)?;
        }
    }
    Ok(())
}

fn percepts(sim: &mut dyn Simulator, state: &State, joint: &[MoveId]) -> Result<Vec<Vec<String>>, Fault> {
    let mut all = Vec::new();
    for role in (0..joint.len()).map(|r| RoleId(r as u16)) {
        let mut seen = Vec::new();
        sim.percepts(state, joint, role, &mut seen)?;
        all.push(seen.iter().map(|&p| sim.percept_text(role, p).to_owned()).collect());
    }
    Ok(all)
}
