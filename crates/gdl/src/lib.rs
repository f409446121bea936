//! GDL-II: text to checked rules and diagnostics.
//!
//! Come here to read, judge or print a game description. Reading never stops at the first mistake: it returns
//! what it understood and everything that is wrong with it.
//!
//! ```
//! let reading = surmise_gdl::read("(role me) (<= (legal me go) (not (true ?x)))", &surmise_gdl::Options::default());
//! let first = &reading.diagnostics[0];
//! assert_eq!(first.code, surmise_gdl::Code::NoGoal);
//! assert!(reading.diagnostics.iter().any(|d| d.code == surmise_gdl::Code::Unsafe));
//! ```
//!
//! The way of a text: [`mod@source`] decodes bytes; `prefix` or `infix` builds the syntax tree ([`ast`]);
//! `forms` gives it a meaning; `check` holds it against the restrictions of the language; `normalise` makes
//! [`Rules`], which is what the engines read. [`format`](mod@format) prints a tree in the canonical layout.

pub mod ast;
mod check;
pub mod codes;
pub mod diagnostic;
pub mod format;
mod forms;
mod infix;
mod names;
mod normalise;
mod prefix;
pub mod rules;
pub mod source;
pub mod symbol;
mod unify;

pub use ast::Notation;
pub use codes::Code;
pub use diagnostic::{Diagnostic, Mode, Severity, render};
pub use rules::{Atom, Clause, Information, Literal, Rules, Term};
pub use source::Span;
pub use symbol::{Symbol, Symbols, kw};

use diagnostic::Sink;
use forms::Dialect;
use names::Names;
use std::sync::Arc;

/// How to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How strictly to judge.
    pub mode: Mode,
    /// Tell names apart by case, as some systems do.
    pub case_sensitive: bool,
    /// In infix notation, names that begin with an upper-case letter are variables.
    pub upper_vars: bool,
    /// Judge `knows` by the rules of GDL-III.
    pub gdl3: bool,
    /// `action` and `percept` are domain hints.
    pub stanford: bool,
    /// The notation; detected if not given.
    pub notation: Option<Notation>,
}

/// What reading gave: everything that was understood, and everything that was wrong.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The decoded text, to which all places refer.
    pub text: String,
    /// What was written.
    pub ast: ast::Ast,
    /// What it means.
    pub rules: Rules,
    /// What is wrong with it, by position.
    pub diagnostics: Vec<Diagnostic>,
}

impl Reading {
    /// Whether nothing stands in the way of playing it.
    pub fn is_playable(&self) -> bool {
        self.diagnostics.iter().all(|d| d.severity < Severity::Error)
    }

    /// The diagnostics as text, for a file of this name.
    pub fn render(&self, file: &str) -> String {
        render(&self.diagnostics, file, &self.text)
    }
}

/// Reads bytes in any state.
pub fn read_bytes(bytes: &[u8], options: &Options) -> Reading {
    let decoded = source::decode(bytes);
    let mut sink = Sink::new(options.mode);
    if let Some(span) = decoded.not_utf8_at {
        sink.add(
            Code::Encoding,
            span,
            "this byte is not UTF-8; the file is read as Latin-1",
            "save the file as UTF-8",
        );
    }
    if decoded.cut {
        report_cut(decoded.text.len(), &mut sink);
    }
    read_with(decoded.text, options, sink)
}

/// Reads a text.
pub fn read(text: &str, options: &Options) -> Reading {
    read_bytes(text.as_bytes(), options)
}

fn report_cut(at: usize, sink: &mut Sink) {
    sink.add(
        Code::Limit,
        Span::new(at, at),
        format!(
            "more than {} MiB of text: the rest is not read",
            source::MAX_BYTES >> 20
        ),
        "no game needs this much; is it a description at all?",
    );
}

fn read_with(text: String, options: &Options, mut sink: Sink) -> Reading {
    let mut names = Names::new(&text, options.case_sensitive);
    let notation = options.notation.unwrap_or_else(|| detect(&text));
    let ast = match notation {
        Notation::Prefix => prefix::parse(&text, &mut names, &mut sink),
        Notation::Infix => infix::parse(&text, options.upper_vars, &mut names, &mut sink),
    };
    let dialect = Dialect {
        gdl3: options.gdl3,
        stanford: options.stanford,
    };
    let mut forms = forms::interpret(&ast, &text, dialect, &mut names, &mut sink);
    // After a mistake in the syntax, what the rules lack says nothing about what the author wrote.
    if sink.has_errors() {
        forms = check::check(forms, dialect, &names.symbols, &mut Sink::new(options.mode));
    } else {
        forms = check::check(forms, dialect, &names.symbols, &mut sink);
    }
    let symbols = names.symbols;
    let mut rules = normalise::normalise(forms, symbols, &mut sink);
    rules.source = Arc::from(&*text);
    Reading {
        text,
        ast,
        rules,
        diagnostics: sink.finish(),
    }
}

/// Which notation a text is written in (language reference, section 4).
pub fn detect(text: &str) -> Notation {
    if infix::looks_infix(text) {
        Notation::Infix
    } else {
        Notation::Prefix
    }
}
