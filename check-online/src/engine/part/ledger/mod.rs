//! Collections decided by check-register's monitors where a search takes too long: queues, stacks and priority queues
//! into which no value is put twice, and sets.
//!
//! A ledger lists the operations of a collection, whoever decides what they mean. At first that is the search. Where
//! it holds many configurations ([`SEARCHED_MAX`]) it is given up, and from then on a monitor decides what the ledger
//! has: whenever its operations have become an eighth more, and at the end. So a violation is found somewhat later than
//! it happens, but the operation that is named is the same; what is said in between is that none was found so far.
//!
//! **What is known** of a history up to an event is what the operations that returned did. Those in flight may have
//! happened or not, and may have taken out anything. A history that is refused stays so, so the first event up to
//! which it is refused is found by bisection.
//!
//! What no later event can depend on is *settled*, and forgotten: see [`settled`] for values that are moved, and
//! [`sets`].

mod entry;
mod extract;
mod moved;
mod sets;
mod settled;

use crate::engine::ops::{OpIx, Seq};
use check_register::{Answer, Collection, Conflict, Handling, Outcome, Refusal};
use history_core::cast::Cast as _;
use moved::Moved;
use sets::Sets;

/// As many configurations may a search hold before it is given up for a monitor.
pub(crate) const SEARCHED_MAX: usize = 32;

/// As many may it hold at the most as long as a monitor can go on in its place.
pub(crate) const LEDGER_CONFIGURATIONS_MAX: usize = 1 << 12;

/// As many may a search hold that decides in between where no monitor can.
pub(crate) const FALLBACK_MAX: usize = 10_000;

/// Returns after which a ledger is settled at the soonest while a search decides.
const TIDY_MIN: usize = 64;

/// What was found out.
pub(crate) enum Verdict {
    Ok,
    Unknown,
    Violation(Contradiction),
}

/// Why what happened up to some event is not linearizable.
pub(crate) struct Contradiction {
    pub(crate) refused: OpIx,
    /// Operations that contradict each other; empty if only a search found that.
    pub(crate) conflict: Vec<OpIx>,
    /// Operations that were settled before.
    pub(crate) settled: u64,
}

/// The operations that are not settled.
pub(crate) enum Ledger {
    Moved(Moved),
    Sets(Sets),
}

impl Ledger {
    /// `None` if a collection with these contents has no ledger.
    pub(crate) fn new(collection: Collection, contents: &[i64], priority: impl Fn(i64) -> i64) -> Option<Ledger> {
        if collection == Collection::Set {
            return Some(Ledger::Sets(Sets::new(contents)));
        }
        if collection == Collection::Deque {
            return None;
        }
        Moved::new(collection, contents, priority).map(Ledger::Moved)
    }

    /// How much it holds, in operations.
    pub(crate) fn len(&self) -> usize {
        match self {
            Ledger::Moved(moved) => moved.len(),
            Ledger::Sets(sets) => sets.len(),
        }
    }

    /// The operations that it may speak of.
    pub(crate) fn ops(&self) -> impl Iterator<Item = OpIx> {
        let (moved, sets) = match self {
            Ledger::Moved(moved) => (Some(moved), None),
            Ledger::Sets(sets) => (None, Some(sets)),
        };
        moved.into_iter().flat_map(Moved::ops).chain(sets.into_iter().flat_map(Sets::ops))
    }

    /// Whether a value was put in while it may have been there. Only a search can decide what follows.
    pub(crate) fn is_repeated(&self) -> bool {
        matches!(self, Ledger::Moved(moved) if moved.is_repeated())
    }

    /// An operation is called. Whether a monitor can decide what there is. `priority` is that of what it puts in.
    pub(crate) fn call(&mut self, op: OpIx, seq: Seq, handling: Option<Handling<'_>>, priority: i64) -> bool {
        match self {
            Ledger::Moved(moved) => moved.call(op, seq, handling, priority),
            Ledger::Sets(sets) => sets.call(op, seq, handling),
        }
    }

    /// An operation returns, and did this. Whether the ledger can go on.
    pub(crate) fn complete(&mut self, op: OpIx, seq: Seq, handling: Option<Handling<'_>>) -> bool {
        match self {
            Ledger::Moved(moved) => moved.complete(op, seq, handling),
            Ledger::Sets(sets) => sets.complete(op, seq, handling),
        }
    }

    /// An operation did not happen.
    pub(crate) fn fail(&mut self, op: OpIx) -> bool {
        match self {
            Ledger::Moved(moved) => moved.fail(op),
            Ledger::Sets(sets) => sets.fail(op),
        }
    }

    /// It will not be known of an operation whether it happened; it may have done this. Whether the ledger can go on.
    pub(crate) fn crash(&mut self, op: OpIx, handling: Option<Handling<'_>>) -> bool {
        match self {
            Ledger::Moved(moved) => moved.crash(op, handling),
            Ledger::Sets(sets) => sets.crash(op, handling),
        }
    }

    /// Whether it is time to decide again, or to settle, with one more return.
    pub(crate) fn is_due(&mut self) -> bool {
        match self {
            Ledger::Moved(moved) => moved.is_due(),
            Ledger::Sets(sets) => sets.is_due(),
        }
    }

    /// Forgets what is settled. All that happened is linearizable.
    pub(crate) fn tidy(&mut self) {
        match self {
            Ledger::Moved(moved) => moved.tidy(),
            Ledger::Sets(sets) => sets.tidy(),
        }
    }

    /// What is known up to now; forgets what is settled. A search where no monitor can decide may hold so many
    /// configurations.
    pub(crate) fn decide(&mut self, configurations_max: usize) -> Verdict {
        match self {
            Ledger::Moved(moved) => moved.decide(configurations_max),
            Ledger::Sets(sets) => sets.decide(configurations_max),
        }
    }
}

/// The refusal of an answer, if it has one.
fn refusal(answer: Answer) -> Option<Refusal> {
    answer.parts.into_iter().find_map(|part| match part.outcome {
        Outcome::Refused(refusal) => Some(refusal),
        Outcome::Linearizable(_) | Outcome::Unknown(_) => None,
    })
}

/// The first of these returns up to which there is no linearization, and why. There is none up to the last one.
/// `refused` has the operations of an answer with it.
fn contradiction(
    mut returns: Vec<Seq>,
    settled: usize,
    refused: impl Fn(Seq) -> Option<(Vec<OpIx>, Refusal)>,
) -> Option<Contradiction> {
    returns.sort_unstable();
    let (mut good, mut bad) = (0, returns.len().saturating_sub(1));
    while good < bad {
        let middle = usize::midpoint(good, bad);
        if refused(returns[middle]).is_some() {
            bad = middle;
        } else {
            good = middle + 1;
        }
    }
    let (ops, refusal) = refused(*returns.get(bad)?)?;
    let conflict = refusal.conflict.as_ref().map(Conflict::operations).unwrap_or_default();
    let conflict = conflict.into_iter().map(|at| ops[at]).filter(|op| *op != OpIx::NONE).collect();
    Some(Contradiction { refused: ops[refusal.op], conflict, settled: settled.to_u64() })
}
