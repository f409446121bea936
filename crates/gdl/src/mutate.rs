//! Mutants of rules: texts with one slip of the kind that authors make.
//!
//! Mutation analysis (DeMillo, Lipton and Sayward, "Hints on test data selection", 1978) measures a check by the share
//! of small mistakes it notices. `surmise test --mutate` measures the tests of a game in this way, and
//! `benchmarks/mutants.py` measures `surmise check`. The list of mutants is a function of the text alone.
//!
//! ```
//! use surmise_gdl::{Options, mutate};
//!
//! let rules = "(role me) (init (lamp off)) (<= (legal me press) (true (lamp off)))
//!     (<= (next (lamp on)) (does me press)) (<= terminal (true (lamp on))) (goal me 100)";
//! let mutants = mutate::mutants(rules, &Options::default());
//! let dropped = mutants.list.iter().find(|m| m.class == mutate::Class::DroppedRule).unwrap();
//! assert_eq!(dropped.description, "dropped `(<= (legal me press) (true (lamp off)))`");
//! assert!(!mutants.text(dropped).contains("legal"));
//! ```

use crate::ast::{Node, NodeKind, Notation};
use crate::fix::{Edit, apply};
use crate::source::{Span, short};
use crate::symbol::{Symbol, Symbols, kw};
use crate::{Options, Reading, format, read};
use std::collections::{BTreeMap, BTreeSet};

macro_rules! classes {
    ($($(#[$doc:meta])* $variant:ident $text:literal),* $(,)?) => {
        /// A kind of slip.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Class { $($(#[$doc])* $variant),* }

        impl Class {
            /// All classes.
            pub const ALL: &'static [Class] = &[$(Class::$variant),*];

            /// The name of the class, as in reports.
            pub fn text(self) -> &'static str {
                match self { $(Class::$variant => $text),* }
            }
        }
    };
}

classes! {
    /// A letter wrong in a keyword: `legl`.
    TypoKeyword "typo-keyword",
    /// A letter wrong in the name of a relation.
    TypoRelation "typo-relation",
    /// A letter wrong in the name of a fluent.
    TypoFluent "typo-fluent",
    /// A letter wrong in the name of a move.
    TypoMove "typo-move",
    /// A letter wrong in the name of a role.
    TypoRole "typo-role",
    /// A letter wrong in a constant or function inside a term.
    TypoConstant "typo-constant",
    /// A letter wrong in the name of a percept.
    TypoPercept "typo-percept",
    /// A letter wrong in one occurrence of a variable.
    TypoVariable "typo-variable",
    /// A rule left out that keeps a fluent as it is.
    DroppedFrame "dropped-frame",
    /// Another rule left out.
    DroppedRule "dropped-rule",
    /// A fact left out.
    DroppedFact "dropped-fact",
    /// A condition left out.
    DroppedCondition "dropped-condition",
    /// A `not` left out, or added.
    FlippedNot "flipped-not",
    /// Another constant that occurs at the same place elsewhere.
    WrongConstant "wrong-constant",
    /// Another role in `legal`, `does` or `goal`.
    WrongRole "wrong-role",
    /// Another role in `sees`.
    WrongSeesRole "wrong-sees-role",
    /// Two goal values of a role swapped.
    SwappedGoals "swapped-goals",
    /// Two neighbouring arguments swapped.
    SwappedArguments "swapped-arguments",
}

impl Class {
    /// The class with this name.
    pub fn find(text: &str) -> Option<Class> {
        Class::ALL.iter().copied().find(|c| c.text() == text)
    }

    /// Whether the slip is a letter wrong in a name; the new name occurs nowhere else.
    pub fn is_typo(self) -> bool {
        self <= Class::TypoVariable
    }
}

/// One slip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Kind of slip.
    pub class: Class,
    /// The slip in a few words.
    pub description: String,
    /// Place of the slip in [`Mutants::source`].
    pub span: Span,
    /// Edits of [`Mutants::source`] that make the mutant.
    pub edits: Vec<Edit>,
}

/// The mutants of a description.
#[derive(Clone, Debug)]
pub struct Mutants {
    /// Text that spans and edits refer to: the text given, or its prefix notation if it was in infix notation.
    pub source: String,
    /// Mutants, ordered by place and class.
    pub list: Vec<Mutant>,
}

impl Mutants {
    /// The whole text of a mutant.
    pub fn text(&self, mutant: &Mutant) -> String {
        apply(&self.source, &mutant.edits).0
    }

    /// At most `per_class` mutants of each class, spread evenly over the text and shifted by `seed`.
    pub fn sample(&self, per_class: usize, seed: u64) -> Vec<&Mutant> {
        let mut chosen = Vec::new();
        for &class in Class::ALL {
            let members: Vec<&Mutant> = self.list.iter().filter(|m| m.class == class).collect();
            let n = members.len().min(per_class);
            let shift = if members.is_empty() {
                0
            } else {
                (mix(seed ^ class as u64) % members.len() as u64) as usize
            };
            chosen.extend((0..n).map(|i| members[(shift + i * members.len() / n) % members.len()]));
        }
        chosen.sort_by_key(|m| (m.span, m.class));
        chosen
    }
}

/// Mutants that are made of one text at most.
pub const MAX_MUTANTS: usize = 100_000;

/// All mutants of a description, in a fixed order.
pub fn mutants(text: &str, options: &Options) -> Mutants {
    let mut reading = read(text, options);
    if reading.ast.notation == Notation::Infix
        && let Ok(prefix) = format::format(&reading.ast, &reading.text, &reading.rules.symbols, Notation::Prefix)
    {
        let notation = Some(Notation::Prefix);
        reading = read(&prefix, &Options { notation, ..*options });
    }
    let mut maker = Maker::new(&reading);
    if reading.ast.notation == Notation::Prefix {
        for form in &reading.ast.forms {
            maker.form(form);
        }
        maker.swap_goals();
    }
    let mut list = maker.list;
    list.sort_by(|a, b| (a.span, a.class, &a.description).cmp(&(b.span, b.class, &b.description)));
    list.dedup();
    Mutants {
        source: reading.text,
        list,
    }
}

/// A scrambled number: SplitMix64 (Steele, Lea and Flood 2014).
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Place of a constant: the name it is an argument of, the number of arguments, and which of them.
type Place = (Symbol, usize, usize);

/// A goal with a constant value: text of the role, and the node of the value.
struct Goal<'a> {
    role: &'a str,
    value: &'a Node,
}

struct Maker<'a> {
    text: &'a str,
    symbols: &'a Symbols,
    roles: Vec<Symbol>,
    /// Constants of rules and facts, by place.
    constants: BTreeMap<Place, BTreeSet<Symbol>>,
    goals: Vec<Goal<'a>>,
    list: Vec<Mutant>,
}

impl<'a> Maker<'a> {
    fn new(reading: &'a Reading) -> Maker<'a> {
        let mut maker = Maker {
            text: &reading.text,
            symbols: &reading.rules.symbols,
            roles: Vec::new(),
            constants: BTreeMap::new(),
            goals: Vec::new(),
            list: Vec::new(),
        };
        for form in &reading.ast.forms {
            if let [name, role] = form.items()
                && name.head_name() == Some(kw::ROLE)
                && let NodeKind::Name(role) = role.kind
            {
                maker.roles.push(role);
            }
            maker.collect_constants(form);
        }
        maker
    }

    fn collect_constants(&mut self, node: &Node) {
        if let (Some(name), [_, args @ ..]) = (node.head_name(), node.items()) {
            for (i, arg) in args.iter().enumerate() {
                if let NodeKind::Name(constant) = arg.kind
                    && !name.is_connective()
                {
                    self.constants
                        .entry((name, args.len(), i))
                        .or_default()
                        .insert(constant);
                }
                self.collect_constants(arg);
            }
        }
    }

    fn add(&mut self, class: Class, span: Span, description: String, edits: Vec<Edit>) {
        if self.list.len() < MAX_MUTANTS {
            self.list.push(Mutant {
                class,
                description,
                span,
                edits,
            });
        }
    }

    fn replace(&mut self, class: Class, span: Span, replacement: &str) {
        let description = format!("`{}` became `{replacement}`", self.shown(span));
        let edit = Edit {
            span,
            replacement: replacement.to_owned(),
        };
        self.add(class, span, description, vec![edit]);
    }

    fn leave_out(&mut self, class: Class, span: Span) {
        let description = format!("dropped `{}`", self.shown(span));
        let replacement = String::new();
        self.add(class, span, description, vec![Edit { span, replacement }]);
    }

    /// The text of a place in one line.
    fn shown(&self, span: Span) -> String {
        let words: Vec<&str> = self.text[span.range()].split_whitespace().take(40).collect();
        let line = words.join(" ");
        match line.chars().count() {
            0..=80 => line,
            _ => format!("{}…", line.chars().take(79).collect::<String>()),
        }
    }

    fn form(&mut self, form: &'a Node) {
        match form.items() {
            [arrow, head, body @ ..] if arrow.head_name() == Some(kw::ARROW) => self.rule(form, head, body),
            _ => {
                self.leave_out(Class::DroppedFact, form.span);
                self.atom(form, true);
            }
        }
    }

    fn rule(&mut self, form: &'a Node, head: &'a Node, body: &'a [Node]) {
        let kept = kept_fluent(head);
        let is_frame = kept.is_some_and(|fluent| body.iter().any(|literal| says_true(literal, fluent)));
        let class = if is_frame {
            Class::DroppedFrame
        } else {
            Class::DroppedRule
        };
        self.leave_out(class, form.span);
        if let Some(fluent) = kept {
            self.drop_frame_branches(body, fluent);
        }
        self.atom(head, true);
        for literal in body {
            match body {
                // A rule without conditions is its head.
                [only] => {
                    let description = format!("dropped `{}`", self.shown(only.span));
                    let head = self.text[head.span.range()].to_owned();
                    let edit = Edit {
                        span: form.span,
                        replacement: head,
                    };
                    self.add(Class::DroppedCondition, only.span, description, vec![edit]);
                }
                _ => self.leave_out(Class::DroppedCondition, literal.span),
            }
            self.literal(literal);
        }
        self.variables(form);
    }

    /// A frame axiom may be one branch of an `or`.
    fn drop_frame_branches(&mut self, body: &[Node], fluent: &Node) {
        for literal in body.iter().filter(|l| l.head_name() == Some(kw::OR)) {
            for branch in &literal.items()[1..] {
                let inside_and =
                    branch.head_name() == Some(kw::AND) && branch.items().iter().any(|l| says_true(l, fluent));
                if says_true(branch, fluent) || inside_and {
                    self.leave_out(Class::DroppedFrame, branch.span);
                }
            }
        }
    }

    fn literal(&mut self, node: &'a Node) {
        match (node.head_name(), node.items()) {
            (Some(kw::NOT), [_, inner]) => {
                let text = self.text[inner.span.range()].to_owned();
                self.replace(Class::FlippedNot, node.span, &text);
                self.literal(inner);
            }
            (Some(kw::OR | kw::AND), [_, members @ ..]) => {
                for member in members {
                    if members.len() > 1 {
                        self.leave_out(Class::DroppedCondition, member.span);
                    }
                    self.literal(member);
                }
            }
            (Some(kw::DISTINCT), [_, args @ ..]) => {
                for arg in args {
                    self.term(arg, Class::TypoConstant);
                }
            }
            _ => {
                if is_ground(node) {
                    let negated = format!("(not {})", &self.text[node.span.range()]);
                    self.replace(Class::FlippedNot, node.span, &negated);
                }
                self.atom(node, false);
            }
        }
    }

    /// A head, fact or condition.
    fn atom(&mut self, node: &'a Node, is_head: bool) {
        let (name, args): (&'a Node, &'a [Node]) = match &node.kind {
            NodeKind::List(items) => match items.split_first() {
                Some(split) => split,
                None => return,
            },
            _ => (node, &[]),
        };
        let NodeKind::Name(relation) = name.kind else {
            return;
        };
        let class = if relation.is_keyword_relation() {
            Class::TypoKeyword
        } else {
            Class::TypoRelation
        };
        self.typo(name, class);
        self.swap_arguments(args);
        match (relation, args) {
            (kw::ROLE, [role]) => self.term(role, Class::TypoRole),
            (kw::TRUE | kw::NEXT | kw::INIT | kw::BASE, [fluent]) => self.term(fluent, Class::TypoFluent),
            (kw::LEGAL | kw::DOES | kw::INPUT, [role, action]) => {
                self.wrong_role(role, Class::WrongRole, is_head);
                self.term(role, Class::TypoRole);
                self.term(action, Class::TypoMove);
            }
            (kw::SEES, [role, percept]) => {
                self.wrong_role(role, Class::WrongSeesRole, is_head);
                self.term(role, Class::TypoRole);
                self.term(percept, Class::TypoPercept);
            }
            (kw::GOAL, [role, value]) => {
                self.wrong_role(role, Class::WrongRole, is_head);
                self.term(role, Class::TypoRole);
                if is_head && matches!(value.kind, NodeKind::Name(_)) {
                    let role = &self.text[role.span.range()];
                    self.goals.push(Goal { role, value });
                }
            }
            _ => self.arguments(relation, args),
        }
    }

    fn arguments(&mut self, name: Symbol, args: &'a [Node]) {
        for (i, arg) in args.iter().enumerate() {
            self.wrong_constant(arg, (name, args.len(), i));
            let is_role = matches!(arg.kind, NodeKind::Name(constant) if self.roles.contains(&constant));
            self.term(arg, if is_role { Class::TypoRole } else { Class::TypoConstant });
        }
    }

    /// A term whose own name is of the given class; names inside are constants.
    fn term(&mut self, node: &'a Node, class: Class) {
        match &node.kind {
            NodeKind::Var(_) => {}
            NodeKind::Name(_) => self.typo(node, class),
            NodeKind::List(items) => {
                let Some((name, args)) = items.split_first() else {
                    return;
                };
                self.typo(name, class);
                self.swap_arguments(args);
                if let NodeKind::Name(name) = name.kind {
                    self.arguments(name, args);
                }
            }
        }
    }

    fn typo(&mut self, name: &Node, class: Class) {
        let NodeKind::Name(_) = name.kind else {
            return;
        };
        let text = &self.text[name.span.range()];
        if let Some(wrong) = misspell(text, u64::from(name.span.start), |t| self.symbols.get(t).is_some()) {
            self.replace(class, name.span, &wrong);
        }
    }

    fn variables(&mut self, form: &Node) {
        let mut todo = vec![form];
        while let Some(node) = todo.pop() {
            if let NodeKind::Var(_) = node.kind {
                let text = &self.text[node.span.range()];
                let wrong = misspell(&text[1..], u64::from(node.span.start), |t| {
                    self.symbols.get(&format!("?{t}")).is_some()
                });
                if let Some(wrong) = wrong {
                    self.replace(Class::TypoVariable, node.span, &format!("?{wrong}"));
                }
            }
            todo.extend(node.items());
        }
    }

    fn wrong_role(&mut self, role: &Node, class: Class, is_head: bool) {
        let other = match role.kind {
            NodeKind::Name(name) => {
                let at = self.roles.iter().position(|&r| r == name);
                at.map(|at| self.roles[(at + 1) % self.roles.len()])
                    .filter(|&r| r != name)
            }
            // What every role sees is seen by one of them only.
            NodeKind::Var(_) if is_head && class == Class::WrongSeesRole && self.roles.len() > 1 => Some(self.roles[0]),
            _ => None,
        };
        if let Some(other) = other {
            let other = self.symbols.wire_text(other).to_owned();
            self.replace(class, role.span, &other);
        }
    }

    fn wrong_constant(&mut self, node: &Node, place: Place) {
        let NodeKind::Name(constant) = node.kind else {
            return;
        };
        let Some(others) = self.constants.get(&place) else {
            return;
        };
        let next = others.range(constant..).find(|&&c| c != constant);
        let Some(&other) = next.or_else(|| others.iter().find(|&&c| c != constant)) else {
            return;
        };
        let other = self.symbols.wire_text(other).to_owned();
        self.replace(Class::WrongConstant, node.span, &other);
    }

    fn swap_arguments(&mut self, args: &[Node]) {
        for pair in args.windows(2) {
            if !pair[0].same(&pair[1]) {
                let edits = swap(self.text, pair[0].span, pair[1].span);
                let description = format!(
                    "swapped `{}` and `{}`",
                    self.shown(pair[0].span),
                    self.shown(pair[1].span)
                );
                self.add(Class::SwappedArguments, pair[0].span, description, edits);
            }
        }
    }

    /// Swaps the values of neighbouring goals of the same role.
    fn swap_goals(&mut self) {
        let goals = std::mem::take(&mut self.goals);
        for (i, goal) in goals.iter().enumerate() {
            let other = goals[i + 1..]
                .iter()
                .take(1_000)
                .find(|g| g.role == goal.role && !g.value.same(goal.value));
            if let Some(other) = other {
                let (a, b) = (goal.value.span, other.value.span);
                let description = format!(
                    "swapped the goals {} and {} of {}",
                    self.shown(a),
                    self.shown(b),
                    short(goal.role)
                );
                let edits = swap(self.text, a, b);
                self.add(Class::SwappedGoals, a, description, edits);
            }
        }
    }
}

fn swap(text: &str, a: Span, b: Span) -> Vec<Edit> {
    let edit = |at: Span, from: Span| Edit {
        span: at,
        replacement: text[from.range()].to_owned(),
    };
    vec![edit(a, b), edit(b, a)]
}

/// The fluent of a `next` head.
fn kept_fluent(head: &Node) -> Option<&Node> {
    match head.items() {
        [name, fluent] if name.head_name() == Some(kw::NEXT) => Some(fluent),
        _ => None,
    }
}

/// Whether the literal is `(true FLUENT)`.
fn says_true(literal: &Node, fluent: &Node) -> bool {
    matches!(literal.items(), [name, inner] if name.head_name() == Some(kw::TRUE) && inner.same(fluent))
}

fn is_ground(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Var(_) => false,
        NodeKind::Name(_) => true,
        NodeKind::List(items) => items.iter().all(is_ground),
    }
}

/// A name with one letter left out, doubled, swapped with its neighbour or replaced; `None` if every try gives a name
/// that is taken.
fn misspell(name: &str, seed: u64, taken: impl Fn(&str) -> bool) -> Option<String> {
    let letters: Vec<char> = name.chars().collect();
    if letters.is_empty() {
        return None;
    }
    for attempt in 0..16 {
        let random = mix(seed.wrapping_mul(31).wrapping_add(attempt));
        // The first letter is rarely wrong.
        let at = 1 + (random >> 8) as usize % letters.len().max(2).saturating_sub(1);
        let mut wrong = letters.clone();
        match random % 4 {
            _ if letters.len() < 3 => wrong.push(letters[letters.len() - 1]),
            0 => drop(wrong.remove(at)),
            1 => wrong.insert(at, letters[at]),
            2 if at + 1 < letters.len() => wrong.swap(at, at + 1),
            _ => wrong[at] = neighbour(letters[at]),
        }
        let wrong: String = wrong.into_iter().collect();
        if wrong != name && !taken(&wrong.to_ascii_lowercase()) {
            return Some(wrong);
        }
    }
    None
}

/// A letter or digit near this one on a keyboard.
fn neighbour(letter: char) -> char {
    const ROWS: [&str; 4] = ["1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm"];
    for row in ROWS {
        if let Some(at) = row.find(letter.to_ascii_lowercase()) {
            let next = if at + 1 < row.len() { at + 1 } else { at - 1 };
            return char::from(row.as_bytes()[next]);
        }
    }
    'x'
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAMP: &str = "(role me) (role you) (succ a b) (succ b c)
(init (lamp off 1))
(<= (legal me press) (true (lamp off ?n)) (not (true locked)))
(<= (next (lamp on ?n)) (does me press) (true (lamp off ?n)))
(<= (next (lamp ?s ?n)) (true (lamp ?s ?n)) (not (does me press)))
(<= (next locked) (or (true locked) (does you lock)))
(<= (sees you light) (does me press))
(<= terminal (true (lamp on 1)))
(<= (goal me 100) (true (lamp on ?n)))
(<= (goal me 0) (true (lamp off ?n)))";

    fn of_class(class: Class) -> Vec<String> {
        let mutants = mutants(LAMP, &Options::default());
        let of_class = mutants.list.iter().filter(|m| m.class == class);
        of_class.map(|m| m.description.clone()).collect()
    }

    #[test]
    fn frame_axioms_are_told_from_other_rules() {
        assert_eq!(
            of_class(Class::DroppedFrame),
            [
                "dropped `(<= (next (lamp ?s ?n)) (true (lamp ?s ?n)) (not (does me press)))`",
                "dropped `(true locked)`",
            ]
        );
        assert_eq!(of_class(Class::DroppedRule).len(), 7);
    }

    #[test]
    fn goals_and_roles_are_swapped() {
        assert_eq!(of_class(Class::SwappedGoals), ["swapped the goals 100 and 0 of me"]);
        assert_eq!(of_class(Class::WrongSeesRole), ["`you` became `me`"]);
        assert_eq!(of_class(Class::WrongRole).len(), 7);
    }

    #[test]
    fn typos_are_new_names_one_edit_away() {
        let mutants = mutants(LAMP, &Options::default());
        let typos: Vec<&Mutant> = mutants.list.iter().filter(|m| m.class.is_typo()).collect();
        assert!(typos.len() > 40, "{}", typos.len());
        for typo in typos {
            let old = &LAMP[typo.span.range()];
            let [Edit { replacement, .. }] = typo.edits.as_slice() else {
                panic!("{typo:?}");
            };
            assert!(old.len().abs_diff(replacement.len()) <= 1, "{typo:?}");
            let words = LAMP.split(['(', ')', ' ', '\n']);
            assert!(words.into_iter().all(|w| w != replacement), "{typo:?}");
        }
    }

    #[test]
    fn every_mutant_differs_and_the_list_is_fixed() {
        let first = mutants(LAMP, &Options::default());
        let second = mutants(LAMP, &Options::default());
        assert_eq!(first.list, second.list);
        assert!(first.list.iter().all(|m| first.text(m) != LAMP));
        for class in Class::ALL {
            assert!(
                *class == Class::TypoPercept || first.list.iter().any(|m| m.class == *class),
                "{}",
                class.text()
            );
        }
        let sample = first.sample(2, 7);
        assert!(sample.len() > 20 && sample.len() <= 2 * Class::ALL.len());
    }

    #[test]
    fn infix_rules_are_mutated_in_prefix_notation() {
        let infix = "role(me). legal(me, go) <= true(step(1)), not true(done). goal(me, 100). terminal. init(step(1)).";
        let mutants = mutants(infix, &Options::default());
        assert!(mutants.source.starts_with('('));
        assert!(mutants.list.iter().any(|m| m.class == Class::FlippedNot));
    }

    #[test]
    fn hostile_text_gives_few_mutants() {
        let many = "(a b c)".repeat(60_000);
        assert_eq!(mutants(&many, &Options::default()).list.len(), MAX_MUTANTS);
        for text in [
            "",
            "(",
            ")",
            "()",
            "(<=)",
            "(<= (next ()))",
            "((a) b)",
            "?x",
            "(<= ?x ?y)",
            "(not)",
        ] {
            let _ = mutants(text, &Options::default());
        }
    }
}
