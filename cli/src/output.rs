//! Standard output: one text, written at once, and what is too long for one.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

use interloper_report::text::Style;

use crate::answer::Rest;
use crate::args::Color;
use crate::failure::Failure;

/// Writes the result. A reader that has gone away has seen what it wanted.
pub fn print(text: &str, rest: Option<Rest>) -> Result<(), Failure> {
    // Not the buffer of standard output itself, which is written at every end of a line.
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = out.write_all(text.as_bytes()).and_then(|()| rest.map_or(Ok(()), |rest| rest(&mut out)));
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Request(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line for the person at the terminal. Nothing is left to do when that fails.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// How to draw on standard output. Only a terminal has a width to keep to.
pub fn style(color: Color) -> Style {
    let terminal = io::stdout().is_terminal();
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let width = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    Style {
        color: match color {
            Color::Auto => terminal && wanted,
            Color::Always => true,
            Color::Never => false,
        },
        width,
    }
}
