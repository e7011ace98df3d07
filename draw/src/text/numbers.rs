//! Formats numbers for people.

/// A number with a comma between thousands.
pub fn grouped(number: u64) -> String {
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

/// A number of items: `1 op`, `2,000 ops`.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A time for people: `1.5 ms`.
pub fn duration(time_ns: i64) -> String {
    const UNITS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("\u{b5}s", 1000), ("ns", 1)];
    let sign = if time_ns < 0 { "\u{2212}" } else { "" };
    let size = time_ns.unsigned_abs();
    let (unit, one) = UNITS.into_iter().find(|(_, one)| size >= *one).unwrap_or(UNITS[3]);
    let (whole, part) = (size / one, size % one * 1000 / one);
    let part = format!(".{part:03}");
    let part = part.trim_end_matches('0').trim_end_matches('.');
    format!("{sign}{}{part} {unit}", grouped(whole))
}

/// A share in percent, with the significant digits.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0%".into();
    }
    // The share in hundredths of a percent, rounded.
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
