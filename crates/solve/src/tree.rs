//! The game tree by information set, built once into flat arrays.
//!
//! A round of GDL-II is one joint move. It is serialised: the roles decide one after the other, in the order of the
//! `role` facts and nature last. A role decides by its view at the start of the round, so a later role does not see the
//! move of an earlier one. A role with a single legal move gets no node.
//!
//! A *sequence* of a role is the last decision it made: an information set and an action, or nothing yet. Views contain
//! the role's own moves, so every role has perfect recall, and its sequences form a tree (von Stengel, *Efficient
//! Computation of Behavior Strategies*, 1996). Sequences are numbered so that those of one role are adjacent and each
//! comes after the one it continues: values of actions are kept in flat arrays by sequence.

mod builder;
mod subtrees;

use crate::threads::Threads;
use builder::TreeBuilder;
use game::{Fault, MoveId, PerceptId, RoleId, Round, Simulator, StopFlag};
use std::fmt;
use std::ops::Range;

/// How large a tree may become.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Histories (sequences of joint moves) at most.
    pub histories: u64,
    /// Ends the work early.
    pub stop: StopFlag,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            histories: 20_000_000,
            stop: StopFlag::default(),
        }
    }
}

/// Why there is no tree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The game has more histories than were allowed.
    TooLarge {
        /// Histories reached.
        reached: u64,
        /// Histories allowed.
        limit: u64,
        /// Rounds played in the longest history reached.
        rounds: u32,
    },
    /// The flag was raised.
    Stopped {
        /// Histories reached until then.
        reached: u64,
    },
    /// Some history does not end.
    Endless {
        /// Rounds after which it was given up.
        rounds: u32,
    },
    /// A role has no legal move although the game is not over.
    NoMove {
        /// The role.
        role: String,
        /// Rounds played before.
        rounds: u32,
    },
    /// Two histories with the same view of a role differ in its legal moves.
    Unclear {
        /// The role.
        role: String,
        /// Rounds played before.
        rounds: u32,
    },
    /// The game has no role but nature.
    NoPlayers,
    /// The simulator could not answer.
    Fault(Fault),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::TooLarge { reached, limit, rounds } => write!(
                f,
                "the game is too large to be solved: {reached} histories of up to {rounds} rounds were reached and \
                 there are more, and the limit is {limit}"
            ),
            BuildError::Stopped { reached } => write!(f, "stopped after {reached} histories of the game tree"),
            BuildError::Endless { rounds } => {
                write!(f, "the game cannot be solved: it does not end within {rounds} rounds")
            }
            BuildError::NoMove { role, rounds } => write!(
                f,
                "E-NO-MOVE: {role} has no legal move after {rounds} rounds of some history; `surmise check --simulate` \
                 tells more"
            ),
            BuildError::Unclear { role, rounds } => write!(
                f,
                "the game cannot be solved: after {rounds} rounds of some history {role} cannot tell from its moves \
                 and percepts which moves are legal"
            ),
            BuildError::NoPlayers => f.write_str("the game has no role to solve for"),
            BuildError::Fault(fault) => write!(f, "{fault}"),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<Fault> for BuildError {
    fn from(fault: Fault) -> Self {
        BuildError::Fault(fault)
    }
}

/// A node of the serialised tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// The game is over; the place of the payoffs.
    Terminal(u32),
    /// Nature chooses, uniformly among its moves.
    Chance {
        /// The first edge.
        first: u32,
        /// Number of edges: one for all moves that lead to the same state and the same views.
        n: u32,
    },
    /// A role chooses.
    Decision {
        /// The information set it is in.
        infoset: u32,
        /// The first edge, in the order of the actions of the information set.
        first: u32,
    },
}

/// An information set: a view after which its role has several legal moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Infoset {
    /// Its player, as an index into [`Tree::players`].
    pub player: u32,
    /// The sequence of its first action; the others follow.
    pub first: u32,
    /// Actions.
    pub n: u32,
    /// The sequence of its role that leads here.
    pub parent: u32,
    view: u32,
}

impl Infoset {
    /// The sequences of its actions.
    pub fn sequences(&self) -> Range<usize> {
        self.first as usize..(self.first + self.n) as usize
    }
}

/// One more round of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ViewStep {
    parent: u32,
    own: MoveId,
    /// Its range in the pool of percepts.
    sees: Range<u32>,
}

/// A whole game in flat arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The roles that are not nature, in the order of the rules. A *player* is an index into this list.
    pub players: Vec<RoleId>,
    /// Histories: sequences of joint moves from the initial state, the empty one included. Those that differ only in
    /// moves of nature without any effect count once.
    pub histories: u64,
    nature: Option<RoleId>,
    nodes: Vec<Node>,
    children: Vec<u32>,
    labels: Vec<MoveId>,
    /// How many moves of nature an edge stands for.
    counts: Vec<u32>,
    /// For each terminal node, a goal for each player.
    payoffs: Vec<u8>,
    /// For each terminal node, the last sequence of each player.
    leaves: Vec<u32>,
    /// For each terminal node, the probability that nature does its part.
    chances: Vec<f64>,
    infosets: Vec<Infoset>,
    /// First information set of each player, and the end of the last.
    bounds: Vec<u32>,
    /// The empty sequence of each player.
    empty: Vec<u32>,
    /// The move of each sequence; meaningless for empty ones.
    moves: Vec<MoveId>,
    steps: Vec<ViewStep>,
    /// For each view, whether it leaves a choice.
    chooses: Vec<bool>,
    percepts: Vec<PerceptId>,
}

impl Tree {
    /// Plays out every history of a game. `progress` is called now and then with the number of histories reached.
    ///
    /// # Errors
    /// If the game is too large, does not end, or cannot be solved as it is.
    pub fn build(sim: &mut dyn Simulator, limits: &Limits, progress: &mut dyn FnMut(u64)) -> Result<Tree, BuildError> {
        let mut builder = TreeBuilder::new(sim, limits.stop.clone())?;
        builder.run(u64::MAX, limits, progress)?;
        Ok(builder.finish())
    }

    /// The same on several threads: the same tree and the same errors, for any number of threads. The simulator is
    /// forked. Its forks must give the same names to everything, also to states and percepts not met before, as those
    /// of compiled games do.
    ///
    /// # Errors
    /// If the game is too large, does not end, or cannot be solved as it is.
    pub fn build_on(
        threads: &Threads,
        sim: &mut dyn Simulator,
        limits: &Limits,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Tree, BuildError> {
        if threads.n < 2 {
            return Tree::build(sim, limits, progress);
        }
        let mut builder = TreeBuilder::new(sim, limits.stop.clone())?;
        builder.run(threads.histories, limits, progress)?;
        builder.share_out(threads.n, limits, progress)?;
        Ok(builder.finish())
    }

    /// The nodes; the first is the root.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Nodes at the end of edges.
    pub fn children(&self, first: u32, n: u32) -> &[u32] {
        &self.children[first as usize..(first + n) as usize]
    }

    /// The first of the moves of nature that each edge of a chance node stands for.
    pub fn labels(&self, first: u32, n: u32) -> &[MoveId] {
        &self.labels[first as usize..(first + n) as usize]
    }

    /// How many moves of nature each edge of a chance node stands for.
    pub fn counts(&self, first: u32, n: u32) -> &[u32] {
        &self.counts[first as usize..(first + n) as usize]
    }

    /// The role that is nature.
    pub fn nature(&self) -> Option<RoleId> {
        self.nature
    }

    /// How many terminal nodes there are.
    pub fn n_terminals(&self) -> usize {
        self.chances.len()
    }

    /// The goals of the players at a terminal node.
    pub fn payoffs(&self, terminal: u32) -> &[u8] {
        let n = self.players.len();
        &self.payoffs[terminal as usize * n..][..n]
    }

    /// The least and the most that a player can get.
    pub fn range(&self, player: usize) -> (u8, u8) {
        let goals = || self.payoffs.iter().skip(player).step_by(self.players.len());
        (*goals().min().unwrap_or(&0), *goals().max().unwrap_or(&0))
    }

    /// Half-way between the least and the most that a player can get.
    pub(crate) fn middle(&self, player: usize) -> f64 {
        let (least, most) = self.range(player);
        (f64::from(least) + f64::from(most)) / 2.0
    }

    /// The last sequences of the players at a terminal node.
    pub fn leaf(&self, terminal: u32) -> &[u32] {
        let n = self.players.len();
        &self.leaves[terminal as usize * n..][..n]
    }

    /// The probability that nature makes its moves on the way to a terminal node.
    pub fn chance(&self, terminal: u32) -> f64 {
        self.chances[terminal as usize]
    }

    /// All information sets, those of one player after those of the one before, each after those that lead to it.
    pub fn infosets(&self) -> &[Infoset] {
        &self.infosets
    }

    /// Which information sets are a player's.
    pub fn infosets_of(&self, player: usize) -> Range<usize> {
        self.bounds[player] as usize..self.bounds[player + 1] as usize
    }

    /// The sequence of a player that has not decided anything.
    pub fn empty_sequence(&self, player: usize) -> usize {
        self.empty[player] as usize
    }

    /// How many sequences there are.
    pub fn n_sequences(&self) -> usize {
        self.moves.len()
    }

    /// The move that a sequence ends with; meaningless for empty ones.
    pub fn move_of(&self, sequence: usize) -> MoveId {
        self.moves[sequence]
    }

    /// The view of an information set: the role's moves and percepts.
    pub fn view(&self, infoset: &Infoset) -> Vec<Round> {
        let mut rounds = Vec::new();
        let mut at = infoset.view as usize;
        while at >= self.players.len() {
            let step = &self.steps[at - self.players.len()];
            let sees = &self.percepts[step.sees.start as usize..step.sees.end as usize];
            rounds.push(Round {
                own: step.own,
                sees: sees.to_vec(),
            });
            at = step.parent as usize;
        }
        rounds.reverse();
        rounds
    }

    /// The number of rounds of an information set's view.
    pub fn rounds_before(&self, infoset: &Infoset) -> usize {
        let mut at = infoset.view as usize;
        let mut rounds = 0;
        while at >= self.players.len() {
            at = self.steps[at - self.players.len()].parent as usize;
            rounds += 1;
        }
        rounds
    }

    /// The view of an information set as text: own moves and percepts. Rounds without a percept and without a choice
    /// are left out.
    pub fn view_text(&self, infoset: &Infoset, sim: &dyn Simulator) -> String {
        let role = self.players[infoset.player as usize];
        let decided = self.decided(infoset);
        let mut parts: Vec<String> = Vec::new();
        for (round, own) in self.view(infoset).iter().zip(decided) {
            if own {
                parts.push(sim.move_text(role, round.own).to_owned());
            }
            if !round.sees.is_empty() {
                let sees: Vec<&str> = round.sees.iter().map(|&p| sim.percept_text(role, p)).collect();
                parts.push(format!("sees {}", sees.join(" ")));
            }
        }
        match parts.is_empty() {
            true => "at the start".to_owned(),
            false => parts.join(", "),
        }
    }

    /// For each round of the view of an information set, whether its role had a choice.
    pub fn decided(&self, infoset: &Infoset) -> Vec<bool> {
        let mut rounds = Vec::new();
        let mut at = infoset.view as usize;
        while at >= self.players.len() {
            at = self.steps[at - self.players.len()].parent as usize;
            rounds.push(self.chooses[at]);
        }
        rounds.reverse();
        rounds
    }

    /// The sum of all players' goals, if it is always the same.
    pub fn constant_sum(&self) -> Option<u32> {
        let sum = |terminal: usize| -> u32 { self.payoffs(terminal as u32).iter().map(|&p| u32::from(p)).sum() };
        let first = sum(0);
        (1..self.n_terminals()).all(|t| sum(t) == first).then_some(first)
    }
}
