//! Taking moves back.
//!
//! A move whose round has not been played yet is withdrawn at once. A move of an earlier round is taken back with all
//! rounds since. That is granted at once if the seat is the only person at the table, or if nothing was revealed to
//! anyone: in every state that the seat held possible in these rounds, no other person had a choice, the percepts of
//! every other role are the same for every move of the seat, and the percepts of the seat itself are the same whatever
//! happened. Otherwise every person at the table has to agree. The test looks at what the seat holds possible, never at
//! the true state, so that its outcome tells the seat nothing.

use super::mind::Mind;
use super::{Answer, SeatState, Table};
use crate::ApiError;
use std::collections::BTreeSet;
use surmise::game::{Fault, MoveId, PerceptId, RoleId, State};

/// A wish to take moves back that not everyone has agreed to.
#[derive(Clone, Debug)]
pub struct UndoRequest {
    /// Rounds that remain.
    pub to: usize,
    agreed: BTreeSet<usize>,
}

/// What taking back would mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undo {
    /// There is nothing to take back.
    Nothing,
    /// The move of this round, which nobody has seen.
    Withdraw,
    /// All rounds but this many, granted at once.
    Free(usize),
    /// All rounds but this many, if everyone agrees.
    Consent(usize),
}

/// Joint moves of a round that are looked at to find out whether it revealed anything; if there are more, everyone is
/// asked.
const MAX_JOINT_MOVES: usize = 20_000;

impl Table {
    /// What taking back would mean for a person.
    pub fn undo_of(&self, role: usize) -> Undo {
        let SeatState::Person(mind) = &self.seats[role] else {
            return Undo::Nothing;
        };
        let rounds = self.play.rounds();
        if self.is_over() {
            return Undo::Nothing;
        }
        if matches!(self.answers[role], Some(Answer::Move(_))) && mind.had_choice(rounds) {
            return Undo::Withdraw;
        }
        let Some(to) = (0..rounds).rev().find(|&round| mind.had_choice(round)) else {
            return Undo::Nothing;
        };
        let free = self.people().len() == 1 || (to..rounds).all(|round| !mind.may_have_revealed(round));
        if free { Undo::Free(to) } else { Undo::Consent(to) }
    }

    /// The request of another person that a person has not answered.
    pub fn undo_asked(&self, role: usize) -> bool {
        self.undo.as_ref().is_some_and(|asked| !asked.agreed.contains(&role))
    }

    /// Whether a person waits for the others.
    pub fn undo_waiting(&self, role: usize) -> bool {
        self.undo.as_ref().is_some_and(|asked| asked.agreed.contains(&role))
    }

    /// Asks to take back the person's last move, or agrees to the request of another.
    ///
    /// # Errors
    /// If there is nothing to take back.
    pub fn take_back(&mut self, role: usize, agree: bool) -> Result<(), ApiError> {
        if !matches!(self.seats[role], SeatState::Person(_)) {
            return Err(ApiError::new(
                403,
                "not-yours",
                "this token may not take moves back",
                "watch",
            ));
        }
        if !agree {
            self.undo = None;
            return Ok(());
        }
        if let Some(asked) = &mut self.undo {
            asked.agreed.insert(role);
            let (all, to) = (asked.agreed.clone(), asked.to);
            return match self.people().iter().all(|person| all.contains(person)) {
                true => self.rewind(to),
                false => Ok(()),
            };
        }
        match self.undo_of(role) {
            Undo::Nothing => Err(ApiError::conflict(
                "nothing-to-undo",
                "there is no move of yours to take back",
                "a finished game cannot be changed; ask for a rematch",
            )),
            Undo::Withdraw => {
                self.answers[role] = None;
                Ok(())
            }
            Undo::Free(to) => self.rewind(to),
            Undo::Consent(to) => {
                let agreed = BTreeSet::from([role]);
                self.undo = Some(UndoRequest { to, agreed });
                Ok(())
            }
        }
    }

    fn rewind(&mut self, to: usize) -> Result<(), ApiError> {
        self.undo = None;
        self.epoch += 1;
        self.answers = vec![None; self.seats.len()];
        self.play.take_back(to).map_err(surmise::Error::Fault)?;
        self.follow()
    }
}

/// Whether a round may have told anyone anything about the move of this role, or this role anything at all.
pub(super) fn reveals(mind: &mut Mind, people: &[RoleId]) -> Result<bool, Fault> {
    let mut left = MAX_JOINT_MOVES;
    let states: Vec<State> = mind.states().iter().map(|(state, _)| state.clone()).collect();
    let (me, nature) = (mind.role(), mind.simulator().nature());
    let roles: Vec<RoleId> = (0..mind.simulator().roles().len())
        .map(|role| RoleId(role as u16))
        .collect();
    let mut own: Option<Vec<PerceptId>> = None;
    for state in &states {
        if mind.simulator().terminal(state)? {
            continue;
        }
        let mut legal = Vec::with_capacity(roles.len());
        for &role in &roles {
            let mut moves = Vec::new();
            mind.simulator().legal(state, role, &mut moves)?;
            if moves.is_empty() || (people.contains(&role) && moves.len() > 1) {
                return Ok(true);
            }
            legal.push(moves);
        }
        let joints = legal
            .iter()
            .try_fold(1_usize, |all, moves| all.checked_mul(moves.len()));
        match joints.and_then(|joints| left.checked_sub(joints)) {
            Some(rest) => left = rest,
            None => return Ok(true),
        }
        let mine = usize::from(me.0);
        let my_moves = std::mem::replace(&mut legal[mine], vec![MoveId(0)]);
        for mut joint in product(&legal) {
            for &role in &roles {
                if Some(role) == nature {
                    continue;
                }
                let mut first: Option<Vec<PerceptId>> = None;
                for &mv in &my_moves {
                    joint[mine] = mv;
                    let mut seen = Vec::new();
                    mind.simulator().percepts(state, &joint, role, &mut seen)?;
                    let same = if role == me { &mut own } else { &mut first };
                    if *same.get_or_insert_with(|| seen.clone()) != seen {
                        return Ok(true);
                    }
                }
            }
        }
    }
    Ok(false)
}

/// All joint moves of these moves.
fn product(legal: &[Vec<MoveId>]) -> Vec<Vec<MoveId>> {
    legal.iter().fold(vec![Vec::new()], |all, moves| {
        let extend = |joint: &Vec<MoveId>| -> Vec<Vec<MoveId>> {
            moves
                .iter()
                .map(|&mv| joint.iter().copied().chain([mv]).collect())
                .collect()
        };
        all.iter().flat_map(extend).collect()
    })
}
