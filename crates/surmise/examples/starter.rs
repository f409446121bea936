//! starter: a player to change.

use surmise::game::{Budget, Decision, Fault, Meter, Player, Rng, RoleId, Seed, Simulator, Told};
use surmise::{BeliefOptions, Game, MatchOptions, OwnPlayer, PlayerSpec};

/// Plays a random legal move of a state that it holds possible.
struct Starter {
    game: &'static Game,
    sim: Box<dyn Simulator>,
    role: RoleId,
    rng: Rng,
    seed: Seed,
}

impl Player for Starter {
    /// Chooses a move. `told` has the own move and the percepts of every round so far, and nothing else.
    fn choose(&mut self, told: &[Told], _: &Budget) -> Result<Decision, Fault> {
        let options = BeliefOptions {
            seed: self.seed.0,
            ..BeliefOptions::default()
        };
        let role = &self.game.roles()[usize::from(self.role.0)];
        // What the role can believe: states with their probabilities, the likeliest first.
        let belief = self.game.belief(role, told, &options).map_err(Fault::player)?;
        let (fluents, _) = &belief.states[0];
        let state = self.sim.state_of(fluents).ok_or(Fault::NoState)?;
        let mut legal = Vec::new();
        self.sim.legal(&state, self.role, &mut legal)?;
        if legal.is_empty() {
            return Err(Fault::no_move(Some(role)));
        }
        // Replace this by your own idea.
        let choice = *self.rng.pick(&legal);
        Ok(Decision::plain(self.sim.move_text(self.role, choice)))
    }

    /// Work done, for tables.
    fn meter(&self) -> Meter {
        *self.sim.meter()
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The game lives as long as the program.
    let game: &'static Game = Box::leak(Box::new(Game::open("krieg-tictactoe:size=3,line=3")?));
    let mine = OwnPlayer::new("starter", move |_: &Game, role, seed: Seed| {
        Box::new(Starter {
            game,
            sim: game.simulator(),
            role,
            rng: seed.rng(),
            seed,
        }) as Box<dyn Player>
    });
    let random: PlayerSpec = "random".parse()?;
    let options = MatchOptions {
        games: 20,
        ..MatchOptions::default()
    };
    let matches = game.play(&[&mine, &random], &options)?;
    for (at, role) in game.roles().iter().enumerate() {
        let points: u32 = matches.iter().map(|m| u32::from(m.outcome.record.goals[at])).sum();
        println!("{role}: {:.1} points a match", f64::from(points) / matches.len() as f64);
    }
    Ok(())
}
