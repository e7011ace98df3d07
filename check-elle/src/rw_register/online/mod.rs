//! rw-register while the history is being written: which edges and anomalies an event adds, and what may be discarded
//! if versions and transactions follow real time. See [`crate::txn::online`] for what is reported, and when.
//!
//! # When a version comes before another
//!
//! - The initial one comes before each other one, once that is mentioned.
//! - Writes follow reads: when the transaction that read the one and wrote the other is `ok`.
//! - Sequential keys: when a transaction is `ok` that had the one first, and an earlier one of its process had the
//!   other last. (What it writes before it reads is known to come first when it is invoked.)
//! - Linearizable keys: `since` of a version is the first gate after a completion that had it last; `until`, the last
//!   gate before the invocation of a transaction that had it first. `v` comes before `w` if `since(v) <= until(w)`. A
//!   completion has a greater gate than all invocations before it, so new pairs come from a greater `until` alone.
//!
//! All who had `v`, by writing or by reading it, lead to the writer of `w`. A cycle of versions is a violation at each
//! level here. While a transaction is open that reads a key before it writes it, it is not said to have its write
//! first: nobody knows what it read. (Whoever reads that write meanwhile says so for himself.)
//!
//! # Which orders need not be known
//!
//! **If the edges close no cycle, a history obeys a level at which all rw edges count, or none, although two versions
//! of a key are in no known order, if no other transaction read either.** Put the transactions in an order that agrees
//! with the edges. Suppose that `r` read `v`, and that the writer of another version `u` stands between the writer of
//! `v` and `r`. As `v` was read, the two are in a known order. If `u` comes first, its writer leads to that of `v`;
//! otherwise `r` leads to the writer of `u`. Either contradicts the order. (Where no two rw edges may be adjacent, the
//! graph has two nodes for each transaction, and an order of these is none of transactions.)
//!
//! # Choices
//!
//! Where a version would be forgotten whose order is needed and not known, a second judge begins that chooses one
//! ([`crate::txn::online::witness`]): between versions that are both dead, or have been the last ones for long. It
//! takes what closes no cycle, and if neither order does, the one that leaves readers more time. What it chooses is a
//! source of versions like the others, so that what is forgotten adds nothing there either: edges lead to writers of
//! versions that are left, which are targets. If it ends with all versions in order and no cycle, the history obeys
//! strict serializability.
//!
//! As it need not agree with what a source says, a version is there, to it, as soon as its transaction is over: also if
//! that is known from what someone read of it elsewhere.
//!
//! # Forgetting
//!
//! Linearizable keys bound memory. Every open and every later transaction follows the horizon, a gate. Let `S` be the
//! versions of a key with `since` up to there.
//!
//! **A version `v` in `S` is dead if a version `u` in `S`, written by someone, comes after it.** Whoever reads `v` from
//! here on has it first behind the horizon, so `u` comes before `v`: a cycle. And of whatever comes after `v` from here
//! on, `u` is known to come before it, or to be it, at the same event: `v` adds nothing. So of a dead version its value
//! is kept, and nothing else.
//!
//! A version that is not known to be there when `v` goes comes after it. Its writer is open, or it crashed and nobody
//! read of it: whoever it leads to from here on was invoked behind the horizon, after the writer of `u`, and whoever
//! had `v` leads there.
//!
//! **Targets** (see there): transactions that are open or with `done` behind the horizon, and the writers of all
//! versions of a key that has two or more left. If a key has one left, `w` in `S`, the edges to its writer come from
//! who had another version first. If that is dead, it is a violation. Otherwise its writer was invoked behind
//! `since(w)`, and so behind `done` of the writer of `w`.
//!
//! Of those who had a version and are forgotten, the greatest floor stays with the version: it is final, and what they
//! lead to later gets it.
//!
//! The values of dead versions are ranges of integers. Where these are too many, neighbours are merged. A value in the
//! gap that was not dead was never written, or is written later: such a write counts as a repetition.

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

/// Starts a run of what is expected: see [`online::start`].
pub(super) fn start(expected: Expected, assumed: Assumed, batch: impl Whole) -> Box<dyn Run> {
    online::start::<RegisterJudge>(expected, assumed, batch)
}
