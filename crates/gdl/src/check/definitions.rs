//! Relations that are used but not defined, defined but not used, or used with two numbers of arguments.

use crate::codes::Code;
use crate::diagnostic::Sink;
use crate::forms::{Condition, Dialect, Form, PlacedAtom, Pred, for_each_atom};
use crate::rules::Term;
use crate::similar::within_one_edit;
use crate::source::{Span, short};
use crate::symbol::{Symbol, Symbols, kw};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Drops `sees_xml`, which describes pictures for another program.
pub(super) fn strip_views(forms: Vec<Form>, sink: &mut Sink) -> Vec<Form> {
    let (views, rest): (Vec<Form>, Vec<Form>) = forms.into_iter().partition(|f| f.head.pred() == (kw::SEES_XML, 2));
    if let Some(first) = views.first() {
        sink.add(
            Code::View,
            first.head.span,
            format!("{} `sees_xml` clauses describe a view for another program", views.len()),
            "they are left out of the game",
        );
    }
    rest
}

pub(super) fn check(forms: &[Form], dialect: Dialect, symbols: &Symbols, sink: &mut Sink) {
    let uses = Uses::collect(forms);
    uses.report_undefined(dialect, symbols, sink);
    uses.report_unused(dialect, symbols, sink);
    report_arities(forms, symbols, sink);
    report_goal_values(forms, symbols, sink);
}

struct Uses<'a> {
    forms: &'a [Form],
    defined: BTreeMap<Pred, Span>,
    used: HashMap<Pred, Span>,
    used_elsewhere: HashSet<Pred>,
}

impl<'a> Uses<'a> {
    fn collect(forms: &'a [Form]) -> Uses<'a> {
        let mut uses = Uses {
            forms,
            defined: BTreeMap::new(),
            used: HashMap::new(),
            used_elsewhere: HashSet::new(),
        };
        for form in forms {
            let head = form.head.pred();
            uses.defined.entry(head).or_insert(form.head.span);
            form.for_each_atom(&mut |atom, _| {
                uses.used.entry(atom.pred()).or_insert(atom.span);
                if atom.pred() != head {
                    uses.used_elsewhere.insert(atom.pred());
                }
            });
        }
        uses
    }

    fn report_undefined(&self, dialect: Dialect, symbols: &Symbols, sink: &mut Sink) {
        let mut missing: Vec<(Span, Pred)> = self
            .used
            .iter()
            .filter(|(pred, _)| !pred.0.is_keyword_relation() && !self.defined.contains_key(pred))
            .filter(|(pred, _)| pred.0 != kw::KNOWS && !dialect.is_hint(pred.0, symbols))
            .map(|(&pred, &span)| (span, pred))
            .collect();
        missing.sort();
        let fluents = fluent_names(self.forms);
        for (span, pred) in missing {
            if !sink.wants(Code::Undef) {
                sink.add(Code::Undef, span, "", "");
                continue;
            }
            let name = short(symbols.text(pred.0));
            let help = self.suggest(pred, &fluents, symbols);
            sink.add(
                Code::Undef,
                span,
                format!(
                    "no fact or rule defines `{name}` with {}: it is false everywhere",
                    count(pred.1)
                ),
                help,
            );
        }
    }

    fn suggest(&self, (name, arity): Pred, fluents: &HashSet<Symbol>, symbols: &Symbols) -> String {
        let text = symbols.text(name);
        if fluents.contains(&name) {
            return format!("`{text}` is a fluent: to ask whether it holds now, write `(true ({text} …))`");
        }
        if let Some((_, other)) = self.defined.keys().find(|(n, _)| *n == name) {
            return format!("`{text}` is defined with {}", count(*other));
        }
        let candidates = self
            .defined
            .keys()
            .filter(|(n, a)| *a == arity && !n.is_keyword_relation());
        let close = candidates
            .take(1_000)
            .map(|(n, _)| symbols.text(*n))
            .filter(|other| within_one_edit(text, other))
            .min();
        match close {
            Some(other) => format!("did you mean `{other}`?"),
            None => "define it, or remove the condition".to_owned(),
        }
    }

    fn report_unused(&self, dialect: Dialect, symbols: &Symbols, sink: &mut Sink) {
        let mut unused: Vec<(Span, Pred)> = self
            .defined
            .iter()
            .filter(|(pred, _)| !self.used_elsewhere.contains(pred) && !pred.0.is_keyword_relation())
            .filter(|(pred, _)| pred.0 != kw::KNOWS && !dialect.is_hint(pred.0, symbols))
            .map(|(&pred, &span)| (span, pred))
            .collect();
        unused.sort();
        for (span, (name, arity)) in unused {
            let text = short(symbols.text(name));
            if matches!(text.as_str(), "outcome" | "set" | "probability" | "prob") {
                sink.add(
                    Code::Dialect,
                    span,
                    format!("`{text}` has no meaning in GDL-II"),
                    "chance is the role `random`, which chooses among its legal moves with equal probability",
                );
                continue;
            }
            sink.add(
                Code::Unused,
                span,
                format!("`{text}` with {} is defined, but nothing uses it", count(arity)),
                "remove it, or use it",
            );
        }
    }
}

fn count(arity: usize) -> String {
    match arity {
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    }
}

/// Names of the fluents that `init` and `next` define.
fn fluent_names(forms: &[Form]) -> HashSet<Symbol> {
    let heads = forms
        .iter()
        .filter(|f| matches!(f.head.atom.relation, kw::INIT | kw::NEXT));
    heads
        .filter_map(|f| match f.head.atom.args.first() {
            Some(Term::Fun(name, _)) => Some(*name),
            _ => None,
        })
        .collect()
}

/// One relation name, one number of arguments; one functor name, one number of arguments.
fn report_arities(forms: &[Form], symbols: &Symbols, sink: &mut Sink) {
    let mut arities = Arities {
        first: HashMap::new(),
        reported: HashSet::new(),
        symbols,
        sink,
    };
    for form in forms {
        arities.atom(&form.head);
        for_each_atom(&form.body, &mut |atom, _| arities.atom(atom));
        arities.comparisons(&form.body);
    }
}

struct Arities<'a> {
    /// First number of arguments of each name; the flag is true for functions and false for relations.
    first: HashMap<(Symbol, bool), (usize, Span)>,
    reported: HashSet<(Symbol, bool)>,
    symbols: &'a Symbols,
    sink: &'a mut Sink,
}

impl Arities<'_> {
    fn atom(&mut self, placed: &PlacedAtom) {
        let (name, arity) = placed.pred();
        if !name.is_keyword_relation() {
            self.note(name, arity, false, placed.span);
        }
        for (term, span) in placed.atom.args.iter().zip(&placed.args) {
            self.term(term, *span);
        }
    }

    fn comparisons(&mut self, conditions: &[Condition]) {
        for condition in conditions {
            match condition {
                Condition::Distinct(a, b, span) | Condition::Same(a, b, span) => {
                    self.term(a, *span);
                    self.term(b, *span);
                }
                Condition::Or(branches, _) => branches.iter().for_each(|b| self.comparisons(b)),
                Condition::Pos(_) | Condition::Neg(_) => {}
            }
        }
    }

    fn term(&mut self, term: &Term, span: Span) {
        if let Term::Fun(name, args) = term {
            // A constant and a function of the same name are common and harmless.
            if !args.is_empty() {
                self.note(*name, args.len(), true, span);
            }
            args.iter().for_each(|arg| self.term(arg, span));
        }
    }

    fn note(&mut self, name: Symbol, arity: usize, functor: bool, span: Span) {
        let (first, at) = *self.first.entry((name, functor)).or_insert((arity, span));
        if first != arity && self.reported.insert((name, functor)) {
            let what = if functor { "function" } else { "relation" };
            let text = short(self.symbols.text(name));
            self.sink
                .add(
                    Code::Arity,
                    span,
                    format!(
                        "the {what} `{text}` has {} here and {} elsewhere",
                        count(arity),
                        count(first)
                    ),
                    "they are read as two different things; give them different names",
                )
                .see(at, format!("with {} here", count(first)));
        }
    }
}

/// Reports payoffs that are written out and are not integers from 0 to 100.
fn report_goal_values(forms: &[Form], symbols: &Symbols, sink: &mut Sink) {
    for form in forms.iter().filter(|f| f.head.pred() == (kw::GOAL, 2)) {
        let value = match &form.head.atom.args[1] {
            Term::Fun(name, args) if args.is_empty() => symbols.text(*name),
            Term::Fun(..) => "a function term",
            Term::Var(_) => continue,
        };
        let digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
        if !(digits && value.parse::<u32>().is_ok_and(|v| v <= 100)) {
            sink.add(
                Code::GoalValue,
                form.head.args[1],
                format!("a goal must be an integer from 0 to 100, not `{}`", short(value)),
                "scale the payoffs into 0..100",
            );
        }
    }
}
