//! Witnesses: the transactions of an anomaly as they were recorded, and the reasons in prose.

use super::analysis::Analysis;
use super::txns::{Mop, What};
use crate::cycles::Cycle;
use crate::graph::Relation;
use crate::ids::{ElemId, KeyId, TxnId};
use history_core::{Datum, Step, Witness, WitnessOp};
use std::fmt::Write;

/// Values in one transaction that a report shows, about. Of a larger one the beginning is shown.
const SHOWN_DATUMS_MAX: usize = 16_384;

/// Transactions that one witness names, unless it is a cycle: that would prove nothing if some were missing.
pub(crate) const SHOWN_TXNS_MAX: usize = 64;

/// About how many values a micro-op holds.
fn size(mop: &Datum) -> usize {
    match mop {
        Datum::Vector(parts) => {
            parts.iter().map(|part| if let Datum::Vector(list) = part { list.len() } else { 1 }).sum()
        }
        _ => 1,
    }
}

/// What a step rests on: the key, the version before and the version after.
struct Reason {
    key: KeyId,
    value: Option<ElemId>,
    next: Option<ElemId>,
}

impl Analysis {
    /// A transaction as an op.
    pub(crate) fn op(&self, name: String, txn: TxnId) -> WitnessOp {
        let all = self.txns.mops(txn);
        let mut left = SHOWN_DATUMS_MAX;
        let mut mops: Vec<Datum> = Vec::new();
        for mop in all {
            let mop = self.mop(*mop);
            left = left.saturating_sub(size(&mop));
            mops.push(mop);
            if left == 0 && mops.len() < all.len() {
                mops.push(Datum::Symbol("...".into()));
                break;
            }
        }
        WitnessOp {
            name,
            index: self.txns.index(txn),
            process: self.txns.process(txn),
            kind: self.txns.kind(txn),
            time_ns: self.txns.time_ns(txn),
            value: Datum::Vector(mops),
        }
    }

    pub(crate) fn mop(&self, mop: Mop) -> Datum {
        let (f, value) = match mop.what() {
            What::Append(elem) => ("append", self.elem(elem)),
            What::Read(state) => ("r", self.list(state)),
            What::Unseen => ("r", Datum::Nil),
        };
        Datum::Vector(vec![Datum::keyword(f), self.key(mop.key), value])
    }

    /// A cycle, each step with its reason.
    pub(crate) fn explain_cycle(&self, cycle: &Cycle) -> Witness {
        let txn = |at: usize| TxnId::new(cycle.0[at].0 as usize);
        let ops: Vec<WitnessOp> = (0..cycle.len()).map(|at| self.op(format!("T{}", at + 1), txn(at))).collect();
        let mut steps = Vec::with_capacity(cycle.len());
        for from in 0..cycle.len() {
            let to = (from + 1) % cycle.len();
            let relation = cycle.0[from].1;
            let reason = self.reason(txn(from), txn(to), relation);
            let value = |elem: Option<ElemId>| elem.map_or(Datum::Nil, |elem| self.elem(elem));
            steps.push(Step {
                from,
                to,
                relation: relation.name().into(),
                key: reason.as_ref().map(|reason| self.key(reason.key)),
                value: reason.as_ref().map(|reason| value(reason.value)),
                next_value: reason.as_ref().filter(|_| relation != Relation::Wr).map(|reason| value(reason.next)),
                because: self.because(
                    (&ops[from].name, txn(from)),
                    (&ops[to].name, txn(to)),
                    relation,
                    reason.as_ref(),
                ),
            });
        }
        let explanation = tell(&ops, &steps);
        Witness { ops, steps, facts: Vec::new(), explanation }
    }

    /// Where two transactions meet. Each relation is looked for as it is defined, not as the graph has it.
    fn reason(&self, from: TxnId, to: TxnId, relation: Relation) -> Option<Reason> {
        let wrote = |elem: ElemId, txn: TxnId| self.states.elem[elem.at()].writer == txn;
        match relation {
            Relation::Ww => self.txns.mops(from).iter().find_map(|mop| {
                let What::Append(elem) = mop.what() else { return None };
                let next = self.orders.after(mop.key, Some(elem)).iter().find(|next| wrote(**next, to))?;
                Some(Reason { key: mop.key, value: Some(elem), next: Some(*next) })
            }),
            Relation::Wr => self.txns.mops(to).iter().find_map(|mop| {
                let What::Read(state) = mop.what() else { return None };
                let last = self.states.last(state).filter(|last| wrote(*last, from))?;
                Some(Reason { key: mop.key, value: Some(last), next: None })
            }),
            Relation::Rw => self.txns.mops(from).iter().find_map(|mop| {
                let What::Read(state) = mop.what() else { return None };
                let last = self.states.last(state);
                let next = self.orders.after(mop.key, last).iter().find(|next| wrote(**next, to))?;
                Some(Reason { key: mop.key, value: last, next: Some(*next) })
            }),
            Relation::Process | Relation::Realtime | Relation::Through => None,
        }
    }

    fn because(
        &self,
        (a, from): (&str, TxnId),
        (b, to): (&str, TxnId),
        relation: Relation,
        reason: Option<&Reason>,
    ) -> String {
        let Some(Reason { key, value, next }) = reason else {
            return match relation {
                Relation::Process => {
                    let process = self.txns.process(from).unwrap_or_default();
                    format!("process {process} executed {a} before {b}")
                }
                _ => self.because_of_time((a, from), (b, to)),
            };
        };
        let key = self.key(*key);
        let show = |elem: Option<ElemId>| elem.map_or(Datum::Nil, |elem| self.elem(elem));
        match (relation, value) {
            (Relation::Ww, _) => {
                format!("{b} appended {} after {a} appended {} to {key}", show(*next), show(*value))
            }
            (Relation::Wr, _) => format!("{b} observed {a}'s append of {} to key {key}", show(*value)),
            (_, None) => {
                format!("{a} observed the initial (empty) state of {key}, to which {b} appended {}", show(*next))
            }
            (_, Some(_)) => format!("{a} did not observe {b}'s append of {} to {key}", show(*next)),
        }
    }

    fn because_of_time(&self, (a, from): (&str, TxnId), (b, to): (&str, TxnId)) -> String {
        let mut text = format!("{a} completed at index {},", self.txns.index(from));
        if let (Some(end), Some(begin)) = (self.txns.time_ns(from), self.txns.invoked_time_ns(to)) {
            // Clocks of a test are not as exact as the order in which it recorded.
            match begin.checked_sub(end) {
                Some(ns) if ns > 0 => {
                    // Rounded to milliseconds.
                    let ms = (ns + 500_000) / 1_000_000;
                    let _ = write!(text, " {}.{:03} s", ms / 1_000, ms % 1_000);
                }
                _ => text.push_str(" just"),
            }
        }
        let invoked = self.txns.invoked(to).unwrap_or_default();
        let _ = write!(text, " before the invocation of {b} at index {invoked}");
        text
    }

    /// Anomalies that are no cycles: the transactions, the facts, and one sentence.
    pub(crate) fn explain(
        &self,
        txns: &[TxnId],
        facts: Vec<(&'static str, Datum)>,
        sentence: impl FnOnce(&[WitnessOp]) -> String,
    ) -> Witness {
        let ops: Vec<WitnessOp> =
            txns.iter().enumerate().map(|(at, txn)| self.op(format!("T{}", at + 1), *txn)).collect();
        let mut explanation = introduce(&ops);
        explanation.push_str(&sentence(&ops));
        let facts = facts.into_iter().map(|(name, datum)| (name.into(), datum)).collect();
        Witness { ops, steps: Vec::new(), facts, explanation }
    }
}

/// The transactions by their names.
fn introduce(ops: &[WitnessOp]) -> String {
    let mut text = String::from("Let:\n");
    for op in ops {
        let _ = write!(text, "  {} = {{:index {}, :type :{}", op.name, op.index, op.kind.name());
        if let Some(process) = op.process {
            let _ = write!(text, ", :process {process}");
        }
        let _ = writeln!(text, ", :value {}}}", op.value);
    }
    text.push_str("\nThen:\n");
    text
}

/// A cycle as a story that ends in its contradiction.
fn tell(ops: &[WitnessOp], steps: &[Step]) -> String {
    let mut text = introduce(ops);
    for (at, step) in steps.iter().enumerate() {
        let Step { from, to, because, .. } = step;
        let (a, b) = (&ops[*from].name, &ops[*to].name);
        let last = at + 1 == steps.len();
        let (lead, end) = if last { ("However, ", ": a contradiction!") } else { ("", ".") };
        let _ = writeln!(text, "  - {lead}{a} < {b}, because {because}{end}");
    }
    text
}
