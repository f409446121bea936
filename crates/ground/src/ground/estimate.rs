//! How many instances rules would have if they were split in other ways.
//!
//! Every instance of a rule that is not split is a choice of an instance for each auxiliary atom in the split rule. So
//! the instances of split rules count those of the others, without a join: by the number of ways to derive each
//! auxiliary atom.

use super::instantiate::Instances;
use super::split::{Splitting, split};
use crate::program::OtherSplits;
use crate::theory::{RelId, Rule, Theory};

/// What other ways to split make of rules.
pub(crate) struct OtherWays {
    /// Whether the rules of a relation are the same, split by components or not at all. Relations beyond are auxiliary.
    alike: Vec<bool>,
}

impl OtherWays {
    /// Compares the ways to split these rules.
    pub fn of(theory: &Theory) -> OtherWays {
        let [off, components] = [Splitting::Off, Splitting::Components].map(|way| {
            let mut theory = theory.clone();
            split(&mut theory, way);
            theory
        });
        let rules = |theory: &Theory, relation: usize| -> Vec<Rule> {
            let numbers = theory.relations[relation].rules.iter();
            numbers.map(|&n| theory.rules[n as usize].clone()).collect()
        };
        let alike = |relation| rules(&off, relation) == rules(&components, relation);
        OtherWays {
            alike: (0..theory.relations.len()).map(alike).collect(),
        }
    }

    /// The numbers of instances, from those of the rules split by variables. An auxiliary relation uses only earlier
    /// ones.
    pub fn estimate(&self, instances: &Instances) -> OtherSplits {
        let relation = |i: usize| instances.atoms.relation(instances.head(i)).0 as usize;
        let is_auxiliary = |relation: usize| relation >= self.alike.len();
        let mut order: Vec<(usize, usize)> = (0..instances.len()).map(|i| (relation(i), i)).collect();
        order.retain(|&(relation, _)| is_auxiliary(relation));
        order.sort_unstable();
        let mut ways: Vec<f64> = (0..instances.atoms.len() as u32)
            .map(|atom| instances.atoms.relation(super::atoms::Ground(atom)))
            .map(|RelId(relation)| if is_auxiliary(relation as usize) { 0.0 } else { 1.0 })
            .collect();
        let product = |ways: &[f64], i: usize| -> f64 {
            let atoms = instances.body(i).iter().filter(|lit| !lit.is_neg());
            atoms.map(|lit| ways[lit.atom().0 as usize]).product()
        };
        for (_, i) in order {
            ways[instances.head(i).0 as usize] += product(&ways, i);
        }
        let (mut off, mut components) = (0.0, 0.0);
        for i in (0..instances.len()).filter(|&i| !is_auxiliary(relation(i))) {
            let n = product(&ways, i);
            off += n;
            components += if self.alike[relation(i)] { n } else { 0.0 };
        }
        OtherSplits {
            off: off as usize,
            components: components as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::program::OtherSplits;
    use crate::{Limits, Splitting, ground};

    /// Three boards of 3 × 3 fluents. Splitting makes the rules of `row` and `apart` smaller, by components only that
    /// of `apart`.
    const RULES: &str = "(role r) (i 1) (i 2) (i 3)
        (<= (init (c ?k ?x ?y)) (i ?k) (i ?x) (i ?y))
        (<= (next (c ?k ?x ?y)) (true (c ?k ?x ?y)) (does r (m ?x)))
        (<= (legal r (m ?x)) (i ?x))
        (<= (row ?x) (true (c 1 ?x ?y)) (true (c 2 ?y ?z)) (true (c 3 ?z ?w)))
        (<= (apart ?x) (true (c 1 ?x ?y)) (true (c 2 ?z ?x)))
        (<= terminal (not (row 1)) (not (apart 1)))
        (<= (goal r 100) terminal) (<= (goal r 0) (not terminal))";

    #[test]
    fn the_estimate_is_the_number_of_instances() {
        let rules = gdl::read(RULES, &gdl::Options::default()).rules;
        let limits = |splitting| Limits {
            splitting,
            ..Limits::default()
        };
        let mut found = 0;
        let program = ground(&rules, &limits(Splitting::Off), &mut |p| found = p.instances).unwrap();
        assert_eq!(program.otherwise, None);
        let program = ground(&rules, &limits(Splitting::Full), &mut |_| ()).unwrap();
        let OtherSplits { off, components } = program.otherwise.unwrap();
        assert_eq!(off, found);
        // The nine instances of `apart` are left out: splitting by components would reduce them.
        assert_eq!(components + 9, off);
    }
}
