//! Where a simulation may be: a state together with the views of all roles.
//!
//! Views decide which statistics count, states decide what is legal and what follows. A situation has both as numbers,
//! and refers to its successors by number: once it is known, a descent hashes nothing and asks nobody.
//!
//! Several situations may have one state. It is stored with each of them, since looking for it would take longer.

use super::arms::{ArmTable, Arms};
use crate::atlas::NodeId;
use crate::pieces::Pieces;
use crate::views::{Everyone, ViewId, Views};
use game::{MoveId, State};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A situation, by its place.
pub(super) type SituationId = u32;

/// No situation.
pub(super) const NONE: SituationId = SituationId::MAX;

#[derive(Clone, Copy)]
pub(super) struct Situation {
    /// The state in the atlas, if play ends here or there are inner players, or [`NodeId::NONE`].
    pub node: NodeId,
    pub turn: Turn,
    /// The first of the legal moves, role by role.
    moves: u32,
    /// The first of the successors, one for each move of the only role that chooses.
    kids: u32,
    /// The only role that chooses: a descent needs nothing else of most situations.
    pub chooser: Seat,
}

/// Who chooses in a situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Play ends here.
    Over,
    /// At most this role has a choice.
    One(u16),
    /// Several roles have one.
    Many,
}

/// A role in a situation.
#[derive(Clone, Copy)]
pub(super) struct Seat {
    /// The view whose statistics count.
    pub view: ViewId,
    /// The view of the inner player, if there are any.
    pub mind: ViewId,
    /// Number of legal moves.
    pub width: u32,
    /// Where its list of arms is, or [`FIRST`] or [`UNKNOWN`].
    arms: u32,
}

/// The arms are the first ones, in order.
const FIRST: u32 = u32::MAX;
/// It was not looked up yet which arms they are.
const UNKNOWN: u32 = u32::MAX - 1;

/// All situations of a decision.
#[derive(Default)]
pub(super) struct Situations {
    list: Pieces<Situation>,
    states: Pieces<State>,
    moves: Pieces<MoveId>,
    seats: Pieces<Seat>,
    kids: Pieces<SituationId>,
    /// Successors where several roles choose, by the number of the joint move.
    joint_kids: FxHashMap<(SituationId, u64), SituationId>,
    /// Lists of arms.
    lists: Vec<Box<[u32]>>,
    n_roles: u32,
}

impl Situations {
    pub(super) fn new(n_roles: usize) -> Situations {
        Situations {
            n_roles: n_roles as u32,
            ..Situations::default()
        }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    #[inline]
    pub(super) fn get(&self, id: SituationId) -> Situation {
        self.list[id]
    }

    #[inline]
    pub(super) fn seat(&self, id: SituationId, role: usize) -> &Seat {
        &self.seats[id * self.n_roles + role as u32]
    }

    /// The views of the inner players of all roles.
    pub(super) fn minds(&self, id: SituationId) -> Everyone {
        (0..self.n_roles as usize)
            .map(|role| self.seat(id, role).mind)
            .collect()
    }

    /// A new situation with the legal moves of each role, none of which is without a move. Where there are no inner
    /// players, their views are anything.
    pub(super) fn add<L: AsRef<[MoveId]>>(
        &mut self,
        (node, state): (NodeId, State),
        legal: &[L],
        everyone: &[ViewId],
        minds: &[ViewId],
    ) -> SituationId {
        let id = self.list.len() as SituationId;
        let width = |role: usize| legal.get(role).map_or(0, |moves| moves.as_ref().len() as u32);
        let mut choosing = (0..legal.len()).filter(|&role| width(role) > 1);
        let (first, second) = (choosing.next().unwrap_or(0), choosing.next());
        let turn = match second {
            _ if legal.is_empty() => Turn::Over,
            None => Turn::One(first as u16),
            Some(_) => Turn::Many,
        };
        let seat = |role: usize| Seat {
            view: everyone.get(role).copied().unwrap_or(ViewId(0)),
            mind: minds.get(role).copied().unwrap_or(ViewId(0)),
            width: width(role),
            arms: UNKNOWN,
        };
        (0..self.n_roles as usize).for_each(|role| self.seats.push(seat(role)));
        let (kids, chooser) = (self.kids.len() as u32, seat(first));
        let moves = self.moves.len() as u32;
        legal.iter().for_each(|legal| self.moves.extend(legal.as_ref()));
        self.states.push(state);
        if let Turn::One(_) = turn {
            self.kids.fill(chooser.width as usize, NONE);
        }
        self.list.push(Situation {
            node,
            turn,
            moves,
            kids,
            chooser,
        });
        id
    }

    /// A situation in which play ends.
    pub(super) fn add_end(&mut self, node: NodeId) -> SituationId {
        self.add::<&[MoveId]>((node, State::default()), &[], &[], &[])
    }

    /// The state of a situation in which play goes on.
    pub(super) fn state(&self, id: SituationId) -> &State {
        &self.states[id]
    }

    /// The legal moves of a role.
    fn legal(&self, id: SituationId, role: usize) -> SmallVec<[MoveId; 64]> {
        let widths = (0..=role).map(|role| self.seat(id, role).width);
        let (before, width) = widths.fold((0, 0), |(before, last), width| (before + last, width));
        let first = self.list[id].moves + before;
        (first..first + width).map(|at| self.moves[at]).collect()
    }

    /// The moves of all roles in a joint move, by its number.
    pub(super) fn joint_move(&self, id: SituationId, number: u64, out: &mut Vec<MoveId>) {
        let situation = self.list[id];
        let mut first = situation.moves;
        if let Turn::One(chooser) = situation.turn {
            for role in 0..self.n_roles {
                let (place, width) = match role == u32::from(chooser) {
                    true => (number as u32, situation.chooser.width),
                    false => (0, 1),
                };
                out.push(self.moves[first + place]);
                first += width;
            }
            return;
        }
        for (role, place) in self.places(id, number).into_iter().enumerate() {
            out.push(self.moves[first + place]);
            first += self.seat(id, role).width;
        }
    }

    /// Some successor, to have the list of them in the cache.
    #[inline]
    pub(super) fn any_kid(&self, situation: Situation) -> SituationId {
        match situation.turn {
            Turn::One(_) => self.kids[situation.kids],
            _ => NONE,
        }
    }

    /// The situation after a joint move, by its number; [`NONE`] if it is not known.
    #[inline]
    pub(super) fn kid(&self, from: SituationId, number: u64) -> SituationId {
        let situation = self.list[from];
        match situation.turn {
            Turn::One(_) => self.kids[situation.kids + number as u32],
            _ => self.joint_kids.get(&(from, number)).copied().unwrap_or(NONE),
        }
    }

    pub(super) fn set_kid(&mut self, from: SituationId, number: u64, to: SituationId) {
        let situation = self.list[from];
        match situation.turn {
            Turn::One(_) => self.kids[situation.kids + number as u32] = to,
            _ => {
                self.joint_kids.insert((from, number), to);
            }
        }
    }

    /// The number of a joint move, given as places among the legal moves. Where 64 bits are too few, as with 70 roles
    /// of two moves, the number is that of another joint move: the search goes on with that one.
    pub(super) fn number(&self, id: SituationId, places: &[u32]) -> u64 {
        let seats = places.iter().enumerate();
        seats.fold(0, |number: u64, (role, &place)| {
            let width = u64::from(self.seat(id, role).width);
            number.wrapping_mul(width).wrapping_add(u64::from(place))
        })
    }

    /// The joint move of a number, where several roles choose, as places among their legal moves.
    fn places(&self, id: SituationId, mut number: u64) -> SmallVec<[u32; 4]> {
        let mut places: SmallVec<[u32; 4]> = SmallVec::from_elem(0, self.n_roles as usize);
        for role in (0..self.n_roles as usize).rev() {
            let width = u64::from(self.seat(id, role).width);
            places[role] = (number % width) as u32;
            number /= width;
        }
        places
    }

    /// The arms of the legal moves of a role that chooses, if they were looked up before.
    #[inline(always)]
    pub(super) fn known_arms(&self, seat: &Seat) -> Option<Arms<'_>> {
        match seat.arms {
            UNKNOWN => None,
            FIRST => Some(Arms::First(seat.width as usize)),
            list => Some(Arms::These(&self.lists[list as usize])),
        }
    }

    /// The arms of the legal moves of a role that chooses, made if they are missing.
    pub(super) fn arms(&mut self, views: &mut Views<ArmTable>, id: SituationId, role: usize) -> (ViewId, Arms<'_>) {
        let seat = match self.list[id].turn {
            Turn::One(_) => self.list[id].chooser,
            _ => *self.seat(id, role),
        };
        let arms = match seat.arms {
            UNKNOWN => self.find_arms(views, seat.view, id, role),
            known => known,
        };
        let arms = match arms {
            FIRST => Arms::First(seat.width as usize),
            list => Arms::These(&self.lists[list as usize]),
        };
        (seat.view, arms)
    }

    /// Which arms of a view the legal moves of a role are: [`FIRST`], or where their list is. Apart from the reading of
    /// what is known, which every step of a descent does.
    #[cold]
    fn find_arms(&mut self, views: &mut Views<ArmTable>, view: ViewId, id: SituationId, role: usize) -> u32 {
        let found = match views.get_mut(view).arms_of(&self.legal(id, role)) {
            None => FIRST,
            Some(list) => {
                self.lists.push(list.into());
                self.lists.len() as u32 - 1
            }
        };
        match self.list[id].turn {
            Turn::One(_) => self.list[id].chooser.arms = found,
            _ => self.seats[id * self.n_roles + role as u32].arms = found,
        }
        found
    }
}
