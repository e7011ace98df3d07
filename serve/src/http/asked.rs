//! What a request wants, without its body.

use super::query::Query;
use hyper::Method;

/// What a request wants, without its body.
pub(crate) struct Asked {
    pub(crate) method: Method,
    /// Without percent signs.
    pub(crate) path: String,
    pub(crate) query: Query,
}

impl Asked {
    /// Whether a program asks.
    pub(crate) fn is_api(&self) -> bool {
        self.path.starts_with("/api/")
    }
}
