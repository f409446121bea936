//! The names of a description and where they occur.
//!
//! A description has two name spaces: relations, and the functions and constants of terms. A fluent, a move, a percept
//! and a role are terms: a variable can carry a term from one place to another, so `noop` as a move and `noop` as a
//! percept are the same name. Variables belong to their form.

use gdl::ast::{Node, NodeKind};
use gdl::{Reading, Span, Symbol, kw};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What an occurrence names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A keyword or connective.
    Keyword(Symbol),
    /// A relation, by name and number of arguments.
    Relation(Symbol, usize),
    /// A function or constant, by name and number of arguments.
    Term(Symbol, usize),
    /// A variable of a form.
    Variable(Symbol, FormId),
}

impl Target {
    /// The name.
    pub fn symbol(self) -> Symbol {
        match self {
            Target::Keyword(name) | Target::Relation(name, _) | Target::Term(name, _) | Target::Variable(name, _) => {
                name
            }
        }
    }
}

/// How a name is used where it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// A keyword or connective.
    Keyword,
    /// A relation of the author.
    Relation,
    /// A fluent: what `true`, `init` and `next` speak of.
    Fluent,
    /// A move.
    Move,
    /// A percept.
    Percept,
    /// A role.
    Role,
    /// The payoff of a goal.
    Payoff,
    /// A constant or function inside another term.
    Inner,
    /// A variable.
    Variable,
}

/// A form, by its place among the forms and unfinished forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormId(pub u32);

/// A name at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The place.
    pub span: Span,
    /// What is named.
    pub target: Target,
    /// How it is used here.
    pub part: Part,
    /// Whether it is defined here: the head of a clause, or the fluent, move, percept or role of one.
    pub defines: bool,
    /// The form it is in.
    pub form: FormId,
}

/// A form in brief.
#[derive(Clone, Copy, Debug)]
pub struct FormSummary {
    /// Its place.
    pub span: Span,
    /// The place of its head.
    pub head: Span,
    /// The place of the name of its head, and the relation, if it has one.
    pub name: Option<(Span, Symbol, usize)>,
    /// Whether it is a rule.
    pub is_rule: bool,
    /// Whether it is finished.
    pub is_finished: bool,
}

/// An argument place of a relation or function: the name, how many arguments it has, and which of them, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArgumentPlace {
    /// Whether the name is a relation, not a function.
    pub is_relation: bool,
    /// The name.
    pub name: Symbol,
    /// The argument, from 0.
    pub at: usize,
}

/// Constants that are kept for an argument place.
const MAX_VALUES: usize = 1_000;

/// All names of a description.
#[derive(Default)]
pub struct Index {
    /// Every name, by place.
    pub occurrences: Vec<Occurrence>,
    /// Every form, by place.
    pub forms: Vec<FormSummary>,
    by_target: HashMap<Target, Vec<u32>>,
    values: HashMap<ArgumentPlace, BTreeSet<Symbol>>,
}

impl Index {
    /// Finds the names of a reading, also in forms that are not finished.
    pub fn new(reading: &Reading) -> Index {
        let ast = &reading.ast;
        let finished = ast.forms.iter().map(|node| (node, true));
        let mut nodes: Vec<(&Node, bool)> = finished
            .chain(ast.unfinished.iter().map(|node| (node, false)))
            .collect();
        nodes.sort_by_key(|(node, _)| node.span);
        let mut walk = Walk {
            index: Index::default(),
            form: FormId(0),
            text: &reading.text,
        };
        for (number, (node, is_finished)) in nodes.into_iter().enumerate() {
            walk.form = FormId(number as u32);
            walk.form(node, is_finished);
        }
        let mut index = walk.index;
        index.occurrences.sort_by_key(|o| o.span);
        for (number, occurrence) in index.occurrences.iter().enumerate() {
            index
                .by_target
                .entry(occurrence.target)
                .or_default()
                .push(number as u32);
        }
        index
    }

    /// The name at an offset, or just before it.
    pub fn at(&self, offset: usize) -> Option<&Occurrence> {
        let offset = offset as u32;
        let after = self.occurrences.partition_point(|o| o.span.start <= offset);
        let nearest = self.occurrences[..after].iter().rev().take(3);
        nearest
            .into_iter()
            .find(|o| o.span.start <= offset && offset <= o.span.end)
    }

    /// Every occurrence of a target, by place.
    pub fn all(&self, target: Target) -> impl Iterator<Item = &Occurrence> {
        let numbers = self.by_target.get(&target).map_or(&[][..], Vec::as_slice);
        numbers.iter().map(|&n| &self.occurrences[n as usize])
    }

    /// The targets of the description, in an order that does not depend on hashing.
    pub fn targets(&self) -> Vec<Target> {
        let mut targets: Vec<Target> = self.by_target.keys().copied().collect();
        targets.sort_unstable();
        targets
    }

    /// How the occurrences of a target are used.
    pub fn parts(&self, target: Target) -> BTreeSet<Part> {
        self.all(target).map(|o| o.part).collect()
    }

    /// The places that define a target. Constants of facts are defined nowhere: then their first place.
    pub fn definitions(&self, target: Target) -> Vec<&Occurrence> {
        let defining: Vec<&Occurrence> = self.all(target).filter(|o| o.defines).collect();
        match (defining.is_empty(), target) {
            (true, Target::Variable(..) | Target::Term(..)) => self.all(target).take(1).collect(),
            _ => defining,
        }
    }

    /// The constants that are written at an argument place.
    pub fn values(&self, place: ArgumentPlace) -> impl Iterator<Item = Symbol> + '_ {
        self.values.get(&place).into_iter().flatten().copied()
    }

    /// The form at an offset. A form that is not finished reaches to the next one.
    pub fn form_at(&self, offset: usize) -> Option<(FormId, &FormSummary)> {
        let after = self.forms.partition_point(|f| f.span.start as usize <= offset);
        let number = after.checked_sub(1)?;
        let form = &self.forms[number];
        (offset <= form.span.end as usize || !form.is_finished).then_some((FormId(number as u32), form))
    }

    /// Terms used as this part, with the number of their arguments, by name.
    pub fn terms_used_as(&self, part: Part) -> Vec<(Symbol, usize)> {
        let mut found: BTreeMap<(Symbol, usize), ()> = BTreeMap::new();
        for o in self.occurrences.iter().filter(|o| o.part == part) {
            if let Target::Term(name, arity) = o.target {
                found.insert((name, arity), ());
            }
        }
        found.into_keys().collect()
    }
}

/// The part of an argument of a keyword relation.
pub fn part_of_argument(keyword: Symbol, at: usize) -> Part {
    match (keyword, at) {
        (kw::ROLE, 0) | (kw::LEGAL | kw::DOES | kw::GOAL | kw::SEES | kw::INPUT, 0) => Part::Role,
        (kw::INIT | kw::TRUE | kw::NEXT | kw::BASE, 0) => Part::Fluent,
        (kw::LEGAL | kw::DOES | kw::INPUT, 1) => Part::Move,
        (kw::SEES, 1) => Part::Percept,
        (kw::GOAL, 1) => Part::Payoff,
        _ => Part::Inner,
    }
}

struct Walk<'a> {
    index: Index,
    form: FormId,
    text: &'a str,
}

impl Walk<'_> {
    fn form(&mut self, node: &Node, is_finished: bool) {
        let items = node.items();
        let is_rule = items.first().is_some_and(|first| is_name(first, kw::ARROW));
        let head = if is_rule { items.get(1) } else { Some(node) };
        let name = head.and_then(|head| {
            let name = head.items().first().unwrap_or(head);
            let arity = head.items().len().saturating_sub(1);
            match name.kind {
                NodeKind::Name(symbol) => Some((name.span, symbol, arity)),
                _ => None,
            }
        });
        self.index.forms.push(FormSummary {
            span: node.span,
            head: head.map_or(node.span, |h| h.span),
            name,
            is_rule,
            is_finished,
        });
        if !is_rule {
            self.literal(node, true);
            return;
        }
        self.keyword(&items[0], kw::ARROW, false);
        for (i, item) in items[1..].iter().enumerate() {
            self.literal(item, i == 0);
        }
    }

    fn literal(&mut self, node: &Node, defines: bool) {
        let (name, args) = parts(node);
        let Some(name) = name else {
            return;
        };
        let symbol = match name.kind {
            NodeKind::Name(symbol) => symbol,
            _ => {
                self.term(name, Part::Inner, false, None);
                args.iter().for_each(|arg| self.term(arg, Part::Inner, false, None));
                return;
            }
        };
        match symbol {
            kw::NOT | kw::OR | kw::AND | kw::ARROW => {
                self.keyword(name, symbol, false);
                args.iter().for_each(|arg| self.literal(arg, false));
            }
            kw::DISTINCT => {
                self.keyword(name, symbol, false);
                args.iter().for_each(|arg| self.term(arg, Part::Inner, false, None));
            }
            _ => self.atom(name, symbol, args, defines),
        }
    }

    fn atom(&mut self, name: &Node, symbol: Symbol, args: &[Node], defines: bool) {
        let is_keyword = symbol.is_keyword_relation();
        if is_keyword {
            self.keyword(name, symbol, defines);
        } else {
            self.add(name.span, Target::Relation(symbol, args.len()), Part::Relation, defines);
        }
        for (at, arg) in args.iter().enumerate() {
            let part = if is_keyword {
                part_of_argument(symbol, at)
            } else {
                Part::Inner
            };
            let is_definition = match part {
                Part::Role => symbol == kw::ROLE,
                Part::Fluent | Part::Move | Part::Percept => defines,
                _ => false,
            };
            let place = ArgumentPlace {
                is_relation: true,
                name: symbol,
                at,
            };
            self.term(arg, part, defines && is_definition, Some(place));
        }
    }

    fn term(&mut self, node: &Node, part: Part, defines: bool, place: Option<ArgumentPlace>) {
        let (name, args) = parts(node);
        let Some(name) = name else {
            return;
        };
        match name.kind {
            NodeKind::Var(symbol) => self.add(name.span, Target::Variable(symbol, self.form), Part::Variable, false),
            NodeKind::Name(symbol) if symbol.is_connective() => self.keyword(name, symbol, false),
            NodeKind::Name(symbol) => {
                self.add(name.span, Target::Term(symbol, args.len()), part, defines);
                if let Some(place) = place.filter(|_| args.is_empty()) {
                    let values = self.index.values.entry(place).or_default();
                    if values.len() < MAX_VALUES {
                        values.insert(symbol);
                    }
                }
                for (at, arg) in args.iter().enumerate() {
                    let place = ArgumentPlace {
                        is_relation: false,
                        name: symbol,
                        at,
                    };
                    self.term(arg, Part::Inner, false, Some(place));
                }
            }
            NodeKind::List(_) => {
                self.term(name, Part::Inner, false, None);
                args.iter().for_each(|arg| self.term(arg, Part::Inner, false, None));
            }
        }
    }

    fn keyword(&mut self, node: &Node, symbol: Symbol, defines: bool) {
        // Infix notation has a conjunction without a word: its parenthesis stands for it.
        if &self.text[node.span.range()] != "(" {
            self.add(node.span, Target::Keyword(symbol), Part::Keyword, defines);
        }
    }

    fn add(&mut self, span: Span, target: Target, part: Part, defines: bool) {
        self.index.occurrences.push(Occurrence {
            span,
            target,
            part,
            defines,
            form: self.form,
        });
    }
}

fn is_name(node: &Node, name: Symbol) -> bool {
    matches!(node.kind, NodeKind::Name(found) if found == name)
}

/// The name of an atom or term, and its arguments.
fn parts(node: &Node) -> (Option<&Node>, &[Node]) {
    match &node.kind {
        NodeKind::List(items) => match items.split_first() {
            Some((name, args)) => (Some(name), args),
            None => (None, &[]),
        },
        _ => (Some(node), &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gdl::Options;

    const GAME: &str = "(role me) (init (cell 1 b))
        (<= (legal me (mark ?x)) (true (cell ?x b)) (not (done ?x)))
        (<= (next (cell ?x x)) (does me (mark ?x)) (num ?x)) (num 1) (num 2) (done 3)";

    fn read(text: &str) -> (Reading, Index) {
        let reading = gdl::read(text, &Options::default());
        let index = Index::new(&reading);
        (reading, index)
    }

    fn texts<'a>(text: &'a str, found: impl Iterator<Item = &'a Occurrence>) -> Vec<(u32, &'a str)> {
        found.map(|o| (o.span.start, &text[o.span.range()])).collect()
    }

    #[test]
    fn names_know_their_parts() {
        let (reading, index) = read(GAME);
        let symbol = |name| reading.rules.symbols.get(name).unwrap();
        assert_eq!(index.terms_used_as(Part::Fluent), [(symbol("cell"), 2)]);
        assert_eq!(index.terms_used_as(Part::Move), [(symbol("mark"), 1)]);
        assert_eq!(index.terms_used_as(Part::Role), [(symbol("me"), 0)]);
        let defined = index.definitions(Target::Relation(symbol("num"), 1));
        assert_eq!(defined.len(), 2);
        let cell = Target::Term(symbol("cell"), 2);
        assert_eq!(index.all(cell).count(), 3);
        assert_eq!(index.definitions(cell).len(), 2, "init and next, not true");
        assert_eq!(
            index.definitions(Target::Term(symbol("mark"), 1)).len(),
            1,
            "legal, not does"
        );
    }

    #[test]
    fn variables_belong_to_their_form() {
        let (reading, index) = read(GAME);
        let x = index.at(reading.text.find("?x").unwrap()).unwrap();
        assert_eq!(index.all(x.target).count(), 3);
    }

    #[test]
    fn values_are_collected_by_argument() {
        let (reading, index) = read(GAME);
        let symbols = &reading.rules.symbols;
        let name = symbols.get("cell").unwrap();
        let values = |at| {
            let place = ArgumentPlace {
                is_relation: false,
                name,
                at,
            };
            index.values(place).map(|s| symbols.text(s)).collect::<Vec<_>>()
        };
        assert_eq!(values(0), ["1"]);
        assert_eq!(values(1), ["b", "x"]);
    }

    #[test]
    fn both_notations_have_the_same_names() {
        let (reading, index) = read(GAME);
        let infix = gdl::format::format(&reading.ast, GAME, &reading.rules.symbols, gdl::Notation::Infix).unwrap();
        let (other, found) = read(&infix);
        let list = |text: &str, index: &Index| {
            let mut list: Vec<String> = index
                .occurrences
                .iter()
                .filter(|o| o.part != Part::Keyword)
                .map(|o| format!("{} {:?} {}", &text[o.span.range()], o.part, o.defines))
                .collect();
            list.sort();
            list
        };
        assert_eq!(list(&reading.text, &index), list(&other.text, &found));
        assert_eq!(texts(&reading.text, index.occurrences.iter().take(1)), [(1, "role")]);
    }

    #[test]
    fn unfinished_forms_keep_their_names() {
        let (reading, index) = read("(role me)\n(<= (legal me (mark ?x)) (true (cell ?x\n(init (step 1))\n");
        let name = reading.rules.symbols.get("cell").unwrap();
        assert_eq!(index.all(Target::Term(name, 1)).count(), 1);
        let step = reading.rules.symbols.get("step").unwrap();
        assert_eq!(index.definitions(Target::Term(step, 1)).len(), 1);
    }
}
