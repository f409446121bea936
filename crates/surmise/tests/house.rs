//! Rules of the house that the compiler does not check.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// All files of the project's own with one of these endings.
fn files(endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let skipped = name.starts_with('.') || ["target", "node_modules", "lab-results"].contains(&name.as_str());
            match path.is_dir() {
                true if !skipped => folders.push(path),
                false if endings.iter().any(|e| name.ends_with(e)) => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    assert!(found.len() > 10, "only {} files with {endings:?}", found.len());
    found
}

/// The source files of the crates below the program, without their tests.
fn library_sources() -> Vec<(PathBuf, String)> {
    let below = |path: &PathBuf| {
        let path = path.to_string_lossy().into_owned();
        path.contains("/src/") && path.contains("/crates/") && !path.contains("/crates/cli/")
    };
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned();
        (path, text)
    };
    let sources: Vec<_> = files(&[".rs"]).into_iter().filter(below).map(read).collect();
    assert!(sources.len() > 150, "only {} files", sources.len());
    sources
}

/// Crates below the binary parse no command lines, print nothing and have errors of their own.
#[test]
fn libraries_use_no_clap_no_anyhow_and_print_nothing() {
    for manifest in files(&["Cargo.toml"]) {
        let path = manifest.to_string_lossy().into_owned();
        if !path.contains("/crates/") || path.contains("/crates/cli/") {
            continue;
        }
        let text = std::fs::read_to_string(&manifest).unwrap();
        for word in ["clap", "anyhow", "indicatif", "ctrlc"] {
            let used = text.lines().any(|l| l.starts_with(word));
            assert!(!used, "{path} depends on {word}");
        }
    }
    for (path, text) in library_sources() {
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap();
            for word in ["println!", "eprintln!", "print!(", "dbg!(", "std::process::exit"] {
                let place = format!("{}:{}", path.display(), number + 1);
                assert!(!code.contains(word), "{place}: {word} in a library");
            }
        }
    }
}

/// Lines of code and text end at 120 columns; tables, addresses and generated reports may be wider.
#[test]
fn lines_fit() {
    let mut wide = Vec::new();
    for path in files(&[".rs", ".md"]) {
        let name = path.to_string_lossy().into_owned();
        if [
            "/benchmarks/lab/",
            "/benchmarks/lab-paper/",
            "/benchmarks/runs/",
            "/testdata/",
        ]
        .iter()
        .any(|f| name.contains(f))
        {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut in_string = false;
        for (number, line) in text.lines().enumerate() {
            let is_table = line
                .trim_start()
                .trim_start_matches("//!")
                .trim_start_matches("///")
                .trim_start()
                .starts_with('|');
            let is_data = line.contains("(<= ")
                || line.contains("(role ")
                || line.contains("(ROLE ")
                || line.contains("\\n")
                || line.contains("http");
            // The text of a raw string, such as XML in a test, cannot be wrapped.
            match in_string {
                true => in_string = !line.contains("\"#"),
                false => in_string = line.split("r#\"").nth(1).is_some_and(|rest| !rest.contains("\"#")),
            }
            if line.chars().count() > 120 && !is_table && !is_data && !in_string {
                wide.push(format!("{name}:{}", number + 1));
            }
        }
    }
    assert!(
        wide.is_empty(),
        "{} lines are wider than 120 columns:\n{}",
        wide.len(),
        wide.join("\n")
    );
}

/// Nothing refers to documents that readers of the project do not have.
#[test]
fn no_reference_leads_out_of_the_tree() {
    let forbidden = [
        ["language ", "reference"].concat(),
        ["targets", ".md"].concat(),
        ["shared/", "design"].concat(),
        ["shared/", "decisions"].concat(),
    ];
    for path in files(&[".rs", ".md", ".py", ".kif"]) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for word in &forbidden {
            assert!(!text.contains(word.as_str()), "{}: {word}", path.display());
        }
        let numbered = ["(decision ", ", decision ", "decision §"].iter().any(|d| {
            text.match_indices(d)
                .any(|(at, _)| text[at + d.len()..].starts_with(|c: char| c.is_ascii_digit()))
        });
        assert!(!numbered, "{}: a decision by its number", path.display());
    }
}

/// Every dependency from a registry has its reason on a page.
#[test]
fn every_dependency_has_a_reason() {
    let page = std::fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    let mut seen = 0;
    for manifest in files(&["Cargo.toml"]) {
        if manifest.to_string_lossy().contains("/benchmarks/") {
            continue;
        }
        let text = std::fs::read_to_string(&manifest).unwrap();
        for line in text.lines() {
            let named = line.split_once(" = ").filter(|(_, value)| {
                let is_version = value.starts_with('"') && value.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
                is_version || value.starts_with("{ version = \"") && !value.contains("path = ")
            });
            let Some((name, _)) = named else { continue };
            if ["version", "edition", "rust-version", "resolver"].contains(&name) {
                continue;
            }
            seen += 1;
            assert!(
                page.contains(&format!("`{name}`")),
                "docs/dependencies.md has no reason for {name}"
            );
        }
    }
    assert!(seen > 20, "only {seen} dependencies were found");
}
