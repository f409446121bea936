//! Curves with error bars, as SVG that follows the reader's light or dark mode and prints in black.

use super::axis::{Axis, range, short};
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

    fn top(self) -> f64 {
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
/// Least distance of labels of horizontal lines.
const LABELS_APART: f64 = 13.0;
/// Least distance of error bars beside each other.
const BARS_APART: f64 = 5.0;

impl Chart {
    /// The plot as SVG.
    pub fn svg(&self, shown: Use) -> String {
        let rows = self.series.len().div_ceil(self.columns(shown));
        let bottom = BOTTOM + LEGEND_ROW * rows as f64;
        let height = shown.height() + LEGEND_ROW * rows as f64;
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
        self.line_labels(&mut out, shown, &y);
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
        let margin = if shown == Use::Phone { 8.0 } else { RIGHT };
        match self.labels_inside(shown) {
            true => margin,
            false => margin + 6.6 * longest as f64,
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

    /// Width of the margin on the left, which holds the label and the numbers of the y axis.
    fn left(&self, shown: Use) -> f64 {
        let y = self.y_axis(0.0, 1.0);
        let longest = y.ticks().into_iter().map(|tick| short(tick).chars().count()).max();
        shown.left().max(30.0 + 7.0 * longest.unwrap_or(0) as f64)
    }

    /// By how many units each point of each curve is moved to the right, so that error bars can be told apart. Curves
    /// that share their x values are moved as a whole; otherwise points are moved that are too close to one before.
    fn moved(&self, x: &Axis, y: &Axis) -> Vec<Vec<f64>> {
        let ours = self.series.iter().filter(|s| !s.paper).count();
        let mut taken: Vec<(f64, f64, f64)> = Vec::new();
        let mut all = Vec::new();
        for (number, series) in self.series.iter().enumerate() {
            let of = |point: &Point| {
                if series.paper {
                    return 0.0;
                }
                if self.dodge {
                    return dodge(number, ours);
                }
                let (at, low, high) = (x.at(point.x), y.at(point.y_high), y.at(point.y_low));
                let is_free = |by: &f64| {
                    let close = |(other, top, bottom): &(f64, f64, f64)| {
                        (at + by - other).abs() < BARS_APART && low <= *bottom && *top <= high
                    };
                    !taken.iter().any(close)
                };
                let by = [0.0, 1.0, -1.0, 2.0, -2.0].map(|step| step * BARS_APART);
                let by = by.into_iter().find(is_free).unwrap_or(0.0);
                taken.push((at + by, low, high));
                by
            };
            all.push(series.points.iter().map(of).collect());
        }
        all
    }

    /// Whether each point of a curve is joined with the one before. Categories have no order, and between two numbers
    /// of a paper nothing is known if we measured something there.
    fn joined(&self, series: &Series) -> Vec<bool> {
        let ours: Vec<&Point> = self
            .series
            .iter()
            .filter(|s| series.paper && self.dodge && !s.paper && s.colour == series.colour)
            .flat_map(|s| &s.points)
            .collect();
        let between = |a: &Point, b: &Point| ours.iter().any(|p| a.x < p.x && p.x < b.x);
        let pairs = series.points.windows(2);
        let joined = pairs.map(|pair| self.categories.is_empty() && !between(&pair[0], &pair[1]));
        std::iter::once(false).chain(joined).collect()
    }

    fn columns(&self, shown: Use) -> usize {
        let longest = self.series.iter().map(|s| s.name.chars().count()).max().unwrap_or(0);
        (((shown.width() - self.left(shown)) / (longest as f64 * 7.5 + 44.0)) as usize).clamp(1, 6)
    }

    fn axes(&self, shown: Use, bottom: f64) -> (Axis, Axis) {
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
            let _ = write!(
                out,
                r#"<text class="axis" x="{at:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
                y.from + 17.0,
                escape(&label)
            );
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
            y.from + 36.0,
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

    /// Labels of the horizontal lines, over the curves.
    fn line_labels(&self, out: &mut String, shown: Use, y: &Axis) {
        let right = shown.width() - self.right(shown);
        let (place, above, anchor) = match self.labels_inside(shown) {
            true => (right - 4.0, -4.0, "end"),
            false => (right + 4.0, 4.0, "start"),
        };
        let mut labels: Vec<(&str, f64)> = self.lines.iter().map(|(label, at)| (&label[..], y.at(*at))).collect();
        labels.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut last = f64::NEG_INFINITY;
        for (label, at) in labels {
            last = (at + above).max(last + LABELS_APART).max(y.to + 10.0);
            let _ = write!(
                out,
                r#"<text class="axis over" x="{place:.1}" y="{last:.1}" text-anchor="{anchor}">{}</text>"#,
                escape(label)
            );
        }
    }

    /// Places and labels of the x axis. On a narrow plot long names are cut, and every other tick is left out.
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
        let room = ((x.to - x.from) / self.categories.len() as f64 / 6.6).max(3.0) as usize;
        let cut = |name: &String| match name.chars().count() > room {
            true => name.chars().take(room - 1).chain(['…']).collect(),
            false => name.clone(),
        };
        let named = self.categories.iter().enumerate();
        named.map(|(at, name)| (x.at(at as f64), cut(name))).collect()
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
    fn class(&self) -> String {
        let paper = if self.paper { " paper" } else { "" };
        format!("s{}{paper}", self.colour % COLOURS.len())
    }
}

/// By how much the points of a curve are moved to the right, so that error bars at the same x can be told apart.
fn dodge(number: usize, count: usize) -> f64 {
    let step = (18.0 / count.max(1) as f64).min(4.5);
    step * (number as f64 - (count.max(1) - 1) as f64 / 2.0)
}

fn draw(out: &mut String, series: &Series, moved: &[f64], joined: &[bool], x: &Axis, y: &Axis) {
    let _ = write!(
        out,
        r#"<g class="{}"><title>{}</title>"#,
        series.class(),
        escape(&series.name)
    );
    let mut path = String::new();
    let is_placed = |p: &Point| x.at(p.x).is_finite() && y.at(p.y).is_finite();
    for ((p, by), joined) in series.points.iter().zip(moved).zip(joined) {
        if !is_placed(p) {
            continue;
        }
        let step = if *joined && !path.is_empty() { 'L' } else { 'M' };
        let _ = write!(path, "{step}{:.1} {:.1}", x.at(p.x) + by, y.at(p.y));
    }
    if joined.contains(&true) {
        let _ = write!(out, r#"<path class="curve" d="{path}"/>"#);
    }
    for (p, by) in series.points.iter().zip(moved).filter(|(p, _)| is_placed(p)) {
        let (at_x, at_y) = (x.at(p.x) + by, y.at(p.y));
        let end = |value: f64| ((at_x, y.at(value)), y.holds(value));
        bar(out, end(p.y_low), end(p.y_high));
        if p.x_low < p.x_high && p.x_low.is_finite() {
            let end = |value: f64| ((x.at(value) + by, at_y), x.holds(value));
            bar(out, end(p.x_low), end(p.x_high));
        }
        marker(out, series.colour, at_x, at_y);
    }
    *out += "</g>";
}

/// An error bar, unless it is too short to be seen. Ends that lie beyond the axis have no cap.
fn bar(out: &mut String, (from, from_cap): ((f64, f64), bool), (to, to_cap): ((f64, f64), bool)) {
    let length = (from.0 - to.0).hypot(from.1 - to.1);
    if !length.is_finite() || length < 2.0 {
        return;
    }
    let (ux, uy) = ((to.1 - from.1) / length * 3.0, (to.0 - from.0) / length * 3.0);
    let cap = |at: (f64, f64)| ((at.0 - ux, at.1 - uy), (at.0 + ux, at.1 + uy));
    for (a, b) in [Some((from, to)), from_cap.then(|| cap(from)), to_cap.then(|| cap(to))]
        .into_iter()
        .flatten()
    {
        let _ = write!(
            out,
            r#"<line class="bar" x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}"/>"#,
            a.0, a.1, b.0, b.1
        );
    }
}

fn marker(out: &mut String, number: usize, x: f64, y: f64) {
    let shape = match number % 4 {
        0 => format!(r#"<circle class="dot" cx="{x:.1}" cy="{y:.1}" r="3.6"/>"#),
        1 => format!(
            r#"<rect class="dot" x="{:.1}" y="{:.1}" width="6.6" height="6.6"/>"#,
            x - 3.3,
            y - 3.3
        ),
        2 => format!(r#"<path class="dot" d="M{:.1} {:.1}l4.2 7.2h-8.4z"/>"#, x, y - 4.6),
        _ => format!(
            r#"<path class="dot" d="M{:.1} {:.1}l4.4 4.4l-4.4 4.4l-4.4 -4.4z"/>"#,
            x,
            y - 4.4
        ),
    };
    *out += &shape;
}

/// Text escaped for HTML and SVG.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
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
    fn chart(series: Vec<Series>) -> Chart {
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

    fn series(points: &[(f64, f64)], paper: bool) -> Series {
        Series {
            name: "s".to_owned(),
            points: points.iter().map(|(x, y)| Point::bare(*x, *y)).collect(),
            colour: 0,
            paper,
        }
    }

    #[test]
    fn numbers_of_a_paper_are_joined_where_nothing_lies_between() {
        let ours = series(&[(1.0, 10.0), (2.0, 20.0), (3.0, 30.0)], false);
        let chart = chart(vec![ours, series(&[(1.0, 10.0), (3.0, 30.0), (4.0, 40.0)], true)]);
        assert_eq!(chart.joined(&chart.series[0]), [false, true, true]);
        assert_eq!(chart.joined(&chart.series[1]), [false, false, true]);
        let categories = Chart {
            categories: vec!["x".to_owned(), "y".to_owned()],
            ..chart
        };
        assert_eq!(categories.joined(&categories.series[0]), [false; 3]);
    }

    #[test]
    fn bars_end_at_the_frame_and_do_not_hide_each_other() {
        let wide = |x: f64| Point {
            y_low: -20.0,
            y_high: 120.0,
            ..Point::bare(x, 50.0)
        };
        let mut both = vec![series(&[], false), series(&[], false)];
        both[0].points = vec![wide(1.0), wide(9.0)];
        both[1].points = vec![wide(1.001)];
        let free = Chart {
            dodge: false,
            ..chart(both)
        };
        let (x, y) = free.axes(Use::Page, 300.0);
        assert_eq!((y.at(-20.0), y.at(120.0)), (300.0, Use::Page.top()));
        assert_eq!(free.moved(&x, &y), [vec![0.0, 0.0], vec![BARS_APART]]);
        let svg = free.svg(Use::Page);
        assert_eq!(
            svg.matches("class=\"bar\"").count(),
            3,
            "three bars, and no caps: {svg}"
        );
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
}
