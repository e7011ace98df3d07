//! unique-ids: no id is generated twice.
//!
//! Every `ok` `:generate` contains a generated id; the history is valid if all of these are distinct, and unknown if
//! there is none: they are **observed**. After Jepsen's `checker/unique-ids`. Time is linear. Memory: 24 bytes per id
//! in addition to the id itself.

use crate::elements::{ElemId, Elements};
use crate::fold::{Workload, WorkloadRun};
use crate::intervals::{NOTE_RUNS_MAX, interval_set};
use crate::witness::{self, Extremes, OpRef, counted};
use history_core::{
    Checker, Datum, Expected, Op, OpFault, OpKind, OpUse, OptionError, OptionSpec, Options, Report, Run, Verdict,
    Witness,
};
use std::collections::BTreeMap;

/// The unique-ids checker. It has no options.
///
/// ```
/// use check_jepsen::unique_ids::UniqueIds;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :generate} {:process 0, :type :ok, :f :generate, :value 7}
///     {:process 1, :type :invoke, :f :generate} {:process 1, :type :ok, :f :generate, :value 7}
/// ")?;
/// let report = UniqueIds::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert_eq!(report.anomaly("duplicated").unwrap().count, 1);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UniqueIds {}

impl Checker for UniqueIds {
    fn name(&self) -> &'static str {
        "unique-ids"
    }

    fn summary(&self) -> &'static str {
        "Generated ids: all are distinct."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn about(&self) -> history_core::About {
        history_core::About::default().with_parts(history_core::Parts::Reads)
    }

    fn start(&self, _options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(WorkloadRun::new(UniqueIdsRun::default())))
    }
}

#[derive(Clone, Debug, Default)]
struct UniqueIdsRun {
    elements: Elements,
    /// By id: the first op that generated it.
    first: Vec<OpRef>,
    attempts: u64,
    acknowledged: u64,
    /// For each id that was generated again: how often in all, and the second op.
    again: BTreeMap<ElemId, (u64, OpRef)>,
}

impl Workload for UniqueIdsRun {
    const EXPECTED: Expected = Expected { ops: ":generate of an id", observation: "ok :generate" };

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        match (op.f, op.kind) {
            (Some("generate"), OpKind::Invoke) => {
                self.attempts += 1;
                Ok(OpUse::Understood)
            }
            (Some("generate"), OpKind::Ok) => {
                self.acknowledged += 1;
                if op.value.is_nil() {
                    return Err(OpFault::Undecodable("the op has no value; expected the generated id".into()));
                }
                let id = self.elements.id(op.value)?;
                if id.at() == self.first.len() {
                    self.first.push(OpRef::of(op));
                } else {
                    self.again.entry(id).or_insert((1, OpRef::of(op))).0 += 1;
                }
                Ok(OpUse::Observed)
            }
            (Some("generate"), _) => Ok(OpUse::Understood),
            _ => Ok(OpUse::PassedOver),
        }
    }

    fn is_violated(&self) -> bool {
        !self.again.is_empty()
    }

    fn report(self, _whole: bool) -> Report {
        let mut report = Report::new("unique-ids", Verdict::Valid);
        let mut duplicated = Extremes::default();
        for (id, (times, second)) in &self.again {
            duplicated.push(*times, (*id, *times, *second));
        }
        witness::add_anomalies(&mut report, [duplicated.anomaly("duplicated", |bad| self.explain(*bad))]);
        if !report.anomalies.is_empty() {
            report.verdict = Verdict::Invalid;
            let set = interval_set(&self.elements, self.again.keys().copied(), NOTE_RUNS_MAX);
            report.notes.push(format!("{} duplicated: {set}.", duplicated.count));
        }
        report.counts = vec![
            ("attempted-count".into(), self.attempts),
            ("acknowledged-count".into(), self.acknowledged),
            ("duplicated-count".into(), duplicated.count),
        ];
        report
    }
}

impl UniqueIdsRun {
    fn explain(&self, (id, times, second): (ElemId, u64, OpRef)) -> Witness {
        let value = self.elements.datum(id);
        let ops = vec![
            self.first[id.at()].named("G1", OpKind::Ok, value.clone()),
            second.named("G2", OpKind::Ok, value.clone()),
        ];
        let mut sentences = vec![format!("G1 and G2 generated the same id, {value}")];
        if times > 2 {
            sentences.push(format!("It was generated {} in total", counted(times, "time")));
        }
        let facts = vec![("id", value), ("times", Datum::from(times))];
        witness::witness(ops, facts, &sentences)
    }
}
