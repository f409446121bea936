//! The reasons of a decision under the strategies of all roles, as text and as JSON.

use serde_json::{Value, json};
use std::fmt::Write as _;
use surmise::{Flip, MoveReason, Reasons};

/// Differences of values, in points, that are not worth a word.
const EQUAL: f64 = 0.005;

/// The reasons as JSON.
pub fn to_json(reasons: &Reasons) -> Value {
    let mv = |m: &MoveReason| json!({"move": m.mv, "frequency": m.frequency, "value": m.value, "stderr": m.stderr});
    let flip = |f: &Flip| json!({"fluent": f.fluent, "now": f.now, "at": f.at, "move": f.mv});
    json!({
        "strategy": reasons.strategy,
        "known": reasons.known,
        "expected": reasons.expected,
        "histories": reasons.histories,
        "moves": reasons.moves.iter().map(mv).collect::<Vec<_>>(),
        "flips": reasons.flips.iter().map(flip).collect::<Vec<_>>(),
    })
}

/// The reasons as text.
pub fn text(reasons: &Reasons) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "Past and future of all roles by {}: {} histories explain what the role was told.",
        reasons.strategy, reasons.histories
    );
    if !reasons.known {
        out.push_str("The strategy does not know this situation: every move is equally likely.\n");
    }
    if !reasons.expected {
        out.push_str("The others' strategies never lead here: the belief assumes that they make rare mistakes.\n");
    }
    out.push('\n');
    let best = reasons.moves.first().map_or(0.0, |m| m.value);
    let sampled = reasons.moves.iter().any(|m| m.stderr > 0.0);
    let _ = writeln!(out, "  {:>7}  {:>6}  {:>9}  move", "value", "less", "frequency");
    for m in &reasons.moves {
        let error = match sampled {
            true => format!("  (error {:.2})", m.stderr),
            false => String::new(),
        };
        let (less, often) = (best - m.value, 100.0 * m.frequency);
        let _ = writeln!(out, "  {:>7.2}  {less:>6.2}  {often:>7.2} %  {}{error}", m.value, m.mv);
    }
    out.push('\n');
    out += &what_would_change(reasons, best);
    out
}

/// By how much the next best move is worse, and which belief would make another move the best.
fn what_would_change(reasons: &Reasons, best: f64) -> String {
    let mut out = String::new();
    let equal: Vec<&str> = reasons
        .moves
        .iter()
        .filter(|m| best - m.value < EQUAL)
        .map(|m| m.mv.as_str())
        .collect();
    if equal.len() > 1 {
        let _ = writeln!(
            out,
            "{} are worth the same against these strategies. How often each is made matters to the others: another \
             mix may let them gain.",
            equal.join(" and ")
        );
    }
    if let Some(next) = reasons.moves.iter().find(|m| best - m.value >= EQUAL) {
        let _ = writeln!(out, "Next best: {}, {:.2} points less.", next.mv, best - next.value);
    }
    for flip in &reasons.flips {
        let (side, now, at) = (if flip.at > flip.now { "above" } else { "below" }, flip.now, flip.at);
        let _ = writeln!(
            out,
            "{} would be better if the probability of {} were {side} {:.1} % (it is {:.1} %).",
            flip.mv,
            flip.fluent,
            100.0 * at,
            100.0 * now
        );
    }
    if reasons.flips.is_empty() && reasons.moves.len() > 1 && equal.len() < reasons.moves.len() {
        out.push_str("No belief about a single hidden fact would make another move better.\n");
    }
    out
}
