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

/// Pairs the ops of one history, fed in order, and refuses those that fit no history.
///
/// A client is single-threaded: it invokes, and then completes, or crashes with `info` and never comes back under its
/// number or name. A history that begins with a client's completion is taken to hold completions only, as some
/// harnesses write it.
///
/// # Which names are clients
///
/// A number is a client, unless the [`ClientRule`] leaves it out. Of a name this is decided op by op, in one pass, so
/// that whoever watches a history grow sees the same as whoever reads it in the end:
///
/// 1. What the [`ClientRule`] says of the name holds: without further rules, that a name with `nemesis` in it is not a
///    client's, even if it invokes.
/// 2. From its first `invoke`, `ok` or `fail` on a name is a client, and its `info` is a crash.
/// 3. An `info` of a name without one of those before is not a client's where invocations are: nothing was invoked that
///    could have crashed. Checkers count it as left out.
/// 4. In a history of completions only such an `info` may be all that is seen of a client, and what it wrote may be
///    read; so it is one's.
/// 5. As long as no client's op came, it is unknown which of the two the history is. Such an `info` is omitted, and
///    should the first client's op then turn out to be a completion, the history is refused: a rule has to say what the
///    name is.
///
/// Each name that is a client gets a number, which no other client of the history has.
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
    open: IntMap<Open>,
    /// Clients that got `info`. None of them has an op in flight.
    crashed: IntMap<()>,
    free_slots: Vec<u32>,
    slots: u32,
    mode: Mode,
    rule: ClientRule,
    /// Of the names in the rule: whether some process has it.
    found: Vec<bool>,
    /// Where there is a rule, whether each number is omitted by it.
    numbers: HashMap<i64, bool>,
    /// Numbers from here on were given to clients by whoever read the history, and the rule does not mean them.
    invented_from: Option<i64>,
    /// The numbers that represent names of clients.
    names: HashMap<Box<str>, i64>,
    /// The first op that was omitted before any client's op came, of a name that may be a client's.
    early: Option<Early>,
    /// The same as `mode`, as far as it shows in ops that do not say who did them.
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
// What the rule says of numbers is found out again.
crate::state!(parts Pairing {
    open, crashed, free_slots, slots, mode, found, names, early, nameless; parts: ; same: rule, numbers, invented_from
});

/// What pairing looks at in an op: all but its function, value and further fields, which cost more to look up.
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

/// How an op stands to those before it.
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

    /// One for a history from its beginning, by the same rule.
    pub(crate) fn afresh(&self) -> Pairing {
        let pairing = Pairing::new().with_client_rule(self.rule.clone());
        Pairing { invented_from: self.invented_from, ..pairing }
    }

    /// Decides about names before the history begins whether they are clients'.
    #[must_use]
    pub fn with_client_rule(mut self, rule: ClientRule) -> Pairing {
        self.found = rule.patterns().map(|_| false).collect();
        self.rule = rule;
        self
    }

    pub(crate) fn rule(&self) -> &ClientRule {
        &self.rule
    }

    /// Takes numbers from here on for clients of whom the rule says nothing.
    pub(crate) fn invent_from(&mut self, number: Option<i64>) {
        self.invented_from = number;
    }

    /// The names in the rule that no process had so far.
    pub fn unmatched(&self) -> impl Iterator<Item = &str> {
        self.rule.patterns().zip(&self.found).filter(|(_, found)| !**found).map(|(pattern, _)| pattern)
    }

    /// Takes note that a process has this name.
    fn find(&mut self, name: &str) {
        let patterns = self.rule.patterns().zip(&mut self.found);
        patterns.for_each(|(pattern, found)| *found = *found || is_meant(pattern, name));
    }

    /// Whether the rule leaves out the process of this number.
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

    /// Where the next op stands.
    ///
    /// # Errors
    ///
    /// If the op is a completion without invocation, an invocation of a client that still waits, the op of a client
    /// that crashed, or one that makes it unclear who the clients are.
    #[inline]
    pub fn pair(&mut self, op: &Op<'_>) -> Result<Pair, HistoryError> {
        self.place(&op.into()).map(|placed| placed.pair)
    }

    /// The number that represents a name, if that is known to be a client's by now.
    pub fn client(&self, name: &str) -> Option<i64> {
        self.names.get(name).copied()
    }

    /// Where the next op stands, and which client did it.
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

    /// Where the next op stands, and what is wrong with it: the most sensible pairing of a history that is none.
    ///
    /// Of two invocations in a row the first is taken to have been given up; a client that comes back after a crash is
    /// taken for a new one; an unpaired completion stands alone.
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

    /// The number of the client who did an op that does not have a client's number; or that there is none, and what is
    /// wrong with that.
    fn by_name(&mut self, op: &OpHead<'_>) -> Result<i64, Option<Misfit>> {
        let name = match (op.client_name, op.process) {
            // It was found to be a client's before.
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

    /// An op came that does not say who did it.
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

    /// The first op of a client came.
    fn decide_mode(&mut self, kind: OpKind) -> Option<Misfit> {
        if kind == OpKind::Invoke {
            self.mode = Mode::Paired;
            return None;
        }
        self.mode = Mode::CompletionsOnly;
        self.early.is_some().then_some(Misfit::Early)
    }

    /// What would be wrong with the next op. All stays as if it had not come. O(1).
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

    /// What would be wrong with the next op; changes nothing but what [`Pairing::foresee`] takes back.
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

    /// Where the first of those in flight was invoked.
    pub(crate) fn first_open(&self) -> Option<Position> {
        self.open.values().filter_map(|open| open.position).min_by_key(|position| position.offset)
    }

    /// Whether the history seems to hold completions only.
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

    /// A completion came of a client with nothing in flight.
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

    /// Whether a client had crashed. It is taken for a new one then.
    #[inline]
    fn is_back(&mut self, process: i64) -> bool {
        !self.crashed.is_empty() && self.crashed.remove(process).is_some()
    }
}
