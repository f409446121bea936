//! The player `auto`: chooses a player by what the game is.
//!
//! Five questions are asked in turn, and the first that has an answer decides: is there a trained network, can the game
//! be solved before play, is it open, how many roles have a choice, are their interests opposed. What was found is told
//! with every decision. Everything is counted, and nothing depends on a clock: the same game gets the same player on
//! any machine.

use super::{Error, PlayerSpec};
use crate::engine::Engine;
use crate::strategy::tell;
use game::{Budget, Decision, Fault, Meter, MoveId, Player, RoleId, Seed, Simulator, StopFlag, Told};
use gdl::Information;
use referee::Seat;
use search::{StrategyTable, Tabular};
use solve::{Algorithm, BuildError, Form, Limits, Policy, Tree};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Games that are looked at to see what a game is like, and rounds of all of them together.
const GAMES: u64 = 16;
const ROUNDS: usize = 2_000;
/// Rounds on rules that are not compiled, where a round may take milliseconds.
const SLOW_ROUNDS: usize = 20;
/// NashConv in points at which a strategy is good enough, and at which it is better than nothing.
const GOOD: f64 = 0.1;
const USABLE: f64 = 2.0;
/// Iterations between two looks at NashConv, and histories that all iterations visit, at most.
const SLICE: u64 = 50;
const WORK: u64 = 10_000_000;

/// Options of `auto`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AutoSpec {
    /// Folder of a training.
    pub net: Option<String>,
    /// Histories of games that are solved before play, at most; 0 solves none.
    pub histories: u64,
}

/// What a game is like, as far as some random games show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GameTraits {
    /// Roles that have a choice somewhere.
    choosing: usize,
    /// Whether the points of two roles always had the same sum.
    opposed: bool,
    /// Whether in most rounds in which somebody had a choice several roles had one.
    simultaneous: bool,
}

/// What `auto` knows about a game: computed once for all matches.
#[derive(Default)]
pub(crate) struct AutoFacts {
    traits: std::sync::OnceLock<Result<GameTraits, Fault>>,
    /// By the number of histories that was allowed.
    solved: std::sync::Mutex<BTreeMap<u64, Arc<SolvedGame>>>,
}

/// A game that was solved, or why it was not.
enum SolvedGame {
    Tables(Vec<Arc<StrategyTable>>, String),
    No(String),
}

impl AutoSpec {
    /// The player that `auto` takes in a game, with the reasons one by one.
    pub(super) fn seat(&self, engine: &Engine, role: RoleId, seed: Seed) -> Result<Seat, Error> {
        let mut why = Vec::new();
        let name = self.choose(engine, &mut why)?;
        let player = match name {
            Chosen::Table(tables) => {
                let table = tables.get(usize::from(role.0)).cloned().unwrap_or_default();
                Seat::Player(Box::new(Tabular::new(engine.tools(role, seed), table)?))
            }
            Chosen::Named(text) => PlayerSpec::parse(&text)?.seat(engine, role, seed)?,
        };
        Ok(match player {
            Seat::Player(inner) => Seat::Player(Box::new(Explained {
                inner,
                why: why.join("; "),
            })),
            other => other,
        })
    }

    fn choose(&self, engine: &Engine, why: &mut Vec<String>) -> Result<Chosen, Error> {
        if let Some(net) = &self.net {
            why.push(format!("auto plays cfr with the network in {net}"));
            return Ok(Chosen::Named(format!("cfr:net={net}")));
        }
        let traits = engine.auto.traits(engine)?;
        if traits.choosing < 2 || traits.opposed {
            match &*engine.auto.solved(engine, self.histories) {
                SolvedGame::Tables(tables, how) => {
                    why.push(format!("auto plays a strategy that was computed before play: {how}"));
                    return Ok(Chosen::Table(tables.clone()));
                }
                SolvedGame::No(reason) => why.push(reason.clone()),
            }
        } else {
            why.push("not solved: the interests of the roles are not opposed".to_owned());
        }
        // Rules without `sees` whose moves nobody announces tell the roles nothing at all.
        let open = engine.rules.information() == Information::Open && engine.rules.has_sees();
        let (player, reason) = rule(open, &traits);
        why.insert(0, format!("auto plays {player}: {reason}"));
        Ok(Chosen::Named(player.to_owned()))
    }
}

enum Chosen {
    Table(Vec<Arc<StrategyTable>>),
    Named(String),
}

/// The rule for games that are not solved: which player, and why.
fn rule(open: bool, traits: &GameTraits) -> (&'static str, &'static str) {
    match (open, traits.choosing) {
        (true, _) => ("uct", "nothing is hidden"),
        (false, 0 | 1) => ("hp2", "one role plays against chance, and information may have a price"),
        (false, 2) if !traits.opposed => ("hp2", "two roles, whose interests are not opposed"),
        (false, 2) if traits.simultaneous => ("hp", "two opponents move at the same time"),
        (false, 2) => ("kluss", "two opponents, and something is hidden"),
        (false, _) => ("ismcts", "more than two roles have a choice"),
    }
}

/// A player whose decisions say why `auto` chose it.
struct Explained {
    inner: Box<dyn Player>,
    why: String,
}

impl Player for Explained {
    fn prepare(&mut self, stop: &StopFlag) -> Result<(), Fault> {
        self.inner.prepare(stop)
    }

    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        let mut decision = self.inner.choose(told, budget)?;
        decision.belief = match decision.belief.is_empty() {
            true => self.why.clone(),
            false => format!("{}; {}", self.why, decision.belief),
        };
        Ok(decision)
    }

    fn meter(&self) -> Meter {
        self.inner.meter()
    }
}

impl AutoFacts {
    fn traits(&self, engine: &Engine) -> Result<GameTraits, Error> {
        let found = self.traits.get_or_init(|| {
            let most = if engine.compiled().is_some() {
                ROUNDS
            } else {
                SLOW_ROUNDS
            };
            GameTraits::of(engine.state_simulator().as_mut(), most)
        });
        found.clone().map_err(Error::Fault)
    }

    fn solved(&self, engine: &Engine, histories: u64) -> Arc<SolvedGame> {
        let mut known = self.solved.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let entry = known.entry(histories);
        entry
            .or_insert_with(|| Arc::new(SolvedGame::new(engine, histories)))
            .clone()
    }
}

impl GameTraits {
    /// Plays random games, of so many rounds together at most.
    fn of(sim: &mut dyn Simulator, most: usize) -> Result<GameTraits, Fault> {
        let nature = sim.nature();
        let roles: Vec<RoleId> = (0..sim.roles().len() as u16)
            .map(RoleId)
            .filter(|r| Some(*r) != nature)
            .collect();
        let mut chooses = vec![false; roles.len()];
        let mut sums: Vec<u32> = Vec::new();
        let (mut together, mut alone, mut rounds) = (0, 0, 0);
        let mut legal: Vec<MoveId> = Vec::new();
        for game in 0..GAMES {
            let mut rng = Seed(1).child("what a game is like").nth(game).rng();
            let mut state = sim.initial()?;
            while !sim.terminal(&state)? && rounds < most {
                let mut joint = Vec::new();
                let mut with_choice = 0;
                for role in (0..sim.roles().len() as u16).map(RoleId) {
                    sim.legal(&state, role, &mut legal)?;
                    if let Some(place) = roles.iter().position(|r| *r == role).filter(|_| legal.len() > 1) {
                        chooses[place] = true;
                        with_choice += 1;
                    }
                    joint.extend(legal.first().map(|_| *rng.pick(&legal)));
                }
                // A role without a legal move ends the game.
                if joint.len() < sim.roles().len() {
                    break;
                }
                together += usize::from(with_choice > 1);
                alone += usize::from(with_choice == 1);
                state = sim.next(&state, &joint)?;
                rounds += 1;
            }
            if !sim.terminal(&state)? && rounds >= most {
                break;
            }
            let mut sum = 0;
            for role in &roles {
                sum += u32::from(sim.goal(&state, *role)?.points());
            }
            sums.push(sum);
        }
        let same = sums.windows(2).all(|pair| pair[0] == pair[1]);
        Ok(GameTraits {
            choosing: chooses.iter().filter(|c| **c).count(),
            // Without the end of a game two roles are taken for opponents.
            opposed: roles.len() == 2 && same,
            simultaneous: together > alone,
        })
    }
}

impl SolvedGame {
    fn new(engine: &Engine, histories: u64) -> SolvedGame {
        if histories == 0 {
            return SolvedGame::No("not solved: histories=0".to_owned());
        }
        if engine.compiled().is_none() {
            return SolvedGame::No("not solved: the rules are not compiled".to_owned());
        }
        let mut sim = engine.state_simulator();
        let limits = Limits {
            histories,
            stop: StopFlag::default(),
        };
        let tree = match Tree::build(sim.as_mut(), &limits, &mut |_| {}) {
            Ok(tree) => tree,
            Err(BuildError::TooLarge { limit, .. }) => {
                return SolvedGame::No(format!("not solved: more than {limit} histories"));
            }
            Err(error) => return SolvedGame::No(format!("not solved: {error}")),
        };
        let form = Form::new(&tree);
        let (policy, how) = match tree.players.len() {
            1 => {
                let mut policy = Policy::uniform(&tree);
                form.best_response(0, &mut policy);
                (policy, "the optimum of the only role".to_owned())
            }
            _ if tree.constant_sum().is_none() => {
                return SolvedGame::No("not solved: the sum of the points varies".to_owned());
            }
            _ => match equilibrium(&form, &tree) {
                Some((policy, gap)) => (policy, format!("an equilibrium, NashConv {gap:.3} points")),
                None => return SolvedGame::No("not solved: it would take too long".to_owned()),
            },
        };
        SolvedGame::Tables(tables(&tree, &policy, sim.as_ref()), how)
    }
}

/// The average strategy of CFR+, which also plays well where an equilibrium need not; with its NashConv.
fn equilibrium(form: &Form<'_>, tree: &Tree) -> Option<(Policy, f64)> {
    let mut solver = Algorithm::CfrPlus.solver(form, Seed(1));
    let most = (WORK / tree.nodes().len().max(1) as u64).max(SLICE);
    loop {
        solver.iterate(SLICE);
        let average = solver.average();
        let gap = form.nash_conv(&average);
        if gap <= GOOD || solver.iterations() >= most {
            return (gap <= USABLE).then_some((average, gap));
        }
    }
}

/// The strategies of all roles, in role order.
fn tables(tree: &Tree, policy: &Policy, sim: &dyn Simulator) -> Vec<Arc<StrategyTable>> {
    let mut all = vec![StrategyTable::default(); sim.roles().len()];
    for (player, &role) in tree.players.iter().enumerate() {
        for set in &tree.infosets()[tree.infosets_of(player)] {
            let view: Vec<Told> = tree.view(set).iter().map(|round| tell(sim, role, round)).collect();
            let moves = set
                .sequences()
                .map(|s| (sim.move_text(role, tree.move_of(s)).to_owned(), policy.0[s]));
            all[usize::from(role.0)].insert(&view, moves.collect());
        }
    }
    all.into_iter().map(Arc::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Game;

    fn traits(game: &str) -> GameTraits {
        let game = Game::open(game).unwrap();
        game.engine().auto.traits(game.engine()).unwrap()
    }

    #[test]
    fn games_are_seen_for_what_they_are() {
        let phantom = traits("phantom-tictactoe");
        assert_eq!(
            (phantom.choosing, phantom.opposed, phantom.simultaneous),
            (2, true, false)
        );
        let krieg = traits("krieg-tictactoe:size=3,line=3");
        assert_eq!((krieg.choosing, krieg.opposed, krieg.simultaneous), (2, true, true));
        assert_eq!(traits("monty-hall").choosing, 1);
        // Both set up at once, and then move by turns.
        assert!(!traits("mini-stratego").simultaneous);
    }

    fn chosen(game: &str, player: &str) -> String {
        let game = Game::open(game).unwrap();
        let players: Vec<PlayerSpec> = vec![PlayerSpec::parse(player).unwrap(); game.seating().played().len()];
        let entrants: Vec<&dyn crate::Entrant> = players.iter().map(|p| p as &dyn crate::Entrant).collect();
        let options = crate::MatchOptions {
            games: 1,
            ..crate::MatchOptions::default()
        };
        let played = game.play(&entrants, &options).unwrap();
        let seats = played[0].outcome.seats.iter().flat_map(|s| &s.decisions);
        seats
            .map(|decision| decision.belief.clone())
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn the_choice_is_told() {
        assert!(chosen("kuhn-poker", "auto").contains("an equilibrium"));
        assert!(chosen("kuhn-poker", "auto:histories=0").contains("auto plays kluss"));
        assert!(chosen("monty-hall", "auto").contains("the optimum of the only role"));
        assert!(chosen("tictactoe", "auto:histories=10").contains("auto plays uct: nothing is hidden"));
    }
}
