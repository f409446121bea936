//! Rules whose names are replaced by nonsense: the structure stays, the meaning of words goes.

use gdl::{Atom, Literal, Rules, Symbol, Term, kw};

/// The text of the same rules with other names for all relations, functions, constants and variables, but for the
/// keywords and the role `random`.
pub fn scramble(rules: &Rules) -> String {
    let mut out = String::new();
    for clause in &rules.clauses {
        let head = atom(&clause.head);
        match clause.body.is_empty() {
            true => out.push_str(&head),
            false => {
                out.push_str(&format!("(<= {head}"));
                for literal in &clause.body {
                    let text = match literal {
                        Literal::Pos(a) => atom(a),
                        Literal::Neg(a) => format!("(not {})", atom(a)),
                        Literal::Distinct(a, b) => format!("(distinct {} {})", term(a), term(b)),
                    };
                    out.push(' ');
                    out.push_str(&text);
                }
                out.push(')');
            }
        }
        out.push('\n');
    }
    out
}

fn atom(atom: &Atom) -> String {
    term(&Term::Fun(atom.relation, atom.args.clone()))
}

fn term(t: &Term) -> String {
    match t {
        Term::Var(v) => format!("?{}", word(1_000 + v)),
        Term::Fun(name, args) if args.is_empty() => symbol(*name),
        Term::Fun(name, args) => {
            let args: Vec<String> = args.iter().map(term).collect();
            format!("({} {})", symbol(*name), args.join(" "))
        }
    }
}

fn symbol(name: Symbol) -> String {
    let keyword = name.is_keyword_relation() || name.is_connective() || name == kw::RANDOM;
    match keyword {
        true => gdl::Symbols::default().text(name).to_owned(),
        false => word(name.0),
    }
}

/// A word that can be said, different for every number.
fn word(number: u32) -> String {
    const FIRST: [&str; 16] = [
        "b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z",
    ];
    const SECOND: [&str; 5] = ["a", "e", "i", "o", "u"];
    // An odd factor permutes the numbers, so that the order of words says nothing about the order of symbols.
    let mut rest = (number.wrapping_mul(40_503) ^ 0x2a5) & 0xf_ffff;
    let mut word = String::new();
    for _ in 0..4 {
        word.push_str(FIRST[(rest % 16) as usize]);
        word.push_str(SECOND[(rest / 16 % 5) as usize]);
        rest /= 80;
    }
    format!("{word}{}", if rest > 0 { "n" } else { "" })
}
