//! Responses: a status, a body that is complete or streamed, and the headers that isolate a page.

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// The content of a response.
#[derive(Debug)]
pub(crate) enum Content {
    Whole(Option<Bytes>),
    /// Pieces from another source, with their total size if known. An error closes the connection, so that a part is
    /// not mistaken for the whole.
    Pieces(mpsc::Receiver<io::Result<Bytes>>, Option<u64>),
}

impl Body for Content {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match &mut *self {
            Content::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Content::Pieces(pieces, _) => {
                pieces.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Content::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Content::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| u64::try_from(bytes.len()).unwrap_or(u64::MAX)))
            }
            Content::Pieces(_, Some(length)) => SizeHint::with_exact(*length),
            Content::Pieces(..) => SizeHint::default(),
        }
    }
}

pub(crate) type Answer = Response<Content>;

/// The permissions of the server's pages: the style sheet, the scripts and the pictures that it serves, and nothing
/// else.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
     frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// The permissions of pages and pictures of a run: only their own style. They have no origin, so they can access
/// nothing of this server.
const FILE_POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'self'";
/// The same for reports whose ops link to the rows of the history: a click may replace the page that contains the
/// report's frame.
const REPORT_POLICY: &str = "sandbox allow-top-navigation-by-user-activation; default-src 'none'; style-src 'unsafe-inline'; \
     img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
/// The same for timelines, which contain the script that draws them.
const TIMELINE_POLICY: &str = "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; \
     script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// A response with a body of this type.
pub(crate) fn of(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    with(status, kind, Content::Whole(Some(body.into())))
}

fn with(status: StatusCode, kind: &'static str, content: Content) -> Answer {
    let mut answer = Response::new(content);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        // With `no-referrer`, browsers would not send the origin with the forms of these pages.
        ("referrer-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    answer
}

/// A response with a page.
pub(crate) fn page(status: StatusCode, html: maud::Markup) -> Answer {
    of(status, "text/html; charset=utf-8", html.into_string())
}

/// A response with a result for programs.
pub(crate) fn json(status: StatusCode, value: &serde_json::Value) -> Answer {
    // Hidden characters are escaped, as in the results of the command line.
    let text = history_core::visible::json(&value.to_string()).into_owned();
    of(status, "application/json", text + "\n")
}

/// A response with an error for programs.
pub(crate) fn error(status: StatusCode, message: &str) -> Answer {
    json(status, &serde_json::json!({"schema": 1, "error": {"message": message}}))
}

/// A redirection to another address, which must be on this server.
pub(crate) fn redirect(address: &str) -> Answer {
    let mut answer = of(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
    let value = HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/"));
    answer.headers_mut().insert(header::LOCATION, value);
    answer
}

/// A response with a file of a run.
pub(crate) fn file(kind: &'static str, is_timeline: bool, content: Content) -> Answer {
    let mut answer = with(StatusCode::OK, kind, content);
    let policy = if is_timeline { TIMELINE_POLICY } else { FILE_POLICY };
    // Browsers reject pages that have both this header and a sandbox.
    answer.headers_mut().remove("cross-origin-opener-policy");
    answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    answer
}

/// A response with a report that has links to rows.
pub(crate) fn report(html: String) -> Answer {
    let mut answer = file("text/html; charset=utf-8", false, Content::Whole(Some(html.into())));
    answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(REPORT_POLICY));
    answer
}

/// A response with an endless body, which must not be cached.
pub(crate) fn events(pieces: mpsc::Receiver<io::Result<Bytes>>) -> Answer {
    with(StatusCode::OK, "text/event-stream", Content::Pieces(pieces, None))
}

/// The response without its body, for a HEAD request.
pub(crate) fn head_only(answer: Answer) -> Answer {
    let (mut parts, content) = answer.into_parts();
    if let Some(length) = content.size_hint().exact() {
        parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    Response::from_parts(parts, Content::Whole(None))
}
