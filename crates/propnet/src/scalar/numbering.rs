//! Numbers of prepared joint moves.

/// A numbering of the prepared joint moves.
#[derive(Debug)]
pub(super) enum Numbering {
    /// All joint moves: the number is the sum of each role's move times its stride.
    All(Vec<usize>),
    /// Joint moves in which all roles but one make their noop move. Per role: the number of its first move, and its
    /// noop move.
    Turns(Vec<(usize, u32)>),
    /// No joint moves.
    None,
}

impl Numbering {
    /// All joint moves if there are at most `most`; else those with noop moves, if all roles have one.
    pub fn new(n_moves: &[usize], noop_moves: &[Option<u32>], most: usize) -> Numbering {
        let n_joint = n_moves.iter().try_fold(1_usize, |all, &n| all.checked_mul(n));
        if n_joint.is_some_and(|n| n <= most) {
            let stride = |role: usize| n_moves[..role].iter().product();
            return Numbering::All((0..n_moves.len()).map(stride).collect());
        }
        let first = |role: usize| n_moves[..role].iter().sum();
        let turns = noop_moves
            .iter()
            .enumerate()
            .map(|(role, &noop)| Some((first(role), noop?)));
        turns.collect::<Option<_>>().map_or(Numbering::None, Numbering::Turns)
    }

    /// The joint moves in the order of their numbers.
    pub fn joint_moves(&self, n_moves: &[usize]) -> Vec<Vec<u32>> {
        match self {
            Numbering::All(strides) => {
                let joint = |number: usize| {
                    let mv = |(&stride, &n): (&usize, &usize)| (number / stride % n) as u32;
                    strides.iter().zip(n_moves).map(mv).collect()
                };
                (0..n_moves.iter().product()).map(joint).collect()
            }
            Numbering::Turns(turns) => {
                let noops: Vec<u32> = turns.iter().map(|&(_, noop)| noop).collect();
                let mut joint_moves = Vec::new();
                for (role, &n) in n_moves.iter().enumerate() {
                    for mv in 0..n as u32 {
                        let mut joint = noops.clone();
                        joint[role] = mv;
                        joint_moves.push(joint);
                    }
                }
                joint_moves
            }
            Numbering::None => Vec::new(),
        }
    }

    /// The number of a joint move, if it is prepared.
    #[inline(always)]
    pub fn number(&self, joint: &[u32]) -> Option<usize> {
        match self {
            Numbering::All(strides) => Some(
                joint
                    .iter()
                    .zip(strides)
                    .map(|(&mv, stride)| mv as usize * stride)
                    .sum(),
            ),
            Numbering::Turns(turns) => {
                let mut found = turns[0].0 + turns[0].1 as usize;
                let mut n_active = 0;
                for (&mv, &(first, noop)) in joint.iter().zip(turns) {
                    if mv != noop {
                        found = first + mv as usize;
                        n_active += 1;
                    }
                }
                (n_active < 2).then_some(found)
            }
            Numbering::None => None,
        }
    }
}
