//! Our players behind the GGP protocol: who sits down for a match that a manager elsewhere runs.
//!
//! A match is played on the reference simulator from its first moment, and on the compiled engine as soon as that is ready. The time before
//! the first move is used for compiling, and what is left of it for thinking.

use crate::engine::{Engine, EngineKind, EngineOptions, Pending};
use crate::players::{PlayerSpec, tools};
use anyhow::{Result, bail};
use game::{Budget, Decision, Fault, Player, RoleId, Seed, Simulator, Told};
use gdl::{Literal, Rules, Term, kw};
use ggp::{BoxError, MatchPlayer, PlayerFactory};
use ground::Reference;
use referee::Seat;
use search::Random;
use std::time::Duration;

/// Makes players for matches.
pub struct House {
    spec: Option<PlayerSpec>,
    seed: Seed,
}

impl House {
    /// Plays with this player, or with whatever suits the game.
    ///
    /// # Errors
    /// If the player cannot play over the wire.
    pub fn new(spec: Option<PlayerSpec>, seed: Seed) -> Result<House> {
        if let Some(spec) = &spec {
            if spec.is_cheat() {
                bail!(
                    "`{}` needs to be shown the true state, and no manager does that",
                    spec.text
                );
            }
            if spec.remote().is_some() {
                bail!("`{}` plays elsewhere; tell the manager to call it there", spec.text);
            }
        }
        Ok(House { spec, seed })
    }

    /// The player for a game.
    fn spec(&self, rules: &Rules) -> Result<PlayerSpec> {
        let hidden = hides_something(rules);
        match &self.spec {
            Some(spec) if hidden && spec.needs_complete_information() => {
                tracing::warn!(
                    "{} cannot play a game that hides something; hp plays instead",
                    spec.text
                );
                PlayerSpec::parse("hp")
            }
            Some(spec) => Ok(spec.clone()),
            None if hidden => PlayerSpec::parse("hp"),
            None => PlayerSpec::parse("uct"),
        }
    }
}

/// How long compiling may go on: it does so in the background, and a match may be long.
const COMPILING: Duration = Duration::from_secs(120);

impl PlayerFactory for House {
    fn player(&self, match_id: &str, rules: &Rules, role: RoleId) -> Result<Box<dyn MatchPlayer>, BoxError> {
        let make = || -> Result<Upgrading> {
            let reference = EngineOptions {
                kind: EngineKind::Reference,
                ..EngineOptions::default()
            };
            let options = EngineOptions {
                time: COMPILING,
                ..EngineOptions::default()
            };
            let pending = Pending::start(rules, &options)?;
            let mut sitter = Upgrading {
                spec: self.spec(rules)?,
                role,
                seed: self.seed.child(match_id),
                player: None,
                pending: Some(pending),
            };
            sitter.seat(&Engine::new(rules, &reference)?)?;
            Ok(sitter)
        };
        match make() {
            Ok(sitter) => Ok(Box::new(sitter)),
            Err(error) => Err(error.into()),
        }
    }

    fn fallback(&self, match_id: &str, rules: &Rules, role: RoleId) -> Result<Box<dyn MatchPlayer>, BoxError> {
        let options = EngineOptions {
            kind: EngineKind::Reference,
            ..EngineOptions::default()
        };
        let engine = Engine::new(rules, &options)?;
        let tools = tools(&engine, role, self.seed.child(match_id).child("steward"));
        let player = Random::new(tools)?;
        Ok(Box::new(Fallback(player)))
    }

    fn simulator(&self, rules: &Rules) -> Result<Box<dyn Simulator>, BoxError> {
        match Reference::new(rules) {
            Ok(reference) => Ok(Box::new(reference)),
            Err(fault) => Err(fault.into()),
        }
    }
}

/// A player that gets a faster engine when there is one.
struct Upgrading {
    spec: PlayerSpec,
    role: RoleId,
    seed: Seed,
    player: Option<Box<dyn Player>>,
    pending: Option<Pending>,
}

impl Upgrading {
    fn seat(&mut self, engine: &Engine) -> Result<()> {
        self.player = match self.spec.seat(engine, self.role, self.seed)? {
            Seat::Player(player) => Some(player),
            _ => bail!("`{}` cannot play over the wire", self.spec.text),
        };
        Ok(())
    }

    /// Changes to the compiled engine if it is ready. Whoever sits down anew is told everything from the beginning.
    fn upgrade(&mut self) {
        let Some(made) = self.pending.as_mut().and_then(Pending::poll) else {
            return;
        };
        self.pending = None;
        match made {
            Ok(engine) if engine.compiled().is_some() => match self.seat(&engine) {
                Ok(()) => tracing::debug!("plays on the compiled engine: {}", engine.why),
                Err(error) => tracing::warn!("the compiled engine is not used: {error:#}"),
            },
            Ok(engine) => tracing::info!("plays on the reference engine: {}", engine.why),
            Err(error) => tracing::warn!("plays on the reference engine: {error:#}"),
        }
    }
}

impl MatchPlayer for Upgrading {
    fn prepare(&mut self, budget: &Budget) -> Option<String> {
        while self.pending.is_some() && !budget.stop.is_raised() {
            self.upgrade();
            std::thread::sleep(Duration::from_millis(1));
        }
        let decision = self.choose(&[], budget).ok()?;
        Some(decision.mv)
    }

    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        self.upgrade();
        match &mut self.player {
            Some(player) => player.choose(told, budget),
            None => Err(Fault::player("no player is seated")),
        }
    }
}

/// Somebody simple and quick.
struct Fallback(Random);

impl MatchPlayer for Fallback {
    fn prepare(&mut self, budget: &Budget) -> Option<String> {
        self.0.choose(&[], budget).ok().map(|decision| decision.mv)
    }

    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        self.0.choose(told, budget)
    }
}

/// Whether a role may not know everything: unless every move is announced, as `(did ROLE MOVE)`, and none of them is nature's.
fn hides_something(rules: &Rules) -> bool {
    let nature = rules.clauses.iter().any(|c| {
        c.head.relation == kw::ROLE && matches!(&c.head.args[..], [Term::Fun(name, _)] if *name == kw::RANDOM)
    });
    nature || !rules.clauses.iter().any(|c| announces(c, rules))
}

/// `(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m))`
fn announces(clause: &gdl::Clause, rules: &Rules) -> bool {
    let [Term::Var(who), Term::Fun(did, args)] = &clause.head.args[..] else {
        return false;
    };
    let [Term::Var(other), Term::Var(mv)] = &args[..] else {
        return false;
    };
    let known = |literal: &Literal| match literal {
        Literal::Pos(atom) if atom.relation == kw::ROLE => {
            atom.args == [Term::Var(*who)] || atom.args == [Term::Var(*other)]
        }
        Literal::Pos(atom) if atom.relation == kw::DOES => atom.args == [Term::Var(*other), Term::Var(*mv)],
        _ => false,
    };
    let different = who != other && other != mv && who != mv;
    clause.head.relation == kw::SEES && rules.symbols.text(*did) == "did" && different && clause.body.iter().all(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hides(text: &str) -> bool {
        hides_something(&gdl::read(text, &gdl::Options::default()).rules)
    }

    #[test]
    fn announced_moves_hide_nothing() {
        assert!(hides("(role a) (role b) (<= (legal ?r m) (role ?r))"));
        let did = ggp::spelling::ANNOUNCEMENT;
        assert!(!hides(&format!("(role a) (role b) (<= (legal ?r m) (role ?r)) {did}")));
        assert!(hides(&format!(
            "(role a) (role random) (<= (legal ?r m) (role ?r)) {did}"
        )));
        assert!(hides(
            "(role a) (<= (legal ?r m) (role ?r)) (<= (sees ?p (did ?p ?m)) (does ?p ?m))"
        ));
    }

    #[test]
    fn who_cannot_play_over_the_wire_is_refused() {
        let refused = |name: &str| House::new(Some(PlayerSpec::parse(name).unwrap()), Seed(1)).is_err();
        assert!(refused("cheat:10") && refused("remote:127.0.0.1:1") && !refused("hp:4,4"));
    }
}
