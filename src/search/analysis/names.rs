//! Names to parts: `user@example.com`, `poolDayData`, `v3.14.2`, `C++`, `don't`.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::english::is_stop;
use super::fold::{fold, fold_case};
use super::language::Language;
use super::place::{Letter, Piece};
use super::script::{Kind, Script, is_connector, is_ignorable, is_mark, is_skin_tone, is_symbol};
use super::sink::{MAX_TERM_BYTES, Role, Sink, is_flag};
use super::stop;
use super::words::{
    Run, push_cased, push_function, push_piece, push_run, push_word, push_word_of, runs,
};

/// The terms of a normalised text. A name is a stretch of words with nothing but connectors between.
pub(super) fn push_text(text: &str, sink: &mut Sink<'_>) {
    let mut name = String::new();
    for (at, text) in text.split_word_bound_indices() {
        let segment = Piece { text, at };
        if text.contains(char::is_alphanumeric) {
            push_clean(segment, &mut name, sink);
        } else if text.starts_with(is_connector) {
            for (offset, c) in text.char_indices().filter(|(_, c)| is_connector(*c)) {
                sink.trail.note(name.len(), at + offset);
                name.push(c);
            }
        } else if !text.chars().all(is_ignorable) {
            push_names(&name, sink);
            name.clear();
            sink.trail.clear();
            push_picture(segment, sink);
        }
    }
    push_names(&name, sink);
}

/// Adds a word to the name, without what stands for nothing; a space where the word must be cut.
fn push_clean(word: Piece<'_>, name: &mut String, sink: &mut Sink<'_>) {
    let grouped = is_grouped_number(word.text);
    for (offset, c) in word.text.char_indices().filter(|(_, c)| !is_ignorable(*c)) {
        let clean = match c {
            // Between letters only, as UAX 29 has it: `col·lecció`, רו"ח.
            '·' | '\u{0387}' | '"' | '\u{05F3}' | '\u{05F4}' => continue,
            ',' if grouped => continue,
            '\'' if !name.ends_with(|before: char| before.is_ascii_digit()) => c,
            _ if c.is_alphanumeric() || is_mark(c) || is_connector(c) => c,
            _ => ' ',
        };
        sink.trail.note(name.len(), word.at + offset);
        name.push(clean);
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
fn push_picture(segment: Piece<'_>, sink: &mut Sink<'_>) {
    let pictures: Vec<Letter> = segment
        .text
        .char_indices()
        .filter(|(_, c)| (is_symbol(*c) || is_flag(*c)) && !is_skin_tone(*c))
        .map(|(offset, c)| Letter {
            at: segment.at + offset,
            c,
        })
        .collect();
    sink.push_letters(&pictures, Role::Word);
    if pictures.len() > 1 && !pictures.iter().any(|picture| is_flag(picture.c)) {
        for picture in &pictures {
            sink.push_letters(&[*picture], Role::Word);
        }
    }
}

fn push_names(text: &str, sink: &mut Sink<'_>) {
    for name in Piece::new(text).split(' ') {
        push_name(name, sink);
    }
}

/// A part of a name, and the connectors behind it.
struct Part<'a> {
    word: Piece<'a>,
    /// What belongs to the part: `++`, `#`, `+`, `%`.
    suffix: Piece<'a>,
    /// What joins it to the next one.
    link: Piece<'a>,
}

/// The terms of a name: of each part, and of the whole.
fn push_name(name: Piece<'_>, sink: &mut Sink<'_>) {
    let Some(start) = name.text.find(|c| !is_connector(c) && c != '\'') else {
        return;
    };
    if !name.text.contains(is_connector) {
        push_word_part(name.trim('\''), sink);
        return;
    }
    let (lead, mut rest) = name.split_at(start);
    let mut whole = Whole::new(sigil(lead));
    while !rest.text.is_empty() {
        let (part, after) = next_part(rest);
        push_part(&part, sink);
        whole.add(&part);
        if !joins(part.link.text) || after.text.is_empty() {
            whole.finish(sink);
            whole = Whole::new(sigil(part.link));
        }
        rest = after;
    }
}

/// The sign before a name that is part of it: `@me`, `#1`, `$HOME`, `.NET`.
fn sigil(lead: Piece<'_>) -> Piece<'_> {
    if matches!(lead.text, "@" | "#" | "$" | ".") {
        lead
    } else {
        Piece {
            text: "",
            at: lead.end(),
        }
    }
}

/// Whether these connectors join two parts to one name.
fn joins(link: &str) -> bool {
    matches!(link, "::" | "://") || link.len() <= 1
}

/// The first part of the text, which starts with no connector, and what comes behind it.
fn next_part(text: Piece<'_>) -> (Part<'_>, Piece<'_>) {
    let (word, tail) = text.split_at(text.text.find(is_connector).unwrap_or(usize::MAX));
    let word_again = tail.text.find(|c| !is_connector(c));
    let (links, rest) = tail.split_at(word_again.unwrap_or(usize::MAX));
    let (suffix, link) = links.split_at(suffix_len(word.text, links.text, rest.text));
    let word = word.trim('\'');
    (Part { word, suffix, link }, rest)
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
    let suffix = part.suffix.text;
    if !suffix.is_empty() {
        let span = part.word.at..part.suffix.end();
        sink.push(&(fold_whole(part.word.text) + suffix), span, Role::Word);
        if suffix != "%" && part.word.text.chars().nth(1).is_none() {
            return;
        }
    }
    push_word_part(part.word, sink);
}

fn push_word_part(word: Piece<'_>, sink: &mut Sink<'_>) {
    for run in runs(word) {
        match run.kind {
            Kind::Word(script) if run.piece.text.contains('\'') => {
                push_apostrophe(run.piece, script, sink);
            }
            _ => push_run(run, sink),
        }
    }
}

/// A word with an apostrophe: an English contraction, or words that other languages join with it.
fn push_apostrophe(run: Piece<'_>, script: Script, sink: &mut Sink<'_>) {
    let plain = run.text.replace('\'', "");
    if script != Script::Latin {
        push_word(&plain, run.span(), script, sink);
        return;
    }
    if let Some((word, not)) = contraction(run.text) {
        if not && is_stop(&fold(word, script)) {
            push_english(word, run, script, sink);
        } else if run.text.starts_with(word) {
            push_cased(run.split_at(word.len()).0, script, sink);
        } else {
            push_word(word, run.span(), script, sink);
        }
        if not {
            push_english("not", run, script, sink);
        }
        return;
    }
    if begins_elided(run.text, sink.language) {
        push_function(&plain, run.span(), script, sink);
    } else {
        push_word(&plain, run.span(), script, sink);
    }
    let words = run.split('\'');
    for word in words.filter(|word| word.text.chars().nth(1).is_some()) {
        push_piece(word, script, sink);
    }
}

/// Whether a function word of the language comes before the apostrophe, as in `l'homme`: then the whole says no
/// more than the words after it. English has none that end so.
fn begins_elided(text: &str, language: Language) -> bool {
    let language = language.of_latin();
    language != Language::English
        && text.split('\'').next().is_some_and(|word| {
            let folded = fold(word, Script::Latin);
            stop::is_stop(&folded, Script::Latin, word.is_ascii(), language)
        })
}

/// A word of an English contraction: in a store of another language, too, it says no more than there.
fn push_english(word: &str, run: Piece<'_>, script: Script, sink: &mut Sink<'_>) {
    let part = run.split_at(word.len()).0;
    let span = if part.text == word {
        part.span()
    } else {
        run.span()
    };
    push_word_of(Language::English, word, span, script, sink);
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
    /// Where in the name it is.
    span: Range<usize>,
}

impl<'a> Whole<'a> {
    fn new(sigil: Piece<'a>) -> Self {
        Self {
            text: sigil.text.to_owned(),
            parts: usize::from(!sigil.text.is_empty()),
            link: "",
            spaced: true,
            joined: sigil.text.is_empty(),
            script: None,
            span: sigil.span(),
        }
    }

    fn add(&mut self, part: &Part<'a>) {
        let word = fold_whole(part.word.text);
        // Marks without a letter are no part: a name that ended in a connector would look like the start
        // of a word.
        if word.is_empty() && part.suffix.text.is_empty() {
            return;
        }
        for run in runs(part.word) {
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
        let numbers =
            digits(self.text.chars().next_back()) && digits(part.word.text.chars().next());
        self.joined &=
            part.suffix.text.is_empty() && matches!(self.link, "" | "-" | "_") && !numbers;
        if self.parts == 0 {
            self.span.start = part.word.at;
        }
        self.span.end = part.suffix.end();
        self.parts += 1;
        if self.text.len() <= MAX_TERM_BYTES {
            self.text.push_str(self.link);
            self.text.push_str(&word);
            self.text.push_str(part.suffix.text);
        }
        self.link = part.link.text;
    }

    fn finish(self, sink: &mut Sink<'_>) {
        if self.parts < 2 || !self.spaced {
            return;
        }
        match self.script {
            Some(script) if self.joined => {
                let text = self.text.replace(['-', '_'], "");
                push_word(&text, self.span, script, sink);
            }
            _ => sink.push(&self.text, self.span, Role::Word),
        }
    }
}

/// A part of a name as the whole name has it: folded, not stemmed.
fn fold_whole(text: &str) -> String {
    let fold_run = |run: Run<'_>| match run.kind {
        Kind::Word(script) => fold(run.piece.text, script),
        _ => fold_case(run.piece.text),
    };
    runs(Piece::new(&text.replace('\'', "")))
        .into_iter()
        .map(fold_run)
        .collect()
}
