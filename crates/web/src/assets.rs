//! The pages: embedded in the program, or read from a folder while they are being edited.
//!
//! A browser paints a page when its stylesheets are there. So that this takes one request, a page is sent with its
//! stylesheets in it; the content security policy names their hashes. Scripts and pictures of the program have an
//! address that changes with their content, `/VERSION/table.js`: browsers keep them and never ask again.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

/// Name and content of every page.
const EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// A page.
#[derive(Clone)]
pub struct Asset {
    /// Content.
    pub bytes: Vec<u8>,
    /// Media type.
    pub media_type: &'static str,
    /// Hashes of the stylesheets in the page, as a content security policy names them.
    pub styles: Vec<String>,
    /// Whether the content of the address never changes.
    pub immutable: bool,
}

/// Names of the embedded pages.
pub fn names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}

/// The page of a path such as `/table` or `/style.css`.
pub fn find(path: &str, folder: Option<&Path>) -> Option<Asset> {
    let name = path.trim_start_matches('/');
    if let (None, Some((version, name))) = (folder, name.split_once('/')) {
        let asset = load(name, None).filter(|_| version == self::version() && is_plain(name))?;
        return Some(Asset {
            immutable: !name.ends_with(".html"),
            ..asset
        });
    }
    let name = if name.is_empty() { "index.html" } else { name };
    if !is_plain(name) {
        return None;
    }
    let page = format!("{name}.html");
    [name, page.as_str()].into_iter().find_map(|name| load(name, folder))
}

/// Names are flat: no folder can be left, and hidden files are not shown.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.starts_with('.') && name.chars().all(plain)
}

fn load(name: &str, folder: Option<&Path>) -> Option<Asset> {
    static PAGES: OnceLock<BTreeMap<&'static str, Asset>> = OnceLock::new();
    if folder.is_none() {
        let page = |(name, bytes): &(&'static str, &'static [u8])| (*name, assemble(name, bytes, None));
        let pages = PAGES.get_or_init(|| EMBEDDED.iter().map(page).collect());
        return pages.get(name).cloned();
    }
    Some(assemble(name, &read(name, folder)?, folder))
}

fn read(name: &str, folder: Option<&Path>) -> Option<Vec<u8>> {
    match folder {
        Some(folder) => std::fs::read(folder.join(name)).ok(),
        None => Some(EMBEDDED.iter().find(|(embedded, _)| *embedded == name)?.1.to_vec()),
    }
}

/// A file as it is sent: a page with its stylesheets in it, anything else as it is.
fn assemble(name: &str, bytes: &[u8], folder: Option<&Path>) -> Asset {
    let mut asset = Asset {
        bytes: bytes.to_vec(),
        media_type: media_type(name),
        styles: Vec::new(),
        immutable: false,
    };
    let (true, Ok(page)) = (name.ends_with(".html"), std::str::from_utf8(bytes)) else {
        return asset;
    };
    let mut sheet = String::new();
    let mut out = String::with_capacity(page.len());
    for line in page.split_inclusive('\n') {
        match stylesheet(line).and_then(|name| String::from_utf8(read(name, folder)?).ok()) {
            Some(text) => sheet.push_str(&text),
            None => {
                if line.starts_with("</head>") && !sheet.is_empty() {
                    out.push_str(&format!("<style>{sheet}</style>\n"));
                    asset.styles.push(hash(&sheet));
                }
                out.push_str(&versioned(line, folder));
            }
        }
    }
    asset.bytes = out.into_bytes();
    asset
}

/// The stylesheet that a line of a page names.
fn stylesheet(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix("<link rel=\"stylesheet\" href=\"/")?;
    name.strip_suffix("\">").filter(|name| is_plain(name))
}

/// A line of a page in which the addresses of scripts and pictures of the program have its version.
fn versioned(line: &str, folder: Option<&Path>) -> String {
    let loads = line.starts_with("<link ") || line.starts_with("<script ");
    match folder.is_none() && loads {
        true => line
            .replace("href=\"/", &format!("href=\"/{}/", version()))
            .replace("src=\"/", &format!("src=\"/{}/", version())),
        false => line.to_owned(),
    }
}

/// A name that changes with the content of the embedded files.
fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let mut hash = Sha256::new();
        for (name, bytes) in EMBEDDED {
            hash.update(name.as_bytes());
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        crate::token::hex(&hash.finalize()[..8])
    })
}

/// The hash of a stylesheet or script, as a content security policy names it.
pub fn hash(sheet: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(sheet.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let number = chunk
            .iter()
            .chain([&0, &0])
            .take(3)
            .fold(0_u32, |number, &byte| number << 8 | u32::from(byte));
        for digit in 0..4 {
            out.push(match digit <= chunk.len() {
                true => char::from(DIGITS[(number >> (18 - 6 * digit) & 63) as usize]),
                false => '=',
            });
        }
    }
    out
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (plain, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), text);
        }
        assert_eq!(hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    }

    #[test]
    fn pages_have_their_stylesheets_and_name_files_that_exist() {
        for name in names().filter(|name| name.ends_with(".html")) {
            let page = find(name, None).unwrap();
            let text = String::from_utf8(page.bytes).unwrap();
            assert!(!page.immutable && !text.contains("stylesheet"), "{name}");
            let sheet = text
                .split("<style>")
                .nth(1)
                .and_then(|rest| rest.split("</style>").next())
                .unwrap();
            assert_eq!(page.styles, [hash(sheet)]);
            let addresses = text
                .split(['"'])
                .filter(|part| part.starts_with(&format!("/{}/", version())));
            let loaded: Vec<Asset> = addresses.map(|address| find(address, None).unwrap()).collect();
            assert!(loaded.len() > 3 && loaded.iter().all(|asset| asset.immutable), "{name}");
        }
        assert!(find("/0123456789abcdef/table.js", None).is_none());
        assert!(find(&format!("/{}/../table.js", version()), None).is_none());
    }
}
