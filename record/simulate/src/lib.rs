#![doc = include_str!("../README.md")]
//!
//! # Inside
//! # Structure
//! Clients are independent of the operations, and stores are independent of the clients: a workload plans operations
//! and takes steps, and the clients add the clock, the network, failures and lost answers. Random numbers come from a
//! generator whose stream cannot change, and draws use only integer arithmetic.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod ids;
mod key_distribution;
mod lists;
mod logs;
mod named;
mod objects;
mod op;
mod parameters;
mod rng;
mod simulation;
mod slot;
mod transactions;
mod write;

pub use key_distribution::KeyDistribution;
pub use lists::mops::{Mop, Mops};
pub use lists::registers::{RegisterMop, RegisterMops};
pub use logs::{LogBug, Logs, UnknownLogBug};
pub use objects::{Object, ObjectBug, Objects, UnknownObject, UnknownObjectBug};
pub use op::log::{LogMop, LogOp};
pub use op::object::{ObjectKey, ObjectOp, ObjectValue, WriteId};
pub use op::{Kind, Payload, Process, SimOp};
pub use parameters::ParameterError;
pub use simulation::Simulation;
pub use simulation::clients::Observer;
pub use transactions::{Bug, ListAppend, OverLists, OverRegisters, RwRegister, Transactions, UnknownBug, Workload};
pub use write::{Format, UnknownFormat, Writer};
