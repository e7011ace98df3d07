//! What a store can do wrong: a table of bugs.

use std::fmt;
use std::str::FromStr;

/// What the store does wrong.
///
/// A bug names what the store does, not what a checker must find: a short history may happen to be valid all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Bug {
    /// Nothing: it is strict serializable.
    #[default]
    None,
    /// Read-only transactions read a past state: serializable, but a client may not see what it did itself.
    StaleRead,
    /// Read-only transactions read a past state, but none before what their client saw last: strong session serializable.
    SessionStale,
    /// Transactions read a snapshot and fail only if another wrote what they write: write skew.
    SnapshotIsolation,
    /// Two sites tell each other late of their transactions, so that their clients see them in different orders: parallel
    /// snapshot isolation.
    LongFork,
    /// Transactions read a snapshot and nobody checks that what they write is still what they read.
    LostUpdate,
    /// Every read sees what is committed by then.
    ReadCommitted,
    /// Appends show at once, and vanish if their transaction fails: aborted and intermediate reads.
    ReadUncommitted,
    /// Some transactions fail only after their appends showed for a while.
    AbortedRead,
    /// Some transactions are acknowledged, though their last append is not done.
    DroppedWrite,
    /// Some transactions' appends are done twice, as if by a retry.
    DuplicateAppend,
    /// Some appends land before the last element instead of behind it.
    ReorderedAppend,
    /// Some transactions do not see their own appends.
    Internal,
    /// Some transactions are said to fail, but happen.
    FalseFail,
    /// Some transactions read what they append only later.
    FutureRead,
    /// A transaction is done key by key, with others in between: G0, a cycle of writes alone.
    DirtyWrite,
}

/// A row for each bug.
struct Row {
    bug: Bug,
    name: &'static str,
    summary: &'static str,
    /// How many of the transactions it applies to, from 0 to 1, unless the user says otherwise: all of them where it is
    /// a way of isolating, few where it is a mishap.
    rate: f64,
}

const fn row(bug: Bug, name: &'static str, rate: f64, summary: &'static str) -> Row {
    Row { bug, name, summary, rate }
}

/// In the order of the variants.
const TABLE: [Row; 16] = [
    row(Bug::None, "none", 0.0, "nothing is wrong: strict serializable"),
    row(Bug::StaleRead, "stale-read", 0.1, "read-only transactions read a past state"),
    row(Bug::SessionStale, "session-stale", 0.1, "the same, but none before what their client saw last"),
    row(Bug::SnapshotIsolation, "snapshot-isolation", 1.0, "snapshot reads, first committer wins: write skew"),
    row(Bug::LongFork, "long-fork", 1.0, "two sites see transactions in different orders"),
    row(Bug::LostUpdate, "lost-update", 1.0, "snapshot reads, and writes on top of whatever came since"),
    row(Bug::ReadCommitted, "read-committed", 1.0, "every read sees what is committed by then"),
    row(Bug::ReadUncommitted, "read-uncommitted", 1.0, "appends show at once: aborted and intermediate reads"),
    row(Bug::AbortedRead, "aborted-read", 0.05, "appends of transactions that fail show for a while"),
    row(Bug::DroppedWrite, "dropped-write", 0.05, "an append is acknowledged, but not done"),
    row(Bug::DuplicateAppend, "duplicate-append", 0.05, "appends are done twice, as if by a retry"),
    row(Bug::ReorderedAppend, "reordered-append", 0.05, "an append lands before the last element"),
    row(Bug::Internal, "internal", 0.5, "transactions do not see their own appends"),
    row(Bug::FalseFail, "false-fail", 0.05, "transactions are said to fail, but happen"),
    row(Bug::FutureRead, "future-read", 0.5, "transactions read what they append only later"),
    row(Bug::DirtyWrite, "dirty-write", 1.0, "transactions are done key by key, others in between: G0"),
];

impl Bug {
    /// All of them, [`Bug::None`] first.
    pub const ALL: [Bug; TABLE.len()] = {
        let mut all = [Bug::None; TABLE.len()];
        let mut i = 0;
        while i < all.len() {
            assert!(TABLE[i].bug as usize == i);
            all[i] = TABLE[i].bug;
            i += 1;
        }
        all
    };

    /// As on command lines: `"stale-read"`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What the store does, in one line without a period.
    pub fn summary(self) -> &'static str {
        self.row().summary
    }

    /// How many of the transactions it applies to, from 0 to 1, unless told otherwise.
    pub fn default_rate(self) -> f64 {
        self.row().rate
    }

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

impl fmt::Display for Bug {
    /// Writes its name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no bug has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownBug(String);

impl fmt::Display for UnknownBug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is no bug; there are {}", self.0, Bug::ALL.map(Bug::name).join(", "))
    }
}

impl std::error::Error for UnknownBug {}

impl FromStr for Bug {
    type Err = UnknownBug;

    /// The bug of this name.
    fn from_str(name: &str) -> Result<Bug, UnknownBug> {
        Bug::ALL.into_iter().find(|bug| bug.name() == name).ok_or_else(|| UnknownBug(name.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_bug() {
        for bug in Bug::ALL {
            assert_eq!(bug.name().parse(), Ok(bug));
            assert!(!bug.summary().is_empty() && !bug.summary().ends_with('.'), "{bug}");
        }
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        let error = "stale".parse::<Bug>().unwrap_err().to_string();
        assert!(error.starts_with("stale is no bug; there are none, stale-read, session-stale, "), "{error}");
    }

    #[test]
    fn the_readme_has_the_table() {
        let rows = Bug::ALL.map(|bug| format!("| `{bug}` | {} |\n", bug.summary())).concat();
        assert!(include_str!("../README.md").contains(&rows), "the README should have\n{rows}");
    }
}
