//! The run: passes ops to the judges, and at first to the batch checker too.

mod doubts;
mod event;
mod level;
mod limit;
mod so_far;
mod state;
mod unsaid;

use super::again::Beside;
use super::decode::{Decoder, writes};
use super::judge::{Judge, Said, Violation};
use super::limits::{Counts, GivenUp, Limits};
use super::time::At;
use crate::anomaly::AnomalyType;
use crate::cycle_spec::{CYCLE_EXISTS, CycleExistsSpec};
use crate::model::{Model, ModelSet};
use crate::txn::expected::{self, Expected};
use crate::txn::report::{GARBAGE_ALLOWED, SO_FAR};
pub(crate) use doubts::Doubts;
pub(super) use event::{Event, Facts, Step};
use history_core::cast::Cast as _;
use history_core::state::{Damaged, In};
use history_core::{
    Budget, Evidence, HistoryError, Op, OpKind, Pair, Participants, Process, Report, Run, Saved, Verdict,
};
use level::Level;
pub(crate) use so_far::is_taken_back;
use std::ops::ControlFlow;
use unsaid::Unsaid;

/// Limits of a run: see [`Limits`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) forgetting: Limits,
    /// Ops that the batch checker keeps.
    pub(crate) batch_ops: u64,
    /// Transactions and edges of a judge that does not discard.
    pub(crate) whole: usize,
    /// Values that are not small integers.
    pub(crate) names: usize,
}

/// An operation in flight.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
struct Open {
    is_there: bool,
    /// The transaction's number in each judge.
    txns: Vec<u32>,
    /// The index of its invocation.
    invoked: u64,
    has_value: bool,
    /// Whether the invocation contains a read.
    reads: bool,
    writes: Vec<(i64, i64)>,
    /// Whether an operation completed `ok` before the invocation.
    follows: bool,
}

/// A run that checks a history event by event while it is recorded.
pub(crate) struct OnlineRun<J: Judge> {
    expected: Expected,
    settings: J::Settings,
    sizes: Sizes,
    decoder: Decoder,
    participants: Participants,
    /// The requested levels.
    levels: Vec<Level<J>>,
    /// Strict serializability, if it is not requested: as long as it holds, all levels do, in bounded memory.
    strict: Option<Level<J>>,
    open: Vec<Open>,
    in_flight: u64,
    unsaid: Unsaid,
    counts: Counts,
    given_up: GivenUp,
    /// Whether ops have no invocations; `None` until the first op.
    lacks_invocations: Option<bool>,
    /// Whether some op has no process.
    lacks_processes: bool,
    evidence: Seen,
    /// Keys that were named again after they were dropped, and the first op that did so.
    renamed: u64,
    first_renamed: Option<u64>,
    /// The op that proved the first violation.
    violated_at: Option<u64>,
    /// Whether the run continues after a violation, to find further ones.
    keeps_going: bool,
    /// The number of ops that proved a violation, the last such op with its violation, and the number of ops before it.
    violations: u64,
    last: Option<(u64, CycleExistsSpec, Violation)>,
    before_last: u64,
    ops: u64,
    pub(super) batch: Option<Box<dyn Beside>>,
    /// Whether the batch checker replaces judges that stopped.
    has_stepped_in: bool,
    /// Why the verdict cannot become `true`, and how many obstacles were known when this was computed.
    pub(super) doubt: Option<String>,
    pub(super) known_obstacles: usize,
}

/// The levels to judge for these models; `None` if one of them cannot be judged event by event.
pub(crate) fn levels<J: Judge>(models: &[Model]) -> Option<Vec<CycleExistsSpec>> {
    let all: ModelSet = models.iter().copied().collect();
    let strongest = all.iter().filter(|model| model.stronger().is_disjoint(all));
    let is_judged = |spec: &&CycleExistsSpec| J::TAKES_BACK || !is_taken_back(**spec);
    let spec = |model: Model| CYCLE_EXISTS.iter().filter(is_judged).find(|spec| spec.model == model).copied();
    // A weaker level that is not judged may be violated by an anomaly that does not violate the others.
    if all.iter().any(|model| spec(model).is_none()) {
        return None;
    }
    strongest.map(spec).collect()
}

/// The evidence for a verdict of `true`.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Some `ok` transaction read a key that some transaction writes.
    read: bool,
    /// Some transaction that may have happened was invoked after another one had completed `ok`.
    later: bool,
}

impl<J: Judge> OnlineRun<J> {
    pub(crate) fn new(
        expected: Expected,
        levels: &[CycleExistsSpec],
        mut settings: J::Settings,
        sizes: Sizes,
        batch: Box<dyn Beside>,
    ) -> OnlineRun<J> {
        let mut decoder = Decoder::new(J::VOCABULARY);
        J::resolve(&mut settings, &mut decoder.interner);
        let strict = CYCLE_EXISTS.iter().find(|spec| spec.model == Model::STRICT_SERIALIZABLE);
        let is_asked = levels.iter().any(|spec| spec.model == Model::STRICT_SERIALIZABLE);
        OnlineRun {
            levels: levels.iter().map(|spec| Level::new(*spec, &settings)).collect(),
            strict: strict.filter(|_| !is_asked).map(|spec| Level::new(*spec, &settings)),
            expected,
            settings,
            sizes,
            decoder,
            participants: Participants::new(),
            open: Vec::new(),
            in_flight: 0,
            unsaid: Unsaid::default(),
            counts: Counts::default(),
            given_up: GivenUp::default(),
            lacks_invocations: None,
            lacks_processes: false,
            evidence: Seen::default(),
            renamed: 0,
            first_renamed: None,
            violated_at: None,
            keeps_going: false,
            violations: 0,
            last: None,
            before_last: 0,
            ops: 0,
            batch: Some(batch),
            has_stepped_in: false,
            doubt: None,
            known_obstacles: 0,
        }
    }

    fn each_level(&mut self) -> impl Iterator<Item = &mut Level<J>> {
        self.levels.iter_mut().chain(&mut self.strict)
    }

    /// Stops all judges, because an op cannot be interpreted.
    #[cold]
    fn stop(&mut self, op: &Op<'_>, why: &str) {
        let index = op.index;
        for level in self.each_level() {
            level.witness = None;
            if level.judge.take().is_some() {
                level.stopped = Some((index, why.to_owned()));
            }
        }
    }

    fn take(&mut self, op: &Op<'_>) {
        if self.decoder.decode(op).is_none() {
            return self.stop(op, &format!("the op is not one of {}", J::NAME));
        }
        self.counts.add_mops(self.decoder.mops.len());
        match (op.kind, op.pair) {
            (OpKind::Invoke, Pair::Invokes { slot }) if self.lacks_invocations != Some(true) => {
                self.lacks_invocations = Some(false);
                self.invoke(op, slot);
            }
            (OpKind::Invoke, Pair::Invokes { .. }) => self.stop(op, "ops before it have no invocations"),
            (OpKind::Invoke, _) => self.stop(op, "the process of the op is unknown"),
            (_, Pair::Completes { slot, .. }) => self.complete(op, slot),
            (OpKind::Ok | OpKind::Fail | OpKind::Info, _) => self.complete_alone(op),
        }
    }

    fn invoke(&mut self, op: &Op<'_>, slot: u32) {
        let slot = slot.to_usize();
        if slot >= self.open.len() {
            self.open.resize_with(slot + 1, Open::default);
        }
        self.in_flight += 1;
        let at = At { index: op.index, offset: op.position.map_or(0, |position| position.offset) };
        let process = match op.process {
            Process::Client(process) => Some(process),
            Process::Other(_) | Process::Unknown => None,
        };
        self.lacks_processes |= process.is_none();
        let open = &mut self.open[slot];
        open.is_there = true;
        open.invoked = op.index;
        open.has_value = !op.value.is_nil();
        open.follows = self.counts.ok > 0;
        open.writes.clear();
        open.writes.extend(writes(&self.decoder.mops));
        open.reads = open.writes.len() < self.decoder.mops.len();
        if !open.has_value {
            self.unsaid.invoke(op.index);
        }
        let txns = self.levels.len() + usize::from(self.strict.is_some());
        self.open[slot].txns.resize(txns, 0);
        self.judge(slot, op.index, Step::Invoke { process, at }, None);
    }

    /// Processes a completion without an invocation. If no op has an invocation, real time is unknown and only
    /// processes order the ops.
    fn complete_alone(&mut self, op: &Op<'_>) {
        if self.lacks_invocations == Some(false) {
            return self.stop(op, "the invocation of the op is unknown");
        }
        if self.lacks_invocations.replace(true).is_none() {
            // Then no level can be judged in bounded memory.
            self.strict = None;
            for level in self.levels.iter_mut().filter(|level| level.judge.is_some()) {
                let mut judge = J::new(level.spec, &self.settings, true);
                if self.keeps_going {
                    judge.keep_going();
                }
                level.judge = Some(judge);
            }
        }
        self.invoke(op, 0);
        self.complete(op, 0);
    }

    fn complete(&mut self, op: &Op<'_>, slot: u32) {
        let Some(open) = self.open.get_mut(slot.to_usize()).filter(|open| open.is_there) else { return };
        open.is_there = false;
        self.in_flight -= 1;
        match op.kind {
            OpKind::Ok => self.counts.ok += 1,
            OpKind::Fail => self.counts.fail += 1,
            OpKind::Info | OpKind::Invoke => self.counts.info += 1,
        }
        self.counts.unread.see(op, open.reads || !open.has_value);
        self.evidence.later |= op.kind != OpKind::Fail && open.follows;
        // The writes that a failed op reports do not matter, because they did not happen.
        let is_told = !op.value.is_nil() && op.kind != OpKind::Fail;
        if is_told && open.has_value && !writes(&self.decoder.mops).eq(open.writes.iter().copied()) {
            return self.stop(op, "the op's writes differ from those of its invocation");
        }
        let said = (!open.has_value && !op.value.is_nil()).then_some(match op.kind {
            OpKind::Fail => Said::Failed,
            OpKind::Ok | OpKind::Info | OpKind::Invoke => Said::Late,
        });
        let is_silent = op.value.is_nil() && op.kind != OpKind::Fail;
        if !open.has_value {
            self.unsaid.complete(open.invoked, op.index, is_silent);
        }
        let step = match op.kind {
            OpKind::Ok => Step::Complete,
            OpKind::Fail => Step::Fail,
            OpKind::Info | OpKind::Invoke => Step::Crash,
        };
        self.judge(slot.to_usize(), op.index, step, said);
    }

    /// Passes an op to the judges.
    fn judge(&mut self, slot: usize, index: u64, step: Step, said: Option<Said>) {
        let (unsaid_since, awaited_since) = (self.unsaid.since(), self.unsaid.awaited_since());
        let facts = Facts { step, index, said, unsaid_since, awaited_since };
        let event = Event { facts, mops: &self.decoder.mops, codes: &self.decoder.codes };
        let limits = &self.sizes.forgetting;
        for (level, txn) in self.levels.iter_mut().chain(&mut self.strict).zip(&mut self.open[slot].txns) {
            level.judge(slot, &event, txn, limits);
        }
    }
}

impl<J: Judge> Run for OnlineRun<J> {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        let is_over = self.violated_at.is_some() && !self.keeps_going;
        if is_over && self.batch.is_none() {
            self.ops += 1;
            return Ok(self.rest());
        }
        if self.ops < self.sizes.batch_ops
            && let Some(batch) = &mut self.batch
            && batch.observe(op)?.is_break()
            && !self.keeps_going
        {
            return Ok(ControlFlow::Break(()));
        }
        if !self.participants.see(op) || is_over {
            return Ok(self.count_op());
        }
        self.take(op.without_cause().as_ref().unwrap_or(op));
        self.limit(op);
        self.note(op);
        self.step_in(op.index)?;
        self.look_for_doubt(op.index);
        Ok(self.count_op())
    }

    fn is_violated(&self) -> bool {
        self.violated_at.is_some()
    }

    fn decides_early(&self) -> bool {
        !self.levels.iter().any(|level| is_taken_back(level.spec))
    }

    fn keep_going(&mut self) -> bool {
        self.keeps_going = true;
        for judge in self.levels.iter_mut().filter_map(|level| level.judge.as_mut()) {
            judge.keep_going();
        }
        true
    }

    fn violations(&self) -> u64 {
        self.violations
    }

    fn last_violation(&self) -> Option<Report> {
        let (at, spec, violation) = self.last.as_ref()?;
        Some(self.report_violation(*at, *spec, violation))
    }

    fn save(&self, bytes_max: usize) -> Saved {
        self.save_within(bytes_max)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), Damaged> {
        self.restore_from(&mut In::new(state))
    }

    fn growth(&self) -> Option<String> {
        let whole = self.sizes.whole;
        let unbounded = |level: &&Level<J>| level.judge.as_ref().is_some_and(|judge| !judge.forgets());
        let names: Vec<&str> = self.levels.iter().filter(unbounded).map(|level| level.spec.model.name()).collect();
        let strict = self.strict.iter().chain(&self.levels).find_map(|level| level.judge.as_ref());
        let rest = match strict.filter(|judge| judge.forgets()) {
            Some(_) => "from there on, the verdict is unknown unless the history is strict-serializable",
            None => "from there on, the verdict is unknown",
        };
        let names = Some(names).filter(|names| !names.is_empty())?.join(", ");
        let hint = J::BOUND.map(|bound| format!(" ({bound})")).unwrap_or_default();
        Some(format!(
            "at {names}, {} keeps all transactions, up to {whole}; {rest}, or a violation was found before{hint}",
            J::NAME
        ))
    }

    fn doubt(&self) -> Option<String> {
        self.doubt.clone().or_else(|| self.batch.as_ref()?.doubt())
    }

    fn evidence(&self) -> Option<Evidence> {
        let (_, violation) = self.found().filter(|_| self.batch.is_none())?;
        let At { offset, index } = violation.begins?;
        // The evidence begins at `offset`, so it may read elements that were appended before.
        let mut evidence = Evidence::new(offset, index, self.violated_at?);
        evidence.notes.extend(self.is_so_far().then(|| SO_FAR.to_owned()).into_iter().chain(self.further()));
        evidence.omitted_notes.push(GARBAGE_ALLOWED);
        Some(evidence.with_option(expected::ALLOW.name, AnomalyType::GARBAGE_READ.name()))
    }

    fn violation(&self) -> Option<Report> {
        if self.may_be_over() {
            return None;
        }
        match self.found() {
            Some(_) => self.own_violation(),
            None => self.batch.as_ref().filter(|_| self.has_stepped_in)?.violation(),
        }
    }

    fn finish_before_unread(self: Box<Self>, _: &Budget) -> Result<Option<Report>, HistoryError> {
        Ok(if self.is_so_far() { None } else { self.violation() })
    }

    fn finish_early(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        self.conclude_early(budget)
    }

    fn finish(mut self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        let (own, further) = (self.violation(), self.further());
        let has_gone_on = self.may_be_over();
        let batch = self.batch.take();
        let mut report = match (batch, own) {
            (batch, _) if has_gone_on && (batch.is_none() || self.ops > self.sizes.batch_ops) => self.report_open(),
            (None, None) => {
                let limits = self.sizes.forgetting;
                self.each_level().for_each(|level| level.conclude(&limits));
                return Ok(self.report_whole());
            }
            (None, Some(own)) => own,
            (Some(batch), own) => {
                let report = batch.finish(budget)?;
                own.filter(|_| report.verdict != Verdict::Invalid && !has_gone_on).unwrap_or(report)
            }
        };
        if report.verdict == Verdict::Invalid {
            report.notes.extend(further);
        } else if let Some(at) = self.violated_at.filter(|_| has_gone_on && report.verdict == Verdict::Valid) {
            report.notes.push(format!("The ops up to index {at} violate what the whole history obeys."));
        }
        Ok(report)
    }
}

impl<J: Judge> OnlineRun<J> {
    /// Counts an op, and drops the batch checker when it has received enough ops. Returns `Break` if the verdict is
    /// final.
    fn count_op(&mut self) -> ControlFlow<()> {
        self.ops += 1;
        if self.batch.is_none() || self.ops != self.sizes.batch_ops {
            return ControlFlow::Continue(());
        }
        // The batch checker's report contains the violation and what led to it, so keep it.
        if self.violated_at.is_none() || self.is_so_far() {
            self.step_out();
        } else if !self.keeps_going {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Returns `Continue` if later ops can still revoke the violation.
    fn rest(&self) -> ControlFlow<()> {
        if self.is_so_far() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Returns true if all requested levels are still judged.
    #[cfg(test)]
    pub(crate) fn is_judging(&self) -> bool {
        self.levels.iter().all(|level| level.judge.is_some())
    }

    /// The number of transactions in memory.
    #[cfg(test)]
    pub(crate) fn transactions(&self) -> usize {
        self.levels.iter().filter_map(|level| Some(level.judge.as_ref()?.graph().count)).sum()
    }

    /// The number of values of keys in memory.
    #[cfg(test)]
    pub(crate) fn values(&self) -> usize {
        self.levels.iter().filter_map(|level| Some(level.judge.as_ref()?.values())).sum()
    }
}
