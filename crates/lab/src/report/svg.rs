//! Curves with error bars, as SVG that follows the reader's light or dark mode and prints in black.

use super::axis::{Axis, range, short};
use super::curves::{draw, marker};
use super::palette::{COLOURS, style};
use std::fmt::Write as _;

/// A plot.
pub struct Chart {
    /// Title above the plot.
    pub title: String,
    /// Label of the x axis.
    pub x_label: String,
    /// Label of the y axis.
    pub y_label: String,
    /// Whether the x axis is logarithmic.
    pub log_x: bool,
    /// Whether the y axis is logarithmic.
    pub log_y: bool,
    /// Whether y runs from 0 to 100.
    pub percent: bool,
    /// Whether curves share their x values, so that error bars are moved apart.
    pub dodge: bool,
    /// Names of the places 0, 1, … on the x axis; empty where x is a number.
    pub categories: Vec<String>,
    /// Horizontal lines.
    pub lines: Vec<(String, f64)>,
    /// The curves.
    pub series: Vec<Series>,
}

/// A curve.
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Points from left to right.
    pub points: Vec<Point>,
    /// Number of its colour and marker.
    pub colour: usize,
    /// Whether these are the paper's numbers: drawn with dashes and open markers.
    pub paper: bool,
}

/// Where a chart is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// On a page, in the reader's light or dark mode, below its title.
    Page,
    /// On the page of a narrow screen.
    Phone,
    /// In a file of its own, in plain colours that every program for drawings knows.
    File,
}

impl Use {
    fn width(self) -> f64 {
        if self == Use::Phone { 360.0 } else { 720.0 }
    }

    /// Least width of the margin on the left.
    fn left(self) -> f64 {
        if self == Use::Phone { 50.0 } else { 62.0 }
    }

    fn height(self) -> f64 {
        if self == Use::Phone { 320.0 } else { 400.0 }
    }

    pub(super) fn top(self) -> f64 {
        if self == Use::File { 34.0 } else { 12.0 }
    }
}

/// A point and its error bars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    pub x_low: f64,
    pub x_high: f64,
    pub y: f64,
    pub y_low: f64,
    pub y_high: f64,
}

impl Point {
    /// A point without error bars.
    pub fn bare(x: f64, y: f64) -> Point {
        Point {
            x,
            x_low: x,
            x_high: x,
            y,
            y_low: y,
            y_high: y,
        }
    }
}

const RIGHT: f64 = 16.0;
const BOTTOM: f64 = 52.0;
const LEGEND_ROW: f64 = 20.0;
/// Width of a letter of the axes, about.
const LETTER: f64 = 6.6;
/// Least distance of labels of horizontal lines.
const LABELS_APART: f64 = 13.0;
/// Letters of a category's name that are shown at most.
const LONGEST_CATEGORY: usize = 24;

impl Chart {
    /// The plot as SVG.
    pub fn svg(&self, shown: Use) -> String {
        let rows = self.series.len().div_ceil(self.columns(shown));
        let tilt = self.tilted_by(shown);
        let bottom = BOTTOM + tilt + LEGEND_ROW * rows as f64;
        let height = shown.height() + tilt + LEGEND_ROW * rows as f64;
        let (x, y) = self.axes(shown, height - bottom);
        let mut out = String::new();
        let size = match shown {
            // Points of print: 12 cm wide.
            Use::File => " width=\"12cm\"",
            Use::Page | Use::Phone => "",
        };
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\"{size} role=\"img\" \
             aria-label=\"{}\" class=\"chart\">{}",
            shown.width(),
            escape(&self.title),
            style(shown)
        );
        if shown == Use::File {
            let _ = write!(
                out,
                r#"<text class="title" x="{}" y="20">{}</text>"#,
                self.left(shown),
                escape(&self.title)
            );
        }
        self.grid(&mut out, shown, &x, &y);
        if self.series.is_empty() {
            let (cx, cy) = ((x.from + x.to) / 2.0, (y.from + y.to) / 2.0);
            let _ = write!(
                out,
                r#"<text class="axis" x="{cx}" y="{cy}" text-anchor="middle">nothing played yet</text>"#
            );
        }
        let moved = self.moved(&x, &y);
        for (series, moved) in self.series.iter().zip(&moved) {
            draw(&mut out, series, moved, &self.joined(series), &x, &y);
        }
        self.line_labels(&mut out, shown, &moved, &x, &y);
        self.legend(&mut out, shown, height - LEGEND_ROW * rows as f64);
        out + "</svg>\n"
    }

    /// The points as CSV: curve, place, value and ends of the interval.
    pub fn csv(&self) -> String {
        let mut out = String::from("curve,x,y,low,high\n");
        for series in &self.series {
            for point in &series.points {
                let x = match self.categories.get(point.x as usize) {
                    Some(name) => name.clone(),
                    None => point.x.to_string(),
                };
                let numbers = [point.y, point.y_low, point.y_high].map(|v| v.to_string());
                let [y, low, high] = numbers;
                out += &super::row(&[series.name.clone(), x, y, low, high]);
            }
        }
        out
    }

    /// Width of the margin on the right, which holds the labels of the horizontal lines.
    fn right(&self, shown: Use) -> f64 {
        let longest = self.longest_line_label();
        let margin = if shown == Use::Phone { 12.0 } else { RIGHT };
        match self.labels_inside(shown) {
            true => margin,
            false => margin + 7.2 * longest as f64,
        }
    }

    /// Whether labels of horizontal lines stand inside the frame, because a narrow plot has no room for them beside it.
    fn labels_inside(&self, shown: Use) -> bool {
        shown == Use::Phone && self.longest_line_label() > 7
    }

    fn longest_line_label(&self) -> usize {
        let labels = self.lines.iter().map(|(label, _)| label.chars().count());
        labels.max().unwrap_or(0)
    }

    /// Width of the margin on the left, which holds the label and the numbers of the y axis, and the beginning of the
    /// first category's name where names are tilted.
    fn left(&self, shown: Use) -> f64 {
        let least = self.least_left(shown);
        let first = self.categories.first().map_or(0, |name| name.chars().count());
        match self.tilted_by(shown) > 0.0 {
            true => least.max(5.6 * first.min(LONGEST_CATEGORY) as f64 - self.room(shown) / 2.0),
            false => least,
        }
    }

    fn least_left(&self, shown: Use) -> f64 {
        let ticks = self.y_axis(0.0, 1.0).ticks();
        let longest = ticks.into_iter().map(|tick| short(tick).chars().count()).max();
        shown.left().max(30.0 + 7.0 * longest.unwrap_or(0) as f64)
    }

    /// Width of a category.
    fn room(&self, shown: Use) -> f64 {
        let width = shown.width() - self.least_left(shown) - self.right(shown);
        width / self.categories.len().max(1) as f64
    }

    /// Columns of the legend. Where the paper's curves stand beside as many of ours, each stands below its own.
    fn columns(&self, shown: Use) -> usize {
        let longest = self.series.iter().map(|s| s.name.chars().count()).max().unwrap_or(0);
        let most = (((shown.width() - self.left(shown)) / (longest as f64 * 7.5 + 44.0)) as usize).clamp(1, 6);
        let ours = self.series.iter().filter(|s| !s.paper).count();
        match ours > 1 && ours <= most && 2 * ours == self.series.len() {
            true => ours,
            false => most,
        }
    }

    pub(super) fn axes(&self, shown: Use, bottom: f64) -> (Axis, Axis) {
        let (low, high) = match self.categories.len() {
            0 => range(self.series.iter().flat_map(|s| &s.points).map(|p| p.x), self.log_x),
            count => (-0.5, count as f64 - 0.5),
        };
        let x = Axis {
            low,
            high,
            log: self.log_x,
            from: self.left(shown) + 12.0,
            to: shown.width() - self.right(shown) - 12.0,
        };
        (x, self.y_axis(bottom, shown.top()))
    }

    fn y_axis(&self, from: f64, to: f64) -> Axis {
        let bars = self
            .series
            .iter()
            .flat_map(|s| &s.points)
            .flat_map(|p| [p.y, p.y_low, p.y_high])
            .chain(self.lines.iter().map(|(_, at)| *at));
        let (low, high) = match self.percent {
            true => (0.0, 100.0),
            false => range(bars, self.log_y),
        };
        Axis {
            low,
            high,
            log: self.log_y,
            from,
            to,
        }
    }

    fn grid(&self, out: &mut String, shown: Use, x: &Axis, y: &Axis) {
        let (left, right) = (self.left(shown), shown.width() - self.right(shown));
        let tilt = self.tilted_by(shown);
        for tick in y.ticks() {
            let at = y.at(tick);
            let _ = write!(
                out,
                r#"<line class="grid" x1="{left}" x2="{right}" y1="{at:.1}" y2="{at:.1}"/>"#
            );
            let _ = write!(
                out,
                r#"<text class="axis" x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#,
                left - 6.0,
                at + 4.0,
                short(tick)
            );
        }
        for (at, label) in self.x_marks(shown, x) {
            let _ = write!(
                out,
                r#"<line class="grid" x1="{at:.1}" x2="{at:.1}" y1="{:.1}" y2="{:.1}"/>"#,
                y.from, y.to
            );
            let place = match tilt > 0.0 {
                true => format!(
                    r#"transform="translate({:.1} {:.1}) rotate(-35)" text-anchor="end""#,
                    at + 4.0,
                    y.from + 14.0
                ),
                false => format!(r#"x="{at:.1}" y="{:.1}" text-anchor="middle""#, y.from + 17.0),
            };
            let _ = write!(out, r#"<text class="axis" {place}>{}</text>"#, escape(&label));
        }
        let _ = write!(
            out,
            r#"<rect class="frame" x="{left}" y="{:.1}" width="{:.1}" height="{:.1}"/>"#,
            y.to,
            right - left,
            y.from - y.to
        );
        let middle = (left + right) / 2.0;
        let _ = write!(
            out,
            r#"<text class="axis" x="{middle:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
            y.from + 36.0 + tilt,
            escape(&self.x_label)
        );
        let centre = (y.from + y.to) / 2.0;
        let _ = write!(
            out,
            r#"<text class="axis" transform="translate(14 {centre:.1}) rotate(-90)" text-anchor="middle">{}</text>"#,
            escape(&self.y_label)
        );
        for (_, value) in &self.lines {
            let at = y.at(*value);
            let _ = write!(
                out,
                r#"<line class="mark" x1="{left}" x2="{right}" y1="{at:.1}" y2="{at:.1}"/>"#
            );
        }
    }

    /// Labels of the horizontal lines, over the curves. Inside the frame they stand at the end where they hide less.
    fn line_labels(&self, out: &mut String, shown: Use, moved: &[Vec<f64>], x: &Axis, y: &Axis) {
        let (left, right) = (self.left(shown), shown.width() - self.right(shown));
        let inside = self.labels_inside(shown);
        let mut labels: Vec<(&str, f64)> = self.lines.iter().map(|(label, at)| (&label[..], y.at(*at))).collect();
        labels.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut last = f64::NEG_INFINITY;
        for (label, at) in labels {
            let above = if inside { -4.0 } else { 4.0 };
            last = (at + above).max(last + LABELS_APART).max(y.to + 10.0);
            let width = LETTER * label.chars().count() as f64 + 8.0;
            let hidden = |from: f64| self.markers_in((from, from + width), (last - 12.0, last + 5.0), moved, x, y);
            let (place, anchor) = match inside {
                false => (right + 4.0, "start"),
                true if hidden(left) < hidden(right - width) => (left + 4.0, "start"),
                true => (right - 4.0, "end"),
            };
            let _ = write!(
                out,
                r#"<text class="axis over" x="{place:.1}" y="{last:.1}" text-anchor="{anchor}">{}</text>"#,
                escape(label)
            );
        }
    }

    /// Number of markers in a rectangle.
    fn markers_in(&self, across: (f64, f64), down: (f64, f64), moved: &[Vec<f64>], x: &Axis, y: &Axis) -> usize {
        let markers = self
            .series
            .iter()
            .zip(moved)
            .flat_map(|(s, by)| s.points.iter().zip(by));
        let is_in = |(p, by): &(&Point, &f64)| {
            let (at_x, at_y) = (x.at(p.x) + **by, y.at(p.y));
            across.0 <= at_x && at_x <= across.1 && down.0 <= at_y && at_y <= down.1
        };
        markers.filter(is_in).count()
    }

    /// Places and labels of the x axis. Very long names are cut, and on a narrow plot every other tick is left out.
    fn x_marks(&self, shown: Use, x: &Axis) -> Vec<(f64, String)> {
        if self.categories.is_empty() {
            let ticks = x.ticks();
            let every = if shown == Use::Phone && ticks.len() > 6 { 2 } else { 1 };
            return ticks
                .into_iter()
                .step_by(every)
                .map(|tick| (x.at(tick), short(tick)))
                .collect();
        }
        let cut = |name: &String| match name.chars().count() > LONGEST_CATEGORY {
            true => name.chars().take(LONGEST_CATEGORY - 1).chain(['…']).collect(),
            false => name.clone(),
        };
        let named = self.categories.iter().enumerate();
        named.map(|(at, name)| (x.at(at as f64), cut(name))).collect()
    }

    /// Height that names of categories need below the axis beyond a line, because they are tilted; 0 if they are not.
    fn tilted_by(&self, shown: Use) -> f64 {
        let longest = self.categories.iter().map(|name| name.chars().count()).max();
        let longest = longest.unwrap_or(0).min(LONGEST_CATEGORY) as f64;
        match LETTER * longest > self.room(shown) {
            true => 3.9 * longest,
            false => 0.0,
        }
    }

    fn legend(&self, out: &mut String, shown: Use, top: f64) {
        let columns = self.columns(shown);
        let left = self.left(shown);
        let width = (shown.width() - left - RIGHT) / columns as f64;
        for (number, series) in self.series.iter().enumerate() {
            let x = left + width * (number % columns) as f64;
            let y = top + LEGEND_ROW * (number / columns) as f64 + 6.0;
            let _ = write!(out, r#"<g class="{}">"#, series.class());
            if self.joined(series).contains(&true) {
                let end = x + 26.0;
                let _ = write!(
                    out,
                    r#"<line class="curve" x1="{x:.1}" x2="{end:.1}" y1="{y:.1}" y2="{y:.1}"/>"#
                );
            }
            marker(out, series.colour, x + 13.0, y);
            let _ = write!(
                out,
                r#"</g><text class="key" x="{:.1}" y="{:.1}">{}</text>"#,
                x + 32.0,
                y + 4.0,
                escape(&series.name)
            );
        }
    }
}

impl Series {
    pub(super) fn class(&self) -> String {
        let paper = if self.paper { " paper" } else { "" };
        format!("s{}{paper}", self.colour % COLOURS.len())
    }
}

/// Text escaped for HTML and SVG.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    #[test]
    fn a_chart_of_nothing_is_still_a_chart() {
        let chart = Chart {
            title: "a < b".to_owned(),
            x_label: String::new(),
            y_label: String::new(),
            log_x: true,
            log_y: true,
            percent: false,
            dodge: true,
            categories: Vec::new(),
            lines: Vec::new(),
            series: vec![Series {
                name: "s".to_owned(),
                points: vec![Point::bare(f64::NAN, 1.0)],
                colour: 0,
                paper: false,
            }],
        };
        let svg = chart.svg(Use::File);
        assert!(!svg.contains("NaN"), "{svg}");
        assert!(!svg.contains("var(--"), "files have no variables");
        assert!(svg.contains("a &lt; b") && svg.ends_with("</svg>\n"));
    }
    pub(crate) fn chart(series: Vec<Series>) -> Chart {
        Chart {
            title: String::new(),
            x_label: String::new(),
            y_label: String::new(),
            log_x: false,
            log_y: false,
            percent: true,
            dodge: true,
            categories: Vec::new(),
            lines: vec![("a".to_owned(), 50.0), ("b".to_owned(), 51.0)],
            series,
        }
    }

    pub(crate) fn series(points: &[(f64, f64)], paper: bool) -> Series {
        Series {
            name: "s".to_owned(),
            points: points.iter().map(|(x, y)| Point::bare(*x, *y)).collect(),
            colour: 0,
            paper,
        }
    }

    #[test]
    fn labels_of_close_lines_are_moved_apart() {
        let svg = chart(vec![series(&[(1.0, 10.0)], false)]).svg(Use::Page);
        let places: Vec<f64> = svg
            .split("axis over")
            .skip(1)
            .filter_map(|part| part.split("y=\"").nth(1)?.split('"').next()?.parse().ok())
            .collect();
        assert!(places.len() == 2 && places[1] - places[0] >= LABELS_APART, "{places:?}");
    }

    #[test]
    fn a_label_inside_the_frame_stands_where_it_hides_nothing() {
        let label = |at: f64| {
            let mut chart = chart(vec![series(&[(1.0, 10.0), (at, 52.0), (9.0, 90.0)], false)]);
            chart.lines = vec![("unbiased".to_owned(), 50.0)];
            let svg = chart.svg(Use::Phone);
            let tag = svg.split("axis over").nth(1).and_then(|rest| rest.split('>').next());
            tag.unwrap_or_default().to_owned()
        };
        assert!(label(2.0).contains("\"end\""), "{}", label(2.0));
        assert!(label(8.8).contains("\"start\""), "{}", label(8.8));
    }

    #[test]
    fn the_papers_curves_stand_below_ours_in_the_legend() {
        let both = |ours: usize, papers: usize| {
            let of = |paper| move |_| series(&[(1.0, 10.0)], paper);
            chart((0..ours).map(of(false)).chain((0..papers).map(of(true))).collect()).columns(Use::Page)
        };
        assert_eq!((both(3, 3), both(3, 0), both(1, 1), both(3, 1)), (3, 6, 6, 6));
    }
}
