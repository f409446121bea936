//! Regret matching on a subgame: CFR+ (Tammelin 2014) with alternating updates, on the rows of the sequence form.
//!
//! The paper runs plain CFR; CFR+ needs far fewer iterations for the same quality. The policy of one iteration, drawn
//! beforehand, is kept as the assumed policy of the others (Brown and others 2020; section 2.3 of Partridge and
//! Thielscher 2022).

use super::subgame::{Rows, Subgame, SubgameInfoset};
use game::StopFlag;
use game::regret::{RegretRule, update_infoset};

/// Result of an equilibrium search: policies by sequence.
pub(crate) struct Solution {
    /// The average policy: what to play.
    pub average: Vec<f64>,
    /// The policy of the iteration asked for.
    pub assumed: Vec<f64>,
    /// Value of each reachable sequence to its player under the average policy, in 0..1.
    pub worth: Vec<f64>,
    /// Iterations done.
    pub iterations: u64,
}

/// Iterations of a search.
pub(crate) struct IterationPlan<'a> {
    pub iterations: u64,
    /// Which iteration's policy to keep, from 1.
    pub keep: u64,
    /// Initial policy by sequence; uniform if there is none.
    pub prior: Option<&'a [f64]>,
    pub stop: &'a StopFlag,
}

/// The rule of CFR+.
///
/// It is the solver's rule with operations in another order. The order decides the last bit of a policy, and so now and
/// then which move a seed draws: records of matches depend on it.
#[derive(Clone, Copy)]
struct SubgamePlus {
    weight: f64,
}

impl RegretRule for SubgamePlus {
    #[inline]
    fn regret(&self, before: f64, gain: f64, value: f64) -> f64 {
        (before + gain - value).max(0.0)
    }

    fn weight(&self) -> f64 {
        self.weight
    }

    #[inline]
    fn normalise(policy: &mut [f64]) {
        normalise(policy);
    }
}

struct Regrets<'a> {
    subgame: &'a Subgame,
    rows: &'a Rows,
    n_players: usize,
    /// Information sets of each player.
    own: Vec<Vec<SubgameInfoset>>,
    regret: Vec<f64>,
    policy: Vec<f64>,
    reach: Vec<f64>,
    total: Vec<f64>,
    gain: Vec<f64>,
}

/// Runs the iterations; none if the flag was raised before the end.
pub(crate) fn solve(subgame: &Subgame, rows: &Rows, plan: &IterationPlan<'_>) -> Option<Solution> {
    let mut regrets = Regrets::new(subgame, rows, plan.prior);
    let mut assumed = regrets.policy.clone();
    for iteration in 1..=plan.iterations {
        // A pass over few rows is shorter than asking a clock.
        let due = rows.weight.len() > 2_000 || iteration % 16 == 0;
        let weight = iteration as f64;
        for player in 0..regrets.n_players {
            if due && plan.stop.is_raised() {
                return None;
            }
            regrets.update(player, SubgamePlus { weight });
        }
        if iteration == plan.keep {
            assumed.clone_from(&regrets.policy);
        }
    }
    let average = regrets.average();
    let worth = regrets.worths(&average, plan.stop)?;
    Some(Solution {
        average,
        assumed,
        worth,
        iterations: plan.iterations,
    })
}

impl<'a> Regrets<'a> {
    fn new(subgame: &'a Subgame, rows: &'a Rows, prior: Option<&[f64]>) -> Regrets<'a> {
        let n = subgame.moves.len();
        let n_players = subgame.players.len();
        let mut own = vec![Vec::new(); n_players];
        for set in &subgame.infosets {
            own[set.player as usize].push(*set);
        }
        let mut policy = prior.map_or_else(|| vec![0.0; n], <[f64]>::to_vec);
        subgame
            .infosets
            .iter()
            .for_each(|set| normalise(&mut policy[set.sequences()]));
        let mut regrets = Regrets {
            subgame,
            rows,
            n_players,
            own,
            regret: vec![0.0; n],
            policy,
            reach: vec![0.0; n],
            total: vec![0.0; n],
            gain: vec![0.0; n],
        };
        (0..n_players).for_each(|player| regrets.spread(player));
        regrets
    }

    /// Computes the reach probabilities of a player's sequences from its policy.
    fn spread(&mut self, player: usize) {
        self.reach[player] = 1.0;
        for set in &self.own[player] {
            let here = self.reach[set.parent as usize];
            let range = set.sequences();
            for (reach, p) in self.reach[range.clone()].iter_mut().zip(&self.policy[range]) {
                *reach = here * p;
            }
        }
    }

    /// For each sequence of a player, the payoff of the terminal rows where it is the last one, given the others'
    /// reach.
    fn gains(&mut self, player: usize, worth: impl Fn(usize) -> f64) {
        self.gain.fill(0.0);
        match self.n_players {
            2 => {
                for (row, last) in self.rows.last.chunks_exact(2).enumerate() {
                    self.gain[last[player] as usize] += worth(row) * self.reach[last[1 - player] as usize];
                }
            }
            n => {
                for (row, last) in self.rows.last.chunks_exact(n).enumerate() {
                    let others = last.iter().enumerate().filter(|(p, _)| *p != player);
                    let product: f64 = others.map(|(_, &s)| self.reach[s as usize]).product();
                    self.gain[last[player] as usize] += worth(row) * product;
                }
            }
        }
    }

    fn update(&mut self, player: usize, rule: SubgamePlus) {
        let (n, rows) = (self.n_players, self.rows);
        self.gains(player, |row| rows.worth[row * n + player]);
        for set in self.own[player].iter().rev() {
            let range = set.sequences();
            let value = update_infoset(
                &rule,
                &self.gain[range.clone()],
                &self.reach[range.clone()],
                &mut self.total[range.clone()],
                &mut self.regret[range.clone()],
                &mut self.policy[range],
            );
            self.gain[set.parent as usize] += value;
        }
        self.spread(player);
    }

    fn average(&self) -> Vec<f64> {
        let mut average = self.total.clone();
        for set in &self.subgame.infosets {
            normalise(&mut average[set.sequences()]);
        }
        average
    }

    /// Value of each sequence if all players follow a policy; 0 for unreachable sequences.
    fn worths(&mut self, policy: &[f64], stop: &StopFlag) -> Option<Vec<f64>> {
        self.policy = policy.to_vec();
        (0..self.n_players).for_each(|player| self.spread(player));
        let mut worths = vec![0.0; policy.len()];
        let (n, rows) = (self.n_players, self.rows);
        for player in 0..n {
            if stop.is_raised() {
                return None;
            }
            self.gains(player, |row| rows.weight[row]);
            let mass = self.roll_up(player);
            self.gains(player, |row| rows.worth[row * n + player]);
            let worth = self.roll_up(player);
            let mine = self.own[player]
                .iter()
                .flat_map(SubgameInfoset::sequences)
                .chain([player]);
            for sequence in mine.filter(|&s| mass[s] > 1e-300) {
                worths[sequence] = worth[sequence] / mass[sequence];
            }
        }
        Some(worths)
    }

    fn roll_up(&mut self, player: usize) -> Vec<f64> {
        for set in self.own[player].iter().rev() {
            let range = set.sequences();
            let pairs = self.gain[range.clone()].iter().zip(&self.policy[range]);
            let value: f64 = pairs.map(|(g, p)| g * p).sum();
            self.gain[set.parent as usize] += value;
        }
        self.gain.clone()
    }
}

/// Scales numbers that are not negative so that they sum to 1; makes them equal if all are 0. By division: see
/// [`SubgamePlus`].
pub(crate) fn normalise(numbers: &mut [f64]) {
    let total: f64 = numbers.iter().sum();
    if total > 0.0 {
        numbers.iter_mut().for_each(|x| *x /= total);
    } else {
        numbers.fill(1.0 / numbers.len() as f64);
    }
}
