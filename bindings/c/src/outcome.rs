//! What a call found out: a verdict with its report, or an error.

use histcheck_front::result;
use history_core::{ErrorKind, HistoryError, Report, Verdict};
use std::ffi::CString;

/// What a call found out. It does not change, so threads may share it.
#[derive(Debug)]
pub struct HistcheckResult {
    /// 1 if valid, 0 if invalid, 2 if unknown, -1 if there is none.
    pub(crate) verdict: i32,
    pub(crate) json: CString,
    pub(crate) error: Option<CString>,
}

impl HistcheckResult {
    pub(crate) fn new(name: &str, outcome: &Result<Report, HistoryError>) -> HistcheckResult {
        let verdict = match outcome {
            Ok(report) => match report.verdict {
                Verdict::Valid => 1,
                Verdict::Invalid => 0,
                Verdict::Unknown => 2,
            },
            Err(_) => -1,
        };
        let json = result::json(name, outcome.as_ref()).unwrap_or_default();
        let error = outcome.as_ref().err().map(|error| text(&error.to_string()));
        HistcheckResult { verdict, json: text(&json), error }
    }

    pub(crate) fn failed(name: &str, message: &str) -> HistcheckResult {
        HistcheckResult::new(name, &Err(HistoryError::new(ErrorKind::Unexpected, message)))
    }
}

/// As C has it: without zeros within. JSON has none, as it escapes them.
fn text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}
