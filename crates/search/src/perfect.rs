//! What perfect-information players share: an [`Insight`] values the moves of a known state.
//!
//! The same insight plays games without hidden information ([`Perfect`]), values the models of HyperPlay
//! ([`HyperPlay`](crate::HyperPlay)), and plays from the true state ([`Cheater`](crate::Cheater)).

use crate::Tools;
use game::{Budget, Candidate, Decision, Fault, Meter, MoveId, Player, RoleId, Seed, State, StopFlag, Told};

/// The value of a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    /// The move.
    pub mv: MoveId,
    /// Expected payoff, 0..=100.
    pub mean: f64,
    /// Standard error of the mean; 0 if the value is exact or the method estimates no error.
    pub stderr: f64,
    /// Playouts or visits of a tree. If it is 0, the move was not examined and its mean is meaningless.
    pub visits: u64,
}

/// A way to value moves in a known state.
pub trait Insight: Send {
    /// Values every legal move of the tools' role, with the move to play first. The state is not terminal.
    ///
    /// Ends soon after the budget's flag is raised, with the values found so far. Results may be kept for later calls
    /// with other states of the same game.
    fn value(&mut self, tools: &mut Tools, state: &State, seed: Seed, budget: &Budget) -> Result<Vec<Worth>, Fault>;

    /// Expected payoffs in a state that is not terminal, 0..=100 and in role order, if every role knows it; 0 for
    /// nature. An answer after the budget's flag was raised may be meaningless.
    ///
    /// Here each role is valued by a search of its own. Methods for which the payoffs of all roles are one search, or
    /// which do not value a role without a choice, have to do it in their own way.
    fn payoffs(&mut self, tools: &mut Tools, state: &State, seed: Seed, budget: &Budget) -> Result<Vec<f64>, Fault> {
        let (me, nature) = (tools.role, tools.sim.nature());
        let mut payoffs = Vec::with_capacity(tools.sim.roles().len());
        for role in (0..tools.sim.roles().len()).map(|r| RoleId(r as u16)) {
            if Some(role) == nature {
                payoffs.push(0.0);
                continue;
            }
            tools.role = role;
            let worths = self.value(tools, state, seed.nth(u64::from(role.0)), budget);
            tools.role = me;
            payoffs.push(worths?.first().map_or(0.0, |worth| worth.mean));
        }
        Ok(payoffs)
    }

    /// Work before the first move, until it is done or the flag is raised.
    fn prepare(&mut self, tools: &mut Tools, stop: &StopFlag) -> Result<(), Fault> {
        let _ = (tools, stop);
        Ok(())
    }

    /// What the values go by, for people; empty if that is always the same.
    fn report(&self) -> String {
        String::new()
    }

    /// Name of the method.
    fn name(&self) -> &'static str;

    /// Cache hits: nodes of the game tree that were touched without being computed.
    fn remembered(&self) -> u64 {
        0
    }
}

/// Plays a game in which every role is told every move.
pub struct Perfect {
    tools: Tools,
    insight: Box<dyn Insight>,
    line: Vec<State>,
}

impl Perfect {
    /// Plays the move that the insight ranks first.
    pub fn new(tools: Tools, insight: Box<dyn Insight>) -> Perfect {
        Perfect {
            tools,
            insight,
            line: Vec::new(),
        }
    }

    fn present(&mut self, told: &[Told]) -> Result<State, Fault> {
        if self.line.is_empty() {
            self.line.push(self.tools.sim.initial()?);
        }
        while self.line.len() <= told.len() {
            let round = self.line.len() - 1;
            let next = self.tools.follow(&self.line[round], &told[round])?;
            let name = self.insight.name();
            let hidden = || Fault::Hidden {
                player: name.to_owned(),
            };
            self.line.push(next.ok_or_else(hidden)?);
        }
        Ok(self.line[told.len()].clone())
    }
}

impl Player for Perfect {
    fn prepare(&mut self, stop: &StopFlag) -> Result<(), Fault> {
        self.insight.prepare(&mut self.tools, stop)
    }

    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        let state = self.present(told)?;
        let seed = self.tools.seed.child(self.insight.name()).nth(told.len() as u64);
        consider(self.insight.as_mut(), &mut self.tools, &state, seed, budget)
    }

    fn meter(&self) -> Meter {
        let mut meter = self.tools.meter();
        meter.touches += self.insight.remembered();
        meter
    }
}

/// Decides in a known state. A single legal move is played without a search.
pub(crate) fn consider(
    insight: &mut dyn Insight,
    tools: &mut Tools,
    state: &State,
    seed: Seed,
    budget: &Budget,
) -> Result<Decision, Fault> {
    let legal = tools.legal(state, tools.role)?;
    let worths = match legal[..] {
        [] => return Err(no_move(tools)),
        [mv] => vec![unknown(mv)],
        _ => insight.value(tools, state, seed, budget)?,
    };
    Ok(Decision {
        belief: insight.report(),
        ..decision(tools, worths)
    })
}

/// A move that was not examined.
pub(crate) fn unknown(mv: MoveId) -> Worth {
    Worth {
        mv,
        mean: 0.0,
        stderr: 0.0,
        visits: 0,
    }
}

/// Moves valued, the one to play first, as a decision.
pub(crate) fn decision(tools: &Tools, worths: Vec<Worth>) -> Decision {
    let candidate = |worth: Worth| Candidate {
        mv: tools.text(worth.mv).to_owned(),
        mean: worth.mean,
        stderr: worth.stderr,
        visits: worth.visits,
    };
    let candidates: Vec<Candidate> = worths.into_iter().map(candidate).collect();
    Decision {
        mv: candidates.first().map(|c| c.mv.clone()).unwrap_or_default(),
        candidates,
        ..Decision::default()
    }
}

/// The fault of our role having no legal move.
pub(crate) fn no_move(tools: &Tools) -> Fault {
    let name = &tools.sim.roles()[tools.role.0 as usize];
    Fault::no_move(Some(name))
}

/// The largest standard error of a mean of payoffs in 0..=100, over all distributions with this mean.
pub(crate) fn widest(mean: f64, visits: f64) -> f64 {
    (mean * (100.0 - mean)).max(0.0).sqrt() / visits.max(1.0).sqrt()
}
