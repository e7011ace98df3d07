//! The workloads that Jepsen's users run, one a file: bank, counter, set and their kin.
//!
//! Nothing is here yet.
