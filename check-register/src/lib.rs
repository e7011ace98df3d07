//! Linearizability: versioned registers in linear time, and any model.
//!
//! A history is **linearizable** if each operation can be assigned an instant between its invocation and its completion
//! so that, in the order of these instants, the operations behave as on a sequential object.
//!
//! - [`Linearizable`] checks recorded histories of the objects in [`models`]; [`checkers`] lists them all.
//! - [`check`] checks operations of any user-defined [`Model`]; [`assert_linearizable!`] does so in a test.
//! - [`versioned_register`] checks registers whose every write names the version it replaces, in linear time.
//!
//! # Features
//!
//! - `parallel`, on by default: parts of large histories are checked on several threads, with the same results.

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
