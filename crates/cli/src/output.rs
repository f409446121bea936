//! Printing that survives a closed pipe (`surmise games | head -1` must not end in a panic), and colours on terminals.
//! A note or an error that nobody can read is dropped: work goes on, and the exit code stays what it is.

use std::io::{self, IsTerminal, Write};

/// Prints text to standard output. When the reader is gone, the program has nothing left to do.
pub fn print(text: &str) {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let Err(error) = written {
        if error.kind() == io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        self::error(&format!("cannot write the output: {error}"));
        std::process::exit(1);
    }
}

/// Prints a line on standard error, if somebody reads it.
pub fn to_stderr(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints a JSON value on a line.
pub fn json(value: &serde_json::Value) {
    print(&format!("{value}\n"));
}

/// Tells people what was done, on standard error, unless `--quiet` was given.
pub fn note(text: &str) {
    if !crate::progress::is_quiet() {
        to_stderr(&format!("surmise: {text}"));
    }
}

/// Prints an error on standard error.
pub fn error(text: &str) {
    let name = match io::stderr().is_terminal() && colours() {
        true => "\x1b[1;31msurmise:\x1b[0m",
        false => "surmise:",
    };
    to_stderr(&format!("{name} {text}"));
}

fn colours() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Diagnostics as the checker renders them, with coloured severities if standard output is a terminal.
pub fn diagnostics(text: &str) -> String {
    if !io::stdout().is_terminal() || !colours() {
        return text.to_owned();
    }
    let colour = |line: &str| {
        for (word, code) in [
            ("error[", "1;31"),
            ("warning[", "1;33"),
            ("note[", "1;36"),
            ("help:", "1;32"),
        ] {
            let Some(at) = line
                .find(word)
                .filter(|&at| word == "help:" || line[..at].ends_with(": "))
            else {
                continue;
            };
            let end = line[at..].find(']').map_or(at + word.len(), |end| at + end + 1);
            return format!("{}\x1b[{code}m{}\x1b[0m{}", &line[..at], &line[at..end], &line[end..]);
        }
        line.to_owned()
    };
    text.split('\n').map(colour).collect::<Vec<_>>().join("\n")
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
