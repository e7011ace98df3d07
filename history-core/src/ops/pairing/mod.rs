//! Pairing: which completion belongs to which invocation.

mod misfit;

pub(crate) use misfit::Misfit;

use super::client_rule::is_meant;
use super::op;
use super::participants::{NAMES_END, number_of_name};
use crate::cast::Cast as _;
use crate::error::HistoryError;
use crate::hash::HashMap;
use crate::{ClientRule, IntMap, Op, OpKind, Pair, Position, Process};

/// Pairs the ops of one history, in order, and rejects ops that cannot be part of a history.
///
/// A client is single-threaded: it invokes, and then completes, or crashes with `info` and is never used again under
/// its number or name. A history that begins with a client's completion is assumed to contain only completions, as some
/// harnesses write it.
///
/// # Which names are clients
///
/// A number is a client, unless the [`ClientRule`] excludes it. For a name this is decided op by op, in one pass, so
/// that the result is the same for a history that is still growing and for one read at the end:
///
/// 1. The [`ClientRule`] for the name has priority: by default, a name that contains `nemesis` is not a client's, even
///    if it invokes.
/// 2. From its first `invoke`, `ok` or `fail` on, a name is a client, and its `info` is a crash.
/// 3. An `info` of a name without one of those before is not a client's if the history has invocations: nothing was
///    invoked that could have crashed. Checkers count it as omitted.
/// 4. In a history that contains only completions, such an `info` may be the only op of a client, and other ops may
///    read what it wrote; so it is a client's.
/// 5. Before the first op of a client, it is unknown which of the two the history is. Such an `info` is omitted. If the
///    first client's op then is a completion, the history is rejected: a rule has to state whether the name is a
///    client's.
///
/// Each name that is a client gets a number, which no other client of the history has.
///
/// O(1) per op; memory grows with the number of clients.
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
    open: IntMap<Open>,
    /// Clients that crashed with `info`. None of them has an op in flight.
    crashed: IntMap<()>,
    free_slots: Vec<u32>,
    slots: u32,
    mode: Mode,
    rule: ClientRule,
    /// For each name in the rule, whether some process has it.
    found: Vec<bool>,
    /// If there is a rule, whether it excludes each number.
    numbers: HashMap<i64, bool>,
    /// Numbers from here on were assigned to clients by the reader of the history, so the rule does not apply to them.
    invented_from: Option<i64>,
    /// The numbers that represent names of clients.
    names: HashMap<Box<str>, i64>,
    /// The first op that was omitted before the first client's op, of a name that may be a client's.
    early: Option<Early>,
    /// The same as `mode`, as far as it follows from ops without a process.
    nameless: Mode,
}

/// An operation in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Open {
    slot: u32,
    index: u64,
    time_ns: Option<i64>,
    position: Option<Position>,
}

#[derive(Debug)]
struct Early {
    name: Box<str>,
    place: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Undecided,
    Paired,
    /// The first client op was a completion.
    CompletionsOnly,
}

crate::state!(struct Open { slot, index, time_ns, position });
crate::state!(struct Early { name, place });
crate::state!(
    enum Mode {
        Undecided,
        Paired,
        CompletionsOnly,
    }
);
// `numbers` is not saved: it is computed again from the rule.
crate::state!(parts Pairing {
    open, crashed, free_slots, slots, mode, found, names, early, nameless; parts: ; same: rule, numbers, invented_from
});

/// The data of an op that pairing uses: all except its function, value and further fields, which are slower to look up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpHead<'a> {
    pub(crate) index: u64,
    pub(crate) time: Option<i64>,
    pub(crate) process: Process<'a>,
    pub(crate) client_name: Option<&'a str>,
    pub(crate) kind: OpKind,
    pub(crate) position: Option<Position>,
}

impl<'a> From<&Op<'a>> for OpHead<'a> {
    #[inline]
    fn from(op: &Op<'a>) -> OpHead<'a> {
        let Op { index, time, process, client_name, kind, position, .. } = *op;
        OpHead { index, time, process, client_name, kind, position }
    }
}

/// The relation of an op to those before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) pair: Pair,
    /// The number of its client, if that has a name.
    pub(crate) named: Option<i64>,
    /// Whether its process has a number and is not a client.
    pub(crate) is_left_out: bool,
}

impl Pairing {
    /// Pairs a history from its beginning.
    pub fn new() -> Pairing {
        Pairing::default()
    }

    /// A new pairing with the same rule, for a history from its beginning.
    pub(crate) fn afresh(&self) -> Pairing {
        let pairing = Pairing::new().with_client_rule(self.rule.clone());
        Pairing { invented_from: self.invented_from, ..pairing }
    }

    /// Sets which names are clients', before the history begins.
    #[must_use]
    pub fn with_client_rule(mut self, rule: ClientRule) -> Pairing {
        self.found = rule.patterns().map(|_| false).collect();
        self.rule = rule;
        self
    }

    pub(crate) fn rule(&self) -> &ClientRule {
        &self.rule
    }

    /// Treats numbers from here on as clients to which the rule does not apply.
    pub(crate) fn invent_from(&mut self, number: Option<i64>) {
        self.invented_from = number;
    }

    /// The names in the rule that no process had so far.
    pub fn unmatched(&self) -> impl Iterator<Item = &str> {
        self.rule.patterns().zip(&self.found).filter(|(_, found)| !**found).map(|(pattern, _)| pattern)
    }

    /// Records that a process has this name.
    fn find(&mut self, name: &str) {
        let patterns = self.rule.patterns().zip(&mut self.found);
        patterns.for_each(|(pattern, found)| *found = *found || is_meant(pattern, name));
    }

    /// Returns true if the rule excludes the process with this number.
    #[inline]
    fn leaves_out(&mut self, number: i64) -> bool {
        let is_recorded = self.invented_from.is_none_or(|invented| number < invented);
        is_recorded && !self.rule.is_empty() && self.rule_leaves_out(number)
    }

    fn rule_leaves_out(&mut self, number: i64) -> bool {
        if let Some(left_out) = self.numbers.get(&number) {
            return *left_out;
        }
        let name = number.to_string();
        self.find(&name);
        let left_out = self.rule.decides(&name) == Some(false);
        self.numbers.insert(number, left_out);
        left_out
    }

    /// The place of the next op in its operation.
    ///
    /// # Errors
    ///
    /// If the op is a completion without invocation, an invocation of a client with an operation in flight, an op of a
    /// client that crashed, or an op that leaves open which processes are clients.
    #[inline]
    pub fn pair(&mut self, op: &Op<'_>) -> Result<Pair, HistoryError> {
        self.place(&op.into()).map(|placed| placed.pair)
    }

    /// The number that represents a name, if it is already known to be a client's.
    pub fn client(&self, name: &str) -> Option<i64> {
        self.names.get(name).copied()
    }

    /// Returns the place of the next op, and its client.
    ///
    /// # Errors
    ///
    /// As [`Pairing::pair`].
    #[inline]
    pub(crate) fn place(&mut self, op: &OpHead<'_>) -> Result<Placed, HistoryError> {
        match self.place_anyway(op) {
            (placed, None) => Ok(placed),
            (_, Some(misfit)) => Err(self.error(misfit)),
        }
    }

    /// Returns the place of the next op, and the error in it: the most plausible pairing of a text that is not a
    /// history.
    ///
    /// Of two invocations in a row, the first is assumed to be abandoned; a client that continues after a crash is
    /// treated as a new client; a completion without invocation has no pair.
    #[inline]
    pub(crate) fn place_anyway(&mut self, op: &OpHead<'_>) -> (Placed, Option<Misfit>) {
        let alone = |is_left_out| Placed { pair: Pair::Alone, named: None, is_left_out };
        let (process, named) = match op.process {
            Process::Client(number) if number >= NAMES_END => {
                if self.leaves_out(number) {
                    return (alone(true), None);
                }
                (number, None)
            }
            _ => match self.by_name(op) {
                Ok(number) => (number, Some(number)),
                Err(misfit) => return (alone(false), misfit),
            },
        };
        let unclear = if self.mode == Mode::Undecided { self.decide_mode(op.kind) } else { None };
        let (pair, misfit) =
            if op.kind == OpKind::Invoke { self.invoke(process, op) } else { self.complete(process, op) };
        (Placed { pair, named, is_left_out: false }, unclear.or(misfit))
    }

    /// Returns the number of the client of an op whose process is not a client's number. If there is no client, returns
    /// the reason, if it is an error.
    fn by_name(&mut self, op: &OpHead<'_>) -> Result<i64, Option<Misfit>> {
        let name = match (op.client_name, op.process) {
            // This name is already known to be a client's.
            (Some(name), _) => return Ok(self.number(name)),
            (None, Process::Client(number)) => return Err(Some(Misfit::Reserved(number))),
            (None, Process::Other(name)) => name,
            (None, Process::Unknown) => return Err(self.see_nameless(op.kind)),
        };
        if let Some(number) = self.client(name) {
            return Ok(number);
        }
        self.find(name);
        let mode = if self.mode == Mode::Undecided { self.nameless } else { self.mode };
        let is_client = match (self.rule.decides(name), op.kind, mode) {
            (Some(is_client), ..) => is_client,
            (None, OpKind::Info, Mode::Paired) => false,
            (None, OpKind::Info, Mode::Undecided) => {
                self.early.get_or_insert_with(|| Early { name: name.into(), place: op::place(op.index, op.position) });
                false
            }
            _ => true,
        };
        if is_client { Ok(self.number(name)) } else { Err(None) }
    }

    /// Processes an op without a process.
    fn see_nameless(&mut self, kind: OpKind) -> Option<Misfit> {
        if (self.mode, self.nameless) != (Mode::Undecided, Mode::Undecided) || kind == OpKind::Info {
            return None;
        }
        if kind == OpKind::Invoke {
            self.nameless = Mode::Paired;
            return None;
        }
        self.nameless = Mode::CompletionsOnly;
        self.early.is_some().then_some(Misfit::Early)
    }

    /// The number that represents a client's name, a new one if it has none.
    fn number(&mut self, name: &str) -> i64 {
        let next = number_of_name(self.names.len());
        self.client(name).unwrap_or_else(|| *self.names.entry(name.into()).or_insert(next))
    }

    /// Processes the first op of a client.
    fn decide_mode(&mut self, kind: OpKind) -> Option<Misfit> {
        if kind == OpKind::Invoke {
            self.mode = Mode::Paired;
            return None;
        }
        self.mode = Mode::CompletionsOnly;
        self.early.is_some().then_some(Misfit::Early)
    }

    /// Returns the error in the next op, without a change of the state. O(1).
    pub(crate) fn foresee(&mut self, op: &OpHead<'_>) -> Option<HistoryError> {
        let (names, nameless, had_early) = (self.names.len(), self.nameless, self.early.is_some());
        let error = self.misfit(op).map(|misfit| self.error(misfit));
        self.nameless = nameless;
        if !had_early {
            self.early = None;
        }
        if let Process::Other(name) = op.process
            && self.names.len() > names
        {
            self.names.remove(name);
        }
        error
    }

    /// Returns the error in the next op. Changes only the state that [`Pairing::foresee`] restores.
    fn misfit(&mut self, op: &OpHead<'_>) -> Option<Misfit> {
        let process = match op.process {
            Process::Client(number) if number >= NAMES_END => {
                if self.leaves_out(number) {
                    return None;
                }
                number
            }
            _ => match self.by_name(op) {
                Ok(number) => number,
                Err(misfit) => return misfit,
            },
        };
        if self.mode == Mode::Undecided && op.kind != OpKind::Invoke && self.early.is_some() {
            return Some(Misfit::Early);
        }
        if self.crashed.get(process).is_some() {
            return Some(Misfit::Returned(process));
        }
        let open = self.open.get(process);
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

    /// The position of the first invocation among those in flight.
    pub(crate) fn first_open(&self) -> Option<Position> {
        self.open.values().filter_map(|open| open.position).min_by_key(|position| position.offset)
    }

    /// Returns true if the history seems to contain only completions.
    pub(crate) fn completions_only(&self) -> bool {
        matches!(self.mode, Mode::CompletionsOnly)
    }

    #[inline]
    fn invoke(&mut self, process: i64, op: &OpHead<'_>) -> (Pair, Option<Misfit>) {
        let mut wrong = None;
        if let Mode::CompletionsOnly = self.mode {
            self.mode = Mode::Paired;
            wrong = Some(Misfit::Late);
        }
        let mut open = Open { slot: 0, index: op.index, time_ns: op.time, position: op.position };
        open.slot = match self.open.get(process) {
            Some(busy) => {
                wrong = Some(Misfit::Busy(process, *busy));
                busy.slot
            }
            None => self.free_slots.pop().unwrap_or_else(|| {
                self.slots += 1;
                self.slots - 1
            }),
        };
        self.open.insert(process, open);
        if self.is_back(process) {
            wrong = Some(Misfit::Returned(process));
        }
        debug_assert_eq!(
            self.free_slots.len() + self.open.len(),
            self.slots.to_usize(),
            "a slot is lost or taken twice"
        );
        (Pair::Invokes { slot: open.slot }, wrong)
    }

    #[inline]
    fn complete(&mut self, process: i64, op: &OpHead<'_>) -> (Pair, Option<Misfit>) {
        let Some(open) = self.open.remove(process) else {
            return (Pair::Alone, self.complete_nothing(process, op.kind));
        };
        if op.kind == OpKind::Info {
            self.crashed.insert(process, ());
        }
        self.free_slots.push(open.slot);
        (Pair::Completes { slot: open.slot, invoked: open.index, invoked_time_ns: open.time_ns }, None)
    }

    /// Processes a completion of a client with nothing in flight.
    #[cold]
    fn complete_nothing(&mut self, process: i64, kind: OpKind) -> Option<Misfit> {
        let is_back = self.is_back(process);
        if kind == OpKind::Info {
            self.crashed.insert(process, ());
        }
        if is_back {
            return Some(Misfit::Returned(process));
        }
        (self.mode != Mode::CompletionsOnly).then_some(Misfit::Uninvoked(process))
    }

    /// Returns true if a client has crashed. If so, it is treated as a new client.
    #[inline]
    fn is_back(&mut self, process: i64) -> bool {
        !self.crashed.is_empty() && self.crashed.remove(process).is_some()
    }
}
