//! Figures of a report: what to show, as data. Whoever shows a report draws them.

mod window;

pub use window::{Window, window};

use crate::{Client, Datum, OpKind, Step as Relation, Witness, WitnessOp};

/// Transactions of a graph, at most. More would be unreadable, and layout would take long.
pub const TXNS_MAX: usize = 120;

/// Steps of a graph, at most.
pub const STEPS_MAX: usize = 600;

/// Bars of a timeline, at most.
pub const BARS_MAX: usize = 100_000;

/// Lines of a series, at most.
pub const LINES_MAX: usize = 12;

/// Points of a line, at most.
pub const POINTS_MAX: usize = 2000;

/// Offsets of a part of a log, at most.
pub const OFFSETS_MAX: usize = 16;

/// Ops beside a part of a log, at most.
pub const LOG_ROWS_MAX: usize = 16;

/// Orders of a timeline, at most.
pub const ORDERS_MAX: usize = 32;

/// A picture for the reader of a report, before it is drawn.
///
/// A [`Witness`] with steps has all that a figure of its cycle has: whoever shows a report without any figures draws
/// these.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What its file is called, relative to the directory that was asked for, without an extension: `"sccs/0"`.
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
        /// Stands above the picture, if it is not empty.
        title: String,
        /// The transactions.
        ops: Vec<WitnessOp>,
        /// The relations: no more than [`STEPS_MAX`] between no more than [`TXNS_MAX`].
        steps: Vec<Relation>,
    },
    /// All reads of one key side by side.
    Reads {
        /// Stands above the picture, if it is not empty.
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
    /// Nothing, because there would be too much to see: a sentence.
    TooLarge(String),
}

/// Some offsets of a log, and which messages ops sent and polled there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LogPart {
    /// Stands above the picture.
    pub title: String,
    /// The offsets at which something is known to stand, ascending: no more than [`OFFSETS_MAX`].
    pub offsets: Vec<i64>,
    /// The ops: no more than [`LOG_ROWS_MAX`].
    pub rows: Vec<LogRow>,
}

/// What an op sent to a part of a log, and polled from it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LogRow {
    /// Which op: `"T1: poll by process 3, index 7"`.
    pub name: String,
    /// What it ended with.
    pub kind: OpKind,
    /// Its messages at the offsets of the picture.
    pub cells: Vec<LogCell>,
}

/// A message at an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LogCell {
    /// Where it stands, as the op shows it.
    pub offset: i64,
    /// The op sent it; else it polled it.
    pub is_sent: bool,
    /// The message.
    pub message: String,
}

/// Numbers over time, to be drawn as lines over one axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Series {
    /// Stands above the picture.
    pub title: String,
    /// What the numbers are.
    pub unit: Unit,
    /// The lines: no more than [`LINES_MAX`].
    pub lines: Vec<Line>,
}

/// What the numbers of a [`Series`] are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Unit {
    /// So many of something.
    #[default]
    Count,
    /// Times in nanoseconds.
    Nanoseconds,
}

/// A line of a [`Series`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Line {
    /// What it is of, in a few letters.
    pub name: String,
    /// Times in nanoseconds, ascending, and the number at each: no more than [`POINTS_MAX`].
    pub points: Vec<(i64, i64)>,
}

/// One op's read of a key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyRead {
    /// The op's index.
    pub index: u64,
    /// Its process, if the history says.
    pub process: Option<Client>,
    /// What the op says.
    pub kind: OpKind,
    /// What it read.
    pub list: Vec<Datum>,
}

/// A history, or a part of it, with a row for each process and a bar for each operation.
///
/// All texts may hold anything: whoever draws them makes them safe, and shortens them if they are long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timeline {
    /// Stands above the page: `"history.edn: key 7 is not linearizable"`.
    pub title: String,
    /// The key that all operations are of, if they are of one: `"key 7"`. The front end shows such timelines side by
    /// side as well.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub key: Option<String>,
    /// The verdict and why, in a sentence or three.
    pub summary: String,
    /// What the numbers of bars mean.
    pub scale: Scale,
    /// The first and the last number to show; where it is absent, those of all bars. A bar that began long ago is cut
    /// here.
    pub extent: Option<(i64, i64)>,
    /// The names of the rows, from top to bottom: `"process 3"`.
    pub rows: Vec<String>,
    /// Operations, in any order. No more than [`BARS_MAX`].
    pub bars: Vec<Bar>,
    /// Linearizations for the reader to choose from, the best one first; none if there is nothing to order. No more
    /// than [`ORDERS_MAX`].
    pub orders: Vec<Order>,
    /// What the reader has to know in addition to the verdict: what was omitted from the page.
    pub note: Option<String>,
}

/// What the starts and ends of bars are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Scale {
    /// Times in nanoseconds.
    #[default]
    Nanoseconds,
    /// Positions in the history, where it has no times or they do not decide.
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
    /// When it took effect at the latest: its completion. Absent if it may still do so; it is then drawn to the edge,
    /// fading.
    pub end: Option<i64>,
    /// What it did, in a few letters that fit a bar: `"write 3"`, `"read -> 3"`.
    pub label: String,
    /// What else there is to know of it: `"error: timeout"`. Index, times and row are shown anyway.
    pub detail: String,
    /// What became of it.
    pub status: BarStatus,
}

/// What became of an operation.
///
/// Once a reader has chosen an order, that order distinguishes `Placed` from `Pending`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BarStatus {
    /// It has its place in the order.
    Placed,
    /// It may have happened, and has no place in the order: crashed or still open.
    Pending,
    /// The operation that could not be placed.
    Refused,
    /// It was not looked at: the search ended before it.
    After,
    /// It is known not to have happened.
    Failed,
    /// No operation, but a fault that was on: its time is marked in all rows. Whoever shows the report adds these.
    Fault,
    /// No operation, but an annotation of whoever ran the test. Whoever shows the report adds these.
    Annotation,
}

/// A linearization, or the end of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Order {
    /// Steps that were omitted before the first one of `steps`. Numbers of steps continue from here.
    pub skipped: u64,
    /// Bars that were placed among those left out. They are positions in [`Timeline::bars`].
    pub earlier: Vec<u32>,
    /// The state before the first one of `steps`.
    pub before: String,
    /// One step for each operation placed, in order. No operation is placed twice.
    pub steps: Vec<Step>,
    /// Why the refused operation does not fit after the last step, in a sentence; empty if none is refused.
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
