//! The answer as Markdown and as comma-separated values.

use super::{Answer, listed, percent, points, situations, summed_up};
use std::fmt::Write as _;

impl Answer<'_> {
    pub(super) fn markdown(&self, top: usize) -> String {
        let mut out = format!("# {}\n\n", escaped(self.solution.tree.game().name()));
        let _ = writeln!(out, "{}.", escaped(&self.size(false)));
        let _ = writeln!(out, "{}.", escaped(&self.method(false)));
        for note in &self.notes {
            let _ = writeln!(out, "{}", escaped(note));
        }
        out.push('\n');
        for player in 0..self.solution.values.len() {
            let role = escaped(self.solution.role(player));
            let _ = writeln!(out, "- **{role}**: {}", escaped(&self.sentence(player)));
        }
        for player in 0..self.solution.values.len() {
            self.markdown_of(player, top, &mut out);
        }
        out
    }

    fn markdown_of(&self, player: usize, top: usize, out: &mut String) {
        let sets = self.situations(player);
        let role = escaped(self.solution.role(player));
        let _ = writeln!(out, "\n## {role}\n");
        if sets.is_empty() {
            let _ = writeln!(out, "{role} has no choice that matters.");
        }
        let shown = &sets[..sets.len().min(top)];
        if !shown.is_empty() {
            let n = situations(sets.len());
            let _ = writeln!(out, "{role} chooses in {n}, the most frequent first.\n");
            out.push_str("| of games | situation | how often | move | points | less |\n|--:|---|--:|---|--:|--:|\n");
        }
        for &set in shown {
            let moves = self.moves(set);
            let (listed, rest) = listed(&moves);
            let (mut arises, mut words) = (percent(self.figures.arises[set]), escaped(&self.words(set)));
            for mv in listed {
                let (value, loss) = points(mv);
                let (often, name) = (percent(mv.frequency), escaped(&mv.mv));
                let _ = writeln!(out, "| {arises} | {words} | {often} | {name} | {value} | {loss} |");
                (arises, words) = (String::new(), String::new());
            }
            if let Some(rest) = summed_up(rest) {
                let _ = writeln!(out, "| | | | {rest} | | |");
            }
        }
        for line in self.left_out(player, shown.len(), "--top lists more") {
            let _ = writeln!(out, "\n{line}");
        }
    }

    /// One line for each move of each situation, all situations included, the most frequent first.
    pub(super) fn csv(&self) -> String {
        let mut out = "role,situation,arises,weight,told,move,frequency,points,less\n".to_owned();
        let arises = &self.figures.arises;
        for player in 0..self.solution.values.len() {
            let mut sets: Vec<usize> = self.solution.tree.tree.infosets_of(player).collect();
            sets.sort_by(|&a, &b| arises[b].total_cmp(&arises[a]).then(a.cmp(&b)));
            for (number, &set) in sets.iter().enumerate() {
                let head = format!(
                    "{},{},{},{},{}",
                    field(self.solution.role(player)),
                    number + 1,
                    number_text(arises[set]),
                    self.figures.weights[set].name(),
                    field(&self.words(set))
                );
                for mv in self.moves(set) {
                    let number = |n: Option<f64>| n.map(number_text).unwrap_or_default();
                    let (often, value, loss) = (number_text(mv.frequency), number(mv.value), number(mv.loss));
                    let _ = writeln!(out, "{head},{},{often},{value},{loss}", field(&mv.mv));
                }
            }
        }
        out
    }
}

/// A number without the noise of rounding.
fn number_text(number: f64) -> String {
    let text = format!("{number:.9}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" => "0".to_owned(),
        _ => text.to_owned(),
    }
}

/// A field of comma-separated values (RFC 4180). Text that a spreadsheet would take for a formula is made text.
fn field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

/// Text in Markdown: what would be markup stays as it is.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\`*_[]<>|#".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
