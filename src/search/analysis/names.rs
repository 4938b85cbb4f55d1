//! Names to parts: `user@example.com`, `poolDayData`, `v3.14.2`, `C++`, `don't`.

use unicode_segmentation::UnicodeSegmentation;

use super::fold::{fold, fold_case};
use super::script::{Kind, Script, is_connector, is_ignorable, is_mark, is_skin_tone, is_symbol};
use super::sink::{MAX_TERM_BYTES, Sink, is_flag};
use super::words::{Run, push_cased, push_run, push_word, runs};

/// The terms of a normalised text. A name is a stretch of words with nothing but connectors between.
pub(super) fn push_text(text: &str, sink: &mut Sink<'_>) {
    let mut name = String::new();
    for segment in text.split_word_bounds() {
        if segment.contains(char::is_alphanumeric) {
            push_clean(segment, &mut name);
        } else if segment.starts_with(is_connector) {
            name.extend(segment.chars().filter(|c| is_connector(*c)));
        } else if !segment.chars().all(is_ignorable) {
            push_names(&name, sink);
            name.clear();
            push_picture(segment, sink);
        }
    }
    push_names(&name, sink);
}

/// Adds a word to the name, without what stands for nothing; a space where the word must be cut.
fn push_clean(word: &str, name: &mut String) {
    let grouped = is_grouped_number(word);
    for c in word.chars().filter(|c| !is_ignorable(*c)) {
        match c {
            // Between letters only, as UAX 29 has it: `col·lecció`, רו"ח.
            '·' | '\u{0387}' | '"' | '\u{05F3}' | '\u{05F4}' => {}
            ',' if grouped => {}
            '\'' if !name.ends_with(|before: char| before.is_ascii_digit()) => name.push(c),
            _ if c.is_alphanumeric() || is_mark(c) || is_connector(c) => name.push(c),
            _ => name.push(' '),
        }
    }
}

/// Whether this is a number as `1,000,000`.
fn is_grouped_number(word: &str) -> bool {
    let mut groups = word.split(',');
    let digits = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    let first = groups
        .next()
        .is_some_and(|g| (1..=3).contains(&g.len()) && digits(g));
    first && groups.all(|group| group.len() == 3 && digits(group))
}

/// An emoji, whole and in its parts, without colour; a flag.
fn push_picture(segment: &str, sink: &mut Sink<'_>) {
    let pictures: Vec<char> = segment
        .chars()
        .filter(|c| (is_symbol(*c) || is_flag(*c)) && !is_skin_tone(*c))
        .collect();
    sink.push_chars(&pictures);
    if pictures.len() > 1 && !pictures.iter().copied().any(is_flag) {
        for picture in &pictures {
            sink.push_chars(&[*picture]);
        }
    }
}

fn push_names(text: &str, sink: &mut Sink<'_>) {
    for name in text.split(' ') {
        push_name(name, sink);
    }
}

/// A part of a name, and the connectors behind it.
struct Part<'a> {
    text: &'a str,
    /// What belongs to the part: `++`, `#`, `+`, `%`.
    suffix: &'a str,
    /// What joins it to the next one.
    link: &'a str,
}

impl<'a> Part<'a> {
    fn alone(text: &'a str) -> Self {
        Self {
            text: text.trim_matches('\''),
            suffix: "",
            link: "",
        }
    }
}

/// The terms of a name: of each part, and of the whole.
fn push_name(name: &str, sink: &mut Sink<'_>) {
    let Some(start) = name.find(|c| !is_connector(c) && c != '\'') else {
        return;
    };
    if !name.contains(is_connector) {
        push_part(&Part::alone(name), sink);
        return;
    }
    let (lead, mut rest) = name.split_at_checked(start).unwrap_or_default();
    let mut whole = Whole::new(sigil(lead));
    while !rest.is_empty() {
        let (part, after) = next_part(rest);
        push_part(&part, sink);
        whole.add(&part);
        if !joins(part.link) || after.is_empty() {
            whole.finish(sink);
            whole = Whole::new(sigil(part.link));
        }
        rest = after;
    }
}

/// The sign before a name that is part of it: `@me`, `#1`, `$HOME`, `.NET`.
fn sigil(lead: &str) -> &str {
    if matches!(lead, "@" | "#" | "$" | ".") {
        lead
    } else {
        ""
    }
}

/// Whether these connectors join two parts to one name.
fn joins(link: &str) -> bool {
    matches!(link, "::" | "://") || link.len() <= 1
}

/// The first part of the text, which starts with no connector, and what comes behind it.
fn next_part(text: &str) -> (Part<'_>, &str) {
    let split = |text, at: Option<usize>| {
        at.and_then(|at| str::split_at_checked(text, at))
            .unwrap_or((text, ""))
    };
    let (word, tail) = split(text, text.find(is_connector));
    let (links, rest) = split(tail, tail.find(|c| !is_connector(c)));
    let (suffix, link) = split(links, Some(suffix_len(word, links, rest)));
    let part = Part {
        text: word.trim_matches('\''),
        suffix,
        link,
    };
    (part, rest)
}

/// How many of the connectors behind a word are part of it.
fn suffix_len(word: &str, links: &str, rest: &str) -> usize {
    if links.starts_with("++") {
        let joins_words = links == "++" && rest.starts_with(char::is_alphabetic);
        return if joins_words { 0 } else { 2 };
    }
    let ends = rest.is_empty() || links.len() > 1;
    let fits = match links.chars().next() {
        Some('+' | '#') => word.chars().nth(1).is_none(),
        Some('%') => word.bytes().all(|b| b.is_ascii_digit()),
        _ => false,
    };
    usize::from(ends && fits)
}

/// The terms of a part: `c++` of `C++`, where `c` would be another language.
fn push_part(part: &Part<'_>, sink: &mut Sink<'_>) {
    if !part.suffix.is_empty() {
        sink.push(&(fold_whole(part.text) + part.suffix), false);
        if part.suffix != "%" && part.text.chars().nth(1).is_none() {
            return;
        }
    }
    for run in runs(part.text) {
        match run.kind {
            Kind::Word(script) if run.text.contains('\'') => {
                push_apostrophe(run.text, script, sink);
            }
            _ => push_run(run, sink),
        }
    }
}

/// A word with an apostrophe: an English contraction, or words that other languages join with it.
fn push_apostrophe(text: &str, script: Script, sink: &mut Sink<'_>) {
    let plain = text.replace('\'', "");
    if script != Script::Latin {
        push_word(&plain, script, sink);
        return;
    }
    if let Some((word, not)) = contraction(text) {
        push_cased(word, script, sink);
        if not {
            push_word("not", script, sink);
        }
        return;
    }
    push_word(&plain, script, sink);
    for word in text
        .split('\'')
        .filter(|word| word.chars().nth(1).is_some())
    {
        push_word(word, script, sink);
    }
}

/// The word of an English contraction, and whether it is negated.
fn contraction(text: &str) -> Option<(&str, bool)> {
    let (word, ending) = text.rsplit_once('\'')?;
    if word.contains('\'') {
        return None;
    }
    if ending.eq_ignore_ascii_case("t") {
        return negated(word).map(|word| (word, true));
    }
    ["s", "re", "ve", "ll", "d", "m"]
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
        .then_some((word, false))
}

/// The verb of `don't`, given `don`.
fn negated(word: &str) -> Option<&str> {
    match word.to_ascii_lowercase().as_str() {
        "ain" => Some("be"),
        "can" => Some("can"),
        "won" => Some("will"),
        "shan" => Some("shall"),
        _ => word.strip_suffix(['n', 'N']),
    }
}

/// A name as a whole, as far as it fits a term.
struct Whole<'a> {
    text: String,
    parts: usize,
    /// What joins the next part.
    link: &'a str,
    /// Whether it is words of alphabets and digits only.
    spaced: bool,
    /// Whether it is `user-name` or `user_name`, which is `username` as well.
    joined: bool,
    script: Option<Script>,
}

impl<'a> Whole<'a> {
    fn new(sigil: &'a str) -> Self {
        Self {
            text: sigil.to_owned(),
            parts: usize::from(!sigil.is_empty()),
            link: "",
            spaced: true,
            joined: sigil.is_empty(),
            script: None,
        }
    }

    fn add(&mut self, part: &Part<'a>) {
        for run in runs(part.text) {
            match run.kind {
                Kind::Digits => {}
                Kind::Word(script) => {
                    self.joined &= self.script.is_none_or(|before| before == script);
                    self.script = Some(script);
                }
                _ => self.spaced = false,
            }
        }
        let digits = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let numbers = digits(self.text.chars().next_back()) && digits(part.text.chars().next());
        self.joined &= part.suffix.is_empty() && matches!(self.link, "" | "-" | "_") && !numbers;
        self.parts += 1;
        if self.text.len() <= MAX_TERM_BYTES {
            self.text.push_str(self.link);
            self.text.push_str(&fold_whole(part.text));
            self.text.push_str(part.suffix);
        }
        self.link = part.link;
    }

    fn finish(self, sink: &mut Sink<'_>) {
        if self.parts < 2 || !self.spaced {
            return;
        }
        match self.script {
            Some(script) if self.joined => {
                push_word(&self.text.replace(['-', '_'], ""), script, sink);
            }
            _ => sink.push(&self.text, false),
        }
    }
}

/// A part of a name as the whole name has it: folded, not stemmed.
fn fold_whole(text: &str) -> String {
    let fold_run = |run: Run<'_>| match run.kind {
        Kind::Word(script) => fold(run.text, script),
        _ => fold_case(run.text),
    };
    runs(&text.replace('\'', ""))
        .into_iter()
        .map(fold_run)
        .collect()
}
