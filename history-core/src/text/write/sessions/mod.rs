//! Converters: a history of transactions as sessions of reads and writes, in a format of another checker.
//!
//! Those formats represent less than a history contains. What the target format cannot represent is rejected, at the
//! first op that has it, unless [`ConvertOptions::lossy`] is set and omitting it does not change which isolation levels
//! hold; what is omitted is counted ([`Converted::omitted`]). Never represented: real-time order, times, indices, other
//! fields, processes that are not clients.

mod binary;
mod fits;
mod lossy;
mod numbers;
mod text;

use crate::cast::Cast as _;
use crate::error::{ErrorKind, HistoryError};
use crate::hash::{HashMap, RandomState};
use crate::text::read::STAMPS;
use crate::{Format, Op, OpKind, Pair, Position, Process, Value};
use indexmap::{IndexMap, IndexSet};
use numbers::Numbers;
use std::cell::OnceCell;
use std::io::{self, Write};

/// How a [`Converter`] handles what a format cannot represent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// Replaces keys and values by numbers from 1 on, in order of first occurrence; a value has a different number for
    /// each key.
    pub renumber: bool,
    /// Omits what the format cannot represent and no isolation level needs: an operation whose outcome is unknown is
    /// committed, with its writes alone, if a committed transaction read one of them, and else aborted; aborted and
    /// empty transactions are omitted from formats that have none. An aborted transaction is rejected if it wrote a
    /// value that another transaction wrote, too, and that was read: without it, the writer of that value would seem to
    /// be known.
    pub lossy: bool,
}

impl ConvertOptions {
    /// Rejects what the format cannot represent.
    pub fn new() -> ConvertOptions {
        ConvertOptions::default()
    }

    /// With numbers instead of keys and values.
    #[must_use]
    pub fn with_renumber(self, renumber: bool) -> ConvertOptions {
        ConvertOptions { renumber, ..self }
    }

    /// Omits what the format cannot represent.
    #[must_use]
    pub fn with_lossy(self, lossy: bool) -> ConvertOptions {
        ConvertOptions { lossy, ..self }
    }
}

/// Collects a history, to write it in a [format of sessions](Format::is_of_sessions).
///
/// ```
/// use history_core::{ConvertOptions, Converter, Format, History};
///
/// let history = History::parse("{:process 0, :type :ok, :f :txn, :value [[:w 3 17] [:r 4 nil]]}")?;
/// let mut converter = Converter::new(Format::Plume, ConvertOptions::new()).unwrap();
/// for op in history.ops() {
///     converter.push(&op)?;
/// }
/// let mut text = Vec::new();
/// converter.finish()?.write(&mut text).unwrap();
/// assert_eq!(String::from_utf8(text).unwrap(), "w(3,17,0,1)\nr(4,0,0,1)\n");
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Debug)]
pub struct Converter {
    format: Format,
    options: ConvertOptions,
    txns: Vec<Txn>,
    mops: Vec<Mop>,
    /// The elements of lists that were read.
    elements: Vec<i64>,
    /// Keys that are names, with the type of each.
    names: IndexMap<String, &'static str, RandomState>,
    numbers: Numbers,
    sessions: IndexSet<Session, RandomState>,
    /// By slot, the invocation in flight: its place, and its micro-ops if they may be needed.
    open: Vec<Option<Invoked>>,
    /// The writes of failed transactions that were omitted, and their positions.
    failed: Vec<(Mop, u64, Option<Position>)>,
    omitted: Omitted,
}

/// The numbers of omitted items.
#[derive(Clone, Copy, Debug, Default)]
struct Omitted {
    invocations: u64,
    non_clients: u64,
    unknown: u64,
    aborted: u64,
    empty: u64,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Session {
    Number(i64),
    Name(String),
    /// The history does not contain the transaction's session; the transaction gets a number of its own.
    Alone(u32),
}

/// An invocation in flight.
#[derive(Clone, Debug)]
struct Invoked {
    index: u64,
    position: Option<Position>,
    session: Session,
    mops: Vec<Mop>,
}

/// A transaction.
#[derive(Clone, Debug)]
struct Txn {
    session: u32,
    kind: OpKind,
    /// The end of its micro-ops.
    end: u32,
    index: u64,
    position: Option<Position>,
    /// The start and commit timestamps of the store, each with two parts.
    stamps: Option<[[i64; 2]; 2]>,
}

/// A micro-op.
#[derive(Clone, Copy, Debug)]
struct Mop {
    act: Act,
    key: Atom,
    value: Atom,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Read,
    Write,
    Append,
}

/// A key or value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Atom {
    Nil,
    Int(i64),
    /// A number larger than an `i64`.
    Big(u64),
    /// One of [`Converter::names`].
    Name(u32),
    /// A range of [`Converter::elements`].
    List(u32, u32),
}

/// A history that its format can represent.
#[derive(Debug)]
pub struct Converted {
    parts: Converter,
    /// Transactions, by session: `order[starts[s]..starts[s + 1]]` are those of session `s`.
    order: Vec<u32>,
    starts: Vec<u32>,
    /// For each key and value, the first transaction that wrote it; computed on demand.
    writers: OnceCell<HashMap<(i64, i64), i64>>,
}

impl Converter {
    /// Collects a history for this format; none if that is no [format of sessions](Format::is_of_sessions).
    pub fn new(format: Format, options: ConvertOptions) -> Option<Converter> {
        format.is_of_sessions().then(|| Converter {
            format,
            options,
            txns: Vec::new(),
            mops: Vec::new(),
            elements: Vec::new(),
            names: IndexMap::default(),
            numbers: Numbers::default(),
            sessions: IndexSet::default(),
            open: Vec::new(),
            failed: Vec::new(),
            omitted: Omitted::default(),
        })
    }

    /// Adds the next op of the history, which must be paired.
    ///
    /// # Errors
    ///
    /// If the format cannot represent it.
    pub fn push(&mut self, op: &Op<'_>) -> Result<(), HistoryError> {
        if !op.process.is_client() {
            self.omitted.non_clients += 1;
            return Ok(());
        }
        match op.kind {
            OpKind::Invoke => self.invoke(op),
            OpKind::Info if !self.options.lossy => {
                Err(self.refuse(op, "its outcome is unknown", "ok or fail, or lossy conversion"))
            }
            OpKind::Ok | OpKind::Fail | OpKind::Info => self.complete(op),
        }
    }

    /// Ends the history.
    ///
    /// # Errors
    ///
    /// If the format cannot represent it.
    pub fn finish(mut self) -> Result<Converted, HistoryError> {
        self.end_open()?;
        if self.options.lossy {
            self.settle()?;
        }
        self.verify()?;
        if self.txns.is_empty() {
            let message = format!("no transaction is left, and {} needs one", self.format);
            return Err(HistoryError::new(ErrorKind::NotAnOp, message).expected("a transaction with a known outcome"));
        }
        self.forget_empty_sessions();
        let mut starts = vec![0_u32; self.sessions.len() + 1];
        for txn in &self.txns {
            starts[txn.session.to_usize() + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let (mut next, mut order) = (starts.clone(), vec![0; self.txns.len()]);
        for (i, txn) in self.txns.iter().enumerate() {
            let at = &mut next[txn.session.to_usize()];
            order[at.to_usize()] = i.to_u32();
            *at += 1;
        }
        Ok(Converted { parts: self, order, starts, writers: OnceCell::new() })
    }

    /// Renumbers the sessions that still have a transaction.
    fn forget_empty_sessions(&mut self) {
        let mut new = vec![None; self.sessions.len()];
        let mut sessions = IndexSet::default();
        for txn in &mut self.txns {
            let old = txn.session.to_usize();
            txn.session = *new[old].get_or_insert_with(|| sessions.insert_full(self.sessions[old].clone()).0.to_u32());
        }
        self.sessions = sessions;
    }

    fn invoke(&mut self, op: &Op<'_>) -> Result<(), HistoryError> {
        self.omitted.invocations += 1;
        let Pair::Invokes { slot } = op.pair else { return Ok(()) };
        let mut mops = Vec::new();
        self.mops_of(op, OpKind::Invoke, &mut mops)?;
        let slot = slot.to_usize();
        if self.open.len() <= slot {
            self.open.resize(slot + 1, None);
        }
        let session = self.session_of(op);
        self.open[slot] = Some(Invoked { index: op.index, position: op.position, session, mops });
        Ok(())
    }

    fn complete(&mut self, op: &Op<'_>) -> Result<(), HistoryError> {
        let invoked = match op.pair {
            Pair::Completes { slot, .. } => self.open.get_mut(slot.to_usize()).and_then(Option::take),
            Pair::Alone | Pair::Invokes { .. } => None,
        };
        let mut mops = Vec::new();
        match invoked {
            // The completion of an op that failed or is unknown need not repeat the micro-ops.
            Some(invoked) if op.kind != OpKind::Ok && !is_list(op.value) => mops = invoked.mops,
            _ => self.mops_of(op, op.kind, &mut mops)?,
        }
        if op.kind == OpKind::Fail && !fits::has_aborted(self.format) {
            if !self.options.lossy {
                let reason = format!("it failed, and {} has no aborted transactions", self.format);
                return Err(self.refuse(op, &reason, "another format, or lossy conversion"));
            }
            self.omitted.aborted += 1;
            let writes = mops.into_iter().filter(|mop| mop.act != Act::Read);
            self.failed.extend(writes.map(|mop| (mop, op.index, op.position)));
            return Ok(());
        }
        if mops.is_empty() && !fits::has_empty(self.format) {
            if !self.options.lossy {
                let reason = format!("it reads and writes nothing, and {} has no such transactions", self.format);
                return Err(self.refuse(op, &reason, "another format, or lossy conversion"));
            }
            self.omitted.empty += 1;
            return Ok(());
        }
        let stamps = match self.format {
            // Missing timestamps are accepted if the op may be omitted in the end.
            Format::Chronos if op.kind == OpKind::Info => self.stamps(op).ok(),
            Format::Chronos => Some(self.stamps(op)?),
            _ => None,
        };
        let session = self.session_of(op);
        self.add(session, op.kind, &mops, op.index, op.position, stamps)
    }

    fn add(
        &mut self,
        session: Session,
        kind: OpKind,
        mops: &[Mop],
        index: u64,
        position: Option<Position>,
        stamps: Option<[[i64; 2]; 2]>,
    ) -> Result<(), HistoryError> {
        self.mops.extend_from_slice(mops);
        let Ok(end) = u32::try_from(self.mops.len()) else {
            return Err(HistoryError::new(ErrorKind::Limit, "more than 4294967295 reads and writes"));
        };
        let session = self.sessions.insert_full(session).0.to_u32();
        self.txns.push(Txn { session, kind, end, index, position, stamps });
        Ok(())
    }

    fn session_of(&self, op: &Op<'_>) -> Session {
        match (op.client_name, op.process) {
            (Some(name), _) | (None, Process::Other(name)) => Session::Name(name.to_owned()),
            (None, Process::Client(number)) => Session::Number(number),
            // The transaction is a session of its own, because its order is unknown.
            (None, Process::Unknown) => Session::Alone(self.txns.len().to_u32()),
        }
    }

    /// Start and commit timestamps, each an integer or a pair of such.
    fn stamps(&self, op: &Op<'_>) -> Result<[[i64; 2]; 2], HistoryError> {
        let mut stamps = [[0; 2]; 2];
        for (stamp, name) in stamps.iter_mut().zip(STAMPS) {
            *stamp = op.extra.get(name).and_then(stamp_of).ok_or_else(|| {
                let reason = format!("it has no timestamp in a field {name}, which {} needs", self.format);
                self.refuse(op, &reason, "an integer, or a pair of a physical and a logical part")
            })?;
        }
        Ok(stamps)
    }

    /// The error for an op.
    #[cold]
    fn refuse(&self, op: &Op<'_>, reason: &str, expected: &str) -> HistoryError {
        refusal(op.index, op.position, self.format, reason, expected)
    }

    fn mops(&self, txn: usize) -> &[Mop] {
        let start = if txn == 0 { 0 } else { self.txns[txn - 1].end };
        &self.mops[start.to_usize()..self.txns[txn].end.to_usize()]
    }
}

/// A timestamp: an integer, or a pair of a physical and a logical part.
pub(crate) fn stamp_of(value: Value<'_>) -> Option<[i64; 2]> {
    match value {
        Value::Int(number) => Some([number, 0]),
        Value::Vector(parts) | Value::List(parts) if parts.len() == 2 => {
            let mut ints = parts.iter().map(|part| if let Value::Int(number) = part { Some(number) } else { None });
            Some([ints.next()??, ints.next()??])
        }
        _ => None,
    }
}

fn is_list(value: Value<'_>) -> bool {
    matches!(value, Value::Vector(_) | Value::List(_))
}

/// The error for the op with an index.
#[cold]
fn refusal(index: u64, position: Option<Position>, format: Format, reason: &str, expected: &str) -> HistoryError {
    let message = format!("the op with index {index} cannot be written as {format}: {reason}");
    let error = HistoryError::new(ErrorKind::Unexpected, message).expected(expected);
    match position {
        Some(position) => error.at(position),
        None => error,
    }
}

impl Converted {
    /// Writes the whole history: sessions of [`Format::Cobra`] one after another, as histcheck reads them.
    ///
    /// # Errors
    ///
    /// If `out` fails.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.parts.format {
            Format::Plume => self.plume(out),
            Format::Awdit => self.awdit(out),
            Format::Hist => self.hist(out),
            Format::DbcopJson => self.dbcop_json(out),
            Format::Chronos => self.chronos(out),
            Format::Dbcop => self.dbcop(out),
            _ => {
                for session in 0..self.sessions() {
                    if session > 0 {
                        out.write_all(&[crate::text::read::END_OF_SESSION])?;
                    }
                    self.write_session(session, out)?;
                }
                Ok(())
            }
        }
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.parts.sessions.len()
    }

    /// Writes a session of [`Format::Cobra`], which is a file there. Writes nothing in other formats.
    ///
    /// # Errors
    ///
    /// If `out` fails.
    pub fn write_session(&self, session: usize, out: &mut dyn Write) -> io::Result<()> {
        if self.parts.format == Format::Cobra { self.cobra(session, out) } else { Ok(()) }
    }

    /// What was omitted, with its number.
    pub fn omitted(&self) -> Vec<(&'static str, u64)> {
        let Omitted { invocations, non_clients, unknown, aborted, empty } = self.parts.omitted;
        let all = [
            ("invocations, and with them the real-time order", invocations),
            ("ops of processes that are not clients", non_clients),
            ("transactions of unknown outcome that nobody read", unknown),
            ("transactions that failed", aborted),
            ("transactions without reads and writes", empty),
        ];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    /// The transactions of a session, in order.
    fn txns(&self, session: usize) -> &[u32] {
        &self.order[self.starts[session].to_usize()..self.starts[session + 1].to_usize()]
    }
}
