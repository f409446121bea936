//! The parser of prefix notation (KIF): text to tokens to lists. It does not recurse, so nesting uses no stack.

use crate::ast::{Ast, Node, NodeKind, Notation};
use crate::codes::Code;
use crate::diagnostic::Sink;
use crate::names::Names;
use crate::source::{Span, short};
use crate::symbol::kw;

/// Tokens that are read, against hostile input.
pub(crate) const MAX_TOKENS: usize = 1_000_000;
/// Levels of nesting that are read, against hostile input.
pub(crate) const MAX_DEPTH: usize = 1_000;

pub(crate) fn parse<'s>(text: &'s str, names: &mut Names<'s>, sink: &mut Sink) -> Ast {
    let mut lexer = Lexer::new(text, names, sink);
    let tokens = lexer.run();
    let comments = lexer.comments;
    let breaks = breaks(text, &tokens);
    let mut builder = Builder {
        forms: Vec::new(),
        unfinished: Vec::new(),
        open: Vec::new(),
        sink,
    };
    builder.build(&tokens, &breaks);
    Ast {
        notation: Notation::Prefix,
        forms: builder.forms,
        unfinished: builder.unfinished,
        comments,
    }
}

enum Token {
    Open(u32),
    Close(u32),
    Leaf(Node),
}

struct Lexer<'a, 's> {
    text: &'s str,
    at: usize,
    names: &'a mut Names<'s>,
    sink: &'a mut Sink,
    comments: Vec<Span>,
}

impl<'a, 's> Lexer<'a, 's> {
    fn new(text: &'s str, names: &'a mut Names<'s>, sink: &'a mut Sink) -> Self {
        Lexer {
            text,
            at: 0,
            names,
            sink,
            comments: Vec::new(),
        }
    }

    fn run(&mut self) -> Vec<Token> {
        let bytes = self.text.as_bytes();
        let mut tokens = Vec::new();
        while let Some(&byte) = bytes.get(self.at) {
            let start = self.at;
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b';' => self.comment(),
                b'(' | b')' => {
                    self.at += 1;
                    tokens.push(match byte {
                        b'(' => Token::Open(start as u32),
                        _ => Token::Close(start as u32),
                    });
                }
                _ if stray(self.text, self.at).is_some() => self.stray(),
                _ => tokens.push(Token::Leaf(self.leaf())),
            }
            if tokens.len() > MAX_TOKENS {
                too_many_tokens(self.sink, Span::new(start, self.at));
                break;
            }
        }
        tokens
    }

    fn comment(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        let len = rest
            .iter()
            .position(|b| matches!(b, b'\n' | b'\r'))
            .unwrap_or(rest.len());
        self.comments.push(Span::new(self.at, self.at + len));
        self.at += len;
    }

    fn stray(&mut self) {
        let c = stray(self.text, self.at).expect("called at a stray character");
        report_stray(c, self.at, self.names, self.sink);
        self.at += c.len_utf8();
    }

    fn leaf(&mut self) -> Node {
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(&b) = bytes.get(self.at) {
            let ends = match b {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | b'(' | b')' | b';' => true,
                _ => stray(self.text, self.at).is_some(),
            };
            if ends {
                break;
            }
            // Move by whole characters: `stray` must be asked at the first byte of one.
            self.at += utf8_len(b);
        }
        let span = Span::new(start, self.at);
        leaf(&self.text[start..self.at], span, self.names, self.sink)
    }
}

/// Makes a leaf (variable or name) and warns about unusual characters.
pub(crate) fn leaf(text: &str, span: Span, names: &mut Names, sink: &mut Sink) -> Node {
    if text == "?" {
        sink.add(
            Code::VarEmpty,
            span,
            "a variable needs a name after `?`",
            "write for example `?x`; there is no anonymous variable",
        );
    }
    let symbol = names.intern(text, span, sink);
    let kind = if text.starts_with('?') {
        NodeKind::Var(symbol)
    } else {
        NodeKind::Name(symbol)
    };
    if symbol != kw::ARROW {
        warn_odd_characters(text, span, names, sink);
    }
    Node { kind, span }
}

fn warn_odd_characters(text: &str, span: Span, names: &mut Names, sink: &mut Sink) {
    let body = text.strip_prefix('?').unwrap_or(text);
    let usual = |b: u8| b.is_ascii_alphanumeric() || b"_-+<>/.".contains(&b);
    // Beyond the limit of findings there is no need to remember unusual names.
    if body.bytes().all(usual) || !sink.wants(Code::OddChar) || !names.first_odd(text) {
        return;
    }
    if text.contains('"') {
        sink.add(
            Code::Quote,
            span,
            format!(
                "`\"` does not quote anything: `{}` is a name like any other",
                short(text)
            ),
            "GDL has no strings; use a name of letters, digits, `_` and `-`",
        );
        return;
    }
    let odd = body.chars().find(|&c| !(c.is_ascii() && usual(c as u8)));
    sink.add(
        Code::OddChar,
        span,
        format!("`{}` holds the unusual character `{}`", short(text), odd.unwrap_or('?')),
        "other players may not read it; use letters, digits, `_` and `-`",
    );
}

/// The character at `at` if it is not allowed outside comments.
pub(crate) fn stray(text: &str, at: usize) -> Option<char> {
    let byte = text.as_bytes()[at];
    if byte.is_ascii() {
        return byte.is_ascii_control().then_some(char::from(byte));
    }
    let c = text[at..].chars().next()?;
    (c.is_whitespace() || c.is_control() || c == '\u{feff}').then_some(c)
}

pub(crate) fn report_stray(c: char, at: usize, names: &mut Names, sink: &mut Sink) {
    if !names.first_odd(c.encode_utf8(&mut [0; 4])) {
        return;
    }
    let (what, help) = match c {
        '\0' => ("a NUL byte", "is this a text file? Save it as UTF-8 (not UTF-16)"),
        '\u{a0}' => ("a non-breaking space", "replace it by an ordinary space"),
        c if c.is_whitespace() => ("an unusual space", "replace it by an ordinary space"),
        _ => ("a control character", "remove it"),
    };
    sink.add(
        Code::Char,
        Span::new(at, at + c.len_utf8()),
        format!("{what} (U+{:04X}) cannot be part of a description", u32::from(c)),
        help,
    );
}

pub(crate) fn too_many_tokens(sink: &mut Sink, span: Span) {
    sink.add(
        Code::Limit,
        span,
        format!("more than {MAX_TOKENS} tokens: the rest is not read"),
        "no game needs this much; is it a description at all?",
    );
}

pub(crate) fn too_deep(sink: &mut Sink, span: Span) {
    sink.add(
        Code::Limit,
        span,
        format!("nested more than {MAX_DEPTH} levels deep: the rest is not read"),
        "flatten the terms",
    );
}

fn utf8_len(first: u8) -> usize {
    match first {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}

/// Where forms begin although the form before them is not finished: one flag a token.
///
/// If the parentheses of the text match, no list is cut, except before a rule in the first column. If some list is
/// never closed, a list in a form is taken for the beginning of the next form if
///
/// - it begins with `<=`, since rules cannot stand inside rules; or
/// - it begins its line, not right of the column of the unfinished form, and the form is not closed before the next
///   rule. (Some files write the conditions of a rule in the first column. Such a rule is closed by its last line.)
fn breaks(text: &str, tokens: &[Token]) -> Vec<bool> {
    let mut breaks = vec![false; tokens.len()];
    let lowest = lowest_before_rule(tokens);
    let balanced = balanced(tokens);
    let mut depth = 0_i64;
    // The column of the form, and that of the last list that began its line.
    let (mut column, mut indent) = (0, 0);
    for (i, token) in tokens.iter().enumerate() {
        match token {
            Token::Open(at) => {
                let own = column_of(text, *at);
                let left = own.is_some_and(|own| own <= column);
                indent = own.unwrap_or(indent);
                if depth == 0 {
                    column = indent;
                } else {
                    let cut = match begins_rule(tokens, i) {
                        true => !balanced || own == Some(0),
                        false => !balanced && left && depth + lowest[i] > 0,
                    };
                    if cut {
                        (breaks[i], depth, column) = (true, 0, indent);
                    }
                }
                depth += 1;
            }
            Token::Close(_) => depth = (depth - 1).max(0),
            Token::Leaf(_) => {}
        }
    }
    breaks
}

fn balanced(tokens: &[Token]) -> bool {
    let mut depth = 0_usize;
    for token in tokens {
        match token {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth = depth.saturating_sub(1),
            Token::Leaf(_) => {}
        }
    }
    depth == 0
}

/// For each token the lowest depth that is reached from it before the next rule, relative to the depth before it.
fn lowest_before_rule(tokens: &[Token]) -> Vec<i64> {
    let mut lowest = vec![0; tokens.len()];
    let mut after = 0;
    for (i, token) in tokens.iter().enumerate().rev() {
        let change = match token {
            Token::Open(_) => 1,
            Token::Close(_) => -1,
            Token::Leaf(_) => 0,
        };
        lowest[i] = (change + after).min(0);
        after = match begins_rule(tokens, i) {
            true => 0,
            false => lowest[i],
        };
    }
    lowest
}

fn begins_rule(tokens: &[Token], at: usize) -> bool {
    let is_arrow = |node: &Node| matches!(node.kind, NodeKind::Name(name) if name == kw::ARROW);
    matches!(tokens[at], Token::Open(_)) && matches!(tokens.get(at + 1), Some(Token::Leaf(node)) if is_arrow(node))
}

/// The column, in bytes, of something that begins its line. Columns past 80 do not count: looking for the beginning of
/// a line of any length would take quadratic time.
fn column_of(text: &str, at: u32) -> Option<usize> {
    let before = &text.as_bytes()[..at as usize];
    let blanks = before
        .iter()
        .rev()
        .take(80)
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count();
    match before.len().checked_sub(blanks + 1) {
        None => Some(blanks),
        Some(i) => matches!(before[i], b'\n' | b'\r').then_some(blanks),
    }
}

struct Builder<'a> {
    forms: Vec<Node>,
    unfinished: Vec<Node>,
    /// Lists that are open: offset of the parenthesis, and elements.
    open: Vec<(u32, Vec<Node>)>,
    sink: &'a mut Sink,
}

impl Builder<'_> {
    fn build(&mut self, tokens: &[Token], breaks: &[bool]) {
        let mut stray_close = false;
        for (token, &cut) in tokens.iter().zip(breaks) {
            match token {
                Token::Open(at) => {
                    if cut {
                        self.abandon();
                    }
                    if self.open.len() == MAX_DEPTH {
                        too_deep(self.sink, Span::new(*at as usize, *at as usize + 1));
                        return;
                    }
                    self.open.push((*at, Vec::new()));
                }
                Token::Close(at) => match self.open.pop() {
                    Some((start, items)) => self.place(Node::list(items, Span { start, end: at + 1 })),
                    None if !stray_close => {
                        stray_close = true;
                        report_stray_close(*at, self.sink);
                    }
                    None => {}
                },
                Token::Leaf(node) => self.place(node.clone()),
            }
        }
        self.abandon();
    }

    fn place(&mut self, node: Node) {
        match self.open.last_mut() {
            Some((_, items)) => items.push(node),
            None => self.forms.push(node),
        }
    }

    /// Reports the lists that are open, and keeps what they hold.
    fn abandon(&mut self) {
        let Some(&(at, _)) = self.open.first() else {
            return;
        };
        let missing = self.open.len();
        let closers = if missing == 1 {
            "one `)` is".to_owned()
        } else {
            format!("{missing} `)` are")
        };
        let span = Span { start: at, end: at + 1 };
        self.sink.add(
            Code::Paren,
            span,
            format!("this parenthesis is never closed: {closers} missing"),
            "count the parentheses of this form; `surmise fmt` shows how the closed ones are read",
        );
        while let Some((start, items)) = self.open.pop() {
            let end = items.last().map_or(start + 1, |last| last.span.end);
            let node = Node::list(items, Span { start, end });
            match self.open.last_mut() {
                Some((_, items)) => items.push(node),
                None => self.unfinished.push(node),
            }
        }
    }
}

fn report_stray_close(at: u32, sink: &mut Sink) {
    sink.add(
        Code::Paren,
        Span { start: at, end: at + 1 },
        "this `)` closes nothing",
        "the form before it already ended; remove it, or add the `(` that it belongs to",
    );
}
