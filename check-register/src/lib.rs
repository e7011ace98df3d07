//! Linearizability: versioned registers in linear time, and any model.
//!
//! [`versioned_register`] judges registers whose every write names the version it replaces.

pub mod versioned_register;

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
