//! The parser of infix notation: `legal(random,open_door(?d)) <= true(step(2)), not true(car(?d)).`
//!
//! It gives the same tree as prefix notation: `a | b` is the list `or a b`, and a conjunction in parentheses is the
//! list `and …`. After a mistake, reading goes on after the next full stop, or at a clause that begins its line
//! before it.

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
        too_deep: false,
        text,
        sink,
    };
    let (forms, unfinished) = parser.program();
    Ast {
        notation: Notation::Infix,
        forms,
        unfinished,
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

/// Tokens of the longest head that is recognised after a mistake.
const MAX_HEAD: usize = 200;

/// The atoms in the tokens of a clause that cannot be read: a rule if there is an arrow among them, else the atoms.
fn salvage(tokens: &[Token]) -> Vec<Node> {
    let mut arrow = None;
    let mut open: Vec<Vec<Node>> = vec![Vec::new()];
    let close = |open: &mut Vec<Vec<Node>>, at: Option<Span>| {
        if open.len() > 1 {
            let items = open.pop().expect("more than one");
            if let (Some(first), Some(last)) = (items.first(), items.last()) {
                let span = first.span.to(at.unwrap_or(last.span));
                open.last_mut().expect("one is left").push(Node::list(items, span));
            }
        }
    };
    for (i, token) in tokens.iter().enumerate() {
        match token {
            Token::Leaf(node) => open.last_mut().expect("never empty").push(node.clone()),
            Token::Op(Op::Open, _) if open.len() < MAX_DEPTH => {
                let applied = i > 0 && matches!(tokens[i - 1], Token::Leaf(_));
                let name = open.last_mut().filter(|_| applied).and_then(Vec::pop);
                open.push(name.into_iter().collect());
            }
            Token::Op(Op::Close, span) => close(&mut open, Some(*span)),
            Token::Op(Op::Arrow, span) if arrow.is_none() => {
                while open.len() > 1 {
                    close(&mut open, None);
                }
                arrow = Some(Node::name(kw::ARROW, *span));
            }
            Token::Op(..) => {}
        }
    }
    while open.len() > 1 {
        close(&mut open, None);
    }
    let mut atoms = open.pop().unwrap_or_default();
    let Some(arrow) = arrow else {
        return atoms;
    };
    let span = atoms.iter().fold(arrow.span, |span, atom| span.to(atom.span));
    atoms.insert(0, arrow);
    vec![Node::list(atoms, span)]
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    /// Whether the rest is not read.
    too_deep: bool,
    text: &'a str,
    sink: &'a mut Sink,
}

/// The clause cannot be read; the mistake has been reported.
struct Broken;

type Parsed<T> = Result<T, Broken>;

impl Parser<'_> {
    fn program(&mut self) -> (Vec<Node>, Vec<Node>) {
        let (mut forms, mut unfinished) = (Vec::new(), Vec::new());
        while self.at < self.tokens.len() && !self.too_deep {
            self.depth = 0;
            let start = self.at;
            match self.clause() {
                Ok(form) => forms.push(form),
                Err(Broken) => {
                    self.at = self.next_clause(start);
                    unfinished.extend(salvage(&self.tokens[start..self.at]));
                }
            }
        }
        (forms, unfinished)
    }

    /// Where to go on after a mistake in the clause that begins at token `start`.
    fn next_clause(&self, start: usize) -> usize {
        if let Some(head) = self.head_before(self.at)
            && head > start
            && self.begins_line(head)
        {
            return head;
        }
        for at in self.at..self.tokens.len() {
            match &self.tokens[at] {
                Token::Op(Op::Stop, _) => return at + 1,
                Token::Leaf(_) if at > start && self.begins_line(at) && self.is_head(at) => return at,
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// The atom that ends before token `end`, if that is what ends the head of a clause.
    fn head_before(&self, end: usize) -> Option<usize> {
        let Some(Token::Op(Op::Arrow | Op::Stop, _)) = self.tokens.get(end) else {
            return None;
        };
        let mut at = end.checked_sub(1)?;
        let mut depth = 0;
        loop {
            match &self.tokens[at] {
                Token::Op(Op::Close, _) => depth += 1,
                Token::Op(Op::Open, _) if depth > 0 => depth -= 1,
                Token::Leaf(_) if depth == 0 => return Some(at),
                Token::Op(..) if depth == 0 => return None,
                _ => {}
            }
            at = at.checked_sub(1)?;
        }
    }

    /// Whether an atom begins here after which a clause ends or its body begins.
    fn is_head(&self, at: usize) -> bool {
        let mut depth = 0;
        for token in self.tokens[at + 1..].iter().take(MAX_HEAD) {
            match token {
                Token::Op(Op::Open, _) => depth += 1,
                Token::Op(Op::Close, _) if depth > 0 => depth -= 1,
                Token::Op(op, _) if depth == 0 => return matches!(op, Op::Arrow | Op::Stop),
                Token::Leaf(_) if depth == 0 => return false,
                Token::Op(Op::Arrow | Op::Stop, _) => return false,
                _ => {}
            }
        }
        false
    }

    fn begins_line(&self, at: usize) -> bool {
        let start = self.tokens[at].span().start as usize;
        let before = self.text.as_bytes()[..start].last();
        before.is_none_or(|b| matches!(b, b'\n' | b'\r'))
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
            self.too_deep = true;
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
