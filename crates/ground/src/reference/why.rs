//! Why an atom holds in a state, or why not.
//!
//! An atom that holds gets a proof: a clause, the values of its variables, and a proof of each condition. Proofs are
//! well-founded: among atoms that depend on each other, an atom is given an instance whose conditions were proved
//! before it, as the least model is built from below, so that no atom is its own reason. An atom that does not hold
//! gets, for each clause whose head fits, the condition at which the clause fails after the longest run of conditions
//! that hold.
//!
//! Only instances whose conditions hold are looked at; the machine answers whether they do. The work is bounded: what
//! lies beyond the limits is [`Because::Cut`].

use super::Reference;
use crate::terms::TermId;
use crate::theory::{RelId, rel};
use game::{Fault, MoveId, State};
use gdl::{Clause, Literal, Rules, Symbol, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// An atom, whether it holds, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// Canonical text of the atom.
    pub atom: String,
    /// Whether it holds.
    pub holds: bool,
    /// The reason.
    pub because: Because,
}

/// Why an atom holds or does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// It is a fact of the rules, at this byte offset.
    Fact(u32),
    /// It is `true` or `does`, and the state or joint move says so.
    Given,
    /// A clause derives it.
    Rule(Derivation),
    /// No clause derives it. One attempt for each clause whose head fits; none if no head does.
    Failed(Vec<Derivation>),
    /// The limits of the explanation were reached.
    Cut,
}

/// A clause with values for its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derivation {
    /// Byte offset of the clause in its source.
    pub offset: u32,
    /// Variables that have a value, with their names, in the order of the clause.
    pub bindings: Vec<(String, String)>,
    /// The conditions. Of a clause that derives nothing: those that hold, and last the one that does not.
    pub conditions: Vec<Condition>,
}

/// A condition of a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Canonical text, with values in place of variables.
    pub text: String,
    /// Whether the condition holds; for `(not …)` whether the atom in it does not.
    pub holds: bool,
    /// Why the atom of the condition holds or does not; none for `distinct` and for atoms with variables that have no
    /// value.
    pub why: Option<Box<Why>>,
}

/// Rows that are tried for one explanation.
const MAX_TRIES: usize = 500_000;
/// Instances of the clauses of an atom that are looked at.
const MAX_INSTANCES: usize = 64;
/// Atoms that depend on each other and are looked at together.
const MAX_TOGETHER: usize = 2_000;
/// Levels of a proof.
const MAX_DEPTH: usize = 24;
/// Levels of explanations of what does not hold.
const MAX_FAILED: usize = 3;
/// Atoms of a proof.
const MAX_NODES: usize = 400;
/// Conditions of a clause up to which they are ordered by what is bound.
const MAX_ORDERED: usize = 200;

impl Reference {
    /// Explains whether a ground atom holds in a state; `joint` is the joint move of the round, or empty. `rules` are
    /// the rules that the simulator was made from. `None` if the text is no ground atom over the names of the rules.
    ///
    /// # Errors
    /// If an evaluation limit is exceeded, or the stop flag is raised.
    pub fn why(&mut self, rules: &Rules, state: &State, joint: &[MoveId], atom: &str) -> Result<Option<Why>, Fault> {
        match joint.is_empty() {
            true => self.load(state, rel::DOES),
            false => self.load_joint(state, joint)?,
        }
        let Some(term) = self.machine.terms.parse(atom, &self.symbols) else {
            return Ok(None);
        };
        let goal = Atom {
            name: self.machine.terms.symbol(term),
            args: self.machine.terms.args(term).to_vec(),
        };
        let mut clauses: FxHashMap<(Symbol, usize), Vec<&Clause>> = FxHashMap::default();
        for clause in &rules.clauses {
            let head = (clause.head.relation, clause.head.args.len());
            clauses.entry(head).or_default().push(clause);
        }
        let mut explainer = Explainer {
            reference: self,
            clauses,
            chosen: FxHashMap::default(),
            tries: MAX_TRIES,
            nodes: MAX_NODES,
        };
        explainer.explain(&goal, 0, 0).map(Some)
    }
}

/// A ground atom.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Atom {
    name: Symbol,
    args: Vec<TermId>,
}

/// Values of the variables of a clause.
type Env = Vec<Option<TermId>>;

/// A clause and the values by which its conditions hold.
#[derive(Clone)]
struct Instance<'r> {
    clause: &'r Clause,
    env: Env,
}

/// The deepest failure of a clause.
struct Failure {
    env: Env,
    /// Conditions in the order in which they were tried; the last one fails.
    order: Vec<usize>,
}

struct Explainer<'a, 'r> {
    reference: &'a mut Reference,
    clauses: FxHashMap<(Symbol, usize), Vec<&'r Clause>>,
    /// The instance that proves an atom.
    chosen: FxHashMap<Atom, Instance<'r>>,
    tries: usize,
    nodes: usize,
}

impl<'r> Explainer<'_, 'r> {
    fn explain(&mut self, atom: &Atom, depth: usize, failed: usize) -> Result<Why, Fault> {
        let holds = self.holds(atom)?;
        let because = match holds {
            _ if self.nodes == 0 || depth > MAX_DEPTH => Because::Cut,
            true => self.proof(atom, depth, failed)?,
            false => self.refutation(atom, depth, failed)?,
        };
        Ok(Why {
            atom: self.text_of(atom),
            holds,
            because,
        })
    }

    fn relation(&self, name: Symbol, arity: usize) -> Option<RelId> {
        self.reference.machine.theory.find(name, arity)
    }

    fn is_given(&self, atom: &Atom) -> bool {
        let relation = self.relation(atom.name, atom.args.len());
        relation.is_some_and(|r| [rel::TRUE, rel::DOES].contains(&r))
    }

    fn holds(&mut self, atom: &Atom) -> Result<bool, Fault> {
        let Some(relation) = self.relation(atom.name, atom.args.len()) else {
            return Ok(false);
        };
        if let Some(rows) = self.reference.machine.stored_rows(relation) {
            return Ok(rows.rows().find(&atom.args).is_some());
        }
        let args: Vec<Option<TermId>> = atom.args.iter().copied().map(Some).collect();
        Ok(!self.reference.machine.rows(relation, &args)?.is_empty())
    }

    fn clauses_of(&self, atom: &Atom) -> Vec<&'r Clause> {
        let found = self.clauses.get(&(atom.name, atom.args.len()));
        found.cloned().unwrap_or_default()
    }

    /// The reason of an atom that holds.
    fn proof(&mut self, atom: &Atom, depth: usize, failed: usize) -> Result<Because, Fault> {
        if self.is_given(atom) {
            return Ok(Because::Given);
        }
        self.nodes -= 1;
        self.choose(atom)?;
        let Some(Instance { clause, env }) = self.chosen.get(atom).cloned() else {
            return Ok(Because::Cut);
        };
        if clause.body.is_empty() {
            return Ok(Because::Fact(clause.offset));
        }
        let order: Vec<usize> = (0..clause.body.len()).collect();
        self.derivation(clause, &env, &order, None, depth, failed)
            .map(Because::Rule)
    }

    /// Finds an instance that proves an atom that holds.
    fn choose(&mut self, goal: &Atom) -> Result<(), Fault> {
        if self.chosen.contains_key(goal) {
            return Ok(());
        }
        // The atoms of the goal's component that its instances lead to, with these instances.
        let mut instances: Vec<(Atom, Instance<'r>, Vec<Atom>)> = Vec::new();
        let mut seen = FxHashSet::from_iter([goal.clone()]);
        let mut todo = VecDeque::from([goal.clone()]);
        while let Some(atom) = todo.pop_front() {
            for instance in self.instances(&atom)? {
                let needed = self.together(goal, &instance);
                let done = needed.is_empty();
                for next in &needed {
                    if seen.len() < MAX_TOGETHER && !self.chosen.contains_key(next) && seen.insert(next.clone()) {
                        todo.push_back(next.clone());
                    }
                }
                instances.push((atom.clone(), instance, needed));
                if done {
                    break;
                }
            }
        }
        // From below: an atom is derived once everything that an instance needs is. What was found last is deepest.
        let mut grown = true;
        while grown {
            grown = false;
            for (atom, instance, needed) in instances.iter().rev() {
                if !self.chosen.contains_key(atom) && needed.iter().all(|n| self.chosen.contains_key(n)) {
                    self.chosen.insert(atom.clone(), instance.clone());
                    grown = true;
                }
            }
        }
        Ok(())
    }

    /// The atoms of an instance that belong to the component of the goal.
    fn together(&mut self, goal: &Atom, instance: &Instance) -> Vec<Atom> {
        let component = |me: &Self, name, arity| {
            let relation = me.relation(name, arity);
            relation.map(|r| me.reference.machine.theory.relation(r).component)
        };
        let own = component(self, goal.name, goal.args.len());
        let mut found = Vec::new();
        for literal in &instance.clause.body {
            if let Literal::Pos(atom) = literal
                && component(self, atom.relation, atom.args.len()) == own
                && let Some(atom) = self.build_atom(atom, &instance.env)
                && !self.is_given(&atom)
            {
                found.push(atom);
            }
        }
        found
    }

    /// Instances of clauses that derive an atom, those without conditions first.
    fn instances(&mut self, atom: &Atom) -> Result<Vec<Instance<'r>>, Fault> {
        let mut found = Vec::new();
        let mut clauses = self.clauses_of(atom);
        clauses.sort_by_key(|c| c.body.len());
        for clause in clauses {
            if let Some(env) = self.match_head(clause, atom) {
                self.solve(clause, env, &mut |env| {
                    found.push(Instance { clause, env });
                    found.len() < MAX_INSTANCES
                })?;
            }
            if found.len() >= MAX_INSTANCES {
                break;
            }
        }
        Ok(found)
    }

    /// The reason of an atom that does not hold.
    fn refutation(&mut self, atom: &Atom, depth: usize, failed: usize) -> Result<Because, Fault> {
        if self.is_given(atom) {
            return Ok(Because::Given);
        }
        if failed >= MAX_FAILED {
            return Ok(Because::Cut);
        }
        self.nodes -= 1;
        let mut attempts = Vec::new();
        for clause in self.clauses_of(atom) {
            let Some(env) = self.match_head(clause, atom) else {
                continue;
            };
            if let Some(Failure { env, order }) = self.solve(clause, env, &mut |_| true)? {
                let last = order.len() - 1;
                attempts.push(self.derivation(clause, &env, &order, Some(last), depth, failed + 1)?);
            }
        }
        Ok(match self.tries {
            0 => Because::Cut,
            _ => Because::Failed(attempts),
        })
    }

    /// A clause with the conditions of `order`, all of which hold but the one at `fails`.
    fn derivation(
        &mut self,
        clause: &'r Clause,
        env: &Env,
        order: &[usize],
        fails: Option<usize>,
        depth: usize,
        failed: usize,
    ) -> Result<Derivation, Fault> {
        let mut conditions = Vec::with_capacity(order.len());
        for (place, &at) in order.iter().enumerate() {
            let holds = fails != Some(place);
            let literal = &clause.body[at];
            // Of a clause that fails, only the condition that fails is explained further.
            let explained = holds == fails.is_none();
            conditions.push(Condition {
                text: self.literal_text(literal, clause, env),
                holds,
                why: match literal {
                    Literal::Pos(atom) | Literal::Neg(atom) if explained => {
                        // What does not hold is explained to a smaller depth.
                        let inner = if matches!(literal, Literal::Neg(_)) && holds {
                            failed + 2
                        } else {
                            failed
                        };
                        let atom = self.build_atom(atom, env);
                        let why = atom.map(|atom| self.explain(&atom, depth + 1, inner));
                        why.transpose()?.map(Box::new)
                    }
                    _ => None,
                },
            });
        }
        let bindings = clause.variables.iter().zip(env);
        Ok(Derivation {
            offset: clause.offset,
            bindings: bindings
                .filter_map(|(name, value)| Some((name.clone(), self.reference.text((*value)?))))
                .collect(),
            conditions,
        })
    }

    fn match_head(&self, clause: &Clause, atom: &Atom) -> Option<Env> {
        let mut env = vec![None; clause.variables.len()];
        let mut pairs = clause.head.args.iter().zip(&atom.args);
        pairs
            .all(|(term, &value)| self.matches(term, value, &mut env))
            .then_some(env)
    }

    fn matches(&self, term: &Term, value: TermId, env: &mut Env) -> bool {
        let terms = &self.reference.machine.terms;
        match term {
            Term::Var(v) => match env[*v as usize] {
                Some(known) => known == value,
                None => {
                    env[*v as usize] = Some(value);
                    true
                }
            },
            Term::Fun(name, args) => {
                terms.symbol(value) == *name
                    && terms.args(value).len() == args.len()
                    && (0..args.len()).all(|i| self.matches(&args[i], terms.args(value)[i], env))
            }
        }
    }

    /// Calls `found` with the values by which all conditions of a clause hold, until it returns false. If there are
    /// none, returns the deepest failure.
    fn solve(
        &mut self,
        clause: &Clause,
        env: Env,
        found: &mut dyn FnMut(Env) -> bool,
    ) -> Result<Option<Failure>, Fault> {
        let order = self.order(clause, &env);
        let mut deepest: Option<Failure> = None;
        let mut any = false;
        // The values that are left to try for each condition so far.
        let mut levels: Vec<Vec<Env>> = vec![vec![env]];
        while let Some(level) = levels.last_mut() {
            let Some(env) = level.pop() else {
                levels.pop();
                continue;
            };
            let Some(&at) = order.get(levels.len() - 1) else {
                any = true;
                if !found(env) {
                    break;
                }
                continue;
            };
            let mut passing = self.passing(&clause.body[at], &env)?;
            if passing.is_empty() {
                if deepest.as_ref().is_none_or(|d| d.order.len() < levels.len()) {
                    deepest = Some(Failure {
                        env,
                        order: order[..levels.len()].to_vec(),
                    });
                }
                continue;
            }
            // The first row is tried first.
            passing.reverse();
            levels.push(passing);
            if self.tries == 0 {
                break;
            }
        }
        Ok(deepest.filter(|_| !any))
    }

    /// The values, extended, by which a condition holds.
    fn passing(&mut self, literal: &Literal, env: &Env) -> Result<Vec<Env>, Fault> {
        self.tries = self.tries.saturating_sub(1);
        let passes = match literal {
            Literal::Distinct(a, b) => self.build(a, env) != self.build(b, env),
            Literal::Neg(atom) => match self.build_atom(atom, env) {
                Some(atom) => !self.holds(&atom)?,
                None => false,
            },
            Literal::Pos(atom) => match self.build_atom(atom, env) {
                Some(atom) => self.holds(&atom)?,
                None => return self.rows(atom, env),
            },
        };
        Ok(if passes { vec![env.clone()] } else { Vec::new() })
    }

    fn rows(&mut self, atom: &gdl::Atom, env: &Env) -> Result<Vec<Env>, Fault> {
        let Some(relation) = self.relation(atom.relation, atom.args.len()) else {
            return Ok(Vec::new());
        };
        let args: Vec<Option<TermId>> = atom.args.iter().map(|t| self.build(t, env)).collect();
        let open: Vec<&Term> = (atom.args.iter().zip(&args))
            .filter(|(_, a)| a.is_none())
            .map(|(t, _)| t)
            .collect();
        let mut found = Vec::new();
        for row in self.reference.machine.rows(relation, &args)? {
            self.tries = self.tries.saturating_sub(1);
            if self.tries == 0 {
                break;
            }
            let mut extended = env.clone();
            if open
                .iter()
                .zip(&row)
                .all(|(term, &value)| self.matches(term, value, &mut extended))
            {
                found.push(extended);
            }
        }
        Ok(found)
    }

    /// The order in which conditions are tried: tests as soon as their variables have values, and of the others the one
    /// with fewest open variables.
    fn order(&self, clause: &Clause, env: &Env) -> Vec<usize> {
        let mut left: Vec<usize> = (0..clause.body.len()).collect();
        if left.len() > MAX_ORDERED {
            return left;
        }
        let mut bound: FxHashSet<u32> = (0..env.len() as u32).filter(|&v| env[v as usize].is_some()).collect();
        let mut order = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let open = |&at: &usize| {
                let mut open = FxHashSet::default();
                clause.body[at].for_each_var(&mut |v| {
                    if !bound.contains(&v) {
                        open.insert(v);
                    }
                });
                // A test whose variables have no value yet must wait.
                let is_test = !matches!(clause.body[at], Literal::Pos(_));
                (is_test && !open.is_empty(), open.len())
            };
            let next = (0..left.len()).min_by_key(|&i| open(&left[i])).expect("some are left");
            let at = left.remove(next);
            clause.body[at].for_each_var(&mut |v| {
                bound.insert(v);
            });
            order.push(at);
        }
        order
    }

    fn build(&mut self, term: &Term, env: &Env) -> Option<TermId> {
        match term {
            Term::Var(v) => env[*v as usize],
            Term::Fun(name, args) => {
                let args: Option<Vec<TermId>> = args.iter().map(|t| self.build(t, env)).collect();
                Some(self.reference.machine.terms.intern(*name, &args?))
            }
        }
    }

    fn build_atom(&mut self, atom: &gdl::Atom, env: &Env) -> Option<Atom> {
        let args: Option<Vec<TermId>> = atom.args.iter().map(|t| self.build(t, env)).collect();
        Some(Atom {
            name: atom.relation,
            args: args?,
        })
    }

    fn text_of(&mut self, atom: &Atom) -> String {
        let term = self.reference.machine.terms.intern(atom.name, &atom.args);
        self.reference.text(term)
    }

    fn literal_text(&self, literal: &Literal, clause: &Clause, env: &Env) -> String {
        let term = |t: &Term| self.term_text(t, clause, env);
        let atom = |a: &gdl::Atom| {
            let name = self.reference.symbols.text(a.relation);
            match a.args.is_empty() {
                true => name.to_owned(),
                false => format!("({name} {})", a.args.iter().map(term).collect::<Vec<_>>().join(" ")),
            }
        };
        match literal {
            Literal::Pos(a) => atom(a),
            Literal::Neg(a) => format!("(not {})", atom(a)),
            Literal::Distinct(a, b) => format!("(distinct {} {})", term(a), term(b)),
        }
    }

    /// The text of a term; variables without a value keep their names.
    fn term_text(&self, term: &Term, clause: &Clause, env: &Env) -> String {
        match term {
            Term::Var(v) => match env[*v as usize] {
                Some(value) => self.reference.text(value),
                None => clause.variables[*v as usize].clone(),
            },
            Term::Fun(name, args) if args.is_empty() => self.reference.symbols.text(*name).to_owned(),
            Term::Fun(name, args) => {
                let args: Vec<String> = args.iter().map(|t| self.term_text(t, clause, env)).collect();
                format!("({} {})", self.reference.symbols.text(*name), args.join(" "))
            }
        }
    }
}
