//! Text on a page: shortened, without characters that are invisible or turn the text around, and escaped.

use history_core::visible;

/// The text in at most so many characters, with visible escapes in place of those that are unfit. Of a longer one the
/// beginning and the end are kept.
pub(super) fn shorten(text: &str, chars_max: usize) -> String {
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

/// Appends a text as HTML, in an element or a quoted attribute.
pub(super) fn push_html(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

/// Appends a text as a string of JSON that can stand inside of a script element: no `<` could close it or open a comment.
pub(super) fn push_json(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' | '\u{7f}' => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.push_str("\\u");
                for shift in [12, 8, 4, 0] {
                    out.push(char::from(HEX[(u32::from(c) >> shift) as usize & 15]));
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_keep_their_ends() {
        assert_eq!(shorten("abcdefghijkl", 12), "abcdefghijkl");
        assert_eq!(shorten("abcdefghijklm", 12), "abcdef...klm");
        assert_eq!(shorten(&"x".repeat(1 << 20), 40).len(), 40);
    }

    #[test]
    fn what_cannot_be_seen_is_made_visible() {
        assert_eq!(shorten("a\0b\u{202e}c\u{FFFE}\nd\u{2028}", 99), "a\\u{0}b\\u{202e}c\\u{fffe} d\\u{2028}");
    }

    #[test]
    fn html_and_json_are_escaped() {
        let mut out = String::new();
        push_html(&mut out, "<a b=\"&'\">");
        assert_eq!(out, "&lt;a b=&quot;&amp;&#39;&quot;&gt;");
        out.clear();
        push_json(&mut out, "</script><!--\"\\\u{2028}\u{1}&\u{e9}");
        assert_eq!(out, "\"\\u003c/script\\u003e\\u003c!--\\\"\\\\\\u2028\\u0001\\u0026\u{e9}\"");
    }
}
