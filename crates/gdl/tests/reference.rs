//! Cases of docs/gdl2.md: characters, grammar, infix notation, keywords, normal form, restrictions, edge cases.

use surmise_gdl::{Code, Mode, Notation, Options, Reading};

/// A complete little game that is clean even in strict mode; cases are added to it.
const REST: &str = "
(role robot) (init (step 1)) (succ 1 2) (succ 2 3)
(<= (legal robot go) (true (step ?n)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= terminal (true (step 3)))
(<= (goal robot 100) (true (step ?n)))
";

fn read(text: &str) -> Reading {
    surmise_gdl::read(text, &Options::default())
}

fn codes(reading: &Reading) -> Vec<&'static str> {
    let mut codes: Vec<_> = reading.diagnostics.iter().map(|d| d.code.text()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// The text alone gives these codes.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(codes(&read(text)), expected, "{text}");
}

/// The text, added to a game without flaws, gives these codes.
#[track_caller]
fn check_more(text: &str, expected: &[&str]) {
    check(&format!("{REST}{text}"), expected);
}

/// What the clauses say, in canonical text.
fn clauses(reading: &Reading) -> Vec<String> {
    let symbols = &reading.rules.symbols;
    let literal = |l: &surmise_gdl::Literal| match l {
        surmise_gdl::Literal::Pos(a) => a.canonical(symbols),
        surmise_gdl::Literal::Neg(a) => format!("(not {})", a.canonical(symbols)),
        surmise_gdl::Literal::Distinct(s, t) => format!("(distinct {} {})", s.canonical(symbols), t.canonical(symbols)),
    };
    let clause = |c: &surmise_gdl::Clause| {
        let body: Vec<String> = c.body.iter().map(literal).collect();
        format!("{} <= {}", c.head.canonical(symbols), body.join(" "))
            .trim_end_matches([' ', '<', '='])
            .to_owned()
    };
    reading.rules.clauses.iter().map(clause).collect()
}

#[track_caller]
fn check_clauses(text: &str, expected: &[&str]) {
    assert_eq!(clauses(&read(text)), expected, "{text}");
}

#[test]
fn the_little_game_is_clean() {
    let strict = Options {
        mode: Mode::Strict,
        ..Options::default()
    };
    assert_eq!(surmise_gdl::read(REST, &strict).diagnostics, []);
}

#[test]
fn lines_end_in_three_ways_and_comments_with_them() {
    for end in ["\n", "\r\n", "\r"] {
        let text = REST.replace('\n', &format!(" ; comment (with [odd] 'things' \u{1}{end}"));
        assert_eq!(codes(&read(&text)), [""; 0], "{end:?}");
        assert_eq!(clauses(&read(&text)), clauses(&read(REST)));
    }
}

#[test]
fn blanks_are_the_usual_ones() {
    check_clauses("(a\tb\u{c}c\u{b}d)", &["(a b c d)"]);
    check("(a\u{a0}b)", &["E-CHAR"]);
    check("(a\u{2003}b)", &["E-CHAR"]);
    check("(a\u{0}b)", &["E-CHAR"]);
    check("(a\u{7f}b)", &["E-CHAR"]);
    let help = &read("(a\u{a0}b)").diagnostics[0];
    assert!(help.message.contains("non-breaking space"), "{}", help.message);
}

#[test]
fn comments_end_tokens_and_may_end_the_text() {
    check_clauses("(p foo;bar)\n)", &["(p foo)"]);
    check_clauses("(p a) ; the end", &["(p a)"]);
    check_more(";", &[]);
    // No block comments.
    assert!(codes(&read(&format!("{REST}(<= (legal robot #|) (true (step 1)))"))).contains(&"W-CHAR"));
}

#[test]
fn bytes_may_be_marked_or_not_utf_8() {
    let marked = [b"\xef\xbb\xbf", REST.as_bytes()].concat();
    assert_eq!(surmise_gdl::read_bytes(&marked, &Options::default()).diagnostics, []);
    let latin = [REST.as_bytes(), b"; caf\xe9"].concat();
    assert_eq!(
        codes(&surmise_gdl::read_bytes(&latin, &Options::default())),
        ["W-ENCODING"]
    );
}

#[test]
fn variables_have_names() {
    check("(<= (p ?) (q ?))", &["E-VAR-EMPTY"]);
    check_clauses("(<= (p ?_) (q ?_ ?_) (r _))", &["(p ?v0) <= (q ?v0 ?v0) (r _)"]);
    check_clauses("(<= (p ?n++) (q ?n++ -3 0.5))", &["(p ?v0) <= (q ?v0 -3 0.5)"]);
}

#[test]
fn operators_and_numbers_are_names() {
    check_more("(<= (legal robot (++ + < > map+ -3 0.5 a/b)) (true (step 1)))", &[]);
    check_clauses("(n 01) (n 1) (n +1) (n 1.0)", &["(n 01)", "(n 1)", "(n +1)", "(n 1.0)"]);
    check_more(
        "(<= (legal robot a:b) (true (step 1))) (<= (legal robot (x a:b)) (true (step 2)))",
        &["W-CHAR"],
    );
    check_more("(<= (legal robot (say \"a b\")) (true (step 1)))", &["W-QUOTE"]);
    check_more("(<= (legal robot größe) (true (step 1)))", &["W-CHAR"]);
}

#[test]
fn case_is_folded_and_spelling_kept_for_the_wire() {
    // The canonical text, and the spelling for the wire.
    let text = "(ROLE Red) (Init (timeOut)) (<= (Legal red (Fire Timeout)) (true timeout))";
    let reading = read(text);
    assert!(codes(&reading).contains(&"W-CASE"));
    assert_eq!(
        clauses(&reading)[1..],
        ["(init timeout)", "(legal red (fire timeout)) <= (true timeout)"]
    );
    let wire = |name: &str| {
        reading
            .rules
            .symbols
            .wire_text(reading.rules.symbols.get(name).unwrap())
    };
    assert_eq!((wire("fire"), wire("timeout"), wire("red")), ("Fire", "Timeout", "red"));
    let two = "(<= (legal robot (to ?P)) (succ ?p 2))";
    check_more(two, &["W-CASE"]);
    let apart = Options {
        case_sensitive: true,
        ..Options::default()
    };
    let reading = surmise_gdl::read("(P a) (p a) (p A)", &apart);
    assert_eq!(clauses(&reading), ["(P a)", "(p a)", "(p A)"]);
}

#[test]
fn structure_must_make_sense() {
    check("(?p a)", &["E-HEAD-NOT-NAME"]);
    check("((p) a)", &["E-HEAD-NOT-NAME"]);
    check("(<= (p a) ?x)", &["E-HEAD-NOT-NAME"]);
    check("(<= (p a) (or ((q) (r))))", &["E-HEAD-NOT-NAME"]);
    check("()", &["E-EMPTY-LIST"]);
    check("(<= (p a) (q ()))", &["E-EMPTY-LIST"]);
    check("(<=)", &["E-RULE-NO-HEAD"]);
    check("(<= (p a) (<= (q b)))", &["E-ARROW"]);
    check("(p <= a)", &["E-ARROW"]);
    check("<=", &["E-ARROW"]);
    check("(<= (p a) (not (q b) (r c)))", &["E-NOT-ARITY"]);
    check("(<= (p a) (not))", &["E-NOT-ARITY"]);
    check("(<= (p a) (distinct a))", &["E-DISTINCT"]);
    check("(distinct a b)", &["E-DISTINCT"]);
    check("(p or)", &["E-KW-CONSTANT"]);
    check("(not (p a))", &["E-KW-CONSTANT"]);
    check("(<= (p a) or)", &["E-KW-CONSTANT"]);
    check("(next a b)", &["E-KW-ARITY"]);
    check("(<= (p a) terminal (terminal x))", &["E-KW-ARITY"]);
}

#[test]
fn parentheses_are_reported_where_they_open() {
    let reading = read("(role a)\n(<= (p ?x)\n    (q ?x)\n(<= (r ?x)\n    (q ?x))\n");
    let parens: Vec<u32> = reading
        .diagnostics
        .iter()
        .filter(|d| d.code == Code::Paren)
        .map(|d| d.span.start)
        .collect();
    assert_eq!(parens, [9]);
    // The rule after it was still read.
    assert!(clauses(&reading).iter().any(|c| c.starts_with("(r ")));
    let reading = read("(role a))\n(role b))");
    assert_eq!(reading.diagnostics.iter().filter(|d| d.code == Code::Paren).count(), 1);
    assert_eq!(reading.diagnostics[0].span.start, 8);
    assert_eq!(clauses(&reading), ["(role a)", "(role b)"]);
}

#[test]
fn limits_hold() {
    check(&"(".repeat(2_000), &["E-LIMIT"]);
    let deep = |n: usize| format!("(p {}a{})", "(f ".repeat(n), ")".repeat(n));
    assert!(!codes(&read(&deep(900))).contains(&"E-LIMIT"));
    check(&deep(1_100), &["E-LIMIT"]);
    assert!(codes(&read(&"a ".repeat(1_000_100))).contains(&"E-LIMIT"));
    let long = vec![b' '; (16 << 20) + 1];
    assert!(codes(&surmise_gdl::read_bytes(&long, &Options::default())).contains(&"E-LIMIT"));
}

#[test]
fn empty_parentheses_and_bodies_are_accepted() {
    check_more("(<= (legal robot jump) (free)) (free)", &["W-PARENS"]);
    check_clauses("(<= (open2)) (<= p open2)", &["open2", "p <= open2"]);
    check_more("(<= (succ 3 4))", &["W-EMPTY-BODY"]);
}

#[test]
fn or_and_not_mean_what_they_should() {
    check_clauses(
        "(<= (p ?x) (q ?x) (or (a ?x) (and (b ?x) (not (c ?x))) (or (d ?x) (e ?x))))",
        &[
            "(p ?v0) <= (q ?v0) (a ?v0)",
            "(p ?v0) <= (q ?v0) (not (c ?v0)) (b ?v0)",
            "(p ?v0) <= (q ?v0) (d ?v0)",
            "(p ?v0) <= (q ?v0) (e ?v0)",
        ],
    );
    check_clauses(
        "(<= (p ?x) (q ?x) (not (or (a ?x) (b ?x))))",
        &["(p ?v0) <= (q ?v0) (not (a ?v0)) (not (b ?v0))"],
    );
    check_clauses("(<= (p ?x) (q ?x) (not (not (a ?x))))", &["(p ?v0) <= (q ?v0) (a ?v0)"]);
    check_clauses(
        "(<= (p ?x) (q ?x ?y) (not (distinct ?x (f ?y))))",
        &["(p (f ?v0)) <= (q (f ?v0) ?v0)"],
    );
    check_clauses("(<= p (distinct a b))", &["p"]);
    check_clauses(
        "(<= (p ?x) (distinct ?x a) (q ?x))",
        &["(p ?v0) <= (q ?v0) (distinct ?v0 a)"],
    );
    check_clauses("(<= (p ?x) (q ?x) (or (a ?x)))", &["(p ?v0) <= (q ?v0) (a ?v0)"]);
    check_clauses("(<= (p ?x) (q ?x) (and))", &["(p ?v0) <= (q ?v0)"]);
    assert!(codes(&read("(<= (p ?x) (q ?x) (or))")).contains(&"W-EMPTY-OR"));
    assert!(codes(&read("(<= (p ?x) (q ?x) (distinct ?x ?x))")).contains(&"W-RULE-NEVER"));
}

#[test]
fn large_disjunctions_get_relations_of_their_own() {
    let alternatives = "(or (a ?x) (b ?x) (distinct ?x c)) ".repeat(12);
    let reading = read(&format!("(<= (p ?x) (q ?x) {alternatives})"));
    let clauses = clauses(&reading);
    assert!(clauses.len() < 100, "{} clauses", clauses.len());
    // A branch that only tests needs what the rest of the rule binds.
    assert!(
        clauses.contains(&"(or#1 ?v0) <= (q ?v0) (distinct ?v0 c)".to_owned()),
        "{clauses:?}"
    );
}

#[test]
fn repetition_undefined_and_arity_are_warnings() {
    check_more("(succ 1 2)", &["W-DUP"]);
    check_more("(<= (legal robot jump) (squee 1))", &["W-UNDEF"]);
    check_more(
        "(<= (legal robot (at 1)) (succ 1 2)) (<= (legal robot (at 1 2)) (succ 1 2))",
        &["W-ARITY"],
    );
    check_more("(<= (sees robot (does robot ?m)) (does robot ?m))", &["W-KW-TERM"]);
    check_more("(lonely 1)", &["W-UNUSED"]);
    let reading = read(&format!("{REST}(<= (legal robot jump) (step 1))"));
    assert!(
        reading.diagnostics[0].help.contains("(true (step …))"),
        "{}",
        reading.diagnostics[0].help
    );
    let reading = read(&format!("{REST}(<= (legal robot jump) (suc 1 2))"));
    assert!(
        reading.diagnostics[0].help.contains("`succ`"),
        "{}",
        reading.diagnostics[0].help
    );
}

#[test]
fn safety_is_judged_as_written() {
    check_more(
        "(<= (t ?x) (succ ?x 2) (not (succ 3 ?y))) (<= (legal robot ?x) (t ?x))",
        &["E-UNSAFE"],
    );
    check_more(
        "(<= (t ?x) (or (succ ?x 2) (succ 2 ?y))) (<= (legal robot ?x) (t ?x))",
        &["E-UNSAFE"],
    );
    check_more("(<= (legal ?p ?p) (true (step 1)))", &["E-UNSAFE"]);
    check_more("(<= (legal ?r jump) (true (step 1)))", &["W-UNSAFE-ROLE"]);
    check_more(
        "(<= (legal robot ?x) (or (succ ?x 2) (succ 2 ?x)) (or (succ 1 2) (succ ?y ?x)))",
        &[],
    );
    check_more("(succ ?x 9)", &["E-FACT-VAR"]);
    check_more("(base (cell ?x))", &["W-HINT-VAR"]);
}

#[test]
fn stratification_is_judged_by_relations_and_then_by_clauses() {
    // As real games have it.
    check_more(
        "(<= (goal robot 0) (role robot) (not (goal robot 100)))",
        &["W-LOCAL-STRAT"],
    );
    check_more(
        "(<= (even ?x) (succ ?x 2) (not (odd ?x))) (<= (odd ?x) (succ ?x 2) (not (even ?x)))",
        &["E-NEG-CYCLE"],
    );
    check_more(
        "(<= (w ?x) (succ ?x ?y) (not (w ?y))) (<= (legal robot ?x) (w ?x))",
        &["E-NEG-CYCLE"],
    );
}

#[test]
fn recursion_is_bounded_or_warned_about() {
    let ok = "(<= (lt ?x ?y) (succ ?x ?y)) (<= (lt ?x ?y) (lt ?z ?y) (succ ?x ?z)) (<= (legal robot (m ?x)) (lt ?x 3))";
    check_more(ok, &[]);
    check_more(
        "(<= (n (s ?x)) (n ?x)) (n z) (<= (legal robot ?x) (n ?x))",
        &["E-RECURSION"],
    );
    check_more(
        "(<= (r ?a (f ?a)) (r ?b ?a) (succ ?b 2)) (r 1 1) (<= (legal robot (m ?x)) (r ?x ?x))",
        &[],
    );
}

#[test]
fn keywords_stand_where_they_may() {
    check_more("(true (step 9))", &["E-HEAD-TRUE"]);
    check_more("(does robot go)", &["E-HEAD-DOES"]);
    check_more("(<= (legal robot x) (init (step 1)))", &["E-INIT-BODY"]);
    check_more("(<= (init (b 1)) (true (step 1)))", &["E-INIT-DEP"]);
    check_more("(<= (legal robot x) (does robot go))", &["E-DOES-DEP"]);
    check_more("(<= (m ?x) (does robot ?x)) (<= terminal (m go))", &["E-DOES-DEP"]);
    check_more("(<= (next (b 1)) (next (step 2)))", &["E-NEXT-BODY"]);
    check_more("(<= (sees robot (b 1)) (next (step 2)))", &["W-NEXT-IN-SEES"]);
    check_more(
        "(<= (new ?n) (next (step ?n))) (<= (sees robot (b ?n)) (new ?n))",
        &["W-NEXT-IN-SEES"],
    );
    check_more("(<= (next (c 1)) (sees robot b)) (sees robot b)", &["E-SEES-BODY"]);
    check_more("(<= (input robot ?m) (legal robot ?m))", &["W-HINT-DEP"]);
    check_more("(<= (role ?x) (helper ?x)) (helper ann)", &["W-ROLE-RULE"]);
    check_more("(sees_xml robot a)", &["N-VIEW"]);
    check_more("(<= (outcome a) (true (step 1)))", &["N-DIALECT"]);
    check_more("(goal robot 101)", &["E-GOAL-VALUE"]);
    check_more("(role random)", &[]);
}

#[test]
fn a_game_needs_its_parts() {
    check(
        "(role a)",
        &["E-NO-GOAL", "E-NO-LEGAL", "E-NO-TERMINAL", "N-NO-INIT", "N-NO-NEXT"],
    );
    check(
        "(legal a b) (goal a 0) terminal",
        &["E-NO-ROLE", "N-NO-INIT", "N-NO-NEXT"],
    );
}

#[test]
fn infix_is_the_same_game() {
    let prefix =
        "(role candidate) (role random) (<= (legal random (open_door ?d)) (true (step 2)) (not (true (car ?d))))";
    let infix =
        "role(candidate). role(random).\nlegal(random,open_door(?d)) <= true( step(2) ) , not true(car(?d)). % why";
    assert_eq!(clauses(&read(prefix)), clauses(&read(infix)));
    check_clauses(
        "p(?x) :- q(?x) & ~r(?x), (a(?x) | b(?x)), distinct(?x,0.5).",
        &[
            "(p ?v0) <= (q ?v0) (not (r ?v0)) (distinct ?v0 0.5) (a ?v0)",
            "(p ?v0) <= (q ?v0) (not (r ?v0)) (distinct ?v0 0.5) (b ?v0)",
        ],
    );
    check_clauses(
        "p(?x) <= or(a(?x), b(?x)).",
        &["(p ?v0) <= (a ?v0)", "(p ?v0) <= (b ?v0)"],
    );
    let upper = Options {
        upper_vars: true,
        ..Options::default()
    };
    assert_eq!(
        clauses(&surmise_gdl::read("p(X) <= q(X,yes).", &upper)),
        ["(p ?v0) <= (q ?v0 yes)"]
    );
    check("p(a) q(b).", &["E-INFIX"]);
    check("p(a", &["E-INFIX"]);
    // Reading goes on after the full stop.
    let reading = read("p(a,,b). q(c).");
    assert_eq!(clauses(&reading), ["(q c)"]);
}

#[test]
fn notation_is_detected() {
    for (text, notation) in [
        ("; c\n(role a)", Notation::Prefix),
        ("test", Notation::Prefix),
        ("test (role a)", Notation::Prefix),
        ("role(a).", Notation::Infix),
        ("% c\nterminal.", Notation::Infix),
        ("p <= q.", Notation::Infix),
        ("p :- q.", Notation::Infix),
        ("", Notation::Prefix),
    ] {
        assert_eq!(surmise_gdl::detect(text), notation, "{text}");
    }
}

#[test]
fn upper_case_names_in_prefix_are_constants() {
    check_clauses(
        "(<= (legal random (arm C)) (color C))",
        &["(legal random (arm c)) <= (color c)"],
    );
}

#[test]
fn knowledge_is_ordinary_unless_asked_for() {
    check_more("(<= (legal robot sure) (knows robot (succ 1 2)))", &["W-KNOWS"]);
    let gdl3 = Options {
        gdl3: true,
        ..Options::default()
    };
    let with = |text: &str| codes(&surmise_gdl::read(&format!("{REST}{text}"), &gdl3));
    assert_eq!(with("(<= (legal robot sure) (knows robot (succ 1 2)))"), [""; 0]);
    assert_eq!(with("(<= (init (b 1)) (knows robot (succ 1 2)))"), ["E-KNOWS"]);
}
