//! The commit that the program is built from, for reports.

use std::process::Command;

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn main() {
    let mut commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
    if !commit.is_empty()
        && git(&["status", "--porcelain", "--untracked-files=no", ".."]).is_some_and(|s| !s.is_empty())
    {
        commit += " with changes";
    }
    println!("cargo::rustc-env=SURMISE_COMMIT={commit}");
    // The commit, and all sources: whether there are changes has to be asked again when one of them changes.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rerun-if-changed=..");
}
