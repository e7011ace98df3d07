//! Reads a part of a file again, for the full explanation of a violation that was found while the file grew.
//!
//! A run that drops old ops reports the violated level and the op. The part from the earliest operation that matters to
//! that op is checked again by a checker of whole histories, with the options that the run names for this. Operations
//! that began before the part and complete in it are omitted.

use super::follow::TextFrom;
use histcheck_front::ReadAs;
use histcheck_front::setup::{Setup, WhetherKeyed};
use history_core::{Budget, Evidence, HistoryError, Op, OpKind, Pair, Reader, Report, Verdict};
use std::fs::File;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The maximum length of a part in bytes.
const PART_BYTES_MAX: u64 = 256 << 20;

/// The report on the part of a file; `None` if it cannot be read, or does not show the violation.
pub(super) fn report(
    setup: &Setup<'_>,
    file: Arc<File>,
    read_as: &ReadAs,
    evidence: &Evidence,
    budget: &Budget,
) -> Option<Report> {
    if setup.keyed != WhetherKeyed::No {
        return None;
    }
    let text = TextFrom::new(file, evidence.begins).take(PART_BYTES_MAX);
    let mut reader = read_as.reader(Reader::new(text).growing());
    let report = judged(setup, &mut reader, evidence, budget).ok()??;
    (report.verdict == Verdict::Invalid).then_some(report)
}

fn judged(
    setup: &Setup<'_>,
    reader: &mut Reader<'_>,
    evidence: &Evidence,
    budget: &Budget,
) -> Result<Option<Report>, HistoryError> {
    let mut options = setup.options.clone();
    evidence.options.iter().for_each(|(name, value)| options.set(*name, *value));
    let part = Setup::new(&*setup.checker, options);
    let mut run = part.start(|_| {})?;
    let mut shift = None;
    let mut is_whole = false;
    reader.for_each(|op| {
        // In a history without indices, the index is the position.
        let shift = *shift.get_or_insert(evidence.first.wrapping_sub(op.index));
        let op = shifted(*op, shift);
        if op.index <= evidence.last && (op.kind == OpKind::Invoke || op.pair != Pair::Alone) {
            let _ = run.observe(&op)?;
        }
        is_whole = op.index == evidence.last;
        Ok(if op.index < evidence.last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    if !is_whole {
        return Ok(None);
    }
    let mut report = run.finish(budget)?;
    report.notes.retain(|note| !evidence.omitted_notes.iter().any(|begin| note.starts_with(begin)));
    report.notes.push(format!(
        "This report covers the ops from index {} to {}, which show the first violation. It does not explain reads of earlier ops.",
        evidence.first, evidence.last
    ));
    report.notes.extend(evidence.notes.iter().cloned());
    Ok(Some(report))
}

/// Returns an op with another index.
fn shifted(mut op: Op<'_>, shift: u64) -> Op<'_> {
    op.index = op.index.wrapping_add(shift);
    if let Pair::Completes { invoked, .. } = &mut op.pair {
        *invoked = invoked.wrapping_add(shift);
    }
    op
}
