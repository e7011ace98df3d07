//! Code that all checkers share in addition to the interface: ids, conversions of integers, faults of ops, explanations
//! of witnesses, codes of values, keys of maps, names, next steps.

pub mod cast;
pub mod explain;
mod fault;
mod functions;
mod id;
mod int_map;
mod intern;
mod keyed_ids;
mod map_keys;
pub(crate) mod mops;
mod names;
mod next_step;
pub mod state;

pub use fault::{OpFault, UndecodedOps};
pub use functions::FunctionsInFlight;
pub use id::Id;
pub use int_map::IntMap;
pub use intern::Interner;
pub use keyed_ids::KeyedIds;
pub use map_keys::{KeySpelling, map_key};
pub use names::UnknownName;
pub use next_step::NextStep;
