//! The list of targets.

mod archives;
mod editor;
mod experiments;
mod matches;
mod rules;
mod texts;

use crate::mutate::Grammar;
use crate::seeds;

/// A target: what is done with an input, and how inputs are made.
pub struct Target {
    /// Name of the target and of its folder in `testdata/fuzz/`.
    pub name: &'static str,
    /// Reads an input. Must not panic.
    pub run: fn(&[u8]),
    /// Valid inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Structure of the inputs.
    pub grammar: Grammar,
    /// Most bytes of an input.
    pub max_len: usize,
    /// Inputs that `cargo test` tries.
    pub tries: u32,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "rules-text",
        run: rules::text,
        seeds: seeds::rules,
        grammar: Grammar::Lists,
        max_len: 1 << 13,
        tries: 4_000,
    },
    Target {
        name: "rules-engines",
        run: rules::engines,
        seeds: seeds::playable_rules,
        grammar: Grammar::Lists,
        max_len: 1 << 12,
        tries: 600,
    },
    Target {
        name: "rules-players",
        run: matches::players_of_rules,
        seeds: seeds::playable_rules,
        grammar: Grammar::Lists,
        max_len: 1 << 12,
        tries: 150,
    },
    Target {
        name: "messages",
        run: texts::message,
        seeds: seeds::messages,
        grammar: Grammar::Lists,
        max_len: 1 << 13,
        tries: 5_000,
    },
    Target {
        name: "traces-xml",
        run: texts::trace_xml,
        seeds: seeds::traces,
        grammar: Grammar::Line,
        max_len: 1 << 14,
        tries: 1_000,
    },
    Target {
        name: "records",
        run: matches::record,
        seeds: seeds::records,
        grammar: Grammar::Json,
        max_len: 1 << 15,
        tries: 500,
    },
    Target {
        name: "views",
        run: matches::view,
        seeds: seeds::views,
        grammar: Grammar::Json,
        max_len: 1 << 12,
        tries: 500,
    },
    Target {
        name: "strategies",
        run: matches::strategy,
        seeds: seeds::strategies,
        grammar: Grammar::Json,
        max_len: 1 << 14,
        tries: 500,
    },
    Target {
        name: "specs",
        run: experiments::spec,
        seeds: seeds::specs,
        grammar: Grammar::Lines,
        max_len: 1 << 13,
        tries: 1_000,
    },
    Target {
        name: "journals",
        run: experiments::journal,
        seeds: seeds::journals,
        grammar: Grammar::Lines,
        max_len: 1 << 13,
        tries: 1_000,
    },
    Target {
        name: "archives",
        run: archives::archive,
        seeds: seeds::archives,
        grammar: Grammar::Tensors,
        max_len: 1 << 15,
        tries: 1_000,
    },
    Target {
        name: "game-tests",
        run: texts::game_tests,
        seeds: seeds::game_tests,
        grammar: Grammar::Lines,
        max_len: 1 << 12,
        tries: 400,
    },
    Target {
        name: "editor-text",
        run: editor::text,
        seeds: seeds::rules,
        grammar: Grammar::Lists,
        max_len: 1 << 12,
        tries: 300,
    },
    Target {
        name: "editor-messages",
        run: editor::messages,
        seeds: seeds::editor_messages,
        grammar: Grammar::Json,
        max_len: 1 << 13,
        tries: 500,
    },
    Target {
        name: "player-names",
        run: texts::player,
        seeds: seeds::players,
        grammar: Grammar::Line,
        max_len: 256,
        tries: 1_000,
    },
    Target {
        name: "game-names",
        run: texts::game_name,
        seeds: seeds::catalogue_names,
        grammar: Grammar::Line,
        max_len: 256,
        tries: 500,
    },
];

/// The target of this name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
