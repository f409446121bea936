//! Every program in `examples/` runs to its end.

#[path = "../examples/follow_belief.rs"]
mod follow_belief;
#[path = "../examples/match_beliefs.rs"]
#[expect(dead_code, reason = "arguments of a test are not those of the program")]
mod match_beliefs;
#[path = "../examples/play_match.rs"]
mod play_match;
#[path = "../examples/run_lab.rs"]
mod run_lab;
#[path = "../examples/solve_game.rs"]
mod solve_game;
#[path = "../examples/starter.rs"]
mod starter;
#[path = "../examples/write_player.rs"]
mod write_player;

#[test]
fn play_match_runs() {
    play_match::main().unwrap();
}

#[test]
fn write_player_runs() {
    write_player::main().unwrap();
}

#[test]
fn follow_belief_runs() {
    follow_belief::main().unwrap();
}

#[test]
fn match_beliefs_runs() {
    match_beliefs::follow("phantom-tictactoe", 0.05, 10, 1).unwrap();
}

#[test]
fn solve_game_runs() {
    solve_game::main().unwrap();
}

#[test]
fn run_lab_runs() {
    run_lab::main().unwrap();
}

#[test]
fn starter_runs() {
    starter::main().unwrap();
}

/// An example that nobody runs would be missing above.
#[test]
fn every_example_is_here() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let known = [
        "follow_belief.rs",
        "match_beliefs.rs",
        "play_match.rs",
        "run_lab.rs",
        "solve_game.rs",
        "starter.rs",
        "write_player.rs",
    ];
    assert_eq!(names, known);
}
