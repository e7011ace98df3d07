//! What all checkers of transactions share: conversion of ops to columns, consequences of processes and time, verdicts
//! and explanations. A workload adds the meaning of its micro-ops: [`fold::Workload`] and [`analysis::Analysis`].

mod about;
pub(crate) mod analysis;
pub(crate) mod builder;
pub(crate) mod columns;
mod crowd;
pub(crate) mod expected;
pub(crate) mod explain;
mod figures;
pub(crate) mod fold;
pub(crate) mod mop;
pub(crate) mod online;
pub(crate) mod report;
mod standing;
pub(crate) mod time;
pub(crate) mod updates;

pub(crate) use about::about;
pub(crate) use columns::Txns;

use crate::graph::Graph;

/// The graph of a history, and whether it relates any two transactions.
#[derive(Debug, Default)]
pub(crate) struct TxnGraph {
    pub(crate) graph: Graph,
    pub(crate) is_empty: bool,
    /// Pairs of transactions whose only rw edge is that of a predicate, in ascending order.
    pub(crate) predicates: Vec<(u32, u32)>,
}
