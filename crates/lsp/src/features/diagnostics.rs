//! Findings as the protocol has them.

use crate::document::{Places, View};
use crate::facts::Played;
use gdl::{Code, Diagnostic, Severity};
use lsp_types::{
    DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location, NumberOrString, Position, Range,
};

/// The name that findings carry.
pub const SOURCE: &str = "surmise";

/// The findings of a document, of the checks of what can hold, and of the games that were played with these rules.
pub fn diagnostics(view: View, lints: &[Diagnostic], played: Option<&Played>) -> Vec<lsp_types::Diagnostic> {
    let mut places = view.places();
    let all = all(view, lints, played).into_iter();
    all.map(|d| convert(view, &mut places, d)).collect()
}

/// The findings themselves. What was found in the text has a better place than play can give it.
pub fn all<'a>(view: View<'a>, lints: &'a [Diagnostic], played: Option<&'a Played>) -> Vec<&'a Diagnostic> {
    let read = &view.analysis.reading.diagnostics;
    // After a mistake in the syntax, findings about what the rules can do would mislead.
    let lints = if view.analysis.is_well_formed() { lints } else { &[] };
    let played = played.map_or(&[][..], |p| &p.diagnostics);
    let new = played
        .iter()
        .filter(|d| read.iter().chain(lints).all(|s| s.code != d.code));
    read.iter().chain(lints).chain(new).collect()
}

/// One finding.
pub fn convert(view: View, places: &mut Places, found: &Diagnostic) -> lsp_types::Diagnostic {
    let range = places.range(found.span);
    let related = found.related.iter().map(|(span, note)| DiagnosticRelatedInformation {
        location: Location {
            uri: view.document.uri.clone(),
            range: places.range(*span),
        },
        message: note.clone(),
    });
    let related: Vec<_> = related.collect();
    let message = match found.help.is_empty() {
        true => found.message.clone(),
        false => format!("{}\nhelp: {}", found.message, found.help),
    };
    lsp_types::Diagnostic {
        range,
        severity: Some(match found.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Note => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(found.code.text().to_owned())),
        source: Some(SOURCE.to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: matches!(found.code, Code::Unused | Code::Dup | Code::RuleNever)
            .then(|| vec![DiagnosticTag::UNNECESSARY]),
        ..lsp_types::Diagnostic::default()
    }
}

/// The finding about a document that is too large.
pub fn refusal() -> lsp_types::Diagnostic {
    lsp_types::Diagnostic {
        range: Range::new(Position::new(0, 0), Position::new(0, 0)),
        severity: Some(DiagnosticSeverity::ERROR),
        code: Some(NumberOrString::String(Code::Limit.text().to_owned())),
        source: Some(SOURCE.to_owned()),
        message: format!(
            "more than {} MiB of text: the file is not read\nhelp: no game needs this much; is it a description at all?",
            gdl::source::MAX_BYTES >> 20
        ),
        ..lsp_types::Diagnostic::default()
    }
}
