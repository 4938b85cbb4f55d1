//! Two processes that change one session at the same instant.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin};
use std::thread;
use std::time::Duration;

use strandline::Classification::{Confidential, Internal, Public, Restricted};
use strandline::{Draft, ErrorKind, MemoryStore};

use super::open_file;
use crate::child;
use crate::keyed;
use crate::sound::assert_sound;

const ROUNDS: u32 = 300;

/// How much later than the other one of the two begins, at most.
const LAG: Duration = Duration::from_micros(1_500);

fn lag(round: u32) -> Duration {
    LAG * (round % 8) / 7
}

/// What only a session that was raised reads.
fn fill(store: &MemoryStore) {
    let high = store.session("high", "agent").taint(Confidential).open();
    store.save(&high.unwrap(), Draft::new("deep", "v")).unwrap();
}

/// Tells a child of each round, and hears what came of it.
struct Raiser {
    child: Child,
    told: ChildStdin,
    heard: BufReader<ChildStderr>,
}

impl Raiser {
    fn start(path: &Path) -> Self {
        let mut child = child::command("taint::processes::child_raises", path, "")
            .spawn()
            .unwrap();
        let told = child.stdin.take().unwrap();
        let heard = BufReader::new(child.stderr.take().unwrap());
        let mut raiser = Self { child, told, heard };
        raiser.tell("go");
        raiser
    }

    fn tell(&mut self, line: &str) {
        self.told.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.heard.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn end(self) {
        let Self {
            mut child, told, ..
        } = self;
        drop(told);
        assert!(child.wait().unwrap().success());
    }
}

/// Raises the session of each line that it is told of, once it is told again.
#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_raises() {
    let Some((path, _)) = child::arguments() else {
        return;
    };
    let store = open_file(&path);
    let mut lines = std::io::stdin().lines().map(|line| line.unwrap());
    while let Some(round) = lines.next() {
        let session = store.session(format!("s-{round}"), "agent").open().unwrap();
        child::say("ready");
        lines.next().unwrap();
        let round: u32 = round.parse().unwrap();
        thread::sleep(lag(round / 8));
        let raised = session.raise(Confidential, "opened the ledger");
        if let Err(error) = &raised {
            assert_eq!(error.kind(), ErrorKind::CeilingExceeded, "{error}");
        }
        let reads = store.get(&session, "deep").unwrap().is_some();
        assert_eq!(reads, raised.is_ok());
        assert!(session.taint().can_flow_to(session.ceiling()));
        child::say(if reads { "raised" } else { "refused" });
    }
}

/// A session's record never says more than any ceiling that was stored of the session.
fn assert_none_above(path: &Path) {
    let sql = "SELECT count(*), count(DISTINCT key),
                   sum(highest > lowest) FROM (
                 SELECT key, max(level) AS highest, min(CASE content ->> '$.ceiling'
                     WHEN 'PUBLIC' THEN 0 WHEN 'INTERNAL' THEN 1
                     WHEN 'CONFIDENTIAL' THEN 2 WHEN 'RESTRICTED' THEN 3 END) AS lowest
                 FROM records WHERE key LIKE 's-%' GROUP BY key)";
    let db = keyed::raw(path).unwrap();
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let found: (u32, u32, u32) = db.query_row(sql, [], row).unwrap();
    assert_eq!(found, (ROUNDS, ROUNDS, 0));
}

#[test]
fn of_a_rise_and_a_ceiling_below_it_in_two_processes_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = open_file(&path);
    fill(&store);
    let mut raiser = Raiser::start(&path);
    let mut tightened = 0;
    for round in 0..ROUNDS {
        let id = format!("s-{round}");
        raiser.tell(&round.to_string());
        assert_eq!(raiser.hear(), "ready");
        raiser.tell("now");
        thread::sleep(lag(round));
        let capped = store.session(&id, "agent").ceiling(Internal).open();
        let rose = raiser.hear() == "raised";
        assert_ne!(rose, capped.is_ok(), "round {round}: {capped:?}");
        match capped {
            Ok(session) => {
                tightened += 1;
                assert!(store.get(&session, "deep").unwrap().is_none());
                assert_eq!((session.taint(), session.ceiling()), (Public, Internal));
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::SessionMismatch),
        }
        let third = open_file(&path);
        let resumed = third.session(&id, "agent").open().unwrap();
        assert!(resumed.taint().can_flow_to(resumed.ceiling()));
        assert_eq!(third.get(&resumed, "deep").unwrap().is_some(), rose);
        let above = resumed.raise(Restricted, "opened the vault");
        assert_eq!(above.is_ok(), rose);
    }
    raiser.end();
    eprintln!("{tightened} of {ROUNDS} tightened");
    assert!((1..ROUNDS).contains(&tightened));
    assert_none_above(&path);
    drop(store);
    assert_sound(&path);
}
