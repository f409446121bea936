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

pub(super) fn check(forms: &[Form], dialect: Dialect, source: &str, symbols: &Symbols, sink: &mut Sink) {
    let uses = Uses::collect(forms, source);
    uses.report_undefined(dialect, symbols, sink);
    uses.report_unused(dialect, symbols, sink);
    report_arities(forms, symbols, sink);
    report_goal_values(forms, symbols, sink);
}

struct Uses<'a> {
    source: &'a str,
    forms: &'a [Form],
    defined: BTreeMap<Pred, Span>,
    used: HashMap<Pred, Span>,
    used_elsewhere: HashSet<Pred>,
}

impl<'a> Uses<'a> {
    fn collect(forms: &'a [Form], source: &'a str) -> Uses<'a> {
        let mut uses = Uses {
            source,
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
            let (help, fix) = self.suggest(pred, span, &fluents, symbols);
            let slot = sink.add(
                Code::Undef,
                span,
                format!(
                    "no fact or rule defines `{name}` with {}: it is false everywhere",
                    count(pred.1)
                ),
                help,
            );
            if let Some((place, text)) = fix {
                slot.guess(format!("replace by `{text}`"), place, text);
            }
        }
    }

    /// Advice about a relation that nothing defines, and what to write instead, where that is clear.
    fn suggest(
        &self,
        (name, arity): Pred,
        span: Span,
        fluents: &HashSet<Symbol>,
        symbols: &Symbols,
    ) -> (String, Option<(Span, String)>) {
        let text = symbols.text(name);
        let place = name_place(span, text, self.source);
        if fluents.contains(&name) {
            let written = &self.source[span.range()];
            let help = format!("`{text}` is a fluent: to ask whether it holds now, write `(true ({text} …))`");
            return (help, Some((span, format!("(true {written})"))));
        }
        if let Some(shape) = keyword_shape(text) {
            return (
                format!("did you mean the keyword in `{}`?", shape.1),
                Some((place, shape.0.to_owned())),
            );
        }
        if let Some((_, other)) = self.defined.keys().find(|(n, _)| *n == name) {
            return (format!("`{text}` is defined with {}", count(*other)), None);
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
            Some(other) => (format!("did you mean `{other}`?"), Some((place, other.to_owned()))),
            None => ("define it, or remove the condition".to_owned(), None),
        }
    }

    /// The undefined relation in some condition that this one may be a misspelling of.
    fn misspelled_use(&self, name: Symbol, arity: usize, symbols: &Symbols) -> Option<String> {
        let text = symbols.text(name);
        let relations = self
            .used
            .keys()
            .filter(|(n, a)| *a == arity && *n != name && !n.is_keyword_relation());
        let close = relations.take(1_000).map(|(n, _)| symbols.text(*n));
        close
            .filter(|other| within_one_edit(text, other))
            .min()
            .map(str::to_owned)
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
            let close = self.misspelled_use(name, arity, symbols);
            let (help, meant) = match (keyword_shape(&text), close) {
                (Some((keyword, shape)), _) => (
                    format!("did you mean the keyword in `{shape}`?"),
                    Some(keyword.to_owned()),
                ),
                (None, Some(other)) => (format!("did you mean `{other}`?"), Some(other)),
                (None, None) => ("remove it, or use it".to_owned(), None),
            };
            let place = name_place(span, symbols.text(name), self.source);
            let slot = sink.add(
                Code::Unused,
                span,
                format!("`{text}` with {} is defined, but nothing uses it", count(arity)),
                help,
            );
            if let Some(meant) = meant {
                slot.guess(format!("replace by `{meant}`"), place, meant);
            }
        }
    }
}

/// The place of the name of an atom.
fn name_place(span: Span, name: &str, source: &str) -> Span {
    let text = &source[span.range()];
    let at = text.to_ascii_lowercase().find(&name.to_ascii_lowercase()).unwrap_or(0);
    let start = span.start as usize + at;
    Span::new(start, (start + name.len()).min(span.end as usize))
}

/// The keyword that this name is a misspelling of, and how it is written.
pub(crate) fn keyword_shape(name: &str) -> Option<(&'static str, &'static str)> {
    const SHAPES: [(&str, &str); 9] = [
        ("role", "(role NAME)"),
        ("init", "(init FLUENT)"),
        ("true", "(true FLUENT)"),
        ("next", "(<= (next FLUENT) CONDITION …)"),
        ("legal", "(<= (legal ROLE MOVE) CONDITION …)"),
        ("does", "(does ROLE MOVE)"),
        ("terminal", "(<= terminal CONDITION …)"),
        ("goal", "(<= (goal ROLE POINTS) CONDITION …)"),
        ("sees", "(<= (sees ROLE PERCEPT) CONDITION …)"),
    ];
    let is_close = |(keyword, _): &&(&str, &str)| *keyword == name || within_one_edit(name, keyword);
    SHAPES.iter().find(is_close).copied()
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
