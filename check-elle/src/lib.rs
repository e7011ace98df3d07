//! Transactional consistency: which isolation levels a history of transactions satisfies, or the cycles that prove that
//! it violates them.
//!
//! [`list_append`] checks transactions that append to lists and read them, [`rw_register`] those that write and read
//! registers, [`closed_predicate`] those that read by predicates. [`anomaly`], [`model`] and [`lattice`] define
//! anomalies and consistency levels, and how they imply and forbid each other. The crate `histcheck-draw` draws the
//! results.
//!
//! # Features
//!
//! - `exact`, on by default: levels that the search for cycles leaves open are decided by the crate `check-isolation`.
//! - `parallel`, on by default: histories of 20,000 transactions and more are checked on several threads, with the same
//!   results.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod anomaly;
pub mod closed_predicate;
pub mod cycle_spec;
mod cycles;
pub mod dependency;
mod exact;
mod graph;
mod ids;
pub mod lattice;
pub mod list_append;
pub mod model;
mod names;
pub mod rw_register;
mod set;
mod txn;

pub use exact::Exact;

/// All checkers of this crate, in the order of lists.
pub fn checkers() -> Vec<Box<dyn history_core::Checker>> {
    vec![
        Box::new(list_append::ListAppend::default()),
        Box::new(rw_register::RwRegister::default()),
        Box::new(closed_predicate::ClosedPredicate::default()),
    ]
}

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
