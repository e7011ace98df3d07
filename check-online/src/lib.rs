//! The verdict while the history is still being written.
//!
//! Nothing is here yet.
