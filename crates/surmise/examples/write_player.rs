//! Write a player of your own and let it play: `cargo run --release -p surmise --example write_player`.

use surmise::game::{Budget, Decision, Fault, Meter, Player, Told};
use surmise::{Entrant, Game, MatchOptions, OwnPlayer, PlayerSpec};

/// Plays Monty Hall: it chooses a door, waits until the host has opened another one, and switches.
///
/// A player is told its own moves and its percepts, round by round, and nothing else: there is no way from here to the
/// true state. A player that wants to think ahead gets the rules as a simulator from `Game::simulator`, and a belief
/// from `Game::follow`.
struct Switcher;

impl Player for Switcher {
    fn choose(&mut self, told: &[Told], _: &Budget) -> Result<Decision, Fault> {
        // The budget says when to stop thinking. This player needs no time.
        match told.len() {
            0 => Ok(Decision::plain("(choose 1)")),
            1 => Ok(Decision::plain("noop")),
            _ => Ok(Decision::plain("switch")),
        }
    }

    fn meter(&self) -> Meter {
        Meter::default()
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let game = Game::open("monty-hall")?;
    let switcher = OwnPlayer::new("switcher", |_: &Game, _, _| Box::new(Switcher) as Box<dyn Player>);
    let random: PlayerSpec = "random".parse()?;
    let options = MatchOptions {
        games: 300,
        ..MatchOptions::default()
    };
    for player in [&switcher as &dyn Entrant, &random] {
        let matches = game.play(&[player], &options)?;
        let won = matches.iter().filter(|m| m.outcome.record.goals[0] == 100).count();
        println!("{:8} wins the car in {won} of {} matches", player.name(), matches.len());
    }
    Ok(())
}
