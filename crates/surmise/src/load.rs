//! Finding the rules that a GAME argument means: a file, standard input, or a name from the catalogue.

use anyhow::{Context, Result, anyhow, bail};
use gdl::{Options, Reading};
use std::io::Read;
use std::path::Path;

/// Rules text and what it is called in messages.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The file's path, `<stdin>`, or the catalogue's name with parameters.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// The entry of the catalogue it came from.
    pub entry: Option<catalogue::Game>,
}

/// Finds rules: a file if there is one of that name, `-` for standard input, else a game of the catalogue.
pub fn load(game: &str) -> Result<Loaded> {
    if game == "-" {
        let mut bytes = Vec::new();
        // One byte more than is read tells the reader that there was more.
        let limit = gdl::source::MAX_BYTES as u64 + 1;
        std::io::stdin()
            .take(limit)
            .read_to_end(&mut bytes)
            .context("cannot read standard input")?;
        return Ok(Loaded {
            name: "<stdin>".to_owned(),
            bytes,
            entry: None,
        });
    }
    let looks_like_file = game.contains(['/', '\\']) || game.ends_with(".kif") || game.ends_with(".gdl");
    if Path::new(game).exists() || looks_like_file {
        return load_file(game);
    }
    let (entry, rules) = catalogue::open(game).map_err(|e| anyhow!("{e} (and there is no file `{game}`)"))?;
    Ok(Loaded {
        name: game.to_owned(),
        bytes: rules.into_bytes(),
        entry: Some(entry),
    })
}

fn load_file(path: &str) -> Result<Loaded> {
    let file = std::fs::File::open(path).with_context(|| format!("cannot open `{path}`"))?;
    if file.metadata().is_ok_and(|m| m.is_dir()) {
        bail!("`{path}` is a folder; name the rules file in it");
    }
    let mut bytes = Vec::new();
    let limit = gdl::source::MAX_BYTES as u64 + 1;
    file.take(limit)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read `{path}`"))?;
    Ok(Loaded {
        name: path.to_owned(),
        bytes,
        entry: None,
    })
}

impl Loaded {
    /// Reads the rules for playing. What stands in the way is the error, as the checker would print it.
    pub fn playable(&self) -> Result<Reading> {
        let reading = gdl::read_bytes(&self.bytes, &Options::default());
        if reading.is_playable() {
            return Ok(reading);
        }
        let errors: Vec<gdl::Diagnostic> = reading
            .diagnostics
            .iter()
            .filter(|d| d.severity == gdl::Severity::Error)
            .cloned()
            .collect();
        let text = gdl::render(&errors, &self.name, &reading.text);
        bail!("{} cannot be played:\n{text}", self.name)
    }
}
