//! Saves of many threads against those of one, and reads with and without a writer.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use strandline::storage::Durability;
use strandline::{Classification, Draft, MemoryStore, Search, Session};

use crate::data::Item;
use crate::measure::Times;
use crate::{Bench, copy, draft, open};

const THREADS: usize = 16;

/// How long each side of a comparison runs at a time.
const TURN: Duration = Duration::from_millis(500);

const TURNS: usize = 6;

/// Prints how many saves a second one thread and 16 threads make, in turns, and what reads cost beside
/// them.
pub(crate) fn threads(bench: &Bench) {
    for durability in [Durability::Full, Durability::Normal] {
        throughput(bench, durability);
    }
    readers(bench);
}

fn throughput(bench: &Bench, durability: Durability) {
    let loaded = bench.folder.path().join("loaded.db");
    let paths = ["threads-1.db", "threads-16.db"].map(|name| copy(&loaded, name));
    let stores = paths.map(|path| open(&path, durability).0);
    let (mut one, mut many) = (0, 0);
    for turn in 0..TURNS {
        one += saves(&stores[0], &bench.items, 1, turn);
        many += saves(&stores[1], &bench.items, THREADS, turn);
    }
    let seconds = TURN.as_secs_f64() * f64::from(u32::try_from(TURNS).unwrap());
    let rate = |count: usize| f64::from(u32::try_from(count).unwrap()) / seconds;
    let ratio = rate(many) / rate(one);
    let aim = match durability {
        Durability::Full if ratio >= 6.0 => " (aim: 6, met)",
        Durability::Full => " (aim: 6, MISSED)",
        Durability::Normal => "",
    };
    println!(
        "threads, saves, {durability:?}: 1 thread {:.0}/s | {THREADS} threads {:.0}/s | ratio {ratio:.1}{aim}",
        rate(one),
        rate(many),
    );
}

/// How many saves so many threads, each with a session of its own, make in a turn.
fn saves(store: &MemoryStore, items: &[Item], threads: usize, turn: usize) -> usize {
    let sessions: Vec<Session> = (0..threads)
        .map(|thread| store.session(format!("saver-{thread}"), "agent-000"))
        .map(|session| session.open().unwrap())
        .collect();
    let count = AtomicUsize::new(0);
    let start = Instant::now();
    thread::scope(|scope| {
        for (thread, session) in sessions.iter().enumerate() {
            let count = &count;
            scope.spawn(move || {
                for number in 0.. {
                    if start.elapsed() > TURN {
                        break;
                    }
                    let text = &items[(number * 31 + thread * 7) % items.len()].content;
                    let key = format!("saved-{turn}-{thread}-{number}");
                    store.save(session, Draft::new(key, text.as_str())).unwrap();
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    count.into_inner()
}

/// What a read costs one thread, alone and while another one saves.
fn readers(bench: &Bench) {
    let path = copy(&bench.folder.path().join("loaded.db"), "threads-read.db");
    let (store, sessions) = open(&path, Durability::Full);
    let (items, loaded) = (bench.items.as_slice(), bench.loaded());
    let session = &sessions[usize::from(Classification::Restricted.rank())];
    let get = |i: usize| {
        let key = &loaded[i * 31 % loaded.len()].key;
        store.get(session, key).unwrap();
    };
    let search = |i: usize| {
        let words: Vec<&str> = loaded[i * 31 % loaded.len()].content.split(' ').collect();
        let query = Search::new(words[..4].join(" "));
        store.search(session, query).unwrap();
    };
    let reads: [(&str, &dyn Fn(usize)); 2] = [("get", &get), ("search", &search)];
    for (name, read) in reads {
        let (mut alone, mut beside) = (Vec::new(), Vec::new());
        for _ in 0..TURNS / 2 {
            time(read, &mut alone);
            let done = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    let items = items.iter().cycle();
                    for item in items.take_while(|_| !done.load(Ordering::Relaxed)) {
                        store.save(&sessions[0], draft(item)).unwrap();
                    }
                });
                time(read, &mut beside);
                done.store(true, Ordering::Relaxed);
            });
        }
        let (alone, beside) = (Times::new(alone).show(), Times::new(beside).show());
        println!("threads, {name}: p50 / p99 alone {alone} | while one saves {beside}");
    }
}

fn time(read: &dyn Fn(usize), times: &mut Vec<Duration>) {
    let start = Instant::now();
    for number in 0.. {
        let began = Instant::now();
        if began.duration_since(start) > TURN {
            break;
        }
        read(number);
        times.push(began.elapsed());
    }
}
