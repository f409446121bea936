//! Renaming. A rename that would change the meaning of the rules is refused.
//!
//! The text with the new name is read once more: it must have the same tree but for the name, and the same findings.

use crate::document::View;
use crate::index::{Occurrence, Part, Target};
use gdl::ast::{Node, NodeKind};
use gdl::{Notation, Reading, Span, Symbol, kw};
use lsp_types::{Position, Range, TextEdit};

/// The range and text of the name at a position, if it can be renamed.
///
/// # Errors
/// With the reason why it cannot.
pub fn prepare(view: View, position: Position) -> Result<(Range, String), String> {
    let found = find(view, position)?;
    Ok((view.range(found.span), view.text()[found.span.range()].to_owned()))
}

/// The edits that give the name at a position a new name.
///
/// # Errors
/// With the reason why the name cannot be given.
pub fn rename(view: View, position: Position, new_name: &str, options: &gdl::Options) -> Result<Vec<TextEdit>, String> {
    let found = find(view, position)?;
    let new_name = new_name.trim();
    check_name(view, found.target, new_name, options)?;
    let spans: Vec<Span> = view.analysis.index.all(found.target).map(|o| o.span).collect();
    check_clash(view, found.target, new_name)?;
    check_meaning(view, &spans, new_name, options)?;
    let mut places = view.places();
    let edit = |&span: &Span| TextEdit {
        range: places.range(span),
        new_text: new_name.to_owned(),
    };
    Ok(spans.iter().map(edit).collect())
}

fn find(view: View<'_>, position: Position) -> Result<&Occurrence, String> {
    let found = view
        .analysis
        .index
        .at(view.offset(position))
        .ok_or("there is no name here")?;
    let name = view.name(found.target.symbol());
    match found.target {
        Target::Keyword(_) => Err(format!("`{name}` is a keyword and cannot be renamed")),
        Target::Term(kw::RANDOM, 0) => Err("`random` is nature and cannot be renamed".to_owned()),
        target if view.analysis.index.parts(target).contains(&Part::Payoff) => {
            Err(format!("`{name}` is a payoff: another name would be another number"))
        }
        _ => Ok(found),
    }
}

/// Whether the text is one name of the right kind.
fn check_name(view: View, target: Target, name: &str, options: &gdl::Options) -> Result<(), String> {
    let separators = match view.notation() {
        Notation::Prefix => "();",
        Notation::Infix => "();,&|~%",
    };
    let bad = |c: char| c.is_whitespace() || c.is_control() || separators.contains(c);
    if name.is_empty() || name.contains(bad) {
        return Err(format!("`{name}` is not one name"));
    }
    if name.len() > 1_000 {
        return Err("the name is too long".to_owned());
    }
    let is_variable = matches!(target, Target::Variable(..));
    let upper =
        options.upper_vars && view.notation() == Notation::Infix && name.starts_with(|c: char| c.is_uppercase());
    match (is_variable, name.strip_prefix('?')) {
        (_, Some("")) => Err("a variable needs a name after `?`".to_owned()),
        (true, None) if !upper => Err(format!("a variable begins with a question mark: `?{name}`")),
        (false, Some(_)) => Err(format!("`{name}` is a variable; this is none")),
        _ => Ok(()),
    }
}

/// Whether the description has the name already.
fn check_clash(view: View, target: Target, name: &str) -> Result<(), String> {
    let symbols = &view.analysis.reading.rules.symbols;
    let Some(new) = symbols.get(name).or_else(|| symbols.get(&name.to_ascii_lowercase())) else {
        return Ok(());
    };
    // Another spelling of the same name.
    if new == target.symbol() {
        return Ok(());
    }
    if new.is_keyword_relation() || new.is_connective() || new == kw::RANDOM {
        return Err(format!("`{name}` is a keyword"));
    }
    let index = &view.analysis.index;
    let taken = index.targets().into_iter().find(|other| match (target, *other) {
        (Target::Relation(..), Target::Relation(found, _)) => found == new,
        (Target::Term(..), Target::Term(found, _)) => found == new,
        (Target::Variable(_, form), Target::Variable(found, its_form)) => found == new && form == its_form,
        _ => false,
    });
    match taken {
        None => Ok(()),
        Some(Target::Variable(..)) => Err(format!("this rule has a variable `{name}` already")),
        Some(Target::Relation(_, arity)) => {
            Err(format!("there is a relation `{name}` already, with {arity} arguments"))
        }
        Some(_) => Err(format!("the name `{name}` is used in terms already")),
    }
}

/// Whether the renamed text says the same.
fn check_meaning(view: View, spans: &[Span], name: &str, options: &gdl::Options) -> Result<(), String> {
    let before = &view.analysis.reading;
    let mut text = String::with_capacity(before.text.len() + spans.len() * name.len());
    let mut at = 0;
    for span in spans {
        text.push_str(&before.text[at..span.start as usize]);
        text.push_str(name);
        at = span.end as usize;
    }
    text.push_str(&before.text[at..]);
    let options = gdl::Options {
        notation: Some(view.notation()),
        ..*options
    };
    let after = gdl::read(&text, &options);
    let same_trees = before.ast.forms.len() == after.ast.forms.len()
        && (before.ast.forms.iter().zip(&after.ast.forms)).all(|(a, b)| same_but_names(a, b));
    // Findings about the spelling of names may come or go.
    let codes = |reading: &Reading| -> Vec<gdl::Code> {
        let all = reading.diagnostics.iter().map(|d| d.code);
        all.filter(|c| !matches!(c, gdl::Code::Case | gdl::Code::OddChar | gdl::Code::Quote))
            .collect()
    };
    if same_trees && codes(before) == codes(&after) && before.rules.information() == after.rules.information() {
        return Ok(());
    }
    Err(format!("with the name `{name}` the rules would mean something else"))
}

/// Whether two trees differ in names only, and keywords are the same.
fn same_but_names(a: &Node, b: &Node) -> bool {
    let is_special = |s: Symbol| s.is_keyword_relation() || s.is_connective() || s == kw::RANDOM;
    match (&a.kind, &b.kind) {
        (NodeKind::Var(_), NodeKind::Var(_)) => true,
        (NodeKind::Name(a), NodeKind::Name(b)) => a == b || (!is_special(*a) && !is_special(*b)),
        (NodeKind::List(a), NodeKind::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_but_names(a, b))
        }
        _ => false,
    }
}
