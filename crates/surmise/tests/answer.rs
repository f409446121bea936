//! Answers for people: the figures of situations against a walk over all histories, what does not matter, all formats,
//! and the reasons of `explain` against the figures of the tree.

use std::collections::BTreeMap;
use surmise::answer::{Answer, AnswerFormat, Figures, Weight};
use surmise::solve::{Node, Policy, Tree};
use surmise::{ExplainOptions, Game, GameTree, MatchOptions, PlayerSpec, SolveOptions};

fn tree(game: &Game) -> GameTree<'_> {
    game.tree(&SolveOptions::default(), &mut |_| {}).expect("small enough")
}

/// Expected points of all players from a node, and the probabilities and move values of information sets on the way.
struct Walk<'t> {
    tree: &'t Tree,
    policy: &'t Policy,
    arises: Vec<f64>,
    /// By sequence: the probability of the others and nature, and that times the value.
    values: BTreeMap<usize, (f64, f64)>,
}

impl Walk<'_> {
    /// `parts` has the probability of nature, then of each player.
    fn go(&mut self, node: u32, parts: &[f64]) -> Vec<f64> {
        let n = self.tree.players.len();
        let (edges, odds, deciding): (Vec<u32>, Vec<f64>, Option<usize>) = match self.tree.nodes()[node as usize] {
            Node::Terminal(t) => return self.tree.payoffs(t).iter().map(|&g| f64::from(g)).collect(),
            Node::Chance { first, n } => {
                let counts = self.tree.counts(first, n);
                let all: u32 = counts.iter().sum();
                let odds = counts.iter().map(|&c| f64::from(c) / f64::from(all)).collect();
                (self.tree.children(first, n).to_vec(), odds, None)
            }
            Node::Decision { infoset, first } => {
                let set = &self.tree.infosets()[infoset as usize];
                self.arises[infoset as usize] += parts.iter().product::<f64>();
                let odds = self.policy.0[set.sequences()].to_vec();
                (self.tree.children(first, set.n).to_vec(), odds, Some(infoset as usize))
            }
        };
        let mut sum = vec![0.0; n];
        for (edge, (&child, &p)) in edges.iter().zip(&odds).enumerate() {
            let place = deciding.map_or(0, |set| self.tree.infosets()[set].player as usize + 1);
            let mut below = parts.to_vec();
            below[place] *= p;
            let values = self.go(child, &below);
            if let Some(set) = deciding {
                let set = &self.tree.infosets()[set];
                let player = set.player as usize;
                let others: f64 = parts
                    .iter()
                    .enumerate()
                    .filter(|&(at, _)| at != player + 1)
                    .map(|(_, p)| p)
                    .product();
                let entry = self.values.entry(set.first as usize + edge).or_default();
                *entry = (entry.0 + others, entry.1 + others * values[player]);
            }
            sum.iter_mut().zip(values).for_each(|(s, v)| *s += p * v);
        }
        sum
    }
}

#[test]
fn figures_agree_with_a_walk_over_all_histories() {
    for name in [
        "kuhn-poker",
        "goofspiel:cards=3",
        "liars-dice:sides=3",
        "inspection",
        "tiger",
    ] {
        let game = Game::open(name).unwrap();
        let tree = tree(&game);
        let options = SolveOptions::default();
        for solution in [
            tree.solve(&options, &mut |_| {}).unwrap(),
            tree.rate("uniform", &options, &mut |_| {}).unwrap(),
        ] {
            let figures = Figures::new(&solution);
            let mut walk = Walk {
                tree: &tree.tree,
                policy: &solution.policy,
                arises: vec![0.0; tree.tree.infosets().len()],
                values: BTreeMap::new(),
            };
            let certain = vec![1.0; tree.tree.players.len() + 1];
            let values = walk.go(0, &certain);
            for (ours, theirs) in values.iter().zip(&solution.values) {
                assert!((ours - theirs).abs() < 1e-6, "{name}");
            }
            for (ours, theirs) in walk.arises.iter().zip(&figures.arises) {
                assert!((ours - theirs).abs() < 1e-9, "{name}");
            }
            for (&sequence, &(mass, sum)) in walk.values.iter().filter(|(_, (mass, _))| *mass > 1e-6) {
                let ours = figures.values[sequence];
                assert!((ours - sum / mass).abs() < 1e-5, "{name}: {ours} {}", sum / mass);
            }
        }
    }
}

/// The first choice of ann is free, the second decides, the third comes when all is settled.
const CHOICES: &str = "
(role ann) (role bob) (init (step 1)) (succ 1 2) (succ 2 3) (succ 3 4)
(side left) (side right)
(<= (legal ann ?s) (side ?s))
(<= (legal bob ?s) (side ?s) (true (step 2)))
(<= (legal bob wait) (not (true (step 2))))
(<= (sees bob nothing) (does bob wait))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (next same) (true (step 2)) (does ann ?s) (does bob ?s))
(<= (next same) (true same))
(<= terminal (true (step 4)))
(<= (goal ann 100) (true same)) (<= (goal bob 0) (true same))
(<= (goal ann 0) (not (true same))) (<= (goal bob 100) (not (true same)))
";

#[test]
fn what_does_not_matter_is_told_apart() {
    let game = Game::from_rules("choices", CHOICES).unwrap();
    let tree = tree(&game);
    let solution = tree.solve(&SolveOptions::default(), &mut |_| {}).unwrap();
    let answer = Answer::new(&solution);
    let weight = |set: usize| answer.figures.weights[set];
    let rounds = |set: usize| tree.tree.view(&tree.tree.infosets()[set]).len();
    for set in tree.tree.infosets_of(0) {
        // Ann's three rounds: nobody cares; both mix; it is over.
        let expected = [Weight::Free, Weight::Matters, Weight::Settled][rounds(set)];
        let found = weight(set);
        assert!(
            found == expected || found == Weight::Rare,
            "{} {found:?}",
            answer.words(set)
        );
    }
    let text = answer.document(AnswerFormat::Text, 10);
    assert!(
        text.contains("ann: 50.0000 points on average at least, whatever bob does"),
        "{text}"
    );
    assert!(text.contains("In 1 situation, all moves are worth the same"), "{text}");
    assert!(text.contains("the result is settled, whatever anybody does"), "{text}");
}

#[test]
fn situations_come_in_order_and_in_words() {
    let game = Game::open("kuhn-poker").unwrap();
    let tree = tree(&game);
    let solution = tree.solve(&SolveOptions::default(), &mut |_| {}).unwrap();
    let answer = Answer::new(&solution);
    for player in 0..2 {
        let sets = answer.situations(player);
        let arises: Vec<f64> = sets.iter().map(|&set| answer.figures.arises[set]).collect();
        assert!(arises.windows(2).all(|w| w[0] >= w[1]), "{arises:?}");
        for &set in &sets {
            let often: Vec<f64> = answer.moves(set).iter().map(|m| m.frequency).collect();
            assert!(often.windows(2).all(|w| w[0] >= w[1] - 1e-6), "{often:?}");
        }
    }
    let first = answer.situations(0)[0];
    assert!((answer.figures.arises[first] - 1.0 / 3.0).abs() < 1e-9);
    assert!(
        answer.words(first).starts_with("round 1: sees (card "),
        "{}",
        answer.words(first)
    );
    let csv = answer.document(AnswerFormat::Csv, 1);
    assert_eq!(csv.lines().count(), 1 + 24, "every move of every situation");
    assert!(csv.starts_with("role,situation,arises,weight,told,move,frequency,points,less\n"));
    let markdown = answer.document(AnswerFormat::Markdown, 2);
    assert!(
        markdown.contains("more situations matter (--top lists more)"),
        "{markdown}"
    );
    let html = answer.document(AnswerFormat::Html, 2);
    for part in [
        "<svg",
        "prefers-color-scheme",
        "@media print",
        "viewport",
        "that are rarer</summary>",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("http://") || html.matches("http").count() == html.matches("http://www.w3.org").count());
    let json: serde_json::Value = serde_json::from_str(&answer.document(AnswerFormat::Json, 1)).unwrap();
    assert!(json["strategy"][0]["arises"].is_number() && json["strategy"][0]["values"].is_object());
}

#[test]
fn reasons_agree_with_the_tree() {
    let game = Game::open("kuhn-poker").unwrap();
    let tree = tree(&game);
    let solution = tree.solve(&SolveOptions::default(), &mut |_| {}).unwrap();
    let answer = Answer::new(&solution);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kuhn.json");
    std::fs::write(&file, solution.to_json()).unwrap();
    let player = PlayerSpec::parse(&format!("strategy:{}", file.display())).unwrap();
    let options = MatchOptions {
        games: 12,
        ..MatchOptions::default()
    };
    let matches = game.play(&[&player, &player], &options).unwrap();
    let mut compared = 0;
    for played in &matches {
        let record = &played.outcome.record;
        for (role, name) in ["player1", "player2"].iter().enumerate() {
            for round in 1..=record.rounds.len() {
                let told = record.told(role, round - 1);
                let found = tree.tree.infosets_of(role).find(|&set| {
                    let view = tree.tree.view(&tree.tree.infosets()[set]);
                    let id = tree.tree.players[role];
                    view.len() == told.len()
                        && view.iter().zip(&told).all(|(ours, theirs)| {
                            let sees: Vec<&str> = ours.sees.iter().map(|&p| tree.sim.percept_text(id, p)).collect();
                            tree.sim.move_text(id, ours.own) == theirs.own && sees == theirs.sees
                        })
                });
                let Some(set) = found else { continue };
                let explained = game
                    .explain(
                        record,
                        &ExplainOptions {
                            round: Some(round),
                            role: Some((*name).to_owned()),
                            ..ExplainOptions::default()
                        },
                    )
                    .unwrap();
                let reasons = explained.reasons.unwrap();
                assert!(reasons.known && reasons.expected);
                for mv in answer.moves(set) {
                    let theirs = reasons.moves.iter().find(|m| m.mv == mv.mv).unwrap();
                    assert!((theirs.value - mv.value.unwrap()).abs() < 1e-6, "{mv:?} {theirs:?}");
                    assert!((theirs.frequency - mv.frequency).abs() < 1e-6, "{mv:?} {theirs:?}");
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "{compared}");
}

/// The king bets; whoever calls with the queen has to know how often the jack bluffs.
#[test]
fn a_belief_that_would_flip_the_choice_is_found() {
    let game = Game::open("kuhn-poker").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kuhn.json");
    // Player 1 bets the king always and the jack one time in ten; player 2 holds the queen.
    let view = |card: &str| serde_json::json!([{"move": "noop", "sees": [format!("(card {card})")]}]);
    let entry = |card: &str, bet: f64| {
        let policy = serde_json::json!({"bet": bet, "check": 1.0 - bet});
        serde_json::json!({"role": "player1", "view": view(card), "policy": policy})
    };
    let strategy = serde_json::json!({
        "game": "kuhn-poker", "roles": game.roles(),
        "strategy": [entry("jack", 0.1), entry("queen", 0.0), entry("king", 1.0)],
    });
    std::fs::write(&file, strategy.to_string()).unwrap();
    let spec = format!("strategy:{}", file.display());
    let player = PlayerSpec::parse(&spec).unwrap();
    let random = PlayerSpec::parse("random").unwrap();
    let options = MatchOptions {
        games: 60,
        ..MatchOptions::default()
    };
    let matches = game.play(&[&player, &random], &options).unwrap();
    let bet_to_queen = matches.iter().find_map(|m| {
        let record = &m.outcome.record;
        let queen = record.rounds[0].percepts[1] == ["(card queen)"];
        (queen && record.rounds[1].moves[0] == "bet").then_some(record)
    });
    let record = bet_to_queen.expect("a bet against the queen");
    let explained = game
        .explain(
            record,
            &ExplainOptions {
                round: Some(3),
                role: Some("player2".to_owned()),
                player: Some("random".to_owned()),
                others: Some(spec),
                ..ExplainOptions::default()
            },
        )
        .unwrap();
    let reasons = explained.reasons.unwrap();
    // The jack is held by 0.1 / 1.1; calling gets 50 + 50 or 50 - 50, folding 25: it pays from one bluff in four.
    let flip = reasons.flips.first().unwrap_or_else(|| panic!("{reasons:?}"));
    assert!(
        (flip.at - 0.25).abs() < 1e-9 || (flip.at - 0.75).abs() < 1e-9,
        "{flip:?}"
    );
    assert!(
        (flip.now - 0.1 / 1.1).abs() < 1e-9 || (flip.now - 1.0 / 1.1).abs() < 1e-9,
        "{flip:?}"
    );
    assert!((reasons.moves[0].value - 25.0).abs() < 1e-9, "{reasons:?}");
}
