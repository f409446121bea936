//! What can ever hold: an over-approximation of all plays, round by round.
//!
//! An abstract interpretation (Cousot and Cousot 1977) of the rules over [`sets::Set`]. The abstract state of round 1
//! is what `init` makes. The rules, with `not` taken as "may hold", give what may be legal, seen and next; `next` is
//! the abstract state of the following round, until a state is contained in an earlier one. Everything that happens in
//! some play happens here in the same round, so what never happens here is proved never to happen.
//!
//! Relations that facts alone define are kept as tables and joined row by row; of other relations only the set of
//! values of each argument is known, and for `legal`, `does`, `goal` and `sees` these sets are kept role by role. After
//! [`MAX_ROUNDS`] rounds all later rounds share one state. The work is limited: a description that needs more is first
//! tried with one state for all rounds, and then given up ([`Reach::of`] is `None`).

mod evaluate;
mod extension;
pub(crate) mod sets;

use crate::check::components;
use crate::forms::{Condition, Form, PlacedAtom, Pred};
use crate::rules::Term;
use crate::source::Span;
use crate::symbol::{Symbol, kw};
pub(crate) use evaluate::may_match;
use extension::{Builder, Extension};
use sets::{Fuel, Set};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

/// Rounds with a state of their own. Sets of rounds are bits of a word; the last bit stands for all later rounds.
const MAX_ROUNDS: usize = 62;
/// Steps for the analysis round by round, and for the one with a single state.
const FUEL: [u64; 2] = [1_000_000, 500_000];
/// Rows of a table that is joined row by row.
const MAX_ROWS: usize = 1_000;
/// Roles (or other first arguments of `legal` and the like) that are told apart.
const MAX_BLOCKS: usize = 64;
/// Passes over the conditions of a rule.
const MAX_PASSES: usize = 4;

/// A set of rounds: bit `t` is the state before round `t + 1`.
pub(crate) type Rounds = u64;

/// What may hold, and when.
pub(crate) struct Reach<'a> {
    /// Rules and facts that are not rows of a table, in the order of the source.
    pub rules: Vec<Rule<'a>>,
    /// Relations by number.
    pub preds: Vec<Pred>,
    index: HashMap<Pred, usize>,
    /// What may hold in some round, by relation.
    pub ever: Vec<Extension>,
    /// Rounds in which each atom of a body may hold by itself, by number of the atom.
    pub holds: Vec<Rounds>,
    /// Rounds in which each branch of a disjunction may hold, by number of the branch.
    pub branches: Vec<Rounds>,
    /// Names of the roles.
    pub roles: Vec<Symbol>,
    tables: Vec<Option<Vec<&'a [Term]>>>,
    components: Vec<Component>,
    dynamic: Vec<bool>,
    /// What held in the round before, by relation, and how often that has changed.
    before: Vec<Extension>,
    changes: Vec<u32>,
    fuel: Fuel,
}

/// A rule.
pub(crate) struct Rule<'a> {
    pub form: &'a Form,
    head: usize,
    pub body: Vec<Goal<'a>>,
    /// Rounds in which it may apply.
    pub fires: Rounds,
    /// Relations of the body, and the numbers of its atoms and branches.
    reads: Vec<usize>,
    atoms: Range<usize>,
    branches: Range<usize>,
    /// The round in which it was last evaluated, and the result.
    last: Option<Evaluation>,
}

/// The result of a rule in one round.
struct Evaluation {
    round: Rounds,
    /// Changes of the relations that it reads, at that time.
    seen: Vec<u32>,
    made: Option<Vec<Set>>,
}

/// A condition of a rule.
pub(crate) enum Goal<'a> {
    Atom(AtomGoal<'a>),
    Distinct(&'a Term, &'a Term),
    Same(&'a Term, &'a Term),
    Or(Vec<Branch<'a>>),
}

/// A condition with a relation.
pub(crate) struct AtomGoal<'a> {
    pub placed: &'a PlacedAtom,
    pub positive: bool,
    /// Number of the atom, for [`Reach::holds`].
    pub id: usize,
    /// Number of the relation.
    pub relation: usize,
}

/// A branch of a disjunction.
pub(crate) struct Branch<'a> {
    pub goals: Vec<Goal<'a>>,
    /// Number of the branch, for [`Reach::branches`].
    pub id: usize,
    pub span: Span,
}

struct Component {
    rules: Vec<usize>,
    relations: Vec<usize>,
    cyclic: bool,
    dynamic: bool,
}

/// Values of the variables of a rule.
type Values = Vec<Set>;

impl<'a> Reach<'a> {
    /// The analysis of the forms, or `None` if it needs too much work.
    pub fn of(forms: &'a [Form]) -> Option<Reach<'a>> {
        for (by_rounds, fuel) in [true, false].into_iter().zip(FUEL) {
            let mut reach = Reach::prepare(forms, fuel);
            reach.run_static();
            reach.run(by_rounds);
            if !reach.fuel.is_empty() {
                return Some(reach);
            }
        }
        None
    }

    pub fn relation(&self, pred: Pred) -> Option<usize> {
        self.index.get(&pred).copied()
    }

    /// The fluents that may hold in some round.
    pub fn fluents(&self) -> Set {
        self.unary(&self.ever[self.index[&(kw::TRUE, 1)]])
    }

    fn prepare(forms: &'a [Form], fuel: u64) -> Reach<'a> {
        let mut reach = Reach {
            rules: Vec::new(),
            preds: Vec::new(),
            index: HashMap::new(),
            ever: Vec::new(),
            holds: Vec::new(),
            branches: Vec::new(),
            roles: Vec::new(),
            tables: Vec::new(),
            components: Vec::new(),
            dynamic: Vec::new(),
            before: Vec::new(),
            changes: Vec::new(),
            fuel: Fuel::new(fuel),
        };
        let keywords = [
            (kw::ROLE, 1),
            (kw::INIT, 1),
            (kw::TRUE, 1),
            (kw::NEXT, 1),
            (kw::LEGAL, 2),
            (kw::DOES, 2),
        ];
        for pred in keywords {
            reach.number(pred);
        }
        let mut edges: Vec<Vec<usize>> = Vec::new();
        for form in forms {
            let head = reach.number(form.head.pred());
            let (atoms, branches) = (reach.holds.len(), reach.branches.len());
            let body = reach.goals(&form.body);
            let mut reads = Vec::new();
            form.for_each_atom(&mut |atom, _| reads.push(reach.index[&atom.pred()]));
            reads.sort_unstable();
            reads.dedup();
            edges.resize(reach.preds.len(), Vec::new());
            edges[head].extend(&reads);
            reach.rules.push(Rule {
                form,
                head,
                body,
                fires: 0,
                reads,
                atoms: atoms..reach.holds.len(),
                branches: branches..reach.branches.len(),
                last: None,
            });
        }
        edges.resize(reach.preds.len(), Vec::new());
        let (does, legal) = (reach.index[&(kw::DOES, 2)], reach.index[&(kw::LEGAL, 2)]);
        edges[does].push(legal);
        reach.collect_tables();
        reach.order(&edges);
        reach.ever = vec![Extension::default(); reach.preds.len()];
        reach.before.clone_from(&reach.ever);
        reach.changes = vec![0; reach.preds.len()];
        reach
    }

    fn number(&mut self, pred: Pred) -> usize {
        *self.index.entry(pred).or_insert_with(|| {
            self.preds.push(pred);
            self.preds.len() - 1
        })
    }

    fn goals(&mut self, conditions: &'a [Condition]) -> Vec<Goal<'a>> {
        conditions.iter().map(|c| self.goal(c)).collect()
    }

    fn goal(&mut self, condition: &'a Condition) -> Goal<'a> {
        match condition {
            Condition::Pos(placed) => self.atom_goal(placed, true),
            Condition::Neg(placed) => self.atom_goal(placed, false),
            Condition::Distinct(a, b, _) => Goal::Distinct(a, b),
            Condition::Same(a, b, _) => Goal::Same(a, b),
            Condition::Or(branches, span) => {
                let branch = |reach: &mut Self, goals: &'a [Condition]| {
                    reach.branches.push(0);
                    let id = reach.branches.len() - 1;
                    let span = goals.iter().filter_map(span_of).reduce(Span::to).unwrap_or(*span);
                    let goals = reach.goals(goals);
                    Branch { goals, id, span }
                };
                Goal::Or(branches.iter().map(|b| branch(self, b)).collect())
            }
        }
    }

    fn atom_goal(&mut self, placed: &'a PlacedAtom, positive: bool) -> Goal<'a> {
        self.holds.push(0);
        let id = self.holds.len() - 1;
        let relation = self.number(placed.pred());
        Goal::Atom(AtomGoal {
            placed,
            positive,
            id,
            relation,
        })
    }

    /// Relations that only facts define become tables, if they are not too long.
    fn collect_tables(&mut self) {
        let mut tables: Vec<Option<Vec<&'a [Term]>>> = vec![Some(Vec::new()); self.preds.len()];
        for rule in &self.rules {
            let table = &mut tables[rule.head];
            if !rule.body.is_empty() || table.as_ref().is_some_and(|rows| rows.len() >= MAX_ROWS) {
                *table = None;
            } else if let Some(rows) = table {
                rows.push(&rule.form.head.atom.args);
            }
        }
        for keyword in [kw::TRUE, kw::NEXT, kw::LEGAL, kw::DOES] {
            for arity in [1, 2] {
                if let Some(&relation) = self.index.get(&(keyword, arity)) {
                    tables[relation] = None;
                }
            }
        }
        self.tables = tables.into_iter().map(|t| t.filter(|rows| !rows.is_empty())).collect();
    }

    fn order(&mut self, edges: &[Vec<usize>]) {
        let numbers = components(edges);
        let n = numbers.iter().max().map_or(0, |m| m + 1);
        let mut components: Vec<Component> = (0..n)
            .map(|_| Component {
                rules: Vec::new(),
                relations: Vec::new(),
                cyclic: false,
                dynamic: false,
            })
            .collect();
        let (mut sizes, mut dynamic) = (vec![0; n], vec![false; n]);
        for (relation, &number) in numbers.iter().enumerate() {
            components[number].relations.push(relation);
            sizes[number] += 1;
            components[number].cyclic |= sizes[number] > 1 || edges[relation].contains(&relation);
            dynamic[number] |= matches!(self.preds[relation], (kw::TRUE | kw::NEXT, 1) | (kw::DOES, 2));
        }
        // Dependencies have smaller numbers.
        for number in 0..n {
            let relations = &components[number].relations;
            let depends = relations
                .iter()
                .flat_map(|&r| &edges[r])
                .any(|&to| dynamic[numbers[to]]);
            dynamic[number] |= depends;
            components[number].dynamic = dynamic[number];
        }
        for (i, rule) in self.rules.iter().enumerate() {
            components[numbers[rule.head]].rules.push(i);
        }
        self.dynamic = numbers.iter().map(|&number| dynamic[number]).collect();
        self.components = components;
    }

    fn run_static(&mut self) {
        let mut now = vec![Extension::default(); self.preds.len()];
        self.add_facts(&mut now);
        self.run_components(&mut now, false, 1);
        let roles = self.unary(&now[self.index[&(kw::ROLE, 1)]]);
        if let Set::These(members) = roles {
            self.roles.clone_from(&members.constants);
        }
        self.ever = now;
    }

    /// Facts are added all at once: one by one they would take quadratic time.
    fn add_facts(&self, now: &mut [Extension]) {
        let mut builders: BTreeMap<usize, BTreeMap<Option<Symbol>, Vec<Builder>>> = BTreeMap::new();
        for rule in self.rules.iter().filter(|r| r.body.is_empty()) {
            let args = &rule.form.head.atom.args;
            let blocks = builders.entry(rule.head).or_default();
            let first = match args.first() {
                Some(Term::Fun(name, inner)) if inner.is_empty() && self.is_split(rule.head) => Some(*name),
                _ => None,
            };
            let first = first.filter(|f| blocks.len() < MAX_BLOCKS || blocks.contains_key(&Some(*f)));
            let block = blocks.entry(first).or_default();
            block.resize_with(args.len(), Builder::default);
            for (builder, arg) in block.iter_mut().zip(args) {
                builder.add(arg);
            }
        }
        for (relation, blocks) in builders {
            for (first, block) in blocks {
                let sets: Vec<Set> = block.into_iter().map(|b| b.finish(&self.fuel)).collect();
                now[relation].blocks.push((first, sets));
            }
        }
    }

    fn is_split(&self, relation: usize) -> bool {
        matches!(
            self.preds[relation],
            (kw::LEGAL | kw::DOES | kw::GOAL | kw::SEES | kw::INPUT, 2)
        )
    }

    /// Evaluates the rules of the static or of the dynamic relations, dependencies first.
    fn run_components(&mut self, now: &mut [Extension], dynamic: bool, round: Rounds) {
        let components = std::mem::take(&mut self.components);
        for component in components.iter().filter(|c| c.dynamic == dynamic) {
            loop {
                let mut changed = false;
                for &rule in &component.rules {
                    if self.rules[rule].body.is_empty() {
                        self.rules[rule].fires |= round;
                    } else if component.cyclic || !self.repeat(rule, now, round) {
                        changed |= self.apply(rule, now, round);
                    }
                }
                if !changed || !component.cyclic || self.fuel.is_empty() {
                    break;
                }
            }
            for &relation in &component.relations {
                if self.preds[relation] == (kw::DOES, 2) {
                    now[relation] = self.does(&now[self.index[&(kw::LEGAL, 2)]]);
                }
                self.note_change(relation, now);
            }
        }
        self.components = components;
    }

    /// Moves that may be made: the legal moves of roles.
    fn does(&self, legal: &Extension) -> Extension {
        let is_role = |(first, _): &&(Option<Symbol>, Vec<Set>)| {
            first.is_none_or(|name| self.roles.is_empty() || self.roles.binary_search(&name).is_ok())
        };
        Extension {
            blocks: legal.blocks.iter().filter(is_role).cloned().collect(),
        }
    }

    /// Compares a relation with what it was in the round before.
    fn note_change(&mut self, relation: usize, now: &mut [Extension]) {
        if now[relation] == self.before[relation] {
            // The shared copy makes later comparisons cheap.
            now[relation].clone_from(&self.before[relation]);
        } else {
            self.changes[relation] += 1;
            self.before[relation].clone_from(&now[relation]);
        }
    }

    /// Repeats the result of a rule if nothing that it reads has changed since; false if it has to be evaluated.
    fn repeat(&mut self, number: usize, now: &mut [Extension], round: Rounds) -> bool {
        let rule = &self.rules[number];
        let Some(last) = &rule.last else {
            return false;
        };
        self.fuel.burn(rule.reads.len());
        if rule
            .reads
            .iter()
            .zip(&last.seen)
            .any(|(&r, &seen)| self.changes[r] != seen)
        {
            return false;
        }
        let carry = |mask: &mut Rounds| {
            if *mask & last.round != 0 {
                *mask |= round;
            }
        };
        self.holds[rule.atoms.clone()].iter_mut().for_each(carry);
        self.branches[rule.branches.clone()].iter_mut().for_each(carry);
        if let Some(made) = last.made.clone() {
            let split = self.is_split(rule.head);
            now[rule.head].add(made, split, &self.fuel);
            self.rules[number].fires |= round;
        }
        true
    }

    /// Evaluates a rule; says whether its relation has grown.
    fn apply(&mut self, number: usize, now: &mut [Extension], round: Rounds) -> bool {
        let rules = std::mem::take(&mut self.rules);
        let rule = &rules[number];
        let mut values = vec![Set::Any; rule.form.variables.len()];
        self.fuel.burn(values.len());
        let fires = !self.fuel.is_empty() && self.conjunction(&rule.body, &mut values, now, round);
        let made: Option<Vec<Set>> = fires.then(|| {
            rule.form
                .head
                .atom
                .args
                .iter()
                .map(|t| self.set_of(t, &values))
                .collect()
        });
        let mut changed = false;
        if let Some(args) = &made {
            let split = self.is_split(rule.head);
            changed = now[rule.head].add(args.clone(), split, &self.fuel);
        }
        let seen = rule.reads.iter().map(|&r| self.changes[r]).collect();
        self.rules = rules;
        if fires {
            self.rules[number].fires |= round;
        }
        self.rules[number].last = Some(Evaluation { round, seen, made });
        changed
    }

    fn unary(&self, extension: &Extension) -> Set {
        let sets = extension.blocks.iter().filter_map(|(_, sets)| sets.first());
        sets.fold(Set::empty(), |all, set| all.union(set, &self.fuel))
    }

    fn run(&mut self, by_rounds: bool) {
        let fixed = self.ever.clone();
        let next = self.index[&(kw::NEXT, 1)];
        let truth = self.index[&(kw::TRUE, 1)];
        let mut state = self.unary(&fixed[self.index[&(kw::INIT, 1)]]);
        let mut states: Vec<Set> = Vec::new();
        loop {
            let round = 1
                << if by_rounds {
                    states.len().min(MAX_ROUNDS + 1)
                } else {
                    MAX_ROUNDS + 1
                };
            let mut now = fixed.clone();
            for (relation, extension) in now.iter_mut().enumerate() {
                self.fuel.burn(1);
                if self.preds[relation] == (kw::TRUE, 1) && !state.is_empty() {
                    extension.blocks = vec![(None, vec![state.clone()])];
                }
            }
            self.run_components(&mut now, true, round);
            if self.fuel.is_empty() {
                return;
            }
            let after = self.unary(&now[next]);
            self.add_to_ever(now, truth);
            if by_rounds && states.len() <= MAX_ROUNDS {
                states.push(state);
                if states.iter().any(|s| after.is_subset(s, &self.fuel)) {
                    return;
                }
                state = after;
            } else {
                if after.is_subset(&state, &self.fuel) {
                    return;
                }
                state = state.union(&after, &self.fuel);
            }
        }
    }

    fn add_to_ever(&mut self, now: Vec<Extension>, truth: usize) {
        for (relation, extension) in now.into_iter().enumerate() {
            if self.dynamic[relation] || relation == truth {
                let split = self.is_split(relation);
                for (_, sets) in extension.blocks {
                    self.ever[relation].add(sets, split, &self.fuel);
                }
            }
        }
    }

    /// What each condition asks for, with all rounds taken together: calls `visit` with the rule, the condition, and
    /// the possible arguments. A condition of a rule that never applies may ask for anything of its shape: what is
    /// wrong with the rule is reported by itself.
    pub fn for_each_question(&mut self, visit: &mut impl FnMut(&Rule<'a>, &AtomGoal<'a>, Vec<Set>)) {
        let now = self.ever.clone();
        let rules = std::mem::take(&mut self.rules);
        for rule in &rules {
            let mut values = vec![Set::Any; rule.form.variables.len()];
            if rule.fires != 0 && self.conjunction(&rule.body, &mut values, &now, 0) {
                self.questions(rule, &rule.body, &values, &now, visit);
            } else {
                let values = vec![Set::Any; rule.form.variables.len()];
                self.shapes(rule, &rule.body, &values, visit);
            }
        }
        self.rules = rules;
    }

    fn shapes(
        &self,
        rule: &Rule<'a>,
        goals: &[Goal<'a>],
        values: &Values,
        visit: &mut impl FnMut(&Rule<'a>, &AtomGoal<'a>, Vec<Set>),
    ) {
        for goal in goals {
            match goal {
                Goal::Atom(atom) => {
                    let args = &atom.placed.atom.args;
                    let mut sets: Vec<Set> = args.iter().map(|t| self.set_of(t, values)).collect();
                    // The role may be what is wrong.
                    if atom.placed.pred() == (kw::DOES, 2) {
                        sets[0] = Set::Any;
                    }
                    visit(rule, atom, sets);
                }
                Goal::Or(branches) => branches.iter().for_each(|b| self.shapes(rule, &b.goals, values, visit)),
                Goal::Distinct(..) | Goal::Same(..) => {}
            }
        }
    }

    fn questions(
        &mut self,
        rule: &Rule<'a>,
        goals: &[Goal<'a>],
        values: &Values,
        now: &[Extension],
        visit: &mut impl FnMut(&Rule<'a>, &AtomGoal<'a>, Vec<Set>),
    ) {
        for goal in goals {
            match goal {
                Goal::Atom(atom) => {
                    let args = &atom.placed.atom.args;
                    visit(rule, atom, args.iter().map(|t| self.set_of(t, values)).collect());
                }
                Goal::Or(branches) => {
                    for branch in branches {
                        let mut own = values.clone();
                        if self.conjunction(&branch.goals, &mut own, now, 0) {
                            self.questions(rule, &branch.goals, &own, now, visit);
                        }
                    }
                }
                Goal::Distinct(..) | Goal::Same(..) => {}
            }
        }
    }

    /// What the heads of rules that can apply may make, with all rounds taken together.
    pub fn for_each_head(&mut self, heads: &[Pred], visit: &mut impl FnMut(&Rule<'a>, Vec<Set>)) {
        let now = self.ever.clone();
        let rules = std::mem::take(&mut self.rules);
        for rule in rules
            .iter()
            .filter(|r| r.fires != 0 && heads.contains(&r.form.head.pred()))
        {
            let mut values = vec![Set::Any; rule.form.variables.len()];
            if self.conjunction(&rule.body, &mut values, &now, 0) {
                let args = &rule.form.head.atom.args;
                visit(rule, args.iter().map(|t| self.set_of(t, &values)).collect());
            }
        }
        self.rules = rules;
    }

    /// The first condition of a rule that cannot hold together with those before it, with all rounds taken together.
    pub fn first_conflict(&mut self, rule: usize) -> Option<usize> {
        let now = self.ever.clone();
        let rules = std::mem::take(&mut self.rules);
        let this = &rules[rule];
        let conflict = (1..=this.body.len().min(64)).find(|&n| {
            let mut values = vec![Set::Any; this.form.variables.len()];
            !self.conjunction(&this.body[..n], &mut values, &now, 0)
        });
        self.rules = rules;
        conflict.map(|n| n - 1)
    }

    pub fn fuel(&self) -> &Fuel {
        &self.fuel
    }
}

fn span_of(condition: &Condition) -> Option<Span> {
    match condition {
        Condition::Pos(atom) | Condition::Neg(atom) => Some(atom.span),
        Condition::Distinct(_, _, span) | Condition::Same(_, _, span) | Condition::Or(_, span) => Some(*span),
    }
}

/// Names of the functions and constants that stand in the place of a fluent or move, for `(true NAME)` and the like.
pub(crate) fn names_of(set: &Set) -> HashSet<(Symbol, usize)> {
    match set {
        Set::Any => HashSet::new(),
        Set::These(m) => {
            let functions = m.functions.iter().map(|(name, args)| (*name, args.len()));
            m.constants.iter().map(|&c| (c, 0)).chain(functions).collect()
        }
    }
}
