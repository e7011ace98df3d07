//! Every workload against its definition.

mod bank;
mod comments;
mod common;
mod counter;
mod differences;
mod hostile;
mod long_fork;
mod queue;
mod sequential;
mod set;
mod set_full;
mod simulated;
mod so_far;
mod stats;
mod total_queue;
mod unique_ids;
mod vacuous;
