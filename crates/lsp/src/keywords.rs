//! The keywords: shapes and meanings, for hover and completion.

use gdl::{Notation, Symbol, kw};

/// A keyword as documentation shows it.
pub struct Keyword {
    /// The word.
    pub symbol: Symbol,
    /// The word as text.
    pub name: &'static str,
    /// Names of its arguments.
    pub arguments: &'static [&'static str],
    /// What it means.
    pub meaning: &'static str,
    /// Whether facts and heads of rules begin with it.
    pub in_heads: bool,
    /// Whether conditions begin with it.
    pub in_bodies: bool,
}

/// All keywords.
pub const KEYWORDS: &[Keyword] = &[
    keyword(
        kw::ROLE,
        "role",
        &["ROLE"],
        true,
        true,
        "There is this role. Roles are facts, numbered in their order; the \
        role `random` is nature, whose legal moves are equally likely.",
    ),
    keyword(
        kw::INIT,
        "init",
        &["FLUENT"],
        true,
        false,
        "The fluent holds in the initial state.",
    ),
    keyword(
        kw::TRUE,
        "true",
        &["FLUENT"],
        false,
        true,
        "The fluent holds in the current state.",
    ),
    keyword(
        kw::LEGAL,
        "legal",
        &["ROLE", "MOVE"],
        true,
        true,
        "The role may make this move in the current state. Every \
        role needs a legal move in every state that is not terminal.",
    ),
    keyword(
        kw::DOES,
        "does",
        &["ROLE", "MOVE"],
        false,
        true,
        "The role makes this move in this round. Only rules for \
        `next` and `sees` may depend on it.",
    ),
    keyword(
        kw::NEXT,
        "next",
        &["FLUENT"],
        true,
        false,
        "The fluent holds in the state after this round. What no rule \
        for `next` derives is gone: a fluent that stays needs a rule that says so (a frame axiom).",
    ),
    keyword(
        kw::SEES,
        "sees",
        &["ROLE", "PERCEPT"],
        true,
        false,
        "The role is told this percept at the end of the round. \
        It is evaluated in the state before the move. Without any `sees`, every role sees every move.",
    ),
    keyword(
        kw::TERMINAL,
        "terminal",
        &[],
        true,
        true,
        "The game is over in this state.",
    ),
    keyword(
        kw::GOAL,
        "goal",
        &["ROLE", "VALUE"],
        true,
        true,
        "The payoff of the role in this state: an integer from 0 \
        to 100. Every role needs exactly one in every terminal state.",
    ),
    keyword(
        kw::BASE,
        "base",
        &["FLUENT"],
        true,
        false,
        "A hint: this fluent may hold in some state. Hints are never \
        needed.",
    ),
    keyword(
        kw::INPUT,
        "input",
        &["ROLE", "MOVE"],
        true,
        false,
        "A hint: this move may be legal in some state. Hints are \
        never needed.",
    ),
    keyword(
        kw::DISTINCT,
        "distinct",
        &["TERM", "TERM"],
        false,
        true,
        "The two terms are different. Other conditions \
        must bind their variables.",
    ),
    keyword(
        kw::NOT,
        "not",
        &["CONDITION"],
        false,
        true,
        "The condition does not hold. Positive conditions must bind its \
        variables.",
    ),
    keyword(
        kw::OR,
        "or",
        &["CONDITION", "CONDITION"],
        false,
        true,
        "At least one of the conditions holds.",
    ),
    keyword(
        kw::AND,
        "and",
        &["CONDITION", "CONDITION"],
        false,
        true,
        "All of the conditions hold. An extension: the \
        conditions of a rule are a conjunction already.",
    ),
    keyword(
        kw::ARROW,
        "<=",
        &["HEAD", "CONDITION"],
        true,
        false,
        "A rule: the head holds if all conditions hold.",
    ),
];

const fn keyword(
    symbol: Symbol,
    name: &'static str,
    arguments: &'static [&'static str],
    in_heads: bool,
    in_bodies: bool,
    meaning: &'static str,
) -> Keyword {
    Keyword {
        symbol,
        name,
        arguments,
        meaning,
        in_heads,
        in_bodies,
    }
}

impl Keyword {
    /// The keyword of a symbol.
    pub fn find(symbol: Symbol) -> Option<&'static Keyword> {
        KEYWORDS.iter().find(|k| k.symbol == symbol)
    }

    /// How it is written: `(legal ROLE MOVE)` or `legal(ROLE, MOVE)`.
    pub fn shape(&self, notation: Notation) -> String {
        match (notation, self.symbol) {
            (Notation::Prefix, kw::ARROW) => "(<= HEAD CONDITION …)".to_owned(),
            (Notation::Infix, kw::ARROW) => "HEAD <= CONDITION, ….".to_owned(),
            (Notation::Infix, kw::NOT) => "not CONDITION".to_owned(),
            (Notation::Infix, kw::OR) => "CONDITION | CONDITION".to_owned(),
            (Notation::Infix, kw::AND) => "(CONDITION, CONDITION)".to_owned(),
            _ => apply(notation, self.name, self.arguments),
        }
    }

    /// The text to insert, with places to fill in as snippets of the protocol have them.
    pub fn snippet(&self, notation: Notation) -> String {
        match (notation, self.symbol) {
            (Notation::Prefix, kw::ARROW) => "(<= ${1:HEAD}\n    ${0:CONDITION})".to_owned(),
            (Notation::Infix, kw::ARROW) => "<= ${0:CONDITION}.".to_owned(),
            (Notation::Infix, kw::NOT) => "not ${0:CONDITION}".to_owned(),
            _ => call_snippet(notation, self.name, self.arguments),
        }
    }
}

/// A name with arguments, in either notation.
pub fn apply(notation: Notation, name: &str, arguments: &[impl AsRef<str>]) -> String {
    let list = |separator| arguments.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(separator);
    match (notation, arguments.is_empty()) {
        (_, true) => name.to_owned(),
        (Notation::Prefix, _) => format!("({name} {})", list(" ")),
        (Notation::Infix, _) => format!("{name}({})", list(", ")),
    }
}

/// As [`apply`], with places to fill in.
pub fn call_snippet(notation: Notation, name: &str, arguments: &[impl AsRef<str>]) -> String {
    let places: Vec<String> = (arguments.iter().enumerate())
        .map(|(i, argument)| format!("${{{}:{}}}", i + 1, escape(argument.as_ref())))
        .collect();
    apply(notation, &escape(name), &places)
}

/// Escapes what has a meaning in snippets.
pub fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gdl::Symbols;

    #[test]
    fn every_keyword_is_described_under_its_name() {
        let symbols = Symbols::default();
        for keyword in KEYWORDS {
            assert_eq!(symbols.text(keyword.symbol), keyword.name);
        }
        let described = |s: &Symbol| Keyword::find(*s).is_some();
        let all: Vec<Symbol> = (0..symbols.len()).map(|i| Symbol(i as u32)).collect();
        let must = all.iter().filter(|s| s.is_keyword_relation() || s.is_connective());
        assert!(must.into_iter().all(|s| *s == kw::RANDOM || described(s)));
    }

    #[test]
    fn shapes_follow_the_notation() {
        let legal = Keyword::find(kw::LEGAL).unwrap();
        assert_eq!(legal.shape(Notation::Prefix), "(legal ROLE MOVE)");
        assert_eq!(legal.shape(Notation::Infix), "legal(ROLE, MOVE)");
        assert_eq!(legal.snippet(Notation::Prefix), "(legal ${1:ROLE} ${2:MOVE})");
        assert_eq!(Keyword::find(kw::TERMINAL).unwrap().shape(Notation::Infix), "terminal");
        assert_eq!(call_snippet(Notation::Prefix, "a$b", &["x}"]), "(a\\$b ${1:x\\}})");
    }
}
