//! The text of a game: a file, or a game of the catalogue.

use crate::Error;
use gdl::{Diagnostic, Options, Reading, Severity};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Rules text and its name in messages.
#[derive(Clone, Debug)]
pub struct GameText {
    /// The file's path, or the catalogue's name with parameters.
    pub name: String,
    /// The text, in the encoding of the file.
    pub bytes: Vec<u8>,
    /// The entry of the catalogue, if the game is from there.
    pub entry: Option<catalogue::CatalogueEntry>,
}

impl GameText {
    /// Finds a game: a file of this name if there is one, else a game of the catalogue such as
    /// `krieg-tictactoe:size=4`.
    ///
    /// # Errors
    /// If there is neither, or the file cannot be read.
    pub fn find(name: &str) -> Result<GameText, Error> {
        let looks_like_file = name.contains(['/', '\\']) || name.ends_with(".kif") || name.ends_with(".gdl");
        if Path::new(name).exists() || looks_like_file {
            return GameText::from_file(name);
        }
        let (entry, rules) = catalogue::open(name).map_err(|source| Error::NoGame {
            name: name.to_owned(),
            source,
        })?;
        Ok(GameText {
            name: name.to_owned(),
            bytes: rules.into_bytes(),
            entry: Some(entry),
        })
    }

    /// Rules that the caller brings.
    pub fn new(name: impl Into<String>, text: impl Into<Vec<u8>>) -> GameText {
        GameText {
            name: name.into(),
            bytes: text.into(),
            entry: None,
        }
    }

    /// Rules from a reader. No more is read than the longest text that the rules reader accepts, and one byte more, so
    /// that the rules reader reports longer texts.
    ///
    /// # Errors
    /// If the reader fails.
    pub fn read(name: &str, from: impl Read) -> io::Result<GameText> {
        let mut bytes = Vec::new();
        from.take(gdl::source::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        Ok(GameText::new(name, bytes))
    }

    fn from_file(name: &str) -> Result<GameText, Error> {
        let path = Path::new(name);
        let file = File::open(path).map_err(Error::io("cannot open", path))?;
        if file.metadata().is_ok_and(|m| m.is_dir()) {
            return Err(Error::format(path, "is a folder; name the rules file in it"));
        }
        GameText::read(name, file).map_err(Error::io("cannot read", path))
    }

    /// Reads the rules for playing.
    ///
    /// # Errors
    /// With the diagnostics, if the rules have errors.
    pub fn playable(&self) -> Result<Reading, Error> {
        let reading = gdl::read_bytes(&self.bytes, &Options::default());
        if reading.is_playable() {
            return Ok(reading);
        }
        let errors = reading.diagnostics.iter().filter(|d| d.severity == Severity::Error);
        let diagnostics: Vec<Diagnostic> = errors.cloned().collect();
        Err(Error::Rules {
            name: self.name.clone(),
            rendered: gdl::render(&diagnostics, &self.name, &reading.text),
            diagnostics,
        })
    }
}
