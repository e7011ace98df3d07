//! The fold: ops in, rows out.

use super::block::Block;
use super::decoded::{Counts, Decoded, Settings};
use super::raw::{Act, RawMop, RawOp, RawReader};
use super::rows::{NewRow, Rows};
use super::seen::Seen;
use super::settle;
use super::versions::Versions;
use super::{Mop, Row, What};
use crate::report;
use crate::timestamps::{self, Online, Stamps};
use history_core::cast::Cast as _;
use history_core::{
    Budget, ErrorKind, HistoryError, Interner, Op, OpKind, Pair, Process, Report, Run, UndecodedOps, Verdict,
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
    /// Its reads show nothing.
    mops: Vec<RawMop>,
}

/// A history on its way through the checker.
#[derive(Debug)]
pub(crate) struct IsolationRun {
    data: Decoded,
    reader: RawReader,
    /// Operations in flight, by slot.
    open: Vec<Open>,
    /// Invocations by clients that the history does not name.
    nameless: Vec<Open>,
    undecoded: UndecodedOps,
    op: RawOp,
    block: Block,
    /// What timestamps come to by now, if that is to be known while the history is written.
    online: Option<Online>,
}

impl IsolationRun {
    pub(crate) fn new(settings: Settings) -> IsolationRun {
        let mut interner = Interner::default();
        // A value that is too large to be in a history is nowhere in this one.
        let initial = settings.initial.with_value(|value| interner.code(value)).unwrap_or(Interner::NIL);
        let is_online = settings.timestamps && settings.distinct_values;
        let online = is_online.then(|| Online::new(&settings.levels));
        let data = Decoded {
            settings,
            initial,
            interner,
            versions: Versions::default(),
            rows: Rows::default(),
            seen: Seen::default(),
            trunks: Vec::new(),
            contradictions: Vec::new(),
            holds: None,
            is_partial: false,
            unclear: Vec::new(),
            counts: Counts::default(),
            has_timestamps: false,
        };
        IsolationRun {
            data,
            reader: RawReader { initial },
            open: Vec::new(),
            nameless: Vec::new(),
            undecoded: UndecodedOps::default(),
            op: RawOp::default(),
            block: Block::default(),
            online,
        }
    }

    fn take(&mut self, op: &Op<'_>) -> Result<(), HistoryError> {
        let mut raw = std::mem::take(&mut self.op);
        raw.mops.clear();
        raw.elements.clear();
        let read = self.reader.read(op, &mut self.data.interner, &mut self.data.holds, &mut raw);
        match read {
            Ok(()) if op.kind == OpKind::Invoke => self.invoke(op, &raw.mops),
            Ok(()) => self.complete(op, &mut raw),
            Err(reason) => self.leave_out(op, &reason, &raw.mops),
        }
        self.op = raw;
        // Until it is known what keys hold, it is not known what nil is.
        if self.online.is_some() || self.block.is_full() && self.data.holds.is_some() {
            self.flush()?;
        }
        Ok(())
    }

    /// Leaves an operation out: its invocation and its completion. What it wrote may be read, but not from others.
    #[cold]
    fn leave_out(&mut self, op: &Op<'_>, reason: &str, mops: &[RawMop]) {
        self.undecoded.push(op, reason, self.data.settings.timestamps);
        let mut left_out = mops.to_vec();
        match op.pair {
            // Its completion is judged by itself.
            Pair::Invokes { slot } => self.open.get_mut(slot.to_usize()).into_iter().for_each(|open| {
                open.waits = false;
                open.has_value = false;
                open.mops.clear();
            }),
            Pair::Completes { slot, .. } => self.open.get_mut(slot.to_usize()).into_iter().for_each(|open| {
                open.waits = false;
                left_out.append(&mut open.mops);
            }),
            Pair::Alone => {}
        }
        for mop in left_out {
            if let Act::Write(code) = mop.act {
                let key = self.data.versions.key(mop.key);
                let version = self.data.versions.version(key, code);
                self.data.unclear.push(version);
            }
        }
    }

    fn flush(&mut self) -> Result<(), HistoryError> {
        let ids = self.data.versions.len().max(self.data.rows.mop_count()) + self.block.ids_max();
        if ids >= Mop::IDS_MAX {
            return Err(HistoryError::new(ErrorKind::Limit, "more than 2^30 micro-ops or versions"));
        }
        self.block.flush(&mut self.data);
        Ok(())
    }

    fn invoke(&mut self, op: &Op<'_>, mops: &[RawMop]) {
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

    fn complete(&mut self, op: &Op<'_>, raw: &mut RawOp) {
        let mut begin = None;
        if let Pair::Completes { slot, invoked, .. } = op.pair
            && let Some(open) = self.open.get_mut(slot.to_usize())
        {
            begin = Some(invoked);
            open.waits = false;
            if op.value.is_nil() {
                raw.mops.extend_from_slice(&open.mops);
            } else if open.has_value && op.kind != OpKind::Fail && !is_same(&open.mops, &raw.mops) {
                // What a failed op says that it wrote is of no consequence: it did not.
                let invoked = open.index;
                let reason = format!(
                    "the op's writes differ from those of its invocation at index {invoked}: a completion repeats the writes"
                );
                return self.leave_out(op, &reason, &raw.mops);
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
        if op.kind == OpKind::Fail && !raw.mops.iter().any(|mop| mop.is_write()) {
            // What it read is nothing, but the history has its keys.
            raw.mops.iter().for_each(|mop| _ = self.data.versions.key(mop.key));
            return;
        }
        let mut row =
            NewRow { kind: op.kind, index: op.index, process: client(op), time_ns: op.time, begin, stamps: None };
        if self.data.settings.timestamps {
            match timestamps::stamps(op.extra) {
                Ok(stamps) => row.stamps = Some(stamps),
                Err(reason) => return self.leave_out(op, &reason, &raw.mops),
            }
        }
        self.block.push(row, raw);
        if self.online.is_some() {
            self.push_online(op);
        }
    }

    /// Judges what was pushed last, before the next op.
    fn push_online(&mut self, op: &Op<'_>) {
        self.block.flush(&mut self.data);
        let id = Row::new(self.data.rows.len() - 1);
        let Some(online) = &mut self.online else { return };
        match twice(&self.data, id) {
            Some(reason) => self.undecoded.push(op, &reason, true),
            None => online.push(&self.data, id),
        }
    }

    /// Rows for what was never answered: it may have happened.
    fn push_open(&mut self) -> Result<(), HistoryError> {
        self.flush()?;
        let mut open: Vec<Open> = std::mem::take(&mut self.open);
        open.retain(|open| open.waits);
        // An invocation without a client's name belongs to the completion with its writes, if there is one.
        let mut nameless = std::mem::take(&mut self.nameless);
        let versions = &mut self.data.versions;
        let mut is_completed = |mop: &RawMop| {
            let Act::Write(code) = mop.act else { return false };
            let key = versions.key(mop.key);
            versions.find(key, code).is_some_and(|version| versions.writer(version.into()) != Row::NONE)
        };
        nameless.retain(|open| !open.mops.iter().any(&mut is_completed));
        open.append(&mut nameless);
        open.sort_unstable_by_key(|open| open.index);
        for open in open {
            self.data.counts.info += 1;
            let Open { index, process, time_ns, mops, .. } = open;
            // One whose client is unknown may as well be the invocation of something that completed.
            let begin = process.map(|_| index);
            let stamps = self.data.settings.timestamps.then(Stamps::default);
            let row = NewRow { kind: OpKind::Info, index, process, time_ns, begin, stamps };
            self.block.push(row, &RawOp { mops, elements: Vec::new() });
        }
        self.flush()
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
fn is_same(a: &[RawMop], b: &[RawMop]) -> bool {
    a.iter().filter(|mop| mop.is_write()).eq(b.iter().filter(|mop| mop.is_write()))
}

impl Run for IsolationRun {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        if self.undecoded.has_stopped() {
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
        if let Some(note) = self.undecoded.note(Verdict::Unknown)
            && self.undecoded.has_stopped()
        {
            return Ok(report::unknown(&note));
        }
        self.push_open()?;
        self.data.is_partial = !self.undecoded.is_empty();
        self.data.unclear.sort_unstable();
        budget.begin("finding who read from whom");
        let settled = settle::settle(&mut self.data);
        let mut report = report::report(&self.data, &settled, budget);
        self.undecoded.conclude(&mut report);
        Ok(report)
    }
}
