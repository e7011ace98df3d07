//! Work on other machines: clients and servers there, controlled by this process.
//!
//! A worker is this program on another machine. It reads one line of JSON per call, and replies with one line
//! ([`message`]). The caller records: an invocation before its line is sent, a completion after the reply has arrived.
//! So one clock and one lock order all operations, on any machine. The latency of the network only makes operations
//! longer, which never makes a history wrong.
//!
//! A worker serves the clients of a command, for every connection ([`serve::listen`]); or, at the other end of `ssh`,
//! it serves a whole node: its files, servers, packet filter and clients ([`ssh`]).

mod client;
mod filter;
mod link;
mod message;
pub mod serve;
mod ssh;

pub(crate) use client::RemoteClient;
pub(crate) use message::Of;
pub use ssh::Ssh;
