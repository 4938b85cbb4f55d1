//! The five tools, given to an agent of [rig](https://docs.rs/rig-core).
//!
//! `cargo run --manifest-path examples/rig/Cargo.toml`
//!
//! A scripted model stands in for one on a network: put any of rig's providers in its place. Everything
//! else is as it would be. The model saves at PUBLIC; in a second conversation the host raises the
//! session before it shows something confidential, and the model saves that; a third conversation, at
//! PUBLIC again, asks for it and gets no trace of it.

mod memory;

use std::error::Error;

use rig_agent::{Agent, AgentBuilder};
use rig_core::test_utils::{MockCompletionModel, MockTurn};
use serde_json::{Value, json};
use strandline::tools::{AUTO_EXTRACTION_PROMPT, Tools};
use strandline::{Classification, MemoryStore, Session};

/// What the tools answered in a conversation, as the model was told.
type Told = Vec<Value>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    for (title, told) in conversations().await? {
        println!("{title}");
        for result in told {
            println!("  {result}");
        }
    }
    Ok(())
}

async fn conversations() -> Result<[(&'static str, Told); 3], Box<dyn Error>> {
    let store = MemoryStore::open_in_memory()?;

    let first = store.session("first", "assistant").open()?;
    let script = [
        save("user-name", "The user is called Ada"),
        MockTurn::text("Nice to meet you, Ada."),
    ];
    let introduction = converse(&store, &first, "I'm Ada.", script).await?;

    let second = store.session("second", "assistant").open()?;
    second.raise(Classification::Confidential, "shown the ledger")?;
    let script = [
        save("ada-debt", "Ada owes us 9 doubloons"),
        MockTurn::text("Noted."),
    ];
    let ledger = converse(&store, &second, "Here is the ledger: ...", script).await?;

    let third = store.session("third", "assistant").open()?;
    let script = [
        search("what is the user called?"),
        search("who owes doubloons?"),
        MockTurn::text("You are Ada. I don't remember a debt."),
    ];
    let question = "Who am I, and what do I owe?";
    let asked = converse(&store, &third, question, script).await?;

    Ok([
        ("at PUBLIC, it saves a name:", introduction),
        ("at CONFIDENTIAL, it saves what the ledger says:", ledger),
        (
            "at PUBLIC again, it finds the first and no trace of the second:",
            asked,
        ),
    ])
}

/// One conversation with an agent that has the tools.
async fn converse(
    store: &MemoryStore,
    session: &Session,
    prompt: &str,
    script: impl IntoIterator<Item = MockTurn>,
) -> Result<Told, Box<dyn Error>> {
    let model = MockCompletionModel::from_turns(script);
    let agent = agent(model, store, session)?;
    let response = agent.prompt(prompt).max_turns(8).await?;
    Ok(memory::results(&response.messages))
}

fn agent(
    model: MockCompletionModel,
    store: &MemoryStore,
    session: &Session,
) -> Result<Agent, Box<dyn Error>> {
    let tools = memory::tools(&Tools::new(store.clone()), session)?;
    let agent = AgentBuilder::new(model).preamble(AUTO_EXTRACTION_PROMPT);
    Ok(agent.dynamic_tools(tools).build())
}

fn save(key: &str, content: &str) -> MockTurn {
    // The model tries to choose a level, in vain.
    let arguments = json!({"key": key, "content": content, "classification": "PUBLIC"});
    MockTurn::tool_call(format!("call-{key}"), "memory_save", arguments)
}

fn search(query: &str) -> MockTurn {
    MockTurn::tool_call(query, "memory_search", json!({"query": query}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_third_conversation_sees_the_first_and_no_trace_of_the_second() {
        let [(_, first), (_, second), (_, third)] = conversations().await.unwrap();
        assert_eq!(first[0]["classification"], "PUBLIC");
        assert_eq!(second[0]["classification"], "CONFIDENTIAL");
        assert_eq!(third[0]["results"][0]["key"], "user-name");
        assert_eq!(third[1]["results"], json!([]));
        assert!(!json!(third).to_string().contains('9'));
    }

    #[tokio::test]
    async fn a_call_that_fails_tells_the_model_what_to_send() {
        let store = MemoryStore::open_in_memory().unwrap();
        let session = store.session("s", "assistant").open().unwrap();
        let wrong = MockTurn::tool_call("call", "memory_get", json!({"id": 5}));
        let script = [wrong, MockTurn::text("Sorry.")];
        let told = converse(&store, &session, "?", script).await.unwrap();
        assert_eq!(told[0]["error"]["code"], "invalid_argument");
    }
}
