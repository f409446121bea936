//! A compiled game as bytes, so that the work of compiling can be kept.
//!
//! What is stored is the network with everything that compiling found out about it; machine code is not, since it is
//! made for one process on one processor. Numbers are 32 bits, little-endian. Bytes that were damaged give no game: the
//! caller is expected to check them as a whole, and every number is also checked here before it is used, since machine
//! code is made from the network.

use crate::CompileOptions;
use crate::compiled::{Names, PassStats, Stats};
use crate::lanes::plan::ChoicePlan;
use crate::network::{Choice, Network, Node, NodeId, Outputs, Signal};
use crate::passes::constants::Known;

/// Changes when the meaning of the bytes does.
const FORMAT: u32 = 1;
/// Names of passes, which are stored by number.
const PASSES: [&str; 5] = ["build", "constants", "exclusive", "chains", "common"];

/// Everything of a compiled game that is stored.
pub(crate) struct Stored {
    pub names: Names,
    pub net: Network,
    pub flat: Network,
    pub initial: Vec<bool>,
    pub known: Known,
    pub families: Vec<Vec<u32>>,
    pub likely: Vec<f32>,
    pub changes: Vec<f32>,
    pub noop_moves: Vec<Option<u32>>,
    pub plan: ChoicePlan,
    pub stats: Stats,
}

/// The same, borrowed.
pub(crate) struct Parts<'g> {
    pub names: &'g Names,
    pub net: &'g Network,
    pub flat: &'g Network,
    pub initial: &'g [bool],
    pub known: &'g Known,
    pub families: &'g [Vec<u32>],
    pub likely: &'g [f32],
    pub changes: &'g [f32],
    pub noop_moves: &'g [Option<u32>],
    pub plan: &'g ChoicePlan,
    pub stats: &'g Stats,
    pub options: &'g CompileOptions,
}

/// The bytes of a game; `None` if its network cannot be stored.
pub(crate) fn write(game: &Parts) -> Option<Vec<u8>> {
    let mut out = Writer::default();
    out.number(FORMAT);
    out.text(&thresholds(game.options));
    out.names(game.names);
    out.network(game.net)?;
    out.network(game.flat)?;
    out.list(game.initial, |out, &b| out.number(u32::from(b)));
    out.list(&game.known.constant, |out, c| out.number(c.map_or(2, u32::from)));
    out.list(&game.known.same_as, |out, &f| out.number(f));
    out.list(game.families, |out, family| out.list(family, |out, &f| out.number(f)));
    out.list(game.likely, |out, f| out.number(f.to_bits()));
    out.list(game.changes, |out, f| out.number(f.to_bits()));
    out.list(game.noop_moves, |out, m| out.number(m.map_or(u32::MAX, |m| m)));
    game.plan.write(&mut out);
    out.stats(game.stats)?;
    Some(out.bytes)
}

/// The game of some bytes; `None` if they are not the bytes of a game that was compiled with the same options.
pub(crate) fn read(bytes: &[u8], options: &CompileOptions) -> Option<Stored> {
    let mut from = Reader { bytes };
    if from.number()? != FORMAT || from.text()? != thresholds(options) {
        return None;
    }
    let stored = Stored {
        names: from.names()?,
        net: from.network()?,
        flat: from.network()?,
        initial: from.list(|from| from.flag())?,
        known: Known {
            constant: from.list(|from| match from.number()? {
                2 => Some(None),
                b if b < 2 => Some(Some(b == 1)),
                _ => None,
            })?,
            same_as: from.list(Reader::number)?,
        },
        families: from.list(|from| from.list(Reader::number))?,
        likely: from.list(|from| from.number().map(f32::from_bits))?,
        changes: from.list(|from| from.number().map(f32::from_bits))?,
        noop_moves: from.list(|from| from.number().map(|m| (m != u32::MAX).then_some(m)))?,
        plan: ChoicePlan::read(&mut from)?,
        stats: from.stats()?,
    };
    (from.bytes.is_empty() && stored.is_sound()).then_some(stored)
}

/// Everything that decides what compiling does, as text.
fn thresholds(options: &CompileOptions) -> String {
    format!("{:?} {:?}", options.pairs, options.tuning)
}

impl Stored {
    /// Whether all sizes fit each other and all numbers are within them.
    fn is_sound(&self) -> bool {
        let n = self.names.fluents.len();
        let moves: Vec<usize> = self.names.moves.iter().map(Vec::len).collect();
        let fits = |net: &Network| {
            let out = &net.outputs;
            let rows = |rows: &[Vec<Signal>], names: &[Vec<String>]| {
                rows.len() == names.len() && rows.iter().zip(names).all(|(r, n)| r.len() == n.len())
            };
            net.n_fluents() == n
                && net.n_moves() == moves
                && out.next.len() == n
                && rows(&out.legal, &self.names.moves)
                && rows(&out.sees, &self.names.percepts)
                && out.goals.len() == moves.len()
        };
        let below = |f: &u32| (*f as usize) < n;
        let lengths = [
            self.initial.len(),
            self.known.constant.len(),
            self.known.same_as.len(),
            self.likely.len(),
            self.changes.len(),
        ];
        let noops = self.noop_moves.iter().zip(&moves);
        fits(&self.net)
            && fits(&self.flat)
            && self.names.roles.len() == moves.len()
            && self.names.percepts.len() == moves.len()
            && lengths.iter().all(|&len| len == n)
            && self.known.same_as.iter().all(below)
            && self.families.iter().flatten().all(below)
            && self.noop_moves.len() == moves.len()
            && noops
                .into_iter()
                .all(|(noop, &n)| noop.is_none_or(|m| (m as usize) < n))
            && self.plan.is_sound(&moves, self.net.len())
    }
}

/// Bytes that are being written.
#[derive(Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub fn number(&mut self, n: u32) {
        self.bytes.extend(n.to_le_bytes());
    }

    pub fn size(&mut self, n: usize) {
        self.number(u32::try_from(n).expect("networks have 32-bit sizes"));
    }

    pub fn list<T>(&mut self, list: &[T], mut each: impl FnMut(&mut Writer, &T)) {
        self.size(list.len());
        list.iter().for_each(|item| each(self, item));
    }

    pub fn signal(&mut self, signal: Signal) {
        self.number(signal.bits());
    }

    fn text(&mut self, text: &str) {
        self.size(text.len());
        self.bytes.extend(text.as_bytes());
    }

    fn names(&mut self, names: &Names) {
        self.list(&names.roles, |out, t| out.text(t));
        self.list(&names.fluents, |out, t| out.text(t));
        for rows in [&names.moves, &names.percepts] {
            self.list(rows, |out, row| out.list(row, |out, t| out.text(t)));
        }
    }

    fn network(&mut self, net: &Network) -> Option<()> {
        let n_leaves = 1 + net.n_fluents() + net.n_moves().iter().sum::<usize>() + net.cycles().len();
        let is_gate = |n: usize| net.node(NodeId(n as u32)) == Node::And;
        if (0..net.len()).any(|n| is_gate(n) != (n >= n_leaves)) {
            return None;
        }
        self.size(net.n_fluents());
        self.list(&net.n_moves(), |out, &n| out.size(n));
        self.list(net.cycles(), |out, c| out.number(c.component));
        self.list(&net.choices()[net.n_moves().len()..], |out, choice| {
            out.list(&choice.values, |out, v| out.number(v.0));
            out.number(u32::from(choice.total));
        });
        self.number(u32::from(net.keeps_shape()));
        self.size(net.len() - n_leaves);
        for gate in n_leaves..net.len() {
            self.list(net.operands(NodeId(gate as u32)), |out, &s| out.signal(s));
        }
        self.list(net.cycles(), |out, c| out.signal(c.definition));
        let out = &net.outputs;
        self.list(&out.next, |out, &s| out.signal(s));
        for rows in [&out.legal, &out.sees] {
            self.list(rows, |out, row| out.list(row, |out, &s| out.signal(s)));
        }
        self.list(&out.goals, |out, row| {
            out.list(row, |out, &(value, s)| {
                out.number(value as u32);
                out.signal(s);
            });
        });
        self.signal(out.terminal);
        Some(())
    }

    fn stats(&mut self, stats: &Stats) -> Option<()> {
        self.size(stats.naive_ops);
        self.size(stats.passes.len());
        for pass in &stats.passes {
            self.size(PASSES.iter().position(|name| *name == pass.name)?);
            self.size(pass.gates);
            self.size(pass.ops);
        }
        for n in [stats.legal_ops, stats.goal_ops, stats.next_ops, stats.sees_ops] {
            self.size(n);
        }
        Some(())
    }
}

/// Bytes that are left to be read.
pub(crate) struct Reader<'b> {
    bytes: &'b [u8],
}

impl Reader<'_> {
    pub fn number(&mut self) -> Option<u32> {
        let (first, rest) = self.bytes.split_first_chunk::<4>()?;
        self.bytes = rest;
        Some(u32::from_le_bytes(*first))
    }

    pub fn size(&mut self) -> Option<usize> {
        self.number().map(|n| n as usize)
    }

    pub fn flag(&mut self) -> Option<bool> {
        self.number().filter(|&n| n < 2).map(|n| n == 1)
    }

    pub fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let n = self.size()?;
        // Every item has a number at least.
        let mut list = Vec::with_capacity(n.min(self.bytes.len() / 4));
        for _ in 0..n {
            list.push(each(self)?);
        }
        Some(list)
    }

    /// A signal of one of the first `nodes` nodes.
    pub fn signal(&mut self, nodes: usize) -> Option<Signal> {
        let signal = Signal::from_bits(self.number()?);
        ((signal.node().0 as usize) < nodes).then_some(signal)
    }

    fn text(&mut self) -> Option<String> {
        let n = self.size()?;
        let (first, rest) = self.bytes.split_at_checked(n)?;
        self.bytes = rest;
        String::from_utf8(first.to_vec()).ok()
    }

    fn names(&mut self) -> Option<Names> {
        Some(Names {
            roles: self.list(Reader::text)?,
            fluents: self.list(Reader::text)?,
            moves: self.list(|from| from.list(Reader::text))?,
            percepts: self.list(|from| from.list(Reader::text))?,
        })
    }

    fn network(&mut self) -> Option<Network> {
        // Leaves take no bytes; a damaged number must not ask for more memory than the names of real leaves.
        let most = self.bytes.len();
        let n_fluents = self.size().filter(|&n| n <= most)?;
        let n_moves = self.list(|from| from.size().filter(|&n| n <= most))?;
        let mut net = Network::new(n_fluents, &n_moves);
        for component in self.list(Reader::number)? {
            net.add_cycle(component);
        }
        let leaves = net.len();
        for (values, total) in self.list(|from| Some((from.list(Reader::number)?, from.flag()?)))? {
            if values.iter().any(|&v| v as usize >= leaves) {
                return None;
            }
            let values = values.into_iter().map(NodeId).collect();
            net.add_choice(Choice { values, total });
        }
        if self.flag()? {
            net.keep_shape();
        }
        for _ in 0..self.size()? {
            let nodes = net.len();
            let operands = self.list(|from| from.signal(nodes))?;
            net.restore_gate(operands)?;
        }
        let nodes = net.len();
        for (at, definition) in self.list(|from| from.signal(nodes))?.into_iter().enumerate() {
            if at >= net.cycles().len() {
                return None;
            }
            net.define_cycle(at, definition);
        }
        net.outputs = Outputs {
            next: self.list(|from| from.signal(nodes))?,
            legal: self.list(|from| from.list(|from| from.signal(nodes)))?,
            sees: self.list(|from| from.list(|from| from.signal(nodes)))?,
            goals: self.list(|from| from.list(|from| Some((from.number()? as i32, from.signal(nodes)?))))?,
            terminal: self.signal(nodes)?,
        };
        Some(net)
    }

    fn stats(&mut self) -> Option<Stats> {
        Some(Stats {
            naive_ops: self.size()?,
            passes: self.list(|from| {
                Some(PassStats {
                    name: PASSES.get(from.size()?)?,
                    gates: from.size()?,
                    ops: from.size()?,
                })
            })?,
            legal_ops: self.size()?,
            goal_ops: self.size()?,
            next_ops: self.size()?,
            sees_ops: self.size()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::random_program::random_program;
    use crate::{CompileOptions, Compiled, PlayoutOptions, compile, playouts};
    use game::{Seed, StopFlag};

    fn totals(game: &Compiled) -> String {
        let roots = [game.initial_state()];
        let options = PlayoutOptions::default();
        format!(
            "{:?}",
            playouts(game, &roots, 40, Seed(3), &options, &StopFlag::default())
        )
    }

    #[test]
    fn games_survive_storing() {
        let mut rng = Seed(23).rng();
        for _ in 0..40 {
            let options = CompileOptions::default();
            let game = compile(&random_program(&mut rng), &options);
            let bytes = game.to_bytes().expect("can be stored");
            let again = Compiled::from_bytes(&bytes, &options).expect("the same version");
            assert_eq!(again.to_bytes().as_deref(), Some(&bytes[..]));
            assert_eq!(totals(&again), totals(&game));
        }
    }

    /// Every cut, and every byte changed: no panic, and what is taken can be run.
    #[test]
    fn damaged_bytes_do_no_harm() {
        let mut rng = Seed(29).rng();
        let options = CompileOptions::default();
        let bytes = compile(&random_program(&mut rng), &options)
            .to_bytes()
            .expect("can be stored");
        for n in 0..bytes.len() {
            assert!(Compiled::from_bytes(&bytes[..n], &options).is_none(), "cut at {n}");
            for value in [0, 1, 0xff, bytes[n] ^ 4] {
                let mut damaged = bytes.clone();
                damaged[n] = value;
                if let Some(game) = Compiled::from_bytes(&damaged, &options) {
                    assert_eq!(game.to_bytes().as_deref(), Some(&damaged[..]));
                }
            }
        }
    }
}
