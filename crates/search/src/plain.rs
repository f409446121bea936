//! Players that do not think: the baseline of every experiment.
//!
//! They too know only what they were told, and a legal move needs a state. They follow one random line of play that fits
//! their own moves, and, where that loses track, offer a move that was legal there: the referee replaces what is not legal.

use crate::Tools;
use game::{Budget, Decision, Fault, Meter, MoveId, Player, State, Told};

/// Plays a uniformly random legal move.
pub struct Random(Guesser);

/// Plays the first legal move, in the order of canonical text.
pub struct First(Guesser);

impl Random {
    /// A player with these tools.
    pub fn new(tools: Tools) -> Random {
        Random(Guesser::new(tools))
    }
}

impl First {
    /// A player with these tools.
    pub fn new(tools: Tools) -> First {
        First(Guesser::new(tools))
    }
}

impl Player for Random {
    fn choose(&mut self, told: &[Told], _: &Budget) -> Result<Decision, Fault> {
        let legal = self.0.legal_moves(told)?;
        let mut rng = self.0.tools.seed.child("choose").nth(told.len() as u64).rng();
        let mv = *rng.pick(&legal);
        Ok(Decision::plain(self.0.text(mv)))
    }

    fn meter(&self) -> Meter {
        self.0.tools.meter()
    }
}

impl Player for First {
    fn choose(&mut self, told: &[Told], _: &Budget) -> Result<Decision, Fault> {
        let legal = self.0.legal_moves(told)?;
        Ok(Decision::plain(self.0.text(legal[0])))
    }

    fn meter(&self) -> Meter {
        self.0.tools.meter()
    }
}

/// Follows one line of play that fits what was told, as far as a few tries find one.
struct Guesser {
    tools: Tools,
    /// A state after each round.
    line: Vec<State>,
}

/// Random joint moves tried for one round before the line is given up, and lines begun anew.
const TRIES: usize = 200;
const RESTARTS: usize = 20;

impl Guesser {
    fn new(tools: Tools) -> Guesser {
        Guesser {
            tools,
            line: Vec::new(),
        }
    }

    fn text(&self, mv: MoveId) -> &str {
        self.tools.sim.move_text(self.tools.role, mv)
    }

    /// Legal moves in a state that may be the true one; never empty.
    fn legal_moves(&mut self, told: &[Told]) -> Result<Vec<MoveId>, Fault> {
        let mut rng = self.tools.seed.child("guess").nth(told.len() as u64).rng();
        if self.line.is_empty() {
            self.line.push(self.tools.sim.initial()?);
        }
        for _ in 0..RESTARTS {
            while self.line.len() <= told.len() {
                let round = self.line.len() - 1;
                match self.extend(&told[round], &mut rng)? {
                    Some(state) => self.line.push(state),
                    None => break,
                }
            }
            if self.line.len() > told.len() {
                break;
            }
            // Lost: go back some way and try another line.
            let keep = 1 + rng.below(self.line.len());
            self.line.truncate(keep);
        }
        let role = self.tools.role;
        for state in self.line.clone().iter().rev() {
            let legal = self.tools.legal(state, role)?;
            if !legal.is_empty() {
                return Ok(legal);
            }
        }
        Err(Fault::Unknown(
            "there is no legal move in any state that fits".to_owned(),
        ))
    }

    /// A state after one more round that fits, not over.
    fn extend(&mut self, told: &Told, rng: &mut game::Rng) -> Result<Option<State>, Fault> {
        let state = self.line.last().expect("the line has a start").clone();
        let role = self.tools.role;
        let tools = &mut self.tools;
        let n_roles = tools.sim.roles().len();
        let mut options = Vec::with_capacity(n_roles);
        for r in (0..n_roles).map(|r| game::RoleId(r as u16)) {
            let mut legal = tools.legal(&state, r)?;
            if r == role {
                legal.retain(|&m| tools.sim.move_text(role, m) == told.own);
            }
            if legal.is_empty() {
                return Ok(None);
            }
            options.push(legal);
        }
        for _ in 0..TRIES {
            let joint: Vec<MoveId> = options.iter().map(|legal| *rng.pick(legal)).collect();
            let mut sees = Vec::new();
            tools.sim.percepts(&state, &joint, role, &mut sees)?;
            let seen = sees.iter().map(|&p| tools.sim.percept_text(role, p));
            if seen.eq(told.sees.iter().map(String::as_str)) {
                let next = tools.sim.next(&state, &joint)?;
                if !tools.sim.terminal(&next)? {
                    return Ok(Some(next));
                }
            }
        }
        Ok(None)
    }
}
