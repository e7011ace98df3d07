//! What all checkers share beside the interface: ids, conversions of integers, faults of ops, explanations of witnesses.

pub mod cast;
pub mod explain;
mod fault;
mod id;

pub use fault::OpFault;
pub use id::Id;
