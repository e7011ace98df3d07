//! The workloads, one a module. The modules beside this folder are what several of them share.

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
