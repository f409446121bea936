//! Several streams of samples, for sampling algorithms on several threads.
//!
//! The first iterations are made by one stream. From then on there are [`STREAMS`] of them, however many threads work:
//! each has regrets and a random number generator of its own, and begins a batch with the same regrets. Iteration i of
//! a batch belongs to stream i modulo the number of streams. At the end of a batch the regrets of all streams are
//! averaged, in the order of the streams. A batch is a quarter as long as all work before it, so that no stream is far
//! from the others, and there are few batches. So what was computed after some iterations depends on seed and number
//! of iterations only, not on threads, and not on how iterations were asked for.
//!
//! Averaging makes regrets those of a quarter of the iterations with a quarter of the variance, and sampling is limited
//! by variance: in tests streams converge as fast as one stream with as many iterations. *Tried*: adding up the changes
//! of all streams. Every stream makes the whole correction that is due, so that the sum overshoots; NashConv in Kuhn
//! poker was twenty times as large.

/// Streams of samples, also on one thread.
pub(crate) const STREAMS: usize = 4;

/// Nodes that one stream visits before the others join in, at least.
const ALONE: u64 = 2_000_000;

/// Samples with regrets of their own.
pub(crate) trait Stream: Send {
    /// Makes some iterations.
    fn iterate(&mut self, n: u64);

    /// Nodes visited so far.
    fn visits(&self) -> u64;

    /// Number of sequences.
    fn sequences(&self) -> usize;

    /// Adds the accumulated regrets by sequence to some sums.
    fn add_regrets(&self, sums: &mut [f64]);

    /// Sets the accumulated regrets by sequence.
    fn set_regrets(&mut self, regrets: &[f64]);

    /// Adds the sums of the strategies by sequence to some sums.
    fn add_totals(&self, sums: &mut [f64]);
}

/// Adds numbers to sums.
pub(crate) fn add_all<'a>(sums: &mut [f64], numbers: impl Iterator<Item = &'a f64>) {
    sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
}

/// Streams that work together.
pub(crate) struct Streams<S> {
    streams: Vec<S>,
    /// Regrets at the start of the batch.
    base: Vec<f64>,
    threads: usize,
    iterations: u64,
    /// First iteration of the batch, and the first one after it.
    batch: (u64, u64),
    alone: u64,
}

impl<S: Stream> Streams<S> {
    /// Streams that are made by number, on some threads.
    pub fn new(threads: usize, mut make: impl FnMut(u64) -> S) -> Streams<S> {
        let first = make(0);
        let alone = ALONE.max(first.sequences() as u64);
        let streams = std::iter::once(first).chain((1..STREAMS as u64).map(make)).collect();
        Streams {
            streams,
            base: Vec::new(),
            threads: threads.clamp(1, STREAMS),
            iterations: 0,
            batch: (0, 0),
            alone,
        }
    }

    /// One stream alone, for ever.
    #[cfg(test)]
    pub fn single(make: impl FnMut(u64) -> S) -> Streams<S> {
        let mut streams = Streams::new(1, make);
        streams.alone = u64::MAX;
        streams
    }

    /// The others join in after so many nodes.
    #[cfg(test)]
    pub fn join_after(mut self, visits: u64) -> Streams<S> {
        self.alone = visits;
        self
    }

    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Nodes that all streams have visited.
    pub fn visits(&self) -> u64 {
        self.streams.iter().map(S::visits).sum()
    }

    /// Makes more iterations.
    pub fn iterate(&mut self, n: u64) {
        let end = self.iterations + n;
        while self.iterations < end {
            if self.base.is_empty() && !self.is_alone() {
                self.join();
            }
            match self.base.is_empty() {
                true => self.work_alone(end),
                false => self.work_together(end),
            }
        }
    }

    fn is_alone(&self) -> bool {
        self.streams[0].visits() < self.alone
    }

    /// Until the end, or until the others join in.
    fn work_alone(&mut self, end: u64) {
        while self.iterations < end && self.is_alone() {
            self.streams[0].iterate(1);
            self.iterations += 1;
        }
    }

    /// The other streams begin.
    fn join(&mut self) {
        self.base = vec![0.0; self.streams[0].sequences()];
        self.streams[0].add_regrets(&mut self.base);
        self.begin();
    }

    /// A batch begins with the same regrets everywhere.
    fn begin(&mut self) {
        for stream in &mut self.streams {
            stream.set_regrets(&self.base);
        }
        let each = (self.iterations / 4 / STREAMS as u64).max(1);
        self.batch = (self.iterations, self.iterations + each * STREAMS as u64);
    }

    /// Until the end, or the end of the batch.
    fn work_together(&mut self, end: u64) {
        let (from, to) = (self.iterations - self.batch.0, end.min(self.batch.1) - self.batch.0);
        // Iterations before a place in the batch that are those of a stream.
        let share = |place: u64, stream: usize| (place + (STREAMS - 1 - stream) as u64) / STREAMS as u64;
        let mut jobs: Vec<(&mut S, u64)> = self
            .streams
            .iter_mut()
            .enumerate()
            .map(|(number, stream)| (stream, share(to, number) - share(from, number)))
            .collect();
        let each = jobs.len().div_ceil(self.threads);
        std::thread::scope(|scope| {
            let mut parts = jobs.chunks_mut(each);
            let own = parts.next();
            for part in parts {
                scope.spawn(|| part.iter_mut().for_each(|(stream, n)| stream.iterate(*n)));
            }
            for (stream, n) in own.into_iter().flatten() {
                stream.iterate(*n);
            }
        });
        self.iterations = self.batch.0 + to;
        if self.iterations == self.batch.1 {
            self.merge();
            self.begin();
        }
    }

    /// The mean of the regrets of all streams.
    fn merge(&mut self) {
        self.base.fill(0.0);
        for stream in &self.streams {
            stream.add_regrets(&mut self.base);
        }
        self.base.iter_mut().for_each(|sum| *sum /= STREAMS as f64);
    }

    /// The sums of the strategies of all streams.
    pub fn totals(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.streams[0].sequences()];
        self.streams.iter().for_each(|stream| stream.add_totals(&mut sums));
        sums
    }
}
