//! Play matches between two players and print the results: `cargo run --release -p surmise --example play_match`.

use surmise::{Entrant, Game, MatchOptions, MatchSummary, PlayerSpec};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A game of the catalogue with parameters; a path to a rules file works as well.
    let game = Game::open("krieg-tictactoe:size=3,line=3")?;
    println!("{} has the roles {}", game.name(), game.roles().join(", "));

    // Players are named as on the command line: HyperPlay with 16 models and 4 playouts, and a random one.
    let players: Vec<PlayerSpec> = vec!["hp:16,4".parse()?, "random".parse()?];
    let players: Vec<&dyn Entrant> = players.iter().map(|p| p as &dyn Entrant).collect();

    // The same seed gives the same matches. Players change seats from match to match.
    let options = MatchOptions {
        games: 20,
        swap: true,
        seed: 7,
        ..MatchOptions::default()
    };
    let matches = game.play(&players, &options)?;

    let mut summary = MatchSummary::new(&game, &players, options.swap);
    matches.iter().for_each(|result| summary.add(result));
    for row in summary.totals(0.95) {
        let interval = row.score;
        println!(
            "{:8} {:6.2}  ({:.1} to {:.1})",
            row.player, interval.mean, interval.low, interval.high
        );
    }

    // Every match has a record: moves, percepts, states and payoffs, which replays to the byte.
    let record = &matches[0].outcome.record;
    println!(
        "the first match took {} rounds: {:?}",
        record.rounds.len(),
        record.goals
    );
    Ok(())
}
