//! comments: a read that contains a value contains every value whose write was acknowledged before that of the former
//! was invoked.
//!
//! Clients write values, each once, and read all existing ones. In real time, a write that was acknowledged before
//! another one was invoked precedes it. So a read that contains the later one must contain the earlier one too; if not,
//! that is a **causal reverse**, and the store is not strictly serializable, though it may be serializable.
//!
//! For each `ok` read: of every value it contains, all values must be there whose writes were `ok` before the write of
//! that value was invoked. The set of values that were `ok` before some op only grows with the op's place in the
//! history, so all of that is what was `ok` before the latest-invoked write that the read contains: a prefix of the
//! list of values in the order in which they were acknowledged. It is sufficient to count how many of them a read
//! contains.
//!
//! A value that is read before its write is invoked has no effect until then; such reads are kept to the end, though a
//! write that proves one of them wrong is reported immediately (`early`). A value that is written a second time, unless
//! earlier writes had failed, makes the verdict unknown, unless something else is wrong: what was acknowledged before
//! the first of its writes must be there in any case.
//!
//! An `ok` read that could have been wrong is **observed**: some write began after another was acknowledged, so that
//! the read might have contained one without the other. A read that contains only values that were never written is no
//! evidence. Without an observation the verdict is unknown.
//!
//! After `comments` of Jepsen's test of `CockroachDB` and its `tests/causal-reverse`, which are one check. Time is
//! linear. Memory: 72 bytes a value in addition to the value itself.

mod early;

use crate::elements::{ElemId, Elements};
use crate::fold::{self, InFlight, Workload, WorkloadRun};
use crate::intervals::interval_set;
use crate::witness::{self, Extremes, OpRef, counted};
use early::Early;
use history_core::cast::Cast as _;
use history_core::{
    Checker, Datum, Expected, NextStep, Op, OpFault, OpKind, OpUse, OptionError, OptionSpec, Options, Report, Run,
    Verdict, Witness,
};

/// The comments checker. It has no options.
///
/// ```
/// use check_jepsen::comments::Comments;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :write, :value 1}
///     {:process 1, :type :invoke, :f :read}
///     {:process 0, :type :ok, :f :write, :value 1}
///     {:process 0, :type :invoke, :f :write, :value 2}
///     {:process 0, :type :ok, :f :write, :value 2}
///     {:process 1, :type :ok, :f :read, :value #{2}}
/// ")?;
/// let report = Comments::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert!(report.anomalies[0].witnesses[0].explanation.contains("R1 shows 2, but not 1"));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comments {}

impl Checker for Comments {
    fn name(&self) -> &'static str {
        "comments"
    }

    fn summary(&self) -> &'static str {
        "Values written one by one and read together: a read that shows a write also shows all writes acknowledged \
         before that write began."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn about(&self) -> history_core::About {
        history_core::About::default().with_parts(history_core::Parts::Reads)
    }

    fn start(&self, _options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(WorkloadRun::new(CommentsRun::default())))
    }
}

/// The same check under the name of Jepsen's `tests/causal-reverse`.
///
/// ```
/// use check_jepsen::comments::CausalReverse;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :write, :value 1} {:process 0, :type :ok, :f :write, :value 1}
///     {:process 0, :type :invoke, :f :write, :value 2} {:process 0, :type :ok, :f :write, :value 2}
///     {:process 1, :type :invoke, :f :read} {:process 1, :type :ok, :f :read, :value [2]}
/// ")?;
/// let report = CausalReverse::default().check(&history)?;
/// assert_eq!((report.checker.as_ref(), report.verdict), ("causal-reverse", Verdict::Invalid));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CausalReverse {}

impl Checker for CausalReverse {
    fn name(&self) -> &'static str {
        "causal-reverse"
    }

    fn summary(&self) -> &'static str {
        "The same as comments: a read that sees a write sees all writes acknowledged before that write began."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn about(&self) -> history_core::About {
        Comments::default().about()
    }

    fn start(&self, _options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(WorkloadRun::new(CommentsRun { name: Some("causal-reverse"), ..CommentsRun::default() })))
    }
}

/// The value for an absent number.
const NONE: u32 = u32::MAX;

/// The maximum number of elements that are kept of a read or of the elements that it lacks.
const KEPT_MAX: usize = 33;

/// The facts about a value.
#[derive(Clone, Copy, Debug)]
struct Comment {
    /// The invocation of its write, and the number of values that were acknowledged by then.
    invoked: OpRef,
    before: u32,
    /// The number of values that were acknowledged before this one.
    rank: u32,
    /// The last examination of a read that showed it, counted from 1.
    seen_by: u32,
    /// The number of its writes that may have happened. If all have failed, it may be written again.
    live: u32,
}

const UNWRITTEN: Comment = Comment { invoked: OpRef::NONE, before: NONE, rank: NONE, seen_by: 0, live: 0 };

/// The result of examining a read.
#[derive(Clone, Copy, Debug)]
struct Look {
    /// The number of values it must show: those acknowledged before the write of `latest` was invoked.
    expected: u32,
    latest: ElemId,
    /// The number of these that it shows, and the number of all acknowledged values that it shows.
    there: u32,
    acknowledged: u32,
}

/// A read that lacks a value.
#[derive(Clone, Debug, PartialEq)]
struct Bad {
    read: OpRef,
    latest: ElemId,
    /// The invocation of the write of `latest`.
    invoked: OpRef,
    /// The number of values acknowledged by then, the number of missing ones, and the ranks of the first missing ones.
    expected: u32,
    missing: u32,
    ranks: Vec<u32>,
    /// The first elements that the read shows.
    shown: Vec<ElemId>,
}

#[derive(Clone, Debug, Default)]
struct CommentsRun {
    /// The name of the check, unless it is `comments`.
    name: Option<&'static str>,
    elements: Elements,
    /// By element. May be shorter than the number of elements.
    comments: Vec<Comment>,
    /// The values in the order in which they were acknowledged, with the completions.
    acknowledged: Vec<(ElemId, OpRef)>,
    in_flight: InFlight<ElemId>,
    reads: u32,
    /// Whether a read could have been wrong.
    is_observed: bool,
    /// The number of examinations of reads.
    looks: u32,
    writes: u64,
    /// Whether some write began after another was acknowledged.
    is_ordered: bool,
    /// Reads that show values whose writes had not been invoked.
    too_early: Vec<(OpRef, Box<[ElemId]>)>,
    early: Early,
    /// Whether one of these is wrong, whatever else is written. Then `early` is no longer used.
    early_is_wrong: bool,
    reverse: Extremes<u32, Bad>,
    scratch: Vec<ElemId>,
}

impl CommentsRun {
    fn comment(&mut self, id: ElemId) -> &mut Comment {
        if id.at() >= self.comments.len() {
            self.comments.resize(id.at() + 1, UNWRITTEN);
        }
        &mut self.comments[id.at()]
    }

    fn write(&mut self, op: &Op<'_>) -> Result<(), OpFault> {
        if op.kind == OpKind::Invoke {
            if op.value.is_nil() {
                return Err(OpFault::Blocking("a write has no value".into()));
            }
            self.writes += 1;
            let id = self.elements.id(op.value)?;
            self.in_flight.put(op, id);
            let before = self.acknowledged.len().to_u32();
            let comment = self.comment(id);
            comment.live = comment.live.saturating_add(1);
            if comment.live > 1 {
                return Err(OpFault::Undecodable(format!("{} was already written", op.value)));
            }
            (comment.invoked, comment.before) = (OpRef::of(op), before);
            self.is_ordered |= before > 0;
            self.early_is_wrong |= self.early.proves(id);
            return Ok(());
        }
        let invoked = self.in_flight.take(op.pair);
        match op.kind {
            OpKind::Ok => {
                let id = fold::completed_element(op.value, invoked, |value| self.elements.id(value))?;
                self.acknowledge(id, op)
            }
            OpKind::Fail => {
                if let Some(id) = invoked {
                    self.comment(id).live -= 1;
                }
                Ok(())
            }
            OpKind::Invoke | OpKind::Info => Ok(()),
        }
    }

    fn acknowledge(&mut self, id: ElemId, op: &Op<'_>) -> Result<(), OpFault> {
        let rank = self.acknowledged.len().to_u32();
        let comment = self.comment(id);
        if comment.before == NONE {
            return Err(fold::unpaired());
        }
        if comment.rank == NONE {
            comment.rank = rank;
            self.acknowledged.push((id, OpRef::of(op)));
            if !self.early_is_wrong {
                self.early.acknowledge(id, &self.too_early);
            }
        }
        Ok(())
    }

    /// Processes an `ok` read. Returns true if it could have been wrong.
    fn read(&mut self, op: &Op<'_>) -> Result<bool, OpFault> {
        let seq = fold::collection(op.value).map_err(OpFault::Undecodable)?;
        let mut shown = std::mem::take(&mut self.scratch);
        shown.clear();
        shown.reserve(seq.len());
        self.elements.each(seq, |id| {
            shown.push(id);
            Ok(())
        })?;
        if self.elements.len() > self.comments.len() {
            self.comments.resize(self.elements.len(), UNWRITTEN);
        }
        let unwritten = |id: &ElemId| self.comments[id.at()].before == NONE;
        let says_something = shown.is_empty() || !shown.iter().all(unwritten);
        if shown.iter().any(unwritten) {
            if fold::keyed_pair(op.value).is_some() && unwritten(&shown[1]) {
                self.scratch = shown;
                return Err(OpFault::Undecodable(fold::keyed("read")));
            }
            self.keep(OpRef::of(op), &shown)?;
        } else {
            self.judge(OpRef::of(op), &shown)?;
        }
        self.scratch = shown;
        let is_observation = self.is_ordered && says_something;
        self.is_observed |= is_observation;
        Ok(is_observation)
    }

    /// Keeps a read that shows values whose writes have not been invoked.
    fn keep(&mut self, read: OpRef, shown: &[ElemId]) -> Result<(), OpFault> {
        self.too_early.push((read, shown.into()));
        let look = self.look(shown)?;
        if self.early_is_wrong {
            return Ok(());
        }
        self.early_is_wrong = look.there < look.expected;
        let is_whole = look.acknowledged.to_usize() == self.acknowledged.len();
        let unacknowledged = shown.iter().copied().filter(|id| self.comments[id.at()].rank == NONE);
        // There are not more of them than examinations.
        self.early.push(self.too_early.len().to_u32() - 1, shown, is_whole.then_some(unacknowledged));
        Ok(())
    }

    /// Examines the content of a read. Values that are not written yet have no effect.
    fn look(&mut self, shown: &[ElemId]) -> Result<Look, OpFault> {
        if self.looks == NONE {
            return Err(OpFault::limit("more than 2^32 - 1 reads"));
        }
        self.looks += 1;
        let mut latest: Option<(u32, ElemId)> = None;
        for id in shown {
            let comment = &mut self.comments[id.at()];
            comment.seen_by = self.looks;
            if comment.before != NONE && latest.is_none_or(|(before, _)| comment.before > before) {
                latest = Some((comment.before, *id));
            }
        }
        let (expected, latest) = latest.unwrap_or((0, ElemId::new(0)));
        let mut look = Look { expected, latest, there: 0, acknowledged: 0 };
        for id in shown {
            let comment = &mut self.comments[id.at()];
            // A read may contain an element twice.
            let is_first = comment.seen_by == self.looks;
            look.there += u32::from(is_first && comment.rank < expected);
            look.acknowledged += u32::from(is_first && comment.rank != NONE);
            comment.seen_by = 0;
        }
        Ok(look)
    }

    fn judge(&mut self, read: OpRef, shown: &[ElemId]) -> Result<(), OpFault> {
        let Look { expected, latest, there, .. } = self.look(shown)?;
        self.reads += 1;
        if there < expected {
            for id in shown {
                self.comments[id.at()].seen_by = self.looks;
            }
            // The search skips at most as many present values as the read shows.
            let absent = |rank: &u32| self.comments[self.acknowledged[rank.to_usize()].0.at()].seen_by != self.looks;
            let ranks = (0..expected).filter(absent).take(KEPT_MAX).collect();
            let missing = expected - there;
            let shown = shown[..shown.len().min(KEPT_MAX)].to_vec();
            let invoked = self.comments[latest.at()].invoked;
            self.reverse.push(missing, Bad { read, latest, invoked, expected, missing, ranks, shown });
        }
        Ok(())
    }

    /// Sets the verdict to unknown if these reads, which are all, show only values that no op writes.
    fn doubt_values(&self, reads: &[(OpRef, Box<[ElemId]>)], report: &mut Report) {
        let mut shown = reads.iter().flat_map(|(read, shown)| shown.iter().map(move |id| (read, id)));
        let Some((read, id)) = shown.clone().next() else { return };
        if shown.any(|(_, id)| self.comments[id.at()].before != NONE) {
            return;
        }
        let value = self.elements.datum(*id);
        report.verdict = Verdict::Unknown;
        report.notes.push(format!(
            "No verdict: no read shows a value that an op writes. The read at index {} shows {value}, which no op \
             writes.",
            read.index
        ));
        report.add_next(NextStep::new(
            "Record values in reads and writes alike: the string \"1\" is another value than the integer 1.",
        ));
    }

    fn explain(&self, bad: &Bad) -> Witness {
        let (lacked, acknowledged) = self.acknowledged[bad.ranks[0].to_usize()];
        let (lacked, latest) = (self.elements.datum(lacked), self.elements.datum(bad.latest));
        let ops = vec![
            acknowledged.named("W1", OpKind::Ok, lacked.clone()),
            bad.invoked.named("W2", OpKind::Invoke, latest.clone()),
            bad.read.named("R1", OpKind::Ok, self.elements.glimpse(bad.shown.iter().copied())),
        ];
        let missing =
            interval_set(&self.elements, bad.ranks.iter().map(|rank| self.acknowledged[rank.to_usize()].0), KEPT_MAX);
        let mut sentences = vec![
            format!(
                "The write of {lacked} was acknowledged (W1) before that of {latest} was invoked (W2), so it came first"
            ),
            format!("R1 shows {latest}, but not {lacked}"),
        ];
        if bad.missing > 1 {
            let (expected, some) = (counted(bad.expected.into(), "value"), bad.missing.to_usize() > bad.ranks.len());
            let among = if some { ", among them" } else { ":" };
            sentences.push(format!("Of {expected} acknowledged before W2, R1 lacks {}{among} {missing}", bad.missing));
        }
        let facts = vec![
            ("shown", latest),
            ("missing", lacked),
            ("missing-count", Datum::from(bad.missing)),
            ("expected-count", Datum::from(bad.expected)),
        ];
        witness::witness(ops, facts, &sentences)
    }
}

impl Workload for CommentsRun {
    const EXPECTED: Expected = Expected {
        ops: ":write of a value, and :read of all values",
        observation: "ok :read after a :write that began after another was ok",
    };
    const HOLDS: bool = true;

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        match op.f {
            Some("write") => self.write(op).map(|()| OpUse::Understood),
            Some("read") if op.kind == OpKind::Ok => self.read(op).map(fold::observed_if),
            Some("read") => Ok(OpUse::Understood),
            _ => Ok(OpUse::PassedOver),
        }
    }

    fn is_violated(&self) -> bool {
        self.reverse.count > 0 || self.early_is_wrong
    }

    fn report(mut self, _whole: bool) -> Report {
        let mut report = Report::new(self.name.unwrap_or("comments"), Verdict::Valid);
        let too_early = std::mem::take(&mut self.too_early);
        if let Some((first, _)) = too_early.first() {
            let count = counted(too_early.len().to_u64(), "read");
            let index = first.index;
            report.notes.push(format!(
                "{count} (the first at index {index}) showed values whose write had not begun. The whole history \
                 was taken into account for such reads."
            ));
        }
        for (read, shown) in &too_early {
            // The reads are all in memory, so their number is below the limit.
            _ = self.judge(*read, shown);
        }
        witness::add_anomalies(&mut report, [self.reverse.anomaly("causal-reverse", |bad| self.explain(bad))]);
        if self.reverse.count > 0 {
            report.verdict = Verdict::Invalid;
        } else if self.is_ordered && !self.is_observed {
            self.doubt_values(&too_early, &mut report);
        }
        report.counts = vec![
            ("read-count".into(), self.reads.into()),
            ("write-count".into(), self.writes),
            ("acknowledged-count".into(), self.acknowledged.len().to_u64()),
            ("error-count".into(), self.reverse.count),
        ];
        report
    }
}
