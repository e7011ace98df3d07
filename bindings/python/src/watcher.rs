//! Checks a history while it is being created.

use crate::error::raised;
use crate::judge::{BATCH_OPS, apart, apart_whole, main_thread, no_process, push};
use crate::report::Judged;
use crate::settings::Settings;
use histcheck_front::Registry;
use histcheck_front::setup::guarded;
use history_core::{BatchBuilder, Cancel, ErrorKind, HistoryError, Run};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::PyIterator;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Instant;

/// A history that is checked while it is being created.
#[pyclass(frozen)]
pub(crate) struct Watcher {
    state: Mutex<State>,
    /// The thread that has the state.
    owner: Mutex<Option<ThreadId>>,
    count: AtomicU64,
}

/// The state, while one thread has it.
struct Owned<'w> {
    state: MutexGuard<'w, State>,
    owner: &'w Mutex<Option<ThreadId>>,
}

struct State {
    ops: BatchBuilder,
    /// The run; absent once the watcher is finished.
    run: Option<Box<dyn Run>>,
    is_settled: bool,
    /// The first error that lost ops. Later ops prove nothing: a read of a value whose write was lost is no anomaly.
    failed: Option<PyErr>,
    decisions: Arc<Mutex<Vec<String>>>,
    settings: Py<Settings>,
    /// Stops a search for good after an interrupt. The verdict is then unknown, unless a violation was found before.
    cancel: Cancel,
    deadline: Option<Instant>,
    main: u64,
}

#[pymethods]
impl Watcher {
    #[new]
    fn new(py: Python<'_>, settings: Py<Settings>) -> PyResult<Watcher> {
        let given = settings.get();
        // A run borrows its checker, but Python objects cannot borrow: a few hundred bytes are leaked for each watcher.
        let registry: &'static Registry = Box::leak(Box::new(given.registry(Registry::watchers())?));
        let setup = Box::leak(Box::new(given.setup(registry)?));
        let decisions = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&decisions);
        let decided = move |decision| noted.lock().unwrap_or_else(PoisonError::into_inner).push(decision);
        let mut run = setup.start_online(decided).map_err(|error| raised(py, &error))?;
        let (cancel, deadline) = (Cancel::default(), given.deadline());
        run.limit(&given.budget(cancel.clone(), deadline));
        let ops = BatchBuilder::new().with_client_rule(given.read_as.clients.clone());
        let (run, failed, main) = (Some(run), None, main_thread(py)?);
        let state = State { ops, run, is_settled: false, failed, decisions, settings, cancel, deadline, main };
        Ok(Watcher { state: Mutex::new(state), owner: Mutex::new(None), count: AtomicU64::new(0) })
    }

    /// Adds ops, up to the end of the batch with a violation. Returns the report on the violation, if there is one. An
    /// error is raised after the ops before it were checked, and again by each later call. So is an interrupt, unless
    /// all ops were added.
    fn feed(&self, py: Python<'_>, ops: &Bound<'_, PyAny>) -> PyResult<Option<Judged>> {
        let mut ops = ops.try_iter();
        loop {
            // The state is not locked here, because an iterator may run any code.
            let mut some = Vec::new();
            let read = ops.as_mut().map_err(|error| error.clone_ref(py)).and_then(|ops| read(ops, &mut some));
            let mut state = self.lock(py)?;
            if state.failed.is_some() {
                return state.certain(py);
            }
            let taken = state.take(py, &some, &self.count);
            let found =
                taken.and_then(|interrupt| read.and(state.violation(py)).map(|violation| (violation, interrupt)));
            let (violation, interrupt) = found.inspect_err(|error| state.failed = Some(error.clone_ref(py)))?;
            let is_end = violation.is_some() || some.len() < BATCH_OPS;
            // Iterating over a list runs no Python code that would handle interrupts.
            if let Some(interrupt) = interrupt.or_else(|| py.check_signals().err()) {
                state.failed = (!is_end).then(|| interrupt.clone_ref(py));
                return Err(interrupt);
            }
            if is_end {
                return Ok(violation);
            }
        }
    }

    /// The number of ops added.
    #[getter]
    fn ops(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The report on all ops so far, or the error again if ops were lost. Ends the watcher.
    fn finish(&self, py: Python<'_>) -> PyResult<Judged> {
        let mut state = self.lock(py)?;
        if state.failed.is_some() {
            return state.certain(py)?.ok_or_else(finished);
        }
        if self.ops() == 0 {
            return Err(raised(py, &HistoryError::new(ErrorKind::NotAnOp, "the history contains no op")));
        }
        let run = state.run.take().ok_or_else(finished)?;
        let cancel = Cancel::default();
        let budget = state.settings.get().budget(cancel.clone(), state.deadline);
        let report = apart(py, &cancel, || guarded(|| run.finish(&budget)))?.map_err(|error| raised(py, &error))?;
        let mut decisions = state.decisions();
        decisions.extend(state.ops.unmatched().map(no_process));
        Ok(Judged::new(report, "ops".to_owned(), decisions))
    }
}

impl Watcher {
    /// Waits without Python's lock, because the owner of the state may need it.
    fn lock(&self, py: Python<'_>) -> PyResult<Owned<'_>> {
        let this = std::thread::current().id();
        if *owner(&self.owner) == Some(this) {
            let message =
                "this thread is already using the watcher: a handler of a signal, or the code of a value, cannot";
            return Err(PyRuntimeError::new_err(message));
        }
        let state = self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        *owner(&self.owner) = Some(this);
        Ok(Owned { state, owner: &self.owner })
    }
}

fn owner(owner: &Mutex<Option<ThreadId>>) -> MutexGuard<'_, Option<ThreadId>> {
    owner.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        *owner(self.owner) = None;
    }
}

impl Deref for Owned<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for Owned<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

/// Reads at most one batch of ops from an iterator.
fn read<'py>(ops: &mut Bound<'py, PyIterator>, some: &mut Vec<Bound<'py, PyAny>>) -> PyResult<()> {
    for op in ops.take(BATCH_OPS) {
        some.push(op?);
    }
    Ok(())
}

impl State {
    /// Adds ops. Those before an error are checked. Returns the interrupt that stopped the search, if there was one.
    fn take(&mut self, py: Python<'_>, some: &[Bound<'_, PyAny>], count: &AtomicU64) -> PyResult<Option<PyErr>> {
        let unit = self.settings.get().read_as.time_unit;
        let pushed = some.iter().try_for_each(|op| {
            push(py, &mut self.ops, op, unit, count.load(Ordering::Relaxed))?;
            count.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        let interrupt = self.observe(py)?;
        pushed.map(|()| interrupt)
    }

    /// The result after an error: the violation that was certain before it, or else the error.
    fn certain(&mut self, py: Python<'_>) -> PyResult<Option<Judged>> {
        match (self.violation(py)?, &self.failed) {
            (None, Some(failed)) => Err(failed.clone_ref(py)),
            (violation, _) => Ok(violation),
        }
    }

    /// Checks the ops that were added.
    fn observe(&mut self, py: Python<'_>) -> PyResult<Option<PyErr>> {
        let batch = self.ops.take();
        let run = self.run.as_mut().ok_or_else(finished)?;
        if self.is_settled {
            return Ok(None);
        }
        let (observed, interrupt) = apart_whole(py, self.main, &self.cancel, || guarded(|| run.observe_batch(&batch)))?;
        self.is_settled = observed.map_err(|error| raised(py, &error))?.is_break();
        Ok(interrupt)
    }

    fn violation(&mut self, py: Python<'_>) -> PyResult<Option<Judged>> {
        let run = self.run.as_mut().ok_or_else(finished)?;
        let report = py.detach(move || {
            // Moves the run as a whole: it may be sent to another thread, but not shared with one.
            let run = run;
            guarded(|| Ok(run.violation()))
        });
        let report = report.map_err(|error| raised(py, &error))?;
        Ok(report.map(|report| Judged::new(report, "ops".to_owned(), self.decisions())))
    }

    fn decisions(&self) -> Vec<String> {
        self.decisions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn finished() -> PyErr {
    PyRuntimeError::new_err("this watcher is finished; create another one")
}
