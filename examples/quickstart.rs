//! Two levels, one key, a read that is refused, a restart and a search.
//!
//! `cargo run --example quickstart`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use strandline::{Classification, Draft, ErrorKind, MemoryStore, Search, Session};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Folder::new();
    first_conversation(&folder.file())?;
    next_day(&folder.file())
}

fn first_conversation(path: &Path) -> Result<(), Box<dyn Error>> {
    let store = MemoryStore::builder().create_folders().open(path)?;

    println!("A session starts at PUBLIC, and what it saves is PUBLIC.");
    let session = store.session("monday", "assistant").open()?;
    let name = Draft::new("user-name", "The user is called Ada").tag("persona");
    store.save(&session, name)?;
    store.save(
        &session,
        Draft::new("tea", "Ada drinks green tea in the mornings"),
    )?;
    show(&store, &session, "user-name")?;

    println!("\nThe host shows it the staff directory, and raises its taint first.");
    session.raise(Classification::Internal, "opened the staff directory")?;
    let full_name = Draft::new("user-name", "The user is Ada Lovelace, of Engines");
    store.save(&session, full_name)?;
    store.save(&session, Draft::new("desk", "Ada sits in room 4.12"))?;
    show(&store, &session, "user-name")?;

    println!("\nAnother session, still at PUBLIC, sees its own version and no trace of the rest.");
    let other = store.session("monday-phone", "assistant").open()?;
    show(&store, &other, "user-name")?;
    show(&store, &other, "desk")?;

    println!("\nTaint never falls, so what was read high can't be saved low,");
    session.raise(Classification::Public, "please?")?;
    println!("  taint after asking for PUBLIC: {}", session.taint());
    println!("and only a memory of the session's own level can be deleted.");
    match store.delete(&session, "tea") {
        Err(error) if error.kind() == ErrorKind::WrongLevel => println!("  refused: {error}"),
        other => return Err(format!("a lower memory was deleted: {other:?}").into()),
    }
    Ok(())
}

fn next_day(path: &Path) -> Result<(), Box<dyn Error>> {
    println!("\nThe program has ended and starts again.");
    let store = MemoryStore::open(path)?;

    let resumed = store.session("monday", "assistant").open()?;
    println!("  session \"monday\" resumes at {}", resumed.taint());
    search(
        &store,
        &resumed,
        "where does Ada work and what does she drink?",
    )?;

    let fresh = store.session("tuesday", "assistant").open()?;
    println!("  session \"tuesday\" starts at {}", fresh.taint());
    search(
        &store,
        &fresh,
        "where does Ada work and what does she drink?",
    )?;

    let versions = store.host().history("assistant", "user-name")?;
    println!(
        "\nThe host, and only the host, sees every version: {}",
        versions.len()
    );
    Ok(())
}

fn show(store: &MemoryStore, session: &Session, key: &str) -> Result<(), Box<dyn Error>> {
    let taint = session.taint();
    match store.get(session, key)? {
        Some(found) => println!(
            "  {taint} reads {key}: {} [{}]",
            found.content, found.classification
        ),
        None => println!("  {taint} reads {key}: nothing there"),
    }
    Ok(())
}

fn search(store: &MemoryStore, session: &Session, query: &str) -> Result<(), Box<dyn Error>> {
    println!("    \"{query}\"");
    for hit in store.search(session, Search::new(query))? {
        println!(
            "    {:.2}  {}: {}",
            hit.score,
            hit.memory.key.as_str(),
            hit.memory.content
        );
    }
    Ok(())
}

/// A folder of this run's own, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!("strandline-quickstart-{}", uuid::Uuid::new_v4());
        Self(std::env::temp_dir().join(name))
    }

    fn file(&self) -> PathBuf {
        self.0.join("memory.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // At worst the folder stays where temporary folders are swept.
        let _ = fs::remove_dir_all(&self.0);
    }
}
