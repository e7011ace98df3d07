//! `/api/`: the data of the pages as JSON, for programs. `openapi.json` is its contract; a new key does not change the
//! version.

use crate::ask;
use crate::files::place;
use crate::http::answer::{self, Answer};
use crate::http::query::{Query, encoded};
use crate::pages;
use crate::rows::Place;
use crate::rows::filter::Filter;
use crate::rows::library::Found;
use crate::rows::window::Row;
use crate::runs::Run;
use crate::runs::outcome::Verdict;
use crate::runs::view::{PAGE_RUNS, View};
use crate::state::State;
use hyper::StatusCode;
use serde_json::{Value, json};

/// The version of the responses.
const SCHEMA: u32 = 1;
/// The maximum number of files listed for a run.
const FILES_MAX: usize = 10_000;

/// Returns the contract.
pub(crate) fn openapi() -> Answer {
    answer::of(StatusCode::OK, "application/json", include_str!("openapi.json"))
}

/// Returns the list of runs.
pub(crate) fn runs(state: &State, query: &Query) -> Answer {
    const KNOWN: [&str; 7] = ["name", "verdict", "checker", "from", "to", "sort", "page"];
    if let Some(unknown) = query.names().find(|name| !KNOWN.contains(name)) {
        let message = format!("unknown parameter {unknown}: expected one of {}", KNOWN.join(", "));
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

/// Returns all checks, the latest first.
pub(crate) fn checks(state: &State) -> Answer {
    let all = state.checks.as_ref().map(|checks| checks.list()).unwrap_or_default();
    let all: Vec<Value> = all.iter().map(ask::of).collect();
    answer::json(StatusCode::OK, &json!({"schema": SCHEMA, "checks": all}))
}

/// Returns a check; `None` if there is none with this id.
pub(crate) fn check(state: &State, id: &str) -> Option<Answer> {
    let (record, folder) = state.checks.as_ref()?.find(id)?;
    Some(answer::json(StatusCode::OK, &ask::with_result(&record, &folder)))
}

/// Returns a run; `None` if there is none with this id.
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

/// Returns ops of a run, from a place on; `None` if there is no such run, or it has no history.
pub(crate) fn ops(state: &State, id: &str, query: &Query) -> Option<Answer> {
    let snapshot = state.watcher.snapshot();
    let history = snapshot.run(id)?.history_path()?;
    let known = || Filter::NAMES.into_iter().chain(Place::NAMES).chain(["count"]);
    let asked = match query.names().find(|name| known().all(|known| known != *name)) {
        Some(name) => {
            Err(format!("unknown parameter {name}: expected one of {}", known().collect::<Vec<_>>().join(", ")))
        }
        None => Filter::of(query).and_then(|filter| Ok((filter, Place::of(query)?, pages::row_count(query)?))),
    };
    let (filter, place, count) = match asked {
        Ok(asked) => asked,
        Err(why) => return Some(answer::error(StatusCode::BAD_REQUEST, &why)),
    };
    let (index, text) = match state.library.find(&history).ok()? {
        Found::Ready(index, text) => (index, text),
        Found::Building(read, bytes) => {
            let value = json!({"schema": SCHEMA, "complete": false, "bytes_read": read, "bytes": bytes});
            return Some(answer::json(StatusCode::ACCEPTED, &value));
        }
        Found::Failed(why) => return Some(answer::error(StatusCode::UNPROCESSABLE_ENTITY, &why)),
    };
    let mut shelf = Found::shelf(&index, text);
    let window = (|| {
        let from = match (place.at, place.time_ns) {
            (Some(index), _) => shelf.row_of(index)?,
            (None, Some(time_ns)) => shelf.row_at(time_ns)?,
            (None, None) => place.from,
        };
        match place.before {
            Some(before) => shelf.backward(before, count, &filter),
            None => shelf.forward(from, count, &filter),
        }
    })();
    let window = match window {
        Ok(window) => window,
        Err(error) => return Some(answer::error(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string())),
    };
    let value = json!({
        "schema": SCHEMA,
        "complete": true,
        "total": index.head.ops,
        "from": window.from,
        "to": window.to,
        "problem": index.head.problem,
        "ops": window.rows.iter().map(op).collect::<Vec<_>>(),
        "too_long": window.too_long.iter().map(|rows| json!({"from": rows.start, "to": rows.end})).collect::<Vec<_>>(),
    });
    Some(answer::json(StatusCode::OK, &value))
}

fn op(row: &Row) -> Value {
    json!({
        "row": row.at,
        "index": row.index,
        "time_ns": row.time_ns,
        "process": row.process,
        "type": row.kind.name(),
        "f": row.function,
        "value": row.value,
        "more": row.more,
        "line": row.line,
    })
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
        "strongest": run.outcome.strongest,
    })
}
