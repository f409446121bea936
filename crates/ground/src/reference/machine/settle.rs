//! Settles components of tables in which a negation depends on itself.
//!
//! While such a component is evaluated, its negations are assumed to hold, so its tables end up with all answers that
//! may be true. Then the instances of its rules are collected over these answers, one table at a time, and
//! `wellfounded` decides which answers are true.

use super::{Machine, Purpose};
use crate::reference::compiled_rule::{Args, CompiledRule, Op};
use crate::reference::table::TableId;
use crate::reference::wellfounded::{self, Instance};
use game::Fault;

impl Machine {
    /// For the leader of a component with negation inside: collects the instances of all its rules over all answers
    /// that may be true, one table at a time, then keeps the answers that are true.
    pub(super) fn settle_component(&mut self, number: u32) -> Result<(), Fault> {
        let members: Vec<TableId> = self.run.incomplete[number as usize..].to_vec();
        if let Some(&next) = members.iter().find(|&&m| !self.table(m).collected) {
            self.table_mut(next).collected = true;
            let code = self.code(self.table(next).proc);
            self.activate(next, code, Purpose::Collect);
            return Ok(());
        }
        let instances = self.take_instances(number);
        let sizes: Vec<usize> = members.iter().map(|&m| self.table(m).answers.len()).collect();
        let Some(truth) = wellfounded::truth(number, &sizes, &instances) else {
            let top = self.run.stack.last().expect("the leader is on the stack");
            return Err(Fault::NegativeCycle {
                relation: self.theory.relation(top.code.relation).label.clone(),
            });
        };
        for (&member, truth) in members.iter().zip(&truth) {
            self.table_mut(member).answers.retain(truth);
        }
        self.run.trusting.retain(|&n| n < number);
        self.complete(number);
        self.deactivate();
        Ok(())
    }

    /// Removes and returns the instances of a component; those of components further down the stack stay.
    fn take_instances(&mut self, number: u32) -> Vec<Instance> {
        let all = std::mem::take(&mut self.run.instances);
        let (own, others) = all.into_iter().partition(|i| i.gives.0 >= number);
        self.run.instances = others;
        own
    }

    /// Drops the instances, because some table has grown and instances may be missing.
    pub(super) fn collect_anew(&mut self, number: u32) {
        self.take_instances(number);
        for at in number as usize..self.run.incomplete.len() {
            let member = self.run.incomplete[at];
            self.table_mut(member).collected = false;
        }
    }

    /// Records the instance of the rule that was just found, and continues with the next.
    pub(super) fn collect(&mut self, row: u32) {
        let Machine {
            run,
            terms,
            layers,
            procs,
            ..
        } = self;
        let top = run.stack.last_mut().expect("something is under way");
        let rule: &CompiledRule = &top.code.rules[top.rule];
        let env = &run.env[top.env..];
        let mut instance = Instance::default();
        let mut last = None;
        for (at, step) in rule.steps.iter().enumerate() {
            let cursor = &run.cursors[top.cursors + at];
            match &step.op {
                Op::Rows { .. } => last = Some(at as u32),
                Op::Call { proc, known, open } => {
                    if !open.is_empty() {
                        last = Some(at as u32);
                    }
                    let known: Args = known.iter().map(|b| b.build(terms, env)).collect();
                    let layer = &layers[procs[proc.0 as usize].layer as usize];
                    let table = layer.get(layer.find(*proc, &known).expect("was read"));
                    if !table.complete {
                        let row = if open.is_empty() { 0 } else { cursor.at - 1 };
                        instance.needs.push((table.number, row));
                    }
                }
                Op::CallNot { proc, known } => {
                    let known: Args = known.iter().map(|b| b.build(terms, env)).collect();
                    let layer = &layers[procs[proc.0 as usize].layer as usize];
                    let table = layer.get(layer.find(*proc, &known).expect("was read"));
                    if !table.complete {
                        instance.excludes.push((table.number, 0));
                    }
                }
                Op::Distinct(..) | Op::Row { .. } => {}
            }
        }
        let own = layers[top.table.layer as usize].get(top.table.at).number;
        instance.gives = (own, row);
        top.next = top.back_to(last);
        run.instances.push(instance);
    }
}
