//! list-append while the history is being written: which edges and anomalies an event adds, and what may be discarded
//! if real-time gates are numbers. See [`crate::txn::online`] for what is reported, and when.
//!
//! At every level that forbids G1a, a violation by a prefix is a violation by the whole history:
//!
//! - A transaction that is open or `info`, and none of whose writes was read, has no outgoing edge, so it is on no
//!   cycle. If a write of it was read and it fails, that is G1a.
//! - An edge to an append that no transaction has read is replaced by a path when the append is placed: ww by ww...ww,
//!   rw by rw ww...ww, or by ww...ww if the next element is the reader's own.
//! - Everything else only grows. A longer list that disagrees is an `incompatible-order`, which implies G1a.
//!
//! At read uncommitted and similar levels, the whole history may satisfy a level that a prefix violates: see
//! [`dispute`].
//!
//! When an append is invoked, all readers and writers of its key have led to a gate, so no edge is needed.
//!
//! Only these transactions are **targets** (see there); edges to others are decided by `done` and `after`, which are
//! stored for every element:
//!
//! - transactions that are open, or with `done` after the invocation of an open one: an edge leads to the transaction
//!   that completes, or from it to the next writer, which is concurrent with it;
//! - writers of unread appends that are concurrent with the writer of another unread append to the key: a read places
//!   them in some order. If `u -> v` is such an edge and `v` is not concurrent with any, it is one of the cases above.

mod direct;
mod dispute;
mod forget;
mod judge;
mod lists;
#[cfg(test)]
mod tests;
mod within;

use crate::txn::expected::Expected;
use crate::txn::online;
use crate::txn::online::Whole;
use crate::txn::online::judge::Rules;
use history_core::Run;
use judge::ListJudge;

/// Starts a run for the expected levels: see [`online::start`].
pub(super) fn start(expected: Expected, batch: impl Whole) -> Box<dyn Run> {
    let rules = Rules::of(&expected);
    online::start::<ListJudge>(expected, rules, batch)
}
