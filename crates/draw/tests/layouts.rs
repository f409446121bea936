//! Layouts of small rules made for the purpose, of the catalogue, and of scrambled rules.

mod support;

use draw::{Board, FullState, Known, Layout, LayoutOptions, Part, Picture, Shape, SvgOptions, svg};
use game::{Fault, RoleId, Seed, Simulator, StopFlag};
use ground::Reference;
use std::collections::BTreeMap;
use surmise_draw as draw;

/// A game with its layout.
struct Drawn {
    sim: Reference,
    layout: Layout,
}

fn drawn(text: &str) -> Drawn {
    let mut rules = gdl::read(text, &gdl::Options::default()).rules;
    rules.announce_moves();
    let mut sim = Reference::new(&rules).unwrap();
    let layout = Layout::new(&rules, &mut sim, &LayoutOptions::default()).unwrap();
    Drawn { sim, layout }
}

/// A position of a random game: fluents, and the legal moves of every role.
struct Position {
    fluents: Vec<String>,
    legal: Vec<Vec<String>>,
}

impl Drawn {
    fn positions(&mut self, games: u64) -> Vec<Position> {
        let mut found = Vec::new();
        for number in 0..games {
            let mut rng = Seed(99).nth(number).rng();
            let mut state = self.sim.initial().unwrap();
            for _ in 0..40 {
                let over = self.sim.terminal(&state).unwrap();
                let (mut joint, mut texts) = (Vec::new(), Vec::new());
                for role in 0..self.sim.roles().len() {
                    let (id, mut legal) = (RoleId(role as u16), Vec::new());
                    if !over {
                        self.sim.legal(&state, id, &mut legal).unwrap();
                        joint.push(legal[rng.below(legal.len())]);
                    }
                    texts.push(legal.iter().map(|&mv| self.sim.move_text(id, mv).to_owned()).collect());
                }
                found.push(Position {
                    fluents: self.sim.fluents(&state),
                    legal: texts,
                });
                if over {
                    break;
                }
                state = self.sim.next(&state, &joint).unwrap();
            }
        }
        found
    }

    fn start(&mut self) -> Position {
        self.positions(1).swap_remove(0)
    }

    fn picture(&self, position: &Position, role: usize) -> Picture {
        let state = FullState::of_referee(position.fluents.clone()).with_mover(&self.layout.roles()[role]);
        self.layout.full_picture(&state, &position.legal[role])
    }
}

fn boards(picture: &Picture) -> Vec<&Board> {
    let parts = picture.parts.iter();
    parts
        .filter_map(|part| match part {
            Part::Board(board) => Some(board),
            _ => None,
        })
        .collect()
}

fn size(board: &Board) -> (usize, usize) {
    (board.rows.len(), board.columns.len())
}

const NOUGHTS: &str = "
(role xplayer) (role oplayer) (line 1) (line 2) (line 3)
(init (control xplayer))
(<= (init (cell ?i ?j b)) (line ?i) (line ?j))
(<= (legal ?p (mark ?i ?j)) (true (control ?p)) (true (cell ?i ?j b)))
(<= (legal ?p noop) (role ?p) (not (true (control ?p))))
(<= (next (cell ?i ?j x)) (does xplayer (mark ?i ?j)))
(<= (next (cell ?i ?j o)) (does oplayer (mark ?i ?j)))
(<= (next (cell ?i ?j ?v)) (true (cell ?i ?j ?v)) (distinct ?v b))
(<= (marked ?i ?j) (does ?p (mark ?i ?j)))
(<= (next (cell ?i ?j b)) (true (cell ?i ?j b)) (not (marked ?i ?j)))
(<= (next (control oplayer)) (true (control xplayer)))
(<= (next (control xplayer)) (true (control oplayer)))
(<= open (true (cell ?i ?j b)))
(<= terminal (not open))
(goal xplayer 50) (goal oplayer 50)";

#[test]
fn a_grid_with_blanks() {
    let mut game = drawn(NOUGHTS);
    let positions = game.positions(1);
    let picture = game.picture(&positions[0], 0);
    let [board] = boards(&picture)[..] else {
        panic!("{picture:?}")
    };
    assert_eq!((size(board), board.cells.len()), ((3, 3), 9));
    assert!(board.cells.iter().all(|c| c.pieces.is_empty()), "blanks are left out");
    assert!(
        picture
            .moves
            .iter()
            .all(|m| m.part == Some(0) && m.to.is_some() && m.from.is_none())
    );
    let places: std::collections::BTreeSet<_> = picture.moves.iter().map(|m| m.to).collect();
    assert_eq!(places.len(), 9, "every move has a cell of its own");
    // After two rounds there is one mark of each player.
    let picture = game.picture(&positions[2], 0);
    let pieces: Vec<_> = boards(&picture)[0].cells.iter().flat_map(|c| &c.pieces).collect();
    let mut seen: Vec<_> = pieces.iter().map(|p| (p.glyph.as_str(), p.role.as_deref())).collect();
    seen.sort();
    assert_eq!(seen, [("○", Some("oplayer")), ("✕", Some("xplayer"))]);
    assert!(
        picture
            .parts
            .iter()
            .any(|p| matches!(p, Part::Counter(c) if c.name == "control" && c.values.len() == 1))
    );
    let noop = game.picture(&positions[0], 1);
    assert_eq!((noop.moves[0].part, noop.moves[0].label.as_str()), (None, "noop"));
}

#[test]
fn a_grid_whose_names_say_nothing() {
    let rules = gdl::read(NOUGHTS, &gdl::Options::default()).rules;
    let mut game = drawn(&support::scramble(&rules));
    let positions = game.positions(1);
    let picture = game.picture(&positions[2], 0);
    let [board] = boards(&picture)[..] else {
        panic!("{picture:?}")
    };
    assert_eq!(size(board), (3, 3));
    let pieces: Vec<_> = board.cells.iter().flat_map(|c| &c.pieces).collect();
    assert_eq!(pieces.len(), 2, "blanks are found by what happens: {pieces:?}");
    assert!(pieces[0].role.is_some() && pieces[0].role != pieces[1].role);
    assert!(picture.moves.iter().all(|m| m.part == Some(0)));
}

#[test]
fn cells_with_one_name_each() {
    let text = "
(role me)
(init (at king a1)) (init (at rook b2))
(square a1) (square a2) (square b1) (square b2) (square c1) (square c2)
(<= (legal me (go ?p ?from ?to)) (true (at ?p ?from)) (square ?to) (not (occupied ?to)))
(<= (occupied ?s) (true (at ?p ?s)))
(<= (next (at ?p ?to)) (does me (go ?p ?from ?to)))
(<= (next (at ?p ?s)) (true (at ?p ?s)) (not (leaves ?p)))
(<= (leaves ?p) (does me (go ?p ?from ?to)))
(<= terminal (true (at king c2)) (true (at rook a1)))
(goal me 100)";
    let mut game = drawn(text);
    let start = game.start();
    let picture = game.picture(&start, 0);
    let [board] = boards(&picture)[..] else {
        panic!("{picture:?}")
    };
    assert_eq!(board.columns, ["a", "b", "c"]);
    assert_eq!(board.rows, ["2", "1"], "numbers beside letters go up");
    let king = board.cells.iter().find(|c| c.name == "a1").unwrap();
    assert_eq!((king.row, king.column, king.pieces[0].glyph.as_str()), (1, 0, "♚"));
    let mv = picture.moves.iter().find(|m| m.text == "(go king a1 c2)").unwrap();
    assert_eq!((mv.from, mv.to), (Some((1, 0)), Some((0, 2))));
}

#[test]
fn hexagons_by_their_neighbours() {
    let text = "
(role red) (role blue)
(n 1) (n 2) (n 3) (n 4) (succ 1 2) (succ 2 3) (succ 3 4)
(init (turn red))
(<= (adjacent ?a ?b ?a ?c) (n ?a) (succ ?b ?c))
(<= (adjacent ?a ?b ?c ?b) (n ?b) (succ ?a ?c))
(<= (adjacent ?a ?b ?c ?d) (succ ?a ?c) (succ ?d ?b))
(<= (legal ?p (put ?a ?b)) (true (turn ?p)) (n ?a) (n ?b) (not (full ?a ?b)))
(<= (legal ?p noop) (role ?p) (not (true (turn ?p))))
(<= (full ?a ?b) (true (stone ?a ?b ?p)))
(<= (next (stone ?a ?b ?p)) (does ?p (put ?a ?b)))
(<= (next (stone ?a ?b ?p)) (true (stone ?a ?b ?p)))
(<= (next (turn blue)) (true (turn red)))
(<= (next (turn red)) (true (turn blue)))
(<= open (n ?a) (n ?b) (not (full ?a ?b)))
(<= touch (adjacent ?a ?b ?c ?d) (true (stone ?a ?b red)) (true (stone ?c ?d blue)))
(<= terminal (not open))
(<= (goal ?p 100) (role ?p) touch)
(<= (goal ?p 0) (role ?p) (not touch))";
    let mut game = drawn(text);
    let start = game.start();
    let picture = game.picture(&start, 0);
    let [board] = boards(&picture)[..] else {
        panic!("{picture:?}")
    };
    assert_eq!((board.shape, size(board), board.cells.len()), (Shape::Hex, (4, 4), 16));
    assert_eq!(picture.moves.iter().filter(|m| m.to.is_some()).count(), 16);
}

#[test]
fn a_board_for_each_role_hands_and_counters() {
    let text = "
(role ann) (role bob) (role random)
(n 1) (n 2) (n 3) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6)
(card ace) (card king) (card jack)
(init (step 1)) (init (holds ann ace)) (init (holds bob king)) (init (holds bob jack))
(<= (legal ?p (hide ?x ?y)) (player ?p) (n ?x) (n ?y) (not (true (mine ?p ?x ?y))))
(player ann) (player bob) (legal random noop)
(<= (next (mine ?p ?x ?y)) (does ?p (hide ?x ?y)))
(<= (next (mine ?p ?x ?y)) (true (mine ?p ?x ?y)))
(<= (next (holds ?p ?c)) (true (holds ?p ?c)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= (sees ?p (step ?n)) (player ?p) (true (step ?n)))
(<= terminal (true (step 6)))
(goal ann 50) (goal bob 50) (goal random 0)";
    let mut game = drawn(text);
    let positions = game.positions(1);
    let picture = game.picture(&positions[3], 1);
    let found = boards(&picture);
    let roles: Vec<_> = found.iter().map(|b| (b.role.as_deref(), size(b))).collect();
    assert_eq!(roles, [(Some("ann"), (3, 3)), (Some("bob"), (3, 3))]);
    let mines: Vec<usize> = found
        .iter()
        .map(|b| b.cells.iter().map(|c| c.pieces.len()).sum())
        .collect();
    assert_eq!(mines, [3, 3]);
    assert!(
        picture.moves.iter().all(|m| m.part == Some(1)),
        "bob hides on bob's board: {:?}",
        picture.moves
    );
    let hands = picture.parts.iter().filter_map(|p| match p {
        Part::Hand(hand) => Some((hand.role.as_deref(), hand.cards.len())),
        _ => None,
    });
    let hands: Vec<_> = hands.collect();
    assert_eq!(hands, [(Some("ann"), 1), (Some("bob"), 2)]);
    let step = picture.parts.iter().find_map(|p| match p {
        Part::Counter(counter) if counter.name == "step" => Some(counter),
        _ => None,
    });
    let step = step.unwrap();
    assert_eq!((step.values[0].text.as_str(), step.of.as_deref()), ("4", Some("6")));
}

#[test]
fn what_is_believed_is_drawn_with_its_probability() {
    let game = drawn(NOUGHTS);
    let fluents: BTreeMap<String, f64> = [
        ("(cell 1 1 x)", 1.0 - 1e-12),
        ("(cell 2 2 o)", 0.25),
        ("(cell 3 3 o)", 0.0),
        ("(cell 1 2 x)", 1.5),
    ]
    .map(|(f, p)| (f.to_owned(), p))
    .into();
    let believed = game.layout.seat_picture(&Known::believed("xplayer", &fluents), &[]);
    let pieces = |picture: &Picture| -> Vec<(String, f64)> {
        let cells = boards(picture)[0].cells.iter();
        cells
            .flat_map(|c| c.pieces.iter().map(|p| (c.name.clone(), p.p)))
            .collect()
    };
    assert_eq!(
        pieces(&believed),
        [
            ("1 1".to_owned(), 1.0),
            ("1 2".to_owned(), 1.0),
            ("2 2".to_owned(), 0.25)
        ]
    );
    let certain = game.layout.seat_picture(&Known::certain("xplayer", &fluents), &[]);
    assert_eq!(pieces(&certain), [("1 1".to_owned(), 1.0), ("1 2".to_owned(), 1.0)]);
    let image = svg(
        &believed,
        &SvgOptions {
            title: "<&\"".to_owned(),
            ..SvgOptions::default()
        },
    );
    assert!(
        image.contains("<title>&lt;&amp;&quot;</title>") && image.contains("25 %"),
        "{image}"
    );
}

#[test]
fn stopping_and_faults_of_rules() {
    let rules = gdl::read(NOUGHTS, &gdl::Options::default()).rules;
    let mut sim = Reference::new(&rules).unwrap();
    let stop = StopFlag::default();
    stop.raise();
    let stopped = Layout::new(
        &rules,
        &mut sim,
        &LayoutOptions {
            stop,
            ..LayoutOptions::default()
        },
    );
    assert!(matches!(stopped, Err(Fault::Stopped)));
    // A game that is over at once, and one in which a role has no move.
    for text in [
        "(role me) (legal me go) terminal (goal me 0)",
        "(role me) (init (a 1)) (<= (legal me go) (true (a 2))) (<= terminal (true (a 3))) (goal me 0)
         (<= (next (a 2)) (true (a 1)))",
    ] {
        let rules = gdl::read(text, &gdl::Options::default()).rules;
        let mut sim = Reference::new(&rules).unwrap();
        let layout = Layout::new(&rules, &mut sim, &LayoutOptions::default()).unwrap();
        let picture = layout.full_picture(&FullState::of_referee(["(other thing)".to_owned()]), &["go".to_owned()]);
        let unknown = picture
            .parts
            .iter()
            .any(|p| matches!(p, Part::List(list) if list.name == "other"));
        assert!(unknown && picture.moves.len() == 1, "{picture:?}");
    }
}

/// Parts of the pictures of a whole state hold every fluent that is no blank once, and every move is there once.
fn check_whole(game: &Drawn, position: &Position, name: &str) {
    for role in 0..position.legal.len() {
        let picture = game.picture(position, role);
        let moves: Vec<&String> = picture.moves.iter().map(|m| &m.text).collect();
        assert!(moves.iter().copied().eq(&position.legal[role]), "{name}: {moves:?}");
        let mut shown = 0;
        for part in &picture.parts {
            match part {
                Part::Board(board) => {
                    let inside = |c: &draw::Cell| c.row < board.rows.len() && c.column < board.columns.len();
                    assert!(board.cells.iter().all(inside), "{name}");
                    shown += board.cells.iter().map(|c| c.pieces.len()).sum::<usize>();
                }
                Part::Hand(hand) => shown += hand.cards.len(),
                Part::Counter(counter) => shown += counter.values.len(),
                Part::List(list) => shown += list.facts.len(),
            }
        }
        let blanks = |f: &&String| [" b)", " blank)", " empty)"].iter().any(|end| f.ends_with(end));
        let least = position.fluents.iter().filter(|f| !blanks(f)).count();
        assert!(
            (least..=position.fluents.len()).contains(&shown),
            "{name}: {shown} of {:?}",
            position.fluents
        );
        for mv in &picture.moves {
            let Some(part) = mv.part else {
                assert!(mv.from.is_none() && mv.to.is_none(), "{name}: {mv:?}");
                continue;
            };
            let Part::Board(board) = &picture.parts[part] else {
                panic!("{name}: {mv:?}")
            };
            let exists = |place: (usize, usize)| board.cells.iter().any(|c| (c.row, c.column) == place);
            assert!(
                mv.to.is_some_and(exists) && mv.from.is_none_or(exists),
                "{name}: {mv:?}"
            );
        }
    }
}

/// Sizes of the largest boards of games of the catalogue, and the first words of moves that are made on them.
const BOARDS: [(&str, (usize, usize), &[&str]); 14] = [
    ("tictactoe", (3, 3), &["mark"]),
    ("krieg-tictactoe", (5, 5), &["mark"]),
    ("krieg-tictactoe:size=4", (4, 4), &["mark"]),
    ("phantom-tictactoe", (3, 3), &["mark"]),
    ("blind-tictactoe", (3, 3), &["mark"]),
    ("biased-blind-tictactoe", (3, 3), &["mark"]),
    ("breakthrough", (8, 8), &["move"]),
    ("blind-breakthrough", (8, 8), &["move"]),
    ("connect-four", (6, 7), &["drop"]),
    ("hidden-connect", (3, 3), &["drop"]),
    ("phantom-connect", (3, 4), &["drop"]),
    ("battleships-in-fog", (3, 3), &["move", "fire"]),
    ("transit", (5, 5), &["moveto"]),
    ("monty-hall", (1, 3), &["choose"]),
];

#[test]
fn the_catalogue_is_drawn_whole() {
    for entry in catalogue::games() {
        let mut game = drawn(&catalogue::rules(entry.name).unwrap());
        for position in game.positions(2).iter().step_by(3) {
            check_whole(&game, position, entry.name);
        }
    }
}

#[test]
fn boards_of_the_catalogue_have_their_sizes_and_moves() {
    for (name, expected, words) in BOARDS {
        let text = catalogue::rules(name).unwrap();
        let rules = gdl::read(&text, &gdl::Options::default()).rules;
        for (text, plain) in [(text, true), (support::scramble(&rules), false)] {
            let mut game = drawn(&text);
            let (mut placed, mut wrong) = (0, Vec::new());
            for position in game.positions(2) {
                for role in 0..position.legal.len() {
                    let picture = game.picture(&position, role);
                    let largest = boards(&picture).into_iter().map(size).max_by_key(|s| s.0 * s.1);
                    assert_eq!(largest, Some(expected), "{name}, plain names: {plain}");
                    for mv in &picture.moves {
                        let is_place = words.iter().any(|w| mv.label.starts_with(&format!("{w} ")));
                        placed += usize::from(mv.part.is_some());
                        if plain && is_place && mv.part.is_none() {
                            wrong.push(mv.label.clone());
                        }
                    }
                }
            }
            assert!(wrong.is_empty(), "{name}: {wrong:?} have no place");
            assert!(placed > 0, "{name}, plain names: {plain}: no move has a place");
        }
    }
}

#[test]
fn the_same_rules_give_the_same_bytes_on_every_engine() {
    for name in ["krieg-tictactoe", "connect-four", "leduc-poker"] {
        let mut rules = gdl::read(&catalogue::rules(name).unwrap(), &gdl::Options::default()).rules;
        rules.announce_moves();
        let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| ()).unwrap();
        let compiled = propnet::compile(&program, &propnet::CompileOptions::default());
        let mut slow = Reference::new(&rules).unwrap();
        let mut fast = propnet::Scalar::new(&compiled);
        let options = LayoutOptions::default();
        let one = Layout::new(&rules, &mut slow, &options).unwrap();
        let two = Layout::new(&rules, &mut fast, &options).unwrap();
        let state = slow.initial().unwrap();
        let state = FullState::of_referee(slow.fluents(&state));
        let image = |layout: &Layout| svg(&layout.full_picture(&state, &[]), &SvgOptions::default());
        assert_eq!(image(&one), image(&two), "{name}");
    }
}
