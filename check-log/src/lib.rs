//! Logs as Kafka, Redpanda and their like keep them: append-only, each message at an offset, read from front to back.
//!
//! [`Kafka`] judges Jepsen's kafka workload: clients send messages to logs and poll them, alone or in transactions. The
//! model: independent logs, one a **key** (a partition of a topic); in each, every **message** has one offset. Messages
//! of a log differ from each other. Offsets may have gaps. A partition that is deleted and made again, with offsets
//! from 0, is not modelled.
//!
//! # What is concluded
//!
//! The **log** of a key is what all ops saw at its offsets: every `[offset message]` of a poll, whatever became of the
//! op, and those of sends that took effect: the op is `ok`; or `info`, and an `ok` op polled something that it sent.
//! Offsets at which nothing was seen are left out, and the others numbered; the difference of two numbers is the
//! distance of two messages. From that, each anomaly by its definition:
//!
//! | anomaly | what it is |
//! |---|---|
//! | `G1a` | an `ok` op polled a message that a failed op sent |
//! | `inconsistent-offsets` | two messages at one offset |
//! | `duplicate` | one message at two offsets |
//! | `precommitted-read` | an op polled what it sent itself |
//! | `phantom-message` | a message was polled that no op sent |
//! | `lost-write` | a message that took effect, not after the last message polled, that no `ok` op polled |
//! | `unseen` | an acknowledged message that no `ok` op polled by the end of the history |
//! | `int-poll-skip`, `int-nonmonotonic-poll` | neighbouring polls of one op are more, or less, than one apart |
//! | `int-send-skip`, `int-nonmonotonic-send` | the same of the sends of one op; the skip is allowed |
//! | `poll-skip`, `nonmonotonic-poll` | the same of the last message of a consumer's poll and the first of its next |
//! | `nonmonotonic-send` | a producer's next message is before its last one |
//! | `G1c`, `G1c-realtime` | a cycle of dependencies: the sender of a message comes before the ops that polled it |
//! | `G0`, `G0-realtime` | with `ww-deps`, a cycle of senders by the order of their messages; allowed |
//!
//! A failed or crashed op has no effect on where its consumer stands: its polls must be taken up again. `:assign` and
//! `:subscribe` end the position in keys that they do not list; `:seek-to-beginning? true`, in all. Keys in an op's
//! `:rebalance-log` may jump within it.
//!
//! What is **observed** is an `ok` op that polled a message, or sent one and says its offset. Without one the verdict
//! is unknown.
//!
//! After `jepsen.tests.kafka` of Jepsen. Where this differs: a poll of a key without messages does not end a consumer's
//! position; a cycle of polls alone is a violation under `ww-deps` too; and a history without any relation between ops
//! is unknown.
//!
//! Time is O(n log n), and linear where messages come in the order of offsets; memory goes by messages, never by
//! offsets.
//!
//! # Features
//!
//! - `parallel`, on by default: cycles of large histories are looked for on several threads, with the same answers.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod analysis;
mod certain;
mod checker;
mod columns;
mod cycle;
mod decode;
mod direct;
mod kafka;
mod lag;
mod logs;
mod loss;
mod order;
mod run;
mod scene;
mod seen;

pub use kafka::Kafka;

/// All checkers of this crate, in the order in which to list them.
pub fn checkers() -> Vec<Box<dyn history_core::Checker>> {
    vec![Box::new(Kafka::default())]
}

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
