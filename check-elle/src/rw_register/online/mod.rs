//! rw-register while the history is being written: which edges and anomalies an event adds, and what may be discarded
//! if versions and transactions follow real time. See [`crate::txn::online`] for what is reported, and when.
//!
//! # When a version comes before another
//!
//! - The initial version precedes every other one, as soon as that one is known.
//! - Writes follow reads: as soon as the transaction that read the one and wrote the other is `ok`.
//! - Sequential keys: as soon as a transaction is `ok` whose first version is the later one, if the earlier one was the
//!   last version of an earlier transaction of its process. (If a transaction writes a key before it reads it, its
//!   first version is known at its invocation.)
//! - Linearizable keys: `since` of a version is the first gate after a completion of a transaction whose last version
//!   it was; `until`, the last gate before the invocation of a transaction whose first version it was. `v` precedes `w`
//!   if `since(v) <= until(w)`. A completion has a greater gate than all invocations before it, so only a greater
//!   `until` adds pairs.
//!
//! All transactions that wrote or read `v` lead to the writer of `w`. A cycle of versions is a violation at each level
//! here. While a transaction is open that reads a key before it writes it, its first version is unknown, so it is not
//! assumed to be its write. (A transaction that reads this write meanwhile has its own edge.)
//!
//! # Which orders may stay unknown
//!
//! **If the edges close no cycle, a history satisfies a level at which all rw edges count, or none, although two
//! versions of a key are in no known order, if no other transaction read either.** Put the transactions in an order
//! that agrees with the edges. Suppose that `r` read `v`, and that the writer of another version `u` is between the
//! writer of `v` and `r`. As `v` was read, the two are in a known order. If `u` comes first, its writer leads to that
//! of `v`; otherwise `r` leads to the writer of `u`. Either contradicts the order. (If no two rw edges may be adjacent,
//! the graph has two nodes for each transaction, and an order of the nodes is not one of the transactions.)
//!
//! # Choices
//!
//! If a version would be discarded whose order is needed and unknown, a second judge starts that chooses an order
//! ([`crate::txn::online::witness`]): between versions that are both dead, or have been the last ones for long. It
//! chooses an order that closes no cycle, and if neither does, the one that leaves readers more time. Its choices are a
//! source of versions like the others, so that discarded versions add nothing in this judge either: edges lead to
//! writers of remaining versions, which are targets. If it ends with all versions in order and no cycle, the history
//! satisfies strict serializability.
//!
//! Its order need not agree with a source, so for it a version exists as soon as its transaction is over, even if that
//! is known only because another write of the transaction was read.
//!
//! # Discarding
//!
//! Linearizable keys bound memory. Every open and every later transaction follows the horizon, a gate. Let `S` be the
//! versions of a key with `since` up to the horizon.
//!
//! **A version `v` in `S` is dead if a version `u` in `S`, written by some transaction, follows it.** A later reader of
//! `v` has it as its first version after the horizon, so `u` precedes `v`: a cycle. And `u` is known to precede, or to
//! be, every version that turns out to follow `v`, at the same event: `v` adds nothing. So only the value of a dead
//! version is kept.
//!
//! A version that is not known to exist when `v` is discarded follows `v`. Its writer is open, or crashed and was not
//! read: every transaction to which it will lead was invoked after the horizon, after the writer of `u`, and all
//! readers and writers of `v` lead there.
//!
//! **Targets** (see there): transactions that are open or have `done` after the horizon, and the writers of all
//! versions of a key that has two or more left. If a key has one left, `w` in `S`, the edges to its writer come from
//! transactions whose first version is another. If this version is dead, it is a violation. Otherwise its writer was
//! invoked after `since(w)`, and so after `done` of the writer of `w`.
//!
//! When the readers and writers of a version are discarded, the version keeps their greatest floor: it is final, and
//! transactions to which they lead later get it.
//!
//! The values of dead versions are ranges of integers. If these are too many, adjacent ranges are merged. A value in a
//! gap between them that was not dead was never written, or is written later: such a write counts as a repetition.

mod choice;
mod forget;
mod judge;
mod order;
mod registers;
mod settle;
#[cfg(test)]
mod tests;

mod within;
mod write;

use crate::txn::expected::Expected;
use crate::txn::online;
use crate::txn::online::Whole;
use history_core::Run;
pub(super) use judge::Assumed;
use judge::RegisterJudge;

/// Starts a run for the expected levels: see [`online::start`].
pub(super) fn start(expected: Expected, assumed: Assumed, batch: impl Whole) -> Box<dyn Run> {
    online::start::<RegisterJudge>(expected, assumed, batch)
}
