//! The histories that were followed, as a tree of prefixes.
//!
//! Models of a belief share most of their rounds, with each other and with those of the moves before. What is known of
//! a prefix is kept with it: its state and the views of all roles. So a move follows only rounds that are new, however
//! long the match is. When caches become too large, the prefixes of the present models survive, and nothing else.

use crate::atlas::{Atlas, NodeId};
use crate::pieces::drop_aside;
use crate::views::{Everyone, ViewId, Views};
use belief::{Joint, Model};
use game::{Fault, Seed, Simulator, StopFlag};
use rustc_hash::{FxHashMap, FxHashSet};

/// A prefix, by its number.
type PrefixId = u32;

/// The prefix without rounds.
const NOTHING: PrefixId = PrefixId::MAX;

struct Prefix {
    before: PrefixId,
    joint: Joint,
    /// Hash of all its rounds.
    hash: u64,
    node: NodeId,
    everyone: Everyone,
}

/// Prefixes of histories, with the views of one kind that belong to them.
#[derive(Default)]
pub(crate) struct Trails {
    prefixes: Vec<Prefix>,
    /// By the hash of all rounds, so that a long prefix is found at once.
    numbers: FxHashMap<u64, PrefixId>,
}

/// The hashes of all prefixes of a history, the shortest first.
fn hashes(history: &[Joint]) -> Vec<u64> {
    let mut hash = Seed(0);
    let next = |joint: &Joint| {
        hash = joint.iter().fold(hash, |hash, mv| hash.nth(u64::from(mv.0)));
        hash.0
    };
    history.iter().map(next).collect()
}

impl Trails {
    /// Number of prefixes.
    pub(crate) fn len(&self) -> usize {
        self.prefixes.len()
    }

    fn add(&mut self, prefix: Prefix) -> PrefixId {
        let id = self.prefixes.len() as PrefixId;
        self.numbers.insert(prefix.hash, id);
        self.prefixes.push(prefix);
        id
    }

    /// Whether a prefix has these rounds; another one may have the same hash.
    fn is(&self, id: PrefixId, rounds: &[Joint]) -> bool {
        let mut at = id;
        let same = rounds.iter().rev().all(|joint| {
            let prefix = self.prefixes.get(at as usize).filter(|prefix| prefix.joint == *joint);
            at = prefix.map_or(NOTHING, |prefix| prefix.before);
            prefix.is_some()
        });
        same && at == NOTHING
    }

    /// The longest known prefix of a history: its rounds and its number.
    fn longest(&self, history: &[Joint], hashes: &[u64]) -> (usize, PrefixId) {
        let known = |n: &usize| {
            let id = *self.numbers.get(&hashes[n - 1])?;
            self.is(id, &history[..*n]).then_some((*n, id))
        };
        (1..=history.len())
            .rev()
            .find_map(|n| known(&n))
            .unwrap_or((0, NOTHING))
    }

    /// Puts those histories first of which the fewest rounds are unknown. Under a clock there may be no time for all
    /// of them, or for a single one from its start.
    pub(crate) fn best_known_first(&self, models: &mut [Model]) {
        let unknown = |model: &Model| model.history.len() - self.longest(&model.history, &hashes(&model.history)).0;
        models.sort_by_cached_key(unknown);
    }

    /// The known prefixes of some histories, shorter ones first, each once; no more than `most`, but for the last
    /// history.
    fn of(&self, histories: &[Model], most: usize) -> Vec<PrefixId> {
        let (mut found, mut known) = (Vec::new(), FxHashSet::default());
        for model in histories {
            let first = found.len();
            let (_, mut at) = self.longest(&model.history, &hashes(&model.history));
            while at != NOTHING && known.insert(at) {
                found.push(at);
                at = self.prefixes[at as usize].before;
            }
            found[first..].reverse();
            if found.len() >= most {
                break;
            }
        }
        found
    }
}

/// Where a history led.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Followed {
    /// To a state and the views of all roles.
    To(NodeId, Everyone),
    /// It cannot be played.
    Nowhere,
    /// The time was up before. What was found is kept for the next time.
    Late,
}

impl<T: Default> Views<T> {
    /// Follows a history from the start. Once the flag is raised, no further round is computed.
    pub(crate) fn follow_until(
        &mut self,
        atlas: &mut Atlas,
        sim: &mut dyn Simulator,
        history: &[Joint],
        stop: &StopFlag,
    ) -> Result<Followed, Fault> {
        self.follow_as(atlas, sim, history, |role| role, stop)
    }

    /// The same, where each role has the view of the role that `eyes` gives; always the same one for these views.
    pub(crate) fn follow_as(
        &mut self,
        atlas: &mut Atlas,
        sim: &mut dyn Simulator,
        history: &[Joint],
        eyes: impl Fn(usize) -> usize,
        stop: &StopFlag,
    ) -> Result<Followed, Fault> {
        let hashes = hashes(history);
        let (rounds, mut at) = self.trails.longest(history, &hashes);
        atlas.touches += rounds as u64;
        let (mut node, mut everyone) = match self.trails.prefixes.get(at as usize) {
            Some(prefix) => (prefix.node, prefix.everyone.clone()),
            None => (atlas.start(sim)?, self.start()),
        };
        for (joint, &hash) in history.iter().zip(&hashes).skip(rounds) {
            if stop.is_raised() {
                return Ok(Followed::Late);
            }
            let Some(places) = atlas.places(node, joint) else {
                return Ok(Followed::Nowhere);
            };
            let edge = atlas.step(sim, node, &places)?;
            for (role, view) in everyone.iter_mut().enumerate() {
                let eyes = eyes(role);
                *view = self.after(*view, joint[eyes], edge.sees[eyes]);
            }
            node = edge.to;
            at = self.trails.add(Prefix {
                before: at,
                joint: joint.clone(),
                hash,
                node,
                everyone: everyone.clone(),
            });
        }
        Ok(Followed::To(node, everyone))
    }

    /// The states on the way of these prefixes.
    fn nodes_of<'a>(&'a self, prefixes: &'a [PrefixId]) -> impl Iterator<Item = NodeId> + 'a {
        prefixes.iter().map(|&id| self.trails.prefixes[id as usize].node)
    }

    /// Views that know only these prefixes, which are parts of another atlas now.
    fn of_prefixes(&self, kept: &[PrefixId], new: &mut Successor<'_>) -> Views<T> {
        let mut views = Views::new(self.start().len());
        let mut known: FxHashMap<ViewId, ViewId> = self.start().into_iter().map(|view| (view, view)).collect();
        let mut numbers: FxHashMap<PrefixId, PrefixId> = FxHashMap::default();
        for &id in kept {
            let prefix = &self.trails.prefixes[id as usize];
            let mut everyone = Everyone::new();
            for &view in &prefix.everyone {
                // Shorter prefixes came before, and with them the views of the round before.
                let renamed = match (known.get(&view), self.last(view)) {
                    (Some(&renamed), _) => renamed,
                    (None, Some(last)) => {
                        let sees = new.atlas.adopt(new.old, last.sees);
                        views.after(known[&last.before], last.own, sees)
                    }
                    (None, None) => views.fresh(),
                };
                known.insert(view, renamed);
                everyone.push(renamed);
            }
            let number = views.trails.add(Prefix {
                before: numbers.get(&prefix.before).copied().unwrap_or(NOTHING),
                joint: prefix.joint.clone(),
                hash: prefix.hash,
                node: new.nodes[&prefix.node],
                everyone,
            });
            numbers.insert(id, number);
        }
        views
    }
}

/// An atlas, and the one that it replaces.
struct Successor<'a> {
    old: &'a Atlas,
    atlas: Atlas,
    /// New numbers of states.
    nodes: FxHashMap<NodeId, NodeId>,
}

/// Empties an atlas and the views that belong to it, but for what is known about the prefixes of these histories: about
/// `most` prefixes, if there are more. `minds` are further views of the same atlas.
pub(crate) fn forget_others<T, U>(
    atlas: &mut Atlas,
    views: &mut Views<T>,
    mut minds: Option<&mut Views<U>>,
    histories: &[Model],
    most: usize,
) where
    T: Default + Send + 'static,
    U: Default + Send + 'static,
{
    let kept = views.trails.of(histories, most);
    let kept_minds = minds
        .as_ref()
        .map_or_else(Vec::new, |minds| minds.trails.of(histories, most));
    let mut nodes: Vec<NodeId> = views.nodes_of(&kept).collect();
    if let Some(minds) = &minds {
        nodes.extend(minds.nodes_of(&kept_minds));
    }
    let (new, renamed) = atlas.successor(&nodes);
    let mut new = Successor {
        old: atlas,
        atlas: new,
        nodes: renamed,
    };
    let new_views = views.of_prefixes(&kept, &mut new);
    let new_minds = minds.as_ref().map(|minds| minds.of_prefixes(&kept_minds, &mut new));
    let new_atlas = new.atlas;
    let old_atlas = std::mem::replace(atlas, new_atlas);
    let size = old_atlas.len() + views.len();
    let old_views = std::mem::replace(views, new_views);
    let old_minds = minds
        .as_mut()
        .zip(new_minds)
        .map(|(minds, new)| std::mem::replace(*minds, new));
    drop_aside((old_atlas, old_views, old_minds), size);
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::RoleId;

    fn simulator(name: &str) -> ground::Reference {
        let rules = gdl::read(&catalogue::rules(name).unwrap(), &gdl::Options::default()).rules;
        ground::Reference::new(&rules).unwrap()
    }

    fn random_history(sim: &mut dyn Simulator, rounds: usize, seed: u64) -> Model {
        let mut rng = Seed(seed).rng();
        let (mut state, mut history) = (sim.initial().unwrap(), Vec::new());
        for _ in 0..rounds {
            let mut joint = Joint::new();
            for role in 0..sim.roles().len() as u16 {
                let mut legal = Vec::new();
                sim.legal(&state, RoleId(role), &mut legal).unwrap();
                joint.push(*rng.pick(&legal));
            }
            state = sim.next(&state, &joint).unwrap();
            history.push(joint);
        }
        Model {
            history,
            state,
            log_choice: 0.0,
            weight: 1.0,
        }
    }

    type Tree = Views<()>;

    fn follow(atlas: &mut Atlas, views: &mut Tree, sim: &mut dyn Simulator, model: &Model) -> (NodeId, Everyone) {
        match views
            .follow_until(atlas, sim, &model.history, &StopFlag::default())
            .unwrap()
        {
            Followed::To(node, everyone) => {
                assert_eq!(atlas.node(node).state, model.state);
                (node, everyone)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_kept_is_not_computed_again_and_tells_the_same_views_apart() {
        let mut sim = simulator("krieg-tictactoe");
        let models: Vec<Model> = (0..40).map(|seed| random_history(&mut sim, 3, seed)).collect();
        let (mut atlas, mut views) = (Atlas::default(), Tree::new(sim.roles().len()));
        let before: Vec<_> = models
            .iter()
            .map(|m| follow(&mut atlas, &mut views, &mut sim, m))
            .collect();
        let (kept, others) = models.split_at(20);
        forget_others(&mut atlas, &mut views, None::<&mut Tree>, kept, usize::MAX);
        let computed = atlas.computed;
        let mut after: Vec<_> = kept
            .iter()
            .map(|m| follow(&mut atlas, &mut views, &mut sim, m))
            .collect();
        assert_eq!(atlas.computed, computed);
        after.extend(others.iter().map(|m| follow(&mut atlas, &mut views, &mut sim, m)));
        assert!(atlas.computed > computed);
        for (one, other) in (0..40).flat_map(|a| (0..a).map(move |b| (a, b))) {
            assert_eq!(before[one].0 == before[other].0, after[one].0 == after[other].0);
            for role in 0..sim.roles().len() {
                let same = |all: &[(NodeId, Everyone)]| all[one].1[role] == all[other].1[role];
                assert_eq!(same(&before), same(&after), "{one}, {other}, {role}");
            }
        }
    }

    #[test]
    fn a_raised_flag_ends_following_and_known_rounds_stay_known() {
        let mut sim = simulator("krieg-tictactoe");
        let model = random_history(&mut sim, 4, 1);
        let (mut atlas, mut views) = (Atlas::default(), Tree::new(sim.roles().len()));
        let looks = std::sync::atomic::AtomicU32::new(0);
        let third = move || f64::from(looks.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) / 2.0;
        let stop = StopFlag::by(third);
        let late = views.follow_until(&mut atlas, &mut sim, &model.history, &stop).unwrap();
        assert_eq!((late, atlas.computed), (Followed::Late, 2));
        follow(&mut atlas, &mut views, &mut sim, &model);
        assert_eq!(atlas.computed, 4);
    }
}
