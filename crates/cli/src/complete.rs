//! Completion of game and player names.

use clap_complete::engine::CompletionCandidate;
use std::ffi::OsStr;
use surmise::catalogue;
use surmise::players::registry;

/// Games of the catalogue, and files.
pub fn games(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = current.to_str() else {
        return Vec::new();
    };
    let named = catalogue::games().iter().filter(|g| g.name.starts_with(typed));
    let mut all: Vec<CompletionCandidate> = named
        .map(|g| CompletionCandidate::new(g.name).help(Some(g.title.into())))
        .collect();
    all.extend(files(typed));
    all
}

/// Players, and the options of a player once its name is there.
pub fn players(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = current.to_str() else {
        return Vec::new();
    };
    let Some((name, rest)) = typed.split_once(':') else {
        let named = registry::players().iter().filter(|p| p.name.starts_with(typed));
        return named
            .map(|p| CompletionCandidate::new(p.name).help(Some(p.summary.into())))
            .collect();
    };
    let Some(player) = registry::find(name) else {
        return Vec::new();
    };
    let last = rest.rfind(',').map_or(0, |at| at + 1);
    let (before, begun) = (&typed[..name.len() + 1 + last], &rest[last..]);
    let named = player.options().filter(|o| o.name.starts_with(begun));
    named
        .map(|o| CompletionCandidate::new(format!("{before}{}=", o.name)).help(Some(o.help.into())))
        .collect()
}

/// Rules files and folders that begin with what was typed.
fn files(typed: &str) -> Vec<CompletionCandidate> {
    let (folder, begun) = typed
        .rsplit_once('/')
        .map_or((".", typed), |(f, b)| (if f.is_empty() { "/" } else { f }, b));
    let shown = typed.len() - begun.len();
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|n| n.starts_with(begun) && !n.starts_with('.')) else {
            continue;
        };
        let is_folder = entry.path().is_dir();
        if is_folder || [".kif", ".gdl", ".hrf"].iter().any(|ending| name.ends_with(ending)) {
            let slash = if is_folder { "/" } else { "" };
            found.push(CompletionCandidate::new(format!("{}{name}{slash}", &typed[..shown])));
        }
    }
    found
}
