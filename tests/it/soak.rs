//! Writers and readers in eight processes, some of which are killed all the time.
//!
//! It takes 5 seconds, or as many as `STRANDLINE_SOAK` says:
//! `STRANDLINE_SOAK=300 cargo test --release --test it -- soak:: --nocapture`.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use strandline::{Draft, List, MemoryStore, Search};
use uuid::Uuid;

use crate::child;
use crate::keyed;
use crate::sound::assert_sound;

const WRITERS: usize = 5;
const READERS: usize = 3;

/// A process, and what it says until it ends.
struct Running {
    process: Child,
    said: JoinHandle<Vec<String>>,
}

/// How many lines were said by the processes of a kind.
type Count = Arc<AtomicUsize>;

impl Running {
    fn start(path: &Path, argument: &str, count: &Count) -> Self {
        let test = "soak::child_writes_or_reads";
        let mut process = child::command(test, path, argument).spawn().unwrap();
        child::go(&mut process);
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let count = Arc::clone(count);
        let lines = lines.map_while(Result::ok);
        let lines = lines.inspect(move |_| _ = count.fetch_add(1, Ordering::Relaxed));
        let said = thread::spawn(move || lines.collect());
        Self { process, said }
    }

    /// Ends it, if it hasn't failed before; what it acknowledged.
    fn kill(mut self) -> Vec<String> {
        let ended = self.process.try_wait().unwrap();
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        let said = self.said.join().unwrap();
        assert!(ended.is_none(), "a process failed: {}", said.join("\n"));
        said
    }
}

#[test]
fn processes_that_are_killed_lose_nothing_and_lock_no_one_out() {
    let seconds = std::env::var("STRANDLINE_SOAK").map_or(5, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (reads, saves) = (Count::default(), Count::default());
    let readers: Vec<Running> = (0..READERS)
        .map(|reader| Running::start(&path, &format!("read {reader}"), &reads))
        .collect();
    let mut started = 0;
    let mut writer = || {
        started += 1;
        Running::start(&path, &format!("write {started}"), &saves)
    };
    let mut writers: Vec<Running> = (0..WRITERS).map(|_| writer()).collect();
    let (start, mut acknowledged) = (Instant::now(), Vec::new());
    // A slow machine gets the time that it takes until something was done.
    let is_little = || reads.load(Ordering::Relaxed) == 0 || saves.load(Ordering::Relaxed) <= 10;
    while start.elapsed() < Duration::from_secs(seconds)
        || (is_little() && start.elapsed() < Duration::from_secs(300))
    {
        thread::sleep(Duration::from_millis(u64::try_from(random(300)).unwrap()));
        let killed = writers.swap_remove(random(WRITERS));
        acknowledged.extend(killed.kill());
        writers.push(writer());
    }
    for running in writers {
        acknowledged.extend(running.kill());
    }
    let reads = readers.into_iter().flat_map(Running::kill).count();
    eprintln!(
        "{seconds} s: {} saves acknowledged, {started} writers, {} hundred reads",
        acknowledged.len(),
        reads
    );
    assert!(reads > 0 && acknowledged.len() > 10);
    assert_all_there(&path, &acknowledged);
    assert_sound(&path);
}

fn random(below: usize) -> usize {
    usize::try_from(Uuid::new_v4().as_u128() % u128::try_from(below).unwrap()).unwrap()
}

/// What was acknowledged is there, from the whole lines that were said.
fn assert_all_there(path: &Path, acknowledged: &[String]) {
    let store = keyed::open(path).unwrap();
    let session = store.session("check", "agent").open().unwrap();
    let mut lasts: BTreeMap<&str, u64> = BTreeMap::new();
    for line in acknowledged {
        let (name, number) = line.rsplit_once(' ').unwrap();
        // A killed process may have been cut off in the middle of its last line.
        let Some(number) = number.strip_suffix('.') else {
            continue;
        };
        let memory = store
            .get(&session, &format!("own {name} {number}"))
            .unwrap();
        assert_eq!(
            memory.unwrap().content,
            format!("number {number} of {name}")
        );
        let last = lasts.entry(name).or_default();
        *last = number.parse::<u64>().unwrap().max(*last);
    }
    for (name, last) in lasts {
        let versions = store
            .host()
            .history("agent", &format!("same {name}"))
            .unwrap();
        assert!(u64::try_from(versions.len()).unwrap() > last, "{name}");
    }
}

/// `write NAME` saves, in two threads, and says so after each; `read NAME` reads and says so after each
/// hundred. Both go on until they are killed.
#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_writes_or_reads() {
    let Some((path, argument)) = child::arguments() else {
        return;
    };
    let store = keyed::open(path).unwrap();
    let (what, name) = argument.split_once(' ').unwrap();
    if what == "read" {
        return read(&store, name);
    }
    thread::scope(|scope| {
        for half in ["a", "b"] {
            let (store, name) = (&store, format!("{name}{half}"));
            scope.spawn(move || write(store, &name));
        }
    });
}

fn write(store: &MemoryStore, name: &str) {
    let session = store.session(name, "agent").open().unwrap();
    for number in 0.. {
        let content = format!("number {number} of {name}");
        let own = Draft::new(format!("own {name} {number}"), content.as_str());
        let same = Draft::new(format!("same {name}"), content.as_str());
        let saved = store
            .save(&session, own)
            .and_then(|_| store.save(&session, same));
        // One thread's panic would leave the other going on.
        if let Err(error) = saved {
            child::say(&format!("a save failed: {error:?}"));
            std::process::exit(1);
        }
        child::say(&format!("{name} {number}."));
    }
}

fn read(store: &MemoryStore, name: &str) {
    let session = store
        .session(format!("reader {name}"), "agent")
        .open()
        .unwrap();
    for number in 0.. {
        let hits = store.search(&session, Search::new("number 7")).unwrap();
        for hit in hits {
            let found = store.get(&session, hit.memory.key.as_str()).unwrap();
            assert!(found.is_some());
        }
        store.list(&session, List::new().limit(20)).unwrap();
        if number % 100 == 99 {
            child::say(&format!("{name} {number}."));
        }
    }
}
