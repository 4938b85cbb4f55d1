//! An agent's tool calls as a model sends them: two conversations, a restart, and a trigger's wake-up.
//!
//! The model is a script, so there is no network and each answer can be checked: the example fails if
//! one is not as it must be. `cargo run --example agent_loop`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use strandline::tools::{self, Persona, Tools};
use strandline::{Classification, MemoryStore, Session};

type Done = Result<(), Box<dyn Error>>;

fn main() -> Done {
    let folder =
        Folder(std::env::temp_dir().join(format!("strandline-loop-{}", uuid::Uuid::new_v4())));
    let path = folder.0.join("memory.db");
    monday(&path)?;
    tuesday(&path)?;
    trigger(&path)?;
    println!("\nEvery answer was as it must be.");
    Ok(())
}

/// What a runtime holds for one conversation.
struct Conversation {
    store: MemoryStore,
    tools: Tools,
    session: Session,
}

impl Conversation {
    fn start(path: &Path, id: &str) -> Result<Self, Box<dyn Error>> {
        let store = MemoryStore::builder().create_folders().open(path)?;
        let session = store.session(id, "assistant").open()?;
        println!("\n== {id}, at {}", session.taint());
        Ok(Self {
            tools: Tools::new(store.clone()),
            store,
            session,
        })
    }

    /// The system prompt: how to remember, and what is remembered.
    fn system_prompt(&self) -> Result<String, Box<dyn Error>> {
        let persona = Persona::new().load(&self.store, &self.session)?;
        Ok(format!(
            "{}\n{}",
            tools::AUTO_EXTRACTION_PROMPT,
            persona.text
        ))
    }

    /// One tool call of the model: runs it, shows it, and checks some fields of the output.
    fn call(&self, tool: &str, arguments: impl Into<Value>, expected: &Value) -> Done {
        let arguments = arguments.into();
        println!("-> {tool} {arguments}");
        let result = self.tools.call(&self.session, tool, arguments);
        let Some(result) = result else {
            println!("<- not a memory tool: the runtime looks elsewhere");
            return must(
                expected.is_null(),
                "an unknown tool was expected to be known",
            );
        };
        println!(
            "<- {}{}",
            if result.is_error() { "error: " } else { "" },
            result.output
        );
        for (path, value) in expected.as_object().into_iter().flatten() {
            let got = result.output.pointer(path);
            must(
                got == Some(value),
                &format!("{path} is {got:?}, not {value}"),
            )?;
        }
        Ok(())
    }
}

fn must(holds: bool, otherwise: &str) -> Done {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

fn monday(path: &Path) -> Done {
    let talk = Conversation::start(path, "monday")?;
    let definitions = tools::definitions()
        .iter()
        .map(tools::Definition::anthropic);
    println!("tools sent to the model: {}", definitions.count());

    // As it should be sent,
    talk.call(
        "memory_save",
        json!({"key": "user-name", "content": "The user is called Ada.", "tags": ["persona"]}),
        &json!({"/saved": true, "/classification": "PUBLIC"}),
    )?;
    // as the OpenAI API sends it, with the tags as one text,
    talk.call(
        "memory_save",
        r#"{"key":"reply-style","content":"Ada wants short replies, in French.","tags":"rule, preference"}"#,
        &json!({"/saved": true}),
    )?;
    // and with a mistake, from which the message helps the model.
    talk.call(
        "memory_search",
        json!({"query": "how to reply", "top_k": 3}),
        &json!({"/error/code": "invalid_argument"}),
    )?;
    talk.call(
        "memory_search",
        json!({"query": "how should I reply to her?", "max_results": "3"}),
        &json!({"/results/0/key": "reply-style"}),
    )?;
    talk.call("send_email", json!({"to": "ada@example.com"}), &Value::Null)?;

    println!("-- the runtime is about to show the model the payroll: it raises the taint first");
    talk.session
        .raise(Classification::Confidential, "read payroll.xlsx")?;
    talk.call(
        "memory_save",
        json!({"key": "raise-talk", "content": "Ada's pay rises to 5,000 doubloons in May.",
               "tags": ["project"], "classification": "PUBLIC"}),
        &json!({"/saved": true, "/classification": "CONFIDENTIAL"}),
    )?;
    talk.call(
        "memory_delete",
        json!({"key": "user-name"}),
        &json!({"/error/code": "wrong_level"}),
    )
}

fn tuesday(path: &Path) -> Done {
    println!("\n-- the program has ended and starts again");
    let talk = Conversation::start(path, "tuesday")?;
    let prompt = talk.system_prompt()?;
    println!(
        "{}",
        prompt
            .lines()
            .skip_while(|line| *line != "<remembered>")
            .collect::<Vec<_>>()
            .join("\n")
    );
    must(
        prompt.contains("short replies"),
        "the rule was not remembered",
    )?;
    must(
        !prompt.contains("doubloons"),
        "a PUBLIC prompt holds CONFIDENTIAL text",
    )?;

    talk.call(
        "memory_get",
        json!({"key": "user-name"}),
        &json!({"/found": true}),
    )?;
    talk.call(
        "memory_get",
        json!({"key": "raise-talk"}),
        &json!({"/found": false}),
    )?;
    talk.call(
        "memory_search",
        json!({"query": "how many doubloons from May?"}),
        &json!({"/results": []}),
    )?;
    talk.call(
        "memory_save",
        json!({"key": "user-name", "content": "The user is called Ada Lovelace.", "tags": "persona"}),
        &json!({"/saved": true}),
    )?;

    println!("-- the conversation of monday goes on, at the taint that it had");
    let talk = Conversation::start(path, "monday")?;
    must(
        talk.session.taint() == Classification::Confidential,
        "the taint was lost",
    )?;
    talk.call(
        "memory_search",
        json!({"query": "how many doubloons from May?"}),
        &json!({"/results/0/key": "raise-talk"}),
    )
}

/// A scheduled run: a new session of the same agent, which starts at PUBLIC.
fn trigger(path: &Path) -> Done {
    let run = Conversation::start(path, "trigger:weekly-report")?;
    run.call(
        "memory_list",
        Value::Null,
        &json!({"/memories/1/key": "user-name"}),
    )?;
    run.call(
        "memory_list",
        json!({"tag": "project"}),
        &json!({"/memories": []}),
    )?;
    run.call(
        "memory_get",
        json!({"key": "user-name"}),
        &json!({"/content": "The user is called Ada Lovelace."}),
    )?;
    run.call(
        "memory_save",
        json!({"key": "last-report", "content": "The weekly report ran."}),
        &json!({"/classification": "PUBLIC"}),
    )?;
    run.call(
        "memory_delete",
        json!({"key": "last-report"}),
        &json!({"/deleted": true}),
    )
}

/// A folder of this run's own, removed at its end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // At worst the folder stays where temporary folders are swept.
        let _ = fs::remove_dir_all(&self.0);
    }
}
