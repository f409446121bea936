//! The ground atoms of relations that change in play, as they are found.

use crate::facts::RowSet;
use crate::pattern::Key;
use crate::terms::{TermId, Terms};
use crate::theory::{RelId, Theory};
use rustc_hash::FxHashMap;

/// An atom while grounding: numbered in the order in which it was first mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ground(pub u32);

/// The rank of an atom that nothing derives (yet).
const UNDERIVED: u32 = u32::MAX;

/// All atoms, and indexes over those that may hold.
pub(crate) struct Atoms {
    relations: Vec<Grown>,
    /// Relation and row of each atom.
    places: Vec<(RelId, u32)>,
    /// Place of each atom in `derived`.
    ranks: Vec<u32>,
    derived: Vec<Ground>,
}

#[derive(Default)]
struct Grown {
    rows: RowSet,
    /// The atom of each row.
    atoms: Vec<Ground>,
    keys: FxHashMap<Key, u32>,
    indexes: Vec<GrownIndex>,
}

struct GrownIndex {
    key: Key,
    lists: FxHashMap<u64, u32>,
    /// Derived atoms with equal keys, by rank.
    members: Vec<Vec<Ground>>,
}

impl Atoms {
    pub fn new(theory: &Theory) -> Atoms {
        let grown = |r: &crate::theory::Relation| Grown {
            rows: RowSet::new(r.arity),
            ..Grown::default()
        };
        Atoms {
            relations: theory.relations.iter().map(grown).collect(),
            places: Vec::new(),
            ranks: Vec::new(),
            derived: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The atom with this row, made if it is new.
    pub fn mention(&mut self, relation: RelId, row: &[TermId]) -> Ground {
        let grown = &mut self.relations[relation.0 as usize];
        let (number, new) = grown.rows.insert(row);
        if new {
            grown.atoms.push(Ground(self.places.len() as u32));
            self.places.push((relation, number as u32));
            self.ranks.push(UNDERIVED);
        }
        grown.atoms[number]
    }

    /// Marks an atom as one that may hold; returns whether that is new.
    pub fn derive(&mut self, atom: Ground, terms: &Terms) -> bool {
        if self.ranks[atom.0 as usize] != UNDERIVED {
            return false;
        }
        self.ranks[atom.0 as usize] = self.derived.len() as u32;
        self.derived.push(atom);
        let (relation, row) = self.places[atom.0 as usize];
        let Grown { rows, indexes, .. } = &mut self.relations[relation.0 as usize];
        for index in indexes {
            index.file(atom, rows.row(row as usize), terms);
        }
        true
    }

    /// The atom with this row if it may hold.
    pub fn find_derived(&self, relation: RelId, row: &[TermId]) -> Option<Ground> {
        let atom = self.find(relation, row)?;
        (self.ranks[atom.0 as usize] != UNDERIVED).then_some(atom)
    }

    /// The atom with this row if anything mentions it.
    pub fn find(&self, relation: RelId, row: &[TermId]) -> Option<Ground> {
        let grown = &self.relations[relation.0 as usize];
        Some(grown.atoms[grown.rows.find(row)?])
    }

    /// Place of an atom among the derived ones.
    pub fn rank(&self, atom: Ground) -> Option<u32> {
        let rank = self.ranks[atom.0 as usize];
        (rank != UNDERIVED).then_some(rank)
    }

    pub fn relation(&self, atom: Ground) -> RelId {
        self.places[atom.0 as usize].0
    }

    pub fn row(&self, atom: Ground) -> &[TermId] {
        let (relation, row) = self.places[atom.0 as usize];
        self.relations[relation.0 as usize].rows.row(row as usize)
    }

    /// The atoms that may hold, in the order in which that was found.
    pub fn derived(&self) -> &[Ground] {
        &self.derived
    }

    /// The index of a relation on this key.
    pub fn index(&mut self, relation: RelId, key: Key, terms: &Terms) -> u32 {
        let Grown {
            rows,
            atoms,
            keys,
            indexes,
            ..
        } = &mut self.relations[relation.0 as usize];
        let next = indexes.len() as u32;
        let id = *keys.entry(key.clone()).or_insert(next);
        if id == next {
            let mut index = GrownIndex {
                key,
                lists: FxHashMap::default(),
                members: Vec::new(),
            };
            let mut ranked: Vec<(u32, usize)> = (0..rows.len())
                .map(|n| (self.ranks[atoms[n].0 as usize], n))
                .filter(|&(rank, _)| rank != UNDERIVED)
                .collect();
            ranked.sort_unstable();
            for (_, n) in ranked {
                index.file(atoms[n], rows.row(n), terms);
            }
            indexes.push(index);
        }
        id
    }

    /// The list of an index under this hash.
    pub fn list(&self, relation: RelId, index: u32, hash: u64) -> Option<u32> {
        self.relations[relation.0 as usize].indexes[index as usize]
            .lists
            .get(&hash)
            .copied()
    }

    /// A member of a list.
    pub fn member(&self, relation: RelId, index: u32, list: u32, at: usize) -> Option<Ground> {
        let index = &self.relations[relation.0 as usize].indexes[index as usize];
        index.members[list as usize].get(at).copied()
    }
}

impl GrownIndex {
    fn file(&mut self, atom: Ground, row: &[TermId], terms: &Terms) {
        let Some(hash) = self.key.of_row(row, terms) else {
            return;
        };
        let next = self.members.len() as u32;
        let list = *self.lists.entry(hash).or_insert(next);
        if list == next {
            self.members.push(Vec::new());
        }
        self.members[list as usize].push(atom);
    }
}
