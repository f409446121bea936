//! Finding out which variant of the protocol a manager speaks.
//!
//! Messages with five elements are GDL-II with turns. A list for a game without `sees` is a joint move. A list for a
//! game with `sees` is a joint move (ggp-base tells every move to every role) or the percepts of the role (Dresden,
//! 2010). The first list that is not empty decides: it is about the first round, whose state is known, so both readings
//! can be compared with the rules.

use super::{MatchProgress, Session};
use crate::error::Error;
use crate::message::Variant;
use game::{Fault, MoveId, RoleId, Simulator, State};
use gdl::Rules;
use tracing::warn;

/// Joint moves that are tried in order to find out what a list means.
const MAX_JOINTS: usize = 20_000;

impl Session {
    /// The variant that a list belongs to.
    pub(super) fn detect(&self, progress: &MatchProgress, items: &[String]) -> Variant {
        if !self.rules.has_sees() {
            return Variant::Gdl1;
        }
        if items.len() != self.roles.len() || progress.told.len() > 1 {
            return Variant::Gdl2a;
        }
        let read = self.read_both_ways(progress, items);
        read.unwrap_or_else(|why| {
            warn!(id = self.id, "{why}; what the manager tells is taken for percepts");
            Variant::Gdl2a
        })
    }

    fn read_both_ways(&self, progress: &MatchProgress, items: &[String]) -> Result<Variant, Error> {
        let mut sim = self
            .factory
            .simulator(&self.rules, &self.work.stop)
            .map_err(Error::Simulator)?;
        let state = sim.initial()?;
        let mut legal = Vec::new();
        for role in (0..self.roles.len()).map(|r| RoleId(r as u16)) {
            let mut moves = Vec::new();
            sim.legal(&state, role, &mut moves)?;
            legal.push(moves);
        }
        let find = |(role, text): (usize, &String)| {
            let role_id = RoleId(role as u16);
            legal[role].iter().copied().find(|&m| sim.move_text(role_id, m) == text)
        };
        let joint: Option<Vec<MoveId>> = items.iter().enumerate().map(find).collect();
        if joint.is_none() {
            return Ok(Variant::Gdl2a);
        }
        let seen = set(items.to_vec());
        let sent = progress.reply_of(0);
        let can_be_seen = derivable(sim.as_mut(), &state, &legal, self.role, sent.as_deref(), &seen)?;
        Ok(if can_be_seen { Variant::Gdl2a } else { Variant::Gdl1 })
    }

    /// Fixes the variant. Players that were made for another variant are replaced.
    pub(super) fn settle(&self, progress: &mut MatchProgress, variant: Variant) {
        progress.variant = Some(variant);
        let joint = variant == Variant::Gdl1;
        if joint != self.rules.has_sees() {
            // The players have the right rules already.
            return;
        }
        let rules = self.rules_in_use(Some(variant));
        progress.replace_players(&self.factory, &self.id, &rules, self.role, &self.work);
        if !joint {
            // The rules have no `sees`, and the manager sends percepts: nothing is perceived.
            return;
        }
        // The manager tells every joint move, so the state is known.
        progress.tracker = self.factory.simulator(&rules, &self.work.stop).ok().map(|mut sim| {
            let state = sim.initial().ok();
            StateTracker { sim, state }
        });
    }

    /// The rules that the players get.
    pub(super) fn rules_in_use(&self, variant: Option<Variant>) -> Rules {
        let mut rules = self.rules.clone();
        match variant {
            Some(Variant::Gdl1) => rules.announce_all_moves(),
            Some(Variant::Gdl2a | Variant::Gdl2b) => {}
            None => rules.announce_moves(),
        }
        rules
    }
}

/// The true state of a match whose manager tells every joint move.
pub(super) struct StateTracker {
    sim: Box<dyn Simulator>,
    state: Option<State>,
}

impl StateTracker {
    /// The percepts of a role after a joint move; none if the state is lost.
    pub(super) fn follow(&mut self, joint: &[String], me: RoleId) -> Option<Vec<String>> {
        let state = self.state.take()?;
        let mut ids = Vec::new();
        for (role, text) in joint.iter().enumerate() {
            let role = RoleId(role as u16);
            let mut legal = Vec::new();
            self.sim.legal(&state, role, &mut legal).ok()?;
            ids.push(legal.into_iter().find(|&m| self.sim.move_text(role, m) == text)?);
        }
        let mut percepts = Vec::new();
        self.sim.percepts(&state, &ids, me, &mut percepts).ok()?;
        let sees = percepts.iter().map(|&p| self.sim.percept_text(me, p).to_owned());
        let sees = set(sees.collect());
        self.state = self.sim.next(&state, &ids).ok();
        Some(sees)
    }
}

/// Whether a role can have exactly these percepts in the first round, after its own move if that is known.
fn derivable(
    sim: &mut dyn Simulator,
    state: &State,
    legal: &[Vec<MoveId>],
    role: RoleId,
    own: Option<&str>,
    seen: &[String],
) -> Result<bool, Fault> {
    let me = role.0 as usize;
    let mut rows = legal.to_vec();
    if let Some(own) = own
        && let Some(&mv) = legal[me].iter().find(|&&m| sim.move_text(role, m) == own)
    {
        rows[me] = vec![mv];
    }
    let total = rows.iter().map(Vec::len).fold(1, usize::saturating_mul);
    for number in 0..total.min(MAX_JOINTS) {
        let mut rest = number;
        let mut joint = Vec::with_capacity(rows.len());
        for row in &rows {
            joint.push(row[rest % row.len()]);
            rest /= row.len();
        }
        let mut percepts = Vec::new();
        sim.percepts(state, &joint, role, &mut percepts)?;
        let texts = percepts.iter().map(|&p| sim.percept_text(role, p).to_owned());
        if set(texts.collect()) == seen {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Sorted, each once.
pub(super) fn set(mut items: Vec<String>) -> Vec<String> {
    items.sort();
    items.dedup();
    items
}
