//! Ways to ground a game: which passes rewrite the rules, how rules are split, and in which order ways are tried.

use super::Rewriting;
use ground::program::OtherSplits;
use ground::{GroundError, Passes, Program, Splitting};
use std::fmt;

/// Instances that every further way to ground rules may use, however small the first result was.
const MIN_INSTANCES: usize = 2_000;

/// Ground rules from which on rewriting is tried. Smaller games are set up in no time, and run as they always did.
const REWRITTEN_FROM: usize = 100_000;

/// Instances of the rules as written, beyond which rewritten rules are tried first: they may be much smaller.
const FIRST_INSTANCES: usize = 400_000;

/// Static atoms of the first way. A relation that exceeds twice as many in another way counts as one without bound.
const FIRST_STATIC: usize = 2 * FIRST_INSTANCES;

/// How often estimates of instances may count the same one, before that hides a way that is small.
const REPETITIONS: usize = 4;

/// Instances of a relation as written from which on other ways to split rules are not tried, if all are too large.
const MANY_INSTANCES: usize = 1_000_000;

/// A way to ground rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub passes: Passes,
    pub splitting: Splitting,
    /// Whether relations are restricted to what rules may ask for in play.
    pub asked: bool,
}

impl Way {
    const fn written(splitting: Splitting) -> Way {
        Way {
            passes: Passes::NONE,
            splitting,
            asked: false,
        }
    }

    const REWRITTEN: Way = Way {
        passes: Passes::USUAL,
        splitting: Splitting::Thorough,
        asked: false,
    };

    /// For rules that are too large otherwise: what may be asked for is found together with the instances, which
    /// takes longer.
    const ASKED: Way = Way {
        passes: Passes::NONE,
        splitting: Splitting::Thorough,
        asked: true,
    };

    /// Whether other rules are ground than those of the text.
    pub fn is_rewritten(self) -> bool {
        self.asked || self.passes != Passes::NONE
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let splitting = match self.splitting {
            Splitting::Off => "rules not split",
            Splitting::Components => "rules split by components",
            Splitting::Full | Splitting::Thorough => "rules split by variables",
        };
        match (self.asked, self.passes == Passes::NONE) {
            (true, _) => write!(f, "restricted to what rules can ask for, {splitting}"),
            (false, false) => write!(f, "rewritten ({}), {splitting}", self.passes),
            (false, true) => write!(f, "as written, {splitting}"),
        }
    }
}

/// The ways to ground a game, in the order in which they are tried, each with its limit of instances.
pub(super) struct Ways {
    rewriting: Rewriting,
    left: Vec<Way>,
    /// Limit of instances of the whole search.
    most: usize,
    /// The way tried last, and its limit.
    last: Option<(Way, usize)>,
    /// Ground rules of the smallest program so far.
    least: Option<usize>,
    /// Whether the rules as written have exceeded their first limit.
    is_large: bool,
    /// Relations that grew without bound.
    unbounded: Vec<String>,
    /// Estimated sizes of other ways to split the rules as written.
    otherwise: Option<OtherSplits>,
}

impl Ways {
    pub fn new(rewriting: Rewriting, most: usize) -> Ways {
        let first = match rewriting {
            Rewriting::Always => Way::REWRITTEN,
            _ => Way::written(Splitting::Full),
        };
        Ways {
            rewriting,
            left: vec![first],
            most,
            last: None,
            least: None,
            is_large: false,
            unbounded: Vec::new(),
            otherwise: None,
        }
    }

    /// The next way, and the instances that it may have.
    pub fn next(&mut self) -> Option<(Way, usize)> {
        if self.left.is_empty() {
            return None;
        }
        let way = self.left.remove(0);
        let is_first = self.last.is_none() && self.rewriting == Rewriting::Auto;
        let factor = if self.is_large { 2 } else { 3 };
        let most = match self.least {
            Some(least) => self.most.min((factor * least).max(MIN_INSTANCES)),
            None if is_first => self.most.min(FIRST_INSTANCES),
            None => self.most,
        };
        self.last = Some((way, most));
        self.last
    }

    /// The instances that a way is expected to have, if they are far more than its limit.
    pub fn is_hopeless(&self, way: Way, most: usize) -> Option<usize> {
        let otherwise = self.otherwise.filter(|_| !way.is_rewritten())?;
        let expected = match way.splitting {
            Splitting::Off => otherwise.off,
            Splitting::Components => otherwise.components,
            Splitting::Full | Splitting::Thorough => return None,
        };
        (expected / REPETITIONS > most).then_some(expected)
    }

    /// The limit of static atoms. What has grown beyond one limit gets one more chance.
    pub fn static_atoms(&self, instances: usize) -> usize {
        match self.unbounded.is_empty() {
            true => 2 * instances,
            false => (2 * instances).min(2 * FIRST_STATIC),
        }
    }

    /// Takes note of what came of the last way, and plans the next ones.
    pub fn note(&mut self, program: &Result<Option<(Program, Way)>, GroundError>) {
        let Some((way, limit)) = self.last else { return };
        let rules = match program {
            Ok(Some((program, _))) => Some(program.rules.len()),
            _ => None,
        };
        if let Err(GroundError::Unbounded { relation, .. }) = program
            && self.least.is_none()
        {
            // What grows without bound in two ways does so in all, and takes seconds each time.
            if self.unbounded.contains(relation) {
                self.left.clear();
                return;
            }
            self.unbounded.push(relation.clone());
        }
        let is_first = self.least.is_none() && !self.is_large && way.splitting == Splitting::Full;
        let is_too_large = matches!(
            program,
            Err(GroundError::TooLarge { .. } | GroundError::Unbounded { .. })
        );
        if let Ok(Some((program, _))) = program
            && !way.is_rewritten()
            && program.otherwise.is_some()
        {
            self.otherwise = program.otherwise;
        }
        if let Some(rules) = rules {
            self.least = Some(self.least.map_or(rules, |least| least.min(rules)));
        }
        let written = [Splitting::Components, Splitting::Off].map(Way::written);
        match (way.is_rewritten(), rules) {
            // Rules that nothing rewrites are ground as written.
            (true, None) if self.rewriting == Rewriting::Always => {
                if matches!(program, Ok(None)) {
                    self.left = vec![Way::written(Splitting::Full)];
                    self.rewriting = Rewriting::Never;
                }
            }
            // No other way has been seen to give a smaller network then, and each takes as long again.
            (true, Some(_)) if self.is_large => self.left.clear(),
            (true, _) => {}
            (false, Some(rules)) if way.splitting == Splitting::Full => {
                self.left = written.to_vec();
                if self.rewriting == Rewriting::Auto && !self.is_large && rules >= REWRITTEN_FROM {
                    self.left.push(Way::REWRITTEN);
                }
            }
            (false, None) if is_first && is_too_large && self.rewriting == Rewriting::Auto => {
                self.is_large = true;
                self.left = vec![Way::REWRITTEN, Way::ASKED];
                if limit < self.most {
                    self.left.push(way);
                } else {
                    self.left.extend(written);
                }
            }
            // Other ways to split rules change auxiliary relations, and have as many atoms of all others.
            (false, None)
                if way.splitting == Splitting::Full && self.least.is_none() && !is_written_too_large(program) =>
            {
                self.left = written.to_vec();
            }
            _ => {}
        }
    }
}

/// Whether a relation of the rules themselves, and not one that splitting has made, has most of too many instances.
fn is_written_too_large(program: &Result<Option<(Program, Way)>, GroundError>) -> bool {
    match program {
        Err(GroundError::TooLarge { relation, size, .. }) => !relation.contains('#') && *size > MANY_INSTANCES,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unbounded(relation: &str) -> Result<Option<(Program, Way)>, GroundError> {
        Err(GroundError::Unbounded {
            relation: relation.to_owned(),
            limit: "some atoms".to_owned(),
        })
    }

    /// Number of ways that are tried while these relations grow without bound, one after the other.
    fn tried(relations: &[&str]) -> usize {
        let mut ways = Ways::new(Rewriting::Auto, 3_000_000);
        let mut n = 0;
        while ways.next().is_some() {
            ways.note(&unbounded(relations[n]));
            n += 1;
        }
        n
    }

    #[test]
    fn a_relation_without_bound_ends_the_search() {
        assert_eq!(tried(&["islist/1", "islist/1"]), 2);
        assert_eq!(tried(&["islist/1", "list/2", "islist/1"]), 3);
        assert_eq!(tried(&["a/1", "b/1", "c/1", "d/1", "e/1", "f/1"]), 6);
    }

    fn program(otherwise: Option<OtherSplits>) -> Program {
        Program {
            otherwise,
            ..Program::default()
        }
    }

    #[test]
    fn rewritten_rules_end_the_search_where_the_written_ones_are_large() {
        let mut ways = Ways::new(Rewriting::Auto, 3_000_000);
        assert_eq!(ways.next(), Some((Way::written(Splitting::Full), FIRST_INSTANCES)));
        ways.note(&Err(GroundError::TooLarge {
            relation: "a/1".to_owned(),
            size: 300_000,
            limit: "some instances".to_owned(),
        }));
        assert_eq!(ways.next(), Some((Way::REWRITTEN, 3_000_000)));
        ways.note(&Ok(Some((program(None), Way::REWRITTEN))));
        assert_eq!(ways.next(), None);
    }

    #[test]
    fn what_rules_ask_for_is_tried_where_rewriting_does_not_help() {
        let too_large = || {
            Err(GroundError::TooLarge {
                relation: "count/6".to_owned(),
                size: 300_000,
                limit: "some instances".to_owned(),
            })
        };
        let mut ways = Ways::new(Rewriting::Auto, 3_000_000);
        for expected in [Way::written(Splitting::Full), Way::REWRITTEN, Way::ASKED] {
            assert_eq!(ways.next().map(|(way, _)| way), Some(expected));
            ways.note(&too_large());
        }
        assert_eq!(ways.next(), Some((Way::written(Splitting::Full), 3_000_000)));

        let mut ways = Ways::new(Rewriting::Auto, 3_000_000);
        for _ in 0..2 {
            ways.next();
            ways.note(&too_large());
        }
        ways.next();
        ways.note(&Ok(Some((program(None), Way::ASKED))));
        assert_eq!(ways.next(), None);
    }

    #[test]
    fn ways_with_far_too_many_instances_are_hopeless() {
        let mut ways = Ways::new(Rewriting::Auto, 3_000_000);
        let (way, _) = ways.next().unwrap();
        let otherwise = OtherSplits {
            off: 9_000_000,
            components: 5_000,
        };
        ways.note(&Ok(Some((program(Some(otherwise)), way))));
        let expected: Vec<_> = std::iter::from_fn(|| ways.next())
            .map(|(way, most)| (way.splitting, most))
            .collect();
        assert_eq!(
            expected,
            [Splitting::Components, Splitting::Off].map(|s| (s, MIN_INSTANCES))
        );
        assert_eq!(
            ways.is_hopeless(Way::written(Splitting::Off), MIN_INSTANCES),
            Some(9_000_000)
        );
        assert_eq!(
            ways.is_hopeless(Way::written(Splitting::Components), MIN_INSTANCES),
            None
        );
    }
}
