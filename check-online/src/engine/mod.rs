//! The engine: just-in-time linearization of one part of an object, all configurations at once.
//!
//! `kernel` moves a part from event to event; its configurations are a `set`, over the states and steps of a `table`,
//! which follows the `rules` of a model, and `paths` contains the linearization of each. `ops` are the operations that
//! are still referenced; those in flight or crashed are in a `pile`. A `part` keeps the past events that may have to be
//! processed again.

pub(crate) mod kernel;
pub(crate) mod ops;
pub(crate) mod part;
pub(crate) mod paths;
pub(crate) mod pile;
pub(crate) mod rules;
pub(crate) mod set;
pub(crate) mod table;
