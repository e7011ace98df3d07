//! Values of ops, options and reports: owned, or read from the tape that a reader fills.

pub(crate) mod datum;
pub(crate) mod tape;
pub(crate) mod value;
