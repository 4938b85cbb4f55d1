//! JSON that stays on its line and inside its section.

use std::fmt::Write as _;

/// JSON text with every character that could break out of a line or a tag, or hide or reorder text,
/// as a `\u` escape. It is the same JSON: outside strings none of these characters occurs.
pub(super) fn escape(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if !is_loose(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string can't fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

/// Whether a character is markup, breaks a line, or changes how text around it is shown.
///
/// The joiners U+200C and U+200D and the variation selectors U+FE0E and U+FE0F are none of these: words
/// in Persian and Hindi and many emoji need them. Of the angle brackets the ones that NFKC turns into `<` and `>` count as well.
fn is_loose(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '<' | '>' | '&'
            | '\u{fe64}' | '\u{fe65}' | '\u{ff1c}' | '\u{ff1e}' | '\u{fe60}' | '\u{ff06}'
            // Format characters: soft hyphen, Arabic signs, marks and overrides of direction.
            | '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
            | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{180e}' | '\u{200b}'
            | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            // Fillers, blanks and the other characters that show as nothing.
            | '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0d}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{fffc}'
            | '\u{1d159}'
            // Private use, and tags and the further variation selectors, in which text can be hidden.
            | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    proptest! {
        #[test]
        fn it_is_the_same_json_on_one_line(text in "\\PC*|.*|[<>&\u{2028}\u{202e}\n\u{e0041}a]*") {
            let escaped = escape(&Value::from(text.as_str()).to_string());
            prop_assert!(!escaped.chars().any(is_loose));
            prop_assert_eq!(serde_json::from_str::<Value>(&escaped).unwrap(), Value::from(text));
        }
    }

    #[test]
    fn what_breaks_out_is_escaped_and_words_are_not() {
        assert_eq!(
            escape("\"</a>\u{2028}\u{202e}\u{85}\""),
            r#""\u003c/a\u003e\u2028\u202e\u0085""#
        );
        assert_eq!(escape("\"\u{e0041}\""), r#""\udb40\udc41""#);
        let words = "\"می\u{200c}خواهم 部署 naïve 👩\u{200d}🚒\"";
        assert_eq!(escape(words), words);
    }
}
