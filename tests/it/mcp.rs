//! The MCP server, by the lines that a client sends. Real clients ask it in `tests/mcp`.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use strandline::audit::{Action, Query};
use strandline::mcp::rmcp::ServiceExt;
use strandline::mcp::{CALLS_AT_ONCE, Connection, Server};
use strandline::policy::{Denial, Request, Rule};
use strandline::tools::{AUTO_EXTRACTION_PROMPT, Definition, definitions};
use strandline::{Classification, Draft, ErrorKind, MemoryStore};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use crate::keyed;

/// The other end of a connection.
pub(crate) struct Client {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    hello: Value,
    calls: u64,
}

impl Client {
    /// Connects, and says hello.
    pub(crate) async fn new(connection: Connection) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        tokio::spawn(async move { connection.serve(theirs).await.unwrap().waiting().await });
        let (reader, writer) = tokio::io::split(ours);
        let mut client = Self {
            reader: BufReader::new(reader),
            writer,
            hello: Value::Null,
            calls: 0,
        };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        client.hello = client.ask("initialize", hello).await["result"].take();
        client
            .write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        client
    }

    async fn write(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    async fn send(&mut self, method: &str, params: Value) {
        self.calls += 1;
        let id = self.calls;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
    }

    async fn read(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).expect("a line of JSON")
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(method, params).await;
        let answer = self.read().await;
        assert_eq!(answer["id"], self.calls);
        answer
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.ask("tools/call", params).await
    }

    /// The structured content of a call that succeeds.
    async fn output(&mut self, tool: &str, arguments: Value) -> Value {
        let mut answer = self.call(tool, arguments).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"]["structuredContent"].take()
    }
}

pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

fn server() -> (MemoryStore, Server) {
    let store = MemoryStore::open_in_memory().unwrap();
    (store.clone(), Server::new(store, "agent"))
}

#[test]
fn it_says_what_it_is_and_lists_the_definitions_as_they_are() {
    run(async {
        let mut client = Client::new(server().1.connect().unwrap()).await;
        assert_eq!(client.hello["serverInfo"]["name"], "strandline");
        assert_eq!(client.hello["instructions"], AUTO_EXTRACTION_PROMPT);
        assert_eq!(client.hello["capabilities"], json!({"tools": {}}));
        let listed = client.ask("tools/list", json!({})).await["result"]["tools"].take();
        let expected: Vec<_> = definitions().iter().map(Definition::mcp).collect();
        assert_eq!(listed, json!(expected));
    });
}

#[test]
fn a_client_neither_chooses_a_level_nor_sees_above_its_own() {
    run(async {
        let (store, server) = server();
        let high = server
            .clone()
            .taint(Classification::Confidential)
            .connect()
            .unwrap();
        let mut high = Client::new(high).await;
        let mut low = Client::new(server.connect().unwrap()).await;
        let draft = json!({"key": "k", "content": "a secret", "classification": "PUBLIC"});
        let saved = high.output("memory_save", draft).await;
        assert_eq!(saved["classification"], "CONFIDENTIAL");
        let query = Query {
            action: Some(Action::ToolCall),
            ..Query::default()
        };
        let noted = store.host().audit(&query).unwrap();
        assert!(!noted.is_empty(), "that a level was sent is in the audit");

        let missing = low.output("memory_get", json!({"key": "k"})).await;
        assert_eq!(missing, json!({"found": false, "key": "k"}));
        assert_eq!(
            low.output("memory_list", json!({})).await,
            json!({"memories": []})
        );
        let found = low
            .output("memory_search", json!({"query": "secret"}))
            .await;
        assert_eq!(found["results"], json!([]));
    });
}

#[test]
fn a_raise_holds_at_the_next_call_and_the_ceiling_against_it() {
    run(async {
        let (store, server) = server();
        let above = store
            .session("above", "agent")
            .taint(Classification::Internal);
        store
            .save(&above.open().unwrap(), Draft::new("k", "internal"))
            .unwrap();
        let connection = server.ceiling(Classification::Internal).connect().unwrap();
        let session = connection.session().clone();
        let mut client = Client::new(connection).await;
        assert_eq!(
            client.output("memory_get", json!({"key": "k"})).await["found"],
            false
        );
        session
            .raise(Classification::Internal, "shown the directory")
            .unwrap();
        assert_eq!(
            client.output("memory_get", json!({"key": "k"})).await["found"],
            true
        );
        let saved = client
            .output("memory_save", json!({"key": "n", "content": "c"}))
            .await;
        assert_eq!(saved["classification"], "INTERNAL");
        let refused = session
            .raise(Classification::Restricted, "too much")
            .unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::CeilingExceeded);
    });
}

#[test]
fn a_start_above_the_ceiling_and_a_nameless_agent_are_refused() {
    let (store, server) = server();
    let above = server
        .taint(Classification::Restricted)
        .ceiling(Classification::Internal);
    assert_eq!(
        above.connect().unwrap_err().kind(),
        ErrorKind::CeilingExceeded
    );
    let nameless = Server::new(store, " ").connect().unwrap_err();
    assert_eq!(nameless.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn errors_of_a_tool_and_of_the_protocol_are_kept_apart() {
    run(async {
        let mut client = Client::new(server().1.connect().unwrap()).await;
        let wrong = client.call("memory_get", json!({"id": "k"})).await;
        assert_eq!(wrong["result"]["isError"], true);
        let malformed = json!({"name": "memory_get", "arguments": "marker-text"});
        for (method, params, code) in [
            ("tools/call", json!({"name": "marker-text"}), -32602),
            ("tools/call", malformed, -32602),
            ("tools/call", json!({}), -32602),
            ("session/raise", json!({"level": "RESTRICTED"}), -32601),
        ] {
            let answer = client.ask(method, params).await;
            assert_eq!(answer["error"]["code"], code, "{answer}");
            assert!(!answer.to_string().contains("marker-text"), "{answer}");
        }
        let missing = client.output("memory_get", json!({"key": "k"})).await;
        assert_eq!(missing["found"], false, "it still serves");
    });
}

/// Counts the calls that are under way. Each waits until two were at once and it may go on, or for long.
#[derive(Debug, Default)]
struct Slow {
    now: AtomicUsize,
    most: AtomicUsize,
    may_end: AtomicBool,
}

impl Rule for Slow {
    fn judge(&self, request: &Request<'_>) -> Option<Denial> {
        if request.action == Action::ToolCall {
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            for _ in 0..20_000 {
                if self.may_end.load(Ordering::SeqCst) && self.most.load(Ordering::SeqCst) > 1 {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            self.now.fetch_sub(1, Ordering::SeqCst);
        }
        None
    }
}

#[test]
fn calls_run_beside_the_runtime_a_few_at_a_time() {
    run(async {
        let slow = Arc::new(Slow::default());
        let store = keyed::builder()
            .rule(slow.clone())
            .open_in_memory()
            .unwrap();
        let mut client = Client::new(Server::new(store, "agent").connect().unwrap()).await;
        let calls = 5 * CALLS_AT_ONCE;
        for number in 0..calls {
            let arguments = json!({"key": format!("k{number}"), "content": "c"});
            let params = json!({"name": "memory_save", "arguments": arguments});
            client.send("tools/call", params).await;
        }
        // The runtime has one thread. It answers this before the calls are done.
        client.send("ping", json!({})).await;
        let mut answered = Vec::new();
        for _ in 0..=calls {
            let id = client.read().await["id"].as_u64().unwrap();
            slow.may_end.fetch_or(id == client.calls, Ordering::SeqCst);
            answered.push(id);
        }
        let ping = answered.iter().position(|&id| id == client.calls).unwrap();
        assert!(ping < calls, "the ping came as number {ping}");
        assert_eq!(answered.iter().collect::<BTreeSet<_>>().len(), calls + 1);
        let most = slow.most.load(Ordering::SeqCst);
        assert!((2..=CALLS_AT_ONCE).contains(&most), "{most} at once");
    });
}

#[test]
fn what_hosts_paste_is_json_that_starts_the_server_as_it_is_documented() {
    let guide = include_str!("../../src/mcp/hosts.md");
    let blocks: Vec<_> = guide.split("```json").skip(1).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let text = block.split("```").next().unwrap();
        let configuration: Value = serde_json::from_str(text).unwrap();
        let servers = ["mcpServers", "servers"]
            .into_iter()
            .find_map(|name| configuration.get(name));
        let memory = &servers.unwrap()["memory"];
        assert!(memory["command"].as_str().unwrap().ends_with("/mcp_server"));
        let arguments: Vec<_> = memory["args"]
            .as_array()
            .unwrap()
            .iter()
            .map(Value::as_str)
            .collect();
        assert!(arguments[0].unwrap().starts_with('/'));
        for option in arguments[1..].chunks(2) {
            let (name, value) = (option[0].unwrap(), option[1].unwrap());
            let is_level = value.parse::<Classification>().is_ok();
            assert!(name == "--agent" || ["--taint", "--ceiling"].contains(&name) && is_level);
        }
    }
}
