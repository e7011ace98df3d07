//! The common parts of every just-in-time search for a linearization, whether the history is complete or still being
//! written.
//!
//! A **configuration** is a state of the model, the set of operations in flight that were placed, and the uses of
//! crashed operations. This module contains the parts that the batch search of this crate and the online search of
//! `check-online` share, so that there is one vocabulary and one place for corrections: ids, [`rows`] of interned
//! values, [`uses`], [`paths`], [`steps`] of the model, and the [`index`] that finds a configuration in a set. It is
//! public for `check-online` only and may change in any release.
//!
//! Not shared, because they differ in kind:
//!
//! - The sets. In the batch search the maximum number of operations in flight is known, so a mask is an array of fixed
//!   size inside the configuration. In the online search it is not, so masks grow and are stored in a separate column.
//! - The table of the model. The batch search has every operation beforehand and uses the model through a `dyn`
//!   interface, to be compiled once. The online search interns operations as they arrive, discards them, and computes
//!   steps on several threads.
//! - The loops. In the batch search it is known which operations observe a crashed operation and until when; it can be
//!   paused, and alternates with other engines. The online search returns to a checkpoint when a result becomes known,
//!   so copying it must be cheap.

pub mod ids;
pub mod index;
pub mod paths;
pub mod rows;
pub mod steps;
pub mod uses;

/// The maximum number of operations of one part in flight at the same time.
pub const IN_FLIGHT_MAX: usize = 8_192;
