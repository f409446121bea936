//! Colours of pieces and roles. A name that contains the name of a colour has this colour; roles without one get
//! colours that are easy to tell apart.

/// Colours of roles without a colour in their name: light and dark.
pub const PALETTE: [(&str, &str); 8] = [
    ("#2563a8", "#6ea8e6"),
    ("#b4452f", "#e98a72"),
    ("#2f7d4f", "#6cc08d"),
    ("#7a4fa3", "#b994dd"),
    ("#a87a17", "#dcb45a"),
    ("#19808a", "#5cc0ca"),
    ("#a13d7a", "#dd86bb"),
    ("#5b6470", "#a8b1bd"),
];

/// Colours that pieces and roles are often called.
pub const COLOURS: [(&str, &str); 14] = [
    ("white", "#fdfdf8"),
    ("black", "#26272b"),
    ("red", "#c8372d"),
    ("blue", "#2563b8"),
    ("green", "#2f8a4f"),
    ("yellow", "#e0b420"),
    ("orange", "#dd7a22"),
    ("purple", "#7d49ad"),
    ("teal", "#178a8a"),
    ("pink", "#d65a96"),
    ("brown", "#8a5a2b"),
    ("gray", "#858b93"),
    ("grey", "#858b93"),
    ("cyan", "#25a9c4"),
];

/// The colour, by its place in [`COLOURS`], that a name contains: as a word (`(pawn red)`, `red-3`), or at the
/// beginning of one (`whitepawn`). Three letters begin many words, so `red` has to be followed by a number or by
/// `player`.
pub fn named(name: &str) -> Option<usize> {
    let words = name.split(|c: char| !c.is_alphanumeric());
    words.into_iter().find_map(|word| {
        let word = word.to_lowercase();
        COLOURS.iter().position(|(colour, _)| match word.strip_prefix(colour) {
            Some(rest) if colour.len() > 3 || rest == "player" => true,
            Some(rest) => rest.chars().all(|c| c.is_ascii_digit()),
            None => false,
        })
    })
}

/// Black or white, whichever is read better on a colour such as `#c8372d`.
pub fn contrast(colour: &str) -> &'static str {
    let channel = |at: usize| u32::from_str_radix(colour.get(at..at + 2).unwrap_or("80"), 16).unwrap_or(128);
    match 3 * channel(1) + 6 * channel(3) + channel(5) > 1500 {
        true => "#26272b",
        false => "#fff",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_colours_are_found_in_names() {
        let colour = |name: &str| named(name).map(|at| COLOURS[at].0);
        for (name, expected) in [
            ("red", Some("red")),
            ("Red", Some("red")),
            ("pawn red", Some("red")),
            ("red-3", Some("red")),
            ("red2", Some("red")),
            ("redplayer", Some("red")),
            ("whitepawn", Some("white")),
            ("light blue", Some("blue")),
            ("reduced", None),
            ("covered", None),
            ("xplayer", None),
            ("w", None),
            ("", None),
        ] {
            assert_eq!(colour(name), expected, "{name}");
        }
    }
}
