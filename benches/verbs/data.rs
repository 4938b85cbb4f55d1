//! Made-up memories and queries, the same on every machine: words by Zipf's law, levels and tags
//! evenly.

use std::fmt::Write as _;

use strandline::Classification;

const LEVELS: [Classification; 4] = Classification::ALL;
const VOCABULARY: usize = 20_000;
const MEMORIES: u64 = 0x7472_6967_6765_7231;
const HITS: u64 = MEMORIES + 1;
const ZIPFS: u64 = MEMORIES + 2;
const QUESTIONS: u64 = MEMORIES + 3;

/// `SplitMix64`.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap();
        usize::try_from(self.next() % bound).unwrap()
    }

    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (-53_f64).exp2()
    }
}

/// The vocabulary, most frequent word first.
pub(crate) struct Words {
    words: Vec<String>,
    sums: Vec<f64>,
}

impl Words {
    pub(crate) fn new() -> Self {
        let mut sum = 0.0;
        let sums = (1..=u32::try_from(VOCABULARY).unwrap()).map(|rank| {
            sum += 1.0 / f64::from(rank);
            sum
        });
        Self {
            sums: sums.collect(),
            words: (0..VOCABULARY).map(word).collect(),
        }
    }

    fn draw(&self, random: &mut Random) -> &str {
        let at = random.unit() * self.sums[VOCABULARY - 1];
        &self.words[self.sums.partition_point(|&sum| sum <= at)]
    }
}

/// Seven letters that no stemmer shortens.
fn word(rank: usize) -> String {
    let j = (rank * 7_919 + 12_345) % 274_625;
    let mut text = String::with_capacity(7);
    for digit in [j % 65, j / 65 % 65, j / 4_225] {
        text.push(char::from(b"bdfgklmnprtvz"[digit / 5]));
        text.push(char::from(b"aeiou"[digit % 5]));
    }
    text.push('k');
    text
}

/// A memory to be saved.
#[derive(Clone)]
pub(crate) struct Item {
    pub(crate) key: String,
    pub(crate) agent: String,
    pub(crate) level: Classification,
    pub(crate) tag: String,
    pub(crate) content: String,
}

/// A search, and the level of the session that makes it.
pub(crate) struct Query {
    pub(crate) agent: String,
    pub(crate) level: Classification,
    pub(crate) text: String,
}

/// The memories of so many agents, who take turns.
pub(crate) fn memories(words: &Words, count: usize, agents: usize) -> Vec<Item> {
    let mut random = Random::new(MEMORIES);
    (0..count)
        .map(|i| {
            let level = LEVELS[random.below(4)];
            let tag = format!("tag{:02}", random.below(16));
            let length = 12 + random.below(17);
            let content: Vec<&str> = (0..length).map(|_| words.draw(&mut random)).collect();
            Item {
                key: format!("mem-{i:06}"),
                agent: agent(i % agents),
                level,
                tag,
                content: content.join(" "),
            }
        })
        .collect()
}

fn agent(number: usize) -> String {
    format!("agent-{number:03}")
}

/// Queries of three to six words that one memory has.
pub(crate) fn hit_queries(items: &[Item], count: usize) -> Vec<Query> {
    let mut random = Random::new(HITS);
    let query = |_| {
        let item = &items[random.below(items.len())];
        let level = LEVELS[random.below(4)];
        let wanted = 3 + random.below(4);
        let words: Vec<&str> = item.content.split(' ').collect();
        let mut chosen: Vec<&str> = Vec::new();
        for _ in 0..64 {
            if chosen.len() >= wanted {
                break;
            }
            let word = words[random.below(words.len())];
            if !chosen.contains(&word) {
                chosen.push(word);
            }
        }
        Query {
            agent: item.agent.clone(),
            level,
            text: chosen.join(" "),
        }
    };
    (0..count).map(query).collect()
}

/// Queries of three to six words as frequent as the memories' words.
pub(crate) fn zipf_queries(words: &Words, count: usize, agents: usize) -> Vec<Query> {
    let mut random = Random::new(ZIPFS);
    let query = |_| {
        let level = LEVELS[random.below(4)];
        let wanted = 3 + random.below(4);
        let text: Vec<&str> = (0..wanted).map(|_| words.draw(&mut random)).collect();
        Query {
            agent: agent(random.below(agents)),
            level,
            text: text.join(" "),
        }
    };
    (0..count).map(query).collect()
}

/// The words that most memories have, so many of them, by a session at each level.
pub(crate) fn common_queries(
    words: &Words,
    common: usize,
    count: usize,
    agents: usize,
) -> Vec<Query> {
    let query = |(i, level): (usize, &Classification)| Query {
        agent: agent(i % agents),
        level: *level,
        text: words.words[..common].join(" "),
    };
    let levels = LEVELS.iter().cycle().enumerate();
    levels.take(count).map(query).collect()
}

/// Questions as people put them: English function words around four words by Zipf's law, which makes
/// most of them common ones.
pub(crate) fn natural_queries(words: &Words, count: usize, agents: usize) -> Vec<Query> {
    let mut random = Random::new(QUESTIONS);
    let query = |_| {
        let level = LEVELS[random.below(4)];
        let agent = agent(random.below(agents));
        let [a, b, c, d] = [(); 4].map(|()| words.draw(&mut random));
        let text = match random.below(3) {
            0 => format!("What did {a} say about the {b} when {c} was {d}?"),
            1 => format!("Which {a} of my {b} and {c} have we not yet {d}?"),
            _ => format!("why is there a {a} {b} in the {c}, and who is {d}"),
        };
        Query { agent, level, text }
    };
    (0..count).map(query).collect()
}

/// Stops the run unless the data is what the published figures were measured on.
pub(crate) fn check(words: &Words) {
    for (count, expected) in [
        (
            1_000,
            [
                "e87ed3447a5641e7400d90584984913be1993e8d8850639f9a994bc3a773076f",
                "5f17a96da356b759d4cb499b21e719cb293d38327c4de8531be1c8c230322033",
                "b8380e8b33246383ca32fc2fb27da378e9ca6cc3d3dbcc3cffdca2d95982ad2b",
            ],
        ),
        (
            10_000,
            [
                "1a5dc69ef1502bfd6d9fae8d07fd0e5eef7f13137d303e994eb4c8caac3018da",
                "238b8981998c8c08f4c7b443fee93d8ce1a70c65420493e5afadabbb2c054bf5",
                "b8380e8b33246383ca32fc2fb27da378e9ca6cc3d3dbcc3cffdca2d95982ad2b",
            ],
        ),
    ] {
        let items = memories(words, count, 1);
        let lines = items.iter().map(|item| {
            let Item {
                key,
                agent,
                level,
                tag,
                content,
            } = item;
            format!("{key}\t{agent}\t{level}\t{tag}\t{content}\n")
        });
        let found = [
            digest(lines),
            digest(hit_queries(&items, 500).iter().map(line)),
            digest(zipf_queries(words, 500, 1).iter().map(line)),
        ];
        assert_eq!(found, expected, "the generator has changed");
    }
}

fn line(query: &Query) -> String {
    let Query { agent, level, text } = query;
    format!("{agent}\t{level}\t{text}\n")
}

fn digest(lines: impl Iterator<Item = String>) -> String {
    let mut hash = hmac_sha256::Hash::new();
    lines.for_each(|line| hash.update(line));
    let mut hex = String::new();
    for byte in hash.finalize() {
        write!(hex, "{byte:02x}").unwrap();
    }
    hex
}
