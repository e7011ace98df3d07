//! The data that pages get about a run: the whole state, or the changes since the previous update.

use super::news::{LiveAbout, LiveEnd, LiveTick, LiveViolation};
use super::series::{Column, Series};
use history_core::cast::Cast as _;
use serde_json::{Value, json};

/// The maximum number of faults shown, the latest ones.
const FAULTS_MAX: usize = 200;

/// The whole state of a run.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) about: std::sync::Arc<LiveAbout>,
    /// The number of updates so far.
    pub(super) sequence: u64,
    pub(super) time_ms: u64,
    pub(super) tick: LiveTick,
    pub(super) series: Series,
    pub(super) faults: Vec<Fault>,
    pub(super) violations: Vec<LiveViolation>,
    pub(super) violations_count: u64,
    pub(super) end: Option<LiveEnd>,
}

/// A fault, with its beginning and end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) what: String,
    pub(super) from_ms: u64,
    pub(super) until_ms: Option<u64>,
}

impl Known {
    /// The current verdict.
    fn verdict(&self) -> &str {
        match &self.end {
            Some(end) => end.verdict.as_deref().unwrap_or("error"),
            None if self.violations_count > 0 => "false",
            None => "running",
        }
    }

    /// The whole state as JSON.
    pub(super) fn whole(&self) -> String {
        self.json(0, true)
    }

    /// The change since there was this number of columns.
    pub(super) fn change(&self, columns: usize) -> String {
        self.json(columns.saturating_sub(1), false)
    }

    fn json(&self, from: usize, is_whole: bool) -> String {
        let columns: Vec<Value> = self.series.columns.iter().skip(from).map(column).collect();
        let faults = &self.faults[self.faults.len().saturating_sub(FAULTS_MAX)..];
        let mut value = json!({
            "schema": 1,
            "sequence": self.sequence,
            "time_ms": self.time_ms,
            "ops": self.tick.ops,
            "checked": self.tick.checked,
            "open": self.tick.open,
            "ok": self.tick.completed[0],
            "fail": self.tick.completed[1],
            "info": self.tick.completed[2],
            "configurations": self.tick.configurations,
            "verdict": self.verdict(),
            "violations_count": self.violations_count,
            "width_ms": self.series.width_ms,
            "columns_from": from,
            "columns": columns,
            "faults": faults.iter().map(|fault| json!({"what": fault.what, "from_ms": fault.from_ms, "until_ms": fault.until_ms})).collect::<Vec<_>>(),
        });
        if is_whole {
            value["about"] = json!(*self.about);
        }
        if is_whole || self.violations_count > 0 {
            value["violations"] = json!(self.violations);
        }
        if let Some(end) = &self.end {
            value["end"] = json!(end);
        }
        // Hidden characters are escaped.
        history_core::visible::json(&value.to_string()).into_owned()
    }

    pub(super) fn columns(&self) -> usize {
        self.series.columns.len()
    }
}

fn column(column: &Column) -> Value {
    let quantile = |share| column.latencies.quantile(share).map(|time| time.min(i64::MAX.to_u64()));
    json!({
        "ops": column.ops,
        "ok": column.completed[0],
        "fail": column.completed[1],
        "info": column.completed[2],
        "open": column.open,
        "p50_ns": quantile(0.5),
        "p99_ns": quantile(0.99),
        "max_ns": quantile(1.0),
    })
}
