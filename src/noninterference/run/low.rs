//! What low sessions do, with every reply noted and checked.

use super::{AGENT, Front, KEYS, QUERIES, Run, TAGS, observe, pages, pick, query_of};
use crate::noninterference::oracle::Handle;
use crate::noninterference::trace::{Call, Deed, Op};
use crate::search::Explainer;
use crate::search::analysis::Analysis;
use crate::storage::VersionState;
use crate::{Classification, Hit, MemoryStore, Page, Result, Session};

impl Run<'_> {
    pub(super) fn low(&mut self, deed: &Deed) {
        let handle = self.handle(deed);
        let who = (deed.who, handle);
        let person = self.low_person(deed.who);
        let first = !self.known.contains(&person.id);
        let (session, opened) = self.session(&person, handle);
        if opened {
            let asked = if first {
                person.taint
            } else {
                Classification::Public
            };
            self.opened(who, asked, &session);
        }
        let Ok(session) = session else { return };
        let store = self.store(handle);
        match &deed.op {
            Op::Save(text) => {
                let reply = self.save(&store, &session, text);
                self.see("save", &observe::reply(&reply, observe::memory));
                let reply = reply.map(|memory| vec![memory]);
                self.oracle.saved(who, &[text], &reply);
            }
            Op::SaveAll(texts) => {
                let reply = self.save_all(&store, &session, texts);
                self.see(
                    "save all",
                    &observe::reply(&reply, |all| observe::memories(all)),
                );
                self.oracle
                    .saved(who, &texts.iter().collect::<Vec<_>>(), &reply);
            }
            Op::Delete(key) => {
                let key = pick(&KEYS, *key);
                let reply = store.delete(&session, key);
                self.see("delete", &observe::reply(&reply, |()| String::from("done")));
                self.oracle.deleted(who, key, &reply);
            }
            Op::Get(key) => self.get(who, &store, &session, pick(&KEYS, *key)),
            Op::Search { query, limit } => self.search(who, &store, &session, *query, *limit),
            Op::List { tag, limit } => {
                let tag = tag.map(|tag| pick(&TAGS, tag));
                self.list(who, &store, &session, tag, *limit);
            }
            Op::Raise(level) => {
                let level = level.meet(self.trace.level);
                let reply = session.raise(level, "read more");
                self.see("raise", &observe::reply(&reply, ToString::to_string));
                self.oracle
                    .raised(who, level, reply.is_ok(), session.taint());
            }
            Op::Open(taint, ceiling) => {
                let taint = taint.meet(self.trace.level);
                let opens = store.session(&person.id, AGENT);
                let reply = opens.taint(taint).ceiling(*ceiling).open();
                self.opened_again(who, taint, &reply, &session);
            }
            Op::Look => self.look(who, &store, &session),
            Op::Call(call) => self.call(who, &store, &session, call),
            Op::Persona(budget) => self.persona(who, &store, &session, *budget),
        }
        self.see("session", &observe::session(&session));
    }

    fn opened(&mut self, who: Handle, asked: Classification, reply: &Result<Session>) {
        self.see("open", &observe::reply(reply, observe::session));
        if let Ok(session) = reply {
            self.oracle.opened(who, asked, true, session.taint());
        }
    }

    fn opened_again(
        &mut self,
        who: Handle,
        asked: Classification,
        reply: &Result<Session>,
        session: &Session,
    ) {
        self.see("open again", &observe::reply(reply, observe::session));
        self.oracle
            .opened(who, asked, reply.is_ok(), session.taint());
    }

    fn get(&mut self, who: Handle, store: &MemoryStore, session: &Session, key: &str) {
        let reply = store.get(session, key);
        self.see(
            "get",
            &observe::reply(&reply, |found| observe::maybe(found.as_ref())),
        );
        self.oracle.got(who, key, &reply);
    }

    fn search(
        &mut self,
        who: Handle,
        store: &MemoryStore,
        session: &Session,
        query: u8,
        limit: usize,
    ) {
        let mut reply = store.search(session, query_of(query, limit));
        if self.front == Some(Front::ExplainedFromAbove) {
            let hits = reply.iter_mut().flatten();
            hits.for_each(|hit| explain_from_above(hit, store, pick(&QUERIES, query)));
        }
        self.see(
            "search",
            &observe::reply(&reply, |hits| observe::hits(hits)),
        );
        self.oracle.found(who, pick(&QUERIES, query), limit, &reply);
    }

    fn list(
        &mut self,
        who: Handle,
        store: &MemoryStore,
        session: &Session,
        tag: Option<&str>,
        limit: usize,
    ) {
        let reply = pages(store, session, tag, limit);
        let mut text = observe::reply(&reply, |pages| {
            let pages: Vec<String> = pages.iter().map(observe::page).collect();
            pages.join("\n")
        });
        let goes_on = |pages: &Vec<Page>| pages.iter().any(|page| page.next.is_some());
        if self.front == Some(Front::CursorOfRows) && reply.as_ref().is_ok_and(goes_on) {
            text = format!("{text} next {}", self.saves);
        }
        if self.front == Some(Front::PageOfSessions) {
            let above = |other: &&Session| other.taint() > session.taint();
            let above = self.sessions.values().filter(above).count();
            text = format!("{text} above {above}");
        }
        self.see("list", &text);
        self.oracle.listed(who, tag, &reply);
    }

    /// Reads all that can be read.
    fn look(&mut self, who: Handle, store: &MemoryStore, session: &Session) {
        let mut text = format!("{store:?}");
        if self.front == Some(Front::DebugOfSessions) {
            text = format!("{text} {:?}", self.sessions.keys());
        }
        self.see("store", &text);
        for key in KEYS {
            self.get(who, store, session, key);
        }
        self.list(who, store, session, None, 2);
        for tag in TAGS {
            self.list(who, store, session, Some(tag), 100);
        }
        for query in (0..).take(QUERIES.len()) {
            self.search(who, store, session, query, 100);
            self.search(who, store, session, query, 1);
        }
        self.call(who, store, session, &Call::List { tag: None });
        self.persona(who, store, session, 4_000);
    }
}

/// Explains a hit by the highest live version of its key.
fn explain_from_above(hit: &mut Hit, store: &MemoryStore, query: &str) {
    let versions = store.host().history(AGENT, hit.memory.key.as_str());
    let versions = versions.unwrap().into_iter();
    let live = versions.filter(|version| version.state == VersionState::Live);
    let highest = live.max_by_key(|version| version.memory.classification);
    hit.explanation =
        highest.map(|version| Explainer::new(query, Analysis::default()).explain(&version.memory));
}
