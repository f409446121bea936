//! Semantic tokens: what each name is, for colouring.

use crate::document::View;
use crate::index::{Occurrence, Part, Target};
use gdl::{Span, kw};
use lsp_types::{SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokensLegend};
use std::collections::HashSet;

const TYPES: &[SemanticTokenType] = &[
    SemanticTokenType::KEYWORD,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::METHOD,
    SemanticTokenType::EVENT,
    SemanticTokenType::CLASS,
    SemanticTokenType::NUMBER,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::COMMENT,
    SemanticTokenType::OPERATOR,
];

/// Kinds of tokens, by their place in `TYPES`.
#[derive(Clone, Copy)]
enum Kind {
    Keyword,
    Relation,
    Fluent,
    Move,
    Percept,
    Role,
    Number,
    Constant,
    Variable,
    Comment,
    Operator,
}

/// The kinds and modifiers, as the client is told them.
pub fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: TYPES.to_vec(),
        token_modifiers: vec![SemanticTokenModifier::DEFINITION],
    }
}

/// The tokens of a document, or of a span of it.
pub fn tokens(view: View, within: Option<Span>) -> Vec<SemanticToken> {
    let index = &view.analysis.index;
    let roles: HashSet<Target> = index
        .terms_used_as(Part::Role)
        .into_iter()
        .map(|(n, a)| Target::Term(n, a))
        .collect();
    let inside = |span: &Span| within.is_none_or(|w| span.start < w.end && w.start < span.end);
    let mut spans: Vec<(Span, Kind, bool)> = index
        .occurrences
        .iter()
        .filter(|o| inside(&o.span))
        .map(|o| (o.span, kind(view, o, &roles), o.defines))
        .collect();
    let comments = view.analysis.reading.ast.comments.iter().filter(|c| inside(c));
    spans.extend(comments.map(|&c| (c, Kind::Comment, false)));
    spans.sort_by_key(|(span, ..)| *span);
    encode(view, &spans)
}

fn kind(view: View, o: &Occurrence, roles: &HashSet<Target>) -> Kind {
    let text = &view.text()[o.span.range()];
    match o.part {
        Part::Keyword if o.target == Target::Keyword(kw::ARROW) => Kind::Operator,
        Part::Keyword if !text.starts_with(|c: char| c.is_alphabetic()) => Kind::Operator,
        Part::Keyword => Kind::Keyword,
        Part::Relation => Kind::Relation,
        Part::Fluent => Kind::Fluent,
        Part::Move => Kind::Move,
        Part::Percept => Kind::Percept,
        Part::Role => Kind::Role,
        Part::Variable => Kind::Variable,
        Part::Payoff | Part::Inner if roles.contains(&o.target) => Kind::Role,
        Part::Payoff | Part::Inner if text.bytes().all(|b| b.is_ascii_digit()) => Kind::Number,
        Part::Payoff | Part::Inner => Kind::Constant,
    }
}

/// Each token relative to the one before it.
fn encode(view: View, spans: &[(Span, Kind, bool)]) -> Vec<SemanticToken> {
    let mut places = view.places();
    let mut tokens = Vec::with_capacity(spans.len());
    let (mut line, mut column) = (0, 0);
    for &(span, kind, defines) in spans {
        let range = places.range(span);
        if range.start.line != range.end.line || range.end.character <= range.start.character {
            continue;
        }
        let delta_line = range.start.line - line;
        let delta_start = if delta_line == 0 {
            range.start.character - column
        } else {
            range.start.character
        };
        (line, column) = (range.start.line, range.start.character);
        tokens.push(SemanticToken {
            delta_line,
            delta_start,
            length: range.end.character - range.start.character,
            token_type: kind as u32,
            token_modifiers_bitset: u32::from(defines),
        });
    }
    tokens
}
