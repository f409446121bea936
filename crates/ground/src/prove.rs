//! Proofs that at most one fluent of a family holds in any reachable state of a ground program.
//!
//! By induction: at most one holds initially, and no two follow from a state in which all assumed families are
//! exclusive. Two fluents `f` and `g` follow together only if a rule of `next(f)` and a rule of `next(g)` apply to one
//! joint move. For each rule we compute what its application implies:
//!
//! - fluents that hold: those of its body, and those that all rules of a positive condition imply. A move that is made
//!   is legal, so it implies what its legality implies.
//! - its support: a set of moves of which at least one is made.
//!
//! Two rules exclude each other if the fluents they imply do, for each pair of moves of their supports that can be
//! made together: equal moves, or moves of different roles. They also do if one of the moves, by rules without
//! negation, gives an atom that one of the rules negates: so a move that takes a fluent away excludes the frame rule of
//! this fluent.
//!
//! The proof is sound but not complete. It needs no search, so that it is quick where a general prover is not: "at most
//! one white king" on a chess board is 2,016 pairs of fluents with thousands of moves each.

use crate::program::{AtomId, Lit, Output, Program};
use crate::rewrite::Family;
use game::StopFlag;
use game::canonical::parts;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Implied fluents of an atom that are kept.
const MOST_IMPLIED: usize = 24;
/// Atoms that follow from a move that are kept.
const MOST_GIVEN: usize = 200;
/// Literals of a rule that may give an atom.
const LONGEST_USED: usize = 3;
/// Comparisons of moves in all proofs together.
const EFFORT: u64 = 20_000_000;
/// Fluents of a family.
const LARGEST_FAMILY: usize = 512;
/// Families that vary in the same argument of a function, at most, if the proof is to use them as lemmas.
const MOST_LEMMAS: usize = 8;

/// The families that are not proven to be exclusive; none if all are.
pub fn unproven(program: &Program, families: &[Family], stop: &StopFlag) -> Vec<Family> {
    if families.is_empty() {
        return Vec::new();
    }
    let members = |family: &Family| -> Vec<u32> {
        (0..program.fluents.len() as u32)
            .filter(|&f| family.contains(&program.fluents[f as usize]))
            .collect()
    };
    let mut all: Vec<Vec<u32>> = families.iter().map(members).collect();
    all.extend(lemmas(program));
    let mut prover = Prover::new(program, all);
    let proven = prover.prove(stop);
    let open = families.iter().zip(&proven).filter(|(_, proven)| !**proven);
    open.map(|(family, _)| family.clone()).collect()
}

/// Fluents of one function by all their arguments but one.
type Group<'p> = BTreeMap<Vec<&'p str>, Vec<u32>>;

/// Small families of fluents that differ in one argument, such as whose turn it is.
fn lemmas(program: &Program) -> Vec<Vec<u32>> {
    let mut groups: BTreeMap<(&str, usize, usize), Group> = BTreeMap::new();
    for (f, name) in program.fluents.iter().enumerate() {
        let parts = parts(name);
        for at in 1..parts.len() {
            let others: Vec<&str> = (1..parts.len()).filter(|&n| n != at).map(|n| parts[n]).collect();
            let group = groups.entry((parts[0], parts.len(), at)).or_default();
            group.entry(others).or_default().push(f as u32);
        }
    }
    let few = |group: &Group| group.len() <= MOST_LEMMAS;
    groups
        .into_values()
        .filter(few)
        .flat_map(BTreeMap::into_values)
        .filter(|f| f.len() > 1)
        .collect()
}

/// Moves as bits.
type Moves = Rc<[u64]>;

struct Prover<'p> {
    program: &'p Program,
    families: Vec<Vec<u32>>,
    assumed: Vec<bool>,
    /// The families of each fluent.
    families_of: Vec<Vec<u32>>,
    /// The rules of each atom, as a range.
    rules_of: Vec<(u32, u32)>,
    /// Per atom, fluents that hold if it does, ascending.
    implied: Vec<Box<[u32]>>,
    /// Per atom, a set of moves of which one is made if it holds; kept once computed.
    supports: FxHashMap<u32, Option<Moves>>,
    /// Roles and atoms of all moves, in one numbering.
    moves: Vec<(usize, AtomId)>,
    move_of: FxHashMap<u32, u32>,
    /// For the atom of a move, the atom of its legality.
    legality: Vec<Option<AtomId>>,
    /// The rules without negation that use an atom, made on first use.
    uses: FxHashMap<u32, Vec<u32>>,
    /// Atoms that each move gives; kept once computed.
    given: FxHashMap<u32, FxHashSet<u32>>,
    effort: u64,
}

/// What the application of a rule implies.
struct Case {
    fluents: Vec<u32>,
    support: Option<Moves>,
    /// Atoms that its body negates.
    negated: Vec<u32>,
}

impl<'p> Prover<'p> {
    fn new(program: &'p Program, families: Vec<Vec<u32>>) -> Prover<'p> {
        let mut families_of = vec![Vec::new(); program.fluents.len()];
        for (n, family) in families.iter().enumerate() {
            family.iter().for_each(|&f| families_of[f as usize].push(n as u32));
        }
        let mut rules_of = vec![(0, 0); program.n_atoms as usize];
        for (n, rule) in program.rules.iter().enumerate() {
            let range = &mut rules_of[rule.head.0 as usize];
            if range.1 == 0 {
                range.0 = n as u32;
            }
            range.1 = n as u32 + 1;
        }
        let mut moves = Vec::new();
        let mut move_of = FxHashMap::default();
        for (role, row) in program.does_atoms.iter().enumerate() {
            for &atom in row {
                move_of.insert(atom.0, moves.len() as u32);
                moves.push((role, atom));
            }
        }
        let mut legality = vec![None; program.n_atoms as usize];
        for (does, legal) in program.does_atoms.iter().flatten().zip(program.legal.iter().flatten()) {
            if let Output::Atom(atom) = legal {
                legality[does.0 as usize] = Some(*atom);
            }
        }
        let mut prover = Prover {
            program,
            assumed: vec![true; families.len()],
            families,
            families_of,
            rules_of,
            implied: vec![Box::default(); program.n_atoms as usize],
            supports: FxHashMap::default(),
            moves,
            move_of,
            legality,
            uses: FxHashMap::default(),
            given: FxHashMap::default(),
            effort: 0,
        };
        prover.imply();
        prover
    }

    /// Notes where short rules without negation use each atom.
    fn note_uses(&mut self) {
        for (n, rule) in self.program.rules.iter().enumerate() {
            if rule.body.len() <= LONGEST_USED && rule.body.iter().all(|l| !l.is_neg()) {
                for literal in &rule.body {
                    self.uses.entry(literal.atom().0).or_default().push(n as u32);
                }
            }
        }
    }

    fn prove(&mut self, stop: &StopFlag) -> Vec<bool> {
        let initial = |f: &u32| self.program.initial.binary_search(f).is_ok();
        for n in 0..self.families.len() {
            let family = &self.families[n];
            self.assumed[n] = family.len() <= LARGEST_FAMILY && family.iter().filter(|f| initial(f)).count() < 2;
        }
        loop {
            let mut failed = false;
            for n in 0..self.families.len() {
                if self.assumed[n] && !self.is_kept(n, stop) {
                    self.assumed[n] = false;
                    failed = true;
                }
            }
            if stop.is_raised() || self.effort > EFFORT {
                return vec![false; self.families.len()];
            }
            if !failed {
                return self.assumed.clone();
            }
        }
    }

    /// Whether no two fluents of a family follow from a state in which all assumed families are exclusive.
    fn is_kept(&mut self, family: usize, stop: &StopFlag) -> bool {
        let members = self.families[family].clone();
        let cases: Vec<Vec<Case>> = members
            .iter()
            .map(|&f| self.cases(self.program.next[f as usize]))
            .collect();
        for (n, some) in cases.iter().enumerate() {
            let others = cases[..n].iter().flatten();
            let mut pairs = others.flat_map(|y| some.iter().map(move |x| (x, y)));
            if !pairs.all(|(x, y)| self.exclude(x, y) && self.effort <= EFFORT && !stop.is_raised()) {
                return false;
            }
        }
        true
    }

    /// The ways in which an output may follow.
    fn cases(&mut self, output: Output) -> Vec<Case> {
        match output {
            Output::Never => Vec::new(),
            Output::Always => vec![Case {
                fluents: Vec::new(),
                support: None,
                negated: Vec::new(),
            }],
            Output::Atom(atom) => {
                let (start, end) = self.rules_of[atom.0 as usize];
                if start == end {
                    return vec![self.case(&[Lit::pos(atom)])];
                }
                let program = self.program;
                (start..end)
                    .map(|rule| self.case(&program.rules[rule as usize].body))
                    .collect()
            }
        }
    }

    fn case(&mut self, body: &[Lit]) -> Case {
        let positive: Vec<AtomId> = body.iter().filter(|l| !l.is_neg()).map(|l| l.atom()).collect();
        let mut fluents: Vec<u32> = positive
            .iter()
            .flat_map(|a| self.implied[a.0 as usize].iter().copied())
            .collect();
        fluents.sort_unstable();
        fluents.dedup();
        let supports: Vec<Moves> = positive.iter().filter_map(|&a| self.support(a, 0)).collect();
        Case {
            fluents,
            support: supports.into_iter().min_by_key(count),
            negated: body.iter().filter(|l| l.is_neg()).map(|l| l.atom().0).collect(),
        }
    }

    /// Whether two rules never apply together.
    fn exclude(&mut self, x: &Case, y: &Case) -> bool {
        self.effort += 1;
        let fluents = merge(&x.fluents, &y.fluents);
        if self.contradicts(&fluents) {
            return true;
        }
        let negated = merge(&x.negated, &y.negated);
        match (&x.support, &y.support) {
            (None, None) => false,
            (Some(moves), None) | (None, Some(moves)) => bits(moves)
                .all(|m| self.contradicts(&merge(&fluents, self.implied_by_move(m))) || self.gives(m, &negated)),
            (Some(first), Some(second)) => bits(first).all(|m| self.move_excludes(m, second, &fluents, &negated)),
        }
    }

    /// Whether a move contradicts what is implied and negated, alone and with each other move that may be made beside
    /// it.
    fn move_excludes(&mut self, m: u32, others: &Moves, fluents: &[u32], negated: &[u32]) -> bool {
        self.effort += 1;
        let with = merge(fluents, self.implied_by_move(m));
        if self.contradicts(&with) || self.gives(m, negated) {
            return true;
        }
        if has(others, m) {
            return false;
        }
        let role = self.moves[m as usize].0;
        bits(others).all(|other| {
            self.effort += 1;
            // A role makes one move.
            self.moves[other as usize].0 == role
                || self.contradicts(&merge(&with, self.implied_by_move(other)))
                || self.gives(other, negated)
        })
    }

    /// Whether one of these atoms follows from a move, by rules without negation and the fluents that the move implies.
    fn gives(&mut self, m: u32, atoms: &[u32]) -> bool {
        if atoms.is_empty() {
            return false;
        }
        if self.uses.is_empty() {
            self.note_uses();
        }
        if !self.given.contains_key(&m) {
            let closure = self.closure(m);
            self.given.insert(m, closure);
        }
        let given = &self.given[&m];
        atoms.iter().any(|a| given.contains(a))
    }

    /// Atoms that follow from a move and the fluents it implies, by rules without negation.
    fn closure(&self, m: u32) -> FxHashSet<u32> {
        let does = self.moves[m as usize].1;
        let fluents = self.implied[does.0 as usize].iter();
        let mut todo: Vec<u32> = fluents.map(|&f| self.program.true_atoms[f as usize].0).collect();
        todo.push(does.0);
        let mut closure: FxHashSet<u32> = todo.iter().copied().collect();
        while let Some(atom) = todo.pop() {
            for &rule in self.uses.get(&atom).into_iter().flatten() {
                let rule = &self.program.rules[rule as usize];
                let holds = rule.body.iter().all(|l| closure.contains(&l.atom().0));
                if holds && closure.len() < MOST_GIVEN && closure.insert(rule.head.0) {
                    todo.push(rule.head.0);
                }
            }
        }
        closure
    }

    fn implied_by_move(&self, m: u32) -> &[u32] {
        &self.implied[self.moves[m as usize].1.0 as usize]
    }

    /// Whether two of these fluents are in one assumed family.
    fn contradicts(&self, fluents: &[u32]) -> bool {
        for (n, &f) in fluents.iter().enumerate() {
            for &family in self.families_of[f as usize]
                .iter()
                .filter(|&&n| self.assumed[n as usize])
            {
                if fluents[n + 1..]
                    .iter()
                    .any(|&g| self.families_of[g as usize].contains(&family))
                {
                    return true;
                }
            }
        }
        false
    }

    /// Computes the implied fluents of all atoms, conditions first. Atoms on a cycle imply less than they could.
    fn imply(&mut self) {
        for (f, &atom) in self.program.true_atoms.iter().enumerate() {
            if !self.families_of[f].is_empty() {
                self.implied[atom.0 as usize] = [f as u32].into();
            }
        }
        for atom in self.conditions_first() {
            if self.move_of.contains_key(&atom.0) {
                if let Some(legal) = self.legality[atom.0 as usize] {
                    self.implied[atom.0 as usize] = self.implied[legal.0 as usize].clone();
                }
                continue;
            }
            let (start, end) = self.rules_of[atom.0 as usize];
            let mut common: Option<Vec<u32>> = None;
            for rule in start..end {
                let body = &self.program.rules[rule as usize].body;
                let mut here: Vec<u32> = body
                    .iter()
                    .filter(|l| !l.is_neg())
                    .flat_map(|l| self.implied[l.atom().0 as usize].iter().copied())
                    .collect();
                here.sort_unstable();
                here.dedup();
                common = Some(match common {
                    None => here,
                    Some(common) => common.into_iter().filter(|f| here.binary_search(f).is_ok()).collect(),
                });
                if common.as_ref().is_some_and(Vec::is_empty) {
                    break;
                }
            }
            if let Some(mut common) = common.filter(|c| !c.is_empty()) {
                common.truncate(MOST_IMPLIED);
                self.implied[atom.0 as usize] = common.into();
            }
        }
    }

    /// All atoms, each after the positive conditions of its rules as far as there is no cycle, and each move after its
    /// legality.
    fn conditions_first(&self) -> Vec<AtomId> {
        let n = self.program.n_atoms as usize;
        let mut seen = vec![false; n];
        let mut order = Vec::with_capacity(n);
        // Atom, next rule, next literal.
        let mut stack: Vec<(u32, u32, usize)> = Vec::new();
        for root in 0..n as u32 {
            self.visit(root, &mut seen, &mut stack);
            while let Some((atom, rule, literal)) = stack.pop() {
                if rule >= self.rules_of[atom as usize].1 {
                    order.push(AtomId(atom));
                    continue;
                }
                let Some(l) = self.program.rules[rule as usize].body.get(literal) else {
                    stack.push((atom, rule + 1, 0));
                    continue;
                };
                stack.push((atom, rule, literal + 1));
                if !l.is_neg() {
                    self.visit(l.atom().0, &mut seen, &mut stack);
                }
            }
        }
        order
    }

    /// Puts an atom on the stack unless it was there before, and above it what a move needs to be legal.
    fn visit(&self, atom: u32, seen: &mut [bool], stack: &mut Vec<(u32, u32, usize)>) {
        let mut next = Some(atom);
        while let Some(atom) = next {
            if std::mem::replace(&mut seen[atom as usize], true) {
                break;
            }
            stack.push((atom, self.rules_of[atom as usize].0, 0));
            next = self.legality[atom as usize].map(|l| l.0);
        }
    }

    /// A set of moves of which one is made whenever an atom holds.
    fn support(&mut self, atom: AtomId, depth: usize) -> Option<Moves> {
        const DEPTH: usize = 12;
        const MOST_KEPT: usize = 20_000;
        if let Some(known) = self.supports.get(&atom.0) {
            return known.clone();
        }
        let words = self.moves.len().div_ceil(64);
        let made = match self.move_of.get(&atom.0) {
            Some(&m) => {
                let mut one = vec![0; words];
                one[m as usize / 64] |= 1 << (m % 64);
                Some(one.into())
            }
            None if depth >= DEPTH || self.supports.len() > MOST_KEPT => None,
            None => {
                // For atoms on a cycle.
                self.supports.insert(atom.0, None);
                self.support_of_rules(atom, depth, words)
            }
        };
        self.supports.insert(atom.0, made.clone());
        made
    }

    fn support_of_rules(&mut self, atom: AtomId, depth: usize, words: usize) -> Option<Moves> {
        let (start, end) = self.rules_of[atom.0 as usize];
        if start == end {
            return None;
        }
        let mut all = vec![0; words];
        for rule in start..end {
            let body = &self.program.rules[rule as usize].body;
            let positive: Vec<AtomId> = body.iter().filter(|l| !l.is_neg()).map(|l| l.atom()).collect();
            let supports: Vec<Moves> = positive.iter().filter_map(|&a| self.support(a, depth + 1)).collect();
            let least = supports.into_iter().min_by_key(count)?;
            all.iter_mut().zip(least.iter()).for_each(|(to, from)| *to |= from);
        }
        Some(all.into())
    }
}

fn count(moves: &Moves) -> u32 {
    moves.iter().map(|w| w.count_ones()).sum()
}

fn has(moves: &Moves, m: u32) -> bool {
    moves[m as usize / 64] >> (m % 64) & 1 == 1
}

fn bits(moves: &Moves) -> impl Iterator<Item = u32> + '_ {
    moves.iter().enumerate().flat_map(|(at, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            (left != 0).then(|| {
                let bit = left.trailing_zeros();
                left &= left - 1;
                at as u32 * 64 + bit
            })
        })
    })
}

fn merge(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all: Vec<u32> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}
