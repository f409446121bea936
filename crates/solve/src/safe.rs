//! Responses to a model whose worst case is bounded, by regret minimisation: for trees that are too large for the
//! linear program of [`crate::response()`], in a fixed number of iterations.
//!
//! A restricted Nash response (Johanson, Zinkevich and Bowling, *Computing Robust Counter-Strategies*, 2007) is found
//! by CFR+ (the paper has CFR): the other role follows the model with a probability and is free otherwise. Responses
//! of increasing probability lie along the curve of gain against worst case. Where a response is worse than the bound
//! allows, it is mixed with the response before as a plan: the gain of a mixture is linear and its worst case concave,
//! so that the mixtures within the bound are an interval, whose end is found by bisection. The worst case of what is
//! accepted is computed by best response, and not taken from this argument: a response that did not converge gains
//! less, but breaks no bound.

use crate::cfr_plus::CfrPlus;
use crate::form::{Form, Policy};
use crate::lp::LpError;
use crate::response::{Response, policy_of};
use crate::sweep::SweepRule;
use game::regret::update_infoset;

/// Probabilities with which the other role follows the model. After them comes the best response.
const WEIGHTS: [f64; 6] = [0.02, 0.1, 0.25, 0.5, 0.75, 0.9];

/// Halvings of the share of a response in a mixture.
const HALVINGS: u32 = 20;

/// A strategy of a player that gains much against the other player's strategy in `model`, and whose worst case is at
/// least a number of points, or that of `start` if this is less. `start` gives the player's strategy from which the
/// search begins; `iterations` are those of CFR+ for each of seven responses.
///
/// # Errors
/// If the game does not have two roles whose goals sum to a constant.
pub fn safe_response(
    form: &Form<'_>,
    player: usize,
    model: &Policy,
    start: &Policy,
    least: f64,
    iterations: u64,
) -> Result<Response, LpError> {
    let tree = form.tree();
    if tree.players.len() != 2 {
        return Err(LpError::Roles(tree.players.len()));
    }
    let sum = f64::from(tree.constant_sum().ok_or(LpError::NotConstantSum)?);
    let search = Search {
        form,
        player,
        model,
        sum,
    };
    let mut found = search.rate(search.with_model(start));
    for weight in WEIGHTS {
        let response = restricted(form, player, model, weight, iterations);
        found = search.toward(found, &response, least);
    }
    let mut best = model.clone();
    form.best_response(player, &mut best);
    Ok(search.toward(found, &best, least))
}

/// What stays the same during a search.
struct Search<'a> {
    form: &'a Form<'a>,
    player: usize,
    model: &'a Policy,
    sum: f64,
}

impl Search<'_> {
    /// A strategy of the player, and the model for the other.
    fn with_model(&self, strategy: &Policy) -> Policy {
        let mut both = self.model.clone();
        for set in self.form.infosets_of(self.player) {
            both.0[set.sequences()].copy_from_slice(&strategy.0[set.sequences()]);
        }
        both
    }

    /// Gain and worst case of a strategy, exactly.
    fn rate(&self, policy: Policy) -> Response {
        Response {
            gain: self.form.values(&policy)[self.player],
            worst: self.sum - self.form.best_response(1 - self.player, &mut policy.clone()),
            policy,
            steps: 0,
        }
    }

    /// The mixture with the largest share of another strategy whose worst case is at least a number of points; what was
    /// there if no mixture gains more.
    fn toward(&self, from: Response, to: &Policy, least: f64) -> Response {
        let (before, after) = (self.plan(&from.policy), self.plan(to));
        let mix = |share: f64| {
            let plan = before.iter().zip(&after).map(|(a, b)| a + share * (b - a));
            let plan: Vec<f64> = plan.collect();
            self.rate(policy_of(self.form, self.player, self.model, &plan))
        };
        let mut found = mix(1.0);
        if found.gain <= from.gain {
            return from;
        }
        if found.worst < least {
            let (mut low, mut high) = (0.0, 1.0);
            found = from.clone();
            for _ in 0..HALVINGS {
                let middle = (low + high) / 2.0;
                let tried = mix(middle);
                match tried.worst >= least {
                    true => (low, found) = (middle, tried),
                    false => high = middle,
                }
            }
        }
        match found.gain > from.gain {
            true => found,
            false => from,
        }
    }

    /// The reach probabilities of the player's sequences, from its empty one on.
    fn plan(&self, policy: &Policy) -> Vec<f64> {
        let first = self.form.tree().empty_sequence(self.player);
        self.form.reach_all(policy)[first..first + self.form.n_sequences_of(self.player)].to_vec()
    }
}

/// The average strategy of a player after some iterations of CFR+ in the game in which the other player follows the
/// model with a probability.
fn restricted(form: &Form<'_>, player: usize, model: &Policy, weight: f64, iterations: u64) -> Policy {
    let tree = form.tree();
    let n = tree.n_sequences();
    let modelled = form.reach_all(model);
    let mut policy = Policy::uniform(tree);
    let mut reach = form.reach_all(&policy);
    let mut met = reach.clone();
    let (mut regret, mut total, mut gain) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let mut rule = CfrPlus::default();
    for iteration in 1..=iterations {
        rule.begin(iteration);
        for updated in [player, 1 - player] {
            if updated == player {
                // What the other role does, as a plan: the model with the weight, and its own choice otherwise.
                let mixed = modelled
                    .iter()
                    .zip(&reach)
                    .map(|(m, r)| weight * m + (1.0 - weight) * r);
                met.iter_mut().zip(mixed).for_each(|(to, p)| *to = p);
                form.gain(updated, &met, &mut gain);
            } else {
                form.gain(updated, &reach, &mut gain);
            }
            for set in form.infosets_of(updated).iter().rev() {
                let range = set.sequences();
                let value = update_infoset(
                    &rule,
                    &gain[range.clone()],
                    &reach[range.clone()],
                    &mut total[range.clone()],
                    &mut regret[range.clone()],
                    &mut policy.0[range],
                );
                gain[set.parent as usize] += value;
            }
            form.reach(updated, &policy.0, &mut reach);
        }
    }
    Policy::proportional(tree, &total)
}

#[cfg(test)]
mod tests {
    use super::{WEIGHTS, restricted, safe_response};
    use crate::tests::tree;
    use crate::{Algorithm, Form, Policy, Trust, response};
    use game::{Seed, StopFlag};

    /// What a restricted Nash response maximises.
    fn objective(weight: f64, gain: f64, worst: f64) -> f64 {
        weight * gain + (1.0 - weight) * worst
    }

    /// The linear program says what the iterations approach, and nothing is above it.
    #[test]
    fn restricted_responses_approach_those_of_the_linear_program() {
        for name in ["kuhn-poker", "goofspiel:cards=3", "liars-dice:sides=2"] {
            let tree = tree(name);
            let (form, model) = (Form::new(&tree), Policy::uniform(&tree));
            let sum = f64::from(tree.constant_sum().unwrap());
            for player in 0..2 {
                for weight in WEIGHTS {
                    let exact = response(&form, player, &model, &Trust::Match(weight), &StopFlag::default()).unwrap();
                    let mut found = model.clone();
                    let average = restricted(&form, player, &model, weight, 2_000);
                    for set in &tree.infosets()[tree.infosets_of(player)] {
                        found.0[set.sequences()].copy_from_slice(&average.0[set.sequences()]);
                    }
                    let gain = form.values(&found)[player];
                    let worst = sum - form.best_response(1 - player, &mut found);
                    let short = objective(weight, exact.gain, exact.worst) - objective(weight, gain, worst);
                    assert!((-1e-3..0.1).contains(&short), "{name} {player} {weight}: {short}");
                }
            }
        }
    }

    /// Whatever the number of iterations, the worst case is within the bound; with many of them the gain is near that
    /// of the linear program.
    #[test]
    fn safe_responses_keep_their_bound() {
        for name in ["kuhn-poker", "goofspiel:cards=3", "liars-dice:sides=2"] {
            let tree = tree(name);
            let (form, model) = (Form::new(&tree), Policy::uniform(&tree));
            let sum = f64::from(tree.constant_sum().unwrap());
            let mut solver = Algorithm::CfrPlus.solver(&form, Seed(1));
            solver.iterate(1_000);
            let start = solver.average();
            for player in 0..2 {
                let from = sum - form.best_response(1 - player, &mut start.clone());
                for risk in [0.0, 0.5, 3.0, 100.0] {
                    for iterations in [0, 3, 2_000] {
                        let least = from - risk;
                        let found = safe_response(&form, player, &model, &start, least, iterations).unwrap();
                        let worst = sum - form.best_response(1 - player, &mut found.policy.clone());
                        assert!(worst >= least, "{name} {player} {risk} {iterations}: {worst} < {least}");
                        let trust = Trust::Safe(least.max(f64::from(tree.range(player).0)));
                        let exact = response(&form, player, &model, &trust, &StopFlag::default()).unwrap();
                        assert!(found.gain < exact.gain + 1e-3);
                        if iterations == 2_000 {
                            let short = exact.gain - found.gain;
                            assert!(short < 0.4, "{name} {player} {risk}: {short}");
                        }
                    }
                }
            }
        }
    }
}
