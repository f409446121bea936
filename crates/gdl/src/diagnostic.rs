//! Diagnostics: findings about a description, with place, severity and advice.

use crate::codes::Code;
use crate::fix::{Edit, Fix};
use crate::source::{LineIndex, Position, Span};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Information.
    Note,
    /// The description has one sensible reading, but other programs may read it differently.
    Warning,
    /// The description has no meaning there.
    Error,
}

impl Severity {
    /// The word used in messages.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Kind of finding.
    pub code: Code,
    /// Severity in the mode of the reading.
    pub severity: Severity,
    /// Place.
    pub span: Span,
    /// The finding in one sentence.
    pub message: String,
    /// Advice.
    pub help: String,
    /// Related places, each with a note.
    pub related: Vec<(Span, String)>,
    /// Changes of the text that would mend it, the most likely first.
    pub fixes: Vec<Fix>,
}

/// Mode of reading (docs/gdl2.md, Lenient and strict).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// For playing: everything that has one sensible reading is accepted.
    #[default]
    Lenient,
    /// For validating: violations of the specification are errors.
    Strict,
}

/// Findings of one code that are kept; the rest are counted, so that a report cannot outgrow its file.
const MAX_PER_CODE: usize = 100;

/// Collects findings.
#[derive(Debug)]
pub(crate) struct Sink {
    mode: Mode,
    found: Vec<Diagnostic>,
    counts: HashMap<Code, usize>,
}

impl Sink {
    pub fn new(mode: Mode) -> Sink {
        Sink {
            mode,
            found: Vec::new(),
            counts: HashMap::new(),
        }
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether one more finding of this code would be kept. Ask before making a costly message.
    pub fn wants(&self, code: Code) -> bool {
        self.counts.get(&code).is_none_or(|&n| n < MAX_PER_CODE)
    }

    /// Adds a finding with the severity that its code has in this mode.
    pub fn add(&mut self, code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) -> Slot<'_> {
        self.add_as(code, code.severity(self.mode), span, message, help)
    }

    /// Adds a finding whose severity depends on more than the mode.
    pub fn add_as(
        &mut self,
        code: Code,
        severity: Severity,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Slot<'_> {
        let count = self.counts.entry(code).or_insert(0);
        *count += 1;
        if *count > MAX_PER_CODE {
            return Slot(None);
        }
        self.found.push(Diagnostic {
            code,
            severity,
            span,
            message: message.into(),
            help: help.into(),
            related: Vec::new(),
            fixes: Vec::new(),
        });
        Slot(self.found.last_mut())
    }

    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|d| d.severity == Severity::Error)
    }

    /// All findings, ordered by position.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        for (&code, &count) in &self.counts {
            if count > MAX_PER_CODE {
                let last = self.found.iter_mut().rfind(|d| d.code == code);
                let last = last.expect("a counted code has findings");
                let _ = write!(last.message, " (and {} more like this)", count - MAX_PER_CODE);
            }
        }
        self.found
            .sort_by(|a, b| (a.span, a.code.text()).cmp(&(b.span, b.code.text())));
        self.found
    }
}

/// A finding that was just added, to which related places and fixes can be added.
pub(crate) struct Slot<'a>(Option<&'a mut Diagnostic>);

impl Slot<'_> {
    /// Adds a related place.
    pub fn see(self, span: Span, note: impl Into<String>) -> Self {
        if let Slot(Some(diagnostic)) = self {
            diagnostic.related.push((span, note.into()));
            return Slot(Some(diagnostic));
        }
        self
    }

    /// Adds a fix of one edit that keeps the meaning the text was read with.
    pub fn fix(self, title: impl Into<String>, span: Span, replacement: impl Into<String>) -> Self {
        self.offer(title, span, replacement, false)
    }

    /// Adds a fix of one edit that changes the meaning to what was probably meant.
    pub fn guess(self, title: impl Into<String>, span: Span, replacement: impl Into<String>) -> Self {
        self.offer(title, span, replacement, true)
    }

    fn offer(
        self,
        title: impl Into<String>,
        span: Span,
        replacement: impl Into<String>,
        changes_meaning: bool,
    ) -> Self {
        if let Slot(Some(diagnostic)) = self {
            diagnostic.fixes.push(Fix {
                title: title.into(),
                edits: vec![Edit {
                    span,
                    replacement: replacement.into(),
                }],
                changes_meaning,
            });
            return Slot(Some(diagnostic));
        }
        self
    }
}

/// A diagnostic with its lines and columns.
#[derive(Clone, Debug)]
pub struct Located<'a> {
    /// The finding.
    pub diagnostic: &'a Diagnostic,
    /// First position.
    pub start: Position,
    /// Position after the last.
    pub end: Position,
    /// First positions of the related places.
    pub related: Vec<Position>,
}

/// Computes lines and columns, in one pass over the text.
pub fn locate<'a>(diagnostics: &'a [Diagnostic], text: &str, lines: &LineIndex) -> Vec<Located<'a>> {
    let mut offsets = Vec::new();
    for d in diagnostics {
        offsets.extend([d.span.start, d.span.end]);
        offsets.extend(d.related.iter().map(|(span, _)| span.start));
    }
    let mut positions = lines.positions(text, &offsets).into_iter();
    let mut next = || positions.next().expect("one position per offset");
    diagnostics
        .iter()
        .map(|diagnostic| Located {
            diagnostic,
            start: next(),
            end: next(),
            related: diagnostic.related.iter().map(|_| next()).collect(),
        })
        .collect()
}

/// The diagnostics as text: for each a line, an excerpt with a caret, the related places and the advice.
pub fn render(diagnostics: &[Diagnostic], file: &str, text: &str) -> String {
    let lines = LineIndex::new(text);
    let mut out = String::new();
    for located in locate(diagnostics, text, &lines) {
        let d = located.diagnostic;
        let Position { line, column } = located.start;
        let _ = writeln!(
            out,
            "{file}:{line}:{column}: {}[{}]: {}",
            d.severity.word(),
            d.code.text(),
            d.message
        );
        write_excerpt(&mut out, d.span, located.start, text, &lines);
        for ((span, note), at) in d.related.iter().zip(&located.related) {
            let _ = writeln!(out, "  {file}:{}:{}: {note}", at.line, at.column);
            write_excerpt(&mut out, *span, *at, text, &lines);
        }
        if !d.help.is_empty() {
            let _ = writeln!(out, "  help: {}", d.help);
        }
    }
    out
}

/// Columns of source shown around a caret.
const EXCERPT: usize = 100;

fn write_excerpt(out: &mut String, span: Span, at: Position, text: &str, lines: &LineIndex) {
    let line_no = at.line as usize - 1;
    let range = lines.line_range(line_no, text);
    let caret = (span.start as usize).clamp(range.start, range.end);
    let (before, cut) = last_chars(&text[range.start..caret], EXCERPT * 2 / 3);
    let after: String = text[caret..range.end]
        .chars()
        .take(EXCERPT - before.chars().count())
        .collect();
    let shown = |s: &str| s.replace(|c: char| c.is_control(), " ");
    let lead = if cut { "…" } else { "" };
    let number = at.line.to_string();
    let gutter = " ".repeat(number.len());
    let _ = writeln!(out, "  {number} | {lead}{}{}", shown(before), shown(&after));
    let marked = (span.end as usize).clamp(caret, range.end) - caret;
    let marked = text[caret..caret + marked]
        .chars()
        .count()
        .clamp(1, after.chars().count().max(1));
    let pad = " ".repeat(lead.chars().count() + before.chars().count());
    let _ = writeln!(out, "  {gutter} | {pad}{}", "^".repeat(marked));
}

/// The last `n` characters, and whether something was left out. Looks at no more than that.
fn last_chars(text: &str, n: usize) -> (&str, bool) {
    match text.char_indices().rev().nth(n) {
        Some((i, c)) => (&text[i + c.len_utf8()..], true),
        None => (text, false),
    }
}
