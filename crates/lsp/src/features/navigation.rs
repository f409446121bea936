//! Where a name is defined, and where it occurs.

use crate::document::View;
use crate::index::{Occurrence, Target};
use lsp_types::{DocumentHighlight, DocumentHighlightKind, Location, Position};

/// The places that define the name at a position.
pub fn definition(view: View, position: Position) -> Vec<Location> {
    let index = &view.analysis.index;
    let Some(found) = index.at(view.offset(position)) else {
        return Vec::new();
    };
    let defining = index.definitions(found.target);
    locations(view, defining.into_iter())
}

/// The places of the name at a position.
pub fn references(view: View, position: Position, with_definitions: bool) -> Vec<Location> {
    let index = &view.analysis.index;
    let Some(found) = index.at(view.offset(position)) else {
        return Vec::new();
    };
    locations(view, index.all(found.target).filter(|o| with_definitions || !o.defines))
}

/// The places of the name at a position, for marking.
pub fn highlights(view: View, position: Position) -> Vec<DocumentHighlight> {
    let index = &view.analysis.index;
    let Some(found) = index.at(view.offset(position)) else {
        return Vec::new();
    };
    let mut places = view.places();
    let is_variable = matches!(found.target, Target::Variable(..));
    let mark = |o: &Occurrence| DocumentHighlight {
        range: places.range(o.span),
        kind: Some(match o.defines && !is_variable {
            true => DocumentHighlightKind::WRITE,
            false => DocumentHighlightKind::READ,
        }),
    };
    index.all(found.target).map(mark).collect()
}

fn locations<'a>(view: View, found: impl Iterator<Item = &'a Occurrence>) -> Vec<Location> {
    let mut places = view.places();
    let location = |o: &Occurrence| Location {
        uri: view.document.uri.clone(),
        range: places.range(o.span),
    };
    found.map(location).collect()
}
