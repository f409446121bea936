//! The ground program: rules without variables, over numbered atoms.

use std::ops::Not;

/// An atom of a ground program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AtomId(pub u32);

/// An atom or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lit(u32);

impl Lit {
    /// The atom holds.
    pub fn pos(atom: AtomId) -> Lit {
        Lit(atom.0 << 1)
    }

    /// The atom does not hold.
    pub fn neg(atom: AtomId) -> Lit {
        Lit(atom.0 << 1 | 1)
    }

    /// The atom.
    pub fn atom(self) -> AtomId {
        AtomId(self.0 >> 1)
    }

    /// Whether the literal is a negation.
    pub fn is_neg(self) -> bool {
        self.0 & 1 == 1
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// `head ⇐ body`. Bodies are sorted and free of repetition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroundRule {
    /// The atom that follows.
    pub head: AtomId,
    /// The literals it follows from; with an empty body the head always holds.
    pub body: Box<[Lit]>,
}

/// An output of a game: known at grounding time, or an atom to evaluate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Output {
    /// Holds in no reachable state.
    #[default]
    Never,
    /// Holds always.
    Always,
    /// Holds when this atom does.
    Atom(AtomId),
}

/// A game without variables.
///
/// Atoms come in three kinds: inputs `true(f)` and `does(r,m)`, which no rule has as its head, and derived atoms,
/// which hold exactly if the body of one of their rules does (least model; negation is stratified on ground atoms,
/// positive cycles are possible). What is static has been folded away: no atom is constant.
/// Names are sorted by canonical text within each list, so that numbers enumerate in canonical order.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Canonical names of the roles, in joint-move order.
    pub roles: Vec<String>,
    /// Every fluent that may ever hold: `FluentId` = index.
    pub fluents: Vec<String>,
    /// Every move that may ever be legal, per role: `MoveId` = index.
    pub moves: Vec<Vec<String>>,
    /// Every percept that may ever be seen, per role: `PerceptId` = index.
    pub percepts: Vec<Vec<String>>,
    /// Fluents of the initial state, ascending.
    pub initial: Vec<u32>,
    /// Number of atoms.
    pub n_atoms: u32,
    /// The input atom `true(f)` of each fluent.
    pub true_atoms: Vec<AtomId>,
    /// The input atom `does(r,m)` of each move of each role.
    pub does_atoms: Vec<Vec<AtomId>>,
    /// `next(f)` of each fluent.
    pub next: Vec<Output>,
    /// `legal(r,m)` of each move of each role.
    pub legal: Vec<Vec<Output>>,
    /// `sees(r,p)` of each percept of each role.
    pub sees: Vec<Vec<Output>>,
    /// `goal(r,v)` of each role, values ascending. Values are integers as written, not clamped.
    pub goals: Vec<Vec<(i32, Output)>>,
    /// `terminal`.
    pub terminal: Output,
    /// The rules, grouped by head.
    pub rules: Vec<GroundRule>,
    /// Canonical text of each atom, for printing a program; auxiliary atoms carry made-up names.
    pub names: Vec<String>,
    /// How large other ways to split the rules are, if that was estimated.
    pub otherwise: Option<OtherSplits>,
}

/// Estimated numbers of instances of the same rules, split in other ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OtherSplits {
    /// If the rules are not split. Instances that symmetric rules find several times are counted as often.
    pub off: usize,
    /// If they are split by components: at least so many, up to such repetitions.
    pub components: usize,
}
