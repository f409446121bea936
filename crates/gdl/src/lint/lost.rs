//! Lost facts: fluents that vanish because no rule keeps them (the frame problem, McCarthy and Hayes 1969).
//!
//! `next` has to say of everything that stays that it stays. A rule that does so, `(<= (next F) (true F) …)`, is a
//! frame axiom. Many fluents rightly last for one round only (whose turn it is, what was just played), so a fluent
//! without a frame axiom is suspected only
//! - if the initial state has several of its facts, and no `next` makes any of them;
//! - if other facts of its kind are carried on;
//! - if a rule asks for several of its facts at once that one role would have to make in one round.
//!
//! `never` adds those that are proved to be gone before they are asked for.

use super::{Context, shape};
use crate::codes::Code;
use crate::forms::{Form, PlacedAtom, Pred};
use crate::reach::Reach;
use crate::reach::sets::Set;
use crate::rules::Term;
use crate::source::Span;
use crate::symbol::{Symbol, kw};
use std::collections::{BTreeMap, HashSet};

type Shape = (Symbol, usize);

/// Makers and keepers of one kind of fluent.
#[derive(Default)]
struct Life<'a> {
    /// Facts of the initial state: place and what is made.
    init: Vec<(Span, Set)>,
    /// Whether the initial state has several facts.
    many: bool,
    /// Rules that make it from other things than itself.
    events: Vec<(&'a Form, Set)>,
    /// What rules make from what it was before: the fluents that they ask for.
    carried: Vec<Set>,
    /// What these rules make.
    remade: Vec<Set>,
    /// Whether a rule makes it from relations that ask for it.
    indirect: bool,
    /// Whether anything but a frame axiom asks for it.
    asked: bool,
}

pub(super) fn check(reach: &mut Reach, context: &mut Context) {
    if keeps_anything(reach) {
        return;
    }
    let lives = collect(reach);
    let fuel = reach.fuel();
    for (fluent, life) in &lives {
        if !life.asked || life.indirect {
            continue;
        }
        let meets = |sets: &[Set], made: &Set| sets.iter().any(|set| !set.intersect(made, fuel).is_empty());
        let events: Vec<Set> = life.events.iter().map(|(_, made)| made.clone()).collect();
        let gone = |made: &Set| !meets(&life.carried, made) && !meets(&life.remade, made) && !meets(&events, made);
        let lost = life.init.iter().find(|(_, made)| gone(made));
        if let Some((span, _)) = lost
            && life.many
            && fluent.1 > 0
        {
            report_init(*span, *fluent, life, context);
            continue;
        }
        let one_round = life.events.iter().find(|(_, made)| !meets(&life.carried, made));
        if let Some((form, _)) = one_round
            && !life.carried.is_empty()
            && life.many
        {
            report_some(form.head.args[0], *fluent, context);
        } else if life.carried.is_empty()
            && let Some(span) = asked_together(*fluent, life, reach)
        {
            report_together(span, *fluent, life, context);
        }
    }
}

fn collect<'a>(reach: &mut Reach<'a>) -> BTreeMap<Shape, Life<'a>> {
    let mut lives: BTreeMap<Shape, Life<'a>> = BTreeMap::new();
    reach.for_each_head(&[(kw::INIT, 1), (kw::NEXT, 1)], &mut |rule, mut args| {
        let head = &rule.form.head;
        let Some(made) = shape(&head.atom.args[0]) else {
            return;
        };
        let life = lives.entry(made).or_default();
        let set = args.swap_remove(0);
        if head.atom.relation == kw::INIT {
            life.many |= !life.init.is_empty() || !head.atom.is_ground();
            life.init.push((head.args[0], set));
        } else if asks_itself(rule.form, made) {
            life.remade.push(set);
        } else {
            life.events.push((rule.form, set));
        }
    });
    reach.for_each_question(&mut |rule, atom, mut args| {
        if atom.placed.pred() != (kw::TRUE, 1) {
            return;
        }
        let head = &rule.form.head;
        let made = (head.pred() == (kw::NEXT, 1))
            .then(|| shape(&head.atom.args[0]))
            .flatten();
        if let Some(asked) = shape(&atom.placed.atom.args[0])
            && let Some(life) = lives.get_mut(&asked)
        {
            let own = made == Some(asked);
            life.asked |= !own;
            if own && atom.positive {
                life.carried.push(args.swap_remove(0));
            }
        }
    });
    let readers = Readers::new(reach);
    for (fluent, life) in &mut lives {
        let reads = readers.of(*fluent);
        let mut events = life.events.iter();
        // Only a relation with all variables of the fluent can carry it on.
        life.indirect = events.any(|(form, _)| {
            let mut through = false;
            form.for_each_atom(&mut |atom, negated| {
                through |= !negated && reads.contains(&atom.pred()) && covers(atom, &form.head.atom.args[0]);
            });
            through
        });
    }
    lives
}

fn asks_itself(form: &Form, fluent: Shape) -> bool {
    let mut asks = false;
    form.for_each_atom(&mut |atom, negated| {
        asks |= !negated && atom.pred() == (kw::TRUE, 1) && shape(&atom.atom.args[0]).is_none_or(|s| s == fluent);
    });
    asks
}

/// Which relations ask for which fluents.
struct Readers {
    /// By relation: relations and fluents that its rules ask for.
    asks: BTreeMap<Pred, (HashSet<Pred>, HashSet<Shape>)>,
}

impl Readers {
    fn new(reach: &Reach) -> Readers {
        let mut asks: BTreeMap<Pred, (HashSet<Pred>, HashSet<Shape>)> = BTreeMap::new();
        for rule in &reach.rules {
            let head = rule.form.head.pred();
            if head.0.is_keyword_relation() {
                continue;
            }
            let (relations, fluents) = asks.entry(head).or_default();
            rule.form.for_each_atom(&mut |atom, negated| match atom.pred() {
                // What a rule asks not to hold it does not carry on.
                _ if negated => {}
                (kw::TRUE, 1) => fluents.extend(shape(&atom.atom.args[0])),
                other => drop(relations.insert(other)),
            });
        }
        Readers { asks }
    }

    /// Relations that depend on the fluent.
    fn of(&self, fluent: Shape) -> HashSet<Pred> {
        let direct = self.asks.iter().filter(|(_, (_, fluents))| fluents.contains(&fluent));
        let mut found: HashSet<Pred> = direct.map(|(&pred, _)| pred).collect();
        // Chains of relations are short; the limit is against hostile input.
        for _ in 0..8 {
            let more: Vec<Pred> = self
                .asks
                .iter()
                .filter(|(pred, (relations, _))| !found.contains(pred) && !relations.is_disjoint(&found))
                .map(|(&pred, _)| pred)
                .collect();
            if more.is_empty() {
                break;
            }
            found.extend(more);
        }
        found
    }
}

/// A rule that asks for two facts of the fluent which one role would have to make in one round: both have the role at
/// the same place, and differ elsewhere.
fn asked_together(fluent: Shape, life: &Life, reach: &Reach) -> Option<Span> {
    let place = role_place(life, reach)?;
    for rule in reach.rules.iter().filter(|r| r.fires != 0) {
        let mut first: Option<&PlacedAtom> = None;
        for condition in &rule.body {
            let crate::reach::Goal::Atom(goal) = condition else {
                continue;
            };
            let atom = goal.placed;
            if !goal.positive || atom.pred() != (kw::TRUE, 1) || shape(&atom.atom.args[0]) != Some(fluent) {
                continue;
            }
            match first {
                None => first = Some(atom),
                Some(other) => {
                    let role = |a: &PlacedAtom| argument(&a.atom.args[0], place).cloned();
                    if role(other) == role(atom) && other.atom != atom.atom {
                        return Some(atom.span);
                    }
                }
            }
        }
    }
    None
}

/// The argument of the fluent that is the role whose move makes it, if every rule that makes it takes all its arguments
/// from one move, so that a role makes at most one such fact in a round.
fn role_place(life: &Life, reach: &Reach) -> Option<usize> {
    let [(form, _)] = life.events.as_slice() else {
        return None;
    };
    let Term::Fun(_, args) = &form.head.atom.args[0] else {
        return None;
    };
    let mut found = None;
    form.for_each_atom(&mut |atom, negated| {
        let role = match atom.pred() {
            _ if negated => None,
            (kw::DOES, 2) => Some(&atom.atom.args[0]),
            _ => role_argument(atom, reach),
        };
        if let Some(role @ Term::Var(_)) = role
            && args.iter().all(|t| covers(atom, t))
        {
            found = found.or_else(|| args.iter().position(|a| a == role));
        }
    });
    found
}

/// Whether the atom has all variables of the term.
fn covers(atom: &PlacedAtom, term: &Term) -> bool {
    let mut all = true;
    term.for_each_var(&mut |v| {
        let mut has = false;
        atom.atom.for_each_var(&mut |w| has |= v == w);
        all &= has;
    });
    all
}

/// The argument of an auxiliary condition that is the role of a move which has all its arguments, in each of its rules.
fn role_argument<'t>(atom: &'t PlacedAtom, reach: &Reach) -> Option<&'t Term> {
    let mut places = HashSet::new();
    for rule in reach.rules.iter().filter(|r| r.form.head.pred() == atom.pred()) {
        let head = &rule.form.head.atom;
        let mut place = None;
        rule.form.for_each_atom(&mut |inner, negated| {
            if !negated && inner.pred() == (kw::DOES, 2) && head.args.iter().all(|t| covers(inner, t)) {
                place = head.args.iter().position(|a| *a == inner.atom.args[0]);
            }
        });
        places.insert(place?);
    }
    let mut places = places.into_iter();
    let (place, None) = (places.next()?, places.next()) else {
        return None;
    };
    atom.atom.args.get(place)
}

fn argument(fluent: &Term, i: usize) -> Option<&Term> {
    match fluent {
        Term::Fun(_, args) => args.get(i),
        Term::Var(_) => None,
    }
}

/// Whether a rule keeps fluents of every kind: `(<= (next ?f) (true ?f) …)`.
fn keeps_anything(reach: &Reach) -> bool {
    let mut rules = reach.rules.iter();
    rules.any(|r| r.form.head.pred() == (kw::NEXT, 1) && shape(&r.form.head.atom.args[0]).is_none())
}

/// Whether some `next` makes the fluent from what it was before.
pub(super) fn is_carried(fluent: Shape, reach: &Reach) -> bool {
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
pub(super) fn example((name, arity): Shape, context: &Context) -> String {
    let name = context.name(name);
    if arity == 0 {
        return name;
    }
    let args: Vec<String> = (1..=arity.min(9)).map(|i| format!("?x{i}")).collect();
    format!("({name} {})", args.join(" "))
}

fn report_init(span: Span, fluent: Shape, life: &Life, context: &mut Context) {
    let rule = example(fluent, context);
    let name = context.name(fluent.0);
    let what = match life.carried.is_empty() {
        true => format!("the facts `{name}` of the initial state are lost after the first round"),
        false => format!(
            "`{}` is lost after the first round, while other facts `{name}` are kept",
            context.text(span)
        ),
    };
    let help = format!("no rule keeps it; is a rule `(<= (next {rule}) (true {rule}) …)` missing or too narrow?");
    context.sink.add(Code::Lost, span, what, help);
}

fn report_some(span: Span, fluent: Shape, context: &mut Context) {
    let rule = example(fluent, context);
    let name = context.name(fluent.0);
    let what = context.text(span);
    context.sink.add(
        Code::Lost,
        span,
        format!("`{what}` is lost after one round, while other facts `{name}` are kept"),
        format!("no rule keeps it; is a rule `(<= (next {rule}) (true {rule}) …)` missing or too narrow?"),
    );
}

fn report_together(span: Span, fluent: Shape, life: &Life, context: &mut Context) {
    let rule = example(fluent, context);
    let name = context.name(fluent.0);
    context
        .sink
        .add(
            Code::Lost,
            span,
            format!("two facts `{name}` of one role never hold together: each is lost after one round"),
            format!("no rule keeps them; is `(<= (next {rule}) (true {rule}))` missing?"),
        )
        .see(life.events[0].0.head.span, "a move makes one of them");
}
