//! Players that think on threads of their own.

use super::Work;
use crate::BoxError;
use crate::channel::{Receiver, Sender, channel};
use crate::factory::{MatchPlayer, PlayerFactory};
use game::{Budget, Decision, Fault, RoleId, StopFlag, Told};
use gdl::Rules;
use referee::Runtime;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tracing::warn;

/// The two players of a match.
pub(super) struct Thinkers {
    pub player: Thinker,
    pub fallback: Thinker,
    stop: StopFlag,
}

impl Thinkers {
    /// Players whose work ends when these thinkers are dropped, and when the match is given up.
    pub fn new(factory: &Arc<dyn PlayerFactory>, id: &str, rules: &Rules, role: RoleId, work: &Work) -> Thinkers {
        let rules = Arc::new(rules.clone());
        let stop = StopFlag::default().under(&work.stop);
        let thinker = |name: &str, needs_place: bool, make: Make| {
            let (factory, rules, id, making) = (factory.clone(), rules.clone(), id.to_owned(), stop.clone());
            let make = move || make(factory.as_ref(), &id, &rules, role, &making);
            Thinker::new(name, Box::new(make), needs_place.then(|| stop.clone()), work)
        };
        Thinkers {
            player: thinker("player", true, |factory, id, rules, role, stop| {
                factory.player(id, rules, role, stop)
            }),
            fallback: thinker("fallback", false, |factory, id, rules, role, stop| {
                factory.fallback(id, rules, role, stop)
            }),
            stop,
        }
    }
}

type Make = fn(&dyn PlayerFactory, &str, &Rules, RoleId, &StopFlag) -> Result<Box<dyn MatchPlayer>, BoxError>;

impl Drop for Thinkers {
    fn drop(&mut self) {
        self.stop.raise();
    }
}

/// Why a player has no move.
#[derive(Clone, Debug)]
pub(super) enum ThinkError {
    /// The player could not be made.
    NotMade(Arc<dyn std::error::Error + Send + Sync>),
    /// The player failed.
    Fault(Fault),
    /// The player panicked.
    Panicked,
}

impl fmt::Display for ThinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThinkError::NotMade(error) => {
                error.fmt(f)?;
                let causes = std::iter::successors(error.source(), |cause| cause.source());
                causes.into_iter().try_for_each(|cause| write!(f, ": {cause}"))
            }
            ThinkError::Fault(fault) => fault.fmt(f),
            ThinkError::Panicked => f.write_str("the player broke down; please report this"),
        }
    }
}

/// Where the answer to a question arrives.
pub(super) type Answers = Receiver<Result<Decision, ThinkError>>;

/// A thread with a player. The thread ends when the thinker is dropped and its last question is answered or cancelled.
pub(super) struct Thinker {
    questions: Sender<Question>,
    runtime: Arc<dyn Runtime>,
}

struct Question {
    /// What the role was told; none to prepare for the first move.
    told: Option<Arc<[Told]>>,
    budget: Budget,
    answer: Sender<Result<Decision, ThinkError>>,
}

type MakePlayer = Box<dyn Fn() -> Result<Box<dyn MatchPlayer>, BoxError> + Send>;

impl Thinker {
    /// Begins to make the player. A player that needs a place waits for it until the flag is raised.
    fn new(name: &str, make: MakePlayer, needs_place: Option<StopFlag>, work: &Work) -> Thinker {
        let (sender, questions) = channel::<Question>(work.runtime.as_ref());
        let place = work.place.clone();
        let thinking = move || {
            // The thread keeps the place until the player, which is declared later, is gone.
            if needs_place.is_some_and(|stop| !place.wait(&stop)) {
                return;
            }
            let mut player = make_safely(&make);
            while let Ok(mut question) = questions.recv() {
                // Only the newest question is still of interest.
                while let Some(newer) = questions.try_recv() {
                    question = newer;
                }
                let answer = match &mut player {
                    Ok(player) => think(player.as_mut(), &question),
                    Err(why) => Err(why.clone()),
                };
                if matches!(answer, Err(ThinkError::Panicked)) {
                    player = make_safely(&make);
                }
                question.answer.send(answer);
            }
        };
        // Without a thread the questions have no answers, and the session sends a move that needs no thinking.
        if let Err(error) = work.runtime.spawn(name, Box::new(thinking)) {
            warn!("cannot start a thread: {error}");
        }
        Thinker {
            questions: sender,
            runtime: work.runtime.clone(),
        }
    }

    /// Asks for a move, given everything that was told.
    pub fn ask(&self, told: Arc<[Told]>, budget: Budget) -> Answers {
        self.give(Some(told), budget)
    }

    /// Lets the player prepare for the first move.
    pub fn prepare(&self, budget: Budget) -> Answers {
        self.give(None, budget)
    }

    fn give(&self, told: Option<Arc<[Told]>>, budget: Budget) -> Answers {
        let (answer, answers) = channel(self.runtime.as_ref());
        self.questions.send(Question { told, budget, answer });
        answers
    }
}

fn make_safely(make: &MakePlayer) -> Result<Box<dyn MatchPlayer>, ThinkError> {
    match catch_unwind(AssertUnwindSafe(make)) {
        Ok(made) => made.map_err(|error| ThinkError::NotMade(error.into())),
        Err(_) => Err(ThinkError::Panicked),
    }
}

fn think(player: &mut dyn MatchPlayer, question: &Question) -> Result<Decision, ThinkError> {
    let thought = catch_unwind(AssertUnwindSafe(|| match &question.told {
        Some(told) => player.choose(told, &question.budget).map_err(ThinkError::Fault),
        None => Ok(Decision::plain(player.prepare(&question.budget).unwrap_or_default())),
    }));
    thought.unwrap_or(Err(ThinkError::Panicked))
}
