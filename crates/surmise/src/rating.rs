//! Players as strategies: what a player would do after every view, so that it can be held against its best response.

use crate::players::PlayerSpec;
use crate::solving::{SolveOptions, SolveProgress};
use crate::{Engine, Error, Game, Unsuitable};
use game::{Budget, Decision, RoleId, Round, Seed, StopFlag, Told};
use learn::Response;
use referee::Seat;
use solve::{Infoset, Policy, Tree};

/// Asks a player in every information set of a game: each time a new player that is told one round after the other,
/// with the same seeds everywhere. Averaged over the seeds, its probabilities are those of a player whose seed nobody
/// knows; where a player tells no probabilities, its moves are counted.
pub(crate) fn policy(
    player: &str,
    game: &Game,
    tree: &Tree,
    options: &SolveOptions,
    progress: &mut dyn FnMut(SolveProgress<'_>),
) -> Result<Policy, Error> {
    let spec = PlayerSpec::parse(player)?;
    game.admit(&spec)?;
    let mut asking = Asking {
        spec: &spec,
        engine: game.engine(),
        tree,
        options,
        asked: 0,
    };
    let mut policy = Policy::uniform(tree);
    asking.ask_all(0..tree.infosets().len(), progress, &mut |asking, set| {
        policy.0[set.sequences()].fill(0.0);
        let seeds = options.seeds.max(1);
        for number in 0..seeds {
            let decision = asking.ask(set, Seed(options.seed.wrapping_add(number)))?;
            if decision.policy.is_empty() && seeds == 1 {
                return Err(spec.unsuitable(Unsuitable::NoPolicy));
            }
            asking.add(set, &decision, 1.0 / seeds as f64, &mut policy);
        }
        Ok(())
    })?;
    Ok(policy)
}

/// What one player does in each of its information sets, averaged over seeds, and how many moves were asked for. A
/// player that tells no probabilities counts by the moves that it makes.
pub(crate) fn policy_of(
    spec: &PlayerSpec,
    engine: &Engine,
    tree: &Tree,
    player: usize,
    seeds: u64,
    options: &SolveOptions,
    progress: &mut dyn FnMut(SolveProgress<'_>),
) -> Result<(Policy, u64), Error> {
    if spec.needs_open_game() && engine.rules.information() == gdl::Information::Hidden {
        return Err(spec.unsuitable(Unsuitable::Hidden));
    }
    let mut asking = Asking {
        spec,
        engine,
        tree,
        options,
        asked: 0,
    };
    let mut policy = Policy::uniform(tree);
    asking.ask_all(tree.infosets_of(player), progress, &mut |asking, set| {
        policy.0[set.sequences()].fill(0.0);
        for seed in 0..seeds.max(1) {
            let decision = asking.ask(set, Seed(options.seed.wrapping_add(seed)))?;
            asking.add(set, &decision, 1.0 / seeds.max(1) as f64, &mut policy);
        }
        Ok(())
    })?;
    // A player may name a move that is not legal; what is left counts.
    Ok((Policy::proportional(tree, &policy.0), asking.asked))
}

struct Asking<'a> {
    spec: &'a PlayerSpec,
    engine: &'a Engine,
    tree: &'a Tree,
    options: &'a SolveOptions,
    asked: u64,
}

impl Asking<'_> {
    /// Asks in some information sets.
    fn ask_all(
        &mut self,
        sets: std::ops::Range<usize>,
        progress: &mut dyn FnMut(SolveProgress<'_>),
        each: &mut dyn FnMut(&mut Self, &Infoset) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (tree, all) = (self.tree, sets.len());
        for (number, set) in tree.infosets()[sets].iter().enumerate() {
            let asked = each(self, set);
            if self.options.stop.is_raised() {
                return Err(Error::Stopped {
                    progress: format!("{} was asked in {number} of {all} information sets", self.spec),
                });
            }
            asked?;
            progress(SolveProgress::Asked(number + 1, all));
        }
        Ok(())
    }

    /// Asks a new player that is told the rounds of a view one after the other.
    fn ask(&mut self, set: &Infoset, seed: Seed) -> Result<Decision, Error> {
        let sim = self.engine.state_simulator();
        let role = self.tree.players[set.player as usize];
        let told = |round: &Round| Told {
            own: sim.move_text(role, round.own).to_owned(),
            sees: round
                .sees
                .iter()
                .map(|&p| sim.percept_text(role, p).to_owned())
                .collect(),
        };
        let view: Vec<Told> = self.tree.view(set).iter().map(told).collect();
        let seat = self.spec.seat(self.engine, role, seed.nth(u64::from(role.0)))?;
        let Seat::Player(mut player) = seat else {
            return Err(self.spec.unsuitable(Unsuitable::NoPolicy));
        };
        let budget = Budget::until(self.options.stop.clone());
        let mut decision = Decision::default();
        for rounds in 0..=view.len() {
            decision = player.choose(&view[..rounds], &budget)?;
            self.asked += 1;
        }
        Ok(decision)
    }

    /// Adds an answer to a policy.
    fn add(&self, set: &Infoset, decision: &Decision, weight: f64, policy: &mut Policy) {
        let sim = self.engine.state_simulator();
        let role = self.tree.players[set.player as usize];
        for sequence in set.sequences() {
            let text = sim.move_text(role, self.tree.move_of(sequence));
            let p = match decision.policy.is_empty() {
                true => f64::from(u8::from(decision.mv == text)),
                false => {
                    let found = decision.policy.iter().find(|(mv, _)| mv == text);
                    found.map_or(0.0, |(_, p)| *p)
                }
            };
            policy.0[sequence] += weight * p;
        }
    }
}

/// What a role can get against a player's table.
pub struct ResponseBounds {
    /// The role.
    pub role: String,
    /// Bounds on the best response, and their cost.
    pub response: Response,
}

impl Game {
    /// Bounds on what each role can get against the table of a trained player, without a tree: for games that are too
    /// large for one. Histories less likely than `ignore` are not followed. Every role has a thread of its own.
    ///
    /// # Errors
    /// If the player has learned nothing, or the work was stopped.
    pub fn rate_learned(&self, player: &str, ignore: f64, stop: &StopFlag) -> Result<Vec<ResponseBounds>, Error> {
        let spec = PlayerSpec::parse(player)?;
        let learned = spec
            .learned()
            .ok_or_else(|| spec.unsuitable(Unsuitable::NothingLearned))?;
        let horizon = learned.horizon(self.engine())?;
        let respond = |role: usize| {
            let mut sim = self.simulator();
            let response = horizon.best_response(sim.as_mut(), RoleId(role as u16), ignore, stop)?;
            Ok(ResponseBounds {
                role: self.roles()[role].clone(),
                response,
            })
        };
        let respond = &respond;
        std::thread::scope(|scope| {
            let roles = self.seating().played().iter();
            let running: Vec<_> = roles.map(|&role| scope.spawn(move || respond(role))).collect();
            let wait = |thread: std::thread::ScopedJoinHandle<'_, _>| match thread.join() {
                Ok(bounds) => bounds,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            running.into_iter().map(wait).collect()
        })
    }
}
