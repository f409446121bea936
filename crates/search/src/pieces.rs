//! Lists that grow and are freed in small pieces: moving or freeing a large one at once could take longer than the time
//! for a move.

/// Elements whose freeing is worth a thread.
const MANY: usize = 10_000;

/// Frees something with so many elements; on a thread of its own if it could take long.
pub(crate) fn drop_aside<T: Send + 'static>(old: T, size: usize) {
    if size > MANY {
        // Without a thread it is freed here: the closure is dropped.
        let _ = std::thread::Builder::new().spawn(move || drop(old));
    }
}

/// Elements in a piece.
const PIECE: usize = 1 << 12;

/// A list in pieces of equal length.
pub(crate) struct Pieces<T>(Vec<Vec<T>>);

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Pieces(Vec::new())
    }
}

impl<T> Pieces<T> {
    pub(crate) fn len(&self) -> usize {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * PIECE + last.len())
    }

    pub(crate) fn push(&mut self, element: T) {
        match self.0.last_mut().filter(|last| last.len() < PIECE) {
            Some(last) => last.push(element),
            None => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(element);
                self.0.push(piece);
            }
        }
    }

    /// Adds so many equal elements.
    pub(crate) fn fill(&mut self, n: usize, element: T)
    where
        T: Copy,
    {
        let mut left = n;
        while left > 0 {
            if self.0.last().is_none_or(|last| last.len() == PIECE) {
                self.0.push(Vec::with_capacity(PIECE));
            }
            let Some(last) = self.0.last_mut() else { return };
            let now = left.min(PIECE - last.len());
            last.resize(last.len() + now, element);
            left -= now;
        }
    }

    /// Adds these elements.
    pub(crate) fn extend(&mut self, elements: &[T])
    where
        T: Copy,
    {
        let mut left = elements;
        while !left.is_empty() {
            if self.0.last().is_none_or(|last| last.len() == PIECE) {
                self.0.push(Vec::with_capacity(PIECE));
            }
            let Some(last) = self.0.last_mut() else { return };
            let (now, later) = left.split_at(left.len().min(PIECE - last.len()));
            last.extend_from_slice(now);
            left = later;
        }
    }

    /// Frees so many elements from the end.
    pub(crate) fn shrink(&mut self, n: usize) {
        if let Some(last) = self.0.last_mut() {
            last.truncate(last.len().saturating_sub(n));
            if last.is_empty() {
                self.0.pop();
            }
        }
    }

    /// Takes over all elements of another list, in no particular order.
    pub(crate) fn swallow(&mut self, other: Pieces<T>) {
        self.0.extend(other.0);
    }
}

impl<T> std::ops::Index<u32> for Pieces<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: u32) -> &T {
        &self.0[at as usize / PIECE][at as usize % PIECE]
    }
}

impl<T> std::ops::IndexMut<u32> for Pieces<T> {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut T {
        &mut self.0[at as usize / PIECE][at as usize % PIECE]
    }
}
