#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod cell;
#[cfg(feature = "scheduled")]
mod execution;
#[cfg(feature = "scheduled")]
mod explore;
#[cfg(feature = "scheduled")]
mod failure;
/// The contents of `std::hint`; a loop that spins yields to other threads.
#[cfg(feature = "scheduled")]
pub mod hint {
    pub use crate::thread::hint::spin_loop;
    pub use std::hint::*;
}
#[cfg(feature = "scheduled")]
mod ids;
/// Simulated networks: the hosts on which code with [`tokio::net`] runs, and the faults between them.
#[cfg(feature = "scheduled")]
pub mod net {
    pub use crate::tokio::net::simulation::{Fault, Host, Network, NetworkSettings};
}
#[cfg(feature = "scheduled")]
mod object;
#[cfg(feature = "scheduled")]
mod op;
#[cfg(feature = "scheduled")]
pub mod property;
mod resource;
#[cfg(feature = "scheduled")]
mod runtime;
#[cfg(feature = "scheduled")]
pub mod scheduler;
#[cfg(feature = "scheduled")]
pub mod sync;
#[cfg(feature = "scheduled")]
pub mod thread;
#[cfg(feature = "scheduled")]
pub mod time;
#[cfg(feature = "scheduled")]
pub mod tokio;

#[cfg(all(feature = "tokio", not(feature = "scheduled")))]
pub use ::tokio;
pub use resource::{Resource, Touch};
#[cfg(not(feature = "scheduled"))]
pub use std::{hint, sync, thread, thread_local, time};

#[cfg(feature = "scheduled")]
pub use execution::cause::{Access, AccessKind, Cause, Race, Waiting};
#[cfg(feature = "scheduled")]
pub use explore::{Check, Explored, Memory, Settings, check, choose, explore, simplify};
#[cfg(feature = "scheduled")]
pub use failure::Failure;
#[cfg(feature = "scheduled")]
pub use op::{Kind, Step, THREADS_MAX, ThreadId, ThreadSet};
#[cfg(feature = "scheduled")]
pub use scheduler::schedule::{Schedule, ScheduleError};

/// The environment variable that contains the schedule to run under.
#[cfg(feature = "scheduled")]
pub const REPLAY_VARIABLE: &str = "HISTCHECK_REPLAY";

/// The environment variable that contains the seed.
#[cfg(feature = "scheduled")]
pub const SEED_VARIABLE: &str = "HISTCHECK_SEED";

/// Makes the guide's examples run as doc tests.
#[cfg(all(doctest, feature = "scheduled"))]
#[doc = include_str!("../GUIDE.md")]
struct Guide;
