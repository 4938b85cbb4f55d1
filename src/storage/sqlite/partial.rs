//! A file in the making: whole and synced, or not there under its name.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind as IoKind, Read as _};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::open::{Identity, io_error, is_in_use, named, new_file};
use crate::error::{Error, ErrorKind, Result};

/// What SQLite may keep beside a database.
const SIDECARS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// How every SQLite database begins.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// How many bytes of a file are looked at.
const LOOK: u64 = 1_024;

const ENDING: &str = ".partial";

/// A new file beside its place, for its owner only, which takes that place when it is complete.
///
/// It is removed where it is dropped before. What a killed process left is removed by the next one that
/// makes a file for the same place: whoever makes one holds a lock on it.
#[derive(Debug)]
pub(crate) struct Partial {
    place: PathBuf,
    path: PathBuf,
    file: File,
}

impl Partial {
    /// A new empty file for the place.
    ///
    /// # Errors
    /// Those of the file system, and `AlreadyExists` for [a database's own](refuse_sidecar).
    pub(crate) fn beside(place: &Path) -> Result<Self> {
        let named = |error: &Error| named(place, error);
        refuse_sidecar(place).map_err(|error| named(&error))?;
        remove_left_over(place);
        let name = place.file_name();
        let name = name.ok_or_else(|| named(&Error::invalid("`path` must name a file")))?;
        loop {
            let path = place.with_file_name(partial_name(name));
            let file = new_file()
                .open(&path)
                .map_err(|error| named(&io_error(place, &error)))?;
            let partial = Self {
                place: place.to_owned(),
                path,
                file,
            };
            if partial.claim()? {
                return Ok(partial);
            }
        }
    }

    /// Whether it is ours: not if it was just taken for a left-over.
    fn claim(&self) -> Result<bool> {
        if cfg!(unix) {
            let locked = self.file.lock();
            locked.map_err(|error| named(&self.place, &io_error(&self.path, &error)))?;
        }
        Ok(self.path.exists())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Puts the file in its place, where nothing may be.
    pub(crate) fn put_new(self) -> Result<()> {
        self.put(|from, to| match fs::hard_link(from, to) {
            Err(error) if error.kind() != IoKind::AlreadyExists && !to.exists() => {
                // Some file systems have no links.
                fs::rename(from, to)
            }
            linked => linked,
        })
    }

    /// Puts the file in its place, instead of what is there.
    pub(crate) fn replace(self) -> Result<()> {
        self.put(|from, to| fs::rename(from, to))
    }

    fn put(self, place: impl Fn(&Path, &Path) -> std::io::Result<()>) -> Result<()> {
        let is_ours = self
            .file
            .metadata()
            .is_ok_and(|info| Identity::of_info(Some(&info)) == Identity::of(&self.path));
        if !is_ours {
            let text = "the file in the making was removed or replaced before it was complete";
            return Err(named(&self.place, &Error::new(ErrorKind::Io, text)));
        }
        let done = self
            .file
            .sync_all()
            .and_then(|()| place(&self.path, &self.place))
            .and_then(|()| sync_folder(&self.place));
        done.map_err(|error| named(&self.place, &io_error(&self.place, &error)))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // It isn't there any more if it was renamed. Nothing is lost where it can't be removed.
        drop(fs::remove_file(&self.path));
        drop(remove_sidecars(&self.path));
    }
}

/// The path of what SQLite may keep beside the database.
pub(super) fn sidecars(path: &Path) -> [PathBuf; 3] {
    SIDECARS.map(|ending| {
        let mut sidecar = path.as_os_str().to_owned();
        sidecar.push(ending);
        sidecar.into()
    })
}

pub(super) fn remove_sidecars(path: &Path) -> std::io::Result<()> {
    for sidecar in sidecars(path) {
        match fs::remove_file(sidecar) {
            Err(error) if error.kind() != IoKind::NotFound => return Err(error),
            _ => (),
        }
    }
    Ok(())
}

/// Refuses a name by which SQLite finds what belongs to a database that is there.
pub(super) fn refuse_sidecar(place: &Path) -> Result<()> {
    let name = place.file_name().unwrap_or_default();
    let bytes = name.as_encoded_bytes();
    let owner = SIDECARS.iter().find_map(|ending| {
        let (owner, end) = bytes.split_at_checked(bytes.len().checked_sub(ending.len())?)?;
        // Some file systems don't tell cases apart.
        let owner = std::str::from_utf8(owner).ok()?;
        (!owner.is_empty() && end.eq_ignore_ascii_case(ending.as_bytes())).then_some(owner)
    });
    let Some(owner) = owner.filter(|owner| place.with_file_name(owner).exists()) else {
        return Ok(());
    };
    let text = format!("a file of this name belongs to the database `{owner}` beside it");
    Err(Error::new(ErrorKind::AlreadyExists, text))
}

/// Refuses a place where something is, or beside which an old WAL would become the new file's.
pub(crate) fn refuse_taken(place: &Path) -> Result<()> {
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    if !is_there(place) && !sidecars(place).iter().any(|path| is_there(path)) {
        return Ok(());
    }
    let text = "there is a file already, or what SQLite left of one";
    Err(named(place, &Error::new(ErrorKind::AlreadyExists, text)))
}

/// Whether a file begins with text, which may be cut off within a letter.
fn is_text(start: &[u8]) -> bool {
    str::from_utf8(start).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// Refuses a place where a database is. One that is open is known or has something beside it; another one
/// is looked into, which is all right since nobody in this process has locks on it. An encrypted one looks
/// like nothing but is no text, as an export is.
pub(crate) fn refuse_database(place: &Path) -> Result<()> {
    let begins = || {
        let mut start = Vec::new();
        let file = File::open(place);
        file.and_then(|file| file.take(LOOK).read_to_end(&mut start))
            .is_ok_and(|_| start.starts_with(MAGIC) || !is_text(&start))
    };
    let is_open = is_in_use(place) || sidecars(place).iter().any(|path| path.exists());
    if !is_open && !begins() {
        return Ok(());
    }
    let text = "there is a database, which an export doesn't replace";
    Err(named(place, &Error::new(ErrorKind::AlreadyExists, text)))
}

#[cfg(unix)]
pub(super) fn sync_folder(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(not(unix))]
pub(super) fn sync_folder(_: &Path) -> std::io::Result<()> {
    Ok(())
}

fn start_of(name: &std::ffi::OsStr) -> OsString {
    let mut start = OsString::from(".");
    start.push(name);
    start.push(".");
    start
}

fn partial_name(name: &std::ffi::OsStr) -> OsString {
    let mut partial = start_of(name);
    partial.push(Uuid::new_v4().simple().to_string());
    partial.push(ENDING);
    partial
}

/// Removes what nobody is at any more. Where that can't be told or done, it stays.
fn remove_left_over(place: &Path) {
    let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else {
        return;
    };
    let start = start_of(name);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let bytes = name.as_encoded_bytes();
        let id = bytes
            .strip_prefix(start.as_encoded_bytes())
            .and_then(|rest| rest.strip_suffix(ENDING.as_bytes()));
        let is_left = || File::open(&path).is_ok_and(|file| file.try_lock().is_ok());
        if cfg!(unix) && id.is_some_and(|id| id.len() == 32) && is_left() {
            drop(fs::remove_file(&path));
            drop(remove_sidecars(&path));
        }
    }
}
