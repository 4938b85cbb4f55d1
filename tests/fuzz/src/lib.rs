//! What the targets share: two stores that must agree, seeds, and how an input becomes text.

use std::path::Path;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use strandline::storage::Durability;
use strandline::{Classification, Clock, Error, ErrorKind, MemoryStore, Session, StoreBuilder};
use tempfile::TempDir;

#[path = "../../it/schema.rs"]
pub mod schema;

/// A clock that stands still, so that two stores give the same times.
#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000, 0).expect("a time in range")
    }
}

/// A builder whose stores don't wait for the disk and all have the same time.
pub fn builder() -> StoreBuilder {
    let builder = MemoryStore::builder().clock(Arc::new(Still));
    builder.durability(Durability::Normal)
}

/// A folder in memory, where the machine has such a place.
pub fn folder() -> TempDir {
    let shared = Path::new("/dev/shm");
    let folder = if shared.is_dir() {
        tempfile::tempdir_in(shared)
    } else {
        tempfile::tempdir()
    };
    folder.expect("a folder")
}

/// A store in a file and one in memory.
pub struct Pair {
    pub file: MemoryStore,
    pub memory: MemoryStore,
    _folder: TempDir,
}

impl Pair {
    #[expect(clippy::new_without_default, reason = "it makes a folder")]
    pub fn new() -> Self {
        let folder = folder();
        let path = folder.path().join("memory.db");
        Self {
            file: builder().open(path).expect("the file opens"),
            memory: builder().open_in_memory().expect("a store in memory"),
            _folder: folder,
        }
    }
}

/// A session of this agent at this level, under an id of its own.
pub fn session(store: &MemoryStore, agent: &str, level: Classification) -> Session {
    let id = format!("{agent}/{}", level.as_str());
    let session = store.session(id, agent).taint(level).open();
    session.expect("the session opens")
}

/// The level that an input's byte picks.
pub fn level(byte: u8) -> Classification {
    Classification::ALL[usize::from(byte) % 4]
}

/// The first byte, and the rest as text.
pub fn text(data: &[u8]) -> Option<(u8, String)> {
    let (first, rest) = data.split_first()?;
    Some((*first, String::from_utf8_lossy(rest).into_owned()))
}

/// Fails for an error that no input can be to blame for.
pub fn is_callers(error: &Error) -> bool {
    assert!(
        matches!(
            error.kind(),
            ErrorKind::InvalidArgument
                | ErrorKind::LimitExceeded
                | ErrorKind::NotFound
                | ErrorKind::WrongLevel
                | ErrorKind::NotAStore
                | ErrorKind::NewerVersion
        ),
        "{error:?}"
    );
    true
}

/// Writes the seeds to the folder that `FUZZ_SEEDS` names, and ends the process then.
pub fn seeds<T: AsRef<[u8]>>(make: impl FnOnce() -> Vec<T>) {
    let Some(folder) = std::env::var_os("FUZZ_SEEDS") else {
        return;
    };
    for (number, seed) in make().into_iter().enumerate() {
        let path = Path::new(&folder).join(format!("seed-{number:02}"));
        std::fs::write(path, seed).expect("the seed can be written");
    }
    std::process::exit(0);
}
