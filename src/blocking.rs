//! Work that blocks, off the threads of an async runtime and not too much of it at once.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::error::{Error, Result};

/// A bound on jobs that block. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Blocking {
    permits: Arc<Semaphore>,
}

impl Blocking {
    pub(crate) fn new(at_once: usize) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(at_once)),
        }
    }

    /// Runs the job on a thread for blocking work. Those that wait for their turn hold no thread.
    ///
    /// The permit goes with the job, not with the future: a job whose caller has gone still counts.
    /// A panic's message may hold content, so the error doesn't repeat it.
    pub(crate) async fn run<T, F>(&self, job: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let runtime = Handle::try_current()
            .map_err(|_| Error::invalid("the call must be awaited inside a tokio runtime"))?;
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|_| Error::internal("the bound on calls was closed"))?;
        #[cfg(feature = "tracing")]
        let job = crate::observe::in_span(job);
        let job = runtime.spawn_blocking(move || {
            let result = job();
            drop(permit);
            result
        });
        job.await.map_err(|error| {
            Error::internal(if error.is_panic() {
                "the call panicked"
            } else {
                "the runtime was shut down before the call began"
            })
        })
    }
}
