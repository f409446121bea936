//! Making new inputs from old ones.
//!
//! Half of the changes know the structure of the input: they take, repeat, delete, swap and nest whole lists in
//! parentheses, whole lines, or whole JSON values. The other half change bytes, tokens and numbers.

use serde_json::Value;
use surmise::game::{Rng, Seed};

/// The structure of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// Lists in parentheses: rules and messages.
    Lists,
    /// A JSON value.
    Json,
    /// Lines of text, such as TOML or JSON lines.
    Lines,
    /// One line with separators, such as names with options.
    Line,
    /// A length in eight bytes, JSON of that length, then numbers: the safetensors format.
    Tensors,
}

/// Makes inputs.
pub struct Mutator {
    rng: Rng,
    grammar: Grammar,
    seeds: Vec<Vec<u8>>,
    tokens: Vec<Vec<u8>>,
}

/// Numbers at which something may overflow.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "00",
    "2",
    "100",
    "101",
    "255",
    "256",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e999",
    "-0.0",
    "1e-320",
    "NaN",
    "inf",
    "0.5",
    "99999999999999999999999999999999",
];

/// Pieces that matter to some reader.
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
    "-3",
    "?X",
    "(p ?x)",
    "p(?x)",
    "p(?x) <= q(?x).",
    " ",
    ":",
    "=",
    "[",
    "]",
    "{",
    "}",
    "[[",
    "]]",
    "null",
    "true",
    "{{ x }}",
    "{% for i in x %}",
    "\\u0000",
    "\\ud800",
    "nil",
    "NIL",
];

impl Mutator {
    /// A mutator of these seeds.
    pub fn new(seed: Seed, grammar: Grammar, seeds: Vec<Vec<u8>>) -> Mutator {
        let mut tokens: Vec<Vec<u8>> = seeds.iter().flat_map(|seed| tokens_of(seed)).collect();
        tokens.sort();
        tokens.dedup();
        Mutator {
            rng: seed.rng(),
            grammar,
            seeds,
            tokens,
        }
    }

    /// A seed, changed in a few ways, of at most so many bytes.
    pub fn make(&mut self, most: usize) -> Vec<u8> {
        let input = self.any_seed();
        self.change(input, most)
    }

    /// An input, changed in a few ways, of at most so many bytes.
    pub fn change(&mut self, mut input: Vec<u8>, most: usize) -> Vec<u8> {
        if input.is_empty() {
            input = self.any_seed();
        }
        for _ in 0..1 + self.below(5) {
            match (self.below(2), self.grammar) {
                (0, Grammar::Lists) => self.change_lists(&mut input),
                (0, Grammar::Json) => self.change_json(&mut input),
                (0, Grammar::Lines) => self.change_lines(&mut input),
                (0, Grammar::Tensors) => self.change_tensors(&mut input),
                _ => self.change_bytes(&mut input),
            }
        }
        input.truncate(most);
        input
    }

    fn change_bytes(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let end = (at + self.below(24)).min(input.len());
        match self.below(10) {
            0 => drop(input.drain(at..end)),
            1 => {
                let piece = input[at..end].to_vec();
                let times = 1 + self.below(8);
                input.splice(at..at, piece.repeat(times));
            }
            2 => input.insert(at, self.below(256) as u8),
            3 if at < input.len() => input[at] ^= 1 << self.below(8),
            4 => {
                let other = self.any_seed();
                let from = self.below(other.len() + 1);
                let to = (from + self.below(60)).min(other.len());
                input.splice(at..end, other[from..to].iter().copied());
            }
            5 => input.truncate(at),
            6 => {
                let number = NUMBERS[self.below(NUMBERS.len())];
                let range = number_at(input, at);
                input.splice(range, number.bytes());
            }
            7 if !self.tokens.is_empty() => {
                let token = self.rng.pick(&self.tokens).clone();
                let range = token_at(input, at);
                input.splice(range, token);
            }
            _ => {
                let piece = PIECES[self.below(PIECES.len())];
                input.splice(at..at, piece.bytes());
            }
        }
    }

    /// Changes whole lists: the structure of rules and messages.
    fn change_lists(&mut self, input: &mut Vec<u8>) {
        let lists = lists_of(input);
        if lists.is_empty() {
            return self.change_bytes(input);
        }
        let here = lists[self.below(lists.len())].clone();
        let there = lists[self.below(lists.len())].clone();
        let list = input[here.clone()].to_vec();
        match self.below(7) {
            0 => drop(input.drain(here)),
            1 => drop(input.splice(here.end..here.end, list)),
            2 => drop(input.splice(there, list)),
            3 => {
                let wrapped = [self.any_token().as_slice(), b" ", &list].concat();
                input.splice(here, [b"(".as_slice(), &wrapped, b")"].concat());
            }
            4 => {
                let other = self.any_seed();
                let others = lists_of(&other);
                if !others.is_empty() {
                    let other = other[others[self.below(others.len())].clone()].to_vec();
                    input.splice(here, other);
                }
            }
            5 => {
                let other = self.any_seed();
                let others = lists_of(&other);
                if !others.is_empty() {
                    let other = other[others[self.below(others.len())].clone()].to_vec();
                    input.splice(here.end..here.end, other);
                }
            }
            _ => {
                let token = self.any_token();
                input.splice(here, token);
            }
        }
    }

    fn change_json(&mut self, input: &mut Vec<u8>) {
        let Ok(mut value) = serde_json::from_slice::<Value>(input) else {
            return self.change_bytes(input);
        };
        let other = self.any_seed();
        let other = serde_json::from_slice::<Value>(&other).unwrap_or(Value::Null);
        let donor = self.some_value(&other).clone();
        let place = self.below(count(&value));
        let new = match self.below(8) {
            0 => Value::Null,
            1 => Value::Array(Vec::new()),
            2 => serde_json::from_str(NUMBERS[self.below(NUMBERS.len())]).unwrap_or(Value::Bool(false)),
            3 => Value::String(String::from_utf8_lossy(&self.any_token()).into_owned()),
            4 => Value::Object(serde_json::Map::new()),
            5 => self.some_value(&value).clone(),
            _ => donor,
        };
        let how = self.below(4);
        edit(&mut value, place, &mut |there| match (how, there) {
            (0, Value::Array(list)) => list.push(new.clone()),
            (1, Value::Array(list)) => drop(list.pop()),
            (1, Value::Object(map)) => {
                let key = map.keys().next().cloned();
                key.map(|key| map.remove(&key));
            }
            (2, Value::Array(list)) if !list.is_empty() => list.push(list[0].clone()),
            (2, Value::String(text)) => {
                let mut bytes = std::mem::take(text).into_bytes();
                self.change_lists_or_bytes(&mut bytes);
                *text = String::from_utf8_lossy(&bytes).into_owned();
            }
            (_, there) => *there = new.clone(),
        });
        *input = value.to_string().into_bytes();
    }

    fn change_lists_or_bytes(&mut self, bytes: &mut Vec<u8>) {
        match self.below(2) {
            0 => self.change_lists(bytes),
            _ => self.change_bytes(bytes),
        }
    }

    fn change_lines(&mut self, input: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> = input.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
        if lines.is_empty() {
            return self.change_bytes(input);
        }
        let (at, other) = (self.below(lines.len()), self.below(lines.len()));
        match self.below(6) {
            0 => drop(lines.remove(at)),
            1 => {
                let line = lines[at].clone();
                lines.insert(other, line);
            }
            2 => lines.swap(at, other),
            3 => {
                let seed = self.any_seed();
                let theirs: Vec<&[u8]> = seed.split_inclusive(|&b| b == b'\n').collect();
                if !theirs.is_empty() {
                    lines.insert(at, theirs[self.below(theirs.len())].to_vec());
                }
            }
            4 => {
                let mut line = lines[at].clone();
                self.change_json(&mut line);
                line.push(b'\n');
                lines[at] = line;
            }
            _ => self.change_bytes(&mut lines[at]),
        }
        *input = lines.concat();
    }

    /// Changes the header of a safetensors file and writes its new length.
    fn change_tensors(&mut self, input: &mut Vec<u8>) {
        let Some((length, rest)) = input.split_first_chunk::<8>() else {
            return self.change_bytes(input);
        };
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let Some((header, data)) = rest.split_at_checked(length) else {
            return self.change_bytes(input);
        };
        let (mut header, mut data) = (header.to_vec(), data.to_vec());
        match self.below(4) {
            0 => self.change_bytes(&mut data),
            1 => self.change_json(&mut header),
            _ => self.change_about(&mut header),
        }
        *input = [&(header.len() as u64).to_le_bytes(), header.as_slice(), &data].concat();
    }

    /// Changes the JSON text within the metadata of a safetensors header.
    fn change_about(&mut self, header: &mut Vec<u8>) {
        let Ok(mut value) = serde_json::from_slice::<Value>(header) else {
            return self.change_bytes(header);
        };
        if let Some(Value::String(about)) = value.pointer_mut("/__metadata__/surmise") {
            let mut bytes = std::mem::take(about).into_bytes();
            self.change_json(&mut bytes);
            *about = String::from_utf8_lossy(&bytes).into_owned();
        }
        *header = value.to_string().into_bytes();
    }

    fn some_value<'v>(&mut self, value: &'v Value) -> &'v Value {
        let place = self.below(count(value));
        nth(value, &mut { place }).unwrap_or(value)
    }

    fn any_seed(&mut self) -> Vec<u8> {
        match self.seeds.len() {
            0 => Vec::new(),
            n => self.seeds[self.rng.below(n)].clone(),
        }
    }

    fn any_token(&mut self) -> Vec<u8> {
        match self.below(4) {
            0 => NUMBERS[self.below(NUMBERS.len())].as_bytes().to_vec(),
            1 => PIECES[self.below(PIECES.len())].as_bytes().to_vec(),
            _ if self.tokens.is_empty() => b"x".to_vec(),
            _ => self.rng.pick(&self.tokens).clone(),
        }
    }

    fn below(&mut self, n: usize) -> usize {
        self.rng.below(n)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'?' | b'.' | b'+')
}

/// The words of a text.
fn tokens_of(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let words = text
        .split(|&b| !is_word(b))
        .filter(|word| !word.is_empty() && word.len() < 32);
    words.map(<[u8]>::to_vec).take(400)
}

/// The word around a place, or nothing there.
fn token_at(text: &[u8], at: usize) -> std::ops::Range<usize> {
    around(text, at, is_word)
}

fn number_at(text: &[u8], at: usize) -> std::ops::Range<usize> {
    let next = text[at..].iter().position(u8::is_ascii_digit);
    around(text, at + next.unwrap_or(0), |b| {
        b.is_ascii_digit() || matches!(b, b'.' | b'-')
    })
}

fn around(text: &[u8], at: usize, is: fn(u8) -> bool) -> std::ops::Range<usize> {
    let before = text[..at].iter().rev().take_while(|&&b| is(b)).count();
    let after = text[at..].iter().take_while(|&&b| is(b)).count();
    at - before..at + after
}

/// The ranges of all lists in parentheses.
fn lists_of(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let (mut open, mut lists) = (Vec::new(), Vec::new());
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'(' => open.push(at),
            b')' => lists.extend(open.pop().map(|from| from..at + 1)),
            _ => {}
        }
    }
    lists
}

/// Number of values within a value, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

fn nth<'v>(value: &'v Value, place: &mut usize) -> Option<&'v Value> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Value::Array(list) => list.iter().find_map(|v| nth(v, place)),
        Value::Object(map) => map.values().find_map(|v| nth(v, place)),
        _ => None,
    }
}

/// Changes the value with this number.
fn edit(value: &mut Value, place: usize, change: &mut dyn FnMut(&mut Value)) {
    fn walk(value: &mut Value, left: &mut usize, change: &mut dyn FnMut(&mut Value)) -> bool {
        if *left == 0 {
            change(value);
            return true;
        }
        *left -= 1;
        match value {
            Value::Array(list) => list.iter_mut().any(|v| walk(v, left, change)),
            Value::Object(map) => map.values_mut().any(|v| walk(v, left, change)),
            _ => false,
        }
    }
    walk(value, &mut { place }, change);
}
