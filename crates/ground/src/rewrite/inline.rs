//! Relations that are used once are replaced by their rules.
//!
//! A relation of its own is worth its instances if it is shared, or if it has fewer variables than its rules. Rule
//! splitting finds the second case again by itself, and it can choose better among all literals of the joined rule.

use super::program::{Draft, Rel, is_keyword, map_atom, map_literal, rel, relation_of, tidy};
use gdl::{Atom, Clause, Literal, Term};
use rustc_hash::{FxHashMap, FxHashSet};

/// Rules of a relation that is inlined.
const MOST_RULES: usize = 12;
/// Literals of a rule that results.
const LONGEST_BODY: usize = 24;
/// Relations inlined one after the other.
const ROUNDS: usize = 200;

/// Inlines relations; returns whether there were any.
pub(super) fn inline(draft: &mut Draft) -> bool {
    let mut changed = false;
    let mut refused: FxHashSet<Rel> = FxHashSet::default();
    for _ in 0..ROUNDS {
        let Some((user, at)) = candidate(draft, &refused) else {
            break;
        };
        let relation = relation_of(&draft.clauses[user].body[at]).expect("uses are of relations");
        match inlined(draft, user, at) {
            Some(clauses) => {
                let old = std::mem::take(&mut draft.clauses);
                for (n, clause) in old.into_iter().enumerate() {
                    if n == user {
                        draft.clauses.extend(clauses.iter().cloned());
                    } else if rel(&clause.head) != relation {
                        draft.clauses.push(clause);
                    }
                }
                changed = true;
            }
            None => drop(refused.insert(relation)),
        }
    }
    changed
}

/// The only use of a relation that can be inlined: clause and literal.
fn candidate(draft: &Draft, refused: &FxHashSet<Rel>) -> Option<(usize, usize)> {
    let changing = draft.changing();
    let mut uses: FxHashMap<Rel, Vec<(usize, usize)>> = FxHashMap::default();
    for (n, clause) in draft.clauses.iter().enumerate() {
        for (at, literal) in clause.body.iter().enumerate() {
            if let Some(used) = relation_of(literal) {
                uses.entry(used).or_default().push((n, at));
            }
        }
    }
    let definitions = draft.definitions();
    let fits = |(&relation, places): (&Rel, &Vec<(usize, usize)>)| {
        let &[(user, at)] = &places[..] else { return None };
        let own = rel(&draft.clauses[user].head) == relation;
        let positive = matches!(draft.clauses[user].body[at], Literal::Pos(_));
        let n_rules = definitions.get(&relation).map_or(0, Vec::len);
        let barred = is_keyword(relation) || draft.kept.contains(&relation.0) || refused.contains(&relation);
        let may = changing.contains(&relation) && !barred;
        (may && positive && !own && (1..=MOST_RULES).contains(&n_rules)).then_some((user, at))
    };
    uses.iter().filter_map(fits).min()
}

/// The clause with one literal replaced by the rules of its relation; `None` if that is not possible.
fn inlined(draft: &Draft, user: usize, at: usize) -> Option<Vec<Clause>> {
    let clause = &draft.clauses[user];
    let Literal::Pos(use_) = &clause.body[at] else {
        return None;
    };
    let mut made = Vec::new();
    for rule in draft.clauses.iter().filter(|c| rel(&c.head) == rel(use_)) {
        if clause.body.len() + rule.body.len() > LONGEST_BODY {
            return None;
        }
        if let Some(joined) = join(clause, at, use_, rule) {
            made.push(joined);
        }
    }
    Some(made)
}

/// One rule instead of the literal; `None` if head and literal do not unify.
fn join(clause: &Clause, at: usize, use_: &Atom, rule: &Clause) -> Option<Clause> {
    let shift = clause.variables.len() as u32;
    let apart = |v: u32| Term::Var(v + shift);
    let head = map_atom(&rule.head, &mut |v| apart(v));
    let mut unifier = Unifier::default();
    for (a, b) in use_.args.iter().zip(&head.args) {
        if !unifier.unify(a, b) {
            return None;
        }
    }
    let mut body = Vec::new();
    let mut variables = clause.variables.clone();
    variables.extend(rule.variables.iter().cloned());
    for (n, literal) in clause.body.iter().enumerate() {
        if n != at {
            body.push(unifier.literal(literal));
            continue;
        }
        for inner in &rule.body {
            body.push(unifier.literal(&map_literal(inner, &mut |v| apart(v))));
        }
    }
    // `distinct` of equal terms never holds, and of terms that cannot become equal always does.
    let mut kept = Vec::new();
    for literal in body {
        match &literal {
            Literal::Distinct(a, b) if a == b => return None,
            Literal::Distinct(a, b) if !Unifier::default().unify(a, b) => {}
            _ => kept.push(literal),
        }
    }
    let head = unifier.atom(&clause.head);
    Some(tidy(head, kept, &variables, clause.offset))
}

/// A substitution. Terms of rules are small, so that it is applied as often as needed.
#[derive(Default)]
struct Unifier {
    bound: FxHashMap<u32, Term>,
}

impl Unifier {
    fn unify(&mut self, a: &Term, b: &Term) -> bool {
        let (a, b) = (self.term(a), self.term(b));
        match (&a, &b) {
            (Term::Var(v), Term::Var(w)) if v == w => true,
            (Term::Var(v), other) | (other, Term::Var(v)) => {
                let mut occurs = false;
                other.for_each_var(&mut |w| occurs |= w == *v);
                if !occurs {
                    self.bound.insert(*v, other.clone());
                }
                !occurs
            }
            (Term::Fun(f, xs), Term::Fun(g, ys)) => {
                f == g && xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| self.unify(x, y))
            }
        }
    }

    fn term(&self, term: &Term) -> Term {
        match term {
            Term::Var(v) => self.bound.get(v).map_or(Term::Var(*v), |t| self.term(t)),
            Term::Fun(symbol, args) => Term::Fun(*symbol, args.iter().map(|t| self.term(t)).collect()),
        }
    }

    fn atom(&self, atom: &Atom) -> Atom {
        map_atom(atom, &mut |v| self.term(&Term::Var(v)))
    }

    fn literal(&self, literal: &Literal) -> Literal {
        map_literal(literal, &mut |v| self.term(&Term::Var(v)))
    }
}
