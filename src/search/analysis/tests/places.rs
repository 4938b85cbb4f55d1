//! Where in a text its terms come from.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

use super::*;

/// Every term with its place, in the order of the places.
fn places(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    locate(text, |located| {
        found.push((located.range(), located.term().to_owned()));
    });
    found.sort_by_key(|(range, _)| (range.start, range.end));
    found
}

/// What the query finds of the text, as the text has it.
fn found<'a>(text: &'a str, query_text: &str) -> Vec<&'a str> {
    let wanted = terms(query_text);
    let mut ranges: Vec<_> = places(text)
        .into_iter()
        .filter(|(_, term)| wanted.contains(term))
        .map(|(range, _)| range)
        .collect();
    ranges.dedup();
    ranges.into_iter().map(|range| &text[range]).collect()
}

#[track_caller]
fn all_found(cases: &[(&str, &str, &[&str])]) {
    for (text, query_text, wanted) in cases {
        assert_eq!(
            found(text, query_text),
            *wanted,
            "{query_text:?} in {text:?}"
        );
    }
}

#[test]
fn words_are_found_as_they_are_written() {
    all_found(&[
        ("We were running late.", "runs", &["running"]),
        ("Two Cafés, one café", "cafe", &["Cafés", "café"]),
        ("a cafe\u{301}s!", "café", &["cafe\u{301}s"]),
        (
            "a ｆｕｌｌｗｉｄｔｈ word",
            "fullwidth",
            &["ｆｕｌｌｗｉｄｔｈ"],
        ),
        ("oﬃce, oﬀ", "office", &["oﬃce"]),
        ("in der Straße", "strasse", &["Straße"]),
        ("half: ½ cup", "2", &["½"]),
        ("co\u{AD}operate now", "cooperate", &["co\u{AD}operate"]),
        ("1,000 items", "1000", &["1,000"]),
        ("they don't know", "don't", &["do", "don't"]),
        ("they won’t", "will", &["won’t"]),
        ("l’homme", "homme", &["homme"]),
        ("'quoted'", "quoted", &["quoted"]),
        ("👍🏽 well done", "👍", &["👍"]),
        ("🇩🇪 and 🇫🇷", "🇫🇷", &["🇫🇷"]),
    ]);
}

#[test]
fn names_are_found_whole_and_in_parts() {
    all_found(&[
        ("the user-name here", "username", &["user-name"]),
        ("the user-name here", "name", &["name"]),
        ("(foo.bar.baz)", "bar", &["bar"]),
        (
            "(foo.bar.baz)",
            "foo.bar.baz",
            &["foo", "foo.bar.baz", "bar", "baz"],
        ),
        ("see poolDayData!", "day", &["Day"]),
        ("python3 rocks", "python", &["python"]),
        ("python3 rocks", "3", &["3"]),
        ("C++17 code", "c++", &["C++"]),
        ("ping @ada, #1", "@ada", &["@ada", "ada"]),
        ("at 50% load", "50%", &["50", "50%"]),
        ("mail user@example.com.", "example.com", &["example", "com"]),
        ("(O'Brien)", "obrien", &["O'Brien"]),
        ("v3.14.2", "14", &["14"]),
        ("a\u{200B}b-c", "c", &["c"]),
    ]);
}

#[test]
fn every_script_is_found_where_it_is() {
    all_found(&[
        ("هو كَتَبَ كتابا", "كتب", &["كَتَبَ"]),
        ("قرأ والكتب", "كتب", &["والكتب"]),
        ("זה הַבַּיִת שלי", "בית", &["הַבַּיִת"]),
        ("वह किताबें पढ़ता", "किताब", &["किताबें"]),
        ("昨天讨论了部署方案", "部署", &["部署"]),
        ("猫が好き", "猫", &["猫"]),
        ("父进程watchdog单层", "watchdog", &["watchdog"]),
        ("ﾃﾞｰﾀ", "データ", &["ﾃﾞｰ", "ｰﾀ"]),
        ("나는 서울에서 산다", "서울은", &["서울"]),
        (
            "\u{1109}\u{1165}\u{110B}\u{116E}\u{11AF}",
            "서울",
            &["\u{1109}\u{1165}\u{110B}\u{116E}\u{11AF}"],
        ),
        ("ฉันชอบกินข้าว", "ข้าว", &["ข้าว"]),
        (
            "ฉัน\u{200B}กิน\u{200B}ข้าว",
            "กินข้าว",
            &["กิน", "น\u{200B}ข้า", "ข้าว"],
        ),
        ("ΟΔΟΣ 7", "οδός", &["ΟΔΟΣ"]),
        ("развёртывания!", "развертывание", &["развёртывания"]),
        ("ﷺ", "الله", &["ﷺ"]),
        ("٣ كتب", "3", &["٣"]),
    ]);
}

#[test]
fn a_word_of_a_query_is_where_it_first_comes() {
    let text = "What's Lisa’s number? Lisa! 部署方案";
    let found = locate_query(text);
    let spelled: Vec<_> = found
        .iter()
        .map(|(term, range)| (term.term.as_str(), term.weight, &text[range.clone()]))
        .collect();
    assert_eq!(
        spelled,
        [
            ("lisa", 2.0, "Lisa"),
            ("number", 1.0, "number"),
            ("部署", 1.0, "部署"),
            ("署方", 1.0, "署方"),
            ("方案", 1.0, "方案"),
        ]
    );
}

/// Ranges are sound, and the terms are those of the document.
fn check(text: &str) {
    let mut counts = BTreeMap::<String, u32>::new();
    for (range, term) in places(text) {
        let stretch = text.get(range.clone());
        let sound = stretch.is_some_and(|stretch| !stretch.is_empty());
        assert!(sound, "{term:?} of {text:?} is at {range:?}");
        *counts.entry(term).or_default() += 1;
    }
    let counts: Vec<_> = counts.into_iter().collect();
    assert_eq!(counts, document("", [], text).counts);
    for (term, range) in locate_query(text) {
        assert!(!text[range].is_empty(), "{term:?} of {text:?}");
    }
}

/// Every term is a term of its stretch alone, but for starts of words, which hang on the language of the
/// whole. What is at the edge of a stretch may change the terms of an odd text; it doesn't in texts as
/// people write them.
fn check_alone(text: &str) {
    check(text);
    for (range, term) in places(text).into_iter().filter(|(_, term)| !is_start(term)) {
        let alone = document("", [], &text[range.clone()]).counts;
        assert!(
            alone.iter().any(|(other, _)| *other == term),
            "{term:?} comes from {:?} of {text:?}",
            &text[range]
        );
    }
}

/// Words as people write them, and what is between them.
fn written() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "Cafés",
        "running",
        "don’t",
        "O'Brien",
        "user_name",
        "poolDayData",
        "v3.14.2",
        "C++",
        "@ada",
        "50%",
        "1,000",
        "oﬃce",
        "½",
        "ΟΔΟΣ",
        "развёртывания",
        "եւ",
        "كَتَبَ",
        "والكتب",
        "הַבַּיִת",
        "हिन्दी",
        "மரங்கள்",
        "部署方案",
        "猫が好き",
        "ﾃﾞｰﾀ",
        "서울에서",
        "ฉันชอบกินข้าว",
        "ສະບາຍດີ",
        "ភាសាខ្មែរ",
        "မြန်မာစာ",
        "👩🏽\u{200D}💻",
        "🇩🇪",
        "ﷺ",
        "٣",
    ]);
    let between = prop::sample::select(vec![" ", ", ", "-", "/", "\n", "。"]);
    let words = prop::collection::vec((words, between), 0..12);
    words.prop_map(|words| words.into_iter().flat_map(|(a, b)| [a, b]).collect())
}

proptest! {
    #[test]
    fn every_term_of_any_text_has_a_place(text in "\\PC*|[\\s\\S]{0,64}") {
        check(&text);
    }

    #[test]
    fn every_term_of_any_spelling_has_a_place(text in tricky()) {
        check(&text);
        check(&text.nfd().collect::<String>());
        check(&text.nfkd().collect::<String>());
    }

    #[test]
    fn every_term_is_a_term_of_its_place(text in written()) {
        check_alone(&text);
        check_alone(&text.nfd().collect::<String>());
        check_alone(&text.nfkd().collect::<String>());
    }
}
