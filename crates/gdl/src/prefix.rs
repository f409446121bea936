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
    let balance = balance(&tokens);
    let forms = build(text, &tokens, &balance, sink);
    Ast {
        notation: Notation::Prefix,
        forms,
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

/// Whether parentheses match over the whole text.
enum Balance {
    Even,
    /// Some list is never closed. A parenthesis in the first column then ends all open lists.
    NeverClosed,
}

fn balance(tokens: &[Token]) -> Balance {
    let mut depth = 0_usize;
    for token in tokens {
        match token {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth = depth.saturating_sub(1),
            Token::Leaf(_) => {}
        }
    }
    if depth == 0 {
        Balance::Even
    } else {
        Balance::NeverClosed
    }
}

fn build(text: &str, tokens: &[Token], balance: &Balance, sink: &mut Sink) -> Vec<Node> {
    let mut forms = Vec::new();
    let mut open: Vec<(u32, Vec<Node>)> = Vec::new();
    let mut stray_close = false;
    for token in tokens {
        match token {
            Token::Open(at) => {
                if matches!(balance, Balance::NeverClosed) && starts_line(text, *at) {
                    abandon(&mut open, sink);
                }
                if open.len() == MAX_DEPTH {
                    too_deep(sink, Span::new(*at as usize, *at as usize + 1));
                    return forms;
                }
                open.push((*at, Vec::new()));
            }
            Token::Close(at) => match open.pop() {
                Some((start, items)) => {
                    let node = Node::list(items, Span { start, end: at + 1 });
                    place(&mut open, &mut forms, node);
                }
                None if !stray_close => {
                    stray_close = true;
                    report_stray_close(*at, sink);
                }
                None => {}
            },
            Token::Leaf(node) => place(&mut open, &mut forms, node.clone()),
        }
    }
    abandon(&mut open, sink);
    forms
}

fn place(open: &mut [(u32, Vec<Node>)], forms: &mut Vec<Node>, node: Node) {
    match open.last_mut() {
        Some((_, items)) => items.push(node),
        None => forms.push(node),
    }
}

/// Reports and drops the lists that are open.
fn abandon(open: &mut Vec<(u32, Vec<Node>)>, sink: &mut Sink) {
    let Some(&(at, _)) = open.first() else {
        return;
    };
    let missing = open.len();
    let closers = if missing == 1 {
        "one `)` is".to_owned()
    } else {
        format!("{missing} `)` are")
    };
    let span = Span { start: at, end: at + 1 };
    sink.add(
        Code::Paren,
        span,
        format!("this parenthesis is never closed: {closers} missing"),
        "count the parentheses of this form; `surmise fmt` shows how the closed ones are read",
    );
    open.clear();
}

fn report_stray_close(at: u32, sink: &mut Sink) {
    sink.add(
        Code::Paren,
        Span { start: at, end: at + 1 },
        "this `)` closes nothing",
        "the form before it already ended; remove it, or add the `(` that it belongs to",
    );
}

/// Whether this is the first column, where forms usually begin and inner lists hardly ever do.
fn starts_line(text: &str, at: u32) -> bool {
    at == 0 || matches!(text.as_bytes()[at as usize - 1], b'\n' | b'\r')
}
