//! Histories of a real store under faults.
//!
//! Nothing is here yet.
