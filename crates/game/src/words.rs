//! Options that are words, and suggestions for misspelt ones.

use std::fmt;

/// A word that is none of the choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// What the word was to choose.
    pub what: &'static str,
    /// The word.
    pub word: String,
    /// The words that there are.
    pub choices: Vec<&'static str>,
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (last, others) = self.choices.split_last().unwrap_or((&"", &[]));
        let (what, word) = (self.what, &self.word);
        write!(f, "{what} cannot be `{word}`; choose {} or {last}", others.join(", "))
    }
}

impl std::error::Error for UnknownWord {}

/// The meaning of a word that stands for a choice.
///
/// # Errors
/// If it is none of the words.
pub fn by_word<T: Copy>(what: &'static str, word: &str, choices: &[(&'static str, T)]) -> Result<T, UnknownWord> {
    let chosen = choices.iter().find(|(name, _)| *name == word);
    chosen.map(|(_, meaning)| *meaning).ok_or_else(|| UnknownWord {
        what,
        word: word.to_owned(),
        choices: choices.iter().map(|(name, _)| *name).collect(),
    })
}

/// The candidate that a misspelt word most likely means: at most a third of its letters differ (Levenshtein distance),
/// or the word is its beginning. The first of equally close candidates.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().take(64).collect();
    let near = |candidate: &&str| {
        let letters: Vec<char> = candidate.chars().collect();
        let longest = word.len().max(letters.len());
        let begins = word.len() >= 2 && letters.starts_with(&word);
        begins || 3 * distance(&word, &letters) <= longest
    };
    let by_distance = |candidate: &&str| distance(&word, &candidate.chars().collect::<Vec<_>>());
    candidates.into_iter().filter(near).min_by_key(by_distance)
}

/// Letters to insert, remove or replace to make one word of another (Levenshtein 1966), where swapping two neighbours
/// counts as one change.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::{by_word, closest};

    #[test]
    fn misspelt_words_are_guessed() {
        let words = ["models", "playouts", "sampler", "hp", "hp2", "ismcts"];
        let guess = |word| closest(word, words);
        assert_eq!(guess("modles"), Some("models"));
        assert_eq!(guess("model"), Some("models"));
        assert_eq!(guess("plyouts"), Some("playouts"));
        assert_eq!(guess("hpp"), Some("hp"));
        assert_eq!(guess("ismct"), Some("ismcts"));
        assert_eq!(guess("sam"), Some("sampler"));
        assert_eq!(guess("zebra"), None);
        assert_eq!(guess(""), None);
    }

    #[test]
    fn words_are_found_or_listed() {
        let sizes = [("small", 1), ("middle", 2), ("large", 3)];
        assert_eq!(by_word("size", "large", &sizes), Ok(3));
        let error = by_word("size", "huge", &sizes).unwrap_err();
        assert_eq!(
            error.to_string(),
            "size cannot be `huge`; choose small, middle or large"
        );
    }
}
