//! Spelling of names on the wire: as the rules spell them, or scrambled.
//!
//! This program uses canonical text (lower case, single blanks). Names may be case-sensitive for other programs, so a
//! name is sent as the rules spell it, and a received name is turned into lower case. Scrambling replaces every name
//! and variable of the rules by another one, from a seed, so that a player cannot recognise a game by its words.

use crate::kif;
use game::Seed;
use gdl::{Notation, Rules};
use std::collections::{HashMap, HashSet};

/// Keywords, which are not scrambled.
const KEPT: &[&str] = &[
    "role", "init", "true", "legal", "does", "next", "terminal", "goal", "sees", "random", "base", "input", "distinct",
    "not", "or", "and", "<=", "nil", "knows",
];

/// The spelling of names in one match.
#[derive(Clone, Debug)]
pub struct Spelling {
    /// Sent names by canonical name. Other names are sent as they are.
    sent: HashMap<String, String>,
    /// Canonical names by sent name in lower case. Other names are only turned into lower case.
    received: HashMap<String, String>,
    scrambled: bool,
}

impl Spelling {
    /// Names as the rules spell them.
    pub fn of(rules: &Rules) -> Spelling {
        let mut sent = HashMap::new();
        kif::map_names(&prefix_text(rules), |name| {
            let folded = name.to_ascii_lowercase();
            if folded != name
                && let Some(symbol) = rules.symbols.get(&folded)
            {
                sent.insert(folded, rules.symbols.wire_text(symbol).to_owned());
            }
            String::new()
        });
        Spelling {
            sent,
            received: HashMap::new(),
            scrambled: false,
        }
    }

    /// Names as the rules spell them, in ASCII. Peers count the length of a message in bytes or in characters, and read
    /// letters outside ASCII in the encoding of their machine.
    pub fn in_ascii(rules: &Rules) -> Spelling {
        let mut spelling = Spelling::of(rules);
        let text = prefix_text(rules);
        let mut taken: HashSet<String> = HashSet::new();
        kif::map_names(&text, |name| {
            taken.insert(name.to_ascii_lowercase());
            String::new()
        });
        kif::map_names(&text, |name| {
            let folded = name.to_ascii_lowercase();
            if !folded.is_ascii() && !spelling.received.values().any(|known| *known == folded) {
                let plain = |c: char| match c.is_ascii() {
                    true => c.to_string(),
                    false => format!("u{:x}", u32::from(c)),
                };
                let mut word: String = folded.chars().map(plain).collect();
                while !taken.insert(word.clone()) {
                    word.push('_');
                }
                spelling.received.insert(word.clone(), folded.clone());
                spelling.sent.insert(folded, word);
            }
            String::new()
        });
        spelling
    }

    /// Other names for all names of the rules.
    pub fn scrambled(rules: &Rules, seed: Seed) -> Spelling {
        let mut rng = seed.child("scramble").rng();
        let mut spelling = Spelling {
            sent: HashMap::new(),
            received: HashMap::new(),
            scrambled: true,
        };
        let mut taken: HashSet<String> = KEPT.iter().map(|&k| k.to_owned()).collect();
        kif::map_names(&(prefix_text(rules) + ANNOUNCEMENT), |name| {
            taken.insert(name.trim_start_matches('?').to_ascii_lowercase());
            String::new()
        });
        // The rule that announces moves is scrambled with the others.
        let text = prefix_text(rules) + ANNOUNCEMENT;
        kif::map_names(&text, |name| {
            let folded = name.to_ascii_lowercase();
            if stays(&folded) || spelling.sent.contains_key(&folded) {
                return String::new();
            }
            let word = loop {
                let syllables = 2 + rng.below(2);
                let word: String = (0..syllables).map(|_| syllable(&mut rng)).collect();
                if taken.insert(word.clone()) {
                    break word;
                }
            };
            let word = if folded.starts_with('?') {
                format!("?{word}")
            } else {
                word
            };
            spelling.received.insert(word.clone(), folded.clone());
            spelling.sent.insert(folded, word);
            String::new()
        });
        spelling
    }

    /// Whether names are scrambled.
    pub fn is_scrambled(&self) -> bool {
        self.scrambled
    }

    /// Canonical text, or rules, as they are sent.
    pub fn send(&self, text: &str) -> String {
        kif::map_names(text, |name| {
            let folded = name.to_ascii_lowercase();
            let known = self.sent.get(&folded);
            // Names of the rules keep the spelling of each place.
            match known {
                Some(word) if self.scrambled || name == folded || !name.is_ascii() => word.clone(),
                _ => name.to_owned(),
            }
        })
    }

    /// A received term in canonical text; none if the text is not one ground term.
    pub fn receive(&self, text: &str) -> Option<String> {
        let folded = kif::canonical(text)?;
        if self.received.is_empty() {
            return Some(folded);
        }
        let back = |name: &str| self.received.get(name).cloned().unwrap_or_else(|| name.to_owned());
        kif::canonical(&kif::map_names(&folded, back))
    }
}

/// Whether a name is a keyword or a number, which are not scrambled.
fn stays(folded: &str) -> bool {
    KEPT.contains(&folded) || folded.parse::<i64>().is_ok()
}

fn syllable(rng: &mut game::Rng) -> String {
    let pick = |rng: &mut game::Rng, from: &[u8]| char::from(*rng.pick(from));
    let mut text = String::new();
    text.push(pick(rng, b"bdfghjklmnprstvwz"));
    text.push(pick(rng, b"aeiou"));
    if rng.below(3) == 0 {
        text.push(pick(rng, b"lmnrst"));
    }
    text
}

/// The rule that announces every move to every role: it turns a GDL-I game into a GDL-II game (the Dresden manager
/// appends the same rule).
pub const ANNOUNCEMENT: &str = "(<= (sees ?p (did ?p2 ?m)) (role ?p) (does ?p2 ?m))";

/// The source of rules in prefix notation, on one line and without comments.
pub fn prefix_text(rules: &Rules) -> String {
    let source = match gdl::detect(&rules.source) {
        Notation::Prefix => rules.source.to_string(),
        Notation::Infix => {
            let reading = gdl::read(&rules.source, &gdl::Options::default());
            let printed = gdl::format::format(&reading.ast, &reading.text, &reading.rules.symbols, Notation::Prefix);
            printed.unwrap_or_default()
        }
    };
    kif::map_names(&source, str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_outside_ascii_are_sent_in_ascii() {
        let text = "(role wei\u{df}) (init (z\u{fc}ge 1)) (<= (legal wei\u{df} (Z\u{fc}ge ?n)) (true (z\u{fc}ge ?n)))";
        let rules = gdl::read(text, &gdl::Options::default()).rules;
        let spelling = Spelling::in_ascii(&rules);
        let sent = spelling.send(&prefix_text(&rules));
        assert!(sent.is_ascii() && sent.contains("(role weiudf)"), "{sent}");
        let mv = "(z\u{fc}ge 1)";
        assert_eq!(spelling.receive(&spelling.send(mv)).as_deref(), Some(mv));
        // Names that are plain stay as they are, and our player answers in the spelling that it was sent.
        let plain = gdl::read("(role White)", &gdl::Options::default()).rules;
        assert_eq!(Spelling::in_ascii(&plain).send("(role white)"), "(role White)");
        assert!(Spelling::of(&rules).send(mv).contains('\u{fc}'));
    }

    fn rules(text: &str) -> Rules {
        gdl::read(text, &gdl::Options::default()).rules
    }

    #[test]
    fn moves_are_spelled_as_the_rules_spell_them() {
        let rules = rules("(role Bob) ; me\n(<= (legal Bob (Mark ?X b)) (true (Cell ?X B)))");
        let spelling = Spelling::of(&rules);
        assert_eq!(spelling.send("(mark 1 b)"), "(Mark 1 b)");
        assert_eq!(spelling.receive("(MARK 1 B)").unwrap(), "(mark 1 b)");
        assert_eq!(
            spelling.send(&prefix_text(&rules)),
            "(role Bob) (<= (legal Bob (Mark ?X b)) (true (Cell ?X B)))"
        );
    }

    #[test]
    fn t27_every_game_of_the_catalogue_survives_scrambling() {
        for name in catalogue::games().iter().map(|g| g.name) {
            let rules = rules(&catalogue::rules(name).unwrap());
            let spelling = Spelling::scrambled(&rules, Seed(7));
            let text = prefix_text(&rules).to_ascii_lowercase();
            let sent = spelling.send(&text);
            let mut back = sent.clone();
            back = kif::map_names(&back, |w| {
                spelling.received.get(w).cloned().unwrap_or_else(|| w.to_owned())
            });
            assert_eq!(back, text, "{name}");
            let (mut names, mut others) = (Vec::new(), Vec::new());
            kif::map_names(&text, |w| {
                names.push(w.to_owned());
                String::new()
            });
            kif::map_names(&sent, |w| {
                others.push(w.to_owned());
                String::new()
            });
            for (name, other) in names.iter().zip(&others) {
                assert_eq!(name == other, stays(name), "{name} is sent as {other}");
            }
            let reading = gdl::read(&sent, &gdl::Options::default());
            assert!(reading.is_playable(), "{name}: {}", reading.render("scrambled"));
            assert_eq!(reading.rules.clauses.len(), rules.clauses.len(), "{name}");
        }
    }

    #[test]
    fn the_seed_decides_the_names() {
        let rules = rules("(role a) (init (f -1 00 0.5 sees2))");
        let send = |seed| Spelling::scrambled(&rules, Seed(seed)).send("(f -1 00 0.5 sees2 random)");
        assert_eq!(send(1), send(1));
        assert_ne!(send(1), send(2));
        let sent = send(1);
        let words: Vec<&str> = sent.trim_matches(['(', ')']).split(' ').collect();
        assert_eq!((words[1], words[2], words[5]), ("-1", "00", "random"));
        assert!(!sent.contains("0.5") && !sent.contains("sees2"));
        assert_eq!(
            Spelling::scrambled(&rules, Seed(1))
                .receive(&sent.to_uppercase())
                .unwrap(),
            "(f -1 00 0.5 sees2 random)"
        );
    }
}
