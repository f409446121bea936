//! Results of training as bytes: tensors in the safetensors format, with metadata about the game.
//!
//! An archive that was truncated, changed, or written by another program is refused with the reason.

use crate::codec::{Codec, CodecDifference};
use crate::network::{Adam, NetworkShape, NeuralNetwork, TargetPolicy, TrainingTarget};
use crate::settings::Settings;
use crate::table::{RegretTable, ViewEntry, ViewKey};
use crate::trainer::{ReplayBuffer, Trainer};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt;

/// Tensors and metadata.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    pub(crate) tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
    /// Metadata: the game, the settings and the counters.
    pub about: Value,
}

/// Why an archive cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The bytes are not in the safetensors format; the message of the format's reader.
    NotSafetensors(String),
    /// The file is not one of ours.
    Foreign {
        /// The kind of archive that it says it is, if it says anything.
        kind: Option<String>,
    },
    /// An archive of ours, but not the checkpoint of a training.
    NotACheckpoint,
    /// The tensors do not fit the header of the file; the message of the format's reader.
    Broken(String),
    /// The contents do not match their checksum.
    Checksum,
    /// A tensor is missing, or has numbers of another type.
    MissingTensor(String),
    /// A tensor has another size than it should have, or numbers that are not finite.
    BadTensor(String),
    /// A field of the metadata is missing or out of range.
    BadField(&'static str),
    /// Parts of the archive contradict each other.
    Inconsistent(&'static str),
    /// The archive belongs to another game.
    OtherGame(CodecDifference),
    /// The table belongs to another game than the network.
    OtherTable,
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArchiveError::NotSafetensors(message) => {
                write!(
                    f,
                    "it was not written by `surmise train` (no safetensors file: {message})"
                )
            }
            ArchiveError::Foreign { kind: Some(kind) } => {
                write!(f, "it was not written by `surmise train` (it says `{kind}`)")
            }
            ArchiveError::Foreign { kind: None } => {
                f.write_str("it was not written by `surmise train` (it does not say what it is)")
            }
            ArchiveError::NotACheckpoint => f.write_str("it is no checkpoint of `surmise train`"),
            ArchiveError::Broken(message) => write!(f, "it is damaged ({message})"),
            ArchiveError::Checksum => f.write_str("it is damaged (its checksum is wrong)"),
            ArchiveError::MissingTensor(name) => write!(f, "it is damaged (`{name}` is missing)"),
            ArchiveError::BadTensor(name) => write!(f, "it is damaged (`{name}` is not what it should be)"),
            ArchiveError::BadField(name) => write!(f, "it is damaged (the field `{name}` is missing or out of range)"),
            ArchiveError::Inconsistent(what) => write!(f, "it is damaged ({what} do not fit together)"),
            ArchiveError::OtherGame(difference) => write!(f, "it does not fit this game: {difference}"),
            ArchiveError::OtherTable => {
                f.write_str("it does not fit this game: the table is of another game than the network")
            }
        }
    }
}

impl std::error::Error for ArchiveError {}

/// The kind of archive, in the metadata of every file.
const KIND: &str = "surmise learn 1";

impl Archive {
    fn put_f32(&mut self, name: impl Into<String>, shape: Vec<usize>, numbers: &[f32]) {
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.tensors.push((name.into(), Dtype::F32, shape, bytes));
    }

    fn put_u64(&mut self, name: &str, numbers: impl Iterator<Item = u64>) {
        let bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
        let shape = vec![bytes.len() / 8];
        self.tensors.push((name.to_owned(), Dtype::U64, shape, bytes));
    }

    fn put_u32(&mut self, name: &str, numbers: impl Iterator<Item = u32>) {
        let bytes: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
        let shape = vec![bytes.len() / 4];
        self.tensors.push((name.to_owned(), Dtype::U32, shape, bytes));
    }

    /// The bytes of a safetensors file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let views = self.tensors.iter().filter_map(|(name, dtype, shape, bytes)| {
            let view = TensorView::new(*dtype, shape.clone(), bytes).ok()?;
            Some((name.clone(), view))
        });
        // One entry, because several would be written in an unspecified order.
        let about = json!({"kind": KIND, "checksum": self.checksum().to_string(), "about": self.about});
        let about = HashMap::from([("surmise".to_owned(), about.to_string())]);
        safetensors::serialize(views, Some(about)).unwrap_or_default()
    }

    /// A checksum of all contents, independent of their order.
    fn checksum(&self) -> u64 {
        let one = |(name, _, _, bytes): &(String, Dtype, Vec<usize>, Vec<u8>)| hash(bytes) ^ hash(name.as_bytes());
        let tensors = self.tensors.iter().map(one).fold(0, u64::wrapping_add);
        tensors ^ hash(self.about.to_string().as_bytes())
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// If they are not an archive, or not as it was written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Archive, ArchiveError> {
        let (archive, expected) = Archive::parse(bytes)?;
        match expected.as_deref() == Some(&archive.checksum().to_string()) {
            true => Ok(archive),
            false => Err(ArchiveError::Checksum),
        }
    }

    /// The archive, and the checksum that the file names, which is not compared: a stranger can compute it too, so the
    /// contents are checked as if it were right.
    ///
    /// # Errors
    /// If the bytes are not an archive.
    pub fn parse(bytes: &[u8]) -> Result<(Archive, Option<String>), ArchiveError> {
        let not_ours = |e: safetensors::SafeTensorError| ArchiveError::NotSafetensors(e.to_string());
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(not_ours)?;
        let about = metadata.metadata().as_ref().and_then(|m| m.get("surmise"));
        let about: Value = about
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        match about["kind"].as_str() {
            Some(KIND) => {}
            other => {
                let kind = other.map(str::to_owned);
                return Err(ArchiveError::Foreign { kind });
            }
        }
        let broken = |e: safetensors::SafeTensorError| ArchiveError::Broken(e.to_string());
        let read = SafeTensors::deserialize(bytes).map_err(broken)?;
        let mut archive = Archive {
            tensors: Vec::new(),
            about: about["about"].clone(),
        };
        for (name, view) in read.iter() {
            let tensor = (
                name.to_owned(),
                view.dtype(),
                view.shape().to_vec(),
                view.data().to_vec(),
            );
            archive.tensors.push(tensor);
        }
        Ok((archive, about["checksum"].as_str().map(str::to_owned)))
    }

    fn get(&self, name: &str, dtype: Dtype) -> Result<&[u8], ArchiveError> {
        let found = self.tensors.iter().find(|(n, d, ..)| n == name && *d == dtype);
        let missing = || ArchiveError::MissingTensor(name.to_owned());
        found.map(|(.., bytes)| bytes.as_slice()).ok_or_else(missing)
    }

    fn get_f32(&self, name: &str) -> Result<Vec<f32>, ArchiveError> {
        let (chunks, _) = self.get(name, Dtype::F32)?.as_chunks();
        Ok(chunks.iter().map(|&c| f32::from_le_bytes(c)).collect())
    }

    fn get_u64(&self, name: &str) -> Result<Vec<u64>, ArchiveError> {
        let (chunks, _) = self.get(name, Dtype::U64)?.as_chunks();
        Ok(chunks.iter().map(|&c| u64::from_le_bytes(c)).collect())
    }

    fn get_u32(&self, name: &str) -> Result<Vec<u32>, ArchiveError> {
        let (chunks, _) = self.get(name, Dtype::U32)?.as_chunks();
        Ok(chunks.iter().map(|&c| u32::from_le_bytes(c)).collect())
    }
}

/// Games, states and steps of the longest training: sums of them do not overflow.
const MAX_COUNT: u64 = 1 << 44;

/// FNV-1a, eight bytes at a time.
fn hash(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let mixed = words.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, &w| {
        (h ^ u64::from_le_bytes(w))
            .wrapping_mul(0x0100_0000_01b3)
            .rotate_left(23)
    });
    rest.iter()
        .fold(mixed, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

fn names(list: &[String]) -> Value {
    list.iter().map(|n| json!(n)).collect()
}

fn read_names(value: &Value) -> Option<Vec<String>> {
    let list = value.as_array()?.iter();
    list.map(|n| n.as_str().map(str::to_owned)).collect()
}

impl Codec {
    fn to_json(&self) -> Value {
        json!({
            "roles": names(&self.roles),
            "nature": self.nature,
            "fluents": names(&self.fluents),
            "moves": self.moves.iter().map(|m| names(m)).collect::<Vec<_>>(),
        })
    }

    fn from_json(value: &Value) -> Option<Codec> {
        let roles = read_names(&value["roles"])?;
        let nature = value["nature"].as_u64().map(|n| n as usize);
        Some(Codec {
            players: (0..roles.len()).filter(|&r| Some(r) != nature).collect(),
            roles,
            nature,
            fluents: read_names(&value["fluents"])?,
            moves: value["moves"]
                .as_array()?
                .iter()
                .map(read_names)
                .collect::<Option<_>>()?,
        })
    }
}

/// A network as an archive.
pub(crate) fn put_network(archive: &mut Archive, codec: &Codec, network: &NeuralNetwork) {
    for (name, shape, numbers) in network.tensors() {
        archive.put_f32(name, shape, numbers);
    }
    archive.about["game"] = codec.to_json();
    archive.about["width"] = json!(network.shape().width);
}

/// The network of an archive, which has to be of this game. Nothing is allocated by sizes that the archive only claims.
pub(crate) fn get_network(archive: &Archive, game: &Codec) -> Result<(Codec, NeuralNetwork), ArchiveError> {
    let codec = Codec::from_json(&archive.about["game"]).ok_or(ArchiveError::BadField("game"))?;
    if let Some(difference) = game.difference(&codec) {
        return Err(ArchiveError::OtherGame(difference));
    }
    let width = archive.about["width"].as_u64().filter(|w| *w > 0 && *w < 1 << 16);
    let shape: NetworkShape = codec.shape(width.ok_or(ArchiveError::BadField("width"))? as usize);
    let mut parameters = Vec::new();
    for (name, expected) in shape.tensors() {
        let numbers = archive.get_f32(&name)?;
        if numbers.len() as u64 != expected || numbers.iter().any(|x| !x.is_finite()) {
            return Err(ArchiveError::BadTensor(name));
        }
        parameters.extend(numbers);
    }
    let network = NeuralNetwork::with_parameters(shape, parameters);
    Ok((
        codec,
        network.ok_or(ArchiveError::Inconsistent("its weights and its width"))?,
    ))
}

/// A table as an archive; regrets only if training is to go on.
pub(crate) fn put_table(archive: &mut Archive, table: &RegretTable, regrets: bool) {
    archive.put_u64("table.views", table.keys.iter().map(|k| k.0));
    archive.put_u32("table.moves", table.entries.iter().map(|e| e.n));
    archive.put_u32("table.updates", table.entries.iter().map(|e| e.updates));
    archive.put_f32("table.totals", vec![table.totals.len()], &table.totals);
    if regrets {
        archive.put_f32("table.regrets", vec![table.regrets.len()], &table.regrets);
    }
}

pub(crate) fn get_table(archive: &Archive, regrets: bool) -> Result<RegretTable, ArchiveError> {
    let (keys, moves) = (archive.get_u64("table.views")?, archive.get_u32("table.moves")?);
    let updates = archive.get_u32("table.updates")?;
    let totals = archive.get_f32("table.totals")?;
    let all: u64 = moves.iter().map(|&n| u64::from(n)).sum();
    let regrets = match regrets {
        true => archive.get_f32("table.regrets")?,
        false => Vec::new(),
    };
    let fits = keys.len() == moves.len() && keys.len() == updates.len() && all == totals.len() as u64;
    if !fits || !regrets.is_empty() && regrets.len() != totals.len() {
        return Err(ArchiveError::Inconsistent("its tables"));
    }
    let mut table = RegretTable {
        keys: keys.into_iter().map(ViewKey).collect(),
        totals,
        regrets,
        ..RegretTable::default()
    };
    let mut first = 0;
    for (&n, &updates) in moves.iter().zip(&updates) {
        table.entries.push(ViewEntry { first, n, updates });
        first += n;
    }
    table.places = table
        .keys
        .iter()
        .enumerate()
        .map(|(at, &key)| (key, at as u32))
        .collect();
    Ok(table)
}

impl Trainer {
    /// Everything that is needed to continue training exactly from here.
    pub fn to_archive(&self) -> Archive {
        let mut archive = Archive {
            about: json!({
                "what": "checkpoint",
                "settings": self.settings.to_json(),
                "generations": self.generations,
                "games": self.games,
                "states": self.states,
                "latest": self.latest,
                "latest_games": self.latest_games,
                "steps": self.adam.steps,
                "next": self.buffer.next,
            }),
            ..Archive::default()
        };
        put_network(&mut archive, &self.codec, &self.network);
        put_table(&mut archive, &self.table, true);
        archive.put_f32("adam.mean", vec![self.adam.mean.len()], &self.adam.mean);
        archive.put_f32("adam.square", vec![self.adam.square.len()], &self.adam.square);
        put_buffer(&mut archive, &self.buffer);
        archive
    }

    /// Continues the training of an archive.
    pub fn from_archive(archive: &Archive, game: &Codec) -> Result<Trainer, ArchiveError> {
        if archive.about["what"] != "checkpoint" {
            return Err(ArchiveError::NotACheckpoint);
        }
        let (codec, network) = get_network(archive, game)?;
        let settings = Settings::from_json(&archive.about["settings"]);
        let settings = settings.ok_or(ArchiveError::BadField("settings"))?;
        let number = |name: &'static str| {
            let number = archive.about[name].as_u64().filter(|&n| n < MAX_COUNT);
            number.ok_or(ArchiveError::BadField(name))
        };
        let mut adam = Adam::new(network.parameters().len(), settings.rate);
        adam.steps = number("steps")?;
        (adam.mean, adam.square) = (archive.get_f32("adam.mean")?, archive.get_f32("adam.square")?);
        let buffer = get_buffer(archive, number("next")? as usize, &codec)?;
        let sizes = [adam.mean.len(), adam.square.len(), network.parameters().len()];
        if sizes[0] != sizes[2]
            || sizes[1] != sizes[2]
            || buffer.targets.len() > settings.buffer
            || buffer.next >= settings.buffer
        {
            return Err(ArchiveError::Inconsistent("its parts"));
        }
        Ok(Trainer {
            table: get_table(archive, true)?,
            generations: number("generations")?,
            games: number("games")?,
            states: number("states")?,
            latest: number("latest")?,
            latest_games: number("latest_games")?,
            codec,
            settings,
            network,
            adam,
            buffer,
        })
    }
}

fn put_buffer(archive: &mut Archive, buffer: &ReplayBuffer) {
    let targets = &buffer.targets;
    let policies = || targets.iter().flat_map(|t| t.policies.iter());
    archive.put_u64("buffer.bits", targets.iter().flat_map(|t| t.bits.iter().copied()));
    let values: Vec<f32> = targets.iter().flat_map(|t| t.values.iter().copied()).collect();
    archive.put_f32("buffer.values", vec![values.len()], &values);
    archive.put_u32("buffer.choices", targets.iter().map(|t| t.policies.len() as u32));
    let head = |(player, moves, _): &TargetPolicy| [u32::from(*player), moves.len() as u32];
    archive.put_u32("buffer.heads", policies().flat_map(head));
    archive.put_u32(
        "buffer.moves",
        policies().flat_map(|(_, moves, _)| moves.iter().copied()),
    );
    let p: Vec<f32> = policies().flat_map(|(.., p)| p.iter().copied()).collect();
    archive.put_f32("buffer.policies", vec![p.len()], &p);
}

fn get_buffer(archive: &Archive, next: usize, codec: &Codec) -> Result<ReplayBuffer, ArchiveError> {
    let wrong = || ArchiveError::Inconsistent("the parts of its replay buffer");
    let choices = archive.get_u32("buffer.choices")?;
    let (bits, values) = (archive.get_u64("buffer.bits")?, archive.get_f32("buffer.values")?);
    let mut heads = archive.get_u32("buffer.heads")?.into_iter();
    let mut moves = archive.get_u32("buffer.moves")?.into_iter();
    let mut p = archive.get_f32("buffer.policies")?.into_iter();
    let n = choices.len().max(1);
    let (words, players) = (bits.len() / n, codec.players.len());
    if bits.len() != words * choices.len() || values.len() != players * choices.len() {
        return Err(wrong());
    }
    let mut buffer = ReplayBuffer {
        next,
        ..ReplayBuffer::default()
    };
    for (at, &n_choices) in choices.iter().enumerate() {
        let mut policies = Vec::new();
        for _ in 0..n_choices {
            let (player, n) = heads.next().zip(heads.next()).ok_or_else(wrong)?;
            let legal: Box<[u32]> = moves.by_ref().take(n as usize).collect();
            let policy: Box<[f32]> = p.by_ref().take(n as usize).collect();
            let known = codec.moves.get(player as usize).ok_or_else(wrong)?.len();
            if legal.len() != n as usize || policy.len() != n as usize || legal.iter().any(|&m| m as usize >= known) {
                return Err(wrong());
            }
            policies.push((player as u16, legal, policy));
        }
        buffer.targets.push(TrainingTarget {
            bits: bits[at * words..][..words].into(),
            values: values[at * players..][..players].into(),
            policies: policies.into(),
        });
    }
    Ok(buffer)
}
