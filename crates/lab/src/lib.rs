//! Experiments: many matches, their statistics, and reports that set the papers' figures beside ours.
//!
//! The lab knows neither games nor players; both are passed in by whoever opens it. The one exception are the [`opponents`]
//! that the papers wrote by hand for single games, which are part of their experiments and of nothing else.

pub mod opponents;
