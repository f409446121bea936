//! How the states of a game are drawn: found once from the rules, used for every picture.

use crate::family::Observed;
use crate::find::{self, Group, Use};
use crate::geometry::{Evidence, Geometry};
use crate::hint::Hints;
use crate::moves::{self, Target};
use crate::order::{Ordered, Orders};
use crate::pieces::Pieces;
use crate::sample::Samples;
use crate::statics::Statics;
use crate::term::{Families, Id, Names};
use game::{Fault, Simulator, StopFlag};
use gdl::Rules;
use std::collections::{BTreeMap, BTreeSet};

/// Bounds of the work of [`Layout::new`]. The defaults give the same layout on every machine.
#[derive(Clone, Debug)]
pub struct LayoutOptions {
    /// Random games to look at.
    pub games: usize,
    /// States to look at in all games together.
    pub states: usize,
    /// Ends the work.
    pub stop: StopFlag,
}

impl Default for LayoutOptions {
    fn default() -> Self {
        LayoutOptions {
            games: 40,
            states: 800,
            stop: StopFlag::default(),
        }
    }
}

/// How the states of one game are drawn.
#[derive(Clone, Debug)]
pub struct Layout {
    pub(crate) roles: Vec<String>,
    pub(crate) names: Names,
    pub(crate) fluents: Families,
    pub(crate) moves: Families,
    /// Use of each family of fluents.
    pub(crate) uses: Vec<Use>,
    pub(crate) boards: Vec<Boards>,
    /// Where each family of moves is made.
    pub(crate) targets: BTreeMap<usize, Target>,
    /// Keys of each family that is a counter, in order, and the last value.
    pub(crate) counters: BTreeMap<usize, CounterLayout>,
}

/// The boards of one group.
#[derive(Clone, Debug)]
pub(crate) struct Boards {
    pub group: Group,
    pub geometry: Geometry,
    pub pieces: Pieces,
}

/// A counter: its keys, and the last value.
#[derive(Clone, Debug, Default)]
pub(crate) struct CounterLayout {
    pub keys: Vec<Vec<Id>>,
    pub of: Option<String>,
}

impl Layout {
    /// Finds boards, hands and counters in rules, by the rules themselves and by random games from a fixed seed. Any
    /// simulator of the rules gives the same layout.
    ///
    /// # Errors
    /// [`Fault::Stopped`] if the flag was raised; there is no other error. A fault of the rules ends a random game.
    pub fn new(rules: &Rules, sim: &mut dyn Simulator, options: &LayoutOptions) -> Result<Layout, Fault> {
        let roles = sim.roles().to_vec();
        let mut samples = Samples::play(sim, options)?;
        let statics = Statics::of(rules, &mut samples.names);
        let orders = Orders::of(&statics);
        let role_ids: BTreeSet<Id> = roles.iter().map(|r| samples.names.intern(r)).collect();
        let hints = Hints::of(&rules.source);
        let observed = Observed::all(&samples, &orders, &role_ids);
        let found = find::find(&samples, &observed, &orders, hints.board.as_deref());
        let evidence = Evidence {
            rules,
            samples: &samples,
            observed: &observed,
            orders: &orders,
            statics: &statics,
        };
        let mut boards = Vec::new();
        let mut all_diffs = Vec::new();
        for group in found.groups {
            if options.stop.is_raised() {
                return Err(Fault::Stopped);
            }
            let diffs = group.diffs(&samples);
            let hint = hints.orientation(&observed[group.members[0].family]);
            let geometry = Geometry::of(&group, &diffs, &evidence, hint);
            let mut pieces = Pieces::of(&group, &samples, &diffs, &roles);
            hints.set_glyphs(&mut pieces);
            all_diffs.push(diffs);
            boards.push(Boards {
                group,
                geometry,
                pieces,
            });
        }
        let known: Vec<moves::Known> = boards
            .iter()
            .zip(&all_diffs)
            .map(|(b, diffs)| moves::Known {
                group: &b.group,
                geometry: &b.geometry,
                pieces: &b.pieces,
                diffs,
            })
            .collect();
        let targets = moves::find(&samples, &known, &roles);
        let counters = counters(&found.uses, &observed, &orders);
        drop((known, observed));
        Ok(Layout {
            roles,
            uses: found.uses,
            boards,
            targets,
            counters,
            names: samples.names,
            fluents: samples.fluents,
            moves: samples.moves,
        })
    }

    /// The roles of the game.
    pub fn roles(&self) -> &[String] {
        &self.roles
    }
}

fn counters(uses: &[Use], observed: &[Observed], orders: &Orders) -> BTreeMap<usize, CounterLayout> {
    let mut counters = BTreeMap::new();
    for (one, use_) in observed.iter().zip(uses) {
        let Use::Counter { key, value } = use_ else { continue };
        let keys = match key.is_empty() {
            true => vec![Vec::new()],
            false => one.cells(key).into_iter().collect(),
        };
        counters.insert(
            one.family,
            CounterLayout {
                keys,
                of: last_value(one, value, orders),
            },
        );
    }
    counters
}

/// The last of ordered values, if finished games end with it or nothing comes after it in the rules.
fn last_value(one: &Observed, value: &[usize], orders: &Orders) -> Option<String> {
    let [at] = *value else { return None };
    let names = &one.samples.names;
    let (values, order) = orders.sort(&one.domains[at], names);
    let last = *values.last()?;
    if order < Ordered::Names || values.len() < 3 {
        return None;
    }
    let ends = &one.samples.last;
    let with_it = |state: &&usize| {
        one.samples
            .of_family(**state, one.family)
            .iter()
            .any(|a| a.args[at] == last)
    };
    let always = !ends.is_empty() && ends.iter().filter(with_it).count() == ends.len();
    always.then(|| crate::term::words(names.text(last)))
}
