//! Strongly connected components (Tarjan 1972), without recursion: rule graphs may be deep.

/// A directed graph over `0..n`.
pub(crate) struct Graph {
    starts: Vec<u32>,
    edges: Vec<u32>,
}

impl Graph {
    /// From pairs (from, to).
    pub fn new(n: usize, pairs: &[(u32, u32)]) -> Graph {
        let mut starts = vec![0; n + 1];
        for &(from, _) in pairs {
            starts[from as usize + 1] += 1;
        }
        for at in 0..n {
            starts[at + 1] += starts[at];
        }
        let mut fill = starts.clone();
        let mut edges = vec![0; pairs.len()];
        for &(from, to) in pairs {
            edges[fill[from as usize] as usize] = to;
            fill[from as usize] += 1;
        }
        Graph { starts, edges }
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn successors(&self, node: u32) -> &[u32] {
        &self.edges[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }

    /// The component of each node. An edge never leads to a component with a larger number.
    pub fn components(&self) -> Vec<u32> {
        Tarjan {
            graph: self,
            number: vec![UNSEEN; self.len()],
            low: vec![0; self.len()],
            component: vec![UNSEEN; self.len()],
            waiting: Vec::new(),
            n_seen: 0,
            n_components: 0,
        }
        .run()
    }

    /// A path from one node to another, both included, with at least one edge.
    pub fn path(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        let mut came_from = vec![UNSEEN; self.len()];
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for &next in self.successors(node) {
                if next == to {
                    let mut path = vec![to, node];
                    while path[path.len() - 1] != from {
                        path.push(came_from[path[path.len() - 1] as usize]);
                    }
                    path.reverse();
                    return Some(path);
                }
                if came_from[next as usize] == UNSEEN && next != from {
                    came_from[next as usize] = node;
                    queue.push_back(next);
                }
            }
        }
        None
    }
}

const UNSEEN: u32 = u32::MAX;

struct Tarjan<'g> {
    graph: &'g Graph,
    number: Vec<u32>,
    low: Vec<u32>,
    component: Vec<u32>,
    waiting: Vec<u32>,
    n_seen: u32,
    n_components: u32,
}

impl Tarjan<'_> {
    fn run(mut self) -> Vec<u32> {
        for root in 0..self.graph.len() as u32 {
            if self.number[root as usize] == UNSEEN {
                self.visit(root);
            }
        }
        self.component
    }

    fn visit(&mut self, root: u32) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((node, tried)) = path.last_mut() {
            let node = *node;
            match self.graph.successors(node).get(*tried) {
                Some(&next) => {
                    *tried += 1;
                    if self.number[next as usize] == UNSEEN {
                        self.enter(next);
                        path.push((next, 0));
                    } else if self.component[next as usize] == UNSEEN {
                        self.lower(node, self.number[next as usize]);
                    }
                }
                None => {
                    path.pop();
                    self.leave(node);
                    if let Some(&(parent, _)) = path.last() {
                        self.lower(parent, self.low[node as usize]);
                    }
                }
            }
        }
    }

    fn enter(&mut self, node: u32) {
        self.number[node as usize] = self.n_seen;
        self.low[node as usize] = self.n_seen;
        self.n_seen += 1;
        self.waiting.push(node);
    }

    fn lower(&mut self, node: u32, to: u32) {
        self.low[node as usize] = self.low[node as usize].min(to);
    }

    fn leave(&mut self, node: u32) {
        if self.low[node as usize] != self.number[node as usize] {
            return;
        }
        while let Some(member) = self.waiting.pop() {
            self.component[member as usize] = self.n_components;
            if member == node {
                break;
            }
        }
        self.n_components += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_numbered_callees_first() {
        let graph = Graph::new(5, &[(0, 1), (1, 2), (2, 1), (2, 3), (4, 4)]);
        let c = graph.components();
        assert_eq!(c[1], c[2]);
        assert!(c[3] < c[1] && c[1] < c[0]);
        assert!(c[4] != c[0] && c[4] != c[3]);
    }

    #[test]
    fn paths_close_cycles() {
        let graph = Graph::new(4, &[(0, 1), (1, 2), (2, 0), (3, 3)]);
        assert_eq!(graph.path(0, 0), Some(vec![0, 1, 2, 0]));
        assert_eq!(graph.path(3, 3), Some(vec![3, 3]));
        assert_eq!(graph.path(0, 3), None);
    }

    #[test]
    fn long_chains_do_not_overflow() {
        let pairs: Vec<(u32, u32)> = (0..200_000).map(|n| (n, n + 1)).collect();
        let c = Graph::new(200_001, &pairs).components();
        assert_eq!((c[200_000], c[0]), (0, 200_000));
    }
}
