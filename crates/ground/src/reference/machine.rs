//! Goal-directed evaluation with tables.
//!
//! Every call of a derived relation, identified by the values of its known arguments, gets a table of answers that is
//! filled once (SLG resolution, Chen and Warren 1996, scheduled locally). A call meets one of three cases:
//!
//! 1. A complete table: its answers are rows like any others.
//! 2. No table: the caller waits until the rules of the new table have run.
//! 3. An incomplete table, through recursion: the caller reads the answers so far, is recorded as a reader, and runs
//!    again when there are more. Tables that wait for each other form a component (found as in Tarjan's algorithm, by
//!    the lowest table reached). Its first table, the leader, repeats the readers until nothing changes; then all
//!    tables of the component are complete. So left recursion and mutual recursion terminate with the least model.
//!
//! Negation waits for its table to be complete. If the table waits for the caller, the component is settled separately,
//! see `settle`.
//!
//! Calls nest on an explicit stack, not on the machine's stack: a chain of a million successors is a valid game.

mod settle;

use super::compiled_rule::{Args, Compiler, Known, Op, Proc, ProcId};
use super::table::{AnswerTable, AnswerTables, TableId};
use super::wellfounded::Instance;
use crate::facts::FactSet;
use crate::pattern::{Build, match_all, probe_hash};
use crate::terms::{TermId, Terms};
use crate::theory::{Layer, RelId, Theory, rel};
use game::{Fault, StopFlag};
use gdl::{Symbol, Term};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Limits of evaluation; beyond them it ends with [`Fault::Blowup`].
#[derive(Clone, Copy, Debug)]
pub struct EvaluationLimits {
    /// Answers and calls held at one time.
    pub atoms: usize,
    /// Levels of nesting of a term; raised to twice what the rules themselves contain.
    pub depth: u32,
    /// Symbols of a term; raised to twice what the rules themselves contain.
    pub size: u32,
    /// Symbols of all fluents of a state.
    pub state: u64,
    /// Steps of one question.
    pub steps: u64,
}

impl Default for EvaluationLimits {
    fn default() -> Self {
        EvaluationLimits {
            atoms: 8_000_000,
            depth: 64,
            size: 10_000,
            state: 4_000_000,
            steps: u64::MAX,
        }
    }
}

impl EvaluationLimits {
    /// The limit that a row of terms exceeds, for people.
    pub(crate) fn check(&self, terms: &Terms, row: &[TermId]) -> Result<(), String> {
        if row.iter().any(|&t| terms.depth(t) > self.depth) {
            return Err(format!("term depth {}", self.depth));
        }
        if row.iter().any(|&t| terms.size(t) > self.size) {
            return Err(format!("{} symbols of a term", self.size));
        }
        Ok(())
    }
}

/// Expected number of fluents of a kind that the initial state does not have.
const UNSEEN_FLUENTS: usize = 32;

/// Evaluates a theory.
#[derive(Clone)]
pub(crate) struct Machine {
    pub theory: Arc<Theory>,
    pub terms: Terms,
    pub limits: EvaluationLimits,
    pub stop: StopFlag,
    /// Rows per relation: facts, the state under `true`, the joint move under `does`.
    facts: Vec<FactSet>,
    stored: Vec<bool>,
    procs: Vec<ProcEntry>,
    proc_index: FxHashMap<(RelId, Known), ProcId>,
    fluents: FxHashMap<(Symbol, usize), usize>,
    layers: [AnswerTables; 3],
    n_atoms: [usize; 3],
    steps: u64,
    run: Run,
}

#[derive(Clone)]
struct ProcEntry {
    relation: RelId,
    known: Known,
    layer: Layer,
    width: usize,
    code: Option<Arc<Proc>>,
}

/// The evaluation in progress.
#[derive(Clone, Default)]
struct Run {
    stack: Vec<Activation>,
    env: Vec<TermId>,
    cursors: Vec<Cursor>,
    /// Incomplete tables in the order of their numbers.
    incomplete: Vec<TableId>,
    dirty: Vec<TableId>,
    /// Numbers of tables that assumed a negation.
    trusting: Vec<u32>,
    /// Instances of rules, while a component is being settled by `wellfounded`.
    instances: Vec<Instance>,
}

/// The rules of one table being run.
#[derive(Clone)]
struct Activation {
    table: TableId,
    code: Arc<Proc>,
    rule: usize,
    env: usize,
    cursors: usize,
    low: u32,
    purpose: Purpose,
    next: Next,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// The first time.
    First,
    /// Because something read has grown.
    Again,
    /// To collect instances of rules: no short cuts.
    Collect,
}

#[derive(Clone, Copy)]
enum Next {
    /// The rule at `rule`.
    Rule,
    /// The first try of a step.
    Enter(u32),
    /// Another row of a step.
    Retry(u32),
    /// All rules are done.
    Done,
}

#[derive(Clone, Copy)]
struct Cursor {
    at: u32,
    end: u32,
    table: TableId,
    hit: bool,
}

const NO_TABLE: TableId = TableId {
    layer: Layer::Static,
    at: u32::MAX,
};

/// The outcome of a step.
enum Event {
    Go(Next),
    /// The table must be evaluated first; then the step is entered again.
    Call(ProcId, Args),
    Answer,
}

impl Machine {
    pub fn new(theory: Arc<Theory>, limits: EvaluationLimits) -> Machine {
        let mut machine = Machine {
            facts: theory.relations.iter().map(|r| FactSet::new(r.arity)).collect(),
            stored: theory.relations.iter().map(|r| r.rules.is_empty()).collect(),
            theory,
            terms: Terms::new(),
            limits,
            stop: StopFlag::default(),
            procs: Vec::new(),
            proc_index: FxHashMap::default(),
            fluents: FxHashMap::default(),
            layers: Default::default(),
            n_atoms: [0; 3],
            steps: 0,
            run: Run::default(),
        };
        // Terms of the rules themselves are no sign of growth.
        machine.limits.depth = machine.limits.depth.max(2 * machine.theory.term_depth());
        machine.limits.size = machine.limits.size.max(machine.theory.term_size().saturating_mul(2));
        machine.store_facts();
        machine
    }

    fn store_facts(&mut self) {
        let theory = self.theory.clone();
        for (relation, facts) in theory.relations.iter().zip(&mut self.facts) {
            for fact in &relation.facts {
                let row: Args = fact
                    .iter()
                    .map(|t| Build::new(t, &mut self.terms).build(&mut self.terms, &[]))
                    .collect();
                facts.insert(&row);
            }
        }
    }

    /// Evaluates static relations as a whole where that is cheap, and stores their rows. Others are evaluated on
    /// demand.
    pub fn store_static_relations(&mut self, needed: &[bool], steps: u64) {
        let theory = self.theory.clone();
        for relation in theory.callees_first() {
            let info = theory.relation(relation);
            if !needed[relation.0 as usize] || info.rules.is_empty() || info.layer != Layer::Static {
                continue;
            }
            let usual = std::mem::replace(&mut self.limits.steps, steps);
            let answers = self.query(relation, &[], Known::NOTHING);
            self.limits.steps = usual;
            if let Ok(table) = answers {
                let rows = self.table(table).answers.clone();
                rows.rows().for_each(|r| self.facts[relation.0 as usize].insert(r));
                self.stored[relation.0 as usize] = true;
            }
        }
    }

    /// Records the number of fluents of each kind in a state, as an estimate for other states.
    pub fn learn_fluents(&mut self, state: &[TermId]) {
        self.fluents.clear();
        for &fluent in state {
            let kind = (self.terms.symbol(fluent), self.terms.args(fluent).len());
            *self.fluents.entry(kind).or_insert(0) += 1;
        }
    }

    /// Sets the fluents that hold.
    pub fn set_state(&mut self, state: &[TermId]) {
        self.facts[rel::TRUE.0 as usize].clear();
        for &fluent in state {
            self.facts[rel::TRUE.0 as usize].insert(&[fluent]);
        }
        self.forget(Layer::State);
        self.set_joint(&[]);
        // Static answers are kept to save work, unless they leave too little room for the state.
        if self.n_atoms[Layer::Static as usize] > self.limits.atoms / 2 {
            self.forget(Layer::Static);
        }
    }

    /// Sets the moves that are made, given as (role, move).
    pub fn set_joint(&mut self, joint: &[(TermId, TermId)]) {
        self.facts[rel::DOES.0 as usize].clear();
        for &(role, mv) in joint {
            self.facts[rel::DOES.0 as usize].insert(&[role, mv]);
        }
        self.forget(Layer::Move);
    }

    fn forget(&mut self, layer: Layer) {
        self.layers[layer as usize].clear();
        self.n_atoms[layer as usize] = 0;
    }

    pub fn table(&self, id: TableId) -> &AnswerTable {
        self.layers[id.layer as usize].get(id.at)
    }

    fn table_mut(&mut self, id: TableId) -> &mut AnswerTable {
        self.layers[id.layer as usize].get_mut(id.at)
    }

    /// Rows of a relation whose rows are stored.
    pub fn stored_rows(&self, relation: RelId) -> Option<&FactSet> {
        self.stored[relation.0 as usize].then(|| &self.facts[relation.0 as usize])
    }

    /// As [`Machine::stored_rows`], for registering and using indexes.
    pub fn stored_rows_mut(&mut self, relation: RelId) -> Option<(&mut FactSet, &mut Terms)> {
        let stored = self.stored[relation.0 as usize];
        stored.then(|| (&mut self.facts[relation.0 as usize], &mut self.terms))
    }

    /// Rows of a relation given some of its arguments: the open ones, in no particular order.
    pub fn rows(&mut self, relation: RelId, args: &[Option<TermId>]) -> Result<Vec<Vec<TermId>>, Fault> {
        let known = Known::of((0..args.len()).filter(|&a| args[a].is_some()));
        if self.stored[relation.0 as usize] {
            let rows = self.facts[relation.0 as usize].rows();
            let fits = |row: &&[TermId]| row.iter().zip(args).all(|(t, a)| a.is_none_or(|a| a == *t));
            let open = |row: &[TermId]| {
                let kept = row.iter().zip(args).filter(|(_, a)| a.is_none());
                kept.map(|(&t, _)| t).collect()
            };
            return Ok(rows.rows().filter(fits).map(open).collect());
        }
        let values: Args = args.iter().flatten().copied().collect();
        let table = self.query(relation, &values, known)?;
        Ok(self.table(table).answers.rows().map(<[_]>::to_vec).collect())
    }

    /// The complete table of a call to a derived relation.
    pub fn query(&mut self, relation: RelId, values: &[TermId], known: Known) -> Result<TableId, Fault> {
        let proc = self.number(relation, known);
        let layer = self.procs[proc.0 as usize].layer;
        let known = Args::from_slice(values);
        if let Some(at) = self.layers[layer as usize].find(proc, &known) {
            return Ok(TableId { layer, at });
        }
        self.steps = 0;
        let result = self.call(proc, known).and_then(|table| {
            while !self.run.stack.is_empty() {
                self.step()?;
            }
            Ok(table)
        });
        if result.is_err() {
            self.abandon();
        }
        result
    }

    /// After a fault: keeps complete tables and drops the others.
    fn abandon(&mut self) {
        self.run = Run::default();
        let kept = self.layers[Layer::Static as usize].drop_incomplete();
        self.n_atoms[Layer::Static as usize] = kept;
        self.forget(Layer::State);
        self.forget(Layer::Move);
    }

    fn number(&mut self, relation: RelId, known: Known) -> ProcId {
        number(&mut self.procs, &mut self.proc_index, &self.theory, relation, known)
    }

    fn code(&mut self, proc: ProcId) -> Arc<Proc> {
        let entry = &self.procs[proc.0 as usize];
        if let Some(code) = &entry.code {
            return code.clone();
        }
        let (relation, known) = (entry.relation, entry.known);
        let theory = self.theory.clone();
        let fluents = &self.fluents;
        let total: usize = fluents.values().sum();
        let (procs, proc_index) = (&mut self.procs, &mut self.proc_index);
        let code = Compiler {
            theory: &theory,
            terms: &mut self.terms,
            facts: &mut self.facts,
            stored: &self.stored,
            fluents: &|fluent| match fluent {
                Term::Var(_) => total,
                Term::Fun(name, args) => fluents.get(&(*name, args.len())).copied().unwrap_or(UNSEEN_FLUENTS),
            },
            number: &mut |relation, known| number(procs, proc_index, &theory, relation, known),
        }
        .compile(relation, known);
        let code = Arc::new(code);
        self.procs[proc.0 as usize].code = Some(code.clone());
        code
    }

    /// Makes a table and puts its rules on the stack.
    fn call(&mut self, proc: ProcId, known: Args) -> Result<TableId, Fault> {
        let code = self.code(proc);
        self.limits
            .check(&self.terms, &known)
            .map_err(|limit| self.blowup(code.relation, limit))?;
        let number = self.run.incomplete.len() as u32;
        let layer = code.layer;
        let at = self.layers[layer as usize].add(proc, known, code.width, number);
        let table = TableId { layer, at };
        self.run.incomplete.push(table);
        self.count_atom(&code)?;
        self.activate(table, code, Purpose::First);
        Ok(table)
    }

    fn activate(&mut self, table: TableId, code: Arc<Proc>, purpose: Purpose) {
        let run = &mut self.run;
        let (env, cursors) = (run.env.len(), run.cursors.len());
        run.env.resize(env + code.n_vars, TermId::NONE);
        let blank = Cursor {
            at: 0,
            end: 0,
            table: NO_TABLE,
            hit: false,
        };
        run.cursors.resize(cursors + code.n_steps, blank);
        let low = self.layers[table.layer as usize].get(table.at).low;
        self.run.stack.push(Activation {
            table,
            code,
            rule: 0,
            env,
            cursors,
            low,
            purpose,
            next: Next::Rule,
        });
    }

    fn deactivate(&mut self) -> Activation {
        let done = self.run.stack.pop().expect("an activation ends on the stack");
        self.run.env.truncate(done.env);
        self.run.cursors.truncate(done.cursors);
        done
    }

    fn count_atom(&mut self, code: &Proc) -> Result<(), Fault> {
        self.n_atoms[code.layer as usize] += 1;
        if self.n_atoms.iter().sum::<usize>() > self.limits.atoms {
            return Err(self.blowup(code.relation, format!("{} atoms", self.limits.atoms)));
        }
        Ok(())
    }

    fn blowup(&self, relation: RelId, limit: String) -> Fault {
        Fault::Blowup {
            relation: self.theory.relation(relation).label.clone(),
            limit,
        }
    }

    /// Refuses states with too much text.
    pub fn check_state(&self, relation: RelId, fluents: &[TermId]) -> Result<(), Fault> {
        let symbols: u64 = fluents.iter().map(|&t| u64::from(self.terms.size(t))).sum();
        match symbols > self.limits.state {
            true => Err(self.blowup(relation, format!("{} symbols of a state", self.limits.state))),
            false => Ok(()),
        }
    }

    fn tick(&mut self) -> Result<(), Fault> {
        self.steps += 1;
        if self.steps.is_multiple_of(4096) && self.stop.is_raised() {
            return Err(Fault::Stopped);
        }
        if self.steps > self.limits.steps {
            let relation = self.run.stack.last().map_or(rel::TRUE, |a| a.code.relation);
            return Err(self.blowup(relation, format!("{} steps", self.limits.steps)));
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Fault> {
        self.tick()?;
        let top = self.run.stack.last_mut().expect("something is under way");
        match top.next {
            Next::Rule => self.next_rule(),
            Next::Done => return self.finish(),
            Next::Enter(at) => match self.enter(at) {
                Event::Go(next) => self.go(next),
                Event::Answer => return self.answer(),
                Event::Call(proc, known) => {
                    self.call(proc, known)?;
                }
            },
            Next::Retry(at) => {
                let next = self.retry(at);
                self.go(next);
            }
        }
        Ok(())
    }

    fn go(&mut self, next: Next) {
        self.run.stack.last_mut().expect("something is under way").next = next;
    }

    /// Starts the next rule whose head fits the call.
    fn next_rule(&mut self) {
        let top = self.run.stack.last_mut().expect("something is under way");
        let known = &self.layers[top.table.layer as usize].get(top.table.at).known;
        let env = &mut self.run.env[top.env..];
        top.next = Next::Done;
        while let Some(rule) = top.code.rules.get(top.rule) {
            if match_all(&rule.known, known, &self.terms, env) {
                top.next = Next::Enter(0);
                return;
            }
            top.rule += 1;
        }
    }

    /// Tries a step for the first time with the present values.
    fn enter(&mut self, at: u32) -> Event {
        let Machine {
            run,
            facts,
            terms,
            layers,
            procs,
            ..
        } = self;
        let top = run.stack.last_mut().expect("something is under way");
        let rule = &top.code.rules[top.rule];
        let Some(step) = rule.steps.get(at as usize) else {
            return Event::Answer;
        };
        let env = &mut run.env[top.env..];
        let cursor = &mut run.cursors[top.cursors + at as usize];
        let passed = match &step.op {
            Op::Distinct(a, b) => a.build(terms, env) != b.build(terms, env),
            Op::Row { relation, row, wanted } => {
                let row: Args = row.iter().map(|b| b.build(terms, env)).collect();
                facts[relation.0 as usize].rows().find(&row).is_some() == *wanted
            }
            Op::Rows {
                relation,
                index,
                probes,
                ..
            } => {
                let hash = probe_hash(probes, env);
                let (at_row, end) = facts[relation.0 as usize].span(*index, hash, terms);
                *cursor = Cursor {
                    at: at_row,
                    end,
                    table: NO_TABLE,
                    hit: false,
                };
                return Event::Go(Next::Retry(at));
            }
            Op::Call { proc, known, open } => {
                let known: Args = known.iter().map(|b| b.build(terms, env)).collect();
                let layer = procs[proc.0 as usize].layer;
                let Some(found) = layers[layer as usize].find(*proc, &known) else {
                    return Event::Call(*proc, known);
                };
                let table = layers[layer as usize].get_mut(found);
                if !table.complete {
                    read_incomplete(table, top.table, &mut top.low);
                }
                if open.is_empty() {
                    !table.answers.is_empty()
                } else {
                    let table = TableId { layer, at: found };
                    *cursor = Cursor {
                        at: 0,
                        end: 0,
                        table,
                        hit: false,
                    };
                    return Event::Go(Next::Retry(at));
                }
            }
            Op::CallNot { proc, known } => {
                let known: Args = known.iter().map(|b| b.build(terms, env)).collect();
                let layer = procs[proc.0 as usize].layer;
                let Some(found) = layers[layer as usize].find(*proc, &known) else {
                    return Event::Call(*proc, known);
                };
                let table = layers[layer as usize].get_mut(found);
                if table.complete {
                    table.answers.is_empty()
                } else {
                    // Assumed for now; the component is settled before any other table reads it.
                    read_incomplete(table, top.table, &mut top.low);
                    let own = layers[top.table.layer as usize].get(top.table.at).number;
                    run.trusting.push(own);
                    true
                }
            }
        };
        Event::Go(if passed {
            Next::Enter(at + 1)
        } else {
            top.back_to(step.culprit)
        })
    }

    /// Takes the next row of a step.
    fn retry(&mut self, at: u32) -> Next {
        let Machine {
            run,
            facts,
            terms,
            layers,
            ..
        } = self;
        let top = run.stack.last_mut().expect("something is under way");
        let step = &top.code.rules[top.rule].steps[at as usize];
        let env = &mut run.env[top.env..];
        let cursor = &mut run.cursors[top.cursors + at as usize];
        match &step.op {
            Op::Rows {
                relation, index, pats, ..
            } => {
                let facts = &facts[relation.0 as usize];
                while cursor.at < cursor.end {
                    let row = facts.at(*index, cursor.at);
                    cursor.at += 1;
                    if match_all(pats, row, terms, env) {
                        cursor.hit = true;
                        return Next::Enter(at + 1);
                    }
                }
            }
            Op::Call { open, .. } => {
                // The table may grow while it is being read; the new rows are read too.
                let answers = &layers[cursor.table.layer as usize].get(cursor.table.at).answers;
                while (cursor.at as usize) < answers.len() {
                    let row = answers.row(cursor.at as usize);
                    cursor.at += 1;
                    if match_all(open, row, terms, env) {
                        cursor.hit = true;
                        return Next::Enter(at + 1);
                    }
                }
            }
            _ => unreachable!("only generators are tried again"),
        }
        let back = if cursor.hit { step.previous } else { step.culprit };
        top.back_to(back)
    }

    /// All steps of a rule have passed.
    fn answer(&mut self) -> Result<(), Fault> {
        let Machine { run, terms, layers, .. } = self;
        let top = run.stack.last_mut().expect("something is under way");
        let code = top.code.clone();
        let rule = &code.rules[top.rule];
        let env = &run.env[top.env..];
        let row: Args = rule.answer.iter().map(|b| b.build(terms, env)).collect();
        let checked = self.limits.check(terms, &row);
        if let Err(limit) = checked {
            return Err(self.blowup(code.relation, limit));
        }
        let table = top.table;
        let (number, new) = layers[table.layer as usize].get_mut(table.at).answers.insert(&row);
        if top.purpose == Purpose::Collect {
            self.collect(number as u32);
        } else if code.width == 0 {
            top.next = Next::Done;
        } else {
            top.next = top.back_to(rule.resume);
        }
        if new {
            self.count_atom(&code)?;
            self.wake_readers(table);
        }
        Ok(())
    }

    /// A table has grown: its readers must run again.
    fn wake_readers(&mut self, table: TableId) {
        let readers = std::mem::take(&mut self.table_mut(table).readers);
        for &reader in &readers {
            let width = self.procs[self.table(reader).proc.0 as usize].width;
            let reading = self.table_mut(reader);
            if !reading.dirty && !reading.settled(width) {
                reading.dirty = true;
                self.run.dirty.push(reader);
            }
        }
        self.table_mut(table).readers = readers;
    }

    /// All rules of the top activation are done.
    fn finish(&mut self) -> Result<(), Fault> {
        let top = self.run.stack.last().expect("something is under way");
        let (table, low, purpose) = (top.table, top.low, top.purpose);
        if purpose != Purpose::First {
            self.deactivate();
            let leader = self.run.stack.last_mut().expect("a leader started this");
            leader.low = leader.low.min(low);
            return Ok(());
        }
        let number = self.table(table).number;
        if low < number {
            // A table further down the stack is the leader.
            self.table_mut(table).low = low;
            self.deactivate();
            return Ok(());
        }
        if let Some(again) = self.take_dirty(number) {
            self.collect_anew(number);
            self.table_mut(again).dirty = false;
            let code = self.code(self.table(again).proc);
            self.activate(again, code, Purpose::Again);
            return Ok(());
        }
        if self.run.trusting.iter().any(|&n| n >= number) {
            return self.settle_component(number);
        }
        self.complete(number);
        self.deactivate();
        Ok(())
    }

    fn take_dirty(&mut self, from: u32) -> Option<TableId> {
        let at = (0..self.run.dirty.len())
            .rev()
            .find(|&n| self.table(self.run.dirty[n]).number >= from)?;
        Some(self.run.dirty.swap_remove(at))
    }

    fn complete(&mut self, from: u32) {
        for table in self.run.incomplete.split_off(from as usize) {
            let table = self.table_mut(table);
            table.complete = true;
            table.readers = Vec::new();
        }
    }
}

impl Activation {
    /// Goes back to a step, or on to the next rule.
    fn back_to(&mut self, step: Option<u32>) -> Next {
        match step {
            Some(at) => Next::Retry(at),
            None => {
                self.rule += 1;
                Next::Rule
            }
        }
    }
}

fn read_incomplete(table: &mut AnswerTable, reader: TableId, low: &mut u32) {
    *low = (*low).min(table.low).min(table.number);
    if !table.readers.contains(&reader) {
        table.readers.push(reader);
    }
}

fn number(
    procs: &mut Vec<ProcEntry>,
    index: &mut FxHashMap<(RelId, Known), ProcId>,
    theory: &Theory,
    relation: RelId,
    known: Known,
) -> ProcId {
    *index.entry((relation, known)).or_insert_with(|| {
        let info = theory.relation(relation);
        procs.push(ProcEntry {
            relation,
            known,
            layer: info.layer,
            width: (0..info.arity).filter(|&a| !known.has(a)).count(),
            code: None,
        });
        ProcId(procs.len() as u32 - 1)
    })
}
