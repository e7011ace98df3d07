//! Certifies a witness: each of its claims is derived again from the history, by definition, in the simplest way.
//!
//! The certifier shares no code with the inference of edges or the search for cycles, so that an error there cannot
//! hide an error here. Every test that finds an anomaly certifies it. "Certifying algorithms" (Computer Science Review
//! 5, 2011).
//!
//! The definition of a cycle, and the order of processes and of real time, are the same for all workloads. What their
//! reads and writes show about versions is not: it is defined in `lists` and `registers`.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod cycle;
mod decode;
mod direct;
mod exists;
mod isolation;
mod lists;
mod log;
mod registers;
mod workload;

use history_core::{Datum, History, Witness};
pub use isolation::{Executed, Execution, commit_order, derivation, explains};
use lists::Lists;
use log::{Log, Txn};
use registers::Registers;
pub use registers::Sources;
use std::fmt;
use workload::Workload;

/// Why a witness proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncertified {
    /// The step of a cycle that fails, as a position in [`Witness::steps`].
    pub step: Option<usize>,
    /// The reason, as a sentence without its full stop.
    pub reason: String,
}

impl Uncertified {
    fn new(reason: impl Into<String>) -> Uncertified {
        Uncertified { step: None, reason: reason.into() }
    }
}

impl fmt::Display for Uncertified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(step) = self.step {
            write!(f, "step {step}: ")?;
        }
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Uncertified {}

/// Checks that a witness of list-append proves, by definition, that an anomaly is in a history.
///
/// The witness's ops, steps and facts are verified; its explanation is not.
///
/// O(ops of the history, for each step and fact), and as much memory as the history.
///
/// # Errors
///
/// If some claim does not follow from the history, if the claims do not amount to the anomaly, or if it is ambiguous
/// because the history is not a list-append history.
///
/// ```
/// use elle_certify as certify;
/// use history_core::{Client, Datum, History, OpKind, Witness, WitnessOp};
///
/// let history = History::parse("
///     {:process 0, :type :fail, :f :txn, :value [[:append 7 1]]}
///     {:process 1, :type :ok,   :f :txn, :value [[:r 7 [1]]]}
/// ")?;
/// let op = |at: usize| WitnessOp {
///     name: format!("T{at}"),
///     index: at as u64,
///     process: Client::of(&history.op(at)),
///     kind: history.op(at).kind,
///     time_ns: None,
///     value: history.op(at).value.to_datum(),
/// };
/// let mop = Datum::Vector(vec![Datum::keyword("r"), 7.into(), Datum::Vector(vec![1.into()])]);
/// let facts = vec![("key".into(), 7.into()), ("element".into(), 1.into()), ("mop".into(), mop)];
/// let witness = Witness::new(vec![op(1), op(0)], "").with_facts(facts);
///
/// assert_eq!(certify::list_append(&history, "G1a", &witness), Ok(()));
/// let error = certify::list_append(&history, "G1b", &witness).unwrap_err();
/// assert_eq!(error.to_string(), "op 0 did not overwrite 1 of key 7 later");
/// # Ok::<(), history_core::HistoryError>(())
/// ```
pub fn list_append(history: &History, anomaly: &str, witness: &Witness) -> Result<(), Uncertified> {
    let log = Log::of(history, &Lists)?;
    let claim = Claim { log: &log, workload: &Lists, txns: log.all_described(witness, &Lists)?, witness };
    match anomaly {
        _ if isolation::is_derived(witness) => derivation(&Execution::of_lists(&log)?, anomaly, witness),
        "internal" => lists::internal(&claim),
        "dirty-update" => lists::dirty_update(&claim),
        "duplicate-elements" => lists::duplicate_elements(&claim),
        "incompatible-order" => lists::incompatible_order(&claim),
        "cyclic-versions" => lists::cyclic_versions(&claim),
        _ => certify_common(&claim, anomaly),
    }
}

/// Verifies that a witness of rw-register proves, by definition, that an anomaly is in a history, if the requested
/// sources of version orders hold.
///
/// As in [`list_append`], the witness's explanation is not verified. A step by ww or rw must rest on one edge between
/// versions that one of the sources in use gives, not on several.
///
/// O(ops² of the history, for each step and fact), and as much memory for its versions.
///
/// # Errors
///
/// If some claim does not follow from the history, if the claims do not amount to the anomaly, or if it is ambiguous
/// because the history is not a rw-register history.
///
/// ```
/// use elle_certify::{self as certify, Sources};
/// use history_core::{Client, Datum, History, Step, Witness, WitnessOp};
///
/// // Each overwrote what the other read.
/// let history = History::parse("
///     {:process 0, :type :ok, :f :txn, :value [[:r :x nil] [:w :y 2]]}
///     {:process 1, :type :ok, :f :txn, :value [[:r :y nil] [:w :x 1]]}
/// ")?;
/// let op = |at: usize| WitnessOp {
///     name: format!("T{at}"),
///     index: at as u64,
///     process: Client::of(&history.op(at)),
///     kind: history.op(at).kind,
///     time_ns: None,
///     value: history.op(at).value.to_datum(),
/// };
/// let step = |from: usize, key: &str, next: i64| {
///     let key = Datum::keyword(key);
///     Step::new(from, 1 - from, "rw", "").with_versions(Some(key), Some(Datum::Nil), Some(next.into()))
/// };
/// let steps = vec![step(0, "x", 1), step(1, "y", 2)];
/// let witness = Witness::new(vec![op(0), op(1)], "").with_steps(steps);
///
/// assert_eq!(certify::rw_register(&history, &Sources::default(), "G2-item", &witness), Ok(()));
/// let error = certify::rw_register(&history, &Sources::default(), "G0", &witness).unwrap_err();
/// assert_eq!(error.to_string(), "a cycle of rw, rw is not G0");
/// # Ok::<(), history_core::HistoryError>(())
/// ```
pub fn rw_register(history: &History, sources: &Sources, anomaly: &str, witness: &Witness) -> Result<(), Uncertified> {
    let registers = Registers { sources };
    let log = Log::of(history, &registers)?;
    registers::refuse_ambiguous_reads(&log, sources)?;
    let txns = log.all_described(witness, &registers)?;
    let claim = Claim { log: &log, workload: &registers, txns, witness: &registers.translated(witness) };
    match anomaly {
        _ if isolation::is_derived(witness) => {
            let lets_internal = isolation::is_of_read_committed(witness);
            derivation(&Execution::of_registers(&log, sources, lets_internal)?, anomaly, witness)
        }
        "internal" => registers::internal(&claim),
        "cyclic-versions" => registers::cyclic_versions(&claim, sources),
        _ => certify_common(&claim, anomaly),
    }
}

/// Verifies that a witness of the checker isolation proves, by definition, that an anomaly is in a history of
/// registers, whose initial value is `initial`, or of lists: a derivation that no order of commits satisfies a level,
/// or an anomaly that does not depend on the order.
///
/// As with [`list_append`], the witness's prose is not checked.
///
/// # Errors
///
/// If some claim does not follow from the history and the claims before it, or if they do not amount to the anomaly.
///
/// ```
/// use check_isolation::Isolation;
/// use history_core::{Checker, Datum, History};
///
/// // Either order of 1 and 2 contradicts one of the last two reads.
/// let history = History::parse("
///     {:process 0, :type :ok, :value [[:w :x 1] [:w :y 1]]}
///     {:process 1, :type :ok, :value [[:w :x 2] [:w :y 2]]}
///     {:process 2, :type :ok, :value [[:r :x 1] [:r :y 2]]}
/// ")?;
/// let report = Isolation::default().check(&history)?;
/// for anomaly in &report.anomalies {
///     for witness in &anomaly.witnesses {
///         elle_certify::isolation(&history, &Datum::Nil, &anomaly.name, witness)
///             .expect("a witness that proves its anomaly");
///     }
/// }
/// # Ok::<(), history_core::HistoryError>(())
/// ```
pub fn isolation(history: &History, initial: &Datum, anomaly: &str, witness: &Witness) -> Result<(), Uncertified> {
    if isolation::holds_lists(history) {
        let log = Log::of(history, &Lists)?;
        let claim = Claim { log: &log, workload: &Lists, txns: log.all_described(witness, &Lists)?, witness };
        return isolation::certify(&claim, || Execution::of_lists(&log), anomaly);
    }
    let sources = Sources { initial: initial.clone(), ..Sources::default() };
    let registers = Registers { sources: &sources };
    let log = Log::of(history, &registers)?;
    registers::refuse_ambiguous_reads(&log, &sources)?;
    let txns = log.all_described(witness, &registers)?;
    let claim = Claim { log: &log, workload: &registers, txns, witness };
    isolation::certify(&claim, || Execution::of_registers(&log, &sources, false), anomaly)
}

/// Verifies the anomalies with the same definition in all workloads.
fn certify_common(claim: &Claim<'_>, anomaly: &str) -> Result<(), Uncertified> {
    if let Some(model) = anomaly.strip_suffix("-cycle-exists") {
        return exists::certify(claim, model);
    }
    match anomaly {
        "G1a" => direct::g1a(claim),
        "G1b" => direct::g1b(claim),
        "future-read" => direct::future_read(claim),
        "garbage-read" => direct::garbage_read(claim),
        "lost-update" => direct::lost_update(claim),
        _ => cycle::certify(claim, anomaly),
    }
}

/// The claims of a witness, and the data to verify them.
struct Claim<'a> {
    log: &'a Log,
    workload: &'a dyn Workload,
    /// The transactions of the witness's ops.
    txns: Vec<&'a Txn>,
    witness: &'a Witness,
}

impl<'a> Claim<'a> {
    fn fact(&self, name: &str) -> Result<&'a Datum, Uncertified> {
        let fact = self.witness.facts.iter().find(|(fact, _)| fact == name).map(|(_, value)| value);
        fact.ok_or_else(|| Uncertified::new(format!("the witness does not state its {name}")))
    }

    /// The elements of a fact that must be a vector.
    fn list(&self, name: &str) -> Result<&'a [Datum], Uncertified> {
        match self.fact(name)? {
            Datum::Vector(items) | Datum::List(items) => Ok(items),
            other => Err(Uncertified::new(format!("the witness's {name} is not a vector: {other}"))),
        }
    }

    /// The witness's transactions, if it has the right number.
    fn txns<const N: usize>(&self) -> Result<[&'a Txn; N], Uncertified> {
        let got = self.txns.len();
        <[&Txn; N]>::try_from(&self.txns[..])
            .map_err(|_| Uncertified::new(format!("expected {N} ops in the witness, found {got}")))
    }
}

/// Fails with a sentence unless a claim holds.
fn claim(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Uncertified> {
    if holds { Ok(()) } else { Err(Uncertified::new(otherwise())) }
}

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
