//! What is in this store? A host's tool for the terminal, and a model of how to use the host's API.
//!
//! `cargo run --example inspect -- memory.db`, and `--help` for the views. It opens the file for reading only.

mod run;
mod screen;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use screen::{Looks, Screen};

fn main() -> ExitCode {
    let is_terminal = io::stdout().is_terminal();
    let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
    let mut screen = Screen {
        out: Box::new(io::BufWriter::new(io::stdout())),
        err: Box::new(io::stderr()),
        width,
        is_terminal,
        looks: Looks::of(
            (is_terminal, io::stderr().is_terminal()),
            std::env::var_os("TERM").as_deref(),
            std::env::var_os("NO_COLOR").as_deref(),
        ),
    };
    ExitCode::from(run::run(std::env::args_os().skip(1), &mut screen))
}
