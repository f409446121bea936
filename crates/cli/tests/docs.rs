//! What README and docs/ say is true: their commands are run, and their output is compared.
//!
//! A block of a page whose lines begin with `$ ` is a session: its commands are run one after the other in a folder of
//! the page's own, and their output, standard output and standard error together, is compared with the lines below
//! them. A line `…` stands for any lines. Times and rates are not compared: numbers with three decimals, and numbers
//! before `s`, `ms`, `M`, `k`, `MiB`, `/s` or `a second`. Other files of a session are made by its own `echo` and
//! `cat` commands, or are the `lisp` and `toml` blocks before it, under the name that the line `; FILE` or `# FILE` at
//! their top says.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use surmise::gdl::{Mode, Options};
use surmise::ground::{AuditOptions, audit};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README and all pages of docs/.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let docs = std::fs::read_dir(root().join("docs")).unwrap();
    pages.extend(
        docs.map(|f| f.unwrap().path())
            .filter(|p| p.extension().is_some_and(|e| e == "md")),
    );
    pages.sort();
    pages
}

/// A fenced block: its kind, and its lines.
struct Block {
    kind: String,
    lines: Vec<String>,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```") {
            let lines = lines.by_ref().take_while(|l| !l.starts_with("```")).map(str::to_owned);
            blocks.push(Block {
                kind: kind.trim().to_owned(),
                lines: lines.collect(),
            });
        }
    }
    blocks
}

/// Programs that a session left running, ended with it.
struct Running(Vec<Child>);

impl Drop for Running {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A command of a session, by the shell, with this program first in its path.
fn shell(command: &str, folder: &Path) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_surmise")).parent().unwrap().to_owned();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("bash");
    shell
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", program.display()))
        .env_remove("SURMISE_SKIPPED")
        .stdin(Stdio::null());
    shell
}

/// A line without what differs from run to run: times, rates, and the width of columns.
fn steady(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let unit = |word: Option<&&str>| {
        let word = word.map_or("", |w| w.trim_matches(|c: char| !c.is_alphanumeric() && c != '/'));
        ["s", "ms", "M", "k", "MiB", "a", "playouts/s"].contains(&word)
    };
    let is_number = |w: &str| {
        let w = w.trim_matches(|c: char| "(),;:".contains(c));
        !w.is_empty()
            && w.chars().all(|c| c.is_ascii_digit() || ".,/".contains(c))
            && w.contains(|c: char| c.is_ascii_digit())
    };
    let three_decimals = |w: &str| {
        let w = w.trim_matches(|c: char| "(),;:".contains(c));
        w.split_once('.')
            .is_some_and(|(_, d)| d.len() == 3 && d.bytes().all(|b| b.is_ascii_digit()))
    };
    let mask = |at: usize| {
        let word = words[at];
        let rate = word.ends_with("/s)") || word.ends_with("/s");
        match is_number(word) && (three_decimals(word) || unit(words.get(at + 1))) || rate {
            true => "#",
            false => word,
        }
    };
    (0..words.len()).map(mask).collect::<Vec<_>>().join(" ")
}

/// Whether the lines of some output are those of a page.
fn agrees(shown: &[String], printed: &[String]) -> bool {
    let Some((first, rest)) = shown.split_first() else {
        return printed.is_empty();
    };
    if first.trim() == "…" {
        return (0..=printed.len()).any(|skip| agrees(rest, &printed[skip..]));
    }
    printed.first().is_some_and(|line| steady(line) == steady(first)) && agrees(rest, &printed[1..])
}

/// Runs the sessions of a page; how many commands there were, and what does not agree.
fn run_page(page: &Path) -> (usize, Vec<String>) {
    let name = page.file_stem().unwrap().to_string_lossy().into_owned();
    let folder = std::env::temp_dir().join(format!("surmise-docs-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut running = Running(Vec::new());
    let (mut commands, mut wrong) = (0, Vec::new());
    for block in blocks(&std::fs::read_to_string(page).unwrap()) {
        let named = block
            .lines
            .first()
            .and_then(|l| l.strip_prefix("; ").or(l.strip_prefix("# ")));
        if let Some(file) = named.filter(|n| n.ends_with(".kif") || n.ends_with(".toml") || n.ends_with(".py")) {
            std::fs::write(folder.join(file), block.lines.join("\n") + "\n").unwrap();
        }
        if !block.lines.first().is_some_and(|line| line.starts_with("$ ")) {
            continue;
        }
        let mut lines = block.lines.iter().peekable();
        while let Some(line) = lines.next() {
            let command = line
                .strip_prefix("$ ")
                .unwrap_or_else(|| panic!("{name}: `{line}` belongs to no command"));
            let command = command.split("   #").next().unwrap().trim();
            let mut shown = Vec::new();
            while let Some(next) = lines.next_if(|l| !l.starts_with("$ ")) {
                shown.push(next.clone());
            }
            commands += 1;
            if let Some(server) = command.strip_suffix('&') {
                let mut server = shell(&format!("exec {server}"), &folder);
                running
                    .0
                    .push(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
                std::thread::sleep(std::time::Duration::from_millis(700));
                continue;
            }
            let output = shell(&format!("{command} 2>&1"), &folder).output().unwrap();
            let printed: Vec<String> = String::from_utf8_lossy(&output.stdout)
                .lines()
                .map(str::to_owned)
                .collect();
            if !agrees(&shown, &printed) {
                wrong.push(format!(
                    "{name}: $ {command}\n--- shown\n{}\n--- printed\n{}\n",
                    shown.join("\n"),
                    printed.join("\n")
                ));
            }
        }
    }
    drop(running);
    std::fs::remove_dir_all(folder).unwrap();
    (commands, wrong)
}

#[test]
fn commands_print_what_the_pages_show() {
    let (mut commands, mut wrong) = (0, Vec::new());
    for page in pages() {
        let (ran, differ) = run_page(&page);
        commands += ran;
        wrong.extend(differ);
    }
    assert!(
        wrong.is_empty(),
        "{} of {commands} commands differ\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(commands >= 10, "only {commands} commands were found");
}

#[test]
fn the_game_of_the_guide_is_clean() {
    let page = std::fs::read_to_string(root().join("docs/write-a-game.md")).unwrap();
    let text: String = blocks(&page)
        .into_iter()
        .filter(|b| b.kind == "lisp")
        .map(|b| b.lines.join("\n") + "\n")
        .collect();
    let strict = Options {
        mode: Mode::Strict,
        ..Options::default()
    };
    let reading = surmise::gdl::read(&text, &strict);
    assert!(reading.diagnostics.is_empty(), "{}", reading.render("write-a-game.md"));
    let audit = audit(&reading.rules, &AuditOptions::default());
    let found = surmise::gdl::lint(&reading);
    assert!(found.is_empty(), "{found:?}");
    assert!(audit.diagnostics.is_empty(), "{:?}", audit.diagnostics);
}

/// Every link of README and docs/ to a file leads to one.
#[test]
fn links_lead_somewhere() {
    for page in pages()
        .into_iter()
        .chain([root().join("ARCHITECTURE.md"), root().join("CONTRIBUTING.md")])
    {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|l| l.split_once(')')) {
            let file = link.0.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            assert!(page.parent().unwrap().join(file).exists(), "{}: {file}", page.display());
        }
    }
}

/// The tables of docs/players.md are those of the program.
#[test]
fn the_list_of_players_is_the_programs() {
    let page = std::fs::read_to_string(root().join("docs/players.md")).unwrap();
    let begin = "<!-- players: made by surmise players --markdown -->\n";
    let (_, rest) = page.split_once(begin).expect("the beginning of the tables");
    let (shown, _) = rest.split_once("<!-- /players -->").expect("the end of the tables");
    let output = Command::new(env!("CARGO_BIN_EXE_surmise"))
        .args(["players", "--markdown"])
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        shown.trim() == printed.trim(),
        "put the output of `surmise players --markdown` into docs/players.md"
    );
}

/// The help of `match` fits a screen or two.
#[test]
fn the_help_of_match_is_short() {
    let output = Command::new(env!("CARGO_BIN_EXE_surmise"))
        .args(["match", "--help"])
        .output()
        .unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(help.lines().count() <= 60, "{} lines", help.lines().count());
}
