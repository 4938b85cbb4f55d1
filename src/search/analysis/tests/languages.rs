//! What the configured language changes, and what it doesn't.

use super::*;
use crate::search::analysis::script::Script;

fn finds(language: Language, content: &str, query: &str) -> bool {
    let analysis = Analysis::new(language);
    let terms = analysis.document("", [], content).counts;
    let asked = analysis.query(query);
    let of_words = |asked: &&QueryTerm| !is_start(&asked.term);
    asked
        .iter()
        .filter(of_words)
        .any(|asked| terms.iter().any(|(term, _)| *term == asked.term))
}

/// A form that a record has, one that a query asks for, and a word that is none of either.
const FORMS: &[(Language, &str, &str, &str)] = &[
    (Language::Catalan, "les ciutats", "ciutat", "cinta"),
    (Language::Czech, "v městech", "města", "místo"),
    (Language::Danish, "husene", "huset", "hustru"),
    (Language::Dutch, "de lichamelijke", "lichamelijk", "lichaam"),
    (Language::Estonian, "raamatud", "raamat", "raadio"),
    (Language::Finnish, "taloissa", "talossa", "talvi"),
    (Language::French, "les chanteuses", "chanteuse", "chanvre"),
    (Language::German, "die Häuser", "Haus", "Hase"),
    (Language::Hungarian, "a házakban", "ház", "kutya"),
    (Language::Indonesian, "makanannya", "makanan", "malam"),
    (
        Language::Italian,
        "le città abbandonate",
        "abbandonato",
        "abito",
    ),
    (Language::Lithuanian, "namuose", "namus", "naktis"),
    (Language::Norwegian, "husene", "huset", "hustru"),
    (Language::Polish, "książkami", "książka", "księżyc"),
    (Language::Portuguese, "as livrarias", "livraria", "lisboa"),
    (Language::Romanian, "cărțile", "cărți", "carne"),
    (Language::Spanish, "las canciones", "canción", "cántaro"),
    (Language::Swedish, "flickorna", "flicka", "flinga"),
    (Language::Turkish, "kitapların", "kitap", "kira"),
];

#[test]
fn forms_of_a_word_are_one_in_its_language() {
    for (language, content, query, other) in FORMS {
        assert!(finds(*language, content, query), "{language}: {query}");
        assert!(!finds(*language, content, other), "{language}: {other}");
    }
}

#[test]
fn a_question_is_about_its_other_words() {
    for (language, question, about) in [
        (
            Language::German,
            "Welche Farbe hat das Haus?",
            &["farb", "haus"][..],
        ),
        (
            Language::Spanish,
            "¿Cuándo se construyó la torre?",
            &["constru", "torr"],
        ),
        (Language::French, "Où qu'est l'hôtel ?", &["hotel"]),
        (Language::Turkish, "Başkent neresidir?", &["baskent"]),
        (Language::Swedish, "Var ligger skolan?", &["ligg", "skol"]),
    ] {
        let asked = Analysis::new(language).query(question);
        let words: Vec<_> = asked
            .iter()
            .map(|asked| asked.term.as_str())
            .filter(|term| !is_start(term))
            .collect();
        let of_one = |word: &&str| about.iter().any(|stem| word.contains(stem));
        assert!(words.iter().all(of_one), "{language}: {words:?}");
        assert!(words.len() >= about.len(), "{language}: {words:?}");
    }
}

#[test]
fn accents_may_be_left_out() {
    assert!(finds(Language::Spanish, "la canción", "cancion"));
    assert!(finds(Language::German, "Größe", "grösse"));
    assert!(finds(Language::Turkish, "ISPARTA İzmir", "ısparta"));
    assert!(finds(Language::Turkish, "ISPARTA İzmir", "izmir"));
}

/// Words of other scripts have the same terms, whatever the language is, unless it is written so.
#[test]
fn other_scripts_go_by_themselves() {
    let text = "развёртывания οδός كَتَبَ किताबें மரங்கள் 部署 서울은 กินข้าว 3.14";
    let english = document("", [], text);
    for language in Language::ALL.iter().copied() {
        if language.script() == Script::Latin {
            let found = Analysis::new(language).document("", [], text);
            assert_eq!(found, english, "{language}");
        }
    }
    let ukrainian = Analysis::new(Language::Ukrainian);
    assert_eq!(ukrainian.query("що таке хата").len(), 1);
    assert_eq!(ukrainian.query("kept letters"), query("kept letters"));
    assert_eq!(
        Analysis::new(Language::Russian).query("kept"),
        query("kept")
    );
}

/// `don't` is English in every store. What it is made of doesn't count there as Portuguese or German.
#[test]
fn a_contraction_is_of_function_words_everywhere() {
    for language in Language::ALL.iter().copied() {
        let terms = |text: &str| -> Vec<String> {
            let asked = Analysis::new(language).query(text).into_iter();
            asked
                .map(|asked| asked.term)
                .filter(|term| !is_start(term))
                .collect()
        };
        assert_eq!(terms("don't vorp"), terms("vorp"), "{language}");
        assert_eq!(terms("vorp's"), terms("vorp"), "{language}");
        assert!(finds(language, "they do not", "don't"), "{language}");
    }
}

proptest! {
    #[test]
    fn every_language_keeps_the_contract(text in tricky(), at in 0..Language::ALL.len()) {
        let analysis = Analysis::new(Language::ALL[at]);
        let found = analysis.document("", [], &text);
        prop_assert!(found.counts.iter().all(|(term, _)| is_in_contract(term)));
        prop_assert!(found.counts.is_sorted_by(|(a, _), (b, _)| a < b));
        let asked = analysis.query(&text);
        prop_assert_eq!(asked.is_empty(), found.counts.is_empty());
        let both = |asked: &QueryTerm| found.counts.iter().any(|(term, _)| *term == asked.term);
        prop_assert!(asked.is_empty() || asked.iter().any(both));
        let mut located = 0;
        analysis.locate(&text, |_| located += 1);
        prop_assert_eq!(located, found.counts.iter().map(|(_, count)| count).sum::<u32>());
    }

    #[test]
    fn no_stemmer_fails_on_its_letters(word in "[a-zà-öø-ÿāăąćčďđēęěğģīįıİłńňőœřśşšţťūůűųźżžșț]{1,40}", at in 0..Language::ALL.len()) {
        let analysis = Analysis::new(Language::ALL[at]);
        prop_assert!(!analysis.document("", [], &word).counts.is_empty());
    }
}
