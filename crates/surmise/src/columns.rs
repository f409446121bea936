//! Widths of columns in tables of text.

/// The widest that a column gets. Longer cells stand out of it: names are as long as rules make them, and `format!`
/// panics beyond 65,535.
const WIDEST: usize = 60;

/// The width of a column with these cells.
pub fn column_width<'a>(cells: impl IntoIterator<Item = &'a str>) -> usize {
    let widths = cells.into_iter().map(|cell| cell.chars().count());
    widths.max().unwrap_or(0).min(WIDEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_cells_but_not_wider_than_can_be_printed() {
        assert_eq!(column_width(["seat", "möve"]), 4);
        assert_eq!(column_width([]), 0);
        let long = "a".repeat(100_000);
        let width = column_width([long.as_str(), "b"]);
        assert_eq!(format!("{:width$}", "b").len(), WIDEST);
    }
}
