//! Minimax with iterative deepening, and playouts at the horizon.
//!
//! Two players whose payoffs have a constant sum: alpha-beta (Knuth and Moore, *An Analysis of Alpha-Beta Pruning*,
//! 1975). Other games: max^n (Luckhardt and Irani, *An Algorithmic Solution of N-Person Games*, AAAI 1986), in which
//! each role maximises its own payoff. Whether the sum is constant is tested and never assumed: the first playouts must
//! agree, every terminal state is checked, and at the first contradiction the search starts again with max^n. Nature's
//! moves are averaged.
//!
//! Where two players with a constant sum move at once, the value is that of the matrix game, exactly
//! ([`crate::matrix`]), and the move is drawn from the optimal mixture. On demand, and wherever there are more roles or
//! other payoffs, the others are assumed to know our move and to respond one after the other, each for itself.
//!
//! Where we differ: positions at the horizon have the mean of random games as value, computed for all positions below a
//! node at once, in lanes. All moves of the root are searched with an open window, because callers may want the value
//! of each. Nodes are states, so the graph is also the transposition table and remembers which values are final,
//! whatever the depth.

use crate::Tools;
use crate::matrix;
use crate::perfect::{Insight, Worth, unknown};
use crate::tree::{NodeStage, OpenNode, Payoffs, Picks, SearchTree, StateNodeId};
use crate::value_table::best_first;
use game::{Budget, Fault, Seed, State, UnknownWord, by_word};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// How minimax searches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinimaxOptions {
    /// Rounds to look ahead; if not given, as many as there is time for, or nodes.
    pub depth: Option<u32>,
    /// Nodes to look at, if no depth is given.
    pub nodes: Option<u64>,
    /// Random games from each position at the horizon.
    pub playouts: u64,
    /// How simultaneous moves are treated.
    pub simultaneous: Simultaneous,
}

/// What to make of moves that are made at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Simultaneous {
    /// Both players play optimal mixtures.
    #[default]
    Mixed,
    /// The others know our move.
    Pessimistic,
}

impl std::str::FromStr for Simultaneous {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Simultaneous, UnknownWord> {
        let choices = [
            ("mixed", Simultaneous::Mixed),
            ("pessimistic", Simultaneous::Pessimistic),
        ];
        by_word("simultaneous", text, &choices)
    }
}

impl Default for MinimaxOptions {
    fn default() -> Self {
        MinimaxOptions {
            depth: None,
            nodes: None,
            playouts: 32,
            simultaneous: Simultaneous::Mixed,
        }
    }
}

/// Nodes to visit if neither depth, nodes nor time are given.
const USUAL_NODES: u64 = 20_000;
/// Largest depth in rounds.
const MAX_DEPTH: u32 = 200;
/// The factor by which a value approaches the middle with every round: an early win is preferred to a late one, but by
/// less than any other difference.
const FADE: f64 = 1e-6;
/// Bytes from which on the graph is emptied before the next decision, and from which on it does not grow.
const MUCH: usize = 256 << 20;
const TOO_MUCH: usize = 1 << 30;

/// A minimax search that keeps its graph between decisions.
pub struct Minimax {
    options: MinimaxOptions,
    graph: SearchTree,
    /// For each node of the graph.
    marks: Vec<NodeBounds>,
    /// The sum of two players' payoffs, as long as it is the same everywhere.
    sum: PayoffSum,
    touched: u64,
}

/// Knowledge about the sum of two players' payoffs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PayoffSum {
    /// Nothing yet.
    Unknown,
    /// These two roles always had this sum.
    Constant { first: usize, second: usize, sum: f64 },
    /// There is none, or there are not two players.
    None,
}

/// Values and bounds of a node.
#[derive(Clone, Debug, Default)]
struct NodeBounds {
    /// Mean payoffs of random games, for each role.
    guess: Option<Payoffs>,
    /// Result of a search: payoffs of each role, its depth, and whether all terminal states were reached.
    found: Option<(Payoffs, u32, bool)>,
    /// Bounds on the first player's payoff by a search of this depth.
    depth: u32,
    bounds: (f64, f64),
    /// Bounds that hold at any depth.
    certain: Option<(f64, f64)>,
}

/// Why a search ends early.
enum Halt {
    Fault(Fault),
    /// No time, nodes or memory left.
    Out,
    /// The sum of payoffs is not constant.
    NotConstant,
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Halt {
        Halt::Fault(fault)
    }
}

impl Minimax {
    /// A search that knows nothing yet.
    pub fn new(options: MinimaxOptions) -> Minimax {
        Minimax {
            options,
            graph: SearchTree::default(),
            marks: Vec::new(),
            sum: PayoffSum::Unknown,
            touched: 0,
        }
    }

    /// Iterative deepening, until all terminal states are reached or the budget is used up. The deepest finished search
    /// decides.
    fn deepen(&mut self, dive: &mut Descent<'_>, root: StateNodeId) -> Result<Vec<Worth>, Fault> {
        let mut best = None;
        let mut depth = 1;
        let deepest = self.options.depth.unwrap_or(MAX_DEPTH).clamp(1, MAX_DEPTH);
        while depth <= deepest {
            match self.at_root(dive, root, depth) {
                Ok((worths, all)) => {
                    best = Some(worths);
                    if all {
                        break;
                    }
                    depth += 1;
                }
                Err(Halt::Fault(fault)) => return Err(fault),
                Err(Halt::Out) => break,
                Err(Halt::NotConstant) => self.sum = PayoffSum::None,
            }
        }
        match best {
            Some(worths) => Ok(worths),
            None => Ok(self.undecided(dive, root)),
        }
    }

    /// The legal moves in random order, without values.
    fn undecided(&self, dive: &Descent<'_>, root: StateNodeId) -> Vec<Worth> {
        let role = dive.tools.role.0 as usize;
        let choices = self.graph.open(root).map(|open| open.moves(role)).unwrap_or_default();
        let mut rng = dive.seed.child("ties").rng();
        best_first(choices.iter().map(|&mv| unknown(mv)), &mut rng, |_, _| Ordering::Equal)
    }

    /// Tests by random games whether two players' payoffs have a constant sum.
    fn weigh_sum(&mut self, dive: &mut Descent<'_>, root: StateNodeId) -> Result<(), Fault> {
        let nature = dive.nature;
        let players: Vec<usize> = (0..dive.n_roles).filter(|&r| Some(r) != nature).collect();
        let [first, second] = players[..] else {
            self.sum = PayoffSum::None;
            return Ok(());
        };
        let state = self.graph.node(root).state.clone();
        let totals = dive
            .tools
            .play_out(&[state], SOUNDINGS, dive.seed.child("sum"), &dive.budget.stop)?;
        let games = totals[0].playouts - totals[0].stuck;
        let sum = (totals[0].points[first] + totals[0].points[second]) as f64 / games.max(1) as f64;
        self.sum = match sum.fract() == 0.0 {
            _ if games == 0 => PayoffSum::Unknown,
            true => PayoffSum::Constant { first, second, sum },
            false => PayoffSum::None,
        };
        Ok(())
    }

    /// Values every move of our role to a depth. Also returns whether all terminal states were reached.
    fn at_root(&mut self, dive: &mut Descent<'_>, root: StateNodeId, depth: u32) -> Result<(Vec<Worth>, bool), Halt> {
        let role = dive.tools.role.0 as usize;
        let Some(open) = self.graph.open(root) else {
            return Err(Halt::Fault(Fault::no_move(None)));
        };
        let (n_moves, mover) = (open.moves(role).len(), open.mover);
        if depth == 1 {
            let all = all_picks(open);
            self.guess_all(dive, root, &all)?;
        }
        if let (PayoffSum::Constant { first, .. }, None) = (self.sum, mover) {
            return self.matrix_at_root(dive, root, depth, role == first);
        }
        let mut values: Vec<f64> = Vec::with_capacity(n_moves);
        let mut all = true;
        for at in 0..n_moves as u32 {
            let (value, full) = match self.sum {
                PayoffSum::Constant { first, sum, .. } => {
                    let mut picks: Picks = SmallVec::from_elem(0, dive.n_roles);
                    picks[role] = at;
                    let child = self.graph.follow(dive.tools, root, &picks)?;
                    let (value, full) = self.alpha_beta(dive, child, depth - 1, 0.0, sum)?;
                    let value = fade(value, sum);
                    (if role == first { value } else { sum - value }, full)
                }
                _ => {
                    let (value, full) = self.max_n_after(dive, root, depth, role, at)?;
                    (value[role], full)
                }
            };
            values.push(value);
            all &= full;
        }
        Ok((self.ranked(dive, root, &values, None), all))
    }

    /// Two players move at once.
    fn matrix_at_root(
        &mut self,
        dive: &mut Descent<'_>,
        root: StateNodeId,
        depth: u32,
        is_first: bool,
    ) -> Result<(Vec<Worth>, bool), Halt> {
        let (cells, n_columns, sum, all) = self.matrix(dive, root, depth)?;
        let n_rows = cells.len() / n_columns.max(1);
        let game = matrix::solve(&cells, n_columns);
        let (ours, values): (&[f64], Vec<f64>) = match (self.options.simultaneous, is_first) {
            (Simultaneous::Mixed, true) => {
                let against = |row: usize| dot(&cells[row * n_columns..][..n_columns], &game.columns);
                (&game.rows, (0..n_rows).map(against).collect())
            }
            (Simultaneous::Mixed, false) => {
                let column = |c: usize| (0..n_rows).map(move |r| r * n_columns + c);
                let against = |c: usize| column(c).zip(&game.rows).map(|(at, p)| cells[at] * p).sum::<f64>();
                (&game.columns, (0..n_columns).map(|c| sum - against(c)).collect())
            }
            (Simultaneous::Pessimistic, true) => {
                let worst = |row: &[f64]| row.iter().copied().fold(f64::INFINITY, f64::min);
                (&[], cells.chunks(n_columns).map(worst).collect())
            }
            (Simultaneous::Pessimistic, false) => {
                let most = |c: usize| (0..n_rows).map(|r| cells[r * n_columns + c]).fold(0.0, f64::max);
                (&[], (0..n_columns).map(|c| sum - most(c)).collect())
            }
        };
        Ok((
            self.ranked(dive, root, &values, (!ours.is_empty()).then_some(ours)),
            all,
        ))
    }

    /// Moves with their values, best first; a mixture puts the move that it drew before all others.
    fn ranked(&self, dive: &Descent<'_>, root: StateNodeId, values: &[f64], mixture: Option<&[f64]>) -> Vec<Worth> {
        let role = dive.tools.role.0 as usize;
        let Some(open) = self.graph.open(root) else {
            return Vec::new();
        };
        let mut rng = dive.seed.child("ties").rng();
        let drawn = mixture.map(|parts| {
            let mut left = rng.unit();
            let found = parts.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            found.unwrap_or(0)
        });
        let is_drawn = |at: &usize| Some(*at) == drawn;
        let order = best_first(0..values.len(), &mut rng, |a, b| {
            (is_drawn(b).cmp(&is_drawn(a))).then(values[*b].total_cmp(&values[*a]))
        });
        let worth = |at: usize| Worth {
            mv: open.moves(role)[at],
            mean: values[at].clamp(0.0, 100.0),
            stderr: 0.0,
            visits: 1,
        };
        order.into_iter().map(worth).collect()
    }

    /// Counts a node. Returns its value if the game is over there, or cannot go on.
    fn enter(&mut self, dive: &mut Descent<'_>, id: StateNodeId) -> Result<Option<Payoffs>, Halt> {
        self.touched += 1;
        dive.seen += 1;
        if dive.seen > dive.limit || dive.budget.stop.is_raised() || self.graph.bytes() > TOO_MUCH {
            return Err(Halt::Out);
        }
        self.graph.look(dive.tools, id)?;
        let node = self.graph.node(id);
        let over: Option<Payoffs> = match (&node.proof, &node.stage) {
            (Some(proof), _) => Some(proof.points.iter().map(|&p| f64::from(p)).collect()),
            // As in playouts: a game that cannot go on earns nothing.
            (None, NodeStage::Stuck) => Some(SmallVec::from_elem(0.0, dive.n_roles)),
            (None, _) => None,
        };
        if let (Some(points), PayoffSum::Constant { first, second, sum }) = (&over, self.sum)
            && points[first] + points[second] != sum
        {
            return Err(Halt::NotConstant);
        }
        Ok(over)
    }

    fn mark(&mut self, id: StateNodeId) -> &mut NodeBounds {
        let at = id as usize;
        if self.marks.len() <= at {
            self.marks.resize(at + 1, NodeBounds::default());
        }
        &mut self.marks[at]
    }

    /// Random games from all states after some joint moves that were not played out before, at once.
    fn guess_all(&mut self, dive: &mut Descent<'_>, id: StateNodeId, joints: &[Picks]) -> Result<(), Halt> {
        let mut new: Vec<StateNodeId> = Vec::new();
        for picks in joints {
            if dive.budget.stop.is_raised() {
                return Err(Halt::Out);
            }
            let child = self.graph.follow(dive.tools, id, picks)?;
            self.graph.look(dive.tools, child)?;
            let is_open = self.graph.open(child).is_some();
            if is_open && self.mark(child).guess.is_none() && !new.contains(&child) {
                new.push(child);
            }
        }
        self.guess(dive, &new)
    }

    fn guess(&mut self, dive: &mut Descent<'_>, nodes: &[StateNodeId]) -> Result<(), Halt> {
        if nodes.is_empty() {
            return Ok(());
        }
        let states: Vec<State> = nodes.iter().map(|&id| self.graph.node(id).state.clone()).collect();
        dive.batches += 1;
        let seed = dive.seed.child("horizon").nth(dive.batches);
        let totals = dive
            .tools
            .play_out(&states, self.options.playouts, seed, &dive.budget.stop)?;
        for (&id, total) in nodes.iter().zip(&totals) {
            if total.playouts == 0 {
                return Err(Halt::Out);
            }
            let mean = |&points: &u64| points as f64 / total.playouts as f64;
            self.mark(id).guess = Some(total.points.iter().map(mean).collect());
        }
        Ok(())
    }

    /// The value of a state by random games.
    fn horizon(&mut self, dive: &mut Descent<'_>, id: StateNodeId) -> Result<Payoffs, Halt> {
        if self.mark(id).guess.is_none() {
            self.guess(dive, &[id])?;
        }
        self.mark(id).guess.clone().ok_or(Halt::Out)
    }

    /// The first player's payoff if it is between alpha and beta, else a bound; and whether it is certain.
    fn alpha_beta(
        &mut self,
        dive: &mut Descent<'_>,
        id: StateNodeId,
        depth: u32,
        mut alpha: f64,
        mut beta: f64,
    ) -> Result<(f64, bool), Halt> {
        let PayoffSum::Constant { first, sum, .. } = self.sum else {
            return Err(Halt::NotConstant);
        };
        if let Some(points) = self.enter(dive, id)? {
            return Ok((points[first], true));
        }
        if let Some(known) = self.recall(id, depth, &mut alpha, &mut beta) {
            return Ok(known);
        }
        if depth == 0 {
            let guess = self.horizon(dive, id)?;
            return Ok((guess[first], false));
        }
        let Some(open) = self.graph.open(id) else {
            return Err(Halt::Fault(Fault::no_move(None)));
        };
        let mover = open.mover.map(|role| (role, open.moves(role).len()));
        if depth == 1 {
            let joints = all_picks(open);
            self.guess_all(dive, id, &joints)?;
        }
        let (value, full) = match mover {
            Some(mover) => self.best_of(dive, id, mover, (depth, alpha, beta))?,
            None => {
                let (cells, n_columns, _, full) = self.matrix(dive, id, depth)?;
                (
                    self.matrix_value(&cells, n_columns, dive.tools.role.0 as usize == first),
                    full,
                )
            }
        };
        self.remember(id, depth, (alpha, beta), value, full, sum);
        Ok((value, full))
    }

    /// Alpha-beta where one player moves. The first player maximises, the second minimises.
    fn best_of(
        &mut self,
        dive: &mut Descent<'_>,
        id: StateNodeId,
        (role, n_moves): (usize, usize),
        (depth, mut alpha, mut beta): (u32, f64, f64),
    ) -> Result<(f64, bool), Halt> {
        let PayoffSum::Constant { first, sum, .. } = self.sum else {
            return Err(Halt::NotConstant);
        };
        let wants_much = role == first;
        let mut children = Vec::with_capacity(n_moves);
        let mut picks: Picks = SmallVec::from_elem(0, dive.n_roles);
        for at in 0..n_moves as u32 {
            picks[role] = at;
            let child = self.graph.follow(dive.tools, id, &picks)?;
            children.push((self.likely(child, first).unwrap_or(sum / 2.0), child));
        }
        children.sort_by(|(a, _), (b, _)| if wants_much { b.total_cmp(a) } else { a.total_cmp(b) });
        let mut best: Option<f64> = None;
        let mut all = true;
        for (_, child) in children {
            let (value, full) = self.alpha_beta(dive, child, depth - 1, unfade(alpha, sum), unfade(beta, sum))?;
            let value = fade(value, sum);
            all &= full;
            let better = best.is_none_or(|best| if wants_much { value > best } else { value < best });
            if !better {
                continue;
            }
            best = Some(value);
            match wants_much {
                true => alpha = alpha.max(value),
                false => beta = beta.min(value),
            }
            if alpha >= beta {
                return Ok((value, full));
            }
        }
        Ok((best.unwrap_or(0.0), all))
    }

    /// The first player's payoff for each pair of moves, row by row; nature is averaged. One cell if only nature has a
    /// choice.
    fn matrix(
        &mut self,
        dive: &mut Descent<'_>,
        id: StateNodeId,
        depth: u32,
    ) -> Result<(Vec<f64>, usize, f64, bool), Halt> {
        let (PayoffSum::Constant { first, second, sum }, Some(open)) = (self.sum, self.graph.open(id)) else {
            return Err(Halt::NotConstant);
        };
        let (n_rows, n_columns) = (open.moves(first).len(), open.moves(second).len());
        let n_chances = dive.nature.map_or(1, |r| open.moves(r).len());
        let mut cells = Vec::new();
        let mut all = true;
        for cell in 0..n_rows * n_columns {
            let mut total = 0.0;
            for chance in 0..n_chances {
                let mut picks: Picks = SmallVec::from_elem(0, dive.n_roles);
                (picks[first], picks[second]) = ((cell / n_columns) as u32, (cell % n_columns) as u32);
                if let Some(role) = dive.nature {
                    picks[role] = chance as u32;
                }
                let child = self.graph.follow(dive.tools, id, &picks)?;
                let (value, full) = self.alpha_beta(dive, child, depth - 1, 0.0, sum)?;
                total += fade(value, sum);
                all &= full;
            }
            cells.push(total / n_chances as f64);
        }
        Ok((cells, n_columns, sum, all))
    }

    fn matrix_value(&self, cells: &[f64], n_columns: usize, ours_is_first: bool) -> f64 {
        if self.options.simultaneous == Simultaneous::Mixed {
            return matrix::solve(cells, n_columns).value;
        }
        let n_rows = cells.len() / n_columns.max(1);
        if ours_is_first {
            let worst = |row: &[f64]| row.iter().copied().fold(f64::INFINITY, f64::min);
            cells
                .chunks(n_columns.max(1))
                .map(worst)
                .fold(f64::NEG_INFINITY, f64::max)
        } else {
            let most = |c: usize| {
                (0..n_rows)
                    .map(|r| cells[r * n_columns + c])
                    .fold(f64::NEG_INFINITY, f64::max)
            };
            (0..n_columns).map(most).fold(f64::INFINITY, f64::min)
        }
    }

    /// The stored value, if it decides; else the window is narrowed by stored bounds.
    fn recall(&mut self, id: StateNodeId, depth: u32, alpha: &mut f64, beta: &mut f64) -> Option<(f64, bool)> {
        let mark = self.mark(id);
        let searched = (mark.depth >= depth && mark.depth > 0).then_some((mark.bounds, false));
        for ((low, high), full) in [mark.certain.map(|bounds| (bounds, true)), searched]
            .into_iter()
            .flatten()
        {
            if low >= *beta || low == high {
                return Some((low, full));
            }
            if high <= *alpha {
                return Some((high, full));
            }
        }
        None
    }

    /// Stores the result of a search with this window.
    fn remember(&mut self, id: StateNodeId, depth: u32, (alpha, beta): (f64, f64), value: f64, full: bool, sum: f64) {
        let bounds = match value {
            v if v <= alpha => (0.0, v),
            v if v >= beta => (v, sum),
            v => (v, v),
        };
        let mark = self.mark(id);
        if full {
            let (low, high) = mark.certain.unwrap_or((0.0, sum));
            mark.certain = Some((low.max(bounds.0), high.min(bounds.1)));
        }
        if depth >= mark.depth {
            (mark.depth, mark.bounds) = (depth, bounds);
        }
    }

    /// An estimate of the first player's payoff, for move ordering.
    fn likely(&self, id: StateNodeId, first: usize) -> Option<f64> {
        if let Some(proof) = &self.graph.node(id).proof {
            return Some(f64::from(proof.points[first]));
        }
        let mark = self.marks.get(id as usize)?;
        let middle = |(low, high): (f64, f64)| (low + high) / 2.0;
        let searched = (mark.depth > 0).then(|| middle(mark.bounds));
        (mark.certain.map(middle))
            .or(searched)
            .or(mark.guess.as_ref().map(|guess| guess[first]))
    }

    /// Payoffs of all roles if each maximises its own; and whether all terminal states were reached.
    fn max_n(&mut self, dive: &mut Descent<'_>, id: StateNodeId, depth: u32) -> Result<(Payoffs, bool), Halt> {
        if let Some(points) = self.enter(dive, id)? {
            return Ok((points, true));
        }
        if let Some((value, searched, full)) = &self.mark(id).found
            && (*full || *searched >= depth)
        {
            return Ok((value.clone(), *full));
        }
        if depth == 0 {
            return Ok((self.horizon(dive, id)?, false));
        }
        let Some(open) = self.graph.open(id) else {
            return Err(Halt::Fault(Fault::no_move(None)));
        };
        if depth == 1 {
            let joints = all_picks(open);
            self.guess_all(dive, id, &joints)?;
        }
        let mut picks: Picks = SmallVec::from_elem(0, dive.n_roles);
        let order = dive.order.clone();
        let (value, full) = self.answer(dive, id, depth, &order, &mut picks)?;
        self.mark(id).found = Some((value.clone(), depth, full));
        Ok((value, full))
    }

    /// The same after a move of ours, with the others' responses.
    fn max_n_after(
        &mut self,
        dive: &mut Descent<'_>,
        id: StateNodeId,
        depth: u32,
        role: usize,
        at: u32,
    ) -> Result<(Payoffs, bool), Halt> {
        let mut picks: Picks = SmallVec::from_elem(0, dive.n_roles);
        picks[role] = at;
        let others: Vec<usize> = dive.order.iter().copied().filter(|&r| r != role).collect();
        self.answer(dive, id, depth, &others, &mut picks)
    }

    /// The first of these roles chooses its best move, knowing the moves chosen before and the responses of the roles
    /// after it. Nature comes last, and is averaged.
    fn answer(
        &mut self,
        dive: &mut Descent<'_>,
        id: StateNodeId,
        depth: u32,
        order: &[usize],
        picks: &mut Picks,
    ) -> Result<(Payoffs, bool), Halt> {
        let moves = |graph: &SearchTree, role: usize| graph.open(id).map_or(1, |open| open.moves(role).len() as u32);
        let Some((&role, others)) = order.split_first() else {
            return self.chance(dive, id, depth, picks);
        };
        let mut best: Option<Payoffs> = None;
        let mut all = true;
        for at in 0..moves(&self.graph, role) {
            picks[role] = at;
            let (value, full) = self.answer(dive, id, depth, others, picks)?;
            all &= full;
            if best.as_ref().is_none_or(|best| value[role] > best[role]) {
                best = Some(value);
            }
        }
        picks[role] = 0;
        Ok((best.unwrap_or_default(), all))
    }

    fn chance(
        &mut self,
        dive: &mut Descent<'_>,
        id: StateNodeId,
        depth: u32,
        picks: &Picks,
    ) -> Result<(Payoffs, bool), Halt> {
        let n = match (dive.nature, self.graph.open(id)) {
            (Some(role), Some(open)) => open.moves(role).len(),
            _ => 1,
        };
        let mut sum: Payoffs = SmallVec::from_elem(0.0, dive.n_roles);
        let mut all = true;
        for chance in 0..n {
            let mut picks = picks.clone();
            if let Some(role) = dive.nature {
                picks[role] = chance as u32;
            }
            let child = self.graph.follow(dive.tools, id, &picks)?;
            let (value, full) = self.max_n(dive, child, depth - 1)?;
            all &= full;
            sum.iter_mut()
                .zip(value)
                .for_each(|(sum, v)| *sum += fade(v, 100.0) / n as f64);
        }
        Ok((sum, all))
    }
}

/// Joint moves whose successors are played out together.
const MOST_JOINTS: usize = 4_096;
/// Random games that test whether payoffs have a constant sum.
const SOUNDINGS: u64 = 64;

/// Inputs and counters of one search.
struct Descent<'a> {
    tools: &'a mut Tools,
    budget: &'a Budget,
    seed: Seed,
    nature: Option<usize>,
    n_roles: usize,
    /// The order in which roles choose where moves are simultaneous: our role first.
    order: Vec<usize>,
    seen: u64,
    limit: u64,
    batches: u64,
}

impl Insight for Minimax {
    fn value(&mut self, tools: &mut Tools, state: &State, seed: Seed, budget: &Budget) -> Result<Vec<Worth>, Fault> {
        if self.graph.bytes() > MUCH {
            self.graph.clear();
            self.marks.clear();
        }
        let root = self.graph.place(state.clone());
        self.graph.look(tools, root)?;
        if self.graph.open(root).is_none() {
            return Err(Fault::no_move(None));
        }
        let (nature, n_roles) = (tools.sim.nature().map(|r| r.0 as usize), tools.sim.roles().len());
        let ours = tools.role.0 as usize;
        let others = (0..n_roles).filter(|&r| Some(r) != nature && r != ours);
        let limit = match self.options.depth {
            Some(_) => budget.iterations,
            None => budget.count(self.options.nodes, USUAL_NODES),
        };
        let mut dive = Descent {
            order: std::iter::once(ours).chain(others).collect(),
            tools,
            budget,
            seed,
            nature,
            n_roles,
            seen: 0,
            limit,
            batches: 0,
        };
        if self.sum == PayoffSum::Unknown {
            self.weigh_sum(&mut dive, root)?;
        }
        self.deepen(&mut dive, root)
    }

    fn name(&self) -> &'static str {
        "minimax"
    }

    fn remembered(&self) -> u64 {
        self.touched
    }
}

/// All joint moves, unless there are too many.
fn all_picks(open: &OpenNode) -> Vec<Picks> {
    let roles = 0..open.n_roles();
    let n = roles
        .clone()
        .try_fold(1_usize, |n, r| n.checked_mul(open.moves(r).len()));
    if n.is_none_or(|n| n > MOST_JOINTS) {
        return Vec::new();
    }
    let mut all: Vec<Picks> = vec![Picks::new()];
    for choices in roles.map(|r| open.moves(r)) {
        let longer = |picks: Picks| {
            (0..choices.len() as u32).map(move |at| {
                let mut picks = picks.clone();
                picks.push(at);
                picks
            })
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A value seen from one round earlier.
fn fade(value: f64, sum: f64) -> f64 {
    sum / 2.0 + (value - sum / 2.0) * (1.0 - FADE)
}

/// The inverse of `fade`.
fn unfade(value: f64, sum: f64) -> f64 {
    sum / 2.0 + (value - sum / 2.0) / (1.0 - FADE)
}
