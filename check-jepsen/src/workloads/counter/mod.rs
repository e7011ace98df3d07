//! counter: amounts are added, and each read lies between the sum that was certainly added and the sum that could have
//! been added.
//!
//! The counter starts at 0. For an `ok` read with its invocation and its completion, an add that failed, ever, did not
//! happen; of the others
//!
//! - those that were `ok` before the read's invocation are certain: they move both bounds by their amount,
//! - those that were invoked before the read's completion may or may not be in it: a positive amount moves the upper
//!   bound, a negative one the lower. That is so of `info` and of those still in flight, for all reads that follow.
//!
//! The history is valid if every read lies within its bounds, including both, and unknown if no read was `ok` after an
//! add was invoked: those reads are **observed**. After Jepsen's `checker/counter`, which rejects negative amounts.
//!
//! One pass keeps four sums (`Sums`). Only failed adds concern earlier reads: a read that is not certainly right waits
//! until every add that was in flight at its completion has ended (`pending`). Time is linear; memory grows with the
//! ops in flight, and the reads that wait, which an add that never completes may keep to the end: 250 bytes each. A
//! read that is wrong is nevertheless reported as soon as it is certain: a few more steps for an add that fails
//! (`slack`).

mod pending;
mod slack;

use crate::fold::{self, InFlight, Workload, WorkloadRun};
use crate::witness::{self, Extremes, OpRef};
use history_core::{
    Checker, Expected, Op, OpFault, OpKind, OpUse, OptionError, OptionSpec, Options, Pair, Report, Run, Verdict,
    Witness,
};
use pending::{AddId, Pending};

/// The counter checker. It has no options.
///
/// ```
/// use check_jepsen::counter::Counter;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :add, :value 2} {:process 0, :type :ok, :f :add, :value 2}
///     {:process 1, :type :invoke, :f :add, :value -1}
///     {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 1}
///     {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 0}
/// ")?;
/// let report = Counter::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert!(report.anomalies[0].witnesses[0].explanation.contains("from 1 to 2"));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counter {}

impl Checker for Counter {
    fn name(&self) -> &'static str {
        "counter"
    }

    fn summary(&self) -> &'static str {
        "Additions to a number: every read is between the sum of the certain additions and the sum of the possible \
         ones."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn about(&self) -> history_core::About {
        history_core::About::default().with_parts(history_core::Parts::Sums)
    }

    fn start(&self, _options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(WorkloadRun::new(CounterRun::default())))
    }
}

/// An upper bound of amounts, such that 2^37 of them have a sum.
const AMOUNT_END: i128 = 1 << 90;

/// A sum of positive amounts and a sum of negative ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    positive: i128,
    negative: i128,
}

impl Sums {
    fn of(amount: i128) -> Sums {
        Sums { positive: amount.max(0), negative: amount.min(0) }
    }

    fn plus(self, other: Sums) -> Sums {
        Sums { positive: self.positive + other.positive, negative: self.negative + other.negative }
    }

    fn less(self, other: Sums) -> Sums {
        Sums { positive: self.positive - other.positive, negative: self.negative - other.negative }
    }
}

/// A read with all data that determines its bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Read {
    op: OpRef,
    invoked_index: u64,
    value: i128,
    /// The adds that were `ok` before its invocation.
    certain: Sums,
    /// The adds that were invoked before its completion and did not fail.
    possible: Sums,
}

impl Read {
    fn bounds(&self) -> (i128, i128) {
        (self.possible.negative + self.certain.positive, self.possible.positive + self.certain.negative)
    }

    /// The distance of the value from its bounds; 0 if it is within them.
    fn off(&self) -> u128 {
        let (lower, upper) = self.bounds();
        if self.value < lower {
            self.value.abs_diff(lower)
        } else if self.value > upper {
            self.value.abs_diff(upper)
        } else {
            0
        }
    }
}

/// An operation in flight.
#[derive(Clone, Copy, Debug)]
enum Flight {
    Add(i128, AddId),
    /// A read, with the adds that were `ok` at its invocation.
    Read(Sums),
}

#[derive(Clone, Debug, Default)]
struct CounterRun {
    /// Adds that were `ok`.
    certain: Sums,
    /// Adds that were invoked and did not fail.
    possible: Sums,
    /// Those of `possible` that are in flight.
    waiting: Sums,
    in_flight: InFlight<Flight>,
    pending: Pending,
    /// Whether some op adds: before that, reads are no evidence.
    has_added: bool,
    reads: u64,
    wrong: Extremes<u128, Read>,
}

impl CounterRun {
    fn add(&mut self, op: &Op<'_>) -> Result<(), OpFault> {
        if op.kind == OpKind::Invoke {
            let amount = op.value.as_wide_int().filter(|amount| (-AMOUNT_END..AMOUNT_END).contains(amount));
            let Some(amount) = amount else {
                return Err(OpFault::Blocking(format!(
                    "expected an integer of at most 90 bits as the amount of an add, found {}",
                    op.value
                )));
            };
            if op.pair == Pair::Alone {
                return Err(fold::unpaired());
            }
            self.possible = self.possible.plus(Sums::of(amount));
            self.waiting = self.waiting.plus(Sums::of(amount));
            self.in_flight.put(op, Flight::Add(amount, self.pending.begin_add()));
            return Ok(());
        }
        let (amount, id) = match self.in_flight.take(op.pair) {
            Some(Flight::Add(amount, id)) => (amount, id),
            Some(Flight::Read(..)) => {
                return Err(OpFault::Blocking("the completion is an add, its invocation a read".into()));
            }
            None => return Err(fold::unpaired()),
        };
        let added = Sums::of(amount);
        self.waiting = self.waiting.less(added);
        match op.kind {
            OpKind::Ok if !op.value.is_nil() && op.value.as_wide_int() != Some(amount) => {
                let reason =
                    format!("the amount is {amount} in the invocation of an add, but {} in its completion", op.value);
                return Err(OpFault::Blocking(reason));
            }
            OpKind::Ok => self.certain = self.certain.plus(added),
            OpKind::Fail => {
                self.possible = self.possible.less(added);
                self.pending.fail_add(id, added);
            }
            OpKind::Info | OpKind::Invoke => {}
        }
        self.pending.end_add(id);
        while let Some(read) = self.pending.next_settled() {
            self.judge(read);
        }
        Ok(())
    }

    fn read(&mut self, op: &Op<'_>) -> Result<(), OpFault> {
        if op.kind == OpKind::Invoke {
            self.in_flight.put(op, Flight::Read(self.certain));
            return Ok(());
        }
        if op.kind != OpKind::Ok {
            return Ok(());
        }
        self.reads += 1;
        let certain = match self.in_flight.take(op.pair) {
            Some(Flight::Read(certain)) => certain,
            Some(Flight::Add(..)) => {
                return Err(OpFault::Blocking("the completion is a read, its invocation an add".into()));
            }
            None => return Err(fold::unpaired()),
        };
        let Pair::Completes { invoked: invoked_index, .. } = op.pair else { return Err(fold::unpaired()) };
        let Some(value) = op.value.as_wide_int() else {
            return Err(OpFault::Undecodable(format!(
                "expected an integer as the value of a read, found {}",
                op.value
            )));
        };
        let read = Read { op: OpRef::of(op), invoked_index, value, certain, possible: self.possible };
        // The read is right even if every add in flight fails, unless it is out of these bounds.
        let least = Read { possible: self.possible.less(self.waiting), ..read };
        if least.off() > 0 {
            if self.pending.is_settled() {
                self.judge(read);
            } else {
                self.pending.push(read);
            }
        }
        Ok(())
    }

    /// Checks a read whose bounds are final.
    fn judge(&mut self, read: Read) {
        let off = read.off();
        if off > 0 {
            self.wrong.push(off, read);
        }
    }
}

impl Workload for CounterRun {
    const EXPECTED: Expected =
        Expected { ops: ":add of an integer, and :read of the sum", observation: "ok :read after an :add" };
    const HOLDS: bool = true;

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        match op.f {
            Some("add") => {
                self.has_added = true;
                self.add(op).map(|()| OpUse::Understood)
            }
            Some("read") => self.read(op).map(|()| fold::observed_if(op.kind == OpKind::Ok && self.has_added)),
            _ => Ok(OpUse::PassedOver),
        }
    }

    fn is_violated(&self) -> bool {
        self.wrong.count > 0 || self.pending.is_violated()
    }

    fn report(mut self, _whole: bool) -> Report {
        // Operations in flight at the end may have happened. If more ops follow, bounds can only become narrower.
        while let Some(read) = self.pending.next() {
            self.judge(read);
        }
        let mut report = Report::new("counter", Verdict::Valid);
        witness::add_anomalies(&mut report, [self.wrong.anomaly("out-of-bounds", explain)]);
        if !report.anomalies.is_empty() {
            report.verdict = Verdict::Invalid;
        }
        report.counts = vec![("read-count".into(), self.reads), ("error-count".into(), self.wrong.count)];
        report
    }
}

fn explain(read: &Read) -> Witness {
    let (lower, upper) = read.bounds();
    let Sums { positive, negative } = read.certain;
    let unsure = read.possible.less(read.certain);
    let mut sentences = vec![format!(
        "When R1 was invoked, at index {}, adds with a sum of {} were ok",
        read.invoked_index,
        positive + negative
    )];
    sentences.push(match (unsure.positive, unsure.negative) {
        (0, 0) => "No other add may have taken effect before R1 completed".into(),
        (more, 0) => format!("Other adds of up to {more} may have taken effect before R1 completed"),
        (0, less) => format!("Other adds of down to {less} may have taken effect before R1 completed"),
        (more, less) => format!("Other adds of {less} to {more} may have taken effect before R1 completed"),
    });
    let off = if read.value < lower { "too little" } else { "too much" };
    sentences.push(format!(
        "So R1 must show a number from {lower} to {upper}. However, it shows {}, which is {} {off}",
        read.value,
        read.off()
    ));
    let op = read.op.named("R1", OpKind::Ok, read.value.into());
    let facts = vec![("lower", lower.into()), ("upper", upper.into()), ("value", read.value.into())];
    witness::witness(vec![op], facts, &sentences)
}
