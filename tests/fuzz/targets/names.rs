//! Keys and tags: what was saved comes back, under one spelling, and both providers agree.
//!
//! Input: a byte for the level, then lines: two keys, and up to four tags.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use strandline::{Draft, List, Memory, MemoryKey, MemoryStore, Session, Tag};
use strandline_fuzz::{Pair, builder, is_callers, level, seeds, session, text};
use unicode_normalization::UnicodeNormalization;

fn same_key(text: &str) {
    let Ok(key) = text.parse::<MemoryKey>() else {
        assert!(text.trim().is_empty());
        return;
    };
    let again: MemoryKey = key.as_str().parse().expect("a key's own text is a key");
    assert_eq!(
        again.as_str(),
        key.as_str(),
        "a key is normalised once and for all"
    );
}

fn same_tag(text: &str) {
    let Ok(tag) = text.parse::<Tag>() else {
        return;
    };
    let again: Tag = tag.as_str().parse().expect("a tag's own text is a tag");
    assert_eq!(
        again.as_str(),
        tag.as_str(),
        "a tag is normalised once and for all"
    );
    assert_eq!(again.folded(), tag.folded());
    // A spacing accent is folded to a space and a mark, and parsing takes the space off a tag's start.
    let held = format!("x{}", tag.folded());
    let inner = if tag.folded().starts_with(' ') {
        &held
    } else {
        tag.folded()
    };
    let folded: Tag = inner.parse().expect("a folded tag is a tag");
    assert_eq!(
        folded.folded(),
        inner,
        "folding a tag twice is folding it once"
    );
    // The mark U+0345 becomes a letter in upper case, and of a text that isn't decomposed at another place.
    let decomposed: String = text.nfd().collect();
    let mut spellings = vec![decomposed.as_str()];
    if !decomposed.contains('\u{345}') {
        spellings.extend([text, tag.as_str()]);
    }
    for text in spellings {
        for other in [text.to_uppercase(), text.to_lowercase()] {
            let other: Tag = other.parse().expect("a tag in another case is a tag");
            assert_eq!(other.folded(), tag.folded(), "case makes no other tag");
        }
    }
}

fn plain(memory: &Memory) -> String {
    let tags: Vec<&str> = memory.tags.iter().map(Tag::as_str).collect();
    format!(
        "{:?} {:?} {tags:?} {}",
        memory.key.as_str(),
        memory.content,
        memory.version
    )
}

/// What a session sees with this tag, a page of one at a time.
fn listed(
    store: &MemoryStore,
    session: &Session,
    tag: Option<&str>,
) -> Result<Vec<String>, String> {
    let (mut found, mut next) = (Vec::new(), None);
    loop {
        let mut list = List::new().limit(1);
        if let Some(tag) = tag {
            list = list.tag(tag);
        }
        if let Some(cursor) = next.take() {
            list = list.after(cursor);
        }
        let page = store.list(session, list).map_err(|error| {
            is_callers(&error);
            error.to_string()
        })?;
        found.extend(page.memories.iter().map(plain));
        next = page.next;
        if next.is_none() {
            return Ok(found);
        }
        assert!(found.len() < 10, "pages without an end");
    }
}

struct Seat<'s> {
    store: &'s MemoryStore,
    session: Session,
}

impl Seat<'_> {
    /// Everything that one store answers; another must answer the same.
    fn play(&self, keys: [&str; 2], tags: &[&str]) -> Vec<String> {
        let mut seen = Vec::new();
        for key in keys {
            let draft = Draft::new(key, format!("of {key} x")).tags(tags.iter().copied());
            match self.store.save(&self.session, draft) {
                Ok(saved) => seen.push(self.saved(key, &saved, tags)),
                Err(error) => {
                    is_callers(&error);
                    seen.push(error.to_string());
                }
            }
        }
        for tag in tags {
            seen.push(format!(
                "{:?}",
                listed(self.store, &self.session, Some(tag))
            ));
        }
        seen.push(format!("{:?}", listed(self.store, &self.session, None)));
        self.moved();
        for key in keys {
            seen.push(self.deleted(key));
        }
        assert_eq!(listed(self.store, &self.session, None), Ok(Vec::new()));
        for tag in tags {
            seen.push(format!(
                "{:?}",
                listed(self.store, &self.session, Some(tag))
            ));
        }
        seen
    }

    fn saved(&self, key: &str, saved: &Memory, tags: &[&str]) -> String {
        let got = self
            .store
            .get(&self.session, key)
            .expect("a key that was saved");
        assert_eq!(got.as_ref(), Some(saved), "what was saved comes back");
        let own = self.store.get(&self.session, saved.key.as_str());
        assert_eq!(own.expect("its own key").as_ref(), Some(saved));
        for tag in tags {
            let found = listed(self.store, &self.session, Some(tag)).expect("a tag that was saved");
            assert!(found.contains(&plain(saved)), "a tag finds what has it");
        }
        plain(saved)
    }

    fn deleted(&self, key: &str) -> String {
        match self.store.delete(&self.session, key) {
            Ok(()) => {
                assert_eq!(self.store.get(&self.session, key).expect("a key"), None);
                "deleted".into()
            }
            Err(error) => {
                is_callers(&error);
                error.to_string()
            }
        }
    }

    /// What a session exports is, in another store, what it was here.
    fn moved(&self) {
        let mut file = Vec::new();
        self.store
            .export(&self.session, &mut file)
            .expect("it exports");
        let other = builder().open_in_memory().expect("a store in memory");
        let report = other
            .host()
            .import(file.as_slice())
            .expect("its own export");
        assert!(report.problems.is_empty(), "{report:?}");
        let agent = self.session.agent().as_str();
        let there = session(&other, agent, self.session.taint());
        let mut again = Vec::new();
        other.export(&there, &mut again).expect("it exports");
        assert_eq!(file, again);
    }
}

fn run(pair: &Pair, number: u32, data: &[u8]) {
    let Some((first, text)) = text(data) else {
        return;
    };
    let mut lines = text.split('\n');
    let keys = [
        lines.next().unwrap_or_default(),
        lines.next().unwrap_or("other"),
    ];
    let tags: Vec<&str> = lines.take(4).collect();
    keys.into_iter().for_each(same_key);
    tags.iter().copied().for_each(same_tag);
    let agent = format!("agent {number}");
    let play = |store| {
        let session = session(store, &agent, level(first));
        Seat { store, session }.play(keys, &tags)
    };
    assert_eq!(play(&pair.file), play(&pair.memory), "the two providers");
    for key in keys {
        let history = |store: &MemoryStore| {
            let versions = store.host().history(&agent, key).unwrap_or_default();
            let show = |version: &strandline::storage::Version| {
                format!(
                    "{} {:?} {:?}",
                    plain(&version.memory),
                    version.state,
                    version.ended_at
                )
            };
            versions.iter().map(show).collect::<Vec<_>>()
        };
        assert_eq!(history(&pair.file), history(&pair.memory));
    }
}

fn first_inputs() -> Vec<&'static str> {
    vec![
        "\0user-name\nUser-Name\npersona\nPersona",
        "\u{1}e\u{301}\n\u{e9}\nStraße\nSTRASSE\nſ",
        "\u{2}%\n_\n\"'\n*\n:",
        "\u{3}\u{212b}\n\u{c5}\nİ\nı\nΣς",
        "\0\u{fb01}\nﬁ\nǅ\nŉ\n\u{345}\u{3b1}",
        "\0\u{200b}\n\u{feff}k\n\u{a0}t\n👩‍👩‍👧",
    ]
}

thread_local! {
    static PAIR: RefCell<(Pair, u32)> = RefCell::new((Pair::new(), 0));
}

fuzz_target!(init: seeds(first_inputs), |data: &[u8]| {
    PAIR.with_borrow_mut(|(pair, runs)| {
        *runs += 1;
        if *runs % 500 == 0 {
            *pair = Pair::new();
        }
        run(pair, *runs, data);
    });
});
