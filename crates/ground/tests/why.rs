//! Explanations are checked step by step against the rules: a proof must consist of instances of clauses down to facts,
//! fluents and moves, and a refutation must say of every clause that fits which of its conditions fails.

mod support;

use game::{MoveId, RoleId, Seed, Simulator, State};
use gdl::{Clause, Literal, Rules, Term};
use std::collections::BTreeMap;
use surmise_ground::testing::random_game;
use surmise_ground::{Because, Derivation, Reference, Why};

type Bindings = BTreeMap<String, String>;

/// What the checker compares explanations with.
struct Checker<'a> {
    rules: &'a Rules,
    sim: Reference,
    state: State,
    joint: Vec<MoveId>,
    given: Vec<String>,
    proofs: usize,
    refutations: usize,
    cuts: usize,
}

impl<'a> Checker<'a> {
    fn text(&self, term: &Term, clause: &Clause, bindings: &Bindings) -> String {
        match term {
            Term::Var(v) => {
                let name = &clause.variables[*v as usize];
                bindings.get(name).unwrap_or(name).clone()
            }
            Term::Fun(name, args) if args.is_empty() => self.rules.symbols.text(*name).to_owned(),
            Term::Fun(name, args) => {
                let args: Vec<String> = args.iter().map(|t| self.text(t, clause, bindings)).collect();
                format!("({} {})", self.rules.symbols.text(*name), args.join(" "))
            }
        }
    }

    fn atom(&self, atom: &gdl::Atom, clause: &Clause, bindings: &Bindings) -> String {
        self.text(&Term::Fun(atom.relation, atom.args.clone()), clause, bindings)
    }

    fn literal(&self, literal: &Literal, clause: &Clause, bindings: &Bindings) -> String {
        match literal {
            Literal::Pos(atom) => self.atom(atom, clause, bindings),
            Literal::Neg(atom) => format!("(not {})", self.atom(atom, clause, bindings)),
            Literal::Distinct(a, b) => {
                format!(
                    "(distinct {} {})",
                    self.text(a, clause, bindings),
                    self.text(b, clause, bindings)
                )
            }
        }
    }

    /// Explains an atom anew, so that nothing depends on the explanation that is being checked.
    fn ask(&mut self, atom: &str) -> Why {
        let why = self
            .sim
            .why(self.rules, &self.state, &self.joint, atom)
            .expect("within the limits");
        why.unwrap_or_else(|| panic!("{atom} is an atom of the rules"))
    }

    fn check(&mut self, why: &Why) {
        match (&why.because, why.holds) {
            (Because::Cut, _) => self.cuts += 1,
            (Because::Given, holds) => assert_eq!(self.given.contains(&why.atom), holds, "{}", why.atom),
            (Because::Fact(offset), true) => {
                let is_it = |c: &&Clause| {
                    c.offset == *offset && c.body.is_empty() && self.atom(&c.head, c, &Bindings::new()) == why.atom
                };
                assert!(self.rules.clauses.iter().any(|c| is_it(&c)), "{} is no fact", why.atom);
            }
            (Because::Rule(derivation), true) => {
                self.proofs += 1;
                let clause = self.clause_of(derivation, &why.atom);
                assert_eq!(derivation.conditions.len(), clause.body.len());
                self.check_conditions(derivation, clause, None);
            }
            (Because::Failed(attempts), false) => {
                self.refutations += 1;
                let name = why.atom.trim_matches(['(', ')']).split(' ').next().unwrap();
                let rules = self.rules;
                let fits = rules
                    .clauses
                    .iter()
                    .filter(|c| rules.symbols.text(c.head.relation) == name && self.unify(c, &why.atom));
                assert_eq!(
                    attempts.len(),
                    fits.count(),
                    "one attempt for each clause that fits {}",
                    why.atom
                );
                for attempt in attempts {
                    let clause = self.clause_of(attempt, &why.atom);
                    self.check_conditions(attempt, clause, Some(attempt.conditions.len() - 1));
                }
            }
            other => panic!("{}: {other:?}", why.atom),
        }
    }

    /// Whether the head of a clause can be this atom: matched as texts, from left to right.
    fn unify(&self, clause: &Clause, atom: &str) -> bool {
        let head = gdl::read(
            atom,
            &gdl::Options {
                notation: Some(gdl::Notation::Prefix),
                ..Default::default()
            },
        );
        fn matches(
            node: &gdl::ast::Node,
            term: &Term,
            theirs: &gdl::Symbols,
            ours: &gdl::Symbols,
            seen: &mut BTreeMap<u32, String>,
            text: &str,
        ) -> bool {
            match term {
                Term::Var(v) => {
                    let value = text[node.span.range()].to_owned();
                    *seen.entry(*v).or_insert_with(|| value.clone()) == value
                }
                Term::Fun(name, args) => {
                    let found = node.items().get(1..).unwrap_or_default();
                    node.head_name().is_some_and(|n| theirs.text(n) == ours.text(*name))
                        && found.len() == args.len()
                        && found
                            .iter()
                            .zip(args)
                            .all(|(n, t)| matches(n, t, theirs, ours, seen, text))
                }
            }
        }
        let term = Term::Fun(clause.head.relation, clause.head.args.clone());
        let node = &head.ast.forms[0];
        matches(
            node,
            &term,
            &head.rules.symbols,
            &self.rules.symbols,
            &mut BTreeMap::new(),
            &head.text,
        )
    }

    fn clause_of(&self, derivation: &Derivation, atom: &str) -> &'a Clause {
        let bindings: Bindings = derivation.bindings.iter().cloned().collect();
        let is_it = |c: &&Clause| {
            c.offset == derivation.offset
                && self.atom(&c.head, c, &bindings) == atom
                && derivation
                    .conditions
                    .iter()
                    .all(|condition| c.body.iter().any(|l| self.literal(l, c, &bindings) == condition.text))
        };
        let clause = self.rules.clauses.iter().find(is_it);
        clause.unwrap_or_else(|| panic!("no clause gives {atom}: {derivation:?}"))
    }

    fn check_conditions(&mut self, derivation: &Derivation, clause: &Clause, fails: Option<usize>) {
        let bindings: Bindings = derivation.bindings.iter().cloned().collect();
        for (place, condition) in derivation.conditions.iter().enumerate() {
            assert_eq!(condition.holds, fails != Some(place), "{condition:?}");
            let literal = clause
                .body
                .iter()
                .find(|l| self.literal(l, clause, &bindings) == condition.text);
            let literal = literal.expect("found before");
            let open = self.literal(literal, clause, &bindings).contains('?');
            match literal {
                Literal::Distinct(a, b) => {
                    let differ = self.text(a, clause, &bindings) != self.text(b, clause, &bindings);
                    assert_eq!(differ, condition.holds);
                }
                Literal::Pos(atom) | Literal::Neg(atom) if !open => {
                    let wanted = condition.holds == matches!(literal, Literal::Pos(_));
                    let atom = self.atom(atom, clause, &bindings);
                    assert_eq!(self.ask(&atom).holds, wanted, "{atom}");
                    if let Some(why) = &condition.why {
                        assert_eq!((&why.atom, why.holds), (&atom, wanted));
                        self.check(why);
                    }
                }
                // A condition with variables fails for every value.
                Literal::Pos(_) | Literal::Neg(_) => assert!(!condition.holds, "{condition:?}"),
            }
        }
    }
}

/// Plays one game and checks explanations of what holds and what does not; (proofs, refutations, cuts).
fn play(text: &str, seed: u64, rounds: usize) -> (usize, usize, usize) {
    let rules = support::rules(text);
    let mut sim = Reference::new(&rules).expect("starts");
    let mut rng = Seed(seed).rng();
    let mut state = sim.initial().unwrap();
    let mut met: Vec<String> = Vec::new();
    let mut counts = (0, 0, 0);
    for _ in 0..rounds {
        let legal = sim.raw_legal(&state).unwrap();
        let goals = sim.raw_goals(&state).unwrap();
        let legal = legal.iter().map(|(r, m)| (format!("(legal {r} {m})"), true));
        let goals = goals.iter().map(|(r, v)| (format!("(goal {r} {v})"), true));
        let mut holds: BTreeMap<String, bool> = legal.chain(goals).collect();
        let terminal = sim.terminal(&state).unwrap();
        let n_roles = sim.roles().len();
        let mut joint = Vec::new();
        for role in 0..n_roles {
            let mut moves = Vec::new();
            sim.legal(&state, RoleId(role as u16), &mut moves).unwrap();
            match moves.is_empty() {
                true => break,
                false => joint.push(*rng.pick(&moves)),
            }
        }
        holds.insert("terminal".to_owned(), terminal);
        // What held in other states need not hold now.
        for atom in &met {
            holds.entry(atom.clone()).or_insert(false);
        }
        met.extend(holds.keys().filter(|a| a.starts_with("(legal")).cloned());
        met.sort();
        met.dedup();
        met.truncate(20);
        let mut given: Vec<String> = sim.fluents(&state).iter().map(|f| format!("(true {f})")).collect();
        let mut with_move = Vec::new();
        if joint.len() == n_roles {
            let next = sim.next(&state, &joint).unwrap();
            let next_fluents = sim.fluents(&next);
            with_move.extend(next_fluents.iter().map(|f| (format!("(next {f})"), true)));
            let gone = sim.fluents(&state).into_iter().filter(|f| !next_fluents.contains(f));
            with_move.extend(gone.map(|f| (format!("(next {f})"), false)));
            let sees = sim.raw_sees(&state, &joint).unwrap();
            with_move.extend(sees.iter().map(|(r, p)| (format!("(sees {r} {p})"), true)));
        }
        let mut checker = Checker {
            rules: &rules,
            sim: sim.clone(),
            state: state.clone(),
            joint: Vec::new(),
            given: given.clone(),
            proofs: 0,
            refutations: 0,
            cuts: 0,
        };
        for (atom, expected) in holds {
            let why = checker.ask(&atom);
            assert_eq!(why.holds, expected, "{atom}");
            checker.check(&why);
        }
        if joint.len() == n_roles {
            let does = |(role, &mv): (usize, &MoveId)| {
                let role = RoleId(role as u16);
                format!("(does {} {})", sim.roles()[role.0 as usize], sim.move_text(role, mv))
            };
            given.extend(joint.iter().enumerate().map(does));
            (checker.given, checker.joint) = (given, joint.clone());
            for (atom, expected) in with_move {
                let why = checker.ask(&atom);
                assert_eq!(why.holds, expected, "{atom}");
                checker.check(&why);
            }
        }
        counts.0 += checker.proofs;
        counts.1 += checker.refutations;
        counts.2 += checker.cuts;
        if terminal || joint.len() < n_roles {
            break;
        }
        state = sim.next(&state, &joint).unwrap();
    }
    counts
}

#[test]
fn explanations_of_random_games_are_right() {
    let (mut proofs, mut refutations) = (0, 0);
    for seed in 0..40_u64 {
        let mut rng = Seed(seed).rng();
        let genes: Vec<u8> = (0..400).map(|_| rng.below(256) as u8).collect();
        let (p, r, _) = play(&random_game(&genes), seed, 3);
        proofs += p;
        refutations += r;
    }
    assert!(
        proofs > 300 && refutations > 300,
        "{proofs} proofs, {refutations} refutations"
    );
}

/// Recursion through cycles: a proof must not go round in circles.
#[test]
fn proofs_are_well_founded() {
    let text = "(role me) (legal me go) (goal me 0) (init here)
        (edge a b) (edge b a) (edge b c) (edge c b) (edge c d)
        (<= (path ?x ?y) (path ?x ?z) (edge ?z ?y) (true here))
        (<= (path ?x ?y) (edge ?x ?y) (true here))
        (<= (odd ?x) (even ?x)) (<= (even ?x) (odd ?x)) (<= (odd ?x) (edge ?x d))
        (<= terminal (path a d) (odd c))";
    let rules = support::rules(text);
    let mut sim = Reference::new(&rules).unwrap();
    let state = sim.initial().unwrap();
    let (proofs, _, cuts) = play(text, 1, 1);
    assert_eq!(cuts, 0);
    assert!(proofs >= 3);
    fn height(why: &Why) -> usize {
        match &why.because {
            Because::Rule(d) => {
                1 + d
                    .conditions
                    .iter()
                    .filter_map(|c| c.why.as_deref())
                    .map(height)
                    .max()
                    .unwrap_or(0)
            }
            _ => 0,
        }
    }
    let why = sim.why(&rules, &state, &[], "(path a d)").unwrap().unwrap();
    assert!(why.holds && height(&why) <= 6, "{why:?}");
    let why = sim.why(&rules, &state, &[], "(even c)").unwrap().unwrap();
    assert!(why.holds && height(&why) == 2, "{why:?}");
    let why = sim.why(&rules, &state, &[], "(even a)").unwrap().unwrap();
    assert!(!why.holds);
    assert_eq!(sim.why(&rules, &state, &[], "(no such)").unwrap(), None);
    assert_eq!(sim.why(&rules, &state, &[], "((").unwrap(), None);
}

/// A long chain, a wide join and a clause with very many conditions stay within the limits.
#[test]
fn large_explanations_are_cut() {
    let mut text = String::from("(role me) (legal me go) (goal me 0) (init (at 0)) (<= terminal (reach 900))\n");
    for n in 0..900 {
        text.push_str(&format!("(succ {n} {}) ", n + 1));
    }
    text.push_str("(<= (reach ?x) (true (at ?x))) (<= (reach ?y) (reach ?x) (succ ?x ?y))\n");
    text.push_str("(<= (wide ?a ?b ?c) (succ ?a ?x) (succ ?b ?y) (succ ?c ?z) (succ ?x ?x))\n(<= (many me)");
    for _ in 0..3_000 {
        text.push_str(" (role me)");
    }
    text.push_str(")\n(<= (goal me 1) (wide 1 2 3)) (<= (goal me 2) (many me))");
    let rules = support::rules(&text);
    let mut sim = Reference::new(&rules).unwrap();
    let state = sim.initial().unwrap();
    let why = sim.why(&rules, &state, &[], "terminal").unwrap().unwrap();
    assert!(why.holds);
    fn cuts(why: &Why) -> usize {
        match &why.because {
            Because::Cut => 1,
            Because::Rule(d) => d.conditions.iter().filter_map(|c| c.why.as_deref()).map(cuts).sum(),
            _ => 0,
        }
    }
    assert!(cuts(&why) > 0);
    assert!(!sim.why(&rules, &state, &[], "(wide 1 2 3)").unwrap().unwrap().holds);
    assert!(sim.why(&rules, &state, &[], "(many me)").unwrap().unwrap().holds);
}
