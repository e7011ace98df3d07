//! For the tests of each plugin here: the library that Cargo builds from the crate has these checkers, and they return
//! the same results.

use histcheck_plugin::host::{self, Trust};
use histcheck_plugin::{Checker, History, Verdict};

/// Compares the library with this name with checkers: all of them by name, and one of them by its report on an invalid
/// history.
pub(crate) fn assert_is_plugin(library: &str, local: &[Box<dyn Checker>], checker: &str, invalid: &str) {
    // Cargo puts the library in the same folder as the tests.
    let name = format!("{}{library}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let plugin = host::load(&std::env::current_exe().unwrap().with_file_name(name), Trust::All).unwrap();
    let names = |checkers: &[Box<dyn Checker>]| checkers.iter().map(|one| one.name().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&plugin.checkers), names(local));

    let history = History::parse(invalid).unwrap();
    let judged = |checkers: &[Box<dyn Checker>]| {
        checkers.iter().find(|one| one.name() == checker).unwrap().check(&history).unwrap()
    };
    let report = judged(&plugin.checkers);
    assert_eq!(report.verdict, Verdict::Invalid);
    assert_eq!(report.anomalies, judged(local).anomalies);
}
