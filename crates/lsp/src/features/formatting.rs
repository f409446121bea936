//! Formatting in the canonical layout. Comments are kept. A text with mistakes in its syntax is left as it is: the
//! layout of what was not read would be lost.

use crate::document::View;
use lsp_types::TextEdit;

/// The edits that give a document the canonical layout: one for each run of lines that changes.
///
/// # Errors
/// If the syntax has mistakes.
pub fn formatting(view: View) -> Result<Vec<TextEdit>, String> {
    if !view.analysis.is_well_formed() {
        return Err("the rules have mistakes in their syntax; mend these first".to_owned());
    }
    let reading = &view.analysis.reading;
    let text = view.text();
    let formatted = gdl::format::format(&reading.ast, text, &reading.rules.symbols, view.notation())
        .map_err(|error| error.to_string())?;
    if formatted == text {
        return Ok(Vec::new());
    }
    // Only what lies between the first and the last difference is replaced, so that cursors outside stay.
    let start = common(text.bytes(), formatted.bytes());
    let end = common(text[start..].bytes().rev(), formatted[start..].bytes().rev());
    let start = floor(text, &formatted, start);
    let mut end = end.min(text.len() - start).min(formatted.len() - start);
    while !text.is_char_boundary(text.len() - end) || !formatted.is_char_boundary(formatted.len() - end) {
        end -= 1;
    }
    Ok(vec![TextEdit {
        range: view.range(gdl::Span::new(start, text.len() - end)),
        new_text: formatted[start..formatted.len() - end].to_owned(),
    }])
}

fn common(a: impl Iterator<Item = u8>, b: impl Iterator<Item = u8>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

/// The largest boundary of characters of both texts that is not above `at`.
fn floor(a: &str, b: &str, mut at: usize) -> usize {
    while !a.is_char_boundary(at) || !b.is_char_boundary(at) {
        at -= 1;
    }
    // Not between CR and LF, which are one line end for the client.
    if at > 0 && a.as_bytes()[at - 1] == b'\r' {
        at -= 1;
    }
    at
}
