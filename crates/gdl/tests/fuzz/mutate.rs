//! Making new inputs from old ones.

/// Pieces that matter to the language, to be thrown in anywhere.
const PIECES: &[&str] = &[
    "(",
    ")",
    "(<= ",
    "?x",
    "?",
    "not",
    "(not ",
    "(or ",
    "(or)",
    "(and ",
    "(distinct ?x ?y)",
    "<=",
    ":-",
    ".",
    ",",
    "|",
    "~",
    "&",
    "%",
    ";",
    "; c\n",
    "% c\n",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\u{b}",
    "\u{c}",
    "\u{0}",
    "\u{a0}",
    "\u{feff}",
    "é",
    "\"",
    "'",
    "#|",
    "(true ",
    "(does ",
    "(role ",
    "random",
    "(init ",
    "(next ",
    "(legal ",
    "(goal ",
    "terminal",
    "(terminal)",
    "(sees ",
    "(base ",
    "(knows ",
    "(sees_xml ",
    "P",
    "a",
    "(f a)",
    "()",
    "0.5",
    "-3",
    "?X",
    "(p ?x)",
    "p(?x)",
    "p(?x) <= q(?x).",
    " ",
];

pub struct Mutator {
    state: u64,
    seeds: Vec<Vec<u8>>,
}

impl Mutator {
    pub fn new(seed: u64, seeds: Vec<Vec<u8>>) -> Mutator {
        Mutator { state: seed | 1, seeds }
    }

    pub fn seeds(&self) -> &[Vec<u8>] {
        &self.seeds
    }

    /// A seed, changed in a few ways.
    pub fn next(&mut self) -> Vec<u8> {
        let mut input = self.seed();
        for _ in 0..1 + self.below(6) {
            self.change(&mut input);
        }
        input.truncate(1 << 14);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let end = (at + self.below(24)).min(input.len());
        match self.below(8) {
            0 => drop(input.drain(at..end)),
            1 => {
                let piece = input[at..end].to_vec();
                let times = 1 + self.below(8);
                input.splice(at..at, piece.repeat(times));
            }
            2 => {
                let byte = self.below(256) as u8;
                input.insert(at, byte);
            }
            3 if at < input.len() => input[at] ^= 1 << self.below(8),
            4 => {
                let other = self.seed();
                let from = self.below(other.len() + 1);
                let to = (from + self.below(60)).min(other.len());
                input.splice(at..end, other[from..to].iter().copied());
            }
            5 => input.truncate(at),
            _ => {
                let piece = PIECES[self.below(PIECES.len())];
                input.splice(at..at, piece.bytes());
            }
        }
    }

    fn seed(&mut self) -> Vec<u8> {
        let i = self.below(self.seeds.len());
        self.seeds[i].clone()
    }

    /// xorshift64*: enough to shuffle inputs.
    fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }
}
