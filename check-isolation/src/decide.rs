//! Decides one level of one history: the entry point of this crate.

use crate::evidence::{Order, Outcome, Undecided};
use crate::level::{Axiom, Base, Level};
use crate::transactions::Transactions;
use crate::{strong, weak};
use history_core::Budget;

/// Decides whether some order explains the transactions at a level.
///
/// Levels up to causal take time linear in the history and the number of sessions, with an exponent of 1.5 for the
/// number of keys that transactions have in common. The others are NP-complete; for the methods see the module
/// `strong`. The budget's states are steps: joins of clocks, one for each chain, and examined writers. A level without
/// an axiom is [`Undecided::NoAxiom`].
pub fn decide(txns: &Transactions, level: Level, budget: &Budget) -> Outcome {
    match level.decided_by() {
        None => Outcome::Unknown(Undecided::NoAxiom),
        Some((Axiom::Causal, base)) => causal(txns, base, budget),
        Some((axiom, base)) if axiom < Axiom::Causal => weak::decide(txns, axiom, base, budget),
        Some((axiom, base)) => strong::decide(txns, axiom, base, budget),
    }
}

/// A serial order of the transactions that explains them and extends a base, if one is near the order of completions:
/// found in time linear in the history, where [`decide()`] would continue to search. `None` proves nothing.
pub fn serial_order(txns: &Transactions, base: Base, budget: &Budget) -> Option<Order> {
    strong::serial(txns, base, budget)
}

/// Decides causal consistency. If a few transactions violate the order of their sessions there are many chains, but
/// usually an order of a stronger level.
fn causal(txns: &Transactions, base: Base, budget: &Budget) -> Outcome {
    weak::by_stronger_base(txns, Axiom::Causal, base, budget)
        .or_else(|| strong::guess(txns, base, budget).map(Outcome::Holds))
        .unwrap_or_else(|| weak::decide_itself(txns, Axiom::Causal, base, budget))
}
