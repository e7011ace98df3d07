//! Text from histories, made safe to look at: nothing invisible, nothing that turns what follows around, nothing endless.

use history_core::visible;
use std::fmt::Write as _;

/// The text as a page may show it, at most so many characters of it. What is cut is counted.
///
/// Escaping for HTML comes later; this is about what escaping does not help against: controls that cannot be seen, and those
/// that reorder the text around them (Boucher, Anderson, "Trojan Source", 2021).
pub(super) fn shown(text: &str, chars_max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(chars_max + 32));
    for (at, c) in text.chars().enumerate() {
        if at == chars_max {
            let left = text.chars().count() - chars_max;
            // A few more are shorter than saying that they are there.
            if left > 24 {
                _ = write!(out, "\u{2026} ({} more characters)", grouped(left as u64));
                return out;
            }
        }
        push(&mut out, c);
    }
    out
}

/// The same without saying how much was cut: for places with little room, of which another one shows more.
pub(super) fn clipped(text: &str, chars_max: usize) -> String {
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

/// A number with a comma between thousands.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// So many of something: `1 op`, `2,000 ops`.
pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A time for people: `1.5 ms`.
pub(super) fn duration(time_ns: i64) -> String {
    const UNITS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("\u{b5}s", 1000), ("ns", 1)];
    let sign = if time_ns < 0 { "\u{2212}" } else { "" };
    let size = time_ns.unsigned_abs();
    let (unit, one) = UNITS.into_iter().find(|(_, one)| size >= *one).unwrap_or(UNITS[3]);
    let (whole, part) = (size / one, size % one * 1000 / one);
    let part = format!(".{part:03}");
    let part = part.trim_end_matches('0').trim_end_matches('.');
    format!("{sign}{}{part} {unit}", grouped(whole))
}

/// A share as percent, with as many digits as say something.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0%".into();
    }
    // In hundredths of a percent, rounded.
    let share = (u128::from(part) * 20_000 + u128::from(whole)) / (2 * u128::from(whole));
    match (share / 100, share % 100) {
        _ if part > 0 && share == 0 => "<0.01%".into(),
        (whole, 0) => format!("{whole}%"),
        (whole, hundredths) => format!("{whole}.{hundredths:02}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_spelled_out() {
        assert_eq!(shown("a\u{ad}b\u{3164}\u{fe0f}\u{10ffff}", 99), "a\\u{ad}b\\u{3164}\\u{fe0f}\\u{10ffff}");
        assert_eq!(shown("a\u{202e}b\u{0}c\u{2066}\u{feff}", 99), "a\\u{202e}b\\u{0}c\\u{2066}\\u{feff}");
        assert_eq!(shown("</script>]]>\n\u{fc}", 99), "</script>]]>\n\u{fc}", "escaping is not done here");
    }

    #[test]
    fn what_is_cut_is_counted() {
        assert_eq!(
            shown(&"x".repeat(1_234_577), 10),
            format!("{}\u{2026} (1,234,567 more characters)", "x".repeat(10))
        );
        assert_eq!(shown(&"x".repeat(30), 10), "x".repeat(30), "the count would be as long");
        assert_eq!(clipped("abcdef", 4), "abc\u{2026}");
        assert_eq!(clipped("abcd", 4), "abcd");
    }

    #[test]
    fn numbers_are_for_people() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        let durations = [0, 999, 1500, 2_000_000, 61_250_000_000, -5, i64::MIN].map(duration);
        assert_eq!(
            durations,
            ["0 ns", "999 ns", "1.5 \u{b5}s", "2 ms", "61.25 s", "\u{2212}5 ns", "\u{2212}9,223,372,036.854 s"]
        );
        let percents = [(0, 0), (0, 5), (1, 3), (1, 1), (1, 1_000_000), (u64::MAX, u64::MAX)];
        assert_eq!(percents.map(|(a, b)| percent(a, b)), ["0%", "0%", "33.33%", "100%", "<0.01%", "100%"]);
    }
}
