//! Games in the format of Gambit: extensive form files (`.efg`), in the dialect that OpenSpiel reads too.
//!
//! Each of the two programs refuses something that the other accepts, so everything is written explicitly: a name, all
//! actions and all payoffs at every node, chance as exact fractions, printable ASCII only, outcomes at terminal nodes
//! only, and the same number for the same payoffs.

use crate::tree::{Node, Tree};
use game::{MoveId, RoleId, Simulator};
use rustc_hash::FxHashMap;
use std::io::{self, Write};

/// Indentation stops here: lines would be as long as the longest game, and `format!` panics beyond 65,535.
const DEEPEST: usize = 200;

/// Writes a game. The simulator is the one that the tree was built from; it knows the names.
///
/// # Errors
/// Only those of the writer.
pub fn write_efg(tree: &Tree, sim: &dyn Simulator, title: &str, out: &mut dyn Write) -> io::Result<()> {
    let roles: Vec<String> = tree
        .players
        .iter()
        .map(|r| quoted(&sim.roles()[r.0 as usize]))
        .collect();
    writeln!(out, "EFG 2 R {} {{ {} }} \"\"", quoted(title), roles.join(" "))?;
    let mut outcomes: FxHashMap<&[u8], usize> = FxHashMap::default();
    let mut chances = 0;
    let mut stack = vec![(0_u32, 0_usize)];
    while let Some((node, depth)) = stack.pop() {
        write!(out, "{:1$}", "", depth.min(DEEPEST))?;
        let children = match tree.nodes()[node as usize] {
            Node::Terminal(at) => {
                let payoffs = tree.payoffs(at);
                let next = outcomes.len() + 1;
                let number = *outcomes.entry(payoffs).or_insert(next);
                let list: Vec<String> = payoffs.iter().map(u8::to_string).collect();
                writeln!(out, "t \"\" {number} \"\" {{ {} }}", list.join(", "))?;
                continue;
            }
            Node::Chance { first, n } => {
                chances += 1;
                // Chance nodes exist only where there is nature.
                let nature = tree.nature().unwrap_or(RoleId(0));
                let counts = tree.counts(first, n);
                let total: u32 = counts.iter().sum();
                let name =
                    |(&mv, count): (&MoveId, &u32)| format!("{} {count}/{total}", quoted(sim.move_text(nature, mv)));
                let list: Vec<String> = tree.labels(first, n).iter().zip(counts).map(name).collect();
                writeln!(out, "c \"\" {chances} \"\" {{ {} }} 0", list.join(" "))?;
                tree.children(first, n)
            }
            Node::Decision { infoset, first } => {
                let set = &tree.infosets()[infoset as usize];
                let player = set.player as usize;
                let role = tree.players[player];
                let number = infoset as usize - tree.infosets_of(player).start + 1;
                let name = |s: usize| quoted(sim.move_text(role, tree.move_of(s)));
                let list: Vec<String> = set.sequences().map(name).collect();
                let view = quoted(&tree.view_text(set, sim));
                writeln!(out, "p \"\" {} {number} {view} {{ {} }} 0", player + 1, list.join(" "))?;
                tree.children(first, set.n)
            }
        };
        stack.extend(children.iter().rev().map(|&child| (child, depth + 1)));
    }
    Ok(())
}

/// A label: printable ASCII between quotes.
fn quoted(text: &str) -> String {
    let mut label = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => label.extend(['\\', c]),
            ' '..='~' => label.push(c),
            _ => label.push('?'),
        }
    }
    label.push('"');
    label
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_ascii() {
        assert_eq!(quoted("(card \"A♥\")"), r#""(card \"A?\")""#);
    }
}
