//! The number of an operation in flight.

/// An operation in flight. Slots are small numbers, used again once an operation is over.
pub(crate) type Slot = u32;
