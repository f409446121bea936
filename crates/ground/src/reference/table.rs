//! Tables of answers: the calls made so far and their answers.

use super::compiled_rule::{Args, ProcId};
use crate::facts::RowSet;
use crate::theory::Layer;
use rustc_hash::FxHashMap;

/// A table: its layer and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TableId {
    pub layer: Layer,
    pub at: u32,
}

/// One call and its answers.
#[derive(Clone)]
pub(crate) struct AnswerTable {
    pub proc: ProcId,
    /// Values of the known arguments.
    pub known: Args,
    /// Values of the open arguments, one row per answer.
    pub answers: RowSet,
    /// Whether no answer will be added.
    pub complete: bool,
    /// While incomplete: place on the stack of incomplete tables.
    pub number: u32,
    /// While incomplete: smallest number of a table that this one is known to reach.
    pub low: u32,
    /// While incomplete: tables that read this one before it was complete.
    pub readers: Vec<TableId>,
    /// Whether a table that it read has grown since it was last evaluated.
    pub dirty: bool,
    /// Whether the instances of its rules have been collected, for a component with negation inside.
    pub collected: bool,
}

impl AnswerTable {
    /// Whether no argument is open and the answer is yes: further evaluation cannot change that.
    pub fn settled(&self, width: usize) -> bool {
        width == 0 && !self.answers.is_empty()
    }
}

/// The tables of one layer.
#[derive(Clone, Default)]
pub(crate) struct AnswerTables {
    tables: Vec<AnswerTable>,
    index: FxHashMap<(ProcId, Args), u32>,
}

impl AnswerTables {
    pub fn clear(&mut self) {
        self.tables.clear();
        self.index.clear();
    }

    /// Drops incomplete tables; returns the number of calls and answers left.
    pub fn drop_incomplete(&mut self) -> usize {
        let tables = std::mem::take(&mut self.tables);
        self.index.clear();
        for table in tables.into_iter().filter(|t| t.complete) {
            let key = (table.proc, table.known.clone());
            self.index.insert(key, self.tables.len() as u32);
            self.tables.push(table);
        }
        self.tables.iter().map(|t| 1 + t.answers.len()).sum()
    }

    pub fn find(&self, proc: ProcId, known: &Args) -> Option<u32> {
        // The map cannot be searched by a tuple of references; cloning a short inline vector is cheap.
        self.index.get(&(proc, known.clone())).copied()
    }

    pub fn add(&mut self, proc: ProcId, known: Args, width: usize, number: u32) -> u32 {
        let at = self.tables.len() as u32;
        self.index.insert((proc, known.clone()), at);
        self.tables.push(AnswerTable {
            proc,
            known,
            answers: RowSet::new(width),
            complete: false,
            number,
            low: number,
            readers: Vec::new(),
            dirty: false,
            collected: false,
        });
        at
    }

    pub fn get(&self, at: u32) -> &AnswerTable {
        &self.tables[at as usize]
    }

    pub fn get_mut(&mut self, at: u32) -> &mut AnswerTable {
        &mut self.tables[at as usize]
    }
}
