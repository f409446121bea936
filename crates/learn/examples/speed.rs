//! How fast networks of the paper's size are: `cargo run --release -p surmise-learn --example speed`.

use game::Seed;
use std::hint::black_box;
use std::time::Instant;
use surmise_learn::{Adam, NetworkShape, NeuralNetwork, TrainingTarget};

fn main() {
    let shape = NetworkShape {
        inputs: 199,
        width: 199,
        moves: vec![9, 9],
    };
    let mut network = NeuralNetwork::new(shape, Seed(1));
    let mut rng = Seed(2).rng();
    let states: Vec<Vec<u64>> = (0..256).map(|_| (0..4).map(|_| rng.bits()).collect()).collect();
    let all: Box<[u32]> = (0..9).collect();
    let even: Box<[f32]> = vec![1.0 / 9.0; 9].into();
    let target = |bits: &Vec<u64>| TrainingTarget {
        bits: bits.as_slice().into(),
        values: Box::new([0.5, 0.5]),
        policies: Box::new([(0, all.clone(), even.clone()), (1, all.clone(), even.clone())]),
    };
    let targets: Vec<TrainingTarget> = states.iter().map(target).collect();
    let batch: Vec<&TrainingTarget> = targets.iter().collect();
    let asked = |n: usize| states[..n].iter().map(Vec::as_slice);
    let mut adam = Adam::new(network.parameters().len(), 1e-3);
    println!(
        "forward, batch 1:            {:8.1} µs",
        best(2_000, || drop(black_box(network.answer(asked(1)))))
    );
    println!(
        "forward, batch 256:          {:8.1} µs",
        best(50, || drop(black_box(network.answer(asked(256)))))
    );
    println!(
        "training step, batch 256:    {:8.1} µs",
        best(20, || {
            black_box(adam.step(&mut network, &batch));
        })
    );
}

/// Microseconds of one call, the best of seven means.
fn best(times: u32, mut work: impl FnMut()) -> f64 {
    let mut mean = || {
        let started = Instant::now();
        (0..times).for_each(|_| work());
        started.elapsed().as_secs_f64() * 1e6 / f64::from(times)
    };
    (0..7).map(|_| mean()).fold(f64::INFINITY, f64::min)
}
