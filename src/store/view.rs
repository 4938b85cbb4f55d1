//! What a session sees, as a file.

use std::io::{BufWriter, Write};

use super::MemoryStore;
use super::host::line;
use crate::audit::Action;
use crate::error::{Error, Result};
use crate::observe::Operation;
use crate::policy::Act;
use crate::session::Session;
use crate::storage::{ListRequest, StoredVersion, Version, VersionState};

impl MemoryStore {
    /// Writes the memories that this session can see, one line of JSON each; returns how many.
    ///
    /// They are those of [`list`](Self::list), by key and read a page at a time, in the format of
    /// [`Host::import`](crate::Host::import). What is above the session's taint, shadowed, expired,
    /// superseded or deleted isn't among them.
    ///
    /// # Errors
    /// [`Denied`](crate::ErrorKind::Denied) by a host rule, [`Io`](crate::ErrorKind::Io) if the writer
    /// fails, or an error of the storage.
    ///
    /// ```
    /// use strandline::{Classification, Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let low = store.session("s-1", "agent").open()?;
    /// let high = store.session("s-2", "agent").taint(Classification::Restricted).open()?;
    /// store.save(&low, Draft::new("user-name", "Ada"))?;
    /// store.save(&high, Draft::new("pin", "12345"))?;
    /// let mut file = Vec::new();
    /// assert_eq!(store.export(&low, &mut file)?, 1);
    /// assert!(!String::from_utf8_lossy(&file).contains("12345")); // above its taint
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn export(&self, session: &Session, writer: impl Write) -> Result<u64> {
        self.watch(session, Operation::Export, |probe| {
            let mut writer = BufWriter::new(writer);
            line::write_header(&mut writer, None)?;
            let (mut count, mut after) = (0_u64, None);
            loop {
                let act = Act::new(Action::List, &self.namespace).seen_by(probe);
                let grant = self.gate.read(session, act)?;
                let request = ListRequest {
                    tag: None,
                    after: after.clone(),
                    limit: self.limits.page.clamp(1, 100),
                    count: false,
                };
                let page = self.gate.provider().list(&grant, &request)?;
                for memory in page.records {
                    if after.as_ref().is_some_and(|after| memory.key <= *after) {
                        return Err(Error::corrupt("memories of the store are in no order"));
                    }
                    after = Some(memory.key.clone());
                    count += 1;
                    line::write(&mut writer, &self.as_stored(memory))?;
                }
                if !page.more {
                    break;
                }
            }
            writer.flush().map_err(|error| line::cant_write(&error))?;
            Ok(count)
        })
    }

    fn as_stored(&self, memory: crate::Memory) -> StoredVersion {
        StoredVersion {
            namespace: self.namespace.clone(),
            version: Version {
                memory,
                state: VersionState::Live,
                ended_at: None,
            },
        }
    }
}
