//! Hover: what the name under the pointer means.

use crate::document::View;
use crate::facts::{Extent, Extents, Name, Played};
use crate::index::{Occurrence, Part, Target};
use crate::keywords::{Keyword, apply};
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};
use std::fmt::Write as _;

/// Values of an argument that are shown.
const MAX_SHOWN: usize = 12;

/// What is known about a document besides its text, with the version that it is about.
#[derive(Clone, Copy, Default)]
pub struct Known<'a> {
    /// What can hold.
    pub extents: Option<&'a Extents>,
    /// Whether that is about an older version of the text.
    pub stale: bool,
    /// What play has shown.
    pub played: Option<&'a Played>,
}

/// What the name at a position means.
pub fn hover(view: View, position: Position, known: Known) -> Option<Hover> {
    let found = view.analysis.index.at(view.offset(position))?;
    let text = match found.target {
        Target::Keyword(symbol) => {
            let keyword = Keyword::find(symbol)?;
            let mut out = format!("```gdl\n{}\n```\n{}\n", keyword.shape(view.notation()), keyword.meaning);
            rule_cost(&mut out, view, found, known);
            out
        }
        Target::Variable(..) => variable(view, found, known),
        Target::Relation(symbol, arity) => {
            let name = (view.name(symbol).to_owned(), arity);
            relation(view, found, &name, known)
        }
        Target::Term(symbol, arity) => {
            let name = (view.name(symbol).to_owned(), arity);
            term(view, found, &name, known)
        }
    };
    let text = match known.stale && !matches!(found.target, Target::Keyword(_)) {
        true => format!(
            "{}\n\n(Sizes and values are those before the last changes.)",
            text.trim_end()
        ),
        false => text,
    };
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: text.trim_end().to_owned(),
        }),
        range: Some(view.range(found.span)),
    })
}

fn relation(view: View, found: &Occurrence, name: &Name, known: Known) -> String {
    let index = &view.analysis.index;
    let mut out = title(view, "relation", name);
    let definitions = index.all(found.target).filter(|o| o.defines);
    let (mut rules, mut facts) = (0, 0);
    for o in definitions {
        let is_rule = index.forms.get(o.form.0 as usize).is_some_and(|f| f.is_rule);
        *(if is_rule { &mut rules } else { &mut facts }) += 1;
    }
    let uses = index.all(found.target).filter(|o| !o.defines).count();
    let _ = writeln!(
        out,
        "{}, {}, used {}",
        count(facts, "fact"),
        count(rules, "rule"),
        times(uses)
    );
    if rules + facts == 0 {
        out.push_str("\nNo fact or rule defines it: it is false everywhere.\n");
    }
    if found.defines {
        rule_cost(&mut out, view, found, known);
    }
    match known.extents {
        Some(Extents { failed: Some(why), .. }) if !known.has_relation(name) => {
            let _ = writeln!(out, "\nThe game was not grounded: {why}.");
        }
        Some(extents) => match extents.relations.get(name) {
            Some(extent) => describe(&mut out, extent, "atom", "can hold"),
            None if rules + facts > 0 => out.push_str("\nNo atom of it can hold, or it does not matter to the game.\n"),
            None => {}
        },
        None => written_values(&mut out, view, true, found),
    }
    out
}

/// Instances of the rule that a name begins, if they were counted.
fn rule_cost(out: &mut String, view: View, found: &Occurrence, known: Known) {
    let is_arrow = found.target == Target::Keyword(gdl::kw::ARROW);
    let (Some(extents), Some(form)) = (known.extents, view.analysis.index.forms.get(found.form.0 as usize)) else {
        return;
    };
    if known.stale || !form.is_rule || !(is_arrow || found.defines) {
        return;
    }
    let total: usize = extents.costs.values().sum();
    if let Some(cost) = extents.costs.get(&form.span.start) {
        let share = 100.0 * *cost as f64 / total.max(1) as f64;
        let _ = writeln!(
            out,
            "\nGrounding: {} of this rule, {share:.0} % of all",
            count(*cost, "instance")
        );
    }
}

impl Known<'_> {
    fn has_relation(&self, name: &Name) -> bool {
        self.extents.is_some_and(|e| e.relations.contains_key(name))
    }
}

fn term(view: View, found: &Occurrence, name: &Name, known: Known) -> String {
    let index = &view.analysis.index;
    let parts = index.parts(found.target);
    let words: Vec<&str> = parts.iter().map(|p| word(*p, name.1)).collect();
    let mut out = title(view, &words.join(", "), name);
    let _ = writeln!(out, "{}", count(index.all(found.target).count(), "place"));
    let mut described = false;
    for part in [Part::Fluent, Part::Move, Part::Percept] {
        let extent = known.extents.and_then(|e| e.terms.get(&(part, name.clone())));
        if let Some(extent) = extent.filter(|_| parts.contains(&part)) {
            describe(&mut out, extent, word(part, name.1), "can arise");
            described = true;
        }
    }
    if !described {
        written_values(&mut out, view, false, found);
    }
    out
}

fn variable(view: View, found: &Occurrence, known: Known) -> String {
    let index = &view.analysis.index;
    let text = &view.text()[found.span.range()];
    let mut out = format!(
        "```gdl\n{text}\n```\nvariable of this rule, {}\n",
        count(index.all(found.target).count(), "place")
    );
    if let Some(extents) = known.extents {
        let values = crate::variables::values(view, found, extents);
        if let Some(values) = values {
            let _ = writeln!(out, "\n{}", list(&values, "value"));
        }
    }
    out
}

/// The word for a part.
pub fn word(part: Part, arity: usize) -> &'static str {
    match part {
        Part::Keyword => "keyword",
        Part::Relation => "relation",
        Part::Fluent => "fluent",
        Part::Move => "move",
        Part::Percept => "percept",
        Part::Role => "role",
        Part::Payoff => "payoff",
        Part::Inner if arity == 0 => "constant",
        Part::Inner => "function",
        Part::Variable => "variable",
    }
}

fn title(view: View, what: &str, (name, arity): &Name) -> String {
    let arguments: Vec<String> = (1..=*arity).map(|n| format!("?{n}")).collect();
    format!("```gdl\n{}\n```\n{what}, ", apply(view.notation(), name, &arguments))
}

fn describe(out: &mut String, extent: &Extent, what: &str, can: &str) {
    let _ = writeln!(out, "\n{} {can}", count(extent.size, what));
    for (at, values) in extent.arguments.iter().enumerate() {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let _ = writeln!(out, "- argument {}: {}", at + 1, list(&values, "value"));
    }
}

/// The constants that the text has at the arguments of a name.
fn written_values(out: &mut String, view: View, is_relation: bool, found: &Occurrence) {
    let (name, arity) = match found.target {
        Target::Relation(name, arity) | Target::Term(name, arity) => (name, arity),
        _ => return,
    };
    for at in 0..arity {
        let place = crate::index::ArgumentPlace { is_relation, name, at };
        let mut values: Vec<&str> = view.analysis.index.values(place).map(|s| view.name(s)).collect();
        values.sort_unstable();
        if !values.is_empty() {
            let _ = writeln!(out, "- argument {}: {} in the text", at + 1, list(&values, "constant"));
        }
    }
}

fn list(values: &[&str], what: &str) -> String {
    let shown: Vec<String> = values.iter().take(MAX_SHOWN).map(|v| format!("`{v}`")).collect();
    let more = if values.len() > MAX_SHOWN { ", …" } else { "" };
    format!("{}: {}{more}", count(values.len(), what), shown.join(", "))
}

/// `1 rule`, `2 rules`.
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn times(n: usize) -> String {
    match n {
        0 => "nowhere".to_owned(),
        1 => "once".to_owned(),
        n => format!("{n} times"),
    }
}
