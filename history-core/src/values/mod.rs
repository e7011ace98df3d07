//! Values: what ops, options and reports hold, owned or read from the tape that a reader fills.

pub(crate) mod datum;
pub(crate) mod tape;
pub(crate) mod value;
