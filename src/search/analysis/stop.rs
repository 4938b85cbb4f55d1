//! Function words by script: words that say how a question is put, not what it is about.

use super::english;
use super::functions::functions;
use super::language::Language;
use super::place::Letter;
use super::script::Script;

/// Of Russian, folded and sorted.
#[rustfmt::skip]
const CYRILLIC: &[&str] = &[
    "а", "без", "будет", "бы", "был", "была", "были", "было", "быть", "в", "вам", "вас",
    "ваш", "ваша", "ведь", "во", "вот", "все", "вы", "где", "да", "даже", "для", "до",
    "его", "ее", "ей", "ему", "если", "есть", "еще", "же", "за", "зачем", "здесь", "и",
    "из", "или", "их", "к", "как", "какая", "какие", "каким", "каких", "какого", "какое",
    "какой", "каком", "какую", "кем", "ко", "когда", "кого", "кому", "которая", "которого",
    "которое", "которой", "которые", "который", "которым", "которых", "кто", "куда", "ли",
    "меня", "мне", "мое", "может", "мои", "мой", "моя", "мы", "на", "надо", "нам", "нас",
    "наш", "наша", "наши", "не", "него", "ней", "нет", "ни", "но", "о", "об", "он", "она",
    "они", "от", "откуда", "по", "под", "потом", "потому", "почему", "при", "про", "с",
    "сам", "свои", "свой", "своя", "себе", "себя", "сколько", "со", "та", "так", "там",
    "твои", "твой", "твоя", "те", "тебя", "тем", "то", "тогда", "того", "только", "тот",
    "тут", "ты", "у", "чего", "чей", "чем", "что", "чтоб", "чтобы", "чье", "чьи", "чья",
    "эта", "эти", "этих", "это", "этого", "этой", "этом", "этот", "я",
];

/// Of Greek, folded and sorted.
#[rustfmt::skip]
const GREEK: &[&str] = &[
    "αλλα", "αν", "απο", "αυτα", "αυτεσ", "αυτη", "αυτο", "αυτοι", "αυτοσ", "αυτων", "για",
    "γιατι", "δε", "δεν", "εγω", "ειμαι", "ειναι", "εισαι", "ειχε", "εμεισ", "ενα", "ενασ",
    "εσεισ", "εσυ", "εχει", "εχουν", "η", "ηταν", "θα", "και", "κατα", "κι", "μασ", "με",
    "μη", "μην", "μια", "μου", "να", "ο", "οι", "οπωσ", "οταν", "οτι", "ποια", "ποιασ",
    "ποιεσ", "ποιο", "ποιοι", "ποιον", "ποιοσ", "ποιου", "ποιων", "ποσα", "ποσεσ", "ποση",
    "ποσο", "ποσοι", "ποσουσ", "ποτε", "που", "προσ", "πωσ", "σασ", "σε", "σου", "στα",
    "στη", "στην", "στισ", "στο", "στον", "στουσ", "τα", "την", "τησ", "τι", "τισ", "το",
    "τον", "του", "τουσ", "των", "ωσ",
];

/// Of Arabic, folded and sorted.
#[rustfmt::skip]
const ARABIC: &[&str] = &[
    "اذا", "التي", "الذي", "الذين", "الى", "ان", "انا", "انت", "او", "اي", "اية", "اين",
    "بما", "به", "بها", "تكون", "تلك", "ثم", "حتى", "حيث", "ذلك", "على", "عن", "عند",
    "غير", "في", "فيه", "فيها", "قد", "كان", "كانت", "كم", "كما", "كيف", "لا", "لقد", "لم",
    "لماذا", "لن", "له", "لها", "لهم", "ما", "ماذا", "متى", "مع", "مما", "من", "منذ",
    "نحن", "هذا", "هذه", "هل", "هم", "هو", "هي", "و", "وهو", "وهي", "يكون",
];

/// Of Hindi, folded and sorted.
#[rustfmt::skip]
const DEVANAGARI: &[&str] = &[
    "अपना", "अपनी", "अपने", "आप", "इन", "इस", "इसके", "उन", "उनके", "उस", "उसके", "और",
    "कब", "कहां", "का", "कि", "कितना", "कितनी", "कितने", "किन", "किस", "किसका", "किसकी",
    "किसके", "किसको", "किसने", "किसे", "की", "के", "कैसा", "कैसे", "को", "कौन", "कौनसा",
    "कौनसी", "क्या", "क्यों", "जो", "तक", "तुम", "तो", "था", "थी", "थे", "द्वारा", "ने",
    "पर", "भी", "में", "मेरा", "मेरी", "मेरे", "मैं", "यह", "या", "ये", "लिए", "वह", "वे",
    "से", "हम", "ही", "हुआ", "हुई", "हुए", "हूं", "है", "हैं", "हो", "होता", "होती",
    "होते",
];

/// Of Chinese: the characters of which its question words, pronouns and particles are made.
const HAN: &str = "的了吗呢吧啊是在和与或及也都就很这那哪什么谁几多少为被把从到于由对以之其个有我你他她它们如何怎样";

/// Whether this folded word is a function word of a language that is written so.
///
/// For its script the configured language counts. English is written without accents, so the word must
/// have been, too.
pub(super) fn is_stop(folded: &str, script: Script, ascii: bool, language: Language) -> bool {
    let own = functions(language);
    if !own.is_empty() && script == language.script() {
        return own.binary_search(&folded).is_ok();
    }
    let list = match script {
        Script::Latin => return ascii && english::is_stop(folded),
        Script::Cyrillic => CYRILLIC,
        Script::Greek => GREEK,
        Script::Arabic => ARABIC,
        Script::Devanagari => DEVANAGARI,
        Script::Armenian | Script::Hebrew | Script::Tamil | Script::Other => return false,
    };
    list.binary_search(&folded).is_ok()
}

/// Whether a pair of Chinese characters has no other meaning than to put the question.
pub(super) fn is_han_stop(pair: &[Letter]) -> bool {
    pair.iter().all(|letter| HAN.contains(letter.c))
}

#[cfg(test)]
mod tests {
    use super::super::fold::fold;
    use super::*;

    #[test]
    fn lists_are_sorted_and_folded() {
        for (list, script) in [
            (CYRILLIC, Script::Cyrillic),
            (GREEK, Script::Greek),
            (ARABIC, Script::Arabic),
            (DEVANAGARI, Script::Devanagari),
        ] {
            assert!(list.is_sorted_by(|a, b| a < b), "{script:?}");
            assert!(
                list.iter().all(|word| fold(word, script) == *word),
                "{script:?}"
            );
        }
    }
}
