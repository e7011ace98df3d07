//! Values that a failed transaction wrote, and that a later one wrote again, as in a retry.

use super::IsolationRun;
use crate::decode::settle::{self, Settled};
use crate::report::{self, explain};
use history_core::{Budget, Report, Verdict};

impl IsolationRun {
    /// The report with the reads of a value attributed to its last writer, if all others failed, and the history is
    /// valid then. A transaction that failed did not happen, so an order of the others explains the history. Where no
    /// order does, a read may show a failed write.
    pub(super) fn report_on_retries(&mut self, settled: &Settled, budget: &Budget) -> Option<Report> {
        let case = settled.ambiguous?;
        if self.data.is_partial || self.data.has_nameless || self.data.settings.timestamps {
            return None;
        }
        self.data.versions.trusts_retries = true;
        let trusting = settle::settle(&mut self.data);
        let report = trusting.ambiguous.is_none().then(|| report::report(&self.data, &trusting, budget));
        self.data.versions.trusts_retries = false;
        let mut report = report.filter(|report| report.verdict == Verdict::Valid)?;
        report.notes.push(explain::retried(&self.data, case));
        Some(report)
    }
}
