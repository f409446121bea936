//! Names that are one typing error apart.

/// Whether one letter left out, added, replaced or swapped with its neighbour turns one name into the other. Names of
/// one or two letters are similar to none.
pub(crate) fn within_one_edit(a: &str, b: &str) -> bool {
    let Some((a, b)) = difference(a, b) else {
        return false;
    };
    a.len().max(b.len()) <= 1 || is_swap(&a, &b)
}

/// Whether the names are one typing error apart that does not concern digits: `step1` and `step2` are different names
/// on purpose.
pub(crate) fn is_misspelling(a: &str, b: &str) -> bool {
    let Some((x, y)) = difference(a, b) else {
        return false;
    };
    let is_letter = |c: &char| c.is_alphabetic() || matches!(c, '-' | '_');
    let letters = x.iter().chain(&y).all(is_letter);
    letters && (x.len().max(y.len()) <= 1 || is_swap(&x, &y))
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
        for (a, b) in [("legal", "legl"), ("legal", "leagl"), ("legal", "legall"), ("legal", "lwgal")] {
            assert!(within_one_edit(a, b) && within_one_edit(b, a), "{a} {b}");
            assert!(is_misspelling(a, b), "{a} {b}");
        }
        for (a, b) in [("legal", "lgl"), ("ab", "a"), ("legal", "elgla")] {
            assert!(!within_one_edit(a, b), "{a} {b}");
        }
        assert!(within_one_edit("step1", "step2") && !is_misspelling("step1", "step2"));
    }
}
