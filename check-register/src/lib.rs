//! Linearizability: versioned registers in linear time, and any model.
//!
//! A history is **linearizable** if each operation can be given an instant between its invocation and its completion so
//! that, taken in the order of these instants, they do what one object would do alone.
//!
//! - [`Linearizable`] judges recorded histories of the objects in [`models`]; [`checkers`] lists them all.
//! - [`check`] judges operations of any [`Model`] of your own; [`assert_linearizable!`] does so in a test.
//! - [`versioned_register`] judges registers whose every write names the version it replaces, in linear time.
//!
//! # Features
//!
//! - `parallel`, on by default: parts of large histories are judged on several threads, with the same answers.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod assert;
#[doc(hidden)]
pub mod engine;
mod explain;
mod history;
mod judge;
mod laws;
mod model;
pub mod models;
mod monitor;
mod object;
mod search;
mod settlement;
mod shortcuts;
mod slices;
pub mod versioned_register;

pub use assert::explain_refusal;
pub use history::Operation;
pub use judge::{Answer, End, Engine, Outcome, PartAnswer, Refusal, Settings, check, check_with};
pub use laws::assert_model_laws;
pub use model::{Access, Model};
pub use monitor::{Collection, Handling};
pub use object::decoder::{DecodedEvent, Decoder};
pub use object::{AnyObject, Linearizable, LinearizableRegister, NONLINEARIZABLE, about, checkers};
pub use search::Reason;
pub use search::conflict::{Conflict, Held};
pub use settlement::{Moment, Settlement};
pub use shortcuts::Shortcuts;

/// The README's examples run too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
