//! Verifies exact decisions of levels: derivations that no order of commits satisfies a level, and orders that do.
//!
//! The certifier does not search for an order or a derivation; it verifies each as it is stated.

mod axiom;
mod derivation;
mod direct;
mod execution;

use crate::log::{Log, parts};
use crate::{Claim, Uncertified, claim, cycle};
use axiom::{Axiom, Level};
pub use execution::{Executed, Execution};
use history_core::{Datum, History, Witness};

/// Returns true if a witness contains a derivation.
pub(crate) fn is_derived(witness: &Witness) -> bool {
    witness.facts.iter().any(|(name, _)| name == "derivation")
}

/// Returns true for a derivation at read committed, which permits a read after an own write to return another's write.
pub(crate) fn is_of_read_committed(witness: &Witness) -> bool {
    witness.facts.contains(&("axiom".into(), Datum::keyword("read-committed")))
}

/// The kind of a history: lists if anything is appended.
pub(crate) fn holds_lists(history: &History) -> bool {
    let is_append = |mop: &Datum| parts(mop).is_some_and(|(f, ..)| f == "append");
    let mut values = (0..history.len()).map(|at| history.value(at).to_datum());
    values.any(|value| matches!(&value, Datum::Vector(mops) | Datum::List(mops) if mops.iter().any(is_append)))
}

/// Verifies a witness of the checker isolation, for a history of this kind.
pub(crate) fn certify(
    claims: &Claim<'_>,
    execution: impl FnOnce() -> Result<Execution, Uncertified>,
    anomaly: &str,
) -> Result<(), Uncertified> {
    if is_derived(claims.witness) {
        certify_derived(&execution()?, anomaly, claims.witness)
    } else {
        direct::certify(claims, anomaly)
    }
}

/// Verifies that a witness with a derivation proves that a level does not hold for an execution, and that the anomaly
/// has the correct name.
///
/// Its steps must be the cycle at the end of the derivation. O(steps · transactions).
///
/// # Errors
///
/// The first claim that does not follow from the execution and the steps before it.
pub fn derivation(execution: &Execution, anomaly: &str, witness: &Witness) -> Result<(), Uncertified> {
    certify_derived(execution, anomaly, witness)
}

fn certify_derived(execution: &Execution, anomaly: &str, witness: &Witness) -> Result<(), Uncertified> {
    let fact = |name: &str| {
        let fact = witness.facts.iter().find(|(fact, _)| fact == name).map(|(_, value)| value);
        fact.ok_or_else(|| Uncertified::new(format!("the witness does not state its {name}")))
    };
    let (axiom, base) = (fact("axiom")?, fact("base")?);
    let level = Level::of_facts(axiom, base);
    let level = level.ok_or_else(|| Uncertified::new(format!("{axiom} with {base} is no level")))?;
    let conclusion = derivation::certify(execution, level, fact("derivation")?)?;
    let cycle = &conclusion.cycle;
    claim(witness.steps.len() == cycle.len(), || "the steps are not those of the derivation".into())?;
    for (step, link) in witness.steps.iter().zip(cycle) {
        let index = |at: usize| witness.ops.get(at).map(|op| op.index);
        let is_same = (index(step.from), index(step.to)) == (Some(link.from), Some(link.to));
        claim(is_same && step.relation == link.name(), || format!("{link:?} is not among the steps"))?;
    }
    let has_rw = cycle.iter().any(derivation::Link::is_rw);
    let is_one_cycle = !conclusion.has_lemmas && !cycle.is_empty() && (has_rw || level.axiom == Axiom::ReadCommitted);
    if is_one_cycle {
        let relations: Vec<&str> = cycle.iter().map(derivation::Link::name).collect();
        cycle::certify_name(&relations, anomaly)
    } else {
        claim(anomaly == "no-commit-order", || format!("the derivation is not {anomaly}"))
    }
}

/// Checks that an order of commits explains a history at a level, by the definition of the level.
///
/// `order` has a line for each moment: `begin 3` and `commit 3`, or `3` for both, with the indices of ops. `initial` is
/// the initial value of registers. O(n³) in the number of transactions.
///
/// # Errors
///
/// Where the order does not explain the history.
///
/// ```
/// use elle_certify::commit_order;
/// use history_core::{Datum, History};
///
/// // Each misses what the other wrote.
/// let history = History::parse("
///     {:process 0, :type :ok, :f :txn, :value [[:r :x nil] [:w :y 2]]}
///     {:process 1, :type :ok, :f :txn, :value [[:r :y nil] [:w :x 1]]}
/// ")?;
/// let snapshots = "begin 0\nbegin 1\ncommit 0\ncommit 1";
/// assert_eq!(commit_order(&history, &Datum::Nil, "snapshot-isolation", snapshots), Ok(()));
/// let error = commit_order(&history, &Datum::Nil, "serializable", "0\n1").unwrap_err();
/// assert_eq!(error.to_string(), "op 1 does not see what op 0 wrote to key :y");
/// # Ok::<(), history_core::HistoryError>(())
/// ```
pub fn commit_order(history: &History, initial: &Datum, level: &str, order: &str) -> Result<(), Uncertified> {
    explains(&Execution::of(history, initial)?, level, order)
}

/// The same, of an execution.
///
/// # Errors
///
/// Where the order does not explain it.
pub fn explains(execution: &Execution, level: &str, order: &str) -> Result<(), Uncertified> {
    let level = Level::named(level).ok_or_else(|| Uncertified::new(format!("{level} has no axiom")))?;
    axiom::certify_order(execution, level, order)
}

impl Execution {
    /// The execution of a history of registers, whose initial value is `initial`, or of lists.
    ///
    /// # Errors
    ///
    /// If a read shows a value that is not the final write of exactly one transaction, or contradicts the transaction's
    /// own writes.
    pub fn of(history: &History, initial: &Datum) -> Result<Execution, Uncertified> {
        if holds_lists(history) {
            return Execution::of_lists(&Log::of(history, &crate::Lists)?);
        }
        let sources = crate::Sources { initial: initial.clone(), ..crate::Sources::default() };
        Execution::of_registers(&Log::of(history, &crate::Registers { sources: &sources })?, &sources, false)
    }
}
