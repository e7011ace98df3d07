//! The head of a request, without its body.

use super::query::Query;
use hyper::Method;

/// The head of a request, without its body.
pub(crate) struct Asked {
    pub(crate) method: Method,
    /// Without percent signs.
    pub(crate) path: String,
    pub(crate) query: Query,
}

impl Asked {
    /// Whether the client is a program.
    pub(crate) fn is_api(&self) -> bool {
        self.path.starts_with("/api/")
    }
}
