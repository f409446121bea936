//! Facts with variables, as old collections have them: `(same ?x ?x)`.
//!
//! The language has no such facts. Lenient mode reads one as holding for every value of its variables, if that has one
//! meaning: its arguments are variables and ground terms, the relation is not a keyword, and no rule needs the fact to
//! bind a variable. A condition `(same ?a ?b)` is then replaced by the equality of `?a` and `?b`.

use crate::codes::Code;
use crate::diagnostic::{Mode, Sink};
use crate::forms::{Condition, Form, PlacedAtom, Pred};
use crate::rules::Term;
use crate::source::short;
use std::collections::{HashMap, HashSet};

/// Facts with variables of one relation that are read in this way at most.
const MAX_FACTS: usize = 8;

/// Times that facts are refused before all of them are.
const MAX_ROUNDS: usize = 8;

/// Removes the facts with variables that have a meaning, and puts it where they are asked for.
pub(super) fn inline(forms: Vec<Form>, sink: &mut Sink) -> Vec<Form> {
    let mut facts: HashMap<Pred, Vec<Form>> = HashMap::new();
    let (free, mut rest): (Vec<Form>, Vec<Form>) = match sink.mode() {
        Mode::Strict => (Vec::new(), forms),
        Mode::Lenient => forms.into_iter().partition(is_readable),
    };
    for form in free {
        facts.entry(form.head.pred()).or_default().push(form);
    }
    let refused = facts.extract_if(|_, list| list.len() > MAX_FACTS);
    rest.extend(refused.flat_map(|(_, list)| list));
    if facts.is_empty() {
        rest.sort_by_key(|f| f.span);
        return rest;
    }
    for round in 0.. {
        let reader = Reader {
            others: rest.iter().map(|f| f.head.pred()).collect(),
            facts: std::mem::take(&mut facts),
        };
        let read: Vec<Option<Form>> = rest.iter().map(|form| reader.form(form)).collect();
        // A fact that would have to bind a variable has no meaning.
        let mut refused: HashSet<Pred> = HashSet::new();
        for (form, read) in rest.iter().zip(&read) {
            if read
                .as_ref()
                .is_some_and(|read| super::safety::is_less_safe(read, form))
            {
                form.for_each_atom(&mut |atom, _| {
                    refused.extend(reader.facts.contains_key(&atom.pred()).then_some(atom.pred()));
                });
            }
        }
        facts = reader.facts;
        if round == MAX_ROUNDS && !refused.is_empty() {
            refused.extend(facts.keys());
        }
        if refused.is_empty() {
            for (form, read) in rest.iter_mut().zip(read) {
                if let Some(read) = read {
                    *form = read;
                }
            }
            break;
        }
        let refused: Vec<Form> = refused.iter().filter_map(|pred| facts.remove(pred)).flatten().collect();
        rest.extend(refused);
    }
    let mut read: Vec<&Form> = facts.values().flatten().collect();
    read.sort_by_key(|f| f.span);
    for form in read {
        let names: Vec<String> = form.variables.iter().take(8).map(|v| short(&v.name)).collect();
        sink.add(
            Code::FactAll,
            form.head.span,
            format!("a fact with variables: read as holding for every {}", names.join(", ")),
            "other systems refuse it; write conditions that list the values, or use `distinct`",
        );
    }
    rest.sort_by_key(|f| f.span);
    rest
}

fn is_readable(form: &Form) -> bool {
    let atom = &form.head.atom;
    let plain = |t: &Term| matches!(t, Term::Var(_)) || t.is_ground();
    form.body.is_empty()
        && !form.variables.is_empty()
        && !atom.relation.is_keyword_relation()
        && atom.args.iter().all(plain)
}

struct Reader {
    /// Relations that have other facts or rules too.
    others: HashSet<Pred>,
    facts: HashMap<Pred, Vec<Form>>,
}

impl Reader {
    /// The form with the meaning of the facts in it; `None` if it asks for none of them.
    fn form(&self, form: &Form) -> Option<Form> {
        let mut asks = false;
        form.for_each_atom(&mut |atom, _| asks |= self.facts.contains_key(&atom.pred()));
        asks.then(|| Form {
            body: self.conditions(form.body.clone()),
            ..form.clone()
        })
    }

    fn conditions(&self, conditions: Vec<Condition>) -> Vec<Condition> {
        conditions.into_iter().flat_map(|c| self.condition(c)).collect()
    }

    fn condition(&self, condition: Condition) -> Vec<Condition> {
        match condition {
            Condition::Pos(atom) => match self.facts.get(&atom.pred()) {
                Some(facts) => self.positive(atom, facts),
                None => vec![Condition::Pos(atom)],
            },
            Condition::Neg(atom) => match self.facts.get(&atom.pred()) {
                Some(facts) => self.negative(atom, facts),
                None => vec![Condition::Neg(atom)],
            },
            Condition::Or(branches, span) => {
                let branches = branches.into_iter().map(|b| self.conditions(b)).collect();
                vec![Condition::Or(branches, span)]
            }
            other => vec![other],
        }
    }

    /// One of the facts fits, or the rest of the relation holds.
    fn positive(&self, atom: PlacedAtom, facts: &[Form]) -> Vec<Condition> {
        let span = atom.span;
        let same = |(a, b)| Condition::Same(a, b, span);
        let mut ways: Vec<Vec<Condition>> = facts
            .iter()
            .map(|fact| equalities(fact, &atom).into_iter().map(same).collect())
            .collect();
        if self.others.contains(&atom.pred()) {
            ways.push(vec![Condition::Pos(atom)]);
        }
        // A fact that fits anything makes the condition hold.
        if ways.iter().any(Vec::is_empty) {
            return Vec::new();
        }
        match ways.len() {
            1 => ways.swap_remove(0),
            _ => vec![Condition::Or(ways, span)],
        }
    }

    /// None of the facts fits, and the rest of the relation does not hold.
    fn negative(&self, atom: PlacedAtom, facts: &[Form]) -> Vec<Condition> {
        let span = atom.span;
        let mut all = Vec::new();
        for fact in facts {
            let mut ways: Vec<Vec<Condition>> = equalities(fact, &atom)
                .into_iter()
                .map(|(a, b)| vec![Condition::Distinct(a, b, span)])
                .collect();
            match ways.len() {
                1 => all.extend(ways.swap_remove(0)),
                _ => all.push(Condition::Or(ways, span)),
            }
        }
        if self.others.contains(&atom.pred()) {
            all.push(Condition::Neg(atom));
        }
        all
    }
}

/// The equalities under which an atom is an instance of the fact.
fn equalities(fact: &Form, atom: &PlacedAtom) -> Vec<(Term, Term)> {
    let mut values: HashMap<u32, &Term> = HashMap::new();
    let mut found = Vec::new();
    for (formal, actual) in fact.head.atom.args.iter().zip(&atom.atom.args) {
        match formal {
            Term::Var(v) => match values.get(v) {
                Some(value) => found.push(((*value).clone(), actual.clone())),
                None => drop(values.insert(*v, actual)),
            },
            ground => found.push((ground.clone(), actual.clone())),
        }
    }
    found
}
