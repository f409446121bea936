//! Keyword restrictions: where each keyword may occur and what it may depend on (docs/gdl2.md, Keywords and Further
//! restrictions).

use super::graph::{Edge, Graph};
use crate::codes::Code;
use crate::diagnostic::{Mode, Sink};
use crate::forms::{Dialect, Form, PlacedAtom, Pred};
use crate::rules::Term;
use crate::source::Span;
use crate::symbol::{Symbol, Symbols, kw};

/// Relations that depend on the state or on moves.
const DYNAMIC: [Symbol; 7] = [
    kw::TRUE,
    kw::DOES,
    kw::LEGAL,
    kw::NEXT,
    kw::SEES,
    kw::TERMINAL,
    kw::GOAL,
];

pub(super) fn check(forms: &[Form], graph: &Graph, dialect: Dialect, symbols: &Symbols, sink: &mut Sink) {
    let mut checker = Checker {
        forms,
        graph,
        dialect,
        symbols,
        sink,
        knows_judged: 0,
    };
    checker.heads();
    checker.bodies();
    checker.dependencies();
    checker.missing();
}

/// Drops hints that depend on the state; hints are never needed.
pub(super) fn drop_dependent_hints(forms: Vec<Form>, graph: &Graph, dialect: Dialect, symbols: &Symbols) -> Vec<Form> {
    let dependent = |relation: Symbol, arity| {
        let node = graph.find((relation, arity));
        node.is_some_and(|node| graph.path(node, |(name, _)| DYNAMIC.contains(&name)).is_some())
    };
    let hints: Vec<Pred> = graph
        .preds
        .iter()
        .copied()
        .filter(|&(name, arity)| dialect.is_hint(name, symbols) && dependent(name, arity))
        .collect();
    forms.into_iter().filter(|f| !hints.contains(&f.head.pred())).collect()
}

struct Checker<'a> {
    forms: &'a [Form],
    graph: &'a Graph,
    dialect: Dialect,
    symbols: &'a Symbols,
    sink: &'a mut Sink,
    knows_judged: usize,
}

impl Checker<'_> {
    fn heads(&mut self) {
        let dynamic_role = self.path_from(kw::ROLE, |(name, _)| DYNAMIC.contains(&name));
        let dynamic_role = dynamic_role.map(|path| path[path.len() - 1].span);
        for form in self.forms {
            let span = form.head.span;
            match form.head.atom.relation {
                kw::TRUE => {
                    self.sink.add(
                        Code::HeadTrue,
                        span,
                        "`true` cannot be defined: it says what holds in the current state",
                        "say what holds at the start with `init` and after a move with `next`",
                    );
                }
                kw::DOES => {
                    self.sink.add(
                        Code::HeadDoes,
                        span,
                        "`does` cannot be defined: it says which moves the players chose",
                        "say which moves may be chosen with `legal`",
                    );
                }
                kw::ROLE if !form.body.is_empty() => self.role_rule(form, dynamic_role),
                kw::KNOWS if self.dialect.gdl3 => {
                    self.knows_error(span, "`knows` cannot be defined: it says what a role can be sure of");
                }
                kw::KNOWS => self.ordinary_knows(span),
                _ => {}
            }
        }
    }

    fn role_rule(&mut self, form: &Form, dynamic: Option<Span>) {
        let help = "write one fact `(role name)` for each role";
        if let Some(span) = dynamic {
            self.sink
                .add(
                    Code::RoleRule,
                    form.span,
                    "roles cannot depend on the state or on moves",
                    help,
                )
                .see(span, "it depends on this");
        } else if self.sink.mode() == Mode::Strict {
            self.sink
                .add(Code::RoleRule, form.span, "roles must be given by facts", help);
        } else {
            self.sink.add(
                Code::RoleRuleStatic,
                form.span,
                "a role given by a rule: other systems may not find it",
                help,
            );
        }
    }

    fn bodies(&mut self) {
        let beside_sees = self.reached_beside_sees();
        for form in self.forms {
            let head = form.head.pred();
            form.for_each_atom(&mut |atom, _| self.body_atom(head, atom, &beside_sees));
        }
    }

    /// Relations on which a keyword other than `sees` depends.
    fn reached_beside_sees(&self) -> Vec<bool> {
        let heads = [
            kw::ROLE,
            kw::INIT,
            kw::LEGAL,
            kw::NEXT,
            kw::TERMINAL,
            kw::GOAL,
            kw::BASE,
            kw::INPUT,
        ];
        let roots = heads.iter().filter_map(|&k| self.graph.keyword(k));
        self.graph.reach(roots)
    }

    fn body_atom(&mut self, head: Pred, atom: &PlacedAtom, beside_sees: &[bool]) {
        let span = atom.span;
        match atom.atom.relation {
            kw::INIT => {
                self.sink.add(
                    Code::InitBody,
                    span,
                    "`init` can only be defined, not asked for",
                    "to ask whether something holds now, use `true`",
                );
            }
            kw::SEES => {
                self.sink.add(
                    Code::SeesBody,
                    span,
                    "`sees` can only be defined, not asked for",
                    "give the condition a relation of its own and use it in both places",
                );
            }
            kw::NEXT => self.next_in_body(head, span, beside_sees),
            kw::BASE | kw::INPUT => {
                let name = self.symbols.text(atom.atom.relation);
                self.sink.add(
                    Code::HintDep,
                    span,
                    format!("`{name}` is a hint about the domain; a game should not depend on it"),
                    "define a relation of your own and use it both here and in the hint",
                );
            }
            kw::KNOWS if self.dialect.gdl3 => self.knows_argument(head, atom),
            kw::KNOWS => self.ordinary_knows(span),
            _ => {}
        }
    }

    fn next_in_body(&mut self, head: Pred, span: Span, beside_sees: &[bool]) {
        let node = self.graph.find(head).expect("every head is a node");
        let only_sees = head == (kw::SEES, 2) || (!head.0.is_keyword_relation() && !beside_sees[node]);
        if only_sees {
            self.sink.add(
                Code::NextInSees,
                span,
                "`next` is asked for here: read as \"holds in the successor state\"",
                "the specification lets `sees` depend only on the state before the move and on the move; repeat the \
                 conditions of `next`",
            );
        } else {
            self.sink.add(
                Code::NextBody,
                span,
                "`next` can only be defined, not asked for",
                "give the condition a relation of its own and use it in both places",
            );
        }
    }

    fn ordinary_knows(&mut self, span: Span) {
        self.sink.add(
            Code::Knows,
            span,
            "`knows` is read as a relation like any other",
            "for GDL-III check with `--gdl3`; in GDL-II, players know what `sees` tells them",
        );
    }

    fn knows_error(&mut self, span: Span, message: &str) {
        self.sink.add(
            Code::KnowsRule,
            span,
            message,
            "`knows` may stand in bodies only, with a relation of the game as its last argument",
        );
    }

    /// Checks that the last argument of `knows` names a relation that does not depend on the head.
    fn knows_argument(&mut self, head: Pred, atom: &PlacedAtom) {
        let Some(Term::Fun(name, args)) = atom.atom.args.last() else {
            self.knows_error(atom.span, "what is known must be a relation, not a variable");
            return;
        };
        let Some(known) = self.graph.find((*name, args.len())) else {
            let message = format!("no relation `{}` is there to be known", self.symbols.text(*name));
            self.knows_error(atom.span, &message);
            return;
        };
        let head = self.graph.find(head).expect("every head is a node");
        // Each test walks the graph, so their number is limited; no game has a thousand.
        self.knows_judged += 1;
        if self.knows_judged <= 1_000 && self.graph.reach([known])[head] {
            self.knows_error(atom.span, "what is known depends on what is being defined");
        }
    }

    fn dependencies(&mut self) {
        let dynamic = |(name, _): Pred| DYNAMIC.contains(&name);
        if let Some(path) = self.path_from(kw::INIT, dynamic) {
            self.report_path(
                Code::InitDep,
                &path,
                "the initial state cannot depend on",
                "`init` is evaluated before there is a state or a move; use static relations only",
            );
        }
        for keyword in [kw::LEGAL, kw::GOAL, kw::TERMINAL] {
            if let Some(path) = self.path_from(keyword, |(name, _)| name == kw::DOES) {
                let name = self.symbols.text(keyword);
                self.report_path(
                    Code::DoesDep,
                    &path,
                    &format!("`{name}` is asked for before moves are chosen and cannot depend on"),
                    "remember the move in the state with `next` and ask for it with `true`",
                );
            }
        }
        for keyword in [kw::BASE, kw::INPUT] {
            if let Some(path) = self.path_from(keyword, dynamic) {
                let name = self.symbols.text(keyword);
                self.report_path(
                    Code::HintDep,
                    &path,
                    &format!("the hint `{name}` is ignored: it should not depend on"),
                    "hints are static; define them by facts and static relations",
                );
            }
        }
        if self.dialect.gdl3 {
            for keyword in [kw::ROLE, kw::INIT] {
                if let Some(path) = self.path_from(keyword, |(name, _)| name == kw::KNOWS) {
                    self.knows_error(path[0].span, "roles and the initial state cannot depend on knowledge");
                }
            }
        }
    }

    fn path_from(&self, keyword: Symbol, wanted: impl Fn(Pred) -> bool) -> Option<Vec<Edge>> {
        self.graph.path(self.graph.keyword(keyword)?, wanted)
    }

    fn report_path(&mut self, code: Code, path: &[Edge], message: &str, help: &str) {
        let (first, last) = (path[0], path[path.len() - 1]);
        let target = self.symbols.text(self.graph.preds[last.to].0);
        let via: Vec<&str> = path[..path.len() - 1]
            .iter()
            .map(|e| self.symbols.text(self.graph.preds[e.to].0))
            .collect();
        let via = match via.as_slice() {
            [] => String::new(),
            names if names.len() > 8 => format!(" (through {} relations)", names.len()),
            names => format!(" (through `{}`)", names.join("`, `")),
        };
        let slot = self
            .sink
            .add(code, first.span, format!("{message} `{target}`{via}"), help);
        if last.span != first.span {
            slot.see(last.span, format!("`{target}` comes in here"));
        }
    }

    fn missing(&mut self) {
        let needed = [
            (kw::ROLE, Code::NoRole, "no role", "write `(role name)` for each role"),
            (
                kw::LEGAL,
                Code::NoLegal,
                "no legal move",
                "say what each role may do with `legal`",
            ),
            (
                kw::GOAL,
                Code::NoGoal,
                "no goal",
                "say what each role gains with `(goal role 0..100)`",
            ),
            (
                kw::TERMINAL,
                Code::NoTerminal,
                "no end",
                "say when the game is over with `terminal`",
            ),
            (
                kw::INIT,
                Code::NoInit,
                "no initial fact: it starts in the empty state",
                "nothing, if that is meant",
            ),
            (
                kw::NEXT,
                Code::NoNext,
                "no `next`: every state after a move is empty",
                "nothing, if that is meant",
            ),
        ];
        let start = Span::new(0, 0);
        for (keyword, code, what, help) in needed {
            if !self.forms.iter().any(|f| f.head.atom.relation == keyword) {
                self.sink.add(code, start, format!("the game has {what}"), help);
            }
        }
    }
}
