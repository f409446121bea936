//! Facts about the games that a wrong rule would get wrong: `testdata/facts.md`, whose first section explains the
//! lines.

use game::{MoveId, PerceptId, RoleId, Simulator, State};
use ground::Reference;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Facts that are not checked here: equilibria, which need the solver, and enumerations beyond [`MAX_VISITED`].
const MAX_SKIPPED: usize = 19;

/// Distinct states (or views) visited before a fact counts as too large to check here.
const MAX_VISITED: usize = 60_000;

#[test]
fn every_fact_holds() {
    let text = include_str!("../../../testdata/facts.md");
    let mut book = Book::default();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        match line.trim() {
            "```facts" => inside = true,
            "```" => inside = false,
            line if inside => book.line(number + 1, line),
            _ => {}
        }
    }
    for skipped in &book.skipped {
        eprintln!("not checked here: {skipped}");
    }
    assert!(
        book.skipped.len() <= MAX_SKIPPED,
        "{} facts were not checked, at most {MAX_SKIPPED} are expected",
        book.skipped.len()
    );
    assert!(
        book.wrong.is_empty(),
        "{} facts do not hold:\n{}",
        book.wrong.len(),
        book.wrong.join("\n")
    );
    assert!(book.checked > 700, "only {} facts were checked", book.checked);
    for game in surmise_catalogue::games() {
        let facts = book.by_game.get(game.name).copied().unwrap_or(0);
        assert!(facts >= 4, "{} has only {facts} facts", game.name);
    }
}

#[derive(Default)]
struct Book {
    play: Option<Play>,
    checked: usize,
    by_game: BTreeMap<String, usize>,
    wrong: Vec<String>,
    skipped: Vec<String>,
}

/// One game being played, with what everybody did and saw.
struct Play {
    name: String,
    sim: Reference,
    state: State,
    history: Vec<(Vec<MoveId>, Vec<Vec<PerceptId>>)>,
}

/// Whether a fact holds, or why that is not known.
enum Verdict {
    Holds,
    Wrong(String),
    Skipped(String),
}

fn expect<T: PartialEq + std::fmt::Debug>(found: T, wanted: T) -> Verdict {
    match found == wanted {
        true => Verdict::Holds,
        false => Verdict::Wrong(format!("found {found:?}, wanted {wanted:?}")),
    }
}

impl Book {
    fn line(&mut self, number: usize, line: &str) {
        let line = line.split('#').next().unwrap_or_default().trim();
        let words = words(line);
        let Some((verb, args)) = words.split_first() else {
            return;
        };
        if verb == "game" {
            self.play = Some(Play::start(&args[0]));
            return;
        }
        let play = self.play.as_mut().expect("`game` comes first");
        let verdict = play.fact(verb, args);
        let place = format!("facts.md:{number} ({}): {line}", play.name);
        match verdict {
            Verdict::Holds => {
                self.checked += 1;
                let game = play.name.split(':').next().unwrap_or_default().to_owned();
                *self.by_game.entry(game).or_insert(0) += 1;
            }
            Verdict::Wrong(why) => self.wrong.push(format!("{place}: {why}")),
            Verdict::Skipped(why) => self.skipped.push(format!("{place}: {why}")),
        }
    }
}

/// Words of a line; what stands in parentheses is one word.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0;
    for c in line.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if c == ' ' && depth == 0 {
            words.push(String::new());
        } else {
            words.last_mut().unwrap().push(c);
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

impl Play {
    fn start(spec: &str) -> Play {
        let rules = surmise_catalogue::rules(spec).unwrap();
        let reading = gdl::read(&rules, &gdl::Options::default());
        let mut sim = Reference::new(&reading.rules).unwrap();
        let state = sim.initial().unwrap();
        Play {
            name: spec.to_owned(),
            sim,
            state,
            history: Vec::new(),
        }
    }

    fn fact(&mut self, verb: &str, args: &[String]) -> Verdict {
        match verb {
            "roles" => expect(self.sim.roles().to_vec(), args.to_vec()),
            "legal" => {
                let role = self.role(&args[0]);
                expect(self.legal(role).len(), args[1].parse().unwrap())
            }
            "moves" => {
                let role = self.role(&args[0]);
                let found: HashSet<String> = self
                    .legal(role)
                    .into_iter()
                    .map(|m| self.sim.move_text(role, m).to_owned())
                    .collect();
                expect(found, args[1..].iter().cloned().collect())
            }
            "play" => self.play(args),
            "sees" => self.sees(&args[0], &args[1..]),
            "infoset" => {
                let role = self.role(&args[0]);
                expect(self.histories_that_fit(role), args[1].parse().unwrap())
            }
            "open" => expect(self.sim.terminal(&self.state).unwrap(), false),
            "terminal" => expect(self.sim.terminal(&self.state).unwrap(), true),
            "goal" => {
                let role = self.role(&args[0]);
                assert!(
                    self.sim.terminal(&self.state).unwrap(),
                    "goals count in terminal states"
                );
                expect(self.sim.goal(&self.state, role).unwrap().exact(), args[1].parse().ok())
            }
            "plays" => self.count_plays(None, args[0].parse().unwrap()),
            "perft" => self.count_plays(args[0].parse().ok(), args[1].parse().unwrap()),
            "length" => self.length(&args[0]),
            "value" => self.value(&args[0], args[1].parse().unwrap()),
            _ => panic!("unknown fact `{verb}`"),
        }
    }

    fn role(&self, name: &str) -> RoleId {
        let at = self.sim.roles().iter().position(|r| r == name);
        RoleId(at.unwrap_or_else(|| panic!("{}: no role {name}", self.name)) as u16)
    }

    fn legal(&mut self, role: RoleId) -> Vec<MoveId> {
        legal(&mut self.sim, &self.state, role)
    }

    fn play(&mut self, args: &[String]) -> Verdict {
        let mut joint = Vec::new();
        for (number, name) in self.sim.roles().to_vec().iter().enumerate() {
            let role = RoleId(number as u16);
            let options = self.legal(role);
            let given = args
                .iter()
                .find_map(|a| a.strip_prefix(name.as_str())?.strip_prefix(':'));
            let chosen = match given {
                Some(text) => options.iter().copied().find(|&m| self.sim.move_text(role, m) == text),
                None if options.len() == 1 => Some(options[0]),
                None => return Verdict::Wrong(format!("{name} has {} moves", options.len())),
            };
            match chosen {
                Some(mv) => joint.push(mv),
                None => return Verdict::Wrong(format!("{given:?} is not legal for {name}")),
            }
        }
        let percepts = all_percepts(&mut self.sim, &self.state, &joint);
        self.state = self.sim.next(&self.state, &joint).unwrap();
        self.history.push((joint, percepts));
        Verdict::Holds
    }

    fn sees(&mut self, role: &str, wanted: &[String]) -> Verdict {
        let role = self.role(role);
        let (_, percepts) = self.history.last().expect("a round was played");
        let seen = &percepts[role.0 as usize];
        let found: HashSet<String> = seen
            .iter()
            .map(|&p| self.sim.percept_text(role, p).to_owned())
            .collect();
        expect(found, wanted.iter().cloned().collect())
    }

    /// How many histories give the role the view that it has.
    fn histories_that_fit(&mut self, role: RoleId) -> u64 {
        let is_over = self.sim.terminal(&self.state).unwrap();
        let mut layer: HashMap<State, u64> = HashMap::from([(self.sim.initial().unwrap(), 1)]);
        for (joint, percepts) in &self.history {
            let (own, seen) = (joint[role.0 as usize], &percepts[role.0 as usize]);
            let mut next: HashMap<State, u64> = HashMap::new();
            for (state, count) in layer {
                if self.sim.terminal(&state).unwrap() {
                    continue;
                }
                for candidate in joint_moves(&mut self.sim, &state, Some((role, own))) {
                    let mut sees = Vec::new();
                    self.sim.percepts(&state, &candidate, role, &mut sees).unwrap();
                    if sees == *seen {
                        *next.entry(self.sim.next(&state, &candidate).unwrap()).or_insert(0) += count;
                    }
                }
            }
            layer = next;
        }
        let sim = &mut self.sim;
        layer
            .iter()
            .filter(|(state, _)| sim.terminal(state).unwrap() == is_over)
            .map(|(_, count)| count)
            .sum()
    }

    /// Shortest and longest play, over all reachable states.
    fn length(&mut self, wanted: &str) -> Verdict {
        let mut layer = HashSet::from([self.sim.initial().unwrap()]);
        let (mut shortest, mut visited) = (None, 0);
        for depth in 0.. {
            let mut next = HashSet::new();
            for state in &layer {
                if self.sim.terminal(state).unwrap() {
                    shortest.get_or_insert(depth);
                    continue;
                }
                for joint in joint_moves(&mut self.sim, state, None) {
                    next.insert(self.sim.next(state, &joint).unwrap());
                    visited += 1;
                    if visited > MAX_VISITED {
                        return Verdict::Skipped("too many states to enumerate".to_owned());
                    }
                }
            }
            if next.is_empty() {
                return expect(format!("{}..{depth}", shortest.expect("games end")), wanted.to_owned());
            }
            layer = next;
        }
        unreachable!("games end")
    }

    /// Sequences of joint moves: complete plays, or those of a given length.
    fn count_plays(&mut self, depth: Option<usize>, wanted: u64) -> Verdict {
        let mut layer: HashMap<State, u64> = HashMap::from([(self.sim.initial().unwrap(), 1)]);
        let (mut plays, mut visited) = (0, 0);
        for _ in 0..depth.unwrap_or(usize::MAX) {
            let mut next: HashMap<State, u64> = HashMap::new();
            for (state, count) in layer {
                if self.sim.terminal(&state).unwrap() {
                    plays += count;
                    continue;
                }
                for joint in joint_moves(&mut self.sim, &state, None) {
                    *next.entry(self.sim.next(&state, &joint).unwrap()).or_insert(0) += count;
                    visited += 1;
                    if visited > MAX_VISITED {
                        return Verdict::Skipped("too many states to enumerate".to_owned());
                    }
                }
            }
            layer = next;
            if layer.is_empty() {
                break;
            }
        }
        match depth {
            Some(_) => expect(layer.values().sum(), wanted),
            None => expect(plays, wanted),
        }
    }

    /// The best expected payoff of the only player, by dynamic programming over its views.
    fn value(&mut self, role: &str, wanted: f64) -> Verdict {
        let players = self.sim.roles().iter().filter(|r| *r != "random").count();
        if players > 1 {
            return Verdict::Skipped("an equilibrium: for the solver".to_owned());
        }
        let role = self.role(role);
        let mut planner = Planner {
            sim: &mut self.sim,
            role,
            known: HashMap::new(),
            visited: 0,
        };
        let start = vec![(planner.sim.initial().unwrap(), 1.0)];
        match planner.best(start) {
            None => Verdict::Skipped("too many views to enumerate".to_owned()),
            Some(value) if (value - wanted).abs() < 0.01 => Verdict::Holds,
            Some(value) => Verdict::Wrong(format!("found {value:.4}")),
        }
    }
}

/// Best play of one role against nature.
struct Planner<'a> {
    sim: &'a mut Reference,
    role: RoleId,
    /// Values of beliefs: different views often leave the same belief.
    known: HashMap<Vec<(State, u64)>, f64>,
    visited: usize,
}

impl Planner<'_> {
    /// Expected payoff of the best play from a belief: states with their probabilities, not normalised.
    fn best(&mut self, belief: Vec<(State, f64)>) -> Option<f64> {
        let mut ended = 0.0;
        let mut open: Vec<(State, f64)> = Vec::new();
        for (state, p) in belief {
            match self.sim.terminal(&state).unwrap() {
                true => ended += p * f64::from(self.sim.goal(&state, self.role).unwrap().points()),
                false => open.push((state, p)),
            }
        }
        let mass: f64 = open.iter().map(|(_, p)| p).sum();
        if open.is_empty() {
            return Some(ended);
        }
        let mut key: Vec<(State, u64)> = open
            .iter()
            .map(|(s, p)| (s.clone(), (p / mass * 1e9).round() as u64))
            .collect();
        key.sort();
        let value = match self.known.get(&key) {
            Some(&value) => value,
            None => {
                open.iter_mut().for_each(|(_, p)| *p /= mass);
                let value = self.best_move(&open)?;
                self.known.insert(key, value);
                value
            }
        };
        Some(ended + mass * value)
    }

    fn best_move(&mut self, open: &[(State, f64)]) -> Option<f64> {
        let mut value = f64::MIN;
        for own in legal(self.sim, &open[0].0, self.role) {
            let mut views: HashMap<Vec<PerceptId>, HashMap<State, f64>> = HashMap::new();
            for (state, p) in open {
                let joints = joint_moves(self.sim, state, Some((self.role, own)));
                for joint in &joints {
                    let mut sees = Vec::new();
                    self.sim.percepts(state, joint, self.role, &mut sees).unwrap();
                    let next = self.sim.next(state, joint).unwrap();
                    *views.entry(sees).or_default().entry(next).or_insert(0.0) += p / joints.len() as f64;
                    self.visited += 1;
                }
            }
            if self.visited > 4 * MAX_VISITED {
                return None;
            }
            let mut total = 0.0;
            for belief in views.into_values() {
                total += self.best(belief.into_iter().collect())?;
            }
            value = value.max(total);
        }
        Some(value)
    }
}

fn legal(sim: &mut Reference, state: &State, role: RoleId) -> Vec<MoveId> {
    let mut moves = Vec::new();
    sim.legal(state, role, &mut moves).unwrap();
    moves
}

fn all_percepts(sim: &mut Reference, state: &State, joint: &[MoveId]) -> Vec<Vec<PerceptId>> {
    (0..joint.len())
        .map(|number| {
            let mut sees = Vec::new();
            sim.percepts(state, joint, RoleId(number as u16), &mut sees).unwrap();
            sees
        })
        .collect()
}

/// All joint moves of a state, or those in which a role makes a given move.
fn joint_moves(sim: &mut Reference, state: &State, fixed: Option<(RoleId, MoveId)>) -> Vec<Vec<MoveId>> {
    let mut joints: Vec<Vec<MoveId>> = vec![Vec::new()];
    for number in 0..sim.roles().len() {
        let role = RoleId(number as u16);
        let mut options = legal(sim, state, role);
        if let Some((fixed_role, mv)) = fixed
            && fixed_role == role
        {
            options.retain(|&m| m == mv);
        }
        joints = joints
            .iter()
            .flat_map(|j| options.iter().map(|&m| [j.as_slice(), &[m]].concat()))
            .collect();
    }
    joints
}
