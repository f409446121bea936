//! The referee with players that behave and players that do not.

use game::{Budget, Cheat, Decision, Fault, Meter, Player, Seed, Simulator, StopFlag, Told};
use ground::Reference;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use surmise_referee::{Clock, Match, Outcome, Record, Seat, Substitution, System, Title, replay};

fn simulator(game: &str) -> Reference {
    let text = catalogue::rules(game).unwrap();
    Reference::new(&gdl::read(&text, &gdl::Options::default()).rules).unwrap()
}

/// Plays what it is told to, in order, and remembers what it was told.
struct Scripted {
    moves: Vec<Result<&'static str, Fault>>,
    heard: Arc<Mutex<Vec<Vec<Told>>>>,
}

impl Scripted {
    fn seat(moves: &[&'static str]) -> (Seat, Arc<Mutex<Vec<Vec<Told>>>>) {
        let heard = Arc::default();
        let player = Scripted {
            moves: moves.iter().map(|&m| Ok(m)).collect(),
            heard: Arc::clone(&heard),
        };
        (Seat::Player(Box::new(player)), heard)
    }
}

impl Player for Scripted {
    fn choose(&mut self, told: &[Told], _: &Budget) -> Result<Decision, Fault> {
        self.heard.lock().unwrap().push(told.to_vec());
        let mv = self.moves.get(told.len()).cloned().unwrap_or(Err(Fault::Stopped))?;
        Ok(Decision::plain(mv))
    }

    fn meter(&self) -> Meter {
        Meter { states: 7, touches: 7 }
    }
}

fn play(sim: &mut Reference, seats: Vec<Seat>, seed: u64) -> Outcome {
    let names = vec!["test".to_owned(); seats.len()];
    let table = Match {
        sim,
        seats,
        names,
        seed: Seed(seed),
        clock: Clock::None,
        max_rounds: 100,
        stop: StopFlag::default(),
        title: Title::default(),
        pause: Duration::ZERO,
        wire: None,
        runtime: Arc::new(System),
    };
    table.play().unwrap()
}

#[test]
fn everybody_is_told_only_their_own() {
    let mut sim = simulator("kuhn-poker");
    let (first, heard_first) = Scripted::seat(&["noop", "bet", "noop"]);
    let (second, heard_second) = Scripted::seat(&["noop", "noop", "fold"]);
    let outcome = play(&mut sim, vec![first, second, Seat::Nature], 3);
    assert_eq!(outcome.record.rounds.len(), 3);
    assert_eq!(outcome.record.goals[..2], [75, 25]);
    let card = |heard: &Arc<Mutex<Vec<Vec<Told>>>>| heard.lock().unwrap()[1][0].sees.clone();
    let dealt = &outcome.record.rounds[0].percepts;
    assert_eq!(
        (card(&heard_first), card(&heard_second)),
        (dealt[0].clone(), dealt[1].clone())
    );
    assert_ne!(dealt[0], dealt[1]);
    assert_eq!(outcome.seats[0].meter.states, 7);
}

#[test]
fn illegal_and_missing_moves_are_replaced_and_recorded() {
    let mut sim = simulator("matching-pennies");
    let (bad, _) = Scripted::seat(&["(show edge)"]);
    let silent = Scripted {
        moves: vec![Err(Fault::Stopped)],
        heard: Arc::default(),
    };
    let outcome = play(&mut sim, vec![bad, Seat::Player(Box::new(silent))], 5);
    let round = &outcome.record.rounds[0];
    assert_eq!(round.submitted[0], "(show edge)");
    assert_eq!(round.substitutions[0], Some(Substitution::Illegal));
    assert_eq!(
        round.substitutions[1],
        Some(Substitution::Missing("stopped".to_owned()))
    );
    assert_eq!((outcome.seats[0].illegal, outcome.seats[1].illegal), (1, 1));
    replay(&outcome.record, &mut sim).unwrap();
}

#[test]
fn the_same_seed_gives_the_same_record_and_it_replays() {
    let mut sim = simulator("monty-hall");
    let run = |sim: &mut Reference, seed| {
        let (seat, _) = Scripted::seat(&["(choose 1)", "noop", "switch"]);
        play(sim, vec![seat, Seat::Nature], seed).record
    };
    let records: Vec<Record> = (0..8).map(|seed| run(&mut sim, seed)).collect();
    assert_eq!(records[3], run(&mut sim, 3));
    assert!(
        records.iter().any(|r| r.states != records[0].states),
        "nature never moves differently"
    );
    for record in records {
        let json = record.to_json();
        assert_eq!(Record::from_json(&json).unwrap(), record);
        replay(&record, &mut sim).unwrap();
        let mut forged = record.clone();
        forged.goals[0] = 100 - forged.goals[0];
        assert!(replay(&forged, &mut sim).unwrap_err().to_string().contains("the goals"));
        let mut forged = record.clone();
        forged.rounds[1].percepts[0].clear();
        assert!(replay(&forged, &mut sim).unwrap_err().to_string().contains("perceives"));
    }
}

/// Switches exactly if that wins.
struct Peeping;

impl Cheat for Peeping {
    fn choose_knowing(&mut self, fluents: &[String], _: &Budget) -> Result<Decision, Fault> {
        let has = |text: &str| fluents.iter().any(|f| f == text);
        let mv = match (has("(step 1)"), has("(step 2)"), has("(car 1)")) {
            (true, _, _) => "(choose 1)",
            (_, true, _) => "noop",
            (_, _, true) => "stay",
            _ => "switch",
        };
        Ok(Decision::plain(mv))
    }

    fn meter(&self) -> Meter {
        Meter::default()
    }
}

#[test]
fn a_cheat_sees_the_state_and_the_record_says_so() {
    let mut sim = simulator("monty-hall");
    for seed in 0..20 {
        let outcome = play(&mut sim, vec![Seat::Cheat(Box::new(Peeping)), Seat::Nature], seed);
        assert_eq!(outcome.record.goals[0], 100);
        assert_eq!(outcome.record.cheats, [true, false]);
    }
}

/// Thinks until it is told to stop.
struct Slow;

impl Player for Slow {
    fn choose(&mut self, _: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        while !budget.stop.is_raised() {
            std::thread::yield_now();
        }
        Ok(Decision::plain("(show heads)"))
    }

    fn meter(&self) -> Meter {
        Meter::default()
    }
}

#[test]
fn the_clock_stops_a_slow_player() {
    let mut sim = simulator("matching-pennies");
    let table = Match {
        sim: &mut sim,
        seats: vec![Seat::Player(Box::new(Slow)), Seat::Player(Box::new(Slow))],
        names: vec!["slow".to_owned(); 2],
        seed: Seed(1),
        clock: Clock::PerMove {
            time: Duration::from_millis(5),
            grace: Duration::from_secs(5),
        },
        max_rounds: 10,
        stop: StopFlag::default(),
        title: Title::default(),
        pause: Duration::ZERO,
        wire: None,
        runtime: Arc::new(System),
    };
    let outcome = table.play().unwrap();
    assert_eq!(outcome.record.rounds.len(), 1);
    assert!(!outcome.record.aborted);
}

/// Answers well after its time, flag or no flag.
struct Stubborn;

impl Player for Stubborn {
    fn choose(&mut self, _: &[Told], _: &Budget) -> Result<Decision, Fault> {
        std::thread::sleep(Duration::from_millis(30));
        Ok(Decision::plain("(show heads)"))
    }

    fn meter(&self) -> Meter {
        Meter::default()
    }
}

#[test]
fn a_late_move_is_counted_and_one_that_is_too_late_is_replaced() {
    for (grace, replaced) in [(Duration::from_secs(600), false), (Duration::ZERO, true)] {
        let mut sim = simulator("matching-pennies");
        let table = Match {
            sim: &mut sim,
            seats: vec![Seat::Player(Box::new(Stubborn)), Seat::Player(Box::new(Stubborn))],
            names: vec!["stubborn".to_owned(); 2],
            seed: Seed(1),
            clock: Clock::PerMove {
                time: Duration::from_millis(5),
                grace,
            },
            max_rounds: 10,
            stop: StopFlag::default(),
            title: Title::default(),
            pause: Duration::ZERO,
            wire: None,
            runtime: Arc::new(System),
        };
        let outcome = table.play().unwrap();
        let round = &outcome.record.rounds[0];
        assert_eq!(outcome.seats[0].late, 1);
        assert_eq!(outcome.seats[0].illegal, 0);
        assert_eq!(round.substitutions[0], replaced.then_some(Substitution::Late));
        let again = Record::from_json(&outcome.record.to_json()).unwrap();
        assert_eq!(again, outcome.record);
    }
}

#[test]
fn a_match_can_be_given_up() {
    let mut sim = simulator("monty-hall");
    let stop = StopFlag::default();
    stop.raise();
    let (seat, _) = Scripted::seat(&[]);
    let table = Match {
        sim: &mut sim as &mut dyn Simulator,
        seats: vec![seat, Seat::Nature],
        names: vec!["a".to_owned(), "nature".to_owned()],
        seed: Seed(1),
        clock: Clock::None,
        max_rounds: 10,
        stop,
        title: Title::default(),
        pause: Duration::ZERO,
        wire: None,
        runtime: Arc::new(System),
    };
    let record = table.play().unwrap().record;
    assert!(record.aborted && record.goals.is_empty());
}

/// Thinks until its stop flag is raised, and says that it has begun.
struct Endless(std::sync::mpsc::Sender<()>);

impl Player for Endless {
    fn choose(&mut self, _: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        let _ = self.0.send(());
        while !budget.stop.is_raised() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(Fault::Stopped)
    }

    fn meter(&self) -> Meter {
        Meter::default()
    }
}

/// A stop ends the player's thinking, with and without a clock, and the round that it cut off is not recorded.
#[test]
fn a_stop_reaches_a_player_that_is_thinking() {
    let hour = Duration::from_secs(3_600);
    let per_move = Clock::PerMove {
        time: hour,
        grace: hour,
    };
    for clock in [Clock::None, per_move] {
        let (begun, thinking) = std::sync::mpsc::channel();
        let mut sim = simulator("matching-pennies");
        let (scripted, _) = Scripted::seat(&["(show heads)"]);
        let seats = vec![scripted, Seat::Player(Box::new(Endless(begun)))];
        let names = vec!["scripted".to_owned(), "endless".to_owned()];
        let table = Match {
            clock,
            ..Match::new(&mut sim, seats, names, Seed(1))
        };
        let stop = table.stop.clone();
        let stopper = std::thread::spawn(move || {
            thinking.recv().unwrap();
            stop.raise();
        });
        let record = table.play().unwrap().record;
        stopper.join().unwrap();
        assert!(record.aborted && record.rounds.is_empty(), "{clock:?}");
    }
}
