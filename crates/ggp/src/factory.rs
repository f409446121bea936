//! Who plays the matches of a [`Server`](crate::Server).

use crate::BoxError;
use crate::message::Variant;
use crate::session::MatchStart;
use game::{Budget, Decision, Fault, RoleId, Simulator, StopFlag, Told};
use gdl::Rules;

/// Makes players for matches. The methods are called on threads of the match. The stop flag is raised when the match is
/// over or given up: all work of what is made should end then, background work included.
pub trait PlayerFactory: Send + Sync {
    /// The player that was asked for.
    ///
    /// # Errors
    /// If the player cannot play this game; the fallback plays then.
    fn player(
        &self,
        match_id: &str,
        rules: &Rules,
        role: RoleId,
        stop: &StopFlag,
    ) -> Result<Box<dyn MatchPlayer>, BoxError>;

    /// A simple and quick player, whose moves are sent where the other player is late or fails.
    ///
    /// # Errors
    /// If it cannot play this game.
    fn fallback(
        &self,
        match_id: &str,
        rules: &Rules,
        role: RoleId,
        stop: &StopFlag,
    ) -> Result<Box<dyn MatchPlayer>, BoxError>;

    /// A simulator of the rules that can be used at once.
    ///
    /// # Errors
    /// If the rules cannot be simulated; the match is refused then.
    fn simulator(&self, rules: &Rules, stop: &StopFlag) -> Result<Box<dyn Simulator>, BoxError>;

    /// Is told of a match when it begins, after every answer, and at its end. Answers wait for this: it must be quick.
    fn played(&self, _: &PlayedMatch<'_>) {}
}

/// A match as far as it was played, as its player knows it.
#[derive(Clone, Debug)]
pub struct PlayedMatch<'a> {
    /// START.
    pub start: &'a MatchStart,
    /// Number of this session among all of the process: matches may have the same name.
    pub number: u64,
    /// The role, as a place in the joint move.
    pub role: usize,
    /// All roles.
    pub roles: &'a [String],
    /// Variant of the protocol, if it is known by now.
    pub variant: Option<Variant>,
    /// What the role was told, round by round.
    pub told: &'a [Told],
    /// The joint moves, if the manager tells them: one for each round, or none at all.
    pub joint: &'a [Vec<String>],
    /// Answers, turn by turn; none where the turn was not asked for, or is being thought about.
    pub replies: Vec<Option<&'a str>>,
    /// Time of each answer in milliseconds; 0 where there is none.
    pub times_ms: Vec<u64>,
    /// How it ended, if it has.
    pub end: Option<PlayedEnd>,
}

/// How a match ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayedEnd {
    /// By STOP.
    Over,
    /// By ABORT, by another START, or because its manager was silent.
    GivenUp,
}

/// A player of one role in one match.
pub trait MatchPlayer: Send {
    /// Uses the time before the first move. Returns a first move, if there is one already.
    fn prepare(&mut self, budget: &Budget) -> Option<String>;

    /// Chooses a move, given everything that the role was told so far: never less than at the call before.
    ///
    /// # Errors
    /// If the player has no move; the fallback's move is sent then.
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault>;
}
