//! Embeds every file of `assets/` in the program.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=assets");
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("assets");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .map(|entries| {
            entries
                .flatten()
                .filter_map(|entry| entry.file_name().into_string().ok())
                .collect()
        })
        .unwrap_or_default();
    names.retain(|name| folder.join(name).is_file() && !name.starts_with('.'));
    names.sort();
    let mut code = String::from("&[\n");
    for name in names {
        let path = folder.join(&name);
        let _ = writeln!(
            code,
            "    ({name:?}, include_bytes!({:?})),",
            path.display().to_string()
        );
    }
    code.push_str("]\n");
    let out = Path::new(&env::var("OUT_DIR").expect("set by cargo")).join("assets.rs");
    fs::write(out, code).expect("the output folder can be written");
}
