//! Traces in the XML of Dresden's GameController: for every step the state, the legal moves and the joint move, at the end the goals. A strong test of a
//! reasoner, and a format in which others can check ours.

use anyhow::{Context, Result, anyhow, bail};
use game::{Rng, RoleId, Simulator, State};
use ggp::kif;
use referee::escape;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What holds in a state.
#[derive(Debug, Default, PartialEq, Eq)]
struct Facts {
    fluents: BTreeSet<String>,
    /// Roles and moves; none at the end.
    legal: BTreeSet<(String, String)>,
    terminal: bool,
    /// Roles and payoffs; only at the end.
    goals: BTreeSet<(String, i32)>,
}

impl Facts {
    fn of(sim: &mut dyn Simulator, state: &State) -> Result<Facts> {
        let terminal = sim.terminal(state)?;
        let mut facts = Facts {
            fluents: sim.fluents(state).into_iter().collect(),
            terminal,
            ..Facts::default()
        };
        let mut moves = Vec::new();
        for (number, name) in sim.roles().to_vec().into_iter().enumerate() {
            let role = RoleId(number as u16);
            if terminal {
                if let Some(points) = sim.goal(state, role)?.exact() {
                    facts.goals.insert((name, points));
                }
                continue;
            }
            sim.legal(state, role, &mut moves)?;
            let texts = moves.iter().map(|&m| (name.clone(), sim.move_text(role, m).to_owned()));
            facts.legal.extend(texts);
        }
        Ok(facts)
    }
}

/// A random game as a trace.
pub fn write(sim: &mut dyn Simulator, game: &str, rng: &mut Rng, steps: u64) -> Result<String> {
    let mut out = format!("<gametrace><game>{}</game><steps>\n", escape(game));
    let mut state = sim.initial()?;
    for step in 1.. {
        let facts = Facts::of(sim, &state)?;
        let _ = write!(out, "<step nb=\"{step}\"><state>");
        for fluent in &facts.fluents {
            let _ = write!(out, "<fluent>{}</fluent>", escape(fluent));
        }
        out += "</state>";
        if facts.terminal {
            out += "<terminal/><goal_values>";
            for (role, points) in &facts.goals {
                let _ = write!(out, "<goal_value role=\"{}\">{points}</goal_value>", escape(role));
            }
            out += "</goal_values></step>\n";
            break;
        }
        let mut chosen = Vec::new();
        for (number, role) in sim.roles().iter().enumerate() {
            let own: Vec<&String> = facts.legal.iter().filter(|(r, _)| r == role).map(|(_, m)| m).collect();
            if own.is_empty() {
                bail!("E-NO-MOVE: {role} has no legal move in step {step}; `surmise check --simulate` tells more");
            }
            chosen.push((number, role.clone(), (*rng.pick(&own)).clone()));
        }
        out += &moves("legal_moves", facts.legal.iter().map(|(r, m)| (r.as_str(), m.as_str())));
        let sorted: BTreeSet<(&str, &str)> = chosen.iter().map(|(_, r, m)| (r.as_str(), m.as_str())).collect();
        out += &moves("moves", sorted.into_iter());
        out += "</step>\n";
        if step >= steps {
            break;
        }
        let joint: Option<Vec<_>> = chosen
            .iter()
            .map(|(n, _, m)| sim.find_move(RoleId(*n as u16), m))
            .collect();
        state = sim.next(
            &state,
            &joint.ok_or_else(|| anyhow!("a legal move is unknown to its own engine"))?,
        )?;
    }
    Ok(out + "</steps></gametrace>\n")
}

fn moves<'a>(element: &str, moves: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = format!("<{element}>");
    for (role, mv) in moves {
        let _ = write!(out, "<move role=\"{}\">{}</move>", escape(role), escape(mv));
    }
    out + &format!("</{element}>")
}

/// Follows a trace and holds every state, every legal move, the end and the goals against it; how many steps there were.
///
/// # Errors
/// If it is no trace, or at the first step at which this engine derives something else: what.
pub fn check(sim: &mut dyn Simulator, text: &str) -> Result<usize> {
    let document = roxmltree::Document::parse(text).context("not XML")?;
    let steps: Vec<_> = document.descendants().filter(|n| n.has_tag_name("step")).collect();
    if document.root_element().tag_name().name() != "gametrace" || steps.is_empty() {
        bail!("not a trace: it has no <gametrace> with steps");
    }
    let mut state = sim.initial()?;
    for (number, step) in steps.iter().enumerate() {
        let place = || format!("step {}", step.attribute("nb").unwrap_or("without a number"));
        let theirs = read_facts(*step).with_context(place)?;
        compare(&Facts::of(sim, &state)?, &theirs).with_context(place)?;
        let chosen = read_moves(*step, "moves").with_context(place)?;
        if chosen.is_empty() {
            if number + 1 < steps.len() {
                bail!("{}: nobody moves, and yet the game goes on", place());
            }
            break;
        }
        state = advance(sim, &state, &chosen).with_context(place)?;
    }
    Ok(steps.len())
}

fn advance(sim: &mut dyn Simulator, state: &State, chosen: &BTreeSet<(String, String)>) -> Result<State> {
    let mut joint = Vec::new();
    for (number, role) in sim.roles().to_vec().into_iter().enumerate() {
        let own = chosen.iter().find(|(r, _)| *r == role);
        let (_, text) = own.ok_or_else(|| anyhow!("no move for {role}"))?;
        let found = sim.find_move(RoleId(number as u16), text);
        joint.push(found.ok_or_else(|| anyhow!("`{text}` is never a move of {role}"))?);
    }
    Ok(sim.next(state, &joint)?)
}

fn read_facts(step: roxmltree::Node<'_, '_>) -> Result<Facts> {
    let mut facts = Facts {
        legal: read_moves(step, "legal_moves")?,
        terminal: step.descendants().any(|n| n.has_tag_name("terminal")),
        ..Facts::default()
    };
    for fluent in step.descendants().filter(|n| n.has_tag_name("fluent")) {
        facts.fluents.insert(canonical(fluent)?);
    }
    for goal in step.descendants().filter(|n| n.has_tag_name("goal_value")) {
        let points = goal.text().unwrap_or_default().trim();
        let points = points.parse().with_context(|| format!("`{points}` is no payoff"))?;
        facts.goals.insert((role(goal)?, points));
    }
    Ok(facts)
}

fn read_moves(step: roxmltree::Node<'_, '_>, element: &str) -> Result<BTreeSet<(String, String)>> {
    let lists = step.children().filter(|n| n.has_tag_name(element));
    let all = lists.flat_map(|list| list.children().filter(|n| n.has_tag_name("move")));
    all.map(|mv| Ok((role(mv)?, canonical(mv)?))).collect()
}

fn role(node: roxmltree::Node<'_, '_>) -> Result<String> {
    let role = node
        .attribute("role")
        .ok_or_else(|| anyhow!("an element without a role"))?;
    Ok(role.to_ascii_lowercase())
}

fn canonical(node: roxmltree::Node<'_, '_>) -> Result<String> {
    let text = node.text().unwrap_or_default();
    kif::canonical(text).ok_or_else(|| anyhow!("`{text}` is no term"))
}

fn compare(ours: &Facts, theirs: &Facts) -> Result<()> {
    differ("fluents", &ours.fluents, &theirs.fluents)?;
    if ours.terminal != theirs.terminal {
        let end = |terminal| if terminal { "over" } else { "not over" };
        bail!(
            "the game is {} here, and {} in the trace",
            end(ours.terminal),
            end(theirs.terminal)
        );
    }
    differ("legal moves", &ours.legal, &theirs.legal)?;
    differ("goals", &ours.goals, &theirs.goals)
}

fn differ<T: Ord + std::fmt::Debug>(what: &str, ours: &BTreeSet<T>, theirs: &BTreeSet<T>) -> Result<()> {
    let only =
        |a: &BTreeSet<T>, b: &BTreeSet<T>| a.difference(b).map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", ");
    match (only(ours, theirs), only(theirs, ours)) {
        (a, b) if a.is_empty() && b.is_empty() => Ok(()),
        (a, b) => bail!("{what} differ: only here [{a}], only in the trace [{b}]"),
    }
}
