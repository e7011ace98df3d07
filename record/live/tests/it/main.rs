//! Runs against stores that require no installation: the toy, SQLite and commands.

mod exec;
mod last;
mod maelstrom;
mod prefixes;
mod recorder;
mod schedule;
mod setup;

#[cfg(feature = "sqlite")]
mod sqlite;
mod transports;
#[cfg(target_os = "linux")]
mod world;
