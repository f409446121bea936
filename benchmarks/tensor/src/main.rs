//! Measures the networks of `crates/learn` beside candle's, on one thread:
//! `cargo run --release --manifest-path benchmarks/tensor/Cargo.toml`.
//!
//! The network is the paper's for blind tic-tac-toe: 199 bits, two hidden layers of 199, one linear layer for two
//! values, and for each of two roles a hidden layer and nine logits. The two programs are measured in turns, best of
//! seven, so that a busy machine slows both.

use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::{AdamW, Linear, Module, Optimizer, ParamsAdamW, VarBuilder, VarMap, linear, ops};
use game::Seed;
use learn::{Adam, Network, Shape, Target};
use std::hint::black_box;
use std::time::Instant;

const BITS: usize = 199;
const MOVES: usize = 9;

fn main() -> Result<()> {
    // Both on one thread: training plays games on the others.
    // SAFETY: no other thread runs yet.
    unsafe { std::env::set_var("RAYON_NUM_THREADS", "1") };
    println!("| | ours | candle | ratio |\n|---|---|---|---|");
    for batch in [1, 256, 512] {
        let (mut ours, theirs) = (Ours::new(batch), Theirs::new(batch)?);
        let times = (2_000 / batch).max(8) as u32;
        row(&format!("forward, batch {batch}"), times, || ours.forward(), || theirs.forward());
    }
    let (mut ours, mut theirs) = (Ours::new(512), Theirs::new(512)?);
    row("training step with Adam, batch 512", 6, || ours.step(), || theirs.step());
    Ok(())
}

fn row(what: &str, times: u32, mut ours: impl FnMut(), mut theirs: impl FnMut()) {
    let mean = |work: &mut dyn FnMut()| {
        let started = Instant::now();
        (0..times).for_each(|_| work());
        started.elapsed().as_secs_f64() * 1e6 / f64::from(times)
    };
    let (mut a, mut b) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..7 {
        a = a.min(mean(&mut ours));
        b = b.min(mean(&mut theirs));
    }
    println!("| {what} | {a:.1} µs | {b:.1} µs | {:.2} |", b / a);
}

struct Ours {
    network: Network,
    adam: Adam,
    states: Vec<Vec<u64>>,
    targets: Vec<Target>,
}

impl Ours {
    fn new(batch: usize) -> Ours {
        let shape = Shape {
            inputs: BITS,
            width: BITS,
            moves: vec![MOVES, MOVES],
        };
        let network = Network::new(shape, Seed(1));
        let mut rng = Seed(2).rng();
        let states: Vec<Vec<u64>> = (0..batch).map(|_| (0..4).map(|_| rng.bits()).collect()).collect();
        let all: Box<[u32]> = (0..MOVES as u32).collect();
        let even: Box<[f32]> = vec![1.0 / MOVES as f32; MOVES].into();
        let target = |bits: &Vec<u64>| Target {
            bits: bits.as_slice().into(),
            values: Box::new([0.5, 0.5]),
            policies: Box::new([(0, all.clone(), even.clone()), (1, all.clone(), even.clone())]),
        };
        Ours {
            targets: states.iter().map(target).collect(),
            adam: Adam::new(network.parameters().len(), 1e-3),
            network,
            states,
        }
    }

    fn forward(&mut self) {
        black_box(self.network.answer(self.states.iter().map(Vec::as_slice)));
    }

    fn step(&mut self) {
        let batch: Vec<&Target> = self.targets.iter().collect();
        black_box(self.adam.step(&mut self.network, &batch));
    }
}

struct Theirs {
    hidden: [Linear; 2],
    values: Linear,
    heads: Vec<(Linear, Linear)>,
    optimizer: AdamW,
    input: Tensor,
    wanted_values: Tensor,
    wanted_policy: Tensor,
}

impl Theirs {
    fn new(batch: usize) -> Result<Theirs> {
        let device = Device::Cpu;
        let variables = VarMap::new();
        let builder = VarBuilder::from_varmap(&variables, DType::F32, &device);
        let layer = |from, to, name: &str| linear(from, to, builder.pp(name));
        let hidden = [layer(BITS, BITS, "one")?, layer(BITS, BITS, "two")?];
        let values = layer(BITS, 2, "values")?;
        let mut heads = Vec::new();
        for role in ["x", "o"] {
            heads.push((layer(BITS, BITS, &format!("{role} hidden"))?, layer(BITS, MOVES, role)?));
        }
        let mut rng = Seed(2).rng();
        let bits: Vec<f32> = (0..batch * BITS).map(|_| (rng.bits() & 1) as f32).collect();
        Ok(Theirs {
            hidden,
            values,
            heads,
            optimizer: AdamW::new(
                variables.all_vars(),
                ParamsAdamW { lr: 1e-3, weight_decay: 0.0, ..Default::default() },
            )?,
            input: Tensor::from_vec(bits, (batch, BITS), &device)?,
            wanted_values: Tensor::full(0.5_f32, (batch, 2), &device)?,
            wanted_policy: Tensor::full(1.0 / MOVES as f32, (batch, MOVES), &device)?,
        })
    }

    fn answer(&self) -> Result<(Tensor, Vec<Tensor>)> {
        let one = self.hidden[0].forward(&self.input)?.relu()?;
        let two = self.hidden[1].forward(&one)?.relu()?;
        let logits = self.heads.iter().map(|(hidden, out)| out.forward(&hidden.forward(&two)?.relu()?));
        Ok((self.values.forward(&two)?, logits.collect::<Result<_>>()?))
    }

    fn forward(&self) {
        black_box(self.answer().expect("shapes fit"));
    }

    fn step(&mut self) {
        let work = || -> Result<Tensor> {
            let (values, logits) = self.answer()?;
            let mut loss = values.sub(&self.wanted_values)?.sqr()?.mean_all()?;
            for logits in logits {
                let log = ops::log_softmax(&logits, D::Minus1)?;
                loss = (loss - log.mul(&self.wanted_policy)?.sum(D::Minus1)?.mean_all()?)?;
            }
            Ok(loss)
        };
        let loss = work().expect("shapes fit");
        self.optimizer.backward_step(&loss).expect("gradients fit");
    }
}
