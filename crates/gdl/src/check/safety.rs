//! Safety: a positive literal binds every variable of a rule (docs/gdl2.md, Safety).

use super::graph::Graph;
use crate::codes::Code;
use crate::diagnostic::{Severity, Sink};
use crate::forms::{Condition, Dialect, Form, PlacedAtom, Variable};
use crate::rules::{Atom, Term};
use crate::source::{Span, short};
use crate::symbol::{Symbol, Symbols, kw};
use std::collections::HashMap;

/// Checks each form and returns those that are safe, some after a repair.
pub(super) fn check(
    forms: Vec<Form>,
    graph: &Graph,
    dialect: Dialect,
    source: &str,
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
                report_repair(&form, role, source, symbols, sink);
                unbound.remove(&role);
                form.body.push(Condition::Pos(role_atom(role, form.head.args[0])));
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

/// Whether a variable is unbound in `form` that is bound in `before`.
pub(super) fn is_less_safe(form: &Form, before: &Form) -> bool {
    let known = unbound(before);
    unbound(form).keys().any(|v| !known.contains_key(v))
}

/// Unbound variables, each with the span of the first condition (or head) that needs it bound.
fn unbound(form: &Form) -> HashMap<u32, Span> {
    let scope = Scope::of(&form.body);
    let mut judge = Judge {
        bound: vec![0; form.variables.len()],
        unbound: HashMap::new(),
    };
    judge.conjunction(&form.body, &scope);
    // The head may use everything that the body binds.
    judge.enter(&form.body, &scope);
    judge.require_atom(&form.head.atom, form.head.span);
    judge.unbound
}

/// Variables that a conjunction binds, computed bottom-up.
struct Scope {
    bound: Vec<u32>,
    /// Scopes of the branches of each disjunction, in order.
    inner: Vec<Vec<Scope>>,
}

impl Scope {
    fn of(conditions: &[Condition]) -> Scope {
        let mut scope = Scope {
            bound: Vec::new(),
            inner: Vec::new(),
        };
        for condition in conditions {
            match condition {
                Condition::Pos(atom) => atom.atom.for_each_var(&mut |v| scope.bound.push(v)),
                Condition::Or(branches, _) => {
                    let inner: Vec<Scope> = branches.iter().map(|b| Scope::of(b)).collect();
                    scope.bound.extend(bound_in_all(&inner));
                    scope.inner.push(inner);
                }
                Condition::Neg(_) | Condition::Distinct(..) | Condition::Same(..) => {}
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
    /// Number of enclosing conjunctions that bind each variable.
    bound: Vec<u32>,
    unbound: HashMap<u32, Span>,
}

impl Judge {
    fn conjunction(&mut self, conditions: &[Condition], scope: &Scope) {
        let entered = self.enter(conditions, scope);
        let mut inner = scope.inner.iter();
        for condition in conditions {
            match condition {
                Condition::Pos(_) => {}
                Condition::Neg(atom) => self.require_atom(&atom.atom, atom.span),
                Condition::Distinct(a, b, span) | Condition::Same(a, b, span) => {
                    a.for_each_var(&mut |v| self.require(v, *span));
                    b.for_each_var(&mut |v| self.require(v, *span));
                }
                Condition::Or(branches, _) => {
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

    /// Marks the variables that the conjunction binds. An equality binds one side if the other side is bound.
    fn enter(&mut self, conditions: &[Condition], scope: &Scope) -> Vec<u32> {
        let mut entered = scope.bound.clone();
        for &v in &entered {
            self.bound[v as usize] += 1;
        }
        let equalities: Vec<(&Term, &Term)> = conditions
            .iter()
            .filter_map(|condition| match condition {
                Condition::Same(a, b, _) => Some((a, b)),
                _ => None,
            })
            .collect();
        // Chains of equalities are short in real games; the limit is against hostile input.
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

/// The variable in the role's place of a head, if it is unbound and does not occur in the move or value: it means
/// "every role" (docs/decisions.md, Unbound role variables).
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

fn report_repair(form: &Form, role: u32, source: &str, symbols: &Symbols, sink: &mut Sink) {
    let name = short(&form.variables[role as usize].name);
    let relation: Symbol = form.head.atom.relation;
    let slot = sink.add(
        Code::UnsafeRole,
        form.head.args[0],
        format!(
            "`{name}` of this `{}` is bound by nothing; read as every role",
            symbols.text(relation)
        ),
        format!("add the condition `(role {name})`"),
    );
    let written = &source[form.span.range()];
    if let Some(rest) = written.strip_prefix('(') {
        let condition = format!("(role {})", form.variables[role as usize].name);
        let fixed = match rest.trim_start().starts_with("<=") {
            true => format!("{} {condition})", &written[..written.len() - 1]),
            false => format!("(<= {written} {condition})"),
        };
        slot.fix(format!("add `{condition}`"), form.span, fixed);
    }
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
