//! Where, when and by what results were made.

use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where, when and by what results were made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// When the first run began, in seconds since 1970; 0 if that is not known.
    pub started: u64,
    /// When the last run ended.
    pub finished: u64,
    /// How long all runs took together, in seconds.
    pub seconds: f64,
    /// Processor, cores and system of the last run.
    pub machine: String,
    /// Commit of the program, if it was built from a repository.
    pub commit: String,
}

impl Provenance {
    /// A run that begins now, on this machine.
    pub fn now(commit: &str) -> Provenance {
        Provenance {
            started: seconds_now(),
            finished: 0,
            seconds: 0.0,
            machine: machine(),
            commit: commit.to_owned(),
        }
    }

    /// The same, after earlier runs.
    pub fn after(self, before: &Provenance) -> Provenance {
        match before.started {
            0 => self,
            started => Provenance {
                started,
                // Until this run ends; it may find nothing left to play.
                finished: before.finished,
                seconds: before.seconds,
                ..self
            },
        }
    }

    /// The run has ended.
    pub fn ended(&mut self, took: std::time::Duration) {
        self.finished = seconds_now();
        self.seconds += took.as_secs_f64();
    }
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

/// Processor, cores and system.
pub fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = format!("{cores} core{}", if cores == 1 { "" } else { "s" });
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map(|rest| rest.trim_start_matches([' ', '\t', ':']).trim());
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    match model {
        Some(model) => format!("{model}, {cores}, {system}"),
        None => format!("{cores}, {system}"),
    }
}

/// A day and minute in UTC, as in `2026-11-18 00:30`.
pub fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days to years, months and days (Howard Hinnant, "chrono-compatible low-level date algorithms").
    let z = days + 719_468;
    let era = z / 146_097;
    let day_of_era = z % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}",
        rest / 3_600,
        rest % 3_600 / 60
    )
}

/// A duration for people: `42 s`, `3.5 min`, `2.1 h`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5_400.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3_600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00");
        assert_eq!(date(951_782_400), "2000-02-29 00:00");
        assert_eq!(date(1_795_047_925), "2026-11-19 00:25");
        assert_eq!(date(4_107_542_399), "2100-02-28 23:59");
    }

    #[test]
    fn later_runs_add_up() {
        let first = Provenance {
            started: 5,
            seconds: 10.0,
            ..Provenance::default()
        };
        // A run that finds nothing to play leaves the end of the last one.
        let mut second = Provenance::now("abc").after(&Provenance { finished: 15, ..first });
        assert_eq!(second.finished, 15);
        second.ended(std::time::Duration::from_secs(2));
        assert_eq!(
            (second.started, second.seconds, second.commit.as_str()),
            (5, 12.0, "abc")
        );
    }
}
