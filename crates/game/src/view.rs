//! What one role knows.

use crate::{MoveId, PerceptId};

/// One round as a role saw it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Round {
    /// The role's own move, as executed; [`MoveId::UNKNOWN`] if that is not known.
    pub own: MoveId,
    /// The role's percepts, sorted. An empty set is information too; [`PerceptId::UNKNOWN`] alone is none.
    pub sees: Vec<PerceptId>,
}

/// Everything a role knows besides the rules: its own moves and percepts, round by round. Nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct View {
    /// The rounds so far.
    pub rounds: Vec<Round>,
}
