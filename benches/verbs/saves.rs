//! `save`.

use rusqlite::Connection;
use strandline::Draft;
use strandline::storage::Durability;

use crate::measure::{Comparison, compare};
use crate::{Bench, SAVES, copy, draft, of_level, open, raw};

/// Saves of new keys, each in a transaction of its own, into copies of the loaded file.
pub(crate) fn saves(bench: &Bench, durability: Durability) -> Comparison {
    let loaded = bench.folder.path().join("loaded.db");
    let (ours_path, raw_path) = (copy(&loaded, "save-ours.db"), copy(&loaded, "save-raw.db"));
    let (store, sessions) = open(&ours_path, durability);
    let db = raw::connect(&raw_path, durability);
    let mut saver = raw::Saver::new(&db);
    let items = &bench.items[bench.count..];
    let drafts: Vec<Draft> = items.iter().map(draft).collect();
    let rows: Vec<raw::Rows<'_>> = items.iter().map(raw::Rows::of).collect();
    let ours = |i: usize| {
        let session = of_level(&sessions, items[i].level);
        store.save(session, drafts[i].clone()).unwrap()
    };
    let result = compare(SAVES, 10, ours, |i| saver.save(&rows[i]));
    drop(saver);
    for db in [&db, &raw::connect(&ours_path, durability)] {
        assert_eq!(usize::try_from(live_records(db)), Ok(bench.count + SAVES));
    }
    result
}

fn live_records(db: &Connection) -> i64 {
    let sql = "SELECT count(*) FROM records WHERE scope = ?1 AND state = 0";
    db.query_row(sql, [raw::scope(db)], |row| row.get(0))
        .unwrap()
}
