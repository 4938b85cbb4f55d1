//! Every version as a line of JSON.
//!
//! The format is in `import.md`, which is the documentation of [`Host::import`].

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::{Host, line};
use crate::error::Result;
use crate::observe::Operation;
use crate::policy::Gate;
use crate::storage::sqlite::open::absolute;
use crate::storage::sqlite::partial::{Partial, refuse_database};
use crate::storage::{Namespace, StoredVersion};

impl Host {
    /// Writes every version of every namespace and agent, one line of JSON each; returns how many there are
    /// besides the sessions' own state.
    ///
    /// They are as they were at one moment, whoever writes meanwhile, and written one by one. As long as it
    /// runs, the store's WAL grows by what others write; so give it a writer that doesn't wait for
    /// anybody. The format is said in [`import`](Self::import).
    ///
    /// # Errors
    /// [`Io`](crate::ErrorKind::Io) if the writer fails, or an error of the storage. What was
    /// written then isn't complete; its first line says how many were to come.
    ///
    /// ```
    /// use strandline::{Classification, Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let high = store.session("s-1", "agent").taint(Classification::Restricted).open()?;
    /// store.save(&high, Draft::new("user-name", "Ada"))?;
    /// let mut file = Vec::new();
    /// assert_eq!(store.host().export(&mut file)?, 1);
    ///
    /// // What a session exports is what it sees.
    /// let low = store.session("s-2", "agent").open()?;
    /// assert_eq!(store.export(&low, Vec::new())?, 0);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn export(&self, writer: impl Write) -> Result<u64> {
        self.watch(Operation::ExportStore, || self.write_all(writer))
    }

    fn write_all(&self, writer: impl Write) -> Result<u64> {
        let mut writer = BufWriter::new(writer);
        let grant = Gate::host(self.namespace.clone(), None);
        let (mut count, mut is_begun) = (0, false);
        let mut each = |stored: StoredVersion, total| {
            if !is_begun {
                line::write_header(&mut writer, Some(total))?;
                is_begun = true;
            }
            count += u64::from(stored.namespace != Namespace::SESSION);
            line::write(&mut writer, &stored)
        };
        self.gate.provider().versions(&grant, &mut each)?;
        if !is_begun {
            line::write_header(&mut writer, Some(0))?;
        }
        writer.flush().map_err(|error| line::cant_write(&error))?;
        Ok(count)
    }

    /// The same to a file, which only its owner can read.
    ///
    /// It has its name when it is complete and on the disk; a file that has it is replaced then.
    ///
    /// # Errors
    /// As [`export`](Self::export), and [`AlreadyExists`](crate::ErrorKind::AlreadyExists) if the file is a
    /// database, such as the store itself, or belongs to one, as a WAL does. A file that was there stays as
    /// it is then.
    ///
    /// ```
    /// use strandline::MemoryStore;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = MemoryStore::open_in_memory()?;
    /// let path = folder.path().join("memories.jsonl");
    /// assert_eq!(store.host().export_to(&path)?, 0);
    /// assert!(std::fs::read_to_string(&path)?.starts_with(r#"{"format":"strandline""#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn export_to(&self, path: impl AsRef<Path>) -> Result<u64> {
        self.watch(Operation::ExportStore, || {
            export_file(path.as_ref(), |file| self.write_all(file))
        })
    }
}

/// Writes a file that has its name when it is complete.
pub(super) fn export_file<T>(path: &Path, write: impl FnOnce(&mut File) -> Result<T>) -> Result<T> {
    let path = absolute(path)?;
    refuse_database(&path)?;
    let mut file = Partial::beside(&path)?;
    let written = write(file.file())?;
    file.replace()?;
    Ok(written)
}
