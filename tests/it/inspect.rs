//! The example `inspect`: what it shows, what it never lets through, and its exit codes.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use rusqlite::Connection;
use strandline::{Classification, Clock, Draft, MemoryStore};
use unicode_width::UnicodeWidthStr as _;

#[path = "../../examples/inspect/run.rs"]
mod run;
#[path = "../../examples/inspect/screen.rs"]
mod screen;

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// The exit code, the output and the messages, on a terminal of this width or (0) on none.
fn inspect(path: &Path, words: &[&str], width: usize) -> (u8, String, String) {
    let (out, err) = (Sink::default(), Sink::default());
    let mut screen = screen::Screen {
        out: Box::new(out.clone()),
        err: Box::new(err.clone()),
        width: if width == 0 { 80 } else { width },
        is_terminal: width > 0,
        looks: screen::Looks::default(),
    };
    let words = words.iter().map(OsString::from);
    let code = run::run(std::iter::once(path.into()).chain(words), &mut screen);
    (code, out.text(), err.text())
}

#[derive(Debug)]
struct Noon;

impl Clock for Noon {
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp(1_772_366_400, 0).unwrap()
    }
}

const HOSTILE: &str =
    "tea \u{1b}[2J\u{7}\r\u{202e}evil\u{200b}\u{9b}1m 漢字漢字 and a long tail of words";

fn fill(path: &Path) {
    let store = MemoryStore::open(path).unwrap(); // plain: the example takes no key
    for level in Classification::ALL {
        let session = store.session(level.as_str(), "agent").taint(level);
        let session = session.open().unwrap();
        let draft = Draft::new(format!("{level}\u{1b}]0;x"), HOSTILE);
        store.save(&session, draft).unwrap();
    }
}

const VIEWS: [&[&str]; 5] = [
    &["overview"],
    &["list", "agent"],
    &["search", "agent", "tea"],
    &["history", "agent", "PUBLIC\u{1b}]0;x"],
    &["audit"],
];

#[test]
fn no_view_lets_hostile_text_through_is_too_wide_or_shows_what_is_above() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    fill(&path);
    let before = fs::read(&path).unwrap();
    for view in VIEWS {
        for width in [40, 80, 120, 0] {
            let (code, out, err) = inspect(&path, view, width);
            assert_eq!((code, err.as_str()), (0, ""), "{view:?}");
            for line in out.lines() {
                let hostile = |c: char| c.is_control() || "\u{202e}\u{200b}".contains(c);
                assert!(!line.contains(hostile), "{line:?}");
                assert!(width < 80 || line.width() <= width, "{line:?}");
                assert!(width > 0 || serde_json::from_str::<serde_json::Value>(line).is_ok());
            }
            for above in &Classification::ALL[1..] {
                assert!(!out.contains(above.as_str()), "{view:?}: {out}");
            }
            assert!(!out.is_empty(), "{view:?}");
        }
    }
    let (_, out, _) = inspect(&path, &["overview"], 80);
    assert!(out.contains("1 memories up to PUBLIC") && !out.contains("INTERNAL"));
    let (_, out, _) = inspect(&path, &["list", "agent", "--level", "RESTRICTED"], 80);
    assert!(out.contains("4 of 4") && out.contains("\\u{1b}[2J"));
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn exit_codes_tell_usage_damage_and_what_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    assert_eq!(inspect(&path, &[], 80).0, 3);
    assert!(!path.exists());
    drop(MemoryStore::open(&path).unwrap()); // plain: as above
    assert_eq!(inspect(&path, &[], 80).0, 0);
    for wrong in [
        &["nonsense"][..],
        &["list"],
        &["--limit", "0"],
        &["--what"],
        &["--level", "X"],
        &["--stats"],
        &["verify"],
        &["verify", "--level", "CONFIDENTIAL"],
        &["verify", "--level", "RESTRICTED", "--limit", "5"],
        &["search", "agent", "tea", "--limit", "101"],
        &["audit", "--stats", "--level", "RESTRICTED"],
        &["search", "agent", "tea", "--tag", "t"],
        &["list", "agent", "--key", "k"],
    ] {
        let (code, out, err) = inspect(&path, wrong, 80);
        assert_eq!((code, out.as_str()), (2, ""), "{wrong:?}: {err}");
        assert!(err.starts_with("inspect: "));
    }
    fill(&path);
    #[expect(clippy::disallowed_methods, reason = "the example takes no key")]
    let db = Connection::open(&path).unwrap(); // plain: as above
    db.execute_batch("UPDATE audit SET level = 3 WHERE seq = 1")
        .unwrap();
    drop(db);
    let (code, out, _) = inspect(&path, &["verify", "--level", "RESTRICTED"], 80);
    assert!(code == 1 && out.contains("BROKEN"), "{out}");
}

#[cfg(feature = "sqlcipher")]
#[test]
fn of_an_encrypted_store_it_says_that_it_takes_no_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    drop(crate::keyed::open(&path).unwrap());
    let (code, out, err) = inspect(&path, &[], 80);
    assert_eq!((code, out.as_str()), (3, ""));
    let says = err.contains("it is encrypted") && err.ends_with("; this program takes no key\n");
    assert!(says, "{err}");
}

#[test]
fn what_is_shown_is_the_same_with_and_without_what_is_above() {
    let folder = tempfile::tempdir().unwrap();
    let seen = |has_more: bool| {
        let path = folder.path().join(format!("{has_more}.db"));
        let clock = std::sync::Arc::new(Noon);
        let builder = MemoryStore::builder().clock(clock); // plain: the example takes no key
        let store = builder.open(&path).unwrap();
        let low = store.session("low", "agent").open().unwrap();
        let high = store
            .session("high", "agent")
            .taint(Classification::Restricted);
        for n in 0..3 {
            let draft = |text| Draft::new(format!("k-{n}"), text).tag("t");
            store.save(&low, draft("tea")).unwrap();
            if has_more {
                let high = high.clone().open().unwrap();
                store.save(&high, draft("hidden tea")).unwrap();
                store.save(&high, Draft::new("above", "hidden")).unwrap();
                store.delete(&high, &format!("k-{n}")).unwrap();
            }
        }
        drop((store, low));
        let views: [&[&str]; 9] = [
            &[],
            &["list", "agent"],
            &["list", "agent", "--tag", "t", "--limit", "2"],
            &["search", "agent", "hidden tea"],
            &["history", "agent", "k-1"],
            &["history", "agent", "above"],
            &["audit"],
            &["audit", "--key", "above"],
            &["audit", "--session", "high", "--limit", "1"],
        ];
        let shown = |view: &&[&str]| [80, 0].map(|width| inspect(&path, view, width));
        views.iter().map(shown).collect::<Vec<_>>()
    };
    let (with, without) = (seen(true), seen(false));
    for (with, without) in with.iter().zip(&without) {
        assert_eq!(with, without);
    }
}

#[test]
fn a_limit_is_kept_over_pages_and_says_what_it_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = MemoryStore::open(&path).unwrap(); // plain: the example takes no key
    let session = store.session("s", "agent").open().unwrap();
    let drafts = (0..1_203).map(|n| Draft::new(format!("k-{n}"), "v"));
    store.save_all(&session, drafts).unwrap();
    let (_, out, _) = inspect(
        &path,
        &["list", "agent", "--limit", "18446744073709551615"],
        80,
    );
    assert!(out.lines().count() == 1_204 && out.contains("1203 of 1203"));
    let (_, out, err) = inspect(&path, &["list", "agent", "--limit", "1001"], 0);
    assert_eq!(out.lines().count(), 1_001);
    assert_eq!(err, "inspect: 1001 of 1203 (--limit)\n");
    let (_, out, _) = inspect(&path, &["audit", "--limit", "2"], 80);
    assert!(
        out.lines().count() == 3 && out.contains("there are more"),
        "{out}"
    );
    let (_, out, _) = inspect(&path, &["audit", "--key", "no"], 80);
    assert_eq!(out, "nothing, up to PUBLIC\n");
    let (_, out, _) = inspect(&path, &["search", "agent", "no"], 80);
    assert_eq!(out, "nothing, up to PUBLIC\n");
    let (_, out, _) = inspect(&path, &["history", "agent", "no"], 80);
    assert_eq!(out, "0 of 0 up to PUBLIC\n");
    let (_, out, _) = inspect(&path, &["history", "agent", "k-1"], 80);
    assert!(out.ends_with("1 of 1 up to PUBLIC\n"), "{out}");
}

#[test]
fn an_audit_tells_what_was_refused_and_no_long_text_hides_what_matters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = MemoryStore::open(&path).unwrap(); // plain: the example takes no key
    let session = store.session("s", "agent").open().unwrap();
    store.delete(&session, "no").unwrap_err();
    let text = format!("{} schooner", "漢字 harbour ".repeat(8));
    store.save(&session, Draft::new("k", text)).unwrap();
    let long = "long-漢字".repeat(20);
    store.save(&session, Draft::new(long, "brig")).unwrap();
    let (_, out, _) = inspect(&path, &["list", "agent"], 40);
    assert!(out.contains("…  brig"), "{out}");
    let (_, out, _) = inspect(&path, &["audit"], 80);
    assert!(out.contains("delete   refused agent s no"), "{out}");
    for width in [40, 80, 120] {
        let (_, out, _) = inspect(&path, &["search", "agent", "schooner"], width);
        assert!(out.contains("schooner"), "{width}: {out}");
        assert!(out.lines().all(|line| line.width() <= width), "{out}");
    }
}

#[test]
fn colour_and_progress_go_to_a_terminal_that_wants_them() {
    let of = |terminals, term: &str, no_color: Option<&str>| {
        let no_color = no_color.map(OsStr::new);
        let looks = screen::Looks::of(terminals, Some(OsStr::new(term)), no_color);
        (looks.color, looks.progress)
    };
    assert_eq!(of((true, true), "xterm", None), (true, true));
    assert_eq!(of((true, true), "dumb", None), (false, false));
    assert_eq!(of((true, true), "xterm", Some("1")), (false, true));
    assert_eq!(of((true, true), "xterm", Some("")), (true, true));
    assert_eq!(of((false, true), "xterm", None), (false, true));
    assert_eq!(of((true, false), "xterm", None), (true, false));
}

#[test]
fn a_closed_pipe_is_no_error_and_a_full_disk_is_one() {
    struct Failing(io::ErrorKind);
    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    fill(&path);
    let written_to = |kind, words: &[&str]| {
        let err = Sink::default();
        let mut screen = screen::Screen {
            // As the program does it: what is short fails only when it is flushed.
            out: Box::new(io::BufWriter::new(Failing(kind))),
            err: Box::new(err.clone()),
            width: 80,
            is_terminal: false,
            looks: screen::Looks::default(),
        };
        let words = words.iter().map(OsString::from);
        let arguments = std::iter::once(path.clone().into_os_string()).chain(words);
        (run::run(arguments, &mut screen), err.text())
    };
    for words in [&["audit"][..], &["--help"]] {
        let (code, err) = written_to(io::ErrorKind::BrokenPipe, words);
        assert_eq!((code, err.as_str()), (0, ""));
        let (code, err) = written_to(io::ErrorKind::StorageFull, words);
        assert!(code == 3 && err.starts_with("inspect: "), "{err}");
    }
}
