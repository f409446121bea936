//! Plain information-set Monte Carlo tree search, one simulation at a time on a simulator: the slow twin of the search,
//! which must have the same statistics if its groups have one member.

use super::{EXPLORE, IsMcts, IsMctsOptions, deal, draw};
use crate::Tools;
use belief::{Options, SamplerKind};
use game::{Budget, GameEnds, MoveId, PerceptId, Player, Rng, RoleId, Seed, State, StopFlag};
use propnet::{CompileOptions, Lanes, Rollouts, Scalar, compile};
use std::collections::HashMap;

/// A view, as it is: own moves and percepts.
type Seen = Vec<(MoveId, Vec<PerceptId>)>;

#[derive(Clone, Default)]
struct PlainArm {
    visits: u32,
    available: u32,
    total: f64,
    regret: f64,
}

impl PlainArm {
    /// As the search keeps it: in 32 bits.
    fn mean(&self) -> f64 {
        f64::from((self.total / f64::from(self.visits.max(1))) as f32)
    }
}

#[derive(Default)]
struct PlainTable {
    arms: Vec<(MoveId, PlainArm)>,
    through: u32,
    handed_up: f64,
}

impl PlainTable {
    fn arm(&mut self, mv: MoveId) -> &mut PlainArm {
        let at = self.arms.iter().position(|(known, _)| *known == mv);
        let at = at.unwrap_or_else(|| {
            self.arms.push((mv, PlainArm::default()));
            self.arms.len() - 1
        });
        &mut self.arms[at].1
    }

    fn by_bounds(&mut self, legal: &[MoveId], c: f64, rng: &mut Rng) -> usize {
        legal.iter().for_each(|&mv| self.arm(mv).available += 1);
        let arms: Vec<PlainArm> = legal.iter().map(|&mv| self.arm(mv).clone()).collect();
        let untried: Vec<usize> = (0..arms.len()).filter(|&at| arms[at].visits == 0).collect();
        if !untried.is_empty() {
            return untried[rng.below(untried.len())];
        }
        let bound = |at: usize| {
            let n = f64::from(arms[at].visits);
            arms[at].mean() + c * f64::from(arms[at].available).ln().sqrt() * n.sqrt().recip()
        };
        (1..arms.len()).fold(0, |best, at| if bound(at) > bound(best) { at } else { best })
    }

    fn by_regrets(&mut self, legal: &[MoveId], rng: &mut Rng) -> (usize, f64) {
        let positive: Vec<f64> = legal.iter().map(|&mv| self.arm(mv).regret.max(0.0)).collect();
        let (sum, n) = (positive.iter().sum::<f64>(), legal.len() as f64);
        let chance = |p: &f64| (if sum > 0.0 { p / sum } else { 1.0 / n }) * (1.0 - EXPLORE) + EXPLORE / n;
        let chances: Vec<f64> = positive.iter().map(chance).collect();
        let place = draw(chances.iter().copied(), rng);
        (place, chances[place])
    }

    fn hand_up(&mut self) -> f64 {
        self.through += 1;
        let most = self.arms.iter().map(|(_, arm)| arm.visits).max().unwrap();
        let known = self.arms.iter().filter(|(_, arm)| 4 * arm.visits >= most.min(64));
        let best = known.map(|(_, arm)| arm.mean()).fold(0.0, f64::max);
        let worth = best * f64::from(self.through);
        let gain = worth - self.handed_up;
        self.handed_up = worth;
        gain
    }
}

/// A choice: the role, its view, its legal moves, the place of its move, and the chance if it was mixed.
type PlainChoice = (usize, Seen, Vec<MoveId>, usize, Option<f64>);

struct Plain {
    tables: HashMap<(usize, Seen), PlainTable>,
    c: f64,
}

impl Plain {
    fn simulate(&mut self, tools: &mut Tools, root: &(State, Vec<Seen>), rng: &mut Rng, seed: Seed) {
        let n_roles = tools.sim.roles().len();
        let nature = tools.sim.nature().map(|role| usize::from(role.0));
        let (mut state, mut seen) = root.clone();
        let mut path: Vec<PlainChoice> = Vec::new();
        let mut last = false;
        while !last && !tools.sim.terminal(&state).unwrap() {
            let legal: Vec<Vec<MoveId>> = (0..n_roles)
                .map(|role| tools.legal(&state, RoleId(role as u16)).unwrap())
                .collect();
            let choosing = (0..n_roles).filter(|&role| Some(role) != nature && legal[role].len() > 1);
            let mixed = choosing.count() > 1;
            let mut joint = Vec::new();
            for (role, moves) in legal.iter().enumerate() {
                let key = (role, seen[role].clone());
                let place = match moves.len() {
                    1 => 0,
                    n if Some(role) == nature => rng.below(n),
                    _ => {
                        let table = self.tables.entry(key.clone()).or_default();
                        moves.iter().for_each(|&mv| _ = table.arm(mv));
                        let (place, chance) = match mixed {
                            false => (table.by_bounds(moves, self.c, rng), None),
                            true => {
                                let (place, chance) = table.by_regrets(moves, rng);
                                (place, Some(chance))
                            }
                        };
                        let arm = table.arm(moves[place]);
                        last |= arm.visits == 0;
                        arm.visits += 1;
                        path.push((role, key.1, moves.clone(), place, chance));
                        place
                    }
                };
                joint.push(moves[place]);
            }
            (state, seen) = follow(tools, &state, &joint, seen);
        }
        let points = end(tools, &state, seed);
        let mut gains = points.clone();
        for (role, view, legal, place, chance) in path.into_iter().rev() {
            let table = self.tables.get_mut(&(role, view)).unwrap();
            table.arm(legal[place]).total += gains[role];
            match chance {
                None => gains[role] = table.hand_up(),
                Some(chance) => {
                    table.arm(legal[place]).regret += points[role] / chance;
                    legal.iter().for_each(|&mv| table.arm(mv).regret -= points[role]);
                }
            }
        }
    }
}

/// The next state and the next views.
fn follow(tools: &mut Tools, state: &State, joint: &[MoveId], mut seen: Vec<Seen>) -> (State, Vec<Seen>) {
    for (role, seen) in seen.iter_mut().enumerate() {
        let mut percepts = Vec::new();
        let id = RoleId(role as u16);
        tools.sim.percepts(state, joint, id, &mut percepts).unwrap();
        seen.push((joint[role], percepts));
    }
    (tools.sim.next(state, joint).unwrap(), seen)
}

/// Points in 0..1: of the end, or the mean of as many games as a lone leaf gets.
fn end(tools: &mut Tools, state: &State, seed: Seed) -> Vec<f64> {
    let n_roles = tools.sim.roles().len();
    if tools.sim.terminal(state).unwrap() {
        let goal = |role: usize| f64::from(tools.sim.goal(state, RoleId(role as u16)).unwrap().points()) * 0.01;
        return (0..n_roles).map(goal).collect();
    }
    let mut ends = GameEnds::default();
    tools
        .one_each(&[state; 8], seed, &StopFlag::default(), &mut ends)
        .unwrap();
    let sum = |role: usize| (0..8).map(|game| f64::from(ends.of(game).unwrap()[role])).sum::<f64>();
    (0..n_roles).map(|role| sum(role) * (0.01 / 8.0)).collect()
}

fn player(name: &str) -> IsMcts {
    let rules = gdl::read(&catalogue::rules(name).unwrap(), &gdl::Options::default()).rules;
    let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {}).unwrap();
    let game = compile(&program, &CompileOptions::default());
    let tools = Tools {
        sim: Box::new(Scalar::new(&game)),
        batch: Some(Box::new(Lanes::new(&game, Seed(1)))),
        playouts: Some(Box::new(Rollouts::new(&game, 1))),
        others: None,
        role: RoleId(0),
        seed: Seed(1),
    };
    let options = IsMctsOptions {
        simulations: Some(2_000),
        batch: 1,
        ..IsMctsOptions::default()
    };
    IsMcts::new(tools, SamplerKind::Trellis, &Options::default(), options).unwrap()
}

/// Plays random moves until the first role has a choice; what it was told until then.
fn told_until_a_choice(tools: &mut Tools, seed: u64) -> Vec<game::Told> {
    let (mut state, mut told, mut rng) = (tools.sim.initial().unwrap(), Vec::new(), Seed(seed).rng());
    while tools.legal(&state, RoleId(0)).unwrap().len() < 2 {
        let n_roles = tools.sim.roles().len() as u16;
        let joint: Vec<MoveId> = (0..n_roles)
            .map(|role| *rng.pick(&tools.legal(&state, RoleId(role)).unwrap()))
            .collect();
        let mut percepts = Vec::new();
        tools.sim.percepts(&state, &joint, RoleId(0), &mut percepts).unwrap();
        let texts: Vec<&str> = percepts.iter().map(|&p| tools.sim.percept_text(RoleId(0), p)).collect();
        told.push(game::Told::new(tools.text(joint[0]), texts));
        state = tools.sim.next(&state, &joint).unwrap();
    }
    told
}

#[test]
fn groups_of_one_are_the_plain_search() {
    for name in ["kuhn-poker", "phantom-tictactoe", "goofspiel", "leduc-poker"] {
        let mut fast = player(name);
        let told = told_until_a_choice(&mut fast.believer.tools, 3);
        let decision = fast.choose(&told, &Budget::iterations(u64::MAX)).unwrap();
        let mut slow = player(name);
        slow.believer.update(&told, &Budget::iterations(u64::MAX)).unwrap();
        let models = slow.believer.histories(slow.models);
        let seed = slow.believer.tools.seed.child("ismcts").nth(told.len() as u64);
        let tools = &mut slow.believer.tools;
        let n_roles = tools.sim.roles().len();
        let (mut roots, mut weights) = (Vec::new(), Vec::new());
        for model in models.iter().filter(|model| model.weight > 0.0) {
            let (mut state, mut seen) = (tools.sim.initial().unwrap(), vec![Seen::new(); n_roles]);
            for joint in &model.history {
                (state, seen) = follow(tools, &state, joint, seen);
            }
            roots.push((state, seen));
            weights.push(model.weight);
        }
        let mut plain = Plain {
            tables: HashMap::new(),
            c: slow.options.exploration,
        };
        let mut rng = seed.child("descents").rng();
        let mut deck: Vec<usize> = Vec::new();
        for number in 0..2_000 {
            if deck.is_empty() {
                deck = deal(&weights, &mut rng);
            }
            let root = &roots[deck.pop().unwrap()];
            plain.simulate(tools, root, &mut rng, seed.nth(number));
        }
        let table = &plain.tables[&(0, roots[0].1[0].clone())];
        assert_eq!(decision.candidates.len(), table.arms.len(), "{name}");
        for (mv, arm) in &table.arms {
            let found = decision.candidates.iter().find(|c| c.mv == tools.text(*mv)).unwrap();
            let mean = 100.0 * arm.total / f64::from(arm.visits.max(1));
            assert_eq!(found.visits, u64::from(arm.visits), "{name}, {}", found.mv);
            assert!(
                (found.mean - mean).abs() < 1e-9,
                "{name}, {}: {} {mean}",
                found.mv,
                found.mean
            );
        }
        let visits: u32 = table.arms.iter().map(|(_, arm)| arm.visits).sum();
        assert!(visits > 1_000, "{name}");
    }
}
