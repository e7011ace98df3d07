//! HTTP independent of the content: addresses, bodies and responses.

pub(crate) mod answer;
pub(crate) mod asked;
pub(crate) mod body;
pub(crate) mod query;
pub(crate) mod stream;
