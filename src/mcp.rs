//! The five tools as a server of the [Model Context Protocol](https://modelcontextprotocol.io).
//!
//! Feature `mcp`. [`Server`] holds what the host decides: the store, the agent, the taint at which a
//! connection starts and its ceiling. [`Server::connect`] opens a new session and returns a
//! [`Connection`], a handler of the official SDK `rmcp` that a runtime mounts on any transport of
//! that SDK. `examples/mcp_server.rs` does so on stdin and stdout.
#![doc = include_str!("mcp/guide.md")]
#![doc = include_str!("mcp/transcript.md")]
#![doc = include_str!("mcp/hosts.md")]

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams, ResultType,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use uuid::Uuid;

use crate::blocking::Blocking;
use crate::classification::Classification;
use crate::error::Result;
use crate::session::Session;
use crate::store::MemoryStore;
use crate::tools::{AUTO_EXTRACTION_PROMPT, Definition, ToolResult, Tools, definitions};

/// The SDK that this module is built on, in the version that fits. Its next major version will be a
/// breaking change here.
pub use rmcp;

/// How many calls of one connection run at once; the next wait.
pub const CALLS_AT_ONCE: usize = 8;

/// What the host decides for every connection: the store, the agent, the taint and its ceiling.
///
/// A client can't change any of it. A clone is cheap and works on the same store.
///
/// ```
/// use strandline::mcp::Server;
/// use strandline::{Classification, Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let server = Server::new(store.clone(), "assistant");
///
/// // One connection has read something confidential, and remembers it.
/// let first = server.connect()?;
/// first.session().raise(Classification::Confidential, "opened the ledger")?;
/// store.save(first.session(), Draft::new("revenue", "9 million"))?;
///
/// // The next one starts at PUBLIC and doesn't see it.
/// let next = server.connect()?;
/// assert!(store.get(next.session(), "revenue")?.is_none());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Server {
    store: MemoryStore,
    agent: String,
    taint: Classification,
    ceiling: Classification,
}

impl Server {
    /// A server of this agent's memories. Connections start at `PUBLIC` and may rise to `RESTRICTED`.
    ///
    /// ```
    /// use strandline::MemoryStore;
    /// use strandline::mcp::Server;
    ///
    /// let server = Server::new(MemoryStore::open_in_memory()?, "assistant");
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn new(store: MemoryStore, agent: impl Into<String>) -> Self {
        Self {
            store,
            agent: agent.into(),
            taint: Classification::Public,
            ceiling: Classification::Restricted,
        }
    }

    /// The taint at which each connection's session starts.
    ///
    /// ```
    /// use strandline::mcp::Server;
    /// use strandline::{Classification, MemoryStore};
    ///
    /// let server = Server::new(MemoryStore::open_in_memory()?, "assistant");
    /// let connection = server.taint(Classification::Internal).connect()?;
    /// assert_eq!(connection.session().taint(), Classification::Internal);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    #[must_use]
    pub const fn taint(mut self, taint: Classification) -> Self {
        self.taint = taint;
        self
    }

    /// The level above which no connection's session can be raised.
    ///
    /// ```
    /// use strandline::mcp::Server;
    /// use strandline::{Classification, ErrorKind, MemoryStore};
    ///
    /// let server = Server::new(MemoryStore::open_in_memory()?, "assistant");
    /// let connection = server.ceiling(Classification::Internal).connect()?;
    /// let raised = connection.session().raise(Classification::Restricted, "opened the safe");
    /// assert_eq!(raised.unwrap_err().kind(), ErrorKind::CeilingExceeded);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    #[must_use]
    pub const fn ceiling(mut self, ceiling: Classification) -> Self {
        self.ceiling = ceiling;
        self
    }

    /// Opens a session under a fresh id and returns its handler, for one connection.
    ///
    /// It writes to the store, so it blocks; on an async runtime call it where that is allowed.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) where the agent's name is none,
    /// [`CeilingExceeded`](crate::ErrorKind::CeilingExceeded) where the taint is above the ceiling,
    /// [`Denied`](crate::ErrorKind::Denied) by a host rule, or an error of the storage.
    ///
    /// ```
    /// use strandline::MemoryStore;
    /// use strandline::mcp::Server;
    ///
    /// let server = Server::new(MemoryStore::open_in_memory()?, "assistant");
    /// let (first, second) = (server.connect()?, server.connect()?);
    /// assert_ne!(first.session().id(), second.session().id());
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn connect(&self) -> Result<Connection> {
        let id = format!("mcp-{}", Uuid::new_v4());
        let session = self.store.session(id, self.agent.as_str());
        let session = session.taint(self.taint).ceiling(self.ceiling).open()?;
        Ok(Connection {
            tools: Tools::new(self.store.clone()),
            session,
            calls: Blocking::new(CALLS_AT_ONCE),
        })
    }
}

/// The handler of one connection, with a session of its own.
///
/// Serve it with `rmcp::ServiceExt::serve`. Calls run on the runtime's threads for blocking work,
/// at most [`CALLS_AT_ONCE`] of them at a time, and each at the session's taint at that moment. A call
/// whose client has gone or cancelled it is still carried out whole. Clones share the session.
///
/// ```
/// use strandline::MemoryStore;
/// use strandline::mcp::{Server, rmcp::ServiceExt};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let server = Server::new(MemoryStore::open_in_memory()?, "assistant");
/// let (ours, theirs) = tokio::io::duplex(4096);
/// let serving = tokio::spawn(server.connect()?.serve(ours));
/// drop(theirs); // a client that leaves before it has said anything
/// assert!(serving.await?.is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Connection {
    tools: Tools,
    session: Session,
    calls: Blocking,
}

impl Connection {
    /// The connection's session, which the host raises before it shows the client anything classified.
    ///
    /// ```
    /// use strandline::mcp::Server;
    /// use strandline::{Classification, MemoryStore};
    ///
    /// let connection = Server::new(MemoryStore::open_in_memory()?, "assistant").connect()?;
    /// let session = connection.session().clone(); // kept while the connection is served
    /// session.raise(Classification::Internal, "opened the staff directory")?;
    /// assert_eq!(connection.session().taint(), Classification::Internal);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// Runs a call where it may block. `None`: there is no such tool.
    async fn run(&self, name: String, arguments: Value) -> Result<Option<ToolResult>, ErrorData> {
        let this = self.clone();
        let call = move || this.tools.call(&this.session, &name, arguments);
        self.calls.run(call).await.map_err(|_| internal())
    }
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let implementation = Implementation::new("strandline", env!("CARGO_PKG_VERSION"))
            .with_title("Memory")
            .with_description(env!("CARGO_PKG_DESCRIPTION"));
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(AUTO_EXTRACTION_PROMPT)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = definitions().iter().find(|tool| tool.name() == name)?;
        describe(tool).ok()
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools: Result<Vec<_>, _> = definitions().iter().map(describe).collect();
        Ok(ListToolsResult::with_all_items(tools?))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.map_or(Value::Null, Value::Object);
        let result = self.run(request.name.into_owned(), arguments).await?;
        let result = result.ok_or_else(unknown_tool)?;
        let result = serde_json::from_value(result.mcp());
        let mut result: CallToolResult = result.map_err(|_| internal())?;
        // The SDK takes it out again for clients of a protocol that doesn't know it.
        result.result_type = Some(ResultType::COMPLETE);
        Ok(result.into())
    }

    /// What the SDK couldn't read as a request of the protocol.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(match request.method.as_str() {
            "tools/call" => {
                let message = "`name` must be a string, and `arguments` an object or absent";
                ErrorData::invalid_params(message, None)
            }
            _ => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "there is no such method", None),
        })
    }
}

fn describe(tool: &Definition) -> Result<Tool, ErrorData> {
    serde_json::from_value(tool.mcp()).map_err(|_| internal())
}

/// It doesn't repeat the name, which the SDK would write to the log.
fn unknown_tool() -> ErrorData {
    let names = definitions().iter().map(Definition::name);
    let names = names.collect::<Vec<_>>().join(", ");
    ErrorData::invalid_params(format!("unknown tool; there are {names}"), None)
}

/// A fault of this crate or of a storage provider. Its cause may hold content, so it isn't told.
fn internal() -> ErrorData {
    ErrorData::internal_error("the call could not be carried out", None)
}
