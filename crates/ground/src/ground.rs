//! Grounding: from rules with variables to a [`Program`] without.
//!
//! 1. Relations that the game does not need are dropped, others are restricted to the instances that are needed
//!    (`demand`), and rules are [split](Splitting).
//! 2. Static relations are evaluated by the reference machine: as a whole where that is cheap, else on demand.
//! 3. `instantiate` finds every instance of every other rule over all atoms that may ever hold.
//! 4. `simplify` decides atoms that turn out to be constant.
//! 5. `assemble` keeps the needed atoms, checks stratification on ground atoms, and numbers and names the rest.

mod assemble;
mod atoms;
mod census;
mod demand;
mod estimate;
mod instantiate;
mod join;
mod simplify;
mod split;

use crate::program::Program;
use crate::prove::unproven;
use crate::reference::{EvaluationLimits, Machine, roles_in_order};
use crate::rewrite::{Family, Passes, rewrite};
use crate::terms::TermId;
use crate::theory::{Theory, rel};
pub use census::{Census, RelationCost, RuleCost, census};
use game::{Fault, StopFlag};
use gdl::Rules;
use rustc_hash::FxHashSet;
pub use split::Splitting;
use std::fmt;
use std::sync::Arc;

/// Limits of grounding.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Instances of rules.
    pub instances: usize,
    /// Atoms of static relations; twice the instances by default.
    pub static_atoms: Option<usize>,
    /// Memory for instances and atoms, roughly.
    pub bytes: usize,
    /// Whether to split rules first.
    pub splitting: Splitting,
    /// Whether relations are restricted to what rules may ask for in play, and not only by what is known statically.
    pub asked: bool,
    /// Flag that ends the work.
    pub stop: StopFlag,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            instances: 3_000_000,
            static_atoms: None,
            bytes: 1 << 30,
            splitting: Splitting::default(),
            asked: false,
            stop: StopFlag::default(),
        }
    }
}

/// Progress of grounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Instances of rules found.
    pub instances: usize,
    /// Ground atoms met.
    pub atoms: usize,
}

/// Why there is no ground program. The game can still be played on [`crate::Reference`], except after
/// [`GroundError::Invalid`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroundError {
    /// A limit was reached.
    TooLarge {
        /// The relation with most instances.
        relation: String,
        /// Number of its instances.
        size: usize,
        /// The limit.
        limit: String,
    },
    /// A relation grows without bound: its terms get too deep, or it is static and too large to evaluate.
    Unbounded {
        /// The relation.
        relation: String,
        /// The limit.
        limit: String,
    },
    /// Atoms that depend on their own negation; the first atom is repeated at the end.
    NegativeCycle {
        /// Canonical texts.
        cycle: Vec<String>,
    },
    /// The stop flag was raised.
    Stopped,
    /// The rules cannot be run by any engine.
    Invalid(String),
}

impl fmt::Display for GroundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GroundError::TooLarge { relation, size, limit } => write!(
                f,
                "grounding exceeded {limit}; the largest relation is {relation} with {size}"
            ),
            GroundError::Unbounded { relation, limit } => {
                write!(f, "grounding {relation} exceeded {limit}")
            }
            GroundError::NegativeCycle { cycle } => {
                write!(f, "E-NEG-CYCLE: an atom depends on its own negation: ")?;
                f.write_str(&cycle.join(" <= "))
            }
            GroundError::Stopped => f.write_str("grounding or compiling was stopped, or took too long"),
            GroundError::Invalid(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for GroundError {}

impl From<Fault> for GroundError {
    /// Faults of the machine that evaluates static relations.
    fn from(fault: Fault) -> GroundError {
        match fault {
            Fault::Stopped => GroundError::Stopped,

            Fault::Blowup { relation, limit } => GroundError::Unbounded { relation, limit },
            other => GroundError::Invalid(other.to_string()),
        }
    }
}

/// Steps for the evaluation of a static relation as a whole, before it is left to evaluation on demand.
const STATIC_STEPS: u64 = 2_000_000;

/// Grounds rules. Deterministic: the same rules and limits give the same program.
pub fn ground(rules: &Rules, limits: &Limits, progress: &mut dyn FnMut(Progress)) -> Result<Program, GroundError> {
    let mut theory = Theory::new(rules);
    if let Some(reason) = theory.unfit_relation() {
        return Err(GroundError::Invalid(reason));
    }
    theory.for_grounding();
    demand::restrict(&mut theory);
    if limits.asked {
        demand::restrict_by_atoms(&mut theory);
    }
    let other_ways = (limits.splitting == Splitting::Full).then(|| estimate::OtherWays::of(&theory));
    split::split(&mut theory, limits.splitting);
    let theory = Arc::new(theory);
    let needed = theory.needed_for(&rel::ASKED);

    let evaluation = EvaluationLimits {
        atoms: limits.static_atoms.unwrap_or(2 * limits.instances),
        ..EvaluationLimits::default()
    };
    let mut machine = Machine::new(theory.clone(), evaluation);
    machine.stop = limits.stop.clone();
    machine.store_static_relations(&needed, STATIC_STEPS);
    let roles = roles_in_order(&mut machine, &rules.symbols)?;
    let initial = machine.rows(rel::INIT, &[None])?;
    let initial: FxHashSet<TermId> = initial.into_iter().map(|row| row[0]).collect();

    let instances = instantiate::instantiate(&theory, &needed, &mut machine, &initial, &roles, limits, progress)?;
    progress(Progress {
        instances: instances.len(),
        atoms: instances.atoms.len(),
    });
    let decided = decide(&instances, &initial, &roles);
    if limits.stop.is_raised() {
        return Err(GroundError::Stopped);
    }
    let mut program = assemble::assemble(&assemble::Parts {
        theory: &theory,
        terms: &machine.terms,
        symbols: &rules.symbols,
        instances: &instances,
        decided: &decided,
        roles: &roles,
        initial: &initial,
        stop: &limits.stop,
    })?;
    program.otherwise = other_ways.map(|other| other.estimate(&instances));
    Ok(program)
}

/// Rewrites rules by some passes and grounds the result; `None` if no pass changes the rules.
///
/// Where the new rules mean the same only if families of fluents are exclusive, that is proven on the new program. If
/// some of the proofs fail, the rules are rewritten again without these families. Deterministic.
///
/// # Errors
/// As [`ground()`].
pub fn ground_rewritten(
    rules: &Rules,
    passes: Passes,
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<(Program, Passes)>, GroundError> {
    let Some(first) = rewrite(rules, passes, None, &limits.stop) else {
        return if limits.stop.is_raised() {
            Err(GroundError::Stopped)
        } else {
            Ok(None)
        };
    };
    let program = ground(&first.rules, limits, progress)?;
    let open = unproven(&program, &first.families, &limits.stop);
    if open.is_empty() {
        return Ok(Some((program, first.passes)));
    }
    drop(program);
    if open.len() == first.families.len() {
        // Without a family the pass over dependencies changes nothing.
        let without = Passes {
            dependencies: false,
            ..passes
        };
        return ground_rewritten(rules, without, limits, progress);
    }
    let proven: Vec<Family> = first.families.into_iter().filter(|f| !open.contains(f)).collect();
    let Some(second) = rewrite(rules, passes, Some(&proven), &limits.stop) else {
        return if limits.stop.is_raised() {
            Err(GroundError::Stopped)
        } else {
            Ok(None)
        };
    };
    let program = ground(&second.rules, limits, progress)?;
    match unproven(&program, &second.families, &limits.stop).is_empty() {
        true => Ok(Some((program, second.passes))),
        false => {
            let without = Passes {
                dependencies: false,
                ..passes
            };
            ground_rewritten(rules, without, limits, progress)
        }
    }
}

fn decide(instances: &instantiate::Instances, initial: &FxHashSet<TermId>, roles: &[TermId]) -> simplify::Decided {
    let atoms = &instances.atoms;
    let all = || (0..atoms.len() as u32).map(atoms::Ground);
    let inputs: Vec<bool> = all()
        .map(|a| [rel::TRUE, rel::DOES].contains(&atoms.relation(a)))
        .collect();
    let lasting: Vec<bool> = all()
        .map(|a| atoms.relation(a) == rel::TRUE && initial.contains(&atoms.row(a)[0]))
        .collect();
    let feeds = |atom: atoms::Ground| match atoms.relation(atom) {
        rel::NEXT => atoms.find(rel::TRUE, atoms.row(atom)),
        rel::LEGAL if roles.contains(&atoms.row(atom)[0]) => atoms.find(rel::DOES, atoms.row(atom)),
        _ => None,
    };
    simplify::decide(instances, &inputs, &lasting, &feeds)
}
