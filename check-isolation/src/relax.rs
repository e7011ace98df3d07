//! Uses sessions to decide a level without them, as far as nothing contradicts them.
//!
//! Without a base the graph has thousands of short chains, with sessions a few long ones. Most stores obey the order of
//! sessions except for a few transactions. So these transactions are removed from their sessions, and the level is
//! decided with the rest. An order that explains the history with these sessions also explains it without them, and a
//! derivation that uses none of them refutes the level. A derivation that uses some of them determines the next
//! transactions to remove.

use crate::evidence::{Because, Item, Link, Outcome, Refutation, Relation};
use crate::ids::TxnId;
use crate::level::Base;
use crate::transactions::Transactions;

/// The maximum number of times that transactions are removed because they read old versions in their sessions.
const STALE_ROUNDS_MAX: usize = 8;
/// The maximum number of derivations that determine transactions to remove.
const ROUNDS_MAX: usize = 64;

/// Decides a level without a base by way of sessions, if that succeeds. `misplaced` are removed from their sessions at
/// the start. `stale_readers` finds transactions that contradict their sessions; `alone` decides the level with all
/// remaining sessions.
pub(crate) fn decide(
    txns: &Transactions,
    misplaced: &[TxnId],
    stale_readers: impl Fn(&Transactions) -> Vec<TxnId>,
    alone: impl Fn(&Transactions) -> Outcome,
) -> Option<Outcome> {
    let mut soft = txns.clone();
    for txn in misplaced {
        soft.isolate(*txn);
    }
    for _ in 0..STALE_ROUNDS_MAX {
        let stale = stale_readers(&soft);
        if stale.is_empty() {
            break;
        }
        for txn in stale {
            soft.isolate(txn);
        }
    }
    for _ in 0..ROUNDS_MAX {
        match alone(&soft) {
            Outcome::Violated(refutation) if refutation.is_complete => {
                let used = session_links(&refutation);
                if used.is_empty() {
                    return Some(Outcome::Violated(Box::new(Refutation { base: Base::None, ..*refutation })));
                }
                for txn in used {
                    soft.isolate(txn);
                }
            }
            Outcome::Holds(order) => return Some(Outcome::Holds(order)),
            Outcome::Violated(_) | Outcome::Unknown(_) => return None,
        }
    }
    None
}

/// The later transactions of all session steps in a derivation.
fn session_links(refutation: &Refutation) -> Vec<TxnId> {
    let mut found = Vec::new();
    let mut look = |links: &[Link]| {
        found.extend(links.iter().filter(|link| link.relation == Relation::Session).map(|link| link.to));
    };
    look(&refutation.cycle);
    for item in &refutation.items {
        let facts = match item {
            Item::Fact(fact) => std::slice::from_ref(fact),
            Item::Lemma(lemma) => {
                look(&lemma.cycle);
                &lemma.facts[..]
            }
        };
        for fact in facts {
            match &fact.because {
                Because::Visible { path, .. } | Because::Inevitable { path } | Because::Replaced { path, .. } => {
                    look(path);
                }
                Because::Lemma(_) => {}
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
