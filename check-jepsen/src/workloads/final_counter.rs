//! pn-counter and g-counter: at the end, a counter has the sum of all added amounts.
//!
//! A store may be late while the test runs. Only the reads that the test marks as its last ones count: the `ok` ones
//! with `:final? true`, at either end of the operation. Each must return the sum of all `ok` adds and of some of those
//! that may have happened, which are `info` or never completed. Failed adds did not happen.
//!
//! These sums are stored as **ranges** of consecutive integers: each add that may have happened joins the ranges with
//! the same ranges shifted by its amount. If amounts differ widely there can be as many sums as subsets; beyond 2^22
//! steps only values outside of the least and the greatest sum are known to be wrong, and the verdict on the rest is
//! unknown.
//!
//! An add without a value adds the amount of its `ok` completion. If that has no value either, or the outcome is
//! unknown, the verdict is unknown.
//!
//! `g-counter` accepts no negative amounts: one of them makes its verdict unknown. A final read after an add was begun
//! is **observed**.
//!
//! After `pn-counter` and `g-counter` of Maelstrom, which does not count adds that never completed. Time is linear
//! except for the ranges. Memory: 16 bytes for each add that is in flight or may have happened, and each final read.

use crate::fold::{self, InFlight, Workload, WorkloadRun};
use crate::witness::{self, Extremes, OpRef, counted};
use history_core::cast::Cast as _;
use history_core::{
    Checker, Datum, Expected, NextStep, Op, OpFault, OpKind, OpUse, OptionError, OptionSpec, Options, Pair, Report,
    Run, Value, Verdict, Witness,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The pn-counter checker, or that of g-counter, which only increases.
///
/// ```
/// use check_jepsen::final_counter::FinalCounter;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :add, :value 3} {:process 0, :type :ok, :f :add, :value 3}
///     {:process 1, :type :invoke, :f :add, :value -1} {:process 1, :type :info, :f :add, :value -1}
///     {:process 0, :type :invoke, :f :read, :final? true} {:process 0, :type :ok, :f :read, :value 4, :final? true}
/// ")?;
/// let report = FinalCounter::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert!(report.anomalies[0].witnesses[0].explanation.contains("from 2 to 3"));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FinalCounter {
    /// Whether only non-negative amounts are added: `g-counter`.
    pub grows: bool,
}

impl FinalCounter {
    /// The checker `g-counter`.
    pub const G_COUNTER: FinalCounter = FinalCounter { grows: true };

    fn checker_name(self) -> &'static str {
        if self.grows { "g-counter" } else { "pn-counter" }
    }
}

impl Checker for FinalCounter {
    fn name(&self) -> &'static str {
        self.checker_name()
    }

    fn summary(&self) -> &'static str {
        if self.grows {
            "A counter that only grows: each final read is a sum that the additions explain."
        } else {
            "A counter that grows and shrinks: each final read is a sum that the additions explain."
        }
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn about(&self) -> history_core::About {
        history_core::About::default().with_parts(history_core::Parts::Sums)
    }

    fn start(&self, _options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(WorkloadRun::new(FinalRun { checker: *self, ..FinalRun::default() })))
    }
}

/// An upper bound of amounts, such that 2^37 of them have a sum.
const AMOUNT_END: i128 = 1 << 90;

/// The maximum number of steps to compute all sums.
const STEPS_MAX: u64 = 1 << 22;

/// The maximum number of ranges in a note.
const SHOWN_MAX: usize = 16;

/// A final read.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Read {
    op: OpRef,
    value: i128,
}

#[derive(Clone, Debug, Default)]
struct FinalRun {
    checker: FinalCounter,
    /// The sum of the `ok` adds.
    certain: i128,
    /// For each amount, the number of adds that may have happened.
    possible: BTreeMap<i128, u64>,
    /// The amounts of adds in flight; none if the invocation has no value.
    in_flight: InFlight<Option<i128>>,
    /// Whether an add that may have happened does not say its amount.
    in_doubt: bool,
    /// Reads in flight whose invocations are marked as final.
    finals: InFlight<()>,
    has_added: bool,
    reads: Vec<Read>,
}

impl FinalRun {
    fn amount(&self, value: Value<'_>) -> Result<i128, OpFault> {
        let amount = value.as_wide_int().filter(|amount| (-AMOUNT_END..AMOUNT_END).contains(amount));
        let Some(amount) = amount else {
            return Err(OpFault::Blocking(format!(
                "expected an integer of at most 90 bits as the amount of an add, found {value}"
            )));
        };
        if self.checker.grows && amount < 0 {
            return Err(OpFault::Blocking(format!(
                "a g-counter only grows, but the amount of an add is {amount}: pn-counter takes such amounts"
            )));
        }
        Ok(amount)
    }

    fn add(&mut self, op: &Op<'_>) -> Result<(), OpFault> {
        self.has_added = true;
        if op.kind == OpKind::Invoke {
            if op.pair == Pair::Alone {
                return Err(fold::unpaired());
            }
            let amount = if op.value.is_nil() { None } else { Some(self.amount(op.value)?) };
            self.in_flight.put(op, amount);
            return Ok(());
        }
        let flight = self.in_flight.take(op.pair);
        if flight == Some(None) && (op.kind != OpKind::Ok || op.value.is_nil()) {
            return Ok(());
        }
        let invoked = flight.flatten();
        match op.kind {
            OpKind::Ok => {
                let amount = match invoked {
                    Some(amount) if op.value.is_nil() => amount,
                    _ => self.amount(op.value)?,
                };
                if invoked.is_some_and(|invoked| invoked != amount) {
                    return Err(OpFault::Blocking("the completion's value differs from its invocation's".into()));
                }
                self.certain += amount;
            }
            // A crashed op may have the reason in place of its value.
            OpKind::Info => {
                let amount = match invoked {
                    Some(amount) => amount,
                    None => self.amount(op.value)?,
                };
                *self.possible.entry(amount).or_default() += 1;
            }
            OpKind::Fail | OpKind::Invoke => {}
        }
        Ok(())
    }

    /// Processes a read. Returns true if it is evidence.
    fn read(&mut self, op: &Op<'_>) -> Result<bool, OpFault> {
        let mark = match op.extra.get("final?") {
            None | Some(Value::Nil) => None,
            Some(Value::Bool(is_final)) => Some(is_final),
            Some(other) => {
                return Err(OpFault::Undecodable(format!(
                    "expected true or false as :final? of a read, found {other}"
                )));
            }
        };
        if op.kind == OpKind::Invoke {
            if mark == Some(true) {
                self.finals.put(op, ());
            }
            return Ok(false);
        }
        let is_invoked = self.finals.take(op.pair).is_some();
        if op.kind != OpKind::Ok || !mark.unwrap_or(is_invoked) {
            return Ok(false);
        }
        let Some(value) = op.value.as_wide_int() else {
            return Err(OpFault::Undecodable(format!(
                "expected an integer as the value of a read, found {}",
                op.value
            )));
        };
        self.reads.push(Read { op: OpRef::of(op), value });
        Ok(self.has_added)
    }
}

/// The sums of all subsets of these amounts, as sorted ranges of integers.
struct Sums {
    ranges: Vec<(i128, i128)>,
    /// Whether the ranges are exact; otherwise there is one range that contains all sums.
    is_exact: bool,
}

impl Sums {
    fn of(certain: i128, possible: &BTreeMap<i128, u64>) -> Sums {
        let mut ranges = vec![(certain, certain)];
        let mut steps = 0;
        for (amount, times) in possible.iter().filter(|(amount, _)| **amount != 0) {
            for _ in 0..*times {
                ranges = with(&ranges, *amount);
                steps += ranges.len().to_u64();
                if steps > STEPS_MAX {
                    return Sums::around(certain, possible);
                }
            }
        }
        Sums { ranges, is_exact: true }
    }

    fn around(certain: i128, possible: &BTreeMap<i128, u64>) -> Sums {
        let all = possible.iter().map(|(amount, times)| amount * i128::from(*times));
        let (mut least, mut most) = (certain, certain);
        all.for_each(|sum| if sum < 0 { least += sum } else { most += sum });
        Sums { ranges: vec![(least, most)], is_exact: false }
    }

    fn contain(&self, value: i128) -> bool {
        let at = self.ranges.partition_point(|(_, last)| *last < value);
        self.ranges.get(at).is_some_and(|(first, _)| *first <= value)
    }

    /// The nearest sums below and above a value that is not a sum.
    fn nearest(&self, value: i128) -> (Option<i128>, Option<i128>) {
        let at = self.ranges.partition_point(|(_, last)| *last < value);
        let below = at.checked_sub(1).map(|at| self.ranges[at].1);
        (below, self.ranges.get(at).map(|(first, _)| *first))
    }

    /// The ranges as text: `2 to 5, 9`.
    fn shown(&self) -> String {
        let mut text = String::new();
        for (at, (first, last)) in self.ranges.iter().take(SHOWN_MAX).enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            _ = if first == last { write!(text, "{comma}{first}") } else { write!(text, "{comma}{first} to {last}") };
        }
        if self.ranges.len() > SHOWN_MAX {
            _ = write!(text, " and {} more ranges", self.ranges.len() - SHOWN_MAX);
        }
        text
    }
}

/// The union of the ranges and the same ranges shifted by an amount. Both are sorted, so one pass merges them.
fn with(ranges: &[(i128, i128)], amount: i128) -> Vec<(i128, i128)> {
    let moved = ranges.iter().map(|(first, last)| (first + amount, last + amount));
    let (mut moved, mut own) = (moved.peekable(), ranges.iter().copied().peekable());
    let mut all: Vec<(i128, i128)> = Vec::with_capacity(ranges.len() + 1);
    loop {
        let next = match (own.peek(), moved.peek()) {
            (Some(a), Some(b)) if a <= b => own.next(),
            (_, Some(_)) => moved.next(),
            (_, None) => own.next(),
        };
        let Some((first, last)) = next else { return all };
        match all.last_mut() {
            Some(end) if first <= end.1 + 1 => end.1 = end.1.max(last),
            _ => all.push((first, last)),
        }
    }
}

impl Workload for FinalRun {
    const EXPECTED: Expected = Expected {
        ops: ":add of an integer, and :read of the sum, the last ones with :final? true",
        observation: "ok :read with :final? true after an :add",
    };
    const HOLDS: bool = true;
    const ADDS: Option<&'static str> = Some("add");

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        match op.f {
            Some("add") => self.add(op).map(|()| OpUse::Understood),
            Some("read") => self.read(op).map(fold::observed_if),
            _ => Ok(OpUse::PassedOver),
        }
    }

    fn doubt(&mut self) {
        self.in_doubt = true;
    }

    fn report(mut self, whole: bool) -> Report {
        let mut report = Report::new(self.checker.checker_name(), Verdict::Valid);
        let open: Vec<i128> = self.in_flight.iter().copied().flatten().collect();
        for amount in open {
            *self.possible.entry(amount).or_default() += 1;
        }
        let sums = Sums::of(self.certain, &self.possible);
        let mut wrong = Extremes::default();
        // Missing ops, and those that do not say their amount, may have added anything.
        let is_known = whole && !self.in_doubt;
        for read in self.reads.iter().filter(|read| is_known && !sums.contain(read.value)) {
            let (below, above) = sums.nearest(read.value);
            let off = [below, above].into_iter().flatten().map(|sum| sum.abs_diff(read.value)).min();
            wrong.push(off.unwrap_or(0), *read);
        }
        let uncertain: u64 = self.possible.values().sum();
        witness::add_anomalies(&mut report, [wrong.anomaly("wrong-sum", |read| self.explain(read, &sums, uncertain))]);
        if wrong.count > 0 {
            report.verdict = Verdict::Invalid;
        } else if !sums.is_exact && !self.reads.is_empty() {
            report.verdict = Verdict::Unknown;
            report.notes.push(format!(
                "{} may have happened, with too many different sums to list. Every final read is between the least \
                 and the greatest.",
                counted(uncertain, "add")
            ));
            report.add_next(NextStep::new(
                "Record fewer adds with an unknown outcome: record fail if an add certainly did not happen, or add equal amounts.",
            ));
        }
        report.counts = vec![
            ("final-read-count".into(), self.reads.len().to_u64()),
            ("uncertain-add-count".into(), uncertain),
            ("error-count".into(), wrong.count),
        ];
        report
    }
}

impl FinalRun {
    fn explain(&self, read: &Read, sums: &Sums, uncertain: u64) -> Witness {
        let mut sentences = vec![format!("The adds that were ok have a sum of {}", self.certain)];
        if uncertain > 0 {
            let amounts = self.possible.iter().take(SHOWN_MAX).map(|(amount, times)| match times {
                1 => amount.to_string(),
                _ => format!("{amount} ({times} times)"),
            });
            let mut amounts = amounts.collect::<Vec<_>>().join(", ");
            if self.possible.len() > SHOWN_MAX {
                amounts += ", ...";
            }
            sentences.push(format!("{} may have happened: {amounts}", counted(uncertain, "more add")));
        }
        let must = match (&sums.ranges[..], sums.is_exact) {
            ([(first, last)], true) if first == last => format!("R1 must show {first}"),
            ([(first, last)], _) => format!("R1 must show a number from {first} to {last}"),
            _ => format!("R1 must show one of these: {}", sums.shown()),
        };
        sentences.push(format!("So {must}. However, it shows {}", read.value));
        let (below, above) = sums.nearest(read.value);
        let datum = |sum: Option<i128>| sum.map_or(Datum::Nil, Datum::from);
        let facts = vec![
            ("value", Datum::from(read.value)),
            ("certain", Datum::from(self.certain)),
            ("nearest-below", datum(below)),
            ("nearest-above", datum(above)),
        ];
        let op = read.op.named("R1", OpKind::Ok, read.value.into());
        witness::witness(vec![op], facts, &sentences)
    }
}
