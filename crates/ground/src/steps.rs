//! The conditions of a rule in the order of evaluation, with the place to backtrack to when one fails.
//!
//! Both the reference machine and grounding run rules this way: forward through the conditions, each of which yields
//! rows, and back when one has no more rows. The earlier condition that can change the outcome of a failed one is known
//! beforehand; the conditions between are skipped (backjumping).

use crate::theory::Literal;

/// One condition.
#[derive(Clone, Debug)]
pub(crate) struct Step<Op> {
    pub op: Op,
    /// Where to go if no row satisfies the condition: the last step that bound one of its variables.
    pub culprit: Option<u32>,
    /// Where to go after its last row: the last earlier step that may have another row.
    pub previous: Option<u32>,
}

/// A builder of steps.
pub(crate) struct Steps<Op> {
    steps: Vec<Step<Op>>,
    /// The step that binds each variable.
    binder: Vec<Option<u32>>,
    bound: Vec<bool>,
    previous: Option<u32>,
}

impl<Op> Steps<Op> {
    /// A builder for a rule with so many variables, some of which are bound from the start.
    pub fn new(n_vars: usize, has_value: impl Fn(u32) -> bool) -> Steps<Op> {
        Steps {
            steps: Vec::new(),
            binder: vec![None; n_vars],
            bound: (0..n_vars as u32).map(has_value).collect(),
            previous: None,
        }
    }

    /// Adds the step for a literal; `generates` if it may have several rows.
    pub fn push(&mut self, op: Op, literal: &Literal, generates: bool) {
        let at = self.steps.len() as u32;
        self.steps.push(Step {
            op,
            culprit: self.last_binder(literal),
            previous: self.previous,
        });
        literal.for_each_var(&mut |v| {
            let v = v as usize;
            if !std::mem::replace(&mut self.bound[v], true) {
                self.binder[v] = Some(at);
            }
        });
        if generates {
            self.previous = Some(at);
        }
    }

    fn last_binder(&self, literal: &Literal) -> Option<u32> {
        let mut last = None;
        literal.for_each_var(&mut |v| last = last.max(self.binder[v as usize]));
        last
    }

    /// The last step that binds one of these variables.
    pub fn last_to_bind(&self, vars: &[u32]) -> Option<u32> {
        vars.iter().filter_map(|&v| self.binder[v as usize]).max()
    }

    pub fn finish(self) -> Box<[Step<Op>]> {
        self.steps.into()
    }
}
