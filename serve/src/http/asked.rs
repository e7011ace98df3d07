//! The head of a request, without its body.

use super::query::Query;
use hyper::Method;

/// The head of a request, without its body.
pub(crate) struct Asked {
    pub(crate) method: Method,
    /// The decoded path.
    pub(crate) path: String,
    pub(crate) query: Query,
}

impl Asked {
    /// Returns true if the request is for the API.
    pub(crate) fn is_api(&self) -> bool {
        self.path.starts_with("/api/")
    }
}
