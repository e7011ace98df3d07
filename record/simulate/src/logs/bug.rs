//! The bugs of a store of logs: a table.

use crate::named::named;

/// What a store of logs does wrong.
///
/// A bug names what the store or its clients do, not what a checker must find: a short history may happen to be valid
/// nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum LogBug {
    /// No bug.
    #[default]
    None,
    /// Some ops that fail leave their messages in the log.
    AbortedRead,
    /// Some sends are acknowledged with the offset of the message before.
    InconsistentOffsets,
    /// Some messages are stored twice.
    Duplicate,
    /// Some transactions poll the messages that they send themselves.
    PrecommittedRead,
    /// Some messages in the log were never sent.
    PhantomMessage,
    /// Some messages are acknowledged, but not stored.
    LostWrite,
    /// The history ends before all messages were polled.
    Unseen,
    /// Some polls omit a message in the middle.
    IntPollSkip,
    /// Some polls return two messages in the wrong order.
    IntNonmonotonicPoll,
    /// Some transactions store two messages in the wrong order.
    IntNonmonotonicSend,
    /// Some polls begin one message too late.
    PollSkip,
    /// Some polls begin one message too early.
    NonmonotonicPoll,
    /// Some messages are stored after the next one of their client.
    NonmonotonicSend,
    /// Some messages can be polled before their transaction has committed.
    UncommittedRead,
    /// Some messages can be polled before they are sent.
    EarlyRead,
}

struct Row {
    bug: LogBug,
    name: &'static str,
    summary: &'static str,
    /// The share of operations to which it applies by default.
    rate: f64,
}

const fn row(bug: LogBug, name: &'static str, rate: f64, summary: &'static str) -> Row {
    Row { bug, name, summary, rate }
}

/// One row per bug, in the order of the variants.
const TABLE: [Row; 16] = [
    row(LogBug::None, "none", 0.0, "no bug"),
    row(LogBug::AbortedRead, "aborted-read", 1.0, "messages of failed operations are stored"),
    row(
        LogBug::InconsistentOffsets,
        "inconsistent-offsets",
        0.05,
        "sends are acknowledged with the offset of the message before",
    ),
    row(LogBug::Duplicate, "duplicate", 0.05, "messages are stored twice"),
    row(LogBug::PrecommittedRead, "precommitted-read", 0.2, "transactions poll what they send themselves"),
    row(LogBug::PhantomMessage, "phantom-message", 0.05, "messages that nobody sent are in the log"),
    row(LogBug::LostWrite, "lost-write", 0.05, "messages are acknowledged, but not stored"),
    row(LogBug::Unseen, "unseen", 1.0, "the history ends before everything was polled"),
    row(LogBug::IntPollSkip, "int-poll-skip", 0.2, "polls leave out a message in their middle"),
    row(LogBug::IntNonmonotonicPoll, "int-nonmonotonic-poll", 0.2, "polls show two messages in the wrong order"),
    row(
        LogBug::IntNonmonotonicSend,
        "int-nonmonotonic-send",
        0.2,
        "transactions store their messages in the wrong order",
    ),
    row(LogBug::PollSkip, "poll-skip", 0.1, "polls begin one message too late"),
    row(LogBug::NonmonotonicPoll, "nonmonotonic-poll", 0.1, "polls begin one message too early"),
    row(LogBug::NonmonotonicSend, "nonmonotonic-send", 0.1, "messages are stored after the next one of their client"),
    row(LogBug::UncommittedRead, "uncommitted-read", 0.5, "messages are visible before their transaction commits"),
    row(LogBug::EarlyRead, "early-read", 0.05, "messages are visible before anybody sends them"),
];

named!(LogBug, UnknownLogBug, bug, "bug of logs", "A name that no bug of logs has.", also | _ | None);

impl LogBug {
    /// The share of operations to which it applies by default.
    pub(crate) fn rate(self) -> f64 {
        self.row().rate
    }
}
