//! The report on a history that was checked event by event, if the batch checker has not received all of it.

use super::judge::{Judge, Violation};
use super::open::{CHECK_THE_FILE, why_open};
use super::run::{self, OnlineRun};
use crate::anomaly::{AnomalySet, AnomalyType};
use crate::cycle_spec::{CycleExistsSpec, Suffix};
use crate::lattice;
use crate::model::{Model, ModelSet};
use crate::txn::report::{NO_READ, SO_FAR, UNWRITTEN, leave_others_open};
use crate::txn::standing::{RECORD_READS, order_of};
use history_core::{
    Anomaly, Budget, Datum, HistoryError, NextStep, Report, Run, SESSIONLESS, UNTIMED, Verdict, Witness,
};

impl<J: Judge> OnlineRun<J> {
    /// The report on a violation that an op proved.
    pub(crate) fn report_violation(&self, at: u64, spec: CycleExistsSpec, violation: &Violation) -> Report {
        let Violation { direct, indices, key, value, .. } = violation;
        let anomaly = direct.unwrap_or(spec.anomaly);
        let mut report = self.counted(Verdict::Invalid);
        // Without real time, a later op may write the value that was read.
        let ruled_out = if anomaly == AnomalyType::GARBAGE_READ {
            spec.model.stronger().union(spec.model.into())
        } else {
            lattice::rules_out(anomaly.into())
        };
        let boundary = lattice::boundary_of(ruled_out);
        report.not = boundary.not.into_iter().map(Into::into).collect();
        report.also_not = boundary.also_not.into_iter().map(Into::into).collect();
        report.not_checked = lattice::names(ModelSet::ALL.difference(ruled_out)).into_iter().map(Into::into).collect();
        let datum = |code: i64| self.interner().datum(code);
        let scc: Vec<Datum> = indices.iter().map(|index| Datum::from(*index)).collect();
        let scc = Datum::Vector(scc);
        let mut facts = vec![("op".into(), Datum::from(at)), ("transactions".into(), scc.clone())];
        facts.extend(key.map(|key| ("key".into(), datum(key))));
        facts.extend(value.map(|value| ("element".into(), datum(value))));
        let of_key = key.map(|key| format!(" It shows at key {}.", datum(key))).unwrap_or_default();
        let explanation = if direct.is_some() {
            let value = value.map(|value| format!(", element {}", datum(value))).unwrap_or_default();
            let key = key.map(|key| format!(" key {}", datum(key))).unwrap_or_default();
            format!("The op at index {at} proves {}:{key}{value}.\n", anomaly.name())
        } else {
            format!(
                "The op at index {at} closes a cycle among transactions, some of which were invoked at indices \
                 {scc}.{of_key}\n"
            )
        };
        let witnesses = vec![Witness::new(Vec::new(), explanation).with_facts(facts)];
        report.anomalies = vec![Anomaly { name: anomaly.name().into(), count: 1, witnesses }];
        report.notes.push(format!(
            "Checked while the history was written, up to the op at index {at}: {} does not hold. Weaker levels, and \
             other anomalies, were not judged.",
            spec.model
        ));
        report.notes.extend(run::is_taken_back(spec).then(|| SO_FAR.to_owned()));
        report
    }

    /// The report on a prefix that violates a level, of a history that continues. The levels that the violation does
    /// not rule out remain unknown.
    pub(crate) fn conclude_early(mut self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        // The batch checker treats the ops that it received as the whole history, but without real time a later op may
        // write a value that was read.
        if self.found().is_some_and(|(_, violation)| violation.direct == Some(AnomalyType::GARBAGE_READ)) {
            self.batch = None;
        }
        if self.found().is_none()
            && let Some(batch) = self.batch.take_if(|batch| batch.is_violated())
        {
            return batch.finish_early(budget);
        }
        let is_so_far = self.is_so_far();
        let is_timed = self.expected().models.iter().any(|model| order_of(*model) == Suffix::Realtime);
        let own = (!is_timed).then(|| self.own_violation()).flatten();
        let mut report = self.finish(budget)?;
        if let Some(own) = own.filter(|_| report.anomaly_types().any(|name| name == AnomalyType::GARBAGE_READ.name())) {
            report = without_garbage(report).unwrap_or(own);
        }
        if is_so_far && report.notes.iter().all(|note| note != SO_FAR) {
            report.notes.push(SO_FAR.to_owned());
        }
        leave_others_open(&mut report);
        Ok(report)
    }

    /// The report on the violation that a judge found, if there is one.
    pub(super) fn own_violation(&self) -> Option<Report> {
        let (spec, violation) = self.found()?;
        Some(self.report_violation(self.violated_at()?, spec, violation))
    }

    /// The report on a history with a violating prefix, if later ops may have revoked the violation.
    pub(crate) fn report_open(&self) -> Report {
        let mut report = self.counted(Verdict::Unknown);
        let models = self.expected().models.iter().map(|model| model.name()).collect::<Vec<_>>().join(", ");
        let at = self.violated_at().unwrap_or_default();
        report.notes.push(format!(
            "The ops up to index {at} violate {models}. Whether the whole history does is unknown: a transaction that \
             failed later, or a read that contradicts an earlier one, may have taken that back."
        ));
        report.add_next(NextStep::new(CHECK_THE_FILE));
        leave_others_open(&mut report);
        report
    }

    /// The report on a history that shows no violation.
    pub(crate) fn report_whole(&self) -> Report {
        let doubts = self.doubts();
        let (mut notes, mut next) = (Vec::new(), Vec::new());
        let mut judges = doubts.levels.iter().filter_map(|(_, judge, _)| *judge);
        let unwritten = judges.find_map(J::garbage);
        let prohibited =
            lattice::prohibited(self.expected().models.iter().copied().collect(), self.expected().anomalies);
        let unwritten = unwritten.filter(|_| prohibited.contains(AnomalyType::GARBAGE_READ));
        let is_allowed = self.expected().garbage_reads_allowed;
        if let Some(unwritten) = unwritten.filter(|_| !is_allowed) {
            match self.unsaid().why() {
                Some(why) => {
                    notes.push(why);
                    next.push(NextStep::new("Record in each invocation the micro-ops that it asks for."));
                }
                None => return self.report_garbage(unwritten),
            }
        }
        for model in &self.expected().models {
            let Some(why) = why_open(*model, &doubts, J::unordered_key) else { continue };
            notes.push(format!("Whether {model} holds is unknown: {}.", why.clause(self.interner())));
            next.push(NextStep::new(CHECK_THE_FILE));
        }
        if !doubts.has_read {
            notes.push(NO_READ.to_owned());
        } else if !doubts.is_related {
            notes.push("No transaction is related to another, so there was nothing to check.".to_owned());
        }
        next.extend((!doubts.has_read || !doubts.is_related).then(|| NextStep::new(RECORD_READS)));
        let verdict = if notes.is_empty() { Verdict::Valid } else { Verdict::Unknown };
        let mut report = self.counted(verdict);
        let known = match (verdict, doubts.strict.is_some()) {
            (Verdict::Valid, true) => weaker([Model::STRICT_SERIALIZABLE]),
            (Verdict::Valid, false) => weaker(self.expected().models.iter().copied()),
            _ => ModelSet::EMPTY,
        };
        report.not_checked = lattice::names(ModelSet::ALL.difference(known)).into_iter().map(Into::into).collect();
        if unwritten.is_some() && is_allowed {
            notes.push("garbage-read is allowed, and was found.".to_owned());
        }
        let order = self.expected().models.iter().map(|model| order_of(*model)).max().unwrap_or(Suffix::None);
        if verdict == Verdict::Valid && doubts.lacks_invocations {
            notes.extend((order == Suffix::Realtime).then(|| UNTIMED.to_owned()));
            notes.extend((order != Suffix::None && self.lacks_processes()).then(|| SESSIONLESS.to_owned()));
        }
        notes.extend(self.counts().unread.note());
        notes.extend(self.participants().note());
        report.notes = notes;
        for step in next {
            report.add_next(step);
        }
        report
    }

    /// The report on a value that was read and never written.
    fn report_garbage(&self, (key, value): (i64, i64)) -> Report {
        let mut report = self.counted(Verdict::Invalid);
        let garbage: AnomalySet = AnomalyType::GARBAGE_READ.into();
        let ruled_out = lattice::rules_out(garbage);
        let boundary = lattice::boundary_of(ruled_out);
        report.not = boundary.not.into_iter().map(Into::into).collect();
        report.also_not = boundary.also_not.into_iter().map(Into::into).collect();
        report.not_checked = lattice::names(ModelSet::ALL.difference(ruled_out)).into_iter().map(Into::into).collect();
        let (key, value) = (self.interner().datum(key), self.interner().datum(value));
        let explanation = format!("{value} was read from key {key}, and was never {}.\n", J::GARBAGE);
        let facts = vec![("key".into(), key), ("element".into(), value)];
        let witnesses = vec![Witness::new(Vec::new(), explanation).with_facts(facts)];
        report.anomalies = vec![Anomaly { name: AnomalyType::GARBAGE_READ.name().into(), count: 1, witnesses }];
        report
    }

    fn counted(&self, verdict: Verdict) -> Report {
        let mut report = Report::new(J::NAME, verdict);
        let counts = self.counts();
        report.counts = vec![
            ("ok-count".into(), counts.ok),
            ("fail-count".into(), counts.fail),
            ("info-count".into(), counts.info),
            ("nonclient-op-count".into(), self.participants().others()),
            ("mop-count".into(), counts.mops),
        ];
        report
    }
}

/// Removes reads of values that may be written later. Returns the report if another anomaly in it violates a level.
fn without_garbage(mut report: Report) -> Option<Report> {
    report.anomalies.retain(|anomaly| anomaly.name != AnomalyType::GARBAGE_READ.name());
    report.notes.retain(|note| !note.starts_with(UNWRITTEN));
    let types = report.anomalies.iter().map(|anomaly| anomaly.name.parse::<AnomalyType>().ok());
    let ruled_out = lattice::rules_out(types.collect::<Option<AnomalySet>>()?);
    if ruled_out.is_empty() {
        return None;
    }
    let boundary = lattice::boundary_of(ruled_out);
    report.not = boundary.not.into_iter().map(Into::into).collect();
    report.also_not = boundary.also_not.into_iter().map(Into::into).collect();
    Some(report)
}

fn weaker(models: impl IntoIterator<Item = Model>) -> ModelSet {
    models.into_iter().fold(ModelSet::EMPTY, |all, model| all.union(model.into()).union(model.weaker()))
}
