//! Chess of the catalogue against published counts of positions (perft), from the start and from positions that are
//! known to find mistakes in castling, en passant, promotion and pins.
//!
//! Counts: <https://www.chessprogramming.org/Perft_Results>.

use game::{MoveId, RoleId, Simulator, State};
use surmise::engine::{Engine, EngineKind, EngineOptions};

fn simulator() -> Box<dyn Simulator> {
    let text = catalogue::rules("chess").unwrap();
    let rules = gdl::read(&text, &gdl::Options::default()).rules;
    let options = EngineOptions {
        kind: EngineKind::Scalar,
        ..EngineOptions::default()
    };
    Engine::new(&rules, &options).unwrap().simulator()
}

/// Sequences of so many moves.
fn perft(sim: &mut dyn Simulator, state: &State, depth: u32) -> u64 {
    if sim.terminal(state).unwrap() {
        return 0;
    }
    let [white, black] = [0, 1].map(|role| {
        let mut moves = Vec::new();
        sim.legal(state, RoleId(role), &mut moves).unwrap();
        moves
    });
    if depth == 1 {
        return (white.len() * black.len()) as u64;
    }
    let joint = white.iter().flat_map(|&w| black.iter().map(move |&b| [w, b]));
    let joint: Vec<[MoveId; 2]> = joint.collect();
    let mut count = 0;
    for moves in joint {
        let next = sim.next(state, &moves).unwrap();
        count += perft(sim, &next, depth - 1);
    }
    count
}

/// The state of a position in Forsyth–Edwards notation; castling rights become pieces that have not moved.
fn position(sim: &mut dyn Simulator, fen: &str) -> State {
    let parts: Vec<&str> = fen.split(' ').collect();
    let mut fluents = vec!["(ply 1)".to_owned()];
    for (row, text) in parts[0].split('/').enumerate() {
        let mut file = 0;
        for c in text.chars() {
            if let Some(n) = c.to_digit(10) {
                file += n;
                continue;
            }
            let kind = match c.to_ascii_lowercase() {
                'k' => "king",
                'q' => "queen",
                'r' => "rook",
                'b' => "bishop",
                'n' => "knight",
                _ => "pawn",
            };
            let colour = if c.is_ascii_uppercase() { "white" } else { "black" };
            let x = (b'a' + file as u8) as char;
            fluents.push(format!("(cell {x} {} {colour} {kind})", 8 - row));
            file += 1;
        }
    }
    let to_move = if parts[1] == "w" { "white" } else { "black" };
    fluents.push(format!("(control {to_move})"));
    for c in parts[2].chars().filter(|c| *c != '-') {
        let y = if c.is_ascii_uppercase() { 1 } else { 8 };
        let x = if c.eq_ignore_ascii_case(&'k') { 'h' } else { 'a' };
        fluents.extend([format!("(unmoved e {y})"), format!("(unmoved {x} {y})")]);
    }
    fluents.sort_unstable();
    fluents.dedup();
    sim.state_of(&fluents).expect("a state of chess")
}

#[test]
fn perft_of_known_positions() {
    let mut sim = simulator();
    let known: [(&str, &[u64]); 5] = [
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq",
            &[20, 400, 8_902, 197_281],
        ),
        (
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq",
            &[48, 2_039, 97_862],
        ),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w -", &[14, 191, 2_812, 43_238]),
        (
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq",
            &[6, 264, 9_467],
        ),
        (
            "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ",
            &[44, 1_486, 62_379],
        ),
    ];
    for (fen, counts) in known {
        let state = position(sim.as_mut(), fen);
        for (depth, &count) in (1..).zip(counts) {
            assert_eq!(perft(sim.as_mut(), &state, depth), count, "{fen}, {depth} moves");
        }
    }
    assert_eq!(position(sim.as_mut(), known[0].0), sim.initial().unwrap());
}
