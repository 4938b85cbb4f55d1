//! Clause 5: nothing is lost.

use super::Subject;
use super::scene::{Scene, expiring, key, second, tags_of, with_tags};
use crate::classification::Classification::{self, Internal};
use crate::error::ErrorKind;
use crate::policy::HostGrant;
use crate::storage::{Namespace, Version, VersionState};

fn contents(versions: &[Version]) -> Vec<&str> {
    let contents = versions.iter().map(|found| found.memory.content.as_str());
    contents.collect()
}

pub(super) fn c05_history_has_every_version<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let first = ada.at(1).save_record(with_tags("k", "one", &["A", "b"]));
    let second_version = ada.at(2).save("k", "two");
    ada.at(3).delete("k");
    let third = ada.at(4).save("k", "three");
    let expected = [
        (third, VersionState::Live, None),
        (second_version, VersionState::Deleted, Some(second(3))),
        (first, VersionState::Superseded, Some(second(2))),
    ]
    .map(|(memory, state, ended_at)| Version {
        memory,
        state,
        ended_at,
    });
    ada.same(
        ada.history("k"),
        expected,
        "each version is there, with what became of it",
    );
}

pub(super) fn c05_history_has_every_level<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for (place, level) in (0..).zip(Classification::ALL) {
        ada.at(place).up_to(level).save("k", level.as_str());
    }
    let versions = ada.history("k");
    ada.same(
        contents(&versions),
        ["RESTRICTED", "CONFIDENTIAL", "INTERNAL", "PUBLIC"],
        "the host sees every level",
    );
    let all_live = versions
        .iter()
        .all(|found| found.state == VersionState::Live && found.ended_at.is_none());
    ada.holds(all_live, "a save supersedes nothing at other levels");
}

pub(super) fn c05_an_earlier_version_is_never_altered<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let first = ada.at(1).save_record(with_tags("k", "one", &["Old"]));
    ada.session("s-2")
        .at(2)
        .save_record(with_tags("k", "two", &["new"]));
    ada.at(3).delete("k");
    ada.at(4).save("k", "three");
    let kept = ada.history("k").pop().map(|found| found.memory);
    let tags = kept.as_ref().map(tags_of);
    ada.same(tags, Some(vec!["Old"]), "its tags are kept as written");
    ada.same(kept, Some(first), "and so is all else");
}

pub(super) fn c05_an_expired_version_stays<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let saved = ada.save_record(expiring("k", "v", 5));
    ada.at(10).get("k");
    let versions = ada.at(10).history("k");
    let expected = Version {
        memory: saved,
        state: VersionState::Live,
        ended_at: None,
    };
    ada.same(
        versions,
        [expected],
        "an expired record is in the history, neither superseded nor deleted",
    );
}

pub(super) fn c05_a_deleted_version_stays<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let high = ada.up_to(Internal);
    ada.save("k", "low");
    high.at(1).save("k", "high");
    high.at(2).delete("k");
    let versions = ada.history("k");
    ada.same(contents(&versions), ["high", "low"], "both are there");
    let states: Vec<_> = versions.iter().map(|found| found.state).collect();
    ada.same(
        states,
        [VersionState::Deleted, VersionState::Live],
        "and only the one is deleted",
    );
}

pub(super) fn c05_the_newest_is_first<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let high = ada.up_to(Internal);
    ada.at(5).save("k", "1");
    high.at(9).save("k", "2");
    ada.at(7).save("k", "3");
    high.at(7).save("k", "4");
    ada.at(7).save("k", "5");
    ada.at(6).save("k", "6");
    ada.same(
        contents(&ada.history("k")),
        ["6", "5", "4", "3", "2", "1"],
        "in the order of storing, whatever the clock did",
    );
}

pub(super) fn c05_history_is_of_one_key_and_agent<S: Subject>(scene: Scene<S>) {
    let (ada, bob) = (scene.agent("ada"), scene.agent("bob"));
    ada.save("k", "ada's");
    ada.save("K", "another key's");
    bob.save("k", "bob's");
    ada.within(Namespace::CRON).save("k", "a job's");
    ada.same(contents(&ada.history("k")), ["ada's"], "and nobody else's");
    ada.same(ada.history("absent"), [], "an absent key has none");
}

pub(super) fn c05_a_grant_without_an_agent_has_no_history<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "v");
    let nobody = HostGrant::forge(Namespace::MEMORY, None);
    let versions = ada.done(scene.provider().history(&nobody, &key("k")));
    ada.same(versions, [], "an empty grant sees nothing");
}

pub(super) fn c05_pages_hold_each_version_once<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for number in 0..7 {
        ada.save("k", &number.to_string());
        ada.up_to(Internal).save("k", "above");
    }
    let all = ada.history("k");
    for limit in [1, 3, 7, 14, 15] {
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let grant = HostGrant::forge(Namespace::MEMORY, Some(ada.agent.clone()));
            let page = scene
                .provider()
                .history_page(&grant, &key("k"), after, limit);
            let page = ada.done(page);
            after = page.last().map(|version| version.memory.lineage_id);
            let is_last = page.len() < limit;
            pages.extend(page);
            if is_last {
                break;
            }
        }
        ada.holds(pages == all, "pages make up the history");
    }
    let nobody = HostGrant::forge(Namespace::MEMORY, None);
    let other = HostGrant::forge(Namespace::MEMORY, Some(ada.agent.clone()));
    for grant in [nobody, other] {
        let after = Some(uuid::Uuid::new_v4());
        let page = scene.provider().history_page(&grant, &key("k"), after, 3);
        ada.same(
            page.err().map(|error| error.kind()),
            Some(ErrorKind::NotFound),
            "there is nothing to go on from",
        );
    }
}
