//! Transactional consistency: which isolation levels a history of transactions obeys, or the cycles that prove it broke
//! them.
//!
//! [`list_append`] judges transactions that append to lists and read them, [`rw_register`] such as write and read
//! registers, [`closed_predicate`] such as read by predicates. [`anomaly`], [`model`] and [`lattice`] are what is known
//! of anomalies and consistency levels, and how they imply and forbid each other. The crate `histcheck-draw` draws what
//! was found.
//!
//! # Features
//!
//! - `exact`, on by default: levels that the search for cycles leaves open are decided by the crate `check-isolation`.
//! - `parallel`, on by default: histories of 20,000 transactions and more are judged on several threads, with the same
//!   answers.

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

/// All checkers of this crate, in the order in which to list them.
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
