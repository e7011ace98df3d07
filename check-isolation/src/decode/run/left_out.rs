//! Ops that cannot be decoded, and which parts of them still count.
//!
//! A failed operation did not happen, so a fault in it does not matter: the fault is ignored, and the part that can be
//! decoded is a failed transaction. So a fault in an invocation counts only when it is known how the operation ended.
//!
//! The writes of an operation that may have happened are known if only reads cannot be decoded, and if its completion
//! is not a list of micro-ops, but its invocation is one.

use super::{Event, IsolationRun};
use crate::decode::decoded::Counts;
use crate::decode::raw::{Act, RawMop, RawOp, Undecoded};
use crate::report;
use history_core::cast::Cast as _;
use history_core::{NextStep, Op, OpKind, Pair, Report, UndecodedOps, Verdict};

/// Ops that failed and cannot be decoded.
#[derive(Clone, Debug, Default)]
pub(super) struct IgnoredOps {
    /// A description of the first one, with the reason.
    first: Option<String>,
    /// The number of invocations and completions.
    count: u64,
}

/// The count of ops that were ignored.
const PASSED_OVER: &str = "passed-over-count";

impl IgnoredOps {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn push(&mut self, first: String) {
        self.count += 1;
        self.first.get_or_insert(first);
    }

    /// Adds a note on the ignored ops to the report on the others. `is_all`: there are no others, so nothing is known.
    pub(super) fn conclude(&self, report: &mut Report, is_all: bool, counts: Counts) {
        let Some(first) = &self.first else { return };
        let operations = counts.ok + counts.fail + counts.info;
        if is_all && report.verdict != Verdict::Invalid {
            let next = NextStep::correct_op(first);
            let counts = std::mem::take(&mut report.counts);
            *report = report::unknown(&format!("No verdict, because of {first}."), Some(next));
            report.counts = counts;
        } else if self.count.saturating_mul(100) >= operations {
            let ops = if self.count == 1 {
                "1 op that it does".to_owned()
            } else {
                format!("{} ops that it does", self.count)
            };
            report.notes.push(format!(
                "{} ignored {ops} not understand, because the operation failed and so had no effect. The first one \
                 is {first}.",
                report::NAME
            ));
        }
        report.counts.push((PASSED_OVER.into(), self.count));
    }
}

/// An op that cannot be decoded.
#[derive(Clone, Debug)]
pub(super) struct Doubted {
    /// The place and the reason, in the two forms in which they may be reported.
    place: String,
    ops: UndecodedOps,
    undecoded: Undecoded,
}

impl Doubted {
    fn new(op: &Op<'_>, undecoded: Undecoded, stops: bool) -> Doubted {
        let mut ops = UndecodedOps::default();
        ops.push(op, &undecoded.reason, stops);
        Doubted { place: format!("the op at {}: {}", op.place(), undecoded.reason), ops, undecoded }
    }
}

impl IsolationRun {
    /// Processes an op that could not be decoded completely. Returns true if it became a row.
    #[cold]
    pub(super) fn take_undecoded(&mut self, op: &Op<'_>, event: Event, undecoded: Undecoded, raw: &mut RawOp) -> bool {
        match (op.kind, op.pair) {
            // The completion decides whether the fault matters.
            (OpKind::Invoke, Pair::Invokes { slot }) => {
                self.invoke(&event, &raw.mops);
                let doubted = Doubted::new(op, undecoded, self.data.settings.timestamps);
                let open = &mut self.open[slot.to_usize()];
                open.waits = false;
                open.undecoded = Some(Box::new(doubted));
                self.undecoded_in_flight += 1;
                false
            }
            (OpKind::Fail, pair) => {
                if let Pair::Completes { slot, .. } = pair
                    && let Some(open) = self.open.get(slot.to_usize()).filter(|open| open.has_value)
                {
                    // The completion's own content does not matter.
                    raw.mops.clone_from(&open.mops);
                }
                raw.elements.clear();
                let is_row = self.enter_op(op, event, raw);
                self.ignored.push(Doubted::new(op, undecoded, false).place);
                is_row
            }
            _ => {
                self.leave_out(op, undecoded, &raw.mops);
                false
            }
        }
    }

    /// Ends an operation whose invocation could not be decoded. Its completion is checked separately.
    pub(super) fn end_undecoded(&mut self, op: &Op<'_>, slot: u32) {
        let Some(open) = self.open.get_mut(slot.to_usize()) else { return };
        let Some(doubted) = open.undecoded.take() else { return };
        self.undecoded_in_flight -= 1;
        if op.kind == OpKind::Fail {
            return self.ignored.push(doubted.place);
        }
        open.has_value = false;
        let mops = std::mem::take(&mut open.mops);
        self.doubt(*doubted, &mops);
    }

    /// Omits operations without a completion whose invocations could not be decoded.
    pub(super) fn doubt_unanswered(&mut self) {
        for slot in 0..self.open.len() {
            let open = &mut self.open[slot];
            let Some(doubted) = open.undecoded.take() else { continue };
            let mops = std::mem::take(&mut open.mops);
            self.undecoded_in_flight -= 1;
            self.doubt(*doubted, &mops);
        }
    }

    /// Omits an operation: its invocation and its completion. Reads may have observed its writes.
    #[cold]
    pub(super) fn leave_out(&mut self, op: &Op<'_>, mut undecoded: Undecoded, mops: &[RawMop]) {
        let mut left_out = mops.to_vec();
        if let Pair::Completes { slot, .. } = op.pair {
            self.end_undecoded(op, slot);
            if let Some(open) = self.open.get_mut(slot.to_usize()) {
                open.waits = false;
                let is_known = undecoded.is_whole && open.has_value;
                undecoded.may_write &= !is_known;
                undecoded.may_reset &= !is_known;
                left_out.append(&mut open.mops);
            }
        }
        self.doubt(Doubted::new(op, undecoded, self.data.settings.timestamps), &left_out);
    }

    fn doubt(&mut self, doubted: Doubted, mops: &[RawMop]) {
        self.undecoded.extend([doubted.ops]);
        self.data.writes_unknown |= doubted.undecoded.may_write;
        self.data.resets_unknown |= doubted.undecoded.may_reset;
        for mop in mops {
            let key = self.data.versions.key(mop.key);
            self.data.unclear_keys.push(key);
            if let Act::Write(code) = mop.act {
                let version = self.data.versions.version(key, code);
                self.data.unclear.push(version);
            }
        }
    }
}
