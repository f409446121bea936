//! Specs and journals of the lab.

use crate::seeds::SPEC;
use std::path::Path;
use std::sync::LazyLock;
use surmise::lab::folder::{Manifest, merged};
use surmise::lab::{Size, Spec, journal, report};

/// Reads a spec at every size.
pub fn spec(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    for size in [Size::Plain, Size::Quick, Size::Paper] {
        let set = [("net".to_owned(), "somewhere".to_owned())];
        for set in [&[][..], &set[..]] {
            if let Ok(spec) = Spec::read("fuzz.toml", text, size, set) {
                // A report without results.
                let _ = report::files(&spec, &Manifest::default(), Default::default());
            }
        }
    }
}

static SMALL: LazyLock<Spec> = LazyLock::new(|| Spec::read("small", SPEC, Size::Plain, &[]).expect("a spec"));

/// Reads a journal and reports what it says.
pub fn journal(input: &[u8]) {
    let Ok(played) = journal::read_from(input, Path::new("journal.jsonl")) else {
        return;
    };
    let Ok(results) = merged(played) else { return };
    let _ = report::files(&SMALL, &Manifest::default(), results);
}
