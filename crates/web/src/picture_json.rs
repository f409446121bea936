//! Pictures as JSON.

use serde::Serialize;
use surmise::draw::{self, Part, Shape};

/// A picture.
#[derive(Clone, Debug, Serialize)]
pub struct PictureJson {
    parts: Vec<PartJson>,
    moves: Vec<MoveJson>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum PartJson {
    Board {
        name: String,
        shape: &'static str,
        role: Option<String>,
        rows: Vec<String>,
        columns: Vec<String>,
        cells: Vec<CellJson>,
    },
    Hand {
        name: String,
        role: Option<String>,
        cards: Vec<PieceJson>,
    },
    Counter {
        name: String,
        role: Option<String>,
        of: Option<String>,
        values: Vec<FactJson>,
    },
    List {
        name: String,
        facts: Vec<FactJson>,
    },
}

#[derive(Clone, Debug, Serialize)]
struct CellJson {
    row: usize,
    column: usize,
    name: String,
    pieces: Vec<PieceJson>,
}

#[derive(Clone, Debug, Serialize)]
struct PieceJson {
    text: String,
    glyph: String,
    role: Option<String>,
    p: f64,
}

#[derive(Clone, Debug, Serialize)]
struct FactJson {
    text: String,
    p: f64,
}

#[derive(Clone, Debug, Serialize)]
struct MoveJson {
    #[serde(rename = "move")]
    text: String,
    label: String,
    part: Option<usize>,
    from: Option<[usize; 2]>,
    to: Option<[usize; 2]>,
}

/// Probabilities have six digits: enough for people, and the same on every machine.
pub fn rounded(p: f64) -> f64 {
    (p * 1e6).round() / 1e6
}

impl From<draw::Picture> for PictureJson {
    fn from(picture: draw::Picture) -> PictureJson {
        PictureJson {
            parts: picture.parts.into_iter().map(part).collect(),
            moves: picture.moves.into_iter().map(placed).collect(),
        }
    }
}

fn part(part: Part) -> PartJson {
    match part {
        Part::Board(board) => PartJson::Board {
            name: board.name,
            shape: match board.shape {
                Shape::Grid => "grid",
                Shape::Hex => "hex",
            },
            role: board.role,
            rows: board.rows,
            columns: board.columns,
            cells: board.cells.into_iter().map(cell).collect(),
        },
        Part::Hand(hand) => PartJson::Hand {
            name: hand.name,
            role: hand.role,
            cards: hand.cards.into_iter().map(piece).collect(),
        },
        Part::Counter(counter) => PartJson::Counter {
            name: counter.name,
            role: counter.role,
            of: counter.of,
            values: counter.values.into_iter().map(fact).collect(),
        },
        Part::List(list) => PartJson::List {
            name: list.name,
            facts: list.facts.into_iter().map(fact).collect(),
        },
    }
}

fn cell(cell: draw::Cell) -> CellJson {
    CellJson {
        row: cell.row,
        column: cell.column,
        name: cell.name,
        pieces: cell.pieces.into_iter().map(piece).collect(),
    }
}

fn piece(piece: draw::Piece) -> PieceJson {
    PieceJson {
        text: piece.text,
        glyph: piece.glyph,
        role: piece.role,
        p: rounded(piece.p),
    }
}

fn fact(fact: draw::Fact) -> FactJson {
    FactJson {
        text: fact.text,
        p: rounded(fact.p),
    }
}

fn placed(placed: draw::PlacedMove) -> MoveJson {
    let pair = |place: Option<(usize, usize)>| place.map(|(row, column)| [row, column]);
    MoveJson {
        text: placed.text,
        label: placed.label,
        part: placed.part,
        from: pair(placed.from),
        to: pair(placed.to),
    }
}
