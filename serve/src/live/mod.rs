//! A run while it goes on: what its judge and its clients bring ([`news`]), what is kept of it ([`board`]), and what
//! pages get ([`frame`]).
//!
//! The judge never waits for a page. It leaves what is new in a place that a task of the server empties twice a second,
//! to make one piece of text for all pages outside of the lock. A page that is slow gets the latest piece, and not each
//! of them.

pub(crate) mod board;
mod frame;
mod latencies;
mod meter;
mod news;
mod series;

pub use latencies::Latencies;
pub use meter::Meter;
pub use news::{Live, LiveAbout, LiveEnd, LiveFault, LiveTick, LiveViolation};
