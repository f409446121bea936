//! Expressions of messages: names and lists, in any spacing and any case. Nothing here recurses.
//!
//! A message is split into slices of its text. The rules of a START may have megabytes, and only the reader of rules
//! ([`gdl::read`]) needs their structure.

use std::fmt;

/// Most levels of nested lists in a message.
pub const MAX_DEPTH: usize = 1_000;

/// Why there is no expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KifError {
    /// The text is empty.
    Empty,
    /// A list is not closed; more text may close it.
    Unfinished,
    /// The text begins with `)`, or lists are nested too deep.
    Malformed,
}

impl fmt::Display for KifError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KifError::Empty => "there is no expression",
            KifError::Unfinished => "a list is not closed",
            KifError::Malformed => "the text begins with `)`, or its lists are nested too deep",
        })
    }
}

impl std::error::Error for KifError {}

enum KifToken<'a> {
    Open,
    Close,
    Atom(&'a str),
}

/// Tokens, each with the places of its beginning and its end.
struct KifTokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for KifTokens<'a> {
    type Item = (KifToken<'a>, usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at)? {
                byte if is_space(*byte) => self.at += 1,
                b';' => self.at += bytes[self.at..].iter().position(|b| matches!(b, b'\n' | b'\r'))?,
                _ => break,
            }
        }
        let start = self.at;
        let token = match bytes[start] {
            b'(' => KifToken::Open,
            b')' => KifToken::Close,
            _ => {
                let ends = |b: &u8| is_space(*b) || matches!(b, b'(' | b')' | b';');
                let length = bytes[start..].iter().position(ends).unwrap_or(bytes.len() - start);
                self.at += length;
                return Some((KifToken::Atom(&self.text[start..self.at]), start, self.at));
            }
        };
        self.at += 1;
        Some((token, start, self.at))
    }
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, 0x0b | 0x00)
}

fn tokens(text: &str) -> KifTokens<'_> {
    KifTokens { text, at: 0 }
}

/// The first complete expression of a text. The rest of the text is ignored.
///
/// # Errors
/// If there is none.
pub fn first(text: &str) -> Result<&str, KifError> {
    let (mut depth, mut begun) = (0, 0);
    for (token, start, end) in tokens(text) {
        match token {
            KifToken::Open => {
                if depth == 0 {
                    begun = start;
                }
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(KifError::Malformed);
                }
            }
            KifToken::Close if depth == 0 => return Err(KifError::Malformed),
            KifToken::Close => {
                depth -= 1;
                if depth == 0 {
                    return Ok(&text[begun..end]);
                }
            }
            KifToken::Atom(atom) if depth == 0 => return Ok(atom),
            KifToken::Atom(_) => {}
        }
    }
    match depth {
        0 => Err(KifError::Empty),
        _ => Err(KifError::Unfinished),
    }
}

/// The elements of a list; none if the text is not a list.
pub fn items(list: &str) -> Option<Vec<&str>> {
    let inner = list.trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8));
    let inner = inner.strip_prefix('(')?;
    let mut elements = Vec::new();
    let (mut depth, mut begun) = (0, 0);
    for (token, start, end) in tokens(inner) {
        match token {
            KifToken::Open => {
                if depth == 0 {
                    begun = start;
                }
                depth += 1;
            }
            KifToken::Close if depth == 0 => return Some(elements),
            KifToken::Close => {
                depth -= 1;
                if depth == 0 {
                    elements.push(&inner[begun..end]);
                }
            }
            KifToken::Atom(atom) if depth == 0 => elements.push(atom),
            KifToken::Atom(_) => {}
        }
    }
    None
}

/// Whether the text is `NIL` or `()`, which mean the same.
pub fn is_nil(text: &str) -> bool {
    text.eq_ignore_ascii_case("nil") || items(text).is_some_and(|items| items.is_empty())
}

/// A ground term in canonical text: lower case, single blanks, constants without parentheses. None if the text is not
/// one ground term.
pub fn canonical(term: &str) -> Option<String> {
    let mut out = String::with_capacity(term.len());
    // The beginning of each open list, and the number of its elements so far.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (token, _, _) in tokens(term) {
        if open.is_empty() && !out.is_empty() {
            return None;
        }
        match token {
            KifToken::Open => {
                match open.last_mut() {
                    // The first element of a term is its name.
                    Some((_, 0)) => return None,
                    Some((_, count)) => *count += 1,
                    None => {}
                }
                if open.len() == MAX_DEPTH {
                    return None;
                }
                if !open.is_empty() {
                    out.push(' ');
                }
                open.push((out.len(), 0));
                out.push('(');
            }
            KifToken::Close => match open.pop()? {
                (_, 0) => return None,
                (start, 1) => drop(out.remove(start)),
                _ => out.push(')'),
            },
            KifToken::Atom(atom) => {
                if atom.starts_with('?') {
                    return None;
                }
                if let Some((_, count)) = open.last_mut() {
                    *count += 1;
                    if *count > 1 {
                        out.push(' ');
                    }
                }
                out.push_str(&atom.to_ascii_lowercase());
            }
        }
    }
    (open.is_empty() && !out.is_empty()).then_some(out)
}

/// The text with every name replaced, without comments, and with single blanks between elements.
pub fn map_names(text: &str, mut name: impl FnMut(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut between = false;
    for (token, _, _) in tokens(text) {
        match token {
            KifToken::Open => {
                if between {
                    out.push(' ');
                }
                out.push('(');
                between = false;
            }
            KifToken::Close => {
                out.push(')');
                between = true;
            }
            KifToken::Atom(atom) => {
                if between {
                    out.push(' ');
                }
                out.push_str(&name(atom));
                between = true;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_expression_counts() {
        assert_eq!(first(" (a (b\x0cc))\r\n junk)"), Ok("(a (b\x0cc))"));
        assert_eq!(first("info"), Ok("info"));
        assert_eq!(first("; only a comment"), Err(KifError::Empty));
        assert_eq!(first("\t\n"), Err(KifError::Empty));
        assert_eq!(first("(a (b)"), Err(KifError::Unfinished));
        assert_eq!(first(")("), Err(KifError::Malformed));
        assert_eq!(first(&"(".repeat(2_000_000)), Err(KifError::Malformed));
    }

    #[test]
    fn lists_are_taken_apart() {
        assert_eq!(
            items("( PLAY m1 (( mark 1 1 ) noop ) )").unwrap(),
            ["PLAY", "m1", "(( mark 1 1 ) noop )"]
        );
        assert_eq!(items("(3 )").unwrap(), ["3"]);
        assert_eq!(items("noop"), None);
        assert!(is_nil("( )") && is_nil("NiL") && !is_nil("(nil)"));
    }

    #[test]
    fn terms_become_canonical() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(canonical(text).as_deref(), expected, "{text}");
        check("( Mark 1\t1 )", Some("(mark 1 1)"));
        check("(NOOP)", Some("noop"));
        check("(f (g) (h a))", Some("(f g (h a))"));
        check("(f ?x)", None);
        check("()", None);
        check("(f ())", None);
        check("((f) a)", None);
        check("a b", None);
        check("(a) b", None);
        check("(a", None);
        check("", None);
        check(&"(a ".repeat(3_000), None);
    }

    #[test]
    fn names_are_mapped() {
        let text = "( ROLE  a ) ; who\n(<= (legal a ?x)\n(not b))";
        assert_eq!(
            map_names(text, str::to_ascii_lowercase),
            "(role a) (<= (legal a ?x) (not b))"
        );
    }
}
