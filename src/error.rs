//! The one error type, its kinds grouped by who must act.

use std::error::Error as StdError;
use std::fmt;

/// What went wrong, as far as a host needs to branch on it.
///
/// Kinds are grouped by who can act: the caller (`InvalidArgument` to `SessionMismatch`), the host's
/// file or machine (`NotAStore` to `Unsupported`), or this crate (`Internal`).
///
/// ```
/// use strandline::{Classification, Draft, ErrorKind, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let high = store.session("s-1", "agent").taint(Classification::Internal).open()?;
/// store.save(&high, Draft::new("door-code", "4711"))?;
///
/// let low = store.session("s-2", "agent").open()?;
/// match store.delete(&low, "door-code").unwrap_err().kind() {
///     ErrorKind::NotFound => {} // what is above a session is not there
///     ErrorKind::Busy | ErrorKind::Full => println!("again later"),
///     kind => panic!("{}", kind.code()),
/// }
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument is missing, of the wrong shape, or unknown; the message says what was expected.
    InvalidArgument,
    /// An argument is larger than the store's [`Limits`](crate::Limits) allow; the message names the
    /// limit.
    LimitExceeded,
    /// There is no such memory that this session can see.
    NotFound,
    /// The memory is readable, but not at exactly the session's level, so it can't be deleted.
    WrongLevel,
    /// A host rule denied the operation.
    Denied,
    /// A taint above the session's ceiling was asked for.
    CeilingExceeded,
    /// The session id is taken by a session of another agent, or a new ceiling lies below its taint.
    SessionMismatch,
    /// The session's recorded taint is above the grant's level. Providers return it; the gate
    /// answers it by raising the session and trying again, so callers don't see it.
    TaintRaised,
    /// The file is not a strandline store, or the path is not a file.
    NotAStore,
    /// The key doesn't open the file: it's another one's, or missing, or the file isn't encrypted; the message
    /// says which, as far as that can be told. Nothing was changed. A disk that fails to read the file's beginning can
    /// also look like it.
    WrongKey,
    /// The file was written by a newer version of this crate, or one has indexed it since it was opened.
    NewerVersion,
    /// The file's content is damaged, or the disk failed to read it: SQLite takes both for one, so look at
    /// the disk, and open the store again, before you restore a backup.
    Corrupt,
    /// Another connection held the store for longer than the busy timeout.
    Busy,
    /// The disk, or the file's allowed size, is full.
    Full,
    /// The file or its folder can't be written, or couldn't be opened for it.
    ReadOnly,
    /// Any other failure of the file system.
    Io,
    /// There is something at the path already, and it isn't replaced.
    AlreadyExists,
    /// The provider has no such operation; the message says which.
    Unsupported,
    /// A fault of this crate or of a provider. Please report it.
    Internal,
}

impl ErrorKind {
    /// A stable, lower-case code for logs and wire protocols, such as `"not_found"`.
    ///
    /// ```
    /// assert_eq!(strandline::ErrorKind::NotFound.code(), "not_found");
    /// ```
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid_argument",
            Self::LimitExceeded => "limit_exceeded",
            Self::NotFound => "not_found",
            Self::WrongLevel => "wrong_level",
            Self::Denied => "denied",
            Self::CeilingExceeded => "ceiling_exceeded",
            Self::SessionMismatch => "session_mismatch",
            Self::TaintRaised => "taint_raised",
            Self::NotAStore => "not_a_store",
            Self::WrongKey => "wrong_key",
            Self::NewerVersion => "newer_version",
            Self::Corrupt => "corrupt",
            Self::Busy => "busy",
            Self::Full => "full",
            Self::ReadOnly => "read_only",
            Self::Io => "io",
            Self::AlreadyExists => "already_exists",
            Self::Unsupported => "unsupported",
            Self::Internal => "internal",
        }
    }
}

/// A failure of any operation of this crate.
///
/// Opaque, so that it can grow: branch on [`kind`](Self::kind). Neither its text nor its `Debug`
/// form ever holds a memory's key, content or tags, or a query (invariant I9). The cause, where
/// there is one, is in [`source`](StdError::source) and not repeated in the text.
///
/// ```
/// use strandline::{ErrorKind, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// let error = store.delete(&session, "no-such-key").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::NotFound);
/// assert!(!format!("{error} {error:?}").contains("no-such-key"));
/// # Ok::<(), strandline::Error>(())
/// ```
pub struct Error {
    kind: ErrorKind,
    message: Box<str>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// This crate's results.
///
/// ```
/// use strandline::{Classification, MemoryStore, Session};
///
/// /// A session that never reads above `INTERNAL`.
/// fn support(store: &MemoryStore, id: &str) -> strandline::Result<Session> {
///     store.session(id, "agent").ceiling(Classification::Internal).open()
/// }
///
/// let store = MemoryStore::open_in_memory()?;
/// assert_eq!(support(&store, "s-1")?.ceiling(), Classification::Internal);
/// # Ok::<(), strandline::Error>(())
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of this kind. For writers of providers and host rules; the message must not hold
    /// content, keys, tags or queries.
    ///
    /// ```
    /// use strandline::{Error, ErrorKind};
    ///
    /// let error = Error::new(ErrorKind::Busy, "the other writer did not finish");
    /// assert_eq!(error.to_string(), "the other writer did not finish");
    /// ```
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into().into_boxed_str(),
            source: None,
        }
    }

    /// The same error with its cause.
    ///
    /// ```
    /// use std::error::Error as _;
    /// use strandline::{Error, ErrorKind};
    ///
    /// let cause = std::io::Error::other("cable unplugged");
    /// let error = Error::new(ErrorKind::Io, "the store can't be read").with_source(cause);
    /// assert!(error.source().is_some());
    /// ```
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The kind, to branch on.
    ///
    /// ```
    /// use strandline::{Error, ErrorKind};
    ///
    /// assert_eq!(Error::new(ErrorKind::Full, "no space").kind(), ErrorKind::Full);
    /// ```
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether waiting and trying again may succeed: the store was [busy](ErrorKind::Busy) or the
    /// disk [full](ErrorKind::Full).
    ///
    /// ```
    /// use strandline::{Error, ErrorKind};
    ///
    /// assert!(Error::new(ErrorKind::Busy, "locked").is_retryable());
    /// assert!(!Error::new(ErrorKind::NotFound, "no").is_retryable());
    /// ```
    pub const fn is_retryable(&self) -> bool {
        matches!(self.kind, ErrorKind::Busy | ErrorKind::Full)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    pub(crate) fn no_such_version() -> Self {
        let text = "the version to go on from is not in the key's history, or not any more";
        Self::new(ErrorKind::NotFound, text)
    }

    pub(crate) fn restores_expired() -> Self {
        Self::invalid("`version` must be one that has not expired; save its content anew instead")
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    pub(crate) fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Error");
        out.field("kind", &self.kind)
            .field("message", &self.message);
        if let Some(source) = &self.source {
            out.field("source", &format_args!("{source}"));
        }
        out.finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn StdError + 'static))
    }
}
