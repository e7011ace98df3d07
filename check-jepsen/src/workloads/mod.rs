//! The workloads, one per module. The modules outside this folder are shared by several of them.

pub mod adya_g2;
pub mod bank;
pub mod causal;
pub mod comments;
pub mod counter;
pub mod final_counter;
pub mod long_fork;
pub mod queue;
pub mod sequential;
pub mod set;
pub mod set_full;
pub mod stats;
pub mod total_queue;
pub mod unhandled_exceptions;
pub mod unique_ids;
