//! Rules as the engines use them: numbered relations, facts apart from rules, and dependencies.

use crate::scc::Graph;
use gdl::{Rules, Symbol, Term, kw};
use rustc_hash::FxHashMap;

/// A relation: a name with a number of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RelId(pub u32);

/// The relations of the language itself; they exist in every [`Theory`].
pub(crate) mod rel {
    use super::RelId;
    use gdl::{Symbol, kw};

    pub const ROLE: RelId = RelId(0);
    pub const INIT: RelId = RelId(1);
    pub const TRUE: RelId = RelId(2);
    pub const LEGAL: RelId = RelId(3);
    pub const DOES: RelId = RelId(4);
    pub const NEXT: RelId = RelId(5);
    pub const TERMINAL: RelId = RelId(6);
    pub const GOAL: RelId = RelId(7);
    pub const SEES: RelId = RelId(8);
    pub const BASE: RelId = RelId(9);
    pub const INPUT: RelId = RelId(10);

    pub(super) const ALL: [(Symbol, usize); 11] = [
        (kw::ROLE, 1),
        (kw::INIT, 1),
        (kw::TRUE, 1),
        (kw::LEGAL, 2),
        (kw::DOES, 2),
        (kw::NEXT, 1),
        (kw::TERMINAL, 0),
        (kw::GOAL, 2),
        (kw::SEES, 2),
        (kw::BASE, 1),
        (kw::INPUT, 2),
    ];

    /// The relations that a game is asked for.
    pub const ASKED: [RelId; 7] = [ROLE, INIT, LEGAL, NEXT, TERMINAL, GOAL, SEES];

    /// The relations that a game is asked for in play.
    pub const OUTPUTS: [RelId; 5] = [LEGAL, NEXT, TERMINAL, GOAL, SEES];
}

/// What a relation depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Layer {
    /// The rules alone.
    Static,
    /// The state.
    State,
    /// The state and the joint move.
    Move,
}

/// A relation and its properties.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    /// Name for messages, such as `cell/3`.
    pub label: String,
    pub arity: usize,
    pub layer: Layer,
    /// Whether it only says which instances of rules are needed: its atoms, once derived, count as true.
    pub is_filter: bool,
    /// Whether some relation in a cycle with this one (or itself) is negated there.
    pub negated_in_cycle: bool,
    /// Numbers of its rules; none for a relation that is only facts.
    pub rules: Vec<u32>,
    /// Its facts, if it has no rules.
    pub facts: Vec<Vec<Term>>,
    /// Strongly connected component; callees have smaller numbers.
    pub component: u32,
}

/// A condition of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Literal {
    Pos(RelId, Vec<Term>),
    Neg(RelId, Vec<Term>),
    Distinct(Term, Term),
}

impl Literal {
    pub fn terms(&self) -> Vec<&Term> {
        match self {
            Literal::Pos(_, args) | Literal::Neg(_, args) => args.iter().collect(),
            Literal::Distinct(a, b) => vec![a, b],
        }
    }

    pub fn for_each_var(&self, visit: &mut impl FnMut(u32)) {
        self.terms().iter().for_each(|t| t.for_each_var(visit));
    }

    pub fn relation(&self) -> Option<RelId> {
        match self {
            Literal::Pos(rel, _) | Literal::Neg(rel, _) => Some(*rel),
            Literal::Distinct(..) => None,
        }
    }
}

/// A clause with a body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Rule {
    pub head: RelId,
    pub args: Vec<Term>,
    pub body: Vec<Literal>,
    pub n_vars: usize,
}

/// All relations and rules of a game.
#[derive(Clone, Debug)]
pub(crate) struct Theory {
    pub relations: Vec<Relation>,
    pub rules: Vec<Rule>,
    /// One relation per `role` rule, holding the roles of that rule alone: their order counts.
    pub role_rules: Vec<RelId>,
    index: FxHashMap<(Symbol, usize), RelId>,
    /// Whether relations that are asked for in play count as depending on the state in any case.
    outputs_change: bool,
}

impl Theory {
    /// Numbers relations and separates facts from rules.
    pub fn new(rules: &Rules) -> Theory {
        let mut theory = Theory {
            relations: Vec::new(),
            rules: Vec::new(),
            role_rules: Vec::new(),
            index: FxHashMap::default(),
            outputs_change: false,
        };
        for (name, arity) in rel::ALL {
            theory.number(rules, name, arity);
        }
        for clause in &rules.clauses {
            // `true` and `does` are set by play, never by rules; views are no part of the game.
            let given = [kw::TRUE, kw::DOES, kw::SEES_XML].contains(&clause.head.relation);
            if !given {
                theory.add_clause(rules, clause);
            }
        }
        theory.separate_mixed_relations();
        theory.analyse();
        theory
    }

    pub fn relation(&self, id: RelId) -> &Relation {
        &self.relations[id.0 as usize]
    }

    /// The relation of this name with so many arguments, if the rules have it.
    pub fn find(&self, name: Symbol, arity: usize) -> Option<RelId> {
        self.index.get(&(name, arity)).copied()
    }

    /// A relation that no text can name.
    pub fn add_relation(&mut self, label: String, arity: usize) -> RelId {
        let id = RelId(self.relations.len() as u32);
        self.relations.push(Relation {
            label,
            arity,
            layer: Layer::Static,
            is_filter: false,
            negated_in_cycle: false,
            rules: Vec::new(),
            facts: Vec::new(),
            component: 0,
        });
        id
    }

    /// As [`Theory::add_relation`], for a relation that restricts the instances of rules, and has none itself.
    pub fn add_filter(&mut self, label: String, arity: usize) -> RelId {
        let id = self.add_relation(label, arity);
        self.relations[id.0 as usize].is_filter = true;
        id
    }

    fn number(&mut self, rules: &Rules, name: Symbol, arity: usize) -> RelId {
        if let Some(&id) = self.index.get(&(name, arity)) {
            return id;
        }
        let id = self.add_relation(format!("{}/{arity}", rules.symbols.text(name)), arity);
        self.index.insert((name, arity), id);
        id
    }

    fn add_clause(&mut self, rules: &Rules, clause: &gdl::Clause) {
        let head = self.number(rules, clause.head.relation, clause.head.args.len());
        if clause.body.is_empty() {
            self.relations[head.0 as usize].facts.push(clause.head.args.clone());
            return;
        }
        let mut body = Vec::with_capacity(clause.body.len());
        for literal in &clause.body {
            body.push(match literal {
                gdl::Literal::Pos(a) => Literal::Pos(self.number(rules, a.relation, a.args.len()), a.args.clone()),
                gdl::Literal::Neg(a) => Literal::Neg(self.number(rules, a.relation, a.args.len()), a.args.clone()),
                gdl::Literal::Distinct(a, b) => Literal::Distinct(a.clone(), b.clone()),
            });
        }
        let rule = Rule {
            head,
            args: clause.head.args.clone(),
            body,
            n_vars: clause.variables.len(),
        };
        if head == rel::ROLE {
            self.add_role_rule(rule);
        } else {
            self.rules.push(rule);
        }
    }

    /// Gives a `role` rule its own relation, and adds that relation to `role`.
    fn add_role_rule(&mut self, mut rule: Rule) {
        let own = self.add_relation(format!("role rule {}", self.role_rules.len() + 1), 1);
        rule.head = own;
        self.rules.push(rule);
        self.role_rules.push(own);
        self.rules.push(copy_rule(rel::ROLE, own, 1));
    }

    /// Moves the facts of relations that also have rules to their own relations, so that each relation has either facts
    /// or rules.
    fn separate_mixed_relations(&mut self) {
        let mut has_rule = vec![false; self.relations.len()];
        for rule in &self.rules {
            has_rule[rule.head.0 as usize] = true;
        }
        for (at, has_rule) in has_rule.into_iter().enumerate() {
            if has_rule {
                self.separate_facts(RelId(at as u32));
            }
        }
    }

    fn separate_facts(&mut self, relation: RelId) {
        let Relation {
            facts, arity, label, ..
        } = &mut self.relations[relation.0 as usize];
        if facts.is_empty() {
            return;
        }
        let (facts, arity) = (std::mem::take(facts), *arity);
        let label = format!("facts of {label}");
        let own = self.add_relation(label, arity);
        self.relations[own.0 as usize].facts = facts;
        self.rules.push(copy_rule(relation, own, arity));
    }

    /// Prepares for grounding: drops relations that are not needed, and treats everything asked for in play as
    /// changing.
    pub fn for_grounding(&mut self) {
        let needed = self.needed_for(&rel::ASKED);
        self.rules.retain(|r| needed[r.head.0 as usize]);
        for output in rel::OUTPUTS {
            self.separate_facts(output);
        }
        self.outputs_change = true;
        self.analyse();
    }

    /// Sorts rules by head, and finds layers and cycles. Must be called again after rules have changed.
    pub fn analyse(&mut self) {
        for relation in &mut self.relations {
            relation.rules.clear();
            relation.negated_in_cycle = false;
        }
        for (number, rule) in self.rules.iter().enumerate() {
            self.relations[rule.head.0 as usize].rules.push(number as u32);
        }
        self.find_cycles();
        self.find_layers();
    }

    fn find_cycles(&mut self) {
        let mut edges = Vec::new();
        let mut negative = Vec::new();
        for rule in &self.rules {
            for literal in &rule.body {
                let Some(callee) = literal.relation() else {
                    continue;
                };
                edges.push((rule.head.0, callee.0));
                if matches!(literal, Literal::Neg(..)) {
                    negative.push((rule.head, callee));
                }
            }
        }
        let component = Graph::new(self.relations.len(), &edges).components();
        for (relation, &component) in self.relations.iter_mut().zip(&component) {
            relation.component = component;
        }
        let bad: Vec<u32> = negative
            .iter()
            .filter(|(p, q)| component[p.0 as usize] == component[q.0 as usize])
            .map(|(p, _)| component[p.0 as usize])
            .collect();
        for relation in &mut self.relations {
            relation.negated_in_cycle = bad.contains(&relation.component);
        }
    }

    /// Relations, callees before callers.
    pub fn callees_first(&self) -> Vec<RelId> {
        let mut order: Vec<RelId> = (0..self.relations.len() as u32).map(RelId).collect();
        order.sort_by_key(|&r| (self.relation(r).component, r));
        order
    }

    fn find_layers(&mut self) {
        for relation in &mut self.relations {
            relation.layer = if relation.is_filter {
                Layer::State
            } else {
                Layer::Static
            };
        }
        self.relations[rel::TRUE.0 as usize].layer = Layer::State;
        self.relations[rel::DOES.0 as usize].layer = Layer::Move;
        if self.outputs_change {
            for output in rel::OUTPUTS {
                self.relations[output.0 as usize].layer = Layer::State;
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for head in self.callees_first() {
                // What a filter needs says nothing about when the relations that it restricts change.
                if self.relation(head).is_filter {
                    continue;
                }
                let layer = self.layer_of_rules(head).max(self.relation(head).layer);
                changed |= layer != self.relation(head).layer;
                self.relations[head.0 as usize].layer = layer;
            }
        }
    }

    fn layer_of_rules(&self, head: RelId) -> Layer {
        self.relation(head)
            .rules
            .iter()
            .flat_map(|&r| &self.rules[r as usize].body)
            .filter_map(Literal::relation)
            .map(|callee| self.relation(callee).layer)
            .max()
            .unwrap_or(Layer::Static)
    }

    /// Relations that these need.
    pub fn needed_for(&self, asked: &[RelId]) -> Vec<bool> {
        let mut needed = vec![false; self.relations.len()];
        let mut todo = asked.to_vec();
        while let Some(relation) = todo.pop() {
            if std::mem::replace(&mut needed[relation.0 as usize], true) {
                continue;
            }
            for &rule in &self.relation(relation).rules {
                todo.extend(self.rules[rule as usize].body.iter().filter_map(Literal::relation));
            }
        }
        needed
    }

    /// The depth of the deepest term in facts and rules.
    pub fn term_depth(&self) -> u32 {
        self.terms().map(depth).max().unwrap_or(0)
    }

    /// Symbols and variables of the largest term in facts and rules.
    pub fn term_size(&self) -> u32 {
        self.terms().map(size).max().unwrap_or(0)
    }

    fn terms(&self) -> impl Iterator<Item = &Term> {
        let facts = self.relations.iter().flat_map(|r| r.facts.iter().flatten());
        let bodies = self.rules.iter().flat_map(|r| &r.body).flat_map(Literal::terms);
        let heads = self.rules.iter().flat_map(|r| &r.args);
        facts.chain(bodies).chain(heads)
    }

    /// The sources of roles, in joint-move order: the facts, then each rule.
    pub fn role_sources(&self) -> Vec<RelId> {
        let facts_of_mixed = |r: &RelId| !self.role_rules.contains(r);
        let mut sources: Vec<RelId> = match self.relation(rel::ROLE).rules.is_empty() {
            true => vec![rel::ROLE],
            false => self.callees(rel::ROLE).into_iter().filter(facts_of_mixed).collect(),
        };
        sources.extend(&self.role_rules);
        sources
    }

    fn callees(&self, relation: RelId) -> Vec<RelId> {
        let rules = self.relation(relation).rules.iter();
        rules
            .flat_map(|&r| &self.rules[r as usize].body)
            .filter_map(Literal::relation)
            .collect()
    }

    /// An error for a relation that the engines cannot run, if there is one. Checked rules have none, except relations
    /// with too many arguments.
    pub fn unfit_relation(&self) -> Option<String> {
        let bad_fact = |r: &&Relation| r.facts.iter().flatten().any(|t| !t.is_ground());
        if let Some(wide) = self.relations.iter().find(|r| r.arity > MAX_ARITY) {
            return Some(format!("{} has more than {MAX_ARITY} arguments", wide.label));
        }
        if let Some(relation) = self.relations.iter().find(bad_fact) {
            return Some(format!("E-FACT-VAR: a fact of {} has a variable", relation.label));
        }
        let rule = self.rules.iter().find(|r| !is_safe(r))?;
        let label = &self.relation(rule.head).label;
        Some(format!("E-UNSAFE: a rule of {label} has a variable that nothing binds"))
    }
}

/// Most arguments of a relation: a set of arguments must fit into a word.
const MAX_ARITY: usize = 64;

fn depth(term: &Term) -> u32 {
    match term {
        Term::Var(_) => 1,
        Term::Fun(_, args) => 1 + args.iter().map(depth).max().unwrap_or(0),
    }
}

fn size(term: &Term) -> u32 {
    match term {
        Term::Var(_) => 1,
        Term::Fun(_, args) => args.iter().map(size).fold(1, u32::saturating_add),
    }
}

fn copy_rule(to: RelId, from: RelId, arity: usize) -> Rule {
    let args: Vec<Term> = (0..arity as u32).map(Term::Var).collect();
    Rule {
        head: to,
        args: args.clone(),
        body: vec![Literal::Pos(from, args)],
        n_vars: arity,
    }
}

/// Whether each variable of the rule occurs in a positive literal.
pub(crate) fn is_safe(rule: &Rule) -> bool {
    let mut bound = vec![false; rule.n_vars];
    for literal in &rule.body {
        if let Literal::Pos(..) = literal {
            literal.for_each_var(&mut |v| bound[v as usize] = true);
        }
    }
    let mut safe = true;
    let mut check = |v: u32| safe &= bound.get(v as usize).copied().unwrap_or(false);
    rule.args.iter().for_each(|t| t.for_each_var(&mut check));
    rule.body.iter().for_each(|l| l.for_each_var(&mut check));
    safe
}
