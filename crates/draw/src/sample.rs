//! Random games from a fixed seed: which fluents and moves there are, and what changes when a move is made.

use crate::layout::LayoutOptions;
use crate::term::{Atom, Families, Id, Names};
use game::{Fault, MoveId, Rng, RoleId, Seed, Simulator, State};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Rounds of one random game.
const ROUNDS: usize = 120;
/// Fluents and legal moves to look at, in all states together.
const ITEMS: usize = 200_000;
/// Different legal moves to remember for each role.
const MOVES: usize = 40_000;
/// The seed of the random games.
const SEED: Seed = Seed(0x5eed_d8a3);

/// What was seen in the random games.
#[derive(Default)]
pub struct Samples {
    pub names: Names,
    pub fluents: Families,
    pub moves: Families,
    /// States in the order of play, each sorted.
    pub states: Vec<Vec<Atom>>,
    /// Numbers of the initial states and of the last states of finished games.
    pub first: Vec<usize>,
    pub last: Vec<usize>,
    pub steps: Vec<Step>,
    /// The role that is nature.
    pub nature: Option<usize>,
    /// Legal moves of each role.
    pub legal: Vec<BTreeSet<Atom>>,
}

/// A joint move that was drawn: as numbers, as atoms, and whether each role had a choice.
struct Chosen {
    joint: Vec<MoveId>,
    atoms: Vec<Atom>,
    chose: Vec<bool>,
}

/// A round: states by number, and what each role did.
pub struct Step {
    pub before: usize,
    pub after: usize,
    pub joint: Vec<Atom>,
    /// Whether the role had a choice.
    pub chose: Vec<bool>,
}

impl Samples {
    /// Plays random games.
    pub fn play(sim: &mut dyn Simulator, options: &LayoutOptions) -> Result<Samples, Fault> {
        let roles = sim.roles().len();
        let mut samples = Samples {
            legal: vec![BTreeSet::new(); roles],
            nature: sim.nature().map(|id| usize::from(id.0)),
            ..Samples::default()
        };
        let mut reader = Reader::default();
        for number in 0..options.games {
            if samples.states.len() >= options.states || reader.items >= ITEMS {
                break;
            }
            let mut rng = SEED.nth(number as u64).rng();
            // A fault of the rules ends the game; what was seen stays.
            if let Err(Fault::Stopped) = samples.play_one(sim, options, &mut reader, &mut rng) {
                return Err(Fault::Stopped);
            }
        }
        Ok(samples)
    }

    fn play_one(
        &mut self,
        sim: &mut dyn Simulator,
        options: &LayoutOptions,
        reader: &mut Reader,
        rng: &mut Rng,
    ) -> Result<(), Fault> {
        let mut state = sim.initial()?;
        let mut number = self.add_state(sim, &state, reader);
        self.first.push(number);
        for _ in 0..ROUNDS {
            if options.stop.is_raised() {
                return Err(Fault::Stopped);
            }
            if sim.terminal(&state)? {
                self.last.push(number);
                break;
            }
            if self.states.len() >= options.states || reader.items >= ITEMS {
                break;
            }
            let chosen = self.choose(sim, &state, reader, rng)?;
            state = sim.next(&state, &chosen.joint)?;
            let after = self.add_state(sim, &state, reader);
            self.steps.push(Step {
                before: number,
                after,
                joint: chosen.atoms,
                chose: chosen.chose,
            });
            number = after;
        }
        Ok(())
    }

    fn add_state(&mut self, sim: &dyn Simulator, state: &State, reader: &mut Reader) -> usize {
        let texts = sim.fluents(state);
        reader.items += texts.len();
        let mut atoms: Vec<Atom> = Vec::with_capacity(texts.len());
        for text in &texts {
            if let Some(atom) = reader.fluents.get(text) {
                atoms.push(atom.clone());
                continue;
            }
            let atom = self.fluents.read(text, &mut self.names);
            reader.fluents.insert(text.clone(), atom.clone());
            atoms.push(atom);
        }
        atoms.sort();
        self.states.push(atoms);
        self.states.len() - 1
    }

    fn choose(
        &mut self,
        sim: &mut dyn Simulator,
        state: &State,
        reader: &mut Reader,
        rng: &mut Rng,
    ) -> Result<Chosen, Fault> {
        let (mut joint, mut atoms, mut chose) = (Vec::new(), Vec::new(), Vec::new());
        let mut legal = Vec::new();
        for role in 0..self.legal.len() {
            let id = RoleId(role as u16);
            sim.legal(state, id, &mut legal)?;
            if legal.is_empty() {
                return Err(Fault::no_move(None));
            }
            reader.items += legal.len();
            let chosen = legal[rng.below(legal.len())];
            for &mv in &legal {
                let known = reader.moves.contains_key(&(role, mv));
                if known || (self.legal[role].len() >= MOVES && mv != chosen) {
                    continue;
                }
                let atom = self.moves.read(sim.move_text(id, mv), &mut self.names);
                self.legal[role].insert(atom.clone());
                reader.moves.insert((role, mv), atom);
            }
            joint.push(chosen);
            atoms.push(reader.moves[&(role, chosen)].clone());
            chose.push(legal.len() > 1);
        }
        Ok(Chosen { joint, atoms, chose })
    }

    /// The fluents of a family in a state.
    pub fn of_family(&self, state: usize, family: usize) -> &[Atom] {
        let atoms = &self.states[state];
        let start = atoms.partition_point(|a| a.family < family);
        let end = atoms.partition_point(|a| a.family <= family);
        &atoms[start..end]
    }

    /// Values of each argument of a family of fluents, over all states.
    pub fn domains(&self) -> Vec<Vec<BTreeSet<Id>>> {
        let mut domains: Vec<Vec<BTreeSet<Id>>> = self
            .fluents
            .list
            .iter()
            .map(|f| vec![BTreeSet::new(); f.arity])
            .collect();
        for atom in self.states.iter().flatten() {
            for (at, &arg) in atom.args.iter().enumerate() {
                domains[atom.family][at].insert(arg);
            }
        }
        domains
    }

    /// Different tuples of a family's arguments, over all states.
    pub fn tuples(&self, family: usize) -> BTreeSet<&[Id]> {
        let of = |state| self.of_family(state, family).iter().map(|a| &a.args[..]);
        (0..self.states.len()).flat_map(of).collect()
    }

    /// The legal moves of all roles, by family, with the roles that have them.
    pub fn moves_by_family(&self) -> BTreeMap<usize, Vec<(usize, &[Id])>> {
        let mut found: BTreeMap<usize, Vec<(usize, &[Id])>> = BTreeMap::new();
        for (role, moves) in self.legal.iter().enumerate() {
            for mv in moves {
                found.entry(mv.family).or_default().push((role, &mv.args));
            }
        }
        found
    }
}

/// Texts that were taken apart already.
#[derive(Default)]
struct Reader {
    fluents: HashMap<String, Atom>,
    moves: HashMap<(usize, MoveId), Atom>,
    items: usize,
}
