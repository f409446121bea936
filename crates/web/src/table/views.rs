//! What a viewer of a table is shown.

use super::undo::Undo;
use super::{SeatState, Sitter, Table};
use crate::ApiError;
use crate::picture_json::PictureJson;
use serde::Serialize;
use std::collections::BTreeMap;
use surmise::draw::FullState;
use surmise::game::{RoleId, Told};

/// Who looks at a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// The person who plays this role.
    Seat(usize),
    /// A watcher.
    Watcher,
}

/// What a viewer is shown: of a seat, a function of what its role was told, of its own answer, of what is public about
/// the table, and of requests to take back.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    /// Name of the table.
    pub id: String,
    /// Name of the game.
    pub game: String,
    /// Title of the game.
    pub title: String,
    /// The viewer's role; none for a watcher.
    pub role: Option<String>,
    /// Roles that are not nature.
    pub roles: Vec<String>,
    /// Who plays each role.
    pub players: BTreeMap<String, String>,
    /// Rounds played.
    pub round: usize,
    /// What the viewer's role was told, round by round.
    pub told: Vec<ToldJson>,
    /// Moves to choose from; empty if there is no decision to make.
    pub legal: Vec<String>,
    /// Picture of what the viewer knows.
    pub board: Option<PictureJson>,
    /// Whether the game is over, or was given up.
    pub finished: bool,
    /// Whether the game was given up.
    pub aborted: bool,
    /// Whether the viewer has a decision to make.
    pub to_move: bool,
    /// Seconds that a move may take.
    pub clock: Option<u64>,
    /// What taking back would mean.
    pub undo: UndoView,
    /// Payoffs, when the game is over.
    pub goals: Option<BTreeMap<String, u8>>,
    /// How a table without people goes on.
    pub watching: Option<WatchView>,
    /// Link for watchers.
    pub watch: String,
    /// Link to the viewer's seat of the next game, once a person has asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rematch: Option<String>,
}

/// A round as a role was told of it.
#[derive(Clone, Debug, Serialize)]
pub struct ToldJson {
    /// The role's own move, as executed.
    #[serde(rename = "move")]
    pub mv: String,
    /// The role's percepts.
    pub sees: Vec<String>,
}

impl From<&Told> for ToldJson {
    fn from(told: &Told) -> ToldJson {
        ToldJson {
            mv: told.own.clone(),
            sees: told.sees.clone(),
        }
    }
}

/// What taking back would mean.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct UndoView {
    /// Whether there is a move to take back.
    pub possible: bool,
    /// Whether another person asks to take back.
    pub asked: bool,
    /// Whether the viewer waits for the others to agree.
    pub waiting: bool,
    /// Whether the others have to agree.
    pub needs_consent: bool,
}

/// How a table without people goes on.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct WatchView {
    /// Whether rounds follow by themselves.
    pub running: bool,
    /// Pause between rounds, in milliseconds.
    pub delay: u64,
}

/// A position of a game that may be seen whole.
#[derive(Clone, Debug, Serialize)]
pub struct Replay {
    /// Rounds played in the position.
    pub round: usize,
    /// Rounds of the game.
    pub rounds: usize,
    /// The role whose view is drawn, or `referee`.
    pub role: String,
    /// Picture of the position.
    pub picture: PictureJson,
    /// What the role was told.
    pub told: Vec<ToldJson>,
    /// Moves of every role, round by round.
    pub moves: Vec<BTreeMap<String, String>>,
    /// Percepts of every role, round by round.
    pub sees: Vec<BTreeMap<String, Vec<String>>>,
    /// Payoffs, in the last position of a game that has ended.
    pub goals: Option<BTreeMap<String, u8>>,
}

/// The perspective of the referee.
pub const REFEREE: &str = "referee";

impl Table {
    /// Whether a viewer may see everything: the game is over, or a watcher looks at a table without people.
    pub fn is_open_to(&self, viewer: Viewer) -> bool {
        self.is_over() || (viewer == Viewer::Watcher && !self.has_people())
    }

    /// What a viewer is shown.
    pub fn view(&self, viewer: Viewer, id: &str, watch: &str) -> View {
        let role = match viewer {
            Viewer::Seat(role) => Some(role),
            Viewer::Watcher => None,
        };
        let record = self.record();
        let to_move = role.is_some_and(|role| self.has_to_move(role));
        let mind = role.and_then(|role| self.mind(role));
        let legal = match mind {
            Some(mind) if to_move => mind.legal().to_vec(),
            _ => Vec::new(),
        };
        let board = match (self.is_open_to(viewer), mind) {
            (true, _) => Some(self.full_picture(record.states.len() - 1)),
            (false, Some(mind)) => Some(mind.certain_picture(&legal).into()),
            (false, None) => None,
        };
        View {
            id: id.to_owned(),
            game: record.game.clone(),
            title: self.game().title.clone(),
            role: role.map(|role| record.roles[role].clone()),
            roles: self.game().played_roles(),
            players: self.by_role(|role| self.setup().sitters[role].name().to_owned()),
            round: record.rounds.len(),
            told: role.map_or(Vec::new(), |role| self.told(role).iter().map(ToldJson::from).collect()),
            legal,
            board,
            finished: self.is_over(),
            aborted: record.aborted,
            to_move,
            clock: self.setup().clock,
            undo: role.map_or(UndoView::default(), |role| self.undo_view(role)),
            goals: self.goals(),
            watching: self.watch_view(viewer),
            watch: watch.to_owned(),
            rematch: None,
        }
    }

    fn undo_view(&self, role: usize) -> UndoView {
        let undo = self.undo_of(role);
        UndoView {
            possible: undo != Undo::Nothing,
            asked: self.undo_asked(role),
            waiting: self.undo_waiting(role),
            #[cfg(not(test))]
            needs_consent: matches!(undo, Undo::Consent(_)),
            #[cfg(test)]
            needs_consent: matches!(undo, Undo::Consent(_))
                ^ (crate::leaks::truth(crate::leaks::Leak::Undo, self) % 2 == 1),
        }
    }

    fn watch_view(&self, viewer: Viewer) -> Option<WatchView> {
        let open = viewer == Viewer::Watcher && !self.has_people() && !self.is_over();
        let (running, delay) = self.pace();
        open.then_some(WatchView { running, delay })
    }

    fn goals(&self) -> Option<BTreeMap<String, u8>> {
        let record = self.record();
        record.complete.then(|| self.by_role(|role| record.goals[role]))
    }

    /// A value for every role that is not nature.
    fn by_role<T>(&self, value: impl Fn(usize) -> T) -> BTreeMap<String, T> {
        let roles = &self.record().roles;
        let played = self.game().game.seating().played().iter();
        played.map(|&role| (roles[role].clone(), value(role))).collect()
    }

    /// The true state after some rounds. Only for viewers to whom the table is open.
    pub(super) fn full_picture(&self, rounds: usize) -> PictureJson {
        let fluents = self.record().states[rounds].iter().cloned();
        self.game()
            .layout
            .full_picture(&FullState::of_referee(fluents), &[])
            .into()
    }

    /// A position, from the view of a role or as the referee saw it.
    ///
    /// # Errors
    /// If the viewer may not see it, or there is no such round or role.
    pub fn replay(&self, viewer: Viewer, round: Option<usize>, role: Option<&str>) -> Result<Replay, ApiError> {
        if !self.is_open_to(viewer) {
            return Err(not_yet());
        }
        let record = self.record();
        let rounds = record.rounds.len();
        let round = check_round(round.unwrap_or(rounds), rounds)?;
        let role = role
            .filter(|role| *role != REFEREE)
            .map(|role| self.played_role(role))
            .transpose()?;
        let picture = match role {
            None => self.full_picture(round),
            Some(role) => self.mind_at(role, round)?.certain_picture(&[]).into(),
        };
        let name = |role: usize| record.roles[role].clone();
        let moves = |round: &surmise::referee::Round| {
            let moves = round.moves.iter().enumerate();
            moves.map(|(role, mv)| (name(role), mv.clone())).collect()
        };
        let sees = |round: &surmise::referee::Round| {
            let percepts = round.percepts.iter().enumerate();
            let told = percepts.filter(|(role, _)| !matches!(self.setup().sitters[*role], Sitter::Nature));
            told.map(|(role, sees)| (name(role), sees.clone())).collect()
        };
        Ok(Replay {
            round,
            rounds,
            role: role.map_or(REFEREE.to_owned(), name),
            picture,
            told: role.map_or(Vec::new(), |role| {
                record.told(role, round).iter().map(ToldJson::from).collect()
            }),
            moves: record.rounds.iter().take(round).map(moves).collect(),
            sees: record.rounds.iter().take(round).map(sees).collect(),
            goals: self.goals().filter(|_| round == rounds),
        })
    }

    /// The place of a role that is not nature.
    pub(super) fn played_role(&self, name: &str) -> Result<usize, ApiError> {
        let role = usize::from(self.game().game.role(name)?.0);
        match self.game().game.seating().played().contains(&role) {
            true => Ok(role),
            false => Err(ApiError::bad("no-role", "nature has no view", "name another role")),
        }
    }

    /// What a role could know after some rounds.
    pub(super) fn mind_at(&self, role: usize, rounds: usize) -> Result<super::Mind, ApiError> {
        let over = self.record().complete && rounds == self.record().rounds.len();
        let told = self.record().told(role, rounds);
        Ok(super::Mind::after(self.game(), RoleId(role as u16), &told, over)?)
    }

    /// Whether a role is a person's.
    pub fn is_person(&self, role: usize) -> bool {
        matches!(self.seats[role], SeatState::Person(_))
    }
}

/// The answer to a question that only a finished game answers.
pub(super) fn not_yet() -> ApiError {
    ApiError::new(
        403,
        "not-finished",
        "the game is not over",
        "the whole game can be seen when it is over",
    )
}

pub(super) fn check_round(round: usize, rounds: usize) -> Result<usize, ApiError> {
    match round <= rounds {
        true => Ok(round),
        false => Err(ApiError::bad(
            "no-round",
            format!("there are rounds 0 to {rounds}"),
            "choose one of them",
        )),
    }
}
