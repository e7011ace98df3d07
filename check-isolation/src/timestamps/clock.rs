//! The clock of a store: its times of starts and commits of transactions, and the moments that follow from these.

use crate::decode::Row;
use history_core::{Fields, OpKind, Value};

/// A time by the clock of a store: a physical and a logical part, as hybrid clocks have them. A plain number has no
/// logical part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp {
    pub(crate) physical: i64,
    pub(crate) logical: i64,
}

/// The timestamps in the completion of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamps {
    pub(crate) start: Option<Stamp>,
    pub(crate) commit: Option<Stamp>,
}

impl Stamps {
    pub(crate) fn is_complete(self) -> bool {
        self.start.is_some() && self.commit.is_some()
    }
}

/// The fields of a completion, as the formats of other checkers have them too.
pub(crate) const START: &str = "start-ts";
pub(crate) const COMMIT: &str = "commit-ts";

/// The fields of an op. Nil means that there is none. For any other value that is not a timestamp, the error is
/// returned.
pub(crate) fn stamps(extra: Fields<'_>) -> Result<Stamps, String> {
    let mut stamps = Stamps::default();
    for (name, value) in extra.iter() {
        let place = match name.as_name() {
            Some(START) => &mut stamps.start,
            Some(COMMIT) => &mut stamps.commit,
            _ => continue,
        };
        if value.is_nil() {
            continue;
        }
        *place = Some(stamp(value).ok_or_else(|| {
            format!("{name} is {value}: expected a timestamp, an integer or [physical logical], such as 17 or [17 0]")
        })?);
    }
    Ok(stamps)
}

fn stamp(value: Value<'_>) -> Option<Stamp> {
    if let Value::Int(physical) = value {
        return Some(Stamp { physical, logical: 0 });
    }
    let mut parts = value.as_seq()?.iter();
    match (parts.next(), parts.next(), parts.next()) {
        (Some(Value::Int(physical)), Some(Value::Int(logical)), None) => Some(Stamp { physical, logical }),
        _ => None,
    }
}

impl std::fmt::Display for Stamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.logical == 0 {
            write!(f, "{}", self.physical)
        } else {
            write!(f, "[{} {}]", self.physical, self.logical)
        }
    }
}

/// What orders transactions by their timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Each reads the state at its start, and its writes are there from its commit on: prefix and snapshot isolation.
    Snapshots,
    /// All of it happens at its commit: serializable.
    Commits,
}

/// A moment: of equal timestamps those of a smaller rank come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    pub(crate) at: Stamp,
    rank: u8,
}

/// When a transaction reads and when its writes take effect. A write is visible to a read exactly if its point is
/// smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Points {
    pub(crate) reads: Point,
    /// That of a transaction that writes nothing is when it is over.
    pub(crate) writes: Point,
    /// Whether it reads and writes at one timestamp.
    pub(crate) is_instant: bool,
}

/// The points of a transaction; none if it does not say when it started or committed. One that writes nothing needs one
/// timestamp: its start says what it sees.
pub(crate) fn points(order: Order, stamps: Stamps, is_writer: bool) -> Option<Points> {
    const READ_BEFORE: u8 = 0;
    const COMMIT: u8 = 1;
    const READ_AT_ONCE: u8 = 2;
    const COMMIT_AT_ONCE: u8 = 3;
    const READ_AFTER: u8 = 4;
    let (start, commit) = (stamps.start, stamps.commit);
    let at = |at: Stamp, rank: u8| Point { at, rank };
    if !is_writer {
        let reads = match order {
            Order::Snapshots => start.or(commit),
            Order::Commits => commit.or(start),
        }?;
        let over = commit.or(start)?;
        return Some(Points { reads: at(reads, READ_AFTER), writes: at(over, READ_AFTER), is_instant: false });
    }
    let commit = commit?;
    Some(match order {
        Order::Commits => Points { reads: at(commit, READ_BEFORE), writes: at(commit, COMMIT), is_instant: true },
        Order::Snapshots => {
            let start = start?;
            let is_instant = start == commit;
            let (read, write) = if is_instant { (READ_AT_ONCE, COMMIT_AT_ONCE) } else { (READ_AFTER, COMMIT) };
            Points { reads: at(start, read), writes: at(commit, write), is_instant }
        }
    })
}

/// A row with its timestamps in hand: what the other modules work on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    pub(crate) row: Row,
    pub(crate) points: Points,
    pub(crate) is_writer: bool,
    pub(crate) kind: OpKind,
}
