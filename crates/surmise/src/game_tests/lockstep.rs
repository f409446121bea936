//! Two games side by side: random plays of one, with the other asked the same questions, up to the first answer that
//! differs. What the first game answers there is a test that the second fails.

use super::enumerate::options;
use game::{Fault, MoveId, RoleId, Seed, Simulator, State};

/// Terms that a suggested line names at most, before it names only one that differs.
const FEW: usize = 6;

/// What the search came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    /// The lines of a test that holds for the first game and fails for the second.
    Differ(Vec<String>),
    /// No difference in so many games.
    Same(u32),
}

/// Looks for a difference in random games of the first simulator, as long as `go_on` says so.
pub(super) fn compare(
    first: &mut dyn Simulator,
    second: &mut dyn Simulator,
    games: u32,
    max_rounds: usize,
    seed: Seed,
    go_on: &dyn Fn() -> bool,
) -> Result<Comparison, Fault> {
    if first.roles() != second.roles() {
        return Ok(Comparison::Differ(vec![format!("roles {}", first.roles().join(" "))]));
    }
    // The shortest difference that players can notice, else the shortest that shows in the state alone.
    let (mut seen, mut hidden): (Option<Vec<String>>, Option<Vec<String>>) = (None, None);
    let mut played = 0;
    while played < games && go_on() {
        let mut rng = seed.nth(u64::from(played)).rng();
        let mut pair = Pair {
            lines: Vec::new(),
            first: &mut *first,
            second: &mut *second,
        };
        // A difference after as many rounds as the best so far would not be shorter.
        let rounds = seen.as_ref().map_or(max_rounds, |lines| lines.len().saturating_sub(1));
        let best = match pair.play(rounds.min(max_rounds), &mut |legal| *rng.pick(legal))? {
            Found::Nothing => None,
            Found::Seen(lines) => Some((&mut seen, lines)),
            Found::InState(lines) => Some((&mut hidden, lines)),
        };
        if let Some((best, lines)) = best
            && best.as_ref().is_none_or(|known| lines.len() < known.len())
        {
            *best = Some(lines);
        }
        played += 1;
    }
    Ok(seen.or(hidden).map_or(Comparison::Same(played), Comparison::Differ))
}

enum Found {
    Nothing,
    Seen(Vec<String>),
    InState(Vec<String>),
}

struct Pair<'a> {
    lines: Vec<String>,
    first: &'a mut dyn Simulator,
    second: &'a mut dyn Simulator,
}

impl Pair<'_> {
    fn play(&mut self, max_rounds: usize, pick: &mut dyn FnMut(&[MoveId]) -> MoveId) -> Result<Found, Fault> {
        let (mut one, mut two) = (self.first.initial()?, self.second.initial()?);
        let mut in_state = self.states(&one, &two);
        for _ in 0..max_rounds {
            let over = self.first.terminal(&one)?;
            if over != self.second.terminal(&two)? {
                return Ok(self.with(if over { "terminal" } else { "open" }.to_owned()));
            }
            if over {
                let goal = self.goals(&one, &two)?;
                return Ok(match (goal, in_state) {
                    (Some(line), _) => self.with(line),
                    (None, Some(lines)) => Found::InState(lines),
                    (None, None) => Found::Nothing,
                });
            }
            if let Some(line) = self.legal(&one, &two)? {
                return Ok(self.with(line));
            }
            let options = options(self.first, &one)?;
            if options.iter().any(Vec::is_empty) {
                break;
            }
            let joint: Vec<MoveId> = options.iter().map(|legal| pick(legal)).collect();
            let mut there = Vec::with_capacity(joint.len());
            for (at, &mv) in joint.iter().enumerate() {
                let role = RoleId(at as u16);
                let text = self.first.move_text(role, mv).to_owned();
                let same = self.second.find_move(role, &text);
                there.push(same.ok_or(Fault::Foreign("a move"))?);
            }
            self.lines.push(self.play_line(&joint, &options));
            if let Some(line) = self.percepts((&one, &joint), (&two, &there))? {
                return Ok(self.with(line));
            }
            one = self.first.next(&one, &joint)?;
            two = self.second.next(&two, &there)?;
            in_state = in_state.or_else(|| self.states(&one, &two));
        }
        Ok(in_state.map_or(Found::Nothing, Found::InState))
    }

    /// The play so far and a last line.
    fn with(&self, last: String) -> Found {
        Found::Seen(self.lines.iter().cloned().chain([last]).collect())
    }

    /// The roles, players before nature: tests about players say more.
    fn roles(&self) -> Vec<RoleId> {
        let mut roles: Vec<RoleId> = (0..self.first.roles().len()).map(|at| RoleId(at as u16)).collect();
        roles.sort_by_key(|&role| self.first.nature() == Some(role));
        roles
    }

    fn name(&self, role: RoleId) -> String {
        self.first.roles()[usize::from(role.0)].clone()
    }

    fn play_line(&self, joint: &[MoveId], options: &[Vec<MoveId>]) -> String {
        let mut line = "play".to_owned();
        for (at, &mv) in joint.iter().enumerate().filter(|(at, _)| options[*at].len() > 1) {
            let role = RoleId(at as u16);
            line += &format!(" {}:{}", self.name(role), self.first.move_text(role, mv));
        }
        line
    }

    fn legal(&mut self, one: &State, two: &State) -> Result<Option<String>, Fault> {
        for role in self.roles() {
            let (ours, theirs) = (moves(self.first, one, role)?, moves(self.second, two, role)?);
            if ours == theirs {
                continue;
            }
            let name = self.name(role);
            let lost = ours.iter().find(|mv| !theirs.contains(mv));
            let gained = theirs.iter().find(|mv| !ours.contains(mv));
            let line = match (lost, gained) {
                _ if !ours.is_empty() && ours.len() <= FEW => format!("moves {name} {}", ours.join(" ")),
                (Some(lost), _) => format!("can {name} {lost}"),
                (None, Some(gained)) => format!("cannot {name} {gained}"),
                (None, None) => format!("legal {name} {}", ours.len()),
            };
            return Ok(Some(line));
        }
        Ok(None)
    }

    fn percepts(&mut self, one: (&State, &[MoveId]), two: (&State, &[MoveId])) -> Result<Option<String>, Fault> {
        for role in self.roles() {
            let ours = percepts(self.first, one, role)?;
            if ours != percepts(self.second, two, role)? {
                let list: String = ours.iter().map(|percept| format!(" {percept}")).collect();
                return Ok(Some(format!("sees {}{list}", self.name(role))));
            }
        }
        Ok(None)
    }

    fn goals(&mut self, one: &State, two: &State) -> Result<Option<String>, Fault> {
        for role in self.roles() {
            let (ours, theirs) = (self.first.goal(one, role)?, self.second.goal(two, role)?);
            if let Some(points) = ours.exact().filter(|_| ours != theirs) {
                return Ok(Some(format!("goal {} {points}", self.name(role))));
            }
        }
        Ok(None)
    }

    fn states(&self, one: &State, two: &State) -> Option<Vec<String>> {
        let (ours, theirs) = (self.first.fluents(one), self.second.fluents(two));
        let lost = ours.iter().find(|fluent| !theirs.contains(fluent));
        let gained = theirs.iter().find(|fluent| !ours.contains(fluent));
        let line = match (lost, gained) {
            (Some(lost), _) => format!("holds {lost}"),
            (None, gained) => format!("absent {}", gained?),
        };
        Some(self.lines.iter().cloned().chain([line]).collect())
    }
}

fn moves(sim: &mut dyn Simulator, state: &State, role: RoleId) -> Result<Vec<String>, Fault> {
    let mut legal = Vec::new();
    sim.legal(state, role, &mut legal)?;
    Ok(legal.iter().map(|&mv| sim.move_text(role, mv).to_owned()).collect())
}

fn percepts(sim: &mut dyn Simulator, (state, joint): (&State, &[MoveId]), role: RoleId) -> Result<Vec<String>, Fault> {
    let mut seen = Vec::new();
    sim.percepts(state, joint, role, &mut seen)?;
    Ok(seen.iter().map(|&p| sim.percept_text(role, p).to_owned()).collect())
}
