//! A reader, checker and printer for GDL-II, the Game Description Language for games with hidden information.
//!
//! Use this crate to read, check or print a game description. To play or solve a game, use the crate `surmise`, which
//! calls this one. Reading never stops at the first mistake: [`read`] returns the rules it understood and a diagnostic
//! for everything that is wrong.
//!
//! ```
//! use surmise_gdl::{Code, Information, Options, read};
//!
//! // A game with a mistake: nothing binds ?x.
//! let reading = read("(role me) (<= (legal me go) (not (true ?x)))", &Options::default());
//! assert!(!reading.is_playable());
//! let mistake = reading.diagnostics.iter().find(|d| d.code == Code::Unsafe).unwrap();
//! assert_eq!(mistake.message, "variable ?x of this rule is bound by no positive literal");
//!
//! // A game without one: its rules, as the engines read them.
//! let text = "(role me) (legal me go) (next done) (<= terminal (true done)) (goal me 100)";
//! let reading = read(text, &Options::default());
//! assert!(reading.is_playable());
//! assert_eq!(reading.rules.clauses.len(), 5);
//! assert_eq!(reading.rules.information(), Information::Open);
//! ```
//!
//! Steps from text to rules: [`mod@source`] decodes bytes; `prefix` or `infix` builds the syntax tree ([`ast`]);
//! `forms` turns the tree into facts and rules; `check` compares these with the restrictions of the language;
//! `normalise` makes [`Rules`]. [`format`](mod@format) prints a syntax tree in the canonical layout.
//!
//! Read next: `docs/gdl2.md`, the reference of the language; [`rules`] for what the engines get; [`Code`] for the
//! diagnostics, each of which has a page ([`Code::page`]).

pub mod ast;
mod check;
pub mod codes;
pub mod diagnostic;
pub mod fix;
pub mod format;
mod forms;
mod infix;
mod lint;
pub mod mutate;
mod names;
mod normalise;
mod prefix;
mod reach;
pub mod rules;
mod similar;
pub mod source;
pub mod symbol;
mod unify;

pub use ast::Notation;
pub use codes::Code;
pub use diagnostic::{Diagnostic, Mode, Severity, render};
pub use fix::{Edit, Fix};
pub use lint::lint;
pub use rules::{Atom, Clause, Information, Literal, Rules, Term};
pub use source::Span;
pub use symbol::{Symbol, Symbols, kw};

use diagnostic::Sink;
use forms::Dialect;
use names::Names;
use std::sync::Arc;

/// Options of reading.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Severity of violations of the specification.
    pub mode: Mode,
    /// Whether names are case-sensitive; keywords never are.
    pub case_sensitive: bool,
    /// Whether names that begin with an upper-case letter are variables, in infix notation.
    pub upper_vars: bool,
    /// Whether `knows` is checked by the rules of GDL-III.
    pub gdl3: bool,
    /// Whether `action` and `percept` are domain hints, as `base` and `input` are.
    pub stanford: bool,
    /// The notation; detected if not given.
    pub notation: Option<Notation>,
}

/// The result of reading a description.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Decoded text, to which all spans refer.
    pub text: String,
    /// Syntax tree.
    pub ast: ast::Ast,
    /// Rules, without the parts that could not be understood.
    pub rules: Rules,
    /// Findings, ordered by position.
    pub diagnostics: Vec<Diagnostic>,
    /// Facts and rules with their places, for [`lint()`].
    forms: Vec<forms::Form>,
}

impl Reading {
    /// Whether there are no errors, so that the game can be played.
    pub fn is_playable(&self) -> bool {
        self.diagnostics.iter().all(|d| d.severity < Severity::Error)
    }

    /// The diagnostics as text; `file` is the name to print before each line number.
    pub fn render(&self, file: &str) -> String {
        render(&self.diagnostics, file, &self.text)
    }
}

/// Reads a description from any bytes: UTF-8, or else Latin-1.
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

/// Reads a description from a text.
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
    // After a syntax error the rules are incomplete: findings about what they lack would mislead.
    if sink.has_errors() {
        forms = check::check(forms, dialect, &text, &names.symbols, &mut Sink::new(options.mode));
    } else {
        forms = check::check(forms, dialect, &text, &names.symbols, &mut sink);
    }
    let symbols = names.symbols;
    let mut rules = normalise::normalise(&forms, symbols, &mut sink);
    rules.source = Arc::from(&*text);
    Reading {
        text,
        ast,
        rules,
        diagnostics: sink.finish(),
        forms,
    }
}

/// The notation of a text: infix if its first name is directly followed by `(`, or by `.`, `<=` or `:-`; else prefix.
pub fn detect(text: &str) -> Notation {
    if infix::looks_infix(text) {
        Notation::Infix
    } else {
        Notation::Prefix
    }
}
