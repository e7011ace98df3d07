//! `histcheck minimize`: writes the smallest part of a history that still shows an anomaly.
//!
//! The part is a *sub-history*: whole operations, each invocation with its completion, in their order and with their
//! indices; from transactions, only the micro-ops that matter. It is *closed* ([`needs`]), so its anomalies are
//! anomalies of the whole history, not effects of the omission. And it is *1-minimal*: without any one of its
//! operations it would not be closed, or not show the anomaly any more ([`shrink`]).

mod needs;
mod shrink;
mod target;
mod whole;

use crate::job::Check;
use crate::judge::check;
use crate::judge::input::Input;
use crate::line::gen_args;
use crate::output::diagnose;
use crate::output::exit::{self, Exit};
use crate::output::formats;
use history_core::cast::Cast as _;
use history_core::{
    Budget, ClientRule, ErrorKind, Format, History, HistoryBuilder, HistoryError, Keyed, NewOp, Parts, Reader,
    Reduction, Report, Run, Verdict, Writer,
};
use needs::Needs;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use target::Target;
use whole::{Operation, Unit, Whole};

/// The maximum total number of ops in all sub-histories that are checked, which takes seconds.
const OPS_MAX: u64 = 5_000_000;
/// The number of operations around the anomaly that are tried together at first.
const WINDOW: usize = 8;

/// The task: a history to minimize.
pub(crate) struct Minimize<'c> {
    pub(crate) check: Check<'c>,
    /// The type of anomaly to show; if `None`, the one that needs the fewest operations.
    pub(crate) anomaly: Option<String>,
    /// The path of the output; standard output if absent.
    pub(crate) output: Option<OsString>,
    /// The maximum number of sub-histories that are checked.
    pub(crate) checks_max: u64,
}

/// The result of minimizing.
pub(crate) struct Minimized {
    pub(crate) history: History,
    pub(crate) kind: String,
    pub(crate) operations: usize,
    pub(crate) checks: u64,
    pub(crate) is_minimal: bool,
    /// The reason why the result is the whole history, if no part shows the anomaly.
    pub(crate) whole: Option<String>,
}

/// Runs the command.
pub(crate) fn run(job: &Minimize<'_>) -> Exit {
    let Some(input) = job.check.inputs.first() else { return Exit::FAILED };
    job.check.warnings.iter().for_each(|warning| diagnose::warning(warning));
    let report = match check::check_alone(&job.check) {
        Ok(report) => report,
        Err(error) => {
            diagnose::history(&input.place(), &error);
            return Exit::FAILED;
        }
    };
    let verdict = Exit::of(report.verdict);
    if job.output.is_some() {
        let mut out = io::stdout().lock();
        if let Err(error) = formats::verdict(&mut out, input, &report).and_then(|()| out.flush()) {
            return verdict.and(exit::unwritten(&error));
        }
    }
    match report.verdict {
        Verdict::Valid => {
            diagnose::hint(&input.place(), "verdict is true: nothing to minimize, no file written");
        }
        Verdict::Unknown => {
            let why = report.notes.join(" ");
            diagnose::hint(&input.place(), &format!("verdict is unknown: nothing to minimize, no file written. {why}"));
        }
        Verdict::Invalid => match minimize_and_write(job, input, &report) {
            Ok(written) => return verdict.and(written),
            Err(message) => {
                diagnose::error(&format!("{}: {message}", input.place()));
                return verdict.and(Exit::FAILED);
            }
        },
    }
    verdict
}

/// Writes the part of a history that shows an anomaly of a report. Writes nothing if no part shows it.
///
/// # Errors
///
/// If the part cannot be found or written, as a sentence.
#[cfg(all(unix, feature = "live"))]
pub(crate) fn write_smaller(job: &Minimize<'_>, report: &Report) -> Result<(), String> {
    let Some(input) = job.check.inputs.first() else { return Ok(()) };
    let (history, format) = read(job, input)?;
    let found = minimize(job, &history, report)?;
    if let Some(why) = &found.whole {
        diagnose::hint(&input.place(), &format!("no minimal history: {why}"));
        return Ok(());
    }
    write(job, input, report, &history, &found, format).map(|_| ())
}

fn minimize_and_write(job: &Minimize<'_>, input: &Input, report: &Report) -> Result<Exit, String> {
    let (history, format) = read(job, input)?;
    let found = minimize(job, &history, report)?;
    write(job, input, report, &history, &found, format)
}

/// The history, and the format in which a part of it is written.
fn read(job: &Minimize<'_>, input: &Input) -> Result<(History, Format), String> {
    let said = |error: HistoryError| error.to_string();
    let mut reader = input.open().map_err(said)?;
    let history = History::read(&mut reader).map_err(said)?;
    Ok((history, format(job, reader.format())))
}

fn write(
    job: &Minimize<'_>,
    input: &Input,
    report: &Report,
    history: &History,
    found: &Minimized,
    format: Format,
) -> Result<Exit, String> {
    let said = |error: HistoryError| error.to_string();
    let mut writer = Writer::new(Vec::new(), format);
    for op in found.history.ops() {
        writer.write(&op).map_err(|error| error.to_string())?;
    }
    let text = writer.finish().map_err(|error| error.to_string())?;
    // Reads and checks the written text, as its receiver will.
    let again =
        History::read(&mut Reader::new(&text[..]).with_format(format).with_client_rule(input.how().clients.clone()))
            .and_then(|again| judge(job, is_keyed(report), &again));
    let again = again.map_err(said)?;
    let is_shown = again.anomaly(&found.kind).is_some() || found.whole.is_some() && again.verdict == Verdict::Invalid;
    if !is_shown {
        return Err(format!(
            "the minimized history does not show {} when it is read again, which is a bug: please report it",
            found.kind
        ));
    }
    let place = job.output.as_ref().map_or("standard output".into(), |path| path.to_string_lossy().into_owned());
    match &job.output {
        Some(path) if path != "-" => crate::r#gen::write_text(Path::new(path), &text),
        _ => match io::stdout().lock().write_all(&text) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(exit::unwritten(&error)),
            written => written,
        },
    }
    .map_err(|error| format!("cannot write {place}: {error}"))?;
    explain(job, input, report, history, found, &place);
    Ok(Exit::OK)
}

fn explain(job: &Minimize<'_>, input: &Input, report: &Report, history: &History, found: &Minimized, place: &str) {
    let all = (0..history.len()).filter(|at| history.partner(*at).is_none_or(|other| *at < other)).count();
    if let Some(why) = &found.whole {
        let message = format!("{why}; wrote the whole history to {place}");
        diagnose::hint(&input.place(), &message);
        return;
    }
    let (kept, kind) = (found.operations, &found.kind);
    diagnose::hint(
        &input.place(),
        &format!("{kept} of {all} operations show {kind} ({} checks); written to {place}", found.checks),
    );
    if !found.is_minimal {
        let message = if found.checks >= job.checks_max {
            format!(
                "reached the limit of {} checks: a smaller history may exist; raise --max-checks to continue",
                job.checks_max
            )
        } else {
            format!(
                "reached the limit of {OPS_MAX} ops in all checks: a smaller history may exist; minimize the output again to continue"
            )
        };
        diagnose::warning(&message);
    }
    if job.check.setup.checker.about().of(&report.checker).reduction.parts == Parts::Unknown {
        let message = format!(
            "checker {} declares no dependencies between operations: the anomaly may come from removed operations; compare with the \
             whole history",
            report.checker
        );
        diagnose::warning(&message);
    }
}

/// The format for the file's name, or else the format of the input, if it can be written.
fn format(job: &Minimize<'_>, input: Option<Format>) -> Format {
    let path = job.output.as_deref().map(Path::new);
    let named = path.and_then(gen_args::extension_of).and_then(|name| name.parse::<Format>().ok());
    match named.or(input) {
        Some(Format::Json | Format::Intervals) => Format::Json,
        // The table has no column for indices.
        _ => Format::Edn,
    }
}

fn is_keyed(report: &Report) -> bool {
    report.counts.iter().any(|(name, _)| name == "valid-key-count")
}

/// Checks a history in memory.
fn judge(job: &Minimize<'_>, keyed: bool, history: &History) -> Result<Report, HistoryError> {
    let (checker, options) = (&*job.check.setup.checker, &job.check.setup.options);
    let begun = if keyed && !checker.about().is_keyed {
        Keyed::start(checker, options).map(|run| Box::new(run) as Box<dyn Run + '_>)
    } else {
        checker.start(options).map(|run| run as Box<dyn Run + '_>)
    };
    let run = begun.map_err(|error| HistoryError::new(ErrorKind::Unexpected, error.to_string()))?;
    history_core::check_history(run, history, &Budget::default())
}

/// The result for a history if no part shows the anomaly: the whole.
fn whole_of(history: &History, rule: ClientRule, kind: &str, checks: u64, why: String) -> Result<Minimized, String> {
    let mut builder = HistoryBuilder::new().with_client_rule(rule);
    for op in history.ops() {
        builder.push_op(&NewOp::from(&op)).map_err(|error| error.to_string())?;
    }
    Ok(Minimized {
        history: builder.build(),
        kind: kind.to_owned(),
        operations: history.len(),
        checks,
        is_minimal: false,
        whole: Some(why),
    })
}

/// Minimizes a history that is invalid according to a report. If no part of it is invalid, the result is the whole
/// history.
///
/// # Errors
///
/// If the requested anomaly does not exist, as a sentence.
pub(crate) fn minimize(job: &Minimize<'_>, history: &History, report: &Report) -> Result<Minimized, String> {
    let rule = job.check.inputs.first().map(|input| input.how().clients.clone()).unwrap_or_default();
    let about = job.check.setup.checker.about();
    let about = about.of(&report.checker);
    let reduction = &about.reduction;
    if reduction.parts == Parts::Whole {
        let why = format!("{} counts all operations, so none can be removed", report.checker);
        return whole_of(history, rule, "", 0, why);
    }
    let targets = match Target::candidates(report, job.anomaly.as_deref(), about)? {
        Ok(targets) => targets,
        Err(why) => return whole_of(history, rule, "", 0, why),
    };
    let keyed = is_keyed(report);
    let of_target = |target: &Target| take_apart(history, reduction, target, keyed, Keys::Met);
    let needs_of = |whole: &Whole<'_>, target: &Target| {
        let needs = Needs::new(whole, reduction, &job.check.setup.options, &target.kind);
        operations_of(whole, &needs.closed(parts_of(target, whole).into_iter().chain(pinned_of(target, whole)))).len()
    };
    // If several need the same number of operations, the first one is chosen.
    let smallest = targets.into_iter().min_by_key(|target| needs_of(&of_target(target), target));
    let Some(target) = smallest else { return whole_of(history, rule, "", 0, "there is no witness".to_owned()) };
    // Effects of two transactions on other keys may be a part of the cause, although no step of the witness names them.
    let is_of_keys = reduction.parts == Parts::Transactions;
    let mut checks = 0;
    for keys in [Keys::Met, Keys::All].into_iter().take(1 + usize::from(is_of_keys)) {
        let mut whole = take_apart(history, reduction, &target, keyed, keys);
        whole.rule = rule.clone();
        if let Some(found) = smaller(job, &whole, reduction, &target, keyed, &mut checks)? {
            return Ok(found);
        }
    }
    let why = format!("no smaller part shows {}: it may depend on the whole history", target.kind);
    whole_of(history, rule, &target.kind, checks, why)
}

/// The micro-ops of transactions that may be a part of the result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    /// The micro-ops on the keys that the witness names.
    Met,
    All,
}

/// Finds the smallest part of these units that shows the anomaly, if any does.
fn smaller(
    job: &Minimize<'_>,
    whole: &Whole<'_>,
    reduction: &Reduction,
    target: &Target,
    keyed: bool,
    checks: &mut u64,
) -> Result<Option<Minimized>, String> {
    let needs = Needs::new(whole, reduction, &job.check.setup.options, &target.kind);
    let first = parts_of(target, whole);
    let kept = needs.closed(pinned_of(target, whole));
    let has_begun = Cell::new(false);
    let mut ops = 0;
    let mut shows = |units: &BTreeSet<Unit>| {
        // The limit on ops does not apply until a part was found that shows the anomaly.
        if *checks >= job.checks_max || (ops >= OPS_MAX && has_begun.get()) {
            return None;
        }
        *checks += 1;
        ops += 2 * units.len().to_u64();
        let judged = whole.history_of(units).and_then(|history| judge(job, keyed, &history));
        // A sub-history that cannot be checked does not show the anomaly.
        Some(judged.is_ok_and(|report| target.is_in(&report)))
    };
    let Some(start) = begin(whole, &needs, &first, &mut shows) else { return Ok(None) };
    has_begun.set(true);
    let shrunk = shrink::shrink(whole, &needs, start, &kept, &mut shows);
    Ok(Some(Minimized {
        history: whole.history_of(&shrunk.units).map_err(|error| error.to_string())?,
        kind: target.kind.clone(),
        operations: operations_of(whole, &shrunk.units).len(),
        checks: *checks,
        is_minimal: shrunk.is_minimal,
        whole: None,
    }))
}

/// The operations of these parts.
fn operations_of(whole: &Whole<'_>, units: &BTreeSet<Unit>) -> BTreeSet<u32> {
    units.iter().map(|unit| whole.parts[(*unit).to_usize()].operation).collect()
}

/// The parts of the pinned operation, if there is one.
fn pinned_of(target: &Target, whole: &Whole<'_>) -> Vec<Unit> {
    let operation = target.pinned.and_then(|index| whole.operation_at(index));
    operation.into_iter().flat_map(|at| whole.units_of(at)).collect()
}

/// The parts of the witness's operations. From transactions in a cycle, only the micro-ops on the keys of their steps.
fn parts_of(target: &Target, whole: &Whole<'_>) -> Vec<Unit> {
    let mut parts = Vec::new();
    for (at, op) in target.witness.ops.iter().enumerate() {
        let Some(operation) = whole.operation_at(op.index) else { continue };
        let steps = target.witness.steps.iter().filter(|step| step.from == at || step.to == at);
        let keys: Vec<String> = steps.filter_map(|step| Some(step.key.as_ref()?.to_string())).collect();
        let meets = |unit: &Unit| {
            let mop = whole.mop(*unit).and_then(history_core::Value::as_seq);
            let key = mop.and_then(|mop| mop.iter().nth(1)).map(|key| key.to_datum().to_string());
            key.is_some_and(|key| keys.contains(&key))
        };
        let before = parts.len();
        parts.extend(whole.units_of(operation).filter(meets));
        if parts.len() == before {
            parts.extend(whole.units_of(operation));
        }
    }
    parts
}

/// The parts of a history that can be related to an anomaly.
fn take_apart<'h>(history: &'h History, reduction: &Reduction, target: &Target, keyed: bool, which: Keys) -> Whole<'h> {
    let pinned = target.pinned.and_then(|index| whole::position_of(history, index));
    let end = pinned.filter(|_| reduction.prefix_decides);
    let key = target
        .witness
        .facts
        .iter()
        .find(|(name, _)| keyed && name == "independent-key")
        .map(|(_, key)| key.to_string());
    let keeps = |operation: &Operation| {
        let is_of_key = key.as_ref().is_none_or(|key| {
            whole::key_of(history, operation).is_some_and(|other| other.to_datum().to_string() == *key)
        });
        // A failed operation did not happen, so it is no evidence about an object.
        let happened = !reduction.prefix_decides || operation.kind(history) != history_core::OpKind::Fail;
        is_of_key && happened && end.is_none_or(|end| operation.first <= end)
    };
    let keys = target.keys();
    let counts = |mop: history_core::Value<'_>| {
        let key = mop.as_seq().and_then(|mop| mop.iter().nth(1));
        which == Keys::All || key.is_some_and(|key| keys.binary_search(&key.to_datum().to_string()).is_ok())
    };
    let first = history.ops().find(|op| op.process.is_client());
    let is_paired = keyed && first.is_some_and(|op| op.extra.get("key").is_none());
    let mops: Option<&dyn Fn(history_core::Value<'_>) -> bool> =
        if reduction.parts == Parts::Transactions { Some(&counts) } else { None };
    Whole::new(history, is_paired, &keeps, mops)
}

/// Finds a closed set that shows the anomaly: around the witness's operations, extended until it shows the anomaly.
fn begin(
    whole: &Whole<'_>,
    needs: &Needs<'_>,
    first: &[Unit],
    shows: &mut shrink::Shows<'_>,
) -> Option<BTreeSet<Unit>> {
    let mut centers: Vec<usize> = first.iter().map(|unit| whole.operation_of(*unit).last()).collect();
    centers.sort_unstable();
    let nearest = |place: usize| {
        let above = centers.partition_point(|center| *center < place);
        let around = centers[above.saturating_sub(1)..].iter().take(2);
        around.map(|center| center.abs_diff(place)).min().unwrap_or(0)
    };
    let distance = |unit: Unit| {
        let operation = whole.operation_of(unit);
        nearest(operation.first).min(nearest(operation.last()))
    };
    let mut order: Vec<(usize, Unit)> = (0..whole.parts.len() as Unit).map(|unit| (distance(unit), unit)).collect();
    order.sort_unstable();
    let mut size = 0;
    loop {
        let units = first.iter().copied().chain(order.iter().take(size).map(|(_, unit)| *unit));
        let closed = needs.closed(units);
        if !closed.is_empty() && shows(&closed)? {
            return Some(closed);
        }
        if size >= order.len() {
            return None;
        }
        size = if size == 0 { WINDOW } else { size * 4 };
    }
}

#[cfg(test)]
mod tests;
