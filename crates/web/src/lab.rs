//! Experiments in the lab's folder: how far they are, and their reports.

use crate::ApiError;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use surmise::lab::Folder;
use surmise::lab::run::missing;

/// An experiment.
#[derive(Debug, Serialize)]
pub struct ExperimentJson {
    name: String,
    title: String,
    /// Matches wanted.
    units: u64,
    /// Matches finished.
    done: u64,
    running: bool,
    report: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Value>,
}

/// Experiments that are listed.
const MOST: usize = 200;

/// Largest report.
const MAX_REPORT: u64 = 32 << 20;

/// All experiments of a folder, by name.
pub fn list(lab: &Path) -> Vec<ExperimentJson> {
    let entries = std::fs::read_dir(lab).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.retain(|name| is_plain(name) && lab.join(name).join("lab.json").is_file());
    names.sort();
    names
        .iter()
        .take(MOST)
        .filter_map(|name| experiment(lab, name, false))
        .collect()
}

/// One experiment, with the numbers of its report.
///
/// # Errors
/// If there is none of this name.
pub fn find(lab: Option<&Path>, name: &str) -> Result<ExperimentJson, ApiError> {
    let found = lab
        .filter(|_| is_plain(name))
        .and_then(|lab| experiment(lab, name, true));
    found.ok_or_else(none)
}

fn none() -> ApiError {
    ApiError::new(
        404,
        "no-experiment",
        "there is no such experiment",
        "GET /api/lab lists them",
    )
}

fn is_plain(name: &str) -> bool {
    !name.starts_with('.') && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn experiment(lab: &Path, name: &str, whole: bool) -> Option<ExperimentJson> {
    let path = lab.join(name);
    let (folder, _, spec) = Folder::open(&path).ok()?;
    let (done, units, _) = missing(&spec, &folder, 1).ok()?;
    let report = path.join("report.html").is_file();
    let results = || serde_json::from_slice(&read_some(&path.join("report.json"))?).ok();
    Some(ExperimentJson {
        name: name.to_owned(),
        title: spec.title.clone(),
        units,
        done,
        running: is_locked(&path.join("lock")),
        report: report.then(|| format!("/lab/{name}/report.html")),
        results: if whole { results() } else { None },
    })
}

/// Whether another process holds the lock. The file is not made if it is missing.
fn is_locked(lock: &Path) -> bool {
    match std::fs::File::open(lock) {
        Ok(file) => matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

/// The bytes of a file that is not too large.
fn read_some(path: &Path) -> Option<Vec<u8>> {
    let about = std::fs::metadata(path).ok()?;
    (about.is_file() && about.len() <= MAX_REPORT).then(|| std::fs::read(path).ok())?
}

/// A file of a report and its media type.
///
/// # Errors
/// If there is none.
pub fn report(lab: Option<&Path>, name: &str, file: &str) -> Result<(Vec<u8>, &'static str), ApiError> {
    let media = match file.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("csv") => "text/csv; charset=utf-8",
        Some("json") => "application/json",
        Some("tex" | "bib") => "text/plain; charset=utf-8",
        _ => return Err(none()),
    };
    let plain = is_plain(name)
        && is_plain(file)
        && (file.starts_with("report.")
            || file.starts_with("plot-")
            || [".csv", ".tex", ".bib"].iter().any(|end| file.ends_with(end)));
    let path: Option<PathBuf> = lab.filter(|_| plain).map(|lab| lab.join(name).join(file));
    let bytes = path.and_then(|path| read_some(&path)).ok_or_else(none)?;
    Ok((bytes, media))
}
