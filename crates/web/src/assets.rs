//! The pages: embedded in the program, or read from a folder while they are being edited.

use std::path::Path;

/// Name and content of every page.
const EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// A page.
pub struct Asset {
    /// Content.
    pub bytes: Vec<u8>,
    /// Media type.
    pub media_type: &'static str,
}

/// Names of the embedded pages.
pub fn names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}

/// The page of a path such as `/table` or `/style.css`.
pub fn find(path: &str, folder: Option<&Path>) -> Option<Asset> {
    let name = path.trim_start_matches('/');
    let name = if name.is_empty() { "index.html" } else { name };
    // Names are flat: no folder can be left, and hidden files are not shown.
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.starts_with('.') || !name.chars().all(plain) {
        return None;
    }
    let page = format!("{name}.html");
    [name, page.as_str()].into_iter().find_map(|name| load(name, folder))
}

fn load(name: &str, folder: Option<&Path>) -> Option<Asset> {
    let bytes = match folder {
        Some(folder) => std::fs::read(folder.join(name)).ok()?,
        None => EMBEDDED.iter().find(|(embedded, _)| *embedded == name)?.1.to_vec(),
    };
    Some(Asset {
        bytes,
        media_type: media_type(name),
    })
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        Some("webmanifest") => "application/manifest+json",
        _ => "application/octet-stream",
    }
}
