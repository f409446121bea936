//! Which points of a chart are joined, and which are moved so that error bars can be told apart.

use super::axis::Axis;
use super::svg::{Chart, Point, Series};

/// Least distance of error bars beside each other.
const BARS_APART: f64 = 5.0;

impl Chart {
    /// By how many units each point of each curve is moved to the right, so that error bars can be told apart. Curves
    /// that share their x values are moved as a whole; otherwise points are moved that are too close to one before.
    pub(super) fn moved(&self, x: &Axis, y: &Axis) -> Vec<Vec<f64>> {
        if !self.categories.is_empty() {
            return self.moved_apart(x);
        }
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

    /// The same for categories: every curve has a place of its own, the paper's beside ours of the same colour.
    fn moved_apart(&self, x: &Axis) -> Vec<Vec<f64>> {
        let count = self.series.len();
        let room = (x.to - x.from) / self.categories.len() as f64;
        let step = (room / (count + 1) as f64).min(2.0 * BARS_APART);
        let before = |a: &Series, b: &Series| (a.colour, a.paper) < (b.colour, b.paper);
        let by = |series: &Series| {
            let place = self.series.iter().filter(|other| before(other, series)).count();
            vec![step * (place as f64 - (count - 1) as f64 / 2.0); series.points.len()]
        };
        self.series.iter().map(by).collect()
    }

    /// Whether each point of a curve is joined with the one before. Categories have no order, and between two numbers
    /// of a paper nothing is known if we measured something there.
    pub(super) fn joined(&self, series: &Series) -> Vec<bool> {
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
}

/// By how much the points of a curve are moved to the right, so that error bars at the same x can be told apart.
fn dodge(number: usize, count: usize) -> f64 {
    let step = (18.0 / count.max(1) as f64).min(4.5);
    step * (number as f64 - (count.max(1) - 1) as f64 / 2.0)
}

#[cfg(test)]
mod tests {
    use super::super::svg::Use;
    use super::super::svg::tests::{chart, series};
    use super::*;

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
        let (x, y) = categories.axes(Use::Page, 300.0);
        let moved = categories.moved(&x, &y);
        assert!(moved[0][0] < 0.0 && moved[0][0] == -moved[1][0], "{moved:?}");
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
}
