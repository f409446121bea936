//! Curves, error bars and markers as SVG.

use super::axis::Axis;
use super::svg::{Point, Series, escape};
use std::fmt::Write as _;

/// A curve with its error bars.
pub(super) fn draw(out: &mut String, series: &Series, moved: &[f64], joined: &[bool], x: &Axis, y: &Axis) {
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

/// The marker of a point.
pub(super) fn marker(out: &mut String, number: usize, x: f64, y: f64) {
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
