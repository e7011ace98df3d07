//! The fold: ops become columns, each looked at once, whatever a workload's micro-ops are.

use super::columns::{Open, Txns};
use crate::ids::TxnId;
use crate::lattice;
use crate::model::ModelSet;
use history_core::{Budget, ErrorKind, History, HistoryError, Op, OpKind, Pair, Process, Report, Run, Value, Verdict};
use std::ops::ControlFlow;

/// What a workload's micro-ops mean.
pub(crate) trait Workload: Send {
    type Mop: Copy + Send;

    /// The checker's name.
    const NAME: &'static str;
    /// Its micro-ops, for messages: `"[:r key list] or [:append key value]"`.
    const MOPS: &'static str;
    /// Ids stay below this.
    const IDS_MAX: usize;

    /// The micro-op `[f key value]` of an op of this kind; `None` if it is none of this workload's.
    fn decode(&mut self, kind: OpKind, f: &str, key: Value<'_>, value: Value<'_>) -> Option<Self::Mop>;

    /// More than the greatest id that it has given out.
    fn ids(&self) -> usize;

    /// Whether a micro-op writes.
    fn is_write(mop: Self::Mop) -> bool;

    /// Notes what an op writes; `completes` says whether it is a completion. Why the history cannot be judged, if it cannot
    /// because of this.
    fn claim(&mut self, mops: &[Self::Mop], completes: bool) -> Result<(), String>;

    /// Whether some completion holds this write.
    fn is_completed(&self, mop: Self::Mop) -> bool;

    /// What is wrong, if anything is, with an invocation that was never answered, although a completion holds this write
    /// of it.
    fn completed_by_another(&self, mop: Self::Mop) -> Option<String>;

    /// Looks at a transaction, the next one.
    fn enter(&mut self, txn: TxnId, kind: OpKind, mops: &[Self::Mop]);

    /// The end of the history.
    fn report(self, txns: Txns<Self::Mop>, counts: Counts, budget: &Budget) -> Report;
}

/// How many ops of each kind there were.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) ok: u64,
    pub(crate) fail: u64,
    pub(crate) info: u64,
}

/// An op that no such workload writes. It makes the verdict unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) index: u64,
    pub(crate) line: Option<u64>,
    pub(crate) reason: String,
}

impl Malformed {
    /// The report on such a history.
    pub(crate) fn report(&self, checker: &'static str) -> Report {
        let mut report = Report::new(checker, Verdict::Unknown);
        let line = self.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        report.notes.push(format!(
            "Nothing can be said of this history, because at index {}{line} {}.",
            self.index, self.reason
        ));
        report.not_checked = lattice::names(ModelSet::ALL).into_iter().map(Into::into).collect();
        report
    }
}

/// A history of transactions on its way through a checker.
pub(crate) struct TxnRun<W: Workload> {
    workload: W,
    txns: Txns<W::Mop>,
    /// Operations in flight, by slot.
    open: Vec<Open<W::Mop>>,
    /// Invocations by clients that the history does not name.
    nameless: Vec<Open<W::Mop>>,
    counts: Counts,
    malformed: Option<Malformed>,
    mops: Vec<W::Mop>,
}

impl<W: Workload> TxnRun<W> {
    pub(crate) fn new(workload: W) -> TxnRun<W> {
        TxnRun {
            workload,
            txns: Txns::default(),
            open: Vec::new(),
            nameless: Vec::new(),
            counts: Counts::default(),
            malformed: None,
            mops: Vec::new(),
        }
    }

    fn take(&mut self, op: &Op<'_>) -> Result<(), Trouble> {
        let mut mops = std::mem::take(&mut self.mops);
        mops.clear();
        let read = self.read_mops(op, &mut mops);
        let done = read.and_then(|()| match op.kind {
            OpKind::Invoke => self.invoke(op, &mops),
            OpKind::Ok | OpKind::Fail | OpKind::Info => self.complete(op, &mut mops),
        });
        self.mops = mops;
        done
    }

    /// Decodes an op's micro-ops.
    fn read_mops(&mut self, op: &Op<'_>, mops: &mut Vec<W::Mop>) -> Result<(), Trouble> {
        let items = match op.value {
            Value::Nil => return Ok(()),
            Value::Vector(items) | Value::List(items) => items,
            other => {
                return Err(malformed(op, format!("the op's value, {other}, is no list of micro-ops: {}", W::MOPS)));
            }
        };
        for item in items {
            let mop = self.read_mop(op, item)?;
            mops.push(mop);
        }
        if self.workload.ids().max(self.txns.all_mops().len()) >= W::IDS_MAX {
            return Err(HistoryError::new(ErrorKind::Limit, "more than 2^31 micro-ops or versions").into());
        }
        Ok(())
    }

    #[inline]
    fn read_mop(&mut self, op: &Op<'_>, item: Value<'_>) -> Result<W::Mop, Trouble> {
        let bad = || malformed(op, format!("{item} is no micro-op of {}: {}", W::NAME, W::MOPS));
        let mut parts = item.as_seq().ok_or_else(bad)?.iter();
        let (Some(f), Some(key), Some(value), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
            return Err(bad());
        };
        let f = f.as_name().ok_or_else(bad)?;
        self.workload.decode(op.kind, f, key, value).ok_or_else(bad)
    }

    fn invoke(&mut self, op: &Op<'_>, mops: &[W::Mop]) -> Result<(), Trouble> {
        self.claim(op, mops, false)?;
        let process = match op.process {
            Process::Client(process) => Some(process),
            Process::Other(_) | Process::Unknown => None,
        };
        let oks = self.counts.ok as u32;
        let fill = |open: &mut Open<W::Mop>| {
            open.waits = true;
            open.index = op.index;
            open.process = process;
            open.time_ns = op.time;
            open.oks_before = oks;
            open.mops.clear();
            open.mops.extend_from_slice(mops);
        };
        if let Pair::Invokes { slot } = op.pair {
            let slot = slot as usize;
            if slot >= self.open.len() {
                self.open.resize_with(slot + 1, Open::default);
            }
            fill(&mut self.open[slot]);
        } else if mops.iter().any(|mop| W::is_write(*mop)) {
            let mut open = Open::default();
            fill(&mut open);
            self.nameless.push(open);
        }
        Ok(())
    }

    fn complete(&mut self, op: &Op<'_>, mops: &mut Vec<W::Mop>) -> Result<(), Trouble> {
        let mut oks_before = None;
        if let Pair::Completes { slot, .. } = op.pair
            && let Some(open) = self.open.get_mut(slot as usize)
        {
            open.waits = false;
            oks_before = Some(open.oks_before);
            if op.value.is_nil() {
                mops.extend_from_slice(&open.mops);
            }
        }
        self.claim(op, mops, true)?;
        match op.kind {
            OpKind::Ok => self.counts.ok += 1,
            OpKind::Fail => self.counts.fail += 1,
            OpKind::Info | OpKind::Invoke => self.counts.info += 1,
        }
        if op.kind == OpKind::Fail && !mops.iter().any(|mop| W::is_write(*mop)) {
            return Ok(());
        }
        let txn = TxnId::new(self.txns.len());
        self.txns.push(op, mops, oks_before);
        self.workload.enter(txn, op.kind, mops);
        Ok(())
    }

    fn claim(&mut self, op: &Op<'_>, mops: &[W::Mop], completes: bool) -> Result<(), Trouble> {
        self.workload.claim(mops, completes).map_err(|reason| malformed(op, reason))
    }

    /// Rows for what was never answered: it may have happened.
    fn push_open(&mut self) -> Result<(), Malformed> {
        let mut open: Vec<Open<W::Mop>> = std::mem::take(&mut self.open);
        open.retain(|open| open.waits);
        // An invocation without a client's name belongs to the completion with its writes, if there is one.
        let completed = |mop: &&W::Mop| W::is_write(**mop) && self.workload.is_completed(**mop);
        let mut nameless = std::mem::take(&mut self.nameless);
        nameless.retain(|open| !open.mops.iter().any(|mop| completed(&mop)));
        open.append(&mut nameless);
        open.sort_unstable_by_key(|open| open.index);
        for open in &open {
            // A client with a name is no other's completion, so this was written twice.
            let twice = open.mops.iter().find(completed);
            if let Some(reason) = twice.and_then(|mop| self.workload.completed_by_another(*mop)) {
                return Err(Malformed { index: open.index, line: None, reason });
            }
        }
        for open in &open {
            self.counts.info += 1;
            let txn = TxnId::new(self.txns.len());
            self.txns.push_open(open);
            self.workload.enter(txn, OpKind::Info, &open.mops);
        }
        Ok(())
    }
}

/// Checks a history that is in memory.
pub(crate) fn check<W: Workload>(history: &History, workload: W) -> Result<Report, HistoryError> {
    history_core::check_history(Box::new(TxnRun::new(workload)), history, &Budget::default())
}

/// Why an op ends the run.
enum Trouble {
    Malformed(Malformed),
    Error(HistoryError),
}

impl From<HistoryError> for Trouble {
    fn from(error: HistoryError) -> Trouble {
        Trouble::Error(error)
    }
}

#[cold]
fn malformed(op: &Op<'_>, reason: String) -> Trouble {
    Trouble::Malformed(Malformed { index: op.index, line: op.position.map(|position| position.line), reason })
}

impl<W: Workload> Run for TxnRun<W> {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        if !self.txns.participants.see(op) {
            return Ok(ControlFlow::Continue(()));
        }
        match self.take(op) {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(Trouble::Error(error)) => Err(error),
            Err(Trouble::Malformed(malformed)) => {
                self.malformed = Some(malformed);
                Ok(ControlFlow::Break(()))
            }
        }
    }

    fn finish(mut self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        if self.malformed.is_none() {
            self.malformed = self.push_open().err();
        }
        if let Some(malformed) = &self.malformed {
            return Ok(malformed.report(W::NAME));
        }
        let TxnRun { workload, txns, counts, .. } = *self;
        budget.begin("inferring who saw whom");
        Ok(workload.report(txns, counts, budget))
    }
}
