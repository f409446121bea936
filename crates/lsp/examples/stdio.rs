//! The language server alone, for measurements without the rest of the program:
//! `benchmarks/editor.py --surmise target/release/examples/stdio RULES.kif`.

fn main() -> std::io::Result<()> {
    surmise_lsp::stdio(&surmise_lsp::ServeOptions::default()).map(|_| ())
}
