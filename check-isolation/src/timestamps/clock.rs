//! The clock of a store: its times of starts and commits of transactions, and the moments that follow from these.

use crate::decode::Row;
use history_core::{Fields, OpKind, Value};

/// A time of the store's clock: a physical and a logical part, as in hybrid clocks. A plain number has no logical part.
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

/// The fields of a completion, with the names that formats of other checkers use.
pub(crate) const START: &str = "start-ts";
pub(crate) const COMMIT: &str = "commit-ts";

/// The timestamps among the fields of an op. Nil means that there is none. Returns an error for any other value that is
/// not a timestamp.
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

/// How timestamps order transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Each reads the state at its start, and its writes take effect at its commit: prefix and snapshot isolation.
    Snapshots,
    /// All reads and writes take effect at its commit: serializable.
    Commits,
}

/// A moment: of equal timestamps, the one with the smaller rank comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    pub(crate) at: Stamp,
    rank: u8,
}

/// The moments at which a transaction reads and at which its writes take effect. A write is visible to a read exactly
/// if its point is smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Points {
    pub(crate) reads: Point,
    /// For a transaction that writes nothing, its end.
    pub(crate) writes: Point,
    /// Whether it reads and writes at one timestamp.
    pub(crate) is_instant: bool,
}

/// The points of a transaction; `None` if a timestamp that it needs is missing. A transaction that writes nothing needs
/// only one timestamp: its start determines what it reads.
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

/// A row with its timestamps: the input of the other modules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    pub(crate) row: Row,
    pub(crate) points: Points,
    pub(crate) is_writer: bool,
    pub(crate) kind: OpKind,
}
