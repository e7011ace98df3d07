//! Exact isolation levels: does an execution of a level exist that explains a history of transactions?
//!
//! Transactions read and write registers, and each value is written once to a key, so every read determines its writer.
//! The order in which the versions of a key replaced each other is unknown. A level holds if **some** order of the
//! transactions satisfies its [`Axiom`]; this crate finds one, or derives that there is none.
//!
//! [`Isolation`] is the checker. It calls [`decide()`] for each level, whose input is the columns of [`Transactions`].

#![cfg_attr(docsrs, feature(doc_cfg))]

mod base;
mod chains;
mod checker;
mod csr;
mod decide;
mod decode;
mod evidence;
mod ids;
mod level;
mod relax;
mod report;
mod strong;
mod timestamps;
mod transactions;
mod weak;

pub use checker::Isolation;
pub use decide::{decide, serial_order};
pub use evidence::{Because, Before, Fact, Item, Lemma, Link, Moment, Order, Outcome, Refutation, Relation, Undecided};
pub use ids::{KeyId, TxnId};
pub use level::{Axiom, Base, Level, Levels, UnknownLevel};
pub use report::{NO_COMMIT_ORDER, Recorded};
pub use transactions::{KnownOrder, NewTxn, Read, Transactions};

/// All checkers of this crate, in the order of lists.
pub fn checkers() -> Vec<Box<dyn history_core::Checker>> {
    vec![Box::new(Isolation::default())]
}

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
