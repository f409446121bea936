//! Conditions that never hold and rules that never apply, proved on [`crate::reach`].

use super::{Context, is_hint, may_unify, shape};
use crate::codes::Code;
use crate::forms::Form;
use crate::reach::sets::Set;
use crate::reach::{AtomGoal, Goal, Reach, Rounds, Rule, may_match, names_of};
use crate::rules::Term;
use crate::source::Span;
use crate::symbol::{Symbol, kw};

pub(super) fn check(reach: &mut Reach, context: &mut Context) {
    report_heads_without_role(reach, context);
    report_idle_roles(reach, context);
    let mut dead = Vec::new();
    let mut examined = 0;
    for (number, rule) in reach.rules.iter().enumerate() {
        if is_hint(rule.form) {
            continue;
        }
        let mut judge = Judge {
            reach,
            context,
            explained: false,
            examined: &mut examined,
        };
        judge.goals(&rule.body, rule.fires != 0);
        if rule.fires == 0 && !judge.explained {
            dead.push(number);
        }
    }
    for number in dead {
        report_rule(number, reach, context);
    }
}

struct Judge<'r, 'a, 'c, 'x> {
    reach: &'r Reach<'a>,
    context: &'c mut Context<'x>,
    /// Whether a condition explains why the rule never applies.
    explained: bool,
    /// Conditions looked at closely so far.
    examined: &'c mut usize,
}

/// Conditions that are looked at closely, against hostile input: each look goes through all rules.
const MAX_EXAMINED: usize = 300;

impl Judge<'_, '_, '_, '_> {
    fn goals(&mut self, goals: &[Goal], alive: bool) {
        for goal in goals {
            match goal {
                Goal::Atom(atom) if self.reach.holds[atom.id] == 0 => {
                    self.explained |= atom.positive;
                    self.atom(atom);
                }
                Goal::Or(branches) => {
                    for branch in branches {
                        let before = std::mem::replace(&mut self.explained, false);
                        let fires = self.reach.branches[branch.id] != 0;
                        self.goals(&branch.goals, alive && fires);
                        if alive && !fires && !self.explained {
                            self.dead_branch(branch.span);
                        }
                        self.explained = before;
                    }
                    self.explained |= branches.iter().all(|b| self.reach.branches[b.id] == 0);
                }
                _ => {}
            }
        }
    }

    fn dead_branch(&mut self, span: Span) {
        self.context.sink.add(
            Code::RuleNever,
            span,
            "this alternative never holds together with the other conditions of its rule",
            "remove it, or look for a wrong name in it",
        );
    }

    /// A condition that holds in no round.
    fn atom(&mut self, atom: &AtomGoal) {
        *self.examined += 1;
        if *self.examined > MAX_EXAMINED {
            return;
        }
        let pred = atom.placed.pred();
        let asked: &[Term] = &atom.placed.atom.args;
        let makers: &[(Symbol, usize)] = match pred {
            (kw::TRUE, 1) => &[(kw::INIT, 1), (kw::NEXT, 1)],
            (kw::DOES, 2) => &[(kw::LEGAL, 2)],
            _ => &[pred],
        };
        let defined = |r: &&Rule| makers.contains(&r.form.head.pred());
        if !self.reach.rules.iter().any(|r| defined(&r)) {
            // W-UNDEF has been reported, or the keyword is missing altogether.
            if pred != (kw::TRUE, 1) {
                return;
            }
        }
        let fits = |r: &&Rule| {
            let made = &r.form.head.atom.args;
            made.iter().zip(asked).all(|(m, a)| may_unify(m, a))
        };
        // A rule that keeps what it is given makes nothing.
        let makes = |r: &&Rule| !super::unread::only_keeps(r.form);
        let mut fitting = self
            .reach
            .rules
            .iter()
            .filter(defined)
            .filter(fits)
            .filter(makes)
            .peekable();
        if fitting.peek().is_some() && fitting.all(|r| r.fires == 0) {
            // What makes it never applies; that is reported there.
            return;
        }
        match pred {
            (kw::TRUE, 1) => self.fluent(atom, &asked[0]),
            (kw::DOES, 2) => self.action(atom, &asked[0], &asked[1]),
            _ => self.relation(atom),
        }
    }

    /// Names and numbers of arguments that stand in an argument of these heads, also of rules that never apply.
    fn head_shapes(&self, heads: &[(Symbol, usize)], arg: usize) -> Vec<(Symbol, usize)> {
        let rules = self.reach.rules.iter().filter(|r| heads.contains(&r.form.head.pred()));
        rules
            .filter_map(|r| shape(&r.form.head.atom.args[arg]))
            .take(2_000)
            .collect()
    }

    fn consequence(atom: &AtomGoal) -> &'static str {
        if atom.positive {
            "this condition never holds"
        } else {
            "this condition always holds"
        }
    }

    fn fluent(&mut self, atom: &AtomGoal, fluent: &Term) {
        let fluents = self.reach.fluents();
        let names = names_of(&fluents);
        let Some((name, arity)) = shape(fluent) else {
            return;
        };
        if names.contains(&(name, arity)) {
            let what = format!("the fluent `{}`", self.context.name(name));
            self.value(atom, fluent, &fluents, 0, &what);
            return;
        }
        let text = self.context.name(name);
        let span = atom.placed.args[0];
        let mut help = "write an `init` or `next` that makes it, or mend the name".to_owned();
        let made = self.head_shapes(&[(kw::INIT, 1), (kw::NEXT, 1)], 0);
        let same_arity = names
            .iter()
            .chain(&made)
            .filter(|(_, n)| *n == arity)
            .map(|(name, _)| *name);
        let close = self.context.suggest(name, same_arity);
        let other_arity = names.iter().filter(|(n, _)| *n == name).map(|(_, n)| *n).min();
        if let Some(close) = close {
            help = format!("did you mean `{}`?", self.context.name(close));
        } else if let Some(other) = other_arity {
            help = format!("the fluent `{text}` has {other} arguments elsewhere, here it has {arity}");
        } else if self.reach.relation((name, arity)).is_some() {
            help = format!("`{text}` is a relation: ask for it without `true`");
        }
        let message = format!(
            "no `init` and no `next` makes `{}`: {}",
            self.context.text(span),
            Self::consequence(atom)
        );
        let name_span = self.context.name_place(span);
        let slot = self.context.sink.add(Code::NotMade, span, message, help);
        if let Some(close) = close {
            let close = self.context.symbols.wire_text(close);
            slot.guess(format!("replace by `{close}`"), name_span, close);
        }
    }

    fn action(&mut self, atom: &AtomGoal, role: &Term, action: &Term) {
        if let Some((role, 0)) = shape(role)
            && !self.reach.roles.contains(&role)
        {
            let message = format!(
                "`{}` is not a role: {}",
                self.context.name(role),
                Self::consequence(atom)
            );
            not_a_role(role, atom.placed.args[0], message, &self.reach.roles, self.context);
            return;
        }
        let legal = &self.reach.ever[self.reach.relation((kw::LEGAL, 2)).expect("a keyword")];
        let mut moves = Set::empty();
        for (_, sets) in legal.blocks.iter().filter(|(_, sets)| may_match(role, &sets[0])) {
            moves = moves.union(&sets[1], self.reach.fuel());
        }
        let Some((name, arity)) = shape(action) else {
            return;
        };
        let names = names_of(&moves);
        if names.contains(&(name, arity)) {
            let what = format!("the move `{}`", self.context.name(name));
            self.value(atom, action, &moves, 1, &what);
            return;
        }
        let span = atom.placed.args[1];
        let made = self.head_shapes(&[(kw::LEGAL, 2)], 1);
        let same_arity = names
            .iter()
            .chain(&made)
            .filter(|(_, n)| *n == arity)
            .map(|(name, _)| *name);
        let close = self.context.suggest(name, same_arity);
        let other = legal
            .blocks
            .iter()
            .find(|(_, sets)| names_of(&sets[1]).contains(&(name, arity)));
        let help = match (close, other) {
            (Some(close), _) => format!("did you mean `{}`?", self.context.name(close)),
            (None, Some((Some(role), _))) => format!("it is a move of {}", self.context.name(*role)),
            _ => format!("the moves are {}", self.context.members(&moves)),
        };
        let who = match role {
            Term::Var(_) => String::new(),
            Term::Fun(name, _) => format!(" for {}", self.context.name(*name)),
        };
        let message = format!(
            "no `legal` makes `{}` a move{who}: {}",
            self.context.text(span),
            Self::consequence(atom)
        );
        let name_span = self.context.name_place(span);
        let slot = self.context.sink.add(Code::NotLegal, span, message, help);
        if let Some(close) = close {
            let close = self.context.symbols.wire_text(close);
            slot.guess(format!("replace by `{close}`"), name_span, close);
        }
    }

    fn relation(&mut self, atom: &AtomGoal) {
        let extension = &self.reach.ever[atom.relation];
        let args = &atom.placed.atom.args;
        let what = format!("`{}`", self.context.name(atom.placed.atom.relation));
        let wrong = (0..args.len()).find(|&i| !may_match(&args[i], &extension.argument(i, self.reach.fuel())));
        if let Some(i) = wrong {
            let set = extension.argument(i, self.reach.fuel());
            self.wrong_value(atom, &args[i], &set, i, &mut Vec::new(), i + 1, &what);
        }
    }

    /// Reports the argument of a fluent or move that no such fluent or move has.
    fn value(&mut self, atom: &AtomGoal, term: &Term, set: &Set, arg: usize, what: &str) {
        let (Term::Fun(name, args), Set::These(members)) = (term, set) else {
            return;
        };
        let Some(sets) = members.function(*name, args.len()) else {
            return;
        };
        if let Some(i) = (0..args.len()).find(|&i| !may_match(&args[i], &sets[i])) {
            self.wrong_value(atom, &args[i], &sets[i], arg, &mut vec![i], i + 1, what);
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn wrong_value(
        &mut self,
        atom: &AtomGoal,
        term: &Term,
        set: &Set,
        arg: usize,
        path: &mut Vec<usize>,
        number: usize,
        what: &str,
    ) {
        // The wrong part may lie deeper.
        if let (Term::Fun(name, args), Set::These(members)) = (term, set)
            && let Some(sets) = members.function(*name, args.len())
            && let Some(i) = (0..args.len()).find(|&i| !may_match(&args[i], &sets[i]))
        {
            path.push(i);
            let what = format!("`({} …)` in {what}", self.context.name(*name));
            self.wrong_value(atom, &args[i], &sets[i], arg, path, i + 1, &what);
            return;
        }
        let Some((name, arity)) = shape(term) else {
            return;
        };
        let span = self.context.part(atom.placed.args[arg], path);
        let same_arity = names_of(set).into_iter().filter(|(_, n)| *n == arity).map(|(n, _)| n);
        let close = self.context.suggest(name, same_arity);
        let values = self.context.members(set);
        let help = match close {
            Some(close) => format!("did you mean `{}`? The values are {values}", self.context.name(close)),
            None => format!("the values are {values}"),
        };
        let message = format!(
            "`{}` never arises as argument {number} of {what}: {}",
            self.context.text(span),
            Self::consequence(atom)
        );
        let name_span = self.context.name_place(span);
        let slot = self.context.sink.add(Code::NoValue, span, message, help);
        if let Some(close) = close {
            let close = self.context.symbols.wire_text(close);
            slot.guess(format!("replace by `{close}`"), name_span, close);
        }
    }
}

/// Roles that never have a legal move, or never a goal.
fn report_idle_roles(reach: &Reach, context: &mut Context) {
    for form in &context.reading.forms {
        let Some((role, 0)) = (form.head.pred() == (kw::ROLE, 1))
            .then(|| shape(&form.head.atom.args[0]))
            .flatten()
        else {
            continue;
        };
        let term = Term::constant(role);
        // Where a rule for the role never applies, that is reported there.
        let given = |keyword| {
            let relation = reach.relation((keyword, 2));
            let blocks = relation.map(|r| reach.ever[r].blocks.as_slice()).unwrap_or_default();
            let is_dead = |r: &Rule| {
                let head = &r.form.head;
                r.fires == 0 && head.pred() == (keyword, 2) && may_unify(&head.atom.args[0], &term)
            };
            blocks.iter().any(|(_, sets)| sets[0].contains(&term)) || reach.rules.iter().any(is_dead)
        };
        let name = context.name(role);
        if !given(kw::LEGAL) {
            context.sink.add(
                Code::NotLegal,
                form.head.args[0],
                format!("no `legal` ever gives {name} a move"),
                format!("write `(<= (legal {name} MOVE) …)`, at least for a move such as `noop`, or mend the name"),
            );
        } else if role != kw::RANDOM && !given(kw::GOAL) {
            context.sink.add(
                Code::GoalNone,
                form.head.args[0],
                format!("no `goal` ever gives {name} a payoff"),
                format!("write `(<= (goal {name} POINTS) …)` for every way the game can end, or mend the name"),
            );
        }
    }
}

/// `legal`, `goal` and `sees` of somebody who is not a role.
fn report_heads_without_role(reach: &Reach, context: &mut Context) {
    for rule in &reach.rules {
        let head = &rule.form.head;
        let relation = head.atom.relation;
        if let (kw::LEGAL | kw::GOAL | kw::SEES, 2) = head.pred()
            && let Some((role, 0)) = shape(&head.atom.args[0])
            && !reach.roles.contains(&role)
        {
            let (name, keyword) = (context.name(role), context.name(relation));
            let message = format!("`{name}` is not a role: this `{keyword}` is ignored");
            not_a_role(role, head.args[0], message, &reach.roles, context);
        }
    }
}

fn not_a_role(role: Symbol, span: Span, message: String, roles: &[Symbol], context: &mut Context) {
    let close = context.close(role, roles.iter().copied());
    let names: Vec<String> = roles.iter().take(8).map(|&r| context.name(r)).collect();
    let help = match close {
        Some(close) => format!("did you mean `{}`?", context.name(close)),
        None => format!("the roles are {}", names.join(", ")),
    };
    let slot = context.sink.add(Code::NotRole, span, message, help);
    if let Some(close) = close {
        let close = context.symbols.wire_text(close);
        slot.guess(format!("replace by `{close}`"), span, close);
    }
}

/// A positive condition: the rounds in which it may hold, its place, whether it is a fluent, and which.
type PositiveCondition = (Rounds, Span, bool, Option<(Symbol, usize)>);

/// A rule each of whose conditions may hold, but never all of them together.
fn report_rule(number: usize, reach: &mut Reach, context: &mut Context) {
    let rule = &reach.rules[number];
    let form = rule.form;
    let atoms: Vec<PositiveCondition> = rule
        .body
        .iter()
        .filter_map(|g| match g {
            Goal::Atom(a) if a.positive => {
                let is_fluent = a.placed.pred() == (kw::TRUE, 1);
                let fluent = if is_fluent { shape(&a.placed.atom.args[0]) } else { None };
                Some((reach.holds[a.id], a.placed.span, is_fluent, fluent))
            }
            _ => None,
        })
        .collect();
    let what = what_never_happens(form, context);
    for (i, a) in atoms.iter().enumerate() {
        for b in &atoms[i + 1..] {
            if a.0 & b.0 == 0 {
                report_apart(form, &what, *a, *b, reach, context);
                return;
            }
        }
    }
    let conflict = reach.first_conflict(number);
    let rule = &reach.rules[number];
    let at = conflict.and_then(|i| match &rule.body[i] {
        Goal::Atom(atom) => Some(atom.placed.span),
        _ => None,
    });
    let slot = context.sink.add(
        Code::RuleNever,
        form.head.span,
        format!("the conditions of this rule never hold together: {what}"),
        "look for a wrong name, a wrong argument or a missing fact in it, or remove it",
    );
    if let Some(at) = at {
        slot.see(
            at,
            "no value of its variables satisfies this together with the conditions before it",
        );
    }
}

type AtomInTime = (Rounds, Span, bool, Option<(Symbol, usize)>);

/// Two conditions that never hold in the same round.
fn report_apart(form: &Form, what: &str, a: AtomInTime, b: AtomInTime, reach: &Reach, context: &mut Context) {
    // The one that was lost is the one that nothing carries on and that held before the other.
    let is_lost = |x: AtomInTime, y: AtomInTime| {
        x.3.is_some_and(|fluent| !super::lost::is_carried(fluent, reach))
            && x.0 != 0
            && y.0 != 0
            && x.0.trailing_zeros() < y.0.trailing_zeros()
    };
    let lost = if is_lost(a, b) {
        Some((a, b))
    } else if is_lost(b, a) {
        Some((b, a))
    } else {
        None
    };
    if let Some((x, y)) = lost {
        let (name, arity) = x.3.expect("a fluent");
        let fluent = super::lost::example((name, arity), context);
        let message = format!(
            "`{}` is lost before `{}` holds: {what}",
            context.text(x.1),
            context.text(y.1)
        );
        let help = format!("nothing keeps it from round to round; write `(<= (next {fluent}) (true {fluent}))`");
        context
            .sink
            .add(Code::Lost, x.1, message, help)
            .see(y.1, format!("holds only {}", in_rounds(y.0)))
            .see(x.1, format!("holds only {}", in_rounds(x.0)));
        return;
    }
    context
        .sink
        .add(
            Code::RuleNever,
            form.head.span,
            format!("the conditions of this rule never hold in the same round: {what}"),
            "is a rule missing that keeps one of them, or is one of them wrong?",
        )
        .see(a.1, format!("holds only {}", in_rounds(a.0)))
        .see(b.1, format!("holds only {}", in_rounds(b.0)));
}

fn in_rounds(rounds: Rounds) -> String {
    let (first, last) = (rounds.trailing_zeros() + 1, 64 - rounds.leading_zeros());
    let all = rounds.count_ones() == last + 1 - first;
    match (first == last, last == 64) {
        (true, false) => format!("in round {first}"),
        (_, true) => format!("from round {first} on"),
        (false, false) if all => format!("in rounds {first} to {last}"),
        (false, false) => format!("in some of rounds {first} to {last}"),
    }
}

fn what_never_happens(form: &Form, context: &Context) -> String {
    let head = &form.head;
    let text = |span| context.text(span);
    match head.pred() {
        (kw::GOAL, 2) => format!("nobody gets the goal {} by it", text(head.args[1])),
        (kw::SEES, 2) => format!("`{}` is never seen by it", text(head.args[1])),
        (kw::LEGAL, 2) => format!("`{}` is never legal by it", text(head.args[1])),
        (kw::NEXT, 1) => format!("`{}` never follows by it", text(head.args[0])),
        (kw::TERMINAL, 0) => "the game never ends by it".to_owned(),
        _ => "it never applies".to_owned(),
    }
}
