//! How symmetries act on the graph of a role's views.

use super::super::graph::StateGraph;
use super::super::views::ViewGraph;
use super::{Alphabet, Group, Renaming};
use rustc_hash::FxHashMap;

/// The images of the children of all classes under all symmetries of a group.
#[derive(Clone, Debug)]
pub(in super::super) struct ViewAction {
    /// For each class, the place of its first child in `children`.
    first: Vec<u32>,
    /// For each symmetry, class and child: the number of the child's image among the children of the class's image.
    children: Vec<Vec<u32>>,
}

impl ViewAction {
    /// Works out all images; none if some view has no image, which cannot be if the renamings are symmetries.
    pub fn new(graph: &StateGraph, views: &ViewGraph, alphabet: &Alphabet, group: &Group) -> Option<ViewAction> {
        let mut first = Vec::with_capacity(views.classes.len());
        let mut n = 0;
        for class in &views.classes {
            first.push(n);
            n += class.children.len() as u32;
        }
        let mut action = ViewAction {
            first,
            children: Vec::new(),
        };
        let player = views.player;
        let lists: FxHashMap<Vec<u32>, u32> = alphabet.moves[player]
            .iter()
            .zip(0..)
            .map(|(list, n)| (sorted(list), n))
            .collect();
        if lists.len() < graph.lists[player].len() {
            return None;
        }
        for renaming in &group.elements {
            let images = Images {
                views,
                alphabet,
                lists: &lists,
                renaming,
                first: &action.first,
            };
            action.children.push(images.all(n as usize)?);
        }
        Some(action)
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        let images = self.children.iter().map(Vec::len).sum::<usize>();
        4 * (images + self.first.len()) as u64
    }

    /// The number of the image of a child.
    pub fn child(&self, symmetry: usize, class: u32, child: usize) -> usize {
        self.children[symmetry][self.first[class as usize] as usize + child] as usize
    }

    /// Whether a realization plan is the same under a symmetry, to the bit.
    pub fn keeps(&self, symmetry: usize, views: &ViewGraph, plan: &[f64]) -> bool {
        let mut stack = vec![(views.root, 0_usize, views.root, 0_usize)];
        while let Some((class, slot, image, image_slot)) = stack.pop() {
            if plan[slot] != plan[image_slot] {
                return false;
            }
            let (here, there) = (&views.classes[class as usize], &views.classes[image as usize]);
            for (number, child) in here.children.iter().enumerate() {
                let to = &there.children[self.child(symmetry, class, number)];
                let at = slot + child.slot as usize;
                stack.push((child.class, at, to.class, image_slot + to.slot as usize));
            }
        }
        true
    }
}

fn sorted(list: &[u32]) -> Vec<u32> {
    let mut list = list.to_vec();
    list.sort_unstable();
    list
}

/// Works out images under one renaming.
struct Images<'a> {
    views: &'a ViewGraph,
    alphabet: &'a Alphabet,
    lists: &'a FxHashMap<Vec<u32>, u32>,
    renaming: &'a Renaming,
    first: &'a [u32],
}

impl Images<'_> {
    fn all(&self, n_children: usize) -> Option<Vec<u32>> {
        const UNKNOWN: u32 = u32::MAX;
        let views = self.views;
        let mut classes = vec![UNKNOWN; views.classes.len()];
        let mut children = vec![UNKNOWN; n_children];
        classes[0] = 0;
        classes[views.root as usize] = views.root;
        // Parents have greater numbers than their children.
        for class in (0..views.classes.len()).rev() {
            let image = classes[class];
            if image == UNKNOWN {
                return None;
            }
            let (here, there) = (&views.classes[class], &views.classes[image as usize]);
            if here.children.len() != there.children.len() || here.list.map(|l| self.list(l)) != there.list.map(Some) {
                return None;
            }
            for (number, child) in here.children.iter().enumerate() {
                let action = match (here.list, there.list) {
                    (Some(own), Some(other)) => self.action(own, other, child.action)?,
                    _ => child.action,
                };
                let event = self.event(child.event)?;
                let to = there
                    .children
                    .iter()
                    .position(|c| (c.action, c.event) == (action, event))?;
                children[self.first[class] as usize + number] = to as u32;
                let known = &mut classes[child.class as usize];
                if *known != UNKNOWN && *known != there.children[to].class {
                    return None;
                }
                *known = there.children[to].class;
            }
        }
        Some(children)
    }

    fn list(&self, list: u32) -> Option<u32> {
        let letters = &self.alphabet.moves[self.views.player][list as usize];
        let images: Vec<u32> = letters.iter().map(|&l| self.renaming[l as usize]).collect();
        self.lists.get(&sorted(&images)).copied()
    }

    fn action(&self, own: u32, other: u32, action: u16) -> Option<u16> {
        let moves = &self.alphabet.moves[self.views.player];
        let image = self.renaming[moves[own as usize][usize::from(action)] as usize];
        let place = moves[other as usize].iter().position(|&l| l == image)?;
        Some(place as u16)
    }

    /// Events are percepts that are seen, twice their number, or lists of moves that arrive, twice theirs plus one.
    fn event(&self, event: u32) -> Option<u32> {
        let number = event / 2;
        match event % 2 {
            0 => {
                let base = self.alphabet.percepts[self.views.player];
                Some(2 * (self.renaming[(base + number) as usize] - base))
            }
            _ => Some(2 * self.list(number)? + 1),
        }
    }
}
