//! Printing that survives a closed pipe: `surmise games | head -1` must not end in a panic.

use std::io::{self, Write};

/// Prints text to standard output. When the reader has gone, the program has nothing left to do.
pub fn print(text: &str) {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let Err(error) = written {
        if error.kind() == io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        eprintln!("surmise: cannot write the output: {error}");
        std::process::exit(1);
    }
}

/// Wraps prose at 96 columns, each line after `indent` blanks.
pub fn wrap(text: &str, indent: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column == 0 {
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if column + 1 + width > 96 {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out.push('\n');
    out
}
