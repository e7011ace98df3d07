//! Witnesses: the transactions of an anomaly as they were recorded, and the reasons as sentences.

use super::analysis::{Analysis, Named, Reason};
use crate::cycles::Cycle;
use crate::graph::Relation;
use crate::ids::TxnId;
use history_core::cast::Cast as _;
use history_core::explain::{self, Explanation};
use history_core::{Datum, Step, Witness, WitnessOp};
use std::fmt::Write;

/// The approximate maximum number of values of one transaction in a report. A larger transaction is truncated.
const SHOWN_DATUMS_MAX: usize = 16_384;

/// The number of transactions that one witness names, unless it is a cycle: an incomplete cycle would prove nothing.
pub(crate) const SHOWN_TXNS_MAX: usize = 64;

/// The approximate number of values in a micro-op.
fn size(mop: &Datum) -> usize {
    match mop {
        Datum::Vector(parts) => {
            parts.iter().map(|part| if let Datum::Vector(list) = part { list.len() } else { 1 }).sum()
        }
        _ => 1,
    }
}

/// A transaction as an op.
pub(crate) fn op<A: Analysis>(analysis: &A, name: String, txn: TxnId) -> WitnessOp {
    let txns = analysis.txns();
    let all = txns.recorded(txn);
    let mut left = SHOWN_DATUMS_MAX;
    let mut mops: Vec<Datum> = Vec::new();
    for mop in all {
        let mop = analysis.mop(*mop);
        left = left.saturating_sub(size(&mop));
        mops.push(mop);
        if left == 0 && mops.len() < all.len() {
            mops.push(Datum::Symbol("...".into()));
            break;
        }
    }
    WitnessOp {
        name,
        index: txns.index(txn),
        process: txns.client(txn),
        kind: txns.kind(txn),
        time_ns: txns.time_ns(txn),
        value: Datum::Vector(mops),
    }
}

fn ops<A: Analysis>(analysis: &A, txns: impl Iterator<Item = TxnId>) -> Vec<WitnessOp> {
    txns.enumerate().map(|(at, txn)| op(analysis, explain::name(at), txn)).collect()
}

/// A cycle, each step with its reason.
pub(crate) fn explain_cycle<A: Analysis>(analysis: &A, cycle: &Cycle) -> Witness {
    let txn = |at: usize| TxnId::new(cycle.0[at].0.to_usize());
    let ops = ops(analysis, (0..cycle.len()).map(txn));
    let steps: Vec<Step> = (0..cycle.len())
        .map(|from| {
            let to = (from + 1) % cycle.len();
            let named = |at: usize| Named { name: &ops[at].name, txn: txn(at) };
            step(analysis, (from, named(from)), (to, named(to)), cycle.0[from].1)
        })
        .collect();
    let explanation = cycle_explanation(&ops, &steps);
    Witness::new(ops, explanation).with_steps(steps)
}

/// Transactions and the relations between them, each given by the positions of its ends.
pub(crate) fn component<A: Analysis>(
    analysis: &A,
    txns: &[TxnId],
    relations: &[(usize, usize, Relation)],
) -> (Vec<WitnessOp>, Vec<Step>) {
    let ops = ops(analysis, txns.iter().copied());
    let named = |at: usize| Named { name: &ops[at].name, txn: txns[at] };
    let steps = relations
        .iter()
        .map(|(from, to, relation)| step(analysis, (*from, named(*from)), (*to, named(*to)), *relation))
        .collect();
    (ops, steps)
}

/// The reason why one transaction precedes another. Each relation is derived from its definition, not from the graph.
fn step<A: Analysis>(
    analysis: &A,
    (from, a): (usize, Named<'_>),
    (to, b): (usize, Named<'_>),
    relation: Relation,
) -> Step {
    let reason = if relation.is_data() { analysis.reason(relation, a, b) } else { None };
    let (meeting, because) = match (reason, relation) {
        (Some(Reason { key, value, next_value, because }), _) => (Some((key, value, next_value)), because),
        (None, Relation::Process) => (None, because_of_process(analysis, a, b)),
        (None, _) => (None, because_of_time(analysis, a, b)),
    };
    let (key, value, next_value) = match meeting {
        Some((key, value, next_value)) => (Some(key), Some(value), next_value),
        None => (None, None, None),
    };
    Step::new(from, to, analysis.relation_name(relation, a.txn, b.txn), because).with_versions(key, value, next_value)
}

fn because_of_process<A: Analysis>(analysis: &A, a: Named<'_>, b: Named<'_>) -> String {
    let process = analysis.txns().client(a.txn).map_or_else(String::new, |process| process.to_string());
    format!("process {process} executed {} before {}", a.name, b.name)
}

fn because_of_time<A: Analysis>(analysis: &A, a: Named<'_>, b: Named<'_>) -> String {
    let txns = analysis.txns();
    let mut text = format!("{} completed at index {},", a.name, txns.index(a.txn));
    if let (Some(end), Some(begin)) = (txns.time_ns(a.txn), txns.invoked_time_ns(b.txn)) {
        // The clocks of a test are less precise than the order of the recorded ops.
        match begin.checked_sub(end) {
            Some(ns) if ns > 0 => {
                // Rounded to milliseconds.
                let ms = (ns + 500_000) / 1_000_000;
                let _ = write!(text, " {}.{:03} s", ms / 1_000, ms % 1_000);
            }
            _ => text.push_str(" just"),
        }
    }
    let invoked = txns.invoked(b.txn).unwrap_or_default();
    let _ = write!(text, " before the invocation of {} at index {invoked}", b.name);
    text
}

/// Explains an anomaly that is not a cycle: the transactions, the facts, and one sentence.
pub(crate) fn explain<A: Analysis>(
    analysis: &A,
    txns: &[TxnId],
    facts: Vec<(&'static str, Datum)>,
    sentence: impl FnOnce(&[WitnessOp]) -> String,
) -> Witness {
    explain_at_length(analysis, txns, facts, |ops, explanation| explanation.then(sentence(ops)))
}

/// The same with the sentences that `conclude` adds.
pub(crate) fn explain_at_length<A: Analysis>(
    analysis: &A,
    txns: &[TxnId],
    facts: Vec<(&'static str, Datum)>,
    conclude: impl FnOnce(&[WitnessOp], &mut Explanation),
) -> Witness {
    let ops = ops(analysis, txns.iter().copied());
    let mut explanation = Explanation::of(&ops);
    conclude(&ops, &mut explanation);
    let facts = facts.into_iter().map(|(name, datum)| (name.into(), datum)).collect();
    Witness::new(ops, explanation.to_string()).with_facts(facts)
}

/// The explanation of why the steps of a cycle contradict each other; the last step leads back to the first op.
fn cycle_explanation(ops: &[WitnessOp], steps: &[Step]) -> String {
    let mut explanation = Explanation::of(ops);
    for (at, step) in steps.iter().enumerate() {
        let Step { from, to, because, .. } = step;
        let (a, b) = (&ops[*from].name, &ops[*to].name);
        let last = at + 1 == steps.len();
        let (lead, end) = if last { ("However, ", ": a contradiction!") } else { ("", ".") };
        explanation.then(format_args!("{lead}{a} < {b}, because {because}{end}"));
    }
    explanation.to_string()
}
