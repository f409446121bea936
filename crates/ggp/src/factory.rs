//! Who plays the matches of a [`Server`](crate::Server).

use crate::BoxError;
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
