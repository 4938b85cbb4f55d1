//! What the terms promise, names and queries; [`scripts`] has what matches what in each script,
//! [`places`] where terms come from.

use proptest::prelude::*;

use super::*;

mod languages;
mod places;
mod scripts;

/// Whether a record with this content is found by this query.
fn matches(content: &str, query_text: &str) -> bool {
    let terms = document("", [], content).counts;
    query(query_text).iter().any(|wanted| {
        terms
            .binary_search_by(|(t, _)| t.as_str().cmp(&wanted.term))
            .is_ok()
    })
}

#[track_caller]
fn all_match(pairs: &[(&str, &str)]) {
    for (content, query_text) in pairs {
        assert!(
            matches(content, query_text),
            "{query_text:?} should find {content:?}: {:?} in {:?}",
            query(query_text),
            document("", [], content).counts
        );
    }
}

#[track_caller]
fn none_match(pairs: &[(&str, &str)]) {
    for (content, query_text) in pairs {
        assert!(
            !matches(content, query_text),
            "{query_text:?} should not find {content:?}: {:?} in {:?}",
            query(query_text),
            document("", [], content).counts
        );
    }
}

/// The terms of a query that aren't starts of words, without weights.
fn terms(text: &str) -> Vec<String> {
    let terms = query(text).into_iter().map(|term| term.term);
    terms.filter(|term| !is_start(term)).collect()
}

/// The start of a word has five letters and its end; a long name that was cut may end so as well.
fn is_start(term: &str) -> bool {
    let letters = term.strip_suffix(start::END);
    letters.is_some_and(|letters| letters.chars().filter(|c| !is_mark(*c)).count() == 5)
}

/// As if the store were for English.
fn document<'a>(
    key: &'a str,
    tags: impl IntoIterator<Item = &'a str>,
    content: &'a str,
) -> DocumentTerms {
    Analysis::default().document(key, tags, content)
}

fn query(text: &str) -> Vec<QueryTerm> {
    Analysis::default().query(text)
}

fn locate(text: &str, take: impl FnMut(&Located<'_>)) {
    Analysis::default().locate(text, take);
}

fn locate_query(text: &str) -> Vec<(QueryTerm, Range<usize>)> {
    Analysis::default().locate_query(text)
}

#[test]
fn names_match_whole_and_in_parts() {
    let content = "atomic_write_json in uteke-cloud-dev, foo.bar.baz";
    for text in [
        "atomic_write_json",
        "write",
        "uteke-cloud-dev",
        "uteke",
        "foo.bar.baz",
        "baz",
        "atomicWriteJson",
    ] {
        assert!(matches(content, text), "{text}");
    }
    all_match(&[
        ("user-name", "username"),
        ("userName", "user_name"),
        ("the poolDayData table", "pool day"),
        ("the poolDayData table", "pooldaydata"),
        ("HTTPServer", "http server"),
        ("our APIs", "api"),
        ("e-mail", "email"),
        ("covid-19", "COVID19"),
        ("python3 scripts", "python"),
        ("10km run", "10 km"),
        ("v3.14.2", "3.14"),
        ("due 2026-05-08", "2026-05-08"),
        ("at 50% load", "50%"),
        ("12 GB/s", "GB/s"),
        ("$HOME/.cargo", "home"),
        ("std::env::var", "env"),
        ("https://example.com/a?b=c", "example.com"),
        ("1,000 items", "1000"),
        ("O'Brien", "OBrien"),
    ]);
    none_match(&[
        ("foo.bar", "foobaz"),
        ("poolDayData", "today"),
        ("1-12", "112"),
        ("uteke-cloud-dev", "device"),
        ("a1b2c3", "b2"),
    ]);
}

#[test]
fn a_letter_with_a_sign_is_another_name() {
    all_match(&[
        ("written in C++17", "C++"),
        ("C#/F# developer", "F#"),
        ("C++.", "c++ (x)"),
        ("notepad++", "notepad"),
    ]);
    none_match(&[
        ("written in C++", "vitamin C"),
        ("C#", "C++"),
        ("vitamin C", "C#"),
    ]);
}

#[test]
fn a_whole_name_is_one_term_more() {
    assert_eq!(
        terms("user@example.com"),
        ["user", "exampl", "com", "user@example.com"]
    );
    assert_eq!(terms("OC-41252"), ["oc", "41252", "oc41252"]);
    assert_eq!(terms("2026-05-08"), ["2026", "05", "08", "2026-05-08"]);
    assert_eq!(terms("poolDay"), ["poolday", "pool", "day"]);
    assert_eq!(terms("C++"), ["c++"]);
    assert_eq!(terms("@ada"), ["ada", "@ada"]);
    assert_eq!(terms("-foo"), ["foo"]);
    assert_eq!(terms("stop...now or--never"), ["stop", "never"]);
}

#[test]
fn query_syntax_is_only_words() {
    let content = "ticket OC-41252 status: done for user@example.com in C++";
    for text in [
        "what's OC-41252?",
        "status: done",
        "OC-41252",
        "user@example.com",
        "C++",
        "is it done (yet)?",
        "done AND status",
        "\"status\" done",
        "done*",
        "NEAR(done status)",
    ] {
        assert!(matches(content, text), "{text}");
    }
    for text in [
        "-foo",
        "key:alpha",
        "tags:x",
        "a/b",
        "what, when?",
        "x^2",
        "[a]",
        "{b}",
        "a=b",
        "#1",
    ] {
        assert!(!query(text).is_empty(), "{text}");
    }
}

#[test]
fn a_text_without_words_has_no_terms() {
    let long = "-".repeat(1000);
    for text in [
        "",
        " ",
        "...",
        "*",
        "()",
        "\"",
        "-",
        ":",
        "~",
        "`",
        "'",
        "_",
        "#",
        "++",
        "'''",
        "…",
        "—",
        "→",
        "\u{0301}",
        "\u{200B}\u{FEFF}",
        "\u{E000}",
        "\0\n",
        &long,
    ] {
        assert_eq!(query(text), [], "{text:?}");
        assert_eq!(document("", [], text).length, 0, "{text:?}");
    }
}

#[test]
fn function_words_count_only_alone() {
    assert_eq!(terms("What is the status?"), ["status"]);
    assert_eq!(terms("what's it about"), ["what", "it", "about"]);
    assert_eq!(terms("don't deploy"), ["deploy"]);
    assert_eq!(terms("dont deploy"), ["deploy"]);
    assert_eq!(terms("don't"), ["do", "not"]);
    assert_eq!(terms("CAN'T"), ["can", "not"]);
    assert_eq!(terms("сколько стоит хлеб?").len(), 2);
    assert_eq!(terms("کیا"), terms("كيا"));
    assert!(matches("to be or not to be", "to be"));
    assert!(matches("what a day", "what"));
}

#[test]
fn key_and_tags_are_searched_but_not_across() {
    let terms = document("dentist-lisa", ["health"], "on Monday");
    let has = |term: &str| terms.counts.iter().any(|(t, _)| t == term);
    assert!(has("dentist") && has("health") && has("monday"));
    let apart = document("部", ["署"], "");
    assert!(!apart.counts.iter().any(|(term, _)| term == "部署"));
}

#[test]
fn repeats_are_counted() {
    let found = document("tea", ["tea"], "Tea, teas and tea");
    assert_eq!(found.counts, [("and".to_owned(), 1), ("tea".to_owned(), 5)]);
    assert_eq!(found.length, 6);
    let found = query("tea teas milk");
    let weights: Vec<_> = found.iter().map(|t| (t.term.as_str(), t.weight)).collect();
    assert_eq!(weights, [("tea", 2.0), ("milk", 1.0)]);
}

#[test]
fn a_length_is_in_words() {
    for (text, length) in [
        ("", 0),
        ("green tea", 2),
        ("la conférence internationale", 3),
        ("部署方案", 2),
        ("ฉันชอบกินข้าว", 5),
    ] {
        assert_eq!(document("", [], text).length, length, "{text}");
    }
}

#[test]
fn long_words_are_found_by_their_starts_where_no_stemmer_knows_them() {
    all_match(&[
        ("Die Bundesregierung hat das beschlossen", "Bundeskanzler"),
        (
            "Die Bundesregierung hat das beschlossen",
            "wer war Bundeskanzler?",
        ),
        (
            "Ali İstanbul'daki evlerimizden bahsetti",
            "İstanbul evlerimize",
        ),
        ("las conversaciones con Ana", "¿cuándo conversaron?"),
        ("в переговорах участвовали", "переговорщик"),
    ]);
    none_match(&[
        ("The international office is open", "who is interested?"),
        ("The international office is open", "interest"),
        (
            "Die Bundesregierung hat das beschlossen",
            "what did the bundles contain",
        ),
        ("Telegram bot", "Telegrafenamt"),
    ]);
    let found = query("Bundesregierung");
    let weights: Vec<_> = found.iter().map(|t| (t.term.as_str(), t.weight)).collect();
    assert_eq!(weights, [("bundesregierung", 1.0), ("bunde-", 0.5)]);
}

#[test]
fn the_first_terms_of_a_long_query_count() {
    let words: Vec<String> = (0..200).map(|n| format!("w{n}x")).collect();
    let text = words.join(" ") + " w0x";
    let found = query(&text);
    assert_eq!(found.len(), MAX_QUERY_TERMS);
    assert_eq!((found[0].term.as_str(), found[0].weight), ("w0x", 2.0));
    assert_eq!(found[63].term, "w63x");
}

#[test]
fn query_terms_are_terms_of_the_same_text() {
    for text in [
        "user-name v3.14",
        "部署方案",
        "猫が好き",
        "서울에서",
        "ฉันชอบ",
        "הבית",
        "don't",
    ] {
        let found = document("", [], text).counts;
        for term in terms(text) {
            assert!(
                found.iter().any(|(t, _)| *t == term),
                "{term:?} of {text:?}"
            );
        }
    }
}

fn is_in_contract(term: &str) -> bool {
    let ascii = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.@+#/:&$%".contains(c);
    let private = |c: char| matches!(c, '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..);
    !term.is_empty()
        && term.len() <= 96
        && term.chars().all(|c| {
            if c.is_ascii() {
                ascii(c)
            } else {
                !c.is_whitespace() && !c.is_control() && !private(c) && !script::is_ignorable(c)
            }
        })
}

fn check_contract(text: &str) -> DocumentTerms {
    let found = document(text, [text], text);
    assert!(
        found
            .counts
            .iter()
            .all(|(term, count)| is_in_contract(term) && *count > 0)
    );
    assert!(found.counts.is_sorted_by(|(a, _), (b, _)| a < b));
    let quarters = |(term, count): &(String, u32)| quarters_of(term) * count;
    let words = found.counts.iter().filter(|(term, _)| !is_start(term));
    let quarters: u32 = words.map(quarters).sum();
    assert_eq!(quarters.div_ceil(4), found.length);
    let asked = query(text);
    assert!(asked.len() <= MAX_QUERY_TERMS);
    assert!(
        asked
            .iter()
            .all(|t| is_in_contract(&t.term) && t.weight > 0.0)
    );
    assert!(asked.is_empty() == found.counts.is_empty());
    found
}

/// Names that end in a connector and a mark without a letter, as proptest found one.
#[test]
fn a_mark_alone_is_no_part_of_a_name() {
    let text = "\u{1D516}\u{05EF}-\u{9e2}\u{1F7E0}";
    let found = check_contract(text);
    assert!(found.counts.iter().all(|(term, _)| !term.ends_with('-')));
    for text in [
        "regie-\u{9e2}",
        "regie-\u{9e2}-",
        "user-\u{9e2}-regie-\u{9e2}",
    ] {
        let found = check_contract(text);
        let ends = |(term, _): &(String, u32)| term.ends_with(['-', '_']);
        assert!(!found.counts.iter().any(ends), "{text}");
    }
    none_match(&[
        ("regie-\u{9e2}", "Regierung"),
        ("Regierung", "regie-\u{9e2}"),
    ]);
}

/// A bound on the work that doesn't depend on the machine: so many terms for each character.
#[test]
fn hostile_texts_give_few_terms() {
    const SIZE: usize = 1 << 20;
    for unit in [
        "a",
        "\u{0301}",
        "aA",
        "a-",
        "a'",
        "a1",
        "1,",
        "가",
        "部",
        "ก",
        "\u{1039}",
        "👩\u{200D}",
        "🇩",
        "ß",
        "\u{FDFA}",
        "a\u{0301}",
        "+",
        "ا",
        "का",
    ] {
        let text = unit.repeat(SIZE / unit.len() / 32);
        let chars = text.chars().count();
        let counts = document("", [], &text).counts;
        let terms: u32 = counts.iter().map(|(_, count)| count).sum();
        let mut located = 0;
        locate(&text, |_| located += 1);
        assert_eq!(located, terms);
        assert!(terms as usize <= 20 * chars, "{unit:?}: {terms} of {chars}");
    }
    for text in [
        "a".repeat(SIZE),
        "a".to_owned() + &"\u{0301}".repeat(SIZE / 2),
    ] {
        let found = document("", [], &text);
        assert_eq!(found.length, 1);
        assert!(found.counts[0].0.len() <= 96);
    }
}

/// Text that is made of what the rules look at, so that they meet in every order.
fn tricky() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "B",
        "s",
        "n't",
        "9",
        "1,000",
        "'",
        "’",
        "-",
        "_",
        ".",
        "@",
        "+",
        "#",
        "/",
        ":",
        "&",
        "$",
        "%",
        "\"",
        " ",
        "é",
        "ß",
        "İ",
        "ς",
        "ё",
        "й",
        "\u{0301}",
        "ال",
        "و",
        "ٱ",
        "ـ",
        "َ",
        "ہ",
        "ש",
        "ה",
        "״",
        "का",
        "्",
        "न",
        "़",
        "ு",
        "க்",
        "部",
        "の",
        "ー",
        "々",
        "서",
        "에",
        "ᄒ",
        "ᅡ",
        "เ",
        "ข",
        "้",
        "า",
        "្",
        "္",
        "်",
        "\u{200B}",
        "\u{200D}",
        "\u{FE0F}",
        "👍",
        "🏽",
        "🇩",
        "\u{E000}",
        "\u{10FFFF}",
        "\u{0}",
        "\n",
        "\u{A0}",
        "½",
        "ﷺ",
        "①",
        "٣",
        "Ω",
        "\u{1F82}",
        "\u{0345}",
        "ŉ",
        "ǰ",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_text_keeps_the_contract(text in "\\PC*|[\\s\\S]{0,64}") {
        check_contract(&text);
    }

    #[test]
    fn every_mixture_keeps_the_contract(text in tricky()) {
        check_contract(&text);
    }

    #[test]
    fn the_same_text_gives_the_same_terms(text in tricky()) {
        prop_assert_eq!(document("", [], &text), document("", [], &text));
        prop_assert_eq!(query(&text), query(&text));
    }

    #[test]
    fn a_text_finds_itself(text in tricky()) {
        prop_assert_eq!(matches(&text, &text), !query(&text).is_empty());
    }

    #[test]
    fn normal_forms_are_one(text in tricky()) {
        use unicode_normalization::UnicodeNormalization;
        let other: String = text.nfd().collect();
        prop_assert_eq!(query(&text), query(&other));
    }

    #[test]
    fn no_stemmer_fails_on_its_alphabet(
        word in "[a-z]{1,40}|[α-ω]{1,20}|[а-яії]{1,20}|[ա-և]{1,20}|[ء-ي]{1,20}|[\u{900}-\u{97F}]{1,20}|[\u{B80}-\u{BFF}]{1,20}"
    ) {
        check_contract(&word);
    }
}
