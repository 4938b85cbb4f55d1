//! Function words of the languages that a store can be set to, folded and sorted.
//!
//! English ones are in [`english`](super::english), Russian ones in [`stop`](super::stop). A word that names a
//! thing as well is left out, unless nearly every use of it is the other.

use super::language::Language;

/// The list of a language; empty for those that have theirs elsewhere.
pub(super) fn functions(language: Language) -> &'static [&'static str] {
    match language {
        Language::Catalan => CATALAN,
        Language::Czech => CZECH,
        Language::Danish => DANISH,
        Language::Dutch => DUTCH,
        Language::Estonian => ESTONIAN,
        Language::Finnish => FINNISH,
        Language::French => FRENCH,
        Language::German => GERMAN,
        Language::Hungarian => HUNGARIAN,
        Language::Indonesian => INDONESIAN,
        Language::Italian => ITALIAN,
        Language::Lithuanian => LITHUANIAN,
        Language::Norwegian => NORWEGIAN,
        Language::Polish => POLISH,
        Language::Portuguese => PORTUGUESE,
        Language::Romanian => ROMANIAN,
        Language::Spanish => SPANISH,
        Language::Swedish => SWEDISH,
        Language::Turkish => TURKISH,
        Language::Ukrainian => UKRAINIAN,
        Language::English | Language::Russian => &[],
    }
}

#[rustfmt::skip]
const CATALAN: &[&str] = &[
    "a", "aixo", "al", "allo", "als", "amb", "aquell", "aquella", "aquelles", "aquells", "aquest",
    "aquesta", "aquestes", "aquests", "cada", "com", "d", "de", "del", "dels", "des", "despres",
    "doncs", "durant", "el", "ell", "ella", "elles", "ells", "els", "em", "en", "ens", "entre",
    "era", "eren", "es", "esta", "estan", "estava", "et", "fa", "fins", "fou", "ha", "han", "has",
    "hi", "ho", "i", "ja", "jo", "l", "la", "les", "li", "llur", "lo", "m", "mateix", "me", "mes",
    "meu", "meva", "molt", "n", "ni", "no", "nosaltres", "nostre", "o", "on", "per", "pero",
    "perque", "poc", "pot", "qual", "quals", "quan", "quant", "quanta", "quantes", "quants", "que",
    "qui", "quin", "quina", "quines", "quins", "s", "sense", "ser", "seu", "seus", "seva", "seves",
    "si", "sobre", "son", "tambe", "te", "tenir", "teu", "teva", "tot", "tots", "tu", "un", "una",
    "unes", "uns", "us", "va", "van", "vosaltres", "vostre",
];

#[rustfmt::skip]
const CZECH: &[&str] = &[
    "a", "aby", "aj", "ale", "ani", "ano", "asi", "az", "bez", "byl", "byla", "byli", "bylo",
    "byly", "byt", "cem", "cemu", "ci", "co", "coz", "dalsi", "do", "ho", "i", "ja", "jak", "jaka",
    "jake", "jakeho", "jakem", "jako", "jakou", "jaky", "je", "jeho", "jej", "jeji", "jejich",
    "jen", "jeste", "ji", "jine", "jiz", "jsem", "jsi", "jsme", "jsou", "jste", "k", "kam", "kde",
    "kdo", "kdy", "kdyby", "kdyz", "ke", "koho", "kolik", "komu", "ktera", "ktere", "ktereho",
    "kterem", "kteri", "kterou", "ktery", "ma", "maji", "me", "mezi", "mi", "mit", "mne", "mnou",
    "muj", "muze", "my", "na", "nad", "nam", "nas", "ne", "nebo", "nebyl", "neni", "nez", "nic",
    "o", "od", "on", "ona", "oni", "ono", "pak", "po", "pod", "podle", "pokud", "pred", "pri",
    "pro", "proc", "proto", "protoze", "s", "se", "si", "sve", "svuj", "ta", "tak", "take", "tam",
    "tato", "tedy", "ten", "tento", "to", "tohoto", "tom", "tomto", "toto", "tu", "ty", "u", "uz",
    "v", "ve", "vice", "vsak", "vy", "z", "za", "ze",
];

#[rustfmt::skip]
const DANISH: &[&str] = &[
    "af", "alle", "alt", "altid", "at", "blev", "blive", "bliver", "da", "de", "dem", "den",
    "denne", "der", "deres", "det", "dette", "dig", "din", "dine", "disse", "dit", "dog", "du",
    "efter", "eller", "en", "end", "er", "et", "fik", "for", "fordi", "fra", "ham", "han", "hans",
    "har", "havde", "have", "hende", "hendes", "her", "hos", "hun", "hvad", "hvem", "hver",
    "hvilke", "hvilken", "hvilket", "hvis", "hvor", "hvordan", "hvorfor", "hvornar", "i", "ikke",
    "ind", "ingen", "jeg", "jer", "jeres", "jo", "kan", "kunne", "ma", "man", "mange", "med",
    "meget", "men", "mens", "mig", "min", "mine", "mit", "mod", "nar", "nogen", "noget", "nogle",
    "nu", "og", "ogsa", "om", "op", "os", "over", "pa", "sa", "sadan", "sig", "sin", "sine", "sit",
    "skal", "skulle", "som", "thi", "til", "ud", "under", "vaere", "vaeret", "var", "vi", "vil",
    "ville", "vor",
];

#[rustfmt::skip]
const DUTCH: &[&str] = &[
    "aan", "al", "alle", "alleen", "als", "alsof", "altijd", "andere", "ben", "bent", "bij", "daar",
    "dan", "dat", "de", "deze", "die", "dit", "doen", "doet", "door", "dus", "een", "eens", "en",
    "er", "ge", "geen", "haar", "had", "hadden", "heb", "hebben", "hebt", "heeft", "hem", "hen",
    "het", "hier", "hij", "hoe", "hoeveel", "hun", "ik", "in", "is", "ja", "je", "jij", "jou",
    "jouw", "jullie", "kan", "kon", "kunnen", "maar", "me", "meer", "men", "met", "mij", "mijn",
    "moet", "moeten", "na", "naar", "niet", "niets", "nog", "nu", "of", "om", "omdat", "ons",
    "onze", "ook", "op", "over", "te", "tegen", "toch", "toen", "tot", "u", "uit", "uw", "van",
    "veel", "voor", "waar", "waarin", "waarmee", "waarom", "waarop", "waarvan", "wanneer", "want",
    "waren", "was", "wat", "we", "wel", "welk", "welke", "werd", "werden", "wie", "wij", "wil",
    "worden", "wordt", "zal", "ze", "zelf", "zich", "zij", "zijn", "zo", "zonder", "zou", "zouden",
];

#[rustfmt::skip]
const ESTONIAN: &[&str] = &[
    "aga", "ainult", "ei", "et", "iga", "ja", "juba", "ka", "kas", "keda", "kelle", "kellel",
    "kellele", "kes", "koik", "kuhu", "kui", "kuid", "kuidas", "kumb", "kus", "kust", "ma", "me",
    "meie", "mida", "miks", "millal", "mille", "millega", "milles", "millest", "milline", "millise",
    "millised", "millises", "millist", "mina", "mind", "mingi", "minu", "mis", "mitu", "mu", "nad",
    "nagu", "need", "neid", "nemad", "nende", "nii", "ning", "ole", "oled", "oleme", "olen",
    "olete", "oli", "olid", "olla", "oma", "on", "palju", "sa", "seal", "seda", "see", "selle",
    "sellel", "selles", "sellest", "sest", "siin", "siis", "sina", "sinu", "su", "ta", "te", "teda",
    "teie", "tema", "vaga", "vaid", "veel", "voi",
];

#[rustfmt::skip]
const FINNISH: &[&str] = &[
    "ei", "eivat", "emme", "en", "et", "etta", "ette", "han", "hanelle", "hanelta", "hanen",
    "hanet", "he", "heidan", "heidat", "heille", "itse", "ja", "jo", "joiden", "joita", "joka",
    "jonka", "jos", "jossa", "jota", "jotka", "kaikki", "kanssa", "keiden", "keille", "keita",
    "kenelle", "kenen", "kenesta", "kenet", "keta", "ketka", "koska", "kuin", "kuinka", "kuka",
    "kumpi", "kun", "me", "meidan", "meidat", "meille", "mihin", "mika", "miksi", "milla",
    "millainen", "millaisen", "millaisia", "milloin", "mina", "minka", "minulle", "minun", "minut",
    "missa", "mista", "mita", "mitka", "moni", "monta", "mukaan", "mutta", "myos", "ne", "niiden",
    "niin", "niita", "noin", "nuo", "nyt", "olemme", "olen", "olet", "olette", "oli", "olisi",
    "olit", "olivat", "olla", "olleet", "ollut", "on", "ovat", "paljonko", "se", "seka", "sen",
    "siihen", "siina", "siita", "silla", "sina", "sinun", "sinut", "sita", "tahan", "tai", "tama",
    "taman", "tassa", "tasta", "tata", "te", "teidan", "teidat", "tuo", "tuon", "vaan", "vai",
    "vaikka", "vain", "voi", "voivat",
];

#[rustfmt::skip]
const FRENCH: &[&str] = &[
    "a", "afin", "ai", "ainsi", "alors", "apres", "as", "au", "aucun", "aucune", "aussi", "autre",
    "autres", "aux", "avaient", "avait", "avec", "avez", "avoir", "avons", "c", "car", "ce", "ceci",
    "cela", "celle", "celles", "celui", "ces", "cet", "cette", "ceux", "chez", "ci", "combien",
    "comme", "comment", "d", "dans", "de", "depuis", "des", "donc", "dont", "du", "elle", "elles",
    "en", "encore", "entre", "es", "est", "et", "etaient", "etait", "etre", "eu", "eux", "fait",
    "font", "furent", "fut", "ici", "il", "ils", "j", "je", "jusqu", "jusque", "l", "la",
    "laquelle", "le", "lequel", "les", "lesquelles", "lesquels", "leur", "leurs", "lors", "lui",
    "m", "ma", "mais", "me", "meme", "mes", "moi", "mon", "n", "ne", "ni", "non", "nos", "notre",
    "nous", "on", "ont", "ou", "par", "parce", "pas", "pendant", "peu", "peut", "plus", "pour",
    "pourquoi", "puis", "qu", "quand", "que", "quel", "quelle", "quelles", "quelque", "quelques",
    "quels", "qui", "quoi", "s", "sa", "sans", "se", "sera", "ses", "si", "soit", "son", "sont",
    "sous", "sur", "t", "ta", "te", "tes", "toi", "ton", "tous", "tout", "toute", "toutes", "tres",
    "tu", "un", "une", "vers", "vos", "votre", "vous", "y",
];

#[rustfmt::skip]
const GERMAN: &[&str] = &[
    "aber", "alle", "allem", "allen", "aller", "alles", "als", "also", "am", "an", "andere",
    "anderen", "auch", "auf", "aus", "bei", "beim", "bin", "bis", "bist", "da", "dabei", "damit",
    "dann", "daran", "daraus", "darin", "daruber", "das", "dass", "dein", "deine", "deinem",
    "deinen", "deiner", "dem", "den", "denen", "denn", "der", "deren", "des", "dessen", "dich",
    "die", "dies", "diese", "diesem", "diesen", "dieser", "dieses", "dir", "doch", "dort", "du",
    "durch", "ein", "eine", "einem", "einen", "einer", "eines", "er", "es", "etwa", "etwas", "euch",
    "euer", "eure", "fur", "gab", "gibt", "habe", "haben", "habt", "hast", "hat", "hatte", "hatten",
    "hier", "hin", "hinter", "ich", "ihm", "ihn", "ihnen", "ihr", "ihre", "ihrem", "ihren", "ihrer",
    "im", "in", "indem", "ins", "ist", "ja", "jede", "jedem", "jeden", "jeder", "jedes", "jene",
    "jener", "kann", "kannst", "kein", "keine", "keinem", "keinen", "keiner", "konnen", "konnte",
    "man", "mehr", "mein", "meine", "meinem", "meinen", "meiner", "mich", "mir", "mit", "muss",
    "mussen", "nach", "nachdem", "nicht", "nichts", "noch", "nun", "nur", "ob", "oder", "ohne",
    "sehr", "sein", "seine", "seinem", "seinen", "seiner", "seit", "sich", "sie", "sind", "so",
    "sodass", "solche", "soll", "sollen", "sollte", "sondern", "sowie", "uber", "um", "und", "uns",
    "unser", "unsere", "unter", "viel", "viele", "vielen", "vom", "von", "vor", "wahrend", "wann",
    "war", "waren", "warst", "warum", "was", "weil", "welche", "welchem", "welchen", "welcher",
    "welches", "wem", "wen", "wenn", "wer", "werde", "werden", "weshalb", "wessen", "wie", "wieder",
    "wieso", "wieviel", "wieviele", "will", "wir", "wird", "wo", "wobei", "wodurch", "wofur",
    "woher", "wohin", "womit", "woran", "worauf", "woraus", "worin", "woruber", "wovon", "wozu",
    "wurde", "wurden", "zu", "zum", "zur", "zwischen",
];

#[rustfmt::skip]
const HUNGARIAN: &[&str] = &[
    "a", "abban", "ahhoz", "ahogy", "ahol", "aki", "akik", "akkor", "alatt", "altal", "amely",
    "amelyek", "amelyet", "ami", "amit", "annak", "arra", "at", "az", "azok", "azon", "azonban",
    "azt", "aztan", "be", "belul", "csak", "de", "e", "ebben", "egy", "egyik", "ehhez", "el", "en",
    "ennek", "ennel", "erre", "es", "ez", "ezek", "ezen", "ezt", "fel", "fele", "ha", "hanem",
    "hany", "hanyan", "hanyszor", "hogy", "hogyan", "hol", "honnan", "hova", "ide", "igen", "igy",
    "ilyen", "is", "itt", "ki", "kik", "kinek", "kit", "le", "lehet", "lenne", "lesz", "lett",
    "majd", "mar", "meg", "mely", "melyek", "melyik", "melyikben", "melyiket", "melynek", "mennyi",
    "mert", "mi", "miatt", "miben", "mibol", "miert", "mihez", "mikor", "milyen", "minden", "mint",
    "mire", "mit", "mivel", "nagyon", "ne", "neki", "nem", "nincs", "o", "ok", "olyan", "ossze",
    "ott", "pedig", "s", "sem", "szamara", "szerint", "te", "tehat", "ti", "tobb", "vagy", "vagyok",
    "van", "vannak", "vele", "volt", "voltak",
];

#[rustfmt::skip]
const INDONESIAN: &[&str] = &[
    "ada", "adalah", "agar", "akan", "aku", "anda", "antara", "apa", "apakah", "atas", "atau",
    "bagaimana", "bagaimanakah", "bagi", "bahwa", "banyak", "beberapa", "berapa", "berapakah",
    "bisa", "bukan", "dalam", "dan", "dapat", "dari", "daripada", "dengan", "di", "dia", "dimana",
    "hanya", "harus", "ia", "ini", "itu", "jika", "juga", "kalau", "kami", "kamu", "kapan",
    "karena", "ke", "kenapa", "kepada", "ketika", "kita", "lagi", "lebih", "maka", "mana",
    "manakah", "mengapa", "menjadi", "mereka", "namun", "oleh", "pada", "para", "pun", "saat",
    "saja", "sampai", "sangat", "saya", "sebagai", "sebuah", "sedang", "sejak", "seorang",
    "seperti", "serta", "setelah", "siapa", "siapakah", "suatu", "sudah", "tapi", "telah",
    "tentang", "tersebut", "tetapi", "tidak", "untuk", "yaitu", "yakni", "yang",
];

#[rustfmt::skip]
const ITALIAN: &[&str] = &[
    "a", "agli", "ai", "al", "alla", "alle", "allo", "anche", "ancora", "avere", "aveva", "avevano",
    "c", "che", "chi", "ci", "cio", "coi", "col", "come", "con", "contro", "cosa", "cui", "da",
    "dagli", "dai", "dal", "dalla", "dalle", "dallo", "degli", "dei", "del", "dell", "della",
    "delle", "dello", "di", "dopo", "dov", "dove", "durante", "e", "ebbe", "ecco", "era", "erano",
    "essere", "fa", "fino", "fra", "fu", "furono", "gli", "ha", "hai", "hanno", "ho", "i", "il",
    "in", "io", "l", "la", "le", "lei", "li", "lo", "loro", "lui", "ma", "me", "mi", "mia", "mie",
    "miei", "mio", "molto", "ne", "negli", "nei", "nel", "nell", "nella", "nelle", "nello", "noi",
    "non", "nostra", "nostro", "o", "ogni", "per", "perche", "pero", "piu", "poi", "qual", "quale",
    "quali", "quando", "quanta", "quante", "quanti", "quanto", "quel", "quella", "quelle", "quelli",
    "quello", "questa", "queste", "questi", "questo", "qui", "se", "sei", "si", "sia", "siamo",
    "sono", "sopra", "sotto", "sta", "stata", "state", "stati", "stato", "su", "sua", "sue",
    "sugli", "sui", "sul", "sull", "sulla", "sulle", "sullo", "suo", "suoi", "tra", "tu", "tua",
    "tuo", "tutti", "tutto", "un", "una", "uno", "vi", "voi",
];

#[rustfmt::skip]
const LITHUANIAN: &[&str] = &[
    "ar", "arba", "as", "be", "bei", "bet", "buti", "buvo", "dar", "del", "i", "iki", "ir", "is",
    "ja", "jai", "jam", "jame", "jau", "jei", "jeigu", "ji", "jie", "jiems", "jis", "jo", "jog",
    "joje", "jos", "ju", "jus", "ka", "kad", "kada", "kai", "kaip", "kam", "kas", "kiek", "kieno",
    "ko", "kodel", "koki", "kokia", "kokie", "kokios", "kokiu", "koks", "kol", "kur", "kuri",
    "kuriais", "kuriame", "kurie", "kurio", "kurioje", "kurios", "kuris", "kuriu", "labai", "man",
    "mane", "mano", "mes", "mus", "musu", "nei", "nes", "nuo", "o", "pagal", "per", "po", "prie",
    "pries", "sau", "savo", "si", "sia", "sie", "sio", "sios", "sis", "su", "ta", "taciau", "tai",
    "taip", "tas", "ten", "tie", "tik", "to", "tos", "tu", "tuo", "uz", "yra",
];

#[rustfmt::skip]
const NORWEGIAN: &[&str] = &[
    "alle", "alt", "at", "av", "bare", "begge", "ble", "bli", "blir", "da", "de", "deg", "dei",
    "dem", "den", "denne", "der", "dere", "deres", "det", "dette", "din", "disse", "ditt", "du",
    "eg", "ein", "eit", "eller", "en", "enn", "er", "et", "etter", "fa", "for", "fordi", "fra",
    "ha", "hadde", "han", "hans", "har", "hennes", "her", "hos", "hun", "hva", "hvem", "hver",
    "hvilke", "hvilken", "hvilket", "hvis", "hvor", "hvorav", "hvordan", "hvorfor", "i", "ikke",
    "ikkje", "ingen", "inn", "ja", "jeg", "kan", "korleis", "kunne", "kva", "kvar", "kven", "ma",
    "man", "mange", "med", "meg", "mellom", "men", "mens", "mer", "min", "mine", "mitt", "mot",
    "mye", "na", "nar", "noe", "noen", "og", "ogsa", "om", "opp", "oss", "over", "pa", "sa", "seg",
    "selv", "sin", "sine", "sitt", "skal", "skulle", "slik", "som", "til", "ut", "uten", "vaere",
    "vaert", "var", "vi", "vil", "ville",
];

#[rustfmt::skip]
const POLISH: &[&str] = &[
    "a", "aby", "albo", "ale", "ani", "az", "bardzo", "bez", "bo", "by", "byc", "byl", "byla",
    "bylo", "byly", "choc", "ci", "ciebie", "co", "czego", "czemu", "czy", "czyj", "czyja", "czyje",
    "czym", "dla", "dlaczego", "do", "gdy", "gdyz", "gdzie", "go", "i", "ich", "ile", "ilu", "im",
    "inne", "iz", "ja", "jak", "jaka", "jaki", "jakich", "jakie", "jakiego", "jakiej", "jakim",
    "jako", "je", "jego", "jej", "jesli", "jest", "jestem", "jeszcze", "jezeli", "juz", "kazdy",
    "kiedy", "kim", "kogo", "komu", "kto", "ktora", "ktore", "ktorego", "ktorej", "ktory",
    "ktorych", "ktorym", "ktorzy", "lecz", "lub", "ma", "maja", "mi", "mnie", "moj", "moja", "moje",
    "moze", "mozna", "mu", "my", "na", "nad", "nam", "nami", "nas", "nasz", "nawet", "nic", "nich",
    "nie", "niego", "nim", "niz", "o", "od", "on", "ona", "one", "oni", "ono", "oraz", "po", "pod",
    "podczas", "poniewaz", "przed", "przez", "przy", "rowniez", "sa", "sie", "skad", "swoj",
    "swoje", "ta", "tak", "takze", "tam", "te", "tego", "tej", "ten", "to", "tobie", "tu", "ty",
    "tych", "tylko", "tym", "u", "w", "we", "wiec", "wszystko", "wy", "z", "za", "ze", "zeby",
];

#[rustfmt::skip]
const PORTUGUESE: &[&str] = &[
    "a", "ao", "aos", "aquela", "aquele", "aqueles", "aquilo", "as", "ate", "cada", "com", "como",
    "da", "das", "de", "dela", "dele", "deles", "depois", "do", "dos", "e", "ela", "elas", "ele",
    "eles", "em", "entre", "era", "eram", "essa", "essas", "esse", "esses", "esta", "estao",
    "estas", "estava", "este", "estes", "eu", "foi", "foram", "ha", "isso", "isto", "ja", "la",
    "lhe", "lhes", "lo", "mais", "mas", "me", "mesmo", "meu", "meus", "minha", "muito", "na", "nao",
    "nas", "nem", "no", "nos", "nossa", "nosso", "num", "numa", "o", "onde", "os", "ou", "para",
    "pela", "pelas", "pelo", "pelos", "por", "porem", "porque", "quais", "qual", "quando", "quanta",
    "quantas", "quanto", "quantos", "que", "quem", "sao", "se", "seja", "sem", "ser", "sera", "seu",
    "seus", "so", "sob", "sobre", "sua", "suas", "tambem", "te", "tem", "tenha", "ter", "teu",
    "tinha", "tu", "tua", "tudo", "um", "uma", "umas", "uns", "voce", "voces", "vos",
];

#[rustfmt::skip]
const ROMANIAN: &[&str] = &[
    "a", "acea", "aceasta", "aceea", "acei", "aceia", "acel", "acela", "acele", "acest", "acesta",
    "aceste", "acestea", "acesti", "ai", "aici", "al", "ale", "am", "ar", "are", "as", "asta",
    "astfel", "atunci", "au", "avea", "avem", "ca", "caci", "cand", "care", "carei", "caror",
    "carui", "cat", "cata", "cate", "cati", "ce", "cea", "cei", "cel", "cele", "celor", "cine",
    "cu", "cui", "cum", "d", "da", "daca", "dar", "de", "decat", "deci", "desi", "despre", "din",
    "dintre", "doar", "dupa", "e", "ea", "ei", "el", "ele", "era", "erau", "este", "eu", "fara",
    "fi", "fie", "fost", "i", "iar", "ii", "il", "in", "insa", "intre", "isi", "la", "le", "li",
    "lor", "lui", "m", "mai", "mea", "mei", "mele", "mi", "mult", "ne", "ni", "nici", "noi",
    "nostru", "nu", "o", "ori", "pana", "pe", "pentru", "peste", "prin", "s", "sa", "sale", "sau",
    "se", "si", "sunt", "tale", "te", "tot", "toti", "tu", "un", "una", "unde", "unei", "unor",
    "unui", "v", "va", "vi", "voi", "vor",
];

#[rustfmt::skip]
const SPANISH: &[&str] = &[
    "a", "adonde", "al", "algo", "alguna", "algunas", "alguno", "algunos", "ante", "antes", "aquel",
    "aquella", "aquellas", "aquello", "aquellos", "asi", "aun", "aunque", "cada", "como", "con",
    "contra", "cual", "cuales", "cuando", "cuanta", "cuantas", "cuanto", "cuantos", "cuya", "cuyo",
    "de", "del", "desde", "despues", "donde", "durante", "e", "el", "ella", "ellas", "ello",
    "ellos", "en", "entre", "era", "eran", "eres", "es", "esa", "esas", "ese", "eso", "esos",
    "esta", "estaba", "estaban", "estan", "estar", "estas", "este", "esto", "estos", "fue",
    "fueron", "ha", "haber", "habia", "habian", "han", "has", "hasta", "hay", "he", "hizo", "la",
    "las", "le", "les", "lo", "los", "mas", "me", "mi", "mientras", "mis", "mismo", "mucho",
    "muchos", "muy", "nada", "ni", "no", "nos", "nosotros", "nuestra", "nuestro", "nuestros", "o",
    "os", "otra", "otras", "otro", "otros", "para", "pero", "poco", "por", "porque", "pues", "que",
    "quien", "quienes", "se", "sea", "segun", "ser", "sera", "si", "sido", "sin", "sobre", "son",
    "soy", "su", "sus", "tambien", "tan", "tanto", "te", "tenia", "tiene", "tienen", "tras", "tu",
    "tus", "un", "una", "unas", "uno", "unos", "usted", "ustedes", "vosotros", "vuestro", "y", "ya",
    "yo",
];

#[rustfmt::skip]
const SWEDISH: &[&str] = &[
    "all", "alla", "allt", "an", "ar", "at", "att", "av", "bara", "blev", "bli", "blir", "da",
    "dar", "de", "dem", "den", "denna", "deras", "dess", "dessa", "det", "detta", "dig", "din",
    "dina", "ditt", "du", "efter", "eftersom", "ej", "eller", "en", "er", "era", "ett", "fa",
    "fick", "for", "fran", "ha", "hade", "han", "hans", "har", "henne", "hennes", "hon", "honom",
    "hos", "hur", "i", "icke", "in", "ingen", "inom", "inte", "ja", "jag", "kan", "kunde", "man",
    "manga", "med", "mellan", "men", "mer", "mig", "min", "mina", "mitt", "mot", "mycket", "nagon",
    "nagot", "nagra", "nar", "ni", "nu", "och", "ocksa", "om", "oss", "over", "pa", "sa", "sadan",
    "sig", "sin", "sina", "sitt", "sjalv", "ska", "skall", "skulle", "som", "till", "under", "upp",
    "ut", "utan", "vad", "var", "vara", "varfor", "varifran", "varit", "varje", "vars", "vart",
    "vem", "vems", "vi", "vid", "vilka", "vilkas", "vilken", "vilket",
];

#[rustfmt::skip]
const TURKISH: &[&str] = &[
    "acaba", "ama", "ancak", "aslinda", "az", "bana", "bazi", "belki", "ben", "beni", "benim",
    "bile", "bir", "biri", "birkac", "biz", "bizi", "bizim", "boyle", "bu", "buna", "bunda",
    "bundan", "bunlar", "bunu", "bunun", "burada", "cok", "cunku", "da", "daha", "dahi", "de",
    "degil", "diye", "dolayi", "eger", "en", "gibi", "gore", "hangi", "hangileri", "hangisi",
    "hangisidir", "hani", "hem", "henuz", "hep", "hepsi", "her", "hic", "icin", "ile", "ise", "kac",
    "kaci", "kadar", "karsin", "kez", "ki", "kim", "kimden", "kimdi", "kimdir", "kime", "kimi",
    "kimin", "kimler", "mi", "midir", "mu", "nasil", "ne", "neden", "nedeniyle", "nedir", "neler",
    "nelerdir", "nelere", "nere", "nerede", "nereden", "neresi", "neresidir", "nereye", "neyi",
    "neyin", "nicin", "niye", "o", "olan", "olarak", "oldu", "oldugu", "oldugunu", "olmak",
    "olmasi", "olsa", "olup", "ona", "ondan", "onlar", "onlari", "onlarin", "onu", "onun", "orada",
    "oyle", "oysa", "pek", "ragmen", "sadece", "sana", "sen", "seni", "senin", "sey", "siz", "sizi",
    "sizin", "sonra", "soyle", "su", "suna", "sunu", "tarafindan", "tum", "uzere", "var", "vardi",
    "ve", "veya", "ya", "yani", "yok", "yoksa", "zaman", "zaten",
];

#[rustfmt::skip]
const UKRAINIAN: &[&str] = &[
    "а", "аби", "або", "але", "без", "би", "був", "буде", "була", "були", "було", "бути", "в",
    "вам", "вас", "ваш", "ваша", "ви", "вона", "вони", "воно", "все", "всі", "від", "він", "де",
    "для", "до", "з", "за", "звідки", "зі", "й", "його", "йому", "ким", "кого", "коли", "кому",
    "котрий", "куди", "мене", "мені", "ми", "може", "моя", "мої", "мій", "на", "навіщо", "над",
    "нам", "нас", "наш", "наша", "не", "неї", "ним", "них", "ні", "о", "об", "по", "при", "про",
    "під", "після", "скільки", "та", "так", "така", "таке", "такий", "такі", "там", "те", "ти",
    "тим", "то", "того", "тоді", "той", "тому", "тут", "тільки", "у", "хто", "це", "цей", "цього",
    "цьому", "ця", "ці", "через", "чи", "чий", "чим", "чия", "чиє", "чиї", "чого", "чому", "що",
    "щоб", "щось", "я", "як", "яка", "якби", "яке", "який", "яким", "яких", "якого", "якому", "яку",
    "якщо", "які", "якій", "і", "із", "їй", "їм", "їх", "її",
];

#[cfg(test)]
mod tests {
    use super::super::fold::fold;
    use super::super::script::Script;
    use super::*;

    #[test]
    fn lists_are_sorted_and_folded() {
        for language in Language::ALL {
            let list = functions(*language);
            assert!(list.is_sorted_by(|a, b| a < b), "{language}");
            let script = match language {
                Language::Russian | Language::Ukrainian => Script::Cyrillic,
                _ => Script::Latin,
            };
            let unfolded = list.iter().find(|word| fold(word, script) != **word);
            assert_eq!(unfolded, None, "{language}");
        }
    }
}
