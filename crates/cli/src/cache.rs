//! The folder in which compiled games are kept.

use anyhow::{Result, bail};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The variable that names the folder where the option is not given.
const VARIABLE: &str = "SURMISE_CACHE";

/// The folder, and whether it was asked for.
static FOLDER: OnceLock<(Option<PathBuf>, bool)> = OnceLock::new();

/// Sets the folder from the option, or from the environment; `off` for none.
pub fn set(option: Option<OsString>) -> Result<()> {
    let asked = option.or_else(|| std::env::var_os(VARIABLE));
    let is_asked = asked.is_some();
    let folder = match asked {
        Some(text) if text.is_empty() => bail!("--game-cache and {VARIABLE} must be a folder or `off`"),
        Some(text) if text == "off" => None,
        Some(text) => Some(PathBuf::from(text)),
        None => usual(),
    };
    FOLDER.get_or_init(|| (folder, is_asked));
    Ok(())
}

/// The folder, if games are kept.
pub fn folder() -> Option<PathBuf> {
    FOLDER.get().and_then(|(folder, _)| folder.clone())
}

/// The folder, if the option or the variable names it: for commands that measure setting up.
pub fn asked_folder() -> Option<PathBuf> {
    FOLDER
        .get()
        .filter(|(_, asked)| *asked)
        .and_then(|(folder, _)| folder.clone())
}

/// The user's folder for what can be made again (XDG Base Directory Specification).
fn usual() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    Some(caches?.join("surmise"))
}
