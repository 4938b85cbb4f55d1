//! What is in this store? A host's tool for the terminal, and a model of how to use the host's API.
//!
//! `cargo run --example inspect -- memory.db`, and `--help` for the views. It opens the file for reading only.

mod run;
mod screen;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use screen::Screen;

fn main() -> ExitCode {
    let is_terminal = io::stdout().is_terminal();
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
    let mut screen = Screen {
        out: Box::new(io::BufWriter::new(io::stdout())),
        err: Box::new(io::stderr()),
        width,
        is_terminal,
        color: is_terminal && !is_dumb && !no_color,
        progress: io::stderr().is_terminal() && !is_dumb,
    };
    let code = run::run(std::env::args_os().skip(1), &mut screen);
    // A reader that has closed the pipe has seen enough.
    drop(screen.out.flush());
    ExitCode::from(code)
}
