//! Pairing: which completion belongs to which invocation.

use crate::error::{ErrorKind, HistoryError};
use crate::{Op, OpKind, Pair, Position, Process};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// Pairs the ops of one history, fed in order, and refuses those that fit no history.
///
/// A client is single-threaded: it invokes, and then completes, or crashes with `info` and never comes back under its
/// number. A history that begins with a client's completion is taken to hold completions only, as some harnesses write
/// it.
///
/// O(1) an op; memory follows the number of clients.
///
/// ```
/// use history_core::{History, Pair};
///
/// let history = History::parse("{:process 4, :type :invoke} {:process 4, :type :ok}").unwrap();
/// assert_eq!(history.op(1).pair, Pair::Completes { slot: 0, invoked: 0, invoked_time_ns: None });
/// ```
#[derive(Debug, Default)]
pub struct Pairing {
    /// Clients with an op in flight.
    open: FxHashMap<i64, Open>,
    /// Clients that got `info`.
    crashed: FxHashSet<i64>,
    free_slots: Vec<u32>,
    slots: u32,
    mode: Mode,
}

/// An operation in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Open {
    slot: u32,
    index: u64,
    time_ns: Option<i64>,
    position: Option<Position>,
}

#[derive(Debug, Clone, Copy, Default)]
enum Mode {
    #[default]
    Undecided,
    Paired,
    /// The first client op was a completion.
    CompletionsOnly,
}

impl Pairing {
    /// Pairs a history from its beginning.
    pub fn new() -> Pairing {
        Pairing::default()
    }

    /// Where the next op stands.
    ///
    /// # Errors
    ///
    /// If the op is a completion without invocation, an invocation of a client that still waits, or the op of a client
    /// that crashed.
    #[inline]
    pub fn pair(&mut self, op: &Op<'_>) -> Result<Pair, HistoryError> {
        match self.pair_anyway(op) {
            (pair, None) => Ok(pair),
            (_, Some(misfit)) => Err(misfit.into_error()),
        }
    }

    /// Where the next op stands, and what is wrong with it: the most sensible pairing of a history that is none.
    ///
    /// Of two invocations in a row the first is taken to have been given up; a client that comes back after a crash is
    /// taken for a new one; an unpaired completion stands alone.
    #[inline]
    pub(crate) fn pair_anyway(&mut self, op: &Op<'_>) -> (Pair, Option<Misfit>) {
        let Process::Client(process) = op.process else { return (Pair::Alone, None) };
        match (self.mode, op.kind) {
            (Mode::Undecided, OpKind::Invoke) => self.mode = Mode::Paired,
            (Mode::Undecided, _) => self.mode = Mode::CompletionsOnly,
            _ => {}
        }
        let back = !self.crashed.is_empty() && self.crashed.remove(&process);
        let (pair, misfit) =
            if op.kind == OpKind::Invoke { self.invoke(process, op) } else { self.complete(process, op) };
        (pair, if back { Some(Misfit::Returned(process)) } else { misfit })
    }

    /// What would be wrong with the next op, without taking it in.
    pub(crate) fn misfit(&self, op: &Op<'_>) -> Option<Misfit> {
        let Process::Client(process) = op.process else { return None };
        if self.crashed.contains(&process) {
            return Some(Misfit::Returned(process));
        }
        let open = self.open.get(&process);
        match (self.mode, op.kind) {
            (Mode::CompletionsOnly, OpKind::Invoke) => Some(Misfit::Late),
            (_, OpKind::Invoke) => open.map(|open| Misfit::Busy(process, *open)),
            (Mode::Paired, _) if open.is_none() => Some(Misfit::Uninvoked(process)),
            _ => None,
        }
    }

    /// How many operations are in flight.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// Where the first of those in flight was invoked.
    pub(crate) fn first_open(&self) -> Option<Position> {
        self.open.values().filter_map(|open| open.position).min_by_key(|position| position.offset)
    }

    /// Whether the history seems to hold completions only.
    pub(crate) fn completions_only(&self) -> bool {
        matches!(self.mode, Mode::CompletionsOnly)
    }

    fn invoke(&mut self, process: i64, op: &Op<'_>) -> (Pair, Option<Misfit>) {
        let mut wrong = None;
        if let Mode::CompletionsOnly = self.mode {
            self.mode = Mode::Paired;
            wrong = Some(Misfit::Late);
        }
        let mut open = Open { slot: 0, index: op.index, time_ns: op.time, position: op.position };
        match self.open.entry(process) {
            Entry::Occupied(mut entry) => {
                wrong = Some(Misfit::Busy(process, *entry.get()));
                open.slot = entry.get().slot;
                entry.insert(open);
            }
            Entry::Vacant(entry) => {
                open.slot = self.free_slots.pop().unwrap_or_else(|| {
                    self.slots += 1;
                    self.slots - 1
                });
                entry.insert(open);
            }
        }
        (Pair::Invokes { slot: open.slot }, wrong)
    }

    fn complete(&mut self, process: i64, op: &Op<'_>) -> (Pair, Option<Misfit>) {
        if op.kind == OpKind::Info {
            self.crashed.insert(process);
        }
        if let Mode::CompletionsOnly = self.mode {
            return (Pair::Alone, None);
        }
        let Some(open) = self.open.remove(&process) else { return (Pair::Alone, Some(Misfit::Uninvoked(process))) };
        self.free_slots.push(open.slot);
        (Pair::Completes { slot: open.slot, invoked: open.index, invoked_time_ns: open.time_ns }, None)
    }
}

/// How an op fails to fit those before it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Misfit {
    /// An invocation in a history that seemed to have none.
    Late,
    /// An invocation by a client whose last op is in flight.
    Busy(i64, Open),
    /// A completion of nothing.
    Uninvoked(i64),
    /// An op of a client that crashed.
    Returned(i64),
}

impl Misfit {
    #[cold]
    pub(crate) fn into_error(self) -> HistoryError {
        match self {
            Misfit::Late => error(
                "this history began with a completion that nobody invoked, and now comes an invocation".into(),
                "every completion after its invocation, or no invocation at all",
            ),
            Misfit::Busy(process, open) => error(
                format!("process {process} invokes while its op {} is in flight", site(&open)),
                "that op's completion first",
            ),
            Misfit::Uninvoked(process) => error(
                format!("process {process} completes an op that it did not invoke"),
                "an invocation by that process before it",
            ),
            Misfit::Returned(process) => error(
                format!("process {process} is back after an info"),
                "a new process number for the client that goes on after a crash",
            ),
        }
    }
}

fn error(message: String, expected: &str) -> HistoryError {
    HistoryError::new(ErrorKind::Pairing, message).expected(expected)
}

fn site(open: &Open) -> String {
    match open.position {
        Some(position) => format!("of line {}", position.line),
        None => format!("with index {}", open.index),
    }
}
