//! What every just-in-time search for a linearization is made of, whether the history is complete or still being
//! written.
//!
//! A **configuration** is a state of the model, the set of operations in flight that were placed, and the uses of
//! crashed operations. This module holds the pieces that the batch search of this crate and the online search of
//! `check-online` share, so that there is one vocabulary and one place to correct: ids, [`rows`] of interned things,
//! [`uses`], [`paths`], [`steps`] of the model, and the [`index`] that finds a configuration in a set. It is public for
//! `check-online` only and may change in any release.
//!
//! Not shared, because they differ in kind:
//!
//! - The sets. The batch search knows how many operations are ever in flight at one time, so a mask is an array of
//!   fixed size inside the configuration. The online search does not, so its masks grow and are kept in a column of
//!   their own.
//! - The table of the model. The batch search has every operation beforehand and hides the model behind a `dyn`
//!   interface to be compiled once. The online search interns operations as they come, forgets them, and steps on
//!   several threads.
//! - The loops. The batch search knows who will see a crashed operation and until when, can be paused, and gives turns
//!   to other engines. The online search goes back to a checkpoint when a result becomes known, so it has to be copied
//!   cheaply.

pub mod ids;
pub mod index;
pub mod paths;
pub mod rows;
pub mod steps;
pub mod uses;

/// As many operations of one part may be in flight at one time.
pub const IN_FLIGHT_MAX: usize = 8_192;
