//! Results on several threads are those of one thread, to the bit. Thresholds are so low here that small games use
//! several threads too.

mod common;

use common::{game, random_game, rules};
use game::{Seed, StopFlag};
use propnet::Scalar;
use surmise_solve::{Algorithm, BuildError, Form, Limits, Policy, Threads, Tree};

/// So many threads, for games of any size.
fn eager(n: usize, histories: u64) -> Threads {
    Threads { n, histories, rows: 0 }
}

/// Games of the catalogue and random ones, with names.
fn games() -> Vec<(String, Scalar)> {
    let named = [
        "kuhn-poker",
        "leduc-poker",
        "goofspiel",
        "tiger",
        "monty-hall",
        "matching-pennies",
        "liars-dice:sides=4",
        "banker-and-thief:deposits=3",
    ];
    let mut rng = Seed(17).rng();
    let random = (0..4).map(|number| {
        let text = random_game(&mut rng);
        (format!("random game {number}"), Scalar::new(&rules(&text)))
    });
    let three = ("three roles".to_owned(), Scalar::new(&rules(&three_roles())));
    let named = named.iter().map(|spec| ((*spec).to_owned(), game(spec)));
    named.chain(random).chain([three]).collect()
}

/// Three roles bid twice, simultaneously, and see all bids; a role that bids highest alone wins.
fn three_roles() -> String {
    "
    (role ann) (role bob) (role cy) (init (step 1)) (bid 1) (bid 2) (bid 3)
    (<= (legal ?r ?b) (role ?r) (bid ?b))
    (<= (sees ?r (bid ?q ?b)) (role ?r) (does ?q ?b))
    (<= (next (last ?r ?b)) (does ?r ?b))
    (<= (next (step 2)) (true (step 1))) (<= (next (step 3)) (true (step 2)))
    (<= terminal (true (step 3)))
    (more 2 1) (more 3 1) (more 3 2)
    (<= (beaten ?r) (true (last ?r ?b)) (true (last ?q ?c)) (distinct ?r ?q) (not (more ?b ?c)))
    (<= (goal ?r 90) (role ?r) (not (beaten ?r)))
    (<= (goal ?r 20) (beaten ?r) (true (last ?r 1)))
    (<= (goal ?r 0) (beaten ?r) (not (true (last ?r 1))))"
        .to_owned()
}

#[test]
fn trees_are_the_same() {
    for (name, mut sim) in games() {
        let alone = Tree::build(&mut sim, &Limits::default(), &mut |_| {}).unwrap();
        for (n, histories) in [(1, 1), (2, 1), (3, 40), (2, 700), (3, 1)] {
            let shared = Tree::build_on(&eager(n, histories), &mut sim, &Limits::default(), &mut |_| {}).unwrap();
            assert!(shared == alone, "{name}, {n} threads, from {histories} histories");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_alike() {
    for (spec, size) in [
        ("leduc-poker", 9_451),
        ("phantom-tictactoe", 1_000_000),
        ("kuhn-poker", 55),
    ] {
        let mut sim = game(spec);
        for histories in [1, 2, 20, 54, 55, 56, 1_500, 4_001, 9_450, 9_451, 20_000] {
            let limits = Limits {
                histories,
                ..Limits::default()
            };
            let alone = Tree::build(&mut sim, &limits, &mut |_| {});
            assert_eq!(alone.is_ok(), histories >= size, "{spec}");
            for (n, from) in [(2, 1), (3, 300)] {
                let mut told = 0;
                let shared = Tree::build_on(&eager(n, from), &mut sim, &limits, &mut |reached| told = reached);
                assert!(shared == alone, "{spec}, limit {histories}: {:?}", shared.err());
                assert!(
                    histories < 4_000 || told > 0 || size < 1_000,
                    "{spec}, limit {histories}"
                );
            }
        }
    }
}

/// A game without an end and 1,000 moves a round: waiting histories count, or they would fill the memory.
#[test]
fn waiting_histories_are_counted() {
    let digits: String = (0..10).map(|digit| format!("(digit {digit}) ")).collect();
    let endless = format!(
        "(role ann) (init here) {digits} (<= (legal ann (dial ?a ?b ?c)) (digit ?a) (digit ?b) (digit ?c))
         (<= (next here) (true here)) (<= terminal (not (true here))) (<= (goal ann 50) (true here))"
    );
    let limits = Limits {
        histories: 100_000,
        ..Limits::default()
    };
    let refused = Tree::build(&mut Scalar::new(&rules(&endless)), &limits, &mut |_| {});
    let Err(BuildError::TooLarge { reached, rounds, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert!((100_001..102_000).contains(&reached), "{reached}");
    assert!(rounds < 110, "{rounds}");
}

#[test]
fn the_same_error_is_found() {
    // A coin that is not seen decides what may be done, after a choice and three rounds of which nothing is told.
    let unclear = "
        (role ann) (role random) (init (step 1))
        (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
        (<= (legal random ?c) (true (step 1)) (coin ?c)) (coin heads) (coin tails)
        (<= (legal random noop) (not (true (step 1))))
        (<= (legal ann ?c) (true (step 1)) (coin ?c))
        (<= (legal ann ?c) (true (step 2)) (coin ?c))
        (<= (legal ann noop) (true (step 3))) (<= (legal ann noop) (true (step 4)))
        (<= (legal ann pass) (true (step 5)))
        (<= (legal ann shout) (true (step 5)) (true up))
        (<= (next up) (does random heads)) (<= (next up) (true up))
        (<= (next (said ?m)) (does ann ?m)) (<= (next (said ?m)) (true (said ?m)))
        (<= (sees ann nothing) (does ann shout))
        (<= terminal (true (step 6)))
        (goal ann 50)";
    // Only after tails, and there only after the second of two choices, nothing is legal.
    let stuck = unclear.replace(
        "(<= (legal ann shout) (true (step 5)) (true up))",
        "(<= (legal random never) (true (step 6)))",
    );
    let stuck = stuck.replace(
        "(<= (legal random noop) (not (true (step 1))))",
        "(<= (legal random noop) (not (true (step 1))) (not bad))
         (<= bad (true (step 4)) (not (true up)) (true (said tails)))",
    );
    let endless = "
        (role ann) (init on) (<= (legal ann go) (true on)) (<= (legal ann stay) (true on)) (<= (next on) (does ann go))
        (<= (sees ann nothing) (does ann shout))
        (<= terminal (not (true on))) (goal ann 0)";
    for (text, expected) in [
        (unclear, "which moves are legal"),
        (&stuck, "E-NO-MOVE"),
        (endless, "does not end"),
    ] {
        let mut sim = Scalar::new(&rules(text));
        let alone = Tree::build(&mut sim, &Limits::default(), &mut |_| {}).unwrap_err();
        assert!(alone.to_string().contains(expected), "{alone}");
        for (n, from) in [(2, 1), (2, 3), (3, 5), (3, 9)] {
            let shared = Tree::build_on(&eager(n, from), &mut sim, &Limits::default(), &mut |_| {});
            assert_eq!(shared.unwrap_err(), alone, "{n} threads, from {from} histories");
        }
    }
}

#[test]
fn building_can_be_stopped() {
    let mut sim = game("phantom-tictactoe");
    let limits = Limits {
        stop: StopFlag::default(),
        ..Limits::default()
    };
    let stop = limits.stop.clone();
    let mut told = 0;
    let error = Tree::build_on(&eager(2, 1), &mut sim, &limits, &mut |reached| {
        told = reached;
        if reached > 10_000 {
            stop.raise();
        }
    });
    let Err(BuildError::Stopped { reached }) = error else {
        panic!("{error:?}");
    };
    assert!(
        told > 10_000 && (10_000..1_000_000).contains(&reached),
        "{told} {reached}"
    );
}

/// The average after some iterations.
fn average(form: &Form<'_>, algorithm: Algorithm, steps: &[u64]) -> Policy {
    let mut solver = algorithm.solver(form, Seed(1));
    steps.iter().for_each(|&n| solver.iterate(n));
    assert_eq!(solver.iterations(), steps.iter().sum::<u64>());
    solver.average()
}

#[test]
fn iterations_are_the_same() {
    for (name, mut sim) in games() {
        let tree = Tree::build(&mut sim, &Limits::default(), &mut |_| {}).unwrap();
        let alone = Form::new(&tree);
        let shared = [2, 3].map(|n| Form::on(&eager(n, 1), &tree));
        for (algorithm, _) in Algorithm::ALL {
            let expected = average(&alone, algorithm, &[41]);
            for form in &shared {
                assert!(
                    average(form, algorithm, &[1, 10, 30]) == expected,
                    "{name}, {algorithm:?}"
                );
            }
        }
    }
}

#[test]
fn ratings_are_the_same() {
    for (name, mut sim) in games() {
        let tree = Tree::build(&mut sim, &Limits::default(), &mut |_| {}).unwrap();
        let alone = Form::new(&tree);
        let policy = average(&alone, Algorithm::CfrPlus, &[7]);
        for n in [2, 3, 70] {
            let shared = Form::on(&eager(n, 1), &tree);
            assert_eq!(shared.values(&policy), alone.values(&policy), "{name}");
            assert_eq!(shared.nash_conv(&policy), alone.nash_conv(&policy), "{name}");
            for player in 0..tree.players.len() {
                let (mut ours, mut expected) = (policy.clone(), policy.clone());
                let values = (
                    shared.best_response(player, &mut ours),
                    alone.best_response(player, &mut expected),
                );
                assert_eq!(values.0, values.1, "{name}");
                assert!(ours == expected, "{name}");
            }
        }
    }
}
