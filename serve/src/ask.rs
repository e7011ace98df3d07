//! Requests that change something: a history to be checked, a run to be checked again, a check to be cancelled.

use crate::check::{Checks, Folder, Record, Stage, Wanted};
use crate::config::Suggest;
use crate::http::answer::{self, Answer};
use crate::http::asked::Asked;
use crate::http::body;
use crate::http::query::Query;
use crate::pages;
use crate::runs::Run;
use crate::state::State;
use hyper::body::{Body as _, Incoming};
use hyper::{Method, StatusCode};
use serde_json::{Value, json};
use std::io::{Cursor, Read, Write as _};
use std::sync::Arc;

/// The maximum length of a form in bytes.
const FORM_BYTES_MAX: usize = 8 << 10;

/// The reason why a request was rejected.
struct Refused(StatusCode, String);

/// Executes the request.
pub(crate) async fn answer(state: &Arc<State>, asked: &Asked, body: Incoming) -> Answer {
    let Some(checks) = &state.checks else {
        return rejection(
            asked,
            &Refused(StatusCode::FORBIDDEN, "This server is read-only: it cannot check histories.".to_owned()),
        );
    };
    let path = asked.path.as_str();
    if path == "/api/suggest" && asked.method == Method::POST {
        return suggest(state, checks, asked, body).await;
    }
    let done = match path {
        "/api/check" if asked.method == Method::POST => receive(state, checks, asked, body).await,
        "/check" if asked.method == Method::POST => form(state, checks, body).await,
        _ => {
            let again = path.strip_prefix("/api/runs/").and_then(|path| path.strip_suffix("/check"));
            let cancelled = path.strip_prefix("/checks/").and_then(|path| path.strip_suffix("/cancel"));
            let deleted = path.strip_prefix("/api/checks/");
            match (&asked.method, again, cancelled, deleted) {
                (&Method::POST, Some(run), ..) => {
                    check_again(state, checks, state.watcher.snapshot().run(run), &asked.query)
                }
                (&Method::POST, _, Some(id), _) | (&Method::DELETE, .., Some(id)) => cancel(checks, id),
                _ => Err(Refused(StatusCode::METHOD_NOT_ALLOWED, "This address accepts only GET and HEAD.".to_owned())),
            }
        }
    };
    match done {
        Ok(record) if asked.is_api() => answer::json(StatusCode::ACCEPTED, &of(&record)),
        Ok(record) => answer::redirect(&format!("/checks/{}", record.id)),
        Err(refused) => rejection(asked, &refused),
    }
}

fn rejection(asked: &Asked, Refused(status, message): &Refused) -> Answer {
    if asked.is_api() {
        answer::error(*status, message)
    } else {
        answer::page(*status, pages::problem(*status, message))
    }
}

/// The requested check. An unknown parameter is rejected, because it would otherwise have no effect without an error.
fn wanted(checks: &Checks, query: &Query) -> Result<Wanted, Refused> {
    const KNOWN: [&str; 5] = ["checker", "levels", "keyed", "name", "run"];
    let wrong = |message: String| Refused(StatusCode::BAD_REQUEST, message);
    if let Some(unknown) = query.names().find(|name| !KNOWN.contains(name)) {
        return Err(wrong(format!("Unknown parameter {unknown}; expected one of {}.", KNOWN.join(", "))));
    }
    let text = |name: &str| query.get(name).unwrap_or_default().trim().to_owned();
    let (checkers, levels) = (text("checker"), text("levels"));
    if checkers.is_empty() {
        return Err(wrong("No checker was chosen: pass checker=NAME; `histcheck models` lists them.".to_owned()));
    }
    let is_known = |name: &str| checks.judge().checkers.iter().any(|(known, _)| known == name);
    if let Some(unknown) = checkers.split(',').find(|name| !is_known(name)) {
        return Err(wrong(format!("Unknown checker {unknown}; `histcheck models` lists them.")));
    }
    // The levels become a word of a command line.
    if levels.len() > 200 || !levels.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_,".contains(&b)) {
        return Err(wrong("The consistency levels must be comma-separated names.".to_owned()));
    }
    let keyed = match query.get("keyed") {
        Some("yes") => true,
        None | Some("no") => false,
        Some(_) => return Err(wrong("keyed must be yes or no.".to_owned())),
    };
    Ok(Wanted { checkers, levels, keyed })
}

/// Receives a history, and starts to check it.
async fn receive(
    state: &Arc<State>,
    checks: &Arc<Checks>,
    asked: &Asked,
    mut body: Incoming,
) -> Result<Record, Refused> {
    let failed = |status, message: String| Refused(status, message);
    let what = wanted(checks, &asked.query)?;
    let max = checks.judge().history_bytes_max;
    let too_long = || failed(StatusCode::PAYLOAD_TOO_LARGE, format!("The history has more than {max} bytes."));
    // The length that the client announced.
    if body.size_hint().lower() > max {
        return Err(too_long());
    }
    let Ok(_room) = state.uploads.try_acquire() else {
        return Err(failed(
            StatusCode::SERVICE_UNAVAILABLE,
            "Too many histories are being received: try again later.".to_owned(),
        ));
    };
    let unwritten = |error: std::io::Error| {
        failed(StatusCode::INSUFFICIENT_STORAGE, format!("The history cannot be written: {error}."))
    };
    // If this function ends before the history is complete, dropping `received` removes the partial file.
    let received = checks.receive(asked.query.get("name").unwrap_or_default()).map_err(unwritten)?;
    let mut left = max;
    loop {
        let piece = body::next(&mut body).await;
        let piece = piece
            .map_err(|()| failed(StatusCode::REQUEST_TIMEOUT, "The history was not received completely.".to_owned()))?;
        let Some(piece) = piece else { break };
        left = left.checked_sub(u64::try_from(piece.len()).unwrap_or(u64::MAX)).ok_or_else(too_long)?;
        let file = received.file().map_err(unwritten)?;
        let written = tokio::task::spawn_blocking(move || (&*file).write_all(&piece)).await;
        written.map_err(std::io::Error::other).and_then(|written| written).map_err(unwritten)?;
    }
    if left == max {
        return Err(failed(StatusCode::BAD_REQUEST, "The history is empty.".to_owned()));
    }
    let started = checks.check_dropped(received, &what, &state.watcher);
    started.map_err(|why| failed(StatusCode::SERVICE_UNAVAILABLE, why))
}

/// Returns which checkers understand the beginning of a history, or the history of a run.
async fn suggest(state: &Arc<State>, checks: &Arc<Checks>, asked: &Asked, body: Incoming) -> Answer {
    /// The maximum length of the beginning in bytes.
    const BYTES_MAX: usize = 1 << 20;
    let Some(Suggest(suggest)) = checks.judge().suggest.clone() else {
        return answer::error(StatusCode::NOT_FOUND, "this server cannot suggest checkers");
    };
    let mut source: Box<dyn Read + Send> = if let Some(run) = asked.query.get("run") {
        let snapshot = state.watcher.snapshot();
        let history = snapshot.run(run).and_then(Run::history_path);
        let opened = history.and_then(|path| crate::files::place::open(&state.config.directory, &path).ok());
        let Some((file, _)) = opened else { return answer::error(StatusCode::NOT_FOUND, "this run has no history") };
        Box::new(file)
    } else {
        let Some(bytes) = body::small(body, BYTES_MAX).await else {
            let message = format!("send the first bytes of the history, at most {BYTES_MAX}");
            return answer::error(StatusCode::PAYLOAD_TOO_LARGE, &message);
        };
        Box::new(Cursor::new(bytes))
    };
    let Ok(_room) = state.suggesting.acquire().await else {
        return answer::error(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down");
    };
    let suggestion = tokio::task::spawn_blocking(move || suggest(&mut *source)).await;
    match suggestion.unwrap_or_else(|_| Err("this is a bug of histcheck".to_owned())) {
        Ok(suggested) => {
            let checkers: Vec<&str> = suggested.iter().map(|one| one.checker.as_str()).collect();
            let keyed = suggested.iter().filter(|one| one.keyed).map(|one| one.checker.as_str());
            let keyed: Vec<&str> = keyed.collect();
            answer::json(StatusCode::OK, &json!({"schema": 1, "checkers": checkers, "keyed": keyed}))
        }
        Err(why) => answer::error(StatusCode::UNPROCESSABLE_ENTITY, &why),
    }
}

/// Processes the form on the page of a run.
async fn form(state: &Arc<State>, checks: &Arc<Checks>, body: Incoming) -> Result<Record, Refused> {
    let form = body::small(body, FORM_BYTES_MAX).await.and_then(|bytes| String::from_utf8(bytes).ok());
    let form = form.and_then(|text| Query::parse(&text));
    let form = form.ok_or_else(|| Refused(StatusCode::BAD_REQUEST, "The form is too long.".to_owned()))?;
    let snapshot = state.watcher.snapshot();
    check_again(state, checks, snapshot.run_in_form(form.get("run").unwrap_or_default()), &form)
}

fn check_again(state: &State, checks: &Arc<Checks>, run: Option<&Run>, query: &Query) -> Result<Record, Refused> {
    let missing = |message: &str| Refused(StatusCode::NOT_FOUND, message.to_owned());
    let run = run.ok_or_else(|| missing("Run not found."))?;
    let history = run.history_path().ok_or_else(|| missing("This run has no history that could be checked."))?;
    // Verifies that no link leads out of the directory.
    crate::files::place::open(&state.config.directory, &history)
        .map_err(|_| missing("The file of the history no longer exists."))?;
    let what = wanted(checks, query)?;
    let started = checks.check_again(&run.id, history, what, &state.watcher);
    started.map_err(|why| Refused(StatusCode::SERVICE_UNAVAILABLE, why))
}

fn cancel(checks: &Checks, id: &str) -> Result<Record, Refused> {
    let (record, _) = checks.find(id).ok_or_else(|| Refused(StatusCode::NOT_FOUND, "Check not found.".to_owned()))?;
    checks.cancel(id);
    Ok(record)
}

/// The JSON of a check.
pub(crate) fn of(record: &Record) -> Value {
    json!({
        "schema": 1,
        "id": record.id,
        "page": format!("/checks/{}", record.id),
        "run": record.run,
        "name": record.name,
        "checkers": record.wanted.checkers,
        "levels": record.wanted.levels,
        "keyed": record.wanted.keyed,
        "stage": record.stage.name(),
    })
}

/// The JSON of a check with its result.
pub(crate) fn with_result(record: &Record, folder: &Folder) -> Value {
    let mut value = of(record);
    if record.stage == Stage::Done {
        value["result"] = folder.result().unwrap_or(Value::Null);
    }
    if record.stage == Stage::Failed {
        value["messages"] = folder.messages().into();
    }
    value
}
