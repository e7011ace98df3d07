//! All checkers by name, as the program has them.

use history_core::Checker;

pub(crate) fn checkers() -> Vec<Box<dyn Checker>> {
    let mut all: Vec<Box<dyn Checker>> = vec![
        Box::new(check_elle::list_append::ListAppend::default()),
        Box::new(check_elle::rw_register::RwRegister::default()),
        Box::new(check_register::versioned_register::VersionedRegister::default()),
        Box::new(check_jepsen::bank::Bank::default()),
        Box::new(check_jepsen::counter::Counter::default()),
        Box::new(check_jepsen::set::Set::default()),
        Box::new(check_jepsen::set_full::SetFull::default()),
        Box::new(check_jepsen::long_fork::LongFork::default()),
        Box::new(check_jepsen::comments::Comments::default()),
        Box::new(check_jepsen::sequential::Sequential::default()),
        Box::new(check_jepsen::queue::Queue::default()),
        Box::new(check_jepsen::total_queue::TotalQueue::default()),
        Box::new(check_jepsen::unique_ids::UniqueIds::default()),
        Box::new(check_jepsen::stats::Stats::default()),
    ];
    all.extend(check_register::checkers());
    all
}

/// The checker of a name; of those that watch, if it is to watch and there is one.
pub(crate) fn with<T>(name: &str, is_watching: bool, what: impl FnOnce(&dyn Checker) -> T) -> T {
    thread_local! {
        static BATCH: Vec<Box<dyn Checker>> = checkers();
        static ONLINE: Vec<Box<dyn Checker>> = check_online::checkers();
    }
    BATCH.with(|batch| {
        ONLINE.with(|online| {
            let find = |all: &[Box<dyn Checker>]| all.iter().position(|checker| checker.name() == name);
            match find(online).filter(|_| is_watching) {
                Some(at) => what(&*online[at]),
                None => what(&*batch[find(batch).unwrap_or_else(|| panic!("no checker {name}"))]),
            }
        })
    })
}
