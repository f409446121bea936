//! Rule splitting: variables that the head does not need are eliminated early.
//!
//! A rule has an instance for every assignment of its variables. If a variable occurs in few literals, these literals
//! alone decide whether it has a value, and become the rule of an auxiliary relation over the variables that they share
//! with the rest:
//!
//! ```text
//! won(p) ⇐ a(p,x), b(x,y), c(y)     becomes     won(p) ⇐ a(p,x), b′(x).   b′(x) ⇐ b(x,y), c(y).
//! ```
//!
//! This is variable elimination as in join planning (Dechter 1999; for grounding, Bichler, Morak, Woltran 2016).
//! Connected components of non-head variables and single literals with a variable of their own are its simplest cases.

use crate::theory::{Layer, Literal, RelId, Rule, Theory, is_safe};
use gdl::Term;

/// How rules are split before grounding. Which way gives the smallest program depends on the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Splitting {
    /// Leave the rules as they are, if they are not very long.
    Off,
    /// Split off groups of literals that share variables with each other and with the head, but not with the rest.
    Components,
    /// Eliminate one variable after another.
    #[default]
    Full,
    /// As `Full`, and literals that share all their variables with a group go with it if that eliminates another
    /// variable.
    Thorough,
}

/// Splits the rules of relations that depend on the state.
pub(crate) fn split(theory: &mut Theory, splitting: Splitting) {
    let mut done = Vec::new();
    for mut rule in std::mem::take(&mut theory.rules) {
        if theory.relation(rule.head).layer == Layer::Static {
            done.push(rule);
            continue;
        }
        fold_closed(theory, &mut rule, &mut done);
        if splitting == Splitting::Off || rule.body.len() * rule.n_vars > MOST_SPLIT {
            done.push(rule);
        } else {
            split_rule(theory, rule, splitting, &mut done);
        }
    }
    theory.rules = done;
    theory.analyse();
}

/// Literals times variables of a rule beyond which it is left as it is: the search for the best group takes their cube.
const MOST_SPLIT: usize = 1 << 14;

/// Literals without variables that a rule keeps. A rule is joined from each of its literals with all others, which
/// takes the square of their number.
const MOST_CLOSED: usize = 128;

/// Literals that one auxiliary relation stands for.
const FOLDED: usize = 32;

/// Moves literals without variables into rules of their own, if a rule has very many of them.
fn fold_closed(theory: &mut Theory, rule: &mut Rule, done: &mut Vec<Rule>) {
    let is_closed = |theory: &Theory, l: &Literal| is_fluid(theory, l) && vars(l).is_empty();
    while rule.body.iter().filter(|l| is_closed(theory, l)).count() > MOST_CLOSED {
        let (closed, mut rest): (Vec<Literal>, Vec<Literal>) = std::mem::take(&mut rule.body)
            .into_iter()
            .partition(|l| is_closed(theory, l));
        for chunk in closed.chunks(FOLDED) {
            let layer = chunk
                .iter()
                .filter_map(Literal::relation)
                .map(|r| theory.relation(r).layer);
            let layer = layer.max().unwrap_or(Layer::Static);
            let head = add_auxiliary(theory, rule.head, 0, layer);
            rest.push(Literal::Pos(head, Vec::new()));
            done.push(Rule {
                head,
                args: Vec::new(),
                body: chunk.to_vec(),
                n_vars: 0,
            });
        }
        rule.body = rest;
    }
}

/// A new relation that stands for a part of a rule for this head.
fn add_auxiliary(theory: &mut Theory, of: RelId, arity: usize, layer: Layer) -> RelId {
    let number = theory.relations.len();
    let label = theory.relation(of).label.clone();
    let base = label.split('/').next().unwrap_or_default().to_owned();
    let head = theory.add_relation(format!("{base}#{number}/{arity}"), arity);
    theory.relations[head.0 as usize].layer = layer;
    head
}

fn split_rule(theory: &mut Theory, mut rule: Rule, splitting: Splitting, done: &mut Vec<Rule>) {
    while let Some(group) = best_group(theory, &rule, splitting) {
        let aux = take_out(theory, &mut rule, group);
        if splitting == Splitting::Components {
            split_rule(theory, aux, splitting, done);
        } else {
            done.push(aux);
        }
    }
    done.push(rule);
}

/// Literals to be moved out of a rule.
struct Group {
    /// Their numbers in the body.
    literals: Vec<usize>,
    /// Their variables that the rest of the rule needs, ascending.
    shared: Vec<u32>,
    /// Literals of the rest that also go into the auxiliary rule, to keep it small.
    copied: Vec<usize>,
    n_vars: usize,
}

/// The group that leaves the smallest auxiliary relation, or with [`Splitting::Thorough`] the smallest auxiliary rule.
fn best_group(theory: &Theory, rule: &Rule, splitting: Splitting) -> Option<Group> {
    let in_head = head_vars(rule);
    let all = count(&used_vars(rule));
    (0..rule.n_vars as u32)
        .filter(|&v| !in_head[v as usize])
        .filter_map(|v| group_of(theory, rule, v, splitting))
        .filter(|g| g.literals.len() < rule.body.len() && g.n_vars < all)
        .min_by_key(|g| match splitting {
            Splitting::Thorough => (g.n_vars, g.shared.len()),
            _ => (g.shared.len(), g.n_vars),
        })
}

/// The literals to move out so that a variable vanishes from the rule.
fn group_of(theory: &Theory, rule: &Rule, var: u32, splitting: Splitting) -> Option<Group> {
    let in_head = head_vars(rule);
    let mut inside = vec![false; rule.n_vars];
    inside[var as usize] = true;
    let mut taken = vec![false; rule.body.len()];
    let mut grows = true;
    while grows {
        grows = false;
        for (n, literal) in rule.body.iter().enumerate() {
            if taken[n] || !vars(literal).iter().any(|&v| inside[v as usize]) {
                continue;
            }
            taken[n] = true;
            if splitting == Splitting::Components {
                let inner = vars(literal).into_iter().filter(|&v| !in_head[v as usize]);
                inner.for_each(|v| inside[v as usize] = true);
                grows = true;
            }
        }
    }
    if splitting == Splitting::Thorough {
        absorb(rule, &in_head, &mut taken);
    }
    let literals: Vec<usize> = (0..rule.body.len()).filter(|&n| taken[n]).collect();
    let fluid = |&n: &usize| is_fluid(theory, &rule.body[n]);
    if !literals.iter().any(fluid) {
        return None;
    }
    let mut group = complete_group(theory, rule, literals);
    add_binders(rule, &mut group);
    is_safe(&aux_rule(rule, &group, RelId(0))).then_some(group)
}

/// Takes further literals into a group if all their variables are in it already and another variable vanishes thereby.
fn absorb(rule: &Rule, in_head: &[bool], taken: &mut [bool]) {
    let mut own = vec![false; rule.n_vars];
    for (literal, _) in rule.body.iter().zip(taken.iter()).filter(|(_, taken)| **taken) {
        literal.for_each_var(&mut |v| own[v as usize] = true);
    }
    let all: Vec<Vec<u32>> = rule.body.iter().map(vars).collect();
    for v in (0..rule.n_vars as u32).filter(|&v| own[v as usize] && !in_head[v as usize]) {
        let outside = |n: &usize| !taken[*n] && all[*n].contains(&v);
        let outside: Vec<usize> = (0..rule.body.len()).filter(outside).collect();
        if outside.iter().all(|&n| all[n].iter().all(|&w| own[w as usize])) {
            outside.into_iter().for_each(|n| taken[n] = true);
        }
    }
}

fn complete_group(theory: &Theory, rule: &Rule, literals: Vec<usize>) -> Group {
    let mut needed = head_vars(rule);
    let mut own = vec![false; rule.n_vars];
    for (n, literal) in rule.body.iter().enumerate() {
        let set = if literals.contains(&n) { &mut own } else { &mut needed };
        literal.for_each_var(&mut |v| set[v as usize] = true);
    }
    let both = |&v: &u32| own[v as usize] && needed[v as usize];
    let restricts = |n: &usize| {
        let literal = &rule.body[*n];
        let vars = vars(literal);
        !literals.contains(n) && !vars.is_empty() && !is_fluid(theory, literal) && vars.iter().all(|&v| own[v as usize])
    };
    Group {
        copied: (0..rule.body.len()).filter(restricts).collect(),
        n_vars: count(&own),
        shared: (0..rule.n_vars as u32).filter(both).collect(),
        literals,
    }
}

/// Copies literals of the rest that bind what would be unbound in the auxiliary rule, if it needs no further variables.
fn add_binders(rule: &Rule, group: &mut Group) {
    let mut own = vec![false; rule.n_vars];
    let mut bound = vec![false; rule.n_vars];
    for literal in &aux_rule(rule, group, RelId(0)).body {
        literal.for_each_var(&mut |v| own[v as usize] = true);
        if matches!(literal, Literal::Pos(..)) {
            literal.for_each_var(&mut |v| bound[v as usize] = true);
        }
    }
    for (n, literal) in rule.body.iter().enumerate() {
        let vars = vars(literal);
        let outside = !group.literals.contains(&n) && !group.copied.contains(&n);
        let fits = matches!(literal, Literal::Pos(..)) && vars.iter().all(|&v| own[v as usize]);
        if outside && fits && vars.iter().any(|&v| !bound[v as usize]) {
            group.copied.push(n);
            vars.iter().for_each(|&v| bound[v as usize] = true);
        }
    }
}

/// Whether the literal depends on state or move.
fn is_fluid(theory: &Theory, literal: &Literal) -> bool {
    literal
        .relation()
        .is_some_and(|r| theory.relation(r).layer != Layer::Static)
}

fn aux_rule(rule: &Rule, group: &Group, head: RelId) -> Rule {
    let mut numbers: Vec<usize> = group.literals.iter().chain(&group.copied).copied().collect();
    numbers.sort_unstable();
    Rule {
        head,
        args: group.shared.iter().map(|&v| Term::Var(v)).collect(),
        body: numbers.iter().map(|&n| rule.body[n].clone()).collect(),
        n_vars: rule.n_vars,
    }
}

/// Replaces the group by an atom of a new relation, whose rule is returned.
fn take_out(theory: &mut Theory, rule: &mut Rule, group: Group) -> Rule {
    let relations = group.literals.iter().filter_map(|&n| rule.body[n].relation());
    let layer = relations.map(|r| theory.relation(r).layer).max();
    let head = add_auxiliary(theory, rule.head, group.shared.len(), layer.unwrap_or(Layer::Static));
    let aux = aux_rule(rule, &group, head);
    let mut n = 0;
    rule.body.retain(|_| {
        n += 1;
        !group.literals.contains(&(n - 1))
    });
    rule.body.push(Literal::Pos(head, aux.args.clone()));
    aux
}

fn vars(literal: &Literal) -> Vec<u32> {
    let mut vars = Vec::new();
    literal.for_each_var(&mut |v| vars.push(v));
    vars
}

fn head_vars(rule: &Rule) -> Vec<bool> {
    let mut set = vec![false; rule.n_vars];
    rule.args
        .iter()
        .for_each(|t| t.for_each_var(&mut |v| set[v as usize] = true));
    set
}

fn used_vars(rule: &Rule) -> Vec<bool> {
    let mut set = head_vars(rule);
    rule.body
        .iter()
        .for_each(|l| l.for_each_var(&mut |v| set[v as usize] = true));
    set
}

fn count(set: &[bool]) -> usize {
    set.iter().filter(|&&b| b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many literals and variables the rules have after splitting a rule for `legal(r, m)`.
    fn shapes(body: &str, splitting: Splitting) -> Vec<(usize, usize)> {
        let text = format!("(role r) (s 1 2) (goal r 0) (<= terminal (true end)) (<= (legal r (m ?x)) {body})");
        let rules = gdl::read(&text, &gdl::Options::default()).rules;
        let mut theory = Theory::new(&rules);
        theory.for_grounding();
        theory.rules.retain(|r| !r.body.is_empty() && count(&used_vars(r)) > 0);
        split(&mut theory, splitting);
        let shape = |r: &Rule| (r.body.len(), count(&used_vars(r)));
        theory
            .rules
            .iter()
            .filter(|r| r.body.iter().any(|l| is_fluid(&theory, l)))
            .map(shape)
            .collect()
    }

    #[test]
    fn chains_are_cut_at_every_link() {
        let body = "(true (a ?x ?y)) (true (b ?y ?z)) (true (c ?z ?w))";
        assert_eq!(shapes(body, Splitting::Off), [(3, 4)]);
        assert_eq!(shapes(body, Splitting::Full), [(1, 2), (2, 2), (2, 2)]);
    }

    #[test]
    fn components_are_taken_out_whole() {
        let body = "(true (a ?x)) (true (b ?x ?y)) (true (c ?y)) (true (d ?z)) (true (e ?z))";
        // The group of ?z goes. That of ?y would have as many instances as what is left, and stays.
        assert_eq!(shapes(body, Splitting::Components), [(2, 1), (4, 2)]);
    }

    #[test]
    fn conditions_that_bind_nothing_take_their_binders_along() {
        let body = "(true (a ?x ?y)) (true (b ?z)) (distinct ?y ?z)";
        // ?z goes with `distinct`, which needs ?y, which only `a` binds, which needs all variables: no split.
        assert_eq!(shapes(body, Splitting::Full), [(3, 3)]);
    }

    #[test]
    fn static_conditions_alone_are_left_where_they_are() {
        assert_eq!(shapes("(true (a ?x)) (s ?y ?z)", Splitting::Full), [(2, 3)]);
    }

    #[test]
    fn hundreds_of_conditions_without_variables_are_folded() {
        let list = |n: usize| (0..n).map(|n| format!("(true (a{n} z))")).collect::<Vec<_>>().join(" ");
        let folded = |n: usize| {
            let mut sizes: Vec<usize> = shapes(&format!("(true (x ?x)) {}", list(n)), Splitting::Full)
                .iter()
                .map(|s| s.0)
                .collect();
            sizes.sort_unstable();
            sizes
        };
        assert_eq!(folded(MOST_CLOSED), [MOST_CLOSED + 1]);
        // 150 conditions in chunks of 32: four full ones, one of 22, and the rule itself.
        assert_eq!(folded(150), [6, 22, 32, 32, 32, 32]);
    }
}
