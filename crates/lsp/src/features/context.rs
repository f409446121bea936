//! What is expected at a place in a text that may not be finished.

use crate::document::View;
use crate::index::{ArgumentPlace, Part, part_of_argument};
use gdl::{Notation, Symbol, kw};

/// What may stand at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A fact or rule.
    Form,
    /// The head of a rule.
    Head,
    /// A condition of a rule.
    Condition,
    /// An argument of a relation or function, and which part of the game it is.
    Argument(Part, Option<ArgumentPlace>),
    /// A term somewhere else.
    Term,
}

/// A place where something is being written.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// What may stand there.
    pub expected: Expected,
    /// Whether the opening parenthesis of prefix notation is there already.
    pub opened: bool,
    /// Where the word that is being written begins.
    pub word_start: usize,
}

/// A list or application around the place.
struct Around<'t> {
    head: Option<&'t str>,
    /// Elements before the place, the head included.
    before: usize,
    /// Whether this is a parenthesis that only groups conditions.
    group: bool,
}

/// Finds out what is expected at an offset.
pub fn context(view: View, offset: usize) -> Context {
    let text = view.text();
    let notation = view.notation();
    let word_start = word_start(text, offset, notation);
    let start = form_start(view, word_start);
    let (around, in_body) = scan(&text[start..word_start], notation);
    let expected = match notation {
        Notation::Prefix => prefix(view, &around),
        Notation::Infix => infix(view, &around, in_body),
    };
    Context {
        expected,
        opened: notation == Notation::Prefix && around.last().is_some_and(|a| a.before == 0),
        word_start,
    }
}

/// Where the form begins that holds an offset.
fn form_start(view: View, offset: usize) -> usize {
    let forms = &view.analysis.index.forms;
    let after = forms.partition_point(|f| (f.span.start as usize) < offset);
    match (after.checked_sub(1).map(|at| &forms[at]), view.notation()) {
        (None, _) => 0,
        (Some(form), Notation::Prefix) => form.span.start as usize,
        // Unfinished clauses of infix notation may be known by single atoms only: look from the last full stop.
        (Some(form), Notation::Infix) => match offset < form.span.end as usize {
            true => form.span.start as usize,
            false => {
                let finished = view.analysis.reading.ast.forms.iter().rev();
                let mut ends = finished.map(|f| f.span.end as usize);
                ends.find(|&end| end <= offset).unwrap_or(0)
            }
        },
    }
}

fn word_start(text: &str, offset: usize, notation: Notation) -> usize {
    let ends = |c: char| {
        c.is_whitespace()
            || match notation {
                Notation::Prefix => "();".contains(c),
                Notation::Infix => "(),&|~%".contains(c),
            }
    };
    let before = &text[..offset];
    before
        .rfind(ends)
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8))
}

/// The lists around the end of a text, outermost first, and whether an arrow of infix notation was passed.
fn scan(text: &str, notation: Notation) -> (Vec<Around<'_>>, bool) {
    let (sign, separators) = match notation {
        Notation::Prefix => (';', "();"),
        Notation::Infix => ('%', "(),&|~%"),
    };
    let mut around: Vec<Around> = Vec::new();
    let mut in_body = false;
    let mut rest = text;
    let mut last_word: Option<&str> = None;
    while let Some(c) = rest.chars().next() {
        if c == sign {
            rest = rest.find(['\n', '\r']).map_or("", |end| &rest[end..]);
            continue;
        }
        if c.is_whitespace() || separators.contains(c) {
            match (c, notation) {
                ('(', Notation::Prefix) => around.push(Around {
                    head: None,
                    before: 0,
                    group: false,
                }),
                ('(', Notation::Infix) => {
                    let connective = last_word.is_none_or(|w| ["not", "or", "and"].contains(&w));
                    around.push(Around {
                        head: last_word,
                        before: 1,
                        group: connective,
                    });
                }
                (')', _) => {
                    around.pop();
                    if let (Some(outer), Notation::Prefix) = (around.last_mut(), notation) {
                        outer.before += 1;
                    }
                }
                (',' | '&', Notation::Infix) => {
                    if let Some(list) = around.last_mut() {
                        list.before += 1;
                    }
                }
                _ => {}
            }
            last_word = None;
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let end = rest
            .find(|c: char| c.is_whitespace() || separators.contains(c))
            .unwrap_or(rest.len());
        let word = &rest[..end];
        rest = &rest[end..];
        match notation {
            Notation::Prefix => {
                if let Some(list) = around.last_mut() {
                    if list.before == 0 {
                        list.head = Some(word);
                    }
                    list.before += 1;
                }
            }
            Notation::Infix if word == "<=" || word == ":-" => {
                in_body = true;
                around.clear();
                last_word = None;
                continue;
            }
            Notation::Infix if word.ends_with('.') && rest.starts_with(char::is_whitespace) => {
                in_body = false;
                around.clear();
                last_word = None;
                continue;
            }
            Notation::Infix => {}
        }
        last_word = Some(word);
    }
    (around, in_body)
}

fn symbol(view: View, name: &str) -> Option<Symbol> {
    view.analysis.reading.rules.symbols.get(&name.to_ascii_lowercase())
}

fn prefix(view: View, around: &[Around]) -> Expected {
    // The list whose head is being written stands for what it will be.
    let outer = match around.last() {
        Some(last) if last.before == 0 => &around[..around.len() - 1],
        _ => around,
    };
    let Some(list) = outer.last() else {
        return Expected::Form;
    };
    let Some(head) = list.head.and_then(|head| symbol(view, head)) else {
        return argument(None, list.before.saturating_sub(1), outer.len() == 1);
    };
    match head {
        kw::ARROW if list.before == 1 => Expected::Head,
        kw::ARROW | kw::NOT | kw::OR | kw::AND => Expected::Condition,
        kw::DISTINCT => Expected::Term,
        _ => argument(
            Some(head),
            list.before.saturating_sub(1),
            is_atom(view, &outer[..outer.len() - 1]),
        ),
    }
}

/// Whether a list directly inside these is an atom, not a term.
fn is_atom(view: View, outer: &[Around]) -> bool {
    match outer.last() {
        None => true,
        Some(list) => {
            let head = list.head.and_then(|head| symbol(view, head));
            matches!(head, Some(kw::ARROW | kw::NOT | kw::OR | kw::AND))
        }
    }
}

fn infix(view: View, around: &[Around], in_body: bool) -> Expected {
    let Some(list) = around.last() else {
        return if in_body { Expected::Condition } else { Expected::Form };
    };
    if list.group {
        return Expected::Condition;
    }
    let head = list.head.and_then(|head| symbol(view, head));
    if head == Some(kw::DISTINCT) {
        return Expected::Term;
    }
    let is_atom = around[..around.len() - 1].iter().all(|a| a.group);
    argument(head, list.before.saturating_sub(1), is_atom)
}

fn argument(name: Option<Symbol>, at: usize, is_atom: bool) -> Expected {
    let part = match name {
        Some(name) if is_atom && name.is_keyword_relation() => part_of_argument(name, at),
        _ => Part::Inner,
    };
    let place = name.map(|name| ArgumentPlace {
        is_relation: is_atom,
        name,
        at,
    });
    Expected::Argument(part, place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::position::Encoding;

    /// What is expected at the `|`, and the word before it.
    fn at(marked: &str) -> (Expected, bool, String) {
        let offset = marked.find('¦').unwrap();
        let text = marked.replace('¦', "");
        let mut document = Document::new("file:///x.kif".parse().unwrap(), 1, text.clone());
        let view = document.view(&gdl::Options::default(), Encoding::Utf16);
        let found = context(view, offset);
        (found.expected, found.opened, text[found.word_start..offset].to_owned())
    }

    fn part(marked: &str) -> Part {
        match at(marked).0 {
            Expected::Argument(part, _) => part,
            other => panic!("{other:?} in {marked}"),
        }
    }

    #[test]
    fn places_of_prefix_notation() {
        assert_eq!(at("(role a)\nini¦"), (Expected::Form, false, "ini".to_owned()));
        assert_eq!(at("(role a)\n(ini¦"), (Expected::Form, true, "ini".to_owned()));
        assert_eq!(at("(<= (le¦").0, Expected::Head);
        assert_eq!(at("(<= (legal a b) (tr¦").0, Expected::Condition);
        assert_eq!(at("(<= (legal a b) ¦)").0, Expected::Condition);
        assert_eq!(at("(<= (legal a b) (not (tr¦))").0, Expected::Condition);
        assert_eq!(at("(<= x (distinct ?a ¦").0, Expected::Term);
        assert_eq!(part("(<= x (true (ce¦"), Part::Fluent);
        assert_eq!(part("(<= x (true ¦"), Part::Fluent);
        assert_eq!(part("(<= x (does ¦"), Part::Role);
        assert_eq!(part("(<= x (does me ¦"), Part::Move);
        assert_eq!(part("(<= x (does me (mark ¦"), Part::Inner);
        assert_eq!(part("(sees me ¦"), Part::Percept);
        assert_eq!(part("(goal me ¦)"), Part::Payoff);
        // A term in a term is no atom, whatever its name is.
        assert_eq!(part("(<= x (sees me (does ¦"), Part::Inner);
        // A comment does not count, nor does an unfinished form before.
        assert_eq!(part("(<= (a\n; (true\n(init ¦"), Part::Fluent);
    }

    #[test]
    fn places_of_infix_notation() {
        let game = "role(me).\ninit(cell(1)).\n";
        let at = |rest: &str| at(&format!("{game}{rest}"));
        let part = |rest: &str| part(&format!("{game}{rest}"));
        assert_eq!(at("le¦").0, Expected::Form);
        assert_eq!(at("legal(me,x) <= tr¦").0, Expected::Condition);
        assert_eq!(at("legal(me,x) <= true(a), ¦").0, Expected::Condition);
        assert_eq!(at("legal(me,x) <= true(a), not ¦").0, Expected::Condition);
        assert_eq!(at("legal(me,x) <= (true(a) | ¦").0, Expected::Condition);
        assert_eq!(at("legal(me,x) <= distinct(?a,¦").0, Expected::Term);
        assert_eq!(part("legal(¦"), Part::Role);
        assert_eq!(part("legal(me,¦"), Part::Move);
        assert_eq!(part("legal(me,x) <= true(ce¦"), Part::Fluent);
        assert_eq!(part("legal(me,x) <= not true(ce¦"), Part::Fluent);
        assert_eq!(part("legal(me,x) <= true(cell(¦"), Part::Inner);
    }
}
