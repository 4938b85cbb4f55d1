//! Whether a text in Latin letters is English, by its function words.

/// Function words of some other languages that are written without accents. Sorted.
///
/// German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish, Norwegian, Finnish, Polish,
/// Czech, Hungarian, Romanian, Turkish and Indonesian; a word with an accent tells by that.
#[rustfmt::skip]
const FOREIGN: &[&str] = &[
    "aan", "aber", "adalah", "akan", "al", "ale", "alla", "als", "anche", "ao", "apa", "att",
    "au", "auch", "auf", "aus", "aux", "av", "avec", "az", "bei", "beim", "bij", "bir", "bu",
    "byl", "care", "ce", "cette", "chi", "cine", "com", "come", "como", "con", "csak", "cu",
    "cual", "cuando", "czy", "da", "daha", "dal", "dalam", "dan", "dans", "dari", "das", "dat",
    "de", "dei", "del", "della", "delle", "dem", "den", "dengan", "der", "des", "det", "deze",
    "di", "die", "din", "dla", "donde", "dos", "du", "durch", "een", "egy", "ei", "ein", "eine",
    "einen", "einer", "eines", "el", "elle", "em", "en", "er", "es", "est", "esta", "este",
    "et", "ett", "ez", "foi", "fra", "fue", "gdzie", "gibi", "gli", "ha", "haben", "hangi",
    "hangisi", "har", "hat", "het", "hoe", "hogy", "hol", "hva", "hvad", "hvem", "ich", "ihr",
    "ihre", "ik", "ikke", "il", "ile", "ils", "ini", "inte", "ise", "ist", "itu", "ja",
    "jag", "jak", "jako", "je", "jeg", "jest", "joka", "jsou", "kac", "kadar", "kan", "kde",
    "kdo", "kein", "keine", "ki", "kiedy", "kim", "ktery", "kto", "kuin", "kuka", "kun", "la",
    "las", "le", "les", "leur", "leurs", "lo", "los", "lui", "ma", "maar", "mai", "mais", "med",
    "meg", "mein", "meine", "met", "meu", "mia", "mijn", "milyen", "minha", "mint", "minun",
    "mio", "mit", "mutta", "muy", "na", "naar", "nach", "nas", "ne", "nebo", "neden", "nel",
    "nella", "nem", "nerede", "nicht", "nie", "niet", "noch", "non", "nos", "nous", "nu", "nur",
    "och", "oder", "og", "olan", "olarak", "oleh", "oli", "om", "ook", "op", "os", "ou", "ovat",
    "pada", "par", "para", "pas", "pe", "pela", "pelo", "pentru", "pero", "piu", "po",
    "por", "pour", "pro", "przez", "qual", "quale", "que", "quel", "quelle", "quem", "qui",
    "quien", "sa", "saya", "se", "ses", "seu", "si", "siapa", "sich", "sie", "sig", "sind",
    "skal", "som", "son", "sono", "sonra", "sont", "su", "sua", "sunt", "sur", "sus", "tak",
    "tarafindan", "te", "tidak", "til", "tot", "uit", "um", "uma", "un", "una", "und", "unde",
    "une", "uns", "unser", "untuk", "vad", "vagy", "van", "var", "ve", "ved", "vem", "volt",
    "vom", "von", "voor", "vous", "waar", "wann", "wat", "welche", "welchem", "welchen",
    "welcher", "welches", "wer", "werd", "wie", "wir", "wird", "wordt", "wurde", "ya", "yang",
    "yo", "zaman", "ze", "zijn", "zu", "zum", "zur",
];

/// What the words of a text in Latin letters say of its language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    english: u32,
    foreign: u32,
}

impl Tally {
    /// Takes note of a folded word, which was written with or without accents, and may be an English
    /// function word.
    pub(super) fn note(&mut self, word: &str, accents: bool, english: bool) {
        let foreign = accents || FOREIGN.binary_search(&word).is_ok();
        self.english = self.english.saturating_add(u32::from(english));
        self.foreign = self.foreign.saturating_add(u32::from(foreign));
    }

    /// Whether the text is in a language other than English.
    pub(super) fn is_foreign(self) -> bool {
        self.foreign > self.english
    }

    /// Whether the text may be in a language other than English: a few words don't tell.
    pub(super) fn may_be_foreign(self) -> bool {
        self.english == 0 || self.is_foreign()
    }
}

#[cfg(test)]
mod tests {
    use super::super::english;
    use super::*;

    #[test]
    fn the_table_is_sorted_without_repeats() {
        assert!(FOREIGN.is_sorted_by(|a, b| a < b));
    }

    fn language(text: &str) -> Tally {
        let mut language = Tally::default();
        for word in text.split(' ') {
            language.note(word, !word.is_ascii(), english::is_stop(word));
        }
        language
    }

    #[test]
    fn a_text_tells_its_language() {
        for text in [
            "wie wird das in berlin beschlossen",
            "quel est le nom du chien",
            "adam ne zaman geldi",
            "zürich",
        ] {
            assert!(language(text).is_foreign(), "{text}");
            assert!(language(text).may_be_foreign(), "{text}");
        }
        for text in ["what did she die of", "the café in der nähe is not open"] {
            assert!(!language(text).may_be_foreign(), "{text}");
        }
        assert!(language("telegram bot").may_be_foreign());
        assert!(!language("telegram bot").is_foreign());
    }

    #[test]
    fn no_word_is_of_both() {
        let both: Vec<_> = FOREIGN
            .iter()
            .filter(|word| english::is_stop(word))
            .collect();
        assert!(both.is_empty(), "{both:?}");
    }
}
