//! Matches in the XML that Dresden's GameController writes for viewers: `step_N.xml` and `finalstate.xml`.
//!
//! A file has the moves up to a step and the state that they lead to. In a game with hidden information only the files
//! of `random` have the moves.

use crate::kif;
use std::fmt;

/// A match as another program has recorded it. Texts are canonical.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignMatch {
    /// Name of the match.
    pub id: String,
    /// The roles, if the record names them.
    pub roles: Vec<String>,
    /// The joint moves, in the order of the roles.
    pub moves: Vec<Vec<String>>,
    /// The states that the record has, by number of moves before them.
    pub states: Vec<(usize, Vec<String>)>,
    /// The goals in the order of the roles, if the match is over.
    pub goals: Option<Vec<i64>>,
}

/// Why a file is not such a match.
#[derive(Debug)]
pub enum MatchXmlError {
    /// Not XML.
    Xml(roxmltree::Error),
    /// No `<match>`.
    NotAMatch,
    /// Only the sight of one role, without moves.
    NoMoves(String),
    /// Something that is not a ground term.
    NotATerm(String),
}

impl fmt::Display for MatchXmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MatchXmlError::Xml(error) => write!(f, "not XML: {error}"),
            MatchXmlError::NotAMatch => f.write_str("not a match: it has no <match>"),
            MatchXmlError::NoMoves(role) => write!(
                f,
                "shows what {role} may see, without the moves; the files of RANDOM, or of the game's only folder, have \
                 them"
            ),
            MatchXmlError::NotATerm(text) => write!(f, "`{text}` is no term"),
        }
    }
}

impl std::error::Error for MatchXmlError {}

/// Reads a step of a match.
///
/// # Errors
/// If the text is not the XML of a match with its moves.
pub fn read(text: &str) -> Result<ForeignMatch, MatchXmlError> {
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..roxmltree::ParsingOptions::default()
    };
    let document = roxmltree::Document::parse_with_options(text, options).map_err(MatchXmlError::Xml)?;
    let root = document.root_element();
    if root.tag_name().name() != "match" {
        return Err(MatchXmlError::NotAMatch);
    }
    let leaf = |name: &str| {
        children(root, name)
            .next()
            .and_then(|n| n.text())
            .unwrap_or_default()
            .trim()
    };
    let mut found = ForeignMatch {
        id: leaf("match-id").to_owned(),
        roles: children(root, "role")
            .filter_map(|n| kif::canonical(n.text()?))
            .collect(),
        ..ForeignMatch::default()
    };
    for step in children(root, "history").flat_map(|h| children(h, "step")) {
        let moves = children(step, "move").map(|n| term(n.text().unwrap_or_default()));
        let moves: Vec<String> = moves.collect::<Result<_, _>>()?;
        if moves.is_empty() {
            return Err(MatchXmlError::NoMoves(leaf("sight-of").to_owned()));
        }
        found.moves.push(moves);
    }
    if let Some(state) = children(root, "state").next() {
        let facts = children(state, "fact").map(fact).collect::<Result<_, _>>()?;
        found.states.push((found.moves.len(), facts));
    }
    let scores: Vec<i64> = children(root, "scores")
        .flat_map(|s| children(s, "reward"))
        .filter_map(|n| n.text()?.trim().parse().ok())
        .collect();
    found.goals = Some(scores).filter(|scores| !scores.is_empty());
    Ok(found)
}

fn children<'a, 'b>(node: roxmltree::Node<'a, 'b>, name: &str) -> impl Iterator<Item = roxmltree::Node<'a, 'b>> {
    node.children().filter(move |child| child.tag_name().name() == name)
}

fn term(text: &str) -> Result<String, MatchXmlError> {
    kif::canonical(text).ok_or_else(|| MatchXmlError::NotATerm(text.to_owned()))
}

/// A fact: `<prop-f>` and `<arg>`s, which may be facts themselves.
fn fact(node: roxmltree::Node<'_, '_>) -> Result<String, MatchXmlError> {
    term(&fact_text(node, 0))
}

/// Depth at which a fact is not read any further.
const MAX_DEPTH: usize = 100;

fn fact_text(node: roxmltree::Node<'_, '_>, depth: usize) -> String {
    let name = children(node, "prop-f").next().and_then(|n| n.text());
    let Some(name) = name.filter(|_| depth < MAX_DEPTH) else {
        return node.text().unwrap_or_default().trim().to_owned();
    };
    let args: Vec<String> = children(node, "arg").map(|arg| fact_text(arg, depth + 1)).collect();
    match args.is_empty() {
        true => name.trim().to_owned(),
        false => format!("({} {})", name.trim(), args.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_read() {
        let text = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<!DOCTYPE match SYSTEM \"x.dtd\">\n<match>\
            <match-id>M1</match-id><sight-of>RANDOM</sight-of><role>XPLAYER</role><role>OPLAYER</role>\
            <history><step><step-number>1</step-number><move>(MARK 1 1)</move><move>NOOP</move></step></history>\
            <scores><reward>100</reward><reward>0</reward></scores><state><fact><prop-f>CELL</prop-f><arg>1</arg>\
            <arg><prop-f>AT</prop-f><arg>X</arg></arg></fact><fact><prop-f>DONE</prop-f></fact></state></match>";
        let found = read(text).expect("a match");
        assert_eq!(found.roles, ["xplayer", "oplayer"]);
        assert_eq!(found.moves, [["(mark 1 1)", "noop"]]);
        assert_eq!(
            found.states,
            [(1, vec!["(cell 1 (at x))".to_owned(), "done".to_owned()])]
        );
        assert_eq!(found.goals, Some(vec![100, 0]));
        let hidden = text.replace("<move>(MARK 1 1)</move><move>NOOP</move>", "");
        assert!(matches!(read(&hidden), Err(MatchXmlError::NoMoves(_))));
        assert!(matches!(read("<gametrace/>"), Err(MatchXmlError::NotAMatch)));
        assert!(matches!(read("{}"), Err(MatchXmlError::Xml(_))));
    }
}
