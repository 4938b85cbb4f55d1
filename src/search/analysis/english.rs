//! What is known of English: its function words, and the forms that no rule of endings joins.

/// Words that say how a question is put, not what it is about. Sorted.
#[rustfmt::skip]
const STOP: &[&str] = &[
    "a", "about", "above", "after", "again", "against", "all", "also", "am", "an", "and", "any",
    "are", "arent", "as", "at", "be", "because", "been", "before", "being", "below", "between",
    "both", "but", "by", "can", "cant", "could", "couldnt", "did", "didnt", "do", "does", "doesnt",
    "doing", "dont", "down", "during", "each", "either", "else", "ever", "every", "few", "for",
    "from", "further", "had", "hadnt", "has", "hasnt", "have", "havent", "having", "he", "her",
    "here", "hers", "herself", "him", "himself", "his", "how", "however", "hows", "i", "id", "if",
    "im", "in", "into", "is", "isnt", "it", "its", "itself", "ive", "just", "kind", "kinds", "let",
    "may", "me", "might", "mine", "more", "most", "much", "must", "my", "myself", "neither", "no",
    "nor", "not", "now", "of", "off", "on", "once", "one", "only", "or", "other", "ought", "our",
    "ours", "ourselves", "out", "over", "own", "per", "please", "quite", "rather", "same", "shall",
    "she", "should", "shouldnt", "since", "so", "some", "such", "tell", "than", "that", "thats",
    "the", "their", "theirs", "them", "themselves", "then", "there", "these", "they", "theyre",
    "theyve", "this", "those", "though", "through", "thus", "to", "too", "under", "unless", "until",
    "up", "upon", "us", "very", "was", "wasnt", "we", "were", "werent", "what", "whatever", "whats",
    "when", "whenever", "whens", "where", "wheres", "wherever", "whether", "which", "whichever",
    "while", "who", "whoever", "whom", "whos", "whose", "why", "whys", "will", "with", "within",
    "without", "wont", "would", "wouldnt", "yet", "you", "your", "youre", "yours", "yourself",
    "yourselves", "youve",
];

/// Forms and the words they are forms of. Sorted by form.
///
/// Left out are forms that are common words of another meaning: `saw`, `found`, `left`, `rose`,
/// `wound`, `ground`, `bore`, `leaves`, `lives`.
#[rustfmt::skip]
const IRREGULAR: &[(&str, &str)] = &[
    ("arisen", "arise"), ("arose", "arise"), ("ate", "eat"), ("awoke", "awake"),
    ("awoken", "awake"), ("bade", "bid"), ("beaten", "beat"), ("became", "become"),
    ("began", "begin"), ("begun", "begin"), ("beheld", "behold"), ("bent", "bend"),
    ("besought", "beseech"), ("bitten", "bite"), ("bled", "bleed"), ("blew", "blow"),
    ("blown", "blow"), ("borne", "bear"), ("bought", "buy"), ("bred", "breed"), ("broke", "break"),
    ("broken", "break"), ("brought", "bring"), ("built", "build"), ("burnt", "burn"),
    ("came", "come"), ("caught", "catch"), ("children", "child"), ("chose", "choose"),
    ("chosen", "choose"), ("clung", "cling"), ("crept", "creep"), ("crises", "crisis"),
    ("criteria", "criterion"), ("dealt", "deal"), ("drank", "drink"), ("drawn", "draw"),
    ("dreamt", "dream"), ("drew", "draw"), ("driven", "drive"), ("drove", "drive"),
    ("drunk", "drink"), ("dug", "dig"), ("dying", "die"), ("eaten", "eat"), ("fallen", "fall"),
    ("fed", "feed"), ("feet", "foot"), ("fell", "fall"), ("felt", "feel"), ("fled", "flee"),
    ("flew", "fly"), ("flown", "fly"), ("flung", "fling"), ("forbade", "forbid"),
    ("forbidden", "forbid"), ("foresaw", "foresee"), ("forgave", "forgive"),
    ("forgiven", "forgive"), ("forgot", "forget"), ("forgotten", "forget"), ("fought", "fight"),
    ("froze", "freeze"), ("frozen", "freeze"), ("gave", "give"), ("geese", "goose"),
    ("given", "give"), ("gone", "go"), ("got", "get"), ("gotten", "get"), ("grew", "grow"),
    ("grown", "grow"), ("halves", "half"), ("heard", "hear"), ("held", "hold"), ("hid", "hide"),
    ("hidden", "hide"), ("hung", "hang"), ("hypotheses", "hypothesis"), ("indices", "index"),
    ("kept", "keep"), ("knelt", "kneel"), ("knew", "know"), ("knives", "knife"), ("known", "know"),
    ("laid", "lay"), ("leapt", "leap"), ("learnt", "learn"), ("led", "lead"), ("lent", "lend"),
    ("lice", "louse"), ("loaves", "loaf"), ("lost", "lose"), ("made", "make"),
    ("matrices", "matrix"), ("meant", "mean"), ("men", "man"), ("met", "meet"), ("mice", "mouse"),
    ("misunderstood", "misunderstand"), ("overcame", "overcome"), ("overheard", "overhear"),
    ("oxen", "ox"), ("paid", "pay"), ("people", "person"), ("phenomena", "phenomenon"),
    ("proven", "prove"), ("ran", "run"), ("rang", "ring"), ("rebuilt", "rebuild"),
    ("redid", "redo"), ("redone", "redo"), ("rewritten", "rewrite"), ("rewrote", "rewrite"),
    ("ridden", "ride"), ("risen", "rise"), ("rode", "ride"), ("rung", "ring"), ("said", "say"),
    ("sang", "sing"), ("sank", "sink"), ("sat", "sit"), ("seen", "see"), ("sent", "send"),
    ("sewn", "sew"), ("shaken", "shake"), ("shelves", "shelf"), ("shone", "shine"),
    ("shook", "shake"), ("shown", "show"), ("shrank", "shrink"), ("shrunk", "shrink"),
    ("slain", "slay"), ("slept", "sleep"), ("slid", "slide"), ("sold", "sell"), ("sought", "seek"),
    ("spat", "spit"), ("sped", "speed"), ("spent", "spend"), ("spoke", "speak"),
    ("spoken", "speak"), ("sprang", "spring"), ("sprung", "spring"), ("spun", "spin"),
    ("stank", "stink"), ("stolen", "steal"), ("stood", "stand"), ("striven", "strive"),
    ("strode", "stride"), ("strove", "strive"), ("struck", "strike"), ("stuck", "stick"),
    ("stung", "sting"), ("stunk", "stink"), ("sung", "sing"), ("sunk", "sink"), ("swam", "swim"),
    ("swept", "sweep"), ("swore", "swear"), ("sworn", "swear"), ("swum", "swim"),
    ("swung", "swing"), ("taken", "take"), ("taught", "teach"), ("teeth", "tooth"),
    ("thieves", "thief"), ("thought", "think"), ("threw", "throw"), ("thrown", "throw"),
    ("told", "tell"), ("took", "take"), ("tore", "tear"), ("torn", "tear"), ("trod", "tread"),
    ("trodden", "tread"), ("tying", "tie"), ("understood", "understand"),
    ("undertook", "undertake"), ("undid", "undo"), ("undone", "undo"), ("upheld", "uphold"),
    ("vertices", "vertex"), ("went", "go"), ("wept", "weep"), ("withdrawn", "withdraw"),
    ("withdrew", "withdraw"), ("withheld", "withhold"), ("wives", "wife"), ("woke", "wake"),
    ("woken", "wake"), ("wolves", "wolf"), ("women", "woman"), ("won", "win"), ("wore", "wear"),
    ("worn", "wear"), ("wove", "weave"), ("woven", "weave"), ("written", "write"),
    ("wrote", "write"),
];

/// Whether this lower-case word is a function word.
pub(super) fn is_stop(word: &str) -> bool {
    STOP.binary_search(&word).is_ok()
}

/// The word that this lower-case word is an irregular form of.
pub(super) fn regular(word: &str) -> Option<&'static str> {
    let at = IRREGULAR
        .binary_search_by(|(form, _)| (*form).cmp(word))
        .ok()?;
    IRREGULAR.get(at).map(|(_, regular)| *regular)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_without_repeats() {
        assert!(STOP.is_sorted_by(|a, b| a < b));
        assert!(IRREGULAR.is_sorted_by(|(a, _), (b, _)| a < b));
    }

    #[test]
    fn a_regular_form_is_not_irregular() {
        assert!(IRREGULAR.iter().all(|(_, word)| regular(word).is_none()));
    }

    #[test]
    fn no_form_of_a_word_is_a_function_word() {
        assert!(IRREGULAR.iter().all(|(form, _)| !is_stop(form)));
    }
}
