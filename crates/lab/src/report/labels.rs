//! Measured values in words, for axes, headings and claims.

/// A measured value or a variable on an axis, with its unit.
pub(super) fn measure_label(name: &str) -> String {
    let base = name.split('@').next().unwrap_or_default();
    let text = match base {
        "score" => "score (points, 0 to 100)",
        "states" => "states computed in a match",
        "touches" => "nodes touched in a match",
        "rounds" => "length of a match (rounds)",
        "seconds" => "time of a match (s)",
        "cost" => "cost of a model (% of random sampling)",
        "cost-measured" => "cost of a model (% of random games played)",
        "live" => "live models (%)",
        "valid" => "P(valid) (%)",
        "p" | "p-mid" | "p-end" => "median p of χ² tests",
        "weighted-p-mid" | "weighted-p-end" => "median p of χ² tests, weighted",
        "completion" => "rounds played (median length of a match = 1)",
        "round" => "rounds played",
        _ if base.starts_with("score-") => return format!("score of player {} (points, 0 to 100)", &base[6..]),
        _ => base,
    };
    after_round(text, name)
}

/// A measured value as the heading of a column, and in the range of a claim.
pub(super) fn measure_heading(name: &str) -> String {
    let base = name.split('@').next().unwrap_or_default();
    let text = match base {
        "touches" => "touches / game",
        "states" => "states / game",
        "seconds" => "seconds / game",
        "cost" => "late cost, % of random",
        "cost-measured" => "late cost, % of random games",
        "p" => "median p",
        "p-mid" => "median p, middle",
        "p-end" => "median p, end",
        "weighted-p-mid" => "weighted p, middle",
        "weighted-p-end" => "weighted p, end",
        "live" if name == base => "live models at the end, %",
        "live" => "live models, %",
        "valid" => "P(valid), %",
        _ if base.starts_with("score-") => return format!("score of player {}", &base[6..]),
        _ => base,
    };
    after_round(text, name)
}

fn after_round(text: &str, name: &str) -> String {
    match name.split_once('@') {
        Some((_, round)) => format!("{text}, after round {round}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_units_and_variables_their_names() {
        assert_eq!(measure_label("score-2"), "score of player 2 (points, 0 to 100)");
        assert_eq!(measure_label("live@16"), "live models (%), after round 16");
        assert_eq!(measure_label("doors"), "doors");
        assert_eq!(measure_heading("valid@16"), "P(valid), %, after round 16");
        assert_eq!(measure_heading("live"), "live models at the end, %");
    }
}
