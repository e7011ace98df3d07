//! Stores that can be driven.

#[cfg(target_os = "linux")]
mod cluster;
#[cfg(target_os = "linux")]
mod etcd;
mod exec;
pub mod maelstrom;
#[cfg(target_os = "linux")]
mod redis;
#[cfg(feature = "sqlite")]
mod sqlite;
mod worker;

#[cfg(target_os = "linux")]
pub use etcd::{Etcd, Reads as EtcdReads};
pub use exec::Exec;
#[cfg(target_os = "linux")]
pub use redis::RedisSentinel;
#[cfg(feature = "sqlite")]
pub use sqlite::{Locks, Sqlite};
