//! Converts every text from a history for a picture or a page: without hidden characters, without characters that
//! reorder the text around them ([`history_core::visible`]), limited in length, and without markup or script.

use history_core::cast::Cast as _;

mod columns;
mod numbers;
mod shown;

pub(crate) use columns::{columns, datum, process, px, shorten};
pub use numbers::{count, duration, grouped, percent};
pub(crate) use shown::shorten_chars;
pub use shown::{clipped, shown};

/// Appends a text as XML or HTML, for an element or an attribute in double quotes. The functions that shorten texts
/// escape hidden characters before this.
pub(crate) fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
}

/// Appends a text as a JSON string that is safe within a script element: it contains no `<`, which could close the
/// element or open a comment.
pub(crate) fn push_json(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' | '\u{7f}' => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.push_str("\\u");
                for shift in [12, 8, 4, 0] {
                    out.push(char::from(HEX[(u32::from(c) >> shift).to_usize() & 15]));
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
    fn markup_and_json_are_escaped() {
        let mut out = String::new();
        escape(&mut out, "<a b=\"&\">");
        assert_eq!(out, "&lt;a b=&quot;&amp;&quot;&gt;");
        out.clear();
        push_json(&mut out, "</script><!--\"\\\u{2028}\u{1}&\u{e9}");
        assert_eq!(out, "\"\\u003c/script\\u003e\\u003c!--\\\"\\\\\\u2028\\u0001\\u0026\u{e9}\"");
    }
}
