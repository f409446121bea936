//! Axes of charts: from values to coordinates, and the numbers beside them.

/// An axis: maps values to coordinates.
pub(super) struct Axis {
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// Coordinate of the smallest value.
    pub from: f64,
    /// Coordinate of the largest value.
    pub to: f64,
}

impl Axis {
    /// Coordinate of a value; values beyond an end are at that end.
    pub fn at(&self, value: f64) -> f64 {
        let scale = |v: f64| if self.log { v.max(1e-300).ln() } else { v };
        let share = (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low));
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Whether a value lies between the ends. Zero lies beyond the end of a logarithmic axis.
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Round numbers between the ends.
    pub fn ticks(&self) -> Vec<f64> {
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

/// Ends of an axis that shows all values, with some room.
pub(super) fn range(values: impl Iterator<Item = f64>, log: bool) -> (f64, f64) {
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
}
