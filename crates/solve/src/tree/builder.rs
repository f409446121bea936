//! Plays out histories depth first, and numbers nodes, views and information sets in the order of visits.

use super::{BuildError, Infoset, Limits, Node, Tree, ViewStep};
use game::{MoveId, PerceptId, RoleId, Simulator, State, StopFlag};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Rounds after which a game is taken not to end. Walks over the tree recurse this deep.
const MAX_ROUNDS: u32 = game::limits::MATCH_ROUNDS as u32;
/// Waiting histories that are not counted against the limit: they take a few megabytes.
const MAX_PENDING: usize = 1 << 16;
/// Joint moves between two looks at the flag.
const FOLLOWED_A_LOOK: u64 = 1 << 10;

/// The result of a history. Moves of nature that lead to the same state and the same views are merged, since the rest
/// of the game does not depend on which of them was made.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct After {
    pub state: State,
    /// The views of the players.
    pub views: PerPlayer,
    /// Whether the game is over. Then there are no views.
    pub over: bool,
}

/// A history that is still to be visited.
#[derive(Clone)]
pub(super) struct PendingHistory {
    pub after: After,
    /// The last sequences of the players.
    pub sequences: PerPlayer,
    pub chance: f64,
    pub rounds: u32,
    /// The edge that leads here.
    pub edge: Option<u32>,
}

pub(super) type PerPlayer = SmallVec<[u32; 4]>;

/// The legal moves of a player after a view.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ViewMoves {
    Unknown,
    Forced(MoveId),
    Infoset(u32),
}

/// Builds a tree. Sequences and information sets are numbered in the order of visits, and renumbered by player at the
/// end.
pub(super) struct TreeBuilder<'a> {
    pub sim: &'a mut dyn Simulator,
    pub tree: Tree,
    pub options: Vec<ViewMoves>,
    views: FxHashMap<(u32, MoveId, SmallVec<[PerceptId; 4]>), u32>,
    pub stack: Vec<PendingHistory>,
    /// Histories that the tree may have.
    limit: u64,
    /// For every history longer than all before it: the number of histories before it, and its rounds.
    pub longest: Vec<(u64, u32)>,
    /// Joint moves followed in this round.
    followed: u64,
    stop: StopFlag,
}

/// A round being serialised.
struct SerialRound {
    at: PendingHistory,
    /// One move for each role, as far as they have decided.
    joint: Vec<MoveId>,
    /// The information sets of the players that have a choice.
    deciding: PerPlayer,
    /// Nature's moves.
    outcomes: Vec<MoveId>,
}

impl<'a> TreeBuilder<'a> {
    /// At the start of the game.
    pub fn new(sim: &'a mut dyn Simulator, stop: StopFlag) -> Result<TreeBuilder<'a>, BuildError> {
        let state = sim.initial()?;
        let root = PendingHistory {
            after: After {
                over: sim.terminal(&state)?,
                state,
                views: PerPlayer::new(),
            },
            sequences: PerPlayer::new(),
            chance: 1.0,
            rounds: 0,
            edge: None,
        };
        let builder = TreeBuilder::below(sim, root, stop);
        match builder.tree.players.is_empty() {
            true => Err(BuildError::NoPlayers),
            false => Ok(builder),
        }
    }

    /// After some history. Views and sequences are numbered as if it were the start.
    pub fn below(sim: &'a mut dyn Simulator, mut root: PendingHistory, stop: StopFlag) -> TreeBuilder<'a> {
        let nature = sim.nature();
        let roles = (0..sim.roles().len() as u16).map(RoleId);
        let players: Vec<RoleId> = roles.filter(|&r| Some(r) != nature).collect();
        let n = players.len();
        root.after.views = (0..n as u32).collect();
        root.sequences = (0..n as u32).collect();
        root.edge = None;
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
        TreeBuilder {
            sim,
            tree,
            options: vec![ViewMoves::Unknown; n],
            views: FxHashMap::default(),
            stack: vec![root],
            longest: Vec::new(),
            limit: allowed(&Limits::default()),
            followed: 0,
            stop,
        }
    }

    /// Continues until this many histories, or all, have been visited.
    pub fn run(&mut self, until: u64, limits: &Limits, progress: &mut dyn FnMut(u64)) -> Result<(), BuildError> {
        while self.tree.histories < until
            && let Some(at) = self.stack.pop()
        {
            self.count(&at, limits, progress)?;
            self.visit(at)?;
        }
        Ok(())
    }

    /// Another history, if it is allowed.
    pub fn count(
        &mut self,
        at: &PendingHistory,
        limits: &Limits,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), BuildError> {
        let (reached, limit) = (self.tree.histories, allowed(limits));
        self.limit = limit;
        if self.longest.last().is_none_or(|&(_, rounds)| rounds < at.rounds) {
            self.longest.push((reached, at.rounds));
        }
        if reached >= limit {
            let rounds = self.rounds_within(limit);
            return Err(BuildError::TooLarge { reached, limit, rounds });
        }
        self.tree.histories += 1;
        let reached = self.tree.histories;
        if reached.is_multiple_of(1024) {
            progress(reached);
            if limits.stop.is_raised() {
                return Err(BuildError::Stopped { reached });
            }
        }
        Ok(())
    }

    /// The rounds of the longest history of those that come after at most this many others.
    pub fn rounds_within(&self, before: u64) -> u32 {
        let within = self.longest.iter().take_while(|(at, _)| *at <= before);
        within.last().map_or(0, |&(_, rounds)| rounds)
    }

    pub fn visit(&mut self, at: PendingHistory) -> Result<(), BuildError> {
        match at.after.over {
            true => self.end(&at),
            false => self.play(at),
        }
    }

    fn node(&mut self, edge: Option<u32>, node: Node) {
        if let Some(edge) = edge {
            self.tree.children[edge as usize] = self.tree.nodes.len() as u32;
        }
        self.tree.nodes.push(node);
    }

    fn end(&mut self, at: &PendingHistory) -> Result<(), BuildError> {
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
    pub fn play(&mut self, at: PendingHistory) -> Result<(), BuildError> {
        if at.rounds >= MAX_ROUNDS {
            return Err(BuildError::Endless { rounds: MAX_ROUNDS });
        }
        let mut turn = SerialRound {
            joint: vec![MoveId(0); self.sim.roles().len()],
            deciding: PerPlayer::new(),
            outcomes: Vec::new(),
            at,
        };
        let mut legal = Vec::new();
        for player in 0..self.tree.players.len() {
            let role = self.tree.players[player];
            self.legal(&turn.at, role, &mut legal)?;
            match self.options(player, &turn.at, &legal)? {
                ViewMoves::Infoset(infoset) => turn.deciding.push(infoset),
                _ => turn.joint[role.0 as usize] = legal[0],
            }
        }
        if let Some(nature) = self.tree.nature {
            self.legal(&turn.at, nature, &mut turn.outcomes)?;
        }
        // Every joint move of the players is a history at least. Their number is a product, which rules choose.
        let sizes = turn
            .deciding
            .iter()
            .map(|&set| u64::from(self.tree.infosets[set as usize].n));
        if sizes.fold(1, u64::saturating_mul) > self.limit {
            return Err(BuildError::TooLarge {
                reached: self.tree.histories,
                limit: self.limit,
                rounds: turn.at.rounds,
            });
        }
        self.followed = 0;
        let (below, edge) = (self.stack.len(), turn.at.edge);
        self.decide(&mut turn, 0, edge)?;
        self.stack[below..].reverse();
        self.check_pending(turn.at.rounds)
    }

    /// Histories that wait are histories too. A long game with many moves a round would fill the memory with them
    /// long before as many were visited.
    fn check_pending(&self, rounds: u32) -> Result<(), BuildError> {
        let reached = self.tree.histories + self.stack.len() as u64;
        match self.stack.len() > MAX_PENDING && reached > self.limit {
            true => Err(BuildError::TooLarge {
                reached,
                limit: self.limit,
                rounds: rounds + 1,
            }),
            false => Ok(()),
        }
    }

    fn legal(&mut self, at: &PendingHistory, role: RoleId, legal: &mut Vec<MoveId>) -> Result<(), BuildError> {
        self.sim.legal(&at.after.state, role, legal)?;
        match legal.is_empty() {
            true => Err(BuildError::NoMove {
                role: self.sim.roles()[role.0 as usize].clone(),
                rounds: at.rounds,
            }),
            false => Ok(()),
        }
    }

    /// The legal moves of a player after its view, which must be the same in every history with this view.
    fn options(&mut self, player: usize, at: &PendingHistory, legal: &[MoveId]) -> Result<ViewMoves, BuildError> {
        let options = self.agree(player, at.after.views[player], at.sequences[player], legal);
        options.ok_or_else(|| BuildError::Unclear {
            role: self.sim.roles()[self.tree.players[player].0 as usize].clone(),
            rounds: at.rounds,
        })
    }

    /// The legal moves of a player after a view; none if they differ from those found there before.
    pub fn agree(&mut self, player: usize, view: u32, parent: u32, legal: &[MoveId]) -> Option<ViewMoves> {
        let known = self.options[view as usize];
        let agrees = match known {
            ViewMoves::Unknown => {
                let options = match legal {
                    [only] => ViewMoves::Forced(*only),
                    _ => self.infoset(player, view, parent, legal),
                };
                self.options[view as usize] = options;
                return Some(options);
            }
            ViewMoves::Forced(only) => *legal == [only],
            ViewMoves::Infoset(at) => self.tree.moves[self.tree.infosets[at as usize].sequences()] == *legal,
        };
        agrees.then_some(known)
    }

    fn infoset(&mut self, player: usize, view: u32, parent: u32, legal: &[MoveId]) -> ViewMoves {
        let tree = &mut self.tree;
        tree.infosets.push(Infoset {
            player: player as u32,
            first: tree.moves.len() as u32,
            n: legal.len() as u32,
            parent,
            view,
        });
        tree.moves.extend_from_slice(legal);
        ViewMoves::Infoset(tree.infosets.len() as u32 - 1)
    }

    /// The rest of a round, from the `nth` of those that have a choice.
    fn decide(&mut self, turn: &mut SerialRound, nth: usize, edge: Option<u32>) -> Result<(), BuildError> {
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

    fn chance(&mut self, turn: &mut SerialRound, edge: Option<u32>) -> Result<(), BuildError> {
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

    /// The result of a joint move: the next state and the views of all players.
    fn follow(&mut self, turn: &SerialRound) -> Result<After, BuildError> {
        // One round may have millions of joint moves.
        self.followed += 1;
        if self.followed.is_multiple_of(FOLLOWED_A_LOOK) && self.stop.is_raised() {
            let reached = self.tree.histories;
            return Err(BuildError::Stopped { reached });
        }
        let at = &turn.at.after;
        let state = self.sim.next(&at.state, &turn.joint)?;
        let over = self.sim.terminal(&state)?;
        let mut views = PerPlayer::new();
        let mut sees = Vec::new();
        for player in (0..self.tree.players.len()).take_while(|_| !over) {
            let role = self.tree.players[player];
            self.sim.percepts(&at.state, &turn.joint, role, &mut sees)?;
            views.push(self.step(at.views[player], turn.joint[role.0 as usize], &sees));
        }
        Ok(After { state, views, over })
    }

    fn push(&mut self, turn: &SerialRound, after: After, chance: f64, edge: Option<u32>) {
        self.stack.push(PendingHistory {
            after,
            sequences: turn.at.sequences.clone(),
            chance: turn.at.chance * chance,
            rounds: turn.at.rounds + 1,
            edge,
        });
    }

    /// The view after another round. Views of different players have different roots and are disjoint.
    pub fn step(&mut self, parent: u32, own: MoveId, sees: &[PerceptId]) -> u32 {
        let next = self.options.len() as u32;
        let view = *self.views.entry((parent, own, sees.into())).or_insert(next);
        if view == next {
            let start = self.tree.percepts.len() as u32;
            self.tree.percepts.extend_from_slice(sees);
            self.tree.steps.push(ViewStep {
                parent,
                own,
                sees: start..self.tree.percepts.len() as u32,
            });
            self.options.push(ViewMoves::Unknown);
        }
        view
    }

    /// Puts what belongs to one player together.
    pub fn finish(self) -> Tree {
        let mut tree = self.tree;
        let chooses = self.options.iter().map(|o| matches!(o, ViewMoves::Infoset(_)));
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
                // The sequence that leads to an information set was visited before it, so its number is known.
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

/// Nodes and edges are numbered with 32 bits, and there are at most a few for each history.
pub(super) fn allowed(limits: &Limits) -> u64 {
    limits.histories.min(1 << 30)
}
