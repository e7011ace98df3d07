//! The library that Cargo builds of this crate is a plugin with the checkers of check-elle and check-isolation,
//! and they judge as those do.

use histcheck_plugin::host::{self, Trust};
use histcheck_plugin::{Checker, History, Verdict};

#[test]
fn the_plugin_has_all_checkers_and_they_judge() {
    let mut local = check_elle::checkers();
    local.extend(check_isolation::checkers());
    // Cargo puts it beside its tests.
    let name = format!("{}histcheck_elle{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let plugin = host::load(&std::env::current_exe().unwrap().with_file_name(name), Trust::All).unwrap();
    let names = |checkers: &[Box<dyn Checker>]| checkers.iter().map(|one| one.name().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&plugin.checkers), names(&local));

    let history = History::parse(
        "{:process 0, :type :invoke, :f :txn, :value [[:r :x nil] [:append :x 1]]}
         {:process 0, :type :ok, :f :txn, :value [[:r :x [1]] [:append :x 1]]}",
    );
    let history = history.unwrap();
    let judged = |checkers: &[Box<dyn Checker>]| {
        checkers.iter().find(|one| one.name() == "list-append").unwrap().check(&history).unwrap()
    };
    let report = judged(&plugin.checkers);
    assert_eq!(report.verdict, Verdict::Invalid);
    assert_eq!(report.anomalies, judged(&local).anomalies);
}
