//! The parameters of a simulation of clients that request transactions over lists or registers.

use super::bug::Bug;
use super::workload::{OverLists, OverRegisters, Workload};
use crate::key_distribution::KeyDistribution;
use crate::parameters::{ParameterError, check_count, check_fates, check_range, check_rate, refuse};
use crate::rng::Chance;
use crate::simulation::clients::Load;
use crate::simulation::schedule::Delay;

/// The pause of a client between two transactions.
const THINK: Delay = Delay(1_000, 30_000);

/// A history of transactions over lists, like Elle's `list-append`.
///
/// ```
/// use record_simulate::{Format, ListAppend};
///
/// let history = ListAppend { txns: 1000, seed: 7, clients: 5, ..ListAppend::default() };
/// let text = history.simulation()?.write(Vec::new(), Format::JsonLines)?;
/// assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), 2000, "invocations and completions");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type ListAppend = Transactions<OverLists>;

/// A history of transactions over registers, like Elle's `rw-register`.
///
/// Values written to a key count from 1, so that none is written twice; a register that was never written reads as nil.
/// With the same parameters it is the history of [`ListAppend`], except that reads return only the last element of each
/// list.
///
/// ```
/// use record_simulate::{Bug, Format, RwRegister};
///
/// let history = RwRegister { txns: 3, seed: 2, bug: Bug::ReadCommitted, ..RwRegister::default() };
/// let text = String::from_utf8(history.simulation()?.write(Vec::new(), Format::Edn)?)?;
/// assert!(text.starts_with("{:index 0, :type :invoke, :process 7, :f :txn, :value [[:w 25 1] [:w 14 1]]"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type RwRegister = Transactions<OverRegisters>;

/// Transactions of many clients over keys that contain lists ([`ListAppend`]) or registers ([`RwRegister`]).
///
/// Equal parameters give equal histories, byte for byte, on every machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Transactions<W> {
    /// The content of the keys.
    pub workload: W,
    /// The number of transactions of clients. Up to 10^9; 1000 by default.
    pub txns: u64,
    /// Selects one of the histories that the other parameters permit. 0 by default.
    pub seed: u64,
    /// The number of concurrent clients, each with one transaction at a time. 1 to 100,000; 20 by default.
    pub clients: u32,
    /// The number of live keys at a time. 1 to 1,000,000; 32 by default.
    pub keys: u32,
    /// The minimum number of micro-operations of a transaction. At least 1, the default.
    pub ops_per_txn_min: u32,
    /// The maximum number of micro-operations of a transaction. Up to 1,000; 4 by default.
    pub ops_per_txn_max: u32,
    /// The minimum of the number of writes, which is drawn at random, after which a new key replaces a key. At least 1;
    /// 32 by default.
    pub writes_per_key_min: u32,
    /// The maximum of the number of writes, which is drawn at random, after which a new key replaces a key. Up to
    /// 1,000,000; 256 by default.
    pub writes_per_key_max: u32,
    /// The share of micro-operations that are reads, from 0 to 1. 0.5 by default.
    pub read_fraction: f64,
    /// The distribution of micro-operations over the live keys. Uniform by default.
    pub key_distribution: KeyDistribution,
    /// The share of micro-operations after a transaction's first that use a key which the transaction used before,
    /// independently of the distribution, from 0 to 1. Many bugs affect transactions that read a key and then write it.
    /// 0.2 by default.
    pub reuse_fraction: f64,
    /// The bug of the store. None by default. One of [`Bug::of`] this workload.
    pub bug: Bug,
    /// The share of transactions that the bug affects, from 0 to 1; the bug's own rate by default. All others are as in
    /// a correct store.
    pub bug_rate: Option<f64>,
    /// The share of transactions that the store refuses, from 0 to 1. 0.03 by default.
    pub fail_rate: f64,
    /// The share of transactions that end in `info`, from 0 to 1: it is unknown whether they took effect, and half of
    /// them did. 0.01 by default.
    pub info_rate: f64,
    /// The share of transactions without a completion, from 0 to 1. Half of them took effect. 0 by default.
    pub lost_rate: f64,
    /// Whether a nemesis cuts the network from time to time: meanwhile, a quarter of the requests get no answer. False
    /// by default.
    pub nemesis: bool,
}

impl<W: Workload> Default for Transactions<W> {
    fn default() -> Transactions<W> {
        Transactions {
            workload: W::default(),
            txns: 1000,
            seed: 0,
            clients: 20,
            keys: 32,
            ops_per_txn_min: 1,
            ops_per_txn_max: 4,
            writes_per_key_min: 32,
            writes_per_key_max: 256,
            read_fraction: 0.5,
            key_distribution: KeyDistribution::Uniform,
            reuse_fraction: 0.2,
            bug: Bug::None,
            bug_rate: None,
            fail_rate: 0.03,
            info_rate: 0.01,
            lost_rate: 0.0,
            nemesis: false,
        }
    }
}

impl<W: Workload> Transactions<W> {
    pub(crate) fn load(&self) -> Load {
        Load {
            seed: self.seed,
            clients: self.clients,
            ops: self.txns,
            fail: Chance::new(self.fail_rate),
            info: Chance::new(self.info_rate),
            lost: Chance::new(self.lost_rate),
            nemesis: self.nemesis,
            think: THINK,
        }
    }

    /// Checks that these parameters can be simulated.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn validate(&self) -> Result<(), ParameterError> {
        check_count("txns", self.txns, 0, 1_000_000_000)?;
        check_count("clients", self.clients.into(), 1, 100_000)?;
        check_count("keys", self.keys.into(), 1, 1_000_000)?;
        let ops = (self.ops_per_txn_min.into(), self.ops_per_txn_max.into());
        check_count("ops_per_txn_min", ops.0, 1, 1000)?;
        check_count("ops_per_txn_max", ops.1, 1, 1000)?;
        check_range(("ops_per_txn_min", ops.0), ("ops_per_txn_max", ops.1))?;
        let writes = (self.writes_per_key_min.into(), self.writes_per_key_max.into());
        check_count("writes_per_key_min", writes.0, 1, 1_000_000)?;
        check_count("writes_per_key_max", writes.1, 1, 1_000_000)?;
        check_range(("writes_per_key_min", writes.0), ("writes_per_key_max", writes.1))?;
        check_rate("read_fraction", self.read_fraction)?;
        check_rate("reuse_fraction", self.reuse_fraction)?;
        check_fates(self.fail_rate, self.info_rate, self.lost_rate)?;
        self.check_bug()?;
        self.key_distribution.check()
    }

    fn check_bug(&self) -> Result<(), ParameterError> {
        let bug = self.bug;
        if !bug.is_of::<W>() {
            let those = Bug::of::<W>().map(Bug::name).collect::<Vec<_>>().join(", ");
            return refuse("bug", format!("{} has no bug {bug}: expected one of {those}", W::NAME));
        }
        let Some(rate) = self.bug_rate else { return Ok(()) };
        check_rate("bug_rate", rate)?;
        if bug == Bug::None {
            return refuse("bug_rate", "a bug rate is given without a bug");
        }
        if bug.is_planted() {
            return refuse("bug_rate", format!("a bug rate is given, but {bug} occurs exactly once"));
        }
        Ok(())
    }
}
