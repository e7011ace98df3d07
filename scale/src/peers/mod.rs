//! The other processes: their identity, the connections to them, and the handling of a lost one.
//!
//! Each process has two connections to the first one. Timely uses one of them for all its data, but it waits forever
//! for a process that never started or that stopped. Over the other one, a process sends its job before it begins, a
//! heartbeat once a second, and its end. Between other processes there is only timely's connection.
//!
//! Connections are not authenticated: every program that can reach the addresses can take part. Use private networks.

mod beat;
mod connect;
mod fault;
mod sample;
mod until;
mod words;

pub(crate) use connect::Peers;
pub(crate) use fault::Fault;
pub use sample::Sample;

use std::time::Duration;

/// The prefix of the names of workers' threads, before a number. [`Fault`] recognizes them by it.
pub(crate) const WORKER: &str = "scale:worker-";

/// Processes that check histories together.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Cluster {
    /// The addresses of all processes, `host:port`. The first one gets the results.
    pub hosts: Vec<String>,
    /// The number of this process.
    pub process: usize,
    /// The job of this process, each fact with its name: all processes have to agree on all.
    pub facts: Vec<(String, String)>,
    /// The time to wait until all processes have connected.
    pub connect_timeout: Duration,
    /// The time to wait for a heartbeat of a process.
    pub peer_timeout: Duration,
}

impl Cluster {
    /// Creates a cluster of processes at these addresses, of which this is the one with this number.
    pub fn new(hosts: Vec<String>, process: usize) -> Cluster {
        Cluster {
            hosts,
            process,
            facts: Vec::new(),
            connect_timeout: Duration::from_mins(1),
            peer_timeout: Duration::from_secs(30),
        }
    }

    /// The addresses in a file, one per line. Blank lines, and text after `#`, are ignored.
    ///
    /// ```
    /// let hosts = histcheck_scale::Cluster::hosts_in("# first\n10.0.0.1:7000\n\n10.0.0.2:7000 # second\n");
    /// assert_eq!(hosts, ["10.0.0.1:7000", "10.0.0.2:7000"]);
    /// ```
    pub fn hosts_in(text: &str) -> Vec<String> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }
}
