//! Arguments that may be anything of a set are dropped.
//!
//! A head variable that the body only restricts to a set, by unary static facts, makes an instance for every member of
//! the set although nothing depends on which one it is:
//!
//! ```text
//! clear(x,y,i) ⇐ next(x,y), coordinate(i).
//! clear(x,y,i) ⇐ next(x,z), true(blank(z)), clear(z,y,i).
//! clear(x,y,i) ⇐ next(x,i), clear(i,y,i).
//! ```
//!
//! A relation is split into variants by which of its arguments are wild, that is, dropped: here `clear′(x,y)` from the
//! first two rules, and `clear(x,y,i)` from the third and from the second. A positive use becomes one rule for each
//! variant; a negative use becomes the negation of every variant. For a negative use, a membership test cannot be
//! written beside the variant; it has to follow from the domains of the variables, else the relation is left alone.

use super::domains::{Domain, Domains};
use super::program::{Draft, Rel, is_keyword, pos, rel, tidy};
use super::statics::Statics;
use game::StopFlag;
use gdl::{Atom, Clause, Literal, Symbol, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Variants of a relation, beyond which it is left alone.
const MOST_VARIANTS: usize = 8;
/// How many times as many clauses there may be afterwards.
const MOST_GROWTH: usize = 4;
/// Relations that may turn out to be unfit before the pass gives up.
const MOST_RETRIES: usize = 32;

/// Which arguments are wild, and the values that they stand for.
type Pattern = Vec<Option<BTreeSet<Symbol>>>;

/// Drops wild arguments; returns whether there are any.
pub(super) fn drop_wildcards(draft: &mut Draft, statics: &Statics) -> bool {
    let Some(domains) = Domains::new(draft, statics) else {
        return false;
    };
    let changing = draft.changing();
    let sets = unary_facts(draft);
    let mut exempt: FxHashSet<Rel> = FxHashSet::default();
    for _ in 0..MOST_RETRIES {
        let splitter = Splitter {
            draft,
            domains: &domains,
            sets: &sets,
            stop: &statics.stop,
            fit: |r: Rel| changing.contains(&r) && !is_keyword(r) && !exempt.contains(&r),
        };
        match splitter.split() {
            Outcome::Unfit(relation) => drop(exempt.insert(relation)),
            Outcome::TooMany => return false,
            Outcome::Split(parts) => {
                let has_wild = |p: &Pattern| p.iter().any(Option::is_some);
                if !parts.variants.values().flatten().any(has_wild) {
                    return false;
                }
                return write(draft, parts);
            }
        }
    }
    false
}

/// The values of each unary relation that is facts about constants only.
fn unary_facts(draft: &Draft) -> FxHashMap<Symbol, BTreeSet<Symbol>> {
    let mut sets = FxHashMap::default();
    for ((symbol, arity), rows) in draft.facts() {
        let constant = |row: &&[Term]| match row {
            [Term::Fun(value, args)] if args.is_empty() => Some(*value),
            _ => None,
        };
        if arity == 1
            && let Some(values) = rows.iter().map(constant).collect::<Option<BTreeSet<Symbol>>>()
        {
            sets.insert(symbol, values);
        }
    }
    sets
}

enum Outcome {
    Split(Parts),
    /// This relation cannot be split.
    Unfit(Rel),
    TooMany,
}

/// The result of splitting, before variants have names.
struct Parts {
    variants: BTreeMap<Rel, Vec<Pattern>>,
    clauses: Vec<Special>,
}

/// A clause for chosen variants of its positive literals.
struct Special {
    source: usize,
    /// The number of the head's variant.
    head: Option<usize>,
    /// Per literal of the source, the number of the variant, if it has any.
    chosen: Vec<Option<usize>>,
    /// Memberships of variables in sets that wild arguments stand for.
    memberships: Vec<(u32, BTreeSet<Symbol>)>,
    /// Unary literals whose variable the head has dropped.
    dropped: BTreeSet<u32>,
}

struct Splitter<'d, F: Fn(Rel) -> bool> {
    draft: &'d Draft,
    domains: &'d Domains<'d>,
    sets: &'d FxHashMap<Symbol, BTreeSet<Symbol>>,
    stop: &'d StopFlag,
    fit: F,
}

impl<F: Fn(Rel) -> bool> Splitter<'_, F> {
    fn split(&self) -> Outcome {
        let most = 1_000 + MOST_GROWTH * self.draft.clauses.len();
        let mut variants: BTreeMap<Rel, Vec<Pattern>> = BTreeMap::new();
        let mut done: FxHashSet<(usize, Vec<Option<usize>>)> = FxHashSet::default();
        let mut clauses = Vec::new();
        let mut grows = true;
        while grows {
            grows = false;
            for source in 0..self.draft.clauses.len() {
                if self.stop.is_raised() {
                    return Outcome::TooMany;
                }
                let Some(choices) = self.choices(source, &variants, most) else {
                    return Outcome::TooMany;
                };
                for chosen in choices {
                    if !done.insert((source, chosen.clone())) {
                        continue;
                    }
                    if done.len() > most {
                        return Outcome::TooMany;
                    }
                    grows = true;
                    let Some((mut special, pattern)) = self.specialise(source, chosen, &variants) else {
                        continue;
                    };
                    let head = rel(&self.draft.clauses[source].head);
                    if (self.fit)(head) {
                        let known = variants.entry(head).or_default();
                        let number = known.iter().position(|p| *p == pattern).unwrap_or_else(|| {
                            known.push(pattern);
                            known.len() - 1
                        });
                        if known.len() > MOST_VARIANTS {
                            return Outcome::Unfit(head);
                        }
                        special.head = Some(number);
                    }
                    clauses.push(special);
                }
            }
        }
        if let Some(relation) = self.unprovable_negation(&variants) {
            return Outcome::Unfit(relation);
        }
        clauses.sort_by(|a, b| (a.source, &a.chosen).cmp(&(b.source, &b.chosen)));
        Outcome::Split(Parts { variants, clauses })
    }

    /// All ways to choose variants for the positive literals of a clause; `None` if there are too many.
    fn choices(
        &self,
        source: usize,
        variants: &BTreeMap<Rel, Vec<Pattern>>,
        most: usize,
    ) -> Option<Vec<Vec<Option<usize>>>> {
        let mut ways: Vec<Vec<Option<usize>>> = vec![Vec::new()];
        for literal in &self.draft.clauses[source].body {
            let n = match literal {
                Literal::Pos(atom) if (self.fit)(rel(atom)) => variants.get(&rel(atom)).map_or(0, Vec::len),
                _ => {
                    ways.iter_mut().for_each(|way| way.push(None));
                    continue;
                }
            };
            let with = |way: &Vec<Option<usize>>, v: usize| way.iter().copied().chain([Some(v)]).collect();
            ways = ways.iter().flat_map(|way| (0..n).map(move |v| with(way, v))).collect();
            if ways.len() > most {
                return None;
            }
        }
        Some(ways)
    }

    /// A clause for these variants, and the pattern of its head; `None` if it never applies.
    fn specialise(
        &self,
        source: usize,
        chosen: Vec<Option<usize>>,
        variants: &BTreeMap<Rel, Vec<Pattern>>,
    ) -> Option<(Special, Pattern)> {
        let clause = &self.draft.clauses[source];
        let mut uses = vec![0; clause.variables.len()];
        let mut sets: BTreeMap<u32, BTreeSet<Symbol>> = BTreeMap::new();
        let mut restrict = |v: u32, set: &BTreeSet<Symbol>| {
            let own = sets.entry(v).or_insert_with(|| set.clone());
            own.retain(|value| set.contains(value));
        };
        let mut memberships = Vec::new();
        for (literal, variant) in clause.body.iter().zip(&chosen) {
            let Literal::Pos(atom) = literal else {
                literal.for_each_var(&mut |v| uses[v as usize] += 1);
                continue;
            };
            if let (Some(set), [Term::Var(v)]) = (self.sets.get(&atom.relation), &atom.args[..]) {
                restrict(*v, set);
                continue;
            }
            let pattern = variant.map(|v| &variants[&rel(atom)][v]);
            for (at, term) in atom.args.iter().enumerate() {
                match (pattern.and_then(|p| p[at].as_ref()), term) {
                    (Some(set), Term::Var(v)) => {
                        restrict(*v, set);
                        memberships.push((*v, set.clone()));
                    }
                    (Some(set), term) if !is_member(term, set) => return None,
                    (Some(_), _) => {}
                    (None, term) => term.for_each_var(&mut |v| uses[v as usize] += 1),
                }
            }
        }
        if sets.values().any(BTreeSet::is_empty) {
            return None;
        }
        let mut in_head = vec![0; clause.variables.len()];
        clause.head.for_each_var(&mut |v| in_head[v as usize] += 1);
        let fit = (self.fit)(rel(&clause.head));
        let wild = |term: &Term| match term {
            Term::Var(v) if fit && in_head[*v as usize] == 1 && uses[*v as usize] == 0 => sets.get(v).cloned(),
            _ => None,
        };
        let pattern: Pattern = clause.head.args.iter().map(wild).collect();
        let mut dropped = BTreeSet::new();
        for &v in sets.keys() {
            let at = clause.head.args.iter().position(|t| *t == Term::Var(v));
            let head_drops = in_head[v as usize] == 0 || at.is_some_and(|at| pattern[at].is_some());
            if uses[v as usize] == 0 && head_drops {
                dropped.insert(v);
            }
        }
        let special = Special {
            source,
            head: None,
            chosen,
            memberships,
            dropped,
        };
        Some((special, pattern))
    }

    /// A relation with a negative use in which a variable may have values outside the set of a wild argument.
    fn unprovable_negation(&self, variants: &BTreeMap<Rel, Vec<Pattern>>) -> Option<Rel> {
        for clause in &self.draft.clauses {
            for literal in &clause.body {
                let Literal::Neg(atom) = literal else { continue };
                let Some(patterns) = variants.get(&rel(atom)) else {
                    continue;
                };
                let known = self.domains.variables(clause);
                for (at, term) in atom.args.iter().enumerate() {
                    let sets = patterns.iter().filter_map(|p| p[at].as_ref());
                    let unproven = |set: &BTreeSet<Symbol>| match (term, &known) {
                        (Term::Var(v), Some(known)) => !is_within(&known[*v as usize], set),
                        _ => false,
                    };
                    if sets.into_iter().any(unproven) {
                        return Some(rel(atom));
                    }
                }
            }
        }
        None
    }
}

fn is_member(term: &Term, set: &BTreeSet<Symbol>) -> bool {
    matches!(term, Term::Fun(value, args) if args.is_empty() && set.contains(value))
}

fn is_within(domain: &Domain, set: &BTreeSet<Symbol>) -> bool {
    domain
        .only_constants()
        .is_some_and(|values| values.iter().all(|v| set.contains(v)))
}

/// Names of variants and of sets.
struct Names {
    variants: BTreeMap<Rel, Vec<(Symbol, Pattern)>>,
    sets: BTreeMap<BTreeSet<Symbol>, Symbol>,
}

/// Writes the clauses of all variants.
fn write(draft: &mut Draft, parts: Parts) -> bool {
    let mut names = Names {
        variants: BTreeMap::new(),
        sets: BTreeMap::new(),
    };
    for (relation, patterns) in parts.variants {
        let mut named = Vec::new();
        for pattern in patterns {
            let symbol = match pattern.iter().any(Option::is_some) {
                true => draft.fresh(relation.0, "any"),
                false => relation.0,
            };
            if draft.kept.contains(&relation.0) {
                draft.kept.insert(symbol);
            }
            named.push((symbol, pattern));
        }
        names.variants.insert(relation, named);
    }
    let (mut clauses, mut seen) = (Vec::new(), FxHashSet::default());
    for special in &parts.clauses {
        let clause = special_clause(draft, special, &mut names);
        if seen.insert((clause.head.clone(), clause.body.clone())) {
            clauses.push(clause);
        }
    }
    for (set, symbol) in names.sets {
        for value in set {
            let head = Atom {
                relation: symbol,
                args: vec![Term::constant(value)],
            };
            clauses.push(tidy(head, Vec::new(), &[], 0));
        }
    }
    draft.clauses = clauses;
    true
}

fn special_clause(draft: &mut Draft, special: &Special, names: &mut Names) -> Clause {
    let source = draft.clauses[special.source].clone();
    let mut body = Vec::new();
    for (literal, chosen) in source.body.iter().zip(&special.chosen) {
        match literal {
            Literal::Pos(atom) => match chosen {
                Some(variant) => body.push(Literal::Pos(without_wild(atom, &names.variants[&rel(atom)][*variant]))),
                None => match &atom.args[..] {
                    [Term::Var(v)] if special.dropped.contains(v) => {}
                    _ => body.push(literal.clone()),
                },
            },
            Literal::Neg(atom) => match names.variants.get(&rel(atom)) {
                Some(variants) => {
                    let matching = variants.iter().filter(|(_, p)| may_match(atom, p));
                    body.extend(matching.map(|v| Literal::Neg(without_wild(atom, v))));
                }
                None => body.push(literal.clone()),
            },
            Literal::Distinct(..) => body.push(literal.clone()),
        }
    }
    for (v, set) in special.memberships.iter().filter(|(v, _)| !special.dropped.contains(v)) {
        let symbol = match names.sets.get(set) {
            Some(symbol) => *symbol,
            None => {
                let symbol = draft.fresh(source.head.relation, "set");
                names.sets.insert(set.clone(), symbol);
                symbol
            }
        };
        body.push(pos(symbol, vec![Term::Var(*v)]));
    }
    let head = match special.head {
        Some(variant) => without_wild(&source.head, &names.variants[&rel(&source.head)][variant]),
        None => source.head.clone(),
    };
    tidy(head, body, &source.variables, source.offset)
}

/// Whether the constants of a negated atom are in the sets of a variant's wild arguments.
fn may_match(atom: &Atom, pattern: &Pattern) -> bool {
    let fits = |(term, set): (&Term, &Option<BTreeSet<Symbol>>)| match (term, set) {
        (Term::Var(_), _) | (_, None) => true,
        (term, Some(set)) => is_member(term, set),
    };
    atom.args.iter().zip(pattern).all(fits)
}

fn without_wild(atom: &Atom, (symbol, pattern): &(Symbol, Pattern)) -> Atom {
    let kept = atom.args.iter().zip(pattern).filter(|(_, set)| set.is_none());
    Atom {
        relation: *symbol,
        args: kept.map(|(t, _)| t.clone()).collect(),
    }
}
