//! Components in which a negation waits for itself to be decided.
//!
//! Whether such rules have a meaning depends on the ground atoms: `goal(r,0) ⇐ ¬goal(r,100)` does, `p ⇐ ¬p` does not.
//! The alternating fixpoint (Van Gelder 1993) decides every atom of a locally stratified program, and leaves some
//! undecided exactly where there is no such meaning.

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

/// What follows if exactly the atoms not in `denied` may be negated.
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
