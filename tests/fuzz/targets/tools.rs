//! Calls of the five tools with whatever arguments, on a file beside another agent's and higher records, and
//! in memory without them.
//!
//! Both must give the same results: so none depends on what is above the session's taint or another
//! agent's. And each conforms to the schema that is given for it.
//!
//! Input: a byte for the level, then lines: a letter for the tool (or `^`, which raises the session), and
//! the arguments, as JSON or as raw text.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use strandline::tools::Tools;
use strandline::{Classification, Draft, MemoryStore, Session};
use strandline_fuzz::schema::{refuse, schema};
use strandline_fuzz::{Pair, is_callers, level, seeds, session, text};

const TOOLS: [(u8, &str); 5] = [
    (b's', "memory_save"),
    (b'g', "memory_get"),
    (b'q', "memory_search"),
    (b'l', "memory_list"),
    (b'd', "memory_delete"),
];

/// Keys that inputs use, and a word that is only in what the session must not see.
const KEYS: [&str; 4] = ["user-name", "pet", "k", "salary"];
const SECRET: &str = "zqcanary";

/// The same words as those of the records that the session sees, so that ranking would differ.
fn drafts(owner: &str) -> impl Iterator<Item = Draft> {
    KEYS.iter().map(move |key| {
        let content = format!("{SECRET} Ada keeps a cat {key} {owner}");
        Draft::new(*key, content).tag("persona").tag("home")
    })
}

fn place(store: &MemoryStore, agent: &str, above: Option<Classification>) {
    let other = session(store, &format!("{agent} too"), Classification::Public);
    store
        .save_all(&other, drafts("other"))
        .expect("they are saved");
    if let Some(level) = above {
        let above = session(store, agent, level);
        store
            .save_all(&above, drafts("above"))
            .expect("they are saved");
    }
}

fn open(store: &MemoryStore, agent: &str, level: Classification) -> Session {
    let opened = store
        .session(format!("{agent}: s"), agent)
        .taint(level)
        .open();
    opened.expect("the session opens")
}

/// The output of a call, which conforms to its schema and holds nothing above the taint.
fn call(tools: &Tools, session: &Session, name: &str, arguments: Value) -> Value {
    let result = tools
        .call(session, name, arguments)
        .expect("one of the five");
    if let Some(error) = &result.error {
        is_callers(error);
        assert!(result.output["error"]["message"].is_string());
        return result.output;
    }
    assert_eq!(refuse(&schema(name), &result.output), None, "{name}");
    let levels = ["results", "memories"]
        .iter()
        .filter_map(|list| result.output[*list].as_array());
    let rows = levels.flatten().chain([&result.output]);
    for row in rows {
        if let Some(level) = row["classification"].as_str() {
            let level: Classification = level.parse().expect("a level");
            assert!(level <= session.taint(), "a record above the taint");
        }
    }
    result.output
}

fn run(pair: &Pair, number: u32, data: &[u8]) {
    let Some((first, text)) = text(data) else {
        return;
    };
    let agent = format!("agent {number}");
    let taint = level(first);
    let above = Classification::ALL.into_iter().find(|level| *level > taint);
    place(&pair.file, &agent, above);
    let sessions = [
        open(&pair.file, &agent, taint),
        open(&pair.memory, &agent, taint),
    ];
    let tools = [
        Tools::new(pair.file.clone()),
        Tools::new(pair.memory.clone()),
    ];
    let mut raised = false;
    for line in text.split('\n').take(12) {
        let (letter, arguments) = line.split_at_checked(1).unwrap_or_default();
        let Some(letter) = letter.bytes().next() else {
            continue;
        };
        if letter == b'^' && !raised {
            // What was above is seen from then on, so the other store has to have it, too.
            raised = true;
            if let Some(above) = above {
                let there = session(&pair.memory, &agent, above);
                pair.memory
                    .save_all(&there, drafts("above"))
                    .expect("they are saved");
                for session in &sessions {
                    session.raise(above, "the input says so").expect("it rises");
                }
            }
            continue;
        }
        let tool = TOOLS.iter().find(|(known, _)| *known == letter);
        let name = tool.map_or(TOOLS[usize::from(letter) % 5].1, |(_, name)| name);
        let raw = Value::from(arguments);
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| raw.clone());
        for arguments in [arguments, raw] {
            let file = call(&tools[0], &sessions[0], name, arguments.clone());
            let memory = call(&tools[1], &sessions[1], name, arguments);
            // After a rise the two have saved in another order, which decides between equal scores.
            if !(raised && name == "memory_search") {
                assert_eq!(
                    file, memory,
                    "{name}: with and without what it must not see"
                );
            }
        }
    }
}

fn first_inputs() -> Vec<&'static str> {
    vec![
        "\0s{\"key\":\"user-name\",\"content\":\"Ada\",\"tags\":[\"persona\"]}\ng{\"key\":\"user-name\"}\nq{\"query\":\"who is Ada?\",\"max_results\":3}\nl{\"tag\":\"persona\"}\nd{\"key\":\"user-name\"}\nl{}",
        "\u{1}s{\"key\":\"k\",\"content\":\"c\",\"classification\":\"PUBLIC\",\"level\":0,\"tags\":\"a, b\"}\nl\nl{\"tag\":null}",
        "\u{2}s{\"key\":\"pet\",\"content\":\"a cat\"}\n^\ng{\"key\":\"pet\"}\nd{\"key\":\"pet\"}\nq{\"query\":\"cat\",\"max_results\":\"7\"}",
        "\u{3}q{\"query\":\"cat\",\"max_results\":1e3}\nq{\"query\":[]}\nq{\"max_results\":-1,\"query\":\"\"}\nqnot json\nl[1]\ngnull\nd{\"key\":{}}",
        "\0s{\"key\":\"\\u0000\\ud83d\\ude00\",\"content\":\" \\n\",\"tags\":\"[\\\"x\\\"]\"}\ns{\"taint\":\"RESTRICTED\",\"key\":\"salary\",\"content\":\"5\"}",
    ]
}

thread_local! {
    static PAIR: RefCell<(Pair, u32)> = RefCell::new((Pair::new(), 0));
}

fuzz_target!(init: seeds(first_inputs), |data: &[u8]| {
    PAIR.with_borrow_mut(|(pair, runs)| {
        *runs += 1;
        if *runs % 300 == 0 {
            *pair = Pair::new();
        }
        run(pair, *runs, data);
    });
});
