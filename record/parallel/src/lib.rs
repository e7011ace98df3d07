//! Tests of concurrent Rust code under a deterministic scheduler.
//!
//! Nothing is here yet.
