//! The audit's chain: checked, and copied out.

use std::io::{BufWriter, Write};
use std::path::Path;

use super::Host;
use super::export::export_file;
use crate::audit::{Anchor, Link, Verification, Walk, write_line};
use crate::error::{Error, Result};
use crate::observe::Operation;
use crate::policy::Gate;

/// How many entries are read at a time.
const BATCH: usize = 256;

impl Host {
    /// Whether every entry of the audit is as it was stored, those of every namespace and agent, as far as
    /// there are any at the start of the call.
    ///
    /// Any single entry that was changed, removed or moved is found, and the first is named. The
    /// [anchor](Anchor) of an earlier verification or export also shows whether the end was cut off
    /// together with the store's own count, and whether the whole chain was written anew. Entries are
    /// read in short steps, so nobody waits for it, and it takes memory for a few hundred.
    ///
    /// # Errors
    /// Those of the storage only; a broken chain is an answer.
    ///
    /// ```
    /// use strandline::audit::Verification;
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "v"))?;
    /// let Verification::Sound(anchor) = store.host().verify(None)? else { panic!("broken") };
    /// assert_eq!(anchor.entries, 2); // the opening of the session, and the save
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn verify(&self, anchor: Option<&Anchor>) -> Result<Verification> {
        self.watch(Operation::Verify, || {
            let mut walk = Walk::new(anchor);
            let recorded = self.walk_trail(|link| {
                walk.feed(link);
                Ok(())
            })?;
            Ok(walk.finish(recorded))
        })
    }

    /// Writes every entry that there is at the start of the call as one line of JSON, the first entry
    /// first, and returns the [`Anchor`] of what it wrote.
    ///
    /// A line has the fields of [`Entry`](crate::audit::Entry), the hash among them, so
    /// [`verify_export`](crate::audit::verify_export) can check the lines without the store. They are
    /// written as they are found, also where the chain is broken. Nobody waits for it, and it takes memory
    /// for a few hundred entries.
    ///
    /// # Errors
    /// [`Io`](crate::ErrorKind::Io) where `out` can't be written, [`Corrupt`](crate::ErrorKind::Corrupt)
    /// for an entry that can't be read, or an error of the storage.
    ///
    /// ```
    /// use strandline::MemoryStore;
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// let mut lines = Vec::new();
    /// let anchor = store.host().export_audit(&mut lines)?;
    /// assert_eq!(anchor.entries, 1);
    /// assert!(lines.starts_with(br#"{"seq":1,"#));
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn export_audit(&self, out: impl Write) -> Result<Anchor> {
        self.watch(Operation::ExportAudit, || self.write_trail(out))
    }

    fn write_trail(&self, mut out: impl Write) -> Result<Anchor> {
        let mut written = Anchor::START;
        self.walk_trail(|Link { seq, entry }| {
            let entry = entry
                .ok_or_else(|| Error::corrupt(format!("entry {seq} of the audit can't be read")))?;
            write_line(&mut out, &entry)?;
            written = Anchor {
                entries: written.entries.saturating_add(1),
                head: entry.hash,
            };
            Ok(())
        })?;
        Ok(written)
    }

    /// The same to a file, which only its owner can read.
    ///
    /// It has its name when it is complete and on the disk; a file that has it is replaced then.
    ///
    /// # Errors
    /// As [`export_audit`](Self::export_audit), and [`AlreadyExists`](crate::ErrorKind::AlreadyExists) if the
    /// file is a database or belongs to one. A file that was there stays as it is then.
    ///
    /// ```
    /// use strandline::MemoryStore;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = MemoryStore::open_in_memory()?;
    /// store.session("s-1", "agent").open()?;
    /// let path = folder.path().join("audit.jsonl");
    /// assert_eq!(store.host().export_audit_to(&path)?.entries, 1);
    /// assert!(std::fs::read_to_string(&path)?.starts_with(r#"{"seq":1,"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn export_audit_to(&self, path: impl AsRef<Path>) -> Result<Anchor> {
        self.watch(Operation::ExportAudit, || {
            export_file(path.as_ref(), |file| self.write_trail(BufWriter::new(file)))
        })
    }

    /// Shows each link up to the last that there is now. Returns how many entries are counted now.
    fn walk_trail(&self, mut look: impl FnMut(Link) -> Result<()>) -> Result<u64> {
        let grant = Gate::host(self.namespace.clone(), None);
        let mut trail = self.gate.provider().trail(&grant, 0, BATCH)?;
        let recorded = trail.recorded;
        let mut before = 0;
        while let Some(last) = trail.links.last() {
            let last = last.seq;
            for link in trail.links {
                if link.seq <= recorded {
                    look(link)?;
                }
            }
            // A damaged tree may give the same entries again and again.
            if last >= recorded || last <= before {
                break;
            }
            before = last;
            trail = self.gate.provider().trail(&grant, last, BATCH)?;
        }
        Ok(recorded)
    }
}
