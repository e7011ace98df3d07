//! Text from histories, made safe to show: without hidden characters and characters that reverse the text after them,
//! and limited in length.

use super::grouped;
use history_core::cast::Cast as _;
use history_core::visible;
use std::fmt::Write as _;

/// The text in the form that a page may show, with a maximum number of characters. The omitted characters are counted.
///
/// Escaping for HTML comes later; this handles what escaping does not: invisible controls, and those that reorder the
/// text around them (Boucher, Anderson, "Trojan Source", 2021).
pub fn shown(text: &str, chars_max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(chars_max + 32));
    for (at, c) in text.chars().enumerate() {
        if at == chars_max {
            let left = text.chars().count() - chars_max;
            // Up to this number, the characters are shorter than a note that they were omitted.
            if left > 24 {
                _ = write!(out, "\u{2026} ({} more characters)", grouped(left.to_u64()));
                return out;
            }
        }
        push(&mut out, c);
    }
    out
}

/// The same without the number of omitted characters: for places with little room, if the complete text is shown
/// elsewhere.
pub fn clipped(text: &str, chars_max: usize) -> String {
    let mut out = String::new();
    for (at, c) in text.chars().enumerate() {
        if at + 1 >= chars_max && text.chars().nth(chars_max).is_some() {
            out.push('\u{2026}');
            return out;
        }
        push(&mut out, c);
    }
    out
}

fn push(out: &mut String, c: char) {
    match c {
        '\n' => out.push(c),
        _ => visible::push(out, c),
    }
}

/// The text in at most this number of characters, with escapes for hidden characters. Of a longer text, the beginning
/// and the end are kept.
pub(crate) fn shorten_chars(text: &str, chars_max: usize) -> String {
    let is_long = text.chars().nth(chars_max).is_some();
    let mut out = String::with_capacity(text.len().min(4 * chars_max));
    if is_long {
        let end = chars_max / 4;
        push_visible(&mut out, text.chars().take(chars_max - end - 3));
        out.push_str("...");
        let mut tail: Vec<char> = text.chars().rev().take(end).collect();
        tail.reverse();
        push_visible(&mut out, tail.into_iter());
    } else {
        push_visible(&mut out, text.chars());
    }
    out
}

fn push_visible(out: &mut String, chars: impl Iterator<Item = char>) {
    for c in chars {
        match c {
            '\n' | '\t' => out.push(' '),
            c => visible::push(out, c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped() {
        assert_eq!(shown("a\u{ad}b\u{3164}\u{fe0f}\u{10ffff}", 99), "a\\u{ad}b\\u{3164}\\u{fe0f}\\u{10ffff}");
        assert_eq!(shown("a\u{202e}b\u{0}c\u{2066}\u{feff}", 99), "a\\u{202e}b\\u{0}c\\u{2066}\\u{feff}");
        assert_eq!(shown("</script>]]>\n\u{fc}", 99), "</script>]]>\n\u{fc}", "escaping is not done here");
    }

    #[test]
    fn omitted_characters_are_counted() {
        assert_eq!(
            shown(&"x".repeat(1_234_577), 10),
            format!("{}\u{2026} (1,234,567 more characters)", "x".repeat(10))
        );
        assert_eq!(shown(&"x".repeat(30), 10), "x".repeat(30), "the count would be as long");
        assert_eq!(clipped("abcdef", 4), "abc\u{2026}");
        assert_eq!(clipped("abcd", 4), "abcd");
    }

    #[test]
    fn long_texts_keep_their_ends() {
        assert_eq!(shorten_chars("abcdefghijkl", 12), "abcdefghijkl");
        assert_eq!(shorten_chars("abcdefghijklm", 12), "abcdef...klm");
        assert_eq!(shorten_chars(&"x".repeat(1 << 20), 40).len(), 40);
        assert_eq!(shorten_chars("a\0b\u{202e}c\u{FFFE}\nd\u{2028}", 99), "a\\u{0}b\\u{202e}c\\u{fffe} d\\u{2028}");
    }
}
