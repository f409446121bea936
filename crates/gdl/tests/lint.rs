//! Findings about what rules can do: each kind, its place and its fix.

use surmise_gdl::{Code, Diagnostic, Options, Reading, lint, read};

/// Two thieves and a guard over four rounds; without flaws.
const HEIST: &str = "(role thief) (role guard) (role random)
(chest left) (chest right)
(succ 1 2) (succ 2 3) (succ 3 4)
(init (round 1)) (init (phase night)) (init (lock left closed)) (init (lock right closed))
(<= (legal random (hide ?c)) (true (round 1)) (chest ?c))
(<= (legal random wait) (not (true (round 1))))
(<= (legal thief (grab ?c)) (true (round 2)) (chest ?c))
(<= (legal thief wait) (not (true (round 2))))
(<= (legal guard (watch ?c)) (true (round 2)) (true (phase night)) (chest ?c))
(<= (legal guard wait) (not (true (round 2))))
(<= (next (round ?m)) (true (round ?n)) (succ ?n ?m))
(<= (next (phase ?p)) (true (phase ?p)) (not (true (round 3))))
(<= (next (phase day)) (true (round 3)))
(<= (next (gold ?c)) (does random (hide ?c)))
(<= (next (gold ?c)) (true (gold ?c)))
(<= (next (grabbed ?c)) (does thief (grab ?c)))
(<= (next (grabbed ?c)) (true (grabbed ?c)))
(<= (next (caught ?c)) (does guard (watch ?c)) (does thief (grab ?c)))
(<= (next (caught ?c)) (true (caught ?c)))
(<= (next (lock ?c ?s)) (true (lock ?c ?s)) (not (does thief (grab ?c))))
(<= (next (lock ?c open)) (does thief (grab ?c)))
(<= (sees guard (noise ?c)) (does thief (grab ?c)))
(<= terminal (true (round 4)) (true (phase day)))
(<= rich (true (gold ?c)) (true (grabbed ?c)) (true (lock ?c open)) (not (true (caught ?c))))
(<= (goal thief 100) rich)
(<= (goal thief 0) (not rich))
(<= (goal guard 0) rich)
(<= (goal guard 100) (not rich))
(goal random 0)
";

fn reading(text: &str) -> Reading {
    let reading = read(text, &Options::default());
    assert!(reading.is_playable(), "{}", reading.render("game"));
    reading
}

/// The findings of the game after a replacement, which must apply exactly once.
fn after(from: &str, to: &str) -> (String, Vec<Diagnostic>) {
    assert_eq!(HEIST.matches(from).count(), 1, "{from}");
    let text = HEIST.replace(from, to);
    let found = lint(&reading(&text));
    (text, found)
}

/// The replacement gives a finding with this code at this text, whose first fix writes this instead.
#[track_caller]
fn check(from: &str, to: &str, code: Code, at: &str, fix: Option<&str>) {
    let (text, found) = after(from, to);
    let found = found.iter().find(|d| d.code == code && &text[d.span.range()] == at);
    let all = || surmise_gdl::render(&lint(&reading(&text)), "game", &text);
    let found = found.unwrap_or_else(|| panic!("no {} at {at}:\n{}", code.text(), all()));
    let written = found.fixes.first().map(|f| f.edits[0].replacement.as_str());
    assert_eq!(written, fix, "{}", all());
}

#[test]
fn the_game_itself_is_clean() {
    let reading = reading(HEIST);
    assert_eq!(reading.diagnostics, []);
    assert_eq!(lint(&reading), []);
}

#[test]
fn a_typo_in_a_fluent() {
    let from = "(<= rich (true (gold ?c)) (true (grabbed ?c))";
    let to = "(<= rich (true (gold ?c)) (true (grabed ?c))";
    check(from, to, Code::NotMade, "(grabed ?c)", Some("grabbed"));
    // Under a `not` too.
    let from = "(not (true (caught ?c)))";
    check(
        from,
        "(not (true (cought ?c)))",
        Code::NotMade,
        "(cought ?c)",
        Some("caught"),
    );
}

#[test]
fn a_typo_in_a_role() {
    let from = "(<= (next (grabbed ?c)) (does thief";
    check(
        from,
        "(<= (next (grabbed ?c)) (does theif",
        Code::NotRole,
        "theif",
        Some("thief"),
    );
    check("(sees guard", "(sees gaurd", Code::NotRole, "gaurd", Some("guard"));
    check(
        "(<= (legal guard wait)",
        "(<= (legal gard wait)",
        Code::NotRole,
        "gard",
        Some("guard"),
    );
}

#[test]
fn a_typo_in_a_move() {
    let from = "(does guard (watch ?c))";
    check(from, "(does guard (watches ?c))", Code::NotLegal, "(watches ?c)", None);
    check(
        from,
        "(does guard (wach ?c))",
        Code::NotLegal,
        "(wach ?c)",
        Some("watch"),
    );
    // A move of another role.
    check(from, "(does guard (grab ?c))", Code::NotLegal, "(grab ?c)", None);
}

#[test]
fn a_typo_in_a_constant() {
    let from = "(true (phase day)))\n(<= rich";
    check(from, "(true (phase dya)))\n(<= rich", Code::NoValue, "dya", Some("day"));
    check(
        "(<= terminal (true (round 4))",
        "(<= terminal (true (round 5))",
        Code::NoValue,
        "5",
        None,
    );
    // In a fact of a chain: later rounds never come.
    check("(succ 2 3)", "(succ 22 3)", Code::NoValue, "4", None);
    // In a longer chain it falls out of the sequence.
    let longer = "(succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 55 6)";
    check("(succ 1 2) (succ 2 3) (succ 3 4)", longer, Code::Typo, "55", Some("5"));
}

#[test]
fn a_fluent_that_nothing_asks_for() {
    let from = "(<= (next (caught ?c)) (does";
    check(
        from,
        "(<= (next (spotted ?c)) (does",
        Code::NotRead,
        "(spotted ?c)",
        None,
    );
}

#[test]
fn a_move_without_effect() {
    let from = "(<= (legal guard wait)";
    let to = "(<= (legal guard (sing ?c)) (chest ?c))\n(<= (legal guard wait)";
    check(from, to, Code::NoEffect, "(sing ?c)", None);
}

#[test]
fn forgotten_frame_axioms() {
    // Proved: the gold is gone when somebody could be rich.
    let gold = "(<= (next (gold ?c)) (true (gold ?c)))\n";
    check(gold, "", Code::Lost, "(true (gold ?c))", None);
    // By pattern: other facts of the kind are kept, or the initial state has several.
    let lock = "(<= (next (lock ?c ?s)) (true (lock ?c ?s)) (not (does thief (grab ?c))))\n";
    check(lock, "", Code::Lost, "(lock left closed)", None);
}

#[test]
fn conditions_that_never_meet() {
    let from = "(<= (legal guard (watch ?c)) (true (round 2)) (true (phase night))";
    let to = "(<= (legal guard (watch ?c)) (true (round 2)) (true (phase day))";
    check(from, to, Code::RuleNever, "(legal guard (watch ?c))", None);
}

#[test]
fn roles_without_moves_and_goals() {
    check(
        "(role random)",
        "(role random) (role ghost)",
        Code::NotLegal,
        "ghost",
        None,
    );
    let text = HEIST.replace("(<= (goal guard 0) rich)\n(<= (goal guard 100) (not rich))\n", "");
    let found = lint(&reading(&text));
    assert_eq!((found.len(), found[0].code), (1, Code::GoalNone));
    assert_eq!(&text[found[0].span.range()], "guard");
}

#[test]
fn a_misspelled_variable() {
    let from = "(true (grabbed ?c)) (true (lock ?c open))";
    check(
        from,
        "(true (grabbed ?c)) (true (lock ?cc open))",
        Code::Typo,
        "?cc",
        Some("?c"),
    );
}

#[test]
fn fixes_mend_what_they_are_about() {
    for (from, to) in [
        ("(does guard (watch ?c))", "(does guard (wach ?c))"),
        ("(not (true (caught ?c)))", "(not (true (cought ?c)))"),
        ("(sees guard", "(sees gaurd"),
    ] {
        let (text, found) = after(from, to);
        let edits = found.iter().flat_map(|d| &d.fixes).flat_map(|f| &f.edits);
        let (fixed, n) = surmise_gdl::fix::apply(&text, edits);
        assert_eq!((fixed.as_str(), n), (HEIST, 1));
    }
}

#[test]
fn keywords_are_suggested_with_their_shape() {
    let text = HEIST.replace("(<= (legal thief wait)", "(<= (legl thief wait)");
    let reading = read(&text, &Options::default());
    let found = reading.diagnostics.iter().find(|d| d.code == Code::Unused).unwrap();
    assert!(found.help.contains("(legal ROLE MOVE)"), "{}", found.help);
    assert_eq!(found.fixes[0].edits[0].replacement, "legal");
    assert_eq!(&text[found.fixes[0].edits[0].span.range()], "legl");
    let text = HEIST.replace("(<= (legal thief wait)", "(<= (legal wait)");
    let reading = read(&text, &Options::default());
    let found = reading.diagnostics.iter().find(|d| d.code == Code::KwArity).unwrap();
    assert!(found.help.contains("(legal ROLE MOVE)"), "{}", found.help);
}

#[test]
fn old_rules_are_read_and_said_so() {
    let codes = |text: &str| -> Vec<&'static str> {
        let reading = read(text, &Options::default());
        reading.diagnostics.iter().map(|d| d.code.text()).collect()
    };
    let same = "(same ?x ?x) (<= twice (true (lock ?a open)) (true (lock ?b open)) (not (same ?a ?b)))
        (<= (goal random 0) twice)";
    assert_eq!(codes(&format!("{HEIST}{same}")), ["W-FACT-VAR"]);
    let mixed = "(near ?x ?x) (near left right) (<= beside (true (gold ?a)) (true (lock ?b open)) (near ?a ?b))
        (<= (goal random 0) beside)";
    assert_eq!(codes(&format!("{HEIST}{mixed}")), ["W-FACT-VAR"]);
    // No single meaning: which values would `?y` have?
    assert_eq!(codes(&format!("{HEIST}(init (lock ?y open))")), ["E-FACT-VAR"]);
    let unbound = "(any ?x) (<= (legal thief (grab ?y)) (any ?y))";
    assert_eq!(codes(&format!("{HEIST}{unbound}")), ["E-FACT-VAR"]);
}

#[test]
fn safe_fixes_keep_the_clauses() {
    let untidy = HEIST
        .replace(
            "(<= (goal thief 100) rich)",
            "(<= (goal thief 100) (rich)) (<= (goal thief 100) rich)",
        )
        .replace("(goal random 0)", "(<= (goal random 0))")
        .replace("(chest right)", "(CHEST right)");
    let reading = read(&untidy, &Options::default());
    let fixes = reading.diagnostics.iter().flat_map(|d| &d.fixes);
    assert!(fixes.clone().all(|f| !f.changes_meaning));
    let (fixed, n) = surmise_gdl::fix::apply(&untidy, fixes.flat_map(|f| &f.edits));
    assert!(n >= 4, "{n}");
    let after = read(&fixed, &Options::default());
    assert_eq!(after.diagnostics, []);
    let clauses = |r: &Reading| -> Vec<_> {
        r.rules
            .clauses
            .iter()
            .map(|c| (c.head.clone(), c.body.clone()))
            .collect()
    };
    assert_eq!(clauses(&after), clauses(&reading));
}

#[test]
fn hostile_rules_take_bounded_time() {
    // Terms that grow, tables that multiply, many relations and many rules.
    let growing = "(role a) (init (f z)) (<= (next (f (s ?x ?x))) (true (f ?x))) (legal a b) (<= terminal (true (f q)))
        (goal a 0)";
    lint(&read(growing, &Options::default()));
    let mut wide = String::from("(role a) (legal a b) terminal (goal a 0) (init (g 0))");
    for i in 0..3_000 {
        wide += &format!("(t {i} {}) ", i + 1);
        wide += &format!("(<= (next (g {i})) (true (g ?x)) (t ?x ?y) (t ?y ?z) (t ?z {i}))\n");
    }
    lint(&read(&wide, &Options::default()));
    let mut chain = String::from("(role a) (legal a b) terminal (goal a 0)");
    for i in 0..20_000 {
        chain += &format!("(<= (p{i} ?x) (p{} ?x) (not (q{i} ?x)))\n", i + 1);
    }
    lint(&read(&chain, &Options::default()));
}
