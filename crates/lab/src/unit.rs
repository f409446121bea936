//! One unit of work: a match, played and measured, as a line of JSON.

use crate::measure::RoundReport;
use crate::{Cell, House, Measure, Table, measure};
use anyhow::{Context, Result, bail};
use game::{RoleId, StopFlag};
use referee::{Clock, Match, Seat, Title};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Rounds after which a match is given up.
const MAX_ROUNDS: usize = 2_000;

/// A finished match. Everything but `seconds` is a function of the cell, the number and the version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Played {
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

impl Played {
    /// The line without what differs from run to run.
    pub fn canonical(&self) -> String {
        let timeless = Played {
            seconds: None,
            ..self.clone()
        };
        serde_json::to_string(&timeless).expect("plain data")
    }
}

/// A cell at its table: the game is open and every seat has a player.
pub struct Seated<'a> {
    /// The cell.
    pub cell: &'a Cell,
    table: &'a dyn Table,
    /// Roles that are not nature, as places in the joint move.
    roles: Vec<usize>,
    n_roles: usize,
    players: Vec<String>,
}

impl<'a> Seated<'a> {
    /// Seats the players of a cell, without playing yet.
    ///
    /// # Errors
    /// If there are too many or too few of them, or one does not exist or does not play this game: the message says which, and the
    /// place of the player in the cell (0 for the game itself).
    pub fn new(cell: &'a Cell, table: &'a dyn Table) -> Result<Seated<'a>, (usize, anyhow::Error)> {
        let sim = table.simulator();
        let nature = sim.nature().map(|r| usize::from(r.0));
        let n_roles = sim.roles().len();
        let roles: Vec<usize> = (0..n_roles).filter(|&r| Some(r) != nature).collect();
        let mut players = cell.players.clone();
        if players.len() == 1 {
            players = vec![players[0].clone(); roles.len()];
        }
        if players.len() != roles.len() {
            let names: Vec<&str> = roles.iter().map(|&r| sim.roles()[r].as_str()).collect();
            let error = anyhow::anyhow!(
                "{} needs {} players (for {}), not {}",
                cell.game,
                roles.len(),
                names.join(", "),
                players.len()
            );
            return Err((0, error));
        }
        let seated = Seated {
            cell,
            table,
            roles,
            n_roles,
            players,
        };
        seated.try_seats()?;
        Ok(seated)
    }

    fn try_seats(&self) -> Result<(), (usize, anyhow::Error)> {
        for n in 0..self.cell.block() as u64 {
            let (seed, shift) = self.cell.unit(n);
            for (at, &role) in self.roles.iter().enumerate() {
                let player = (at + shift) % self.players.len();
                let made = self.table.seat(&self.players[player], RoleId(role as u16), seed);
                made.map_err(|e| (1 + player.min(self.cell.players.len() - 1), e))?;
            }
        }
        Ok(())
    }

    /// The role of a player in a match.
    pub fn role(&self, player: usize, n: u64) -> usize {
        let (_, shift) = self.cell.unit(n);
        let seats = self.players.len();
        self.roles[(player + seats - shift % seats) % seats]
    }

    /// Plays a match; nothing if it was stopped.
    ///
    /// # Errors
    /// If the game fails.
    pub fn play(&self, n: u64, version: &str, stop: &StopFlag) -> Result<Option<Played>> {
        let started = Instant::now();
        let (seed, shift) = self.cell.unit(n);
        let (mut seats, mut names) = (Vec::new(), Vec::new());
        for role in 0..self.n_roles {
            let Some(at) = self.roles.iter().position(|&r| r == role) else {
                seats.push(Seat::Nature);
                names.push("nature".to_owned());
                continue;
            };
            let player = &self.players[(at + shift) % self.players.len()];
            let seed = seed.child("player").nth(role as u64);
            seats.push(self.table.seat(player, RoleId(role as u16), seed)?);
            names.push(player.clone());
        }
        let mut sim = self.table.simulator();
        let table = Match {
            sim: sim.as_mut(),
            seats,
            names: names.clone(),
            seed,
            clock: Clock::None,
            max_rounds: MAX_ROUNDS,
            stop: stop.clone(),
            title: Title::default(),
            pause: Duration::ZERO,
            wire: None,
        };
        let place = || format!("cell {} ({}), match {n}", self.cell.key, self.cell.game);
        let outcome = table.play().with_context(place)?;
        if stop.is_raised() {
            return Ok(None);
        }
        let beliefs = match &self.cell.measure {
            Measure::Score => Vec::new(),
            measure => {
                let role = self.role(self.cell.focus, n);
                let measured =
                    measure::beliefs(self.table, &outcome.record, role, measure, seed, stop).with_context(place)?;
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
        Ok(Some(Played {
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
pub fn role_of(cell: &Cell, played: &Played, player: usize) -> Result<usize> {
    let (_, shift) = cell.unit(played.n);
    let roles: Vec<usize> = (0..played.players.len())
        .filter(|&r| played.players[r] != "nature")
        .collect();
    let seats = roles.len();
    if seats == 0 || player >= seats {
        bail!("match {} of cell {} has no player {}", played.n, cell.key, player + 1);
    }
    Ok(roles[(player + seats - shift % seats) % seats])
}

/// Games by name, opened.
pub type Tables = Vec<(String, Box<dyn Table>)>;

/// Opens every game of a spec once.
///
/// # Errors
/// If one cannot be opened: with its line in the spec.
pub fn open_all<'c>(
    house: &dyn House,
    cells: impl Iterator<Item = &'c Cell>,
) -> Result<Tables, (usize, anyhow::Error)> {
    let mut tables = Tables::new();
    for cell in cells {
        if tables.iter().all(|(game, _)| *game != cell.game) {
            let table = house.open(&cell.game).map_err(|e| (cell.lines[0], e))?;
            tables.push((cell.game.clone(), table));
        }
    }
    Ok(tables)
}
