//! One unit of work: a match, played and measured, as a line of JSON.

use crate::measure::RoundReport;
use crate::{Cell, GameSource, Measure, OpenGame, measure};
use anyhow::{Context, Result};
use game::StopFlag;
use referee::{Match, Seating};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// A finished match. Everything but `seconds` is a function of the cell, the number and the version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinishedMatch {
    /// Key of the cell.
    pub cell: String,
    /// Number within the cell.
    pub n: u64,
    /// Seed of the match.
    pub seed: u64,
    /// Who sat in each role's place.
    pub players: Vec<String>,
    /// Payoffs in role order; none if the match was given up.
    pub goals: Vec<u8>,
    /// Successor states computed by each role's player.
    pub states: Vec<u64>,
    /// Nodes touched, remembered ones included.
    pub touches: Vec<u64>,
    /// Moves that had to be replaced.
    pub illegal: Vec<u64>,
    /// Rounds played.
    pub rounds: usize,
    /// The program that played it.
    pub version: String,
    /// Beliefs round by round, where they were measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beliefs: Vec<RoundReport>,
    /// How long it took; not part of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

impl FinishedMatch {
    /// The line without what differs from run to run.
    pub fn canonical(&self) -> String {
        let timeless = FinishedMatch {
            seconds: None,
            ..self.clone()
        };
        serde_json::to_string(&timeless).expect("plain data")
    }
}

/// A cell whose game is open and whose players have been seated once, to see that they can be.
pub struct SeatedCell<'a> {
    /// The cell.
    pub cell: &'a Cell,
    game: &'a dyn OpenGame,
    seating: Seating,
    /// One player for each role that is not nature.
    players: Vec<String>,
}

impl<'a> SeatedCell<'a> {
    /// Seats the players of a cell, without playing yet.
    ///
    /// # Errors
    /// If there are too many or too few of them, or one does not exist or does not play this game: the message says which, and the
    /// place of the player in the cell (0 for the game itself).
    pub fn new(cell: &'a Cell, game: &'a dyn OpenGame) -> Result<SeatedCell<'a>, (usize, anyhow::Error)> {
        let seating = Seating::new(game.simulator().as_ref());
        let players = seating.fill(cell.players.clone());
        let players = players.map_err(|e| (0, anyhow::anyhow!("{}: {e}", cell.game)))?;
        let seated = SeatedCell {
            cell,
            game,
            seating,
            players,
        };
        seated.try_seats()?;
        Ok(seated)
    }

    fn try_seats(&self) -> Result<(), (usize, anyhow::Error)> {
        for n in 0..self.cell.block() as u64 {
            let (seed, shift) = self.cell.unit(n);
            self.seating.seats(shift, seed, |player, role, seed| {
                let made = self.game.seat(&self.players[player], role, seed);
                made.map_err(|e| (1 + player.min(self.cell.players.len() - 1), anyhow::anyhow!(e)))
            })?;
        }
        Ok(())
    }

    /// Plays a match; nothing if it was stopped.
    ///
    /// # Errors
    /// If the game fails.
    pub fn play(&self, n: u64, version: &str, stop: &StopFlag) -> Result<Option<FinishedMatch>> {
        let started = Instant::now();
        let (seed, shift) = self.cell.unit(n);
        let seats = self.seating.seats(shift, seed, |player, role, seed| {
            self.game
                .seat(&self.players[player], role, seed)
                .map_err(|e| anyhow::anyhow!(e))
        })?;
        let names = self.seating.names(&self.players, shift);
        let mut sim = self.game.simulator();
        let played = Match {
            stop: stop.clone(),
            ..Match::new(sim.as_mut(), seats, names.clone(), seed)
        };
        let place = || format!("cell {} ({}), match {n}", self.cell.key, self.cell.game);
        let outcome = played.play().with_context(place)?;
        if stop.is_raised() {
            return Ok(None);
        }
        let beliefs = match &self.cell.measure {
            Measure::Score => Vec::new(),
            measure => {
                let role = self.seating.role_of(self.cell.focus, shift);
                let role = role.context("the focused player has no seat")?;
                let measured =
                    measure::beliefs(self.game, &outcome.record, role, measure, seed, stop).with_context(place)?;
                match measured {
                    Some(beliefs) => beliefs,
                    None => return Ok(None),
                }
            }
        };
        let goals = if outcome.record.aborted {
            Vec::new()
        } else {
            outcome.record.goals
        };
        Ok(Some(FinishedMatch {
            cell: self.cell.key.clone(),
            n,
            seed: seed.0,
            players: names,
            goals,
            states: outcome.seats.iter().map(|s| s.meter.states).collect(),
            touches: outcome.seats.iter().map(|s| s.meter.touches).collect(),
            illegal: outcome.seats.iter().map(|s| s.illegal).collect(),
            rounds: outcome.record.rounds.len(),
            version: version.to_owned(),
            beliefs,
            seconds: Some(started.elapsed().as_secs_f64()),
        }))
    }
}

/// The role of a player in a match, when only the finished match is known: the roles that are not nature, in order.
pub fn role_of(cell: &Cell, played: &FinishedMatch, player: usize) -> Result<usize> {
    let (_, shift) = cell.unit(played.n);
    let role = Seating::of_players(&played.players).role_of(player, shift);
    role.with_context(|| format!("match {} of cell {} has no player {}", played.n, cell.key, player + 1))
}

/// Games by name, opened.
pub type OpenGames = Vec<(String, Box<dyn OpenGame>)>;

/// Opens every game of a spec once.
///
/// # Errors
/// If one cannot be opened: with its line in the spec.
pub fn open_all<'c>(
    source: &dyn GameSource,
    cells: impl Iterator<Item = &'c Cell>,
) -> Result<OpenGames, (usize, anyhow::Error)> {
    let mut games = OpenGames::new();
    for cell in cells {
        if games.iter().all(|(name, _)| *name != cell.game) {
            let game = source
                .open(&cell.game)
                .map_err(|e| (cell.lines[0], anyhow::anyhow!(e)))?;
            games.push((cell.game.clone(), game));
        }
    }
    Ok(games)
}
