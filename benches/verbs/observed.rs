//! `get` with an observer, beside the same without one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use strandline::observe::{Call, Observer};
use strandline::{Classification, MemoryStore};

use crate::data::Random;
use crate::measure::{Comparison, compare};
use crate::{Bench, of_level, sessions};

const GETS: usize = 20_000;

/// Counts, as metrics do.
#[derive(Debug, Default)]
struct Counting(AtomicU64);

impl Observer for Counting {
    fn called(&self, call: &Call) {
        self.0.fetch_add(call.count, Ordering::Relaxed);
    }
}

/// Both stores are of the same file.
pub(crate) fn gets(bench: &Bench) -> Comparison {
    let path = bench.folder.path().join("ours.db");
    let counting = Arc::new(Counting::default());
    let builder = MemoryStore::builder().observer(Arc::<Counting>::clone(&counting));
    let observed = builder.open(path).unwrap();
    let its_sessions = sessions(&observed, "agent-000");
    let mut random = Random::new(4);
    let calls: Vec<(Classification, &str)> = (0..GETS)
        .map(|_| &bench.items[random.below(bench.count)])
        .map(|item| (item.level, item.key.as_str()))
        .collect();
    let with = |i: usize| {
        let (level, key) = calls[i];
        let session = of_level(&its_sessions, level);
        observed.get(session, key).unwrap().unwrap()
    };
    let without = |i: usize| {
        let (level, key) = calls[i];
        bench.store.get(bench.session(level), key).unwrap().unwrap()
    };
    for i in 0..GETS {
        assert_eq!(with(i).content, without(i).content);
    }
    assert!(counting.0.load(Ordering::Relaxed) >= GETS.try_into().unwrap());
    compare(GETS, 100, with, without)
}
