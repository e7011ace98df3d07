//! Collections decided by check-register's engines for whole histories where a search event by event takes too long:
//! queues, stacks, deques, priority queues and sets.
//!
//! A ledger lists the operations of a collection, whoever decides what they mean. At first that is the search. Where
//! it holds many configurations it is given up, and from then on the ledger is decided as a history of its own:
//! whenever its operations have become an eighth more, and at the end. So a violation is found somewhat later than it
//! happens, but the operation that is named is the same; what is said in between is that none was found so far.
//!
//! Where a monitor is sure to decide (no value is put in twice, and it is no deque) that is soon ([`SEARCHED_MAX`]).
//! Else check-register may have to search, too; it knows what comes, and so often finds an order that a search event by
//! event does not, but begins anew each time. So that is given up late ([`HELD_MAX`]).
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

use crate::Reason;
use crate::engine::ops::{OpIx, Seq};
use check_register::{Answer, Collection, Conflict, Handling, Outcome, Refusal};
use history_core::Budget;
use history_core::cast::Cast as _;
use moved::Moved;
use sets::Sets;

/// As many configurations may a search hold before it is given up for a monitor.
pub(crate) const SEARCHED_MAX: usize = 32;

/// As many may it hold at the most as long as a monitor can go on in its place.
pub(crate) const LEDGER_CONFIGURATIONS_MAX: usize = 1 << 12;

/// As many may it hold at the most where the ledger may have to be searched, too.
pub(crate) const HELD_MAX: usize = 1 << 16;

/// As many operations may a ledger have that is not settled while the search goes on.
pub(crate) const KEPT_MAX: usize = 1 << 17;

/// As many may a search of the ledger hold that decides in between.
pub(crate) const FALLBACK_MAX: usize = 10_000;

/// Returns after which a ledger is settled at the soonest while a search decides.
const TIDY_MIN: usize = 64;

/// What was found out.
pub(crate) enum Verdict {
    Ok,
    Unknown(Reason),
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

/// What is known of an operation as it is called.
#[derive(Clone, Copy, Default)]
pub(crate) struct Called<'a> {
    pub(crate) handling: Option<Handling<'a>>,
    /// Of what it puts in.
    pub(crate) priority: i64,
    /// Whether it acts at the front, if there are two ends.
    pub(crate) is_front: bool,
}

/// The operations that are not settled.
pub(crate) enum Ledger {
    Moved(Moved),
    Sets(Sets),
}

impl Ledger {
    /// Of a collection with these contents.
    pub(crate) fn new(collection: Collection, contents: &[i64], priority: impl Fn(i64) -> i64) -> Ledger {
        match collection {
            Collection::Set => Ledger::Sets(Sets::new(contents)),
            _ => Ledger::Moved(Moved::new(collection, contents, priority)),
        }
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

    /// Whether a monitor may not decide it, but only a search.
    pub(crate) fn may_be_searched(&self) -> bool {
        matches!(self, Ledger::Moved(moved) if moved.may_be_searched())
    }

    /// An operation is called. Whether the ledger can go on.
    pub(crate) fn call(&mut self, op: OpIx, seq: Seq, called: Called<'_>) -> bool {
        let handling = called.handling;
        match self {
            Ledger::Moved(moved) => moved.call(op, seq, called),
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
    /// configurations, and all of it take so much.
    pub(crate) fn decide(&mut self, configurations_max: usize, budget: &Budget) -> Verdict {
        match self {
            Ledger::Moved(moved) => moved.decide(configurations_max, budget),
            Ledger::Sets(sets) => sets.decide(configurations_max, budget),
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

/// Why an answer that is not known is not.
fn unknown(answer: &Answer) -> Reason {
    let spent = answer.parts.iter().find_map(|part| match part.outcome {
        Outcome::Unknown(check_register::Reason::Spent(spent)) => Some(spent),
        _ => None,
    });
    spent.map_or(Reason::Full, Reason::Spent)
}

/// The first of these returns up to which there is no linearization, and why. There is none up to the last one.
/// `is_refused` says so of what is known up to an event; `refused` says which operation is, and has all that were asked
/// about with it.
fn contradiction(
    mut returns: Vec<Seq>,
    settled: usize,
    is_refused: impl Fn(Seq) -> bool,
    refused: impl Fn(Seq) -> Option<(Vec<OpIx>, Refusal)>,
) -> Option<Contradiction> {
    returns.sort_unstable();
    let (mut good, mut bad) = (0, returns.len().saturating_sub(1));
    while good < bad {
        let middle = usize::midpoint(good, bad);
        if is_refused(returns[middle]) {
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
