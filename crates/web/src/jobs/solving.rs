//! A solver run: strategies ordered by how often their situations arise, and the tree of small games.

use super::{Job, name_of};
use crate::ApiError;
use crate::requests::NewJob;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Duration;
use surmise::solve::{Node, Policy};
use surmise::{Error, Game, GameTree, Solution, SolveOptions, SolveProgress, files};

/// Histories of games that are solved here.
const HISTORIES: u64 = 1_000_000;

/// Nodes of trees that are drawn.
const NODES: usize = 600;

/// Situations that are shown, the most frequent ones.
const SITUATIONS: usize = 1_000;

/// Longest time of iterating, in seconds.
const SECONDS: f64 = 600.0;

pub fn options(request: &NewJob) -> Result<SolveOptions, ApiError> {
    let method = request.algorithm.as_deref().unwrap_or("auto").parse()?;
    let time = match request.seconds {
        None => None,
        Some(seconds) if (0.1..=SECONDS).contains(&seconds) => Some(Duration::from_secs_f64(seconds)),
        Some(_) => {
            return Err(ApiError::bad(
                "request",
                format!("seconds must be 0.1 to {SECONDS}"),
                "ask for less",
            ));
        }
    };
    let options = SolveOptions {
        method,
        iterations: request.iterations,
        time,
        until: request.until,
        histories: HISTORIES,
        threads: 1,
        ..SolveOptions::default()
    };
    options.check()?;
    Ok(options)
}

pub fn run(job: &Job, game: &Game, options: SolveOptions, folder: Option<&Path>) -> Result<Value, Error> {
    let options = SolveOptions {
        stop: job.stop.clone(),
        ..options
    };
    job.note("building the tree".to_owned());
    let mut tell = Teller { job, next: 1 };
    let tree = game.tree(&options, &mut |progress| tell.tell(progress))?;
    let solution = tree.solve(&options, &mut |progress| tell.tell(progress))?;
    let text = solution.to_json();
    let mut result: Value = serde_json::from_str(&text).unwrap_or_default();
    order_by_reach(&mut result, &tree, &solution.policy);
    if tree.tree.nodes().len() <= NODES {
        result["tree"] = drawn(&tree, &solution);
    }
    let gap = solution.nash_conv();
    job.note(format!("{}: NashConv {gap:.6} points", solution.algorithm()));
    if let Some(folder) = folder {
        let path = folder.join(format!("{}.json", job.id));
        files::write(&path, text.as_bytes())?;
        let name = name_of(&path);
        job.change(|now| now.player = name.as_str().map(|name| format!("strategy:{name}")));
    }
    Ok(result)
}

struct Teller<'a> {
    job: &'a Job,
    /// Iterations at which the next point is computed.
    next: u64,
}

impl Teller<'_> {
    fn tell(&mut self, progress: SolveProgress<'_>) {
        match progress {
            SolveProgress::Histories(histories) => self.job.note(format!("{histories} histories")),
            SolveProgress::Program(steps, gap) => {
                self.job.point("gap", f64::from(steps), gap);
                self.job.note(format!("{steps} steps of the linear program"));
            }
            SolveProgress::Iterations(iterations, nash_conv) if iterations >= self.next => {
                // A point costs about an iteration: a tenth more iterations lie between two of them.
                self.next = iterations + (iterations / 10).max(1);
                let gap = nash_conv();
                self.job.point("NashConv", iterations as f64, gap);
                self.job
                    .note(format!("{iterations} iterations, NashConv {gap:.6} points"));
            }
            SolveProgress::Iterations(..) => {}
            SolveProgress::Asked(done, all) => self.job.note(format!("{done} of {all} information sets")),
            SolveProgress::Commitment(done, all) => self.job.note(format!("{done} of {all} linear programs")),
            SolveProgress::Responded(done, all) => self.job.note(format!("{done} of {all} responses")),
            SolveProgress::Fallback(error) => self.job.note(format!("{error}; cfr+ instead")),
        }
    }
}

/// Orders the strategy by how often its situations arise when everyone keeps to it.
fn order_by_reach(result: &mut Value, tree: &GameTree<'_>, policy: &Policy) {
    let reach = reach(tree, policy);
    let Some(entries) = result["strategy"].as_array_mut() else {
        return;
    };
    let entries = std::mem::take(entries);
    let mut order: Vec<usize> = (0..entries.len().min(reach.len())).collect();
    order.sort_by(|&a, &b| reach[b].total_cmp(&reach[a]).then(a.cmp(&b)));
    let shown = order.into_iter().take(SITUATIONS).map(|at| {
        let mut entry = entries[at].clone();
        entry["reach"] = json!(reach[at]);
        entry
    });
    result["situations"] = json!(entries.len());
    result["strategy"] = shown.collect();
}

/// The probability that play reaches each information set.
fn reach(tree: &GameTree<'_>, policy: &Policy) -> Vec<f64> {
    let mut reach = vec![0.0; tree.tree.infosets().len()];
    let mut stack = vec![(0_u32, 1.0)];
    while let Some((node, p)) = stack.pop() {
        if let Node::Decision { infoset, .. } = tree.tree.nodes()[node as usize] {
            reach[infoset as usize] += p;
        }
        each_child(tree, policy, node, |child, share, _| stack.push((child, p * share)));
    }
    reach
}

/// Children of a node, with the probability and the text of the move.
fn each_child(tree: &GameTree<'_>, policy: &Policy, node: u32, mut each: impl FnMut(u32, f64, String)) {
    let (game, sim) = (&tree.tree, tree.sim.as_ref());
    match game.nodes()[node as usize] {
        Node::Terminal(_) => {}
        Node::Chance { first, n } => {
            let counts = game.counts(first, n);
            let total: f64 = counts.iter().map(|&count| f64::from(count)).sum();
            let nature = game.nature().unwrap_or(surmise::game::RoleId(0));
            let edges = game.children(first, n).iter().zip(counts).zip(game.labels(first, n));
            for ((&child, &count), &label) in edges {
                each(child, f64::from(count) / total, sim.move_text(nature, label).to_owned());
            }
        }
        Node::Decision { infoset, first } => {
            let set = game.infosets()[infoset as usize];
            let role = game.players[set.player as usize];
            for (&child, sequence) in game.children(first, set.n).iter().zip(set.sequences()) {
                let text = sim.move_text(role, game.move_of(sequence)).to_owned();
                each(child, policy.0[sequence], text);
            }
        }
    }
}

/// The tree as a list, parents before children.
fn drawn(tree: &GameTree<'_>, solution: &Solution<'_>) -> Value {
    let (game, roles) = (&tree.tree, tree.sim.roles());
    let mut list = Vec::new();
    let mut queue = std::collections::VecDeque::from([(0_u32, None::<usize>, String::new(), 1.0)]);
    while let Some((node, parent, mv, p)) = queue.pop_front() {
        let name = |player: usize| roles[usize::from(game.players[player].0)].clone();
        let (role, set, goals) = match game.nodes()[node as usize] {
            Node::Terminal(at) => {
                let goals = game.payoffs(at).iter().enumerate();
                let goals: Map<String, Value> = goals.map(|(player, goal)| (name(player), json!(goal))).collect();
                (Value::Null, Value::Null, json!(goals))
            }
            Node::Chance { .. } => (json!("random"), Value::Null, Value::Null),
            Node::Decision { infoset, .. } => {
                let player = game.infosets()[infoset as usize].player as usize;
                (json!(name(player)), json!(infoset), Value::Null)
            }
        };
        let place = list.len();
        list.push(json!({"parent": parent, "move": mv, "role": role, "set": set, "goals": goals, "p": p}));
        each_child(tree, &solution.policy, node, |child, p, mv| {
            queue.push_back((child, Some(place), mv, p));
        });
    }
    json!(list)
}
