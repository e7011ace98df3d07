//! A report, passed to Python.

use histcheck_draw::plot::Performance;
use histcheck_draw::{Limits, draw_all};
use histcheck_front::result;
use history_core::{Report, Verdict};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The result of a check.
#[pyclass(frozen)]
pub(crate) struct Judged {
    report: Report,
    name: String,
    /// The decisions about the history, and names that no process had.
    #[pyo3(get)]
    decisions: Vec<String>,
}

impl Judged {
    pub(crate) fn new(report: Report, name: String, decisions: Vec<String>) -> Judged {
        Judged { report, name, decisions }
    }
}

#[pymethods]
impl Judged {
    /// True, False or None for unknown.
    #[getter]
    fn valid(&self) -> Option<bool> {
        match self.report.verdict {
            Verdict::Valid => Some(true),
            Verdict::Invalid => Some(false),
            Verdict::Unknown => None,
        }
    }

    /// The report as `histcheck --output json` prints it.
    fn json(&self) -> PyResult<String> {
        result::json(&self.name, Ok(&self.report)).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// The pictures and pages of the report, each with its name and its content.
    fn pictures(&self) -> Vec<(String, String)> {
        let drawn = draw_all(&mut self.report.clone(), &Limits::default(), &Performance::default());
        drawn.into_iter().map(|drawing| (drawing.path, drawing.content)).collect()
    }
}
