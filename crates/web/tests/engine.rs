//! The engine of a table, without HTTP.

use std::sync::Arc;
use std::time::Duration;
use surmise::PlayerSpec;
use surmise::game::{Seed, StopFlag};
use surmise::referee::{Match, Substitution};
use surmise_web::Limits;
use surmise_web::games::{GameShelf, GameSource, TableGame};
use surmise_web::table::{Control, Setup, Sitter, Table, Viewer};

fn open(source: GameSource) -> Arc<TableGame> {
    let shelf = GameShelf::new(Limits::default(), StopFlag::default());
    shelf.open(&source).unwrap_or_else(|error| panic!("{error:?}"))
}

fn catalogue(name: &str) -> Arc<TableGame> {
    open(GameSource::Catalogue(name.to_owned()))
}

fn setup(game: Arc<TableGame>, sitters: Vec<Sitter>, seed: u64) -> Setup {
    Setup {
        game,
        sitters,
        seed,
        clock: None,
        delay: 0,
        think_time: Duration::from_secs(10),
        max_rounds: 100,
    }
}

fn player(text: &str) -> Sitter {
    Sitter::Player(Box::new(PlayerSpec::parse(text).unwrap().into()), None)
}

/// Plays as far as it goes without people.
fn advance(table: &mut Table) {
    loop {
        for thought in table.thoughts() {
            table.accept(thought.think(&StopFlag::default()));
        }
        if !table.is_ready() {
            return;
        }
        table.step().unwrap();
    }
}

#[test]
fn a_table_without_people_plays_the_match_of_the_referee() {
    for (name, players) in [
        ("krieg-tictactoe", ["hp:4,2", "random"]),
        ("kuhn-poker", ["random", "hp:8,4"]),
        ("connect-four", ["uct:50", "random"]),
        ("liars-dice", ["random", "random"]),
    ] {
        let game = catalogue(name);
        let specs = players.map(|text| PlayerSpec::parse(text).unwrap());
        let mut names = players.iter();
        let sitter = |role: usize| match game.game.seating().played().contains(&role) {
            true => names.next().map_or(Sitter::Nature, |text| player(text)),
            false => Sitter::Nature,
        };
        let sitters: Vec<Sitter> = (0..game.game.roles().len()).map(sitter).collect();
        let mut table = Table::new(setup(game.clone(), sitters, 7)).unwrap();
        advance(&mut table);
        assert!(table.record().complete);

        let seating = game.game.seating();
        let seats = seating.seats(0, Seed(7), |player, role, seed| {
            game.game.seat(&specs[player], role, seed)
        });
        let mut sim = game.game.simulator();
        let same = Match {
            title: game.game.title(),
            ..Match::new(sim.as_mut(), seats.unwrap(), seating.names(&players, 0), Seed(7))
        };
        assert_eq!(same.play().unwrap().record, *table.record(), "{name}");
    }
}

/// A box that the rules open or not: the role cannot know which of its moves are legal.
const SECRET_LEGAL: &str = "
    (role me) (role random)
    (init (step 1)) (init (holds a))
    (<= (legal random left) (true (step 1))) (<= (legal random right) (true (step 1)))
    (<= (legal random noop) (not (true (step 1))))
    (<= (legal me wait) (true (step 1)))
    (<= (legal me (open left)) (true (step 2)) (true (key left)))
    (<= (legal me (open right)) (true (step 2)) (true (key right)))
    (<= (next (key ?side)) (does random ?side) (true (step 1)) (distinct ?side noop))
    (<= (next (key ?side)) (true (key ?side)))
    (<= (next (step 2)) (true (step 1))) (<= (next (step 3)) (true (step 2)))
    (<= (next (opened ?side)) (does me (open ?side)))
    (<= (sees random (saw ?m)) (does me ?m))
    (<= terminal (true (step 3)))
    (<= (goal me 100) (true (opened left))) (<= (goal me 0) (not (true (opened left))))
    (<= (goal random 0) (true (step 3)))";

#[test]
fn a_move_that_is_legal_as_far_as_the_seat_knows_is_replaced_and_nothing_else_is_told() {
    let game = open(GameSource::Rules(SECRET_LEGAL.to_owned()));
    let mut outcomes = Vec::new();
    for seed in 0..20 {
        let mut table = Table::new(setup(game.clone(), vec![Sitter::Person, Sitter::Nature], seed)).unwrap();
        advance(&mut table);
        let view = table.view(Viewer::Seat(0), "id", "watch");
        assert_eq!(view.round, 1, "the only move was made");
        assert_eq!(view.legal, ["(open left)", "(open right)"]);
        table.submit(0, "(open left)").unwrap();
        let waiting = serde_json::to_string(&table.view(Viewer::Seat(0), "id", "watch")).unwrap();
        advance(&mut table);
        let record = table.record();
        let replaced = record.rounds[1].substitutions[0] == Some(Substitution::Illegal);
        assert_eq!(record.rounds[1].submitted[0], "(open left)");
        assert_eq!(
            table.view(Viewer::Seat(0), "id", "watch").told[1].mv,
            record.rounds[1].moves[0]
        );
        outcomes.push((replaced, waiting));
    }
    assert!(outcomes.iter().any(|(replaced, _)| *replaced) && outcomes.iter().any(|(replaced, _)| !*replaced));
    // Before the round was played nothing told which it would be.
    assert!(outcomes.iter().all(|(_, waiting)| *waiting == outcomes[0].1));
}

#[test]
fn a_late_person_gets_a_random_move_and_the_record_says_so() {
    let game = catalogue("matching-pennies");
    let mut table = Table::new(setup(game, vec![Sitter::Person, player("random")], 3)).unwrap();
    advance(&mut table);
    let epoch = table.epoch();
    assert!(!table.late(0, epoch + 1), "another question");
    assert!(table.late(0, epoch));
    advance(&mut table);
    assert_eq!(table.record().rounds[0].substitutions[0], Some(Substitution::Late));
    assert!(table.is_over());
}

#[test]
fn undo_is_free_for_a_lone_person_and_needs_consent_where_something_was_revealed() {
    let game = catalogue("krieg-tictactoe");
    let mut table = Table::new(setup(game.clone(), vec![Sitter::Person, player("random")], 1)).unwrap();
    table.submit(0, "(mark 1 1)").unwrap();
    advance(&mut table);
    assert_eq!(table.record().rounds.len(), 1);
    table.take_back(0, true).unwrap();
    assert_eq!(table.record().rounds.len(), 0);
    assert!(table.has_to_move(0));

    let mut table = Table::new(setup(game, vec![Sitter::Person, Sitter::Person], 1)).unwrap();
    table.submit(0, "(mark 1 1)").unwrap();
    // Nobody has seen it yet.
    assert!(!table.view(Viewer::Seat(0), "", "").undo.needs_consent);
    table.take_back(0, true).unwrap();
    table.submit(0, "(mark 1 2)").unwrap();
    table.submit(1, "(mark 3 3)").unwrap();
    advance(&mut table);
    assert_eq!(table.record().rounds.len(), 1);
    let undo = table.view(Viewer::Seat(0), "", "").undo;
    assert!(undo.possible && undo.needs_consent && !undo.asked && !undo.waiting);
    table.take_back(0, true).unwrap();
    assert!(table.view(Viewer::Seat(0), "", "").undo.waiting && table.view(Viewer::Seat(1), "", "").undo.asked);
    table.take_back(1, false).unwrap();
    assert_eq!(table.record().rounds.len(), 1, "the other refused");
    table.take_back(0, true).unwrap();
    table.take_back(1, true).unwrap();
    assert_eq!(table.record().rounds.len(), 0, "the other agreed");
}

/// Two roles move in turn; nothing is perceived but that a round went by.
const BLIND_TURNS: &str = "
    (role a) (role b)
    (init (turn 1)) (succ 1 2) (succ 2 3) (succ 3 4)
    (<= (legal a (pick left)) (true (turn 1))) (<= (legal a (pick right)) (true (turn 1)))
    (<= (legal a noop) (not (true (turn 1))))
    (<= (legal b noop) (true (turn 1)))
    (<= (legal b (pick left)) (not (true (turn 1)))) (<= (legal b (pick right)) (not (true (turn 1))))
    (<= (next (turn ?n)) (true (turn ?m)) (succ ?m ?n))
    (<= (next (picked ?r ?s)) (does ?r (pick ?s))) (<= (next (picked ?r ?s)) (true (picked ?r ?s)))
    (<= (sees a tick) (true (turn ?n))) (<= (sees b tick) (true (turn ?n)))
    (<= terminal (true (turn 3)))
    (<= (goal a 100) (true (picked a left))) (<= (goal a 0) (not (true (picked a left))))
    (<= (goal b 100) (true (picked b left))) (<= (goal b 0) (not (true (picked b left))))";

#[test]
fn undo_is_granted_at_once_while_nothing_was_revealed_to_anyone() {
    let game = open(GameSource::Rules(BLIND_TURNS.to_owned()));
    let mut table = Table::new(setup(game, vec![Sitter::Person, Sitter::Person], 1)).unwrap();
    advance(&mut table);
    table.submit(0, "(pick left)").unwrap();
    advance(&mut table);
    assert_eq!(table.record().rounds.len(), 1, "the other had one move only");
    let undo = table.view(Viewer::Seat(0), "", "").undo;
    assert!(undo.possible && !undo.needs_consent, "{undo:?}");
    table.take_back(0, true).unwrap();
    assert_eq!(table.record().rounds.len(), 0);
    // The other has nothing to take back.
    assert_eq!(table.take_back(1, true).unwrap_err().code, "nothing-to-undo");
}

#[test]
fn cheats_do_not_play_against_people() {
    let game = catalogue("krieg-tictactoe");
    let with = |other| Table::new(setup(game.clone(), vec![player("cheat:4"), other], 1));
    assert_eq!(with(Sitter::Person).err().map(|error| error.code), Some("player"));
    assert!(with(player("random")).is_ok());
}

#[test]
fn watched_tables_stop_and_step() {
    let game = catalogue("krieg-tictactoe");
    let mut table = Table::new(setup(game, vec![player("random"), player("random")], 1)).unwrap();
    table.control(Control::Stop);
    advance(&mut table);
    assert_eq!(table.record().rounds.len(), 0);
    for rounds in 1..3 {
        table.control(Control::Step);
        advance(&mut table);
        assert_eq!(table.record().rounds.len(), rounds);
    }
    table.control(Control::Go);
    advance(&mut table);
    assert!(table.is_over());
    let watched = table.view(Viewer::Watcher, "", "");
    assert!(watched.board.is_some() && watched.goals.is_some());
}
