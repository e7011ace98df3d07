//! HTTP without what is served: addresses, bodies and answers.

pub(crate) mod answer;
pub(crate) mod asked;
pub(crate) mod body;
pub(crate) mod query;
pub(crate) mod stream;
