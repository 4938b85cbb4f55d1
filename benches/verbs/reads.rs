//! `get` and `list`.

use rusqlite::params;
use strandline::{Classification, Cursor, List};

use crate::Bench;
use crate::data::Random;
use crate::measure::{Comparison, compare};
use crate::raw::{self, Record};

const GETS: usize = 20_000;
const LISTS: usize = 400;
const PAGE: usize = 100;

/// Reads by key, by sessions at the memory's level or above.
pub(crate) fn gets(bench: &Bench) -> Comparison {
    let mut random = Random::new(1);
    let mut call = || {
        let item = &bench.items[random.below(bench.count)];
        let rank = usize::from(item.level.rank());
        let level = Classification::ALL[rank + random.below(4 - rank)];
        (level, item.key.as_str())
    };
    let calls: Vec<(Classification, &str)> = (0..GETS).map(|_| call()).collect();
    let sql = format!(
        "SELECT {} FROM records WHERE scope = ?1 AND key = ?2 AND state = 0 AND level <= ?3
         AND (expires_at IS NULL OR expires_at > ?4) ORDER BY level DESC LIMIT 1",
        raw::COLUMNS
    );
    let (mut select, scope) = (bench.raw.prepare(&sql).unwrap(), raw::scope(&bench.raw));
    let ours = |i: usize| {
        let (level, key) = calls[i];
        bench.store.get(bench.session(level), key).unwrap().unwrap()
    };
    let mut raw = |i: usize| {
        let (level, key) = calls[i];
        select
            .query_row(params![scope, key, level.rank(), raw::NOW], raw::record)
            .unwrap()
    };
    for i in 0..GETS {
        assert_eq!(ours(i).content, raw(i).content);
    }
    compare(GETS, 100, ours, raw)
}

/// Pages from anywhere in the list, by sessions at each level.
pub(crate) fn lists(bench: &Bench, tag: Option<&str>) -> Comparison {
    let mut random = Random::new(2);
    let starts = Classification::ALL.map(|level| starts(bench, level, tag));
    let mut call = || {
        let rank = random.below(4);
        let (after, cursor) = &starts[rank][random.below(starts[rank].len())];
        (Classification::ALL[rank], after.as_str(), cursor.clone())
    };
    let calls: Vec<(Classification, &str, Option<Cursor>)> = (0..LISTS).map(|_| call()).collect();
    let mut select = bench.raw.prepare(&raw::list_sql(tag.is_some())).unwrap();
    let scope = raw::scope(&bench.raw);
    let limit = i64::try_from(PAGE).unwrap();
    let ours = |i: usize| {
        let (level, _, cursor) = &calls[i];
        bench
            .store
            .list(bench.session(*level), page(tag, cursor.clone()))
            .unwrap()
            .memories
    };
    let mut raw = |i: usize| {
        let (level, after, _) = &calls[i];
        let parameters = params![scope, level.rank(), raw::NOW, after, limit, tag];
        let rows = select.query_map(parameters, raw::record).unwrap();
        rows.map(Result::unwrap).collect::<Vec<Record>>()
    };
    for i in 0..LISTS {
        let keys = |records: Vec<Record>| records.into_iter().map(|record| record.key);
        assert!(
            ours(i)
                .iter()
                .map(|memory| memory.key.as_str())
                .eq(keys(raw(i)))
        );
    }
    compare(LISTS, 10, ours, raw)
}

fn page(tag: Option<&str>, cursor: Option<Cursor>) -> List {
    let mut list = List::new().limit(PAGE);
    if let Some(tag) = tag {
        list = list.tag(tag);
    }
    match cursor {
        Some(cursor) => list.after(cursor),
        None => list,
    }
}

/// Where the pages of a list start: after which key, and the cursor for that.
fn starts(
    bench: &Bench,
    level: Classification,
    tag: Option<&str>,
) -> Vec<(String, Option<Cursor>)> {
    let mut starts = vec![(String::new(), None)];
    loop {
        let cursor = starts.last().and_then(|(_, cursor)| cursor.clone());
        let page = bench
            .store
            .list(bench.session(level), page(tag, cursor))
            .unwrap();
        let last = page
            .memories
            .last()
            .map(|memory| memory.key.as_str().to_owned());
        match (last, page.next) {
            (Some(last), Some(next)) => starts.push((last, Some(next))),
            _ => return starts,
        }
    }
}
