//! Histories of a simulated store, correct or broken in a chosen way.

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
