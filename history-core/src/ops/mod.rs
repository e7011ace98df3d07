//! Ops: their content, how batches and histories store them, and which ops belong to one operation.

mod assign;
pub(crate) mod batch;
pub(crate) mod builder;
pub(crate) mod client_rule;
pub mod columns;
pub(crate) mod history;
pub(crate) mod index;
pub(crate) mod op;
pub(crate) mod pairing;
pub(crate) mod participants;
pub(crate) mod row;
