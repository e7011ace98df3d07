//! Linearizability while the history is still being made.
//!
//! - [`Online`] takes **spans**: completed operations of a known set of clients, each client's in order.
//! - [`Events`] takes invocations and completions in the order in which they happened.
//!
//! - [`OnlineLinearizable`] reads recorded ops, as a [`Checker`](history_core::Checker); [`checkers`] lists all.
//! - [`OnlineHandle`] feeds a checker on a thread of its own, from several threads.
//!
//! All say what is known as soon as it is certain, for any [`Model`](check_register::Model), and remember only what may
//! still matter. One engine is under them: just-in-time linearization, part of the object by part.
//!
//! # Features
//!
//! - `parallel`, on by default: steps of very many configurations are taken on several threads, with the same answers.

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
