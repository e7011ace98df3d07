#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "scheduled")]
mod coroutine;
#[cfg(feature = "scheduled")]
mod execution;
#[cfg(feature = "scheduled")]
mod explore;
#[cfg(feature = "scheduled")]
mod failure;
#[cfg(feature = "scheduled")]
mod ids;
#[cfg(feature = "scheduled")]
mod object;
#[cfg(feature = "scheduled")]
mod op;
#[cfg(feature = "scheduled")]
pub mod property;
#[cfg(feature = "scheduled")]
mod rng;
#[cfg(feature = "scheduled")]
mod runtime;
#[cfg(feature = "scheduled")]
mod schedule;
#[cfg(feature = "scheduled")]
pub mod scheduler;
#[cfg(feature = "scheduled")]
pub mod sync;
#[cfg(feature = "scheduled")]
mod table;
#[cfg(feature = "scheduled")]
pub mod thread;

#[cfg(not(feature = "scheduled"))]
pub use std::{sync, thread};

#[cfg(feature = "scheduled")]
pub use explore::{Explored, Memory, Settings, check, choose, explore, simplify};
#[cfg(feature = "scheduled")]
pub use failure::{Cause, Failure, Waiting};
#[cfg(feature = "scheduled")]
pub use op::{Kind, Step, THREADS_MAX, ThreadId, ThreadSet};
#[cfg(feature = "scheduled")]
pub use schedule::{Schedule, ScheduleError};

/// The environment variable that says which schedule to run under.
#[cfg(feature = "scheduled")]
pub const REPLAY_VARIABLE: &str = "HISTCHECK_REPLAY";

/// The environment variable that says which seed to start from.
#[cfg(feature = "scheduled")]
pub const SEED_VARIABLE: &str = "HISTCHECK_SEED";

/// The guide's examples run too.
#[cfg(all(doctest, feature = "scheduled"))]
#[doc = include_str!("../GUIDE.md")]
struct Guide;
