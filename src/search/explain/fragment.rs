//! Which passages of a text to show, and what in them to mark.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::{Explanation, Fragment};

/// A word of the query in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) range: Range<usize>,
    /// The number of the word.
    pub(super) word: usize,
}

/// Where a text may be cut, in ascending order, its ends included.
pub(super) struct Bounds(Vec<usize>);

impl Bounds {
    pub(super) fn of_graphemes(text: &str) -> Self {
        let starts = text.grapheme_indices(true).map(|(at, _)| at);
        Self(starts.chain([text.len()]).collect())
    }

    /// Between words, but not within a grapheme, as the rules for words alone would in Thai.
    fn of_words(text: &str, graphemes: &Self) -> Self {
        let starts = text.split_word_bound_indices().map(|(at, _)| at);
        let ends = starts.chain([text.len()]);
        let whole = |at: &usize| graphemes.0.binary_search(at).is_ok();
        Self(ends.filter(whole).collect())
    }

    /// The last one that isn't after this place.
    fn before(&self, at: usize) -> usize {
        let after = self.0.partition_point(|bound| *bound <= at);
        let last = after.checked_sub(1).and_then(|last| self.0.get(last));
        last.copied().unwrap_or_default()
    }

    /// The first one that isn't before this place.
    fn after(&self, at: usize) -> usize {
        let first = self.0.get(self.0.partition_point(|bound| *bound < at));
        first.or(self.0.last()).copied().unwrap_or_default()
    }

    /// The range, widened to whole stretches between these places.
    pub(super) fn around(&self, range: &Range<usize>) -> Range<usize> {
        self.before(range.start)..self.after(range.end)
    }
}

/// The places of ascending matches in a text, widened to graphemes and joined.
pub(super) fn marked(text: &str, matches: &[Match]) -> Vec<Range<usize>> {
    if matches.is_empty() {
        return Vec::new();
    }
    let graphemes = Bounds::of_graphemes(text);
    let ranges = matches.iter();
    join(ranges.map(|found| graphemes.around(&found.range)))
}

/// Joins what overlaps or touches, of ranges in ascending order of their starts.
fn join(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// The passages of a text that show most of so many words. The matches ascend.
pub(super) fn fragments(text: &str, matches: &[Match], words: usize) -> Vec<Fragment> {
    if matches.is_empty() {
        return Vec::new();
    }
    let graphemes = Bounds::of_graphemes(text);
    let cuts = Bounds::of_words(text, &graphemes);
    let matches = widened(matches, &graphemes);
    let mut shown = vec![false; words];
    let mut fragments: Vec<Fragment> = Vec::new();
    // The stretches between the fragments that there are.
    let whole = 0..text.len();
    let mut gaps = vec![whole];
    while fragments.len() < Explanation::MAX_FRAGMENTS {
        let windows = gaps.iter().enumerate();
        let windows = windows.filter_map(|(at, gap)| best_window(&matches, gap, &shown, at));
        let Some(best) = windows.reduce(better).filter(|best| best.worth.0 > 0) else {
            break;
        };
        let Some(gap) = gaps.get(best.gap).cloned() else {
            break;
        };
        let range = grow(text, &best.range, &gap, &cuts);
        let fragment = fragment(&matches, range, &mut shown);
        let around = [gap.start..fragment.range.start, fragment.range.end..gap.end];
        gaps.splice(best.gap..=best.gap, around);
        fragments.push(fragment);
    }
    fragments.sort_by_key(|fragment| fragment.range.start);
    fragments
}

/// The matches on boundaries of graphemes, none longer than a fragment.
fn widened(matches: &[Match], graphemes: &Bounds) -> Vec<Match> {
    let widen = |found: &Match| {
        let range = graphemes.around(&found.range);
        let longest = range.start.saturating_add(Explanation::MAX_FRAGMENT_BYTES);
        let end = range.end.min(graphemes.before(longest));
        // A single grapheme may be longer than that.
        (end > range.start).then_some(Match {
            range: range.start..end,
            word: found.word,
        })
    };
    matches.iter().filter_map(widen).collect()
}

/// Matches that fit one fragment.
#[derive(Clone)]
struct Window {
    range: Range<usize>,
    /// How many words it has that no fragment shows yet, how many words, and how many matches.
    worth: (usize, usize, usize),
    /// The number of the gap that it is in.
    gap: usize,
}

/// The one with more to show; the first of equals.
fn better(first: Window, second: Window) -> Window {
    if second.worth > first.worth {
        second
    } else {
        first
    }
}

/// The best window of the matches within a gap. Each match is the first of one, with those behind it
/// that fit.
fn best_window(matches: &[Match], gap: &Range<usize>, shown: &[bool], at: usize) -> Option<Window> {
    let inside = |found: &&Match| gap.start <= found.range.start && found.range.end <= gap.end;
    let matches: Vec<&Match> = matches.iter().filter(inside).collect();
    let mut tally = Tally::new(shown);
    let mut best = (0..0, (0, 0, 0));
    let mut end = 0;
    for (start, first) in matches.iter().enumerate() {
        let limit = first.range.start + Explanation::MAX_FRAGMENT_BYTES;
        let behind = matches.iter().skip(end);
        for found in behind.take_while(|found| found.range.end <= limit) {
            tally.add(found.word);
            end += 1;
        }
        let worth = (tally.new, tally.words, end - start);
        if worth > best.1 {
            best = (start..end, worth);
        }
        tally.remove(first.word);
    }
    let (range, worth) = best;
    let best = matches.get(range)?;
    let last = best.iter().map(|found| found.range.end).max()?;
    let range = best.first()?.range.start..last;
    Some(Window {
        range,
        worth,
        gap: at,
    })
}

/// How often each word is in a window.
struct Tally<'a> {
    shown: &'a [bool],
    counts: Vec<usize>,
    new: usize,
    words: usize,
}

impl<'a> Tally<'a> {
    fn new(shown: &'a [bool]) -> Self {
        Self {
            shown,
            counts: vec![0; shown.len()],
            new: 0,
            words: 0,
        }
    }

    fn is_new(&self, word: usize) -> usize {
        usize::from(self.shown.get(word) == Some(&false))
    }

    fn add(&mut self, word: usize) {
        let new = self.is_new(word);
        if let Some(count) = self.counts.get_mut(word) {
            *count += 1;
            if *count == 1 {
                self.words += 1;
                self.new += new;
            }
        }
    }

    fn remove(&mut self, word: usize) {
        let new = self.is_new(word);
        if let Some(count) = self.counts.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            if *count == 0 {
                self.words -= 1;
                self.new -= new;
            }
        }
    }
}

/// The window with as much around it as fits, evenly as far as the gap allows, from cut to cut.
fn grow(text: &str, window: &Range<usize>, gap: &Range<usize>, cuts: &Bounds) -> Range<usize> {
    let longest = Explanation::MAX_FRAGMENT_BYTES;
    let spare = longest.saturating_sub(window.len());
    let start = window.start.saturating_sub(spare / 2).max(gap.start);
    let end = start.saturating_add(longest).min(gap.end);
    let start = end.saturating_sub(longest).max(gap.start);
    let mut range = cuts.after(start).min(window.start)..cuts.before(end).max(window.end);
    while range.start < window.start {
        let next = cuts.after(range.start + 1).min(window.start);
        if !is_space(text, range.start..next) {
            break;
        }
        range.start = next;
    }
    while range.end > window.end {
        let next = cuts.before(range.end - 1).max(window.end);
        if !is_space(text, next..range.end) {
            break;
        }
        range.end = next;
    }
    range
}

fn is_space(text: &str, range: Range<usize>) -> bool {
    text.get(range).is_some_and(|text| text.trim().is_empty())
}

/// The passage with what there is to mark in it. The words that are whole in it count as shown.
fn fragment(matches: &[Match], range: Range<usize>, shown: &mut [bool]) -> Fragment {
    let mut clipped = Vec::new();
    for found in matches {
        let inside = found.range.start.max(range.start)..found.range.end.min(range.end);
        if inside == found.range
            && let Some(shown) = shown.get_mut(found.word)
        {
            *shown = true;
        }
        if !inside.is_empty() {
            clipped.push(inside);
        }
    }
    Fragment {
        matches: join(clipped.into_iter()),
        range,
    }
}
