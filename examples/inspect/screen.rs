//! What reaches the terminal: no character of a memory that could steer it, and no line wider than it is.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::Range;

use serde_json::Value;
use unicode_width::UnicodeWidthChar as _;

/// Where the output goes.
pub(crate) struct Screen {
    pub(crate) out: Box<dyn Write>,
    pub(crate) err: Box<dyn Write>,
    pub(crate) width: usize,
    pub(crate) is_terminal: bool,
    pub(crate) looks: Looks,
}

/// What may go to a terminal besides text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Looks {
    pub(crate) color: bool,
    pub(crate) progress: bool,
}

impl Looks {
    /// By whether output and messages go to a terminal, and what `TERM` and `NO_COLOR` say.
    pub(crate) fn of(
        (out, err): (bool, bool),
        term: Option<&OsStr>,
        no_color: Option<&OsStr>,
    ) -> Self {
        let is_dumb = term.is_some_and(|term| term == "dumb");
        let no_color = no_color.is_some_and(|value| !value.is_empty());
        Self {
            color: out && !is_dumb && !no_color,
            progress: err && !is_dumb,
        }
    }
}

/// How a text looks: the parameter of the escape sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style(&'static str);

pub(crate) const PLAIN: Style = Style("");
pub(crate) const DIM: Style = Style("2");
pub(crate) const BOLD: Style = Style("1");
pub(crate) const MATCH: Style = Style("1;33");
pub(crate) const GOOD: Style = Style("32");
pub(crate) const BAD: Style = Style("1;31");

/// The colour of a level, by its name.
pub(crate) fn of_level(level: &str) -> Style {
    match level {
        "PUBLIC" => Style("32"),
        "INTERNAL" => Style("36"),
        "CONFIDENTIAL" => Style("33"),
        _ => Style("31"),
    }
}

/// A piece of a line.
pub(crate) type Piece = (Style, String);

/// Whether a terminal would act on the character, hide it, or turn the text's direction by it.
fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text with every such character written as Rust writes it.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hostile(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// The text in pieces, those at the ranges marked.
pub(crate) fn marked(text: &str, ranges: &[Range<usize>]) -> Vec<Piece> {
    let (mut pieces, mut at) = (Vec::new(), 0);
    for range in ranges {
        let parts = (text.get(at..range.start), text.get(range.clone()));
        if let (Some(before), Some(found)) = parts {
            pieces.push((PLAIN, escaped(before)));
            pieces.push((MATCH, escaped(found)));
            at = range.end;
        }
    }
    pieces.push((PLAIN, escaped(text.get(at..).unwrap_or_default())));
    pieces
}

fn width_of(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The end of the text that fits the width.
fn end_of(text: &str, width: usize) -> &str {
    let (mut at, mut left) = (text.len(), width);
    for (start, c) in text.char_indices().rev() {
        let Some(rest) = left.checked_sub(c.width().unwrap_or(0)) else {
            break;
        };
        (at, left) = (start, rest);
    }
    text.get(at..).unwrap_or_default()
}

/// The pieces as far as they fit, with a mark where they don't.
fn cut(pieces: &[Piece], width: usize) -> Vec<Piece> {
    let whole: usize = pieces.iter().map(|(_, text)| width_of(text)).sum();
    if whole <= width {
        return pieces.to_vec();
    }
    let mut left = width.saturating_sub(1);
    let mut kept = Vec::new();
    'pieces: for (style, text) in pieces {
        let mut part = String::new();
        for c in text.chars() {
            let Some(rest) = left.checked_sub(c.width().unwrap_or(0)) else {
                kept.push((*style, part));
                break 'pieces;
            };
            left = rest;
            part.push(c);
        }
        kept.push((*style, part));
    }
    kept.push((DIM, "…".into()));
    kept
}

impl Screen {
    /// A line, cut to the terminal's width.
    pub(crate) fn line(&mut self, pieces: &[Piece]) -> io::Result<()> {
        let width = if self.is_terminal {
            self.width
        } else {
            usize::MAX
        };
        for (style, text) in cut(pieces, width) {
            if self.looks.color && style != PLAIN && !text.is_empty() {
                write!(self.out, "\u{1b}[{}m{text}\u{1b}[0m", style.0)?;
            } else {
                write!(self.out, "{text}")?;
            }
        }
        writeln!(self.out)
    }

    /// A key or name as it is in a line, of which it leaves half to what follows.
    pub(crate) fn name(&self, style: Style, text: &str) -> Vec<Piece> {
        let width = if self.is_terminal {
            self.width / 2
        } else {
            usize::MAX
        };
        cut(&[(style, escaped(text))], width)
    }

    /// A line whose first match is in sight: where it would be cut off, the text before it gives way.
    pub(crate) fn line_with_first_match(
        &mut self,
        indent: &str,
        pieces: Vec<Piece>,
    ) -> io::Result<()> {
        let mut line = vec![(PLAIN, indent.to_owned())];
        line.extend(pieces);
        let room = self.width / 2;
        let before = line.iter().take_while(|(style, _)| *style != MATCH);
        let before: usize = before.map(|(_, text)| width_of(text)).sum();
        if self.is_terminal
            && before > room
            && let Some((_, text)) = line.get_mut(1)
        {
            let end = end_of(text, room.saturating_sub(width_of(indent) + 1));
            *text = format!("…{end}");
        }
        self.line(&line)
    }

    /// A table. Columns whose head starts with a space are set to the right; the first gives way where the
    /// terminal is narrow.
    pub(crate) fn table(&mut self, head: &[&str], rows: &[Vec<Piece>]) -> io::Result<()> {
        let mut widths: Vec<usize> = head.iter().map(|name| width_of(name)).collect();
        for row in rows {
            for (width, (_, text)) in widths.iter_mut().zip(row) {
                *width = (*width).max(width_of(text));
            }
        }
        if let Some((first, rest)) = widths.split_first_mut() {
            let others: usize = rest.iter().map(|width| width + 2).sum();
            *first = (*first).min(self.width.saturating_sub(others).max(12));
        }
        let names = head.iter().map(|name| (DIM, (*name).to_owned())).collect();
        for row in std::iter::once(&names).chain(rows) {
            let line = laid_out(head, &widths, row);
            self.line(&line)?;
        }
        Ok(())
    }

    /// One JSON value as a line, in which what could steer a terminal is escaped.
    pub(crate) fn json(&mut self, value: &Value) -> io::Result<()> {
        let mut line = String::new();
        for c in value.to_string().chars() {
            if is_hostile(c) {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a `String` never fails.
                    let _: std::fmt::Result = write!(line, "\\u{unit:04x}");
                }
            } else {
                line.push(c);
            }
        }
        writeln!(self.out, "{line}")
    }

    /// A message beside the output, after what there is of it.
    pub(crate) fn say(&mut self, text: &str) -> io::Result<()> {
        let flushed = self.out.flush();
        writeln!(self.err, "inspect: {}", escaped(text))?;
        flushed
    }

    /// Says beside JSON lines that they aren't all.
    pub(crate) fn left_out(&mut self, limit: usize, total: usize) -> io::Result<()> {
        if total > limit {
            self.say(&format!("{limit} of {total} (--limit)"))?;
        }
        Ok(())
    }

    /// Says what takes long, and takes it away when it is done.
    pub(crate) fn during<T>(&mut self, what: &str, work: impl FnOnce() -> T) -> T {
        if self.looks.progress {
            drop(write!(self.err, "{what} …").and_then(|()| self.err.flush()));
        }
        let done = work();
        if self.looks.progress {
            drop(write!(self.err, "\r\u{1b}[K"));
        }
        done
    }
}

fn laid_out(head: &[&str], widths: &[usize], row: &[Piece]) -> Vec<Piece> {
    let mut line = Vec::new();
    for ((name, width), piece) in head.iter().zip(widths).zip(row) {
        let cell = cut(std::slice::from_ref(piece), *width);
        let taken: usize = cell.iter().map(|(_, text)| width_of(text)).sum();
        let pad = " ".repeat(width.saturating_sub(taken));
        if name.starts_with(' ') {
            line.push((PLAIN, pad));
            line.extend(cell);
        } else {
            line.extend(cell);
            line.push((PLAIN, pad));
        }
        line.push((PLAIN, "  ".into()));
    }
    line.pop();
    line
}
