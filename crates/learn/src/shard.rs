//! Shards of a generation: games that any process may play, as bytes.
//!
//! A shard is a function of the training at the beginning of its generation and of its number. It does not matter who
//! plays it, when, or how often: [`Trainer::finish_generation`] takes the shards in the order of their numbers, and the
//! result has the same bytes as [`Trainer::generation`].

use crate::network::{TargetPolicy, TrainingTarget};
use crate::selfplay::{Findings, ViewUpdate};
use crate::table::ViewKey;
use std::fmt;

/// The games of a shard, and what was found in them.
#[derive(Clone, Debug)]
pub struct Shard(pub(crate) Findings);

/// Bytes that are not a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAShard;

impl fmt::Display for NotAShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is no whole shard of a training")
    }
}

impl std::error::Error for NotAShard {}

/// What a shard begins with: its format and version.
const MAGIC: &[u8; 8] = b"SURSHRD1";

impl Shard {
    /// Games of the shard.
    pub fn games(&self) -> u64 {
        self.0.games
    }

    /// The shard as bytes, with a checksum at the end.
    pub fn to_bytes(&self) -> Vec<u8> {
        let found = &self.0;
        let mut out = Vec::from(&MAGIC[..]);
        put(&mut out, found.games);
        put(&mut out, found.states);
        put(&mut out, found.notes.len() as u64);
        for note in &found.notes {
            put(&mut out, note.key.0);
            put(&mut out, note.before.map_or(0, |key| key.0));
            let flags = u64::from(note.regrets) | u64::from(note.before.is_some()) << 1;
            put(&mut out, u64::from(note.first) << 32 | u64::from(note.n));
            put(&mut out, flags);
        }
        put_floats(&mut out, &found.numbers);
        put(&mut out, found.targets.len() as u64);
        for target in &found.targets {
            put(&mut out, target.bits.len() as u64);
            target.bits.iter().for_each(|word| put(&mut out, *word));
            put_floats(&mut out, &target.values);
            put(&mut out, target.policies.len() as u64);
            for (role, moves, shares) in &target.policies {
                put(&mut out, u64::from(*role));
                put(&mut out, moves.len() as u64);
                moves.iter().for_each(|mv| out.extend_from_slice(&mv.to_le_bytes()));
                put_floats(&mut out, shares);
            }
        }
        let sum = checksum(&out);
        put(&mut out, sum);
        out
    }

    /// A shard from bytes.
    ///
    /// # Errors
    /// If they are not whole, or were changed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Shard, NotAShard> {
        let (body, sum) = bytes.split_at_checked(bytes.len().wrapping_sub(8)).ok_or(NotAShard)?;
        if u64::from_le_bytes(sum.try_into().map_err(|_| NotAShard)?) != checksum(body) {
            return Err(NotAShard);
        }
        let mut reader = Reader(body.strip_prefix(&MAGIC[..]).ok_or(NotAShard)?);
        let shard = reader.findings().ok_or(NotAShard)?;
        match reader.0.is_empty() && shard.fits_together() {
            true => Ok(Shard(shard)),
            false => Err(NotAShard),
        }
    }
}

impl Findings {
    /// Whether every update finds its numbers.
    fn fits_together(&self) -> bool {
        let all = self.numbers.len() as u64;
        self.notes
            .iter()
            .all(|note| u64::from(note.first) + u64::from(note.n) <= all)
    }
}

fn put(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_floats(out: &mut Vec<u8>, numbers: &[f32]) {
    put(out, numbers.len() as u64);
    numbers.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
}

/// FNV-1a over words of eight bytes.
fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0100_0000_01b3);
        hash ^= hash >> 29;
    }
    hash
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        self.bytes().map(u64::from_le_bytes)
    }

    /// A number of things of at least so many bytes each, of which there is room for in what is left.
    fn count(&mut self, bytes: usize) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count.checked_mul(bytes)? <= self.0.len()).then_some(count)
    }

    fn floats(&mut self) -> Option<Vec<f32>> {
        let count = self.count(4)?;
        let number = |_| self.bytes().map(f32::from_le_bytes).filter(|x| x.is_finite());
        (0..count).map(number).collect()
    }

    fn note(&mut self) -> Option<ViewUpdate> {
        let (key, before, place, flags) = (self.number()?, self.number()?, self.number()?, self.number()?);
        Some(ViewUpdate {
            key: ViewKey(key),
            before: (flags & 2 != 0).then_some(ViewKey(before)),
            first: (place >> 32) as u32,
            n: place as u32,
            regrets: flags & 1 != 0,
        })
    }

    fn policy(&mut self) -> Option<TargetPolicy> {
        let role = u16::try_from(self.number()?).ok()?;
        let count = self.count(4)?;
        let moves: Option<Vec<u32>> = (0..count).map(|_| self.bytes().map(u32::from_le_bytes)).collect();
        let (moves, shares) = (moves?, self.floats()?);
        (moves.len() == shares.len()).then(|| (role, moves.into(), shares.into()))
    }

    fn target(&mut self) -> Option<TrainingTarget> {
        let words = self.count(8)?;
        let bits: Option<Vec<u64>> = (0..words).map(|_| self.number()).collect();
        let values = self.floats()?;
        let policies = self.count(16)?;
        let policies: Option<Vec<TargetPolicy>> = (0..policies).map(|_| self.policy()).collect();
        Some(TrainingTarget {
            bits: bits?.into(),
            values: values.into(),
            policies: policies?.into(),
        })
    }

    fn findings(&mut self) -> Option<Findings> {
        let (games, states) = (self.number()?, self.number()?);
        let notes = self.count(32)?;
        let notes: Option<Vec<ViewUpdate>> = (0..notes).map(|_| self.note()).collect();
        let numbers = self.floats()?;
        let targets = self.count(24)?;
        let targets: Option<Vec<TrainingTarget>> = (0..targets).map(|_| self.target()).collect();
        Some(Findings {
            notes: notes?,
            numbers,
            targets: targets?,
            games,
            states,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard() -> Shard {
        let policy: TargetPolicy = (3, vec![0, 5].into(), vec![0.5, 0.5].into());
        Shard(Findings {
            notes: vec![ViewUpdate {
                key: ViewKey(7),
                before: Some(ViewKey(0)),
                first: 1,
                n: 2,
                regrets: true,
            }],
            numbers: vec![0.5, -1.0, 2.0],
            targets: vec![TrainingTarget {
                bits: vec![1, u64::MAX].into(),
                values: vec![0.25].into(),
                policies: vec![policy].into(),
            }],
            games: 9,
            states: 100,
        })
    }

    #[test]
    fn shards_survive_the_way() {
        let bytes = shard().to_bytes();
        let read = Shard::from_bytes(&bytes).unwrap();
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!(
            (read.games(), read.0.targets[0].clone()),
            (9, shard().0.targets[0].clone())
        );
    }

    #[test]
    fn damage_is_noticed_everywhere() {
        let bytes = shard().to_bytes();
        for cut in 0..bytes.len() {
            assert!(Shard::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(Shard::from_bytes(&changed).is_err(), "byte {at}");
        }
    }
}
