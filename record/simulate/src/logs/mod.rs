//! Logs with offsets: clients send messages to them and poll them, alone or in transactions.

mod bug;
mod store;

pub use bug::{LogBug, UnknownLogBug};

use crate::parameters::{ParameterError, check_count, check_fates, check_rate, refuse};
use crate::rng::Chance;
use crate::simulation::Simulation;
use crate::simulation::clients::Load;
use crate::simulation::schedule::Delay;
use store::{Asked, LogStore};

/// A history of Jepsen's kafka workload: sends to logs and polls of them, each of which takes effect at one instant.
///
/// A client assigns all keys to itself and then polls each from its last position. At the end, all remaining messages
/// are polled. Equal parameters give equal histories, byte for byte, on every machine. Memory depends on the number of
/// messages.
///
/// ```
/// use record_simulate::{Format, Logs};
///
/// let history = Logs { ops: 20, ..Logs::default() };
/// let text = String::from_utf8(history.simulation()?.write(Vec::new(), Format::Edn)?)?;
/// assert!(text.contains("[:send ") && text.contains("[:poll {"), "{text}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Logs {
    /// The number of operations of clients, without the polls at the end. Up to 10^9; 1000 by default.
    pub ops: u64,
    /// Selects one of the histories that the other parameters permit. 0 by default.
    pub seed: u64,
    /// The number of concurrent clients, each with one operation at a time. 1 to 100,000; 10 by default.
    pub clients: u32,
    /// The number of logs. 1 to 10,000; 3 by default.
    pub keys: u32,
    /// The maximum number of micro-operations of a transaction. With 1, each op is a single send or poll. 1 to 1,000; 4
    /// by default.
    pub ops_per_txn_max: u32,
    /// The share of micro-operations that are polls, from 0 to 1. 0.5 by default.
    pub read_fraction: f64,
    /// The share of operations that fail, from 0 to 1. 0.02 by default.
    pub fail_rate: f64,
    /// The share of operations that end in `info`, from 0 to 1; half of them took effect. 0.005 by default.
    pub info_rate: f64,
    /// The share of operations without a completion, from 0 to 1. 0 by default.
    pub lost_rate: f64,
    /// The bug of the store. None by default.
    pub bug: LogBug,
    /// The share of operations that the bug affects, from 0 to 1; the bug's own rate by default.
    pub bug_rate: Option<f64>,
    /// Whether a nemesis cuts the network from time to time: meanwhile, a quarter of the requests get no answer. False
    /// by default.
    pub nemesis: bool,
}

impl Default for Logs {
    fn default() -> Logs {
        Logs {
            ops: 1000,
            seed: 0,
            clients: 10,
            keys: 3,
            ops_per_txn_max: 4,
            read_fraction: 0.5,
            fail_rate: 0.02,
            info_rate: 0.005,
            lost_rate: 0.0,
            bug: LogBug::None,
            bug_rate: None,
            nemesis: false,
        }
    }
}

impl Logs {
    /// As checkers call it.
    pub const NAME: &'static str = "kafka";

    /// The simulation of these parameters.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn simulation(&self) -> Result<Simulation, ParameterError> {
        self.validate()?;
        let load = Load {
            seed: self.seed,
            clients: self.clients,
            ops: self.ops,
            fail: Chance::new(self.fail_rate),
            info: Chance::new(self.info_rate),
            lost: Chance::new(self.lost_rate),
            nemesis: self.nemesis,
            think: Delay(0, 200_000),
        };
        let asked = Asked {
            seed: self.seed,
            clients: self.clients,
            keys: self.keys,
            ops_per_txn_max: self.ops_per_txn_max,
            read_fraction: self.read_fraction,
            bug: self.bug,
            bug_rate: self.bug_rate.unwrap_or(self.bug.rate()),
        };
        Ok(Simulation::new(load, Box::new(LogStore::new(&asked))))
    }

    /// Checks that a simulation can be run.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn validate(&self) -> Result<(), ParameterError> {
        check_count("ops", self.ops, 0, 1_000_000_000)?;
        check_count("clients", self.clients.into(), 1, 100_000)?;
        check_count("keys", self.keys.into(), 1, 10_000)?;
        check_count("ops_per_txn_max", self.ops_per_txn_max.into(), 1, 1_000)?;
        check_rate("read_fraction", self.read_fraction)?;
        check_fates(self.fail_rate, self.info_rate, self.lost_rate)?;
        if let Some(rate) = self.bug_rate {
            check_rate("bug_rate", rate)?;
        }
        let needs_txns = matches!(self.bug, LogBug::PrecommittedRead | LogBug::IntNonmonotonicSend);
        if needs_txns && self.ops_per_txn_max < 2 {
            return refuse(
                "ops_per_txn_max",
                format!("{} needs transactions of two micro-operations or more", self.bug),
            );
        }
        Ok(())
    }
}
