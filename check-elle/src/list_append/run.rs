//! The fold: ops become columns, each looked at once.

use super::ListAppend;
use super::analysis::Analysis;
use super::states::{ElemFlags, States};
use super::txns::{Mop, Open, Txns, What};
use super::within::{Findings, Within};
use crate::ids::{ElemId, KeyId, TxnId};
use crate::intern::Interner;
use history_core::{Budget, ErrorKind, HistoryError, Op, OpKind, Pair, Process, Report, Run, Value};
use std::ops::ControlFlow;

/// A history on its way through the list-append checker.
#[derive(Default)]
pub(crate) struct ListAppendRun {
    options: ListAppend,
    interner: Interner,
    states: States,
    txns: Txns,
    within: Within,
    found: Findings,
    /// Operations in flight, by slot.
    open: Vec<Open>,
    /// Invocations by clients that the history does not name.
    nameless: Vec<Open>,
    counts: Counts,
    /// Why this is no list-append history.
    malformed: Option<Malformed>,
    mops: Vec<Mop>,
    codes: Vec<i64>,
}

/// How many ops of each kind there were.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) ok: u64,
    pub(crate) fail: u64,
    pub(crate) info: u64,
    pub(crate) other: u64,
}

/// An op that no list-append workload writes. It makes the verdict unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) index: u64,
    pub(crate) line: Option<u64>,
    pub(crate) reason: String,
}

impl ListAppendRun {
    pub(crate) fn new(options: ListAppend) -> ListAppendRun {
        ListAppendRun { options, ..ListAppendRun::default() }
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
    fn read_mops(&mut self, op: &Op<'_>, mops: &mut Vec<Mop>) -> Result<(), Trouble> {
        let items = match op.value {
            Value::Nil => return Ok(()),
            Value::Vector(items) | Value::List(items) => items,
            other => return Err(malformed(op, format!("the op's value, {other}, is no list of micro-ops"))),
        };
        for item in items {
            let mop = self.read_mop(op, item)?;
            mops.push(mop);
        }
        if self.states.elem.len().max(self.states.state.len()).max(self.txns.all_mops().len()) >= Mop::IDS_MAX {
            return Err(HistoryError::new(ErrorKind::Limit, "more than 2^31 micro-ops, elements or lists").into());
        }
        Ok(())
    }

    #[inline]
    fn read_mop(&mut self, op: &Op<'_>, item: Value<'_>) -> Result<Mop, Trouble> {
        let bad =
            || malformed(op, format!("{item} is no micro-op of list-append: [:r key list] or [:append key value]"));
        let mut parts = item.as_seq().ok_or_else(bad)?.iter();
        let (Some(f), Some(key), Some(value), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
            return Err(bad());
        };
        let key_code = self.interner.code(key);
        let key = self.states.key_id(key_code);
        match f.as_name() {
            Some("append") => {
                let code = self.interner.code(value);
                Ok(Mop::append(key, self.states.elem_id(key, code)))
            }
            Some("r") => self.read(op, key, value).ok_or_else(bad),
            _ => Err(bad()),
        }
    }

    /// A read of `value`; `None` if that is no list.
    fn read(&mut self, op: &Op<'_>, key: KeyId, value: Value<'_>) -> Option<Mop> {
        let list = match value {
            Value::Nil => None,
            Value::Vector(list) | Value::List(list) => Some(list),
            _ => return None,
        };
        Some(match (op.kind, list) {
            // What failed or was only asked for saw nothing.
            (OpKind::Invoke | OpKind::Fail, _) | (OpKind::Info, None) => Mop::unseen(key),
            // Many clients return nil for a list that is not there.
            (OpKind::Ok, None) => Mop::read(key, self.states.state_id(key, &[])),
            (OpKind::Ok | OpKind::Info, Some(list)) => {
                let codes = self.interner.codes(list, &mut self.codes);
                Mop::read(key, self.states.state_id(key, codes))
            }
        })
    }

    fn invoke(&mut self, op: &Op<'_>, mops: &[Mop]) -> Result<(), Trouble> {
        self.claim(op, mops, ElemFlags::INVOKED)?;
        let process = match op.process {
            Process::Client(process) => Some(process),
            Process::Other(_) | Process::Unknown => None,
        };
        let oks = self.counts.ok as u32;
        let fill = |open: &mut Open| {
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
        } else if mops.iter().any(|mop| matches!(mop.what(), What::Append(_))) {
            let mut open = Open::default();
            fill(&mut open);
            self.nameless.push(open);
        }
        Ok(())
    }

    fn complete(&mut self, op: &Op<'_>, mops: &mut Vec<Mop>) -> Result<(), Trouble> {
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
        self.claim(op, mops, ElemFlags::COMPLETED)?;
        match op.kind {
            OpKind::Ok => self.counts.ok += 1,
            OpKind::Fail => self.counts.fail += 1,
            OpKind::Info | OpKind::Invoke => self.counts.info += 1,
        }
        let appends = mops.iter().any(|mop| matches!(mop.what(), What::Append(_)));
        if op.kind == OpKind::Fail && !appends {
            return Ok(());
        }
        let txn = TxnId::new(self.txns.len());
        self.txns.push(op, mops, oks_before);
        self.enter(txn, op.kind, mops);
        Ok(())
    }

    /// Notes what a transaction wrote, and looks at its micro-ops together.
    fn enter(&mut self, txn: TxnId, kind: OpKind, mops: &[Mop]) {
        for mop in mops {
            let What::Append(elem) = mop.what() else { continue };
            let elem = &mut self.states.elem[elem.at()];
            elem.writer = txn;
            if kind == OpKind::Fail {
                elem.flags.add(ElemFlags::FAILED);
            } else {
                self.states.key[mop.key.at()].appends += 1;
            }
        }
        self.within.look(&mut self.states, kind, txn, mops, &mut self.found);
    }

    /// Marks what is appended, and refuses what was appended before: without unique elements there is no version order.
    fn claim(&mut self, op: &Op<'_>, mops: &[Mop], as_what: ElemFlags) -> Result<(), Trouble> {
        for mop in mops {
            let What::Append(elem) = mop.what() else { continue };
            let elem = &mut self.states.elem[elem.at()];
            if elem.flags.has(as_what) {
                let (key, value) = self.names(elem_of(*mop));
                return Err(malformed(op, format!("{value} is appended to key {key} for the second time")));
            }
            elem.flags.add(as_what);
        }
        Ok(())
    }

    fn names(&self, elem: ElemId) -> (String, String) {
        let elem = self.states.elem[elem.at()];
        let key = self.states.key[elem.key.at()].code;
        (self.interner.datum(key).to_string(), self.interner.datum(elem.code).to_string())
    }

    /// Rows for what was never answered: it may have happened.
    fn push_open(&mut self) -> Result<(), Malformed> {
        let mut open: Vec<Open> = std::mem::take(&mut self.open);
        open.retain(|open| open.waits);
        // An invocation without a client's name belongs to the completion with its appends, if there is one.
        let completed = |mop: &Mop| match mop.what() {
            What::Append(elem) => self.states.elem[elem.at()].flags.has(ElemFlags::COMPLETED),
            What::Read(_) | What::Unseen => false,
        };
        let mut nameless = std::mem::take(&mut self.nameless);
        nameless.retain(|open| !open.mops.iter().any(completed));
        open.append(&mut nameless);
        open.sort_unstable_by_key(|open| open.index);
        for open in &open {
            // A client with a name is no other's completion, so this element was appended twice.
            if let Some(mop) = open.mops.iter().find(|mop| completed(mop)) {
                let (key, value) = self.names(elem_of(*mop));
                let reason = format!("{value} is appended to key {key}, and again by a completion");
                return Err(Malformed { index: open.index, line: None, reason });
            }
        }
        for open in &open {
            self.counts.info += 1;
            let txn = TxnId::new(self.txns.len());
            self.txns.push_open(open);
            self.enter(txn, OpKind::Info, &open.mops);
        }
        Ok(())
    }
}

fn elem_of(mop: Mop) -> ElemId {
    match mop.what() {
        What::Append(elem) => elem,
        What::Read(_) | What::Unseen => ElemId::NONE,
    }
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

impl Run for ListAppendRun {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        if !op.process.is_client() {
            self.counts.other += 1;
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
        if let Some(malformed) = &self.malformed {
            return Ok(super::report::malformed(malformed));
        }
        if let Err(malformed) = self.push_open() {
            return Ok(super::report::malformed(&malformed));
        }
        let ListAppendRun { options, interner, states, txns, found, counts, .. } = *self;
        let analysis = Analysis::new(interner, states, txns, found);
        Ok(super::report::report(&options, &analysis, counts, budget))
    }
}
