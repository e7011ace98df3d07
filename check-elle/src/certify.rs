//! Certifying a witness: each of its claims is derived once more from the history, by definition, slowly and plainly.
//!
//! Nothing here is shared with the inference of edges or the search for cycles, so that an error there cannot hide an error
//! here. Every test that finds an anomaly certifies it. "Certifying algorithms" (Computer Science Review 5, 2011).

mod cycle;
mod direct;
mod exists;
mod log;
mod order;

use history_core::{Datum, History, Witness};
use log::{Log, Txn};
use std::fmt;

/// Why a witness proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncertified {
    /// The step of a cycle that fails, as a position in [`Witness::steps`].
    pub step: Option<usize>,
    /// What is wrong, as a sentence without its full stop.
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
/// What is checked are the witness's ops, steps and facts; its prose is not.
///
/// O(ops of the history, for each step and fact), and as much memory as the history.
///
/// # Errors
///
/// If some claim does not follow from the history, if the claims do not amount to the anomaly, or if nobody can tell because
/// the history is no list-append history.
///
/// ```
/// use check_elle::certify::certify;
/// use history_core::{Datum, History, OpKind, Witness, WitnessOp};
///
/// let history = History::parse("
///     {:process 0, :type :fail, :f :txn, :value [[:append 7 1]]}
///     {:process 1, :type :ok,   :f :txn, :value [[:r 7 [1]]]}
/// ")?;
/// let op = |at: usize| WitnessOp {
///     name: format!("T{at}"),
///     index: at as u64,
///     process: Some(at as i64),
///     kind: history.op(at).kind,
///     time_ns: None,
///     value: history.op(at).value.to_datum(),
/// };
/// let mop = Datum::Vector(vec![Datum::keyword("r"), 7.into(), Datum::Vector(vec![1.into()])]);
/// let facts = vec![("key".into(), 7.into()), ("element".into(), 1.into()), ("mop".into(), mop)];
/// let witness = Witness { ops: vec![op(1), op(0)], facts, ..Witness::default() };
///
/// assert_eq!(certify(&history, "G1a", &witness), Ok(()));
/// let error = certify(&history, "G1b", &witness).unwrap_err();
/// assert_eq!(error.to_string(), "op 0 did not overwrite 1 of key 7 later");
/// # Ok::<(), history_core::HistoryError>(())
/// ```
pub fn certify(history: &History, anomaly: &str, witness: &Witness) -> Result<(), Uncertified> {
    let log = Log::of(history)?;
    let claim = Claim { log: &log, txns: txns(&log, witness)?, witness };
    if let Some(model) = anomaly.strip_suffix("-cycle-exists") {
        return exists::certify(&claim, model);
    }
    match anomaly {
        "G1a" => direct::g1a(&claim),
        "G1b" => direct::g1b(&claim),
        "internal" => direct::internal(&claim),
        "future-read" => direct::future_read(&claim),
        "dirty-update" => direct::dirty_update(&claim),
        "lost-update" => direct::lost_update(&claim),
        "duplicate-elements" => direct::duplicate_elements(&claim),
        "incompatible-order" => direct::incompatible_order(&claim),
        _ => cycle::certify(&claim, anomaly),
    }
}

/// What a witness claims, and what its claims are held against.
struct Claim<'a> {
    log: &'a Log,
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
            other => Err(Uncertified::new(format!("the witness's {name}, {other}, is no vector"))),
        }
    }

    /// The witness's transactions, if there are as many as there should be.
    fn txns<const N: usize>(&self) -> Result<[&'a Txn; N], Uncertified> {
        let got = self.txns.len();
        <[&Txn; N]>::try_from(&self.txns[..])
            .map_err(|_| Uncertified::new(format!("the witness names {got} ops, where {N} belong")))
    }
}

/// The transactions that a witness names, if it describes them as the history does.
fn txns<'a>(log: &'a Log, witness: &Witness) -> Result<Vec<&'a Txn>, Uncertified> {
    witness.ops.iter().map(|op| log.described(op)).collect()
}

/// Fails with a sentence unless a claim holds.
fn claim(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Uncertified> {
    if holds { Ok(()) } else { Err(Uncertified::new(otherwise())) }
}
