//! Intervals: one operation per line, its invocation and its completion in one object.
//!
//! Reading the output returns the same history: the same operations, with the same real-time order. Anything that an
//! interval cannot represent is therefore rejected, as are times in another order than the history.

use super::{WriteError, json};
use crate::cast::Cast as _;
use crate::common::mops::lack_results;
use crate::error::{ErrorKind, HistoryError};
use crate::hash::HashSet;
use crate::{Datum, Op, OpKind, Pair, Process, Value};
use std::fmt::Write as _;
use std::io::Write;

/// Writes a history as intervals, each when it ends; those that never end are written last.
///
/// ```
/// use history_core::{History, IntervalWriter};
///
/// let history = History::parse(
///     "{:process 0, :type :invoke, :f :read, :time 5}
///      {:process 0, :type :ok, :f :read, :value 3, :time 9}",
/// )?;
/// let mut writer = IntervalWriter::new(Vec::new());
/// for op in history.ops() {
///     writer.write(&op).unwrap();
/// }
/// let text = String::from_utf8(writer.finish().unwrap()).unwrap();
/// assert_eq!(text, "{\"client\":0,\"call\":5,\"return\":9,\"input\":{\"f\":\"read\"},\"output\":3}\n");
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Debug)]
pub struct IntervalWriter<W: Write> {
    out: W,
    by_index: bool,
    /// The operation in flight in each slot.
    open: Vec<Option<Call>>,
    /// The times of the last call and of the last return, and the client that returned.
    last_call: Option<i64>,
    last_return: Option<(i64, String)>,
    /// A time, and the clients that called and returned at that time.
    instants: (i64, HashSet<String>),
}

/// The invocation of an operation.
#[derive(Clone, Debug)]
struct Call {
    index: u64,
    time: i64,
    client: String,
    f: String,
    value: Datum,
    fields: Vec<(String, Datum)>,
}

impl<W: Write> IntervalWriter<W> {
    /// A writer to `out`, which should be buffered.
    pub fn new(out: W) -> IntervalWriter<W> {
        let (open, last_call, last_return, instants) = Default::default();
        IntervalWriter { out, by_index: false, open, last_call, last_return, instants }
    }

    /// Writes the indices of ops instead of their times: they have the order of the history.
    #[must_use]
    pub fn with_indices_as_times(self) -> IntervalWriter<W> {
        IntervalWriter { by_index: true, ..self }
    }

    /// Adds the next op, which must be paired.
    ///
    /// # Errors
    ///
    /// If an interval cannot represent it, or `out` fails.
    pub fn write(&mut self, op: &Op<'_>) -> Result<(), WriteError> {
        let client = match (op.client_name, op.process) {
            (Some(name), _) => quoted(name),
            (None, Process::Client(number)) => number.to_string(),
            (None, _) => return Err(refuse(op, "the op has no client", "an op of a client")),
        };
        let time = self.time(op)?;
        let slot = match op.pair {
            Pair::Invokes { slot } | Pair::Completes { slot, .. } => slot.to_usize(),
            Pair::Alone => return Err(refuse(op, "it has no invocation", "invocations, which are calls")),
        };
        if op.kind == OpKind::Invoke {
            self.verify_call(op, time, &client)?;
            let Some(f) = op.f else { return Err(refuse(op, "it has no function", "an op with a name in f")) };
            let fields = fields(op);
            if self.open.len() <= slot {
                self.open.resize(slot + 1, None);
            }
            let (f, value) = (f.to_owned(), op.value.to_datum());
            self.open[slot] = Some(Call { index: op.index, time, client, f, value, fields });
            return Ok(());
        }
        if self.last_call.is_some_and(|last| time < last) {
            return Err(refuse(op, "it returns earlier than an op before it was called", TIMES));
        }
        let call = self.open.get_mut(slot).and_then(Option::take);
        let Some(call) = call else { return Err(refuse(op, "it has no invocation", "invocations, which are calls")) };
        if call.time == time {
            if self.instants.0 != time {
                self.instants = (time, HashSet::default());
            }
            if !self.instants.1.insert(call.client.clone()) {
                return Err(refuse(op, "its client called and returned twice at this time", TIMES));
            }
        }
        if self.last_return.as_ref().is_none_or(|(last, _)| *last <= time) {
            self.last_return = Some((time, call.client.clone()));
        }
        let line = Self::line(&call, Some((op, time)))?;
        self.out.write_all(line.as_bytes()).map_err(WriteError::Io)
    }

    /// Writes the operations that never completed, flushes, and returns `out`.
    ///
    /// # Errors
    ///
    /// If `out` fails.
    pub fn finish(mut self) -> Result<W, WriteError> {
        let mut open: Vec<Call> = std::mem::take(&mut self.open).into_iter().flatten().collect();
        open.sort_by_key(|call| call.index);
        for call in open {
            let line = Self::line(&call, None)?;
            self.out.write_all(line.as_bytes()).map_err(WriteError::Io)?;
        }
        self.out.flush().map_err(WriteError::Io)?;
        Ok(self.out)
    }

    fn time(&self, op: &Op<'_>) -> Result<i64, WriteError> {
        if self.by_index {
            return Ok(op.index.to_i64());
        }
        op.time.ok_or_else(|| refuse(op, "it has no time", "a time in every op, or indices in place of times"))
    }

    /// Rejects a call whose time is before or equal to that of a return that precedes it in the history.
    fn verify_call(&mut self, op: &Op<'_>, time: i64, client: &str) -> Result<(), WriteError> {
        let is_behind = match &self.last_return {
            // A client that returns and calls at the same time does so in this order.
            Some((last, who)) => time > *last || time == *last && who == client,
            None => true,
        };
        if !is_behind {
            return Err(refuse(op, "it is called no later than an op before it returned", TIMES));
        }
        self.last_call = self.last_call.max(Some(time));
        Ok(())
    }

    /// The interval of an operation.
    fn line(call: &Call, end: Option<(&Op<'_>, i64)>) -> Result<String, WriteError> {
        let mut line = String::new();
        let failed = |_| WriteError::Io(std::io::Error::other("formatting failed"));
        write!(line, "{{\"client\":{},\"call\":{}", call.client, call.time).map_err(failed)?;
        if let Some((_, time)) = end {
            write!(line, ",\"return\":{time}").map_err(failed)?;
        }
        write!(line, ",\"input\":{{\"f\":{}", quoted(&call.f)).map_err(failed)?;
        if call.value != Datum::Nil {
            write!(line, ",\"value\":{}", datum(&call.value)?).map_err(failed)?;
        }
        line.push('}');
        if let Some((op, _)) = end {
            if let Some(output) = output(call, op)? {
                write!(line, ",\"output\":{output}").map_err(failed)?;
            }
            if op.kind != OpKind::Ok {
                write!(line, ",\"type\":\"{}\"", op.kind.name()).map_err(failed)?;
            }
            if op.f.is_some_and(|f| f != call.f) {
                return Err(refuse(op, "its function is another than its invocation's", "one function"));
            }
        }
        let error = end.and_then(|(op, _)| op.extra.get("error"));
        let ended = end.map(|(op, _)| (op, fields(op)));
        if let Some((op, fields)) = &ended
            && !fields.iter().filter(|(name, _)| name != "error").eq(&call.fields)
        {
            return Err(refuse(op, "its further fields are others than its invocation's", "the same fields in both"));
        }
        for (name, value) in &call.fields {
            if ["client", "call", "return", "input", "output", "type", "error"].contains(&name.as_str()) {
                let message =
                    format!("the field {name} of the op with index {} is one of an interval's own", call.index);
                return Err(WriteError::Op(HistoryError::new(ErrorKind::Unexpected, message)));
            }
            write!(line, ",{}:{}", quoted(name), datum(value)?).map_err(failed)?;
        }
        if let Some(error) = error {
            write!(line, ",\"error\":{}", datum(&error.to_datum())?).map_err(failed)?;
        }
        line.push_str("}\n");
        Ok(line)
    }
}

/// The further fields of an op.
fn fields(op: &Op<'_>) -> Vec<(String, Datum)> {
    let name = |key: Value<'_>| key.as_name().map_or_else(|| key.to_string(), str::to_owned);
    op.extra.iter().map(|(key, value)| (name(key), value.to_datum())).collect()
}

const TIMES: &str = "times that order operations as the history does, or indices in place of times";

/// The field that the completion of an operation adds to its call.
fn output(call: &Call, op: &Op<'_>) -> Result<Option<String>, WriteError> {
    let value = op.value.to_datum();
    let lacks = |value: Value<'_>| value.as_seq().is_some_and(|mops| lack_results(mops.iter()));
    let requests_results = call.value.with_value(lacks).map_err(WriteError::Op)?;
    let is_said = match op.kind {
        // Without an output, the results are unknown. Those that are nil are an output, too.
        OpKind::Ok if requests_results => value == Datum::Nil,
        kind => value == Datum::Nil && kind != OpKind::Ok || value == call.value,
    };
    if is_said {
        return Ok(None);
    }
    let lists = |value: &Datum| match value {
        Datum::Vector(mops) | Datum::List(mops) => {
            let all = mops.iter().all(|mop| matches!(mop, Datum::Vector(_) | Datum::List(_)));
            all.then_some(mops.len())
        }
        _ => None,
    };
    let is_asking = call.value == Datum::Nil && value != Datum::Nil;
    let is_txn = lists(&call.value).is_some() && lists(&call.value) == lists(&value);
    if op.kind == OpKind::Ok && (is_asking || is_txn) {
        return datum(&value).map(Some);
    }
    Err(refuse(op, "its value is another than its invocation's", "the same value, or a value where none was given"))
}

/// JSON text of a value.
fn datum(value: &Datum) -> Result<String, WriteError> {
    let mut text = String::new();
    let written = value.with_value(|value| json::value(&mut text, value)).map_err(WriteError::Op)?;
    written.map_err(|_| WriteError::Io(std::io::Error::other("formatting failed")))?;
    Ok(text)
}

fn quoted(name: &str) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = json::string(&mut text, name);
    text
}

#[cold]
fn refuse(op: &Op<'_>, reason: &str, expected: &str) -> WriteError {
    let message = format!("the op with index {} cannot be written as an interval: {reason}", op.index);
    let error = HistoryError::new(ErrorKind::Unexpected, message).expected(expected);
    WriteError::Op(match op.position {
        Some(position) => error.at(position),
        None => error,
    })
}
