//! The parameters of a simulation of clients that use an object.

use super::bug::ObjectBug;
use super::object::Object;
use crate::key_distribution::KeyDistribution;
use crate::parameters::{ParameterError, check_count, check_fates, check_rate, refuse};
use crate::rng::Chance;
use crate::simulation::clients::Load;
use crate::simulation::schedule::Delay;

/// A history of operations on an [`Object`], each of which takes effect at one instant between its invocation and its
/// completion, unless there is a bug: it is linearizable.
///
/// Equal parameters give equal histories, byte for byte, on every machine. Parameters that do not apply to an object
/// are ignored.
///
/// ```
/// use record_simulate::{Format, Object, Objects};
///
/// let history = Objects { ops: 3, seed: 4, think_ns: 0, ..Objects::of(Object::CasRegister) };
/// let text = String::from_utf8(history.simulation()?.write(Vec::new(), Format::Edn)?)?;
/// assert!(text.starts_with("{:index 0, :type :invoke, :process "), "{text}");
/// assert_eq!(text.lines().count(), 6, "invocations and completions");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Objects {
    /// The object that clients use.
    pub object: Object,
    /// The number of operations of clients, without the final ones ([`Object::has_last`]), one per key. Up to 10^9;
    /// 1000 by default.
    pub ops: u64,
    /// Selects one of the histories that the other parameters permit. 0 by default.
    pub seed: u64,
    /// The number of concurrent clients, each with one operation at a time. 1 to 100,000; 10 by default.
    pub clients: u32,
    /// The average time from an answer to the client's next request, in nanoseconds: each time is between 0 and twice
    /// as long. An operation itself takes about 60,000. With 0, requests follow without pauses. Up to 10^12; 100,000 by
    /// default.
    pub think_ns: u64,
    /// Whether ops name one of several objects: by a field `key` for versioned registers, by values `[key value]` for
    /// all others. Key-value maps and multi-registers always have keys. False by default.
    pub keyed: bool,
    /// The number of live keys at a time. 1 to 1,000,000, for multi-registers 1 to 1000; 10 by default for key-value
    /// maps, 3 for multi-registers, and 1 for others, which must be keyed to have more.
    pub keys: u32,
    /// The number of operations after which a new key replaces a key; 0 if never. 1000 by default for key-value maps, 0
    /// for others.
    pub ops_per_key: u64,
    /// The distribution of operations over the live keys. Uniform by default.
    pub key_distribution: KeyDistribution,
    /// The number of different values that are written; 0 if each is new. For a counter, the largest amount to add, at
    /// least 1; for a bank the accounts, at least 2; for long-fork the keys of a group, at least 2; for sequential the
    /// subkeys of a key, from 2 to 64. Up to 1,000,000. By default 5 for registers, counters and sequential, 64 for
    /// sets, 100 for versioned registers, 8 for banks, 2 for long-fork and 0 for others. A set whose elements are all
    /// new grows with the history, and so does each read of it.
    pub values: u32,
    /// The share of operations that are reads, gets, dequeues or pops (of transactions: the share of micro-operations),
    /// from 0 to 1. 0.5 by default.
    pub read_fraction: f64,
    /// The share of the operations of a cas-register other than reads that are compare-and-sets, from 0 to 1. 0.5 by
    /// default.
    pub cas_fraction: f64,
    /// The share of the operations of a key-value map other than gets that are puts, from 0 to 1. Appends make strings
    /// longer until the next put. 0.2 by default.
    pub put_fraction: f64,
    /// The maximum number of micro-operations of a transaction. 1 to 1,000; 3 by default.
    pub ops_per_txn_max: u32,
    /// The number of permits of a semaphore, 1 by default; for a reentrant mutex, how often its owner can hold it, 2 by
    /// default. 1 to 1,000,000.
    pub permits: u32,
    /// The number of elements in a queue or stack from which on clients insert no more. 1 to 1,000,000; 32 by default.
    pub capacity: u32,
    /// Whether a dequeue or pop that finds nothing is `ok` with nil, and does not fail: for objects that [may show
    /// nothing](Object::may_show_nothing). False by default.
    pub empty_ok: bool,
    /// The share of operations that the object refuses although it could perform them, from 0 to 1. 0.01 by default.
    pub fail_rate: f64,
    /// The share of operations that end in `info`, from 0 to 1: it is unknown whether they took effect. Half of them
    /// did, some of them much later. 0.001 by default.
    pub info_rate: f64,
    /// The share of operations without a completion, from 0 to 1. Half of them took effect. 0 by default.
    pub lost_rate: f64,
    /// The bug of the object. None by default. One of [`ObjectBug::of`] this object.
    pub bug: ObjectBug,
    /// The share of operations that the bug affects, from 0 to 1; the bug's own rate by default.
    pub bug_rate: Option<f64>,
    /// The position in the history of the bug that occurs once, [`ObjectBug::WrongRead`]: from 0, the start, to 1. 0.9
    /// by default.
    pub bug_at: Option<f64>,
    /// Whether a nemesis cuts the network from time to time: meanwhile, a quarter of the requests get no answer. False
    /// by default.
    pub nemesis: bool,
}

/// The default position in the history of the bug that occurs once.
const BUG_AT: f64 = 0.9;

impl Objects {
    /// The defaults for an object.
    pub fn of(object: Object) -> Objects {
        Objects {
            object,
            ops: 1000,
            seed: 0,
            clients: 10,
            think_ns: 100_000,
            keyed: false,
            keys: object.default_keys(),
            ops_per_key: object.default_ops_per_key(),
            key_distribution: KeyDistribution::Uniform,
            values: object.default_values(),
            read_fraction: 0.5,
            cas_fraction: 0.5,
            put_fraction: 0.2,
            ops_per_txn_max: 3,
            // The default of checkers for a semaphore.
            permits: if object == Object::Semaphore { 1 } else { 2 },
            capacity: 32,
            empty_ok: false,
            fail_rate: 0.01,
            info_rate: 0.001,
            lost_rate: 0.0,
            bug: ObjectBug::None,
            bug_rate: None,
            bug_at: None,
            nemesis: false,
        }
    }

    pub(crate) fn load(&self) -> Load {
        Load {
            seed: self.seed,
            clients: self.clients,
            ops: self.ops,
            fail: Chance::new(self.fail_rate),
            info: Chance::new(self.info_rate),
            lost: Chance::new(self.lost_rate),
            nemesis: self.nemesis,
            // The next request is never at the instant of the answer, so that their order is unambiguous.
            think: Delay(1, (2 * self.think_ns).max(1)),
        }
    }

    /// The position in the history of the bug that occurs once.
    pub(crate) fn bug_at_or_default(&self) -> f64 {
        self.bug_at.unwrap_or(BUG_AT)
    }

    /// Checks that these parameters can be simulated.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn validate(&self) -> Result<(), ParameterError> {
        let object = self.object;
        check_count("ops", self.ops, 0, 1_000_000_000)?;
        check_count("clients", self.clients.into(), 1, 100_000)?;
        check_count("think_ns", self.think_ns, 0, 1_000_000_000_000)?;
        check_count("keys", self.keys.into(), 1, if object == Object::MultiRegister { 1000 } else { 1_000_000 })?;
        if self.keys > 1 && !self.keyed && !object.has_keys() {
            return refuse("keys", format!("keys is {}: more than one key needs keyed ops", self.keys));
        }
        if self.ops_per_key > 0 && !self.keyed && object != Object::Kv {
            return refuse("ops_per_key", "ops per key needs keyed ops");
        }
        if self.keyed && object.has_keys() {
            return refuse("keyed", format!("ops of a {object} have keys anyway"));
        }
        let (fewest, most) = object.values_range();
        check_count("values", self.values.into(), fewest.into(), most.into())?;
        check_rate("read_fraction", self.read_fraction)?;
        check_rate("cas_fraction", self.cas_fraction)?;
        check_rate("put_fraction", self.put_fraction)?;
        check_count("ops_per_txn_max", self.ops_per_txn_max.into(), 1, 1000)?;
        check_count("permits", self.permits.into(), 1, 1_000_000)?;
        check_count("capacity", self.capacity.into(), 1, 1_000_000)?;
        check_fates(self.fail_rate, self.info_rate, self.lost_rate)?;
        self.check_bug()?;
        self.key_distribution.check()
    }

    fn check_bug(&self) -> Result<(), ParameterError> {
        let (bug, object) = (self.bug, self.object);
        if !bug.is_of(object) {
            let those = ObjectBug::of(object).map(ObjectBug::name).collect::<Vec<_>>().join(", ");
            return refuse("bug", format!("{object} has no bug {bug}: expected one of {those}"));
        }
        if let Some(at) = self.bug_at {
            check_rate("bug_at", at)?;
            if bug != ObjectBug::WrongRead {
                return refuse("bug_at", format!("a position of the bug is given, but {bug} has no position"));
            }
        }
        let Some(rate) = self.bug_rate else { return Ok(()) };
        check_rate("bug_rate", rate)?;
        match bug {
            ObjectBug::None => refuse("bug_rate", "a bug rate is given without a bug"),
            ObjectBug::WrongRead => refuse("bug_rate", format!("a bug rate is given, but {bug} occurs exactly once")),
            _ => Ok(()),
        }
    }
}
