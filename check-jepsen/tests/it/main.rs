//! Compares every workload with its definition.

mod adya_g2;
mod bank;
mod causal;
mod comments;
mod common;
mod counter;
mod differences;
mod final_counter;
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
mod undecoded;
mod unhandled_exceptions;
mod unique_ids;
mod unpaired;
mod unrecorded;
mod vacuous;
