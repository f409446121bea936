//! Players as strategies: what a player would do after every view, so that it can be held against its best response.

use crate::players::PlayerSpec;
use crate::solving::{SolveOptions, SolveProgress};
use crate::{Engine, Error, Game, Unsuitable};
use game::{Budget, Decision, RoleId, Round, Seed, Simulator, StopFlag, Told};
use learn::Response;
use referee::Seat;
use solve::{Infoset, Policy, Tree};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    let asking = Asking {
        spec: &spec,
        engine: game.engine(),
        tree,
        options,
        seeds: options.seeds.max(1),
        needs_policy: options.seeds.max(1) == 1,
    };
    let all = 0..tree.infosets().len();
    Ok(asking.ask_all(all, progress)?.0)
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
    let asking = Asking {
        spec,
        engine,
        tree,
        options,
        seeds: seeds.max(1),
        needs_policy: false,
    };
    let (policy, asked) = asking.ask_all(tree.infosets_of(player), progress)?;
    // A player may name a move that is not legal; what is left counts.
    Ok((Policy::proportional(tree, &policy.0), asked))
}

/// A player that is asked in many information sets.
///
/// A player that is told the rounds of a view is asked in all earlier information sets of the view on the way, and
/// answers there as it would if it were asked for them alone. So only views that no other view goes on from are walked.
struct Asking<'a> {
    spec: &'a PlayerSpec,
    engine: &'a Engine,
    tree: &'a Tree,
    options: &'a SolveOptions,
    seeds: u64,
    /// Whether an answer without probabilities is an error.
    needs_policy: bool,
}

/// The answers of one walk: numbers of information sets with the probabilities of their moves, and how many moves were
/// asked for.
type Answers = (Vec<(usize, Vec<f64>)>, u64);

impl Asking<'_> {
    /// Asks in some information sets, on all threads. Returns probabilities and how many moves were asked for.
    fn ask_all(&self, sets: Range<usize>, progress: &mut dyn FnMut(SolveProgress<'_>)) -> Result<(Policy, u64), Error> {
        let walks = self.walks(sets.clone());
        let mut policy = Policy::uniform(self.tree);
        for set in &self.tree.infosets()[sets.clone()] {
            policy.0[set.sequences()].fill(0.0);
        }
        let (mut asked, mut answered, mut failed) = (0, 0, None);
        let next = AtomicUsize::new(0);
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..self.options.threads.clamp(1, walks.len().max(1)) {
                let (tell, next, walks) = (tell.clone(), &next, &walks);
                scope.spawn(move || {
                    let sim = self.engine.state_simulator();
                    while let Some(walk) = walks.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let answers = self.ask(sim.as_ref(), walk);
                        let stopped = answers.is_err() || self.options.stop.is_raised();
                        if tell.send(answers).is_err() || stopped {
                            // The others stop as well.
                            next.fetch_add(walks.len(), Ordering::Relaxed);
                        }
                    }
                });
            }
            drop(tell);
            for answers in told {
                match answers {
                    Err(error) => failed = failed.take().or(Some(error)),
                    Ok((sets_answered, moves)) => {
                        asked += moves;
                        answered += sets_answered.len();
                        for (number, probabilities) in sets_answered {
                            let range = self.tree.infosets()[number].sequences();
                            policy.0[range].copy_from_slice(&probabilities);
                        }
                        progress(SolveProgress::Asked(answered, sets.len()));
                    }
                }
            }
        });
        if self.options.stop.is_raised() {
            return Err(Error::Stopped {
                progress: format!(
                    "{} was asked in {answered} of {} information sets",
                    self.spec,
                    sets.len()
                ),
            });
        }
        match failed {
            Some(error) => Err(error),
            None => Ok((policy, asked)),
        }
    }

    /// The information sets that are walked to: those from which no other one goes on. Each comes with the information
    /// sets on the way that no earlier walk answers, the last one included.
    fn walks(&self, sets: Range<usize>) -> Vec<Vec<usize>> {
        let infosets = self.tree.infosets();
        let before = |number: usize| {
            let set = &infosets[number];
            let of = self.tree.infosets_of(set.player as usize);
            // The empty sequence comes before those of all sets.
            let at = infosets[of.clone()].partition_point(|other| other.first <= set.parent);
            at.checked_sub(1).map(|at| of.start + at)
        };
        let mut goes_on = vec![false; infosets.len()];
        sets.clone()
            .filter_map(before)
            .for_each(|earlier| goes_on[earlier] = true);
        let mut answered = vec![false; infosets.len()];
        let mut walks = Vec::new();
        for last in sets.filter(|&number| !goes_on[number]) {
            let mut walk = Vec::new();
            let mut at = Some(last);
            while let Some(number) = at.filter(|&number| !answered[number]) {
                answered[number] = true;
                walk.push(number);
                at = before(number);
            }
            walk.reverse();
            walks.push(walk);
        }
        walks
    }

    /// The answers of one walk, averaged over the seeds.
    fn ask(&self, sim: &dyn Simulator, walk: &[usize]) -> Result<Answers, Error> {
        let infosets = self.tree.infosets();
        let mut answers: Vec<(usize, Vec<f64>)> = walk
            .iter()
            .map(|&number| (number, vec![0.0; infosets[number].n as usize]))
            .collect();
        let mut asked = 0;
        for seed in 0..self.seeds {
            let seed = Seed(self.options.seed.wrapping_add(seed));
            asked += self.ask_with(sim, seed, &mut answers)?;
        }
        Ok((answers, asked))
    }

    /// Asks a new player that is told the rounds of the last view of a walk one after the other.
    fn ask_with(&self, sim: &dyn Simulator, seed: Seed, answers: &mut [(usize, Vec<f64>)]) -> Result<u64, Error> {
        let Some(&(last, _)) = answers.last() else {
            return Ok(0);
        };
        let set = &self.tree.infosets()[last];
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
        let mut next = answers.iter_mut().peekable();
        for rounds in 0..=view.len() {
            let decision = player.choose(&view[..rounds], &budget)?;
            let is_here = |number: usize| self.tree.rounds_before(&self.tree.infosets()[number]) == rounds;
            if let Some((number, probabilities)) = next.next_if(|(number, _)| is_here(*number)) {
                if decision.policy.is_empty() && self.needs_policy {
                    return Err(self.spec.unsuitable(Unsuitable::NoPolicy));
                }
                self.add(sim, &self.tree.infosets()[*number], &decision, probabilities);
            }
        }
        Ok(view.len() as u64 + 1)
    }

    /// Adds an answer to the probabilities of an information set.
    fn add(&self, sim: &dyn Simulator, set: &Infoset, decision: &Decision, probabilities: &mut [f64]) {
        let role = self.tree.players[set.player as usize];
        for (sequence, probability) in set.sequences().zip(probabilities) {
            let text = sim.move_text(role, self.tree.move_of(sequence));
            let p = match decision.policy.is_empty() {
                true => f64::from(u8::from(decision.mv == text)),
                false => {
                    let found = decision.policy.iter().find(|(mv, _)| mv == text);
                    found.map_or(0.0, |(_, p)| *p)
                }
            };
            *probability += p / self.seeds as f64;
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
