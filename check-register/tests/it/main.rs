//! Tests of linearizability: comparisons with trying all orders, and with the definition of each checker.

mod beam;
mod brute;
mod engines;
mod hidden;
mod laws;
mod nothing;
mod recorded;
mod slices;
mod timelines;
mod vacuous;
mod versioned_register;
