#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! Clients know nothing of what they ask for, and stores nothing of clients: a workload plans operations and takes steps,
//! and the clients bring the clock, the network, failures and lost answers. Chance comes from a generator whose stream
//! cannot change, drawn from with integer arithmetic alone.

mod bug;
mod clients;
mod key_distribution;
mod list_append;
mod nemesis;
mod op;
mod parameters;
mod rng;
mod schedule;
mod simulation;
mod system;
mod write;

pub use bug::{Bug, UnknownBug};
pub use clients::Observer;
pub use key_distribution::KeyDistribution;
pub use list_append::{ListAppend, Mops};
pub use op::{Kind, Mop, Payload, Process, SimOp};
pub use parameters::ParameterError;
pub use simulation::Simulation;
pub use write::{Format, UnknownFormat, Writer};
