//! A picture as SVG: a stand-alone document, light or dark as the reader's system asks.

use crate::colours::{COLOURS, PALETTE, contrast, named};
use crate::picture::{Board, Cell, Part, Picture, Piece, Place, Shape};
use crate::wording::{clip, escape, percent, said, said_fact};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Options of an SVG.
#[derive(Clone, Debug)]
pub struct SvgOptions {
    /// Title of the image, for screen readers.
    pub title: String,
    /// Whether cells with legal moves are marked, and the other moves listed.
    pub moves: bool,
    /// Names of the roles, which decide the colours of their pieces.
    pub roles: Vec<String>,
}

impl Default for SvgOptions {
    fn default() -> Self {
        SvgOptions {
            title: "Position".to_owned(),
            moves: true,
            roles: Vec::new(),
        }
    }
}

/// Width within which boards stand side by side.
const WIDTH: f64 = 860.0;
const MARGIN: f64 = 14.0;
const LINE: f64 = 20.0;
/// Lines of a list, and moves beside the board, that are printed.
const LINES: usize = 24;

const STYLE: &str = "\
.bg{fill:#fff}.sq{fill:#f4f1ea;stroke:#c9c2b4}.alt{fill:#e9e4d8}.t{fill:#2b2b2b}.m{fill:#77716a}\
.ring{fill:none;stroke:#3a8f5c;stroke-width:2}.edge{stroke:#77716a;stroke-width:.6}.n{fill:#55504a}\
text{font-family:system-ui,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif}\
.c{text-anchor:middle;dominant-baseline:central}\
@media(prefers-color-scheme:dark){.bg{fill:#1b1c1f}.sq{fill:#2b2d31;stroke:#44474d}.alt{fill:#33363b}\
.t{fill:#e8e6e1}.m{fill:#9b978f}.ring{stroke:#6cc08d}.edge{stroke:#a39e96}.n{fill:#c9c5bd}}";

/// A picture as a stand-alone SVG document.
pub fn svg(picture: &Picture, options: &SvgOptions) -> String {
    let mut page = Page {
        out: String::new(),
        roles: roles(picture, options),
        colours: BTreeSet::new(),
        moves: marked(picture, options),
    };
    let mut y = MARGIN;
    let (mut x, mut tallest, mut widest) = (MARGIN, 0.0_f64, 200.0_f64);
    for (number, part) in picture.parts.iter().enumerate() {
        let Part::Board(board) = part else { continue };
        let frame = Frame::of(board);
        if x > MARGIN && x + frame.width > WIDTH {
            (x, y, tallest) = (MARGIN, y + tallest + MARGIN, 0.0);
        }
        page.board(board, number, &frame, x, y);
        x += frame.width + 2.0 * MARGIN;
        widest = widest.max(x);
        tallest = tallest.max(frame.height);
    }
    y += tallest + if tallest > 0.0 { MARGIN } else { 0.0 };
    let widest = widest.max(420.0);
    for part in &picture.parts {
        y = page.aside(part, y, widest);
    }
    if options.moves {
        y = page.buttons(picture, y, widest);
    }
    let (width, height) = (widest.ceil(), (y + MARGIN).ceil());
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}{}</style>\n\
         <rect class=\"bg\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\n",
        escape(&options.title),
        page.role_styles(),
    );
    out.push_str(&page.out);
    out.push_str("</svg>\n");
    out
}

/// Names of the roles: those given, then others that pieces have.
fn roles(picture: &Picture, options: &SvgOptions) -> Vec<String> {
    let mut roles = options.roles.clone();
    let mut add = |role: &Option<String>| {
        if let Some(role) = role
            && !roles.contains(role)
        {
            roles.push(role.clone());
        }
    };
    for part in &picture.parts {
        match part {
            Part::Board(board) => {
                add(&board.role);
                board.cells.iter().flat_map(|c| &c.pieces).for_each(|p| add(&p.role));
            }
            Part::Hand(hand) => add(&hand.role),
            Part::Counter(counter) => add(&counter.role),
            Part::List(_) => {}
        }
    }
    roles
}

/// Cells where a move begins, or ends without a beginning.
fn marked(picture: &Picture, options: &SvgOptions) -> BTreeSet<(usize, Place)> {
    let place = |mv: &crate::PlacedMove| Some((mv.part?, mv.from.or(mv.to)?));
    match options.moves {
        true => picture.moves.iter().filter_map(place).collect(),
        false => BTreeSet::new(),
    }
}

/// Sizes of a board.
struct Frame {
    cell: f64,
    /// Space for labels, at the left and below.
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Frame {
    fn of(board: &Board) -> Frame {
        let (rows, columns) = (board.rows.len() as f64, board.columns.len() as f64);
        let across = columns + if board.shape == Shape::Hex { rows / 2.0 } else { 0.0 };
        let cell = ((WIDTH - 80.0) / across)
            .min(720.0 / rows)
            .clamp(14.0, if columns <= 6.0 { 56.0 } else { 46.0 });
        let longest = board.rows.iter().map(|r| r.chars().count()).max().unwrap_or(0) as f64;
        let left = if longest > 0.0 {
            (longest * 7.0 + 8.0).min(90.0)
        } else {
            2.0
        };
        let (top, bottom) = (
            LINE + 2.0,
            if board.columns.iter().all(String::is_empty) {
                4.0
            } else {
                18.0
            },
        );
        let title = (board.name.chars().count() + board.role.as_ref().map_or(0, |r| r.len() + 3)) as f64 * 7.5;
        Frame {
            cell,
            left,
            top,
            width: (left + across * cell).max(title),
            height: top + rows * cell + bottom,
        }
    }
}

struct Page {
    out: String,
    roles: Vec<String>,
    /// Colours of pieces that are named after one.
    colours: BTreeSet<usize>,
    moves: BTreeSet<(usize, Place)>,
}

impl Page {
    fn role_styles(&self) -> String {
        let mut styles = String::new();
        let mut dark = String::new();
        let mut palette = PALETTE.iter().cycle();
        for (number, role) in self.roles.iter().enumerate() {
            match named(role) {
                Some(at) => styles.push_str(&fixed('r', 'k', number, at)),
                None => {
                    let (light, night) = palette.next().copied().unwrap_or(PALETTE[0]);
                    let _ = write!(styles, ".r{number}{{fill:{light}}}.k{number}{{fill:#fff}}");
                    let _ = write!(dark, ".r{number}{{fill:{night}}}.k{number}{{fill:#1b1c1f}}");
                }
            }
        }
        styles.extend(self.colours.iter().map(|&at| fixed('f', 'g', at, at)));
        format!("{styles}@media(prefers-color-scheme:dark){{{dark}}}")
    }

    /// Classes of a piece and of text on it: those of the colour that its name contains, else those of its role.
    fn classes(&mut self, piece: &Piece) -> Option<(String, String)> {
        if let Some(at) = named(&piece.text) {
            self.colours.insert(at);
            return Some((format!("f{at}"), format!("g{at}")));
        }
        let role = self.role(&piece.role)?;
        Some((format!("r{role}"), format!("k{role}")))
    }

    fn role(&self, role: &Option<String>) -> Option<usize> {
        role.as_ref().and_then(|role| self.roles.iter().position(|r| r == role))
    }

    fn text(&mut self, class: &str, size: f64, x: f64, y: f64, text: &str) {
        let _ = writeln!(
            self.out,
            "<text class=\"{class}\" font-size=\"{size:.0}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
            escape(text)
        );
    }

    fn board(&mut self, board: &Board, number: usize, frame: &Frame, x: f64, y: f64) {
        let title = match &board.role {
            Some(role) => format!("{} · {role}", board.name),
            None => board.name.clone(),
        };
        self.text("m", 13.0, x, y + 13.0, &title);
        let (x, y) = (x + frame.left, y + frame.top);
        let shift = |row: usize| {
            if board.shape == Shape::Hex {
                row as f64 * frame.cell / 2.0
            } else {
                0.0
            }
        };
        for (row, label) in board.rows.iter().enumerate() {
            let (lx, ly) = (x - 8.0 + shift(row), y + (row as f64 + 0.5) * frame.cell + 4.0);
            let _ = writeln!(
                self.out,
                "<text class=\"m\" font-size=\"11\" text-anchor=\"end\" x=\"{lx:.1}\" y=\"{ly:.1}\">{}</text>",
                escape(&clip(label, 12))
            );
        }
        let below = y + board.rows.len() as f64 * frame.cell + 13.0;
        let fit = ((frame.cell / 6.5) as usize).max(2);
        for (column, label) in board.columns.iter().enumerate() {
            let at = x + (column as f64 + 0.5) * frame.cell + shift(board.rows.len().saturating_sub(1));
            self.text("m c", 11.0, at, below - 4.0, &clip(label, fit));
        }
        let unlabelled = board.rows.iter().chain(&board.columns).all(String::is_empty);
        for cell in &board.cells {
            let cx = x + cell.column as f64 * frame.cell + shift(cell.row);
            let cy = y + cell.row as f64 * frame.cell;
            self.cell(board, cell, number, frame.cell, cx, cy);
            if unlabelled {
                self.text(
                    "m",
                    frame.cell * 0.18,
                    cx + 2.0,
                    cy + frame.cell * 0.2,
                    &clip(&cell.name, 8),
                );
            }
        }
    }

    fn cell(&mut self, board: &Board, cell: &Cell, number: usize, size: f64, x: f64, y: f64) {
        let said: Vec<String> = cell.pieces.iter().map(said).collect();
        let _ = write!(self.out, "<g><title>{}", escape(&cell.name));
        if !said.is_empty() {
            let _ = write!(self.out, ": {}", escape(&said.join(", ")));
        }
        let _ = writeln!(self.out, "</title>");
        let class = if (cell.row + cell.column) % 2 == 1 {
            "sq alt"
        } else {
            "sq"
        };
        let outline = outline(board.shape, size, x, y);
        let _ = writeln!(self.out, "<{outline} class=\"{class}\"/>");
        self.shade(cell, &outline);
        self.pieces(cell, size, x, y);
        if self.moves.contains(&(number, (cell.row, cell.column))) {
            let inner = self::outline(board.shape, size - 4.0, x + 2.0, y + 2.0);
            let _ = writeln!(self.out, "<{inner} class=\"ring\"/>");
        }
        self.out.push_str("</g>\n");
    }

    /// The background of a cell is coloured by the likeliest piece that is not certain.
    fn shade(&mut self, cell: &Cell, outline: &str) {
        let uncertain = cell.pieces.iter().filter(|p| p.p < 1.0);
        let Some(most) = uncertain.max_by(|a, b| a.p.total_cmp(&b.p)) else {
            return;
        };
        let class = self.classes(most).map_or("m".to_owned(), |(piece, _)| piece);
        let _ = writeln!(
            self.out,
            "<{outline} class=\"{class}\" fill-opacity=\"{:.2}\"/>",
            0.75 * most.p
        );
    }

    fn pieces(&mut self, cell: &Cell, size: f64, x: f64, y: f64) {
        let certain: Vec<&Piece> = cell.pieces.iter().filter(|p| p.p >= 1.0).collect();
        let open: Vec<&Piece> = cell.pieces.iter().filter(|p| p.p < 1.0).collect();
        match (&certain[..], &open[..]) {
            ([], []) => {}
            ([one], []) => self.piece(one, size, x + size / 2.0, y + size / 2.0),
            ([], many) => self.open_pieces(many, size, x, y),
            ([first, rest @ ..], open) => {
                // The first piece in the middle, the others small at the edge.
                self.piece(first, size * 0.86, x + size / 2.0, y + size * 0.44);
                let others: Vec<&Piece> = rest.iter().chain(open).copied().collect();
                let shown = others.len().min(4);
                for (n, other) in others.iter().take(4).enumerate() {
                    let at = x + size * (n as f64 + 0.5) / shown as f64;
                    self.piece(other, size * 0.42, at, y + size * 0.86);
                }
            }
        }
    }

    /// Pieces that may be on a cell, each with its probability.
    fn open_pieces(&mut self, many: &[&Piece], size: f64, x: f64, y: f64) {
        let shown = many.len().min(4);
        let across = if shown == 1 { 1 } else { 2 };
        let part = size / across as f64;
        for (n, piece) in many.iter().take(4).enumerate() {
            let px = x + ((n % across) as f64 + 0.5) * part;
            let down = if shown <= 2 { size } else { size / 2.0 };
            let py = y + (n / across) as f64 * down + down * 0.4;
            self.text("t c", (part * 0.42).clamp(7.0, 20.0), px, py, &piece.glyph);
            self.text(
                "n c",
                (part * 0.26).clamp(6.0, 11.0),
                px,
                py + down * 0.36,
                &percent(piece.p),
            );
        }
    }

    fn piece(&mut self, piece: &Piece, size: f64, x: f64, y: f64) {
        let letters = piece.glyph.chars().count();
        let font = size
            * if letters <= 1 {
                0.5
            } else if letters == 2 {
                0.4
            } else {
                0.28
            };
        let symbol = letters == 1 && piece.glyph.chars().all(|c| !c.is_alphanumeric());
        let faint = if piece.p < 1.0 {
            format!(" opacity=\"{:.2}\"", 0.3 + 0.6 * piece.p)
        } else {
            String::new()
        };
        let glyph = escape(&clip(&piece.glyph, 5));
        match (self.classes(piece), symbol) {
            (Some((piece, text)), false) => {
                let radius = size * 0.38;
                let _ = writeln!(
                    self.out,
                    "<g{faint}><circle class=\"{piece} edge\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>\
                     <text class=\"{text} c\" font-size=\"{font:.1}\" x=\"{x:.1}\" y=\"{y:.1}\">{glyph}</text></g>"
                );
            }
            (classes, _) => {
                let class = classes.map_or("t".to_owned(), |(piece, _)| format!("{piece} edge"));
                let font = if symbol { size * 0.72 } else { font };
                let _ = writeln!(
                    self.out,
                    "<text class=\"{class} c\"{faint} font-size=\"{font:.1}\" x=\"{x:.1}\" y=\"{y:.1}\">{glyph}</text>"
                );
            }
        }
    }

    /// Hands, counters and lists, below the boards.
    fn aside(&mut self, part: &Part, y: f64, width: f64) -> f64 {
        let with_role = |name: &str, role: &Option<String>| match role {
            Some(role) => format!("{name} · {role}: "),
            None => format!("{name}: "),
        };
        let (name, words): (String, Vec<String>) = match part {
            Part::Board(_) => return y,
            Part::Hand(hand) => (with_role(&hand.name, &hand.role), hand.cards.iter().map(said).collect()),
            Part::Counter(counter) => {
                let of = counter.of.as_ref().map(|of| format!(" of {of}")).unwrap_or_default();
                let values = counter.values.iter().map(|v| format!("{}{of}", said_fact(v))).collect();
                (with_role(&counter.name, &counter.role), values)
            }
            Part::List(list) => (with_role(&list.name, &None), list.facts.iter().map(said_fact).collect()),
        };
        match words.is_empty() {
            true => y,
            false => self.paragraph(&name, &words, y, width),
        }
    }

    fn buttons(&mut self, picture: &Picture, y: f64, width: f64) -> f64 {
        let labels: Vec<String> = picture
            .moves
            .iter()
            .filter(|m| m.part.is_none())
            .map(|m| m.label.clone())
            .collect();
        match labels.is_empty() {
            true => y,
            false => self.paragraph("moves: ", &labels, y, width),
        }
    }

    fn paragraph(&mut self, name: &str, words: &[String], y: f64, width: f64) -> f64 {
        let fit = ((width - 2.0 * MARGIN) / 7.2) as usize;
        let mut lines = vec![name.to_owned()];
        for (n, word) in words.iter().enumerate() {
            let comma = if n + 1 < words.len() { ", " } else { "" };
            let word = format!("{}{comma}", clip(word, fit));
            let last = lines.last_mut().expect("there is a line");
            match last.chars().count() + word.chars().count() <= fit {
                true => last.push_str(&word),
                false => lines.push(word),
            }
        }
        let more = lines.len().saturating_sub(LINES);
        lines.truncate(LINES);
        if more > 0 {
            lines.push(format!("… and {more} more lines"));
        }
        let mut y = y;
        for (n, line) in lines.iter().enumerate() {
            self.text(if n == 0 { "t" } else { "m" }, 13.0, MARGIN, y + 14.0, line);
            y += LINE;
        }
        y
    }
}

/// Styles of a piece and of text on it, in a named colour.
fn fixed(piece: char, text: char, number: usize, colour: usize) -> String {
    let colour = COLOURS[colour].1;
    format!(
        ".{piece}{number}{{fill:{colour}}}.{text}{number}{{fill:{}}}",
        contrast(colour)
    )
}

/// An element without its end: a square, or a hexagon.
fn outline(shape: Shape, size: f64, x: f64, y: f64) -> String {
    match shape {
        Shape::Grid => format!("rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{size:.1}\" height=\"{size:.1}\""),
        Shape::Hex => {
            let (cx, cy, half) = (x + size / 2.0, y + size / 2.0, size / 2.0);
            let tip = size * 2.0 / 3.0;
            let low = size / 3.0;
            let corners = [
                (0.0, -tip),
                (half, -low),
                (half, low),
                (0.0, tip),
                (-half, low),
                (-half, -low),
            ];
            let points: Vec<String> = corners
                .iter()
                .map(|(dx, dy)| format!("{:.1},{:.1}", cx + dx, cy + dy))
                .collect();
            format!("polygon points=\"{}\"", points.join(" "))
        }
    }
}
