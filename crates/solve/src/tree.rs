//! The game tree by information set, built once into flat arrays.
//!
//! A round of GDL-II is one joint move. It is serialised here: the roles decide one after the other, in the order of the
//! `role` facts and nature last, and what a role knows when it decides is its view at the start of the round, so that a
//! later role does not see what an earlier one did. A role with a single legal move decides nothing and gets no node.
//!
//! A *sequence* of a role is the last decision it made: an information set and an action, or nothing yet. Views contain
//! one's own moves, so every role remembers everything, and its sequences form a tree (von Stengel, Efficient
//! computation of behavior strategies, 1996). Sequences are numbered so that those of one role are neighbours and each
//! comes after the one it continues: one flat array by sequence holds whatever is kept for the actions of a game.

use game::{Fault, MoveId, PerceptId, RoleId, Round, Simulator, State, StopFlag};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
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

/// Rounds after which a game is taken not to end. Walks over the tree are as deep as it is.
const MAX_ROUNDS: u32 = 2_000;

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
    /// Some history goes on and on.
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
    /// Two histories that look the same to a role leave it different legal moves.
    Unclear {
        /// The role.
        role: String,
        /// Rounds played before.
        rounds: u32,
    },
    /// There is nobody to play, only nature.
    NoPlayers,
    /// The simulator could not answer.
    Fault(Fault),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::TooLarge { reached, limit, rounds } => write!(
                f,
                "the game is too large to be solved: {reached} histories of up to {rounds} rounds were reached and there \
                 are more, and the limit is {limit}"
            ),
            BuildError::Stopped { reached } => write!(f, "stopped after {reached} histories of the game tree"),
            BuildError::Endless { rounds } => {
                write!(f, "the game cannot be solved: it does not end within {rounds} rounds")
            }
            BuildError::NoMove { role, rounds } => write!(
                f,
                "E-NO-MOVE: {role} has no legal move after {rounds} rounds of some history; `surmise check --simulate` tells \
                 more"
            ),
            BuildError::Unclear { role, rounds } => write!(
                f,
                "the game cannot be solved: after {rounds} rounds of some history {role} cannot tell from its moves and \
                 percepts which moves are legal"
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
        /// How many edges there are: one for all moves that nobody can tell apart and that lead to the same state.
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
    /// Whose it is, by its place among [`Tree::players`].
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
#[derive(Clone, Debug)]
struct Step {
    parent: u32,
    own: MoveId,
    /// Where in the pool of percepts it is.
    sees: Range<u32>,
}

/// A whole game in flat arrays.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The roles that are not nature, in the order of the rules. A *player* is a place in this list.
    pub players: Vec<RoleId>,
    /// Histories: sequences of joint moves from the initial state, the empty one included. Those that differ only in moves of
    /// nature without any effect count once.
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
    /// Where the information sets of each player begin, and where the last ends.
    bounds: Vec<u32>,
    /// The empty sequence of each player.
    empty: Vec<u32>,
    /// The move of each sequence; nothing sensible for empty ones.
    moves: Vec<MoveId>,
    steps: Vec<Step>,
    /// For each view, whether it leaves a choice.
    chooses: Vec<bool>,
    percepts: Vec<PerceptId>,
}

impl Tree {
    /// Plays out every history of a game. `progress` is told now and then how many have been reached.
    ///
    /// # Errors
    /// If the game is too large, does not end, or cannot be solved as it is.
    pub fn build(sim: &mut dyn Simulator, limits: &Limits, progress: &mut dyn FnMut(u64)) -> Result<Tree, BuildError> {
        let mut builder = Builder::new(sim)?;
        builder.run(limits, progress)?;
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

    /// What the role of an information set has done and seen.
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

    /// The same for people: own moves and what was seen after them. Rounds in which nothing was seen and there was nothing to
    /// decide are left out.
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

    /// For each round of a view, whether there was a choice.
    fn decided(&self, infoset: &Infoset) -> Vec<bool> {
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

/// Where a history ends. Moves of nature that lead to the same state and the same views are one: nothing that comes after
/// depends on which of them it was.
#[derive(PartialEq, Eq, Hash)]
struct After {
    state: State,
    /// The views of the players.
    views: Few,
    /// Whether the game is over: then nobody's view matters any more, and there are none.
    over: bool,
}

/// A history that is still to be looked at.
struct Pending {
    after: After,
    /// The last sequences of the players.
    sequences: Few,
    chance: f64,
    rounds: u32,
    /// The edge that leads here.
    edge: Option<u32>,
}

type Few = SmallVec<[u32; 4]>;

/// What a player can do after a view.
#[derive(Clone, Copy, PartialEq)]
enum Options {
    Unknown,
    Forced(MoveId),
    Infoset(u32),
}

/// Sequences and information sets are numbered as they are met here, and in order in the end.
struct Builder<'a> {
    sim: &'a mut dyn Simulator,
    tree: Tree,
    options: Vec<Options>,
    views: FxHashMap<(u32, MoveId, SmallVec<[PerceptId; 4]>), u32>,
    stack: Vec<Pending>,
}

/// The round that is being serialised.
struct Turn {
    at: Pending,
    /// One move for each role, as far as they have decided.
    joint: Vec<MoveId>,
    /// The information sets of the players that have a choice.
    deciding: Few,
    /// Nature's moves.
    outcomes: Vec<MoveId>,
}

impl<'a> Builder<'a> {
    fn new(sim: &'a mut dyn Simulator) -> Result<Builder<'a>, BuildError> {
        let nature = sim.nature();
        let roles = (0..sim.roles().len() as u16).map(RoleId);
        let players: Vec<RoleId> = roles.filter(|&r| Some(r) != nature).collect();
        let n = players.len();
        if n == 0 {
            return Err(BuildError::NoPlayers);
        }
        let state = sim.initial()?;
        let root = Pending {
            after: After {
                over: sim.terminal(&state)?,
                state,
                views: (0..n as u32).collect(),
            },
            sequences: (0..n as u32).collect(),
            chance: 1.0,
            rounds: 0,
            edge: None,
        };
        let tree = Tree {
            players,
            histories: 0,
            nature,
            nodes: Vec::new(),
            children: Vec::new(),
            labels: Vec::new(),
            counts: Vec::new(),
            payoffs: Vec::new(),
            leaves: Vec::new(),
            chances: Vec::new(),
            infosets: Vec::new(),
            bounds: Vec::new(),
            empty: Vec::new(),
            moves: vec![MoveId(0); n],
            steps: Vec::new(),
            chooses: Vec::new(),
            percepts: Vec::new(),
        };
        Ok(Builder {
            sim,
            tree,
            options: vec![Options::Unknown; n],
            views: FxHashMap::default(),
            stack: vec![root],
        })
    }

    fn run(&mut self, limits: &Limits, progress: &mut dyn FnMut(u64)) -> Result<(), BuildError> {
        // Nodes and edges are numbered with 32 bits, and there are at most a few for each history.
        let limit = limits.histories.min(1 << 30);
        let mut longest = 0;
        while let Some(at) = self.stack.pop() {
            longest = longest.max(at.rounds);
            if self.tree.histories >= limit {
                return Err(BuildError::TooLarge {
                    reached: self.tree.histories,
                    limit,
                    rounds: longest,
                });
            }
            self.tree.histories += 1;
            if self.tree.histories.is_multiple_of(1024) {
                progress(self.tree.histories);
                if limits.stop.is_raised() {
                    return Err(BuildError::Stopped {
                        reached: self.tree.histories,
                    });
                }
            }
            if at.after.over {
                self.end(&at)?;
            } else {
                self.play(at)?;
            }
        }
        Ok(())
    }

    fn node(&mut self, edge: Option<u32>, node: Node) {
        if let Some(edge) = edge {
            self.tree.children[edge as usize] = self.tree.nodes.len() as u32;
        }
        self.tree.nodes.push(node);
    }

    fn end(&mut self, at: &Pending) -> Result<(), BuildError> {
        let terminal = self.tree.n_terminals() as u32;
        self.node(at.edge, Node::Terminal(terminal));
        for player in 0..self.tree.players.len() {
            let goal = self.sim.goal(&at.after.state, self.tree.players[player])?;
            self.tree.payoffs.push(goal.points());
        }
        self.tree.leaves.extend_from_slice(&at.sequences);
        self.tree.chances.push(at.chance);
        Ok(())
    }

    /// Makes the nodes of one round and leaves its histories on the stack, the first on top.
    fn play(&mut self, at: Pending) -> Result<(), BuildError> {
        if at.rounds >= MAX_ROUNDS {
            return Err(BuildError::Endless { rounds: MAX_ROUNDS });
        }
        let mut turn = Turn {
            joint: vec![MoveId(0); self.sim.roles().len()],
            deciding: Few::new(),
            outcomes: Vec::new(),
            at,
        };
        let mut legal = Vec::new();
        for player in 0..self.tree.players.len() {
            let role = self.tree.players[player];
            self.legal(&turn.at, role, &mut legal)?;
            match self.options(player, &turn.at, &legal)? {
                Options::Infoset(infoset) => turn.deciding.push(infoset),
                _ => turn.joint[role.0 as usize] = legal[0],
            }
        }
        if let Some(nature) = self.tree.nature {
            self.legal(&turn.at, nature, &mut turn.outcomes)?;
        }
        let (below, edge) = (self.stack.len(), turn.at.edge);
        self.decide(&mut turn, 0, edge)?;
        self.stack[below..].reverse();
        Ok(())
    }

    fn legal(&mut self, at: &Pending, role: RoleId, legal: &mut Vec<MoveId>) -> Result<(), BuildError> {
        self.sim.legal(&at.after.state, role, legal)?;
        match legal.is_empty() {
            true => Err(BuildError::NoMove {
                role: self.sim.roles()[role.0 as usize].clone(),
                rounds: at.rounds,
            }),
            false => Ok(()),
        }
    }

    /// What a player can do after its view: the same in every history that gives it.
    fn options(&mut self, player: usize, at: &Pending, legal: &[MoveId]) -> Result<Options, BuildError> {
        let view = at.after.views[player];
        let known = self.options[view as usize];
        let agrees = match known {
            Options::Unknown => {
                let options = match legal {
                    [only] => Options::Forced(*only),
                    _ => self.infoset(player, view, at.sequences[player], legal),
                };
                self.options[view as usize] = options;
                return Ok(options);
            }
            Options::Forced(only) => *legal == [only],
            Options::Infoset(at) => self.tree.moves[self.tree.infosets[at as usize].sequences()] == *legal,
        };
        match agrees {
            true => Ok(known),
            false => Err(BuildError::Unclear {
                role: self.sim.roles()[self.tree.players[player].0 as usize].clone(),
                rounds: at.rounds,
            }),
        }
    }

    fn infoset(&mut self, player: usize, view: u32, parent: u32, legal: &[MoveId]) -> Options {
        let tree = &mut self.tree;
        tree.infosets.push(Infoset {
            player: player as u32,
            first: tree.moves.len() as u32,
            n: legal.len() as u32,
            parent,
            view,
        });
        tree.moves.extend_from_slice(legal);
        Options::Infoset(tree.infosets.len() as u32 - 1)
    }

    /// The rest of a round, from the `nth` of those that have a choice.
    fn decide(&mut self, turn: &mut Turn, nth: usize, edge: Option<u32>) -> Result<(), BuildError> {
        let Some(&number) = turn.deciding.get(nth) else {
            return self.chance(turn, edge);
        };
        let infoset = self.tree.infosets[number as usize];
        let player = infoset.player as usize;
        let role = self.tree.players[player];
        let first = self.edges(infoset.n as usize);
        self.node(edge, Node::Decision { infoset: number, first });
        let before = turn.at.sequences[player];
        for (action, sequence) in infoset.sequences().enumerate() {
            turn.joint[role.0 as usize] = self.tree.moves[sequence];
            turn.at.sequences[player] = sequence as u32;
            self.decide(turn, nth + 1, Some(first + action as u32))?;
        }
        turn.at.sequences[player] = before;
        Ok(())
    }

    /// Room for so many edges.
    fn edges(&mut self, n: usize) -> u32 {
        let first = self.tree.children.len();
        self.tree.children.resize(first + n, 0);
        self.tree.labels.resize(first + n, MoveId(0));
        self.tree.counts.resize(first + n, 1);
        first as u32
    }

    fn chance(&mut self, turn: &mut Turn, edge: Option<u32>) -> Result<(), BuildError> {
        let Some(nature) = self.tree.nature else {
            let after = self.follow(turn)?;
            self.push(turn, after, 1.0, edge);
            return Ok(());
        };
        let n = turn.outcomes.len();
        let mut met: FxHashMap<After, usize> = FxHashMap::default();
        let mut distinct: Vec<(MoveId, u32)> = Vec::new();
        for number in 0..n {
            let mv = turn.outcomes[number];
            turn.joint[nature.0 as usize] = mv;
            let at = *met.entry(self.follow(turn)?).or_insert(distinct.len());
            match distinct.get_mut(at) {
                Some((_, count)) => *count += 1,
                None => distinct.push((mv, 1)),
            }
        }
        let first = (distinct.len() > 1).then(|| self.edges(distinct.len()));
        if let Some(first) = first {
            let node = Node::Chance {
                first,
                n: distinct.len() as u32,
            };
            self.node(edge, node);
            let edges = first as usize..;
            let labels = self.tree.labels[edges.clone()].iter_mut();
            let counts = self.tree.counts[edges].iter_mut();
            for ((label, count), (mv, times)) in labels.zip(counts).zip(&distinct) {
                (*label, *count) = (*mv, *times);
            }
        }
        let mut afters: Vec<(After, usize)> = met.into_iter().collect();
        afters.sort_unstable_by_key(|(_, at)| *at);
        for (after, at) in afters {
            let edge = first.map_or(edge, |first| Some(first + at as u32));
            self.push(turn, after, f64::from(distinct[at].1) / n as f64, edge);
        }
        Ok(())
    }

    /// Everybody has moved: what comes next, and what everybody sees of it.
    fn follow(&mut self, turn: &Turn) -> Result<After, BuildError> {
        let at = &turn.at.after;
        let state = self.sim.next(&at.state, &turn.joint)?;
        let over = self.sim.terminal(&state)?;
        let mut views = Few::new();
        let mut sees = Vec::new();
        for player in (0..self.tree.players.len()).take_while(|_| !over) {
            let role = self.tree.players[player];
            self.sim.percepts(&at.state, &turn.joint, role, &mut sees)?;
            views.push(self.step(at.views[player], turn.joint[role.0 as usize], &sees));
        }
        Ok(After { state, views, over })
    }

    fn push(&mut self, turn: &Turn, after: After, chance: f64, edge: Option<u32>) {
        self.stack.push(Pending {
            after,
            sequences: turn.at.sequences.clone(),
            chance: turn.at.chance * chance,
            rounds: turn.at.rounds + 1,
            edge,
        });
    }

    /// The view after another round. Views of different players have different roots, so they never meet.
    fn step(&mut self, parent: u32, own: MoveId, sees: &[PerceptId]) -> u32 {
        let next = self.options.len() as u32;
        let view = *self.views.entry((parent, own, sees.into())).or_insert(next);
        if view == next {
            let start = self.tree.percepts.len() as u32;
            self.tree.percepts.extend_from_slice(sees);
            self.tree.steps.push(Step {
                parent,
                own,
                sees: start..self.tree.percepts.len() as u32,
            });
            self.options.push(Options::Unknown);
        }
        view
    }

    /// Puts what belongs to one player together.
    fn finish(self) -> Tree {
        let mut tree = self.tree;
        let chooses = self.options.iter().map(|o| matches!(o, Options::Infoset(_)));
        tree.chooses = chooses.collect();
        let n_players = tree.players.len();
        let mut order: Vec<u32> = (0..tree.infosets.len() as u32).collect();
        order.sort_by_key(|&at| tree.infosets[at as usize].player);
        let mut new_set = vec![0; order.len()];
        let mut new_sequence = vec![0; tree.moves.len()];
        let mut moves = Vec::with_capacity(tree.moves.len());
        let mut infosets = Vec::with_capacity(order.len());
        let mut rest = order.into_iter().peekable();
        for player in 0..n_players {
            tree.bounds.push(infosets.len() as u32);
            tree.empty.push(moves.len() as u32);
            new_sequence[player] = moves.len() as u32;
            moves.push(MoveId(0));
            while let Some(old) = rest.next_if(|&at| tree.infosets[at as usize].player as usize == player) {
                let set = tree.infosets[old as usize];
                new_set[old as usize] = infosets.len() as u32;
                // Whatever leads to an information set was met before it, so its number is known.
                infosets.push(Infoset {
                    first: moves.len() as u32,
                    parent: new_sequence[set.parent as usize],
                    ..set
                });
                for sequence in set.sequences() {
                    new_sequence[sequence] = moves.len() as u32;
                    moves.push(tree.moves[sequence]);
                }
            }
        }
        tree.bounds.push(infosets.len() as u32);
        for node in &mut tree.nodes {
            if let Node::Decision { infoset, .. } = node {
                *infoset = new_set[*infoset as usize];
            }
        }
        for leaf in &mut tree.leaves {
            *leaf = new_sequence[*leaf as usize];
        }
        (tree.infosets, tree.moves) = (infosets, moves);
        tree
    }
}
