//! The parser of infix notation: `legal(random,open_door(?d)) <= true(step(2)), not true(car(?d)).`
//!
//! It gives the same tree as prefix notation: `a | b` is the list `or a b`, and a conjunction in parentheses is the
//! list `and …`. After a mistake, reading goes on after the next full stop.

use crate::ast::{Ast, Node, NodeKind, Notation};
use crate::codes::Code;
use crate::diagnostic::Sink;
use crate::names::Names;
use crate::prefix::{self, MAX_DEPTH, MAX_TOKENS};
use crate::source::{Span, short};
use crate::symbol::{Symbol, kw};

pub(crate) fn parse<'s>(text: &'s str, upper_vars: bool, names: &mut Names<'s>, sink: &mut Sink) -> Ast {
    let mut lexer = Lexer {
        text,
        upper_vars,
        at: 0,
        names,
        sink,
        comments: Vec::new(),
    };
    let tokens = lexer.run();
    let comments = lexer.comments;
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        depth: 0,
        text,
        sink,
    };
    let forms = parser.program();
    Ast {
        notation: Notation::Infix,
        forms,
        comments,
    }
}

/// Whether the first form is in infix notation: a name that is directly followed by `(`, or by `.`, `<=` or `:-`.
pub(crate) fn looks_infix(text: &str) -> bool {
    let Some(start) = skip_blank(text) else {
        return false;
    };
    let rest = &text[start..];
    let end =
        rest.find(|c: char| c.is_ascii_whitespace() || "(),;&|~%".contains(c) || c == '.' || c == '<' || c == ':');
    let Some(end) = end.filter(|&e| e > 0) else {
        return false;
    };
    let after = &rest[end..];
    if after.starts_with('(') {
        return true;
    }
    let after = after.trim_start();
    after.starts_with("<=") || after.starts_with(":-") || ends_clause(after.as_bytes(), 0)
}

/// Offset of the first token after blanks and comments of either notation.
fn skip_blank(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b';' | b'%' => {
                at += bytes[at..].iter().position(|b| matches!(b, b'\n' | b'\r'))?;
            }
            b if b.is_ascii_whitespace() || *b == 0x0b => at += 1,
            _ => return Some(at),
        }
    }
}

/// Whether there is a full stop that ends a clause: one before a blank, a comment or the end of the text, unlike in
/// `0.5`.
fn ends_clause(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'.')
        && bytes
            .get(at + 1)
            .is_none_or(|&b| b.is_ascii_whitespace() || b == 0x0b || b == b'%')
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Arrow,
    Comma,
    Bar,
    Tilde,
    Open,
    Close,
    Stop,
}

enum Token {
    Op(Op, Span),
    Leaf(Node),
}

impl Token {
    fn span(&self) -> Span {
        match self {
            Token::Op(_, span) => *span,
            Token::Leaf(node) => node.span,
        }
    }
}

struct Lexer<'a, 's> {
    text: &'s str,
    upper_vars: bool,
    at: usize,
    names: &'a mut Names<'s>,
    sink: &'a mut Sink,
    comments: Vec<Span>,
}

impl Lexer<'_, '_> {
    fn run(&mut self) -> Vec<Token> {
        let bytes = self.text.as_bytes();
        let mut tokens = Vec::new();
        while let Some(&byte) = bytes.get(self.at) {
            let start = self.at;
            if byte.is_ascii_whitespace() || byte == 0x0b {
                self.at += 1;
            } else if byte == b'%' {
                let rest = &bytes[start..];
                let len = rest
                    .iter()
                    .position(|b| matches!(b, b'\n' | b'\r'))
                    .unwrap_or(rest.len());
                self.at += len;
                self.comments.push(Span::new(start, self.at));
            } else if let Some((op, len)) = operator(bytes, start) {
                self.at += len;
                tokens.push(Token::Op(op, Span::new(start, self.at)));
            } else if byte == b';' {
                self.at += 1;
                self.semicolon(start);
            } else if let Some(c) = prefix::stray(self.text, start) {
                prefix::report_stray(c, start, self.names, self.sink);
                self.at += c.len_utf8();
            } else {
                tokens.push(Token::Leaf(self.leaf()));
            }
            if tokens.len() > MAX_TOKENS {
                prefix::too_many_tokens(self.sink, Span::new(start, self.at));
                break;
            }
        }
        tokens
    }

    fn semicolon(&mut self, at: usize) {
        if self.names.first_odd(";") {
            self.sink.add(
                Code::Char,
                Span::new(at, at + 1),
                "`;` has no meaning in infix notation",
                "start comments with `%`",
            );
        }
    }

    fn leaf(&mut self) -> Node {
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(&b) = bytes.get(self.at) {
            let blank = b.is_ascii_whitespace() || matches!(b, 0x0b | b'%' | b';');
            if blank || operator(bytes, self.at).is_some() || prefix::stray(self.text, self.at).is_some() {
                break;
            }
            self.at += self.text[self.at..].chars().next().map_or(1, char::len_utf8);
        }
        let text = &self.text[start..self.at];
        let span = Span::new(start, self.at);
        if self.upper_vars && text.starts_with(|c: char| c.is_ascii_uppercase()) {
            let symbol = self.names.intern(&format!("?{text}"), span, self.sink);
            return Node {
                kind: NodeKind::Var(symbol),
                span,
            };
        }
        prefix::leaf(text, span, self.names, self.sink)
    }
}

fn operator(bytes: &[u8], at: usize) -> Option<(Op, usize)> {
    let op = match bytes[at] {
        b'<' if bytes.get(at + 1) == Some(&b'=') => return Some((Op::Arrow, 2)),
        b':' if bytes.get(at + 1) == Some(&b'-') => return Some((Op::Arrow, 2)),
        b',' | b'&' => Op::Comma,
        b'|' => Op::Bar,
        b'~' => Op::Tilde,
        b'(' => Op::Open,
        b')' => Op::Close,
        b'.' if ends_clause(bytes, at) => Op::Stop,
        _ => return None,
    };
    Some((op, 1))
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    text: &'a str,
    sink: &'a mut Sink,
}

/// The clause cannot be read; the mistake has been reported.
struct Broken;

type Parsed<T> = Result<T, Broken>;

impl Parser<'_> {
    fn program(&mut self) -> Vec<Node> {
        let mut forms = Vec::new();
        while self.at < self.tokens.len() {
            self.depth = 0;
            match self.clause() {
                Ok(form) => forms.push(form),
                Err(Broken) => self.skip_clause(),
            }
        }
        forms
    }

    fn skip_clause(&mut self) {
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            if matches!(token, Token::Op(Op::Stop, _)) {
                return;
            }
        }
    }

    /// clause = atom [ "<=" body ] "."
    fn clause(&mut self) -> Parsed<Node> {
        let head = self.application("a relation")?;
        if !self.peek(Op::Arrow) {
            self.expect(Op::Stop, "`.`, `<=` or `:-`")?;
            return Ok(head);
        }
        let arrow = self.here();
        self.at += 1;
        let mut items = vec![Node::name(kw::ARROW, arrow), head];
        if !self.peek(Op::Stop) {
            self.conjunction(&mut items)?;
        }
        self.expect(Op::Stop, "`,`, `|` or `.`")?;
        let span = items[1].span.to(self.tokens[self.at - 1].span());
        Ok(Node::list(items, span))
    }

    /// body = disj { ("," | "&") disj }, appended to `items`.
    fn conjunction(&mut self, items: &mut Vec<Node>) -> Parsed<()> {
        loop {
            let literal = self.disjunction()?;
            items.push(literal);
            if !self.eat(Op::Comma) {
                return Ok(());
            }
        }
    }

    /// disj = lit { "|" lit }
    fn disjunction(&mut self) -> Parsed<Node> {
        let first = self.literal()?;
        if !self.peek(Op::Bar) {
            return Ok(first);
        }
        let mut items = vec![Node::name(kw::OR, self.here()), first];
        while self.eat(Op::Bar) {
            items.push(self.literal()?);
        }
        Ok(self.connective(items))
    }

    /// lit = [ "not" | "~" ] ( atom | "(" body ")" ) | "or(…)" | "and(…)" | "distinct(…)"
    fn literal(&mut self) -> Parsed<Node> {
        let start = self.here();
        let negated = self.eat(Op::Tilde) || self.eat_not();
        self.descend(start)?;
        let literal = if negated {
            let inner = self.literal()?;
            let span = start.to(inner.span);
            Node::list(vec![Node::name(kw::NOT, start), inner], span)
        } else if self.eat(Op::Open) {
            self.group(start)?
        } else if let Some(connective) = self.connective_call() {
            self.at += 2;
            self.members(connective, start)?
        } else {
            self.application("a literal")?
        };
        self.depth -= 1;
        Ok(literal)
    }

    /// "(" body ")", after the opening parenthesis.
    fn group(&mut self, start: Span) -> Parsed<Node> {
        let mut items = vec![Node::name(kw::AND, start)];
        self.conjunction(&mut items)?;
        self.expect(Op::Close, "`)`")?;
        match items.len() {
            2 => Ok(items.pop().expect("two items")),
            _ => Ok(self.connective(items)),
        }
    }

    /// The members of `or(…)` or `and(…)`, after the opening parenthesis.
    fn members(&mut self, connective: Symbol, start: Span) -> Parsed<Node> {
        let mut items = vec![Node::name(connective, start)];
        if !self.peek(Op::Close) {
            self.conjunction(&mut items)?;
        }
        self.expect(Op::Close, "`,` or `)`")?;
        let end = self.tokens[self.at - 1].span();
        Ok(Node::list(items, start.to(end)))
    }

    fn connective(&self, items: Vec<Node>) -> Node {
        let span = items[1].span.to(items.last().expect("a connective has members").span);
        Node::list(items, span)
    }

    /// The connective if `or(` or `and(` is next; their members are literals, not terms.
    fn connective_call(&self) -> Option<Symbol> {
        let Some(Token::Leaf(Node {
            kind: NodeKind::Name(symbol),
            ..
        })) = self.tokens.get(self.at)
        else {
            return None;
        };
        let call = matches!(self.tokens.get(self.at + 1), Some(Token::Op(Op::Open, _)));
        (call && matches!(*symbol, kw::OR | kw::AND)).then_some(*symbol)
    }

    fn eat_not(&mut self) -> bool {
        let found = matches!(
            self.tokens.get(self.at),
            Some(Token::Leaf(Node { kind: NodeKind::Name(s), .. })) if *s == kw::NOT
        );
        self.at += usize::from(found);
        found
    }

    /// A name with or without arguments, or a variable. Atoms and terms have the same syntax.
    fn application(&mut self, wanted: &str) -> Parsed<Node> {
        let Some(Token::Leaf(leaf)) = self.tokens.get(self.at) else {
            return self.fail(wanted);
        };
        let leaf = leaf.clone();
        self.at += 1;
        if !self.eat(Op::Open) {
            return Ok(leaf);
        }
        self.descend(leaf.span)?;
        let start = leaf.span;
        let mut items = vec![leaf];
        while !self.eat(Op::Close) {
            if items.len() > 1 {
                self.expect(Op::Comma, "`,` or `)`")?;
            }
            let argument = self.application("a term")?;
            items.push(argument);
        }
        self.depth -= 1;
        let end = self.tokens[self.at - 1].span();
        Ok(Node::list(items, start.to(end)))
    }

    fn descend(&mut self, span: Span) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            prefix::too_deep(self.sink, span);
            self.at = self.tokens.len();
            return Err(Broken);
        }
        Ok(())
    }

    fn here(&self) -> Span {
        match self.tokens.get(self.at) {
            Some(token) => token.span(),
            None => Span::new(self.text.len(), self.text.len()),
        }
    }

    fn peek(&self, op: Op) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Op(found, _)) if *found == op)
    }

    fn eat(&mut self, op: Op) -> bool {
        let found = self.peek(op);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, op: Op, wanted: &str) -> Parsed<()> {
        if self.eat(op) { Ok(()) } else { self.fail(wanted) }
    }

    fn fail<T>(&mut self, wanted: &str) -> Parsed<T> {
        let span = self.here();
        let found = match self.tokens.get(self.at) {
            Some(token) => format!("`{}`", short(&self.text[token.span().range()])),
            None => "the end of the text".to_owned(),
        };
        self.sink.add(
            Code::Infix,
            span,
            format!("expected {wanted} here, found {found}"),
            "a clause is `head <= literal, literal.` and ends with a full stop",
        );
        Err(Broken)
    }
}
