//! libhistcheck: checking and watching histories from C. The functions are in `exports`, and `include/histcheck.h`
//! declares them.
//!
//! No panic leaves a function: it becomes an error result. All texts are UTF-8.

mod exports;
mod outcome;
mod settings;
mod stream;

pub use exports::*;
pub use outcome::{HISTCHECK_ERROR, HISTCHECK_INVALID, HISTCHECK_UNKNOWN, HISTCHECK_VALID, HistcheckResult};
pub use stream::HistcheckStream;
