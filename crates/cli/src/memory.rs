//! A limit of memory, so that the program ends with a message instead of being killed.
//!
//! A thread compares the memory that the process holds with the limit, fifty times a second. Above it the work is
//! asked to end, as by Ctrl-C. If it has not ended after two seconds, or holds a quarter more than the limit, the
//! program exits. Sizes that rules choose are limited beforehand ([`shrink`]), so that a game that does not fit is
//! played on the reference simulator. Without a limit of the user's, seven eighths of what the machine has free is one,
//! where the system tells: otherwise the system would end the program without a word, or another one.

use crate::{interrupt, output};
use anyhow::{Context, Result, bail};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use surmise::engine::EngineOptions;

/// The variable that sets the limit where the option is not given.
const VARIABLE: &str = "SURMISE_MEMORY";

/// Least limit in MiB: the program itself and a small game.
const LEAST: u64 = 32;

/// Least limit in bytes that is set unasked: on a busy machine what is free at the start says little.
const FLOOR: u64 = 1 << 30;

/// Time between two looks.
const PACE: Duration = Duration::from_millis(20);

/// Time for the work to end.
const PATIENCE: Duration = Duration::from_secs(2);

static LIMIT: OnceLock<u64> = OnceLock::new();

/// Sets the limit from the option, from the environment or by what is free, and begins to watch.
pub fn limit(option: Option<u64>) -> Result<()> {
    let mib = match (option, std::env::var(VARIABLE)) {
        (Some(mib), _) => mib,
        (None, Ok(text)) => text
            .parse()
            .with_context(|| format!("{VARIABLE} is no number of MiB: `{text}`"))?,
        (None, Err(_)) => {
            if let Some(free) = available().filter(|_| held().is_some()) {
                watch((free / 8 * 7).max(FLOOR))?;
            }
            return Ok(());
        }
    };
    if !(LEAST..=1 << 24).contains(&mib) {
        bail!("--memory must be between {LEAST} and {} MiB, not {mib}", 1 << 24);
    }
    held().context("--memory needs /proc/self/statm, which this system does not have")?;
    LIMIT.get_or_init(|| mib << 20);
    watch(mib << 20)
}

fn watch(limit: u64) -> Result<()> {
    let thread = std::thread::Builder::new().name("memory".to_owned());
    thread.spawn(move || watch_over(limit)).context("cannot watch memory")?;
    Ok(())
}

/// Lets the allocator keep as many heaps as there are cores. glibc makes eight a core and gives little of them back:
/// 80 matches that were given up left 300 MB behind. To be called before there are threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub fn keep_few_heaps() {
    use std::ffi::c_int;
    unsafe extern "C" {
        fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }
    /// `M_ARENA_MAX` of malloc.h.
    const MOST_HEAPS: c_int = -8;
    if std::env::var_os("MALLOC_ARENA_MAX").is_some() {
        return;
    }
    let cores = std::thread::available_parallelism().map_or(2, |n| n.get().clamp(2, 1024));
    // SAFETY: mallopt has this signature, takes any numbers, and only this thread runs.
    unsafe { mallopt(MOST_HEAPS, cores as c_int) };
}

/// Other allocators are left as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_few_heaps() {}

/// Makes the limits of an engine small enough for the limit of memory, if there is one.
pub fn shrink(options: &mut EngineOptions) {
    let Some(&bytes) = LIMIT.get() else { return };
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    options.limits.bytes = options.limits.bytes.min(bytes / 8);
    options.limits.instances = options.limits.instances.min(bytes / 512);
    options.evaluation.atoms = options.evaluation.atoms.min(bytes / 256);
}

/// Bytes that arrays of a known size may take: three quarters of the limit, or of what the machine has free.
pub fn for_arrays() -> u64 {
    let limit = LIMIT.get().copied().or_else(available).unwrap_or(4 << 30);
    limit / 4 * 3
}

/// Bytes of memory that the machine, or the container, has free.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    let container = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let most = container.and_then(|text| text.trim().parse().ok()).unwrap_or(u64::MAX);
    Some(most.min(kib << 10))
}

fn watch_over(limit: u64) {
    let mut since: Option<Instant> = None;
    loop {
        std::thread::sleep(PACE);
        let held = held().unwrap_or(0);
        if since.is_none() && held > limit {
            output::error(&format!(
                "more than {} MiB are in use: stopping (--memory sets another limit)",
                limit >> 20
            ));
            interrupt::flag().raise();
            since = Some(Instant::now());
        }
        let late = since.is_some_and(|since| since.elapsed() > PATIENCE);
        if late || held > limit + limit / 4 {
            output::error(&format!("{} MiB are in use: giving up", held >> 20));
            std::process::exit(i32::from(interrupt::STOPPED));
        }
    }
}

/// Bytes of memory that this process holds.
fn held() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}

/// Bytes of a page on the systems that have `/proc/self/statm`.
const PAGE: u64 = 4096;
