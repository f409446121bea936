//! R1: every variable of a rule is bound by a positive condition.

use super::graph::Graph;
use crate::codes::Code;
use crate::diagnostic::{Severity, Sink};
use crate::forms::{Dialect, Form, Goal, PlacedAtom, Variable};
use crate::rules::{Atom, Term};
use crate::source::{Span, short};
use crate::symbol::{Symbol, Symbols, kw};
use std::collections::HashMap;

/// Judges each form and returns those that are safe, some of them repaired.
pub(super) fn check(
    forms: Vec<Form>,
    graph: &Graph,
    dialect: Dialect,
    symbols: &Symbols,
    sink: &mut Sink,
) -> Vec<Form> {
    let keywords = [
        kw::ROLE,
        kw::INIT,
        kw::LEGAL,
        kw::NEXT,
        kw::SEES,
        kw::TERMINAL,
        kw::GOAL,
    ];
    let needed = graph.reach(keywords.iter().filter_map(|&k| graph.keyword(k)));
    forms
        .into_iter()
        .filter_map(|mut form| {
            let mut unbound = unbound(&form);
            if unbound.is_empty() {
                return Some(form);
            }
            if dialect.is_hint(form.head.atom.relation, symbols) {
                report_hint(&form, symbols, sink);
                return None;
            }
            if let Some(role) = repairable(&form, &unbound) {
                report_repair(&form, role, symbols, sink);
                unbound.remove(&role);
                form.body.push(Goal::Pos(role_atom(role, form.head.args[0])));
            }
            if unbound.is_empty() {
                return Some(form);
            }
            let is_needed = graph.find(form.head.pred()).is_some_and(|n| needed[n]);
            report_unsafe(&form, &unbound, is_needed, sink);
            None
        })
        .collect()
}

/// Variables that nothing binds, each with the first condition (or head) that needs it bound.
fn unbound(form: &Form) -> HashMap<u32, Span> {
    let scope = Scope::of(&form.body);
    let mut judge = Judge {
        bound: vec![0; form.variables.len()],
        unbound: HashMap::new(),
    };
    judge.conjunction(&form.body, &scope);
    // The head is judged last and sees what the whole body binds.
    judge.enter(&form.body, &scope);
    judge.require_atom(&form.head.atom, form.head.span);
    judge.unbound
}

/// What a conjunction binds, worked out once, bottom-up.
struct Scope {
    bound: Vec<u32>,
    /// One list of scopes for each disjunction, in order.
    inner: Vec<Vec<Scope>>,
}

impl Scope {
    fn of(goals: &[Goal]) -> Scope {
        let mut scope = Scope {
            bound: Vec::new(),
            inner: Vec::new(),
        };
        for goal in goals {
            match goal {
                Goal::Pos(atom) => atom.atom.for_each_var(&mut |v| scope.bound.push(v)),
                Goal::Or(branches, _) => {
                    let inner: Vec<Scope> = branches.iter().map(|b| Scope::of(b)).collect();
                    scope.bound.extend(bound_in_all(&inner));
                    scope.inner.push(inner);
                }
                Goal::Neg(_) | Goal::Distinct(..) | Goal::Same(..) => {}
            }
        }
        scope.bound.sort_unstable();
        scope.bound.dedup();
        scope
    }
}

fn bound_in_all(branches: &[Scope]) -> Vec<u32> {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for branch in branches {
        for &v in &branch.bound {
            *counts.entry(v).or_insert(0) += 1;
        }
    }
    let everywhere = counts.into_iter().filter(|&(_, n)| n == branches.len());
    everywhere.map(|(v, _)| v).collect()
}

struct Judge {
    /// How many enclosing conjunctions bind each variable.
    bound: Vec<u32>,
    unbound: HashMap<u32, Span>,
}

impl Judge {
    fn conjunction(&mut self, goals: &[Goal], scope: &Scope) {
        let entered = self.enter(goals, scope);
        let mut inner = scope.inner.iter();
        for goal in goals {
            match goal {
                Goal::Pos(_) => {}
                Goal::Neg(atom) => self.require_atom(&atom.atom, atom.span),
                Goal::Distinct(a, b, span) | Goal::Same(a, b, span) => {
                    a.for_each_var(&mut |v| self.require(v, *span));
                    b.for_each_var(&mut |v| self.require(v, *span));
                }
                Goal::Or(branches, _) => {
                    let scopes = inner.next().expect("a scope for each disjunction");
                    for (branch, scope) in branches.iter().zip(scopes) {
                        self.conjunction(branch, scope);
                    }
                }
            }
        }
        for v in entered {
            self.bound[v as usize] -= 1;
        }
    }

    /// Marks what the conjunction binds; an equality binds one side once the other is bound.
    fn enter(&mut self, goals: &[Goal], scope: &Scope) -> Vec<u32> {
        let mut entered = scope.bound.clone();
        for &v in &entered {
            self.bound[v as usize] += 1;
        }
        let equalities: Vec<(&Term, &Term)> = goals
            .iter()
            .filter_map(|goal| match goal {
                Goal::Same(a, b, _) => Some((a, b)),
                _ => None,
            })
            .collect();
        // Chains of equalities are short in anything a person wrote; the bound keeps hostile ones cheap.
        for _ in 0..64 {
            let before = entered.len();
            for &(a, b) in &equalities {
                self.propagate(a, b, &mut entered);
                self.propagate(b, a, &mut entered);
            }
            if entered.len() == before {
                break;
            }
        }
        entered
    }

    fn propagate(&mut self, from: &Term, to: &Term, entered: &mut Vec<u32>) {
        let mut known = true;
        from.for_each_var(&mut |v| known &= self.bound[v as usize] > 0);
        if known {
            to.for_each_var(&mut |v| {
                if self.bound[v as usize] == 0 {
                    self.bound[v as usize] = 1;
                    entered.push(v);
                }
            });
        }
    }

    fn require_atom(&mut self, atom: &Atom, span: Span) {
        atom.for_each_var(&mut |v| self.require(v, span));
    }

    fn require(&mut self, v: u32, span: Span) {
        if self.bound[v as usize] == 0 {
            self.unbound.entry(v).or_insert(span);
        }
    }
}

/// The variable in the role's place of a head, if nothing binds it: the one thing it can mean is "every role".
/// Where it is also part of the move or value, the rule is more likely a slip, and stays an error.
fn repairable(form: &Form, unbound: &HashMap<u32, Span>) -> Option<u32> {
    let takes_role = matches!(form.head.atom.relation, kw::LEGAL | kw::GOAL | kw::SEES | kw::INPUT);
    let (Some(Term::Var(role)), true) = (form.head.atom.args.first(), takes_role) else {
        return None;
    };
    let mut elsewhere = false;
    form.head.atom.args[1..]
        .iter()
        .for_each(|t| t.for_each_var(&mut |v| elsewhere |= v == *role));
    (unbound.contains_key(role) && !elsewhere).then_some(*role)
}

fn role_atom(variable: u32, span: Span) -> PlacedAtom {
    PlacedAtom {
        atom: Atom {
            relation: kw::ROLE,
            args: vec![Term::Var(variable)],
        },
        span,
        args: vec![span],
    }
}

fn report_repair(form: &Form, role: u32, symbols: &Symbols, sink: &mut Sink) {
    let name = short(&form.variables[role as usize].name);
    let relation: Symbol = form.head.atom.relation;
    sink.add(
        Code::UnsafeRole,
        form.head.args[0],
        format!(
            "`{name}` of this `{}` is bound by nothing; read as every role",
            symbols.text(relation)
        ),
        format!("add the condition `(role {name})`"),
    );
}

fn report_hint(form: &Form, symbols: &Symbols, sink: &mut Sink) {
    let name = symbols.text(form.head.atom.relation);
    sink.add(
        Code::HintVar,
        form.head.span,
        format!("this `{name}` has a variable that nothing binds; the hint is ignored"),
        "hints are never needed: remove it, or bind the variable",
    );
}

fn report_unsafe(form: &Form, unbound: &HashMap<u32, Span>, needed: bool, sink: &mut Sink) {
    let mut places: Vec<(Span, &Variable)> = unbound
        .iter()
        .map(|(&v, &span)| (span, &form.variables[v as usize]))
        .collect();
    places.sort_by_key(|(span, variable)| (*span, variable.span));
    let names: Vec<String> = places.iter().take(8).map(|(_, v)| short(&v.name)).collect();
    let first = places[0].0;
    if form.body.is_empty() {
        sink.add(
            Code::FactVar,
            first,
            format!("a fact cannot hold for every {}", names.join(", ")),
            "write the fact for each value, or a rule whose conditions bind the variable",
        );
        return;
    }
    let (noun, verb) = match names.len() {
        1 => ("variable", "is"),
        _ => ("variables", "are"),
    };
    let severity = if needed { Severity::Error } else { Severity::Warning };
    sink.add_as(
        Code::Unsafe,
        severity,
        first,
        format!(
            "{noun} {} of this rule {verb} bound by no positive literal",
            names.join(", ")
        ),
        format!("add a condition with {} that lists the values it can take", names[0]),
    );
}
