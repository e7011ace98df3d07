//! Adds evidence from the recorded history to a report: the node of each op in a witness, the faults in progress, and
//! the smallest part of the history.

use crate::minimize::{self, Minimize};
use crate::output::diagnose;
use history_core::cast::Cast as _;
use history_core::{HistoryError, Op, Pair, Process, Reader, Report, Value, Witness};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

/// Longer histories are not minimized automatically, because that takes too long.
const MINIMIZED_OPS_MAX: u64 = 200_000;

/// An operation, from its invocation to its completion.
struct Span {
    first: u64,
    last: u64,
    host: Option<String>,
}

/// A fault, from the op that began it to the one that ended it.
struct On {
    first: u64,
    last: u64,
    what: String,
}

/// Adds to each witness the nodes of its ops and the faults during them. A history that cannot be read adds nothing.
pub(super) fn explain(report: &mut Report, history: &Path) {
    let mut spans: BTreeMap<u64, Option<Span>> = BTreeMap::new();
    each(report, &mut |witness| spans.extend(witness.ops.iter().map(|op| (op.index, None))));
    if spans.is_empty() {
        return;
    }
    let Ok(faults) = read(history, &mut spans) else { return };
    each(report, &mut |witness| {
        let lines: Vec<String> = witness
            .ops
            .iter()
            .filter_map(|op| Some((op, spans.get(&op.index)?.as_ref()?)))
            .filter_map(|(op, span)| {
                let on: Vec<&str> = faults
                    .iter()
                    .filter(|on| on.first <= span.last && on.last >= span.first)
                    .map(|on| on.what.as_str())
                    .collect();
                let through = span.host.as_ref().map(|host| format!("through {host}"));
                let during = (!on.is_empty()).then(|| format!("during {}", on.join(", ")));
                let all: Vec<String> = through.into_iter().chain(during).collect();
                (!all.is_empty()).then(|| format!("  {}: {}\n", op.name, all.join(", ")))
            })
            .collect();
        if !lines.is_empty() {
            let text = &mut witness.explanation;
            if !text.ends_with('\n') {
                text.push('\n');
            }
            _ = write!(text, "\nNodes and faults:\n{}", lines.concat());
        }
    });
}

fn each(report: &mut Report, what: &mut dyn FnMut(&mut Witness)) {
    report.anomalies.iter_mut().flat_map(|anomaly| &mut anomaly.witnesses).for_each(&mut *what);
    report.checkers.iter_mut().for_each(|report| each(report, what));
}

/// Finds the operations of the ops with these indices, and all faults.
fn read(history: &Path, spans: &mut BTreeMap<u64, Option<Span>>) -> Result<Vec<On>, HistoryError> {
    let file =
        File::open(history).map_err(|error| HistoryError::new(history_core::ErrorKind::Io, error.to_string()))?;
    let mut faults: Vec<On> = Vec::new();
    // The index of the first op of the operation in each slot.
    let mut begun: HashMap<u32, u64> = HashMap::new();
    Reader::new(file).growing().for_each(|op| {
        if !op.process.is_client() {
            note_fault(op, &mut faults);
            return Ok(ControlFlow::Continue(()));
        }
        let host = || op.extra.get("host").and_then(Value::as_name).map(str::to_owned);
        match op.pair {
            Pair::Invokes { slot } => {
                begun.insert(slot, op.index);
                if let Some(span) = spans.get_mut(&op.index) {
                    *span = Some(Span { first: op.index, last: u64::MAX, host: host() });
                }
            }
            Pair::Completes { slot, .. } => {
                let first = begun.remove(&slot).unwrap_or(op.index);
                for index in [first, op.index] {
                    if let Some(span) = spans.get_mut(&index) {
                        *span = Some(Span { first, last: op.index, host: host() });
                    }
                }
            }
            Pair::Alone => {}
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(faults)
}

/// Records a fault from an op of the nemesis: see `record_live::Recorder::nemesis`.
fn note_fault(op: &Op<'_>, faults: &mut Vec<On>) {
    let Process::Other(_) = op.process else { return };
    match op.extra.get("fault").and_then(Value::as_name) {
        Some("begin") => {
            let nodes = op.value.as_seq().into_iter().flat_map(history_core::Seq::iter).filter_map(Value::as_name);
            let words: Vec<&str> = op.f.into_iter().chain(nodes).collect();
            faults.push(On { first: op.index, last: u64::MAX, what: words.join(" ") });
        }
        Some("end") => faults.iter_mut().filter(|on| on.last == u64::MAX).for_each(|on| on.last = op.index),
        _ => {}
    }
}

/// Writes the smallest part of the history that shows the violation, unless the history is too long.
pub(super) fn minimize(job: &Minimize<'_>, report: &Report, ops: u64) {
    let Some(input) = job.check.inputs.first() else { return };
    if ops > MINIMIZED_OPS_MAX.to_u64() {
        let hint = format!("the history has {ops} ops: `histcheck minimize` searches for a small part");
        diagnose::hint(&input.place(), &hint);
        return;
    }
    if let Err(message) = minimize::write_smaller(job, report) {
        diagnose::warning(&format!("no minimal history: {message}"));
    }
}
