//! Trees: information sets, limits, and the files for Gambit.

mod common;

use common::{game, rules, tree_of};
use game::{RoleId, Seed, Simulator, StopFlag};
use propnet::Scalar;
use surmise_solve::{Algorithm, BuildError, Form, Limits, Node, Policy, Tree, write_efg};

/// Three players show a hand or a fist; a player who is alone in it wins.
const ODD_ONE_OUT: &str = "
(role ann) (role bob) (role cy)
(init now)
(side hand) (side fist)
(<= (legal ?r ?s) (role ?r) (side ?s))
(<= (next (showed ?r ?s)) (does ?r ?s))
(<= (sees ann done) (does ann hand))
(<= terminal (true (showed ann ?s)))
(<= (same ?r) (true (showed ?r ?s)) (true (showed ?q ?s)) (distinct ?r ?q))
(<= (goal ?r 100) (role ?r) (not (same ?r)))
(<= (goal ?r 0) (same ?r))
";

#[test]
fn three_roles_and_simultaneous_moves() {
    let tree = tree_of(ODD_ONE_OUT).unwrap();
    // One information set each: no player sees what the others showed.
    assert_eq!((tree.infosets().len(), tree.nodes().len()), (3, 1 + 2 + 4 + 8));
    assert_eq!(tree.histories, 9);
    assert_eq!(tree.constant_sum(), None);
    let form = Form::new(&tree);
    for (algorithm, _) in Algorithm::ALL {
        let mut solver = algorithm.solver(&form, Seed(3));
        solver.iterate(2_000);
        let gap = form.nash_conv(&solver.average());
        assert!((-1e-9..20.0).contains(&gap), "{algorithm:?}: {gap}");
    }
}

#[test]
fn same_seed_same_strategy() {
    let tree = common::tree("kuhn-poker");
    let form = Form::new(&tree);
    let average = |algorithm: Algorithm, seed, steps: &[u64]| {
        let mut solver = algorithm.solver(&form, Seed(seed));
        steps.iter().for_each(|&n| solver.iterate(n));
        solver.average()
    };
    for (algorithm, _) in Algorithm::ALL {
        assert_eq!(average(algorithm, 1, &[500]), average(algorithm, 1, &[100, 400]));
        let other = average(algorithm, 2, &[500]);
        assert_eq!(average(algorithm, 1, &[500]) == other, !algorithm.samples());
    }
}

/// The expected goals at a node by walking over all histories: the obvious way, and the meaning of [`Form::values`].
fn walk(tree: &Tree, policy: &Policy, node: u32) -> Vec<f64> {
    let (children, weights): (&[u32], Vec<f64>) = match tree.nodes()[node as usize] {
        Node::Terminal(at) => return tree.payoffs(at).iter().map(|&p| f64::from(p)).collect(),
        Node::Chance { first, n } => {
            let counts = tree.counts(first, n);
            let total: u32 = counts.iter().sum();
            let share = |&c: &u32| f64::from(c) / f64::from(total);
            (tree.children(first, n), counts.iter().map(share).collect())
        }
        Node::Decision { infoset, first } => {
            let set = &tree.infosets()[infoset as usize];
            (tree.children(first, set.n), policy.0[set.sequences()].to_vec())
        }
    };
    let mut sum = vec![0.0; tree.players.len()];
    for (&child, weight) in children.iter().zip(weights) {
        let values = walk(tree, policy, child);
        sum.iter_mut().zip(values).for_each(|(s, v)| *s += weight * v);
    }
    sum
}

#[test]
fn the_form_is_the_tree() {
    let trees = [
        "kuhn-poker",
        "leduc-poker",
        "goofspiel",
        "tiger",
        "monty-hall",
        "mastermind",
    ]
    .map(common::tree);
    for tree in trees.iter().chain(&[tree_of(ODD_ONE_OUT).unwrap()]) {
        let mut rng = Seed(5).rng();
        let weights: Vec<f64> = (0..tree.n_sequences()).map(|_| rng.unit()).collect();
        let policy = Policy::proportional(tree, &weights);
        let (walked, quick) = (walk(tree, &policy, 0), Form::new(tree).values(&policy));
        for (slow, fast) in walked.iter().zip(&quick) {
            assert!((slow - fast).abs() < 1e-9, "{walked:?} {quick:?}");
        }
    }
}

#[test]
fn forced_moves_make_no_nodes() {
    let mut sim = game("kuhn-poker");
    let tree = Tree::build(&mut sim, &Limits::default(), &mut |_| {}).unwrap();
    // The deal, and for each of six deals 4 decisions and 5 ends.
    assert_eq!(tree.nodes().len(), 1 + 6 * 9);
    assert!(matches!(tree.nodes()[0], Node::Chance { n: 6, .. }));
    let texts: Vec<String> = tree.infosets().iter().map(|set| tree.view_text(set, &sim)).collect();
    assert!(
        texts.contains(&"sees (card jack), check, sees (did player2 bet)".to_owned()),
        "{texts:?}"
    );
    let first = tree.view(&tree.infosets()[0]);
    assert_eq!(sim.move_text(RoleId(0), first[0].own), "noop");
}

#[test]
fn limits() {
    let mut sim = game("phantom-tictactoe");
    let limits = Limits {
        histories: 10_000,
        ..Limits::default()
    };
    let mut told = 0;
    let error = Tree::build(&mut sim, &limits, &mut |reached| told = reached).unwrap_err();
    assert!(matches!(
        error,
        BuildError::TooLarge {
            reached: 10_000,
            limit: 10_000,
            ..
        }
    ));
    assert!(error.to_string().contains("10000 histories"), "{error}");
    assert!(told > 5_000);
    let stopped = Limits {
        stop: StopFlag::default(),
        ..Limits::default()
    };
    stopped.stop.raise();
    let error = Tree::build(&mut sim, &stopped, &mut |_| {}).unwrap_err();
    assert!(matches!(error, BuildError::Stopped { reached: 1024 }));
}

#[test]
fn what_cannot_be_solved() {
    // A coin that the player does not see decides what it may do.
    let unclear = "
        (role ann) (role random) (init (step 1))
        (<= (legal random ?c) (true (step 1)) (coin ?c)) (coin heads) (coin tails)
        (<= (legal random noop) (true (step 2)))
        (<= (legal ann noop) (true (step 1)))
        (<= (legal ann pass) (true (step 2)))
        (<= (legal ann shout) (true (step 2)) (true heads-up))
        (<= (next heads-up) (does random heads))
        (<= (next (step 2)) (true (step 1)))
        (<= (next (step 3)) (true (step 2)))
        (<= (sees ann nothing) (does ann shout))
        (<= terminal (true (step 3)))
        (goal ann 50)";
    assert!(matches!(tree_of(unclear), Err(BuildError::Unclear { rounds: 1, .. })));
    let endless = "
        (role ann) (init on) (<= (legal ann go) (true on)) (<= (next on) (true on))
        (<= terminal (true off)) (<= (next off) (does ann stop)) (goal ann 0)";
    assert!(matches!(tree_of(endless), Err(BuildError::Endless { .. })));
    let stuck = "
        (role ann) (init (step 1)) (<= (legal ann go) (true (step 1))) (<= (next (step 2)) (true (step 1)))
        (<= terminal (true (step 3))) (<= (next (step 3)) (true never)) (goal ann 0)";
    assert!(matches!(tree_of(stuck), Err(BuildError::NoMove { rounds: 1, .. })));
}

#[test]
fn gambit() {
    let mut sim = Scalar::new(&rules(ODD_ONE_OUT));
    let tree = Tree::build(&mut sim, &Limits::default(), &mut |_| {}).unwrap();
    let mut out = Vec::new();
    write_efg(&tree, &sim, "odd one out", &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let expected = r#"EFG 2 R "odd one out" { "ann" "bob" "cy" } ""
p "" 1 1 "at the start" { "fist" "hand" } 0
 p "" 2 1 "at the start" { "fist" "hand" } 0
  p "" 3 1 "at the start" { "fist" "hand" } 0
   t "" 1 "" { 0, 0, 0 }
   t "" 2 "" { 0, 0, 100 }
"#;
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(text.lines().count(), 1 + tree.nodes().len());

    let mut sim = game("kuhn-poker");
    let tree = Tree::build(&mut sim, &Limits::default(), &mut |_| {}).unwrap();
    let mut out = Vec::new();
    write_efg(&tree, &sim, "Kuhn", &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.contains(r#"c "" 1 "" { "(deal jack king)" 1/6 "(deal jack queen)" 1/6"#),
        "{text}"
    );
    assert!(
        text.contains(r#" p "" 1 1 "sees (card jack)" { "bet" "check" } 0"#),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1 + tree.nodes().len());
}

/// One round may have millions of joint moves, long before a thousand histories are counted.
#[test]
fn a_round_with_many_joint_moves_can_be_stopped() {
    let numbers: String = (0..300).map(|n| format!("(number {n})")).collect();
    let text = format!(
        "(role ann) (role bob) {numbers} (init on) (<= (legal ?r (say ?n)) (role ?r) (number ?n))
        (<= (next (said ?r ?n)) (does ?r (say ?n))) (<= terminal (true (said ann ?n)))
        (<= (goal ?r 100) (true (said ?r 7))) (<= (goal ?r 0) (role ?r) (not (true (said ?r 7))))"
    );
    let limits = Limits::default();
    limits.stop.raise();
    let error = Tree::build(&mut Scalar::new(&rules(&text)), &limits, &mut |_| {}).unwrap_err();
    assert!(matches!(error, BuildError::Stopped { reached: 1 }), "{error}");
}
