//! What client and server can do.

use crate::features::{actions, tokens};
use crate::position::Encoding;
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions, ExecuteCommandOptions,
    FoldingRangeProviderCapability, HoverProviderCapability, OneOf, PositionEncodingKind, RenameOptions,
    SemanticTokensFullOptions, SemanticTokensOptions, ServerCapabilities, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions,
};
use serde_json::Value;

/// The command that explains an atom in a state.
pub const WHY: &str = "surmise.why";
/// The command that returns the page of a diagnostic code.
pub const EXPLAIN: &str = "surmise.explain";

/// What matters of the abilities of a client.
#[derive(Clone, Copy, Debug, Default)]
pub struct Client {
    /// What columns count.
    pub encoding: Encoding,
    /// Whether completions may have places to fill in.
    pub snippets: bool,
    /// Whether it can be asked to fetch inlay hints anew.
    pub refreshes_hints: bool,
    /// Whether the outline may have levels.
    pub nested_symbols: bool,
}

impl Client {
    /// From the parameters of `initialize`. Only the fields that matter are read, so that no other one can be wrong.
    pub fn new(params: &Value) -> Client {
        let flag = |path: &str| params.pointer(path).and_then(Value::as_bool).unwrap_or(false);
        let offered = params.pointer("/capabilities/general/positionEncodings").cloned();
        let offered: Option<Vec<PositionEncodingKind>> = offered.and_then(|v| serde_json::from_value(v).ok());
        Client {
            encoding: Encoding::choose(offered.as_deref()),
            snippets: flag("/capabilities/textDocument/completion/completionItem/snippetSupport"),
            refreshes_hints: flag("/capabilities/workspace/inlayHint/refreshSupport"),
            nested_symbols: flag("/capabilities/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
        }
    }
}

/// What the server can do.
pub fn capabilities(client: &Client) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(client.encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(["(", "?", ","].map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, actions::FIX_ALL]),
            ..CodeActionOptions::default()
        })),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: tokens::legend(),
                range: Some(true),
                full: Some(SemanticTokensFullOptions::Bool(true)),
                work_done_progress_options: Default::default(),
            }
            .into(),
        ),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: [WHY, EXPLAIN].map(str::to_owned).to_vec(),
            ..ExecuteCommandOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}
