//! The example `inspect`: what it shows, what it never lets through, and its exit codes.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use strandline::{Classification, Draft, MemoryStore};
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
        color: false,
        progress: false,
    };
    let words = words.iter().map(OsString::from);
    let code = run::run(std::iter::once(path.into()).chain(words), &mut screen);
    (code, out.text(), err.text())
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

const VIEWS: [&[&str]; 6] = [
    &["overview", "--stats"],
    &["list", "agent"],
    &["search", "agent", "tea"],
    &["history", "agent", "PUBLIC\u{1b}]0;x"],
    &["audit"],
    &["verify"],
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
            let secret = view[0] != "overview" && out.contains("RESTRICTED");
            assert!(!secret && !out.is_empty(), "{view:?}: {out}");
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
    let (code, out, _) = inspect(&path, &["verify"], 80);
    assert!(code == 1 && out.contains("BROKEN"), "{out}");
}
