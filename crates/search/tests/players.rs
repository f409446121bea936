//! Players in positions whose best move is known.

use belief::{Options, SamplerKind, Weights};
use game::{Budget, Cheat, Decision, Player, RoleId, Seed, StopFlag, Told};
use ground::Reference;
use surmise_search::{By, Cheater, First, Flat, HyperPlay, Perfect, Random, Tools};

/// On the reference simulator, one playout after the other: what players do for games that do not ground.
fn tools(game: &str, role: u16, seed: u64) -> Tools {
    let text = catalogue::rules(game).unwrap();
    let mut rules = gdl::read(&text, &gdl::Options::default()).rules;
    rules.announce_moves();
    let sim = Reference::new(&rules).unwrap();
    Tools {
        playouts: None,
        sim: Box::new(sim),
        batch: None,
        others: None,
        role: RoleId(role),
        seed: Seed(seed),
    }
}

fn flat(playouts: u64) -> Box<Flat> {
    Box::new(Flat {
        playouts: Some(playouts),
    })
}

fn told(own: &str, sees: &[&str]) -> Told {
    Told {
        own: own.to_owned(),
        sees: sees.iter().map(|s| (*s).to_owned()).collect(),
    }
}

fn budget() -> Budget {
    Budget::until(StopFlag::default())
}

fn value(decision: &Decision, mv: &str) -> f64 {
    decision.candidates.iter().find(|c| c.mv == mv).unwrap().mean
}

/// After choosing door 1 and being shown that door 3 stays closed.
fn monty_hall(sampler: SamplerKind, weights: Weights) -> Decision {
    let options = Options {
        models: 200,
        weights,
        ..Options::default()
    };
    let mut player = HyperPlay::new(tools("monty-hall", 0, 1), sampler, &options, By::Playouts(Some(4))).unwrap();
    let told = [told("(choose 1)", &[]), told("noop", &["(closed 3)"])];
    player.choose(&told, &budget()).unwrap()
}

#[test]
fn playouts_of_models_that_became_one_are_played() {
    for playouts in [1, 2, 65] {
        let options = Options {
            models: 4,
            ..Options::default()
        };
        let by = By::Playouts(Some(playouts));
        let mut player = HyperPlay::new(
            tools("krieg-tictactoe:size=3,line=3", 0, 1),
            SamplerKind::Trellis,
            &options,
            by,
        )
        .unwrap();
        let decision = player.choose(&[], &budget()).unwrap();
        // Only one state is possible at the start, so it gets the playouts of all four models.
        assert!(
            decision.candidates.iter().all(|c| c.visits == 4 * playouts),
            "{decision:?}"
        );
    }
}

#[test]
fn hyperplay_switches_doors() {
    let exact = monty_hall(SamplerKind::Trellis, Weights::Proposal);
    assert_eq!(exact.mv, "switch");
    assert!((value(&exact, "switch") - 200.0 / 3.0).abs() < 1e-9, "{exact:?}");
    assert!((value(&exact, "stay") - 100.0 / 3.0).abs() < 1e-9, "{exact:?}");
    assert!(exact.belief.contains("exact"));
    let sampled = monty_hall(SamplerKind::Hyperplay, Weights::Proposal);
    assert!((value(&sampled, "switch") - 200.0 / 3.0).abs() < 10.0, "{sampled:?}");
}

#[test]
fn without_weights_hyperplay_sees_no_reason_to_switch() {
    let equal = monty_hall(SamplerKind::Hyperplay, Weights::Equal);
    assert!((value(&equal, "switch") - 50.0).abs() < 10.0, "{equal:?}");
}

/// Crosses in (1 1) and (1 2), noughts in (3 1) and (3 2): cross to move wins at (1 3).
const OPENING: [(&str, &str); 4] = [
    ("(mark 1 1)", "noop"),
    ("noop", "(mark 3 1)"),
    ("(mark 1 2)", "noop"),
    ("noop", "(mark 3 2)"),
];

#[test]
fn monte_carlo_takes_a_win() {
    let mut player = Perfect::new(tools("tictactoe", 0, 3), flat(60));
    let told: Vec<Told> = OPENING
        .iter()
        .map(|(x, o)| {
            let announced = [format!("(did xplayer {x})"), format!("(did oplayer {o})")];
            told(x, &[&announced[0], &announced[1]])
        })
        .collect();
    let decision = player.choose(&told, &budget()).unwrap();
    assert_eq!(decision.mv, "(mark 1 3)");
    assert_eq!(decision.candidates[0].mean, 100.0);
    assert!(player.meter().states > 60);
    let again = Perfect::new(tools("tictactoe", 0, 3), flat(60))
        .choose(&told, &budget())
        .unwrap();
    assert_eq!(decision, again, "the same seed decides the same");
}

#[test]
fn a_cheat_sees_the_winning_card() {
    let mut cheat = Cheater::new(tools("kuhn-poker", 1, 1), flat(10));
    let state = [
        "(bet player1)",
        "(control player2)",
        "(holds player1 king)",
        "(holds player2 queen)",
    ];
    let decision = cheat.choose_knowing(&state.map(str::to_owned), &budget()).unwrap();
    assert_eq!(decision.mv, "fold");
}

#[test]
fn plain_players_play_what_is_legal() {
    let told = [told("noop", &["(card queen)"])];
    let mut random = Random::new(tools("kuhn-poker", 0, 5)).unwrap();
    let mv = random.choose(&told, &budget()).unwrap().mv;
    assert!(["bet", "check"].contains(&mv.as_str()), "{mv}");
    let mut first = First::new(tools("kuhn-poker", 0, 5)).unwrap();
    assert_eq!(first.choose(&told, &budget()).unwrap().mv, "bet");
}

#[test]
fn a_percept_that_nothing_explains_is_survived() {
    let mut player = HyperPlay::new(
        tools("monty-hall", 0, 1),
        SamplerKind::Trellis,
        &Options::default(),
        By::Playouts(Some(4)),
    )
    .unwrap();
    let told = [told("(choose 1)", &["(closed 2)"])];
    let decision = player.choose(&told, &budget()).unwrap();
    assert_eq!(decision.mv, "noop");
    assert!(decision.belief.contains("nothing explains"), "{}", decision.belief);
}
