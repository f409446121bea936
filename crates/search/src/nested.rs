//! Nested Monte Carlo search.
//!
//! Cazenave, *Nested Monte-Carlo Search* (IJCAI 2009). A playout of level 0 is random. A playout of level *n* tries
//! each of our moves with a playout of level *n* − 1, makes the best one, and so on to the end of the game. In a
//! one-player game the best sequence found so far is kept and followed unless a better one is found.
//!
//! How opponents are treated: the search was made for one player. Here all other roles and nature move uniformly at
//! random, in the sequences too. So only our own moves are searched, sequences are kept only in one-player games, and
//! against others a value is the payoff against random play. The moves of level 1 are valued together, in lanes.
//!
//! A decision is a number of playouts of the given level for each of our moves. Moves are compared by their means (by
//! their maximum in a one-player game without chance, where a result can be repeated).

use crate::Tools;
use crate::perfect::{Insight, Worth, widest};
use crate::value_table::{best_first, by_mean};
use game::limits::PLAYOUT_ROUNDS;
use game::{Budget, Fault, MoveId, Rng, RoleId, Seed, State};
use rustc_hash::FxHashMap;

/// How nested Monte Carlo searches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NestedOptions {
    /// Level of the search: 1 is flat Monte Carlo, one playout at a time.
    pub level: u32,
    /// Playouts of the level below for each move; if not given, as many as there is time for.
    pub playouts: Option<u64>,
}

impl Default for NestedOptions {
    fn default() -> Self {
        NestedOptions {
            level: 2,
            playouts: None,
        }
    }
}

/// Playouts for each move if neither a number nor a time is given.
const USUAL_PLAYOUTS: u64 = 4;
/// Moves of a line that is remembered, at most.
const MAX_LINE: usize = 10_000;

/// A nested search that keeps the best line of a one-player game.
pub struct Nested {
    options: NestedOptions,
    /// For each state of the best line, the move to make and the payoff of the line.
    line: FxHashMap<State, (MoveId, f64)>,
}

/// A playout and its payoff.
struct NestedPlayout {
    points: f64,
    /// States and our moves there, if we are alone.
    line: Vec<(State, MoveId)>,
}

impl Nested {
    /// A search of this kind.
    pub fn new(options: NestedOptions) -> Nested {
        Nested {
            options,
            line: FxHashMap::default(),
        }
    }

    fn keep(&mut self, played: NestedPlayout) {
        let is_better = |(state, _): &&(State, MoveId)| {
            let known = self.line.get(state);
            known.is_none_or(|(_, points)| played.points > *points)
        };
        let better: Vec<(State, MoveId)> = played.line.iter().filter(is_better).cloned().collect();
        if self.line.len() + better.len() > MAX_LINE {
            self.line.clear();
        }
        let entries = better.into_iter().map(|(state, mv)| (state, (mv, played.points)));
        self.line.extend(entries);
    }
}

impl Insight for Nested {
    fn value(&mut self, tools: &mut Tools, state: &State, seed: Seed, budget: &Budget) -> Result<Vec<Worth>, Fault> {
        let alone = tools.sim.roles().len() == 1;
        let legal = tools.legal(state, tools.role)?;
        let mut sums: Vec<MoveScore> = legal.iter().map(|&mv| MoveScore::new(mv)).collect();
        let playouts = budget.count(self.options.playouts, USUAL_PLAYOUTS);
        let mut rng = seed.child("nested").rng();
        let mut pass = 0;
        'passes: while pass < playouts && (pass == 0 || !budget.stop.is_raised()) {
            for sum in &mut sums {
                let mut dive = NestedSearch {
                    tools,
                    rng: &mut rng,
                    budget,
                    alone,
                };
                let Some(played) = dive.after(state, sum.mv, self.options.level - 1)? else {
                    break 'passes;
                };
                sum.add(played.points);
                if alone {
                    self.keep(played);
                }
            }
            pass += 1;
        }
        let kept = self.line.get(state).copied();
        for sum in &mut sums {
            // The stored line can be repeated, so its payoff counts.
            if let Some((_, points)) = kept.filter(|&(mv, _)| mv == sum.mv) {
                sum.add_known(points);
            }
        }
        Ok(best_first(sums.iter().map(|sum| sum.worth(alone)), &mut rng, by_mean))
    }

    fn name(&self) -> &'static str {
        "nested"
    }
}

/// A move at the root.
struct MoveScore {
    mv: MoveId,
    n: u64,
    total: f64,
    best: f64,
}

impl MoveScore {
    fn new(mv: MoveId) -> MoveScore {
        MoveScore {
            mv,
            n: 0,
            total: 0.0,
            best: 0.0,
        }
    }

    fn add(&mut self, points: f64) {
        self.n += 1;
        self.total += points;
        self.best = self.best.max(points);
    }

    fn add_known(&mut self, points: f64) {
        self.n = self.n.max(1);
        self.best = self.best.max(points);
    }

    fn worth(&self, alone: bool) -> Worth {
        let mean = self.total / self.n.max(1) as f64;
        Worth {
            mv: self.mv,
            mean: if alone { self.best } else { mean },
            stderr: if alone { 0.0 } else { widest(mean, self.n as f64) },
            visits: self.n,
        }
    }
}

/// The state of a search in progress.
struct NestedSearch<'a> {
    tools: &'a mut Tools,
    rng: &'a mut Rng,
    budget: &'a Budget,
    alone: bool,
}

impl NestedSearch<'_> {
    /// Our move, random moves of the others, and a playout. None if there was no time for it.
    fn after(&mut self, state: &State, mv: MoveId, level: u32) -> Result<Option<NestedPlayout>, Fault> {
        let Some(next) = self.step(state, mv)? else {
            return Ok(Some(NestedPlayout {
                points: 0.0,
                line: Vec::new(),
            }));
        };
        let mut played = match level {
            0 => self.random(&next)?,
            _ => self.nested(next, level)?,
        };
        if let Some(played) = &mut played
            && self.alone
        {
            played.line.push((state.clone(), mv));
        }
        Ok(played)
    }

    /// The state after our move and random moves of the others; none if some role cannot move.
    fn step(&mut self, state: &State, mv: MoveId) -> Result<Option<State>, Fault> {
        let mut joint = Vec::new();
        for role in (0..self.tools.sim.roles().len()).map(|r| RoleId(r as u16)) {
            if role == self.tools.role {
                joint.push(mv);
                continue;
            }
            let legal = self.tools.legal(state, role)?;
            if legal.is_empty() {
                return Ok(None);
            }
            joint.push(*self.rng.pick(&legal));
        }
        self.tools.sim.next(state, &joint).map(Some)
    }

    /// A random playout. Its moves are not known, so it leaves no line.
    fn random(&mut self, state: &State) -> Result<Option<NestedPlayout>, Fault> {
        let points = self.random_games(std::slice::from_ref(state))?;
        Ok(points[0].map(|points| NestedPlayout {
            points,
            line: Vec::new(),
        }))
    }

    /// The payoffs of one random game from each state.
    fn random_games(&mut self, states: &[State]) -> Result<Vec<Option<f64>>, Fault> {
        let seed = Seed(self.rng.bits());
        let role = self.tools.role.0 as usize;
        let totals = self.tools.play_out(states, 1, seed, &self.budget.stop)?;
        Ok(totals
            .iter()
            .map(|t| (t.playouts > 0).then(|| t.points[role] as f64))
            .collect())
    }

    /// A playout of level 1 or more: each of our moves is tried with a playout of the level below.
    fn nested(&mut self, mut state: State, level: u32) -> Result<Option<NestedPlayout>, Fault> {
        let role = self.tools.role;
        let mut made: Vec<(State, MoveId)> = Vec::new();
        let mut best: Option<NestedPlayout> = None;
        for _ in 0..PLAYOUT_ROUNDS {
            if self.tools.sim.terminal(&state)? {
                let points = f64::from(self.tools.sim.goal(&state, role)?.points());
                return Ok(Some(NestedPlayout { points, line: made }));
            }
            if self.budget.stop.is_raised() {
                return Ok(None);
            }
            let legal = self.tools.legal(&state, role)?;
            let mv = match legal[..] {
                [] => {
                    return Ok(Some(NestedPlayout {
                        points: 0.0,
                        line: made,
                    }));
                }
                [only] => only,
                _ => {
                    let Some(mv) = self.best_move(&state, &legal, level, &mut best)? else {
                        return Ok(None);
                    };
                    mv
                }
            };
            if self.alone {
                made.push((state.clone(), mv));
            }
            let Some(next) = self.step(&state, mv)? else {
                return Ok(Some(NestedPlayout {
                    points: 0.0,
                    line: made,
                }));
            };
            state = next;
        }
        Ok(Some(NestedPlayout {
            points: 0.0,
            line: made,
        }))
    }

    /// The move whose playout of the level below had the highest payoff. In a one-player game the best line so far is
    /// followed unless it is beaten.
    fn best_move(
        &mut self,
        state: &State,
        legal: &[MoveId],
        level: u32,
        best: &mut Option<NestedPlayout>,
    ) -> Result<Option<MoveId>, Fault> {
        if level == 1 {
            return self.best_by_random_games(state, legal);
        }
        let mut found: Option<(f64, MoveId)> = None;
        for &mv in legal {
            let Some(played) = self.after(state, mv, level - 1)? else {
                return Ok(None);
            };
            if found.is_none_or(|(points, _)| played.points > points) {
                found = Some((played.points, mv));
            }
            if self.alone && best.as_ref().is_none_or(|b| played.points > b.points) {
                *best = Some(played);
            }
        }
        let line = best
            .as_ref()
            .filter(|b| found.is_none_or(|(points, _)| b.points > points));
        let kept = line.and_then(|b| b.line.iter().find(|(at, _)| at == state));
        Ok(kept.map(|&(_, mv)| mv).or(found.map(|(_, mv)| mv)))
    }

    /// One random game after each move, all at once.
    fn best_by_random_games(&mut self, state: &State, legal: &[MoveId]) -> Result<Option<MoveId>, Fault> {
        let mut states = Vec::with_capacity(legal.len());
        for &mv in legal {
            match self.step(state, mv)? {
                Some(next) => states.push(next),
                None => return Ok(Some(mv)),
            }
        }
        let points = self.random_games(&states)?;
        let mut found: Option<(f64, MoveId)> = None;
        for (points, &mv) in points.into_iter().zip(legal) {
            let Some(points) = points else {
                return Ok(None);
            };
            if found.is_none_or(|(best, _)| points > best) {
                found = Some((points, mv));
            }
        }
        Ok(found.map(|(_, mv)| mv))
    }
}
