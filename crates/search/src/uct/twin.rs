//! Plain UCT, one simulation at a time on a simulator: the slow twin of the search, which must have the same statistics
//! if its groups have one member.

use super::{Uct, UctOptions};
use crate::Tools;
use game::{Budget, GameEnds, MoveId, Rng, RoleId, Seed, State, StopFlag};
use propnet::{CompileOptions, Lanes, Rollouts, Scalar, compile};
use std::collections::HashMap;

/// Visits and mean of each move of each role, and the edges that were made.
#[derive(Default)]
struct PlainNode {
    visits: u32,
    moves: Vec<Vec<(u32, f64)>>,
    edges: HashMap<Vec<usize>, State>,
}

struct Plain {
    nodes: HashMap<State, PlainNode>,
    c: f64,
}

impl Plain {
    fn search(&mut self, tools: &mut Tools, root: &State, seed: Seed, simulations: u64) {
        let mut rng = seed.child("tree").rng();
        for number in 0..simulations {
            self.simulate(tools, root, &mut rng, seed.child("playouts").nth(number));
        }
    }

    fn simulate(&mut self, tools: &mut Tools, root: &State, rng: &mut Rng, seed: Seed) {
        let n_roles = tools.sim.roles().len();
        let nature = tools.sim.nature().map(|role| usize::from(role.0));
        let mut path = Vec::new();
        let mut at = root.clone();
        loop {
            if tools.sim.terminal(&at).unwrap() {
                break;
            }
            let legal: Vec<Vec<MoveId>> = (0..n_roles)
                .map(|role| tools.legal(&at, RoleId(role as u16)).unwrap())
                .collect();
            let node = self.nodes.entry(at.clone()).or_default();
            node.visits += 1;
            node.moves.resize(n_roles, Vec::new());
            let width = 100.0 * self.c * f64::from(node.visits).ln().sqrt();
            let mut picks = Vec::new();
            for (role, legal) in legal.iter().enumerate() {
                let moves = &mut node.moves[role];
                moves.resize(legal.len(), (0, 0.0));
                let fresh: Vec<usize> = (0..moves.len()).filter(|&at| moves[at].0 == 0).collect();
                let bound = |at: usize| moves[at].1 + width * f64::from(moves[at].0).sqrt().recip();
                picks.push(match moves.len() {
                    1 => 0,
                    n if Some(role) == nature => rng.below(n),
                    _ if !fresh.is_empty() => fresh[rng.below(fresh.len())],
                    n => (1..n).fold(0, |best, at| if bound(at) > bound(best) { at } else { best }),
                });
            }
            let joint: Vec<MoveId> = picks.iter().zip(&legal).map(|(&at, moves)| moves[at]).collect();
            path.push((at.clone(), picks.clone()));
            let next = tools.sim.next(&at, &joint).unwrap();
            let first = self
                .nodes
                .get_mut(&at)
                .unwrap()
                .edges
                .insert(picks, next.clone())
                .is_none();
            at = next;
            if first {
                break;
            }
        }
        self.nodes.entry(at.clone()).or_default().visits += 1;
        let points: Vec<f64> = if tools.sim.terminal(&at).unwrap() {
            let goal = |role: usize| f64::from(tools.sim.goal(&at, RoleId(role as u16)).unwrap().points());
            (0..n_roles).map(goal).collect()
        } else {
            let mut ends = GameEnds::default();
            tools.one_each(&[&at], seed, &StopFlag::default(), &mut ends).unwrap();
            ends.of(0).unwrap().iter().map(|&p| f64::from(p)).collect()
        };
        for (state, picks) in path {
            let node = self.nodes.get_mut(&state).unwrap();
            for (role, at) in picks.into_iter().enumerate() {
                let (visits, mean) = &mut node.moves[role][at];
                *visits += 1;
                *mean += (points[role] - *mean) / f64::from(*visits);
            }
        }
    }
}

fn tools(name: &str) -> Tools {
    let rules = gdl::read(&catalogue::rules(name).unwrap(), &gdl::Options::default()).rules;
    let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {}).unwrap();
    let game = compile(&program, &CompileOptions::default());
    Tools {
        sim: Box::new(Scalar::new(&game)),
        batch: Some(Box::new(Lanes::new(&game, Seed(1)))),
        playouts: Some(Box::new(Rollouts::new(&game, 1))),
        others: None,
        role: RoleId(0),
        seed: Seed(1),
    }
}

/// Every node of the graph has the visits and means of the plain search.
#[test]
fn groups_of_one_are_plain_uct() {
    for name in ["tictactoe", "connect-four", "kuhn-poker", "goofspiel"] {
        let mut tools = tools(name);
        let root = tools.sim.initial().unwrap();
        let options = UctOptions {
            simulations: Some(3_000),
            batch: Some(1),
            playouts: Some(1),
            solve: false,
            ..UctOptions::default()
        };
        let mut uct = Uct::new(options);
        uct.search(&mut tools, &root, Seed(5), &Budget::iterations(u64::MAX))
            .unwrap();
        let mut plain = Plain {
            nodes: HashMap::new(),
            c: super::C,
        };
        plain.search(&mut tools, &root, Seed(5), 3_000);
        let n_roles = tools.sim.roles().len();
        let (mut compared, mut nodes) = (0, 0);
        for (state, node) in &plain.nodes {
            let (id, new) = uct.graph.place(state.clone());
            assert!(!new, "{name}");
            assert_eq!(uct.graph.node(id).visits, node.visits, "{name}");
            nodes += 1;
            for (role, moves) in node.moves.iter().enumerate().filter(|(_, moves)| moves.len() > 1) {
                let found = uct.graph.moves(id, role, n_roles).unwrap();
                let found: Vec<(u32, f64)> = found.iter().map(|choice| (choice.visits, choice.mean)).collect();
                assert_eq!(&found, moves, "{name}");
                compared += 1;
            }
        }
        assert!(
            nodes > 20 && compared > 5,
            "{name}: {nodes} nodes, {compared} with choices"
        );
    }
}

/// Groups share descents, and count all of them.
#[test]
fn groups_count_every_visit() {
    let mut tools = tools("connect-four");
    let root = tools.sim.initial().unwrap();
    let options = UctOptions {
        simulations: Some(5_000),
        solve: false,
        ..UctOptions::default()
    };
    let mut uct = Uct::new(options);
    uct.search(&mut tools, &root, Seed(5), &Budget::iterations(u64::MAX))
        .unwrap();
    let (id, _) = uct.graph.place(root);
    assert_eq!(uct.graph.node(id).visits, 5_000);
    let moves = uct.graph.moves(id, 0, 2).unwrap();
    assert_eq!(moves.iter().map(|choice| choice.visits).sum::<u32>(), 5_000);
    assert!(moves.iter().all(|choice| choice.flying == 0));
    // The middle column is the best first move.
    let most = moves.iter().max_by_key(|choice| choice.visits).unwrap();
    assert!(tools.text(most.mv).contains('4'), "{}", tools.text(most.mv));
}
