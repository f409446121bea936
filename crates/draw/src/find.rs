//! What each family of fluents is: pieces on a board, a hand, a counter, or a list.

use crate::candidates::{Candidate, SIDE, candidate};
use crate::family::Observed;
use crate::order::{Ordered, Orders};
use crate::sample::Samples;
use crate::term::Id;
use std::collections::BTreeSet;

/// What a family of fluents is drawn as.
#[derive(Clone, Debug)]
pub enum Use {
    /// Pieces on the boards of a group.
    Pieces { group: usize, member: usize },
    /// Cards in hands, one for each role if there is a role among the arguments.
    Hand { role: Option<usize>, cards: Vec<usize> },
    /// A value, one for each key.
    Counter { key: Vec<usize>, value: Vec<usize> },
    /// Facts.
    List,
}

/// Arguments that say where a piece is, and what it is.
#[derive(Clone, Debug)]
pub struct Member {
    pub family: usize,
    /// The argument that says on which of several boards.
    pub plane: Option<usize>,
    /// The arguments that name the cell: one, two, or two for each of two nested boards.
    pub keys: Vec<usize>,
    /// The other arguments.
    pub pieces: Vec<usize>,
    /// Whether the same cells occur in every state.
    pub total: bool,
    /// Whether a cell holds at most one piece of this family.
    pub single: bool,
}

/// Families that share boards.
#[derive(Clone, Debug)]
pub struct Group {
    /// The family that gives the board its name, then overlays.
    pub members: Vec<Member>,
    /// Values of each key.
    pub axes: Vec<BTreeSet<Id>>,
    /// Values of the argument that says on which board.
    pub planes: BTreeSet<Id>,
    /// Whether the boards are those of roles.
    pub by_role: bool,
}

/// Uses of all families, and the groups of boards.
pub struct Found {
    pub uses: Vec<Use>,
    pub groups: Vec<Group>,
}

/// Finds the use of every family.
pub fn find(samples: &Samples, observed: &[Observed], orders: &Orders, hinted: Option<&str>) -> Found {
    let mut candidates: Vec<Candidate> = observed.iter().filter_map(candidate).collect();
    if let Some(board) = hinted {
        let bonus = |c: &mut Candidate| c.score += 100 * i32::from(observed[c.member.family].name() == board);
        candidates.iter_mut().for_each(bonus);
    }
    candidates.sort_by_key(|c| (c.weak, std::cmp::Reverse((c.score, c.cells)), c.member.family));
    let mut found = Found {
        uses: vec![Use::List; observed.len()],
        groups: Vec::new(),
    };
    let mut placed = vec![false; observed.len()];
    for candidate in candidates {
        let family = candidate.member.family;
        if let Some((group, member)) = found.place(candidate, samples, observed, orders) {
            found.uses[family] = Use::Pieces { group, member };
            placed[family] = true;
        }
    }
    for one in observed.iter().filter(|o| !placed[o.family]) {
        let by_moves = found.mark(one, samples);
        found.uses[one.family] = by_moves.or_else(|| found.join_cells(one)).unwrap_or_else(|| aside(one));
    }
    found.split_by_role(observed);
    found
}

impl Found {
    /// Puts a candidate on a board that fits, or makes a new board.
    fn place(
        &mut self,
        candidate: Candidate,
        samples: &Samples,
        observed: &[Observed],
        orders: &Orders,
    ) -> Option<(usize, usize)> {
        let Candidate { member, weak, .. } = candidate;
        let one = &observed[member.family];
        let axes: Vec<BTreeSet<Id>> = member.keys.iter().map(|&k| one.domains[k].clone()).collect();
        let planes = member.plane.map(|p| one.domains[p].clone()).unwrap_or_default();
        for (number, group) in self.groups.iter_mut().enumerate() {
            if group.fits(&member, &axes, &planes, samples, orders) {
                group
                    .axes
                    .iter_mut()
                    .zip(axes)
                    .for_each(|(axis, more)| axis.extend(more));
                group.planes.extend(planes);
                group.members.push(member);
                return Some((number, group.members.len() - 1));
            }
        }
        if weak {
            return None;
        }
        self.groups.push(Group {
            members: vec![member],
            axes,
            planes,
            by_role: false,
        });
        Some((self.groups.len() - 1, 0))
    }

    /// A family with one argument that moves name: a mark on a row of places, such as the door that was chosen.
    fn mark(&mut self, one: &Observed, samples: &Samples) -> Option<Use> {
        let [domain] = &one.domains[..] else { return None };
        if one.is_role[0] || !(2..=SIDE).contains(&domain.len()) || !is_named_by_moves(one, samples) {
            return None;
        }
        let member = Member {
            family: one.family,
            plane: None,
            keys: vec![0],
            pieces: Vec::new(),
            total: false,
            single: false,
        };
        let fits = |group: &Group| {
            let near = |axis: &BTreeSet<Id>| 2 * axis.intersection(domain).count() >= axis.len().min(domain.len());
            group.planes.is_empty() && group.axes.len() == 1 && near(&group.axes[0])
        };
        let group = match self.groups.iter().position(fits) {
            Some(group) => group,
            // Places that only nature names are nothing to click on.
            None if !is_named_by_roles(domain, samples) => return None,
            None => {
                self.groups.push(Group {
                    members: Vec::new(),
                    axes: vec![BTreeSet::new()],
                    planes: BTreeSet::new(),
                    by_role: false,
                });
                self.groups.len() - 1
            }
        };
        self.groups[group].axes[0].extend(domain);
        self.groups[group].members.push(member);
        let member = self.groups[group].members.len() - 1;
        Some(Use::Pieces { group, member })
    }

    /// A family with an argument that names cells of a board with one argument for each cell.
    fn join_cells(&mut self, one: &Observed) -> Option<Use> {
        if one.arity() == 0 || one.arity() > 3 || one.most <= 1 {
            return None;
        }
        for (number, group) in self.groups.iter_mut().enumerate() {
            let [axis] = &group.axes[..] else { continue };
            if !group.planes.is_empty() {
                continue;
            }
            let on = |at: &usize| one.domains[*at].len() >= 2 && one.domains[*at].is_subset(axis);
            let at = (0..one.arity()).filter(on).collect::<Vec<_>>();
            let [at] = at[..] else { continue };
            let pieces: Vec<usize> = (0..one.arity()).filter(|&p| p != at).collect();
            group.members.push(Member {
                family: one.family,
                plane: None,
                keys: vec![at],
                pieces,
                total: false,
                single: false,
            });
            return Some(Use::Pieces {
                group: number,
                member: group.members.len() - 1,
            });
        }
        None
    }

    /// Boards whose only families have a role among their other arguments become one board for each role.
    fn split_by_role(&mut self, observed: &[Observed]) {
        for group in &mut self.groups {
            if !group.planes.is_empty() {
                let first = &group.members[0];
                group.by_role = first.plane.is_some_and(|p| observed[first.family].is_role[p]);
                continue;
            }
            let role_of = |m: &Member| {
                let roles: Vec<usize> = m
                    .pieces
                    .iter()
                    .copied()
                    .filter(|&p| observed[m.family].is_role[p])
                    .collect();
                // A cell has to be able to hold something for each role: `(tried ROLE X Y)`, not `(cell X Y ROLE)`.
                let cell: Vec<usize> = m.keys.clone();
                match (&roles[..], observed[m.family].is_key(&cell)) {
                    ([role], false) => Some(*role),
                    _ => None,
                }
            };
            let roles: Option<Vec<usize>> = group.members.iter().map(role_of).collect();
            let Some(roles) = roles else { continue };
            // One figure for each role on a common board is not a board for each role.
            let figures = |(m, role): (&Member, &usize)| observed[m.family].is_key(&[*role]);
            if group.members.iter().zip(&roles).all(figures) {
                continue;
            }
            for (member, role) in group.members.iter_mut().zip(roles) {
                member.plane = Some(role);
                member.pieces.retain(|&p| p != role);
                group.planes.extend(&observed[member.family].domains[role]);
            }
            group.by_role = true;
        }
    }
}

impl Group {
    fn fits(
        &self,
        member: &Member,
        axes: &[BTreeSet<Id>],
        planes: &BTreeSet<Id>,
        samples: &Samples,
        orders: &Orders,
    ) -> bool {
        let same_shape = self.axes.len() == axes.len() && self.planes.is_empty() == planes.is_empty();
        if !same_shape || (!planes.is_empty() && self.planes.is_disjoint(planes)) {
            return false;
        }
        let near = |(ours, theirs): (&BTreeSet<Id>, &BTreeSet<Id>)| {
            let common = ours.intersection(theirs).count();
            let union: BTreeSet<Id> = ours.union(theirs).copied().collect();
            let kind = |set| orders.sort(set, &samples.names).1;
            theirs.is_subset(ours) || (3 * common >= 2 * ours.len().min(theirs.len()) && kind(&union) == kind(ours))
        };
        self.axes.iter().zip(axes).all(near) && !self.members.iter().any(|m| are_rivals(m, member, samples))
    }
}

/// Whether two families are the contents of two boards with equal axes.
fn are_rivals(one: &Member, other: &Member, samples: &Samples) -> bool {
    if one.total && other.total && !one.pieces.is_empty() && !other.pieces.is_empty() {
        return true;
    }
    if one.pieces.is_empty() || other.pieces.is_empty() || !one.single || !other.single {
        return false;
    }
    let texts = |m: &Member| -> BTreeSet<Vec<Id>> {
        samples
            .tuples(m.family)
            .into_iter()
            .map(|t| crate::family::pick(t, &m.pieces))
            .collect()
    };
    let (a, b) = (texts(one), texts(other));
    // Equal pieces of two relations: two boards.
    !a.is_disjoint(&b) && one.pieces.len() == other.pieces.len() && one.total == other.total
}

/// Whether the values of a family with one argument come from moves that name them, or are what moves choose from.
fn is_named_by_moves(one: &Observed, samples: &Samples) -> bool {
    let (mut named, mut all) = (0, 0);
    for step in &samples.steps {
        let before = samples.of_family(step.before, one.family);
        for atom in samples.of_family(step.after, one.family) {
            if !before.contains(atom) {
                all += 1;
                named += usize::from(step.joint.iter().any(|mv| mv.args.contains(&atom.args[0])));
            }
        }
    }
    let chosen = || {
        let moves = samples.moves_by_family();
        moves.values().any(|moves| {
            let arity = moves[0].1.len();
            let domain = |at: usize| -> BTreeSet<Id> { moves.iter().map(|(_, args)| args[at]).collect() };
            (0..arity).any(|at| domain(at) == one.domains[0]) && one.domains[0].len() >= 3
        })
    };
    (all >= 3 && 2 * named >= all) || (one.order[0] == Ordered::Mention && chosen())
}

/// Whether the moves of roles besides nature name at least half of these values in one argument.
fn is_named_by_roles(domain: &BTreeSet<Id>, samples: &Samples) -> bool {
    samples.moves_by_family().values().any(|moves| {
        let played: Vec<&[Id]> = moves
            .iter()
            .filter(|(role, _)| Some(*role) != samples.nature)
            .map(|(_, args)| *args)
            .collect();
        let named = |at: usize| {
            played
                .iter()
                .map(|args| args[at])
                .filter(|a| domain.contains(a))
                .collect::<BTreeSet<_>>()
        };
        (0..moves[0].1.len()).any(|at| 2 * named(at).len() >= domain.len())
    })
}

/// A family that is on no board.
fn aside(one: &Observed) -> Use {
    let all: Vec<usize> = (0..one.arity()).collect();
    if all.is_empty() {
        return Use::List;
    }
    if one.most <= 1 {
        return Use::Counter {
            key: Vec::new(),
            value: all,
        };
    }
    let role = all.iter().copied().find(|&p| one.is_role[p]);
    let rest: Vec<usize> = all.iter().copied().filter(|p| Some(*p) != role).collect();
    match role {
        Some(role) if one.arity() == 2 && one.order[rest[0]] == Ordered::Mention && !one.is_role[rest[0]] => {
            Use::Hand {
                role: Some(role),
                cards: rest,
            }
        }
        Some(role) if one.arity() >= 2 && one.is_key(&[role]) => Use::Counter {
            key: vec![role],
            value: rest,
        },
        Some(role) if one.arity() >= 2 => Use::Hand {
            role: Some(role),
            cards: rest,
        },
        _ if one.arity() == 1 => Use::Hand { role: None, cards: all },
        _ => Use::List,
    }
}
