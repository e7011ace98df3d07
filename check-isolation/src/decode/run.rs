//! The fold: turns ops into rows.

mod left_out;

use super::block::Block;
use super::decoded::{Counts, Decoded, Settings};
use super::raw::{Act, RawMop, RawOp, RawReader, Undecoded};
use super::rows::{NewRow, Rows};
use super::seen::Seen;
use super::settle;
use super::shown::{Direct, DirectCase};
use super::versions::{VersionId, Versions};
use super::{Holds, Mop, Row};
use crate::level::Level;
use crate::report::{self, explain};
use crate::timestamps::{self, Online, Stamps};
use history_core::cast::Cast as _;
use history_core::hash::HashSet;
use history_core::{
    Budget, ErrorKind, HistoryError, Interner, NextStep, Op, OpKind, Pair, Process, Report, Run, UndecodedOps,
    UnreadResults, Verdict,
};
use left_out::{Doubted, IgnoredOps};
use std::ops::ControlFlow;

/// The data of an op other than its micro-ops.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    kind: OpKind,
    index: u64,
    process: Option<i64>,
    time_ns: Option<i64>,
    pair: Pair,
    has_value: bool,
    /// The timestamps of the op, or why it has none, if timestamps are checked.
    stamps: Option<Result<Stamps, String>>,
}

impl Event {
    fn of(op: &Op<'_>, settings: &Settings) -> Event {
        Event {
            kind: op.kind,
            index: op.index,
            process: client(op),
            time_ns: op.time,
            pair: op.pair,
            has_value: !op.value.is_nil(),
            stamps: settings.timestamps.then(|| timestamps::stamps(op.extra)),
        }
    }
}

/// Decoded ops that may be processed again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    /// Each with the ends of its micro-ops and elements.
    events: Vec<(Event, usize, usize)>,
    raw: RawOp,
}

impl Kept {
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// The index of an op.
    pub(crate) fn index(&self, at: usize) -> u64 {
        self.events[at].0.index
    }

    fn push(&mut self, event: &Event, raw: &RawOp) {
        self.raw.mops.extend_from_slice(&raw.mops);
        self.raw.elements.extend_from_slice(&raw.elements);
        self.events.push((event.clone(), self.raw.mops.len(), self.raw.elements.len()));
    }
}

/// An invocation that waits for its completion.
#[derive(Clone, Debug, Default)]
struct Open {
    waits: bool,
    has_value: bool,
    index: u64,
    process: Option<i64>,
    time_ns: Option<i64>,
    /// Its reads have no results.
    mops: Vec<RawMop>,
    /// The fault, if it cannot be decoded.
    undecoded: Option<Box<Doubted>>,
}

/// A run of the checker on one history.
#[derive(Clone, Debug)]
pub(crate) struct IsolationRun {
    pub(super) data: Decoded,
    reader: RawReader,
    /// Operations in flight, by slot.
    open: Vec<Open>,
    /// Invocations by clients that the history does not name.
    nameless: Vec<Open>,
    /// Ops that could not be decoded and may have happened.
    undecoded: UndecodedOps,
    /// Ops that could not be decoded and failed.
    ignored: IgnoredOps,
    /// The number of undecoded invocations that are still in flight.
    undecoded_in_flight: u64,
    op: RawOp,
    block: Block,
    /// The state of the check of timestamps, if it is done while the history is written.
    online: Option<Online>,
    /// The ops processed since [`IsolationRun::keep`].
    kept: Option<Kept>,
}

impl IsolationRun {
    pub(crate) fn new(settings: Settings) -> IsolationRun {
        let mut interner = Interner::default();
        // A value that is too large for any history does not occur in this one.
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
            // Lists are initially empty, whatever initial value is given.
            holds: (initial != Interner::NIL).then_some(Holds::Registers),
            is_partial: false,
            is_beginning: false,
            writes_unknown: false,
            resets_unknown: false,
            has_nameless: false,
            unclear: Vec::new(),
            unclear_keys: Vec::new(),
            unsaid: None,
            unread: UnreadResults::default(),
            counts: Counts::default(),
            has_timestamps: false,
        };
        IsolationRun {
            data,
            reader: RawReader { initial },
            open: Vec::new(),
            nameless: Vec::new(),
            undecoded: UndecodedOps::default(),
            ignored: IgnoredOps::default(),
            undecoded_in_flight: 0,
            op: RawOp::default(),
            block: Block::default(),
            online,
            kept: None,
        }
    }

    fn take(&mut self, op: &Op<'_>) -> Result<(), HistoryError> {
        let mut raw = std::mem::take(&mut self.op);
        raw.mops.clear();
        raw.elements.clear();
        let read = self.reader.read(op, &mut self.data.interner, &mut self.data.holds, &mut raw);
        if op.kind == OpKind::Ok && self.data.counts.ok == 0 {
            self.data.has_timestamps = timestamps::stamps(op.extra).is_ok_and(Stamps::is_complete);
        }
        let event = Event::of(op, &self.data.settings);
        if let Some(kept) = &mut self.kept {
            kept.push(&event, &raw);
        }
        let is_row = match read {
            Ok(()) => self.enter_op(op, event, &mut raw),
            Err(undecoded) => self.take_undecoded(op, event, undecoded, &mut raw),
        };
        if is_row && self.online.is_some() {
            self.push_online(op);
        }
        self.op = raw;
        self.flush_full()
    }

    /// Processes a decoded op. Returns true if it became a row.
    fn enter_op(&mut self, op: &Op<'_>, event: Event, raw: &mut RawOp) -> bool {
        if let Pair::Completes { slot, .. } = op.pair {
            self.end_undecoded(op, slot);
        }
        self.enter(event, raw).unwrap_or_else(|reason| {
            self.leave_out(op, Undecoded::known(reason), &raw.mops);
            false
        })
    }

    /// Keeps the ops from now on, and drops those that were kept before.
    pub(crate) fn keep(&mut self) {
        self.kept = Some(Kept::default());
    }

    /// Keeps no more ops.
    pub(crate) fn stop_keeping(&mut self) {
        self.kept = None;
    }

    /// The kept ops; `None` if an op could not be decoded, because such an op affects others.
    pub(crate) fn kept(&self) -> Option<&Kept> {
        self.kept.as_ref().filter(|_| self.is_decoded())
    }

    /// Returns true if all ops that may have happened could be decoded.
    fn is_certain(&self) -> bool {
        self.undecoded.is_empty() && self.undecoded_in_flight == 0
    }

    /// Returns true if all ops could be decoded.
    fn is_decoded(&self) -> bool {
        self.is_certain() && self.ignored.is_empty()
    }

    pub(crate) fn levels_mut(&mut self) -> &mut Vec<Level> {
        &mut self.data.settings.levels
    }

    /// A copy of the state, to continue from later. It has only the codes of values: see [`IsolationRun::again`].
    pub(crate) fn snapshot(&mut self) -> IsolationRun {
        let (interner, kept) = (std::mem::take(&mut self.data.interner), self.kept.take());
        let snapshot = self.clone();
        (self.data.interner, self.kept) = (interner, kept);
        snapshot
    }

    /// The report on the ops that a snapshot of this run had processed and the first `count` ops that were kept since
    /// then, as a complete history.
    pub(crate) fn again(
        &mut self,
        mut snapshot: IsolationRun,
        count: usize,
        budget: &Budget,
    ) -> Result<Report, HistoryError> {
        let kept = self.kept.take().unwrap_or_default();
        // Codes never change, so those of later values do no harm.
        std::mem::swap(&mut snapshot.data.interner, &mut self.data.interner);
        snapshot.data.holds = self.data.holds;
        let report = snapshot.take_kept(&kept, count).and_then(|()| snapshot.conclude(budget));
        std::mem::swap(&mut snapshot.data.interner, &mut self.data.interner);
        self.kept = Some(kept);
        report
    }

    fn take_kept(&mut self, kept: &Kept, count: usize) -> Result<(), HistoryError> {
        let (mut mops, mut elements) = (0, 0);
        let mut raw = RawOp::default();
        for (event, mops_end, elements_end) in &kept.events[..count] {
            raw.mops.clear();
            raw.mops.extend_from_slice(&kept.raw.mops[mops..*mops_end]);
            raw.elements.clear();
            raw.elements.extend_from_slice(&kept.raw.elements[elements..*elements_end]);
            (mops, elements) = (*mops_end, *elements_end);
            let entered = self.enter(event.clone(), &mut raw);
            debug_assert!(entered.is_ok(), "kept ops could be decoded");
            self.flush_full()?;
        }
        Ok(())
    }

    /// Processes an op whose micro-ops were decoded. Returns true if it became a row.
    fn enter(&mut self, event: Event, raw: &mut RawOp) -> Result<bool, String> {
        if event.kind != OpKind::Invoke {
            return self.complete(event, raw);
        }
        self.invoke(&event, &raw.mops);
        Ok(false)
    }

    fn flush_full(&mut self) -> Result<(), HistoryError> {
        // Until the type of the keys is known, the meaning of nil is unknown.
        if self.online.is_some() || self.block.is_full() && self.data.holds.is_some() { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), HistoryError> {
        let Decoded { versions, rows, .. } = &self.data;
        let ids = versions.len().max(rows.mop_count()).max(rows.len()) + self.block.ids_max();
        if ids >= Mop::IDS_MAX {
            return Err(HistoryError::new(ErrorKind::Limit, "more than 2^30 transactions, micro-ops or versions"));
        }
        self.block.flush(&mut self.data);
        Ok(())
    }

    fn invoke(&mut self, event: &Event, mops: &[RawMop]) {
        let fill = |open: &mut Open| {
            open.waits = true;
            open.undecoded = None;
            open.has_value = event.has_value;
            open.index = event.index;
            open.process = event.process;
            open.time_ns = event.time_ns;
            open.mops.clear();
            open.mops.extend_from_slice(mops);
        };
        if let Pair::Invokes { slot } = event.pair {
            let slot = slot.to_usize();
            if slot >= self.open.len() {
                self.open.resize_with(slot + 1, Open::default);
            }
            fill(&mut self.open[slot]);
            return;
        }
        self.data.has_nameless = true;
        if mops.iter().any(|mop| mop.is_write()) {
            let mut open = Open::default();
            fill(&mut open);
            self.nameless.push(open);
        } else if !event.has_value {
            self.data.unsaid.get_or_insert(event.index);
        }
    }

    fn complete(&mut self, event: Event, raw: &mut RawOp) -> Result<bool, String> {
        let mut begin = None;
        let mut is_said = event.has_value;
        if let Pair::Completes { slot, invoked, .. } = event.pair
            && let Some(open) = self.open.get_mut(slot.to_usize())
        {
            begin = Some(invoked);
            open.waits = false;
            is_said |= open.has_value;
            // What failed is what was requested, whatever the completion of a failed op reports.
            let is_replaced = event.kind == OpKind::Fail && open.has_value && !is_same(&open.mops, &raw.mops);
            if !event.has_value || is_replaced {
                raw.mops.clear();
                raw.elements.clear();
                raw.mops.extend_from_slice(&open.mops);
            } else if open.has_value && !is_same(&open.mops, &raw.mops) {
                let invoked = open.index;
                return Err(format!(
                    "the op's writes differ from those of its invocation at index {invoked}: a completion repeats the writes"
                ));
            } else if event.kind == OpKind::Ok && raw.mops.len() < open.mops.len() {
                // The writes are the same, so reads are missing.
                self.data.unread.push(event.index);
            }
        }
        if !is_said && event.kind != OpKind::Fail {
            self.data.unsaid.get_or_insert(event.index);
        }
        let reads = raw.mops.iter().any(|mop| !mop.is_write());
        if event.kind == OpKind::Ok && !event.has_value && (reads || !is_said) {
            self.data.unread.push(event.index);
        }
        match event.kind {
            OpKind::Ok => self.data.counts.ok += 1,
            OpKind::Fail => self.data.counts.fail += 1,
            OpKind::Info | OpKind::Invoke => self.data.counts.info += 1,
        }
        if event.kind == OpKind::Fail && !raw.mops.iter().any(|mop| mop.is_write()) {
            // It has no results of reads, but its keys belong to the history.
            raw.mops.iter().for_each(|mop| _ = self.data.versions.key(mop.key));
            return Ok(false);
        }
        let Event { kind, index, process, time_ns, stamps, .. } = event;
        // The timestamps of a failed op do not matter.
        let stamps = if kind == OpKind::Fail { stamps.map(Result::unwrap_or_default) } else { stamps.transpose()? };
        let row = NewRow { kind, index, process, time_ns, begin, stamps };
        self.block.push(row, raw);
        Ok(true)
    }

    /// Checks the timestamps of the row that was pushed last, before the next op.
    fn push_online(&mut self, op: &Op<'_>) {
        self.block.flush(&mut self.data);
        let id = Row::new(self.data.rows.len() - 1);
        let Some(online) = &mut self.online else { return };
        match self.data.twice(id) {
            Some(reason) => self.undecoded.push(op, &reason, true),
            None => online.push(&self.data, id),
        }
    }

    /// The report on the ops so far as the whole history. No op may follow.
    pub(crate) fn conclude(&mut self, budget: &Budget) -> Result<Report, HistoryError> {
        self.doubt_unanswered();
        if let Some(note) = self.undecoded.note(Verdict::Unknown)
            && self.undecoded.has_stopped()
        {
            return Ok(report::unknown(&note, self.undecoded.next()));
        }
        self.push_open()?;
        self.data.is_partial = !self.undecoded.is_empty();
        self.data.unclear.sort_unstable();
        self.data.unclear_keys.sort_unstable();
        budget.begin("finding who read from whom");
        let mut settled = settle::settle(&mut self.data);
        let is_thin_air = |case: &DirectCase| case.what == Direct::ThinAirRead;
        let has_thin_air = settled.direct.iter().any(is_thin_air);
        let unsaid = self.data.unsaid.filter(|_| has_thin_air);
        if unsaid.is_some() || has_thin_air && self.data.is_beginning {
            // The missing op, or an op that follows, may have written values that were read.
            self.data.is_partial = true;
            (self.data.writes_unknown, self.data.resets_unknown) = (true, unsaid.is_some());
            settled = settle::settle(&mut self.data);
        }
        let mut report = report::report(&self.data, &settled, budget);
        report.notes.extend(self.data.unread.note());
        report.notes.extend(unsaid.map(explain::unsaid));
        if let Some(index) = unsaid {
            let what =
                format!("Record in each invocation the micro-ops that it asks for: the op at index {index} has none.");
            report.add_next(NextStep::new(what));
        }
        let is_all = self.data.rows.mop_count() == 0;
        self.ignored.conclude(&mut report, is_all && self.undecoded.is_empty(), self.data.counts);
        self.undecoded.conclude(&mut report);
        Ok(report)
    }

    /// Adds rows for operations without a completion: they may have happened.
    fn push_open(&mut self) -> Result<(), HistoryError> {
        self.flush()?;
        let mut open: Vec<Open> = std::mem::take(&mut self.open);
        open.retain(|open| open.waits);
        // An invocation without a client's name belongs to the completion with its writes, if there is one without an
        // invocation. Only one invocation belongs to each.
        let mut nameless = std::mem::take(&mut self.nameless);
        let (versions, rows) = (&mut self.data.versions, &self.data.rows);
        let mut taken: HashSet<VersionId> = HashSet::default();
        let mut take_completion = |mop: &RawMop| {
            let Act::Write(code) = mop.act else { return false };
            let key = versions.key(mop.key);
            let version = versions.find(key, code).filter(|version| {
                let writer = versions.writer(*version);
                writer != Row::NONE && rows.begin(writer) == 0
            });
            version.is_some_and(|version| taken.insert(version))
        };
        nameless.retain(|open| open.mops.iter().filter(|mop| take_completion(mop)).count() == 0);
        open.append(&mut nameless);
        open.sort_unstable_by_key(|open| open.index);
        for open in open {
            self.data.counts.info += 1;
            let Open { index, process, time_ns, mops, has_value, .. } = open;
            if !has_value {
                self.data.unsaid.get_or_insert(index);
            }
            // If its client is unknown, it may be the invocation of an operation that completed.
            let begin = process.map(|_| index);
            let stamps = self.data.settings.timestamps.then(Stamps::default);
            let row = NewRow { kind: OpKind::Info, index, process, time_ns, begin, stamps };
            self.block.push(row, &RawOp { mops, elements: Vec::new() });
        }
        self.flush()
    }
}

fn client(op: &Op<'_>) -> Option<i64> {
    match op.process {
        Process::Client(process) => Some(process),
        Process::Other(_) | Process::Unknown => None,
    }
}

/// Returns true if two sequences of micro-ops have the same writes.
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
            self.take(op.without_cause().as_ref().unwrap_or(op))?;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn is_violated(&self) -> bool {
        self.is_certain() && self.online.as_ref().is_some_and(|online| online.violated.is_some())
    }

    fn violation(&self) -> Option<Report> {
        let (level, order, case) = self.online.as_ref()?.violated?;
        self.is_certain().then(|| timestamps::violation(&self.data, level, order, case))
    }

    fn finish(mut self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        let found = self.violation();
        let report = self.conclude(budget)?;
        // A violation found before is certain, even if the whole history cannot be checked.
        Ok(if report.verdict == Verdict::Invalid { report } else { found.unwrap_or(report) })
    }
}
