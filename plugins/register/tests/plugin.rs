//! The library that Cargo builds of this crate is a plugin with the checkers of check-register,
//! and they judge as those do.

use histcheck_plugin::host::{self, Trust};
use histcheck_plugin::{Checker, History, Verdict};

#[test]
fn the_plugin_has_all_checkers_and_they_judge() {
    let local = check_register::checkers();
    // Cargo puts it beside its tests.
    let name = format!("{}histcheck_register{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let plugin = host::load(&std::env::current_exe().unwrap().with_file_name(name), Trust::All).unwrap();
    let names = |checkers: &[Box<dyn Checker>]| checkers.iter().map(|one| one.name().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&plugin.checkers), names(&local));

    let history = History::parse(
        "{:process 0, :type :invoke, :f :write, :value 1}
         {:process 0, :type :ok, :f :write, :value 1}
         {:process 0, :type :invoke, :f :read}
         {:process 0, :type :ok, :f :read, :value 2}",
    );
    let history = history.unwrap();
    let judged = |checkers: &[Box<dyn Checker>]| {
        checkers.iter().find(|one| one.name() == "register").unwrap().check(&history).unwrap()
    };
    let report = judged(&plugin.checkers);
    assert_eq!(report.verdict, Verdict::Invalid);
    assert_eq!(report.anomalies, judged(&local).anomalies);
}
