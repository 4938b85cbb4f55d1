//! Clause 21: whole versions go from one store to another.

use uuid::Uuid;

use super::Subject;
use super::durable::{fill, observe};
use super::scene::{Scene, expiring, second, with_tags};
use crate::audit::Action;
use crate::classification::Classification::{Internal, Public, Restricted};
use crate::error::{Error, ErrorKind};
use crate::policy::HostGrant;
use crate::storage::{Imported, Namespace, StoredVersion, Version, VersionState};

/// What the store has of one key, in the order of storing.
fn of_key(scene: &Scene<impl Subject>, key: &str) -> Vec<StoredVersion> {
    let mut all = scene.versions();
    all.retain(|stored| stored.version.memory.key.as_str() == key);
    all
}

/// The same as another version, live, saved at a second.
fn another(of: &StoredVersion, content: &str, seconds: i64) -> StoredVersion {
    let mut other = of.clone();
    let memory = &mut other.version.memory;
    memory.lineage_id = Uuid::new_v4();
    content.clone_into(&mut memory.content);
    memory.created_at = second(seconds);
    memory.updated_at = second(seconds);
    other.version.state = VersionState::Live;
    other.version.ended_at = None;
    other
}

fn numbers_and_states(versions: &[StoredVersion]) -> Vec<(u64, VersionState)> {
    let versions = versions.iter().map(|stored| &stored.version);
    versions
        .map(|version| (version.memory.version, version.state))
        .collect()
}

const LIVE: VersionState = VersionState::Live;
const SUPERSEDED: VersionState = VersionState::Superseded;
const DELETED: VersionState = VersionState::Deleted;

pub(super) fn c21_versions_come_in_the_order_of_storing<S: Subject>(scene: Scene<S>) {
    let (ada, bob) = (scene.ada(), scene.agent("bob"));
    ada.same(scene.versions(), [], "there are none at first");
    ada.at(5).save("k", "1");
    bob.at(9).save("a", "2");
    ada.within(Namespace::TODO).save("k", "3");
    scene.record_taint("s-1", Internal);
    ada.up_to(Restricted).save("k", "4");
    ada.session("s-2").at(7).save("k", "5");
    let all = scene.versions();
    let contents: Vec<_> = all
        .iter()
        .map(|stored| stored.version.memory.content.as_str())
        .collect();
    ada.same(
        contents,
        ["1", "2", "3", "{}", "4", "5"],
        "they are of every agent, namespace and level",
    );
    let states: Vec<_> = all.iter().map(|stored| stored.version.state).collect();
    let expected = [SUPERSEDED, LIVE, LIVE, LIVE, LIVE, LIVE];
    ada.same(states, expected, "with what became of each");
    let namespaces: Vec<_> = all.iter().map(|stored| stored.namespace.as_str()).collect();
    let expected = ["memory", "memory", "todo", "session", "memory", "memory"];
    ada.same(namespaces, expected, "and where each belongs");
}

pub(super) fn c21_the_first_refusal_ends_it<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_all(&["a", "b", "c"].map(|key| super::scene::record(key, "v")));
    let grant = HostGrant::forge(Namespace::MEMORY, None);
    let mut totals = Vec::new();
    let mut each = |_, total| {
        totals.push(total);
        match totals.len() {
            2 => Err(Error::new(ErrorKind::Full, "no more")),
            _ => Ok(()),
        }
    };
    let error = scene.provider().versions(&grant, &mut each).err();
    let kind = error.map(|error| error.kind());
    ada.same(kind, Some(ErrorKind::Full), "its error comes back");
    ada.same(totals, [3, 3], "and nothing is handed out after it");
}

pub(super) fn c21_what_is_imported_is_as_it_was<S: Subject>(scene: Scene<S>) {
    let (ada, bob) = (scene.ada(), scene.agent("bob"));
    fill(&ada);
    // A clock that was set back.
    ada.at(-5).save("c", "florp third");
    ada.at(-6).save("d", "florp again");
    bob.within(Namespace::TODO)
        .save_record(expiring("k", "v", 9));
    scene.record_taint("s-9", Internal);
    let other = scene.another();
    let all = scene.versions();
    let imported = other.import(100, &all);
    let stored = |outcome: &Imported| matches!(outcome, Imported::Stored { .. });
    ada.holds(imported.iter().all(stored), "all are stored");
    ada.same(
        other.versions(),
        all,
        "each is what it was, and in its order",
    );
    let there = other.ada();
    ada.same(
        observe(&there),
        observe(&ada),
        "lists, tags, hits and scores are as there",
    );
    let again = (ada.at(7).save("c", "v"), there.at(7).save("c", "v"));
    ada.same(again.0.version, again.1.version, "versions count on");
    let low = there.session("s-9").try_save(&[with_tags("x", "v", &[])]);
    let kind = low.err().map(|error| error.kind());
    ada.same(kind, Some(ErrorKind::TaintRaised), "taints are in force");
}

pub(super) fn c21_importing_twice_changes_nothing<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    fill(&ada);
    scene.record_taint("s-9", Internal);
    let other = scene.another();
    let all = scene.versions();
    other.import(100, &all);
    let audit = other.whole_audit();
    for scene in [&scene, &other] {
        let imported = scene.import(200, &all);
        let expected = vec![Imported::Unchanged; all.len()];
        ada.same(imported, expected, "all are there");
        ada.same(scene.versions(), all.clone(), "and stay as they are");
    }
    ada.same(other.whole_audit(), audit, "it leaves no entry");
}

pub(super) fn c21_what_is_there_is_never_changed<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.up_to(Internal)
        .save_record(with_tags("k", "v", &["tag"]));
    let before = scene.versions();
    let changes: [fn(&mut StoredVersion); 8] = [
        |stored| stored.version.memory.classification = Public,
        |stored| stored.version.memory.classification = Restricted,
        |stored| stored.version.memory.content.push('!'),
        |stored| stored.version.memory.tags.clear(),
        |stored| stored.version.memory.key = super::scene::key("K"),
        |stored| stored.version.memory.agent = super::scene::parsed("bob".parse()),
        |stored| stored.version.memory.expires_at = Some(second(1)),
        |stored| stored.namespace = Namespace::TODO,
    ];
    for change in changes {
        let mut other = before.clone();
        other.iter_mut().for_each(change);
        let imported = scene.import(100, &other);
        ada.same(imported, [Imported::Conflict], "it is refused");
        ada.same(scene.versions(), before.clone(), "and nothing changes");
    }
    ada.same(scene.whole_audit().len(), 1, "nor leaves an entry");
}

pub(super) fn c21_an_end_is_taken_over_and_no_beginning<S: Subject>(scene: Scene<S>) {
    let (ada, other) = (scene.ada(), scene.another());
    let there = other.ada();
    ada.save("k", "low");
    ada.up_to(Internal).save("k", "florp high");
    other.import(1, &scene.versions());
    let early = scene.versions();
    ada.at(5).up_to(Internal).delete("k");
    let imported = other.import(9, &scene.versions());
    ada.same(
        imported,
        [Imported::Unchanged, Imported::Ended],
        "what has ended there ends here",
    );
    ada.same(other.versions(), scene.versions(), "as it did there");
    let read = there.up_to(Internal).read("k");
    ada.same(read.as_deref(), Some("low"), "what it hid shows again");
    ada.same(
        there.up_to(Internal).found("florp"),
        [""; 0],
        "it isn't found",
    );
    ada.same(there.up_to(Internal).found("low"), ["k"], "what it hid is");
    let imported = other.import(10, &early);
    ada.same(
        imported,
        [Imported::Unchanged; 2],
        "what has ended here stays so",
    );
    ada.same(
        there.up_to(Internal).read("k").as_deref(),
        Some("low"),
        "for good",
    );
}

pub(super) fn c21_the_one_saved_later_is_live<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.at(10).save_record(with_tags("k", "here", &["mine"]));
    let [own] = &of_key(&scene, "k")[..] else {
        ada.fail("there is one version")
    };
    let (earlier, later) = (another(own, "earlier", 10), another(own, "later", 11));
    let imported = scene.import(20, &[earlier]);
    ada.same(imported, [Imported::Stored { version: 2 }], "it is kept");
    ada.same(ada.read("k").as_deref(), Some("here"), "but isn't live");
    let imported = scene.import(21, &[later]);
    ada.same(imported, [Imported::Stored { version: 3 }], "it is kept");
    ada.same(ada.read("k").as_deref(), Some("later"), "and is live");
    ada.same(ada.found("here"), [""; 0], "what it superseded isn't found");
    let all = of_key(&scene, "k");
    let expected = [(1, SUPERSEDED), (2, SUPERSEDED), (3, LIVE)];
    ada.same(numbers_and_states(&all), expected, "all are in the history");
    let ended: Vec<_> = all.iter().map(|stored| stored.version.ended_at).collect();
    ada.same(
        ended,
        [Some(second(21)), Some(second(20)), None],
        "and since when",
    );
    ada.same(ada.at(30).save("k", "v").version, 4, "versions count on");
}

pub(super) fn c21_an_older_version_is_the_last_stored_all_the_same<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.at(10).save("k", "here");
    let [own] = &of_key(&scene, "k")[..] else {
        ada.fail("there is one version")
    };
    scene.import(20, &[another(own, "older", 5), another(own, "oldest", 2)]);
    ada.at(30).save("k", "after");
    let contents = |versions: Vec<Version>| {
        let content = |version: Version| version.memory.content;
        versions.into_iter().map(content).collect::<Vec<_>>()
    };
    let history = ada.history("k");
    let first = history.first().map(|version| version.memory.lineage_id);
    let grant = HostGrant::forge(ada.namespace.clone(), Some(ada.agent.clone()));
    let key = own.version.memory.key.clone();
    let page = scene.provider().history_page(&grant, &key, first, 2);
    let expected = ["after", "oldest", "older", "here"];
    ada.same(contents(history), expected, "the order of storing");
    ada.same(
        contents(ada.done(page)),
        ["oldest", "older"],
        "in pages, too",
    );
}

pub(super) fn c21_a_taken_number_becomes_the_next<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.at(1).save("k", "one");
    ada.at(2).save("k", "two");
    let all = of_key(&scene, "k");
    let [first, _] = &all[..] else {
        ada.fail("there are two versions")
    };
    let mut ended = another(first, "ended elsewhere", 1);
    ended.version.state = SUPERSEDED;
    ended.version.ended_at = Some(second(2));
    let imported = scene.import(20, &[ended]);
    ada.same(
        imported,
        [Imported::Stored { version: 3 }],
        "it gets the next",
    );
    ada.same(ada.read("k").as_deref(), Some("two"), "what is live stays");
    ada.same(ada.at(30).save("k", "v").version, 4, "versions count on");
    ada.same(
        ada.at(40).delete("k"),
        crate::storage::Deletion::Done { version: 4 },
        "of what is live",
    );
}

pub(super) fn c21_a_deleted_key_does_not_come_back<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.at(1).save("k", "here");
    let [own] = &of_key(&scene, "k")[..] else {
        ada.fail("there is one version")
    };
    ada.at(5).delete("k");
    scene.import(20, &[another(own, "before the deletion", 5)]);
    ada.same(
        ada.at(20).read("k"),
        None,
        "it was saved before the deletion",
    );
    let states = numbers_and_states(&of_key(&scene, "k"));
    ada.same(states, [(1, DELETED), (2, DELETED)], "and is deleted, too");
    scene.import(21, &[another(own, "after it", 6)]);
    let read = ada.at(21).read("k");
    ada.same(
        read.as_deref(),
        Some("after it"),
        "what was saved after it is live",
    );
}

pub(super) fn c21_an_earlier_number_fills_its_gap<S: Subject>(scene: Scene<S>) {
    let (ada, other) = (scene.ada(), scene.another());
    for place in 1..=3 {
        ada.at(place).save("k", "v");
    }
    let mut all = scene.versions();
    all.reverse();
    other.import(20, &all);
    let states = numbers_and_states(&of_key(&other, "k"));
    let expected = [(3, LIVE), (2, SUPERSEDED), (1, SUPERSEDED)];
    ada.same(states, expected, "each has its number");
    ada.same(other.ada().save("k", "v").version, 4, "versions count on");
}

pub(super) fn c21_a_recorded_taint_never_falls<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    scene.record_taint("s-1", Internal);
    scene.record_taint("s-1", Restricted);
    let mut all = of_key(&scene, "s-1");
    for stored in &mut all {
        stored.version.state = DELETED;
        stored.version.ended_at = Some(second(1));
    }
    let imported = scene.import(20, &all);
    ada.same(
        imported,
        [Imported::Unchanged; 2],
        "it ends no session's record",
    );
    let [internal, _] = &of_key(&scene, "s-1")[..] else {
        ada.fail("there are two versions")
    };
    scene.import(30, &[another(internal, "{}", 100)]);
    let refused = ada.up_to(Internal).try_save(&[with_tags("k", "v", &[])]);
    let kind = refused.err().map(|error| error.kind());
    ada.same(
        kind,
        Some(ErrorKind::TaintRaised),
        "the highest still counts",
    );
}

pub(super) fn c21_each_leaves_an_entry<S: Subject>(scene: Scene<S>) {
    let (ada, other) = (scene.ada(), scene.another());
    ada.session("s-2").up_to(Internal).save("k", "v");
    let all = scene.versions();
    other.import(20, &all);
    let entry = other.whole_audit().pop();
    let facts = entry.map(|entry| entry.facts);
    let expected = all.first().map(|stored| stored.facts(1, second(20)));
    ada.same(facts.clone(), expected, "it has the version's own facts");
    let action = facts.map(|facts| (facts.action, facts.level));
    ada.same(
        action,
        Some((Action::Import, Internal)),
        "and says what it was",
    );
    ada.session("s-2").up_to(Internal).at(21).delete("k");
    other.import(30, &scene.versions());
    ada.same(other.whole_audit().len(), 2, "an end leaves one, too");
}

pub(super) fn c21_a_backup_is_whole_or_unsupported<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "v");
    let folder = std::env::temp_dir();
    let path = folder.join(format!("strandline-conformance-{}", Uuid::new_v4()));
    let grant = HostGrant::forge(Namespace::MEMORY, None);
    let mut told = Vec::new();
    let backup = scene
        .provider()
        .backup(&grant, &path, &mut |progress| told.push(progress));
    let length = std::fs::metadata(&path).map_or(0, |info| info.len());
    drop(std::fs::remove_file(&path));
    match backup {
        Ok(count) => {
            ada.same(count, 1, "it says how many versions it holds");
            ada.holds(length > 0, "and is there");
            let last = told.last().map(|progress| progress.done == progress.total);
            ada.same(last, Some(true), "having told how far it came");
        }
        Err(error) => {
            ada.same(error.kind(), ErrorKind::Unsupported, "else it says so");
            ada.same(length, 0, "and nothing is there");
        }
    }
}
