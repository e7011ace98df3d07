//! Sizes and times with units: `2GB`, `5m`. Numbers without a unit are bytes and seconds.

use std::time::Duration;

/// Parses a time above zero.
///
/// # Errors
///
/// The expected form.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("expected a time above 0, such as 60, 0.5, 90s or 5m, found {text}");
    let parsed = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => humantime::parse_duration(text).ok(),
    };
    parsed.filter(|time| !time.is_zero()).ok_or_else(wrong)
}

/// Parses a number of bytes above zero.
///
/// # Errors
///
/// The expected form.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("expected a number of bytes above 0, such as 8000000000, 512MB or 2GiB, found {text}");
    let parsed = match text.parse::<u64>() {
        Ok(bytes) => Some(bytes),
        Err(_) => text.parse::<bytesize::ByteSize>().ok().map(|size| size.as_u64()),
    };
    parsed.filter(|bytes| *bytes > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_that_people_write() {
        for (text, seconds) in
            [("60", 60.0), ("0.5", 0.5), (".2", 0.2), ("90s", 90.0), ("5m", 300.0), ("1h 30m", 5400.0), ("250ms", 0.25)]
        {
            assert_eq!(time(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in ["0", "-1", "5x", "", "inf", "nan", "0s"] {
            assert!(time(text).unwrap_err().ends_with(&format!("found {text}")), "{text}");
        }
        for (text, bytes) in [
            ("1", 1),
            ("8000000000", 8_000_000_000),
            ("2GB", 2_000_000_000),
            ("2GiB", 2 << 30),
            ("64 kB", 64_000),
            ("1.5MB", 1_500_000),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["0", "-1", "GB", "1Q", "", "1e3"] {
            assert!(size(text).unwrap_err().ends_with(&format!("found {text}")), "{text}");
        }
    }
}
