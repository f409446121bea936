//! Ratings: how strong players are, from who met whom and with which score.
//!
//! Bradley and Terry, *Rank Analysis of Incomplete Block Designs* (Biometrika 39, 1952), on Elo's scale: a player that
//! is 400 points ahead is expected to score 10 of 11. A score is any number from 0 to 1, so that draws and payoffs in
//! between count as what they are; the fit maximises Σ s ln p + (1 − s) ln (1 − p). Intervals do not assume that scores
//! are wins and losses: they are those of White, *Maximum Likelihood Estimation of Misspecified Models* (Econometrica
//! 50, 1982), with one observation for each round of seats.
//!
//! Two players that met count as if they had drawn one more game. So a player that won everything has a finite rating.

use crate::stats;

/// Points of Elo's scale for a factor of e in the odds.
const SCALE: f64 = 400.0 / std::f64::consts::LN_10;
/// Drawn games that are added to every pair that met.
const ADDED_DRAWS: f64 = 1.0;
/// Steps of Newton's method at most, and the step at which it ends.
const STEPS: usize = 200;
const CLOSE: f64 = 1e-10;
/// Longest step, in units of log odds.
const LONGEST: f64 = 2.0;

/// An observation: two players, and the score of the first from 0 to 1, over so many games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meeting {
    /// The players, by number.
    pub players: [usize; 2],
    /// Mean score of the first.
    pub score: f64,
    /// Games that the score is the mean of.
    pub games: f64,
}

/// A rating and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// Points; the mean over all players is 0.
    pub points: f64,
    /// Half the width of the interval; infinite if nothing is known.
    pub half: f64,
    /// Games played.
    pub games: f64,
}

/// Ratings of `n` players at a level of confidence. Players that never met anybody have no rating. Where the players
/// fall into groups that never met, only ratings within a group can be compared.
pub fn ratings(n: usize, meetings: &[Meeting], level: f64) -> Vec<Option<Rating>> {
    let mut games = vec![0.0; n];
    for meeting in meetings {
        meeting.players.iter().for_each(|&p| games[p] += meeting.games);
    }
    let active: Vec<usize> = (0..n).filter(|&p| games[p] > 0.0).collect();
    let place = |player: usize| active.iter().position(|&p| p == player).expect("it met somebody");
    let own: Vec<Meeting> = meetings
        .iter()
        .filter(|m| m.games > 0.0)
        .map(|m| Meeting {
            players: m.players.map(place),
            ..*m
        })
        .collect();
    let fitted = Fit::new(active.len(), &own);
    let z = stats::normal_quantile(0.5 + level / 2.0);
    let mut all = vec![None; n];
    for (at, &player) in active.iter().enumerate() {
        all[player] = Some(Rating {
            points: SCALE * fitted.strength[at],
            half: SCALE * z * fitted.variance[at].max(0.0).sqrt(),
            games: games[player],
        });
    }
    all
}

/// A fit: log odds of each player, and the variances of these.
struct Fit {
    strength: Vec<f64>,
    variance: Vec<f64>,
}

/// Games and points of each pair that met, added draws included.
fn pairs(meetings: &[Meeting]) -> Vec<(usize, usize, f64, f64)> {
    let mut all: Vec<(usize, usize, f64, f64)> = Vec::new();
    for meeting in meetings {
        let [a, b] = meeting.players;
        let (low, high, score) = if a < b {
            (a, b, meeting.score)
        } else {
            (b, a, 1.0 - meeting.score)
        };
        match all.iter_mut().find(|(x, y, ..)| (*x, *y) == (low, high)) {
            Some((_, _, games, points)) => {
                *games += meeting.games;
                *points += meeting.games * score;
            }
            None => all.push((
                low,
                high,
                meeting.games + ADDED_DRAWS,
                meeting.games * score + ADDED_DRAWS / 2.0,
            )),
        }
    }
    all
}

fn expected(difference: f64) -> f64 {
    1.0 / (1.0 + (-difference).exp())
}

impl Fit {
    fn new(n: usize, meetings: &[Meeting]) -> Fit {
        let pairs = pairs(meetings);
        let mut strength = vec![0.0; n];
        for _ in 0..STEPS {
            let mut gradient = vec![0.0; n];
            for &(a, b, games, points) in &pairs {
                let lack = points - games * expected(strength[a] - strength[b]);
                gradient[a] += lack;
                gradient[b] -= lack;
            }
            let step = solve(information(n, &pairs, &strength), gradient);
            let longest = step.iter().fold(0.0_f64, |m, s| m.max(s.abs()));
            let scale = if longest > LONGEST { LONGEST / longest } else { 1.0 };
            for (s, d) in strength.iter_mut().zip(&step) {
                *s += scale * d;
            }
            if longest < CLOSE {
                break;
            }
        }
        let mean = strength.iter().sum::<f64>() / n.max(1) as f64;
        strength.iter_mut().for_each(|s| *s -= mean);
        let variance = Fit::variances(n, meetings, &pairs, &strength);
        Fit { strength, variance }
    }

    /// The diagonal of H⁻¹ B H⁻¹, where H is the information and B the sum of squared gradients of the observations.
    fn variances(n: usize, meetings: &[Meeting], pairs: &[(usize, usize, f64, f64)], strength: &[f64]) -> Vec<f64> {
        let inverse: Vec<Vec<f64>> = (0..n)
            .map(|at| {
                // A unit vector less its mean: ratings are relative to the mean.
                let mut unit = vec![-1.0 / n as f64; n];
                unit[at] += 1.0;
                solve(information(n, pairs, strength), unit)
            })
            .collect();
        let counts = |&(a, b, ..): &(usize, usize, f64, f64)| {
            let those = meetings.iter().filter(|m| m.players == [a, b] || m.players == [b, a]);
            those.count() as f64
        };
        let mut variance = vec![0.0; n];
        for (pair, count) in pairs.iter().map(|p| (p, counts(p))) {
            let &(a, b, games, points) = pair;
            let p = expected(strength[a] - strength[b]);
            let those = meetings.iter().filter(|m| m.players == [a, b] || m.players == [b, a]);
            let squares: f64 = those
                .map(|m| {
                    let score = if m.players[0] == a { m.score } else { 1.0 - m.score };
                    (m.games * (score - points / games)).powi(2)
                })
                .sum();
            // Scores that never varied may still vary: as much as the added draw would make them, at least.
            let least = p * (1.0 - p) * ADDED_DRAWS;
            let spread = squares * count / (count - 1.0).max(1.0) + least;
            for (at, row) in inverse.iter().enumerate() {
                variance[at] += spread * (row[a] - row[b]).powi(2);
            }
        }
        variance
    }
}

/// The information matrix, with a tiny ridge because only differences are determined.
fn information(n: usize, pairs: &[(usize, usize, f64, f64)], strength: &[f64]) -> Vec<Vec<f64>> {
    let mut matrix = vec![vec![0.0; n]; n];
    for &(a, b, games, _) in pairs {
        let p = expected(strength[a] - strength[b]);
        let weight = games * p * (1.0 - p);
        matrix[a][a] += weight;
        matrix[b][b] += weight;
        matrix[a][b] -= weight;
        matrix[b][a] -= weight;
    }
    for (at, row) in matrix.iter_mut().enumerate() {
        row[at] += 1e-9;
    }
    matrix
}

/// Solves a linear system by elimination with pivots.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for column in 0..n {
        let best = (column..n).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()));
        let pivot = best.unwrap_or(column);
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let (done, below) = matrix.split_at_mut(column + 1);
        let row = &done[column];
        for (offset, other) in below.iter_mut().enumerate() {
            let factor = other[column] / row[column];
            if factor != 0.0 {
                for (x, y) in other.iter_mut().zip(row).skip(column) {
                    *x -= factor * y;
                }
                right[column + 1 + offset] -= factor * right[column];
            }
        }
    }
    for column in (0..n).rev() {
        let known: f64 = (column + 1..n).map(|c| matrix[column][c] * right[c]).sum();
        right[column] = (right[column] - known) / matrix[column][column];
    }
    right
}

/// Games after which a mean score of the first player differs from one half at this level, if it stays as it is: none
/// if it is one half, or if there are fewer than two observations. `block` games are one observation.
pub fn games_needed(scores: &[f64], block: usize, level: f64) -> Option<u64> {
    let n = scores.len() as f64;
    if n < 2.0 {
        return None;
    }
    let mean = scores.iter().sum::<f64>() / n;
    let variance = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let lead = (mean - 0.5).abs();
    if lead <= 0.0 {
        return None;
    }
    // Scores that never varied may vary by one observation of the other kind.
    let variance = variance.max(mean * (1.0 - mean) / n).max(0.25 / (n * n));
    let z = stats::normal_quantile(0.5 + level / 2.0);
    Some(((z * z * variance / (lead * lead)).ceil() as u64).max(1) * block as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meeting(a: usize, b: usize, score: f64, games: f64) -> Meeting {
        Meeting {
            players: [a, b],
            score,
            games,
        }
    }

    fn points(n: usize, meetings: &[Meeting]) -> Vec<f64> {
        ratings(n, meetings, 0.95).iter().map(|r| r.unwrap().points).collect()
    }

    #[test]
    fn two_players_by_hand() {
        // 10 wins of 11 with the added draw: 10 points of 11 games need 9.5 points of 10 games.
        let [a, b] = points(2, &[meeting(0, 1, 0.95, 10.0)])[..] else {
            panic!()
        };
        // Odds of 10 to 1 are 400 points: 200 each side of the mean.
        assert!((a - 200.0).abs() < 1e-6 && (b + 200.0).abs() < 1e-6, "{a} {b}");
        // Seen from the other side.
        let [c, d] = points(2, &[meeting(1, 0, 0.05, 10.0)])[..] else {
            panic!()
        };
        assert!((c - a).abs() < 1e-9 && (d - b).abs() < 1e-9);
        assert_eq!(points(2, &[meeting(0, 1, 0.5, 40.0)]), [0.0, 0.0]);
    }

    #[test]
    fn a_chain_adds_up() {
        // Each step is 10 to 1 after the added draw; the ends never met.
        let found = points(3, &[meeting(0, 1, 0.95, 10.0), meeting(1, 2, 0.95, 10.0)]);
        for (at, known) in [400.0, 0.0, -400.0].into_iter().enumerate() {
            assert!((found[at] - known).abs() < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn a_circle_is_level() {
        let found = points(
            3,
            &[
                meeting(0, 1, 0.8, 20.0),
                meeting(1, 2, 0.8, 20.0),
                meeting(2, 0, 0.8, 20.0),
            ],
        );
        assert!(found.iter().all(|p| p.abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn expected_points_are_the_real_ones() {
        // The equations of the fit: every player's expected points are the points it made, added draws included.
        let meetings = [
            meeting(0, 1, 0.7, 30.0),
            meeting(0, 2, 0.55, 20.0),
            meeting(1, 2, 0.4, 50.0),
            meeting(1, 3, 0.9, 10.0),
        ];
        let found = points(4, &meetings);
        for player in 0..4 {
            let (mut real, mut fitted) = (0.0, 0.0);
            for m in meetings.iter().filter(|m| m.players.contains(&player)) {
                let first = m.players[0] == player;
                let other = if first { m.players[1] } else { m.players[0] };
                real += m.games * if first { m.score } else { 1.0 - m.score } + 0.5;
                fitted += (m.games + 1.0) / (1.0 + 10_f64.powf((found[other] - found[player]) / 400.0));
            }
            assert!((real - fitted).abs() < 1e-6, "{player}: {real} {fitted}");
        }
    }

    #[test]
    fn intervals_shrink_with_the_root_of_the_games_and_with_draws() {
        let wins = |n: usize| {
            (0..n)
                .map(|k| meeting(0, 1, f64::from(k % 2 == 0), 1.0))
                .collect::<Vec<_>>()
        };
        let half = |meetings: &[Meeting]| ratings(2, meetings, 0.95)[0].unwrap().half;
        // A difference of log odds has the variance 1 / (n p q) = 4 / n; each rating is half of the difference.
        let known = SCALE * 1.96 * (4.0_f64 / 400.0).sqrt() / 2.0;
        assert!(
            (half(&wins(400)) / known - 1.0).abs() < 0.02,
            "{} {known}",
            half(&wins(400))
        );
        assert!((half(&wins(100)) / half(&wins(400)) - 2.0).abs() < 0.05);
        let draws: Vec<Meeting> = (0..400).map(|_| meeting(0, 1, 0.5, 1.0)).collect();
        assert!(half(&draws) < 0.2 * half(&wins(400)));
    }

    #[test]
    fn who_never_played_has_no_rating_and_who_won_all_a_finite_one() {
        let found = ratings(3, &[meeting(0, 2, 1.0, 20.0)], 0.95);
        assert!(found[1].is_none());
        let best = found[0].unwrap();
        // 20.5 of 21 points.
        assert!(
            (best.points - 200.0 * (20.5_f64 / 0.5).log10()).abs() < 1e-6,
            "{best:?}"
        );
        assert!(best.half.is_finite() && best.half > 50.0);
    }

    #[test]
    fn games_that_are_needed_by_hand() {
        // 60 of 100 wins: the variance is 0.2424, the lead 0.1: 1.96² · 0.2424 / 0.01 = 93.1.
        let scores: Vec<f64> = (0..100).map(|k| f64::from(k < 60)).collect();
        assert_eq!(games_needed(&scores, 1, 0.95), Some(94));
        assert_eq!(games_needed(&scores, 2, 0.95), Some(188));
        assert_eq!(games_needed(&[0.0, 1.0], 1, 0.95), None);
        assert!(games_needed(&[1.0; 20], 1, 0.95).unwrap() < 20);
    }
}
