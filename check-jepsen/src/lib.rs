//! The workloads that Jepsen's users run, such as bank and counter, one per module.
//!
//! Each is a fold over the ops of a history that keeps as little data as possible. The options of each are a
//! [`Checker`](history_core::Checker): [`check`](history_core::Checker::check) checks a history in memory, and
//! [`start`](history_core::Checker::start) begins a run for one that a [`Reader`](history_core::Reader) streams.
//!
//! Common rules:
//!
//! - Ops of the nemesis, and ops whose `:f` does not belong to the workload, are ignored. The latter are counted, and a
//!   note names them if they are many ([`Coverage`](history_core::Coverage)).
//! - The verdict is unknown if a history contains nothing that the workload understands, or nothing that it observes:
//!   the `ok` ops whose results it compares with what must hold. Each module names these.
//! - The value of a completion that has none is that of its invocation.
//! - An op that cannot be read makes the verdict unknown, unless the other ops are invalid anyway. A note names the op
//!   and the reason.
//! - While a history is still being written, a violation is reported at the op that proves it, whatever follows
//!   ([`Run::is_violated`](history_core::Run::is_violated)): all results of `adya-g2`, `bank`, `causal`, `counter`,
//!   `comments`, `sequential`, `queue` and `unique-ids`, two reads that fork, a duplicate element in a read of
//!   `set-full`, or a late one although it must be linearizable. The rest is known at the end.
//! - The witnesses of an anomaly are the first, the last and the worst of its kind.
//!
//! There are no features to choose.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod elements;
mod fold;
mod intervals;
mod quantiles;
mod witness;
mod workloads;

pub use workloads::{
    adya_g2, bank, causal, comments, counter, final_counter, long_fork, queue, sequential, set, set_full, stats,
    total_queue, unhandled_exceptions, unique_ids,
};

/// All checkers of this crate, in the order of lists.
pub fn checkers() -> Vec<Box<dyn history_core::Checker>> {
    vec![
        Box::new(bank::Bank::default()),
        Box::new(counter::Counter::default()),
        Box::new(final_counter::FinalCounter::default()),
        Box::new(final_counter::FinalCounter::G_COUNTER),
        Box::new(set_full::SetFull::default()),
        Box::new(set::Set::default()),
        Box::new(long_fork::LongFork::default()),
        Box::new(comments::Comments::default()),
        Box::new(comments::CausalReverse::default()),
        Box::new(causal::Causal::default()),
        Box::new(adya_g2::AdyaG2::default()),
        Box::new(sequential::Sequential::default()),
        Box::new(queue::Queue::default()),
        Box::new(total_queue::TotalQueue::default()),
        Box::new(unique_ids::UniqueIds::default()),
        Box::new(stats::Stats::default()),
        Box::new(unhandled_exceptions::UnhandledExceptions::default()),
    ]
}

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
