//! The engine: just-in-time linearization of one part of an object, all configurations at once.
//!
//! `kernel` takes a part from event to event; its configurations are a `set`, over the states and steps of a `table`,
//! which follows the `rules` of a model, and `paths` has how each came about. `ops` are the operations that something
//! still refers to; those in flight or crashed lie in a `pile`. A `part` remembers as much of the past as may have to
//! be looked at once more.

pub(crate) mod kernel;
pub(crate) mod ops;
pub(crate) mod part;
pub(crate) mod paths;
pub(crate) mod pile;
pub(crate) mod rules;
pub(crate) mod set;
pub(crate) mod table;
