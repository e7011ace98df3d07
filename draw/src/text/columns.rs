//! Text in a picture: shortens values in the middle, and measures them in columns.

use history_core::{Client, Datum, visible};
use std::fmt::{self, Write};

/// The text that replaces omitted text.
const ELLIPSIS: &str = "...";

/// The maximum number of columns of a process's name.
const PROCESS_COLUMNS_MAX: usize = 24;

/// The maximum number of characters of a value that are examined. Of a longer value, only the beginning is shown.
const LOOKED_AT_MAX: usize = 4096;

/// Converts a length to a coordinate. No drawn length comes near the limit.
pub(crate) fn px(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

/// The number of columns of a text in a monospaced font.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

/// Returns true if a character takes two columns, as East Asian scripts and pictographs do. The Unicode blocks are
/// distinguished only roughly. The length of drawn text is set explicitly, so an error only affects its appearance.
fn is_wide(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x115F | 0x2E80..=0x303E | 0x3041..=0xA4CF | 0xA960..=0xA97F | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF | 0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD)
}

/// Shortens a text to at most this number of columns (and at least those of the ellipsis): keeps its beginning and its
/// end.
pub(crate) fn shorten(text: &str, columns_max: usize) -> String {
    let looked_at: String = text.chars().take(LOOKED_AT_MAX).collect();
    let whole = looked_at.len() == text.len();
    let text = visible::line(&looked_at);
    if whole && columns(&text) <= columns_max {
        return text.into_owned();
    }
    let room = columns_max.saturating_sub(ELLIPSIS.len());
    let end = if whole { take(text.chars().rev(), room / 3) } else { String::new() };
    let begin = take(text.chars(), room - columns(&end));
    begin + ELLIPSIS + &end.chars().rev().collect::<String>()
}

/// As many characters as fit.
fn take(chars: impl Iterator<Item = char>, columns_max: usize) -> String {
    let mut left = columns_max;
    let mut taken = String::new();
    for c in chars {
        let width = if is_wide(c) { 2 } else { 1 };
        if width > left {
            break;
        }
        left -= width;
        taken.push(c);
    }
    taken
}

/// The text for a process after the name of an op: its number, or its name in the history.
pub(crate) fn process(process: &Client) -> String {
    format!(", process {}", shorten(&process.to_string(), PROCESS_COLUMNS_MAX))
}

/// A value as EDN in at most this number of columns. Of a long list, both ends are shown; the last element has
/// priority.
pub(crate) fn datum(datum: &Datum, columns_max: usize) -> String {
    let text = written(datum);
    match datum {
        Datum::Vector(items) if columns(&visible::line(&text)) > columns_max => list(items, ['[', ']'], columns_max),
        Datum::List(items) if columns(&visible::line(&text)) > columns_max => list(items, ['(', ')'], columns_max),
        _ => shorten(&text, columns_max),
    }
}

/// A list that does not fit: some of its first elements, and some of its last.
fn list(items: &[Datum], [open, close]: [char; 2], columns_max: usize) -> String {
    // The brackets and the ellipsis take columns, and each element a space.
    let room = columns_max.saturating_sub(2 + ELLIPSIS.len());
    let (mut head, mut tail, mut used) = (Vec::new(), Vec::new(), 0);
    while head.len() + tail.len() < items.len() {
        let from_tail = tail.len() <= head.len();
        let item = if from_tail { &items[items.len() - 1 - tail.len()] } else { &items[head.len()] };
        let text = shorten(&written(item), room.saturating_sub(1));
        used += columns(&text) + 1;
        if !tail.is_empty() && used > room {
            break;
        }
        if from_tail { tail.push(text) } else { head.push(text) }
    }
    if head.len() + tail.len() < items.len() {
        head.push(ELLIPSIS.to_owned());
    }
    head.extend(tail.into_iter().rev());
    format!("{open}{}{close}", head.join(" "))
}

/// The beginning of a value as EDN, which is long enough to show that it is long.
fn written(datum: &Datum) -> String {
    let mut out = Bounded { text: String::new(), left: LOOKED_AT_MAX + 1 };
    // The only error is that the limit was reached.
    let _ = write!(out, "{datum}");
    out.text
}

/// Accepts a limited number of characters, so that large values cost no more time than the part that is shown.
struct Bounded {
    text: String,
    left: usize,
}

impl Write for Bounded {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        for c in s.chars() {
            if self.left == 0 {
                return Err(fmt::Error);
            }
            self.left -= 1;
            self.text.push(c);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(n: i64) -> Datum {
        Datum::Vector((1..=n).map(Datum::Int).collect())
    }

    #[test]
    fn short_values_stay_whole() {
        assert_eq!(datum(&ints(3), 20), "[1 2 3]");
        assert_eq!(datum(&ints(0), 20), "[]");
        assert_eq!(datum(&"a b".into(), 20), "\"a b\"");
        assert_eq!(datum(&Datum::List(vec![Datum::Nil]), 20), "(nil)");
    }

    #[test]
    fn a_long_list_keeps_its_ends() {
        assert_eq!(datum(&ints(100), 20), "[1 2 ... 98 99 100]");
        for n in 0..40 {
            for columns_max in 11..80 {
                let text = datum(&ints(n), columns_max);
                assert!(columns(&text) <= columns_max, "{text} in {columns_max}");
                assert!(text.ends_with(&format!("{n}]")) || n == 0, "{text}");
                let whole = ints(n).to_string();
                assert_eq!(text == whole, whole.len() <= columns_max, "{text} in {columns_max}");
            }
        }
    }

    #[test]
    fn a_long_text_keeps_its_ends() {
        assert_eq!(shorten("abcdefghijkl", 9), "abcd...kl");
        assert_eq!(shorten("abcdefghi", 9), "abcdefghi");
        assert_eq!(shorten(&"x".repeat(1 << 20), 9), "xxxxxx...", "the end of a huge text is not searched");
        assert_eq!(shorten("\u{6f22}\u{5b57}\u{6f22}\u{5b57}", 7), "\u{6f22}\u{5b57}...", "wide letters count twice");
    }

    #[test]
    fn characters_that_xml_forbids_or_that_reorder_text_are_escaped() {
        assert_eq!(shorten("a\0b\u{202e}c\u{FFFE}", 40), "a\\u{0}b\\u{202e}c\\u{fffe}");
    }

    #[test]
    fn a_huge_value_is_not_written_whole() {
        assert_eq!(written(&ints(1 << 20)).chars().count(), LOOKED_AT_MAX + 1);
    }
}
