//! Players in games of unknown rules; records, views and strategies of known games.

use crate::limits;
use crate::seeds::{KRIEG, KUHN, MONTY};
use serde_json::Value;
use std::path::Path;
use std::sync::LazyLock;
use surmise::belief::SamplerKind;
use surmise::game::{Budget, Player, RoleId, Seed};
use surmise::referee::Record;
use surmise::search::Tabular;
use surmise::solve::Tree;
use surmise::{BeliefOptions, ExplainOptions, Game, GameText, MatchOptions, PlayerSpec, SolveOptions, Strategy};
use surmise::{belief, gdl, referee};

/// Players with little work, of every kind.
const PLAYERS: &[&str] = &[
    "random",
    "legal",
    "hp:2,2",
    "hp:2,2,sampler=hyperplay",
    "hp:2,2,sampler=cached",
    "hp:2,1,sampler=naive",
    "hp2:1,1",
    "ismcts:4",
    "cfr:2,iterations=4",
    "uct:4",
    "mc:1",
    "minimax:1",
    "nested:1",
    "cheat:mc:1",
];

static SPECS: LazyLock<Vec<PlayerSpec>> =
    LazyLock::new(|| PLAYERS.iter().filter_map(|text| PlayerSpec::parse(text).ok()).collect());

/// Looks at the flag in one match.
const LOOKS: u64 = 3_000;

/// Looks at the flag in one belief or explanation.
const FEW_LOOKS: u64 = 100;

/// Opens rules and plays a few rounds with a player that the input chooses.
pub fn players_of_rules(input: &[u8]) {
    let text = GameText::new("fuzz", input);
    let Ok(game) = Game::new(&text, &limits::reference()) else {
        return;
    };
    let chosen = input
        .iter()
        .fold(0_usize, |sum, &b| sum.wrapping_mul(31).wrapping_add(usize::from(b)));
    let player = &SPECS[chosen % SPECS.len()];
    let options = MatchOptions {
        max_rounds: 3,
        stop: limits::looks(LOOKS),
        ..MatchOptions::default()
    };
    let Ok(played) = game.play(&[player], &options) else {
        return;
    };
    let Some(played) = played.first() else { return };
    let record = &played.outcome.record;
    let json = record.to_json();
    let again = Record::from_json(&json).expect("our own record is read back");
    assert_eq!(again.to_json(), json);
    referee_agrees(&again, &game);
}

fn referee_agrees(record: &Record, game: &Game) {
    if let Err(error) = referee::replay(record, game.simulator().as_mut()) {
        let is_limit = matches!(error, referee::RecordError::Fault(_));
        assert!(is_limit, "our own record does not replay: {error}");
    }
}

/// Reads a record, replays it on its own rules and on a known game, and explains a decision of it.
pub fn record(input: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(input) else {
        return;
    };
    let Ok(record) = Record::from_json(&value) else { return };
    assert!(
        Record::from_json(&record.to_json()).is_ok(),
        "a record that was read is written and read again"
    );
    for role in 0..record.roles.len() {
        let _ = record.told(role, record.rounds.len());
    }
    for game in [&*MONTY, &*KUHN, &*KRIEG] {
        let _ = referee::replay(&record, game.simulator().as_mut());
        if game.check_record(&record).is_ok() {
            explain(game, &record);
        }
    }
    if gdl::read(&record.rules, &gdl::Options::default()).is_playable() {
        let text = GameText::new("fuzz", record.rules.as_str());
        if let Ok(game) = Game::new(&text, &limits::reference()) {
            let _ = referee::replay(&record, game.simulator().as_mut());
        }
    }
    let percepts = |role: usize, at: usize| match at.checked_sub(1) {
        Some(round) => Ok(record.rounds[round].percepts[role].clone()),
        None => Ok(Vec::new()),
    };
    let _: Result<_, surmise::game::Fault> = referee::views(&record, true, &record.roles, percepts);
}

fn explain(game: &Game, record: &Record) {
    let options = ExplainOptions {
        player: Some("hp:2,1".to_owned()),
        top: 1,
        ahead: 1,
        stop: limits::looks(FEW_LOOKS),
        ..ExplainOptions::default()
    };
    let _ = game.explain(record, &options);
}

/// What a role can believe after a view, with every sampler.
pub fn view(input: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(input) else {
        return;
    };
    let Some(told) = surmise::told_from_json(&value) else {
        return;
    };
    for game in [&*MONTY, &*KUHN, &*KRIEG] {
        for sampler in [
            SamplerKind::Trellis,
            SamplerKind::Hyperplay,
            SamplerKind::Cached,
            SamplerKind::Naive,
        ] {
            let options = BeliefOptions {
                sampler,
                options: belief::Options {
                    models: 4,
                    ..belief::Options::default()
                },
                seed: 1,
                stop: limits::looks(FEW_LOOKS),
            };
            for role in game.roles() {
                let _ = game.belief(role, &told, &options);
            }
        }
    }
}

static TREE: LazyLock<Tree> = LazyLock::new(|| {
    let tree = KUHN.tree(&SolveOptions::default(), &mut |_| {});
    tree.unwrap_or_else(|error| panic!("{error}")).tree
});

/// Reads a strategy, rates it on the tree of its game, and seats it.
pub fn strategy(input: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(input) else {
        return;
    };
    let Some(strategy) = Strategy::from_json(Path::new("fuzz.json"), &value) else {
        return;
    };
    let mut sim = KUHN.simulator();
    if let Ok((policy, _)) = strategy.policy(&TREE, sim.as_mut()) {
        assert!(policy.0.iter().all(|p| (0.0..=1.0).contains(p)), "{:?}", policy.0);
    }
    for role in (0..KUHN.roles().len()).map(|role| RoleId(role as u16)) {
        let Ok(table) = strategy.table(KUHN.roles(), role) else {
            return;
        };
        if let Ok(mut player) = Tabular::new(KUHN.engine().tools(role, Seed(1)), table) {
            let _ = player.choose(&[], &Budget::until(limits::looks(LOOKS)));
        }
    }
}
