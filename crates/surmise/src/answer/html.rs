//! The answer as one page that needs nothing else: sentences, tables and the tree drawn, in light, dark and on paper.

use super::{Answer, listed, percent, points, situations, summed_up};
use std::fmt::Write as _;

/// Situations of a role that a page holds at most.
const MOST: usize = 2_000;

impl Answer<'_> {
    pub(super) fn html(&self, top: usize) -> String {
        let name = escaped(self.solution.tree.game().name());
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\">\n<title>{name}</title>\n<style>\n{}</style>\n</head>\n\
             <body>\n<main>\n<h1>{name}</h1>\n",
            include_str!("page.css")
        );
        for player in 0..self.solution.values.len() {
            let _ = writeln!(
                out,
                "<p class=\"answer role{}\"><strong>{}</strong>: {}</p>",
                player % 4,
                escaped(self.solution.role(player)),
                escaped(&self.sentence(player))
            );
        }
        let _ = writeln!(
            out,
            "<p class=\"method\">{}.<br>{}.</p>",
            escaped(&self.size(false)),
            escaped(&self.method(false))
        );
        for note in &self.notes {
            let _ = writeln!(out, "<p class=\"method\">{}</p>", escaped(note));
        }
        for player in 0..self.solution.values.len() {
            self.html_of(player, top, &mut out);
        }
        let (svg, caption) = self.picture();
        let _ = writeln!(
            out,
            "<h2>The tree</h2>\n<figure>\n<div class=\"wide\">\n{svg}</div>\n<figcaption>{} Circles are decisions, \
             with the number of the situation in the tables above; diamonds are chance; a thick line is a frequent \
             move; a dashed curve joins what the role cannot tell apart; payoffs stand at the ends.</figcaption>\n\
             </figure>",
            escaped(&caption)
        );
        let _ = writeln!(
            out,
            "<footer>Made by <code>surmise solve</code> {}.</footer>\n</main>\n</body>\n</html>",
            env!("CARGO_PKG_VERSION")
        );
        out
    }

    fn html_of(&self, player: usize, top: usize, out: &mut String) {
        let role = escaped(self.solution.role(player));
        let sets = self.situations(player);
        let _ = writeln!(out, "<section class=\"role{}\">\n<h2>{role}</h2>", player % 4);
        if sets.is_empty() {
            let _ = writeln!(out, "<p>{role} has no choice that matters.</p>");
        } else {
            let n = situations(sets.len());
            let _ = writeln!(out, "<p>{role} chooses in {n}, the most frequent first.</p>");
        }
        let (shown, rest) = sets.split_at(sets.len().min(top));
        let rest = &rest[..rest.len().min(MOST)];
        self.table(shown, 1, out);
        if !rest.is_empty() {
            let _ = writeln!(
                out,
                "<details><summary>{} that are rarer</summary>",
                situations(rest.len())
            );
            self.table(rest, shown.len() + 1, out);
            out.push_str("</details>\n");
        }
        for line in self.left_out(player, shown.len() + rest.len(), "--format csv has all") {
            let _ = writeln!(out, "<p class=\"rest\">{}</p>", escaped(&line));
        }
        out.push_str("</section>\n");
    }

    fn table(&self, sets: &[usize], from: usize, out: &mut String) {
        if sets.is_empty() {
            return;
        }
        out.push_str(
            "<div class=\"wide\"><table>\n<thead><tr><th class=\"n\">no.</th><th class=\"n\">of \
             games</th><th>situation</th><th class=\"n\">how often</th><th></th><th>move</th><th \
             class=\"n\">points</th><th class=\"n\">less</th></tr></thead>\n<tbody>\n",
        );
        for (number, &set) in sets.iter().enumerate() {
            let moves = self.moves(set);
            let (listed, rest) = listed(&moves);
            for (place, mv) in listed.iter().enumerate() {
                let head = match place {
                    0 => format!(
                        "<tr class=\"first\"><td class=\"n\" data-is=\"no.\">{}</td><td class=\"n\" data-is=\"of \
                         games\">{}</td><td>{}</td>",
                        from + number,
                        percent(self.figures.arises[set]),
                        escaped(&self.words(set))
                    ),
                    _ => "<tr><td></td><td></td><td></td>".to_owned(),
                };
                let (value, loss) = points(mv);
                let _ = writeln!(
                    out,
                    "{head}<td class=\"n\" data-is=\"how often\">{}</td><td class=\"bar\"><i \
                     style=\"width:{:.0}%\"></i></td><td data-is=\"move\">{}</td><td class=\"n\" \
                     data-is=\"points\">{value}</td><td class=\"n\"{}>{loss}</td></tr>",
                    percent(mv.frequency),
                    100.0 * mv.frequency,
                    escaped(&mv.mv),
                    if loss.is_empty() { "" } else { " data-is=\"less\"" }
                );
            }
            if let Some(rest) = summed_up(rest) {
                let _ = writeln!(
                    out,
                    "<tr><td></td><td></td><td></td><td></td><td></td><td>{}</td><td></td><td></td></tr>",
                    escaped(&rest)
                );
            }
        }
        out.push_str("</tbody>\n</table></div>\n");
    }
}

/// Text in HTML and SVG.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
