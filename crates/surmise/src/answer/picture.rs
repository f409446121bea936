//! The game tree drawn: the root on the left, the likeliest part if the tree is large.

use super::figures::edges;
use super::html::escaped;
use super::{Answer, percent};
use solve::Node;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write as _;

/// Nodes to draw at most.
const NODES: usize = 300;
/// Width of a step from a node to its children, and height of a leaf, in pixels.
const STEP: usize = 205;
const ROW: usize = 26;
/// Letters of a move to show.
const LETTERS: usize = 25;

/// A node that is drawn.
struct Drawn {
    node: u32,
    /// Probability under the strategies.
    p: f64,
    depth: usize,
    /// The move that leads here, and its probability.
    label: String,
    often: f64,
    /// Children that are drawn, as places in the list.
    children: Vec<usize>,
    /// Children that are not drawn, and their probability.
    hidden: (usize, f64),
    y: f64,
}

/// An edge that may be followed: likely ones first, then those found first.
#[derive(PartialEq)]
struct Open {
    p: f64,
    found: usize,
    parent: usize,
    edge: usize,
}

impl Eq for Open {}

impl Ord for Open {
    fn cmp(&self, other: &Open) -> std::cmp::Ordering {
        self.p.total_cmp(&other.p).then(other.found.cmp(&self.found))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Open) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Answer<'_> {
    /// The tree as SVG, and a sentence about what is drawn.
    pub(super) fn picture(&self) -> (String, String) {
        let mut drawn = self.likeliest();
        let rows = place(&mut drawn);
        let depth = drawn.iter().map(|d| d.depth).max().unwrap_or(0);
        let (width, height) = ((depth + 1) * STEP + 40, (rows + 1) * ROW);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
             {height}\" role=\"img\" aria-label=\"Game tree\">\n"
        );
        let numbers = self.numbers();
        self.dashes(&drawn, &mut svg);
        for at in 0..drawn.len() {
            edge_lines(&drawn, at, &mut svg);
        }
        for one in &drawn {
            self.node(one, &numbers, &mut svg);
        }
        svg.push_str("</svg>\n");
        let all = self.solution.tree.tree.nodes().len();
        let caption = match all <= drawn.len() {
            true => format!("The whole tree: {all} nodes."),
            false => format!(
                "The likeliest {} of {all} nodes; … stands for moves that are not drawn.",
                drawn.len()
            ),
        };
        (svg, caption)
    }

    /// The numbers of situations in the tables.
    pub(super) fn numbers(&self) -> BTreeMap<usize, usize> {
        let players = 0..self.solution.values.len();
        players
            .flat_map(|player| self.situations(player).into_iter().enumerate())
            .map(|(at, set)| (set, at + 1))
            .collect()
    }

    /// Follows the likeliest edges first.
    fn likeliest(&self) -> Vec<Drawn> {
        let tree = &self.solution.tree.tree;
        let root = Drawn {
            node: 0,
            p: 1.0,
            depth: 0,
            label: String::new(),
            often: 1.0,
            children: Vec::new(),
            hidden: (0, 0.0),
            y: 0.0,
        };
        let mut drawn = vec![root];
        let mut open = BinaryHeap::new();
        let mut found = 0;
        self.open_edges(&drawn, 0, &mut open, &mut found);
        while let Some(next) = open.pop() {
            if drawn.len() >= NODES {
                let hidden = &mut drawn[next.parent].hidden;
                *hidden = (hidden.0 + 1, hidden.1 + next.p);
                continue;
            }
            let parent = &drawn[next.parent];
            let (label, often) = self.edge(parent.node, next.edge);
            let child = Drawn {
                node: edges(tree, parent.node)[next.edge],
                p: next.p,
                depth: parent.depth + 1,
                label,
                often,
                children: Vec::new(),
                hidden: (0, 0.0),
                y: 0.0,
            };
            let at = drawn.len();
            drawn.push(child);
            drawn[next.parent].children.push(at);
            self.open_edges(&drawn, at, &mut open, &mut found);
        }
        // In the order of the rules, not of likelihood.
        for at in 0..drawn.len() {
            let order = |child: &usize| {
                edges(tree, drawn[at].node)
                    .iter()
                    .position(|&n| n == drawn[*child].node)
            };
            let mut children = drawn[at].children.clone();
            children.sort_by_key(order);
            drawn[at].children = children;
        }
        drawn
    }

    fn open_edges(&self, drawn: &[Drawn], at: usize, open: &mut BinaryHeap<Open>, found: &mut usize) {
        let one = &drawn[at];
        for edge in 0..edges(&self.solution.tree.tree, one.node).len() {
            let (_, often) = self.edge(one.node, edge);
            *found += 1;
            open.push(Open {
                p: one.p * often,
                found: *found,
                parent: at,
                edge,
            });
        }
    }

    /// The move of an edge and its probability.
    fn edge(&self, node: u32, edge: usize) -> (String, f64) {
        let (tree, sim) = (&self.solution.tree.tree, self.solution.tree.sim.as_ref());
        match tree.nodes()[node as usize] {
            Node::Terminal(_) => (String::new(), 0.0),
            Node::Chance { first, n } => {
                let counts = tree.counts(first, n);
                let all: u32 = counts.iter().sum();
                let label = tree
                    .nature()
                    .map(|role| sim.move_text(role, tree.labels(first, n)[edge]));
                let label = label.unwrap_or_default().to_owned();
                (label, f64::from(counts[edge]) / f64::from(all.max(1)))
            }
            Node::Decision { infoset, .. } => {
                let set = &tree.infosets()[infoset as usize];
                let sequence = set.first as usize + edge;
                let role = tree.players[set.player as usize];
                let label = sim.move_text(role, tree.move_of(sequence)).to_owned();
                (label, self.solution.policy.0[sequence])
            }
        }
    }

    /// Dashed lines between nodes that a role cannot tell apart.
    fn dashes(&self, drawn: &[Drawn], svg: &mut String) {
        let mut same: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, one) in drawn.iter().enumerate() {
            if let Node::Decision { infoset, .. } = self.solution.tree.tree.nodes()[one.node as usize] {
                same.entry(infoset).or_default().push(at);
            }
        }
        for (_, mut nodes) in same {
            nodes.sort_by(|&a, &b| drawn[a].y.total_cmp(&drawn[b].y));
            for pair in nodes.windows(2) {
                let (a, b) = (&drawn[pair[0]], &drawn[pair[1]]);
                let (ax, bx) = (x(a.depth), x(b.depth));
                let bend = ax.min(bx) as f64 - 26.0;
                let _ = writeln!(
                    svg,
                    "<path class=\"same\" d=\"M{ax} {:.1} C{bend} {:.1} {bend} {:.1} {bx} {:.1}\"/>",
                    a.y, a.y, b.y, b.y
                );
            }
        }
    }

    fn node(&self, one: &Drawn, numbers: &BTreeMap<usize, usize>, svg: &mut String) {
        let tree = &self.solution.tree.tree;
        let (x, y) = (x(one.depth), one.y);
        match tree.nodes()[one.node as usize] {
            Node::Terminal(t) => {
                let goals = tree.payoffs(t).iter().enumerate();
                let goals: Vec<String> = goals
                    .map(|(p, goal)| format!("<tspan class=\"role{}\">{goal}</tspan>", p % 4))
                    .collect();
                let _ = writeln!(
                    svg,
                    "<text class=\"end\" x=\"{}\" y=\"{:.1}\">{}</text>",
                    x + 5,
                    y + 4.0,
                    goals.join(" ")
                );
            }
            Node::Chance { .. } => {
                let _ = writeln!(
                    svg,
                    "<path class=\"chance\" d=\"M{} {y:.1} L{x} {:.1} L{} {y:.1} L{x} {:.1} Z\"><title>chance, {} of \
                     games</title></path>",
                    x - 8,
                    y - 8.0,
                    x + 8,
                    y + 8.0,
                    percent(one.p)
                );
            }
            Node::Decision { infoset, .. } => {
                let player = tree.infosets()[infoset as usize].player as usize;
                let number = numbers
                    .get(&(infoset as usize))
                    .map_or("·".to_owned(), usize::to_string);
                let title = format!(
                    "{}, {}; this history: {} of games",
                    self.solution.role(player),
                    self.words(infoset as usize),
                    percent(one.p)
                );
                let _ = writeln!(
                    svg,
                    "<circle class=\"node role{}\" cx=\"{x}\" cy=\"{y:.1}\" r=\"10\"><title>{}</title></circle><text \
                     class=\"number\" x=\"{x}\" y=\"{:.1}\">{number}</text>",
                    player % 4,
                    escaped(&title),
                    y + 4.0
                );
            }
        }
    }
}

/// Where nodes of a depth stand.
fn x(depth: usize) -> usize {
    20 + depth * STEP
}

/// The edges of a node: a line down or up, and a line to the right with the move above it.
fn edge_lines(drawn: &[Drawn], at: usize, svg: &mut String) {
    let parent = &drawn[at];
    let from = x(parent.depth);
    for &child in &parent.children {
        let child = &drawn[child];
        let (to, y) = (x(child.depth), child.y);
        let class = if child.often < super::RARE {
            "edge never"
        } else {
            "edge"
        };
        let _ = writeln!(
            svg,
            "<path class=\"{class}\" style=\"stroke-width:{:.1}\" d=\"M{from} {:.1} L{} {y:.1} L{to} {y:.1}\"/>",
            0.8 + 3.2 * child.often,
            parent.y,
            from + 24
        );
        let label = shortened(&child.label);
        let often = percent(child.often);
        let _ = writeln!(
            svg,
            "<text class=\"move\" x=\"{}\" y=\"{:.1}\"><title>{}: {often}</title>{} <tspan \
             class=\"often\">{}</tspan></text>",
            from + 28,
            y - 4.0,
            escaped(&child.label),
            escaped(&label),
            often.replace(".00 %", " %")
        );
    }
    if parent.hidden.0 > 0 {
        let (n, p) = parent.hidden;
        let below = parent.y + ROW as f64 / 2.0;
        let _ = writeln!(
            svg,
            "<text class=\"move\" x=\"{}\" y=\"{below:.1}\">… {n} more, {} of games</text>",
            from + 14,
            percent(p)
        );
    }
}

fn shortened(text: &str) -> String {
    match text.chars().count() > LETTERS {
        true => text.chars().take(LETTERS - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// Gives leaves a row each and nodes the middle of their children; the number of rows.
fn place(drawn: &mut [Drawn]) -> usize {
    let mut rows = 0;
    let mut path = vec![(0, 0)];
    while let Some(&mut (at, ref mut next)) = path.last_mut() {
        if let Some(&child) = drawn[at].children.get(*next) {
            *next += 1;
            path.push((child, 0));
            continue;
        }
        let children = &drawn[at].children;
        drawn[at].y = match (children.first(), children.last()) {
            (Some(&first), Some(&last)) => (drawn[first].y + drawn[last].y) / 2.0,
            _ => {
                rows += 1;
                (rows * ROW) as f64
            }
        };
        rows += usize::from(drawn[at].hidden.0 > 0);
        path.pop();
    }
    rows
}
