//! Checkpoints.

use super::super::LargeRating;
use super::{Best, LargeSolver, Rule, lock};
use std::fmt;
use std::io::{self, Read, Write};

/// Why a checkpoint cannot be used.
#[derive(Debug)]
pub enum RestoreError {
    /// It could not be read.
    Io(io::Error),
    /// It is of another game, algorithm or version, or something else.
    Foreign(&'static str),
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestoreError::Io(error) => write!(f, "{error}"),
            RestoreError::Foreign(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for RestoreError {}

impl From<io::Error> for RestoreError {
    fn from(error: io::Error) -> Self {
        RestoreError::Io(error)
    }
}

/// First bytes of a checkpoint.
const MAGIC: &[u8; 8] = b"SURMLRG4";

impl LargeSolver<'_> {
    /// Writes everything that is needed to go on later.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(MAGIC)?;
        out.write_all(&self.game.fingerprint().to_le_bytes())?;
        out.write_all(&[self.algorithm as u8])?;
        out.write_all(&self.subgroup.to_le_bytes())?;
        out.write_all(&self.iterations.to_le_bytes())?;
        out.write_all(&self.entries.to_le_bytes())?;
        out.write_all(&self.epoch.start.to_le_bytes())?;
        write_numbers(out, &[self.epoch.gap])?;
        for player in 0..2 {
            for piece in &self.pieces[player] {
                let piece = lock(piece);
                write_numbers(out, &piece.regret)?;
                write_numbers(out, &piece.last)?;
            }
            write_numbers(out, &self.averages[player])?;
        }
        out.write_all(&[u8::from(self.best.is_some())])?;
        if let Some(Best { plans, rating }) = &self.best {
            for player in 0..self.game.players().len() {
                let (low, high) = rating.best[player];
                write_numbers(out, &[rating.values[player], low, high])?;
            }
            out.write_all(&rating.entries.to_le_bytes())?;
            plans.iter().try_for_each(|plan| write_numbers(out, plan))?;
        }
        Ok(())
    }

    /// Goes on where a solver of the same game and algorithm was saved.
    ///
    /// # Errors
    /// If it cannot be read, or belongs to something else. The solver is then as new.
    pub fn restore(&mut self, from: &mut dyn Read) -> Result<(), RestoreError> {
        let restored = self.try_restore(from);
        if restored.is_err() {
            let (restriction, bias) = (self.restriction.take(), self.bias.take());
            let subgroup = self.subgroup;
            *self = LargeSolver::new(self.game, self.algorithm, self.threads);
            (self.restriction, self.bias) = (restriction, bias);
            self.keep(subgroup);
        }
        restored
    }

    fn try_restore(&mut self, from: &mut dyn Read) -> Result<(), RestoreError> {
        let mut magic = [0; 8];
        from.read_exact(&mut magic)?;
        if magic != *MAGIC {
            return Err(RestoreError::Foreign("it is no checkpoint of a large game"));
        }
        if read_number(from)? != self.game.fingerprint() {
            return Err(RestoreError::Foreign("it is a checkpoint of another game"));
        }
        let mut algorithm = [0];
        from.read_exact(&mut algorithm)?;
        if algorithm[0] != self.algorithm as u8 {
            return Err(RestoreError::Foreign("it is a checkpoint of another algorithm"));
        }
        if read_number(from)? != self.subgroup {
            return Err(RestoreError::Foreign(
                "it is a checkpoint with other symmetries (`--symmetry`)",
            ));
        }
        self.iterations = read_number(from)?;
        self.entries = read_number(from)?;
        self.epoch.start = read_number(from)?;
        read_numbers(from, std::slice::from_mut(&mut self.epoch.gap))?;
        if self.epoch.start > self.iterations {
            return Err(RestoreError::Foreign("it is damaged"));
        }
        for player in 0..2 {
            for piece in &self.pieces[player] {
                let mut piece = lock(piece);
                read_numbers(from, &mut piece.regret)?;
                read_numbers(from, &mut piece.last)?;
            }
            read_numbers(from, &mut self.averages[player])?;
        }
        for player in 0..2 {
            let mut rule = Rule::new(self.algorithm, self.iterations, self.epoch.start, 0.0);
            rule.weight = 0.0;
            self.follow(player, rule);
        }
        self.best = self.restore_best(from)?;
        let mut more = [0];
        match from.read(&mut more)? {
            0 => Ok(()),
            _ => Err(RestoreError::Foreign("it is longer than a checkpoint of this game")),
        }
    }

    fn restore_best(&self, from: &mut dyn Read) -> Result<Option<Best>, RestoreError> {
        let mut kept = [0];
        from.read_exact(&mut kept)?;
        if kept[0] == 0 {
            return Ok(None);
        }
        let mut rating = LargeRating {
            values: Vec::new(),
            best: Vec::new(),
            entries: 0,
            complete: true,
        };
        for _ in self.game.players() {
            let mut numbers = [0.0; 3];
            read_numbers(from, &mut numbers)?;
            rating.values.push(numbers[0]);
            rating.best.push((numbers[1], numbers[2]));
        }
        rating.entries = read_number(from)?;
        let mut plans = [0, 1].map(|player| vec![0.0; self.plans[player].len()]);
        for plan in &mut plans {
            read_numbers(from, plan)?;
        }
        Ok(Some(Best { plans, rating }))
    }
}

fn write_numbers(out: &mut dyn Write, numbers: &[f64]) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(8 * 4096);
    for part in numbers.chunks(4096) {
        buffer.clear();
        part.iter().for_each(|x| buffer.extend_from_slice(&x.to_le_bytes()));
        out.write_all(&buffer)?;
    }
    Ok(())
}

fn read_number(from: &mut dyn Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn read_numbers(from: &mut dyn Read, numbers: &mut [f64]) -> Result<(), RestoreError> {
    let mut buffer = vec![0; 8 * 4096];
    for part in numbers.chunks_mut(4096) {
        let bytes = &mut buffer[..8 * part.len()];
        from.read_exact(bytes)?;
        for (number, bytes) in part.iter_mut().zip(bytes.chunks_exact(8)) {
            let mut eight = [0; 8];
            eight.copy_from_slice(bytes);
            *number = f64::from_le_bytes(eight);
            if !number.is_finite() {
                return Err(RestoreError::Foreign("it holds numbers that are not finite"));
            }
        }
    }
    Ok(())
}
