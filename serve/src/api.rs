//! `/api/`: the same for programs, as JSON. `openapi.json` is its contract; a new key does not change the version.

use crate::ask;
use crate::files::place;
use crate::http::answer::{self, Answer};
use crate::http::query::{Query, encoded};
use crate::runs::Run;
use crate::runs::outcome::Verdict;
use crate::runs::view::{PAGE_RUNS, View};
use crate::state::State;
use hyper::StatusCode;
use serde_json::{Value, json};

/// The version of what is answered.
const SCHEMA: u32 = 1;
/// Files of a run that are listed.
const FILES_MAX: usize = 10_000;

/// The contract.
pub(crate) fn openapi() -> Answer {
    answer::of(StatusCode::OK, "application/json", include_str!("openapi.json"))
}

/// Runs, as the list shows them.
pub(crate) fn runs(state: &State, query: &Query) -> Answer {
    const KNOWN: [&str; 7] = ["name", "verdict", "checker", "from", "to", "sort", "page"];
    if let Some(unknown) = query.names().find(|name| !KNOWN.contains(name)) {
        let message = format!("no parameter {unknown}: expected {}", KNOWN.join(", "));
        return answer::error(StatusCode::BAD_REQUEST, &message);
    }
    let view = match View::of(query) {
        Ok(view) => view,
        Err(why) => return answer::error(StatusCode::BAD_REQUEST, &why),
    };
    let snapshot = state.watcher.snapshot();
    let selected = view.select(&snapshot.runs);
    let shown = selected.iter().skip((view.page - 1).saturating_mul(PAGE_RUNS)).take(PAGE_RUNS);
    answer::json(
        StatusCode::OK,
        &json!({
            "schema": SCHEMA,
            "total": selected.len(),
            "page": view.page,
            "pages": selected.len().div_ceil(PAGE_RUNS),
            "complete": snapshot.is_complete,
            "notes": snapshot.notes,
            "runs": shown.map(|run| of(run)).collect::<Vec<_>>(),
        }),
    )
}

/// All checks, the latest first.
pub(crate) fn checks(state: &State) -> Answer {
    let all = state.checks.as_ref().map(|checks| checks.list()).unwrap_or_default();
    let all: Vec<Value> = all.iter().map(ask::of).collect();
    answer::json(StatusCode::OK, &json!({"schema": SCHEMA, "checks": all}))
}

/// A check; nothing if there is none of this id.
pub(crate) fn check(state: &State, id: &str) -> Option<Answer> {
    let (record, folder) = state.checks.as_ref()?.find(id)?;
    Some(answer::json(StatusCode::OK, &ask::with_result(&record, &folder)))
}

/// A run; nothing if there is none of this id.
pub(crate) fn run(state: &State, id: &str) -> Option<Answer> {
    let snapshot = state.watcher.snapshot();
    let run = snapshot.run(id)?;
    let mut value = of(run);
    let (path, metadata) = place::find(&state.config.directory, id).ok()?;
    let (files, is_all) = if metadata.is_dir() { place::files(&path, FILES_MAX) } else { (Vec::new(), true) };
    let files: Vec<Value> = files.iter().map(|file| json!({"path": file.path, "bytes": file.bytes})).collect();
    value["schema"] = json!(SCHEMA);
    value["files"] = json!(files);
    value["files_complete"] = json!(is_all);
    Some(answer::json(StatusCode::OK, &value))
}

fn of(run: &Run) -> Value {
    json!({
        "id": run.id,
        "page": format!("/runs/{}", encoded(&run.id)),
        "history": run.history_path(),
        "time": run.time_rfc3339(),
        "length_ns": run.length_ns,
        "ops": run.ops,
        "checkers": run.outcome.checkers,
        "verdict": run.outcome.verdict.map(Verdict::name),
        "anomaly_types": run.outcome.anomalies,
        "not": run.outcome.not,
    })
}
