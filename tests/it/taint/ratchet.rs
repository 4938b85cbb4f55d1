//! The taint never falls, and never rises above a ceiling.

use proptest::prelude::*;
use strandline::Classification::{self, Confidential, Internal, Public, Restricted};
use strandline::audit::{Action, Decision, Query};
use strandline::{Draft, ErrorKind, MemoryStore, Session};

use super::on_each_provider;

#[test]
fn nothing_lowers_a_taint() {
    on_each_provider(|open| {
        let store = open();
        let session = store
            .session("s", "agent")
            .taint(Confidential)
            .open()
            .unwrap();
        for level in [Public, Internal, Confidential] {
            assert_eq!(
                session.raise(level, "try to lower it").unwrap(),
                Confidential
            );
        }
        assert_eq!(session.clone().taint(), Confidential);
        let again = store.session("s", "agent").taint(Public).open().unwrap();
        assert_eq!(again.taint(), Confidential);
        let refused = store
            .session("s", "agent")
            .ceiling(Internal)
            .open()
            .unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::SessionMismatch);
        assert!(store.session("s", "another agent").open().is_err());
        assert_eq!(session.taint(), Confidential);
        drop((session, again, store));

        let store = open();
        let resumed = store.session("s", "agent").open().unwrap();
        assert_eq!(resumed.taint(), Confidential);
        let saved = store.save(&resumed, Draft::new("k", "v")).unwrap();
        assert_eq!(saved.classification, Confidential);
        assert_eq!(
            store.session("new", "agent").open().unwrap().taint(),
            Public
        );
    });
}

#[test]
fn a_session_opened_again_knows_what_another_store_raised() {
    on_each_provider(|open| {
        let (one, other) = (open(), open());
        let here = one.session("s", "agent").open().unwrap();
        let there = other.session("s", "agent").open().unwrap();
        there.raise(Internal, "opened the wiki").unwrap();

        let again = one.session("s", "agent").open().unwrap();
        assert_eq!(again.taint(), Internal);
        assert_eq!(here.taint(), Internal); // they are handles of one session
    });
}

#[test]
fn a_raise_above_the_ceiling_is_refused_and_recorded() {
    on_each_provider(|open| {
        let store = open();
        let session = store
            .session("s", "agent")
            .ceiling(Internal)
            .open()
            .unwrap();
        let refused = session.raise(Confidential, "too high").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::CeilingExceeded);
        assert_eq!(session.taint(), Public);
        let newest = &store.host().audit(&Query::default()).unwrap()[0].facts;
        assert_eq!(
            (newest.action, newest.decision),
            (Action::Raise, Decision::Refused)
        );
        assert_eq!(newest.level, Confidential);

        let saved = store.save(&session, Draft::new("k", "v")).unwrap();
        assert_eq!(saved.classification, Public);
        assert_eq!(
            session.raise(Internal, "as high as it may").unwrap(),
            Internal
        );
    });
}

#[test]
fn a_ceiling_outlives_a_restart_and_only_falls() {
    on_each_provider(|open| {
        let store = open();
        let session = store
            .session("s", "agent")
            .ceiling(Confidential)
            .open()
            .unwrap();
        drop((session, store));

        let store = open();
        let resumed = store.session("s", "agent").open().unwrap();
        assert_eq!(resumed.ceiling(), Confidential);
        assert!(resumed.raise(Restricted, "too high").is_err());
        let tighter = store
            .session("s", "agent")
            .ceiling(Internal)
            .open()
            .unwrap();
        assert_eq!(tighter.ceiling(), Internal);
        let loose = store
            .session("s", "agent")
            .ceiling(Restricted)
            .open()
            .unwrap();
        assert_eq!(loose.ceiling(), Internal);
        assert!(
            store
                .session("s", "agent")
                .taint(Confidential)
                .open()
                .is_err()
        );
        assert_eq!(resumed.taint(), Public);
    });
}

#[test]
fn a_ceiling_set_by_another_store_holds() {
    on_each_provider(|open| {
        let (one, other) = (open(), open());
        let here = one.session("s", "agent").open().unwrap();
        let there = other
            .session("s", "agent")
            .ceiling(Internal)
            .open()
            .unwrap();
        assert_eq!(there.ceiling(), Internal);
        let refused = here.raise(Confidential, "too high").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::CeilingExceeded);
        assert_eq!(here.taint(), Public);
    });
}

/// Once lost: the ceiling was in memory only, since the raise of the other store counted as record.
#[test]
fn a_ceiling_set_after_another_store_raised_is_recorded() {
    on_each_provider(|open| {
        let (one, other) = (open(), open());
        let here = one.session("s", "agent").open().unwrap();
        let there = other.session("s", "agent").open().unwrap();
        there.raise(Internal, "opened the wiki").unwrap();
        let tight = one
            .session("s", "agent")
            .ceiling(Confidential)
            .open()
            .unwrap();
        assert_eq!((tight.taint(), tight.ceiling()), (Internal, Confidential));
        drop((here, there, tight, one, other));

        let resumed = open().session("s", "agent").open().unwrap();
        assert_eq!(
            (resumed.taint(), resumed.ceiling()),
            (Internal, Confidential)
        );
    });
}

/// What a host may do with one session.
#[derive(Clone, Debug)]
enum Op {
    Raise(Classification),
    Open(Classification, Classification),
    OpenAsAnother(Classification),
    Clone,
    Save,
    Restart,
}

fn op() -> impl Strategy<Value = Op> {
    let level = || prop::sample::select(Classification::ALL.to_vec());
    prop_oneof![
        3 => level().prop_map(Op::Raise),
        3 => (level(), level()).prop_map(|(taint, ceiling)| Op::Open(taint, ceiling)),
        1 => level().prop_map(Op::OpenAsAnother),
        1 => Just(Op::Clone),
        2 => Just(Op::Save),
        2 => Just(Op::Restart),
    ]
}

/// A session's handle beside what its taint and ceiling must be.
struct Model {
    store: MemoryStore,
    session: Session,
    taint: Classification,
    ceiling: Classification,
}

impl Model {
    fn apply(&mut self, op: &Op, open: &super::Open) {
        match *op {
            Op::Raise(level) => {
                let allowed = level.can_flow_to(self.ceiling);
                assert_eq!(self.session.raise(level, "a raise").is_ok(), allowed);
                self.taint = if allowed {
                    self.taint.join(level)
                } else {
                    self.taint
                };
            }
            Op::Open(taint, ceiling) => {
                let tighter = self.ceiling.meet(ceiling);
                let risen = self.taint.join(taint);
                let opens = self.store.session("s", "agent");
                let opened = opens.taint(taint).ceiling(ceiling).open();
                assert_eq!(opened.is_ok(), risen.can_flow_to(tighter));
                if let Ok(session) = opened {
                    (self.session, self.taint, self.ceiling) = (session, risen, tighter);
                }
            }
            Op::OpenAsAnother(taint) => {
                assert!(
                    self.store
                        .session("s", "another")
                        .taint(taint)
                        .open()
                        .is_err()
                );
            }
            Op::Clone => self.session = self.session.clone(),
            Op::Save => {
                let saved = self
                    .store
                    .save(&self.session, Draft::new("k", "v"))
                    .unwrap();
                assert_eq!(saved.classification, self.taint);
            }
            Op::Restart => {
                self.store = open();
                self.session = self.store.session("s", "agent").open().unwrap();
            }
        }
        assert_eq!(self.session.taint(), self.taint);
        assert_eq!(self.session.ceiling(), self.ceiling);
        let raises = self.session.raises();
        assert!(raises.iter().all(|raise| raise.from < raise.to));
        assert!(raises.is_sorted_by(|a, b| a.to == b.from));
        assert_eq!(raises.last().map_or(Public, |raise| raise.to), self.taint);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn taint_and_ceiling_are_as_a_model_has_them(ops in prop::collection::vec(op(), 1..20)) {
        on_each_provider(|open| {
            let store = open();
            let session = store.session("s", "agent").open().unwrap();
            let mut model = Model { store, session, taint: Public, ceiling: Restricted };
            for op in &ops {
                model.apply(op, open);
            }
        });
    }
}
