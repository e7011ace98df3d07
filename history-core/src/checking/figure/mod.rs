//! Figures of a report: what to show, as data. The program that shows the report draws them.

mod window;

pub use window::{Window, window};

use crate::{Client, Datum, OpKind, Step as Relation, Witness, WitnessOp};

/// The maximum number of transactions in a graph. More would be unreadable, and their layout would take long.
pub const TXNS_MAX: usize = 120;

/// The maximum number of steps in a graph.
pub const STEPS_MAX: usize = 600;

/// The maximum number of bars in a timeline.
pub const BARS_MAX: usize = 100_000;

/// The maximum number of lines in a series.
pub const LINES_MAX: usize = 12;

/// The maximum number of points in a line.
pub const POINTS_MAX: usize = 2000;

/// The maximum number of offsets in a part of a log.
pub const OFFSETS_MAX: usize = 16;

/// The maximum number of ops beside a part of a log.
pub const LOG_ROWS_MAX: usize = 16;

/// The maximum number of orders in a timeline.
pub const ORDERS_MAX: usize = 32;

/// A picture for the reader of a report, before it is drawn.
///
/// A [`Witness`] with steps has all data of a figure of its cycle: a program that shows a report without figures draws
/// these.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The name of its file, relative to the output directory, without an extension: `"sccs/0"`.
    pub name: String,
    /// What it shows.
    pub content: Content,
}

impl Figure {
    /// The cycle of a witness, as `G1c/0`.
    pub fn of_cycle(anomaly: &str, at: usize, witness: &Witness) -> Figure {
        let (ops, steps) = (witness.ops.clone(), witness.steps.clone());
        let content = Content::Graph { title: format!("{anomaly} #{at}"), ops, steps };
        Figure { name: format!("{anomaly}/{at}"), content }
    }
}

/// What a figure shows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Transactions and the relations between them.
    Graph {
        /// The title above the picture; none if empty.
        title: String,
        /// The transactions.
        ops: Vec<WitnessOp>,
        /// The relations: at most [`STEPS_MAX`] between at most [`TXNS_MAX`] transactions.
        steps: Vec<Relation>,
    },
    /// All reads of one key side by side.
    Reads {
        /// The title above the picture; none if empty.
        title: String,
        /// The key.
        key: Datum,
        /// The reads.
        reads: Vec<KeyRead>,
    },
    /// Operations over time.
    Timeline(Box<Timeline>),
    /// Numbers over time.
    Series(Box<Series>),
    /// A part of a log with offsets.
    Log(Box<LogPart>),
    /// Nothing, because the figure would be too large: a sentence.
    TooLarge(String),
}

/// Some offsets of a log, and the messages that ops sent and polled there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LogPart {
    /// The title above the picture.
    pub title: String,
    /// The offsets with a known message, ascending: at most [`OFFSETS_MAX`].
    pub offsets: Vec<i64>,
    /// The ops: at most [`LOG_ROWS_MAX`].
    pub rows: Vec<LogRow>,
}

/// What an op sent to a part of a log, and polled from it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LogRow {
    /// The op: `"T1: poll by process 3, index 7"`.
    pub name: String,
    /// The outcome of the op.
    pub kind: OpKind,
    /// Its messages at the offsets of the picture.
    pub cells: Vec<LogCell>,
}

/// A message at an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LogCell {
    /// The offset, as the op states it.
    pub offset: i64,
    /// Whether the op sent the message; else it polled it.
    pub is_sent: bool,
    /// The message.
    pub message: String,
}

/// Numbers over time, drawn as lines with a common axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Series {
    /// The title above the picture.
    pub title: String,
    /// What the numbers are.
    pub unit: Unit,
    /// The lines: at most [`LINES_MAX`].
    pub lines: Vec<Line>,
}

/// What the numbers of a [`Series`] are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Unit {
    /// Counts.
    #[default]
    Count,
    /// Times in nanoseconds.
    Nanoseconds,
}

/// A line of a [`Series`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Line {
    /// A short name of what the line shows.
    pub name: String,
    /// Times in nanoseconds, ascending, and the number at each: at most [`POINTS_MAX`].
    pub points: Vec<(i64, i64)>,
}

/// One op's read of a key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyRead {
    /// The op's index.
    pub index: u64,
    /// Its process, if the history has it.
    pub process: Option<Client>,
    /// The op's kind.
    pub kind: OpKind,
    /// What it read.
    pub list: Vec<Datum>,
}

/// A history, or a part of it, with a row for each process and a bar for each operation.
///
/// All texts may contain anything: the program that draws them escapes them, and shortens long ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timeline {
    /// The title above the page: `"history.edn: key 7 is not linearizable"`.
    pub title: String,
    /// The key of all operations, if they have one: `"key 7"`. The front end also shows such timelines side by side.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub key: Option<String>,
    /// The verdict and its reason, in one to three sentences.
    pub summary: String,
    /// What the numbers of the bars are.
    pub scale: Scale,
    /// The first and the last number to show; if absent, those of all bars. A bar that begins earlier is cut off.
    pub extent: Option<(i64, i64)>,
    /// The names of the rows, from top to bottom: `"process 3"`.
    pub rows: Vec<String>,
    /// Operations, in any order. At most [`BARS_MAX`].
    pub bars: Vec<Bar>,
    /// Linearizations from which the reader can choose, the best one first; empty if there is nothing to order. At most
    /// [`ORDERS_MAX`].
    pub orders: Vec<Order>,
    /// A remark in addition to the verdict, such as what was omitted from the page.
    pub note: Option<String>,
}

/// The unit of the starts and ends of bars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Scale {
    /// Times in nanoseconds.
    #[default]
    Nanoseconds,
    /// Positions in the history, if it has no times or they do not determine the result.
    Positions,
}

/// An operation: an invocation with its completion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bar {
    /// A position in [`Timeline::rows`].
    pub row: u32,
    /// The index of its invocation. The reader can jump to it.
    pub index: u64,
    /// The index of its completion, if there is one. The reader can jump to it as well.
    pub completed: Option<u64>,
    /// When it was invoked.
    pub start: i64,
    /// The latest time when it may have taken effect: its completion. Absent if it may still take effect; its bar then
    /// extends to the edge and fades out.
    pub end: Option<i64>,
    /// A short description that fits in a bar: `"write 3"`, `"read -> 3"`.
    pub label: String,
    /// Further details: `"error: timeout"`. Index, times and row are always shown.
    pub detail: String,
    /// The outcome of the operation.
    pub status: BarStatus,
}

/// The outcome of an operation.
///
/// Once the reader chooses an order, that order distinguishes `Placed` from `Pending`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BarStatus {
    /// It has a place in the order.
    Placed,
    /// It may have happened, but has no place in the order: it crashed or is still open.
    Pending,
    /// The operation that could not be placed.
    Refused,
    /// It was not examined: the search ended before it.
    After,
    /// It is known not to have happened.
    Failed,
    /// Not an operation, but an active fault: its time is marked in all rows. The program that shows the report adds
    /// these.
    Fault,
    /// Not an operation, but an annotation by the user who ran the test. The program that shows the report adds these.
    Annotation,
}

/// A linearization, or the end of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Order {
    /// The number of steps omitted before the first of `steps`. The numbers of steps continue from here.
    pub skipped: u64,
    /// The bars among the omitted steps, as positions in [`Timeline::bars`].
    pub earlier: Vec<u32>,
    /// The state before the first one of `steps`.
    pub before: String,
    /// One step for each operation placed, in order. No operation is placed twice.
    pub steps: Vec<Step>,
    /// Why the refused operation is not valid after the last step, in a sentence; empty if none is refused.
    pub refusal: String,
}

/// An operation takes effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Step {
    /// A position in [`Timeline::bars`].
    pub bar: u32,
    /// The state after it.
    pub state: String,
}
