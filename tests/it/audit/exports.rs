//! Exports, whose lines prove themselves without the store.

use serde_json::Value;
use strandline::ErrorKind;
use strandline::audit::{FlawKind, Verification, verify_export};

use super::{Tampered, broken, export, open, verify};

#[test]
fn an_export_proves_itself() {
    let file = Tampered::new();
    let (lines, anchor) = export(&open(&file.path));
    assert_eq!(anchor, file.anchor);
    assert_eq!(verify(&lines), Verification::Sound(anchor));
    for (at, seq) in (0..lines.len()).zip(1..) {
        let mut object: serde_json::Map<String, Value> = serde_json::from_str(&lines[at]).unwrap();
        assert_eq!(object.len(), 13);
        for name in object.clone().keys() {
            let old = object[name].clone();
            object[name] = match &old {
                Value::String(text) if name == "hash" => text.replace(['0', '1'], "2").into(),
                Value::String(text) if name == "at" => text.replace("000123", "000124").into(),
                Value::String(text) => format!("{text}x").into(),
                Value::Number(number) => (number.as_u64().unwrap() + 100).into(),
                _ => "x".into(),
            };
            let mut forged = lines.clone();
            forged[at] = serde_json::to_string(&object).unwrap();
            let kind = match name.as_str() {
                "seq" => FlawKind::Missing,
                _ => FlawKind::Changed,
            };
            assert_eq!(verify(&forged), broken(seq, kind), "{name}");
            object[name] = old;
        }
        let mut added = lines.clone();
        added[at] = lines[at].replace("{\"seq\"", "{\"note\":1,\"seq\"");
        assert_eq!(verify(&added), broken(seq, FlawKind::Changed));
        let mut cut = lines.clone();
        cut[at].truncate(20);
        assert_eq!(verify(&cut), broken(seq, FlawKind::Changed));
    }
}

#[test]
fn an_exports_missing_and_moved_lines_are_found() {
    let file = Tampered::new();
    let (lines, anchor) = export(&open(&file.path));
    for (at, seq) in (0..lines.len()).zip(1..) {
        let mut fewer = lines.clone();
        fewer.remove(at);
        let text = fewer.join("\n");
        let found = verify_export(text.as_bytes(), Some(&anchor)).unwrap();
        assert_eq!(found, broken(seq, FlawKind::Missing));
        let mut twice = lines.clone();
        twice.insert(at, lines[at].clone());
        assert_eq!(verify(&twice), broken(seq + 1, FlawKind::Moved));
        for other in at + 1..lines.len() {
            let mut swapped = lines.clone();
            swapped.swap(at, other);
            assert_eq!(verify(&swapped), broken(seq, FlawKind::Moved));
        }
    }
    assert!(verify(&[]).is_sound());
    let nothing = verify_export(&b"\n \n"[..], Some(&anchor)).unwrap();
    assert_eq!(nothing, broken(1, FlawKind::Missing));
    assert_eq!(verify(&["\u{0}".into()]), broken(1, FlawKind::Changed));
}

#[test]
fn an_export_that_can_not_be_written_or_read_is_an_error() {
    /// Takes some bytes, then no more; or gives none.
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self
                .0
                .checked_sub(bytes.len())
                .ok_or_else(|| std::io::Error::other("no space"))?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    impl std::io::Read for Full {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("unplugged"))
        }
    }
    let file = Tampered::new();
    let store = open(&file.path);
    let error = store.host().export_audit(Full(500)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let input = std::io::BufReader::new(Full(0));
    let error = verify_export(input, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    file.run("UPDATE audit SET level = 7 WHERE seq = 3");
    let error = store.host().export_audit(Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("entry 3"));
}

/// The hashes were computed by another program, from the description of the encoding.
#[test]
fn the_encoding_is_as_described() {
    let lines = concat!(
        r#"{"seq":1,"at":"2026-01-01T00:00:00.000123Z","session":"s-1","agent":"agent","#,
        r#""namespace":"memory","action":"tool_call","decision":"refused","#,
        r#""level":"CONFIDENTIAL","key":null,"version":null,"rule":"no-deletes","#,
        r#""detail":"部署","hash":"2c9fd902061bd1dd2e7c24bf004f707c578ac8799dee113e5dfbc947bb4abed3"}"#,
        "\n",
        r#"{"seq":2,"at":"2026-01-01T00:00:00.000123Z","session":"s-1","agent":"agent","#,
        r#""namespace":"memory","action":"save","decision":"allowed","level":"PUBLIC","#,
        r#""key":"caf\u00e9","version":7,"rule":null,"detail":null,"hash":"0945bdc5e46e08d9bb22caca8192f64e3caaa60073008331cecda1a9efda260b"}"#,
        "\n",
    );
    let found = verify_export(lines.as_bytes(), None).unwrap();
    assert!(found.is_sound(), "{found:?}");
}
