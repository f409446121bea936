//! `surmise compliance`: does a player keep the protocol?

use crate::commands::JSON_VERSION;
use crate::{interrupt, output, progress};
use anyhow::{Context, Result};
use serde_json::json;
use std::fmt::Write as _;
use std::process::ExitCode;
use surmise::ggp::compliance::{self, CheckVerdict};
use surmise::ggp::http::Peer;

/// Try whether a GGP player keeps the protocol
///
/// Talks to a player as managers do, well and badly, and says what it did wrong and what to do about it: requests in
/// every form, broken and slow ones, messages of both kinds of games, clocks, retries. The player has to be free, and
/// should be able to play one match at a time. Ends with status 1 if anything failed.
#[derive(clap::Args)]
pub struct Args {
    /// Where the player is: HOST:PORT
    player: String,
    /// It plays GDL-I only: leave out what needs hidden information
    #[arg(long)]
    gdl1: bool,
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let peer = Peer::parse(&args.player);
    let peer = peer.with_context(|| format!("`{}` is not HOST:PORT, such as 127.0.0.1:9147", args.player))?;
    let bar = progress::spinner("trying");
    let stop = interrupt::flag();
    let findings = compliance::run(&peer, !args.gdl1, &stop, &mut |title| {
        bar.set_message(|| title.to_owned())
    });
    bar.finish();
    let failed = findings
        .iter()
        .filter(|f| matches!(f.verdict, CheckVerdict::Failed(_)))
        .count();
    let passed = findings
        .iter()
        .filter(|f| matches!(f.verdict, CheckVerdict::Passed))
        .count();
    let noted = findings
        .iter()
        .filter(|f| matches!(f.verdict, CheckVerdict::Noted(_)))
        .count();
    let mut text = String::new();
    for finding in &findings {
        let (mark, why) = match &finding.verdict {
            CheckVerdict::Passed => ("ok    ", String::new()),
            CheckVerdict::Failed(why) => ("FAILED", format!("\n          {why}\n          {}", finding.advice)),
            CheckVerdict::Noted(why) => ("note  ", format!("\n          {why}\n          {}", finding.advice)),
            CheckVerdict::Skipped(why) => ("--    ", format!(" ({why})")),
        };
        let _ = writeln!(text, "  {mark}  {:>2}  {}{why}", finding.number, finding.title);
    }
    let _ = writeln!(
        text,
        "{peer}: {passed} passed, {failed} failed, {noted} noted, {} left out",
        findings.len() - passed - failed - noted
    );
    let value = json!({
        "version": JSON_VERSION,
        "player": peer.to_string(),
        "failed": failed,
        "checks": findings.iter().map(finding_json).collect::<Vec<_>>(),
    });
    output::print(&if args.json { format!("{value}\n") } else { text });
    Ok(if failed > 0 || passed == 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn finding_json(finding: &compliance::Finding) -> serde_json::Value {
    let (verdict, why) = match &finding.verdict {
        CheckVerdict::Passed => ("passed", ""),
        CheckVerdict::Failed(why) => ("failed", why.as_str()),
        CheckVerdict::Noted(why) => ("noted", why.as_str()),
        CheckVerdict::Skipped(why) => ("skipped", why.as_str()),
    };
    json!({"number": finding.number, "title": finding.title, "verdict": verdict, "why": why, "advice": finding.advice})
}
