//! Views of roles, as trees: a node is one view of a role, the path to it the role's own moves and percepts.
//!
//! Two histories that a role cannot tell apart lead to the same node of its tree. Whatever a role may base a decision
//! on is stored at such a node, so the decision cannot depend on anything the role does not know.

use crate::atlas::SeenId;
use crate::trails::Trails;
use game::MoveId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A view of some role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ViewId(pub u32);

/// The last round of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Last {
    pub before: ViewId,
    pub own: MoveId,
    pub sees: SeenId,
}

/// One tree of views for each role; every view carries a `T`.
pub(crate) struct Views<T> {
    points: Vec<(Option<Last>, T)>,
    numbers: FxHashMap<Last, ViewId>,
    n_roles: usize,
    /// The histories that were followed.
    pub trails: Trails,
}

/// The views of all roles at one moment.
pub(crate) type Everyone = SmallVec<[ViewId; 4]>;

impl<T: Default> Views<T> {
    pub(crate) fn new(n_roles: usize) -> Views<T> {
        Views {
            points: (0..n_roles).map(|_| (None, T::default())).collect(),
            numbers: FxHashMap::default(),
            n_roles,
            trails: Trails::default(),
        }
    }

    /// The views before the first round.
    pub(crate) fn start(&self) -> Everyone {
        (0..self.n_roles as u32).map(ViewId).collect()
    }

    /// Number of views, and of prefixes of histories that were followed.
    pub(crate) fn len(&self) -> usize {
        self.points.len() + self.trails.len()
    }

    /// The last round of a view, unless nothing happened yet.
    pub(crate) fn last(&self, view: ViewId) -> Option<Last> {
        self.points[view.0 as usize].0
    }

    pub(crate) fn get(&self, view: ViewId) -> &T {
        &self.points[view.0 as usize].1
    }

    pub(crate) fn get_mut(&mut self, view: ViewId) -> &mut T {
        &mut self.points[view.0 as usize].1
    }

    /// A new root: the view of a role without any history.
    pub(crate) fn fresh(&mut self) -> ViewId {
        let fresh = ViewId(self.points.len() as u32);
        self.points.push((None, T::default()));
        fresh
    }

    /// The view after one more round.
    pub(crate) fn after(&mut self, before: ViewId, own: MoveId, sees: SeenId) -> ViewId {
        let last = Last { before, own, sees };
        let fresh = ViewId(self.points.len() as u32);
        let view = *self.numbers.entry(last).or_insert(fresh);
        if view == fresh {
            self.points.push((Some(last), T::default()));
        }
        view
    }

    /// The same view in other trees, which begin alike; `known` remembers what was found before.
    pub(crate) fn transfer(&self, view: ViewId, to: &mut Views<T>, known: &mut FxHashMap<ViewId, ViewId>) -> ViewId {
        let mut later = Vec::new();
        let mut at = view;
        let mut new = loop {
            if let Some(&new) = known.get(&at) {
                break new;
            }
            match self.last(at) {
                // Views before the first round have the same numbers everywhere.
                None => break at,
                Some(last) => {
                    later.push((at, last));
                    at = last.before;
                }
            }
        };
        for (old, last) in later.into_iter().rev() {
            new = to.after(new, last.own, last.sees);
            known.insert(old, new);
        }
        new
    }
}
