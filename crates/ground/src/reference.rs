//! The reference simulator: evaluates the rules themselves.
//!
//! It is slow compared with a network of gates, but it plays every valid game, also games that cannot be grounded. Its
//! answers define the answers of the fast simulators.

mod compiled_rule;
mod machine;
mod table;
mod wellfounded;
mod why;

use crate::goal_value;
use crate::terms::{TermId, Terms};
use crate::theory::{Layer, RelId, Theory, rel};
pub(crate) use compiled_rule::{Known, expected_rows};
use game::{Fault, Goal, Meter, MoveId, PerceptId, RoleId, Simulator, State, StopFlag};
use gdl::{Rules, Symbols};
pub use machine::EvaluationLimits;
pub(crate) use machine::Machine;
use rustc_hash::FxHashMap;
use std::sync::Arc;
pub(crate) use table::TableId;
pub use why::{Because, Condition, Derivation, Why};

/// Steps for the evaluation of a static relation as a whole, before it is left to evaluation on demand.
const STATIC_STEPS: u64 = 100_000;

/// Evaluates rules directly, goal by goal, with tables.
///
/// A state is the packed numbers of its fluents, sorted.
#[derive(Clone)]
pub struct Reference {
    machine: Machine,
    symbols: Arc<Symbols>,
    roles: Vec<String>,
    role_terms: Vec<TermId>,
    initial: State,
    moves: Names,
    percepts: Names,
    /// The state and joint move that the machine's tables belong to.
    state: Option<State>,
    joint: Vec<MoveId>,
    meter: Meter,
}

impl Reference {
    /// A simulator with default limits; computes the roles and the initial state.
    pub fn new(rules: &Rules) -> Result<Reference, Fault> {
        Reference::with(rules, EvaluationLimits::default(), StopFlag::default())
    }

    /// As [`Reference::new`], with limits and a flag that ends long questions.
    pub fn with(rules: &Rules, limits: EvaluationLimits, stop: StopFlag) -> Result<Reference, Fault> {
        let theory = Theory::new(rules);
        if let Some(relation) = theory.unfit_relation() {
            return Err(Fault::Rules(relation));
        }
        let mut machine = Machine::new(Arc::new(theory), limits);
        machine.stop = stop;
        let needed = machine.theory.needed_for(&rel::ASKED);
        machine.store_static_relations(&needed, STATIC_STEPS);
        let mut reference = Reference {
            machine,
            symbols: Arc::new(rules.symbols.clone()),
            roles: Vec::new(),
            role_terms: Vec::new(),
            initial: State::default(),
            moves: Names::default(),
            percepts: Names::default(),
            state: None,
            joint: Vec::new(),
            meter: Meter::default(),
        };
        reference.find_roles()?;
        reference.find_initial()?;
        Ok(reference)
    }

    /// Ends long questions with [`Fault::Stopped`] once the flag is raised.
    pub fn set_stop(&mut self, stop: StopFlag) {
        self.machine.stop = stop;
    }

    fn find_roles(&mut self) -> Result<(), Fault> {
        self.role_terms = roles_in_order(&mut self.machine, &self.symbols)?;
        let text = |&r: &TermId| self.machine.terms.text(r, &self.symbols);
        self.roles = self.role_terms.iter().map(text).collect();
        Ok(())
    }

    fn find_initial(&mut self) -> Result<(), Fault> {
        let fluents = self.column(rel::INIT, &[None])?;
        self.machine.learn_fluents(&fluents);
        self.initial = pack(fluents);
        Ok(())
    }

    /// The values of the only open argument of a relation.
    fn column(&mut self, relation: RelId, args: &[Option<TermId>]) -> Result<Vec<TermId>, Fault> {
        let rows = self.machine.rows(relation, args)?;
        Ok(rows.into_iter().map(|row| row[0]).collect())
    }

    /// Gives the machine a state, for questions about relations of this one.
    fn load(&mut self, state: &State, asked: RelId) {
        if self.state.as_ref() != Some(state) {
            self.machine.set_state(&unpack(state));
            self.state = Some(state.clone());
            self.joint.clear();
        }
        // Valid rules for `legal` and the like do not depend on `does`; without a joint move no `does` holds.
        let hangs_on_move = self.machine.theory.relation(asked).layer == Layer::Move;
        if hangs_on_move && !self.joint.is_empty() {
            self.machine.set_joint(&[]);
            self.joint.clear();
        }
    }

    /// Gives the machine a state and a joint move.
    fn load_joint(&mut self, state: &State, joint: &[MoveId]) -> Result<(), Fault> {
        if self.state.as_ref() == Some(state) && self.joint == joint {
            return Ok(());
        }
        if joint.len() != self.roles.len() {
            return Err(Fault::Foreign("a joint move with another number of roles"));
        }
        self.load(state, rel::TERMINAL);
        let mut does = Vec::with_capacity(joint.len());
        for (&role, &mv) in self.role_terms.iter().zip(joint) {
            does.push((role, self.moves.term(mv.0)?));
        }
        self.machine.set_joint(&does);
        self.joint = joint.to_vec();
        Ok(())
    }

    fn role_term(&self, role: RoleId) -> Result<TermId, Fault> {
        let term = self.role_terms.get(role.0 as usize);
        term.copied().ok_or(Fault::Foreign("a role"))
    }

    fn text(&self, term: TermId) -> String {
        self.machine.terms.text(term, &self.symbols)
    }

    fn pairs(&mut self, relation: RelId) -> Result<Vec<(String, String)>, Fault> {
        let rows = self.machine.rows(relation, &[None, None])?;
        let text = |row: &Vec<TermId>| (self.text(row[0]), self.text(row[1]));
        let mut pairs: Vec<(String, String)> = rows.iter().map(text).collect();
        pairs.sort();
        Ok(pairs)
    }
}

/// Questions of checkers, which play does not ask.
impl Reference {
    /// Every `legal(r,m)` that holds, also where `r` is no role; sorted.
    pub fn raw_legal(&mut self, state: &State) -> Result<Vec<(String, String)>, Fault> {
        self.load(state, rel::LEGAL);
        self.pairs(rel::LEGAL)
    }

    /// Every `goal(r,v)` that holds, also where `r` is no role or `v` no number; sorted.
    pub fn raw_goals(&mut self, state: &State) -> Result<Vec<(String, String)>, Fault> {
        self.load(state, rel::GOAL);
        self.pairs(rel::GOAL)
    }

    /// Every `sees(r,p)` that holds, also where `r` is no role; sorted.
    pub fn raw_sees(&mut self, state: &State, joint: &[MoveId]) -> Result<Vec<(String, String)>, Fault> {
        self.load_joint(state, joint)?;
        self.pairs(rel::SEES)
    }

    /// The rows of a relation that depends neither on the state nor on moves; sorted. `None` for other relations, and
    /// for those that are too large to be evaluated as a whole.
    pub fn static_rows(&self, name: &str, arity: usize) -> Option<Vec<Vec<String>>> {
        let symbol = self.symbols.get(name)?;
        let relation = self.machine.theory.find(symbol, arity)?;
        if self.machine.theory.relation(relation).layer != Layer::Static {
            return None;
        }
        let rows = self.machine.stored_rows(relation)?.rows();
        let text = |row: &[TermId]| row.iter().map(|&t| self.text(t)).collect();
        let mut rows: Vec<Vec<String>> = rows.rows().map(text).collect();
        rows.sort();
        Some(rows)
    }

    /// The arguments of a relation with one argument, in a state and, if one is given, with a joint move.
    pub(crate) fn rows_of(
        &mut self,
        relation: &str,
        state: &State,
        joint: Option<&[MoveId]>,
    ) -> Result<Vec<String>, Fault> {
        let relation = self
            .symbols
            .get(relation)
            .and_then(|name| self.machine.theory.find(name, 1));
        let Some(relation) = relation else {
            return Ok(Vec::new());
        };
        match joint {
            Some(joint) => self.load_joint(state, joint)?,
            None => self.load(state, relation),
        }
        let terms = self.column(relation, &[None])?;
        Ok(terms.iter().map(|&t| self.text(t)).collect())
    }

    /// The fluents that the rules declare with `base`; empty if they declare none.
    pub fn base_hints(&mut self) -> Result<Vec<String>, Fault> {
        let terms = self.column(rel::BASE, &[None])?;
        let mut texts: Vec<String> = terms.iter().map(|&t| self.text(t)).collect();
        texts.sort();
        Ok(texts)
    }

    /// The moves that the rules declare with `input`, as (role, move); empty if they declare none.
    pub fn input_hints(&mut self) -> Result<Vec<(String, String)>, Fault> {
        self.pairs(rel::INPUT)
    }
}

impl Simulator for Reference {
    fn roles(&self) -> &[String] {
        &self.roles
    }

    fn initial(&mut self) -> Result<State, Fault> {
        Ok(self.initial.clone())
    }

    fn terminal(&mut self, state: &State) -> Result<bool, Fault> {
        self.load(state, rel::TERMINAL);
        Ok(!self.machine.rows(rel::TERMINAL, &[])?.is_empty())
    }

    fn legal(&mut self, state: &State, role: RoleId, out: &mut Vec<MoveId>) -> Result<(), Fault> {
        let role = self.role_term(role)?;
        self.load(state, rel::LEGAL);
        let terms = self.column(rel::LEGAL, &[Some(role), None])?;
        out.clear();
        for term in terms {
            out.push(MoveId(self.moves.number(term, &self.machine.terms, &self.symbols)));
        }
        out.sort_by(|a, b| self.moves.text(a.0).cmp(self.moves.text(b.0)));
        Ok(())
    }

    fn next(&mut self, state: &State, joint: &[MoveId]) -> Result<State, Fault> {
        self.load_joint(state, joint)?;
        let fluents = self.column(rel::NEXT, &[None])?;
        self.machine.check_state(rel::NEXT, &fluents)?;
        self.meter.states += 1;
        Ok(pack(fluents))
    }

    fn percepts(
        &mut self,
        state: &State,
        joint: &[MoveId],
        role: RoleId,
        out: &mut Vec<PerceptId>,
    ) -> Result<(), Fault> {
        let role = self.role_term(role)?;
        self.load_joint(state, joint)?;
        let terms = self.column(rel::SEES, &[Some(role), None])?;
        out.clear();
        for term in terms {
            let number = self.percepts.number(term, &self.machine.terms, &self.symbols);
            out.push(PerceptId(number));
        }
        out.sort_by(|a, b| self.percepts.text(a.0).cmp(self.percepts.text(b.0)));
        Ok(())
    }

    fn goal(&mut self, state: &State, role: RoleId) -> Result<Goal, Fault> {
        let role = self.role_term(role)?;
        self.load(state, rel::GOAL);
        let terms = self.column(rel::GOAL, &[Some(role), None])?;
        let mut values: Vec<i32> = terms.into_iter().filter_map(|t| goal_value(&self.text(t))).collect();
        values.sort_unstable();
        values.dedup();
        Ok(match values[..] {
            [] => Goal::None,
            [value] => Goal::Value(value),
            [.., largest] => Goal::Many(largest),
        })
    }

    fn fluents(&self, state: &State) -> Vec<String> {
        let mut texts: Vec<String> = unpack(state).into_iter().map(|t| self.text(t)).collect();
        texts.sort();
        texts
    }

    fn state_of(&mut self, fluents: &[String]) -> Option<State> {
        let parse = |text: &String| self.machine.terms.parse(text, &self.symbols);
        Some(pack(fluents.iter().map(parse).collect::<Option<_>>()?))
    }

    fn move_text(&self, _role: RoleId, mv: MoveId) -> &str {
        self.moves.text(mv.0)
    }

    /// Any term over the names of the rules: whether it can be legal is not known beforehand.
    fn find_move(&mut self, _role: RoleId, text: &str) -> Option<MoveId> {
        let term = self.machine.terms.parse(text, &self.symbols)?;
        let number = self.moves.number(term, &self.machine.terms, &self.symbols);
        Some(MoveId(number))
    }

    fn percept_text(&self, _role: RoleId, percept: PerceptId) -> &str {
        self.percepts.text(percept.0)
    }

    /// Any term over the names of the rules.
    fn find_percept(&mut self, _role: RoleId, text: &str) -> Option<PerceptId> {
        let term = self.machine.terms.parse(text, &self.symbols)?;
        let number = self.percepts.number(term, &self.machine.terms, &self.symbols);
        Some(PerceptId(number))
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }

    fn fork(&self) -> Box<dyn Simulator> {
        let mut fork = self.clone();
        fork.meter = Meter::default();
        Box::new(fork)
    }
}

/// Roles: those of facts in source order, then those of each rule, sorted by text.
pub(crate) fn roles_in_order(machine: &mut Machine, symbols: &Symbols) -> Result<Vec<TermId>, Fault> {
    let theory = machine.theory.clone();
    let mut roles = Vec::new();
    for source in theory.role_sources() {
        let rows = machine.rows(source, &[None])?;
        let mut found: Vec<TermId> = rows.into_iter().map(|row| row[0]).collect();
        if !theory.relation(source).rules.is_empty() {
            found.sort_by_key(|&r| machine.terms.text(r, symbols));
        }
        for role in found {
            if !roles.contains(&role) {
                roles.push(role);
            }
        }
    }
    Ok(roles)
}

/// Numbered terms and their texts.
#[derive(Clone, Default)]
struct Names {
    numbers: FxHashMap<TermId, u32>,
    terms: Vec<TermId>,
    texts: Vec<String>,
}

impl Names {
    fn number(&mut self, term: TermId, terms: &Terms, symbols: &Symbols) -> u32 {
        if let Some(&number) = self.numbers.get(&term) {
            return number;
        }
        let number = self.terms.len() as u32;
        self.numbers.insert(term, number);
        self.terms.push(term);
        self.texts.push(terms.text(term, symbols));
        number
    }

    fn term(&self, number: u32) -> Result<TermId, Fault> {
        let term = self.terms.get(number as usize);
        term.copied().ok_or(Fault::Foreign("a move"))
    }

    /// The text; empty for an unknown number.
    fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", String::as_str)
    }
}

/// Two fluents to a word, sorted, the last word filled up.
fn pack(mut fluents: Vec<TermId>) -> State {
    fluents.sort_unstable();
    fluents.dedup();
    let word = |pair: &[TermId]| {
        let second = pair.get(1).map_or(TermId::NONE, |t| *t);
        u64::from(pair[0].0) << 32 | u64::from(second.0)
    };
    State(fluents.chunks(2).map(word).collect())
}

fn unpack(state: &State) -> Vec<TermId> {
    let both = |&word: &u64| [TermId((word >> 32) as u32), TermId(word as u32)];
    let mut fluents: Vec<TermId> = state.0.iter().flat_map(both).collect();
    fluents.retain(|&t| t != TermId::NONE);
    fluents
}
