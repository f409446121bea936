//! Options that are words.

/// The meaning of a word that stands for a choice, or what may be said in its place.
///
/// # Errors
/// If it is none of the words.
pub fn by_word<T: Copy>(what: &str, word: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let chosen = choices.iter().find(|(name, _)| *name == word);
    chosen.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let (last, others) = names.split_last().unwrap_or((&"", &[]));
        format!("{what} cannot be `{word}`; choose {} or {last}", others.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::by_word;

    #[test]
    fn words_are_found_or_listed() {
        let sizes = [("small", 1), ("middle", 2), ("large", 3)];
        assert_eq!(by_word("size", "large", &sizes), Ok(3));
        let error = by_word("size", "huge", &sizes).unwrap_err();
        assert_eq!(error, "size cannot be `huge`; choose small, middle or large");
    }
}
