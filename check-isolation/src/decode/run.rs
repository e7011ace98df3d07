//! The fold: ops in, rows out.

use super::decoded::{Counts, Decoded, Settings};
use super::rows::{NewRow, Rows};
use super::settle;
use super::versions::{VersionId, Versions};
use super::{Holds, Mop, Row, What};
use crate::report;
use crate::timestamps::{self, Online, Stamps};
use history_core::cast::Cast as _;
use history_core::{
    Budget, ErrorKind, HistoryError, Interner, Op, OpKind, Pair, Process, Report, Run, UndecodedOps, Value, Verdict,
};
use std::ops::ControlFlow;

/// An invocation that waits for its completion.
#[derive(Debug, Default)]
struct Open {
    waits: bool,
    has_value: bool,
    index: u64,
    process: Option<i64>,
    time_ns: Option<i64>,
    mops: Vec<Mop>,
}

/// A history on its way through the checker.
#[derive(Debug)]
pub(crate) struct IsolationRun {
    data: Decoded,
    /// The code of what registers hold before anything is written.
    initial: i64,
    /// Operations in flight, by slot.
    open: Vec<Open>,
    /// Invocations by clients that the history does not name.
    nameless: Vec<Open>,
    /// At the first of them, checking stops.
    undecoded: UndecodedOps,
    mops: Vec<Mop>,
    list: Vec<VersionId>,
    /// For each key, the row that wrote it last.
    written_by: Vec<Row>,
    /// What timestamps come to by now, if that is to be known while the history is written.
    online: Option<Online>,
}

/// What a micro-op looks like, for messages.
const MOPS: &str = "[:r key value], [:w key value] of a value other than nil, or [:append key value]";

impl IsolationRun {
    pub(crate) fn new(settings: Settings) -> IsolationRun {
        let mut interner = Interner::default();
        // A value that is too large to be in a history is nowhere in this one.
        let initial = settings.initial.with_value(|value| interner.code(value)).unwrap_or(Interner::NIL);
        let is_online = settings.timestamps && settings.distinct_values;
        let online = is_online.then(|| Online::new(&settings.levels));
        let data = Decoded {
            settings,
            interner,
            versions: Versions::default(),
            rows: Rows::default(),
            trunks: Vec::new(),
            holds: None,
            counts: Counts::default(),
            has_timestamps: false,
        };
        IsolationRun {
            data,
            initial,
            open: Vec::new(),
            nameless: Vec::new(),
            undecoded: UndecodedOps::default(),
            mops: Vec::new(),
            list: Vec::new(),
            written_by: Vec::new(),
            online,
        }
    }

    fn take(&mut self, op: &Op<'_>) -> Result<(), HistoryError> {
        let mut mops = std::mem::take(&mut self.mops);
        mops.clear();
        let read = self.read_mops(op, &mut mops);
        if self.data.versions.all.len().max(self.data.rows.mop_count()) >= Mop::IDS_MAX {
            return Err(HistoryError::new(ErrorKind::Limit, "more than 2^31 micro-ops or versions"));
        }
        match read {
            Ok(()) if op.kind == OpKind::Invoke => self.invoke(op, &mops),
            Ok(()) => self.complete(op, &mut mops),
            Err(reason) => self.undecoded.push(op, &reason, true),
        }
        self.mops = mops;
        Ok(())
    }

    fn read_mops(&mut self, op: &Op<'_>, mops: &mut Vec<Mop>) -> Result<(), String> {
        let items = match op.value {
            Value::Nil => return Ok(()),
            Value::Vector(items) | Value::List(items) => items,
            other => return Err(format!("the op's value is not a list of micro-ops, but {other}; expected {MOPS}")),
        };
        for item in items {
            let mop = self.read_mop(op.kind, item);
            mops.push(mop.ok_or_else(|| self.why_no_mop(item))?);
        }
        Ok(())
    }

    #[cold]
    fn why_no_mop(&self, item: Value<'_>) -> String {
        let f = item.as_seq().and_then(|parts| parts.iter().next()).and_then(|f| f.as_name().map(str::to_owned));
        match (self.data.holds, f.as_deref()) {
            (Some(Holds::Registers), Some("w")) => {
                format!("{item} writes the initial value, or is not a micro-op; expected {MOPS}")
            }
            (Some(Holds::Registers), Some("append")) => {
                format!("{item} appends to a list, but other ops write registers")
            }
            (Some(Holds::Lists), Some("w")) => format!("{item} writes a register, but other ops append to lists"),
            _ => format!("{item} is not a micro-op; expected {MOPS}"),
        }
    }

    #[inline]
    fn read_mop(&mut self, kind: OpKind, item: Value<'_>) -> Option<Mop> {
        let mut parts = item.as_seq()?.iter();
        let (Some(f), Some(key), Some(value), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
            return None;
        };
        let key_code = self.data.interner.code(key);
        let what = match (f.as_name()?, value) {
            ("r", _) if kind != OpKind::Ok => What::Unseen,
            ("r", value) => return self.read_of(key_code, value),
            // Nil says that there is nothing.
            ("w", Value::Nil) => return None,
            ("w", value) if *self.data.holds.get_or_insert(Holds::Registers) == Holds::Registers => {
                let code = self.data.interner.code(value);
                if code == self.initial {
                    return None;
                }
                let key = self.data.versions.key(key_code);
                return Some(Mop::new(key, What::Write(self.data.versions.version(key, code))));
            }
            ("append", value) if *self.data.holds.get_or_insert(Holds::Lists) == Holds::Lists => {
                let code = self.data.interner.code(value);
                let key = self.data.versions.key(key_code);
                return Some(Mop::new(key, What::Write(self.data.versions.version(key, code))));
            }
            _ => return None,
        };
        Some(Mop::new(self.data.versions.key(key_code), what))
    }

    fn read_of(&mut self, key_code: i64, value: Value<'_>) -> Option<Mop> {
        let key = self.data.versions.key(key_code);
        let items = match value {
            Value::Vector(items) | Value::List(items) if self.data.holds != Some(Holds::Registers) => {
                self.data.holds = Some(Holds::Lists);
                items
            }
            Value::Nil if self.data.holds != Some(Holds::Registers) => return Some(Mop::new(key, What::First)),
            _ if self.data.holds == Some(Holds::Lists) => return None,
            value => {
                let code = self.data.interner.code(value);
                let is_first = code == self.initial;
                let what =
                    if is_first { What::First } else { What::Read(self.data.versions.version(key, code).number()) };
                return Some(Mop::new(key, what));
            }
        };
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        for item in items {
            let code = self.data.interner.code(item);
            list.push(self.data.versions.version(key, code));
        }
        if self.data.trunks.len() <= key.at() {
            self.data.trunks.resize(key.at() + 1, Vec::new());
        }
        let trunk = &mut self.data.trunks[key.at()];
        let shared = trunk.len().min(list.len());
        let what = match list.len() {
            0 => What::First,
            _ if trunk[..shared] != list[..shared] => What::Contradicts,
            length => {
                trunk.extend_from_slice(&list[shared..]);
                What::Read(length.to_u32())
            }
        };
        self.list = list;
        Some(Mop::new(key, what))
    }

    fn invoke(&mut self, op: &Op<'_>, mops: &[Mop]) {
        let process = client(op);
        let fill = |open: &mut Open| {
            open.waits = true;
            open.has_value = !op.value.is_nil();
            open.index = op.index;
            open.process = process;
            open.time_ns = op.time;
            open.mops.clear();
            open.mops.extend_from_slice(mops);
        };
        if let Pair::Invokes { slot } = op.pair {
            let slot = slot.to_usize();
            if slot >= self.open.len() {
                self.open.resize_with(slot + 1, Open::default);
            }
            fill(&mut self.open[slot]);
        } else if mops.iter().any(|mop| mop.is_write()) {
            let mut open = Open::default();
            fill(&mut open);
            self.nameless.push(open);
        }
    }

    fn complete(&mut self, op: &Op<'_>, mops: &mut Vec<Mop>) {
        let mut begin = None;
        if let Pair::Completes { slot, invoked, .. } = op.pair
            && let Some(open) = self.open.get_mut(slot.to_usize())
        {
            begin = Some(invoked);
            open.waits = false;
            if op.value.is_nil() {
                mops.extend_from_slice(&open.mops);
            } else if open.has_value && op.kind != OpKind::Fail && !is_same(&open.mops, mops) {
                // What a failed op says that it wrote is of no consequence: it did not.
                let invoked = open.index;
                let reason = format!(
                    "the op's writes differ from those of its invocation at index {invoked}: a completion repeats the writes"
                );
                self.undecoded.push(op, &reason, true);
                return;
            }
        }
        match op.kind {
            OpKind::Ok => {
                if self.data.counts.ok == 0 {
                    self.data.has_timestamps = timestamps::stamps(op.extra).is_ok_and(Stamps::is_complete);
                }
                self.data.counts.ok += 1;
            }
            OpKind::Fail => self.data.counts.fail += 1,
            OpKind::Info | OpKind::Invoke => self.data.counts.info += 1,
        }
        if op.kind == OpKind::Fail && !mops.iter().any(|mop| mop.is_write()) {
            return;
        }
        let mut row =
            NewRow { kind: op.kind, index: op.index, process: client(op), time_ns: op.time, begin, stamps: None };
        if self.data.settings.timestamps {
            match timestamps::stamps(op.extra) {
                Ok(stamps) => row.stamps = Some(stamps),
                Err(reason) => return self.undecoded.push(op, &reason, true),
            }
        }
        let id = self.push(row, mops);
        if let Some(online) = &mut self.online {
            match twice(&self.data, id) {
                Some(reason) => self.undecoded.push(op, &reason, true),
                None => online.push(&self.data, id),
            }
        }
    }

    fn push(&mut self, row: NewRow, mops: &[Mop]) -> Row {
        let id = self.data.rows.push(row, mops);
        if self.written_by.len() < self.data.versions.key_codes.len() {
            self.written_by.resize(self.data.versions.key_codes.len(), Row::NONE);
        }
        // Backwards, so that what is overwritten comes behind what overwrites it.
        for mop in mops.iter().rev() {
            let What::Write(version) = mop.what() else { continue };
            let is_overwritten = std::mem::replace(&mut self.written_by[mop.key.at()], id) == id;
            let version = self.data.versions.get_mut(version);
            if version.writer == Row::NONE {
                version.writer = id;
                version.is_intermediate = is_overwritten;
            } else {
                version.again = id;
            }
        }
        id
    }

    /// Rows for what was never answered: it may have happened.
    fn push_open(&mut self) {
        let mut open: Vec<Open> = std::mem::take(&mut self.open);
        open.retain(|open| open.waits);
        // An invocation without a client's name belongs to the completion with its writes, if there is one.
        let mut nameless = std::mem::take(&mut self.nameless);
        let is_completed = |mop: &Mop| match mop.what() {
            What::Write(version) => self.data.versions.get(version).writer != Row::NONE,
            _ => false,
        };
        nameless.retain(|open| !open.mops.iter().any(is_completed));
        open.append(&mut nameless);
        open.sort_unstable_by_key(|open| open.index);
        for open in &open {
            self.data.counts.info += 1;
            let Open { index, process, time_ns, .. } = *open;
            // One whose client is unknown may as well be the invocation of something that completed.
            let begin = process.map(|_| index);
            let stamps = self.data.settings.timestamps.then(Stamps::default);
            self.push(NewRow { kind: OpKind::Info, index, process, time_ns, begin, stamps }, &open.mops);
        }
    }
}

/// A value that a transaction wrote to a key, as another one that may have happened had: what nobody may do if values are distinct.
fn twice(data: &Decoded, row: Row) -> Option<String> {
    let rows = &data.rows;
    for mop in rows.mops(row).iter().filter(|_| rows.kind(row) != OpKind::Fail) {
        let What::Write(version) = mop.what() else { continue };
        let version = data.versions.get(version);
        let (writer, again) = (version.writer, version.again);
        let other = [writer, again].into_iter().find(|other| *other != Row::NONE && *other != row);
        if let Some(other) = other.filter(|other| rows.kind(*other) != OpKind::Fail) {
            return Some(format!(
                "the op writes a value to a key as the one at index {} had: values are said to be distinct",
                rows.index(other)
            ));
        }
    }
    None
}

fn client(op: &Op<'_>) -> Option<i64> {
    match op.process {
        Process::Client(process) => Some(process),
        Process::Other(_) | Process::Unknown => None,
    }
}

/// Whether two series of micro-ops have the same writes.
#[inline]
fn is_same(a: &[Mop], b: &[Mop]) -> bool {
    a.iter().filter(|mop| mop.is_write()).eq(b.iter().filter(|mop| mop.is_write()))
}

impl Run for IsolationRun {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        if !self.undecoded.is_empty() {
            return Ok(ControlFlow::Break(()));
        }
        if self.data.rows.participants.see(op) {
            self.take(op)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn is_violated(&self) -> bool {
        self.undecoded.is_empty() && self.online.as_ref().is_some_and(|online| online.violated.is_some())
    }

    fn violation(&self) -> Option<Report> {
        let (level, order, case) = self.online.as_ref()?.violated?;
        self.undecoded.is_empty().then(|| timestamps::violation(&self.data, level, order, case))
    }

    fn finish(mut self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        if let Some(note) = self.undecoded.note(Verdict::Unknown) {
            return Ok(report::unknown(&note));
        }
        self.push_open();
        budget.begin("finding who read from whom");
        let settled = settle::settle(&self.data);
        Ok(report::report(&self.data, &settled, budget))
    }
}
