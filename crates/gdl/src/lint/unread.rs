//! Fluents that nothing asks for, and moves that change nothing.

use super::{Context, is_hint, shape};
use crate::codes::Code;
use crate::forms::Form;
use crate::reach::sets::Set;
use crate::reach::{Reach, names_of};
use crate::rules::Term;
use crate::source::Span;
use crate::symbol::{Symbol, kw};
use std::collections::{BTreeMap, HashSet};

pub(super) fn check(reach: &mut Reach, context: &mut Context) {
    let questions = Questions::collect(reach);
    fluents(reach, &questions, context);
    moves(reach, &questions, context);
}

/// What the conditions of the rules ask for.
struct Questions {
    /// Fluents, without the questions by which a fluent only keeps itself.
    fluents: Set,
    /// Roles and their moves.
    moves: Vec<(Set, Set)>,
}

impl Questions {
    fn collect(reach: &mut Reach) -> Questions {
        let mut asked: Vec<Set> = Vec::new();
        let mut moves: Vec<(Set, Set)> = Vec::new();
        reach.for_each_question(&mut |rule, atom, mut args| {
            if is_hint(rule.form) {
                return;
            }
            match atom.placed.pred() {
                (kw::TRUE, 1) if !keeps(rule.form, &atom.placed.atom.args[0]) => asked.push(args.swap_remove(0)),
                (kw::DOES, 2) => {
                    let action = args.swap_remove(1);
                    moves.push((args.swap_remove(0), action));
                }
                _ => {}
            }
        });
        let fuel = reach.fuel();
        let fluents = asked.iter().fold(Set::empty(), |all, set| all.union(set, fuel));
        moves.truncate(1_000);
        Questions { fluents, moves }
    }
}

/// Whether a rule asks for the fluent only to make the same fluent again.
fn keeps(form: &Form, fluent: &Term) -> bool {
    form.head.pred() == (kw::NEXT, 1) && form.head.atom.args[0] == *fluent
}

/// Whether a rule is a frame axiom: it asks for the fluent that it makes.
pub(super) fn only_keeps(form: &Form) -> bool {
    let mut found = false;
    if form.head.pred() == (kw::NEXT, 1) {
        form.for_each_atom(&mut |atom, negated| {
            found |= !negated && atom.pred() == (kw::TRUE, 1) && keeps(form, &atom.atom.args[0]);
        });
    }
    found
}

/// Where a fluent is made, and how.
struct Maker {
    span: Span,
    made: Set,
    /// Whether a rule makes it that does more than keep it.
    by_event: bool,
    is_init: bool,
}

fn fluents(reach: &mut Reach, questions: &Questions, context: &mut Context) {
    let mut makers: BTreeMap<(Symbol, usize), Vec<Maker>> = BTreeMap::new();
    reach.for_each_head(&[(kw::INIT, 1), (kw::NEXT, 1)], &mut |rule, mut args| {
        let head = &rule.form.head;
        let Some(shape) = shape(&head.atom.args[0]) else {
            return;
        };
        let asks_itself = only_keeps(rule.form);
        let is_init = head.atom.relation == kw::INIT;
        makers.entry(shape).or_default().push(Maker {
            span: head.args[0],
            made: args.swap_remove(0),
            by_event: !is_init && !asks_itself,
            is_init,
        });
    });
    let asked = names_of(&questions.fluents);
    if questions.fluents == Set::Any {
        return;
    }
    let made: HashSet<(Symbol, usize)> = makers.keys().copied().collect();
    for ((name, arity), makers) in makers {
        if !asked.contains(&(name, arity)) {
            let close = context.close(name, asked.iter().filter(|(_, n)| *n == arity).map(|(n, _)| *n));
            // If nothing makes what is asked for, the slip is there, and was reported there.
            if close.is_some_and(|close| !made.contains(&(close, arity))) {
                continue;
            }
            if close.is_some() || makers.iter().any(|m| m.by_event) {
                let message = format!("nothing asks for the fluent `{}`", context.name(name));
                report(makers[0].span, close, message, context);
            }
            continue;
        }
        for maker in makers.iter().filter(|m| m.by_event || m.is_init) {
            if maker.made.intersect(&questions.fluents, reach.fuel()).is_empty() {
                value(maker, &questions.fluents, context);
            }
        }
    }
}

/// Reports a fluent with a constant that nothing asks for, if a constant that something asks for is similar. Other
/// values may well be there only to be different, such as the blank of a board.
fn value(maker: &Maker, asked: &Set, context: &mut Context) {
    let (Set::These(made), Set::These(asked)) = (&maker.made, asked) else {
        return;
    };
    for (name, args) in &made.functions {
        let Some(sets) = asked.function(*name, args.len()) else {
            continue;
        };
        for (i, (arg, set)) in args.iter().zip(sets).enumerate() {
            let others = names_of(set).into_iter().filter(|(_, n)| *n == 0).map(|(c, _)| c);
            if let Some(constant) = arg.single()
                && !set.contains(&Term::constant(constant))
                && let Some(close) = context.close(constant, others)
            {
                let span = context.part(maker.span, &[i]);
                let message = format!("nothing asks for `{}`", context.text(maker.span));
                report(span, Some(close), message, context);
                return;
            }
        }
    }
}

fn report(span: Span, close: Option<Symbol>, message: String, context: &mut Context) {
    let help = match close {
        Some(close) => format!("did you mean `{}`?", context.name(close)),
        None => "ask for it with `true`, mend the name, or remove it".to_owned(),
    };
    let name_span = context.name_place(span);
    let slot = context.sink.add(Code::NotRead, span, message, help);
    if let Some(close) = close {
        let close = context.symbols.wire_text(close);
        slot.guess(format!("replace by `{close}`"), name_span, close);
    }
}

fn moves(reach: &mut Reach, questions: &Questions, context: &mut Context) {
    let mut legal: Vec<(Span, Symbol, usize, Set, Set)> = Vec::new();
    reach.for_each_head(&[(kw::LEGAL, 2)], &mut |rule, mut args| {
        let head = &rule.form.head;
        if let Some((name, arity)) = shape(&head.atom.args[1]) {
            let action = args.swap_remove(1);
            legal.push((head.args[1], name, arity, args.swap_remove(0), action));
        }
    });
    let asked: HashSet<(Symbol, usize)> = questions.moves.iter().flat_map(|(_, moves)| names_of(moves)).collect();
    let named: HashSet<(Symbol, usize)> = legal.iter().map(|l| (l.1, l.2)).collect();
    let mut said = HashSet::new();
    for (span, name, arity, roles, action) in legal.into_iter().take(1_000) {
        let fuel = reach.fuel();
        let matters = questions
            .moves
            .iter()
            .any(|(r, m)| !r.intersect(&roles, fuel).is_empty() && !m.intersect(&action, fuel).is_empty());
        if matters || !said.insert((name, arity)) {
            continue;
        }
        let close = context.close(name, asked.iter().filter(|(_, n)| *n == arity).map(|(n, _)| *n));
        if close.is_some_and(|close| !named.contains(&(close, arity))) {
            continue;
        }
        // A move without arguments that nothing mentions is the usual way to do nothing.
        if arity == 0 && close.is_none() {
            continue;
        }
        let help = match close {
            Some(close) => format!("did you mean `{}`?", context.name(close)),
            None => "ask for it with `does`, mend the name, or remove it".to_owned(),
        };
        let message = format!(
            "no rule asks whether `{}` was played: the move has no effect",
            context.text(span)
        );
        let name_span = context.name_place(span);
        let slot = context.sink.add(Code::NoEffect, span, message, help);
        if let Some(close) = close {
            let close = context.symbols.wire_text(close);
            slot.guess(format!("replace by `{close}`"), name_span, close);
        }
    }
}
