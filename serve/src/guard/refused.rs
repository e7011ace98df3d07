//! Reasons to reject a request, and the responses.

use hyper::StatusCode;

/// The reason to reject a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It does not name this server, or does not come from one of its pages.
    Foreign(&'static str),
    /// It has no token, or a wrong one.
    NoToken,
    /// There were too many wrong tokens.
    Later,
}

impl Refused {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Refused::Foreign(_) => StatusCode::FORBIDDEN,
            Refused::NoToken => StatusCode::UNAUTHORIZED,
            Refused::Later => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    pub(crate) fn message(&self) -> &'static str {
        match self {
            Refused::Foreign(why) => why,
            Refused::NoToken => "this server requires a token: send it as the header `Authorization: Bearer TOKEN`",
            Refused::Later => "too many wrong tokens: try again in a minute",
        }
    }
}
