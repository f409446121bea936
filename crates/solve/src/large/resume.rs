//! Ratings that are stopped and go on later.

use super::learn::RestoreError;
use super::pass::{Done, Worth};
use super::symmetry::Subgroup;
use super::{LargeGame, LargeRating, Profile};
use game::StopFlag;
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};

/// The parts of a rating that are done.
#[derive(Debug)]
pub struct RatingWork {
    /// Depends on the game, its symmetries in use, and the strategies.
    key: u64,
    subgroup: Subgroup,
    done: [Done; 2],
}

/// First bytes of a file.
const MAGIC: &[u8; 8] = b"SURMRAT1";

impl LargeGame {
    /// A rating of which nothing is done yet.
    pub fn rating_work(&self, profile: &Profile) -> RatingWork {
        let plans = [profile.plans[0].as_slice(), profile.plans[1].as_slice()];
        let subgroup = self.symmetries_of(plans);
        let mut hasher = rustc_hash::FxHasher::default();
        (self.fingerprint(), subgroup).hash(&mut hasher);
        for plan in plans {
            plan.iter().for_each(|p| hasher.write_u64(p.to_bits()));
        }
        RatingWork {
            key: hasher.finish(),
            subgroup,
            done: Default::default(),
        }
    }

    /// As [`LargeGame::rate`], but leaves out what is done, and keeps what gets done.
    pub fn rate_on(
        &self,
        profile: &Profile,
        work: &RatingWork,
        threads: usize,
        stop: &StopFlag,
        progress: &mut dyn FnMut(f64),
    ) -> LargeRating {
        let plans = [profile.plans[0].as_slice(), profile.plans[1].as_slice()];
        let quotients = self.quotients(work.subgroup);
        self.rate_plans(plans, &quotients, Some(&work.done), threads, stop, progress)
    }
}

impl RatingWork {
    /// Writes everything that is needed to go on later.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(MAGIC)?;
        out.write_all(&self.key.to_le_bytes())?;
        for done in &self.done {
            let tasks = done.tasks();
            out.write_all(&(tasks.len() as u64).to_le_bytes())?;
            for (&number, worth) in tasks.iter() {
                out.write_all(&(number as u64).to_le_bytes())?;
                for part in [worth.low, worth.high, worth.value] {
                    out.write_all(&part.to_le_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// Takes over what is done of the same rating.
    ///
    /// # Errors
    /// If it cannot be read, or belongs to something else. Nothing is taken over then.
    pub fn restore(&self, from: &mut dyn Read) -> Result<(), RestoreError> {
        let mut magic = [0; 8];
        from.read_exact(&mut magic)?;
        if magic != *MAGIC {
            return Err(RestoreError::Foreign("it is no checkpoint of a rating"));
        }
        if number(from)? != self.key {
            return Err(RestoreError::Foreign("it is a checkpoint of another rating"));
        }
        let mut found = [Vec::new(), Vec::new()];
        for found in &mut found {
            for _ in 0..number(from)? {
                let task = number(from)? as usize;
                let mut part = || -> io::Result<f64> { Ok(f64::from_bits(number(from)?)) };
                let worth = Worth {
                    low: part()?,
                    high: part()?,
                    value: part()?,
                };
                if !worth.low.is_finite() || !worth.high.is_finite() || !worth.value.is_finite() {
                    return Err(RestoreError::Foreign("it holds numbers that are not finite"));
                }
                found.push((task, worth));
            }
        }
        for (done, found) in self.done.iter().zip(found) {
            done.tasks().extend(found);
        }
        Ok(())
    }
}

fn number(from: &mut dyn Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}
