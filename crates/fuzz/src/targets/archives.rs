//! Files of trainings.

use crate::seeds::{CODEC, MONTY};
use surmise::game::StopFlag;
use surmise::learn::{Archive, Blueprint, Trainer, Worker};

/// Largest settings with which training goes on: larger ones are valid and slow.
const MOST: usize = 64;

/// Reads an archive as a checkpoint, as a network and as a table. Its checksum is not compared, so that the contents
/// are reached. Training goes on from a checkpoint that is accepted.
pub fn archive(input: &[u8]) {
    let _ = Archive::from_bytes(input);
    let Ok((archive, _)) = Archive::parse(input) else {
        return;
    };
    let _ = Blueprint::from_archives(&archive, Some(&archive), &CODEC);
    let _ = Blueprint::from_archives(&archive, None, &CODEC);
    let Ok(mut trainer) = Trainer::from_archive(&archive, &CODEC) else {
        return;
    };
    let settings = &trainer.settings;
    let small = settings.batches <= MOST && settings.batch <= MOST && settings.games <= MOST as u64;
    if small && settings.buffer <= 1 << 16 {
        let mut workers = [Worker::new(MONTY.simulator(), 1 << 16)];
        let _ = trainer.generation(&mut workers, &StopFlag::default(), &StopFlag::default());
    }
    let again = Archive::from_bytes(&trainer.to_archive().to_bytes()).expect("our own archive is read back");
    Trainer::from_archive(&again, &CODEC).expect("our own checkpoint is read back");
}
