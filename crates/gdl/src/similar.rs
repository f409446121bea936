//! Names that are one typing error apart.

/// Whether one letter left out, added, replaced or swapped with its neighbour turns one name into the other. Names of
/// one or two letters are similar to none.
pub(crate) fn within_one_edit(a: &str, b: &str) -> bool {
    let Some((a, b)) = difference(a, b) else {
        return false;
    };
    a.len().max(b.len()) <= 1 || is_swap(&a, &b)
}

/// Whether the names are one typing error apart that is hardly made on purpose: `step1` and `step2`, `xplayer` and
/// `oplayer`, `toX` and `toY` are different names that differ in a digit, or in their first or last letter. Words of
/// four letters that differ in one are often different words: `last` and `lost`.
pub(crate) fn is_misspelling(a: &str, b: &str) -> bool {
    let Some((x, y)) = difference(a, b) else {
        return false;
    };
    let is_letter = |c: &char| c.is_alphabetic() || matches!(c, '-' | '_');
    let letters = x.iter().chain(&y).all(is_letter);
    let at_an_end = a.chars().next() != b.chars().next() || a.chars().last() != b.chars().last();
    let one = match (x.len(), y.len()) {
        (1, 1) => !at_an_end && a.chars().count() > 4,
        (0 | 1, 0 | 1) => true,
        _ => is_swap(&x, &y),
    };
    letters && one
}

/// Whether one name is the other with one character added, whatever their lengths.
pub(crate) fn is_longer_by_one(long: &str, short: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (long.chars().take(1_000).collect(), short.chars().take(1_000).collect());
    let prefix = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    a.len() == b.len() + 1 && a[prefix + 1..] == b[prefix..]
}

fn is_swap(a: &[char], b: &[char]) -> bool {
    a.len() == 2 && b.len() == 2 && a[0] == b[1] && a[1] == b[0]
}

/// What is left of two names without their common beginning and end; `None` if they differ too much in length.
fn difference(a: &str, b: &str) -> Option<(Vec<char>, Vec<char>)> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(1_000).collect(), b.chars().take(1_000).collect());
    if a.len().abs_diff(b.len()) > 1 || a.len().max(b.len()) < 3 {
        return None;
    }
    let prefix = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[prefix..], &b[prefix..]);
    let suffix = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    Some((a[..a.len() - suffix].to_vec(), b[..b.len() - suffix].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_edit_is_one_letter() {
        for (a, b) in [
            ("legal", "legl"),
            ("legal", "leagl"),
            ("legal", "legall"),
            ("legal", "lwgal"),
        ] {
            assert!(within_one_edit(a, b) && within_one_edit(b, a), "{a} {b}");
            assert!(is_misspelling(a, b), "{a} {b}");
        }
        for (a, b) in [("legal", "lgl"), ("ab", "a"), ("legal", "elgla")] {
            assert!(!within_one_edit(a, b), "{a} {b}");
        }
        assert!(within_one_edit("step1", "step2") && !is_misspelling("step1", "step2"));
        assert!(!is_misspelling("xplayer", "oplayer") && !is_misspelling("tox", "toy"));
        assert!(!is_misspelling("last", "lost") && is_misspelling("last", "lats") && is_misspelling("phase", "phose"));
        assert!(is_longer_by_one("33", "3") && is_longer_by_one("abc", "ac") && !is_longer_by_one("34", "5"));
    }
}
