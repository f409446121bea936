//! Which request is answered by which feature.

use super::capabilities::{EXPLAIN, WHY};
use super::{Refusal, Server, parse};
use crate::document::View;
use crate::features::hover::Known;
use crate::features::why::{Question, Source};
use crate::features::{actions, completion, folding, formatting, hover, inlay, navigation, rename, symbols, tokens};
use gdl::{Code, Options, Span};
use lsp_server::{ErrorCode, Request, Response};
use lsp_types::{
    CodeActionParams, CompletionList, CompletionParams, DocumentFormattingParams, DocumentHighlightParams,
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, ExecuteCommandParams, FoldingRangeParams,
    GotoDefinitionParams, HoverParams, InlayHintParams, Location, PrepareRenameResponse, Range, ReferenceParams,
    RenameParams, SemanticTokens, SemanticTokensParams, SemanticTokensRangeParams, SymbolInformation,
    TextDocumentPositionParams, Uri, WorkspaceEdit,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;

impl Server {
    /// Answers a request of a running connection; nothing if another thread will.
    pub(super) fn question(&mut self, request: Request) -> Option<Response> {
        let Request { id, method, params } = request;
        let answer =
            match method.as_str() {
                "textDocument/hover" => self.on(params, |s, p: HoverParams| {
                    let at = p.text_document_position_params;
                    s.view(&at.text_document.uri, |v, known, _| hover::hover(v, at.position, known))
                }),
                "textDocument/completion" => self.on(params, |s, p: CompletionParams| {
                    let (at, snippets) = (p.text_document_position, s.client.snippets);
                    s.view(&at.text_document.uri, |v, _, _| {
                        let (items, is_incomplete) = completion::completion(v, at.position, snippets);
                        CompletionList { is_incomplete, items }
                    })
                }),
                "textDocument/definition" => self.on(params, |s, p: GotoDefinitionParams| {
                    let at = p.text_document_position_params;
                    s.view(&at.text_document.uri, |v, _, _| navigation::definition(v, at.position))
                }),
                "textDocument/references" => self.on(params, |s, p: ReferenceParams| {
                    let (at, all) = (p.text_document_position, p.context.include_declaration);
                    s.view(&at.text_document.uri, |v, _, _| {
                        navigation::references(v, at.position, all)
                    })
                }),
                "textDocument/documentHighlight" => self.on(params, |s, p: DocumentHighlightParams| {
                    let at = p.text_document_position_params;
                    s.view(&at.text_document.uri, |v, _, _| navigation::highlights(v, at.position))
                }),
                "textDocument/documentSymbol" => self.on(params, |s, p: DocumentSymbolParams| {
                    let nested = s.client.nested_symbols;
                    s.view(&p.text_document.uri, |v, _, _| outline(v, nested))
                }),
                "textDocument/semanticTokens/full" => self.on(params, |s, p: SemanticTokensParams| {
                    s.view(&p.text_document.uri, |v, _, _| semantic(v, None))
                }),
                "textDocument/semanticTokens/range" => self.on(params, |s, p: SemanticTokensRangeParams| {
                    s.view(&p.text_document.uri, |v, _, _| semantic(v, Some(p.range)))
                }),
                "textDocument/foldingRange" => self.on(params, |s, p: FoldingRangeParams| {
                    s.view(&p.text_document.uri, |v, _, _| folding::folding(v))
                }),
                "textDocument/formatting" => self.on(params, |s, p: DocumentFormattingParams| {
                    let edits = s.view(&p.text_document.uri, |v, _, _| formatting::formatting(v))?;
                    edits.transpose().map_err(Refusal::failed)
                }),
                "textDocument/prepareRename" => self.on(params, |s, p: TextDocumentPositionParams| {
                    let found = s.view(&p.text_document.uri, |v, _, _| rename::prepare(v, p.position))?;
                    let found = found.transpose().map_err(Refusal::failed)?;
                    Ok(found
                        .map(|(range, placeholder)| PrepareRenameResponse::RangeWithPlaceholder { range, placeholder }))
                }),
                "textDocument/rename" => self.on(params, |s, p: RenameParams| s.rename(&p)),
                "textDocument/codeAction" => self.on(params, |s, p: CodeActionParams| {
                    let lints = s
                        .documents
                        .get(p.text_document.uri.as_str())
                        .map(|open| open.lints.clone());
                    s.view(&p.text_document.uri, |v, known, _| {
                        let lints = lints.unwrap_or_default();
                        actions::actions(v, span(v, p.range), &lints, known.played, p.context.only.as_deref())
                    })
                }),
                "textDocument/inlayHint" => self.on(params, |s, p: InlayHintParams| {
                    let shown = s.settings.inlay_hints;
                    s.view(&p.text_document.uri, |v, known, _| match shown {
                        true => inlay::hints(v, span(v, p.range), known),
                        false => Vec::new(),
                    })
                }),
                "workspace/executeCommand" => match parse::<ExecuteCommandParams>(params) {
                    Some(ExecuteCommandParams { command, arguments, .. }) if command == WHY => {
                        return self.ask_why(id, arguments);
                    }
                    Some(ExecuteCommandParams { command, arguments, .. }) if command == EXPLAIN => explain(&arguments),
                    Some(params) => Err(Refusal::params(format!("there is no command `{}`", params.command))),
                    None => Err(Refusal::params("a command has a name and arguments")),
                },
                _ => Err(Refusal(
                    ErrorCode::MethodNotFound,
                    format!("there is no method `{}`", gdl::source::short(&method)),
                )),
            };
        Some(match answer {
            Ok(value) => Response::new_ok(id, value),
            Err(Refusal(code, why)) => Response::new_err(id, code as i32, why),
        })
    }

    fn on<P: DeserializeOwned, R: Serialize>(
        &mut self,
        params: Value,
        answer: impl FnOnce(&mut Server, P) -> Result<R, Refusal>,
    ) -> Result<Value, Refusal> {
        let params = serde_json::from_value(params).map_err(|error| Refusal::params(error.to_string()))?;
        let answer = answer(self, params)?;
        serde_json::to_value(answer).map_err(|error| Refusal(ErrorCode::InternalError, error.to_string()))
    }

    /// Asks about a document that is open; nothing if the document was refused.
    fn view<R>(&mut self, uri: &Uri, answer: impl FnOnce(View, Known, &Options) -> R) -> Result<Option<R>, Refusal> {
        let (options, encoding) = (self.settings.options(), self.encoding());
        let key = uri.as_str();
        let Some(open) = self.documents.get_mut(key) else {
            return Err(Refusal::params(format!("{key} is not open")));
        };
        if open.document.refused {
            return Ok(None);
        }
        let known = self.facts.get(key).map(|facts| facts.about(open.document.version));
        let view = open.document.view(&options, encoding);
        Ok(Some(answer(view, known.unwrap_or_default(), &options)))
    }

    fn rename(&mut self, params: &RenameParams) -> Result<Option<WorkspaceEdit>, Refusal> {
        let at = &params.text_document_position;
        let uri = &at.text_document.uri;
        let edits = self.view(uri, |v, _, options| {
            rename::rename(v, at.position, &params.new_name, options)
        })?;
        let Some(edits) = edits.transpose().map_err(Refusal::failed)? else {
            return Ok(None);
        };
        // The key is what the protocol has; it is not changed while it is in the map.
        #[allow(clippy::mutable_key_type)]
        let changes = HashMap::from([(uri.clone(), edits)]);
        Ok(Some(WorkspaceEdit {
            changes: Some(changes),
            ..WorkspaceEdit::default()
        }))
    }

    /// Leaves a question about a state to its own thread.
    fn ask_why(&mut self, id: lsp_server::RequestId, mut arguments: Vec<Value>) -> Option<Response> {
        let asked = match arguments.len() {
            1 => serde_json::from_value::<Question>(arguments.remove(0)).map_err(|e| e.to_string()),
            _ => Err("the command takes one object".to_owned()),
        };
        let prepared = asked.and_then(|question| {
            let uri: Uri = question.uri.parse().map_err(|_| "`uri` is no URI".to_owned())?;
            let encoding = self.encoding();
            let source = self.view(&uri, |v, _, _| match v.analysis.reading.is_playable() {
                true => Ok(Source {
                    rules: v.analysis.reading.rules.clone(),
                    text: v.document.text().to_owned(),
                    mark: (v.document.text().len() - v.text().len()) as u32,
                    encoding,
                }),
                false => Err("the rules have errors; mend these first".to_owned()),
            });
            let source = source.map_err(|Refusal(_, why)| why)?;
            Ok((question, source.ok_or("the document was refused")??))
        });
        match prepared {
            Err(why) => Some(Response::new_err(id, ErrorCode::InvalidParams as i32, why)),
            Ok((question, source)) => self.why.submit(id, question, source),
        }
    }
}

fn span(view: View, range: Range) -> Span {
    let (start, end) = (view.offset(range.start), view.offset(range.end));
    Span::new(start.min(end), start.max(end))
}

fn semantic(view: View, range: Option<Range>) -> SemanticTokens {
    SemanticTokens {
        result_id: None,
        data: tokens::tokens(view, range.map(|r| span(view, r))),
    }
}

fn outline(view: View, nested: bool) -> DocumentSymbolResponse {
    let symbols = symbols::symbols(view);
    if nested {
        return DocumentSymbolResponse::Nested(symbols);
    }
    let leaves = symbols.into_iter().flat_map(|symbol| match symbol.children {
        Some(children) => children,
        None => vec![symbol],
    });
    let flat = |symbol: DocumentSymbol| {
        #[allow(deprecated)] // The field must be given a value.
        SymbolInformation {
            name: symbol.name,
            kind: symbol.kind,
            tags: None,
            deprecated: None,
            location: Location::new(view.document.uri.clone(), symbol.range),
            container_name: None,
        }
    };
    DocumentSymbolResponse::Flat(leaves.map(flat).collect())
}

/// The page of a diagnostic code.
fn explain(arguments: &[Value]) -> Result<Value, Refusal> {
    let code = arguments.first().and_then(Value::as_str).unwrap_or_default();
    match Code::find(code) {
        Some(code) => Ok(json!({ "code": code.text(), "page": code.page() })),
        None => Err(Refusal::params(format!(
            "there is no diagnostic `{}`",
            gdl::source::short(code)
        ))),
    }
}
