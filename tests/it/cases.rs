//! The cases in `tests/cases`, run against the JSON-lines driver on both providers.
//!
//! A case is a line `{"id","why","steps":[{"send","expect"}]}`; a step may be `{"restart":true}`, may
//! have a `label`, and may `repeat`, with `{i}` as the number of the round.

#[path = "../../examples/jsonl/audit.rs"]
mod audit;
#[path = "../../examples/jsonl/driver.rs"]
mod driver;
#[path = "../../examples/jsonl/fields.rs"]
mod fields;
#[path = "../../examples/jsonl/serve.rs"]
mod serve;
#[path = "../../examples/jsonl/stats.rs"]
mod stats;
#[path = "../../examples/jsonl/transfer.rs"]
mod transfer;
#[path = "../../examples/jsonl/upkeep.rs"]
mod upkeep;

use std::collections::HashMap;
use std::path::Path;

use driver::Driver;
use serde_json::{Value, json};

use crate::keyed;

fn run_file(name: &str, text: &str) {
    let mut failures = Vec::new();
    let mut count = 0;
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        count += 1;
        let folder = tempfile::tempdir().unwrap();
        failures.extend(run(&case, &folder.path().join("memory.db")));
        if !restarts(&case) {
            failures.extend(run(&case, Path::new(":memory:")));
        }
    }
    assert!(count > 0, "{name} has no case");
    assert!(failures.is_empty(), "{name}:\n{}", failures.join("\n"));
}

fn restarts(case: &Value) -> bool {
    let steps = case["steps"].as_array().unwrap();
    steps.iter().any(|step| step["restart"] == true)
}

fn run(case: &Value, path: &Path) -> Vec<String> {
    let mut driver = open(path);
    let mut seen = HashMap::new();
    let mut failures = Vec::new();
    for (number, step) in case["steps"].as_array().unwrap().iter().enumerate() {
        if step["restart"] == true {
            drop(driver);
            driver = open(path);
            continue;
        }
        for round in 0..step["repeat"].as_u64().unwrap_or(1) {
            let line = match &step["send"] {
                Value::String(line) => line.clone(),
                request => request.to_string(),
            };
            let raw = driver.answer(line.replace("{i}", &round.to_string()).as_bytes());
            let reply: Value = serde_json::from_str(&raw).expect("a reply is JSON");
            let expect = Expect {
                wanted: &step["expect"],
                raw: &raw,
                reply: &reply,
            };
            for fault in expect.faults(&seen) {
                failures.push(format!("{} step {number}: {fault}\n    {raw}", case["id"]));
            }
            if let Some(label) = step["label"].as_str() {
                seen.insert(label.to_owned(), reply);
            }
        }
    }
    failures
}

fn open(path: &Path) -> Driver {
    Driver::open(path.as_os_str(), keyed::builder()).unwrap()
}

struct Expect<'a> {
    wanted: &'a Value,
    raw: &'a str,
    reply: &'a Value,
}

impl Expect<'_> {
    fn faults(&self, seen: &HashMap<String, Value>) -> Vec<String> {
        let mut faults = Vec::new();
        let known = serde_json::Map::new();
        let wanted = self.wanted.as_object().unwrap_or(&known);
        if !wanted.contains_key("ok") {
            let ok = json!(!wanted.contains_key("code") || self.is_error());
            faults.extend(self.fault("ok", &ok, seen));
        }
        for (name, value) in wanted {
            faults.extend(self.fault(name, value, seen));
        }
        faults
    }

    fn fault(&self, name: &str, wanted: &Value, seen: &HashMap<String, Value>) -> Option<String> {
        let keys = self.keys();
        let texts = || {
            wanted
                .as_array()
                .unwrap()
                .iter()
                .map(|text| text.as_str().unwrap())
        };
        let good = match name {
            "ok" => self.reply["ok"] == *wanted,
            "is_error" => json!(self.is_error()) == *wanted,
            "keys" => json!(keys) == *wanted,
            "keyset" => sorted(&keys) == sorted(&texts().collect::<Vec<_>>()),
            "has" => texts().all(|key| keys.contains(&key)),
            "lacks" => texts().all(|key| !keys.contains(&key)),
            "count" => json!(keys.len()) == *wanted,
            "fields" => {
                let mut fields = wanted.as_object().unwrap().iter();
                fields.all(|(path, value)| at(self.body(), path) == value)
            }
            "code" => [self.reply, self.body()]
                .iter()
                .any(|x| x["error"]["code"] == *wanted),
            "same_as" => {
                let other = &seen[wanted.as_str().unwrap()];
                ["result", "error"]
                    .iter()
                    .all(|part| self.reply[part] == other[part])
            }
            "present" => texts().all(|text| self.raw.contains(text)),
            "absent" => texts().all(|text| !self.raw.contains(text)),
            other => panic!("no such expectation: {other}"),
        };
        (!good).then(|| format!("{name} is not {wanted}"))
    }

    fn is_error(&self) -> bool {
        self.reply["result"]["is_error"] == true
    }

    /// The result, or a tool's output in it.
    fn body(&self) -> &Value {
        let result = &self.reply["result"];
        result.get("output").unwrap_or(result)
    }

    fn keys(&self) -> Vec<&str> {
        let body = self.body();
        let lists = ["results", "memories", "versions", "entries"];
        let rows = lists.iter().find_map(|name| body[name].as_array());
        match rows {
            Some(rows) => rows
                .iter()
                .map(|row| row["key"].as_str().unwrap_or(""))
                .collect(),
            None if body["found"] == false => Vec::new(),
            None => body["key"].as_str().into_iter().collect(),
        }
    }
}

fn sorted<'a>(keys: &[&'a str]) -> Vec<&'a str> {
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    keys
}

fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.')
        .fold(value, |value, part| match part.parse::<usize>() {
            Ok(index) => &value[index],
            Err(_) => &value[part],
        })
}

#[test]
fn tools() {
    run_file("tools.jsonl", include_str!("../cases/tools.jsonl"));
}

#[test]
fn rules() {
    run_file("rules.jsonl", include_str!("../cases/rules.jsonl"));
}

#[test]
fn search() {
    run_file("search.jsonl", include_str!("../cases/search.jsonl"));
}

#[test]
fn driver_ops() {
    run_file("driver.jsonl", include_str!("../cases/driver.jsonl"));
}

#[test]
fn upkeep() {
    run_file("upkeep.jsonl", include_str!("../cases/upkeep.jsonl"));
}

/// What the driver writes for these bytes.
fn served(input: &[u8]) -> Vec<Value> {
    let mut driver = Driver::open(":memory:".as_ref(), keyed::builder()).unwrap();
    let mut output = Vec::new();
    serve::serve(input, &mut output, &mut driver).unwrap();
    let lines = str::from_utf8(&output).unwrap().lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const OPEN: &[u8] = b"{\"op\":\"session\",\"id\":\"s\",\"agent\":\"a\"}";

#[test]
fn each_line_gets_one_reply_whatever_it_holds() {
    let deep = format!("{{\"op\":{}", "[".repeat(100_000));
    let bad: [&[u8]; 9] = [
        b"",
        b"not json",
        b"[1]",
        b"\"op\"",
        b"\xff\xfe\x00",
        b"{\"op\":\"\xc3\x28\"}",
        b"{\"op\":\"list\",\"id\":\"\\ud800\"}",
        deep.as_bytes(),
        b"{\"op\":\"nothing\"}",
    ];
    for line in bad {
        let replies = served(&[line, b"\n", OPEN].concat());
        assert_eq!(replies.len(), 2, "{}", String::from_utf8_lossy(line));
        assert_eq!(replies[0]["ok"], false);
        assert!(replies[0]["error"]["code"].is_string());
        assert_eq!(
            replies[1],
            json!({"ok": true, "result": {"taint": "PUBLIC"}})
        );
    }
    assert!(served(b"").is_empty());
}

#[test]
fn a_line_that_is_too_long_is_skipped() {
    let long = vec![b'x'; serve::LINE_BYTES + 10];
    let replies = served(&[&long, b"\n".as_slice(), OPEN, b"\n", &long].concat());
    let ok: Vec<_> = replies.iter().map(|reply| reply["ok"].clone()).collect();
    assert_eq!(ok, [false, true, false]);
    assert!(
        replies[0]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("longer than")
    );
}
