//! Players as strategies: what a player would do after every view, so that it can be held against its best response.

use crate::players::PlayerSpec;
use crate::solving::{SolveOptions, SolveProgress};
use crate::{Error, Game, Unsuitable};
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
    let mut policy = Policy::uniform(tree);
    let all = tree.infosets().len();
    for (number, set) in tree.infosets().iter().enumerate() {
        let asked = ask(&spec, game, tree, set, options, &mut policy);
        if options.stop.is_raised() {
            return Err(Error::Stopped {
                progress: format!("{player} was asked in {number} of {all} information sets"),
            });
        }
        asked?;
        progress(SolveProgress::Asked(number + 1, all));
    }
    Ok(policy)
}

fn ask(
    spec: &PlayerSpec,
    game: &Game,
    tree: &Tree,
    set: &Infoset,
    options: &SolveOptions,
    policy: &mut Policy,
) -> Result<(), Error> {
    let sim = game.simulator();
    let role = tree.players[set.player as usize];
    let told = |round: &Round| Told {
        own: sim.move_text(role, round.own).to_owned(),
        sees: round
            .sees
            .iter()
            .map(|&p| sim.percept_text(role, p).to_owned())
            .collect(),
    };
    let view: Vec<Told> = tree.view(set).iter().map(told).collect();
    set.sequences().for_each(|sequence| policy.0[sequence] = 0.0);
    let budget = Budget::until(options.stop.clone());
    let share = 1.0 / options.seeds.max(1) as f64;
    for number in 0..options.seeds.max(1) {
        let seed = Seed(options.seed.wrapping_add(number)).nth(u64::from(role.0));
        let Seat::Player(mut player) = game.seat(spec, role, seed)? else {
            return Err(spec.unsuitable(Unsuitable::NoPolicy));
        };
        let mut decision = Decision::default();
        for rounds in 0..=view.len() {
            decision = player.choose(&view[..rounds], &budget)?;
        }
        if decision.policy.is_empty() && options.seeds > 1 {
            decision.policy = vec![(decision.mv, 1.0)];
        }
        if decision.policy.is_empty() {
            return Err(spec.unsuitable(Unsuitable::NoPolicy));
        }
        for sequence in set.sequences() {
            let text = sim.move_text(role, tree.move_of(sequence));
            let found = decision.policy.iter().find(|(mv, _)| mv == text);
            policy.0[sequence] += share * found.map_or(0.0, |(_, p)| *p);
        }
    }
    Ok(())
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
