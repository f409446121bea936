//! A negation with an argument that the state determines loses the argument.
//!
//! If at most one `k` has `g(k)`, for instance because there is one king of a colour, then
//!
//! ```text
//! h(x) ⇐ b(x), g(k), ¬t(k,x).    becomes    h(x) ⇐ b(x), g(k), ¬t′(x).    t′(x) ⇐ g(k), t(k,x).
//! ```
//!
//! Instead of an instance for every `x` and `k` there is one for every `x`, and the rest about `k` can be projected.
//!
//! Which fluents exclude each other is guessed: the family has at most one member initially and in some states of
//! random play. The rules that result mean the same wherever the guess is right. Whether it is right in all reachable
//! states is proven on the ground program of the new rules ([`crate::prove`]): as long as all families are
//! exclusive, old and new rules agree, so it suffices that the new rules keep them exclusive.

use super::domains::Domains;
use super::program::{Draft, Rel, atom_vars, in_body_order, rel, relation_of, tidy, vars};
use super::statics::Statics;
use crate::reference::{EvaluationLimits, Reference};
use game::canonical::parts;
use game::{MoveId, Rng, RoleId, Seed, Simulator, StopFlag};
use gdl::{Atom, Clause, Literal, Rules, Symbol, Term, kw};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Families that one literal may need.
const MOST_FAMILIES: usize = 64;
/// States of random play that may refute a family.
const SAMPLES: usize = 48;
/// Joint moves of one random game.
const GAME_LENGTH: usize = 24;
/// Evaluation steps for one question while sampling.
const STEPS: u64 = 2_000_000;

/// Fluents of which at most one should hold: those of one function whose fixed arguments have given values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Family {
    /// Canonical name of the function.
    pub function: String,
    /// Canonical text of each argument; `None` for those that may vary.
    pub args: Vec<Option<String>>,
}

impl Family {
    /// Whether a fluent, in canonical text, belongs to the family.
    pub fn contains(&self, fluent: &str) -> bool {
        let parts = parts(fluent);
        let fits = |(part, arg): (&&str, &Option<String>)| arg.as_ref().is_none_or(|a| a == part);
        parts.len() == self.args.len() + 1 && parts[0] == self.function && parts[1..].iter().zip(&self.args).all(fits)
    }
}

/// A negation that may lose arguments.
struct Place {
    clause: usize,
    /// The number of the negated literal.
    negated: usize,
    /// The number of the literal that determines its arguments.
    by: usize,
    /// The variables that vanish from the negation.
    determined: Vec<u32>,
    families: Vec<Family>,
}

/// Rewrites the rules; returns the families that have to be exclusive, none if nothing was rewritten.
pub(super) fn reduce(
    draft: &mut Draft,
    statics: &Statics,
    rules: &Rules,
    allowed: Option<&[Family]>,
    stop: &StopFlag,
) -> Vec<Family> {
    let mut places = places(draft, statics);
    if let Some(allowed) = allowed {
        places.retain(|p| p.families.iter().all(|f| allowed.contains(f)));
    }
    if places.is_empty() {
        return Vec::new();
    }
    let states = sample(rules, stop);
    let is_likely = |f: &Family| {
        states
            .iter()
            .all(|s| s.iter().filter(|fluent| f.contains(fluent)).count() < 2)
    };
    places.retain(|p| p.families.iter().all(is_likely));
    let mut auxiliaries: FxHashMap<Clause, Symbol> = FxHashMap::default();
    let changing = draft.changing();
    let mut needed = BTreeSet::new();
    let mut done: BTreeSet<(usize, usize)> = BTreeSet::new();
    for place in places {
        if done.insert((place.clause, place.negated)) {
            replace(draft, &place, &changing, &mut auxiliaries);
            needed.extend(place.families);
        }
    }
    needed.into_iter().collect()
}

/// Every negation with variables that one fluent of the same rule may determine.
fn places(draft: &Draft, statics: &Statics) -> Vec<Place> {
    let Some(domains) = Domains::new(draft, statics) else {
        return Vec::new();
    };
    let changing = draft.changing();
    let facts = draft.facts();
    let mut places = Vec::new();
    for (n, clause) in draft.clauses.iter().enumerate() {
        let in_head = atom_vars(&clause.head);
        for (negated, literal) in clause.body.iter().enumerate() {
            let Literal::Neg(atom) = literal else { continue };
            if !changing.contains(&rel(atom)) || [kw::TRUE, kw::DOES].contains(&atom.relation) {
                continue;
            }
            let mut inner = atom_vars(atom);
            inner.retain(|v| !in_head.contains(v));
            for (by, other) in clause.body.iter().enumerate() {
                let Some((function, args)) = fluent_of(other) else {
                    continue;
                };
                let is_determined = |t: &Term| {
                    let once = args.iter().filter(|a| *a == t).count() == 1;
                    matches!(t, Term::Var(v) if once && inner.contains(v))
                };
                let determined: Vec<u32> = args
                    .iter()
                    .filter(|t| is_determined(t))
                    .filter_map(|t| if let Term::Var(v) = t { Some(*v) } else { None })
                    .collect();
                if determined.is_empty() {
                    continue;
                }
                let Some(known) = domains.variables(clause) else {
                    continue;
                };
                let values = |v: u32| values_of(v, clause, &facts, known[v as usize].only_constants());
                if let Some(families) = families(draft, function, args, &determined, &values) {
                    places.push(Place {
                        clause: n,
                        negated,
                        by,
                        determined,
                        families,
                    });
                }
            }
        }
    }
    places
}

/// Function and arguments of the fluent of a positive literal.
fn fluent_of(literal: &Literal) -> Option<(Symbol, &[Term])> {
    match literal {
        Literal::Pos(atom) if atom.relation == kw::TRUE => match &atom.args[..] {
            [Term::Fun(function, args)] => Some((*function, args)),
            _ => None,
        },
        _ => None,
    }
}

/// The constants that a variable of a clause may stand for, restricted by the facts that the clause has as conditions.
fn values_of(
    v: u32,
    clause: &Clause,
    facts: &FxHashMap<(Symbol, usize), Vec<&[Term]>>,
    domain: Option<&[Symbol]>,
) -> Option<BTreeSet<Symbol>> {
    let mut values: BTreeSet<Symbol> = domain?.iter().copied().collect();
    for literal in &clause.body {
        let Literal::Pos(atom) = literal else { continue };
        let Some(rows) = facts.get(&rel(atom)) else { continue };
        let Some(at) = atom.args.iter().position(|t| *t == Term::Var(v)) else {
            continue;
        };
        let fits = |row: &&&[Term]| {
            atom.args
                .iter()
                .zip(row.iter())
                .all(|(t, value)| !t.is_ground() || t == value)
        };
        let here: BTreeSet<&Term> = rows.iter().filter(fits).map(|row| &row[at]).collect();
        values.retain(|value| here.contains(&Term::constant(*value)));
    }
    Some(values)
}

/// The families of a fluent with these arguments varying: one for each combination of the other arguments.
fn families(
    draft: &Draft,
    function: Symbol,
    args: &[Term],
    varying: &[u32],
    values: &dyn Fn(u32) -> Option<BTreeSet<Symbol>>,
) -> Option<Vec<Family>> {
    let mut rows: Vec<Vec<Option<String>>> = vec![Vec::new()];
    for term in args {
        let options: Vec<Option<String>> = match term {
            Term::Var(v) if varying.contains(v) => vec![None],
            Term::Var(v) => {
                let text = |s: &Symbol| Some(draft.symbols.text(*s).to_owned());
                values(*v)?.iter().map(text).collect()
            }
            term if term.is_ground() => vec![Some(term.canonical(&draft.symbols))],
            _ => return None,
        };
        let with =
            |row: &Vec<Option<String>>, option: &Option<String>| row.iter().cloned().chain([option.clone()]).collect();
        rows = rows
            .iter()
            .flat_map(|row| options.iter().map(move |o| with(row, o)))
            .collect();
        if rows.len() > MOST_FAMILIES {
            return None;
        }
    }
    let function = draft.symbols.text(function).to_owned();
    let family = |args| Family {
        function: function.clone(),
        args,
    };
    Some(rows.into_iter().map(family).collect())
}

/// States of a few random games on the reference simulator, each as its fluents.
fn sample(rules: &Rules, stop: &StopFlag) -> Vec<Vec<String>> {
    let limits = EvaluationLimits {
        steps: STEPS,
        ..EvaluationLimits::default()
    };
    let mut states = Vec::new();
    let Ok(mut sim) = Reference::with(rules, limits, stop.clone()) else {
        return states;
    };
    let mut rng = Seed(0).child("dependencies").rng();
    while states.len() < SAMPLES {
        let before = states.len();
        if play(&mut sim, &mut rng, &mut states).is_none() || states.len() == before {
            break;
        }
    }
    states
}

/// Plays one random game; `None` if it has to be given up.
fn play(sim: &mut Reference, rng: &mut Rng, states: &mut Vec<Vec<String>>) -> Option<()> {
    let mut state = sim.initial().ok()?;
    let mut moves: Vec<MoveId> = Vec::new();
    for _ in 0..GAME_LENGTH {
        states.push(sim.fluents(&state));
        if states.len() >= SAMPLES || sim.terminal(&state).ok()? {
            break;
        }
        let mut joint = Vec::new();
        for role in 0..sim.roles().len() {
            sim.legal(&state, RoleId(role as u16), &mut moves).ok()?;
            if moves.is_empty() {
                return None;
            }
            joint.push(*rng.pick(&moves));
        }
        state = sim.next(&state, &joint).ok()?;
    }
    Some(())
}

/// Takes the determined variables out of a negation.
fn replace(draft: &mut Draft, place: &Place, changing: &FxHashSet<Rel>, auxiliaries: &mut FxHashMap<Clause, Symbol>) {
    let clause = draft.clauses[place.clause].clone();
    let (by, Literal::Neg(negated)) = (&clause.body[place.by], &clause.body[place.negated]) else {
        return;
    };
    let own: BTreeSet<u32> = vars(by).into_iter().chain(atom_vars(negated)).collect();
    let restricts = |l: &&Literal| {
        let is_static = matches!(l, Literal::Pos(a) if !changing.contains(&rel(a)));
        is_static && vars(l).iter().all(|v| own.contains(v)) && relation_of(l).is_some()
    };
    let mut body: Vec<Literal> = clause.body.iter().filter(restricts).cloned().collect();
    body.sort_by_key(|l| format!("{l:?}"));
    body.insert(0, by.clone());
    body.push(Literal::Pos(negated.clone()));
    let kept: Vec<u32> = own.iter().copied().filter(|v| !place.determined.contains(v)).collect();
    let args = in_body_order(&body, &kept);
    // Equal auxiliary rules share a relation. The name of the key does not matter.
    let head = |relation| Atom {
        relation,
        args: args.clone(),
    };
    let key = tidy(head(kw::TERMINAL), body.clone(), &[], 0);
    let symbol = match auxiliaries.get(&key) {
        Some(symbol) => *symbol,
        None => {
            let symbol = draft.fresh(negated.relation, "one");
            draft
                .clauses
                .push(tidy(head(symbol), body.clone(), &clause.variables, clause.offset));
            auxiliaries.insert(key, symbol);
            symbol
        }
    };
    draft.clauses[place.clause].body[place.negated] = Literal::Neg(head(symbol));
}
