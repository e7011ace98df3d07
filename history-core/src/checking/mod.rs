//! Checking: the interface of checkers, their input and their results; and checkers that run other checkers.

pub(crate) mod about;
mod branch;
pub(crate) mod budget;
pub(crate) mod checker;
pub(crate) mod compose;
pub(crate) mod coverage;
pub mod figure;
pub(crate) mod keyed;
pub(crate) mod options;
pub(crate) mod report;
#[cfg(feature = "serde")]
pub(crate) mod serialize;
pub mod share;
pub(crate) mod unread_keys;
pub(crate) mod unread_results;
