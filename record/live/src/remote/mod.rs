//! Work on other machines: clients and servers there, told what to do by this process.
//!
//! A worker is this program again, on another machine. It reads one line of JSON for each thing that it is to do, and
//! answers with a line ([`message`]). Who asks, records: an invocation before its line is sent, a completion after the
//! answer has arrived. So one clock and one lock give all operations their order, wherever they are performed, and the
//! time that the network takes only makes them longer, which never makes a history wrong.
//!
//! A worker serves the clients of a command, for whoever connects ([`serve::listen`]); or, at the other end of `ssh`,
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
