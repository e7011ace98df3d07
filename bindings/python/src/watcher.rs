//! Judging a history while it is being made.

use crate::error::raised;
use crate::judge::{BATCH_OPS, push};
use crate::report::Judged;
use crate::settings::Settings;
use histcheck_front::Registry;
use histcheck_front::setup::guarded;
use history_core::{BatchBuilder, Budget, Cancel, ErrorKind, HistoryError, Run};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A history that is being judged while it is made.
#[pyclass(frozen)]
pub(crate) struct Watcher(Mutex<State>);

struct State {
    ops: BatchBuilder,
    count: u64,
    /// Absent once it is finished.
    run: Option<Box<dyn Run>>,
    is_settled: bool,
    decisions: Arc<Mutex<Vec<String>>>,
    budget: Budget,
}

#[pymethods]
impl Watcher {
    #[new]
    fn new(py: Python<'_>, settings: &Settings) -> PyResult<Watcher> {
        // A run borrows its checker, and Python's objects borrow nothing: a few hundred bytes stay for each watcher.
        let registry: &'static Registry = Box::leak(Box::new(settings.registry(Registry::watchers())?));
        let setup = Box::leak(Box::new(settings.setup(registry)?));
        let decisions = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&decisions);
        let decided = move |decision| noted.lock().unwrap_or_else(PoisonError::into_inner).push(decision);
        let run = setup.start_online(decided).map_err(|error| raised(py, &error))?;
        let ops = BatchBuilder::new().with_client_rule(settings.read_as.clients.clone());
        let budget = settings.budget(Cancel::default());
        Ok(Watcher(Mutex::new(State { ops, count: 0, run: Some(run), is_settled: false, decisions, budget })))
    }

    /// Takes ops, up to the one that proves a violation and those that were taken with it; the report on it, if there
    /// is one.
    fn feed(&self, py: Python<'_>, ops: &Bound<'_, PyAny>) -> PyResult<Option<Judged>> {
        let mut ops = ops.try_iter()?;
        loop {
            // An iterator may run any code, so the state is not locked while it does.
            let some = ops.by_ref().take(BATCH_OPS).collect::<PyResult<Vec<_>>>()?;
            let mut state = self.lock(py);
            for op in &some {
                let at = state.count;
                push(py, &mut state.ops, op, None, at)?;
                state.count += 1;
            }
            state.observe(py)?;
            let violation = state.violation(py)?;
            if violation.is_some() || some.len() < BATCH_OPS {
                return Ok(violation);
            }
        }
    }

    /// How many ops were fed.
    #[getter]
    fn ops(&self, py: Python<'_>) -> u64 {
        self.lock(py).count
    }

    /// The report on all that was fed. Ends the watcher.
    fn finish(&self, py: Python<'_>) -> PyResult<Judged> {
        let mut state = self.lock(py);
        if state.count == 0 {
            return Err(raised(py, &HistoryError::new(ErrorKind::NotAnOp, "the history contains no op")));
        }
        let run = state.run.take().ok_or_else(finished)?;
        let budget = state.budget.clone();
        let report = py.detach(|| guarded(|| run.finish(&budget))).map_err(|error| raised(py, &error))?;
        Ok(Judged::new(report, "ops".to_owned(), state.decisions()))
    }
}

impl Watcher {
    /// Waits without Python's lock: who has the state may need it.
    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, State> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Hands on what was taken.
    fn observe(&mut self, py: Python<'_>) -> PyResult<()> {
        let batch = self.ops.take();
        let run = self.run.as_mut().ok_or_else(finished)?;
        if !self.is_settled {
            let observed = py.detach(|| guarded(|| run.observe_batch(&batch)));
            self.is_settled = observed.map_err(|error| raised(py, &error))?.is_break();
        }
        Ok(())
    }

    fn violation(&mut self, py: Python<'_>) -> PyResult<Option<Judged>> {
        let run = self.run.as_mut().ok_or_else(finished)?;
        let report = py.detach(move || {
            // As a whole: a run may go to another thread, and must not be shared with one.
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
