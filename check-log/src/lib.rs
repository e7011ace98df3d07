//! Logs like those of Kafka and Redpanda: append-only, with each message at an offset, read from front to back.
//!
//! [`Kafka`] checks Jepsen's kafka workload: clients send messages to logs and poll them, alone or in transactions. The
//! model consists of independent logs, one for each **key** (a partition of a topic). In a log, every **message** has
//! one offset, and all messages differ. Offsets may have gaps. A partition that is deleted and created again, with
//! offsets from 0, is not modelled.
//!
//! # Definitions
//!
//! The **log** of a key consists of the messages that ops showed at its offsets: every `[offset message]` of a poll,
//! whatever the outcome of the op, and those of sends that took effect. A send took effect if its op is `ok`, or if the
//! op is `info` and an `ok` op polled one of its messages. Offsets at which no message was seen are omitted, and the
//! others are numbered; the difference of two numbers is the distance of two messages. Each anomaly is defined by
//! these:
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
//! A failed or crashed op does not change the position of its consumer: the next poll must return the same messages
//! again. `:assign` and `:subscribe` end the position in keys that they do not list; `:seek-to-beginning? true` ends it
//! in all keys. Polls of keys in an op's `:rebalance-log` may jump within the op.
//!
//! An op is **observed** if it is an `ok` op that polled a message, or sent one and records its offset. Without an
//! observed op the verdict is unknown.
//!
//! The definitions follow `jepsen.tests.kafka` of Jepsen, with three differences: a poll of a key without messages does
//! not end a consumer's position; a cycle of polls alone is a violation under `ww-deps` too; and the verdict on a
//! history without any relation between ops is unknown.
//!
//! Time is O(n log n), and linear if messages are in the order of offsets. Memory depends on the number of messages,
//! not on offsets.
//!
//! # Features
//!
//! - `parallel`, on by default: cycles of large histories are searched on several threads, with the same results.

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

/// All checkers of this crate, in the order of listings.
pub fn checkers() -> Vec<Box<dyn history_core::Checker>> {
    vec![Box::new(Kafka::default())]
}

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
