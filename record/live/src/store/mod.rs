//! Stores that can be driven.

mod exec;
pub mod maelstrom;
#[cfg(feature = "sqlite")]
mod sqlite;
mod worker;

pub use exec::Exec;
#[cfg(feature = "sqlite")]
pub use sqlite::{Locks, Sqlite};
