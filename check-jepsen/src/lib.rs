//! The workloads that Jepsen's users run, one a module: bank and its kin.
//!
//! Each is a fold over the ops of a history that keeps as little as can answer. The options of each are a
//! [`Checker`](history_core::Checker): [`check`](history_core::Checker::check) takes a history in memory, and
//! [`start`](history_core::Checker::start) begins a run for one that a [`Reader`](history_core::Reader) streams.
//!
//! What they have in common:
//!
//! - Ops of the nemesis, and ops whose `:f` is none of the workload's, are ignored. The latter are counted, and a note
//!   names them where they are many ([`Coverage`](history_core::Coverage)).
//! - The verdict is unknown if a history holds nothing that the workload understands, or nothing that it observes: the
//!   `ok` ops whose answers it compares with what must hold. Each module says which these are.
//! - The value of a completion that has none is that of its invocation.
//! - An op that cannot be read makes the verdict unknown, unless what the others say is invalid nevertheless. A note
//!   says which op it was, and why.
//! - While a history is still being written, a violation is known at the op that proves it, whatever comes next
//!   ([`Run::is_violated`](history_core::Run::is_violated)): everything that `adya-g2`, `bank`, `causal`,
//!   `counter`, `comments`, `sequential`, `queue` and `unique-ids` find, two reads that fork, an element twice in one
//!   read of `set-full`, or
//!   late although it must be linearizable. The rest is known at the end.
//! - Anomalies come with the first, the last and the worst of each kind as witnesses.
//!
//! There are no features to choose.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod adya_g2;
pub mod bank;
pub mod causal;
pub mod comments;
pub mod counter;
mod elements;
pub mod final_counter;
mod fold;
mod intervals;
pub mod long_fork;
mod pq_tree;
mod quantiles;
pub mod queue;
mod rows;
pub mod sequential;
pub mod set;
pub mod set_full;
pub mod stats;
pub mod total_queue;
pub mod unhandled_exceptions;
pub mod unique_ids;
mod witness;

/// All checkers of this crate, in the order in which to list them.
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
