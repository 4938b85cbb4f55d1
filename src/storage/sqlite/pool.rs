//! The connections: one that writes, and a few that read.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::group::{Group, Leader};
use super::open::{self, Identity, InUse, Opened};
use super::read_only::{self, Stamp};
use super::rows::page_size;
use super::watch::Watch;
use super::{SqliteOptions, key};
use crate::error::{Error, ErrorKind, Result};
use crate::sync::unpoisoned;

/// The most connections that read at once. More readers wait for one.
const READERS: usize = 8;

/// A WAL larger than this is emptied by force. SQLite empties it when no one reads, and where someone
/// always does, it grows for ever.
const WAL_LIMIT: u64 = 16 << 20;

/// How long the readers have to finish then.
const WAL_PATIENCE: Duration = Duration::from_millis(100);

/// How long to wait until the next attempt.
const WAL_PAUSE: Duration = Duration::from_millis(5);

/// The largest file of which a temporary copy is kept in memory, in bytes.
const COPY_IN_MEMORY: i64 = 256 << 20;

/// The longest pause before a writer asks again whether another process has finished. SQLite's own is
/// 100 ms, with which one that pauses can miss every gap between the writes of a busy process.
const ASKING: Duration = Duration::from_millis(4);

/// How often, in milliseconds, reads look whether the file is still there; writes always do. A look
/// costs a quarter of a read by key.
const LOOKING: u64 = 10;

/// A file's connections.
#[derive(Debug)]
pub(super) struct Pool {
    path: PathBuf,
    file: Identity,
    opened: Instant,
    /// When the file was last seen at its path, in milliseconds since it was opened.
    seen: AtomicU64,
    options: SqliteOptions,
    writer: Mutex<Writer>,
    /// Whether the connection that writes is of no use any more.
    is_writer_spoilt: AtomicBool,
    pub(super) group: Group,
    readers: Mutex<Readers>,
    returned: Condvar,
    /// The file's stamp where it is read as one that doesn't change.
    frozen: Option<Stamp>,
    /// Dropped last, after the connections.
    _in_use: InUse,
}

#[derive(Debug)]
struct Writer {
    db: Connection,
    watch: Watch,
    wal: PathBuf,
    /// The size of the WAL at which it is emptied by force.
    wal_limit: u64,
}

#[derive(Debug, Default)]
struct Readers {
    idle: Vec<Connection>,
    open: usize,
    waiting: usize,
}

impl Pool {
    pub(super) fn new(
        path: PathBuf,
        options: SqliteOptions,
        opened: Opened,
        frozen: Option<Stamp>,
    ) -> Self {
        let mut wal = path.clone().into_os_string();
        wal.push("-wal");
        let writer = Writer {
            db: opened.db,
            watch: Watch::default(),
            wal: wal.into(),
            wal_limit: WAL_LIMIT,
        };
        Self {
            file: opened.file,
            _in_use: InUse::new(opened.file),
            opened: Instant::now(),
            seen: AtomicU64::new(0),
            path,
            options,
            writer: Mutex::new(writer),
            is_writer_spoilt: AtomicBool::new(false),
            group: Group::default(),
            readers: Mutex::default(),
            returned: Condvar::new(),
            frozen,
        }
    }

    /// Runs `work` in a transaction of its own, which is committed if it succeeds.
    pub(super) fn write<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.refuse_read_only()?;
        let mut writer = self.writer()?;
        let attempt = || {
            let transaction = Transaction::after(&|| self.begin(&writer), &writer.db)?;
            let result = work(&writer.db)?;
            writer.watch.end(&writer.db)?;
            transaction.commit()?;
            Ok(result)
        };
        let result = self.explained(self.noting_spoilt(attempt()));
        if result.is_ok() {
            self.limit_wal(&mut writer);
        }
        result
    }

    /// The connection that writes, anew if it is of no use.
    fn writer(&self) -> Result<MutexGuard<'_, Writer>> {
        let mut writer = unpoisoned(self.writer.lock());
        if self.is_writer_spoilt.load(Ordering::Relaxed) {
            self.file.check(&self.path)?;
            let db = self.connect()?;
            // Another file may have taken its place meanwhile.
            self.file.check(&self.path)?;
            writer.db = db;
            writer.watch = Watch::default();
            self.is_writer_spoilt.store(false, Ordering::Relaxed);
        }
        Ok(writer)
    }

    /// The result, which may say that the connection that writes is of no use any more.
    fn noting_spoilt<T>(&self, result: Result<T>) -> Result<T> {
        if result.as_ref().is_err_and(|error| self.is_spoilt_by(error)) {
            self.is_writer_spoilt.store(true, Ordering::Relaxed);
        }
        result
    }

    /// Writes the whole file anew, so that it holds nothing but what is in it.
    ///
    /// SQLite does so by way of a temporary copy, which is kept in memory if it is small, or if it mustn't
    /// reach a disk in the plain.
    pub(super) fn vacuum(&self) -> Result<()> {
        self.refuse_read_only()?;
        let writer = self.writer()?;
        let count = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let pages = writer.db.pragma_query_value(None, "page_count", count)?;
        let bytes = pages.saturating_mul(page_size(&writer.db)?);
        let temporary = place_of_copy(bytes, self.options.key().is_some());
        writer.db.pragma_update(None, "temp_store", temporary)?;
        let done = writer.db.execute_batch("VACUUM").map_err(Error::from);
        let done = self.explained(self.noting_spoilt(done));
        writer.db.pragma_update(None, "temp_store", "MEMORY")?;
        done
    }

    /// Brings all of the WAL into the file and empties it. Returns whether the readers let it within the
    /// busy timeout.
    pub(super) fn empty_wal(&self) -> Result<bool> {
        self.refuse_read_only()?;
        let start = Instant::now();
        loop {
            {
                let writer = self.writer()?;
                let _readers = unpoisoned(self.readers.lock());
                match writer.empty_wal(self.options.busy_timeout) {
                    Ok(true) => return Ok(true),
                    Err(error) if !open::is_busy(&error) => {
                        return self.explained(self.noting_spoilt(Err(error.into())));
                    }
                    _ => (),
                }
            }
            if start.elapsed() >= self.options.busy_timeout {
                return Ok(false);
            }
            // Others get their turn.
            thread::sleep(WAL_PAUSE);
        }
    }

    /// Runs `work` in a transaction that it shares with whatever else waits to be written.
    ///
    /// If it fails it has changed nothing, and the others don't notice. It may run twice, and in another
    /// thread.
    pub(super) fn write_together<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T> {
        self.refuse_read_only()?;
        if self.is_writer_spoilt.load(Ordering::Relaxed) {
            drop(self.writer()?);
        }
        let result = self.group.write(work, |mut leader: Leader<'_>| {
            let mut writer = unpoisoned(self.writer.lock());
            let end = || writer.watch.end(&writer.db);
            leader.write(|| self.begin(&writer), end, &writer.db);
            self.limit_wal(&mut writer);
        });
        self.explained(self.noting_spoilt(result))
    }

    /// Begins to write, when other processes let it.
    fn begin(&self, writer: &Writer) -> Result<()> {
        let db = &writer.db;
        let timeout = self.options.busy_timeout;
        let mut begin = db.prepare_cached("BEGIN IMMEDIATE")?;
        db.busy_timeout(Duration::ZERO)?;
        let (start, mut pause) = (Instant::now(), Duration::from_micros(250));
        let outcome = loop {
            match begin.execute([]) {
                Err(error) if open::is_busy(&error) && start.elapsed() < timeout => {
                    thread::sleep(pause.min(timeout.saturating_sub(start.elapsed())));
                    pause = (pause * 2).min(ASKING);
                }
                outcome => break outcome,
            }
        };
        db.busy_timeout(timeout)?;
        outcome?;
        self.file.check(&self.path)?;
        writer.watch.begin(db)
    }

    /// Empties the WAL if it has grown too large.
    fn limit_wal(&self, writer: &mut Writer) {
        let size = size(&writer.wal);
        if size <= writer.wal_limit {
            return;
        }
        // Meanwhile no reader of ours begins, so that those under way are the last to wait for.
        let _readers = unpoisoned(self.readers.lock());
        let emptied = writer.empty_wal(self.options.busy_timeout);
        // The commit stands, whatever came of it. A reader that stays must not make every save wait for
        // it.
        writer.wal_limit = match self.noting_spoilt(emptied.map_err(Error::from)) {
            Ok(true) => WAL_LIMIT,
            _ => size + WAL_LIMIT / 4,
        };
    }

    /// Runs `work`, which may be several statements, on one snapshot of the file.
    pub(super) fn snapshot<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.read(|db| {
            let begin = || Ok(db.prepare_cached("BEGIN")?.execute([]).map(drop)?);
            let transaction = Transaction::after(&begin, db)?;
            let result = work(db)?;
            transaction.commit()?;
            Ok(result)
        })
    }

    /// Runs `work`, which is one statement and so sees one snapshot anyway.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.explained(self.read_raw(work))
    }

    fn read_raw<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let mut reader = self.reader()?;
        self.look()?;
        let result = work(reader.db.as_ref().ok_or_else(no_connection)?);
        if result.as_ref().is_err_and(|error| self.is_spoilt_by(error)) {
            reader.db = None;
        }
        self.refuse_thawed()?;
        result
    }

    /// Runs `work` on a connection that is closed afterwards.
    pub(super) fn apart<T>(&self, work: impl FnOnce(Connection) -> Result<T>) -> Result<T> {
        let db = self.connect()?;
        // Another file may have taken its place.
        self.file.check(&self.path)?;
        let result = self.explained(work(db));
        self.refuse_thawed()?;
        result
    }

    /// Refuses to write in a store that only reads.
    pub(super) fn refuse_read_only(&self) -> Result<()> {
        if self.options.read_only {
            return Err(read_only::refused());
        }
        Ok(())
    }

    /// Refuses what was read from a file that was taken for one that doesn't change, and did.
    fn refuse_thawed(&self) -> Result<()> {
        self.frozen
            .as_ref()
            .map_or(Ok(()), |stamp| stamp.check(&self.path))
    }

    fn connect(&self) -> Result<Connection> {
        let connected = if self.frozen.is_some() {
            read_only::connect_frozen(&self.path, &self.options)
        } else {
            open::connect(&self.path, &self.options)
        };
        self.explained(connected)
    }

    /// Refuses to read a file that is no longer at its path, if it's time to look.
    fn look(&self) -> Result<()> {
        let now = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        if now.saturating_sub(self.seen.load(Ordering::Relaxed)) >= LOOKING {
            self.file.check(&self.path)?;
            self.seen.store(now, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The result. A store that was opened with its key is no other file by now: where SQLCipher finds no
    /// database in it, it says whether that is the disk's fault.
    fn explained<T>(&self, result: Result<T>) -> Result<T> {
        let key = self.options.key();
        match result {
            Err(error) if key.is_some() => Err(key::explained(error, &self.path, key)),
            result => result,
        }
    }

    /// Whether the connection is of no use after the error. SQLCipher reads nothing more by one that has come
    /// upon a page that it couldn't read or decrypt, not even what is sound.
    fn is_spoilt_by(&self, error: &Error) -> bool {
        let kind = error.kind();
        let is_of_file = matches!(
            kind,
            ErrorKind::Corrupt | ErrorKind::NotAStore | ErrorKind::Io
        );
        self.options.key().is_some() && is_of_file
    }

    fn reader(&self) -> Result<Reader<'_>> {
        let mut readers = unpoisoned(self.readers.lock());
        loop {
            if let Some(db) = readers.idle.pop() {
                return Ok(Reader {
                    pool: self,
                    db: Some(db),
                });
            }
            if readers.open < READERS {
                break;
            }
            readers.waiting += 1;
            readers = unpoisoned(self.returned.wait(readers));
            readers.waiting -= 1;
        }
        readers.open += 1;
        drop(readers);
        // From here on the reader's drop keeps the count right, also if it can't be opened.
        let mut reader = Reader {
            pool: self,
            db: None,
        };
        let db = self.connect()?;
        // Another file may have taken its place.
        self.file.check(&self.path)?;
        db.pragma_update(None, "query_only", "ON")?;
        reader.db = Some(db);
        Ok(reader)
    }
}

impl Writer {
    /// Brings all of the WAL into the file and empties it. Returns whether the readers let it.
    fn empty_wal(&self, busy_timeout: Duration) -> rusqlite::Result<bool> {
        self.db.busy_timeout(WAL_PATIENCE.min(busy_timeout))?;
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy: rusqlite::Result<bool> = self.db.query_row(sql, [], |row| row.get(0));
        self.db.busy_timeout(busy_timeout)?;
        Ok(!busy?)
    }
}

/// Where SQLite keeps a temporary copy of so many bytes, as a value of `temp_store`.
fn place_of_copy(bytes: i64, has_key: bool) -> &'static str {
    if bytes <= COPY_IN_MEMORY || has_key {
        "MEMORY"
    } else {
        "FILE"
    }
}

/// The bytes of a file; 0 if there is none.
pub(super) fn size(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |info| info.len())
}

fn no_connection() -> crate::Error {
    crate::Error::internal("the pool gave out a reader without its connection")
}

/// An open transaction, which is rolled back unless it is committed: also where its work panics.
///
/// Unlike rusqlite's own it keeps its statements prepared.
pub(super) struct Transaction<'db>(&'db Connection);

impl<'db> Transaction<'db> {
    /// The transaction that `begin` begins.
    pub(super) fn after(begin: &impl Fn() -> Result<()>, db: &'db Connection) -> Result<Self> {
        // Made first, for what fails after the transaction has begun.
        let transaction = Self(db);
        begin()?;
        Ok(transaction)
    }

    pub(super) fn commit(self) -> Result<()> {
        self.0.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.0.is_autocommit() {
            return;
        }
        // Fails only where SQLite has rolled back by itself.
        drop(self.0.execute_batch("ROLLBACK"));
    }
}

/// A connection on loan.
struct Reader<'p> {
    pool: &'p Pool,
    db: Option<Connection>,
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let mut readers = unpoisoned(self.pool.readers.lock());
        match self.db.take() {
            Some(db) => readers.idle.push(db),
            None => readers.open -= 1,
        }
        let wanted = readers.waiting > 0;
        drop(readers);
        // Asked first, since waking no one is a system call, too.
        if wanted {
            self.pool.returned.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{COPY_IN_MEMORY, place_of_copy};

    #[test]
    fn a_large_copy_is_kept_in_a_file_but_never_one_of_what_has_a_key() {
        assert_eq!(place_of_copy(COPY_IN_MEMORY, false), "MEMORY");
        assert_eq!(place_of_copy(COPY_IN_MEMORY + 1, false), "FILE");
        assert_eq!(place_of_copy(COPY_IN_MEMORY + 1, true), "MEMORY");
        assert_eq!(place_of_copy(i64::MAX, true), "MEMORY");
    }
}
