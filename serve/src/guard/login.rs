//! The form for the token, and the cookie that stores it.

use crate::guard::{COOKIE, Refused};
use crate::http::answer::{self, Answer};
use crate::http::asked::Asked;
use crate::http::body;
use crate::http::query::{self, Query};
use crate::pages;
use crate::state::State;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{Request, StatusCode};
use std::net::IpAddr;

/// The maximum length of the form in bytes.
const FORM_BYTES_MAX: usize = 8 << 10;
/// How long a browser keeps the token.
const COOKIE_SECONDS: u64 = 30 * 24 * 3600;

/// The address to return to after the login: the one that was requested.
pub(crate) fn back(asked: &Asked) -> String {
    let view = if asked.path == "/" {
        crate::runs::view::View::of(&asked.query).map(|view| view.address()).ok()
    } else {
        None
    };
    view.unwrap_or_else(|| query::encoded(&asked.path))
}

/// Returns true if an address is on this server. Browsers treat an address that begins with two slashes, or with a
/// slash and a backslash, as one on another server.
fn is_ours(address: &str) -> bool {
    address.starts_with('/') && !address.starts_with("//") && !address.contains(['\\', '\r', '\n', '\t'])
}

/// Processes the form with the token.
pub(crate) async fn answer(state: &State, from: IpAddr, request: Request<Incoming>) -> Answer {
    let form = body::small(request.into_body(), FORM_BYTES_MAX).await;
    let form = form.and_then(|bytes| String::from_utf8(bytes).ok()).and_then(|text| Query::parse(&text));
    let Some(form) = form else {
        return answer::page(StatusCode::BAD_REQUEST, pages::problem(StatusCode::BAD_REQUEST, "The form is too long."));
    };
    let back = form.get("to").filter(|to| is_ours(to)).unwrap_or("/").to_owned();
    let Some(token) = &state.config.token else { return answer::redirect(&back) };
    match state.attempts.check(from, token, form.get("token").unwrap_or_default().trim()) {
        Ok(()) => {
            let mut answer = answer::redirect(&back);
            let cookie =
                format!("{COOKIE}={}; Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict", token.cookie());
            if let Ok(mut value) = HeaderValue::from_str(&cookie) {
                value.set_sensitive(true);
                answer.headers_mut().insert(header::SET_COOKIE, value);
            }
            answer
        }
        Err(Refused::Later) => {
            let status = StatusCode::TOO_MANY_REQUESTS;
            answer::page(status, pages::problem(status, "Too many wrong tokens. Try again in a minute."))
        }
        Err(_) => answer::page(StatusCode::UNAUTHORIZED, pages::login(&back, true)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_redirection_leads_to_another_server() {
        assert!(is_ours("/") && is_ours("/runs/a%20b?x=/"));
        for address in [
            "",
            "http://evil.example",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil",
            "/\t/evil",
            "javascript:alert(1)",
        ] {
            assert!(!is_ours(address), "{address}");
        }
    }
}
