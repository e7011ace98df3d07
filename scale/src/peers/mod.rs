//! The other processes: who they are, how they are reached, and what happens if one is lost.
//!
//! Two connections lead from each process to the first one. Timely has the one and sends everything over it; but it
//! waits for ever for a process that never came or that stopped. The other one is ours: over it a process says what it
//! was asked for before it begins, that it is alive, once a second, and at the end that it is done. Between two other
//! processes there is timely's connection alone.
//!
//! Nobody checks who connects: whoever can reach the addresses can take part. They are for private networks.

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

/// What the threads of workers are called, and a number. [`Fault`] knows them by it.
pub(crate) const WORKER: &str = "scale:worker-";

/// Processes that judge histories together.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Cluster {
    /// The addresses of all processes, `host:port`. The first one has the answers.
    pub hosts: Vec<String>,
    /// Which of them this one is.
    pub process: usize,
    /// What this process was asked for, each fact with its name: all have to agree on all.
    pub facts: Vec<(String, String)>,
    /// How long to wait until all have connected.
    pub connect_timeout: Duration,
    /// How long to wait for a sign of life of a process.
    pub peer_timeout: Duration,
}

impl Cluster {
    /// Processes at these addresses, of which this is the one of this number.
    pub fn new(hosts: Vec<String>, process: usize) -> Cluster {
        Cluster {
            hosts,
            process,
            facts: Vec::new(),
            connect_timeout: Duration::from_mins(1),
            peer_timeout: Duration::from_secs(30),
        }
    }

    /// The addresses in a file, a line each. Blank lines, and what is behind `#`, are not looked at.
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
