//! Filling `{name}` in the texts of a spec.

use anyhow::{Result, bail};

/// The text with every `{name}` replaced by the value of that name.
pub fn fill(text: &str, values: &[(String, String)]) -> Result<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}') else {
            bail!("`{text}` has a brace that is not closed");
        };
        let name = &rest[open + 1..open + close];
        let Some((_, value)) = values.iter().find(|(n, _)| n == name) else {
            let names: Vec<&str> = values.iter().map(|(n, _)| n.as_str()).collect();
            bail!("`{text}` asks for `{name}`, and there is only: {}", names.join(", "));
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
        assert!(fill("{n", &values).is_err());
    }
}
