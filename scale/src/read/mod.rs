//! Reads a history: where its bytes are, whether and how they can be divided into ranges, and the ops of one range or
//! of all.

#[cfg(feature = "objects")]
pub(crate) mod objects;
pub(crate) mod part;
pub(crate) mod place;
pub(crate) mod plan;
pub(crate) mod ranges;
pub(crate) mod whole;
