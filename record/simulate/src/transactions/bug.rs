//! The bugs of a store: a table.

use super::workload::{Holds, Workload};
use crate::named::named;

/// What the store does wrong.
///
/// A bug names what the store does, not what a checker must find: a short history may happen to be valid nevertheless.
///
/// The bugs include every level of isolation that can be distinguished here. Repeatable read cannot: it forbids the
/// same as serializability, except for predicate reads, which these transactions do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Bug {
    /// No bug: the store is strict serializable.
    #[default]
    None,
    /// Read-only transactions return a past state: serializable, but a client may not observe its own transactions.
    StaleRead,
    /// Read-only transactions return a past state, but none before the last one that their client observed: strong
    /// session serializable.
    SessionStale,
    /// Transactions read a snapshot and fail only if another transaction wrote the same keys: write skew.
    StrongSnapshotIsolation,
    /// As `StrongSnapshotIsolation`, but read-only transactions read a past snapshot, none before the last one that
    /// their client observed.
    SessionSnapshotIsolation,
    /// As `StrongSnapshotIsolation`, but read-only transactions read a past snapshot.
    SnapshotIsolation,
    /// Two sites exchange their transactions late, so that their clients observe them in different orders: parallel
    /// snapshot isolation.
    LongFork,
    /// Transactions read a snapshot, and it is not verified that the keys they write are unchanged.
    LostUpdate,
    /// Every read returns the committed state, and no other transaction writes a key between a transaction's read and
    /// its write of the key.
    CursorStability,
    /// Every read returns the committed state.
    ReadCommitted,
    /// Writes are visible at once, and are removed if their transaction fails: aborted and intermediate reads.
    ReadUncommitted,
    /// Each read lacks some of the last writes to its key, independently of other reads: there is no order any more,
    /// and components of transactions that depend on each other become large.
    StaleKeys,
    /// Some transactions fail only after their writes were visible for a while.
    AbortedRead,
    /// Some transactions are acknowledged, but their last write is not performed.
    DroppedWrite,
    /// The writes of some transactions are performed twice, as if by a retry.
    DuplicateWrite,
    /// Some values are appended before the last element instead of after it. Only for lists: for a register this is the
    /// same as a dropped write.
    ReorderedAppend,
    /// Some transactions do not observe their own writes.
    Internal,
    /// Some transactions are reported as failed, but take effect.
    FalseFail,
    /// Some transactions read values that they write only later.
    FutureRead,
    /// A transaction is performed key by key, with others in between: G0, a cycle of writes alone.
    DirtyWrite,
    /// The first transaction that writes reads a value that only the last one writes. If there are few keys for the
    /// number of transactions, this single read puts nearly all of them into one component: a cycle of writes and of
    /// reads of these writes, as long as the history. The two transactions have one micro-operation more than others,
    /// and both succeed.
    PlantedG1c,
    /// The last transaction does not read the value that the first one that writes wrote. As [`Bug::PlantedG1c`], but
    /// the read that closes the cycle returns a state that was overwritten.
    PlantedGSingle,
}

/// The data of a bug.
#[derive(Clone, Copy)]
struct Row {
    bug: Bug,
    name: &'static str,
    /// The level of isolation that the store provides, if its name differs from that of the bug.
    level: Option<&'static str>,
    summary: &'static str,
    /// The share of transactions to which it applies by default, from 0 to 1: all of them if the bug is a kind of
    /// isolation, few if it is a single fault.
    rate: f64,
}

const fn row(bug: Bug, name: &'static str, rate: f64, summary: &'static str) -> Row {
    Row { bug, name, level: None, summary, rate }
}

const fn level(level: &'static str, row: Row) -> Row {
    Row { level: Some(level), ..row }
}

/// One row per bug, in the order of the variants.
const TABLE: [Row; 22] = [
    level("strict-serializable", row(Bug::None, "none", 0.0, "no bug")),
    level("serializable", row(Bug::StaleRead, "stale-read", 0.1, "read-only transactions read an old state")),
    level(
        "strong-session-serializable",
        row(Bug::SessionStale, "session-stale", 0.1, "the same, but not older than what their client saw last"),
    ),
    row(
        Bug::StrongSnapshotIsolation,
        "strong-snapshot-isolation",
        1.0,
        "snapshot reads, first committer wins: write skew",
    ),
    row(
        Bug::SessionSnapshotIsolation,
        "strong-session-snapshot-isolation",
        1.0,
        "the same, but read-only transactions as in session-stale",
    ),
    row(Bug::SnapshotIsolation, "snapshot-isolation", 1.0, "the same, but read-only transactions as in stale-read"),
    level(
        "parallel-snapshot-isolation",
        row(Bug::LongFork, "long-fork", 1.0, "two sites see transactions in different orders"),
    ),
    row(Bug::LostUpdate, "lost-update", 1.0, "snapshot reads, but writes overwrite later commits"),
    row(Bug::CursorStability, "cursor-stability", 1.0, "as read-committed, but locks keys that are read to be written"),
    row(Bug::ReadCommitted, "read-committed", 1.0, "every read sees what is committed at that moment"),
    row(Bug::ReadUncommitted, "read-uncommitted", 1.0, "writes are visible at once: aborted and intermediate reads"),
    row(Bug::StaleKeys, "stale-keys", 1.0, "each read misses some of the last writes: no order fits"),
    row(Bug::AbortedRead, "aborted-read", 0.05, "writes of failed transactions are visible for a while"),
    row(Bug::DroppedWrite, "dropped-write", 0.05, "a write is acknowledged, but not applied"),
    row(Bug::DuplicateWrite, "duplicate-write", 0.05, "writes are applied twice, as by a retry"),
    row(Bug::ReorderedAppend, "reordered-append", 0.05, "an append goes before the last element; lists only"),
    row(Bug::Internal, "internal", 0.5, "transactions do not see their own writes"),
    row(Bug::FalseFail, "false-fail", 0.05, "transactions are reported as failed, but take effect"),
    row(Bug::FutureRead, "future-read", 0.5, "transactions read values that they write only later"),
    row(Bug::DirtyWrite, "dirty-write", 1.0, "transactions are applied key by key, interleaved: G0"),
    row(Bug::PlantedG1c, "planted-G1c", 1.0, "an early transaction reads what the last writes: a huge cycle"),
    row(Bug::PlantedGSingle, "planted-G-single", 1.0, "the last misses what an early transaction wrote: a huge cycle"),
];

impl Bug {
    /// The level of isolation that the store provides, if its name differs from that of the bug: `"serializable"`. Can
    /// be parsed like the name.
    pub fn level(self) -> Option<&'static str> {
        self.row().level
    }

    /// The bugs that apply to a workload, [`Bug::None`] first.
    ///
    /// ```
    /// use record_simulate::{Bug, OverLists, OverRegisters};
    ///
    /// assert!(Bug::of::<OverLists>().any(|bug| bug == Bug::ReorderedAppend));
    /// assert!(!Bug::of::<OverRegisters>().any(|bug| bug == Bug::ReorderedAppend));
    /// ```
    pub fn of<W: Workload>() -> impl Iterator<Item = Bug> {
        Bug::ALL.into_iter().filter(|bug| bug.is_of::<W>())
    }

    pub(crate) fn is_of<W: Workload>(self) -> bool {
        W::HOLDS == Holds::Lists || self != Bug::ReorderedAppend
    }

    /// Returns true if it is applied once, to the first and the last transaction, and not to a share of them.
    pub(crate) fn is_planted(self) -> bool {
        matches!(self, Bug::PlantedG1c | Bug::PlantedGSingle)
    }

    /// The default share of transactions that the bug affects, from 0 to 1.
    pub fn default_rate(self) -> f64 {
        self.row().rate
    }
}

named!(Bug, UnknownBug, bug, "bug", "A name that no bug has, and no level of isolation.", also Bug::level);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_parsed_to_its_bug() {
        for bug in Bug::ALL {
            assert_eq!(bug.name().parse(), Ok(bug));
            assert!(bug.level().is_none_or(|level| level.parse() == Ok(bug)), "{bug}");
            assert!(!bug.summary().is_empty() && !bug.summary().ends_with('.'), "{bug}");
        }
    }

    #[test]
    fn the_error_on_an_unknown_name_lists_the_known_ones() {
        let error = "stale".parse::<Bug>().unwrap_err().to_string();
        assert!(
            error.starts_with("stale is not a known bug: expected one of none, stale-read, session-stale, "),
            "{error}"
        );
    }

    #[test]
    fn the_readme_contains_the_table() {
        let level = |bug: Bug| bug.level().map(|level| format!("`{level}`")).unwrap_or_default();
        let rows = Bug::ALL.map(|bug| format!("| `{bug}` | {} | {} |\n", bug.summary(), level(bug)));
        let rows = rows.concat();
        assert!(include_str!("../../README.md").contains(&rows), "the README should contain\n{rows}");
    }
}
