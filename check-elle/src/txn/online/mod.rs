//! Transactions while the history is being written: the violation at the op that proves it. This is the common part of
//! all workloads; a [`judge::Judge`] defines the meaning of their micro-ops.
//!
//! # What is reported, and when
//!
//! A violation is reported at the first event after which the batch checker, given the history up to it, finds that the
//! requested level is violated; an operation without a completion may have happened. At every level that forbids G1a a
//! violation by a prefix is permanent, except for a read of a value that was not yet written, if an invocation writes
//! it later: with real time, that is a cycle, because the reader completed before. Without, it counts at the end.
//!
//! # Strict serializability
//!
//! Number the gates: gate `g` stands after the completions that precede an invocation. `after(t)` is the last gate
//! before the invocation of `t`; `done(t)` is the first gate after its completion, or after that of a transaction that
//! read a write of it if that is earlier (which it precedes), and infinite if there is neither. `floor(t)` is the
//! greatest `after` among `t` and what leads to it by ww, wr and rw.
//!
//! **There is a cycle if and only if one of ww, wr and rw exists, or `floor(t) >= done(t)` for some `t`.** If the
//! latter, some `s` with `after(s) >= done(t)` leads to `t`, and follows it in real time. Conversely, take a cycle with
//! steps of real time, and among the transactions that such steps lead to the `s` with the greatest `after`. The data
//! edges from `s` end in a `t` with a step of real time to an `r`, so `done(t) <= after(r) <= after(s) <= floor(t)`.
//!
//! **Only edges between concurrent transactions are kept.** An edge `u -> v` with `done(u) <= after(v)` adds nothing to
//! floors, since `floor(u) < done(u) <= after(v)`. A cycle of data through it has `after(v)` in the floor of `u`. If
//! `done(v) <= after(u)`, it is a violation at once.
//!
//! **Forgetting.** Let the **targets** be the transactions to which a later event may lead by an edge that `done` and
//! `after` do not answer. What matters is what targets lead to, and of that, what a target `v` leads to by way of
//! transactions `t` with `after(t) < done(v)`: `v` may get a greater floor, less than `done(v)`, which passes on to
//! what it leads to. A transaction `t` with `after(t) >= done(v)` has that already, and a cycle through `v` and `t`
//! shows in floors. All others are forgotten: no later event changes their floors or makes them part of a cycle that
//! floors do not show. For, a new edge leads to a target, so what it makes reachable was reachable from a target
//! before. Which transactions are targets is the workload's.
//!
//! If a level needs an order that is unknown, [a second judge](witness) chooses one; it can prove that a level holds,
//! and never that one does not.
//!
//! Unbounded are: an operation that does not complete, which is given up at a limit (it counts as one that may have
//! happened); and keys that are no longer used, of which all but the names are dropped when there are many values, or
//! the transactions that are kept because of them: first the keys that have not been named for long relative to how
//! often they were named ([`named`]). The verdict is then unknown unless a violation is found: if an operation was
//! given up, or a key is named again after it was dropped.
//!
//! # Other levels
//!
//! Other levels are checked in a graph with an edge for everything, from which nothing is discarded: without real time
//! a read of the first version is possible at any time. But every strict-serializable history satisfies every level
//! here. So strict serializability is checked in addition, and when the graph reaches a limit, it alone is checked, as
//! long as it holds.
//!
//! The order of a graph is kept as it grows ([`order`]): Pearce and Kelly (2006). Snapshot isolation has a second node
//! for each transaction, from which rw edges begin and to which none leads: a cycle has no two adjacent rw edges.
//!
//! At read uncommitted, with or without sessions or real time, the whole may satisfy what a prefix violates: if a
//! transaction fails, its writes are no longer between others; if reads disagree, they show no order. A violation then
//! is one of the history up to that op, as its report states.
//!
//! # Small histories
//!
//! The batch checker gets the first ops too, up to a limit. As long as it has the whole history, the report is its own,
//! and if an op is not understood here, it checks the history so far [again]. Beyond that limit the run immediately
//! reports what will remain unknown ([`open`]).

mod again;
pub(crate) mod decode;
pub(crate) mod judge;
pub(crate) mod limits;
pub(crate) mod named;
mod open;
pub(crate) mod order;
pub(crate) mod ranges;
mod report;
pub(crate) mod run;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod time;
pub(crate) mod witness;

use super::expected::Expected;
use again::Again;
pub(crate) use again::Whole;
use history_core::Run;
use judge::Judge;
use limits::Limits;
use run::{OnlineRun, Sizes};

/// The limits of a run.
const SIZES: Sizes = Sizes {
    forgetting: Limits { txns: 100_000, values: 200_000, idle: 100_000, values_max: 2_000_000, pause: 2_048 },
    batch_ops: 100_000,
    whole: 200_000,
    names: 1_000_000,
};

/// Starts a run of what is expected: event by event, if cycles decide the levels and no anomaly is named; else by
/// judging the history so far again. `batch` is the run that gets the first ops too, or all of them.
pub(crate) fn start<J: Judge + 'static>(expected: Expected, settings: J::Settings, batch: impl Whole) -> Box<dyn Run> {
    match run::levels::<J>(&expected.models).filter(|_| expected.anomalies.is_empty()) {
        Some(levels) => {
            let beside = Box::new(Again::beside(J::NAME, &expected, batch));
            Box::new(OnlineRun::<J>::new(expected, &levels, settings, SIZES, beside))
        }
        None => Box::new(Again::new(J::NAME, &expected, batch)),
    }
}
