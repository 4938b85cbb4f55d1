//! `search`, against `ORDER BY rank`.

use rusqlite::params;
use strandline::Search;

use crate::Bench;
use crate::data::Query;
use crate::measure::{Comparison, compare};
use crate::raw::{self, Record};

/// The best ten with any of the words, by sessions at each level.
pub(crate) fn searches(bench: &Bench, queries: &[Query]) -> Comparison {
    let visible: Vec<(i64, i64)> = queries
        .iter()
        .map(|query| raw::visible_rows(raw::scope_of(&bench.raw, &query.agent), query.level))
        .collect();
    let matches: Vec<String> = queries
        .iter()
        .map(|query| raw::match_any(&query.text))
        .collect();
    let rank = "SELECT rowid FROM terms_raw WHERE terms_raw MATCH ?1 AND rowid BETWEEN ?2 AND ?3
                ORDER BY rank LIMIT 10";
    let mut rank = bench.raw.prepare(rank).unwrap();
    let select = format!("SELECT {} FROM records WHERE id = ?1", raw::COLUMNS);
    let mut select = bench.raw.prepare(&select).unwrap();
    let ours = |i: usize| {
        let Query { agent, level, text } = &queries[i];
        bench
            .store
            .search(bench.session_of(agent, *level), Search::new(text.as_str()))
            .unwrap()
    };
    let mut raw = |i: usize| {
        let (first, last) = visible[i];
        let found = rank
            .query_map(params![matches[i], first, last], |row| row.get(0))
            .unwrap();
        let found: Vec<i64> = found.map(Result::unwrap).collect();
        let record = |row: &i64| select.query_row([raw::id_of(*row)], raw::record).unwrap();
        found.iter().map(record).collect::<Vec<Record>>()
    };
    for i in 0..queries.len() {
        assert_eq!(ours(i).len(), raw(i).len());
    }
    compare(queries.len(), 5, ours, raw)
}

/// The same searches over the same memories, in a store that has nothing else and in one of many agents.
/// The latter takes the place of what is done by hand.
pub(crate) fn alone(among: &Bench, alone: &Bench, queries: &[Query]) -> Comparison {
    let search = |bench: &Bench, i: usize| {
        let Query { agent, level, text } = &queries[i];
        let session = bench.session_of(agent, *level);
        bench
            .store
            .search(session, Search::new(text.as_str()))
            .unwrap()
    };
    for i in 0..queries.len() {
        let scores = |bench| -> Vec<u64> {
            let hits = search(bench, i);
            hits.iter().map(|hit| hit.score.to_bits()).collect()
        };
        assert_eq!(
            scores(among),
            scores(alone),
            "others' memories change nothing"
        );
    }
    compare(queries.len(), 5, |i| search(among, i), |i| search(alone, i))
}
