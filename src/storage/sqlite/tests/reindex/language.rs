//! The index made anew because the file is set to another language.

use super::*;
use crate::storage::StorageProvider as _;

const QUERIES: [&str; 3] = ["Haus", "ház", "deploy note 77 wörd7"];

fn bench_of_words() -> Bench {
    let bench = bench();
    fill(&bench, FEW);
    let texts = ["die Häuser", "das Haus", "a házakban", "egy ház", "houses"];
    for (i, text) in texts.iter().enumerate() {
        let draft = Draft::new(format!("word {i}"), *text);
        bench.store.save(&bench.sessions[i % 4], draft).unwrap();
    }
    bench
}

fn set(path: &Path, language: Language) -> Sqlite {
    let language = Some(language);
    let options = SqliteOptions {
        language,
        ..options()
    };
    Sqlite::open(path, &options).unwrap()
}

fn language(bench: &Bench) -> Language {
    State::read(&bench.db).unwrap().language().unwrap()
}

#[test]
fn killed_at_any_moment_the_change_goes_on() {
    let bench = bench_of_words();
    let path = path(&bench);
    let see = || observe(&bench.store, &bench.sessions, &QUERIES);
    let both = [Language::German, Language::Hungarian].map(|language| {
        drop(set(&path, language));
        check(&bench.db);
        (language, see())
    });
    assert_ne!(both[0].1, both[1].1);
    let mut kills = 0;
    for round in 0..10_u64 {
        let (wanted, _) = both[usize::try_from(round % 2).unwrap()];
        let steps = usize::try_from(round * 5 % 17).unwrap();
        let then = Duration::from_micros(round * 1_700 % 9_000);
        kill_after(start_child_for(&path, Some(wanted)), steps, then);
        let state = State::read(&bench.db).unwrap();
        kills += i32::from(state.reindexed.is_some());
        let now = language(&bench);
        let (_, expected) = both.iter().find(|(of, _)| *of == now).unwrap();
        assert_eq!(&see(), expected, "round {round}");
        let db = crate::storage::sqlite::open::connect(&path, &options()).unwrap();
        let problems = crate::storage::sqlite::check::run(db).unwrap();
        assert_eq!(problems, []);
    }
    assert!(kills >= 4, "only {kills} kills came before the end");
    let last = language(&bench);
    drop(open(&path, &bench.clock)); // it doesn't say which
    assert_eq!(language(&bench), last);
    assert!(State::read(&bench.db).unwrap().is_whole());
    check(&bench.db);
}

#[test]
fn openers_of_different_languages_leave_an_index_of_one() {
    let bench = bench_of_words();
    let path = path(&bench);
    let start = Barrier::new(3);
    let open = |wanted| {
        start.wait();
        set(&path, wanted)
    };
    thread::scope(|scope| {
        let openers = [Language::German, Language::Turkish].map(|wanted| {
            let open = &open;
            scope.spawn(move || open(wanted))
        });
        start.wait();
        for i in 0..60 {
            let draft = Draft::new(format!("new {i}"), format!("beside {i} Häuser"));
            bench.store.save(&bench.sessions[i % 4], draft).unwrap();
        }
        let [one, other] = openers.map(|opener| opener.join().unwrap());
        assert_eq!(one.language().unwrap(), other.language().unwrap());
    });
    assert!([Language::German, Language::Turkish].contains(&language(&bench)));
    assert!(State::read(&bench.db).unwrap().is_whole());
    check(&bench.db);
    // Whatever it is, who has the file open writes in it.
    let draft = Draft::new("new 1", "ganz andere Häuser");
    bench.store.save(&bench.sessions[0], draft).unwrap();
    bench.store.delete(&bench.sessions[2], "new 2").unwrap();
    check(&bench.db);
}

/// The file says a language that only a later release knows.
#[test]
fn an_unknown_language_is_a_later_releases() {
    let bench = bench_of_words();
    let sql = "INSERT OR REPLACE INTO meta (name, value) VALUES ('language', 31354)"; // `zz`
    bench.db.execute(sql, []).unwrap();
    let (store, session) = (&bench.store, &bench.sessions[3]);
    let hit = store.search(session, Search::new("Haus"));
    assert!(newer(&hit.unwrap_err()));
    assert!(newer(
        &store.save(session, Draft::new("k", "v")).unwrap_err()
    ));
    assert!(newer(&bench.sqlite.language().unwrap_err()));
    let path = path(&bench);
    assert!(newer(&Sqlite::open(&path, &options()).unwrap_err()));
    let options = SqliteOptions {
        language: Some(Language::German),
        ..options()
    };
    assert!(newer(&Sqlite::open(&path, &options).unwrap_err()));
    let number: i64 = bench
        .db
        .query_row(
            "SELECT value FROM meta WHERE name = 'language'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(number, 31_354);
}

/// As a file that has no number for it, which English needs none.
#[test]
fn a_file_that_says_none_is_english() {
    let bench = bench_of_words();
    let sql = "DELETE FROM meta WHERE name = 'language'";
    bench.db.execute(sql, []).unwrap();
    assert_eq!(bench.sqlite.language().unwrap(), Language::English);
    assert_eq!(steps_of_opening(&path(&bench)), 0);
    check(&bench.db);
}
