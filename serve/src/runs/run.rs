//! A run: a directory with a history or a report, or a single history.

use super::outcome::Outcome;
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The data of a run that is available without reading its history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The path below the served directory, with `/` between its parts; `.` is that directory itself.
    pub(crate) id: String,
    pub(crate) is_directory: bool,
    /// The name of the file with the history, if there is one. For a run that is a file, this is its own name.
    pub(crate) history: Option<String>,
    /// Milliseconds since 1970.
    pub(crate) time_ms: u64,
    pub(crate) length_ns: Option<u64>,
    pub(crate) ops: Option<u64>,
    pub(crate) outcome: Outcome,
    /// Whether its history is compressed and was not read yet, so that the number of ops is unknown.
    #[serde(default)]
    pub(crate) is_unread: bool,
    /// The state of the files that contain this data: if it is unchanged, they need not be read again.
    pub(crate) mark: String,
}

impl Run {
    /// The path of its history below the served directory.
    pub(crate) fn history_path(&self) -> Option<String> {
        match (&self.history, self.is_directory) {
            (Some(name), true) if self.id == "." => Some(name.clone()),
            (Some(name), true) => Some(format!("{}/{name}", self.id)),
            (Some(_), false) => Some(self.id.clone()),
            (None, _) => None,
        }
    }

    /// The time in UTC, as text for people.
    pub(crate) fn time(&self) -> String {
        let text = humantime::format_rfc3339_seconds(at(self.time_ms)).to_string();
        text.replace('T', " ").trim_end_matches('Z').to_owned()
    }

    /// The time as text for programs.
    pub(crate) fn time_rfc3339(&self) -> String {
        humantime::format_rfc3339_millis(at(self.time_ms)).to_string()
    }
}

/// The time, or the last one that can be formatted.
fn at(time_ms: u64) -> SystemTime {
    const YEAR_9999_MS: u64 = 253_370_764_800_000;
    UNIX_EPOCH + Duration::from_millis(time_ms.min(YEAR_9999_MS))
}

/// Milliseconds since 1970; 0 for earlier times.
pub(crate) fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// Parses the time in the name of a Jepsen test's directory: `20260107T093012.123Z`, or with `+0000` at its end.
pub(super) fn named_time(name: &str) -> Option<u64> {
    let (date, rest) = name.split_once('T')?;
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    let time = rest.get(..6).filter(|time| digits(time, 6))?;
    let zone = rest[6..].trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    if !digits(date, 8) || !["Z", "+0000"].contains(&zone) {
        return None;
    }
    let parts = [&date[..4], &date[4..6], &date[6..], &time[..2], &time[2..4], &time[4..]];
    let [year, month, day, hour, minute, second] = parts;
    let text = format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z");
    humantime::parse_rfc3339(&text).ok().map(millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_test_contains_its_time() {
        let time = 1_767_778_212_000;
        assert_eq!(named_time("20260107T093012.123Z"), Some(time));
        assert_eq!(named_time("20260107T093012.000+0000"), Some(time));
        for name in [
            "",
            "T",
            "20260107",
            "20260107T0930",
            "20261307T093012Z",
            "20260107T093012.1X",
            "\u{e4}T\u{e4}\u{e4}\u{e4}",
        ] {
            assert_eq!(named_time(name), None, "{name}");
        }
    }
}
