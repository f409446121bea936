//! What the tests of players share.

// Every test file is a program of its own and uses a part of this.
#![allow(dead_code)]

use game::{Budget, Decision, Player, RoleId, Seed, StopFlag, Told};
use ground::Reference;
use propnet::{CompileOptions, Compiled, Lanes, Rollouts, Scalar, compile};
use surmise_search::{Insight, Perfect, Tools};

/// A game that many players can be made for.
pub struct TestGame {
    rules: gdl::Rules,
    compiled: Compiled,
}

impl TestGame {
    pub fn of(name: &str) -> TestGame {
        TestGame::from_text(&catalogue::rules(name).unwrap())
    }

    pub fn from_text(text: &str) -> TestGame {
        TestGame::from_rules(gdl::read(text, &gdl::Options::default()).rules)
    }

    /// A game of the catalogue in which every role is told every move: its `sees` rules are removed.
    pub fn opened(name: &str) -> TestGame {
        let mut rules = gdl::read(&catalogue::rules(name).unwrap(), &gdl::Options::default()).rules;
        rules.clauses.retain(|c| c.head.relation != gdl::kw::SEES);
        TestGame::from_rules(rules)
    }

    fn from_rules(mut rules: gdl::Rules) -> TestGame {
        rules.announce_moves();
        let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {}).unwrap();
        TestGame {
            rules,
            compiled: compile(&program, &CompileOptions::default()),
        }
    }

    /// With lanes.
    pub fn tools(&self, role: u16, seed: u64) -> Tools {
        Tools {
            sim: Box::new(Scalar::new(&self.compiled)),
            batch: Some(Box::new(Lanes::new(&self.compiled, Seed(seed)))),
            playouts: Some(Box::new(Rollouts::new(&self.compiled, 1))),
            others: None,
            role: RoleId(role),
            seed: Seed(seed),
        }
    }

    /// On the reference simulator, one playout after the other.
    pub fn slow_tools(&self, role: u16, seed: u64) -> Tools {
        Tools {
            sim: Box::new(Reference::new(&self.rules).unwrap()),
            batch: None,
            playouts: None,
            others: None,
            role: RoleId(role),
            seed: Seed(seed),
        }
    }

    /// What an insight says after these rounds.
    pub fn ask(&self, role: u16, seed: u64, insight: Box<dyn Insight>, rounds: &[Vec<String>]) -> Decision {
        let mut player = Perfect::new(self.tools(role, seed), insight);
        player.choose(&self.told(role, rounds), &budget()).unwrap()
    }

    fn told(&self, role: u16, rounds: &[Vec<String>]) -> Vec<Told> {
        let roles = self.compiled.roles();
        let announce = |joint: &Vec<String>| {
            let did = joint.iter().zip(roles).map(|(mv, role)| format!("(did {role} {mv})"));
            Told {
                own: joint[role as usize].clone(),
                sees: did.collect(),
            }
        };
        rounds.iter().map(announce).collect()
    }

    /// Plays a whole game and gives the payoffs; nature draws from the seed.
    pub fn play(&self, players: &mut [Option<Perfect>], seed: u64) -> Vec<u8> {
        let mut tools = self.tools(0, seed);
        let mut rng = Seed(seed).rng();
        let mut state = tools.sim.initial().unwrap();
        let mut rounds: Vec<Vec<String>> = Vec::new();
        while !tools.sim.terminal(&state).unwrap() {
            let (mut joint, mut texts) = (Vec::new(), Vec::new());
            for (role, player) in players.iter_mut().enumerate() {
                let legal = tools.legal(&state, RoleId(role as u16)).unwrap();
                let mv = match player {
                    None => *rng.pick(&legal),
                    Some(player) => {
                        let told = self.told(role as u16, &rounds);
                        let text = player.choose(&told, &budget()).unwrap().mv;
                        let found = legal
                            .iter()
                            .find(|&&m| tools.sim.move_text(RoleId(role as u16), m) == text);
                        *found.unwrap_or_else(|| panic!("`{text}` is not legal"))
                    }
                };
                texts.push(tools.sim.move_text(RoleId(role as u16), mv).to_owned());
                joint.push(mv);
            }
            state = tools.sim.next(&state, &joint).unwrap();
            rounds.push(texts);
        }
        let roles = (0..players.len()).map(|role| RoleId(role as u16));
        roles
            .map(|role| tools.sim.goal(&state, role).unwrap().points())
            .collect()
    }
}

pub fn budget() -> Budget {
    Budget::until(StopFlag::default())
}

/// Rounds in which two players take turns; the other one passes.
pub fn turns(moves: &[&str]) -> Vec<Vec<String>> {
    let joint = |(number, mv): (usize, &&str)| {
        let mut joint = vec!["noop".to_owned(); 2];
        joint[number % 2] = (*mv).to_owned();
        joint
    };
    moves.iter().enumerate().map(joint).collect()
}

/// The value of a move.
pub fn mean(decision: &Decision, mv: &str) -> f64 {
    let found = decision.candidates.iter().find(|c| c.mv == mv);
    found.unwrap_or_else(|| panic!("no `{mv}` in {decision:?}")).mean
}
