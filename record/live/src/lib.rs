#![doc = include_str!("../README.md")]

mod chance;
mod client;
mod error;
mod fault;
mod group;
mod inbox;
mod judge;
mod live;
mod log;
mod nemesis;
mod predictor;
mod recorder;
mod request;
mod stop;
pub mod store;
mod workload;
#[cfg(target_os = "linux")]
pub mod world;

pub use chance::Chance;
pub use client::{Client, Seat, Store};
pub use error::LiveError;
pub use fault::Fault;
pub use judge::{Check, Start, Violated};
pub use live::{Ended, Live, Progress};
pub use nemesis::{Faults, Nemesis, Target};
pub use recorder::{Counts, Performer, Recorder};
pub use request::{FIRST_VERSION, Fields, Key, MicroOp, Outcome, Request};
pub use stop::Stop;
pub use workload::{ACCOUNTS, INITIAL_BALANCE, Plan, TOTAL, Workload};
