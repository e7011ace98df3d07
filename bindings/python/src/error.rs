//! Converts errors of histories to exceptions.

use history_core::{HistoryError as NoHistory, Position};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    histcheck,
    HistoryError,
    PyValueError,
    "The input is not a history, or the checker cannot check it. This error is never a verdict.\n\n\
     Attributes: message, line and column (counted from 1, or None), expected, and text (the part of the history there); each is \
     None if unknown."
);

/// The exception for an error.
pub(crate) fn raised(py: Python<'_>, error: &NoHistory) -> PyErr {
    let text = error.snippet.as_ref().map(|snippet| snippet.text.clone());
    let mut shown = error.to_string();
    if let Some(text) = &text {
        shown = format!("{shown}: {text}");
    }
    let raised = HistoryError::new_err(shown);
    let (line, column) = error.position.and_then(Position::line_and_column).unzip();
    let value = raised.value(py);
    let set = value
        .setattr("message", &error.message)
        .and_then(|()| value.setattr("line", line))
        .and_then(|()| value.setattr("column", column))
        .and_then(|()| value.setattr("expected", &error.expected))
        .and_then(|()| value.setattr("text", text));
    set.err().unwrap_or(raised)
}
