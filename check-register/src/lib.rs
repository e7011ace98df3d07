//! Linearizability: versioned registers in linear time, and any model.
//!
//! Nothing is here yet.

pub mod timeline;
