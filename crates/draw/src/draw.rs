//! From what is known to a picture.

use crate::find::Use;
use crate::layout::{Boards, Layout};
use crate::moves::{PlaneOf, Target, other_role, shifted};
use crate::orient::Pile;
use crate::picture::{Board, Cell, Counter, Fact, Hand, List, Part, Picture, Piece, Place, PlacedMove};
use crate::pieces::Look;
use crate::term::{Atom, Id, words};
use crate::{FullState, Known};
use std::collections::BTreeMap;

impl Layout {
    /// What a seat is shown: drawn from what its role knows, with the moves it may make.
    pub fn seat_picture(&self, known: &Known, legal: &[String]) -> Picture {
        self.picture(known.fluents(), Some(known.role()), legal)
    }

    /// What a referee is shown, or anybody when the game is over.
    pub fn full_picture(&self, state: &FullState, legal: &[String]) -> Picture {
        let fluents = state.fluents().iter().map(|f| (f.clone(), 1.0)).collect();
        self.picture(&fluents, state.mover(), legal)
    }

    fn picture(&self, fluents: &BTreeMap<String, f64>, mover: Option<&str>, legal: &[String]) -> Picture {
        let mut drawing = Drawing::new(self);
        for (text, &p) in fluents {
            drawing.add(text, p);
        }
        let mover = mover.and_then(|name| self.roles.iter().position(|r| r == name));
        let moves = legal.iter().map(|text| drawing.place_move(text, mover)).collect();
        Picture {
            parts: drawing.parts(),
            moves,
        }
    }
}

/// A picture in the making.
struct Drawing<'a> {
    layout: &'a Layout,
    /// Number of the first board of each group.
    first_part: Vec<usize>,
    boards: Vec<Board>,
    /// Where each cell of a board is in its list.
    index: Vec<BTreeMap<Place, usize>>,
    hands: BTreeMap<(usize, Option<Id>), Vec<Piece>>,
    counters: BTreeMap<(usize, Vec<Id>), Vec<Fact>>,
    lists: BTreeMap<String, Vec<Fact>>,
}

impl<'a> Drawing<'a> {
    fn new(layout: &'a Layout) -> Drawing<'a> {
        let mut drawing = Drawing {
            layout,
            first_part: Vec::new(),
            boards: Vec::new(),
            index: Vec::new(),
            hands: BTreeMap::new(),
            counters: BTreeMap::new(),
            lists: BTreeMap::new(),
        };
        for boards in &layout.boards {
            drawing.first_part.push(drawing.boards.len());
            for &plane in &boards.geometry.planes {
                let board = drawing.empty_board(boards, plane);
                drawing.index.push(
                    board
                        .cells
                        .iter()
                        .enumerate()
                        .map(|(n, c)| ((c.row, c.column), n))
                        .collect(),
                );
                drawing.boards.push(board);
            }
        }
        for (&family, counter) in &layout.counters {
            for key in &counter.keys {
                drawing.counters.insert((family, key.clone()), Vec::new());
            }
        }
        drawing
    }

    fn empty_board(&self, boards: &Boards, plane: Option<Id>) -> Board {
        let names = &self.layout.names;
        let family = boards.group.members[0].family;
        let name = self.layout.fluents.list[family].name.clone();
        let role = plane
            .filter(|_| boards.group.by_role)
            .map(|id| names.text(id).to_owned());
        let name = match (plane, &role) {
            (Some(plane), None) => format!("{name} {}", words(names.text(plane))),
            _ => name,
        };
        let cell = |(place, key): (&Place, &Vec<Id>)| Cell {
            row: place.0,
            column: place.1,
            name: key
                .iter()
                .map(|&id| words(names.text(id)))
                .collect::<Vec<_>>()
                .join(" "),
            pieces: Vec::new(),
        };
        Board {
            name,
            shape: boards.geometry.shape,
            role,
            rows: boards.geometry.rows.clone(),
            columns: boards.geometry.columns.clone(),
            cells: boards.geometry.cells.iter().map(cell).collect(),
        }
    }

    fn add(&mut self, text: &str, p: f64) {
        let atom = self.layout.fluents.find(text, &self.layout.names);
        let placed = atom.is_some_and(|atom| self.add_atom(&atom, p));
        if !placed {
            let name = match text.starts_with('(') {
                true => words(text).split(' ').next().unwrap_or_default().to_owned(),
                false => "facts".to_owned(),
            };
            self.lists.entry(name).or_default().push(Fact {
                text: text.to_owned(),
                p,
            });
        }
    }

    /// Whether there is a place for the fluent.
    fn add_atom(&mut self, atom: &Atom, p: f64) -> bool {
        let names = &self.layout.names;
        let joined = |at: &[usize]| {
            at.iter()
                .map(|&a| words(names.text(atom.args[a])))
                .collect::<Vec<_>>()
                .join(" ")
        };
        match &self.layout.uses[atom.family] {
            Use::Pieces { group, member } => self.add_piece(*group, *member, atom, p),
            Use::Hand { role, cards } => {
                let text = joined(cards);
                let glyph = short(&text);
                let card = Piece {
                    text,
                    glyph,
                    role: None,
                    p,
                };
                self.hands
                    .entry((atom.family, role.map(|r| atom.args[r])))
                    .or_default()
                    .push(card);
                true
            }
            Use::Counter { key, value } => {
                let key = key.iter().map(|&k| atom.args[k]).collect();
                let text = joined(value);
                self.counters
                    .entry((atom.family, key))
                    .or_default()
                    .push(Fact { text, p });
                true
            }
            Use::List => false,
        }
    }

    fn add_piece(&mut self, group: usize, member: usize, atom: &Atom, p: f64) -> bool {
        let boards = &self.layout.boards[group];
        let (key, plane) = boards.group.members[member].cell(&atom.args);
        let place = boards.geometry.places.get(&key);
        let number = boards.geometry.planes.iter().position(|p| *p == plane);
        let (Some(place), Some(number)) = (place, number) else {
            return false;
        };
        let piece = (
            member,
            crate::family::pick(&atom.args, &boards.group.members[member].pieces),
        );
        if boards.pieces.blanks.contains(&piece) {
            return true;
        }
        let look = boards
            .pieces
            .looks
            .get(&piece)
            .cloned()
            .unwrap_or_else(|| self.unseen(&piece.1));
        let piece = Piece {
            text: look.text,
            glyph: look.glyph,
            role: look.role.map(|r| self.layout.roles[r].clone()),
            p,
        };
        let board = self.first_part[group] + number;
        let at = self.index[board][place];
        let pieces = &mut self.boards[board].cells[at].pieces;
        let before = pieces.iter().position(|other| other.p < p).unwrap_or(pieces.len());
        match member {
            0 => pieces.insert(before, piece),
            _ => pieces.push(piece),
        }
        true
    }

    /// The look of a piece that no random game has shown.
    fn unseen(&self, args: &[Id]) -> Look {
        let names = &self.layout.names;
        let text = args
            .iter()
            .map(|&id| words(names.text(id)))
            .collect::<Vec<_>>()
            .join(" ");
        Look {
            glyph: short(&text),
            role: self.layout.roles.iter().position(|r| *r == text),
            text,
        }
    }

    fn place_move(&self, text: &str, mover: Option<usize>) -> PlacedMove {
        let mut placed = PlacedMove {
            text: text.to_owned(),
            label: words(text),
            part: None,
            from: None,
            to: None,
        };
        let Some(atom) = self.layout.moves.find(text, &self.layout.names) else {
            return placed;
        };
        let found = self
            .layout
            .targets
            .get(&atom.family)
            .and_then(|target| self.target(target, &atom, mover));
        if let Some((part, from, to)) = found {
            placed.part = Some(part);
            placed.from = from;
            placed.to = Some(to);
        }
        placed
    }

    fn target(&self, target: &Target, mv: &Atom, mover: Option<usize>) -> Option<(usize, Option<Place>, Place)> {
        match target {
            Target::Cells { group, plane, from, to } => {
                let part = self.part(*group, *plane, mv, mover)?;
                let places = &self.layout.boards[*group].geometry.places;
                let place = |slot: &Vec<usize>| places.get(&crate::family::pick(&mv.args, slot)).copied();
                let from = match from {
                    Some(slot) => Some(place(slot)?),
                    None => None,
                };
                Some((part, from, place(to)?))
            }
            Target::Line {
                group,
                plane,
                axis,
                argument,
            } => {
                let part = self.part(*group, *plane, mv, mover)?;
                let to = self.end_of_line(*group, part, *axis, mv.args[*argument])?;
                Some((part, None, to))
            }
            Target::Shifts { group, shifts } => {
                let (piece, shift) = shifts.get(&(mover?, mv.clone()))?;
                let part = self.first_part[*group];
                let look = self.layout.boards[*group].pieces.looks.get(piece)?;
                let is_it = |p: &Piece| p.text == look.text && p.p == 1.0;
                let mut cells = self.boards[part].cells.iter().filter(|c| c.pieces.iter().any(is_it));
                let (Some(cell), None) = (cells.next(), cells.next()) else {
                    return None;
                };
                let to = shifted((cell.row, cell.column), *shift)?;
                self.index[part].contains_key(&to).then_some((part, None, to))
            }
        }
    }

    fn part(&self, group: usize, plane: PlaneOf, mv: &Atom, mover: Option<usize>) -> Option<usize> {
        let boards = &self.layout.boards[group];
        let of_role = |role: usize| {
            let is = |p: &Option<Id>| p.is_some_and(|id| boards.pieces.role_of_plane(id) == Some(role));
            boards.geometry.planes.iter().position(is)
        };
        let number = match plane {
            PlaneOf::Only => Some(0),
            PlaneOf::Argument(at) => boards.geometry.planes.iter().position(|p| *p == Some(mv.args[at])),
            PlaneOf::Mover => of_role(mover?),
            PlaneOf::Other => of_role(other_role(&self.layout.roles, mover?)?),
        };
        Some(self.first_part[group] + number?)
    }

    /// The cell of a line where a piece is put: the first one that is known to be free, else the last of the line.
    fn end_of_line(&self, group: usize, part: usize, axis: usize, value: Id) -> Option<Place> {
        let geometry = &self.layout.boards[group].geometry;
        let orientation = geometry.orientation?;
        let mut line: Vec<Place> = geometry
            .places
            .iter()
            .filter(|(k, _)| k[axis] == value)
            .map(|(_, p)| *p)
            .collect();
        // From the end at which lines fill.
        let along = |p: &Place| if axis == orientation.column { p.0 } else { p.1 };
        line.sort_by_key(along);
        let from_last = match (axis == orientation.column, orientation.piles) {
            (true, Some(pile)) => (pile == Pile::First) == orientation.up,
            _ => false,
        };
        if from_last {
            line.reverse();
        }
        let is_free = |place: &&Place| {
            let cell = &self.boards[part].cells[self.index[part][*place]];
            cell.pieces.iter().all(|piece| piece.p < 1.0)
        };
        line.iter().find(is_free).or(line.last()).copied()
    }

    fn parts(self) -> Vec<Part> {
        let layout = self.layout;
        let names = &layout.names;
        let role_name = |id: Id| Some(names.text(id).to_owned()).filter(|n| layout.roles.contains(n));
        let mut parts: Vec<Part> = self.boards.into_iter().map(Part::Board).collect();
        for ((family, role), cards) in self.hands {
            let name = layout.fluents.list[family].name.clone();
            parts.push(Part::Hand(Hand {
                name,
                role: role.and_then(role_name),
                cards,
            }));
        }
        for ((family, key), mut values) in self.counters {
            values.sort_by(|a, b| b.p.total_cmp(&a.p));
            let role = key.first().copied().and_then(role_name);
            let of = layout.counters.get(&family).and_then(|c| c.of.clone());
            parts.push(Part::Counter(Counter {
                name: layout.fluents.list[family].name.clone(),
                role,
                of,
                values,
            }));
        }
        parts.extend(
            self.lists
                .into_iter()
                .map(|(name, facts)| Part::List(List { name, facts })),
        );
        parts
    }
}

/// A short form of a name.
fn short(text: &str) -> String {
    match text.chars().count() {
        0..=2 => text.to_owned(),
        _ if text.parse::<i64>().is_ok() => text.to_owned(),
        _ => {
            let mut letters = text.chars();
            let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
            format!("{first}{}", letters.next().unwrap_or_default())
        }
    }
}
