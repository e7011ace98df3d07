//! A run in progress: the input from its checker and its clients ([`news`]), the stored state ([`board`]), and the
//! output to pages ([`frame`]).
//!
//! The checker never waits for a page. It stores its news in a place that a task of the server empties twice a second.
//! The task creates one text for all pages outside of the lock. A slow page gets the latest update, not each of them.

pub(crate) mod board;
mod frame;
mod latencies;
mod meter;
mod news;
mod series;

pub use latencies::Latencies;
pub use meter::Meter;
pub use news::{Live, LiveAbout, LiveEnd, LiveFault, LiveTick, LiveViolation};
