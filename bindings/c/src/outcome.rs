//! The result of a call: a verdict with its report, or an error.

use histcheck_front::result;
use history_core::{ErrorKind, HistoryError, Report, Verdict};
use std::ffi::{CString, c_int};

/// The history or the settings are wrong.
pub const HISTCHECK_ERROR: c_int = -1;
/// The report proves a violation.
pub const HISTCHECK_INVALID: c_int = 0;
/// The history is valid.
pub const HISTCHECK_VALID: c_int = 1;
/// The verdict could not be determined, or nothing was checked.
pub const HISTCHECK_UNKNOWN: c_int = 2;

/// The result of a check: a verdict with its report, or an error. It never changes, so threads may share it.
#[derive(Debug)]
pub struct HistcheckResult {
    /// One of the constants that the header declares.
    pub(crate) verdict: c_int,
    pub(crate) json: CString,
    pub(crate) error: Option<CString>,
}

impl HistcheckResult {
    pub(crate) fn new(name: &str, outcome: &Result<Report, HistoryError>) -> HistcheckResult {
        let verdict = match outcome {
            Ok(report) => match report.verdict {
                Verdict::Valid => HISTCHECK_VALID,
                Verdict::Invalid => HISTCHECK_INVALID,
                Verdict::Unknown => HISTCHECK_UNKNOWN,
            },
            Err(_) => HISTCHECK_ERROR,
        };
        let json = result::json(name, outcome.as_ref()).unwrap_or_default();
        let error = outcome.as_ref().err().map(|error| text(&error.to_string()));
        HistcheckResult { verdict, json: text(&json), error }
    }

    pub(crate) fn failed(name: &str, message: &str) -> HistcheckResult {
        HistcheckResult::new(name, &Err(HistoryError::new(ErrorKind::Unexpected, message)))
    }
}

/// Converts to a C string without zeros within. JSON contains none, because it escapes them.
fn text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}
