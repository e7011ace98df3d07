//! check-register as a plugin: linearizability, for a histcheck that was built without it.

use check_register::versioned_register::VersionedRegister;
use histcheck_plugin::Checker;

fn checkers() -> Vec<Box<dyn Checker>> {
    let mut all: Vec<Box<dyn Checker>> = vec![Box::new(VersionedRegister::default())];
    all.extend(check_register::checkers());
    all
}

histcheck_plugin::export_checkers!(all: checkers());
