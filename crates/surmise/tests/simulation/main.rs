//! The player's server and the manager under a simulated network and clock: hostile schedules from a seed.
//!
//! `SURMISE_SCHEDULES=5000 cargo test -p surmise --test simulation` runs more of them, `SURMISE_SCHEDULE=17` only the
//! one with this seed. A schedule that fails prints its seed.

mod managers;
mod net;
mod nuisance;
mod players;
mod sim;

use managers::{CHARACTERS, Character, Manager, MatchEnd, Scene, Tally, ask};
use net::{NOWHERE, SimListener, SimNetwork, Weather};
use nuisance::nuisance;
use players::{Misfit, ScriptedFactory};
use sim::Sim;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use surmise::game::{Rng, Seed, StopFlag};
use surmise::ggp::{Clocks, Server, ServerHandle, ServerOptions, Variant, message};
use surmise::hosting::MatchHost;
use surmise::referee::{Record, Runtime, replay};
use surmise::{Game, PlayerSpec, WirePlayers};

const GAMES: &[&str] = &["tictactoe", "matching-pennies", "monty-hall", "kuhn-poker"];

fn games() -> &'static [Game] {
    static OPENED: OnceLock<Vec<Game>> = OnceLock::new();
    OPENED.get_or_init(|| GAMES.iter().map(|name| Game::open(name).expect("a game")).collect())
}

/// Panics that nobody wrote into a script.
static PANICS: AtomicUsize = AtomicUsize::new(0);

fn watch_panics() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info.payload().downcast_ref::<&str>() != Some(&"scripted") {
                PANICS.fetch_add(1, Ordering::SeqCst);
                usual(info);
            }
        }));
    });
}

/// A server of ours in the simulated network.
struct OurPlayer {
    port: u16,
    max_matches: usize,
    handle: ServerHandle,
    alive: Arc<AtomicUsize>,
}

fn our_player(sim: &Sim, port: u16, max_matches: usize, seed: Seed) -> OurPlayer {
    let alive = Arc::new(AtomicUsize::new(0));
    let factory = ScriptedFactory {
        sim: sim.clone(),
        inner: WirePlayers::new(None, seed).expect("players"),
        seed,
        alive: alive.clone(),
    };
    let options = ServerOptions {
        bind: ([127, 0, 0, 1], port).into(),
        max_matches,
        ..ServerOptions::default()
    };
    let listener = Arc::new(SimListener::open(sim, port));
    let server = Server::on(listener, Arc::new(sim.clone()), options, Arc::new(factory));
    let handle = server.handle();
    sim.spawn("server", Box::new(move || server.serve())).expect("a thread");
    OurPlayer {
        port,
        max_matches,
        handle,
        alive,
    }
}

fn weather(rng: &mut Rng) -> Weather {
    match rng.below(4) {
        0 | 1 => Weather {
            latency: rng.below(20),
            ..Weather::default()
        },
        2 => Weather {
            latency: 20,
            cuts: rng.below(40),
            refusals: rng.below(10),
        },
        _ => Weather {
            latency: rng.below(900),
            cuts: rng.below(10),
            refusals: 0,
        },
    }
}

/// One schedule: players, managers and others, until all of them are done; then the place has to be as before.
fn schedule(seed: Seed) -> (Tally, u64) {
    let sim = Sim::new(seed);
    let mut rng = seed.child("schedule").rng();
    let scene = Scene {
        sim: sim.clone(),
        faults: Arc::default(),
        games: games(),
        tally: Arc::default(),
    };
    let ours: Vec<OurPlayer> = (1..=1 + rng.below(2) as u16)
        .map(|port| our_player(&sim, port, 1 + rng.below(2), seed.child("player").nth(port.into())))
        .collect();
    let misfits: Vec<Misfit> = (0..rng.below(3) as u16)
        .map(|n| Misfit::open(&sim, 20 + n, seed.child("misfit").nth(n.into())))
        .collect();
    let active = Arc::new(AtomicUsize::new(0));
    for number in 0..2 + rng.below(4) as u64 {
        let actor = actor(&scene, &ours, &misfits, seed.child("actor").nth(number), number);
        let delay = Duration::from_millis(rng.below(20_000) as u64);
        active.fetch_add(1, Ordering::SeqCst);
        let (sim2, active) = (sim.clone(), active.clone());
        let acting = move || {
            sim2.sleep(delay);
            actor();
            active.fetch_sub(1, Ordering::SeqCst);
        };
        sim.spawn("actor", Box::new(acting)).expect("a thread");
    }
    while active.load(Ordering::SeqCst) > 0 {
        sim.sleep(Duration::from_secs(1));
        assert!(
            sim.time() < Duration::from_secs(3_000),
            "somebody never ends: {:?}",
            sim.others()
        );
    }
    aftermath(&scene, &ours, &misfits, seed);
    let (faults, tally) = (
        scene.faults.lock().expect("faults").clone(),
        scene.tally.lock().expect("tally").clone(),
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let world = sim.world();
    assert!(world.panics.is_empty(), "threads panicked: {:?}", world.panics);
    (tally, world.trace)
}

type Acting = Box<dyn FnOnce() + Send>;

fn actor(scene: &Scene, ours: &[OurPlayer], misfits: &[Misfit], seed: Seed, number: u64) -> Acting {
    let mut rng = seed.rng();
    let (scene, port) = (scene.clone(), rng.pick(ours).port);
    match rng.below(10) {
        0 | 1 => Box::new(move || nuisance(&scene, port, rng)),
        2..=4 => {
            let peers: Vec<u16> = ours
                .iter()
                .map(|o| o.port)
                .chain(misfits.iter().map(|m| m.port))
                .collect();
            let heard: Vec<(u16, Arc<Mutex<Vec<String>>>)> =
                misfits.iter().map(|m| (m.port, m.heard.clone())).collect();
            Box::new(move || host(&scene, &peers, &heard, rng, number))
        }
        _ => {
            let weather = weather(&mut rng);
            let manager = Manager {
                net: SimNetwork::new(&scene.sim, weather),
                port,
                id: format!("m{number}"),
                game: rng.below(scene.games.len()),
                character: *rng.pick(CHARACTERS),
                start_clock: rng.below(6) as u64,
                play_clock: rng.below(6) as u64,
                rng,
                must_be_admitted: false,
                // Others want the place too, and a manager on a slow line is silent for long.
                may_lose_its_place: weather.latency > 20,
                scene,
            };
            let manager = Manager {
                may_lose_its_place: manager.may_lose_its_place || manager.character == Character::Patient,
                ..manager
            };
            Box::new(move || {
                manager.run();
            })
        }
    }
}

/// Our own manager, with players of ours, strangers and silent machines.
fn host(scene: &Scene, peers: &[u16], heard: &[(u16, Arc<Mutex<Vec<String>>>)], mut rng: Rng, number: u64) {
    let game = &scene.games[rng.below(scene.games.len())];
    let clocks = Clocks {
        start: 1 + rng.below(4) as u64,
        play: 1 + rng.below(3) as u64,
        grace: Duration::from_secs(1),
    };
    let hidden = surmise::gdl::Information::Hidden == game.information();
    let ports: Vec<u16> = (0..game.seating().played().len())
        .map(|_| match rng.below(12) {
            0 => NOWHERE,
            1 => 99,
            _ => *rng.pick(peers),
        })
        .collect();
    let network = SimNetwork::new(&scene.sim, weather(&mut rng));
    let host = MatchHost {
        game,
        players: ports
            .iter()
            .map(|port| PlayerSpec::parse(&format!("remote:127.0.0.1:{port}")).expect("a player"))
            .collect(),
        variant: match (hidden, rng.below(3)) {
            (false, 0) => Variant::Gdl1,
            (true, 0) => Variant::Gdl2a,
            _ => Variant::Gdl2b,
        },
        clocks,
        scramble: false,
        record: None,
        max_rounds: 100,
        pause: Duration::ZERO,
        stop: StopFlag::default(),
        network: Arc::new(network.clone()),
    };
    let id = format!("h{number}");
    let played = match host.play_as(id.clone(), Seed(number)) {
        Ok(played) => played,
        Err(error) => return scene.fault(format!("{id}: {error}")),
    };
    let record = &played.outcome.record;
    if !record.complete || record.aborted {
        scene.fault(format!("{id}: the match was not played to its end"));
    }
    if let Err(error) = replay(record, game.simulator().as_mut()) {
        scene.fault(format!("{id}: {error}"));
    }
    scene.count(|tally| {
        tally.hosted += 1;
        let rounds = record.rounds.iter();
        tally.substitutions += rounds.flat_map(|r| &r.substitutions).filter(|s| s.is_some()).count() as u64;
    });
    let longest = Duration::from_secs(clocks.play + 1 + 5) + Duration::from_millis(950);
    for took in played.outcome.seats.iter().flat_map(|seat| &seat.times) {
        if *took > longest {
            scene.fault(format!("{id}: a seat was blocked for {took:?}"));
        }
    }
    for (seat, &port) in game.seating().played().iter().zip(&ports) {
        for (_, heard) in heard.iter().filter(|(p, _)| *p == port) {
            let heard = heard.lock().expect("one thread runs at a time").clone();
            // Two seats may have the same player, which hears what either role is told.
            let roles: Vec<usize> = match ports.iter().filter(|p| **p == port).count() {
                1 => vec![*seat],
                _ => game.seating().played().to_vec(),
            };
            check_secrets(scene, &id, record, host.variant, &roles, &heard);
        }
    }
}

/// Everything that a player was told has to be what its role was told, to the letter.
fn check_secrets(scene: &Scene, id: &str, record: &Record, variant: Variant, roles: &[usize], heard: &[String]) {
    let mut allowed = vec![message::abort(id)];
    for &role in roles {
        for turn in 0..=record.rounds.len() {
            let told = record.told(role, turn);
            let last = told.last();
            for word in ["PLAY", "STOP"] {
                allowed.push(match variant {
                    Variant::Gdl1 => message::news_list(
                        word,
                        id,
                        (turn > 0).then(|| record.rounds[turn - 1].moves.clone()).as_deref(),
                    ),
                    Variant::Gdl2a => message::news_list(word, id, last.map(|t| &t.sees[..])),
                    Variant::Gdl2b => message::news_turn(word, id, turn, last.map(|t| (t.own.as_str(), &t.sees[..]))),
                });
            }
        }
    }
    for message in heard
        .iter()
        .filter(|m| m.split_whitespace().nth(1).is_some_and(|w| w == id))
    {
        let start = message.starts_with("(START") && {
            let role = message.split_whitespace().nth(2).unwrap_or_default();
            roles.iter().any(|&r| record.roles[r] == role)
        };
        if !start && !allowed.iter().any(|a| squeezed(a) == squeezed(message)) {
            scene.fault(format!("{id}: a player of {roles:?} was told {message}"));
        }
    }
}

fn squeezed(message: &str) -> String {
    message
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace(" )", ")")
        .replace("( ", "(")
}

/// After everybody is gone: the place is free, a match can be played, and nothing is left behind.
fn aftermath(scene: &Scene, ours: &[OurPlayer], misfits: &[Misfit], seed: Seed) {
    let sim = &scene.sim;
    sim.sleep(Duration::from_secs(90));
    let calm = SimNetwork::new(sim, Weather::default());
    for player in ours {
        let info = ask(&calm, player.port, "(INFO)", Duration::from_secs(5));
        if !info.reply.as_deref().is_some_and(|reply| reply.contains("available")) {
            scene.fault(format!("everybody is gone, and INFO says {:?}", info.reply));
        }
        if player.handle.connections() > 1 {
            scene.fault(format!("{} connections are left", player.handle.connections()));
        }
        let manager = |id: &str, character| Manager {
            scene: scene.clone(),
            net: calm.clone(),
            port: player.port,
            id: id.to_owned(),
            game: (seed.0 % 4) as usize,
            character,
            start_clock: 4,
            play_clock: 2,
            rng: seed.child(id).rng(),
            must_be_admitted: true,
            may_lose_its_place: false,
        };
        // Managers die, and the next one is there at once.
        for heir in ["first", "second", "third"] {
            manager(heir, Character::Mortal).run();
            sim.sleep(Duration::from_millis(seed.child(heir).rng().below(150) as u64));
        }
        if manager("last", Character::Prompt).run() != MatchEnd::Over {
            scene.fault("everybody is gone, and a match is not played".to_owned());
        }
        if player.handle.matches() >= player.max_matches {
            scene.fault("a match that is over keeps its place".to_owned());
        }
        player.handle.stop();
    }
    misfits.iter().for_each(Misfit::stop);
    sim.sleep(Duration::from_secs(60));
    let left = sim.others();
    if !left.is_empty() {
        scene.fault(format!("threads are left: {left:?}"));
    }
    for player in ours {
        let (matches, alive) = (player.handle.matches(), player.alive.load(Ordering::SeqCst));
        if (matches, alive, player.handle.connections()) != (0, 0, 0) {
            scene.fault(format!("{matches} matches, {alive} players, connections are left"));
        }
    }
    let pipes = sim.world().pipes.len();
    if pipes > 0 {
        scene.fault(format!("{pipes} pipes are left"));
    }
}

/// Runs a schedule; a failure names its seed.
fn run(seed: u64) -> (Tally, u64) {
    let ran = catch_unwind(AssertUnwindSafe(|| schedule(Seed(seed))));
    ran.unwrap_or_else(|why| {
        let text = why.downcast_ref::<String>().cloned();
        let text = text
            .or_else(|| why.downcast_ref::<&str>().map(|t| (*t).to_owned()))
            .unwrap_or_default();
        panic!("schedule {seed} (repeat it with SURMISE_SCHEDULE={seed}):\n{text}")
    })
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect(name))
}

#[test]
fn hostile_schedules() {
    watch_panics();
    let seeds = match number("SURMISE_SCHEDULE") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SURMISE_SCHEDULES").unwrap_or(200),
    };
    let (begun, mut total) = (Instant::now(), Tally::default());
    for seed in seeds.clone() {
        let (tally, _) = run(seed);
        total.plays += tally.plays;
        total.matches += tally.matches;
        total.refused += tally.refused;
        total.hosted += tally.hosted;
        total.substitutions += tally.substitutions;
    }
    println!(
        "{} schedules in {:.1} s: {total:?}",
        seeds.end - seeds.start,
        begun.elapsed().as_secs_f64()
    );
    assert_eq!(PANICS.load(Ordering::SeqCst), 0, "something panicked");
    if seeds.end - seeds.start >= 100 {
        // The schedules are not empty.
        assert!(
            total.plays > 500 && total.matches > 100 && total.hosted > 50 && total.substitutions > 50,
            "{total:?}"
        );
    }
}

/// A seed gives the same schedule, decision by decision.
#[test]
fn a_seed_repeats_its_schedule() {
    watch_panics();
    for seed in [3, 14] {
        assert_eq!(run(seed).1, run(seed).1, "seed {seed}");
    }
}
