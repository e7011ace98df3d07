//! All checkers by name, as in the program.

use history_core::Checker;

pub(crate) fn checkers() -> Vec<Box<dyn Checker>> {
    let mut all = check_elle::checkers();
    all.extend(check_register::checkers());
    all.extend(check_jepsen::checkers());
    all.extend(check_log::checkers());
    all
}

/// The checker with a name. If it is to watch, uses the one for watching, if there is one.
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
