//! The fold: ops become columns, each processed once, for the micro-ops of any workload.

mod decode;
mod malformed;
pub(crate) mod retries;
mod share;

pub(crate) use malformed::Malformed;
pub(crate) use share::join;

use super::analysis::Analysis;
use super::columns::{Counts, Open, Txns};
use super::expected::Expected;
use super::report;
use crate::ids::TxnId;
use history_core::cast::Cast as _;
use history_core::share::Share;
use history_core::{Budget, HistoryError, Op, OpKind, Pair, Process, Report, Run, Value};
use malformed::{FailedOps, MALFORMED_MAX};
use retries::{Claim, Doubted};
use std::ops::ControlFlow;

/// The meaning of a workload's micro-ops.
pub(crate) trait Workload: Send {
    type Mop: Copy + PartialEq + Send;
    /// The data about a complete history.
    type Known: Analysis<Mop = Self::Mop>;

    /// The checker's name.
    const NAME: &'static str;
    /// The workload's micro-ops, for messages: `"[:r key list] or [:append key value]"`.
    const MOPS: &'static str;
    /// The names of the micro-ops that read. An item with such a name writes nothing, even if it cannot be decoded.
    const READS: &'static [&'static str] = &["r"];
    /// An upper bound of ids, which they do not reach.
    const IDS_MAX: usize;

    /// The micro-op `[f key value]` of an op of this kind, `f` as UTF-8; `None` if it does not belong to this workload.
    fn decode(&mut self, kind: OpKind, f: &[u8], key: Value<'_>, value: Value<'_>) -> Option<Self::Mop>;

    /// Whether this micro-op of an op of this kind may have no value, `[f key]`, which is equivalent to nil.
    fn may_lack_value(_kind: OpKind, _f: &[u8]) -> bool {
        false
    }

    /// Returns `None` if `[f key value]` is not a micro-op of this workload, else whether it writes. Stores nothing.
    /// For workloads whose histories have shares.
    fn shape(_f: &str, _value: Value<'_>) -> Option<bool> {
        None
    }

    /// The micro-ops of an op that is not a list of them, or why it does not belong to this workload. `None` if the op
    /// has the form of a list.
    fn decode_whole(&mut self, _op: &Op<'_>, _mops: &mut Vec<Self::Mop>) -> Option<Result<(), String>> {
        None
    }

    /// An upper bound of the ids that it has assigned.
    fn ids(&self) -> usize;

    /// Returns true if a micro-op writes.
    fn is_write(mop: Self::Mop) -> bool;

    /// Records the writes of an op. If a key of it cannot be checked, returns the reason and omits the key.
    fn claim(&mut self, mops: &[Self::Mop], claim: Claim) -> Result<(), String>;

    /// Returns true if some completion contains this write.
    fn is_completed(&self, mop: Self::Mop) -> bool;

    /// Returns true if some completion without an invocation contains this write. Its invocation is known from then on.
    fn take_completion(&mut self, mop: Self::Mop) -> bool;

    /// The fault, if there is one, of an invocation without a completion if another completion contains this write of
    /// it. The key is then omitted.
    fn completed_by_another(&mut self, mop: Self::Mop) -> Option<String>;

    /// Excludes the key of a micro-op from the check, for all transactions.
    fn leave_out(&mut self, mop: Self::Mop);

    /// Processes the next transaction.
    fn enter(&mut self, txn: TxnId, kind: OpKind, mops: &[Self::Mop]);

    /// Called after all transactions: removes omitted keys from them. Returns an op that cannot be checked for a reason
    /// that is known only now, if there is one.
    fn settle(&mut self, txns: &mut Txns<Self::Mop>) -> Option<Malformed>;

    /// Called after `settle`. Returns the values that a failed transaction wrote and a later one as well, if a read may
    /// show either.
    fn doubted(&self, _txns: &Txns<Self::Mop>) -> Option<Doubted> {
        None
    }

    /// Ends the history. Returns the data about it, and the expected levels. Unless `writes_known`, other ops than
    /// these may have written something.
    fn known(self, txns: Txns<Self::Mop>, writes_known: bool, budget: &Budget) -> (Self::Known, Expected);
}

/// A run of a transaction checker on a history.
#[derive(Clone)]
pub(crate) struct TxnRun<W: Workload> {
    workload: W,
    txns: Txns<W::Mop>,
    /// Operations in flight, by slot.
    open: Vec<Open<W::Mop>>,
    /// Invocations by clients that the history does not name.
    nameless: Vec<Open<W::Mop>>,
    counts: Counts,
    /// The first malformed op in the history.
    malformed: Option<Malformed>,
    malformed_count: u64,
    /// Ops that could not be decoded and are ignored because they failed.
    failed: FailedOps,
    /// Whether an item that may be a write could not be decoded.
    writes_unknown: bool,
    mops: Vec<W::Mop>,
    /// The keys that are checked.
    share: Share,
    /// Whether the current op writes a key of another share.
    writes_elsewhere: bool,
    /// For a share: a hash of all writes of the current op, on any keys, in their order.
    all_writes: u64,
    /// Whether later ops may write values that were read so far.
    is_beginning: bool,
}

/// The data about a history after its last op.
struct Ended<K> {
    known: K,
    expected: Expected,
    counts: Counts,
    malformed: Option<Malformed>,
    failed: FailedOps,
    doubted: Option<Doubted>,
}

impl<W: Workload> TxnRun<W> {
    pub(crate) fn new(workload: W) -> TxnRun<W> {
        TxnRun::of_share(workload, Share::All)
    }

    /// A run that checks only these keys of a history.
    pub(crate) fn of_share(workload: W, share: Share) -> TxnRun<W> {
        TxnRun {
            workload,
            share,
            writes_elsewhere: false,
            all_writes: 0,
            txns: Txns::default(),
            open: Vec::new(),
            nameless: Vec::new(),
            counts: Counts::default(),
            malformed: None,
            malformed_count: 0,
            failed: FailedOps::default(),
            writes_unknown: false,
            mops: Vec::new(),
            is_beginning: false,
        }
    }

    /// The same for a prefix: later ops may write values that were read so far, so such reads are not garbage-reads
    /// yet.
    pub(crate) fn beginning(mut self) -> TxnRun<W> {
        self.is_beginning = true;
        self
    }

    fn take(&mut self, op: &Op<'_>) -> Result<(), HistoryError> {
        let mut mops = std::mem::take(&mut self.mops);
        mops.clear();
        match self.read_mops(op, &mut mops)? {
            Ok(()) if op.kind == OpKind::Invoke => self.invoke(op, &mops),
            Ok(()) => self.complete(op, &mut mops),
            Err(undecoded) => self.take_undecoded(op, &mut mops, undecoded),
        }
        self.mops = mops;
        Ok(())
    }

    fn invoke(&mut self, op: &Op<'_>, mops: &[W::Mop]) {
        self.claim(op, mops, false);
        self.open(op, mops);
    }

    fn open(&mut self, op: &Op<'_>, mops: &[W::Mop]) {
        let process = match op.process {
            Process::Client(process) => Some(process),
            Process::Other(_) | Process::Unknown => None,
        };
        let oks = self.counts.ok.to_u32();
        let (writes_elsewhere, all_writes) = (self.writes_elsewhere, self.all_writes);
        let fill = |open: &mut Open<W::Mop>| {
            open.waits = true;
            open.undecoded = None;
            open.has_value = !op.value.is_nil();
            open.index = op.index;
            open.process = process;
            open.time_ns = op.time;
            open.oks_before = oks;
            open.writes_elsewhere = writes_elsewhere;
            open.all_writes = all_writes;
            open.mops.clear();
            open.mops.extend_from_slice(mops);
        };
        self.counts.has_nameless |= !matches!(op.pair, Pair::Invokes { .. });
        if let Pair::Invokes { slot } = op.pair {
            fill(self.slot(slot));
        } else if mops.iter().any(|mop| W::is_write(*mop)) {
            let mut open = Open::default();
            fill(&mut open);
            self.nameless.push(open);
        } else if op.value.is_nil() {
            self.counts.unsaid.get_or_insert(op.index);
        }
    }

    fn slot(&mut self, slot: u32) -> &mut Open<W::Mop> {
        let slot = slot.to_usize();
        if slot >= self.open.len() {
            self.open.resize_with(slot + 1, Open::default);
        }
        &mut self.open[slot]
    }

    fn complete(&mut self, op: &Op<'_>, mops: &mut Vec<W::Mop>) {
        let mut oks_before = None;
        let mut is_said = !op.value.is_nil();
        if let Pair::Completes { slot, .. } = op.pair
            && self.slot(slot).undecoded.is_some()
            && !self.end_undecoded(op, slot, mops)
        {
            return;
        }
        if let Pair::Completes { slot, .. } = op.pair
            && let Some(open) = self.open.get_mut(slot.to_usize())
        {
            open.waits = false;
            oks_before = Some(open.oks_before);
            is_said |= open.has_value;
            let is_same = || is_same(open.mops.iter(), mops.iter(), W::is_write) && open.all_writes == self.all_writes;
            // What failed is what was requested, whatever the completion of a failed op reports.
            let is_replaced = op.kind == OpKind::Fail && open.has_value && !is_same();
            if op.value.is_nil() || is_replaced {
                self.writes_elsewhere = open.writes_elsewhere;
                mops.clear();
                mops.extend_from_slice(&open.mops);
            } else if open.has_value && !is_same() {
                let reason = format!(
                    "the op's writes differ from those of its invocation at index {}: a completion repeats the writes",
                    open.index
                );
                return self.leave_out(op, mops, reason);
            } else if op.kind == OpKind::Ok && mops.len() < open.mops.len() {
                // The writes are the same, so reads are missing.
                self.counts.unread.push(op.index);
            }
        }
        if !is_said && op.kind != OpKind::Fail {
            self.counts.unsaid.get_or_insert(op.index);
        }
        let reads = mops.iter().any(|mop| !W::is_write(*mop));
        self.counts.unread.see(op, reads || !is_said);
        if self.share.is_part() && mops.is_empty() {
            return;
        }
        self.claim(op, mops, true);
        match op.kind {
            OpKind::Ok => self.counts.ok += 1,
            OpKind::Fail => self.counts.fail += 1,
            OpKind::Info | OpKind::Invoke => self.counts.info += 1,
        }
        let writes = self.writes_elsewhere || mops.iter().any(|mop| W::is_write(*mop));
        if op.kind == OpKind::Fail && !writes {
            return;
        }
        let txn = TxnId::new(self.txns.len());
        self.txns.push(op, mops, oks_before);
        self.workload.enter(txn, op.kind, mops);
    }

    fn claim(&mut self, op: &Op<'_>, mops: &[W::Mop], completes: bool) {
        // Which completion an invocation belongs to, and what other shares show, must be known.
        let is_paired = completes || matches!(op.pair, Pair::Invokes { .. });
        let may_retry = is_paired && !self.counts.has_nameless && !self.share.is_part();
        if let Err(reason) = self.workload.claim(mops, Claim { completes, is_alone: op.pair == Pair::Alone, may_retry })
        {
            self.note_malformed(op, reason);
        }
    }

    /// Ends the history. Returns the first malformed op if there were so many that the rest was not read.
    fn end(mut self, budget: &Budget) -> Result<Ended<W::Known>, Malformed> {
        self.doubt_unanswered();
        if let Some(malformed) = self.malformed.take_if(|_| self.malformed_count > MALFORMED_MAX) {
            return Err(malformed);
        }
        self.push_open();
        let TxnRun { mut workload, mut txns, counts, malformed, failed, writes_unknown, is_beginning, .. } = self;
        let settled = workload.settle(&mut txns);
        let doubted = workload.doubted(&txns);
        budget.begin("inferring dependencies");
        let (known, mut expected) = workload.known(txns, !writes_unknown, budget);
        expected.garbage_reads_allowed |= is_beginning;
        if doubted.is_some() {
            expected.certain = Doubted::certain();
        }
        Ok(Ended { known, expected, counts, malformed: malformed.or(settled), failed, doubted })
    }

    /// Adds rows for operations without a completion: they may have happened.
    fn push_open(&mut self) {
        let mut open: Vec<Open<W::Mop>> = std::mem::take(&mut self.open);
        open.retain(|open| open.waits && !(self.share.is_part() && open.mops.is_empty()));
        // An invocation without a client's name belongs to the completion with its writes, if there is one.
        let mut nameless = std::mem::take(&mut self.nameless);
        nameless.retain(|open| {
            let writes = open.mops.iter().filter(|mop| W::is_write(**mop));
            writes.filter(|mop| self.workload.take_completion(**mop)).count() == 0
        });
        open.append(&mut nameless);
        open.sort_unstable_by_key(|open| open.index);
        for open in &open {
            // An operation of a named client is not completed by another's op, so this value was written twice.
            for mop in open.mops.iter().filter(|mop| W::is_write(**mop)) {
                if self.workload.is_completed(*mop)
                    && let Some(reason) = self.workload.completed_by_another(*mop)
                {
                    self.malformed.get_or_insert(Malformed { index: open.index, line: None, reason });
                }
            }
        }
        for open in &open {
            self.counts.info += 1;
            if !open.has_value {
                self.counts.unsaid.get_or_insert(open.index);
            }
            let txn = TxnId::new(self.txns.len());
            self.txns.push_open(open);
            self.workload.enter(txn, OpKind::Info, &open.mops);
        }
    }
}

impl<K: Analysis> Ended<K> {
    fn report(&self, checker: &'static str, budget: &Budget) -> Report {
        let mut report = report::report(checker, &self.known, &self.expected, self.counts, budget);
        if self.counts.has_nameless {
            report::leave_nameless_open(&mut report);
        }
        if let Some(doubted) = &self.doubted {
            doubted.conclude(&mut report);
        }
        match &self.malformed {
            Some(malformed) => report = malformed.beside(report, checker),
            None => self.failed.conclude(&mut report, checker, self.known.txns().all_mops().is_empty(), self.counts),
        }
        self.failed.count(&mut report);
        report
    }
}

/// Returns true if the items that count are the same in two sequences.
#[inline]
fn is_same<'a, T: Copy + PartialEq + 'a>(
    a: impl Iterator<Item = &'a T>,
    b: impl Iterator<Item = &'a T>,
    counts: impl Fn(T) -> bool,
) -> bool {
    a.filter(|item| counts(**item)).eq(b.filter(|item| counts(**item)))
}

impl<W: Workload> Run for TxnRun<W> {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        if !self.txns.participants.see(op) {
            return Ok(ControlFlow::Continue(()));
        }
        self.take(op.without_cause().as_ref().unwrap_or(op))?;
        if self.malformed_count > MALFORMED_MAX {
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    }

    fn doubt(&self) -> Option<String> {
        Some(self.malformed.as_ref()?.doubt(W::NAME))
    }

    fn growth(&self) -> Option<String> {
        Some(format!("{} keeps the whole history in memory, and reports violations at its end", W::NAME))
    }

    fn finish(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        Ok(match self.end(budget) {
            Err(malformed) => malformed.report(W::NAME),
            Ok(ended) => ended.report(W::NAME, budget),
        })
    }
}
