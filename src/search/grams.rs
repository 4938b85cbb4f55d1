//! The second stage: the query's words in parts of four letters, counted in a record's text.
//!
//! They find what stemming misses, in any language: another ending, the other half of a compound, a
//! typing error. No index is kept of them; that would be 3.5 times the size.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::analysis::Analysis;
use super::bm25::to_f64;
use super::letters::{Letter, letter};
use super::{FUNCTION_WORDS, K1, MAX_GRAMS, PARTS, READ_BYTES, SHARING};

/// Four letters, or the three of a word of one with its ends.
type Gram = u128;

/// The parts of a query's words.
#[derive(Default)]
pub(super) struct Grams {
    places: HashMap<Gram, usize, BuildHasherDefault<Mix>>,
    /// How much each counts.
    weights: Vec<f64>,
}

/// How often a text has which parts, ascending by their places.
pub(super) type Counts = Vec<(usize, u32)>;

impl Grams {
    /// The parts of the words of a query. Function words count less than others, and come after them.
    pub(super) fn of(query: &str, analysis: Analysis) -> Self {
        let (functions, telling): (Vec<_>, Vec<_>) = words(query).into_iter().partition(|word| {
            let text = word.text;
            text.is_some_and(|text| analysis.is_function_word(text))
        });
        let mut grams = Self::default();
        for (words, share) in [(telling, 1.0), (functions, FUNCTION_WORDS)] {
            for word in words {
                grams.add(&word.grams, share);
            }
        }
        grams
    }

    /// A word of many parts counts more than a short one, but not as many times more.
    fn add(&mut self, word: &[Gram], share: f64) {
        let weight = share * PARTS / to_f64(word.len()).powf(SHARING);
        for gram in word {
            let next = self.weights.len();
            if next == MAX_GRAMS && !self.places.contains_key(gram) {
                continue;
            }
            let place = *self.places.entry(*gram).or_insert(next);
            if place == next {
                self.weights.push(0.0);
            }
            if let Some(sum) = self.weights.get_mut(place) {
                *sum += weight;
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Counts the parts in a record's texts.
    pub(super) fn count(&self, texts: &[&str]) -> Counts {
        let mut counts = vec![0_u32; self.weights.len()];
        for text in texts {
            scan(start(text), |event| {
                let Event::Gram(gram) = event else { return };
                let place = self.places.get(&gram);
                if let Some(count) = place.and_then(|place| counts.get_mut(*place)) {
                    *count = count.saturating_add(1);
                }
            });
        }
        let all = counts.into_iter().enumerate();
        all.filter(|(_, count)| *count > 0).collect()
    }

    /// What each part is worth, by how many of these records have it.
    pub(super) fn worth(&self, records: &[Counts]) -> Vec<f64> {
        let mut having = vec![0_usize; self.weights.len()];
        for (place, _) in records.iter().flatten() {
            if let Some(count) = having.get_mut(*place) {
                *count += 1;
            }
        }
        let all = to_f64(records.len());
        let idf = |having: f64| (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
        let both = self.weights.iter().zip(having);
        both.map(|(weight, having)| weight * idf(to_f64(having)))
            .collect()
    }
}

/// What a record gets of each part that it has.
pub(super) fn parts(counts: &Counts, worth: &[f64], norm: f64) -> Vec<(usize, f64)> {
    let part = |&(place, count): &(usize, u32)| {
        let count = f64::from(count);
        let worth = worth.get(place).copied().unwrap_or_default();
        (place, worth * count * (K1 + 1.0) / (count + norm))
    };
    counts.iter().map(part).collect()
}

/// A word of a query.
struct Word<'a> {
    /// As it was written; `None` for a character that is a word by itself.
    text: Option<&'a str>,
    grams: Vec<Gram>,
}

fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut grams = Vec::new();
    scan(text, |event| match event {
        Event::Gram(gram) => grams.push(gram),
        Event::End(start, end) => words.push(Word {
            text: text.get(start..end).filter(|text| !text.is_empty()),
            grams: std::mem::take(&mut grams),
        }),
    });
    words
}

/// The start of a long text: as much as is read of it.
fn start(text: &str) -> &str {
    let mut ends = (0..=READ_BYTES.min(text.len())).rev();
    let end = ends.find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

enum Event {
    Gram(Gram),
    /// The end of a word, and where it is; nowhere, if it's a single character.
    End(usize, usize),
}

/// What stands before and after a word.
const EDGE: char = '_';

/// The parts of each word of a text, in order: `_tea` and `tea_` of `Tea`.
fn scan(text: &str, mut found: impl FnMut(Event)) {
    let mut word = Window::default();
    for (at, c) in text.char_indices() {
        match letter(c) {
            Letter::Of(c) => word.push(c, at, &mut found),
            Letter::Mark => {}
            Letter::Space => word.end(at, &mut found),
            Letter::Alone(c) => {
                word.end(at, &mut found);
                found(Event::Gram(pushed(0, c)));
                found(Event::End(at, at));
            }
        }
    }
    word.end(text.len(), &mut found);
}

/// The word that is being read.
#[derive(Default)]
struct Window {
    last: Gram,
    letters: usize,
    began: usize,
}

impl Window {
    fn push(&mut self, letter: char, at: usize, found: &mut impl FnMut(Event)) {
        if self.letters == 0 {
            (self.last, self.began) = (pushed(0, EDGE), at);
        }
        self.last = pushed(self.last, letter);
        self.letters += 1;
        if self.letters > 2 {
            found(Event::Gram(self.last));
        }
    }

    fn end(&mut self, at: usize, found: &mut impl FnMut(Event)) {
        if self.letters > 0 {
            found(Event::Gram(pushed(self.last, EDGE)));
            found(Event::End(self.began, at));
            self.letters = 0;
        }
    }
}

/// The last four letters.
fn pushed(last: Gram, letter: char) -> Gram {
    (last << u32::BITS) | Gram::from(u32::from(letter))
}

/// Spreads the bits of the one number that it is given.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The golden ratio, as Fibonacci hashing has it.
        self.0 = (self.0 ^ number)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29);
    }

    fn write_u128(&mut self, number: u128) {
        let [low, high] = [number, number >> u64::BITS].map(|half| half & u128::from(u64::MAX));
        self.write_u64(u64::try_from(low).unwrap_or_default());
        self.write_u64(u64::try_from(high).unwrap_or_default());
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let mut shown = Vec::new();
        scan(text, |event| {
            let Event::Gram(gram) = event else { return };
            let letters = gram.to_be_bytes();
            let letters = letters
                .chunks(4)
                .map(|b| u32::from_be_bytes(b.try_into().unwrap()));
            shown.push(
                letters
                    .filter_map(char::from_u32)
                    .filter(|c| *c != '\0')
                    .collect(),
            );
        });
        shown
    }

    #[test]
    fn a_word_has_parts_of_four_letters() {
        assert_eq!(
            shown("Green tea"),
            ["_gre", "gree", "reen", "een_", "_tea", "tea_"]
        );
        assert_eq!(shown("I’m a-b"), ["_im_", "_a_", "_b_"]);
        assert_eq!(shown("Été"), ["_ete", "ete_"]);
        assert_eq!(shown("部署v2"), ["部", "署", "_v2_"]);
        assert_eq!(shown(" ... "), [""; 0]);
    }

    #[test]
    fn only_the_start_of_a_long_text_is_read() {
        let long = "ä".repeat(READ_BYTES);
        assert_eq!(start(&long).len(), READ_BYTES);
        assert_eq!(start(&format!("a{long}")).len(), READ_BYTES - 1);
        assert_eq!(start("short"), "short");
    }

    #[test]
    fn function_words_come_last_and_count_less() {
        let of = |query| Grams::of(query, Analysis::default()).weights;
        let [tea, what] = [of("tea"), of("what")];
        assert_eq!(of("what tea"), [tea.clone(), what.clone()].concat());
        assert!((what[0] - FUNCTION_WORDS * of("bank")[0]).abs() < 1e-12);
    }

    #[test]
    fn no_function_word_takes_the_place_of_another() {
        let many: Vec<String> = (0..MAX_GRAMS).map(|n| format!("{n:04}x")).collect();
        let many = many.join(" ");
        let with = Grams::of(&format!("what is {many}"), Analysis::default());
        assert_eq!(with.places, Grams::of(&many, Analysis::default()).places);
    }

    #[test]
    fn counts_are_of_the_parts_of_the_query() {
        let grams = Grams::of("tea", Analysis::default());
        assert_eq!(grams.count(&["k", "Tea, teas, steam"]), [(0, 2), (1, 1)]);
    }
}
