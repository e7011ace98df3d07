//! Transactions while the history is being written: the violation at the op that proves it. This is the common part of
//! all workloads; a [`judge::Judge`] defines the meaning of their micro-ops.
//!
//! # What is reported, and when
//!
//! A violation is reported at the first event after which the batch checker, given the history up to it, finds that the
//! requested level is violated; an operation without a completion may have happened. At every level that forbids G1a, a
//! violation by a prefix is permanent. The exception is a read of a value that no invocation has written yet, if a
//! later invocation writes it. With real time, such a read is a cycle, because the reader completed before the
//! invocation. Without real time, the read counts only at the end of the history.
//!
//! # Strict serializability
//!
//! Number the gates: gate `g` follows the completions that precede an invocation. `after(t)` is the last gate before
//! the invocation of `t`. `done(t)` is the first gate after the completion of `t`, or, if that is earlier, the first
//! gate after the completion of a transaction that read a write of `t` (`t` precedes this gate too). It is infinite if
//! there is neither. `floor(t)` is the greatest `after` among `t` and all transactions that lead to it by ww, wr and
//! rw.
//!
//! **There is a cycle if and only if one of ww, wr and rw exists, or `floor(t) >= done(t)` for some `t`.** In the
//! second case, some `s` with `after(s) >= done(t)` leads to `t`, and follows it in real time. Conversely, take a cycle
//! with real-time steps, and among the transactions that such steps lead to, the `s` with the greatest `after`. The
//! data edges from `s` end in a `t` with a real-time step to an `r`, so `done(t) <= after(r) <= after(s) <= floor(t)`.
//!
//! **Only edges between concurrent transactions are kept.** An edge `u -> v` with `done(u) <= after(v)` adds nothing to
//! floors, since `floor(u) < done(u) <= after(v)`. A cycle of data through it has `after(v)` in the floor of `u`. If
//! `done(v) <= after(u)`, it is a violation at once.
//!
//! **Discarding.** Let the **targets** be the transactions to which a later event may add an edge that `done` and
//! `after` do not decide. Only transactions that targets lead to matter, and of those only the ones that a target `v`
//! leads to by way of transactions `t` with `after(t) < done(v)`: `v` may get a greater floor, less than `done(v)`,
//! which passes on to what it leads to. A transaction `t` with `after(t) >= done(v)` already has such a floor, and
//! floors show a cycle through `v` and `t`. All other transactions are discarded: no later event changes their floors
//! or makes them part of a cycle that floors do not show, because a new edge leads to a target, so what it makes
//! reachable was reachable from a target before. The workload defines which transactions are targets.
//!
//! If a level needs an order that is unknown, [a second judge](witness) chooses one; it can prove that a level holds,
//! and never that one does not.
//!
//! Two things are unbounded. An operation that does not complete is given up at a limit: it counts as one that may have
//! happened. Keys that are no longer used are dropped, except for their names, when there are too many values, or too
//! many transactions that are kept because of these keys. The keys that have not been named for the longest time,
//! relative to how often they were named, are dropped first ([`named`]). If an operation was given up, or a dropped key
//! is named again, the verdict is unknown unless a violation is found.
//!
//! # Other levels
//!
//! Other levels are checked in a graph with an edge for every relation, from which nothing is discarded: without real
//! time a read of the first version is possible at any time. But every strict-serializable history satisfies every
//! level here. So strict serializability is checked in addition. When the graph reaches a limit, only strict
//! serializability is checked from then on, as long as it holds.
//!
//! The order of a graph is kept as it grows ([`order`]): Pearce and Kelly (2006). Snapshot isolation has a second node
//! for each transaction, from which rw edges begin and to which none leads: a cycle has no two adjacent rw edges.
//!
//! At read uncommitted, with or without sessions or real time, the whole history may satisfy a level that a prefix
//! violates: if a transaction fails, its writes are no longer between others; if reads disagree, they show no order. A
//! violation is then one of the history up to that op, and its report says so.
//!
//! # Small histories
//!
//! The batch checker gets the first ops too, up to a limit. As long as it has the whole history, its report is used. If
//! this module does not understand an op, the batch checker checks the history so far [again]. Beyond that limit the
//! run immediately reports what will remain unknown ([`open`]).

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

/// Starts a run for the expected levels. It checks event by event if cycles decide the levels and no anomaly is named;
/// otherwise it checks the history so far again each time. `batch` is the run that gets the first ops too, or all of
/// them.
pub(crate) fn start<J: Judge + 'static>(expected: Expected, settings: J::Settings, batch: impl Whole) -> Box<dyn Run> {
    match run::levels::<J>(&expected.models).filter(|_| expected.anomalies.is_empty()) {
        Some(levels) => {
            let beside = Box::new(Again::beside(J::NAME, &expected, batch));
            Box::new(OnlineRun::<J>::new(expected, &levels, settings, SIZES, beside))
        }
        None => Box::new(Again::new(J::NAME, &expected, batch)),
    }
}
