//! `surmise lab list`: the presets, and how long they take.

use crate::commands::JSON_VERSION;
use crate::{output, threads};
use anyhow::Result;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;
use surmise::lab::estimate::MatchTimes;
use surmise::lab::presets::PRESETS;
use surmise::lab::{Size, Spec};

pub fn list(as_json: bool) -> Result<ExitCode> {
    let times = MatchTimes::shipped();
    let cores = threads::all_cores();
    let mut out = String::new();
    for preset in PRESETS {
        let read = |size| Spec::read(preset.name, preset.text, size, &[]);
        let (quick, paper) = (read(Size::Quick)?, read(Size::Paper)?);
        let games = |spec: &Spec| spec.cells.iter().map(|c| c.games).sum::<u64>();
        if as_json {
            let size = |spec: &Spec| -> Value {
                let estimate = times.estimate(spec);
                json!({
                    "games": games(spec), "cells": spec.cells.len(), "cpu_seconds": estimate.seconds,
                    "cells_timed": estimate.known.0,
                })
            };
            output::json(&json!({
                "version": JSON_VERSION,
                "name": preset.name,
                "title": quick.title,
                "paper": quick.paper,
                "quick": size(&quick),
                "full": size(&paper),
                "times": {"measured": times.measured, "machine": times.machine},
            }));
            continue;
        }
        let words = |spec: &Spec| {
            let time = times.estimate(spec).words(cores);
            let time = time.unwrap_or_else(|| "not timed".to_owned());
            format!("{} games in {} cells, {time}", games(spec), spec.cells.len())
        };
        let _ = writeln!(out, "{:16} {}", preset.name, quick.title);
        let _ = writeln!(out, "{:16} {}", "", quick.paper.as_deref().unwrap_or("of no paper"));
        let _ = writeln!(out, "{:16} quick: {}; paper: {}", "", words(&quick), words(&paper));
    }
    if !as_json && !times.seconds.is_empty() {
        let plural = if cores == 1 { "" } else { "s" };
        let _ = writeln!(
            out,
            "\nTimes are those of {cores} core{plural} like those of {}: processor time of a match of each cell, \
             measured on {}\nby `surmise lab time`, times the matches. \"More than\": some cells were not timed.",
            times.machine, times.measured
        );
    }
    output::print(&out);
    Ok(ExitCode::SUCCESS)
}
