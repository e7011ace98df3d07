//! stats: how many ops of each function there were, how they ended, and how long they took.
//!
//! For each `:f` of the clients' ops: how many completed `ok`, `fail` and `info`, how many never completed (`open`),
//! and the latencies of those that were `ok`, from their invocations to their completions. The verdict is valid if each
//! function was `ok` at least once, and there is one, otherwise unknown: nothing was wrong, but something was not
//! tested. An `ok` op is **observed**. After Jepsen's `checker/stats`, which has no latencies and ignores operations
//! that never complete.
//!
//! Quantiles are by nearest rank, in microseconds, rounded down. Time is linear but for sorting; memory: 8 bytes an
//! `ok` op.

use crate::fold::{self, Workload, WorkloadRun};
use crate::quantiles::quantiles;
use history_core::{
    Checker, Expected, NextStep, Op, OpFault, OpKind, OpUse, OptionError, OptionSpec, Options, Pair, Report, Run,
    Verdict,
};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The stats checker. It has no options.
///
/// ```
/// use check_jepsen::stats::Stats;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :read, :time 0} {:process 0, :type :ok, :f :read, :time 2000000}
///     {:process 0, :type :invoke, :f :write, :time 0} {:process 0, :type :fail, :f :write, :time 7}
/// ")?;
/// let report = Stats::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Unknown, "no write was ok");
/// assert!(report.counts.contains(&("read-ok-count".into(), 1)));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {}

impl Checker for Stats {
    fn name(&self) -> &'static str {
        "stats"
    }

    fn summary(&self) -> &'static str {
        "Counts and latencies of ops by function; each function must succeed at least once."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn about(&self) -> history_core::About {
        history_core::About::default().with_parts(history_core::Parts::Whole)
    }

    fn start(&self, _options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(WorkloadRun::new(StatsRun::default())))
    }
}

/// The maximum number of functions in a history: they are names of operations, not values.
const FUNCTIONS_MAX: usize = 10_000;

/// The facts about the ops of one function.
#[derive(Clone, Debug, Default)]
struct Function {
    invoked: u64,
    ok: u64,
    fail: u64,
    info: u64,
    /// The time from invocation to completion of each `ok` op; absent if times are missing.
    latencies_us: Vec<u64>,
}

#[derive(Clone, Debug, Default)]
struct StatsRun {
    /// The position of each function, by name.
    places: BTreeMap<String, usize>,
    functions: Vec<Function>,
    /// Ops without `:f`.
    nameless: Option<Function>,
}

impl StatsRun {
    fn function(&mut self, f: Option<&str>) -> Result<&mut Function, OpFault> {
        let Some(f) = f else { return Ok(self.nameless.get_or_insert_default()) };
        if let Some(place) = self.places.get(f) {
            return Ok(&mut self.functions[*place]);
        }
        if self.places.len() == FUNCTIONS_MAX {
            return Err(OpFault::limit("more than 10,000 different functions"));
        }
        let place = self.functions.len();
        self.places.insert(f.to_owned(), place);
        self.functions.push(Function::default());
        Ok(&mut self.functions[place])
    }
}

impl Workload for StatsRun {
    const EXPECTED: Expected = Expected { ops: "ops of any :f", observation: "ok op" };
    const IS_OF_ONE_OBJECT: bool = false;
    const NEEDS_PROCESSES: bool = false;

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        let function = self.function(op.f)?;
        match op.kind {
            OpKind::Invoke => function.invoked += 1,
            OpKind::Fail => function.fail += 1,
            OpKind::Info => function.info += 1,
            OpKind::Ok => {
                function.ok += 1;
                if let (Pair::Completes { invoked_time_ns: Some(invoked), .. }, Some(completed)) = (op.pair, op.time) {
                    let ns = completed.saturating_sub(invoked).max(0).unsigned_abs();
                    function.latencies_us.push(ns / 1_000);
                }
            }
        }
        Ok(fold::observed_if(op.kind == OpKind::Ok))
    }

    fn report(mut self, _whole: bool) -> Report {
        let mut report = Report::new("stats", Verdict::Valid);
        let named = self.places.into_iter().map(|(name, place)| (name, std::mem::take(&mut self.functions[place])));
        let all = self.nameless.map(|function| ("nil".to_owned(), function)).into_iter().chain(named);
        for (name, mut function) in all {
            let Function { invoked, ok, fail, info, .. } = function;
            if ok == 0 {
                report.verdict = Verdict::Unknown;
                let what = format!("Record an ok op of the function {name}, or leave its ops out.");
                report.add_next(NextStep::new(what));
            }
            let completed = ok + fail + info;
            // In a history of completions only, nothing is open.
            let open = invoked.saturating_sub(completed);
            let counts = [
                ("count", completed + open),
                ("ok-count", ok),
                ("fail-count", fail),
                ("info-count", info),
                ("open-count", open),
            ];
            report.counts.extend(counts.into_iter().map(|(kind, count)| (format!("{name}-{kind}").into(), count)));
            let latencies = quantiles(&format!("{name}-latency-us"), &mut function.latencies_us);
            report.notes.push(sentence(&name, &counts, &latencies.iter().map(|of| of.1).collect::<Vec<_>>()));
            report.counts.extend(latencies);
        }
        report
    }
}

/// The sentence on a function, given its counts and the quantiles of its latencies.
fn sentence(name: &str, counts: &[(&str, u64); 5], latencies_us: &[u64]) -> String {
    let [(_, all), (_, ok), (_, fail), (_, info), (_, open)] = *counts;
    // In thousandths of all, rounded down: only a complete success shows as 100 %.
    let permille = u128::from(ok) * 1000 / u128::from(all.max(1));
    let mut text = format!("{}: {ok} of {all} ok ({}.{} %)", name.escape_debug(), permille / 10, permille % 10);
    for (count, kind) in [(fail, "failed"), (info, "unknown"), (open, "never completed")] {
        if count > 0 {
            _ = write!(text, ", {count} {kind}");
        }
    }
    if let [least, median, p95, p99, most] = *latencies_us {
        let ms = |us: u64| format!("{}.{:03}", us / 1_000, us % 1_000);
        let [least, median, p95, p99, most] = [least, median, p95, p99, most].map(ms);
        _ = write!(text, "; latency {least} to {most} ms, median {median}, 95 % in {p95}, 99 % in {p99}");
    }
    text.push('.');
    if ok == 0 {
        text += " No such op was ok, so this function was not tested.";
    }
    text
}
