//! How long an experiment will take, from measured times of its matches.
//!
//! `presets/times.json` holds processor seconds of a match for cells of the presets, by key, as `surmise lab time`
//! measures them. The estimate of an experiment is the sum over all matches, divided by the cores. A cell with `until`
//! may end earlier, so an estimate is rather too high.

use crate::Spec;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Measured times of matches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MatchTimes {
    /// When they were measured.
    pub measured: String,
    /// On which machine.
    pub machine: String,
    /// Seconds of a match, by the key of the cell.
    pub seconds: BTreeMap<String, f64>,
}

/// An estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Processor seconds of the cells whose times are known.
    pub seconds: f64,
    /// Cells whose times are known, and all cells.
    pub known: (usize, usize),
}

impl MatchTimes {
    /// The times that this program was shipped with.
    pub fn shipped() -> MatchTimes {
        serde_json::from_str(include_str!("../presets/times.json")).unwrap_or_default()
    }

    /// The processor time of an experiment.
    pub fn estimate(&self, spec: &Spec) -> Estimate {
        let mut estimate = Estimate::default();
        let mut seen = BTreeSet::new();
        for cell in spec.cells.iter().filter(|cell| seen.insert(cell.key.as_str())) {
            estimate.known.1 += 1;
            if let Some(seconds) = self.seconds.get(&cell.key) {
                estimate.known.0 += 1;
                estimate.seconds += seconds * cell.games as f64;
            }
        }
        estimate
    }
}

impl Estimate {
    /// The estimate in words, on this many cores: `4.2 min`, with `more than` if times of cells are missing; none if
    /// nothing is known.
    pub fn words(&self, cores: usize) -> Option<String> {
        let time = crate::provenance::duration(self.seconds / cores.max(1) as f64);
        match self.known {
            (0, _) => None,
            (known, all) if known < all => Some(format!("more than {time}")),
            _ => Some(format!("about {time}")),
        }
    }
}

/// Processor time of this thread so far, in seconds; none where the system does not tell.
pub fn thread_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanos / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Size;

    #[test]
    fn matches_are_added_up_once_a_cell() {
        let text = "name = \"x\"\ntitle = \"x\"\n[[sweep]]\ngame = \"g\"\nplayers = [\"{p}\"]\ngames = 100\n\
                    over = { p = [\"a\", \"b\", \"a\"] }\n";
        let spec = Spec::read("x.toml", text, Size::Plain, &[]).unwrap();
        let mut times = MatchTimes::default();
        assert_eq!(times.estimate(&spec).words(2), None);
        times.seconds.insert(spec.cells[0].key.clone(), 3.0);
        assert_eq!(times.estimate(&spec).words(2).as_deref(), Some("more than 2.5 min"));
        times.seconds.insert(spec.cells[1].key.clone(), 6.0);
        let whole = times.estimate(&spec);
        assert_eq!((whole.seconds, whole.known), (900.0, (2, 2)));
        assert_eq!(whole.words(2).as_deref(), Some("about 7.5 min"));
    }

    #[test]
    fn the_shipped_times_are_read() {
        let text = include_str!("../presets/times.json");
        let times: MatchTimes = serde_json::from_str(text).expect("times");
        assert!(times.seconds.values().all(|s| s.is_finite() && *s >= 0.0));
    }
}
