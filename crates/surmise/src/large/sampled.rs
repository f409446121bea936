//! Solving a large game by sampling.

use super::{CurvePoint, LargeHow, LargeOptions, LargeSolution, LargeSolving, LargeStep};
use crate::Error;
use game::Seed;
use solve::{LargeRating, LargeSampler, LargeSampling, Profile};
use std::time::{Duration, Instant};

/// How long to iterate before looking at the clock and the stop flag.
const SLICE: Duration = Duration::from_millis(100);

/// Iterations after which strategies are rated first.
const FIRST_RATING: u64 = 100;

impl LargeSolving<'_> {
    /// Finds strategies by sampling: the best average strategies that were rated.
    ///
    /// # Errors
    /// If there is too little memory, or a checkpoint is asked for.
    pub(super) fn sample(
        &self,
        sampling: LargeSampling,
        options: &LargeOptions,
        progress: &mut dyn FnMut(LargeStep),
    ) -> Result<LargeSolution, Error> {
        if options.checkpoint.is_some() {
            return Err(Error::Option {
                option: "--checkpoint",
                must: "goes with restarting, pcfr+, pdcfr+ and discounted: sampling has none".to_owned(),
            });
        }
        let sizes = self.large.sizes();
        // The arrays, and two profiles: the one that is rated and the best one.
        let profiles = 16 * sizes.slots.iter().sum::<u64>();
        let needed = sizes.rating_bytes + LargeSampler::bytes(&self.large) + profiles;
        self.fits(needed, "sampling", options.bytes)?;
        let mut run = SampledRun {
            sampler: LargeSampler::new(&self.large, sampling, Seed(options.seed), options.threads),
            solving: self,
            options,
            iterating: Duration::ZERO,
            curve: Vec::new(),
            best: None,
            rated_after: 0,
        };
        run.run(self.default_until(options), progress);
        let name = match sampling {
            LargeSampling::External => "external",
            LargeSampling::Outcome => "outcome",
        };
        let (profile, rating) = run.best.take().unwrap_or_else(|| run.rated_average(&mut |_| {}));
        Ok(LargeSolution {
            how: LargeHow::Iterated(name, run.sampler.iterations()),
            profile,
            rating,
            rated_after: run.rated_after,
            seconds: run.iterating.as_secs_f64(),
            curve: run.curve,
            entries: run.sampler.visits(),
            unsaved: None,
        })
    }
}

/// A sampler at work.
struct SampledRun<'a> {
    sampler: LargeSampler<'a>,
    solving: &'a LargeSolving<'a>,
    options: &'a LargeOptions,
    iterating: Duration,
    curve: Vec<CurvePoint>,
    best: Option<(Profile, LargeRating)>,
    rated_after: u64,
}

impl SampledRun<'_> {
    fn run(&mut self, until: Option<f64>, progress: &mut dyn FnMut(LargeStep)) {
        let most = self.options.iterations.unwrap_or(u64::MAX);
        let time = self.options.time.unwrap_or(Duration::MAX);
        let mut slice = 1;
        let mut next = FIRST_RATING;
        while self.sampler.iterations() < most && self.iterating < time && !self.options.stop.is_raised() {
            let before = Instant::now();
            let done = self.sampler.iterations();
            self.sampler.iterate(slice.min(next - done).min(most - done));
            let took = before.elapsed();
            self.iterating += took;
            slice = if took < SLICE { 2 * slice } else { (slice / 2).max(1) };
            progress(LargeStep::Iterations(self.sampler.iterations(), 0.0));
            // Ratings are made after iterations that depend on nothing else, so that the result does not either.
            if self.sampler.iterations() == next {
                next = next * 3 / 2;
                let gap = self.rate(progress);
                if until.is_some_and(|until| gap <= until) {
                    return;
                }
            }
        }
        if self.rated_after < self.sampler.iterations() {
            self.rate(progress);
        }
    }

    /// The average strategies and what they are worth.
    fn rated_average(&self, progress: &mut dyn FnMut(LargeStep)) -> (Profile, LargeRating) {
        let (threads, stop) = (self.options.threads, &self.options.stop);
        let profile = self.sampler.average();
        let rating = self.solving.large.rate(&profile, threads, stop, &mut |share| {
            progress(LargeStep::Rating(share));
        });
        (profile, rating)
    }

    /// Rates the average strategies, and keeps them if they are the best so far. Returns NashConv of the best.
    fn rate(&mut self, progress: &mut dyn FnMut(LargeStep)) -> f64 {
        let (profile, rating) = self.rated_average(progress);
        let kept = self
            .best
            .as_ref()
            .map_or(f64::INFINITY, |(_, rating)| rating.nash_conv());
        if !rating.complete {
            if self.best.is_none() {
                self.best = Some((profile, rating));
            }
            return kept;
        }
        let iterations = self.sampler.iterations();
        self.rated_after = iterations;
        let nash_conv = kept.min(rating.nash_conv());
        if rating.nash_conv() < kept {
            self.best = Some((profile, rating));
        }
        progress(LargeStep::Rated(iterations, nash_conv));
        self.curve.push(CurvePoint {
            iterations,
            seconds: self.iterating.as_secs_f64(),
            nash_conv,
        });
        nash_conv
    }
}
