//! Fluents and moves taken apart: a family (name and shape) and its arguments as numbers.
//!
//! A nested function with several constant arguments belongs to the shape: `(at (cell 1 2) king)` is of the family
//! `at(cell(_,_),_)` with the arguments 1, 2 and king. Every other nested term, such as the numeral `(s (s 0))`, is one
//! argument.

use game::canonical::parts;
use std::collections::HashMap;

/// An argument, by number.
pub type Id = u32;

/// Texts of arguments, numbered as they are met.
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: Vec<String>,
    index: HashMap<String, Id>,
}

impl Names {
    pub fn intern(&mut self, text: &str) -> Id {
        if let Some(&id) = self.index.get(text) {
            return id;
        }
        let id = self.texts.len() as Id;
        self.texts.push(text.to_owned());
        self.index.insert(text.to_owned(), id);
        id
    }

    pub fn get(&self, text: &str) -> Option<Id> {
        self.index.get(text).copied()
    }

    pub fn text(&self, id: Id) -> &str {
        &self.texts[id as usize]
    }
}

/// Fluents or moves of one shape.
#[derive(Clone, Debug)]
pub struct Family {
    /// Outermost name.
    pub name: String,
    /// Number of arguments.
    pub arity: usize,
}

/// All families of fluents, or of moves.
#[derive(Clone, Debug, Default)]
pub struct Families {
    pub list: Vec<Family>,
    index: HashMap<String, usize>,
}

/// A fluent or a move.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom {
    pub family: usize,
    pub args: Vec<Id>,
}

impl Families {
    /// Takes a canonical text apart. New families and names are added.
    pub fn read(&mut self, text: &str, names: &mut Names) -> Atom {
        let flat = flatten(text);
        let next = self.list.len();
        let family = *self.index.entry(flat.shape).or_insert(next);
        if family == next {
            self.list.push(Family {
                name: flat.name.to_owned(),
                arity: flat.args.len(),
            });
        }
        let args = flat.args.iter().map(|arg| names.intern(arg)).collect();
        Atom { family, args }
    }

    /// Takes a canonical text apart, if its family and all its arguments are known.
    pub fn find(&self, text: &str, names: &Names) -> Option<Atom> {
        let flat = flatten(text);
        let family = *self.index.get(&flat.shape)?;
        let args: Option<Vec<Id>> = flat.args.iter().map(|arg| names.get(arg)).collect();
        Some(Atom { family, args: args? })
    }
}

struct Flat<'a> {
    name: &'a str,
    shape: String,
    args: Vec<&'a str>,
}

fn flatten(text: &str) -> Flat<'_> {
    let elements = parts(text);
    let (name, rest) = (elements[0], &elements[1..]);
    let mut flat = Flat {
        name,
        shape: name.to_owned(),
        args: Vec::new(),
    };
    if rest.is_empty() {
        return flat;
    }
    flat.shape.push('(');
    for &part in rest {
        let inner = parts(part);
        let opens = inner.len() > 2 && inner.iter().all(|e| !e.starts_with('('));
        match opens {
            true => {
                flat.shape.push_str(&format!("{}({})", inner[0], inner.len() - 1));
                flat.args.extend(&inner[1..]);
            }
            false => {
                flat.shape.push('_');
                flat.args.push(part);
            }
        }
    }
    flat
}

/// Words of a term for people: without parentheses.
pub fn words(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| if matches!(c, '(' | ')') { ' ' } else { c })
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_arguments() {
        let (mut families, mut names) = (Families::default(), Names::default());
        let mut read = |text: &str| {
            let atom = families.read(text, &mut names);
            let args: Vec<String> = atom.args.iter().map(|&a| names.text(a).to_owned()).collect();
            (atom.family, args.join("|"))
        };
        assert_eq!(read("(cell 1 2 b)"), (0, "1|2|b".to_owned()));
        assert_eq!(read("(at (cell 1 2) king)"), (1, "1|2|king".to_owned()));
        assert_eq!(read("(count (s (s 0)))"), (2, "(s (s 0))".to_owned()));
        assert_eq!(read("(count 0)"), (2, "0".to_owned()));
        assert_eq!(read("noop"), (3, String::new()));
        assert_eq!(read("(cell 3 3 x)"), (0, "3|3|x".to_owned()));
        assert_eq!(words("(move (at 1 2) (s 0))"), "move at 1 2 s 0");
    }
}
