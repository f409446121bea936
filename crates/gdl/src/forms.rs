//! From the syntax tree to facts and rules with spans.
//!
//! Negation is pushed inwards on the way (docs/gdl2.md, Normal form, steps 1 and 2): bodies have only positive and
//! negative atoms, `distinct`, equality (`not distinct`) and disjunctions.

use crate::ast::{Ast, Node, NodeKind, Notation};
use crate::codes::Code;
use crate::diagnostic::{Mode, Severity, Sink};
use crate::names::Names;
use crate::rules::{Atom, Term};
use crate::source::{Span, short};
use crate::symbol::{Symbol, Symbols, kw};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A fact or rule in negation normal form.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub head: PlacedAtom,
    pub body: Vec<Condition>,
    pub variables: Arc<[Variable]>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// Name as written, with the question mark.
    pub name: String,
    /// First occurrence in the form.
    pub span: Span,
}

/// An atom with the spans of itself and its arguments.
#[derive(Clone, Debug)]
pub(crate) struct PlacedAtom {
    pub atom: Atom,
    pub span: Span,
    pub args: Vec<Span>,
}

/// A relation, by name and number of arguments.
pub(crate) type Pred = (Symbol, usize);

impl PlacedAtom {
    pub fn pred(&self) -> Pred {
        (self.atom.relation, self.atom.args.len())
    }
}

/// One condition of a body.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Pos(PlacedAtom),
    Neg(PlacedAtom),
    Distinct(Term, Term, Span),
    /// Equality, written `not distinct`; `normalise` solves it by unification.
    Same(Term, Term, Span),
    /// Disjunction of conjunctions.
    Or(Vec<Vec<Condition>>, Span),
}

impl Form {
    /// Calls `visit` with every atom of the body and whether it is negated, also inside disjunctions.
    pub fn for_each_atom<'a>(&'a self, visit: &mut impl FnMut(&'a PlacedAtom, bool)) {
        for_each_atom(&self.body, visit);
    }
}

pub(crate) fn for_each_atom<'a>(conditions: &'a [Condition], visit: &mut impl FnMut(&'a PlacedAtom, bool)) {
    for condition in conditions {
        match condition {
            Condition::Pos(atom) => visit(atom, false),
            Condition::Neg(atom) => visit(atom, true),
            Condition::Or(branches, _) => branches.iter().for_each(|b| for_each_atom(b, visit)),
            Condition::Distinct(..) | Condition::Same(..) => {}
        }
    }
}

/// Options that change the meaning of forms.
#[derive(Clone, Copy)]
pub(crate) struct Dialect {
    pub gdl3: bool,
    pub stanford: bool,
}

impl Dialect {
    /// Whether a relation is a domain hint, which does not change the game.
    pub fn is_hint(self, relation: Symbol, symbols: &Symbols) -> bool {
        matches!(relation, kw::BASE | kw::INPUT)
            || (self.stanford && matches!(symbols.text(relation), "action" | "percept"))
    }
}

/// Turns the tree into forms; reports those that have no meaning.
pub(crate) fn interpret(ast: &Ast, text: &str, dialect: Dialect, names: &mut Names, sink: &mut Sink) -> Vec<Form> {
    let mut reader = Reader {
        text,
        dialect,
        names,
        sink,
        variables: Vec::new(),
        numbers: HashMap::new(),
        keyword_terms: HashSet::new(),
    };
    let mut seen = Repetitions::new(ast.notation);
    let mut forms = Vec::with_capacity(ast.forms.len());
    for node in &ast.forms {
        if seen.is_new(node, reader.sink) {
            forms.extend(reader.form(node));
        }
    }
    keep_wire_spelling(ast, text, &mut names.symbols);
    forms
}

/// Forms met so far, to find repetitions.
struct Repetitions {
    places: HashMap<Vec<u32>, Span>,
    notation: Notation,
}

impl Repetitions {
    fn new(notation: Notation) -> Repetitions {
        Repetitions {
            places: HashMap::new(),
            notation,
        }
    }

    fn is_new(&mut self, node: &Node, sink: &mut Sink) -> bool {
        let mut key = Vec::new();
        write_key(node, &mut key);
        match self.places.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(node.span);
                true
            }
            Entry::Occupied(entry) => {
                let help = "remove one of the two; saying it twice changes nothing";
                let slot = sink
                    .add(Code::Dup, node.span, "this has been said before", help)
                    .see(*entry.get(), "said here first");
                // In infix notation a fact ends with a full stop that is not part of its place.
                if self.notation == Notation::Prefix {
                    slot.fix("remove the repetition", node.span, "");
                }
                false
            }
        }
    }
}

fn write_key(node: &Node, key: &mut Vec<u32>) {
    match &node.kind {
        NodeKind::Var(symbol) | NodeKind::Name(symbol) => key.push(symbol.0),
        NodeKind::List(items) if items.len() == 1 => write_key(&items[0], key),
        NodeKind::List(items) => {
            key.push(u32::MAX);
            items.iter().for_each(|item| write_key(item, key));
            key.push(u32::MAX - 1);
        }
    }
}

/// Sets the wire spelling of names to that of their first occurrence in the head of a `legal` rule.
fn keep_wire_spelling(ast: &Ast, text: &str, symbols: &mut Symbols) {
    let mut seen = HashSet::new();
    for form in &ast.forms {
        let head = match form.items() {
            [arrow, head, ..] if arrow.head_name() == Some(kw::ARROW) => head,
            _ => form,
        };
        if head.head_name() != Some(kw::LEGAL) {
            continue;
        }
        let mut todo: Vec<&Node> = head.items().iter().skip(1).rev().collect();
        while let Some(node) = todo.pop() {
            if let NodeKind::Name(symbol) = node.kind
                && seen.insert(symbol)
            {
                symbols.set_wire_text(symbol, &text[node.span.range()]);
            }
            todo.extend(node.items().iter().rev());
        }
    }
}

struct Reader<'a, 's> {
    text: &'a str,
    dialect: Dialect,
    names: &'a mut Names<'s>,
    sink: &'a mut Sink,
    variables: Vec<Variable>,
    numbers: HashMap<Symbol, u32>,
    keyword_terms: HashSet<Symbol>,
}

/// Number of arguments of a keyword relation.
fn keyword_arity(relation: Symbol) -> Option<usize> {
    match relation {
        kw::TERMINAL => Some(0),
        kw::ROLE | kw::INIT | kw::TRUE | kw::NEXT | kw::BASE => Some(1),
        kw::LEGAL | kw::DOES | kw::GOAL | kw::SEES | kw::INPUT => Some(2),
        _ => None,
    }
}

impl Reader<'_, '_> {
    fn form(&mut self, node: &Node) -> Option<Form> {
        self.variables.clear();
        self.numbers.clear();
        let (head, body) = match &node.kind {
            NodeKind::List(items) if items.first().and_then(leaf_name) == Some(kw::ARROW) => {
                self.rule(node.span, &items[1..])?
            }
            _ => (self.head(node)?, Vec::new()),
        };
        Some(Form {
            head,
            body,
            variables: std::mem::take(&mut self.variables).into(),
            span: node.span,
        })
    }

    fn rule(&mut self, span: Span, rest: &[Node]) -> Option<(PlacedAtom, Vec<Condition>)> {
        let Some((head, literals)) = rest.split_first() else {
            self.sink.add(
                Code::RuleNoHead,
                span,
                "a rule needs a head after `<=`",
                "write `(<= head condition …)`",
            );
            return None;
        };
        if literals.is_empty() {
            let slot = self.sink.add(
                Code::EmptyBody,
                span,
                "a rule without conditions is read as a fact",
                "write the head alone, without `<=`",
            );
            // In infix notation the place of a rule ends with its full stop.
            let stop = if self.text[span.range()].ends_with('.') {
                "."
            } else {
                ""
            };
            let fact = format!("{}{stop}", &self.text[head.span.range()]);
            slot.fix("write the head alone", span, fact);
        }
        let head = self.head(head);
        let mut body = Vec::new();
        let mut whole = true;
        for literal in literals {
            whole &= self.literal(literal, true, &mut body).is_some();
        }
        head.filter(|_| whole).map(|head| (head, body))
    }

    /// Reads a head or fact.
    fn head(&mut self, node: &Node) -> Option<PlacedAtom> {
        match node.head_name() {
            Some(kw::DISTINCT) => {
                self.sink.add(
                    Code::Distinct,
                    node.span,
                    "`distinct` cannot be defined: it holds of two different terms by itself",
                    "use it in the body of a rule",
                );
                None
            }
            Some(kw::ARROW) => self.misplaced_arrow(node.span),
            Some(name) if name.is_connective() => self.connective_as_name(name, node.span),
            _ => self.sentence(node, "a fact or the head of a rule"),
        }
    }

    /// Appends the literal, or its negation if `positive` is false, to a conjunction.
    fn literal(&mut self, node: &Node, positive: bool, out: &mut Vec<Condition>) -> Option<()> {
        let args = node.items().get(1..).unwrap_or_default();
        let is_list = matches!(node.kind, NodeKind::List(_));
        match node.head_name() {
            Some(kw::ARROW) => self.misplaced_arrow(node.span),
            Some(name) if name.is_connective() && !is_list => self.connective_as_name(name, node.span),
            Some(kw::NOT) => self.negation(node.span, args, positive, out),
            Some(kw::OR) => {
                if args.is_empty() {
                    self.sink.add(
                        Code::EmptyOr,
                        node.span,
                        "`or` without members never holds",
                        "remove the rule, or give the alternatives",
                    );
                }
                self.junction(args, positive, positive, node.span, out)
            }
            Some(kw::AND) => self.junction(args, positive, !positive, node.span, out),
            Some(kw::DISTINCT) => self.distinct(node.span, args, positive, out),
            _ => {
                let atom = self.sentence(node, "a condition")?;
                out.push(if positive {
                    Condition::Pos(atom)
                } else {
                    Condition::Neg(atom)
                });
                Some(())
            }
        }
    }

    fn negation(&mut self, span: Span, args: &[Node], positive: bool, out: &mut Vec<Condition>) -> Option<()> {
        let [inner] = args else {
            self.sink.add(
                Code::NotArity,
                span,
                format!("`not` takes one condition, here are {}", args.len()),
                "negate several with `(not (or …))`, or write one `not` for each",
            );
            return None;
        };
        let compound = inner.head_name().is_some_and(Symbol::is_connective);
        if compound && self.sink.mode() == Mode::Strict {
            self.sink.add(
                Code::NotForm,
                span,
                "`not` stands before something that is not a relation",
                "push the negation inwards, or give the inner condition a relation of its own",
            );
        }
        self.literal(inner, !positive, out)
    }

    /// `or` and `and`: a disjunction if `any`, else a conjunction, of the members with the given sign.
    fn junction(
        &mut self,
        args: &[Node],
        positive: bool,
        any: bool,
        span: Span,
        out: &mut Vec<Condition>,
    ) -> Option<()> {
        if !any {
            let mut whole = Some(());
            for arg in args {
                whole = whole.and(self.literal(arg, positive, out));
            }
            return whole;
        }
        let mut branches = Vec::new();
        let mut whole = Some(());
        for arg in args {
            let mut branch = Vec::new();
            whole = whole.and(self.literal(arg, positive, &mut branch));
            match <[Condition; 1]>::try_from(branch) {
                Ok([Condition::Or(inner, _)]) => branches.extend(inner),
                Ok([condition]) => branches.push(vec![condition]),
                Err(branch) => branches.push(branch),
            }
        }
        whole?;
        if branches.iter().any(Vec::is_empty) {
            return Some(());
        }
        match <[Vec<Condition>; 1]>::try_from(branches) {
            Ok([only]) => out.extend(only),
            Err(branches) => out.push(Condition::Or(branches, span)),
        }
        Some(())
    }

    fn distinct(&mut self, span: Span, args: &[Node], positive: bool, out: &mut Vec<Condition>) -> Option<()> {
        let [a, b] = args else {
            self.sink.add(
                Code::Distinct,
                span,
                format!("`distinct` compares two terms, here are {}", args.len()),
                "write one `distinct` for each pair",
            );
            return None;
        };
        let (a, b) = (self.term(a), self.term(b));
        let (a, b) = (a?, b?);
        out.push(if positive {
            Condition::Distinct(a, b, span)
        } else {
            Condition::Same(a, b, span)
        });
        Some(())
    }

    fn sentence(&mut self, node: &Node, place: &str) -> Option<PlacedAtom> {
        let (name, args): (&Node, &[Node]) = match &node.kind {
            NodeKind::List(items) => match items.split_first() {
                Some(split) => split,
                None => return self.empty_list(node.span),
            },
            _ => (node, &[]),
        };
        let NodeKind::Name(relation) = name.kind else {
            return self.not_a_name(name, place);
        };
        self.warn_parens(node, relation);
        let terms: Option<Vec<Term>> = self.terms(args);
        self.check_arity(relation, args.len(), node.span)?;
        Some(PlacedAtom {
            atom: Atom { relation, args: terms? },
            span: node.span,
            args: args.iter().map(|a| a.span).collect(),
        })
    }

    fn check_arity(&mut self, relation: Symbol, found: usize, span: Span) -> Option<()> {
        let wanted = match relation {
            kw::KNOWS if self.dialect.gdl3 && !(1..=2).contains(&found) => 2,
            _ => match keyword_arity(relation) {
                Some(wanted) if wanted != found => wanted,
                _ => return Some(()),
            },
        };
        let name = self.names.symbols.text(relation);
        // Hints are never needed, so an old form of one must not make a game unplayable.
        let severity = match self.sink.mode() {
            Mode::Lenient if matches!(relation, kw::BASE | kw::INPUT) => Severity::Warning,
            _ => Severity::Error,
        };
        let plural = if wanted == 1 { "argument" } else { "arguments" };
        let shape = crate::check::keyword_shape(name).map_or(String::new(), |(_, s)| format!("write `{s}`; "));
        self.sink.add_as(
            Code::KwArity,
            severity,
            span,
            format!("`{name}` takes {wanted} {plural}, here are {found}"),
            format!("{shape}`{name}` is a keyword, and a relation of your own needs another name"),
        );
        None
    }

    fn terms(&mut self, nodes: &[Node]) -> Option<Vec<Term>> {
        let mut terms = Some(Vec::with_capacity(nodes.len()));
        for node in nodes {
            let term = self.term(node);
            match (&mut terms, term) {
                (Some(terms), Some(term)) => terms.push(term),
                _ => terms = None,
            }
        }
        terms
    }

    fn term(&mut self, node: &Node) -> Option<Term> {
        let (name, args): (&Node, &[Node]) = match &node.kind {
            NodeKind::Var(symbol) => return Some(Term::Var(self.variable(*symbol, node.span))),
            NodeKind::Name(_) => (node, &[]),
            NodeKind::List(items) => match items.split_first() {
                Some(split) => split,
                None => return self.empty_list(node.span),
            },
        };
        let NodeKind::Name(functor) = name.kind else {
            return self.not_a_name(name, "a term");
        };
        if functor == kw::ARROW {
            return self.misplaced_arrow(name.span);
        }
        if functor.is_connective() {
            return self.connective_as_name(functor, name.span);
        }
        if functor.is_keyword_relation() && self.keyword_terms.insert(functor) {
            self.sink.add(
                Code::KwTerm,
                name.span,
                format!(
                    "the keyword `{}` is used as a name inside a term",
                    self.names.symbols.text(functor)
                ),
                "it means nothing special there, but other systems refuse it; use another name",
            );
        }
        self.warn_parens(node, functor);
        Some(Term::Fun(functor, self.terms(args)?))
    }

    fn variable(&mut self, symbol: Symbol, span: Span) -> u32 {
        let written = &self.text[span.range()];
        if let Some(&number) = self.numbers.get(&symbol) {
            let first = &self.variables[number as usize];
            if first.name != written && self.sink.wants(Code::Case) {
                self.sink
                    .add(
                        Code::Case,
                        span,
                        format!(
                            "`{}` and `{}` are the same variable of this rule",
                            short(written),
                            short(&first.name)
                        ),
                        "spell a variable in one way; case does not tell names apart",
                    )
                    .see(first.span, "first spelled here")
                    .fix(format!("write `{}`", first.name), span, first.name.clone());
            }
            return number;
        }
        let number = self.variables.len() as u32;
        self.variables.push(Variable {
            name: written.to_owned(),
            span,
        });
        self.numbers.insert(symbol, number);
        number
    }

    fn warn_parens(&mut self, node: &Node, name: Symbol) {
        if let NodeKind::List(items) = &node.kind
            && let [only] = items.as_slice()
        {
            let name = short(self.names.symbols.text(name));
            let written = &self.text[only.span.range()];
            self.sink
                .add(
                    Code::Parens,
                    node.span,
                    format!("`({name})` is read as `{name}`"),
                    "leave out the parentheses: some systems tell the two apart",
                )
                .fix("leave out the parentheses", node.span, written);
        }
    }

    fn empty_list<T>(&mut self, span: Span) -> Option<T> {
        self.sink.add(
            Code::EmptyList,
            span,
            "an empty list means nothing",
            "remove it, or put a name first",
        );
        None
    }

    fn not_a_name<T>(&mut self, node: &Node, place: &str) -> Option<T> {
        let (message, help) = match node.kind {
            NodeKind::Var(_) => (
                format!("{place} cannot begin with a variable"),
                "GDL has no variables for relations or functions: name it",
            ),
            _ => (
                format!("{place} begins with a list where its name should be"),
                "remove one pair of parentheses, or put the name first",
            ),
        };
        self.sink.add(Code::HeadNotName, node.span, message, help);
        None
    }

    fn misplaced_arrow<T>(&mut self, span: Span) -> Option<T> {
        self.sink.add(
            Code::Arrow,
            span,
            "`<=` may only come first in a rule at the top level",
            "end the rule before it with `)`; rules cannot stand inside rules",
        );
        None
    }

    fn connective_as_name<T>(&mut self, name: Symbol, span: Span) -> Option<T> {
        let name = self.names.symbols.text(name);
        self.sink.add(
            Code::KwConstant,
            span,
            format!("`{name}` is a connective and cannot be used as a name"),
            "use another name; a condition is written `(not …)`, `(or …)`",
        );
        None
    }
}

fn leaf_name(node: &Node) -> Option<Symbol> {
    match node.kind {
        NodeKind::Name(symbol) => Some(symbol),
        _ => None,
    }
}
