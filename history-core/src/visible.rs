//! Text from untrusted sources, made safe to show: without hidden characters, and without characters that move or
//! reorder the text around them.
//!
//! A history, or the name of its file, can contain escape sequences that make a terminal draw something else, and
//! characters that are invisible or that reverse the text around them (Boucher, Anderson, "Trojan Source", 2021). Code
//! that prints such text, or puts it on a page or into a picture, must use these functions. They do not escape HTML or
//! XML. Output for programs keeps the value of a text, but not its bytes: strings of JSON and EDN have an escape for
//! each of these characters ([`json`]).
//!
//! ```
//! use history_core::visible;
//!
//! assert_eq!(visible::line("read\u{1b}[2K"), r"read\u{1b}[2K");
//! assert_eq!(visible::line("one\ntwo"), r"one\ntwo");
//! assert_eq!(visible::lines("one\ntwo\u{202e}"), "one\ntwo\\u{202e}");
//! ```

use std::borrow::Cow;
use std::fmt::{self, Write};

/// Whether a character must not be shown unchanged: controls, marks of direction, characters without width or glyph
/// (Unicode's `Default_Ignorable_Code_Point`, tags, variation selectors and a few more), characters without a meaning
/// of their own (private use), and noncharacters.
pub fn is_hidden(c: char) -> bool {
    if (' '..='~').contains(&c) {
        return false;
    }
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}')
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}')
        || matches!(c, '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        || matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{f0000}'..)
        || u32::from(c) & 0xfffe == 0xfffe
}

/// Appends a character, or the escape that represents it: `\n`, `\t`, `\r`, or one like `\u{202e}`.
pub fn push(out: &mut String, c: char) {
    match c {
        '\n' | '\r' | '\t' => out.extend(c.escape_default()),
        c if is_hidden(c) => out.extend(c.escape_unicode()),
        c => out.push(c),
    }
}

/// The text in one line, with escapes instead of hidden characters and line ends.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// The text with its lines, and with escapes instead of all other hidden characters.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\n')
}

/// JSON with the same value, and with escapes like `\u202e` instead of hidden characters in its strings; its own line
/// ends remain.
///
/// ```
/// assert_eq!(history_core::visible::json("{\n\"a\u{202e}\":1}"), "{\n\"a\\u202e\":1}");
/// ```
pub fn json(text: &str) -> Cow<'_, str> {
    let is_kept = |c: char| c == '\n' || !is_hidden(c);
    let Some(first) = text.find(|c| !is_kept(c)) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        // Writing to a string cannot fail.
        let _ = if is_kept(c) { out.write_char(c) } else { write_utf16(&mut out, c) };
    }
    Cow::Owned(out)
}

/// Writes a character as strings of JSON and EDN escape it: `\u` and four digits for each unit of its UTF-16 form.
pub(crate) fn write_utf16(out: &mut impl Write, c: char) -> fmt::Result {
    c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))
}

fn escaped(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some((first, _)) = text.char_indices().find(|(_, c)| is_hidden(*c) && !is_kept(*c)) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        if is_kept(c) { out.push(c) } else { push(&mut out, c) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_spelled_out() {
        assert_eq!(line("\u{1b}[2K\u{9b}A\u{7f}\0"), r"\u{1b}[2K\u{9b}A\u{7f}\u{0}");
        assert_eq!(line("a\u{ad}b\u{3164}\u{fe0f}\u{10ffff}"), r"a\u{ad}b\u{3164}\u{fe0f}\u{10ffff}");
        assert_eq!(line("\u{61c}\u{200e}\u{202e}\u{2066}\u{feff}"), r"\u{61c}\u{200e}\u{202e}\u{2066}\u{feff}");
        assert_eq!(line("\u{e0041}\u{e0100}"), r"\u{e0041}\u{e0100}", "tags and further variation selectors");
        assert_eq!(line("a\r\n\tb"), r"a\r\n\tb");
        assert_eq!(lines("a\r\n\tb"), "a\\r\n\\tb");
    }

    #[test]
    fn what_shows_is_left_as_it_is() {
        for text in ["", "plain ~ text", "\u{fc}\u{6f22}\u{1f600} \u{5d0}\u{627}\u{301}"] {
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text));
            assert!(matches!(lines(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn nothing_hidden_is_left_of_any_character() {
        for c in '\0'..=char::MAX {
            let shown = line(c.encode_utf8(&mut [0; 4])).into_owned();
            assert!(!shown.chars().any(is_hidden), "{c:?}");
            assert_eq!(shown.chars().eq([c]), !is_hidden(c), "{c:?}");
        }
    }
}
