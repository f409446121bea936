//! Taking in what PLAY and STOP tell: the next round, a repetition, or rounds whose messages got lost.

use super::dialect::set;
use super::{AskedTurn, MatchProgress, Session};
use crate::kif;
use crate::message::{News, Variant};
use game::Told;
use tracing::{debug, info, warn};

/// Rounds that may get lost in one piece. A turn that is further ahead is taken for the next one.
const MAX_GAP: u64 = 1_000;

/// How news were understood.
pub(super) enum Heard {
    /// A move is wanted for this turn.
    Asked(usize),
    /// The turn was answered before: the answer.
    Repeated(String),
}

impl Session {
    /// Takes in what PLAY or STOP tells.
    pub(super) fn hear(&self, progress: &mut MatchProgress, news: &News<'_>) -> Heard {
        match news {
            News::Turn { turn, last, percepts } => self.hear_turn(progress, *turn, *last, percepts),
            News::List(list) => self.hear_list(progress, list),
        }
    }

    /// GDL-II with turns.
    fn hear_turn(&self, progress: &mut MatchProgress, turn: u64, last: Option<&str>, percepts: &[&str]) -> Heard {
        if progress.variant.is_none() {
            debug!(id = self.id, "the manager speaks gdl2b");
            self.settle(progress, Variant::Gdl2b);
        }
        let sees = canonical_set(percepts);
        let own = last.and_then(kif::canonical);
        let said = format!("{} ({})", own.as_deref().unwrap_or("nil"), sees.join(" "));
        let known = progress.told.len() as u64;
        if turn == 0 {
            return self.hear_beginning(progress, said);
        }
        if turn <= known {
            return self.hear_again(progress, turn as usize, said, own, sees);
        }
        if turn - known > MAX_GAP {
            warn!(
                id = self.id,
                turn, known, "the turn is far ahead of what was told; taken for the next one"
            );
            return self.go_on(progress, said, own, Some(sees));
        }
        for missed in known..turn - 1 {
            warn!(id = self.id, turn = missed, "the news of this turn got lost");
            let own = progress.reply_of(missed as usize);
            progress.told.push(Told::unobserved(own));
        }
        progress.turns.resize(turn as usize, AskedTurn::default());
        self.go_on(progress, said, own, Some(sees))
    }

    /// Takes the news for those of the next round.
    fn go_on(
        &self,
        progress: &mut MatchProgress,
        said: String,
        own: Option<String>,
        sees: Option<Vec<String>>,
    ) -> Heard {
        let round = progress.told.len();
        let sent = progress.reply_of(round);
        if let (Some(own), Some(sent)) = (&own, &sent)
            && own != sent
        {
            warn!(id = self.id, turn = round, sent, own, "another move was made for us");
        }
        let own = own.or(sent);
        progress.told.push(match sees {
            Some(sees) => Told {
                own: own.unwrap_or_else(|| Told::UNKNOWN.to_owned()),
                sees,
            },
            None => Told::unobserved(own),
        });
        progress.turns.resize(progress.told.len(), AskedTurn::default());
        progress.turns.push(AskedTurn {
            news: said,
            ..AskedTurn::default()
        });
        Heard::Asked(progress.told.len())
    }

    /// Turn 0: the beginning of the match, a repetition of it, or a new start.
    fn hear_beginning(&self, progress: &mut MatchProgress, said: String) -> Heard {
        if progress.told.is_empty() {
            if let Some(reply) = progress.turns.first().and_then(|t| t.reply.clone()) {
                return Heard::Repeated(reply);
            }
            progress.turns = vec![AskedTurn {
                news: said,
                ..AskedTurn::default()
            }];
            return Heard::Asked(0);
        }
        warn!(id = self.id, "starts again from the beginning");
        progress.told.clear();
        progress.joint.clear();
        progress.turns = vec![AskedTurn {
            news: said,
            ..AskedTurn::default()
        }];
        progress.tracker = None;
        progress.replace_players(
            &self.factory,
            &self.id,
            &self.rules_in_use(progress.variant),
            self.role,
            &self.work,
        );
        Heard::Asked(0)
    }

    /// A turn that was asked for before.
    fn hear_again(
        &self,
        progress: &mut MatchProgress,
        turn: usize,
        said: String,
        own: Option<String>,
        sees: Vec<String>,
    ) -> Heard {
        let before = progress.turns.get(turn).cloned().unwrap_or_default();
        let is_present = turn == progress.told.len();
        if before.news == said || !is_present {
            return match before.reply {
                Some(reply) => Heard::Repeated(reply),
                None if is_present => Heard::Asked(turn),
                None => Heard::Repeated("nil".to_owned()),
            };
        }
        warn!(
            id = self.id,
            turn, "the news of this turn came once more, and differently"
        );
        progress.told.pop();
        progress.turns.truncate(turn);
        let rules = self.rules_in_use(progress.variant);
        progress.replace_players(&self.factory, &self.id, &rules, self.role, &self.work);
        self.go_on(progress, said, own, Some(sees))
    }

    /// A joint move, or percepts.
    fn hear_list(&self, progress: &mut MatchProgress, list: &[&str]) -> Heard {
        let items: Option<Vec<String>> = list.iter().map(|item| kif::canonical(item)).collect();
        let Some(items) = items else {
            warn!(id = self.id, "the news cannot be read");
            return self.go_on(progress, String::new(), None, None);
        };
        let said = items.join(" ");
        if progress.turns.is_empty() && items.is_empty() {
            return self.hear_beginning(progress, said);
        }
        if let Some(turn) = progress.turns.last()
            && turn.reply.is_none()
            && turn.news == said
            && progress.turns.len() == progress.told.len() + 1
        {
            // The question before was given up and is asked again.
            return Heard::Asked(progress.told.len());
        }
        let variant = match progress.variant {
            Some(variant) => variant,
            None => {
                let variant = self.detect(progress, &items);
                info!(id = self.id, "the manager speaks {variant}");
                self.settle(progress, variant);
                variant
            }
        };
        match variant {
            Variant::Gdl1 if items.is_empty() => self.hear_beginning(progress, said),
            Variant::Gdl1 => self.hear_joint(progress, said, items),
            Variant::Gdl2a | Variant::Gdl2b => self.go_on(progress, said, None, Some(set(items))),
        }
    }

    fn hear_joint(&self, progress: &mut MatchProgress, said: String, joint: Vec<String>) -> Heard {
        if joint.len() != self.roles.len() {
            warn!(
                id = self.id,
                moves = joint.len(),
                "the joint move does not have a move for each role"
            );
            return self.go_on(progress, said, None, None);
        }
        let own = joint[self.role.0 as usize].clone();
        let sees = match &mut progress.tracker {
            Some(line) => line.follow(&joint, self.role),
            None => Some(self.announced(&joint)),
        };
        if progress.joint.len() == progress.told.len() {
            progress.joint.push(joint);
        }
        self.go_on(progress, said, Some(own), sees)
    }

    /// A joint move as percepts: `(did ROLE MOVE)`.
    fn announced(&self, joint: &[String]) -> Vec<String> {
        let did = self
            .roles
            .iter()
            .zip(joint)
            .map(|(role, mv)| format!("(did {role} {mv})"));
        set(did.collect())
    }
}

/// Percepts as a set. What is not a term is kept as something that the rules do not know.
fn canonical_set(percepts: &[&str]) -> Vec<String> {
    let read = |percept: &&str| kif::canonical(percept).unwrap_or_else(|| "?unreadable".to_owned());
    set(percepts.iter().map(read).collect())
}
