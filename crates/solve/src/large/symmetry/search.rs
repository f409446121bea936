//! The search for renamings under which a state graph goes over into itself.
//!
//! States, moves and sets of percepts get colours, which no renaming changes: hashes of what follows a state, and of
//! where a move or a set of percepts occurs. Then the graph is walked from the initial state and compared with itself.
//! Where a move or an outcome has several candidates of its colour, all of them are tried, one after the other
//! (backtracking in the manner of McKay and Piperno, *Practical Graph Isomorphism II*, 2014, without their pruning by
//! automorphisms). A renaming counts only if the walk has come through the whole graph, so that colours cannot be
//! wrong, only useless.

use super::super::graph::{Edge, StateGraph};
use super::{Alphabet, Group, MOST, Renaming};
use game::StopFlag;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

const NOTHING: u32 = u32::MAX;

/// Joint moves that are compared at least before the search ends, and times the graph is walked.
const LEAST_WORK: usize = 2_000_000;
const WALKS: usize = 24;

/// Generators of the symmetries of a graph: as many as were found with bounded work.
pub(in super::super) fn renamings(graph: &StateGraph, alphabet: &Alphabet, stop: &StopFlag) -> Vec<Renaming> {
    let mut search = Search {
        graph,
        alphabet,
        colours: Colours::of(graph, alphabet),
        map: vec![NOTHING; alphabet.len],
        used: vec![false; alphabet.len],
        states: vec![NOTHING; graph.states.len()],
        taken: vec![false; graph.states.len()],
        queue: Vec::new(),
        work: LEAST_WORK.max(WALKS * graph.edges.len()),
    };
    let mut found: Vec<Renaming> = Vec::new();
    let mut elements = 1;
    // Decisions that remain to be tried, as paths of numbers of candidates; the nearest to the identity first.
    let mut paths = vec![Vec::new()];
    while let Some(path) = paths.pop() {
        if stop.is_raised() {
            break;
        }
        match search.walk(&path) {
            Walk::Dead => {}
            Walk::Spent => break,
            Walk::Open(n) => paths.extend((0..n).rev().map(|c| [path.as_slice(), &[c]].concat())),
            Walk::Complete => {
                found.push(search.renaming());
                let group = Group::generated(alphabet.len, &found);
                if !group.elements.contains(&found[found.len() - 1]) {
                    // It would have made the group too large, as others would.
                    found.pop();
                    break;
                }
                if group.len() == elements {
                    found.pop();
                }
                elements = group.len();
                if elements == MOST {
                    break;
                }
            }
        }
    }
    found
}

/// Where a walk ended.
enum Walk {
    /// Everything fits.
    Complete,
    /// Something does not fit.
    Dead,
    /// So many candidates have to be tried.
    Open(u16),
    /// There was too much to compare.
    Spent,
}

struct Search<'a> {
    graph: &'a StateGraph,
    alphabet: &'a Alphabet,
    colours: Colours,
    /// The renaming so far, and what is an image already.
    map: Vec<u32>,
    used: Vec<bool>,
    states: Vec<u32>,
    taken: Vec<bool>,
    queue: Vec<u32>,
    /// Joint moves that may still be compared.
    work: usize,
}

/// Picks candidates by the decisions of a path.
struct Decisions<'p> {
    path: &'p [u16],
    next: usize,
}

impl Decisions<'_> {
    fn pick(&mut self, candidates: &[u32]) -> Result<u32, Walk> {
        match candidates {
            [] => Err(Walk::Dead),
            [only] => Ok(*only),
            several => match self.path.get(self.next) {
                Some(&n) => {
                    self.next += 1;
                    Ok(several[usize::from(n)])
                }
                None => Err(Walk::Open(several.len().min(usize::from(u16::MAX)) as u16)),
            },
        }
    }
}

impl Search<'_> {
    fn renaming(&self) -> Renaming {
        // What occurs nowhere keeps its name.
        self.map
            .iter()
            .zip(0..)
            .map(|(&to, from)| if to == NOTHING { from } else { to })
            .collect()
    }

    /// Walks the graph with the decisions of a path.
    fn walk(&mut self, path: &[u16]) -> Walk {
        for state in self.queue.drain(..) {
            let image = self.states[state as usize];
            self.taken[image as usize] = false;
            self.states[state as usize] = NOTHING;
        }
        self.map.fill(NOTHING);
        self.used.fill(false);
        // Silence stays silence.
        for nothing in self.alphabet.percepts {
            self.assign(nothing, nothing);
        }
        let initial = self.graph.initial;
        self.send(initial, initial);
        let mut decisions = Decisions { path, next: 0 };
        let mut at = 0;
        while at < self.queue.len() {
            let state = self.queue[at];
            if let Err(end) = self.compare(state, self.states[state as usize], &mut decisions) {
                return end;
            }
            at += 1;
        }
        Walk::Complete
    }

    fn assign(&mut self, from: u32, to: u32) {
        self.map[from as usize] = to;
        self.used[to as usize] = true;
    }

    fn send(&mut self, from: u32, to: u32) {
        self.states[from as usize] = to;
        self.taken[to as usize] = true;
        self.queue.push(from);
    }

    /// Whether a move or set of percepts may go over into another.
    fn fits(&self, from: u32, to: u32) -> bool {
        match self.map[from as usize] {
            NOTHING => {
                !self.used[to as usize] && self.colours.letters[from as usize] == self.colours.letters[to as usize]
            }
            image => image == to,
        }
    }

    /// Whether a state may go over into another.
    fn may_be(&self, from: u32, to: u32) -> bool {
        match self.states[from as usize] {
            NOTHING => {
                !self.taken[to as usize] && self.colours.states[from as usize] == self.colours.states[to as usize]
            }
            image => image == to,
        }
    }

    /// Renames what a state has, such that it becomes another state.
    fn compare(&mut self, from: u32, to: u32, decisions: &mut Decisions<'_>) -> Result<(), Walk> {
        let (graph, alphabet) = (self.graph, self.alphabet);
        let (here, there) = (&graph.states[from as usize], &graph.states[to as usize]);
        let (edges, images) = (graph.edges_of(from), graph.edges_of(to));
        if (here.goals, here.outcomes, edges.len()) != (there.goals, there.outcomes, images.len()) {
            return Err(Walk::Dead);
        }
        if here.goals.is_some() {
            return Ok(());
        }
        self.work = self.work.checked_sub(edges.len() + 1).ok_or(Walk::Spent)?;
        let moves = |node: &super::super::graph::StateNode, player: usize| -> &[u32] {
            &alphabet.moves[player][node.legal[player] as usize]
        };
        let mut places = [Vec::new(), Vec::new()];
        for (player, places) in places.iter_mut().enumerate() {
            let (own, others) = (moves(here, player), moves(there, player));
            if own.len() != others.len() {
                return Err(Walk::Dead);
            }
            for &mv in own {
                let candidates: Vec<u32> = (0..others.len() as u32)
                    .filter(|&n| self.fits(mv, others[n as usize]))
                    .collect();
                let place = decisions.pick(&candidates)?;
                self.assign(mv, others[place as usize]);
                places.push(place as u16);
            }
        }
        for edge in edges {
            let actions = [0, 1].map(|player| places[player][usize::from(edge.actions[player])]);
            let start = images.partition_point(|e| e.actions < actions);
            let alike = images[start..].iter().take_while(|e| e.actions == actions);
            let letter = |e: &Edge, player: usize| alphabet.percepts[player] + e.sees[player];
            let candidates: Vec<u32> = alike
                .zip(start as u32..)
                .filter(|(image, _)| {
                    image.count == edge.count
                        && self.may_be(edge.to, image.to)
                        && (0..2).all(|p| self.fits(letter(edge, p), letter(image, p)))
                })
                .map(|(_, n)| n)
                .collect();
            let image = &images[decisions.pick(&candidates)? as usize];
            for player in 0..2 {
                self.assign(letter(edge, player), letter(image, player));
            }
            if self.states[edge.to as usize] == NOTHING {
                self.send(edge.to, image.to);
            }
        }
        Ok(())
    }
}

/// What no renaming changes.
struct Colours {
    states: Vec<u64>,
    letters: Vec<u64>,
}

fn mixed(what: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    what.hash(&mut hasher);
    // Sums of hashes need bits that are well mixed.
    let hash = hasher.finish();
    (hash ^ (hash >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Colours {
    fn of(graph: &StateGraph, alphabet: &Alphabet) -> Colours {
        let mut colours = Colours {
            states: vec![0; graph.states.len()],
            letters: vec![0; alphabet.len],
        };
        for silence in alphabet.percepts {
            colours.letters[silence as usize] = 1;
        }
        for _ in 0..2 {
            colours.refine(graph, alphabet);
        }
        colours
    }

    /// Colours of states from what follows them, and of moves and percepts from where they occur.
    fn refine(&mut self, graph: &StateGraph, alphabet: &Alphabet) {
        let letters_of = |node: &super::super::graph::StateNode, edge: &Edge| {
            let mv = |p: usize| alphabet.moves[p][node.legal[p] as usize][usize::from(edge.actions[p])];
            let sees = |p: usize| alphabet.percepts[p] + edge.sees[p];
            [mv(0), mv(1), sees(0), sees(1)]
        };
        let mut occurrences = vec![0_u64; self.letters.len()];
        // Every edge leads to a state with a smaller number.
        for (number, node) in graph.states.iter().enumerate() {
            let edges = graph.edges_of(number as u32);
            let mut sum = 0_u64;
            for edge in edges {
                let letters = letters_of(node, edge).map(|l| self.letters[l as usize]);
                sum = sum.wrapping_add(mixed((letters, edge.count, self.states[edge.to as usize])));
            }
            self.states[number] = mixed((node.goals, node.outcomes, edges.len(), sum));
        }
        for (number, node) in graph.states.iter().enumerate() {
            for edge in graph.edges_of(number as u32) {
                let what = mixed((self.states[number], edge.count, self.states[edge.to as usize]));
                for letter in letters_of(node, edge) {
                    let sum = &mut occurrences[letter as usize];
                    *sum = sum.wrapping_add(what);
                }
            }
        }
        for (colour, sum) in self.letters.iter_mut().zip(occurrences) {
            *colour = mixed((*colour, sum));
        }
    }
}
