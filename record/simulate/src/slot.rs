//! The number of an operation in flight.

/// An operation in flight. Slots are small numbers, which are reused once an operation has ended.
pub(crate) type Slot = u32;
