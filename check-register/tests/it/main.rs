//! Linearizability, tested against trying all orders, and against what the words of each checker mean.

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
