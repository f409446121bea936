//! Printing a syntax tree in the canonical layout, in either notation.
//!
//! Each form starts a line. A rule with more than one condition has one condition a line. Comments keep their places,
//! blank lines between forms are kept (at most one), names keep their spelling, keywords are in lower case. Printing is
//! idempotent.

use crate::ast::{Ast, Node, NodeKind, Notation};
use crate::source::{Span, short};
use crate::symbol::{Symbol, Symbols, kw};
use std::error::Error;
use std::fmt;

/// Columns that lines should not exceed.
const WIDTH: usize = 80;

/// Largest indentation: without a limit a thousand levels would print more blanks than rules.
const MAX_INDENT: usize = 60;

/// The error of [`format`]: a name that cannot be written in the notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable {
    /// The name.
    pub name: String,
    /// Place of the name.
    pub span: Span,
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the name `{}` cannot be written in infix notation",
            short(&self.name)
        )
    }
}

impl Error for Unwritable {}

/// Prints a description. `text` is the text that the tree was read from.
///
/// # Errors
/// If a name cannot be written in infix notation, such as `a,b`.
pub fn format(ast: &Ast, text: &str, symbols: &Symbols, notation: Notation) -> Result<String, Unwritable> {
    let mut printer = Printer {
        text,
        symbols,
        notation,
        from: ast.notation,
        comments: &ast.comments,
        out: String::new(),
        error: None,
    };
    printer.description(&ast.forms);
    match printer.error {
        Some(error) => Err(error),
        None => Ok(printer.out),
    }
}

struct Printer<'a> {
    text: &'a str,
    symbols: &'a Symbols,
    notation: Notation,
    from: Notation,
    /// Comments not yet printed.
    comments: &'a [Span],
    out: String,
    error: Option<Unwritable>,
}

impl<'a> Printer<'a> {
    fn description(&mut self, forms: &[Node]) {
        let mut last = 0;
        for form in forms {
            last = self.comments_before(form.span.start, last);
            self.blank_line(last, form.span.start);
            self.form(form);
            last = form.span.end;
            last = self.trailing_comment(last, None);
            self.out.push('\n');
        }
        self.comments_before(self.text.len() as u32, last);
    }

    /// Prints the comments that start before `limit`, each on a line.
    fn comments_before(&mut self, limit: u32, mut last: u32) -> u32 {
        while let Some((&comment, rest)) = self.comments.split_first()
            && comment.start < limit
        {
            self.comments = rest;
            self.blank_line(last, comment.start);
            self.comment(comment);
            self.out.push('\n');
            last = comment.end;
        }
        last
    }

    /// Prints one empty line if the source has any there.
    fn blank_line(&mut self, last: u32, next: u32) {
        if self.out.is_empty() || next < last {
            return;
        }
        let between = &self.text[last as usize..next as usize];
        if count_lines(between) > 1 {
            self.out.push('\n');
        }
    }

    /// Prints the comment that follows on the same line, if there is one that starts before `limit`.
    fn trailing_comment(&mut self, last: u32, limit: Option<u32>) -> u32 {
        let Some((&comment, rest)) = self.comments.split_first() else {
            return last;
        };
        let inside = limit.is_none_or(|limit| comment.start < limit);
        if !inside || comment.start < last {
            return last;
        }
        let between = &self.text[last as usize..comment.start as usize];
        if !between
            .trim_matches([' ', '\t', ')', '.', ',', '&', '\x0b', '\x0c'])
            .is_empty()
        {
            return last;
        }
        self.comments = rest;
        self.out.push_str("  ");
        self.comment(comment);
        comment.end
    }

    fn comment(&mut self, span: Span) {
        let (from, to) = (sign(self.from), sign(self.notation));
        let body = self.text[span.range()].trim_end();
        let rest = body.trim_start_matches(from);
        let signs = body.len() - rest.len();
        self.out.extend(std::iter::repeat_n(to, signs));
        self.out.push_str(rest);
    }

    fn has_comment(&self, span: Span) -> bool {
        let first = self.comments.partition_point(|c| c.start < span.start);
        self.comments.get(first).is_some_and(|c| c.start < span.end)
    }

    fn form(&mut self, form: &Node) {
        match self.notation {
            Notation::Prefix => self.prefix(form, 0),
            Notation::Infix => self.clause(form),
        }
    }

    /// Prints a node that starts at this column, in prefix notation.
    fn prefix(&mut self, node: &Node, column: usize) {
        let node = unwrap_single(node);
        let NodeKind::List(items) = &node.kind else {
            self.leaf(node);
            return;
        };
        let long_rule = node.head_name() == Some(kw::ARROW) && items.len() > 3;
        if !long_rule && !self.has_comment(node.span) && self.fits(node, WIDTH.saturating_sub(column)) {
            self.flat(node);
            return;
        }
        self.broken(node, items, column);
    }

    fn broken(&mut self, node: &Node, items: &[Node], column: usize) {
        self.out.push('(');
        let (lead, indent) = match node.head_name() {
            Some(kw::ARROW) => (2, column + 4),
            Some(kw::OR) => (2, column + 4),
            Some(kw::NOT | kw::AND) => (2, column + 5),
            _ => (1, column + 4),
        };
        let indent = indent.min(MAX_INDENT);
        let mut last = node.span.start + 1;
        for (i, item) in items.iter().enumerate() {
            let had_comments = self.inner_comments(item.span.start, &mut last, indent);
            if had_comments || i >= lead {
                self.new_line(indent);
            } else if i > 0 {
                self.out.push(' ');
            }
            let at = self.column();
            self.prefix(item, at);
            last = item.span.end;
        }
        if self.inner_comments(node.span.end, &mut last, indent) {
            self.new_line(column.min(MAX_INDENT));
        }
        self.out.push(')');
    }

    /// Prints the comments before `limit`: one at the end of the line, each of the others on a line.
    fn inner_comments(&mut self, limit: u32, last: &mut u32, indent: usize) -> bool {
        let before = self.comments.len();
        *last = self.trailing_comment(*last, Some(limit));
        while let Some((&comment, rest)) = self.comments.split_first()
            && comment.start < limit
        {
            self.comments = rest;
            self.new_line(indent);
            self.comment(comment);
            *last = comment.end;
        }
        self.comments.len() < before
    }

    fn new_line(&mut self, indent: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn column(&self) -> usize {
        let line = self.out.rfind('\n').map_or(0, |i| i + 1);
        self.out.len() - line
    }

    fn flat(&mut self, node: &Node) {
        let node = unwrap_single(node);
        let NodeKind::List(items) = &node.kind else {
            self.leaf(node);
            return;
        };
        self.out.push('(');
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.out.push(' ');
            }
            self.flat(item);
        }
        self.out.push(')');
    }

    fn leaf(&mut self, node: &Node) {
        let (sign, text) = self.leaf_text(node);
        self.out.push_str(sign);
        self.out.push_str(text);
    }

    /// The text of a leaf, and a prefix for it. Keywords are in lower case; other names keep their spelling.
    fn leaf_text(&self, node: &Node) -> (&'static str, &'a str) {
        let written = &self.text[node.span.range()];
        match node.kind {
            NodeKind::Name(symbol) if symbol.is_keyword_relation() || symbol.is_connective() => {
                ("", self.symbols.text(symbol))
            }
            // Upper-case variables of infix notation have no question mark of their own.
            NodeKind::Var(_) if !written.starts_with('?') => ("?", written),
            _ => ("", written),
        }
    }

    /// Whether the node fits into this many columns. The time is linear in `width`.
    fn fits(&self, node: &Node, width: usize) -> bool {
        self.remaining(node, width).is_some()
    }

    fn remaining(&self, node: &Node, width: usize) -> Option<usize> {
        let node = unwrap_single(node);
        let NodeKind::List(items) = &node.kind else {
            let (sign, text) = self.leaf_text(node);
            return width.checked_sub(sign.len() + text.len());
        };
        let mut width = width.checked_sub(2)?;
        for item in items {
            width = self.remaining(item, width)?.checked_sub(1)?;
        }
        Some(width)
    }

    /// Prints a clause in infix notation. Comments inside a condition move before it.
    fn clause(&mut self, form: &Node) {
        let (head, body) = match form.items() {
            [arrow, head, body @ ..] if arrow.head_name() == Some(kw::ARROW) => (head, Some(body)),
            _ => (form, None),
        };
        self.hoisted(head.span.end, 0, false);
        self.literal(head, Place::Conjunct);
        if let Some(body) = body {
            self.out.push_str(" <=");
            self.conditions(form, body);
        }
        self.out.push('.');
    }

    fn conditions(&mut self, form: &Node, body: &[Node]) {
        // A comment after the last condition is printed after the clause.
        let inside = Span {
            start: form.span.start,
            end: body.last().map_or(form.span.end, |l| l.span.end),
        };
        let one_line = body.len() == 1 && !self.has_comment(inside) && self.fits(form, WIDTH);
        for (i, literal) in body.iter().enumerate() {
            if i > 0 {
                self.out.push(',');
                self.trailing_comment(body[i - 1].span.end, Some(literal.span.start));
            }
            if one_line {
                self.out.push(' ');
            } else {
                self.hoisted(literal.span.end, 4, true);
                self.new_line(4);
            }
            self.literal(literal, Place::Conjunct);
        }
    }

    /// Prints the comments before `limit`, each on a line: before (`lead` false) or after the current line.
    fn hoisted(&mut self, limit: u32, indent: usize, lead: bool) {
        while let Some((&comment, rest)) = self.comments.split_first()
            && comment.start < limit
        {
            self.comments = rest;
            if lead {
                self.new_line(indent);
            }
            self.comment(comment);
            if !lead {
                self.new_line(indent);
            }
        }
    }

    fn literal(&mut self, node: &Node, place: Place) {
        let node = unwrap_single(node);
        let args = node.items().get(1..).unwrap_or_default();
        match node.head_name() {
            Some(kw::NOT) if args.len() == 1 => {
                self.out.push_str("not ");
                self.literal(&args[0], Place::Operand);
            }
            Some(kw::OR) if args.len() > 1 => self.junction(args, " | ", place == Place::Operand, Place::Operand),
            Some(kw::AND) if args.len() > 1 => self.junction(args, ", ", true, Place::Conjunct),
            Some(name @ (kw::OR | kw::AND)) if matches!(node.kind, NodeKind::List(_)) => {
                self.out.push_str(self.symbols.text(name));
                self.junction(args, ", ", true, Place::Conjunct);
            }
            _ => self.application(node),
        }
    }

    fn junction(&mut self, members: &[Node], separator: &str, parenthesised: bool, place: Place) {
        if parenthesised {
            self.out.push('(');
        }
        for (i, member) in members.iter().enumerate() {
            if i > 0 {
                self.out.push_str(separator);
            }
            self.literal(member, place);
        }
        if parenthesised {
            self.out.push(')');
        }
    }

    /// `name(a, b)`, without blanks, as the papers write it.
    fn application(&mut self, node: &Node) {
        let node = unwrap_single(node);
        let Some((name, args)) = node.items().split_first() else {
            self.infix_leaf(node);
            return;
        };
        self.infix_leaf(name);
        for (i, arg) in args.iter().enumerate() {
            self.out.push(if i == 0 { '(' } else { ',' });
            self.application(arg);
        }
        self.out.push(')');
    }

    fn infix_leaf(&mut self, node: &Node) {
        let (_, text) = self.leaf_text(node);
        if !writable_infix(text, node) {
            self.error.get_or_insert(Unwritable {
                name: text.to_owned(),
                span: node.span,
            });
        }
        self.leaf(node);
    }
}

/// Place of a literal of infix notation: operands of `|` and `not` bind tighter than conjuncts.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Conjunct,
    Operand,
}

fn sign(notation: Notation) -> char {
    match notation {
        Notation::Prefix => ';',
        Notation::Infix => '%',
    }
}

fn count_lines(text: &str) -> usize {
    let text = text.replace("\r\n", "\n");
    text.matches(['\n', '\r']).count()
}

/// Replaces `(f)` by `f`, except for connectives: `(or)` has a meaning.
fn unwrap_single(node: &Node) -> &Node {
    match &node.kind {
        NodeKind::List(items) if items.len() == 1 && !is_connective_leaf(&items[0]) => unwrap_single(&items[0]),
        _ => node,
    }
}

fn is_connective_leaf(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Name(name) if Symbol::is_connective(name))
}

/// Whether the parser of infix notation reads this text as one name.
fn writable_infix(text: &str, node: &Node) -> bool {
    let separators = |c: char| ",&|~()%".contains(c);
    let reserved = matches!(node.kind, NodeKind::Name(name) if name.is_connective() && name != kw::DISTINCT);
    !reserved && !text.contains(separators) && !text.contains("<=") && !text.contains(":-") && !text.ends_with('.')
}
