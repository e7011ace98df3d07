#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! Clients know nothing of what they ask for, and stores nothing of clients: a workload plans operations and takes
//! steps, and the clients bring the clock, the network, failures and lost answers. Chance comes from a generator whose
//! stream cannot change, drawn from with integer arithmetic alone.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod bug;
mod clients;
mod ids;
mod key_distribution;
mod named;
mod objects;
mod op;
mod parameters;
mod registers;
mod rng;
mod schedule;
mod simulation;
mod store;
mod system;
mod transactions;
mod workload;
mod write;

pub use bug::{Bug, UnknownBug};
pub use clients::Observer;
pub use key_distribution::KeyDistribution;
pub use objects::{
    Object, ObjectBug, ObjectKey, ObjectOp, ObjectValue, Objects, UnknownObject, UnknownObjectBug, WriteId,
};
pub use op::{Kind, LogMop, LogOp, Mop, Payload, Process, SimOp};
pub use parameters::ParameterError;
pub use registers::{RegisterMop, RegisterMops};
pub use simulation::Simulation;
pub use store::Mops;
pub use transactions::logs::{LogBug, Logs, UnknownLogBug};
pub use transactions::{ListAppend, RwRegister, Transactions};
pub use workload::{OverLists, OverRegisters, Workload};
pub use write::{Format, UnknownFormat, Writer};
