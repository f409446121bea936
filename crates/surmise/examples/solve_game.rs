//! Solve a game and read the strategy: `cargo run --release -p surmise --example solve_game`.

use surmise::{Game, SolveOptions};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let game = Game::open("kuhn-poker")?;
    let options = SolveOptions::default();
    // All histories are played out once; solving works on the tree alone.
    let tree = game.tree(&options, &mut |_| {})?;
    let solution = tree.solve(&options, &mut |_| {})?;
    println!("{} by {}:", game.name(), solution.algorithm());
    for (player, value) in solution.values.iter().enumerate() {
        println!("  {} expects {value:.4} points", solution.role(player));
    }
    println!(
        "  together they could gain {:.1e} points by best responses",
        solution.nash_conv()
    );

    // The strategy of the first player, information set by information set.
    let (tree, sim) = (&solution.tree.tree, solution.tree.sim.as_ref());
    for set in &tree.infosets()[tree.infosets_of(0)] {
        let moves = set.sequences().map(|sequence| {
            let text = sim.move_text(tree.players[0], tree.move_of(sequence));
            format!("{text} {:.3}", solution.policy.0[sequence])
        });
        println!(
            "  {}: {}",
            tree.view_text(set, sim),
            moves.collect::<Vec<_>>().join(", ")
        );
    }
    Ok(())
}
