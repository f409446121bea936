//! One match of a cell, played and measured, as a line of JSON.

use crate::error::{CellProblem, Error, MatchProblem, Result};
use crate::measure::RoundReport;
use crate::{Cell, GameSource, Measure, OpenGame, measure};
use game::{Fault, StopFlag};
use referee::{Clock, Match, SeatReport, Seating};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// A finished match. Everything but `seconds` is a function of the cell, the number and the version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinishedMatch {
    /// Key of the cell.
    pub cell: String,
    /// Number of the match within the cell.
    pub n: u64,
    /// Seed of the match.
    pub seed: u64,
    /// Names of the players in role order.
    pub players: Vec<String>,
    /// Payoffs in role order; empty if the match was aborted.
    pub goals: Vec<u8>,
    /// Successor states computed by each role's player.
    pub states: Vec<u64>,
    /// Nodes touched by each role's player, cache hits included.
    pub touches: Vec<u64>,
    /// Replaced moves of each role's player.
    pub illegal: Vec<u64>,
    /// Rounds played.
    pub rounds: usize,
    /// Version of the program that played the match.
    pub version: String,
    /// Beliefs round by round, if they were measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beliefs: Vec<RoundReport>,
    /// Whether another run may come to another result: a player lives elsewhere.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unrepeatable: bool,
    /// What a role's program wrote to its standard error, by the number of the role.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<(usize, String)>,
    /// Duration of the match; not part of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// The largest count of a match that is believed: a million matches can be added up.
pub(crate) const MOST: u64 = 1 << 44;

impl FinishedMatch {
    /// Whether every list has an entry for each role (payoffs may be missing) and every round of the beliefs its
    /// number, and whether all counts are such that a report can add them up.
    pub(crate) fn fits_together(&self) -> bool {
        let roles = self.players.len();
        let lists = [self.states.len(), self.touches.len(), self.illegal.len()];
        let counts = [&self.states, &self.touches, &self.illegal].into_iter().flatten();
        lists.iter().all(|&n| n == roles)
            && (self.goals.is_empty() || self.goals.len() == roles)
            && counts.chain(&[self.rounds as u64]).all(|&n| n <= MOST)
            && self
                .beliefs
                .iter()
                .zip(1..)
                .all(|(b, n)| b.round == n && b.is_countable())
    }

    /// The line without the duration and the remarks, which differ from run to run.
    pub fn canonical(&self) -> String {
        let timeless = FinishedMatch {
            seconds: None,
            remarks: Vec::new(),
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
    /// If there are too many or too few of them, or one does not exist or does not play this game: with the line of the
    /// game or the player in the spec.
    pub fn new(cell: &'a Cell, game: &'a dyn OpenGame) -> Result<SeatedCell<'a>, (usize, CellProblem)> {
        let seating = Seating::new(game.simulator().as_ref());
        let players = seating.fill(cell.players.clone());
        let players = players.map_err(|error| {
            let game = cell.game.clone();
            (cell.lines[0], CellProblem::Seats { game, error })
        })?;
        let seated = SeatedCell {
            cell,
            game,
            seating,
            players,
        };
        seated.try_seats()?;
        Ok(seated)
    }

    fn try_seats(&self) -> Result<(), (usize, CellProblem)> {
        for n in 0..self.cell.block() as u64 {
            let (seed, shift) = self.cell.unit(n);
            self.seating.seats(shift, seed, |player, role, seed| {
                let made = self.game.seat(&self.players[player], role, seed);
                made.map_err(|error| (self.cell.line_of_player(player), CellProblem::Player(error)))
            })?;
        }
        Ok(())
    }

    /// Plays a match; none if it was stopped.
    ///
    /// # Errors
    /// If the game fails.
    pub fn play(&self, n: u64, version: &str, stop: &StopFlag) -> Result<Option<FinishedMatch>> {
        match self.play_on(n, version, stop) {
            Ok(played) => Ok(Some(played).filter(|_| !stop.is_raised())),
            // What fails after a stop may have failed because of it.
            Err(_) if stop.is_raised() => Ok(None),
            Err(problem) => Err(Error::Match {
                cell: self.cell.key.clone(),
                game: self.cell.game.clone(),
                number: n,
                problem,
            }),
        }
    }

    fn play_on(&self, n: u64, version: &str, stop: &StopFlag) -> Result<FinishedMatch, MatchProblem> {
        let Some(_places) = self.game.enter(&self.players, stop) else {
            return Err(MatchProblem::Game(Fault::Stopped));
        };
        let started = Instant::now();
        let (seed, shift) = self.cell.unit(n);
        let seats = self.seating.seats(shift, seed, |player, role, seed| {
            if stop.is_raised() {
                return Err(MatchProblem::Game(Fault::Stopped));
            }
            let made = self.game.seat(&self.players[player], role, seed);
            made.map_err(MatchProblem::Player)
        })?;
        let names = self.seating.names(&self.players, shift);
        let mut sim = self.game.simulator();
        let played = Match {
            stop: stop.clone(),
            clock: clock(self.cell.seconds),
            ..Match::new(sim.as_mut(), seats, names.clone(), seed)
        };
        let outcome = played.play()?;
        let beliefs = match &self.cell.measure {
            Measure::Score => Vec::new(),
            _ if stop.is_raised() => Vec::new(),
            measure => {
                let role = self.seating.role_of(self.cell.focus, shift);
                let role = role.ok_or(MatchProblem::NoFocus)?;
                measure::beliefs(self.game, &outcome.record, role, measure, seed, stop)?
            }
        };
        let goals = if outcome.record.aborted {
            Vec::new()
        } else {
            outcome.record.goals
        };
        Ok(FinishedMatch {
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
            unrepeatable: !self.cell.is_repeatable(),
            remarks: remarks(&outcome.seats),
            seconds: Some(started.elapsed().as_secs_f64()),
        })
    }
}

/// What the programs of the roles wrote to their standard error, as far as they wrote something.
fn remarks(seats: &[SeatReport]) -> Vec<(usize, String)> {
    let said = seats.iter().enumerate().filter(|(_, seat)| !seat.remarks.is_empty());
    said.map(|(role, seat)| (role, seat.remarks.clone())).collect()
}

/// Time after which a late move is replaced, as in `surmise match`.
const GRACE: Duration = Duration::from_millis(500);

fn clock(seconds: Option<f64>) -> Clock {
    seconds.map_or(Clock::None, |seconds| Clock::PerMove {
        time: Duration::from_secs_f64(seconds),
        grace: GRACE,
    })
}

/// The role of a player in a match, when only the finished match is known.
///
/// # Errors
/// If the match has no such player.
pub fn role_of(cell: &Cell, played: &FinishedMatch, player: usize) -> Result<usize> {
    let (_, shift) = cell.unit(played.n);
    let role = Seating::of_players(&played.players).role_of(player, shift);
    role.ok_or_else(|| Error::NoSuchPlayer {
        cell: cell.key.clone(),
        number: played.n,
        player,
    })
}

/// Open games by name.
pub type OpenGames = Vec<(String, Box<dyn OpenGame>)>;

/// Opens every game of a spec once.
///
/// # Errors
/// If one cannot be opened: with its line in the spec.
pub fn open_all<'c>(
    source: &dyn GameSource,
    cells: impl Iterator<Item = &'c Cell>,
) -> Result<OpenGames, (usize, CellProblem)> {
    let mut games = OpenGames::new();
    for cell in cells {
        if games.iter().all(|(name, _)| *name != cell.game) {
            let game = source
                .open(&cell.game)
                .map_err(|error| (cell.lines[0], CellProblem::Game(error)))?;
            games.push((cell.game.clone(), game));
        }
    }
    Ok(games)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BoxError, Size, Spec};
    use game::{Batch, Budget, Decision, Fault, Meter, Player, RoleId, Seed, Simulator, Told};
    use referee::Seat;

    /// Matching pennies, with players that show heads; the player `stop` also raises the flag.
    struct Pennies(gdl::Rules, StopFlag);

    struct Heads(Option<StopFlag>);

    impl Player for Heads {
        fn choose(&mut self, _: &[Told], _: &Budget) -> Result<Decision, Fault> {
            self.0.iter().for_each(StopFlag::raise);
            Ok(Decision::plain("(show heads)"))
        }

        fn meter(&self) -> Meter {
            Meter::default()
        }
    }

    impl OpenGame for Pennies {
        fn simulator(&self) -> Box<dyn Simulator> {
            Box::new(ground::Reference::new(&self.0).expect("playable"))
        }

        fn batch(&self, _: Seed) -> Option<Box<dyn Batch>> {
            None
        }

        fn seat(&self, player: &str, _: RoleId, _: Seed) -> Result<Seat, BoxError> {
            match player {
                "heads" => Ok(Seat::Player(Box::new(Heads(None)))),
                "stop" => Ok(Seat::Player(Box::new(Heads(Some(self.1.clone()))))),
                _ => Err(format!("there is no player `{player}`").into()),
            }
        }
    }

    fn pennies() -> Pennies {
        let rules = catalogue::rules("matching-pennies").expect("in the catalogue");
        Pennies(gdl::read(&rules, &gdl::Options::default()).rules, StopFlag::default())
    }

    fn spec(players: &str) -> Spec {
        let text = format!(
            "name = \"x\"\ntitle = \"x\"\n[[sweep]]\ngame = \"matching-pennies\"\nplayers = [{players}]\ngames = 1\n"
        );
        Spec::read("x.toml", &text, Size::Plain, &[]).expect("a spec")
    }

    #[test]
    fn a_stopped_match_was_not_played() {
        let (game, spec) = (pennies(), spec("\"heads\", \"stop\""));
        let seated = SeatedCell::new(&spec.cells[0], &game).expect("players exist");
        assert_eq!(seated.play(0, "0", &game.1).expect("no error"), None);
        // Without a stop the same seats play to the end.
        let played = seated.play(0, "0", &StopFlag::default()).expect("no error");
        assert_eq!(played.expect("played").goals, [100, 0]);
    }

    #[test]
    fn players_that_cannot_be_seated_are_told_with_their_line() {
        let game = pennies();
        let refused = |players: &str| {
            let spec = spec(players);
            let (line, problem) = SeatedCell::new(&spec.cells[0], &game).err().expect("refused");
            Error::cell(&spec, line, problem).to_string()
        };
        assert_eq!(refused("\"heads\",\n\"tails\""), "x.toml:6: there is no player `tails`");
        let few = refused("\"heads\", \"heads\", \"heads\"");
        assert!(
            few.starts_with("x.toml:4: matching-pennies: the game needs 2 players"),
            "{few}"
        );
    }
}
