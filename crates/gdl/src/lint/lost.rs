//! Lost facts: fluents that vanish because no rule keeps them (the frame problem, McCarthy and Hayes 1969).
//!
//! `next` has to say of everything that stays that it stays. A rule that does so, `(<= (next F) (true F) …)`, is a frame
//! axiom. Many fluents rightly last for one round only (whose turn it is, what was just played), so a fluent without a
//! frame axiom is suspected only if others of its kind have one, or if the initial state has several of it.

use super::{Context, shape};
use crate::codes::Code;
use crate::reach::Reach;
use crate::reach::sets::Set;
use crate::rules::Term;
use crate::source::Span;
use crate::symbol::{Symbol, kw};
use std::collections::BTreeMap;

/// Makers and keepers of one kind of fluent.
#[derive(Default)]
struct Life {
    /// Facts of the initial state: place and what is made.
    init: Vec<(Span, Set)>,
    /// Rules that make it anew.
    events: Vec<(Span, Set)>,
    /// What frame axioms keep.
    kept: Vec<Set>,
    /// Whether some `next` makes it from what it was before.
    updated: bool,
    /// Whether anything but a frame axiom asks for it.
    asked: bool,
}

pub(super) fn check(reach: &mut Reach, context: &mut Context) {
    let lives = collect(reach);
    let fuel = reach.fuel();
    for ((name, arity), life) in &lives {
        let many = life.init.len() >= 2;
        if !life.asked || *arity == 0 {
            continue;
        }
        if life.kept.is_empty() {
            if many && !life.updated {
                report_none(*name, *arity, life, context);
            }
            continue;
        }
        let is_kept = |made: &Set| life.kept.iter().any(|kept| !kept.intersect(made, fuel).is_empty());
        let lost = life.init.iter().chain(&life.events).find(|(_, made)| !is_kept(made));
        if let (Some((span, _)), true) = (lost, many) {
            report_some(*span, *name, *arity, context);
        }
    }
}

fn collect(reach: &mut Reach) -> BTreeMap<(Symbol, usize), Life> {
    let mut lives: BTreeMap<(Symbol, usize), Life> = BTreeMap::new();
    reach.for_each_head(&[(kw::INIT, 1), (kw::NEXT, 1)], &mut |rule, mut args| {
        let head = &rule.form.head;
        let Some(made) = shape(&head.atom.args[0]) else {
            return;
        };
        let life = lives.entry(made).or_default();
        let (mut keeps, mut updates) = (false, false);
        rule.form.for_each_atom(&mut |atom, negated| {
            if !negated && atom.pred() == (kw::TRUE, 1) {
                keeps |= atom.atom.args[0] == head.atom.args[0] || matches!(atom.atom.args[0], Term::Var(_));
                updates |= shape(&atom.atom.args[0]) == Some(made);
            }
        });
        life.updated |= updates;
        let set = args.swap_remove(0);
        match head.atom.relation {
            kw::INIT => life.init.push((head.args[0], set)),
            _ if keeps => life.kept.push(set),
            _ => life.events.push((head.args[0], set)),
        }
    });
    let general = keeps_anything(reach);
    reach.for_each_question(&mut |rule, atom, _| {
        if atom.placed.pred() == (kw::TRUE, 1)
            && let Some(asked) = shape(&atom.placed.atom.args[0])
            && let Some(life) = lives.get_mut(&asked)
        {
            let head = &rule.form.head;
            life.asked |= head.pred() != (kw::NEXT, 1) || shape(&head.atom.args[0]) != Some(asked);
        }
    });
    if general {
        lives.clear();
    }
    lives
}

/// Whether a rule keeps fluents of every kind: `(<= (next ?f) (true ?f) …)`.
fn keeps_anything(reach: &Reach) -> bool {
    let mut rules = reach.rules.iter();
    rules.any(|r| r.form.head.pred() == (kw::NEXT, 1) && shape(&r.form.head.atom.args[0]).is_none())
}

/// Whether some `next` makes the fluent from what it was before.
pub(super) fn is_carried(fluent: (Symbol, usize), reach: &Reach) -> bool {
    keeps_anything(reach)
        || reach.rules.iter().any(|rule| {
            let head = &rule.form.head;
            let mut carries = false;
            if head.pred() == (kw::NEXT, 1) && shape(&head.atom.args[0]) == Some(fluent) {
                rule.form.for_each_atom(&mut |atom, _| {
                    carries |= atom.pred() == (kw::TRUE, 1) && shape(&atom.atom.args[0]) == Some(fluent);
                });
            }
            carries
        })
}

/// The fluent with variables for its arguments.
pub(super) fn example(name: Symbol, arity: usize, context: &Context) -> String {
    let name = context.name(name);
    if arity == 0 {
        return name;
    }
    let args: Vec<String> = (1..=arity.min(9)).map(|i| format!("?x{i}")).collect();
    format!("({name} {})", args.join(" "))
}

fn report_none(name: Symbol, arity: usize, life: &Life, context: &mut Context) {
    let fluent = example(name, arity, context);
    let name = context.name(name);
    context.sink.add(
        Code::Lost,
        life.init[0].0,
        format!("the {} facts `{name}` of the initial state are lost after the first round", life.init.len()),
        format!("no rule keeps them; is `(<= (next {fluent}) (true {fluent}))` missing?"),
    );
}

fn report_some(span: Span, name: Symbol, arity: usize, context: &mut Context) {
    let fluent = example(name, arity, context);
    let what = context.text(span);
    let name = context.name(name);
    context.sink.add(
        Code::Lost,
        span,
        format!("`{what}` is lost after one round, while other facts `{name}` are kept"),
        format!("no rule keeps it; is a rule `(<= (next {fluent}) (true {fluent}) …)` missing or too narrow?"),
    );
}
