//! Limits of the work on one input.

use std::sync::atomic::{AtomicU64, Ordering};
use surmise::engine::{EngineKind, EngineOptions};
use surmise::game::StopFlag;
use surmise::ground::{EvaluationLimits, Limits};

/// A flag that is raised after so many looks at it.
pub fn looks(most: u64) -> StopFlag {
    let seen = AtomicU64::new(0);
    StopFlag::by(move || match seen.fetch_add(1, Ordering::Relaxed) < most {
        true => 0.0,
        false => 1.0,
    })
}

/// Limits of grounding that keep an input cheap.
pub fn grounding() -> Limits {
    Limits {
        instances: 1_000,
        bytes: 8 << 20,
        stop: looks(20_000),
        ..Limits::default()
    }
}

/// Limits of the reference simulator that keep an input cheap.
pub fn evaluation() -> EvaluationLimits {
    EvaluationLimits {
        atoms: 5_000,
        size: 1_000,
        state: 5_000,
        steps: 20_000,
        ..EvaluationLimits::default()
    }
}

/// A reference engine for untrusted rules.
pub fn reference() -> EngineOptions {
    EngineOptions {
        kind: EngineKind::Reference,
        evaluation: evaluation(),
        evaluation_stop: looks(100_000),
        ..EngineOptions::default()
    }
}
