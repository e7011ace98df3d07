//! check-jepsen as a plugin: Jepsen's workloads, for a histcheck that was built without them.

use check_jepsen::{
    bank, comments, counter, long_fork, queue, sequential, set, set_full, stats, total_queue, unique_ids,
};

histcheck_plugin::export_checkers![
    bank::Bank::default(),
    counter::Counter::default(),
    set::Set::default(),
    set_full::SetFull::default(),
    long_fork::LongFork::default(),
    comments::Comments::default(),
    sequential::Sequential::default(),
    queue::Queue::default(),
    total_queue::TotalQueue::default(),
    unique_ids::UniqueIds::default(),
    stats::Stats::default(),
];
