//! Our players behind the GGP protocol, in matches that a manager elsewhere runs.
//!
//! A match is played on the reference simulator from its first moment, and on the compiled engine as soon as that is
//! ready. The time before the first move is used for compiling, and what is left of it for thinking.

use crate::engine::{Engine, EngineKind, EngineOptions, Pending};
use crate::players::PlayerSpec;
use crate::{Error, MatchRecorder, Unsuitable, start_training};
use game::{Budget, Decision, Fault, Player, RoleId, Seed, Simulator, StopFlag, Told};
use gdl::{Information, Rules};
use ggp::{BoxError, MatchPlayer, PlayedMatch, PlayerFactory};
use ground::{EvaluationLimits, Limits, Reference};
use referee::Seat;
use search::Random;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Makes the players of matches over the wire.
pub struct WirePlayers {
    spec: Option<PlayerSpec>,
    seed: Seed,
    recorder: Option<Arc<MatchRecorder>>,
    cache: Option<PathBuf>,
}

impl WirePlayers {
    /// Plays with this player, or with a default that suits the game.
    ///
    /// # Errors
    /// If the player cannot play over the wire.
    pub fn new(spec: Option<PlayerSpec>, seed: Seed) -> Result<WirePlayers, Error> {
        match &spec {
            Some(spec) if spec.is_cheat() => Err(spec.unsuitable(Unsuitable::NeedsState)),
            Some(spec) if spec.is_guest() => Err(spec.unsuitable(Unsuitable::Elsewhere)),
            _ => Ok(WirePlayers {
                spec,
                seed,
                recorder: None,
                cache: None,
            }),
        }
    }

    /// Writes a record of every match.
    pub fn recorded_by(self, recorder: Arc<MatchRecorder>) -> WirePlayers {
        WirePlayers {
            recorder: Some(recorder),
            ..self
        }
    }

    /// Keeps compiled games in a folder for the next match; see [`EngineOptions::cache`].
    pub fn cached_in(self, folder: Option<PathBuf>) -> WirePlayers {
        WirePlayers { cache: folder, ..self }
    }

    /// The player for a game.
    fn spec(&self, rules: &Rules) -> Result<PlayerSpec, Error> {
        // Over the wire, rules without `sees` in which no move is announced tell the roles nothing at all.
        let hidden = rules.information() == Information::Hidden || !rules.has_sees();
        let name = match &self.spec {
            Some(spec) if hidden && spec.needs_open_game() => {
                tracing::warn!("{spec} cannot play a game that hides something; hp plays instead");
                "hp"
            }
            Some(spec) => return Ok(spec.clone()),
            None => "auto",
        };
        Ok(PlayerSpec::parse(name)?)
    }
}

/// Time for compiling, which goes on in the background: a match may be long.
const COMPILING: Duration = Duration::from_secs(120);

/// The share of the rest of the start clock that a player trains for; then it thinks about its first move.
const TRAINING: f64 = 0.9;

/// The reference engine, whose questions end when the flag is raised.
fn reference(stop: &StopFlag) -> EngineOptions {
    EngineOptions {
        kind: EngineKind::Reference,
        evaluation_stop: stop.clone(),
        ..EngineOptions::default()
    }
}

impl PlayerFactory for WirePlayers {
    fn player(
        &self,
        match_id: &str,
        rules: &Rules,
        role: RoleId,
        stop: &StopFlag,
    ) -> Result<Box<dyn MatchPlayer>, BoxError> {
        let make = || -> Result<UpgradingPlayer, Error> {
            let compiling = StopFlag::default().under(stop);
            let options = EngineOptions {
                limits: Limits {
                    stop: compiling.clone(),
                    ..Limits::default()
                },
                time: COMPILING,
                compile_time: COMPILING,
                ..reference(stop)
            };
            let options = EngineOptions {
                kind: EngineKind::Auto,
                cache: self.cache.clone(),
                ..options
            };
            let pending = Pending::start(rules, &options)?;
            let mut player = UpgradingPlayer {
                spec: self.spec(rules)?,
                role,
                seed: self.seed.child(match_id),
                player: None,
                pending: Some(pending),
                compiling,
            };
            // What is trained before the first move needs the compiled engine.
            let spec = match player.spec.start_training() {
                Some(_) => player.spec.trained(None),
                None => player.spec.clone(),
            };
            player.seat(&spec, &Engine::new(rules, &reference(stop))?)?;
            Ok(player)
        };
        match make() {
            Ok(player) => Ok(Box::new(player)),
            Err(error) => Err(error.into()),
        }
    }

    fn fallback(
        &self,
        match_id: &str,
        rules: &Rules,
        role: RoleId,
        stop: &StopFlag,
    ) -> Result<Box<dyn MatchPlayer>, BoxError> {
        let engine = Engine::new(rules, &reference(stop))?;
        let tools = engine.tools(role, self.seed.child(match_id).child("steward"));
        let player = Random::new(tools)?;
        Ok(Box::new(FallbackPlayer(player)))
    }

    fn simulator(&self, rules: &Rules, stop: &StopFlag) -> Result<Box<dyn Simulator>, BoxError> {
        match Reference::with(rules, EvaluationLimits::default(), stop.clone()) {
            Ok(reference) => Ok(Box::new(reference)),
            Err(fault) => Err(fault.into()),
        }
    }

    fn played(&self, played: &PlayedMatch<'_>) {
        if let Some(recorder) = &self.recorder {
            recorder.take(played);
        }
    }
}

/// A player that changes to the compiled engine when that is ready.
struct UpgradingPlayer {
    spec: PlayerSpec,
    role: RoleId,
    seed: Seed,
    player: Option<Box<dyn Player>>,
    pending: Option<Pending>,
    /// Raised to end compiling.
    compiling: StopFlag,
}

impl Drop for UpgradingPlayer {
    /// Waits for the end of compiling, so that a player that is gone does not compute.
    fn drop(&mut self) {
        self.compiling.raise();
        while self.pending.as_mut().is_some_and(|pending| pending.poll().is_none()) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl UpgradingPlayer {
    fn seat(&mut self, spec: &PlayerSpec, engine: &Engine) -> Result<(), Error> {
        self.player = match spec.seat(engine, self.role, self.seed)? {
            Seat::Player(player) => Some(player),
            _ => return Err(self.spec.unsuitable(Unsuitable::Elsewhere)),
        };
        Ok(())
    }

    /// The player for the compiled engine: one that trains, if there is time for it before the first move.
    fn trained(&self, engine: &Engine, start: Option<&Budget>) -> PlayerSpec {
        let (time, start) = match (self.spec.start_training(), start) {
            (None, _) => return self.spec.clone(),
            (Some(_), None) => return self.spec.trained(None),
            (Some(time), Some(start)) => (time, start),
        };
        match start_training::train(engine, time, &start.stop.part(TRAINING)) {
            Ok(blueprint) => self.spec.trained(Some(blueprint)),
            Err(error) => {
                tracing::warn!("nothing was trained: {error}");
                self.spec.trained(None)
            }
        }
    }

    /// Changes to the compiled engine if it is ready. The new player is told everything from the beginning. Before the
    /// first move there is a start clock, in which a player may train.
    fn upgrade(&mut self, start: Option<&Budget>) {
        let Some(made) = self.pending.as_mut().and_then(Pending::poll) else {
            return;
        };
        self.pending = None;
        match made {
            Ok(engine) if engine.compiled().is_some() => {
                let spec = self.trained(&engine, start);
                match self.seat(&spec, &engine) {
                    Ok(()) => tracing::debug!("plays on the compiled engine: {}", engine.why),
                    Err(error) => tracing::warn!("the compiled engine is not used: {error}"),
                }
            }
            Ok(engine) => tracing::info!("plays on the reference engine: {}", engine.why),
            Err(error) => tracing::warn!("plays on the reference engine: {error}"),
        }
    }
}

impl MatchPlayer for UpgradingPlayer {
    fn prepare(&mut self, budget: &Budget) -> Option<String> {
        while self.pending.is_some() && !budget.stop.is_raised() {
            self.upgrade(Some(budget));
            std::thread::sleep(Duration::from_millis(1));
        }
        let decision = self.choose(&[], budget).ok()?;
        Some(decision.mv)
    }

    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        self.upgrade(None);
        match &mut self.player {
            Some(player) => player.choose(told, budget),
            None => Err(Fault::player("no player is seated")),
        }
    }
}

/// A quick player that answers when the other one is late or fails.
struct FallbackPlayer(Random);

impl MatchPlayer for FallbackPlayer {
    fn prepare(&mut self, budget: &Budget) -> Option<String> {
        self.0.choose(&[], budget).ok().map(|decision| decision.mv)
    }

    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        self.0.choose(told, budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_that_cannot_play_over_the_wire_are_refused() {
        let refused = |name: &str| WirePlayers::new(Some(PlayerSpec::parse(name).unwrap()), Seed(1)).is_err();
        assert!(refused("cheat:10") && refused("remote:127.0.0.1:1") && !refused("hp:4,4"));
    }
}
