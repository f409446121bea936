//! Tests of games against slower or other ways to the same answers.

use surmise::belief::{self, Now};
use surmise::game::{Budget, Fault, MoveId, RoleId, Seed, Simulator, State, View};
use surmise::game_tests::{
    GameTests, MutateOptions, MutationReport, TestGames, TestOptions, TestReport, Verdict, mutate, run,
};
use surmise::gdl::{self, mutate as slips};
use surmise::starters::Starter;
use surmise::{Game, GameText, SolveOptions};

fn run_text(text: &str) -> TestReport {
    let tests = GameTests::parse("a.test", text).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes:?}"));
    run(&tests, &TestGames::default(), &TestOptions::default(), &mut |_| {})
}

/// Every line holds.
fn assert_holds(text: &str) {
    let tests = GameTests::parse("a.test", text).unwrap();
    let report = run_text(text);
    assert!(
        report.passed() && report.undecided() == 0,
        "{text}\n{}",
        report.render(&tests)
    );
    assert!(report.holding() > 0, "{text}");
}

/// The last line fails.
fn assert_fails(text: &str) {
    let report = run_text(text);
    let last = report.lines.last().unwrap();
    assert!(matches!(last.verdict, Verdict::Fails(_)), "{text}\n{:?}", last.verdict);
}

/// A play: lines of a test, joint moves, and the last state.
type RandomPlay = (Vec<String>, Vec<Vec<MoveId>>, State);

fn random_play(sim: &mut dyn Simulator, rounds: usize, seed: Seed) -> Result<RandomPlay, Fault> {
    let mut rng = seed.rng();
    let (mut lines, mut joints, mut state) = (Vec::new(), Vec::new(), sim.initial()?);
    while joints.len() < rounds && !sim.terminal(&state)? {
        let (mut line, mut joint) = ("play".to_owned(), Vec::new());
        for number in 0..sim.roles().len() {
            let role = RoleId(number as u16);
            let mut legal = Vec::new();
            sim.legal(&state, role, &mut legal)?;
            let mv = *rng.pick(&legal);
            line += &format!(" {}:{}", sim.roles()[number], sim.move_text(role, mv));
            joint.push(mv);
        }
        state = sim.next(&state, &joint)?;
        lines.push(line);
        joints.push(joint);
    }
    Ok((lines, joints, state))
}

/// The view of a role of a play.
fn view(sim: &mut dyn Simulator, role: RoleId, joints: &[Vec<MoveId>]) -> View {
    let mut state = sim.initial().unwrap();
    let mut view = View::default();
    for joint in joints {
        let mut sees = Vec::new();
        sim.percepts(&state, joint, role, &mut sees).unwrap();
        let own = joint[usize::from(role.0)];
        view.rounds.push(surmise::game::Round { own, sees });
        state = sim.next(&state, joint).unwrap();
    }
    view
}

/// Sizes of information sets and probabilities agree with the depth-first enumeration that shares no code with them.
#[test]
fn information_sets_are_those_of_the_enumeration() {
    for (name, rounds) in [
        ("monty-hall", 3),
        ("kuhn-poker", 4),
        ("mastermind", 3),
        ("phantom-tictactoe", 3),
        ("krieg-tictactoe:size=3,line=3", 2),
        ("meier", 3),
        ("tictactoe", 3),
    ] {
        let game = Game::open(name).unwrap();
        let mut sim = game.simulator();
        for number in 0..3 {
            let (lines, joints, state) = random_play(sim.as_mut(), rounds, Seed(7).nth(number)).unwrap();
            let now = match sim.terminal(&state).unwrap() {
                true => Now::Over,
                false => Now::Playing,
            };
            for &at in game.seating().played() {
                let (role, name_of) = (RoleId(at as u16), &game.roles()[at]);
                let view = view(sim.as_mut(), role, &joints);
                let budget = Budget::iterations(3_000_000);
                let set = belief::enumerate(sim.as_mut(), role, &view, now, None, &budget).unwrap();
                let states = set.states();
                let mut text = format!("game {name}\n{}\n", lines.join("\n"));
                text += &format!(
                    "infoset {name_of} {}\npossible {name_of} {}\n",
                    set.histories.len(),
                    states.len()
                );
                let fluent = sim.fluents(&state)[0].clone();
                let holds = states.iter().filter(|(s, _)| sim.fluents(s).contains(&fluent));
                let p: f64 = holds.map(|(_, (_, p))| p).sum();
                text += &format!("believes {name_of} {fluent} {p:.5}\n");
                assert_holds(&text);
                assert_fails(&format!("{text}infoset {name_of} {}\n", set.histories.len() + 1));
            }
        }
    }
}

/// Complete plays, plays of a depth, shortest and longest: by walking through every history.
fn walk(sim: &mut dyn Simulator, state: &State, depth: usize, out: &mut (u64, Vec<u64>, usize, usize)) {
    if out.1.len() <= depth {
        out.1.push(0);
    }
    out.1[depth] += 1;
    if sim.terminal(state).unwrap() {
        out.0 += 1;
        out.2 = out.2.min(depth);
        out.3 = out.3.max(depth);
        return;
    }
    let mut joints: Vec<Vec<MoveId>> = vec![Vec::new()];
    for role in 0..sim.roles().len() {
        let mut legal = Vec::new();
        sim.legal(state, RoleId(role as u16), &mut legal).unwrap();
        let longer = |joint: &Vec<MoveId>| {
            let joint = joint.clone();
            legal
                .clone()
                .into_iter()
                .map(move |mv| [joint.clone(), vec![mv]].concat())
        };
        joints = joints.iter().flat_map(longer).collect();
    }
    for joint in joints {
        let next = sim.next(state, &joint).unwrap();
        walk(sim, &next, depth + 1, out);
    }
}

#[test]
fn counts_are_those_of_a_walk_through_all_histories() {
    for name in [
        "monty-hall",
        "kuhn-poker",
        "scissors-paper-rock",
        "number-guessing:numbers=2",
        "mastermind",
    ] {
        let game = Game::open(name).unwrap();
        let mut sim = game.simulator();
        let start = sim.initial().unwrap();
        let mut found = (0, Vec::new(), usize::MAX, 0);
        if name.starts_with("number") {
            // Longer plays are counted too, but not here.
            assert_holds("game number-guessing:numbers=2\nperft 1 2\nperft 2 6\n");
            continue;
        }
        walk(sim.as_mut(), &start, 0, &mut found);
        let (plays, by_depth, shortest, longest) = found;
        let mut text = format!("game {name}\nplays {plays}\nlength {shortest}..{longest}\n");
        for (depth, count) in by_depth.iter().enumerate() {
            text += &format!("perft {depth} {count}\n");
        }
        assert_holds(&text);
        assert_fails(&format!("game {name}\nplays {}\n", plays + 1));
        assert_fails(&format!("game {name}\nlength {shortest}..{}\n", longest + 1));
    }
}

/// Values by dynamic programming and by backward induction are those of the game tree.
#[test]
fn values_are_those_of_the_solver() {
    for name in [
        "monty-hall",
        "mastermind",
        "connect-four:columns=3,rows=3,line=3",
        "kuhn-poker",
        "scissors-paper-rock",
    ] {
        let game = Game::open(name).unwrap();
        let options = SolveOptions::default();
        let tree = game.tree(&options, &mut |_| {}).unwrap();
        let solution = tree.solve(&options, &mut |_| {}).unwrap();
        for (player, value) in solution.values.iter().enumerate() {
            let role = solution.role(player);
            assert_holds(&format!("game {name}\nvalue {role} {value:.3}\n"));
            assert_fails(&format!("game {name}\nvalue {role} {:.3}\n", value + 0.02));
        }
    }
}

#[test]
fn failures_say_what_differs() {
    let fails = |text: &str| {
        let tests = GameTests::parse("a.test", text).unwrap();
        let report = run_text(text);
        assert!(!report.passed(), "{text}");
        report.render(&tests)
    };
    let said = fails("game monty-hall\nmoves candidate (choose 1) (choose 2) (choose 4)\n");
    assert!(
        said.contains("missing    (choose 4)") && said.contains("unexpected (choose 3)"),
        "{said}"
    );
    let said = fails("game monty-hall\nplay candidate:(chose 1) random:(hide-car 1)\nterminal\n");
    assert!(
        said.contains("a.test:2:16:") && said.contains("did you mean `(choose 1)`?"),
        "{said}"
    );
    let said = fails("game monty-hall\nlegal candidat 3\n");
    assert!(said.contains("did you mean `candidate`?"), "{said}");
    let said = fails("game monty-hall\ngoal candidate 100\n");
    assert!(said.contains("not over"), "{said}");
    let said = fails("game no-such-game\nopen\n");
    assert!(said.contains("no-such-game"), "{said}");
    let said = fails("open\n");
    assert!(said.contains("no rules are named"), "{said}");
    let said = fails("game monty-hall\ncannot candidate (choose 1)\n");
    assert!(said.contains("unexpected (choose 1)"), "{said}");
    let said = fails("game monty-hall\nsees candidate\n");
    assert!(said.contains("no round was played"), "{said}");
}

#[test]
fn what_takes_too_long_is_not_decided() {
    let tests = GameTests::parse("a.test", "game connect-four\nlength 7..42\nperft 2 49\n").unwrap();
    let options = TestOptions {
        work: 1_000,
        ..TestOptions::default()
    };
    let report = run(&tests, &TestGames::default(), &options, &mut |_| {});
    assert_eq!((report.holding(), report.undecided(), report.failing()), (1, 1, 0));
}

#[test]
fn records_are_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let game = Game::open("kuhn-poker").unwrap();
    let player: surmise::PlayerSpec = "random".parse().unwrap();
    let options = surmise::MatchOptions {
        record: Some(folder.path().to_owned()),
        ..surmise::MatchOptions::default()
    };
    game.play(&[&player], &options).unwrap();
    let file = folder.path().join("a.test");
    let check = |text: &str| {
        let tests = GameTests::parse("a.test", text).unwrap();
        run(&tests, &TestGames::beside(&file), &TestOptions::default(), &mut |_| {})
    };
    assert!(check("game kuhn-poker\nrecord match-000000.json\n").passed());
    assert!(!check("game leduc-poker\nrecord match-000000.json\n").passed());
    assert!(!check("game kuhn-poker\nrecord no-such.json\n").passed());
}

fn starter() -> (tempfile::TempDir, GameTests, TestGames, String) {
    let folder = tempfile::tempdir().unwrap();
    let paths = Starter::Game.write("coin", folder.path(), None).unwrap();
    let rules = std::fs::read_to_string(&paths[0]).unwrap();
    let tests = GameTests::parse("coin.test", &std::fs::read_to_string(&paths[1]).unwrap()).unwrap();
    let games = TestGames::beside(&paths[1]);
    (folder, tests, games, rules)
}

fn shape(report: &MutationReport) -> Vec<String> {
    report.mutants.iter().map(|mutant| format!("{mutant:?}")).collect()
}

/// The same mutants and the same verdicts on any number of threads; nearly all mutants of the starter are noticed, and
/// what is suggested for the others holds for the rules and fails for the mutant.
#[test]
fn mutants_of_the_starter_are_noticed() {
    let (_folder, tests, games, rules) = starter();
    let options = MutateOptions {
        per_class: 8,
        ..MutateOptions::default()
    };
    let report = mutate(&tests, &games, "coin.kif", &options, &|_, _| {}).unwrap();
    let two = MutateOptions {
        threads: 2,
        ..options.clone()
    };
    let again = mutate(&tests, &games, "coin.kif", &two, &|_, _| {}).unwrap();
    assert_eq!(shape(&report), shape(&again));
    assert!(report.mutants.len() > 60, "{}", report.mutants.len());
    let by_test = report.mutants.iter().filter(|m| m.by_test()).count();
    assert!(
        10 * by_test >= 8 * report.mutants.len(),
        "{by_test} of {}",
        report.mutants.len()
    );
    let missed: Vec<_> = report
        .mutants
        .iter()
        .filter(|m| m.unnoticed() && m.suggestion.is_some())
        .collect();
    assert!(10 * missed.len() <= report.mutants.len(), "{missed:#?}");
    let all = slips::mutants(&rules, &gdl::Options::default());
    for mutant in missed {
        let source = all
            .list
            .iter()
            .find(|m| m.description == mutant.description && m.class == mutant.class)
            .unwrap();
        suggestion_tells_apart(&rules, &all.text(source), mutant.suggestion.as_ref().unwrap());
    }
}

fn suggestion_tells_apart(rules: &str, mutated: &str, lines: &[String]) {
    let folder = tempfile::tempdir().unwrap();
    let verdict = |text: &str| {
        std::fs::write(folder.path().join("coin.kif"), text).unwrap();
        let tests = GameTests::parse("coin.test", &lines.join("\n")).unwrap();
        let games = TestGames::beside(&folder.path().join("coin.test"));
        run(&tests, &games, &TestOptions::default(), &mut |_| {}).passed()
    };
    assert!(verdict(rules), "{lines:?}");
    assert!(!verdict(mutated), "{lines:?}");
}

/// Without tests that ask for it, a swapped goal is not noticed, and the suggestion names it.
#[test]
fn weak_tests_get_suggestions() {
    let (folder, _, _, rules) = starter();
    let file = folder.path().join("coin.test");
    let tests = GameTests::parse("coin.test", "roles random guesser\n").unwrap();
    let options = MutateOptions {
        per_class: 4,
        ..MutateOptions::default()
    };
    let report = mutate(&tests, &TestGames::beside(&file), "coin.kif", &options, &|_, _| {}).unwrap();
    let missed: Vec<_> = report
        .mutants
        .iter()
        .filter(|m| m.unnoticed() && m.suggestion.is_some())
        .collect();
    assert!(!missed.is_empty());
    let all = slips::mutants(&rules, &gdl::Options::default());
    for mutant in missed {
        let source = all
            .list
            .iter()
            .find(|m| m.description == mutant.description && m.class == mutant.class)
            .unwrap();
        suggestion_tells_apart(&rules, &all.text(source), mutant.suggestion.as_ref().unwrap());
    }
}

#[test]
fn tests_that_fail_are_not_mutated() {
    let (folder, ..) = starter();
    let tests = GameTests::parse("coin.test", "terminal\n").unwrap();
    let games = TestGames::beside(&folder.path().join("coin.test"));
    let error = mutate(&tests, &games, "coin.kif", &MutateOptions::default(), &|_, _| {}).unwrap_err();
    assert!(error.to_string().contains("mend line 1 first"), "{error}");
}

/// Rules of all kinds, also broken ones, end in a report.
#[test]
fn broken_rules_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    for rules in [
        "",
        "(role a)",
        "(((",
        "(role a) (init p) (legal a m) (<= (next p) (true p)) (<= terminal (true q)) (goal a 100)",
        "(role a) (init (n z)) (legal a m) (<= (next (n (s ?x))) (true (n ?x))) (<= terminal (true q)) (goal a 0)",
    ] {
        std::fs::write(folder.path().join("a.kif"), rules).unwrap();
        let text = "roles a\nlegal a 1\nplay\nlength 1..1\nplays 1\nvalue a 0\ninfoset a 1\nterminal\n";
        let tests = GameTests::parse("a.test", text).unwrap();
        let games = TestGames::beside(&folder.path().join("a.test"));
        let options = TestOptions {
            work: 2_000,
            ..TestOptions::default()
        };
        let report = run(&tests, &games, &options, &mut |_| {});
        assert!(!report.lines.is_empty());
        let _ = GameText::new("a", rules);
    }
}
