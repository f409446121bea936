//! Follow what a role can believe through a match: `cargo run --release -p surmise --example follow_belief`.

use surmise::{BeliefOptions, Game, MatchOptions, PlayerSpec};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let game = Game::open("mastermind")?;
    let player: PlayerSpec = "random".parse()?;
    let matches = game.play(&[&player], &MatchOptions::default())?;
    let record = &matches[0].outcome.record;

    // The belief is made from what the role was told and from nothing else.
    let role = game.roles()[game.seating().played()[0]].clone();
    let at = record
        .roles
        .iter()
        .position(|r| *r == role)
        .expect("a role of the game");
    let mut tracker = game.follow(&role, &BeliefOptions::default())?;
    for round in 0..=record.rounds.len() {
        let told = record.told(at, round);
        tracker.update(&told)?;
        let belief = tracker.report();
        let exact = if belief.report.exact { "exactly" } else { "about" };
        let likeliest = belief.states.first().map_or(0.0, |(_, p)| *p);
        println!(
            "after round {round}: {exact} {} states are possible, the likeliest with {:.1} %",
            belief.states.len(),
            100.0 * likeliest
        );
    }
    Ok(())
}
