//! Progress of long work on standard error: a bar on a terminal, a line every ten seconds elsewhere, nothing with
//! `--quiet`.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

static QUIET: AtomicBool = AtomicBool::new(false);

/// Turns progress off.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether notes for people should be left out.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Time between two lines where standard error is not a terminal.
const PERIOD: Duration = Duration::from_secs(10);

/// Progress of one piece of work. It ends when it is finished or dropped.
pub struct Progress {
    bar: ProgressBar,
    lines: Option<Arc<Lines>>,
    shown: Mutex<Instant>,
}

/// What the thread that prints lines shares with the work.
struct Lines {
    what: String,
    started: Instant,
    done: AtomicU64,
    all: AtomicU64,
    message: Mutex<String>,
    wanted: AtomicBool,
    finished: AtomicBool,
}

/// Work whose end is not known.
pub fn spinner(what: &str) -> Progress {
    Progress::new(what, None, "{spinner} {prefix} {elapsed} {msg}")
}

/// Work that can be counted.
pub fn bar(what: &str, length: u64) -> Progress {
    Progress::new(what, Some(length), "{prefix} {wide_bar} {pos}/{len} {per_sec} {eta}")
}

/// No progress: somebody plays at the terminal.
pub fn none() -> Progress {
    Progress {
        bar: ProgressBar::hidden(),
        lines: None,
        shown: Mutex::new(Instant::now()),
    }
}

impl Progress {
    fn new(what: &str, length: Option<u64>, style: &str) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        let target = match terminal && !is_quiet() {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(length, target);
        let style = ProgressStyle::with_template(style);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.set_prefix(what.to_owned());
        if length.is_none() {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        let lines = (!terminal && !is_quiet()).then(|| Lines::start(what, length));
        Progress {
            bar,
            lines,
            shown: Mutex::new(Instant::now()),
        }
    }

    /// Says more about the work. The text is only made if it is shown.
    pub fn set_message(&self, message: impl FnOnce() -> String) {
        if !self.bar.is_hidden() {
            self.bar.set_message(message());
        } else if let Some(lines) = self.lines.as_ref().filter(|l| l.wanted.swap(false, Ordering::Relaxed)) {
            *lines.message.lock().unwrap_or_else(PoisonError::into_inner) = message();
        }
    }

    /// As [`Progress::set_message`], for texts that take long to make: at most four times a second.
    pub fn set_message_now_and_then(&self, message: impl FnOnce() -> String) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.elapsed() > Duration::from_millis(250) {
            self.set_message(message);
            *shown = Instant::now();
        }
    }

    /// Counts one more.
    pub fn inc(&self) {
        self.bar.inc(1);
        if let Some(lines) = &self.lines {
            lines.done.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sets how much there is and how much of it is done.
    pub fn set(&self, done: u64, all: u64) {
        self.bar.set_length(all);
        self.bar.set_position(done);
        self.bar.reset_eta();
        if let Some(lines) = &self.lines {
            lines.all.store(all, Ordering::Relaxed);
            lines.done.store(done, Ordering::Relaxed);
        }
    }

    /// Prints to standard output without disturbing the bar.
    pub fn print(&self, text: &str) {
        self.bar.suspend(|| crate::output::print(text));
    }

    /// Ends and clears it.
    pub fn finish(self) {}
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        if let Some(lines) = &self.lines {
            lines.finished.store(true, Ordering::Relaxed);
        }
    }
}

impl Lines {
    fn start(what: &str, length: Option<u64>) -> Arc<Lines> {
        let lines = Arc::new(Lines {
            what: what.to_owned(),
            started: Instant::now(),
            done: AtomicU64::new(0),
            all: AtomicU64::new(length.unwrap_or(0)),
            message: Mutex::default(),
            wanted: AtomicBool::new(true),
            finished: AtomicBool::new(false),
        });
        let weak = Arc::downgrade(&lines);
        std::thread::spawn(move || {
            let mut next = Instant::now() + PERIOD;
            loop {
                std::thread::sleep(Duration::from_millis(200));
                let Some(lines) = weak.upgrade().filter(|l| !l.finished.load(Ordering::Relaxed)) else {
                    return;
                };
                if Instant::now() >= next {
                    next += PERIOD;
                    crate::output::to_stderr(&lines.line());
                }
            }
        });
        lines
    }

    fn line(&self) -> String {
        let seconds = self.started.elapsed().as_secs();
        let (done, all) = (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed));
        let mut line = format!("{}: {seconds} s", self.what);
        if all > 0 {
            line += &format!(", {done} of {all}");
            if let Some(left) = (seconds * all.saturating_sub(done)).checked_div(done) {
                line += &format!(", about {left} s left");
            }
        }
        let message = self.message.lock().unwrap_or_else(PoisonError::into_inner);
        if !message.is_empty() {
            line += &format!(", {message}");
        }
        self.wanted.store(true, Ordering::Relaxed);
        line
    }
}
