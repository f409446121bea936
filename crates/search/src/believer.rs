//! The base of players for hidden information: what the role was told, turned into a belief.

use crate::Tools;
use crate::view_opponents::ViewOpponents;
use belief::{BeliefError, Model, Now, OpponentModel, Options, Sampler, SamplerKind, World};
use game::{Budget, Fault, Meter, MoveId, PerceptId, Round, State, Told, View};

/// Share of a player's time for sampling.
const SAMPLING: f64 = 0.33;

/// Histories that are weighed by strategies of the others, if there are no more.
const WEIGHED: usize = 2_000;

/// A player's tools and its belief.
pub struct Believer {
    /// The tools.
    pub tools: Tools,
    sampler: Box<dyn Sampler>,
    view: View,
    views: Option<ViewOpponents>,
}

impl Believer {
    /// Uses this sampler.
    pub fn new(tools: Tools, kind: SamplerKind, options: &Options) -> Result<Believer, BeliefError> {
        let sampler = belief::make(kind, options, tools.role, tools.seed)?;
        Ok(Believer {
            tools,
            sampler,
            view: View::default(),
            views: None,
        })
    }

    /// Sets a model of the other roles in place of uniform play.
    pub fn set_opponents(&mut self, opponents: Box<dyn OpponentModel>) -> Result<(), BeliefError> {
        self.sampler.set_opponents(opponents)
    }

    /// Sets strategies of the other roles, by which histories are weighed.
    pub fn set_views(&mut self, views: ViewOpponents) {
        self.views = Some(views);
    }

    /// Takes in what was told. A percept that the rules do not know is explained by nothing; the belief then says so.
    pub fn update(&mut self, told: &[Told], budget: &Budget) -> Result<(), Fault> {
        self.note(told)?;
        // An approximate belief with time left for search gives better moves than an exact belief without.
        let mut updated = self.sample(&budget.part(SAMPLING));
        if matches!(updated, Err(BeliefError::OutOfBudget)) {
            updated = self.sample(budget);
        }
        updated.map_err(|error| match error {
            BeliefError::Fault(fault) => fault,
            other => Fault::player(other),
        })
    }

    /// Records what was told without updating the belief; the next update does.
    pub(crate) fn note(&mut self, told: &[Told]) -> Result<(), Fault> {
        for told in told.iter().skip(self.view.rounds.len()) {
            let round = self.round(told)?;
            self.view.rounds.push(round);
        }
        Ok(())
    }

    /// What was taken in so far.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    fn sample(&mut self, budget: &Budget) -> Result<(), BeliefError> {
        let mut world = world(&mut self.tools);
        self.sampler.update(&mut world, &self.view, Now::Playing, budget)
    }

    fn round(&mut self, told: &Told) -> Result<Round, Fault> {
        let (sim, role) = (&mut self.tools.sim, self.tools.role);
        // A text that is no move of ours is an unknown move.
        let own = sim.find_move(role, &told.own).unwrap_or(MoveId::UNKNOWN);
        let mut sees: Vec<PerceptId> = Vec::with_capacity(told.sees.len());
        for text in &told.sees {
            sees.push(sim.find_percept(role, text).unwrap_or(PerceptId::UNKNOWN));
        }
        sees.sort();
        Ok(Round { own, sees })
    }

    /// My moves that are legal in some state held possible, in canonical order.
    pub fn possible_moves(&mut self) -> Result<Vec<String>, Fault> {
        let states = self.sampler.posterior();
        let role = self.tools.role;
        belief::possible_moves(&mut world(&mut self.tools), role, &states)
    }

    /// The belief after the last update.
    pub fn belief(&self) -> &belief::Belief {
        self.sampler.belief()
    }

    /// Distinct states and their probabilities, if the sampler filters states and there are no more than `most`.
    pub fn few_states(&self, most: usize) -> Option<Vec<(State, f64)>> {
        let report = &self.sampler.belief().report;
        // States alone cannot be weighed by what roles knew on the way to them.
        let by_state = self.views.is_none() && report.exact && report.distinct_states <= most;
        by_state.then(|| self.sampler.posterior())
    }

    /// The states held possible, with their probabilities.
    pub fn posterior(&self) -> Vec<(State, f64)> {
        self.sampler.posterior()
    }

    /// Histories that explain what was told, with their probabilities: the whole information set if it is known and has
    /// no more than `most` histories, else the models of the belief.
    pub fn histories(&self, most: usize) -> Vec<Model> {
        let most = if self.views.is_some() { most.max(WEIGHED) } else { most };
        let all = self.sampler.all(most);
        let mut all = all.unwrap_or_else(|| self.sampler.belief().models.clone());
        if let Some(views) = &self.views {
            // What cannot be weighed keeps its weight.
            let _ = views.weigh(&mut all);
        }
        all
    }

    /// Legal moves in the most likely state held possible.
    pub fn legal(&mut self) -> Result<Vec<MoveId>, Fault> {
        let states = self.sampler.belief().states();
        let Some((state, _)) = states.first() else {
            return Err(Fault::NoState);
        };
        let legal = self.tools.legal(state, self.tools.role)?;
        match legal.is_empty() {
            true => Err(crate::perfect::no_move(&self.tools)),
            false => Ok(legal),
        }
    }

    /// Work done, with the nodes that sampling touched in place of the successors it computed.
    pub fn meter(&self) -> Meter {
        let mut meter = self.tools.meter();
        let report = &self.sampler.belief().report;
        meter.touches = (meter.touches + report.touches).saturating_sub(report.successors);
        meter
    }
}

fn world(tools: &mut Tools) -> World<'_> {
    let sim = tools.sim.as_mut();
    match &mut tools.batch {
        Some(batch) => World::with_batch(sim, batch.as_mut()),
        None => World::new(sim),
    }
}
