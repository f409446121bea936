//! Terms in canonical text: `(cell 1 (f a b) x)`, one space between the parts, no other white space.

/// The function and the arguments of a term; a constant is its own only part. Text that is not canonical gives parts
/// too, but no more than one between two spaces outside inner parentheses.
///
/// ```
/// assert_eq!(surmise_game::canonical::parts("(cell 1 (f a b) x)"), ["cell", "1", "(f a b)", "x"]);
/// assert_eq!(surmise_game::canonical::parts("stop"), ["stop"]);
/// ```
pub fn parts(text: &str) -> Vec<&str> {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else {
        return vec![text];
    };
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b' ' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    parts
}
