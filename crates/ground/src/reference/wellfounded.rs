//! Decides the atoms of components in which a negation depends on itself.
//!
//! Whether such rules have a meaning depends on the ground atoms: `goal(r,0) ⇐ ¬goal(r,100)` has one, `p ⇐ ¬p` has
//! none. The alternating fixpoint (Van Gelder 1993) decides every atom of a locally stratified program, and leaves
//! atoms undecided exactly where there is no such meaning.

/// An instance of a rule. Atoms are (table number, row); a row past the end of its table is false.
#[derive(Clone, Debug, Default)]
pub(crate) struct Instance {
    pub gives: (u32, u32),
    pub needs: Vec<(u32, u32)>,
    pub excludes: Vec<(u32, u32)>,
}

/// Which rows of each table hold; `None` if some can be neither true nor false. Tables are numbered upwards
/// from `first`; `sizes` counts their rows.
pub(crate) fn truth(first: u32, sizes: &[usize], instances: &[Instance]) -> Option<Vec<Vec<bool>>> {
    let nothing: Vec<Vec<bool>> = sizes.iter().map(|&n| vec![false; n]).collect();
    let mut surely = nothing;
    loop {
        let possibly = consequences(first, &surely, instances);
        let more = consequences(first, &possibly, instances);
        if more == surely {
            return (possibly == surely).then_some(surely);
        }
        surely = more;
    }
}

/// The atoms that follow if exactly the atoms in `denied` may not be negated.
fn consequences(first: u32, denied: &[Vec<bool>], instances: &[Instance]) -> Vec<Vec<bool>> {
    let holds = |set: &[Vec<bool>], &(table, row): &(u32, u32)| {
        let rows = set.get((table - first) as usize);
        rows.and_then(|r| r.get(row as usize)).copied().unwrap_or(false)
    };
    let usable: Vec<&Instance> = instances
        .iter()
        .filter(|i| !i.excludes.iter().any(|a| holds(denied, a)))
        .collect();
    let mut set: Vec<Vec<bool>> = denied.iter().map(|r| vec![false; r.len()]).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for instance in &usable {
            if !holds(&set, &instance.gives) && instance.needs.iter().all(|a| holds(&set, a)) {
                let (table, row) = instance.gives;
                set[(table - first) as usize][row as usize] = true;
                changed = true;
            }
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(gives: u32, needs: &[u32], excludes: &[u32]) -> Instance {
        let atoms = |numbers: &[u32]| numbers.iter().map(|&n| (10 + n, 0)).collect();
        Instance {
            gives: (10 + gives, 0),
            needs: atoms(needs),
            excludes: atoms(excludes),
        }
    }

    #[track_caller]
    fn check(n: usize, instances: &[Instance], expected: Option<&[bool]>) {
        let truth = truth(10, &vec![1; n], instances);
        let truth = truth.map(|t| t.into_iter().flatten().collect::<Vec<bool>>());
        assert_eq!(truth.as_deref(), expected);
    }

    #[test]
    fn layers_of_negation_are_decided_in_turn() {
        // 0 ⇐ ¬1. 1 ⇐ ¬2. 2 ⇐ ¬3. 3 has no rule that fires.
        let chain = [
            instance(0, &[], &[1]),
            instance(1, &[], &[2]),
            instance(2, &[], &[3]),
            instance(3, &[3], &[]),
        ];
        check(4, &chain, Some(&[true, false, true, false]));
    }

    #[test]
    fn a_cycle_through_negation_has_no_meaning_unless_something_else_decides() {
        let cycle = [instance(0, &[], &[1]), instance(1, &[], &[0])];
        check(2, &cycle, None);
        check(1, &[instance(0, &[], &[0])], None);
        let decided = [cycle[0].clone(), cycle[1].clone(), instance(1, &[], &[])];
        check(2, &decided, Some(&[false, true]));
    }
}
