//! Stores that can be driven.

mod exec;
pub mod maelstrom;
#[cfg(target_os = "linux")]
mod redis;
#[cfg(feature = "sqlite")]
mod sqlite;
mod worker;

pub use exec::Exec;
#[cfg(target_os = "linux")]
pub use redis::RedisSentinel;
#[cfg(feature = "sqlite")]
pub use sqlite::{Locks, Sqlite};
