//! Filling `{name}` in the texts of a spec.

use std::fmt;

/// Why a text cannot be filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateError {
    /// A brace is not closed.
    Unclosed {
        /// The text.
        text: String,
    },
    /// A name has no value.
    UnknownName {
        /// The text.
        text: String,
        /// The name.
        name: String,
        /// Names that have values.
        known: Vec<String>,
    },
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TemplateError::Unclosed { text } => write!(f, "`{text}` has a brace that is not closed"),
            TemplateError::UnknownName { text, name, known } => {
                write!(f, "`{text}` asks for `{name}`, and there is only: {}", known.join(", "))
            }
        }
    }
}

impl std::error::Error for TemplateError {}

/// The text with every `{name}` replaced by the value of that name.
pub fn fill(text: &str, values: &[(String, String)]) -> Result<String, TemplateError> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}') else {
            return Err(TemplateError::Unclosed { text: text.to_owned() });
        };
        let name = &rest[open + 1..open + close];
        let Some((_, value)) = values.iter().find(|(n, _)| n == name) else {
            return Err(TemplateError::UnknownName {
                text: text.to_owned(),
                name: name.to_owned(),
                known: values.iter().map(|(n, _)| n.clone()).collect(),
            });
        };
        out += &rest[..open];
        out += value;
        rest = &rest[open + close + 1..];
    }
    Ok(out + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_filled_or_refused() {
        let values = [("n".to_owned(), "4".to_owned())];
        assert_eq!(fill("size={n},line={n}", &values).unwrap(), "size=4,line=4");
        assert!(fill("{m}", &values).unwrap_err().to_string().contains("`m`"));
        assert!(matches!(fill("{n", &values), Err(TemplateError::Unclosed { .. })));
    }
}
