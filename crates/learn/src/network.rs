//! The neural network of Partridge and Thielscher (2022), figure 1: the bits of a state as input; two hidden layers
//! with rectified linear units; one linear layer for the values of all roles; for each role one more hidden layer and a
//! softmax over its legal moves.
//!
//! Plain layers over the matrix products of `matrixmultiply`: for networks of this size no library that we measured was
//! faster on a CPU, and a training step is three products for each layer.

use crate::matrix::{multiply, multiply_left_transposed, multiply_right_transposed};
use game::Seed;

/// The sizes of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkShape {
    /// Bits of a state.
    pub inputs: usize,
    /// Width of the hidden layers. The paper has them as wide as the input.
    pub width: usize,
    /// For each role that is not nature, how many moves it has.
    pub moves: Vec<usize>,
}

/// A layer's place among the parameters: weights `from` by `to`, then biases.
#[derive(Clone, Copy, Debug)]
struct DenseLayer {
    from: usize,
    to: usize,
    start: usize,
}

impl DenseLayer {
    fn weights<'a>(&self, parameters: &'a [f32]) -> &'a [f32] {
        &parameters[self.start..][..self.from * self.to]
    }

    fn biases<'a>(&self, parameters: &'a [f32]) -> &'a [f32] {
        &parameters[self.start + self.from * self.to..][..self.to]
    }

    fn len(&self) -> usize {
        (self.from + 1) * self.to
    }

    fn forward(&self, parameters: &[f32], n: usize, input: &[f32], rectify: bool) -> Vec<f32> {
        let biases = self.biases(parameters);
        let mut out: Vec<f32> = Vec::with_capacity(n * self.to);
        (0..n).for_each(|_| out.extend_from_slice(biases));
        multiply(n, self.from, self.to, input, self.weights(parameters), &mut out, true);
        if rectify {
            out.iter_mut().for_each(|x| *x = x.max(0.0));
        }
        out
    }

    /// Adds the gradient of the parameters; gives that of the input, if it is wanted.
    fn backward(
        &self,
        parameters: &[f32],
        n: usize,
        input: &[f32],
        gradient: &[f32],
        into: &mut [f32],
        back: Option<(&mut [f32], bool)>,
    ) {
        let (weights, biases) = into[self.start..][..self.len()].split_at_mut(self.from * self.to);
        multiply_left_transposed(n, self.from, self.to, input, gradient, weights);
        for row in gradient.chunks_exact(self.to) {
            biases.iter_mut().zip(row).for_each(|(b, g)| *b += g);
        }
        if let Some((back, add)) = back {
            multiply_right_transposed(n, self.to, self.from, gradient, self.weights(parameters), back, add);
        }
    }
}

/// A network.
#[derive(Clone, Debug)]
pub struct NeuralNetwork {
    shape: NetworkShape,
    layers: Vec<DenseLayer>,
    parameters: Vec<f32>,
}

/// Output of a network for some states.
#[derive(Clone, Debug, Default)]
pub struct NetworkAnswer {
    /// Values of the players, one row for each state.
    pub values: Vec<f32>,
    /// For each player, logits of all its moves, one row for each state.
    pub logits: Vec<Vec<f32>>,
}

/// A player, its legal moves and their probabilities.
pub type TargetPolicy = (u16, Box<[u32]>, Box<[f32]>);

/// Training target of a state.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingTarget {
    /// The bits of the state.
    pub bits: Box<[u64]>,
    /// A value for each player, in 0..1.
    pub values: Box<[f32]>,
    /// Policies of the players that have a choice.
    pub policies: Box<[TargetPolicy]>,
}

/// Losses of a step, means over the batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    /// Squared error of values.
    pub value: f32,
    /// Cross-entropy of policies, less the entropy of the targets: 0 if they are met.
    pub policy: f32,
}

/// Names of the weights and the biases of a layer.
fn tensor_names(layer: usize) -> [String; 2] {
    let name = match layer {
        0 => "hidden1".to_owned(),
        1 => "hidden2".to_owned(),
        2 => "values".to_owned(),
        n if n % 2 == 1 => format!("policy{}.hidden", (n - BODY) / 2),
        n => format!("policy{}.moves", (n - BODY) / 2),
    };
    [format!("{name}.weight"), format!("{name}.bias")]
}

impl NetworkShape {
    /// Names and sizes of the tensors of a network of this shape.
    pub(crate) fn tensors(&self) -> Vec<(String, u64)> {
        let sizes = |(at, layer): (usize, &DenseLayer)| {
            let [weight, bias] = tensor_names(at);
            [(weight, layer.from as u64 * layer.to as u64), (bias, layer.to as u64)]
        };
        layers(self).iter().enumerate().flat_map(sizes).collect()
    }
}

/// Layers before the heads.
const BODY: usize = 3;

impl NeuralNetwork {
    /// A network with random weights (He and others 2015).
    pub fn new(shape: NetworkShape, seed: Seed) -> NeuralNetwork {
        let layers = layers(&shape);
        let mut parameters = Vec::new();
        let mut rng = seed.child("weights").rng();
        for layer in &layers {
            let scale = (6.0 / layer.from as f64).sqrt();
            let weights = (0..layer.from * layer.to).map(|_| ((2.0 * rng.unit() - 1.0) * scale) as f32);
            parameters.extend(weights);
            parameters.extend(std::iter::repeat_n(0.0, layer.to));
        }
        NeuralNetwork {
            shape,
            layers,
            parameters,
        }
    }

    /// A network with these parameters, if they are as many as the shape needs.
    pub fn with_parameters(shape: NetworkShape, parameters: Vec<f32>) -> Option<NeuralNetwork> {
        let layers = layers(&shape);
        let needed: usize = layers.iter().map(DenseLayer::len).sum();
        (parameters.len() == needed).then_some(NeuralNetwork {
            shape,
            layers,
            parameters,
        })
    }

    /// How large it is.
    pub fn shape(&self) -> &NetworkShape {
        &self.shape
    }

    /// All weights and biases.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// The tensors by name: weights (from by to) and biases.
    pub fn tensors(&self) -> Vec<(String, Vec<usize>, &[f32])> {
        let mut tensors = Vec::new();
        for (at, layer) in self.layers.iter().enumerate() {
            let weights = layer.weights(&self.parameters);
            let [weight, bias] = tensor_names(at);
            tensors.push((weight, vec![layer.from, layer.to], weights));
            tensors.push((bias, vec![layer.to], layer.biases(&self.parameters)));
        }
        tensors
    }

    /// Output for states, given as bits.
    pub fn answer<'a>(&self, states: impl ExactSizeIterator<Item = &'a [u64]>) -> NetworkAnswer {
        let n = states.len();
        let input = self.unpack(states);
        let hidden1 = self.layers[0].forward(&self.parameters, n, &input, true);
        let hidden2 = self.layers[1].forward(&self.parameters, n, &hidden1, true);
        let head = |pair: &[DenseLayer]| {
            let hidden = pair[0].forward(&self.parameters, n, &hidden2, true);
            pair[1].forward(&self.parameters, n, &hidden, false)
        };
        NetworkAnswer {
            values: self.layers[2].forward(&self.parameters, n, &hidden2, false),
            logits: self.layers[BODY..].chunks_exact(2).map(head).collect(),
        }
    }

    /// The values alone.
    pub fn values<'a>(&self, states: impl ExactSizeIterator<Item = &'a [u64]>) -> Vec<f32> {
        let n = states.len();
        let input = self.unpack(states);
        let hidden1 = self.layers[0].forward(&self.parameters, n, &input, true);
        let hidden2 = self.layers[1].forward(&self.parameters, n, &hidden1, true);
        self.layers[2].forward(&self.parameters, n, &hidden2, false)
    }

    fn unpack<'a>(&self, states: impl ExactSizeIterator<Item = &'a [u64]>) -> Vec<f32> {
        let mut input = Vec::with_capacity(states.len() * self.shape.inputs);
        for bits in states {
            let bit = |at: usize| bits.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1);
            input.extend((0..self.shape.inputs).map(|at| f32::from(u8::from(bit(at)))));
        }
        input
    }

    /// Adds the gradient of the loss over a batch to `gradient`.
    pub fn backward(&self, batch: &[&TrainingTarget], gradient: &mut [f32]) -> Loss {
        let n = batch.len();
        let p = &self.parameters;
        let width = self.shape.width;
        let input = self.unpack(batch.iter().map(|t| &*t.bits));
        let hidden1 = self.layers[0].forward(p, n, &input, true);
        let hidden2 = self.layers[1].forward(p, n, &hidden1, true);
        let values = self.layers[2].forward(p, n, &hidden2, false);
        let mut loss = Loss::default();
        let mut back2 = vec![0.0; n * width];
        let mut errors: Vec<f32> = values;
        let targets = batch.iter().flat_map(|t| t.values.iter());
        for (error, target) in errors.iter_mut().zip(targets) {
            *error -= target;
            loss.value += *error * *error / n as f32;
            *error *= 2.0 / n as f32;
        }
        self.layers[2].backward(p, n, &hidden2, &errors, gradient, Some((&mut back2, false)));
        for (player, pair) in self.layers[BODY..].chunks_exact(2).enumerate() {
            let hidden = pair[0].forward(p, n, &hidden2, true);
            let logits = pair[1].forward(p, n, &hidden, false);
            let errors = policy_errors(batch, player, &logits, pair[1].to, &mut loss);
            let mut back = vec![0.0; n * width];
            pair[1].backward(p, n, &hidden, &errors, gradient, Some((&mut back, false)));
            rectified(&mut back, &hidden);
            pair[0].backward(p, n, &hidden2, &back, gradient, Some((&mut back2, true)));
        }
        rectified(&mut back2, &hidden2);
        let mut back1 = vec![0.0; n * width];
        self.layers[1].backward(p, n, &hidden1, &back2, gradient, Some((&mut back1, false)));
        rectified(&mut back1, &hidden1);
        self.layers[0].backward(p, n, &input, &back1, gradient, None);
        loss
    }
}

fn layers(shape: &NetworkShape) -> Vec<DenseLayer> {
    let (inputs, width) = (shape.inputs, shape.width);
    let mut sizes = vec![(inputs, width), (width, width), (width, shape.moves.len())];
    for &moves in &shape.moves {
        sizes.extend([(width, width), (width, moves)]);
    }
    let mut start = 0;
    let layer = |(from, to): (usize, usize)| {
        let layer = DenseLayer { from, to, start };
        start += layer.len();
        layer
    };
    sizes.into_iter().map(layer).collect()
}

/// Clears the gradient where a hidden unit is inactive.
fn rectified(gradient: &mut [f32], hidden: &[f32]) {
    for (g, h) in gradient.iter_mut().zip(hidden) {
        // Unconditional writes: no branches, so that the loop is vectorised.
        *g = if *h <= 0.0 { 0.0 } else { *g };
    }
}

/// The gradient of the cross-entropy of a player's policy; 0 for states in which it has no target.
fn policy_errors(
    batch: &[&TrainingTarget],
    player: usize,
    logits: &[f32],
    n_moves: usize,
    loss: &mut Loss,
) -> Vec<f32> {
    let n = batch.len() as f32;
    let mut errors = vec![0.0; logits.len()];
    for (row, target) in batch.iter().enumerate() {
        let own = target.policies.iter().find(|(p, ..)| usize::from(*p) == player);
        let Some((_, legal, wanted)) = own else { continue };
        let logits = &logits[row * n_moves..][..n_moves];
        let policy = softmax(logits, legal);
        for ((&mv, &p), &wanted) in legal.iter().zip(&policy).zip(wanted.iter()) {
            errors[row * n_moves + mv as usize] = (p - wanted) / n;
            if wanted > 0.0 {
                loss.policy += wanted * (wanted / p.max(1e-9)).ln() / n;
            }
        }
    }
    errors
}

/// Probabilities of some moves by their logits.
pub fn softmax(logits: &[f32], legal: &[u32]) -> Vec<f32> {
    let most = legal.iter().map(|&m| logits[m as usize]).fold(f32::MIN, f32::max);
    let mut policy: Vec<f32> = legal.iter().map(|&m| (logits[m as usize] - most).exp()).collect();
    let total: f32 = policy.iter().sum();
    policy.iter_mut().for_each(|p| *p /= total);
    policy
}

/// Adam (Kingma and Ba 2015).
#[derive(Clone, Debug)]
pub struct Adam {
    /// The size of steps.
    pub rate: f32,
    /// Steps made.
    pub steps: u64,
    /// Running means of gradients.
    pub mean: Vec<f32>,
    /// Running means of squared gradients.
    pub square: Vec<f32>,
}

impl Adam {
    /// An optimiser of so many parameters.
    pub fn new(parameters: usize, rate: f32) -> Adam {
        Adam {
            rate,
            steps: 0,
            mean: vec![0.0; parameters],
            square: vec![0.0; parameters],
        }
    }

    /// One step on a batch.
    pub fn step(&mut self, network: &mut NeuralNetwork, batch: &[&TrainingTarget]) -> Loss {
        let mut gradient = vec![0.0; network.parameters.len()];
        let loss = network.backward(batch, &mut gradient);
        self.steps += 1;
        let (b1, b2) = (0.9_f32, 0.999_f32);
        let steps = self.steps.min(1_000_000) as i32;
        let rate = self.rate * (1.0 - b2.powi(steps)).sqrt() / (1.0 - b1.powi(steps));
        let moments = self.mean.iter_mut().zip(self.square.iter_mut());
        for ((parameter, g), (mean, square)) in network.parameters.iter_mut().zip(&gradient).zip(moments) {
            *mean = b1 * *mean + (1.0 - b1) * g;
            *square = b2 * *square + (1.0 - b2) * g * g;
            *parameter -= rate * *mean / (square.sqrt() + 1e-8);
        }
        loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> NetworkShape {
        NetworkShape {
            inputs: 5,
            width: 7,
            moves: vec![4, 3],
        }
    }

    fn targets() -> Vec<TrainingTarget> {
        let policy = |player: u16, legal: &[u32], p: &[f32]| (player, legal.into(), p.into());
        vec![
            TrainingTarget {
                bits: Box::new([0b10110]),
                values: Box::new([0.9, 0.1]),
                policies: Box::new([
                    policy(0, &[0, 3], &[0.25, 0.75]),
                    policy(1, &[0, 1, 2], &[0.5, 0.5, 0.0]),
                ]),
            },
            TrainingTarget {
                bits: Box::new([0b01001]),
                values: Box::new([0.3, 0.7]),
                policies: Box::new([policy(1, &[1, 2], &[0.1, 0.9])]),
            },
        ]
    }

    fn loss_of(network: &NeuralNetwork, batch: &[&TrainingTarget]) -> f64 {
        let loss = network.backward(batch, &mut vec![0.0; network.parameters.len()]);
        f64::from(loss.value + loss.policy)
    }

    #[test]
    fn gradients_are_slopes() {
        let mut network = NeuralNetwork::new(shape(), Seed(1));
        let targets = targets();
        let batch: Vec<&TrainingTarget> = targets.iter().collect();
        let mut gradient = vec![0.0; network.parameters.len()];
        network.backward(&batch, &mut gradient);
        let small = 1e-3_f32;
        for (at, found) in gradient.iter().enumerate() {
            let before = network.parameters[at];
            network.parameters[at] = before + small;
            let above = loss_of(&network, &batch);
            network.parameters[at] = before - small;
            let below = loss_of(&network, &batch);
            network.parameters[at] = before;
            let slope = (above - below) / (2.0 * f64::from(small));
            let error = (slope - f64::from(*found)).abs();
            assert!(error < 5e-3, "parameter {at}: {slope} and {found}");
        }
    }

    #[test]
    fn a_small_net_learns_a_small_set_by_heart() {
        let mut network = NeuralNetwork::new(shape(), Seed(2));
        let mut adam = Adam::new(network.parameters.len(), 1e-2);
        let targets = targets();
        let batch: Vec<&TrainingTarget> = targets.iter().collect();
        let first = adam.step(&mut network, &batch);
        let last = (0..800).map(|_| adam.step(&mut network, &batch)).last().unwrap();
        assert!(first.value > 0.05 && last.value < 1e-3, "{first:?} {last:?}");
        assert!(last.policy < 1e-2, "{first:?} {last:?}");
        let answer = network.answer(targets.iter().map(|t| &*t.bits));
        let policy = softmax(&answer.logits[0][..4], &[0, 3]);
        assert!((policy[1] - 0.75).abs() < 0.05, "{policy:?}");
    }

    #[test]
    fn answers_do_not_depend_on_the_batch() {
        let network = NeuralNetwork::new(shape(), Seed(3));
        let targets = targets();
        let together = network.answer(targets.iter().map(|t| &*t.bits));
        let alone = network.answer(targets[1..].iter().map(|t| &*t.bits));
        for (a, b) in together.values[2..].iter().zip(&alone.values) {
            assert!((a - b).abs() < 1e-6);
        }
        assert_eq!(network.values(targets.iter().map(|t| &*t.bits)), together.values);
    }
}
