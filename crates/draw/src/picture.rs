//! A picture as data: parts (boards, hands, counters, lists) and the legal moves with their places.
//!
//! All text is plain text from the rules: whoever puts it into a page or a file escapes it.

/// What a seat or a referee is shown of one state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// Parts, boards first.
    pub parts: Vec<Part>,
    /// Legal moves, in the order in which they were given.
    pub moves: Vec<PlacedMove>,
}

/// One part of a picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A board, a track (a board of one row) or a row of piles.
    Board(Board),
    /// Cards or other things that a role holds.
    Hand(Hand),
    /// A single value: a step, a score, whose turn it is.
    Counter(Counter),
    /// Facts that fit nowhere else.
    List(List),
}

/// Geometry of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Shape {
    /// Squares.
    #[default]
    Grid,
    /// A rhombus of hexagons: every row is moved by half a cell to the right of the row above it.
    Hex,
}

/// A board.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    /// Name of the relation.
    pub name: String,
    /// Geometry.
    pub shape: Shape,
    /// The role whose board it is, if the game has one for each role.
    pub role: Option<String>,
    /// Labels of the rows, top to bottom.
    pub rows: Vec<String>,
    /// Labels of the columns, left to right.
    pub columns: Vec<String>,
    /// The cells that exist, by row and column.
    pub cells: Vec<Cell>,
}

/// A cell of a board.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Row, counted from 0 at the top.
    pub row: usize,
    /// Column, counted from 0 at the left.
    pub column: usize,
    /// Name of the cell in the rules, such as `1 2` or `a1`.
    pub name: String,
    /// Pieces on the cell, blanks left out, likeliest first.
    pub pieces: Vec<Piece>,
}

/// A piece, a card or a mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Name in the rules.
    pub text: String,
    /// Short form.
    pub glyph: String,
    /// The role that the piece belongs to, if there is evidence for one.
    pub role: Option<String>,
    /// Probability; 1 is certain.
    pub p: f64,
}

/// What a role holds, or a set of things that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Hand {
    /// Name of the relation.
    pub name: String,
    /// The role that holds it.
    pub role: Option<String>,
    /// The cards, in the order of the rules.
    pub cards: Vec<Piece>,
}

/// A single value.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// Name of the relation, with its key if it has one.
    pub name: String,
    /// The role that it belongs to.
    pub role: Option<String>,
    /// The last value, where the values are ordered and end.
    pub of: Option<String>,
    /// The value, or the values that it may have; none if the fluent does not hold.
    pub values: Vec<Fact>,
}

/// Facts of one relation.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// Name of the relation.
    pub name: String,
    /// The facts that hold or may hold, in canonical order.
    pub facts: Vec<Fact>,
}

/// A text with a probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Text.
    pub text: String,
    /// Probability; 1 is certain.
    pub p: f64,
}

/// Row and column of a cell.
pub type Place = (usize, usize);

/// A legal move and where it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedMove {
    /// Canonical text of the move.
    pub text: String,
    /// The move for people.
    pub label: String,
    /// The part of the picture on which the move is made; none for a move that is a button.
    pub part: Option<usize>,
    /// The cell where the move starts, if it goes from cell to cell.
    pub from: Option<Place>,
    /// The cell where the move ends; every placed move has one.
    pub to: Option<Place>,
}
