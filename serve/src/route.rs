//! Routes a request to its response.

use crate::guard::{self, Refused, login};
use crate::http::answer::{self, Answer};
use crate::http::asked::Asked;
use crate::http::query::{self, Query};
use crate::runs::view::View;
use crate::state::State;
use crate::{api, ask, events, files, pages};
use hyper::body::Incoming;
use hyper::{Method, Request, StatusCode, header};
use std::net::IpAddr;
use std::sync::Arc;

/// Responds to a request from an address.
pub(crate) async fn answer(state: Arc<State>, from: IpAddr, request: Request<Incoming>) -> Answer {
    let method = request.method().clone();
    let answer = judged(state, from, request).await;
    if method == Method::HEAD { answer::head_only(answer) } else { answer }
}

async fn judged(state: Arc<State>, from: IpAddr, request: Request<Incoming>) -> Answer {
    let path = query::decoded(request.uri().path());
    let query = Query::parse(request.uri().query().unwrap_or_default());
    let (Some(path), Some(query)) = (path, query) else {
        return answer::error(StatusCode::BAD_REQUEST, "the address is not valid UTF-8, or too long");
    };
    let asked = Asked { method: request.method().clone(), path, query };
    let headers = request.headers();
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_followed = accepted.contains("text/event-stream") && asked.method == Method::GET;
    if let Err(refused) = guard::check_origin(&state.config, &asked.method, headers) {
        return self::refused(&asked, &refused);
    }
    // The login itself requires no token.
    if asked.path == "/login" && asked.method == Method::POST {
        return login::answer(&state, from, request).await;
    }
    if ![pages::STYLE_ADDRESS, pages::ICON_ADDRESS].contains(&asked.path.as_str())
        && let Err(refused) = guard::check_token(&state.config, &state.attempts, from, headers)
    {
        return self::refused(&asked, &refused);
    }
    match asked.method {
        Method::GET | Method::HEAD if asked.path == "/events" => events::answer(&state),
        Method::GET | Method::HEAD if asked.path == "/api/live" => events::live::answer(&state, is_followed),
        Method::GET | Method::HEAD => {
            let turn = state.turn(&asked.path).await;
            let show = move || {
                // The permit is held until the work is done, even if the client has disconnected.
                let _turn = turn;
                show(&state, &asked)
            };
            let shown = tokio::task::spawn_blocking(show).await;
            shown.unwrap_or_else(|_| answer::error(StatusCode::INTERNAL_SERVER_ERROR, "this is a bug of histcheck"))
        }
        _ => ask::answer(&state, &asked, request.into_body()).await,
    }
}

/// Responds to a request that changes nothing.
fn show(state: &State, asked: &Asked) -> Answer {
    let below = |prefix: &str| asked.path.strip_prefix(prefix);
    // Browsers remove the dot from the address of the run that is the directory itself.
    let run_below = |prefix: &str| below(prefix).map(|id| if id.is_empty() { "." } else { id });
    let runtime = tokio::runtime::Handle::current();
    let _inside = runtime.enter();
    match asked.path.as_str() {
        "/" => match View::of(&asked.query) {
            Ok(view) => answer::page(StatusCode::OK, pages::list(state, &view)),
            Err(why) => failed(asked, StatusCode::BAD_REQUEST, &why),
        },
        "/live" => match pages::live(state) {
            Some(page) => answer::page(StatusCode::OK, page),
            None => failed(asked, StatusCode::NOT_FOUND, "No run is in progress."),
        },
        "/compare" => match pages::compare(state, &asked.query) {
            Some(page) => answer::page(StatusCode::OK, page),
            None => failed(asked, StatusCode::NOT_FOUND, "Run not found: pass the ids of two runs as a and b."),
        },
        "/api/runs" => api::runs(state, &asked.query),
        "/api/openapi.json" => api::openapi(),
        pages::STYLE_ADDRESS => answer::of(StatusCode::OK, "text/css; charset=utf-8", pages::STYLE),
        pages::SCRIPT_ADDRESS => answer::of(StatusCode::OK, "text/javascript; charset=utf-8", pages::SCRIPT),
        pages::LIVE_SCRIPT_ADDRESS => answer::of(StatusCode::OK, "text/javascript; charset=utf-8", pages::LIVE_SCRIPT),
        pages::ROWS_SCRIPT_ADDRESS => answer::of(StatusCode::OK, "text/javascript; charset=utf-8", pages::ROWS_SCRIPT),
        pages::ICON_ADDRESS => answer::of(StatusCode::OK, "image/svg+xml", pages::ICON),
        "/api/checks" => api::checks(state),
        _ => {
            let answered = if let Some(id) = run_below("/runs/") {
                pages::run(state, id).map(|page| answer::page(StatusCode::OK, page))
            } else if let Some(id) = run_below("/rows/") {
                pages::rows(state, id, &asked.query).map(|(status, page)| answer::page(status, page))
            } else if let Some(id) = run_below("/api/ops/") {
                api::ops(state, id, &asked.query)
            } else if let Some(path) = below("/files/") {
                files::file(state, path)
            } else if let Some(id) = below("/zip/") {
                files::zip(state, id)
            } else if let Some(id) = run_below("/api/runs/") {
                api::run(state, id)
            } else if let Some(id) = below("/api/checks/") {
                api::check(state, id)
            } else if let Some(path) = below("/checks/") {
                match path.split_once('/') {
                    Some((id, name)) => files::of_check(state, id, name),
                    None => pages::check(state, path).map(|page| answer::page(StatusCode::OK, page)),
                }
            } else {
                None
            };
            answered.unwrap_or_else(|| failed(asked, StatusCode::NOT_FOUND, "Page not found."))
        }
    }
}

/// An error response, for a program or a person.
fn failed(asked: &Asked, status: StatusCode, message: &str) -> Answer {
    if asked.is_api() {
        return answer::error(status, message);
    }
    answer::page(status, pages::problem(status, message))
}

fn refused(asked: &Asked, refused: &Refused) -> Answer {
    match refused {
        Refused::NoToken if !asked.is_api() && asked.method == Method::GET && asked.path != "/events" => {
            let page = pages::login(&login::back(asked), false);
            answer::page(refused.status(), page)
        }
        _ => failed(asked, refused.status(), refused.message()),
    }
}
