//! Checks whole histories on a separate thread, so that Python's lock is free and interrupts are handled.

use crate::error::raised;
use crate::op::GivenOp;
use crate::report::Judged;
use crate::settings::Settings;
use histcheck_front::setup::{Checked, cut_short, guarded};
use histcheck_front::source::{self, Reading};
use histcheck_front::{Registry, Setup};
use history_core::{Batch, BatchBuilder, Budget, Cancel, ErrorKind, HistoryError, Reader, Report, TimeUnit};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The time between two checks for an interrupt by the user.
const LOOK: Duration = Duration::from_millis(50);

/// The number of ops in a batch for the checker.
pub(crate) const BATCH_OPS: usize = 4096;

/// The maximum number of batches that wait for the checker.
const WAITING_MAX: usize = 4;

/// Checks a file, or the history in the directory of a test of Jepsen.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's strings are converted, not lent")]
pub(crate) fn check_path(py: Python<'_>, path: OsString, settings: &Settings) -> PyResult<Judged> {
    let name = path.to_string_lossy().into_owned();
    let named = |mut error: HistoryError| {
        if error.kind == ErrorKind::Io {
            error.message = format!("{name}: {}", error.message);
        }
        error
    };
    check_text(py, name.clone(), settings, |reading| source::reader(&path, reading).map_err(named))
}

/// Checks the text of a history.
#[pyfunction]
pub(crate) fn check_bytes(py: Python<'_>, text: &[u8], settings: &Settings) -> PyResult<Judged> {
    check_text(py, "bytes".to_owned(), settings, |_| Ok(Reader::new(text)))
}

fn check_text<'t>(
    py: Python<'_>,
    name: String,
    settings: &Settings,
    open: impl FnOnce(&Arc<Reading>) -> Result<Reader<'t>, HistoryError> + Send,
) -> PyResult<Judged> {
    let registry = settings.registry(Registry::built_in())?;
    let (setup, cancel) = (settings.setup(&registry)?, Cancel::default());
    let (budget, reading) =
        (settings.budget(cancel.clone(), settings.deadline()), Arc::new(Reading::new(cancel.clone())));
    let open = |reading: &Arc<Reading>| open(reading).map(|reader| settings.read_as.reader(reader));
    let checked = apart(py, &cancel, || setup.check(open, &reading, &budget, &()))?;
    let Checked { outcome, mut decisions, unmatched, .. } = checked;
    decisions.extend(unmatched.into_iter().flatten().map(|name| no_process(&name)));
    let report = outcome.map_err(|error| raised(py, &error))?;
    Ok(Judged::new(report, name, decisions))
}

/// Checks the ops of an iterator.
#[pyfunction]
pub(crate) fn check_ops(py: Python<'_>, ops: &Bound<'_, PyAny>, settings: &Settings) -> PyResult<Judged> {
    let registry = settings.registry(Registry::built_in())?;
    let (setup, cancel) = (settings.setup(&registry)?, Cancel::default());
    let budget = settings.budget(cancel.clone(), settings.deadline());
    let decisions = Mutex::new(Vec::new());
    let (judged, unmatched) = std::thread::scope(|scope| {
        let (sender, batches) = sync_channel(WAITING_MAX);
        let (done, outcome) = channel();
        let (setup, decisions) = (&setup, &decisions);
        let budget = &budget;
        scope.spawn(move || {
            let judged = guarded(|| judge(setup, &batches, budget, decisions));
            // Dropping the receiver notifies the thread that sends batches.
            drop(batches);
            let _ = done.send(judged);
        });
        let fed = feed(py, ops, settings, budget, &sender);
        drop(sender);
        if fed.is_err() {
            cancel.cancel();
        }
        let outcome = wait(py, &cancel, outcome);
        let unmatched = fed?;
        outcome.map(|judged| (judged, unmatched))
    })?;
    let report = judged.map_err(|error| raised(py, &error))?;
    let mut decisions = decisions.into_inner().unwrap_or_else(PoisonError::into_inner);
    decisions.extend(unmatched.iter().map(|name| no_process(name)));
    Ok(Judged::new(report, "ops".to_owned(), decisions))
}

/// Reads the ops of an iterator until it ends or the checker needs no more. Returns the names of the client rule that
/// no process had, if all ops were read.
fn feed(
    py: Python<'_>,
    ops: &Bound<'_, PyAny>,
    settings: &Settings,
    budget: &Budget,
    batches: &SyncSender<Batch>,
) -> PyResult<Vec<String>> {
    let mut builder = BatchBuilder::new().with_client_rule(settings.read_as.clients.clone());
    let mut count: u64 = 0;
    for op in ops.try_iter()? {
        push(py, &mut builder, &op?, settings.read_as.time_unit, count)?;
        count += 1;
        // After the time limit, the checker ends at the next batch.
        if builder.len() == BATCH_OPS || budget.check(0, 0).is_err() {
            // Iterating over a list runs no Python code that would handle interrupts.
            py.check_signals()?;
            let batch = builder.take();
            if !py.detach(|| batches.send(batch).is_ok()) {
                return Ok(Vec::new());
            }
        }
    }
    if count == 0 {
        return Err(raised(py, &HistoryError::new(ErrorKind::NotAnOp, "the history contains no op")));
    }
    let batch = builder.take();
    // Sending fails if the verdict is already determined.
    py.detach(|| batches.send(batch).ok());
    Ok(builder.unmatched().map(str::to_owned).collect())
}

/// Adds an op. An error in it includes its position.
pub(crate) fn push(
    py: Python<'_>,
    builder: &mut BatchBuilder,
    op: &Bound<'_, PyAny>,
    unit: Option<TimeUnit>,
    at: u64,
) -> PyResult<()> {
    let given = GivenOp::of(op, unit).map_err(|refused| refused.in_op(py, at))?;
    let pushed = given.with_op(|op| builder.push_op(op)).map_err(|refused| refused.in_op(py, at))?;
    pushed.map_err(|mut error| {
        error.message = format!("op {at}: {}", error.message);
        raised(py, &error)
    })
}

fn judge(
    setup: &Setup<'_>,
    batches: &Receiver<Batch>,
    budget: &Budget,
    decisions: &Mutex<Vec<String>>,
) -> Result<Report, HistoryError> {
    let decided = |decision| decisions.lock().unwrap_or_else(PoisonError::into_inner).push(decision);
    let mut run = setup.start(decided)?;
    let (mut is_settled, mut ops) = (false, 0);
    for batch in batches {
        if let Err(spent) = budget.check(0, 0) {
            // If the verdict is already determined, the time limit does not matter.
            if is_settled {
                break;
            }
            return Ok(cut_short(&*run, setup.checker.name(), spent, ops));
        }
        ops += batch.len();
        // Ops after the verdict are still read, because an invalid history is an error.
        is_settled = is_settled || run.observe_batch(&batch)?.is_break();
        if is_settled && run.is_violated() {
            break;
        }
    }
    run.finish(budget)
}

/// Runs `what` on a separate thread.
pub(crate) fn apart<T: Send>(py: Python<'_>, cancel: &Cancel, what: impl FnOnce() -> T + Send) -> PyResult<T> {
    std::thread::scope(|scope| {
        let (done, outcome) = channel();
        scope.spawn(move || done.send(what()));
        wait(py, cancel, outcome)
    })
}

/// As [`apart`], for work that keeps its result after an interrupt, which it returns beside that. Python handles
/// interrupts only in its main thread, so other threads work themselves: that is faster for few ops.
pub(crate) fn apart_whole<T: Send>(
    py: Python<'_>,
    main: u64,
    cancel: &Cancel,
    what: impl FnOnce() -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    // This runs no Python code, which would handle an interrupt before the work.
    if py.import("_thread")?.call_method0("get_ident")?.extract::<u64>()? != main {
        return Ok((py.detach(what), None));
    }
    std::thread::scope(|scope| {
        let (done, outcome) = channel();
        scope.spawn(move || done.send(what()));
        wait_whole(py, cancel, outcome)
    })
}

/// Waits for another thread. An interrupt stops that thread's work, and is raised after the thread has ended.
fn wait<T: Send>(py: Python<'_>, cancel: &Cancel, outcome: Receiver<T>) -> PyResult<T> {
    wait_whole(py, cancel, outcome).and_then(|(arrived, interrupt)| interrupt.map_or(Ok(arrived), Err))
}

fn wait_whole<T: Send>(py: Python<'_>, cancel: &Cancel, outcome: Receiver<T>) -> PyResult<(T, Option<PyErr>)> {
    let outcome = Mutex::new(outcome);
    let mut interrupt = None;
    loop {
        let arrived = py.detach(|| outcome.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK));
        match arrived {
            Ok(arrived) => return Ok((arrived, interrupt)),
            Err(RecvTimeoutError::Disconnected) => {
                let message = "histcheck panicked, which is a bug: please report it, with the history if you can";
                return Err(interrupt.unwrap_or_else(|| PyRuntimeError::new_err(message)));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(raised) = py.check_signals() {
                    cancel.cancel();
                    interrupt = Some(raised);
                }
            }
        }
    }
}

/// The number of Python's main thread.
pub(crate) fn main_thread(py: Python<'_>) -> PyResult<u64> {
    py.import("threading")?.call_method0("main_thread")?.getattr("ident")?.extract()
}

pub(crate) fn no_process(name: &str) -> String {
    format!("no process has the name {name}")
}
