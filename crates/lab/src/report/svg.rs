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

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
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
    pub fn svg(&self) -> String {
        let rows = self.series.len().div_ceil(self.columns());
        let bottom = BOTTOM + LEGEND_ROW * rows as f64;
        let height = HEIGHT + LEGEND_ROW * rows as f64;
        let (x, y) = self.axes(height - bottom);
        let mut out = String::new();
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\" \
             class=\"chart\">{}",
            escape(&self.title),
            style()
        );
        let _ = write!(
            out,
            r#"<text class="title" x="{LEFT}" y="20">{}</text>"#,
            escape(&self.title)
        );
        self.grid(&mut out, &x, &y);
        if self.series.is_empty() {
            let (cx, cy) = ((x.from + x.to) / 2.0, (y.from + y.to) / 2.0);
            let _ = write!(
                out,
                r#"<text class="axis" x="{cx}" y="{cy}" text-anchor="middle">nothing played yet</text>"#
            );
        }
        for (number, series) in self.series.iter().enumerate() {
            draw(&mut out, number, series, &x, &y);
        }
        self.legend(&mut out, height - LEGEND_ROW * rows as f64);
        out + "</svg>\n"
    }

    /// Width of the margin on the right, which holds the labels of the horizontal lines.
    fn right(&self) -> f64 {
        let longest = self
            .lines
            .iter()
            .map(|(label, _)| label.chars().count())
            .max()
            .unwrap_or(0);
        RIGHT + 6.6 * longest as f64
    }

    fn columns(&self) -> usize {
        let longest = self.series.iter().map(|s| s.name.chars().count()).max().unwrap_or(0);
        (((WIDTH - LEFT) / (longest as f64 * 7.5 + 44.0)) as usize).clamp(1, 6)
    }

    fn axes(&self, bottom: f64) -> (Axis, Axis) {
        let all = || self.series.iter().flat_map(|s| &s.points);
        let (x_low, x_high) = range(all().map(|p| p.x), self.log_x);
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
            from: LEFT + 10.0,
            to: WIDTH - self.right() - 10.0,
        };
        let y = Axis {
            low: y_low,
            high: y_high,
            log: self.log_y,
            from: bottom,
            to: TOP,
        };
        (x, y)
    }

    fn grid(&self, out: &mut String, x: &Axis, y: &Axis) {
        let (left, right) = (LEFT, WIDTH - self.right());
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
        for tick in x.ticks() {
            let at = x.at(tick);
            let _ = write!(
                out,
                r#"<line class="grid" x1="{at:.1}" x2="{at:.1}" y1="{:.1}" y2="{:.1}"/>"#,
                y.from, y.to
            );
            let _ = write!(
                out,
                r#"<text class="axis" x="{at:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
                y.from + 17.0,
                short(tick)
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
            let _ = write!(
                out,
                r#"<text class="axis" x="{:.1}" y="{:.1}">{}</text>"#,
                right + 4.0,
                at + 4.0,
                escape(label)
            );
        }
    }

    fn legend(&self, out: &mut String, top: f64) {
        let columns = self.columns();
        let width = (WIDTH - LEFT - RIGHT) / columns as f64;
        for (number, series) in self.series.iter().enumerate() {
            let x = LEFT + width * (number % columns) as f64;
            let y = top + LEGEND_ROW * (number / columns) as f64 + 6.0;
            let colour = number % COLOURS.len();
            let _ = write!(
                out,
                r#"<g class="s{colour}"><line class="curve" x1="{x:.1}" x2="{:.1}" y1="{y:.1}" y2="{y:.1}"/>"#,
                x + 26.0
            );
            marker(out, number, x + 13.0, y);
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

fn draw(out: &mut String, number: usize, series: &Series, x: &Axis, y: &Axis) {
    let _ = write!(
        out,
        r#"<g class="s{}"><title>{}</title>"#,
        number % COLOURS.len(),
        escape(&series.name)
    );
    let path: Vec<String> = series
        .points
        .iter()
        .map(|p| format!("{:.1},{:.1}", x.at(p.x), y.at(p.y)))
        .collect();
    let _ = write!(out, r#"<polyline class="curve" points="{}"/>"#, path.join(" "));
    for p in &series.points {
        let (at_x, at_y) = (x.at(p.x), y.at(p.y));
        bar(out, (at_x, y.at(p.y_low)), (at_x, y.at(p.y_high)));
        if p.x_low < p.x_high && p.x_low.is_finite() {
            bar(out, (x.at(p.x_low), at_y), (x.at(p.x_high), at_y));
        }
        marker(out, number, at_x, at_y);
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

fn style() -> String {
    let mut light = String::new();
    let mut dark = String::new();
    for (number, (on_light, on_dark)) in COLOURS.iter().enumerate() {
        let _ = write!(light, ".chart .s{number}{{--c:{on_light}}}");
        let _ = write!(dark, ".chart .s{number}{{--c:{on_dark}}}");
    }
    format!(
        "<style>.chart{{--ink:#222;--soft:#666;--line:#ddd;font:13px system-ui,sans-serif}}\
         .chart .title{{fill:var(--ink);font-weight:600;font-size:14px}}\
         .chart .axis,.chart .key{{fill:var(--soft);font-size:12px}}.chart .key{{fill:var(--ink)}}\
         .chart .grid{{stroke:var(--line);stroke-width:1}}.chart .frame{{fill:none;stroke:var(--soft)}}\
         .chart .mark{{stroke:var(--soft);stroke-dasharray:5 4}}\
         .chart .curve{{fill:none;stroke:var(--c);stroke-width:1.8}}.chart .bar{{stroke:var(--c);stroke-width:1.2}}\
         .chart .dot{{fill:var(--c)}}{light}\
         @media screen and (prefers-color-scheme:dark){{\
         .chart{{--ink:#e8e8e8;--soft:#a8a8a8;--line:#3a3a3a}}{dark}}}</style>"
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
            lines: Vec::new(),
            series: vec![Series {
                name: "s".to_owned(),
                points: vec![Point::bare(f64::NAN, 1.0)],
            }],
        };
        let svg = chart.svg();
        assert!(svg.contains("a &lt; b") && svg.ends_with("</svg>\n"));
    }
}
