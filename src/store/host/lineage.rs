//! What was derived from what, and why it is as classified as it is.

use std::collections::{HashSet, VecDeque};

use super::Host;
use crate::audit::{Action, Decision, Entry, Query};
use crate::error::{Error, Result};
use crate::lineage::{Lineage, Origin, Step, Trace, VersionId, Why};
use crate::observe::Operation;
use crate::policy::Gate;
use crate::storage::Namespace;

impl Host {
    /// What the session of this version had read before it saved it, what the sessions of those had read,
    /// and so on; of every namespace.
    ///
    /// Empty for a version that there isn't, and for reads without
    /// [`lineage`](crate::StoreBuilder::lineage).
    ///
    /// # Errors
    /// Those of the storage only.
    ///
    /// ```
    /// use strandline::lineage::{Trace, VersionId};
    /// use strandline::storage::Namespace;
    /// use strandline::{Draft, MemoryStore, Search};
    ///
    /// let store = MemoryStore::builder().lineage(true).open_in_memory()?;
    /// let one = store.session("s-1", "agent").open()?;
    /// let other = store.session("s-2", "agent").open()?;
    /// store.save(&one, Draft::new("notes", "Ada likes tea"))?;
    /// store.search(&other, Search::new("tea"))?;
    /// let order = store.save(&other, Draft::new("order", "jasmine for Ada"))?;
    ///
    /// let order = VersionId::of(Namespace::MEMORY, &order);
    /// let found = store.host().derived_from(&order, &Trace::default())?;
    /// assert!(found.complete);
    /// assert_eq!(found.steps[0].origin.id.key.as_str(), "notes");
    /// assert_eq!(found.steps[0].origin.session.as_str(), "s-1");
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn derived_from(&self, version: &VersionId, trace: &Trace) -> Result<Lineage> {
        self.watch(Operation::DerivedFrom, || {
            let grant = Gate::host(self.namespace.clone(), None);
            follow(version, *trace, |version, limit| {
                self.gate.provider().sources(&grant, version, limit)
            })
        })
    }

    /// What was saved by sessions that had read this version before, what was saved after reading that,
    /// and so on; of every namespace.
    ///
    /// # Errors
    /// Those of the storage only.
    ///
    /// ```
    /// use strandline::lineage::{Trace, VersionId};
    /// use strandline::storage::Namespace;
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::builder().lineage(true).open_in_memory()?;
    /// let one = store.session("s-1", "agent").open()?;
    /// let other = store.session("s-2", "agent").open()?;
    /// let notes = store.save(&one, Draft::new("notes", "Ada likes tea"))?;
    /// store.save(&other, Draft::new("before", "not derived"))?;
    /// store.get(&other, "notes")?;
    /// store.save(&other, Draft::new("order", "jasmine for Ada"))?;
    ///
    /// let notes = VersionId::of(Namespace::MEMORY, &notes);
    /// let found = store.host().derived_into(&notes, &Trace::default())?;
    /// let keys: Vec<_> = found.steps.iter().map(|step| step.origin.id.key.as_str()).collect();
    /// assert_eq!(keys, ["order"]);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn derived_into(&self, version: &VersionId, trace: &Trace) -> Result<Lineage> {
        self.watch(Operation::DerivedInto, || {
            let grant = Gate::host(self.namespace.clone(), None);
            follow(version, *trace, |version, limit| {
                self.gate.provider().derivations(&grant, version, limit)
            })
        })
    }

    /// Why a version has its level: the save, and the raise or opening that had brought its session there.
    ///
    /// `None` where the audit knows no such save. It needs no option: the audit has it all.
    ///
    /// # Errors
    /// Those of the storage only.
    ///
    /// ```
    /// use strandline::audit::Action;
    /// use strandline::lineage::VersionId;
    /// use strandline::storage::Namespace;
    /// use strandline::{Classification, Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// session.raise(Classification::Internal, "opened the wiki")?;
    /// session.raise(Classification::Confidential, "read the ledger")?;
    /// let saved = store.save(&session, Draft::new("debts", "5 doubloons"))?;
    ///
    /// let saved = VersionId::of(Namespace::MEMORY, &saved);
    /// let why = store.host().why(&saved)?.expect("it was saved");
    /// let cause = why.cause.expect("it was raised").facts;
    /// assert_eq!((cause.action, cause.level), (Action::Raise, Classification::Confidential));
    /// assert_eq!(cause.detail.as_deref(), Some("read the ledger"));
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn why(&self, version: &VersionId) -> Result<Option<Why>> {
        self.watch(Operation::Why, || {
            let of_key = Query {
                agent: Some(version.agent.clone()),
                namespace: Some(version.namespace.clone()),
                key: Some(version.key.clone()),
                level: Some(version.level),
                decision: Some(Decision::Allowed),
                ..Query::default()
            };
            let is_save = |entry: &Entry| {
                entry.facts.action.stores() && entry.facts.version == Some(version.version)
            };
            let Some(saved) = self.oldest(of_key, is_save)? else {
                return Ok(None);
            };
            let of_session = Query {
                session: Some(saved.facts.session.clone()),
                namespace: Some(Namespace::SESSION),
                level: Some(version.level),
                decision: Some(Decision::Allowed),
                before: Some(saved.seq),
                ..Query::default()
            };
            let is_rise =
                |entry: &Entry| matches!(entry.facts.action, Action::Open | Action::Raise);
            let cause = self.oldest(of_session, is_rise)?;
            Ok(Some(Why { saved, cause }))
        })
    }

    /// The oldest entry that the query asks for and that passes.
    fn oldest(&self, mut query: Query, passes: impl Fn(&Entry) -> bool) -> Result<Option<Entry>> {
        let mut oldest = None;
        loop {
            let page = self.entries(&query)?;
            let Some(last) = page.last().map(|last| last.seq) else {
                return Ok(oldest);
            };
            if query.before.is_some_and(|before| last >= before) {
                return Err(Error::corrupt("entries of the audit are in no order"));
            }
            query.before = Some(last);
            oldest = page.into_iter().rfind(&passes).or(oldest);
        }
    }
}

/// Goes from version to version, the nearest first, each once.
fn follow(
    start: &VersionId,
    trace: Trace,
    next: impl Fn(&VersionId, usize) -> Result<Vec<Origin>>,
) -> Result<Lineage> {
    let mut seen = HashSet::from([start.clone()]);
    let mut found = Lineage {
        steps: Vec::new(),
        complete: true,
    };
    let mut ahead = VecDeque::from([(start.clone(), 0)]);
    // One more than there may be, to know whether there is one.
    let most = trace.limit.saturating_add(1);
    while let Some((via, passed)) = ahead.pop_front() {
        // What is known already doesn't count, so it may not hide what isn't.
        let origins = next(&via, most.saturating_add(seen.len()))?;
        let new = origins
            .into_iter()
            .filter(|origin| !seen.contains(&origin.id));
        let new: Vec<_> = new.collect();
        if passed == trace.depth {
            found.complete &= new.is_empty();
            continue;
        }
        for origin in new {
            if found.steps.len() == trace.limit {
                found.complete = false;
                return Ok(found);
            }
            seen.insert(origin.id.clone());
            ahead.push_back((origin.id.clone(), passed + 1));
            found.steps.push(Step {
                origin,
                distance: passed + 1,
                via: via.clone(),
            });
        }
    }
    Ok(found)
}
