//! All checkers there are. A new one needs a line here and nothing else.

use check_elle::list_append::ListAppend;
use check_elle::rw_register::RwRegister;
use check_jepsen::bank::Bank;
use check_jepsen::comments::Comments;
use check_jepsen::counter::Counter;
use check_jepsen::long_fork::LongFork;
use check_jepsen::queue::Queue;
use check_jepsen::sequential::Sequential;
use check_jepsen::set::Set;
use check_jepsen::set_full::SetFull;
use check_jepsen::stats::Stats;
use check_jepsen::total_queue::TotalQueue;
use check_jepsen::unique_ids::UniqueIds;
use check_register::versioned_register::VersionedRegister;
use history_core::Checker;

/// The checkers, in the order in which they are listed.
pub(crate) fn checkers() -> Vec<Box<dyn Checker>> {
    let mut all: Vec<Box<dyn Checker>> =
        vec![Box::new(ListAppend::default()), Box::new(RwRegister::default()), Box::new(VersionedRegister::default())];
    all.extend(check_register::checkers());
    all.extend(jepsen());
    all
}

/// The checkers that histories are watched with: of objects those that know of a violation when it happens.
pub(crate) fn watchers() -> Vec<Box<dyn Checker>> {
    let mut watchers = checkers();
    for online in check_online::checkers() {
        if let Some(checker) = watchers.iter_mut().find(|checker| checker.name() == online.name()) {
            *checker = online;
        }
    }
    watchers
}

/// Jepsen's workloads.
fn jepsen() -> Vec<Box<dyn Checker>> {
    vec![
        Box::new(Bank::default()),
        Box::new(Counter::default()),
        Box::new(Set::default()),
        Box::new(SetFull::default()),
        Box::new(LongFork::default()),
        Box::new(Comments::default()),
        Box::new(Sequential::default()),
        Box::new(Queue::default()),
        Box::new(TotalQueue::default()),
        Box::new(UniqueIds::default()),
        Box::new(Stats::default()),
    ]
}
