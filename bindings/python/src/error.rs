//! Converts errors of histories to exceptions.

use history_core::{ErrorKind, HistoryError as NoHistory, Position};
use pyo3::create_exception;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    histcheck,
    HistoryError,
    PyValueError,
    "The input is not a history, or the checker cannot check it. This error is never a verdict.\n\n\
     Attributes: message, line and column (counted from 1, or None), expected, and text (the part of the history there); each is \
     None if unknown."
);

/// Why a Python object cannot be converted.
pub(crate) enum Refused {
    /// It is not what was expected.
    Object { message: String, expected: Option<String> },
    /// Its own code raised an exception, which stays as it is.
    Raised(PyErr),
}

impl Refused {
    pub(crate) fn new(message: impl Into<String>, expected: &str) -> Refused {
        Refused::Object { message: message.into(), expected: Some(expected.to_owned()) }
    }

    pub(crate) fn because(message: impl Into<String>) -> Refused {
        Refused::Object { message: message.into(), expected: None }
    }

    /// The exception, if the object is part of this op.
    pub(crate) fn in_op(self, py: Python<'_>, at: u64) -> PyErr {
        match self {
            Refused::Object { message, expected } => {
                let mut error = NoHistory::new(ErrorKind::NotAnOp, format!("op {at}: {message}"));
                error.expected = expected;
                raised(py, &error)
            }
            Refused::Raised(error) => error,
        }
    }

    /// The exception, if the object is an argument of this name.
    pub(crate) fn in_argument(self, name: &str) -> PyErr {
        match self {
            Refused::Object { message, expected } => {
                let expected = expected.map(|expected| format!("; expected {expected}")).unwrap_or_default();
                PyTypeError::new_err(format!("{name}: {message}{expected}"))
            }
            Refused::Raised(error) => error,
        }
    }
}

impl From<PyErr> for Refused {
    fn from(error: PyErr) -> Refused {
        Refused::Raised(error)
    }
}

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
