//! One session in two stores over the same records, as in two processes: its taint is one.

use std::sync::Arc;

use strandline::Classification::{Confidential, Internal, Public, Restricted};
use strandline::storage::InMemory;
use strandline::{Draft, ErrorKind, MemoryStore, Session};
use tempfile::TempDir;

use crate::keyed;
use crate::providers::Home;

/// A store with the session `s-1` at `PUBLIC`, and another with the same.
fn two<H: Home>(home: &H) -> [(MemoryStore, Session); 2] {
    [(), ()].map(|()| {
        let store = home.open(keyed::builder());
        let session = store.session("s-1", "ada").open().expect("a session");
        (store, session)
    })
}

fn a_save_is_at_the_taint_of_both<H: Home>() {
    let home = H::new();
    let [(store, here), (_other, there)] = two(&home);
    for level in [Internal, Confidential, Restricted] {
        there.raise(level, "read elsewhere").expect("a rise");
        let saved = store.save(&here, Draft::new("k", "v")).expect("a save");
        assert_eq!(saved.classification, level);
        assert_eq!(here.taint(), level);
    }
    assert_eq!(here.raises(), there.raises());
    let reader = store.session("s-2", "ada").open().expect("a session");
    assert_eq!(store.get(&reader, "k").expect("a read"), None);
}

fn a_delete_is_at_the_taint_of_both<H: Home>() {
    let home = H::new();
    let [(store, here), (_other, there)] = two(&home);
    let saved = store.save(&here, Draft::new("k", "v")).expect("a save");
    there.raise(Internal, "read elsewhere").expect("a rise");
    let refused = store.delete(&here, "k").expect_err("a refusal");
    assert_eq!(refused.kind(), ErrorKind::WrongLevel);
    assert_eq!(store.get(&here, "k").expect("a read"), Some(saved));
    assert_eq!(here.taint(), Internal);
}

fn a_rise_below_the_taint_of_the_other_takes_that_on<H: Home>() {
    let home = H::new();
    let [(_store, here), (_other, there)] = two(&home);
    there.raise(Restricted, "read elsewhere").expect("a rise");
    let taint = here.raise(Internal, "read here").expect("a rise");
    assert_eq!(taint, Restricted);
    assert_eq!(here.raises(), there.raises());
}

fn a_later_opening_is_at_the_highest_taint<H: Home>() {
    let home = H::new();
    let [(store, here), (other, there)] = two(&home);
    there.raise(Internal, "read elsewhere").expect("a rise");
    here.raise(Confidential, "read here").expect("a rise");
    drop((store, here, other, there));
    let store = home.open(keyed::builder());
    let resumed = store.session("s-1", "ada").open().expect("a session");
    assert_eq!(resumed.taint(), Confidential);
    let rises: Vec<_> = resumed.raises().iter().map(|raise| raise.to).collect();
    assert_eq!(rises, [Internal, Confidential], "no rise is forgotten");
}

fn the_id_belongs_to_one_agent<H: Home>() {
    let home = H::new();
    let [_, (other, _)] = two(&home);
    let refused = other.session("s-1", "bob").open().expect_err("a refusal");
    assert_eq!(refused.kind(), ErrorKind::SessionMismatch);
    let third = home.open(keyed::builder());
    let refused = third.session("s-1", "bob").taint(Public).open();
    let refused = refused.expect_err("a refusal");
    assert_eq!(refused.kind(), ErrorKind::SessionMismatch);
}

macro_rules! on_each_provider {
    ($($name:ident)*) => {
        mod in_memory {
            $(#[test]
            fn $name() {
                super::$name::<super::Arc<super::InMemory>>();
            })*
        }

        mod sqlite {
            $(#[test]
            fn $name() {
                super::$name::<super::TempDir>();
            })*
        }
    };
}

on_each_provider! {
    a_save_is_at_the_taint_of_both
    a_delete_is_at_the_taint_of_both
    a_rise_below_the_taint_of_the_other_takes_that_on
    a_later_opening_is_at_the_highest_taint
    the_id_belongs_to_one_agent
}
