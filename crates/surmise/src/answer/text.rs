//! The answer as plain text.

use super::{Answer, listed, percent, points, situations, summed_up};
use crate::{How, column_width};
use std::fmt::Write as _;

impl Answer<'_> {
    pub(super) fn text(&self, top: usize) -> String {
        let mut out = format!("{}\n{}\n", self.size(true), self.method(true));
        for note in &self.notes {
            let _ = writeln!(out, "{note}");
        }
        out.push('\n');
        for player in 0..self.solution.values.len() {
            let _ = writeln!(out, "{}: {}", self.solution.role(player), self.sentence(player));
        }
        for player in 0..self.solution.values.len() {
            self.text_of(player, top, &mut out);
        }
        out
    }

    /// The game and the size of its tree; with the time that building it took, if that is wanted.
    pub(super) fn size(&self, timed: bool) -> String {
        let tree = self.solution.tree;
        let time = match timed {
            true => format!(" (tree in {:.3} s)", tree.seconds),
            false => String::new(),
        };
        format!(
            "{}: {} histories, {} information sets{time}",
            tree.game().name(),
            tree.tree.histories,
            tree.tree.infosets().len(),
        )
    }

    /// How the strategies were found, and how far they are from an equilibrium; with times, if these are wanted.
    pub(super) fn method(&self, timed: bool) -> String {
        let (solution, seconds) = (self.solution, self.solution.seconds);
        let gap = small(solution.nash_conv());
        let time = |text: String| if timed { text } else { String::new() };
        match &solution.how {
            How::Optimum => "One role against nature: the exact optimum".to_owned(),
            How::Lp(steps) => {
                let time = time(format!(" in {seconds:.3} s ({steps} steps)"));
                format!("lp: the equilibrium{time}, NashConv {gap} points")
            }
            How::Iterated(algorithm, iterations) => {
                let rate = *iterations as f64 / seconds.max(1e-9);
                let time = time(format!(" in {seconds:.3} s ({rate:.0} a second)"));
                format!(
                    "{}: {iterations} iterations{time}, NashConv {gap} points",
                    algorithm.name()
                )
            }
            How::Read(0) => format!("the strategies of the file: NashConv {gap} points"),
            How::Read(silent) => format!(
                "the strategies of the file, and random moves in {silent} information sets that it does not know: \
                 NashConv {gap} points"
            ),
            How::Committed(role, programs) => {
                let time = time(format!(" in {seconds:.3} s"));
                format!(
                    "What {role} should commit to, and the other role's best response: {programs} linear programs{time}"
                )
            }
            How::Responded(model, weight) => {
                format!("the response to {model} with weight {weight}, and the model: NashConv {gap} points")
            }
            How::Asked(player) => {
                let time = time(format!(" in {seconds:.1} s"));
                let share = solution.nash_conv() / solution.payoff_range();
                format!(
                    "{player}, asked in every information set{time}: NashConv {gap} points, {share:.5} of the \
                     payoffs' range"
                )
            }
        }
    }

    fn text_of(&self, player: usize, top: usize, out: &mut String) {
        let sets = self.situations(player);
        let role = self.solution.role(player);
        let _ = match sets.len() {
            0 => writeln!(out, "\n{role} has no choice that matters"),
            n => writeln!(out, "\n{role} chooses in {}, the most frequent first:", situations(n)),
        };
        let shown = &sets[..sets.len().min(top)];
        for &set in shown {
            let arises = percent(self.figures.arises[set]);
            let _ = writeln!(out, "  {arises:>8} of games  {}", self.words(set));
            let moves = self.moves(set);
            let (listed, rest) = listed(&moves);
            let width = column_width(listed.iter().map(|m| m.mv.as_str()));
            for mv in listed {
                let (value, loss) = points(mv);
                let loss = match loss.is_empty() {
                    true => loss,
                    false => format!(", {loss} less"),
                };
                let often = percent(mv.frequency);
                let _ = writeln!(out, "      {often:>8}  {:width$}  {value} points{loss}", mv.mv);
            }
            if let Some(rest) = summed_up(rest) {
                let _ = writeln!(out, "                {rest}");
            }
        }
        for line in self.left_out(player, shown.len(), "--top, --format csv or --out FILE.html") {
            let _ = writeln!(out, "  {line}");
        }
    }
}

/// A number of points that may be very small.
pub(super) fn small(points: f64) -> String {
    match points.abs() {
        0.0 => "0".to_owned(),
        x if x < 1e-4 => format!("{x:.1e}"),
        _ => format!("{points:.6}"),
    }
}
