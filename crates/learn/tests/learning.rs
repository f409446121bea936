//! Training on games with known solutions; interrupted trainings and damaged archives.

use belief::{Options, SamplerKind};
use game::{Budget, Player, RoleId, Seed, Simulator, StopFlag, Told};
use propnet::{CompileOptions, Compiled, Scalar, compile};
use search::{Cfr, CfrOptions, Tools};
use solve::{Form, Limits, Policy, Tree};
use std::sync::Arc;
use surmise_learn::{
    Archive, ArchiveError, Blueprint, Codec, LearnedHorizon, Method, Settings, Shard, Trainer, ViewKey, Worker, softmax,
};

struct Game {
    compiled: Compiled,
    moves: Vec<usize>,
}

impl Game {
    fn of(name: &str) -> Game {
        Game::from_text(&catalogue::rules(name).unwrap())
    }

    fn from_text(text: &str) -> Game {
        let mut rules = gdl::read(text, &gdl::Options::default()).rules;
        rules.announce_moves();
        let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {}).unwrap();
        Game {
            moves: program.moves.iter().map(Vec::len).collect(),
            compiled: compile(&program, &CompileOptions::default()),
        }
    }

    fn sim(&self) -> Box<dyn Simulator> {
        Box::new(Scalar::new(&self.compiled))
    }

    fn codec(&self) -> Codec {
        Codec::new(self.sim().as_mut(), &self.moves).unwrap()
    }

    /// A quick training of so many generations.
    fn train(&self, generations: u64, threads: usize, width: usize) -> Trainer {
        let settings = Settings {
            width: Some(width),
            games: 128,
            batches: 2,
            batch: 32,
            ..Settings::default()
        };
        let mut trainer = Trainer::new(self.codec(), settings);
        self.go_on(&mut trainer, generations, threads);
        trainer
    }

    fn go_on(&self, trainer: &mut Trainer, generations: u64, threads: usize) {
        let mut workers: Vec<Worker> = (0..threads).map(|_| self.worker(1 << 20)).collect();
        self.go_on_with(&mut workers, trainer, generations);
    }

    fn worker(&self, cache_bytes: usize) -> Worker {
        Worker::new(self.sim(), cache_bytes)
    }

    fn go_on_with(&self, workers: &mut [Worker], trainer: &mut Trainer, generations: u64) {
        for _ in 0..generations {
            let loss = trainer
                .generation(workers, &StopFlag::default(), &StopFlag::default())
                .unwrap();
            assert!(loss.is_some(), "nobody stopped it");
        }
    }

    fn tools(&self, role: u16) -> Tools {
        Tools {
            sim: self.sim(),
            batch: None,
            playouts: None,
            others: None,
            role: RoleId(role),
            seed: Seed(1),
        }
    }
}

/// NashConv of a table's average policies, as a share of the range of payoffs.
fn nash_conv(game: &Game, trainer: &Trainer) -> f64 {
    let tree = Tree::build(game.sim().as_mut(), &Limits::default(), &mut |_| {}).unwrap();
    Form::new(&tree).nash_conv(&table_policy(&tree, trainer)) / 100.0
}

/// A table's average policies, for every information set of a game; even where it knows nothing.
fn table_policy(tree: &Tree, trainer: &Trainer) -> Policy {
    let mut policy = Policy::uniform(tree);
    for set in tree.infosets() {
        let role = tree.players[set.player as usize].0 as usize;
        let view = game::View { rounds: tree.view(set) };
        let learned = trainer.table.average(ViewKey::of(role, &view), set.n as usize);
        let Some(learned) = learned else { continue };
        let learned = learned.into_iter().map(f64::from);
        policy.0[set.sequences()]
            .iter_mut()
            .zip(learned)
            .for_each(|(p, l)| *p = l);
    }
    policy
}

#[test]
fn best_answers_without_a_tree_are_those_of_the_tree() {
    for (name, generations) in [("kuhn-poker", 40), ("goofspiel:cards=3", 300)] {
        let game = Game::of(name);
        let trainer = game.train(generations, 2, 8);
        let tree = Tree::build(game.sim().as_mut(), &Limits::default(), &mut |_| {}).unwrap();
        let form = Form::new(&tree);
        let policy = table_policy(&tree, &trainer);
        let horizon = LearnedHorizon::new(Arc::new(Blueprint::of(&trainer)), Some(0));
        for (player, &role) in tree.players.iter().enumerate() {
            let best = form.best_response(player, &mut policy.clone());
            let walk = |ignore| {
                let stop = StopFlag::default();
                horizon.best_response(game.sim().as_mut(), role, ignore, &stop).unwrap()
            };
            let exact = walk(0.0);
            assert!((exact.low - best).abs() < 1e-3, "{name}: {exact:?} {best}");
            assert!((exact.high - best).abs() < 1e-3, "{name}: {exact:?} {best}");
            let rough = walk(0.02);
            assert!(
                rough.low <= best + 1e-3 && best <= rough.high + 1e-3,
                "{name}: {rough:?} {best}"
            );
            assert!(rough.states < exact.states, "{name}: {rough:?} {exact:?}");
        }
    }
}

#[test]
fn beginners_teach_to_make_the_most_of_them() {
    let game = Game::of("kuhn-poker");
    let tree = Tree::build(game.sim().as_mut(), &Limits::default(), &mut |_| {}).unwrap();
    let form = Form::new(&tree);
    // The sum of both roles' payoffs against an opponent that moves at random.
    let against_random = |share: f32| {
        let settings = Settings {
            width: Some(8),
            games: 128,
            beginners: share,
            ..Settings::default()
        };
        let mut trainer = Trainer::new(game.codec(), settings);
        game.go_on(&mut trainer, 600, 2);
        let learned = table_policy(&tree, &trainer);
        let points = (0..2).map(|player| {
            let mut policy = Policy::uniform(&tree);
            let own = tree.infosets().iter().filter(|set| set.player as usize == player);
            own.for_each(|set| policy.0[set.sequences()].copy_from_slice(&learned.0[set.sequences()]));
            form.values(&policy)[player]
        });
        points.sum::<f64>()
    };
    let (few, many) = (against_random(0.0), against_random(0.5));
    assert!(many > few + 1.0, "{few} {many}");
}

#[test]
fn a_generation_that_takes_too_long_keeps_what_was_played() {
    use std::sync::atomic::{AtomicU64, Ordering};
    let game = Game::of("kuhn-poker");
    let mut trainer = game.train(3, 1, 8);
    let (games, generations) = (trainer.games, trainer.generations);
    let asked = AtomicU64::new(0);
    let enough = StopFlag::by(move || asked.fetch_add(1, Ordering::Relaxed) as f64 / 20.0);
    let mut workers = [game.worker(0)];
    let never = StopFlag::default();
    trainer.generation(&mut workers, &never, &enough).unwrap().unwrap();
    assert_eq!(trainer.generations, generations + 1);
    assert_eq!(trainer.games, games + 20, "one game for each time it was asked");
    // It goes on from there, without a gap.
    trainer.generation(&mut workers, &never, &never).unwrap().unwrap();
    assert!(trainer.games > games + 20);
}

#[test]
fn kuhn_poker_is_learned() {
    let game = Game::of("kuhn-poker");
    let trainer = game.train(1_200, 2, 16);
    let gap = nash_conv(&game, &trainer);
    assert!(gap < 0.02, "{gap}");
    // Not because everything is that good here.
    let beginner = nash_conv(&game, &game.train(3, 1, 16));
    assert!(beginner > 0.1, "{beginner}");
}

#[test]
fn the_network_learns_what_the_table_knows() {
    let game = Game::of("scissors-paper-rock");
    let trainer = game.train(1_500, 2, 16);
    assert!(nash_conv(&game, &trainer) < 0.03);
    let initial = game.sim().initial().unwrap();
    let answer = trainer.network.answer(std::iter::once(initial.0.as_slice()));
    for (player, moves) in trainer.codec.moves.iter().enumerate() {
        let all: Vec<u32> = (0..moves.len() as u32).collect();
        let policy = softmax(&answer.logits[player], &all);
        for (mv, known) in [("rock", 0.4), ("paper", 0.4), ("scissors", 0.2)] {
            let at = moves.iter().position(|m| m == mv).unwrap();
            assert!((policy[at] - known).abs() < 0.06, "{moves:?} {policy:?}");
        }
        assert!((answer.values[player] - 0.5).abs() < 0.1, "{:?}", answer.values);
    }
}

#[test]
fn one_role_learns_to_switch() {
    let game = Game::of("monty-hall");
    let trainer = game.train(200, 1, 8);
    let mut sim = game.sim();
    let role = RoleId(0);
    let own = |sim: &mut Box<dyn Simulator>, text: &str| sim.find_move(role, text).unwrap();
    let seen = sim.find_percept(role, "(closed 3)").unwrap();
    let (choose, noop) = (own(&mut sim, "(choose 1)"), own(&mut sim, "noop"));
    let key = ViewKey::start(0).after(choose, &[]).after(noop, &[seen]);
    let policy = trainer.table.average(key, 2).unwrap();
    let (noop, switch) = (noop, own(&mut sim, "switch"));
    let at = usize::from(switch > noop);
    assert!(policy[at] > 0.9, "{policy:?}");
}

#[test]
fn three_roles_learn_something() {
    let text = "(role a) (role b) (role c) (side heads) (side tails) (init ready)
        (<= (legal ?r ?s) (role ?r) (side ?s) (true ready))
        (<= (next (shown ?r ?s)) (does ?r ?s))
        (<= terminal (not (true ready)))
        (<= (goal a 100) (true (shown a heads)))
        (<= (goal a 0) (true (shown a tails)))
        (<= (goal b 70) (true (shown b tails)))
        (<= (goal b 0) (true (shown b heads)))
        (<= (goal c 50) (role c))
        (<= (sees ?r nothing) (does ?r nothing))";
    let game = Game::from_text(text);
    let trainer = game.train(60, 2, 8);
    let policy = |role| trainer.table.average(ViewKey::start(role), 2).unwrap();
    // Moves are in the order of their names: heads, tails.
    assert!(
        policy(0)[0] > 0.95 && policy(1)[1] > 0.95,
        "{:?} {:?}",
        policy(0),
        policy(1)
    );
}

#[test]
fn threads_do_not_matter_and_neither_do_interruptions() {
    let game = Game::of("kuhn-poker");
    let straight = game.train(12, 1, 8).to_archive().to_bytes();
    assert_eq!(straight, game.train(12, 3, 8).to_archive().to_bytes());
    let half = game.train(5, 2, 8).to_archive().to_bytes();
    let half = Archive::from_bytes(&half).unwrap();
    let mut resumed = Trainer::from_archive(&half, &game.codec()).unwrap();
    game.go_on(&mut resumed, 7, 2);
    assert_eq!(straight, resumed.to_archive().to_bytes());
}

/// Shards that went over bytes, played by others and in any order, come to the bytes of a generation.
#[test]
fn shards_of_others_make_no_difference() {
    let game = Game::of("kuhn-poker");
    for method in [Method::Regrets, Method::Paper] {
        let settings = Settings {
            width: Some(16),
            ..Settings::of(method)
        };
        let mut alone = Trainer::new(game.codec(), settings);
        let mut shared = alone.clone();
        let generations = if method == Method::Paper { 2 } else { 12 };
        game.go_on(&mut alone, generations, 2);
        let (mut first, mut second) = (game.worker(0), game.worker(1 << 20));
        for generation in 0..generations {
            // Everybody reads the state from bytes, too.
            let archive = Archive::from_bytes(&shared.to_archive().to_bytes()).unwrap();
            let other = Trainer::from_archive(&archive, &game.codec()).unwrap();
            let mut shards: Vec<Option<Shard>> = (0..shared.shards()).map(|_| None).collect();
            for number in (0..shards.len()).rev() {
                let (trainer, worker) = match (number as u64 + generation) % 3 {
                    0 => (&shared, &mut first),
                    _ => (&other, &mut second),
                };
                let shard = trainer.shard(number, worker, &StopFlag::default()).unwrap();
                shards[number] = Some(Shard::from_bytes(&shard.to_bytes()).unwrap());
            }
            shared.finish_generation(shards.into_iter().flatten().collect());
        }
        assert!(
            alone.to_archive().to_bytes() == shared.to_archive().to_bytes(),
            "{method:?}"
        );
    }
}

#[test]
fn what_workers_remember_makes_no_difference() {
    let games = [
        "kuhn-poker",
        "biased-blind-tictactoe",
        "meier",
        "monty-hall",
        "goofspiel:cards=4",
        "liars-dice",
        "hidden-connect",
        "blind-breakthrough:width=4,height=4",
        "krieg-tictactoe",
    ];
    let settings = Settings {
        width: Some(8),
        games: 48,
        batches: 1,
        batch: 8,
        ..Settings::default()
    };
    for name in games {
        let game = Game::of(name);
        let train = |bytes: usize, threads: usize| {
            let mut workers: Vec<Worker> = (0..threads).map(|_| game.worker(bytes)).collect();
            let mut trainer = Trainer::new(game.codec(), settings.clone());
            game.go_on_with(&mut workers, &mut trainer, 3);
            let used = workers.iter().map(Worker::cache_use).collect::<Vec<_>>();
            assert!(
                used.iter().all(|u| u.bytes <= bytes && u.known <= u.steps),
                "{name}: {used:?}"
            );
            assert_eq!(used.iter().map(|u| u.steps).sum::<u64>(), trainer.states, "{name}");
            (trainer.to_archive().to_bytes(), used)
        };
        let (plain, used) = train(0, 1);
        assert!(used[0].known == 0 && used[0].states == 0, "{name}: {used:?}");
        let (ample, used) = train(64 << 20, 1);
        assert!(plain == ample, "{name}: other bytes with a cache");
        let (all, known) = (used[0].bytes, used[0].known);
        assert!(known > 0, "{name}: {used:?}");
        // Down to caches that are full at once, in some of them states, in some what is seen of steps.
        for share in [2, 3, 5, 10, 30, 100, 1000] {
            let (scant, used) = train(all / share, 1);
            assert!(plain == scant, "{name}: other bytes with a cache of {}", all / share);
            assert!(used[0].known < known, "{name}: {share} {used:?}");
        }
        let (shared, _) = train(all / 3, 3);
        assert!(plain == shared, "{name}: other bytes with a cache on three threads");
    }
}

/// A checksum is no protection: a stranger can compute it too.
#[test]
fn sizes_and_counters_that_an_archive_claims_are_checked() {
    let trainer = Game::of("kuhn-poker").train(2, 1, 8);
    let claims = |field: &str, value: u64| {
        let mut archive = trainer.to_archive();
        archive.about[field] = value.into();
        let archive = Archive::from_bytes(&archive.to_bytes()).unwrap();
        Trainer::from_archive(&archive, &trainer.codec).map(|_| ()).unwrap_err()
    };
    // 60,000 by 60,000 weights would need 14 GB.
    assert!(matches!(claims("width", 60_000), ArchiveError::BadTensor(_)));
    for counter in [
        "games",
        "states",
        "latest",
        "latest_games",
        "generations",
        "steps",
        "next",
    ] {
        assert_eq!(claims(counter, u64::MAX), ArchiveError::BadField(counter));
    }
    assert!(matches!(claims("next", 1 << 40), ArchiveError::Inconsistent(_)));
}

#[test]
fn damaged_and_foreign_checkpoints_are_refused() {
    let game = Game::of("kuhn-poker");
    let trainer = game.train(2, 1, 8);
    let bytes = trainer.to_archive().to_bytes();
    let foreign = |bytes: &[u8]| matches!(Archive::from_bytes(bytes), Err(ArchiveError::NotSafetensors(_)));
    assert!(foreign(b""));
    assert!(foreign(b"this is not a network at all, whatever it is called"));
    assert!(Archive::from_bytes(&bytes[..bytes.len() / 2]).is_err());
    for at in [bytes.len() - 1, bytes.len() / 2, bytes.len() * 3 / 4] {
        let mut changed = bytes.clone();
        changed[at] ^= 0x40;
        assert!(
            matches!(Archive::from_bytes(&changed), Err(ArchiveError::Checksum)),
            "a changed byte at {at} goes unnoticed"
        );
    }
    let archive = Archive::from_bytes(&bytes).unwrap();
    let other = Game::of("scissors-paper-rock").codec();
    let refused = Trainer::from_archive(&archive, &other).unwrap_err();
    assert!(refused.to_string().contains("does not fit this game"), "{refused}");
    // A network is no checkpoint.
    let network = Blueprint::of(&trainer).network_archive(serde_json::Value::Null);
    let refused = Trainer::from_archive(&network, &game.codec()).unwrap_err();
    assert_eq!(refused, ArchiveError::NotACheckpoint);
}

/// What the first player of Kuhn poker does with a card, knowing what it was told; the truth is only there to tell it.
fn decide(
    game: &Game,
    blueprint: &Arc<Blueprint>,
    other_card: &str,
    trusted: Option<u32>,
) -> (Vec<Told>, game::Decision) {
    let mut sim = game.sim();
    let nature = sim.nature().unwrap();
    let start = sim.initial().unwrap();
    let mut legal = Vec::new();
    sim.legal(&start, nature, &mut legal).unwrap();
    let deal = legal.into_iter().find(|&m| {
        let text = sim.move_text(nature, m).to_owned();
        text.contains(&format!("queen {other_card}"))
    });
    let deal = deal.expect("there is such a deal");
    let mut joint = vec![deal; sim.roles().len()];
    for role in (0..joint.len() as u16).map(RoleId).filter(|&r| r != nature) {
        joint[role.0 as usize] = sim.find_move(role, "noop").unwrap();
    }
    let mut sees = Vec::new();
    sim.percepts(&start, &joint, RoleId(0), &mut sees).unwrap();
    let told = vec![Told {
        own: "noop".to_owned(),
        sees: sees
            .iter()
            .map(|&p| sim.percept_text(RoleId(0), p).to_owned())
            .collect(),
    }];
    let horizon = Box::new(LearnedHorizon::new(blueprint.clone(), trusted));
    let options = CfrOptions {
        depth: Some(1),
        ..CfrOptions::default()
    };
    let belief = Options::default();
    let mut player = Cfr::new(game.tools(0), SamplerKind::Trellis, &belief, options, horizon).unwrap();
    let budget = Budget::until(StopFlag::default());
    player.choose(&[], &budget).unwrap();
    let decision = player.choose(&told, &budget).unwrap();
    (told, decision)
}

#[test]
fn in_play_the_true_state_makes_no_difference() {
    let game = Game::of("kuhn-poker");
    let blueprint = Arc::new(Blueprint::of(&game.train(40, 1, 16)));
    for trusted in [None, Some(1)] {
        let (told_jack, against_jack) = decide(&game, &blueprint, "jack", trusted);
        let (told_king, against_king) = decide(&game, &blueprint, "king", trusted);
        assert_eq!(told_jack, told_king, "the view is the same");
        assert_eq!(against_jack, against_king);
        assert_eq!(against_jack.policy.len(), 2, "{against_jack:?}");
    }
}

#[test]
fn blueprints_survive_the_disk() {
    let game = Game::of("kuhn-poker");
    let blueprint = Blueprint::of(&game.train(30, 1, 16));
    let through = |archive: Archive| Archive::from_bytes(&archive.to_bytes()).unwrap();
    let network = through(blueprint.network_archive(serde_json::Value::Null));
    let table = through(blueprint.table_archive());
    let back = Blueprint::from_archives(&network, Some(&table), &game.codec()).unwrap();
    assert_eq!(back.known_views(), blueprint.known_views());
    let (_, before) = decide(&game, &Arc::new(blueprint), "jack", Some(1));
    let (_, after) = decide(&game, &Arc::new(back), "jack", Some(1));
    assert_eq!(before, after);
    let other = Game::of("leduc-poker").codec();
    assert!(Blueprint::from_archives(&network, Some(&table), &other).is_err());
}
