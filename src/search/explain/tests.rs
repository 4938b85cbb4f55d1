//! What is shown of a text, and what of it is marked.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::Field::{Content, Key, Tags};
use super::*;
use crate::search::analysis::{Analysis, QueryTerm};
use crate::{Draft, Limits, MemoryStore};

fn memory(key: &str, tags: &[&str], content: &str) -> Memory {
    let limits = Limits {
        tag_bytes: 1 << 20,
        ..Limits::default()
    };
    let store = MemoryStore::builder().limits(limits);
    let store = store.open_in_memory().unwrap();
    let session = store.session("s", "agent").open().unwrap();
    let draft = Draft::new(key, content).tags(tags.iter().copied());
    store.save(&session, draft).unwrap()
}

fn explain(query: &str, content: &str) -> Explanation {
    Explainer::new(query, Analysis::default()).explain(&memory("k", &[], content))
}

/// The fragments with `[` and `]` around what is marked.
fn shown(query: &str, content: &str) -> Vec<String> {
    let why = explain(query, content);
    let piece = |(text, hit): (&str, bool)| {
        if hit {
            format!("[{text}]")
        } else {
            text.to_owned()
        }
    };
    let fragments = why.fragments.iter();
    fragments
        .map(|fragment| fragment.pieces(content).map(piece).collect())
        .collect()
}

#[test]
fn words_are_named_as_the_query_has_them() {
    let why = Explainer::new(
        "Where do Lisa's dentists (user-name) work? Lisa!",
        Analysis::default(),
    )
    .explain(&memory(
        "dentist-lisa",
        &["work", "x"],
        "Lisa works as user_name",
    ));
    let words: Vec<_> = why
        .words
        .iter()
        .map(|word| (word.text.as_str(), word.fields.as_slice()))
        .collect();
    assert_eq!(
        words,
        [
            ("Lisa", [Key, Content].as_slice()),
            ("dentists", &[Key]),
            ("user", &[Content]),
            ("name", &[Content]),
            ("user-name", &[Content]),
            ("work", &[Tags, Content]),
        ]
    );
    assert_eq!(why.key, [0..7, 8..12]);
    let work = 0..4;
    assert_eq!(why.tags, [vec![work], vec![]]);
    assert_eq!(why.fragments[0].matches, [0..4, 5..10, 14..23]);
}

#[test]
fn what_a_search_ignores_is_not_marked() {
    assert_eq!(
        shown("what is the status", "The status is what it is"),
        ["The [status] is what it is"]
    );
    assert_eq!(
        shown("to be", "to be or not to be")[0],
        "[to] [be] or not [to] [be]"
    );
    let nothing = explain("status", "something else");
    assert_eq!((nothing.words, nothing.fragments), (vec![], vec![]));
    assert_eq!(explain("...", "...").words, []);
}

#[test]
fn a_short_content_is_shown_whole() {
    assert_eq!(
        shown("milk", "  tea, milk\n and bread \n"),
        ["tea, [milk]\n and bread"]
    );
    assert_eq!(
        shown("部署方案", "昨天讨论了部署方案"),
        ["昨天讨论了[部署方案]"]
    );
    assert_eq!(shown("🏽👍", "👍🏽 done"), ["[👍🏽] done"]);
    assert_eq!(shown("e", "e\u{301}\u{302} e"), ["[e\u{301}\u{302}] [e]"]);
}

#[test]
fn a_long_content_is_shown_around_its_words() {
    let filler = "lorem ipsum ".repeat(100);
    let content = format!("{filler}green door {filler}green window {filler}");
    let all = shown("green window door", &content);
    assert_eq!(all.len(), 2);
    assert!(all[0].contains("ipsum [green] [door] lorem"), "{}", all[0]);
    assert!(
        all[1].contains("ipsum [green] [window] lorem"),
        "{}",
        all[1]
    );
    for fragment in &all {
        let text = fragment.replace(['[', ']'], "");
        assert!((200..=Explanation::MAX_FRAGMENT_BYTES).contains(&text.len()));
        assert!(
            text.split(' ')
                .all(|word| "lorem ipsum green door window".contains(word))
        );
    }
    // No word is new in a second passage.
    assert_eq!(shown("green", &content).len(), 1);
}

#[test]
fn the_passage_with_most_words_comes_before_all_others() {
    let gap = " x".repeat(Explanation::MAX_FRAGMENT_BYTES);
    let content = format!("alpha{gap} beta{gap} gamma{gap} delta{gap} alpha beta{gap} epsilon");
    let all = shown("alpha beta gamma delta epsilon", &content);
    assert_eq!(all.len(), Explanation::MAX_FRAGMENTS);
    assert!(all[0].contains("[gamma]"));
    assert!(all[1].contains("[delta]"));
    assert!(all[2].contains("[alpha] [beta]"));
}

#[test]
fn a_passage_at_an_end_is_as_long_as_another() {
    let filler = " lorem".repeat(100);
    for content in [format!("tea{filler}"), format!("{filler} tea")] {
        let why = explain("tea", &content);
        assert!(why.fragments[0].range.len() > Explanation::MAX_FRAGMENT_BYTES - 8);
    }
}

#[test]
fn what_is_longer_than_a_fragment_is_cut_between_letters() {
    let word = "é".repeat(1_000);
    let why = explain(&word, &word);
    assert_eq!(why.fragments[0].range, 0..Explanation::MAX_FRAGMENT_BYTES);
    let letter = format!("e{}", "\u{301}".repeat(1_000));
    let why = explain("e", &letter);
    assert_eq!((why.words.len(), why.fragments.len()), (1, 0));
}

#[test]
fn pieces_of_another_text_are_left_out() {
    let why = explain("tea", "some tea, please");
    let pieces: Vec<_> = why.fragments[0].pieces("some te").collect();
    assert_eq!(pieces, [("some ", false)]);
}

/// Words and what is between them, of several scripts, often enough for several fragments.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "tea",
        "teas",
        "milkTea",
        "milk-tea",
        " ",
        ", ",
        "\r\n",
        "部署",
        "方案",
        "กินข้าว",
        "น้ำ",
        "서울에서",
        "كَتَبَ",
        "हिन्दी",
        "e\u{301}",
        "👩\u{200D}💻",
        "👍🏽",
        "🇩🇪",
        "ﷺ",
        "½",
        "\u{200B}",
        "don't",
    ]);
    prop::collection::vec(pieces, 0..200).prop_map(|pieces| pieces.concat())
}

fn is_whole(text: &str, range: &Range<usize>) -> bool {
    let bounds: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
    let is_bound = |at: usize| at == text.len() || bounds.contains(&at);
    range.start < range.end && is_bound(range.start) && is_bound(range.end)
}

/// Ascending, apart, and of whole letters.
fn are_sound(text: &str, ranges: &[Range<usize>]) -> bool {
    ranges.iter().all(|range| is_whole(text, range))
        && ranges.windows(2).all(|two| two[0].end < two[1].start)
}

fn check(query: &str, content: &str) {
    let content = format!("x{content}");
    let memory = memory(&content, &["x", &content], &content);
    let why = Explainer::new(query, Analysis::default()).explain(&memory);
    let key = memory.key.as_str();
    assert!(are_sound(key, &why.key), "{key:?} {:?}", why.key);
    for (tag, ranges) in memory.tags.iter().zip(&why.tags) {
        assert!(are_sound(tag.as_str(), ranges));
    }
    assert_eq!(why.tags.len(), memory.tags.len());
    assert!(why.fragments.len() <= Explanation::MAX_FRAGMENTS);
    let fragments = why.fragments.windows(2);
    assert!(
        fragments
            .into_iter()
            .all(|two| two[0].range.end <= two[1].range.start)
    );
    for fragment in &why.fragments {
        assert!(is_whole(&content, &fragment.range));
        assert!(fragment.range.len() <= Explanation::MAX_FRAGMENT_BYTES);
        assert!(!fragment.matches.is_empty() && are_sound(&content, &fragment.matches));
        let inside = |found: &Range<usize>| {
            fragment.range.start <= found.start && found.end <= fragment.range.end
        };
        assert!(fragment.matches.iter().all(inside));
        let pieces: String = fragment.pieces(&content).map(|(text, _)| text).collect();
        assert_eq!(pieces, content[fragment.range.clone()]);
    }
    let terms = Analysis::default().document("", [], &content).counts;
    let asked = Analysis::default().query(query);
    let has = |wanted: &QueryTerm| terms.iter().any(|(term, _)| *term == wanted.term);
    let matched = asked.iter().any(has);
    assert_eq!(
        why.words.iter().any(|word| word.fields.contains(&Content)),
        matched
    );
    assert_eq!(why.fragments.is_empty(), !matched);
}

proptest! {
    #[test]
    fn explanations_are_sound(query in text(), content in text()) {
        check(&query, &content);
    }

    #[test]
    fn explanations_of_any_text_are_sound(query in "\\PC{0,20}", content in "\\PC{0,200}") {
        check(&query, &content);
    }
}
