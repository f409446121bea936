//! Curves with error bars, as SVG that follows the reader's light or dark mode and prints in black.

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

/// Colours for light and dark backgrounds, after the palette of Okabe and Ito for colour-blind readers. Markers differ
/// too, for print.
const COLOURS: [(&str, &str); 8] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#ff8c42"),
    ("#007a5a", "#2fd0a2"),
    ("#aa4499", "#e58ac4"),
    ("#8a6d00", "#f0d442"),
    ("#333333", "#dddddd"),
    ("#5b5bd6", "#a3a3ff"),
    ("#a31515", "#ff7b72"),
];

/// An axis: maps values to coordinates.
struct Axis {
    low: f64,
    high: f64,
    log: bool,
    from: f64,
    to: f64,
}

impl Axis {
    fn at(&self, value: f64) -> f64 {
        let scale = |v: f64| if self.log { v.max(1e-300).ln() } else { v };
        let share = (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low));
        self.from + share.clamp(-0.02, 1.02) * (self.to - self.from)
    }

    fn ticks(&self) -> Vec<f64> {
        if self.log {
            let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
            let step = ((last - first) / 8).max(1);
            let decades = (first..=last).step_by(step as usize).map(|e| 10_f64.powi(e));
            let marks: Vec<f64> = match last - first <= 2 {
                true => decades.flat_map(|d| [d, 2.0 * d, 5.0 * d]).collect(),
                false => decades.collect(),
            };
            return marks
                .into_iter()
                .filter(|t| (self.low * 0.999..=self.high * 1.001).contains(t))
                .collect();
        }
        let step = nice_step(self.high - self.low);
        let first = (self.low / step).ceil() as i64;
        (first..)
            .map(|k| k as f64 * step)
            .take_while(|t| *t <= self.high + step * 1e-6)
            .collect()
    }
}

/// Distance of ticks: 1, 2 or 5 times a power of ten, for about six ticks.
fn nice_step(range: f64) -> f64 {
    let raw = (range / 6.0).max(1e-12);
    let power = 10_f64.powf(raw.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|t| t * power >= raw);
    times.unwrap_or(10.0) * power
}

/// A number with a unit of thousands: 1500000 as 1.5M.
pub fn short(value: f64) -> String {
    let size = value.abs();
    let (by, unit) = match size {
        s if s >= 1e15 => return format!("{value:.0e}"),
        s if s >= 1e12 => (1e12, "T"),
        s if s >= 1e9 => (1e9, "G"),
        s if s >= 1e6 => (1e6, "M"),
        s if s >= 1e3 => (1e3, "k"),
        s if s > 0.0 && s < 0.001 => return format!("{value:.0e}"),
        _ => (1.0, ""),
    };
    let text = format!("{:.3}", value / by);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{unit}")
}

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
                shown.left(),
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
        let ours = self.series.iter().filter(|s| !s.paper).count();
        for (number, series) in self.series.iter().enumerate() {
            let moved = match self.dodge && !series.paper {
                true => dodge(number, ours),
                false => 0.0,
            };
            draw(&mut out, series, moved, &x, &y);
        }
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

    /// Width of the margin on the right, which holds the labels of the horizontal lines. A narrow plot has them inside.
    fn right(&self, shown: Use) -> f64 {
        let labels = self.lines.iter().map(|(label, _)| label.chars().count());
        match shown {
            Use::Phone => 8.0,
            _ => RIGHT + 6.6 * labels.max().unwrap_or(0) as f64,
        }
    }

    fn columns(&self, shown: Use) -> usize {
        let longest = self.series.iter().map(|s| s.name.chars().count()).max().unwrap_or(0);
        (((shown.width() - shown.left()) / (longest as f64 * 7.5 + 44.0)) as usize).clamp(1, 6)
    }

    fn axes(&self, shown: Use, bottom: f64) -> (Axis, Axis) {
        let all = || self.series.iter().flat_map(|s| &s.points);
        let (x_low, x_high) = match self.categories.len() {
            0 => range(all().map(|p| p.x), self.log_x),
            count => (-0.5, count as f64 - 0.5),
        };
        let bars = all()
            .flat_map(|p| [p.y, p.y_low, p.y_high])
            .chain(self.lines.iter().map(|(_, at)| *at));
        let (y_low, y_high) = match self.percent {
            true => (0.0, 100.0),
            false => range(bars, self.log_y),
        };
        let x = Axis {
            low: x_low,
            high: x_high,
            log: self.log_x,
            from: shown.left() + 12.0,
            to: shown.width() - self.right(shown) - 12.0,
        };
        let y = Axis {
            low: y_low,
            high: y_high,
            log: self.log_y,
            from: bottom,
            to: shown.top(),
        };
        (x, y)
    }

    fn grid(&self, out: &mut String, shown: Use, x: &Axis, y: &Axis) {
        let (left, right) = (shown.left(), shown.width() - self.right(shown));
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
        for (label, value) in &self.lines {
            let at = y.at(*value);
            let _ = write!(
                out,
                r#"<line class="mark" x1="{left}" x2="{right}" y1="{at:.1}" y2="{at:.1}"/>"#
            );
            let (place, above, anchor) = match shown {
                Use::Phone => (right - 4.0, -4.0, "end"),
                _ => (right + 4.0, 4.0, "start"),
            };
            let _ = write!(
                out,
                r#"<text class="axis" x="{place:.1}" y="{:.1}" text-anchor="{anchor}">{}</text>"#,
                at + above,
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
        let width = (shown.width() - shown.left() - RIGHT) / columns as f64;
        for (number, series) in self.series.iter().enumerate() {
            let x = shown.left() + width * (number % columns) as f64;
            let y = top + LEGEND_ROW * (number / columns) as f64 + 6.0;
            let _ = write!(
                out,
                r#"<g class="{}"><line class="curve" x1="{x:.1}" x2="{:.1}" y1="{y:.1}" y2="{y:.1}"/>"#,
                series.class(),
                x + 26.0
            );
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

fn range(values: impl Iterator<Item = f64>, log: bool) -> (f64, f64) {
    let usable = values.filter(|v| v.is_finite() && (!log || *v > 0.0));
    let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    match (low.is_finite(), log) {
        (false, true) => (1.0, 10.0),
        (false, false) => (0.0, 1.0),
        (true, true) if low == high => (low / 2.0, high * 2.0),
        (true, true) => (low * 0.9, high * 1.1),
        (true, false) if low == high => (low - 1.0, high + 1.0),
        (true, false) => (
            (low - 0.05 * (high - low)).min(0.0_f64.max(low - 1.0)),
            high + 0.05 * (high - low),
        ),
    }
}

fn draw(out: &mut String, series: &Series, moved: f64, x: &Axis, y: &Axis) {
    let _ = write!(
        out,
        r#"<g class="{}"><title>{}</title>"#,
        series.class(),
        escape(&series.name)
    );
    let at = |value: f64| x.at(value) + moved;
    let path: Vec<String> = series
        .points
        .iter()
        .map(|p| format!("{:.1},{:.1}", at(p.x), y.at(p.y)))
        .collect();
    let _ = write!(out, r#"<polyline class="curve" points="{}"/>"#, path.join(" "));
    for p in &series.points {
        let (at_x, at_y) = (at(p.x), y.at(p.y));
        bar(out, (at_x, y.at(p.y_low)), (at_x, y.at(p.y_high)));
        if p.x_low < p.x_high && p.x_low.is_finite() {
            bar(out, (at(p.x_low), at_y), (at(p.x_high), at_y));
        }
        marker(out, series.colour, at_x, at_y);
    }
    *out += "</g>";
}

/// An error bar, unless it is too short to be seen.
fn bar(out: &mut String, from: (f64, f64), to: (f64, f64)) {
    let length = (from.0 - to.0).hypot(from.1 - to.1);
    if !length.is_finite() || length < 2.0 {
        return;
    }
    let (ux, uy) = ((to.1 - from.1) / length * 3.0, (to.0 - from.0) / length * 3.0);
    for (a, b) in [
        (from, to),
        ((from.0 - ux, from.1 - uy), (from.0 + ux, from.1 + uy)),
        ((to.0 - ux, to.1 - uy), (to.0 + ux, to.1 + uy)),
    ] {
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

/// The sheet of a chart. In files every colour is written out: programs for drawings know no variables.
fn style(shown: Use) -> String {
    if shown == Use::File {
        let mut sheet = String::from(
            "<style>.chart{font:13px sans-serif}.title{fill:#222;font-weight:600;font-size:14px}\
             .axis{fill:#444;font-size:12px}.key{fill:#222;font-size:12px}.grid{stroke:#ddd;stroke-width:1}\
             .frame{fill:none;stroke:#666}.mark{stroke:#666;stroke-dasharray:5 4}.curve{fill:none;stroke-width:1.8}\
             .bar{stroke-width:1.2}.paper .curve{stroke-dasharray:6 4;stroke-width:1.3}",
        );
        for (number, (colour, _)) in COLOURS.iter().enumerate() {
            let _ = write!(
                sheet,
                ".s{number} .curve,.s{number} .bar{{stroke:{colour}}}.s{number} .dot{{fill:{colour};stroke:{colour}}}"
            );
        }
        return sheet + ".paper .dot{fill:#fff}</style>";
    }
    let mut light = String::new();
    let mut dark = String::new();
    for (number, (on_light, on_dark)) in COLOURS.iter().enumerate() {
        let _ = write!(light, ".chart .s{number}{{--c:{on_light}}}");
        let _ = write!(dark, ".chart .s{number}{{--c:{on_dark}}}");
    }
    format!(
        "<style>.chart{{--ink:#222;--soft:#666;--line:#ddd;--paper:#fff;font:13px system-ui,sans-serif}}\
         .chart .axis,.chart .key{{fill:var(--soft);font-size:12px}}.chart .key{{fill:var(--ink)}}\
         .chart .grid{{stroke:var(--line);stroke-width:1}}.chart .frame{{fill:none;stroke:var(--soft)}}\
         .chart .mark{{stroke:var(--soft);stroke-dasharray:5 4}}\
         .chart .curve{{fill:none;stroke:var(--c);stroke-width:1.8}}.chart .bar{{stroke:var(--c);stroke-width:1.2}}\
         .chart .dot{{fill:var(--c);stroke:var(--c)}}.chart .paper .dot{{fill:var(--paper)}}\
         .chart .paper .curve{{stroke-dasharray:6 4;stroke-width:1.3}}{light}\
         @media screen and (prefers-color-scheme:dark){{\
         .chart{{--ink:#e8e8e8;--soft:#a8a8a8;--line:#3a3a3a;--paper:#17181a}}{dark}}}</style>"
    )
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
    fn ticks_are_round_numbers() {
        let axis = |low, high, log| Axis {
            low,
            high,
            log,
            from: 0.0,
            to: 1.0,
        };
        assert_eq!(axis(0.0, 100.0, false).ticks(), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(axis(0.9, 1_100.0, true).ticks(), [1.0, 10.0, 100.0, 1_000.0]);
        assert_eq!(short(1_500_000.0), "1.5M");
        assert_eq!(short(0.25), "0.25");
    }

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
        assert!(!svg.contains("var(--"), "files have no variables");
        assert!(svg.contains("a &lt; b") && svg.ends_with("</svg>\n"));
    }
}
