//! Linearizability while the history is being recorded.
//!
//! - [`Online`] accepts **spans**: completed operations of a known set of clients, each client's in order.
//! - [`Events`] accepts invocations and completions in the order in which they happened.
//!
//! - [`OnlineLinearizable`] reads recorded ops, as a [`Checker`](history_core::Checker); [`checkers`] lists all.
//! - [`OnlineHandle`] feeds a checker on a separate thread, from several threads.
//!
//! All report results as soon as they are certain, for any [`Model`](check_register::Model), and store only what may
//! still matter. They share one engine: just-in-time linearization of each part of the object.
//!
//! # Features
//!
//! - `parallel`, on by default: if there are very many configurations, their steps are computed on several threads,
//!   with the same results.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod engine;
mod events;
mod explanation;
mod handle;
mod model;
mod object;
mod outcome;
mod run;
mod spans;
mod violation;

pub use events::{Call, Events};
pub use handle::OnlineHandle;
pub use model::OnlineModel;
pub use outcome::{FeedError, Outcome, Reason, Settings};
pub use run::{OnlineLinearizable, OnlineRun, checkers};
pub use spans::{Online, Span};
pub use violation::{Configuration, Next, Step, Violation};

/// The README's examples run too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
