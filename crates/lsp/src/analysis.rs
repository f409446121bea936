//! What one version of a text says.

use crate::index::Index;
use gdl::{Notation, Options, Reading, Severity};

/// A text that was read, and where its names are.
pub struct Analysis {
    /// The text, its tree, its rules and the findings.
    pub reading: Reading,
    /// Names and their places.
    pub index: Index,
}

impl Analysis {
    /// Reads a text. `known` is the notation that it had when its syntax was last in order: while somebody types at the
    /// beginning of a text, its first form says little about the notation of the rest.
    pub fn new(text: &str, options: &Options, known: Option<Notation>) -> Analysis {
        let detected = gdl::detect(text);
        let read_as = |notation| {
            let options = Options {
                notation: Some(notation),
                ..*options
            };
            gdl::read(text, &options)
        };
        let mut reading = read_as(detected);
        if syntax_errors(&reading) > 0 {
            match known {
                Some(known) if known != detected => reading = read_as(known),
                Some(_) => {}
                None => {
                    let other = read_as(match detected {
                        Notation::Prefix => Notation::Infix,
                        Notation::Infix => Notation::Prefix,
                    });
                    if syntax_errors(&other) < syntax_errors(&reading) {
                        reading = other;
                    }
                }
            }
        }
        let index = Index::new(&reading);
        Analysis { reading, index }
    }

    /// Whether the syntax is in order.
    pub fn is_well_formed(&self) -> bool {
        syntax_errors(&self.reading) == 0
    }
}

fn syntax_errors(reading: &Reading) -> usize {
    let is_error = |d: &&gdl::Diagnostic| d.severity == Severity::Error && d.code.is_syntax();
    reading.diagnostics.iter().filter(is_error).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notation_survives_typing_at_the_beginning() {
        let options = Options::default();
        let text = "ro(role a)\n(<= (legal a b) (true c))\n";
        assert_eq!(gdl::detect(text), Notation::Infix);
        let analysis = Analysis::new(text, &options, Some(Notation::Prefix));
        assert_eq!(analysis.reading.ast.notation, Notation::Prefix);
        // Also without knowing better: the other notation has fewer mistakes.
        let analysis = Analysis::new(text, &options, None);
        assert_eq!(analysis.reading.ast.notation, Notation::Prefix);
        // A text without mistakes is what it looks like.
        let analysis = Analysis::new("role(a).\n", &options, Some(Notation::Prefix));
        assert_eq!(analysis.reading.ast.notation, Notation::Infix);
    }
}
