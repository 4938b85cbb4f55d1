//! The one place that tells observers, and opens the spans of the feature `tracing`.

use std::cell::Cell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::told::Told;
use super::{Call, Observer, Operation, Outcome};
use crate::classification::Classification;
use crate::session::Session;

thread_local! {
    /// Whether this thread is telling an observer: what that one calls isn't told of again.
    static IS_TELLING: Cell<bool> = const { Cell::new(false) };
}

/// A store's observers. Nothing is measured where there are none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observers(Vec<Arc<dyn Observer>>);

/// What the parts of a call find out on their way.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    level: Cell<Option<Classification>>,
}

impl Probe {
    /// Notes the level at which the call is carried out.
    pub(crate) fn note(&self, level: Classification) {
        self.level.set(Some(level));
    }
}

impl Observers {
    pub(crate) fn add(&mut self, observer: Arc<dyn Observer>) {
        self.0.push(observer);
    }

    /// Carries out a call, and tells of it when it is over.
    ///
    /// It is the outermost thing that a public method does: no lock, hold of a taint or transaction of the
    /// call is left when the observers get to know of it.
    pub(crate) fn watch<T: Told>(
        &self,
        operation: Operation,
        tool: Option<&'static str>,
        session: Option<&Session>,
        work: impl FnOnce(&Probe) -> T,
    ) -> T {
        let observers: &[_] = if self.0.is_empty() || IS_TELLING.get() {
            &[]
        } else {
            &self.0
        };
        #[cfg(feature = "tracing")]
        let span = super::span::enter(operation, tool);
        #[cfg(feature = "tracing")]
        let is_traced = !span.is_disabled();
        #[cfg(not(feature = "tracing"))]
        let is_traced = false;
        if observers.is_empty() && !is_traced {
            return work(&Probe::default());
        }
        let mut watched = Watched {
            observers,
            operation,
            tool,
            session,
            probe: Probe::default(),
            begun: Instant::now(),
            came_to: (Outcome::Panicked, 0),
            #[cfg(feature = "tracing")]
            span,
        };
        let told = work(&watched.probe);
        watched.came_to = (told.outcome(), told.count());
        told
    }
}

/// A call under way. It is told of when this is dropped, so that one that panics is, too.
struct Watched<'a> {
    observers: &'a [Arc<dyn Observer>],
    operation: Operation,
    tool: Option<&'static str>,
    session: Option<&'a Session>,
    probe: Probe,
    begun: Instant,
    came_to: (Outcome, u64),
    /// Left last, so that what an observer logs belongs to it.
    #[cfg(feature = "tracing")]
    span: tracing::span::EnteredSpan,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        let duration = self.begun.elapsed();
        let (outcome, count) = self.came_to;
        // A call that came to nothing before the gate has the level that its session has.
        let level = self.probe.level.get();
        let level = level.or_else(|| self.session.map(Session::taint));
        let call = Call {
            operation: self.operation,
            tool: self.tool,
            level,
            count,
            duration,
            outcome,
        };
        #[cfg(feature = "tracing")]
        super::span::record(&self.span, &call);
        for observer in self.observers {
            tell(&**observer, &call);
        }
    }
}

/// Tells one observer. A panic of it ends here: the call is over, and its result stands.
fn tell(observer: &dyn Observer, call: &Call) {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            IS_TELLING.set(self.0);
        }
    }
    let _restore = Restore(IS_TELLING.replace(true));
    let told = catch_unwind(AssertUnwindSafe(|| observer.called(call)));
    // What it panicked with may panic when it is dropped.
    if let Err(payload) = told
        && let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload)))
    {
        mem::forget(again);
    }
}
